/* workspace/account.c - an account from the configuration, with its secret. */
#include "workspace/account.h"

#include "workspace/error.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static enum mr_code refuse_missing(struct mr_ctx *cx, const char *key, const char *value_name)
{
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING, "%s is not set", key);
	return mr_work_hint(cx,
		"Set it with `afmail config set %s %s`; `afmail config show` shows all settings.",
		key, value_name);
}

static enum mr_code refuse_no_password(struct mr_ctx *cx)
{
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
		"neither imap.password_secret nor imap.password_secret_env is set");
	return mr_work_hint(cx,
		"Name the environment variable that holds the password with `afmail config "
		"set imap.password_secret_env NAME_SECRET`, or a file, a command or an entry of "
		"the keyring with imap.password_secret_file, _command or _keyring.");
}

static enum mr_code refuse_no_token(struct mr_ctx *cx, const char *name, enum mr_work_auth auth)
{
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
		"%s.auth is %s, but neither %s.token_secret_command nor %s.token_secret_file is "
		"set",
		name, mr_work_auth_names[auth], name, name);
	return mr_work_hint(cx,
		"Name the program that prints an access token with `afmail config set "
		"%s.token_secret_command PROGRAM ARGUMENT...`.",
		name);
}

static bool has_token(const struct mr_work_secret *token)
{
	return token->file || token->command.len;
}

static bool wants_token(const struct mr_work_server *server)
{
	return server->auth == MR_WORK_AUTH_XOAUTH2 || server->auth == MR_WORK_AUTH_OAUTHBEARER ||
		(server->auth == MR_WORK_AUTH_AUTO && has_token(&server->token));
}

static enum mr_code find_secret(struct mr_ctx *cx, const struct mr_work_server *server,
	const char *name, mr_work_environment *environment, struct mr_work_account *out)
{
	if (!wants_token(server))
		return mr_work_secret_find(cx, &server->password,
			mr_arena_printf(cx->arena, "%s.password_secret", name), environment,
			&out->password);
	if (!has_token(&server->token))
		return refuse_no_token(cx, name, server->auth);
	return mr_work_secret_find(cx, &server->token,
		mr_arena_printf(cx->arena, "%s.token_secret", name), environment, &out->token);
}

/* All but the secret. `name` is the section's. */
static enum mr_code begin(struct mr_ctx *cx, const struct mr_work_server *server, const char *name,
	mr_work_environment *environment, struct mr_work_account *out)
{
	if (!server->host)
		return refuse_missing(cx, mr_arena_printf(cx->arena, "%s.host", name), "HOST");
	*out = (struct mr_work_account){
		.host = server->host,
		.username = server->username,
		.auth = server->auth,
		.port = server->port,
		.tls = server->tls,
		.starttls = !server->tls && server->starttls,
		.timeout_ms = (int)server->timeout_s * 1000,
	};
	if (!server->ca_file)
		return MR_OK;
	out->ca_file = mr_work_home_path(cx->arena, server->ca_file, environment);
	if (!access(out->ca_file, R_OK))
		return MR_OK;
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
		"the file %s, which %s.ca_file names, cannot be read: %s", out->ca_file, name,
		strerror(errno));
	return mr_work_hint(cx,
		"Name a file with the certificates of the authorities in PEM, or take the setting "
		"away with `afmail config unset %s.ca_file`.",
		name);
}

enum mr_code mr_work_imap_account(struct mr_ctx *cx, const struct mr_work_config *config,
	mr_work_environment *environment, struct mr_work_account *out)
{
	struct mr_work_account account;
	enum mr_code rc = begin(cx, &config->imap, "imap", environment, &account);

	if (!rc && !account.username)
		rc = refuse_missing(cx, "imap.username", "NAME");
	if (!rc)
		rc = find_secret(cx, &config->imap, "imap", environment, &account);
	if (!rc && !account.password && !account.token)
		rc = refuse_no_password(cx);
	if (!rc)
		*out = account;
	return rc;
}

const char *mr_work_account_mechanism(const struct mr_work_account *account)
{
	static const char *const mechanisms[] = {
		[MR_WORK_AUTH_AUTO] = NULL,
		[MR_WORK_AUTH_PLAIN] = "PLAIN",
		[MR_WORK_AUTH_LOGIN] = "LOGIN",
		[MR_WORK_AUTH_SCRAM_SHA_256] = "SCRAM-SHA-256",
		[MR_WORK_AUTH_XOAUTH2] = "XOAUTH2",
		[MR_WORK_AUTH_OAUTHBEARER] = "OAUTHBEARER",
	};

	return mechanisms[account->auth];
}

static enum mr_code refuse_scram(struct mr_ctx *cx)
{
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
		"smtp.auth is scram-sha-256, which is there for IMAP servers alone");
	return mr_work_hint(cx,
		"Set smtp.auth to plain, which an encrypted connection protects, or take it away "
		"with `afmail config unset smtp.auth`.");
}

enum mr_code mr_work_smtp_account(struct mr_ctx *cx, const struct mr_work_config *config,
	mr_work_environment *environment, struct mr_work_account *out)
{
	struct mr_work_account account;
	enum mr_code rc = begin(cx, &config->smtp, "smtp", environment, &account);

	if (!rc && account.username && account.auth == MR_WORK_AUTH_SCRAM_SHA_256)
		return refuse_scram(cx);
	if (!rc && account.username)
		rc = find_secret(cx, &config->smtp, "smtp", environment, &account);
	if (rc)
		return rc;
	if (!account.password && !account.token)
		account.username = NULL;
	*out = account;
	return MR_OK;
}
