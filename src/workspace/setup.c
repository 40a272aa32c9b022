/* workspace/setup.c - plans how an account is reached, and tries it. */
#include "workspace/setup.h"

#include "workspace/error.h"
#include "workspace/mail_server.h"
#include "workspace/setup_store.h"
#include "workspace/submission.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAPS = 993, IMAP = 143, SMTPS = 465, SUBMISSION = 587, PORT_MAX = 65535 };
/* A host that is guessed is not waited for as long as one that was named. */
enum { GUESS_TIMEOUT_S = 8, ADDRESS_BYTES = 254 };

const char *const mr_work_security_names[] = { "auto", "tls", "starttls", "none", NULL };
const char *const mr_work_setup_place_names[] = { "environment", "file", "command", "keyring",
	"configuration", NULL };

/* --- the address --- */

static enum mr_code read_address(struct mr_ctx *cx, const char *address,
	struct mr_work_setup_plan *out)
{
	const char *at = address ? strchr(address, '@') : NULL;
	bool is_good = at && at != address && at[1] && !strchr(at + 1, '@') &&
		strlen(address) <= ADDRESS_BYTES;

	for (const char *c = address; is_good && *c; c++)
		is_good = (unsigned char)*c > ' ' && *c != 127 && !strchr("<>\"(),;:/\\", *c);
	if (!address)
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "no address was given");
	else if (!is_good)
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "'%s' is not an e-mail address",
			address);
	if (!is_good)
		return mr_work_hint(cx, "Write the address alone: `afmail setup you@example.net`.");
	out->local = mr_arena_strndup(cx->arena, address, (size_t)(at - address));
	out->domain = mr_arena_strdup(cx->arena, at + 1);
	return MR_OK;
}

static enum mr_code find_provider(struct mr_ctx *cx, const char *name,
	struct mr_work_setup_plan *out)
{
	struct mr_texts names = { 0 };
	size_t count = 0;

	if (!name) {
		out->provider = mr_work_provider_of(out->domain);
		return MR_OK;
	}
	out->provider = mr_work_provider_named(name);
	if (out->provider)
		return MR_OK;
	while (mr_work_providers[count].name)
		count++;
	names.items = mr_arena_array(cx->arena, count, sizeof(*names.items));
	for (; names.len < count; names.len++)
		names.items[names.len] = mr_work_providers[names.len].name;
	(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "there is no provider '%s' in the table",
		name);
	return mr_work_hint(cx,
		"The table has %s. Name the servers of another one with --imap-host and "
		"--smtp-host.",
		mr_str_join(cx->arena, &names, ", "));
}

/* --- the servers --- */

static struct mr_work_server server_of(const struct mr_work_endpoint *at)
{
	return (struct mr_work_server){ .host = at->host,
		.port = at->port,
		.tls = at->tls,
		.starttls = !at->tls,
		.timeout_s = MR_WORK_TIMEOUT_S };
}

/* One that was named: the usual port of its security, and the usual security of its port. */
static struct mr_work_server named(const struct mr_work_setup_at *at, int tls_port, int plain_port,
	bool is_tls_usual)
{
	enum mr_work_security security = (enum mr_work_security)at->security;
	struct mr_work_server out = { .host = at->host, .timeout_s = MR_WORK_TIMEOUT_S };

	if (security == MR_WORK_SECURITY_AUTO)
		security = at->port == tls_port || (is_tls_usual && at->port != plain_port)
			? MR_WORK_SECURITY_TLS
			: MR_WORK_SECURITY_STARTTLS;
	out.tls = security == MR_WORK_SECURITY_TLS;
	out.starttls = security == MR_WORK_SECURITY_STARTTLS;
	out.port = at->port ? at->port : out.tls ? tls_port : plain_port;
	return out;
}

static struct mr_work_server *guessed(struct mr_arena *arena, const struct mr_work_endpoint *at)
{
	struct mr_work_server *out = mr_arena_array(arena, MR_WORK_GUESSES, sizeof(*out));

	for (size_t i = 0; i < MR_WORK_GUESSES; i++) {
		out[i] = server_of(&at[i]);
		out[i].timeout_s = GUESS_TIMEOUT_S;
	}
	return out;
}

static enum mr_code check_at(struct mr_ctx *cx, const struct mr_work_setup_at *at, const char *name)
{
	if (!at->host && (at->port || at->security))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--%s-port and --%s-security belong to a host: name it with --%s-host",
			name, name, name);
	if (at->port < 0 || at->port > PORT_MAX)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "--%s-port must be from 1 to %d",
			name, PORT_MAX);
	return MR_OK;
}

static void plan_imap(struct mr_arena *arena, struct mr_work_setup_plan *plan)
{
	const struct mr_work_setup_at *at = &plan->request->imap;

	plan->imap_count = 1;
	plan->imap = mr_arena_alloc(arena, sizeof(*plan->imap));
	if (at->host) {
		*plan->imap = named(at, IMAPS, IMAP, true);
	} else if (plan->provider) {
		*plan->imap = server_of(&plan->provider->imap);
	} else {
		plan->imap = guessed(arena, mr_work_guess_imap(arena, plan->domain));
		plan->imap_count = MR_WORK_GUESSES;
	}
}

static void plan_smtp(struct mr_arena *arena, struct mr_work_setup_plan *plan)
{
	const struct mr_work_setup_at *at = &plan->request->smtp;

	if (plan->request->no_smtp)
		return;
	plan->smtp_count = 1;
	plan->smtp = mr_arena_alloc(arena, sizeof(*plan->smtp));
	if (at->host) {
		*plan->smtp = named(at, SMTPS, SUBMISSION, false);
	} else if (plan->provider) {
		*plan->smtp = server_of(&plan->provider->smtp);
	} else {
		plan->smtp = guessed(arena, mr_work_guess_smtp(arena, plan->domain));
		plan->smtp_count = MR_WORK_GUESSES;
	}
}

/* What all of them have: who logs in, and whom to trust. */
static void complete(const struct mr_work_setup_plan *plan, struct mr_work_server *servers,
	size_t count, bool is_local)
{
	const struct mr_work_setup *request = plan->request;

	for (size_t i = 0; i < count; i++) {
		servers[i].username = request->username ? request->username
			: is_local                      ? plan->local
							: request->address;
		servers[i].auth = (enum mr_work_auth)request->auth;
		servers[i].ca_file = request->ca_file;
	}
}

static enum mr_code plan_servers(struct mr_ctx *cx, struct mr_work_setup_plan *plan)
{
	const struct mr_work_setup *request = plan->request;
	enum mr_code rc = check_at(cx, &request->imap, "imap");

	if (!rc)
		rc = check_at(cx, &request->smtp, "smtp");
	if (rc)
		return rc;
	if (request->no_smtp && request->smtp.host)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--no-smtp and --smtp-host exclude each other");
	if (request->ca_file &&
		access(mr_work_home_path(cx->arena, request->ca_file, request->environment), R_OK))
		return mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
			"the file %s, which --ca-file names, cannot be read: %s", request->ca_file,
			strerror(errno));
	plan_imap(cx->arena, plan);
	plan_smtp(cx->arena, plan);
	complete(plan, plan->imap, plan->imap_count,
		!request->imap.host && plan->provider && plan->provider->is_imap_user_local);
	complete(plan, plan->smtp, plan->smtp_count, false);
	for (size_t i = 0; i < plan->smtp_count; i++) /* which is there for IMAP alone */
		if (plan->smtp[i].auth == MR_WORK_AUTH_SCRAM_SHA_256)
			plan->smtp[i].auth = MR_WORK_AUTH_AUTO;
	return MR_OK;
}

/* --- the secret --- */

static enum mr_code check_places(struct mr_ctx *cx, const struct mr_work_setup *request)
{
	int places = !!request->password_env + !!request->password_file +
		!!request->password_command + !!request->token_command + !!request->token_file +
		request->keyring + request->inline_password;

	if (places > 1)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the secret is in one place, but several were named");
	if (request->password &&
		(request->password_command || request->token_command || request->token_file))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"a password was given, and a program or a token that takes its place");
	return MR_OK;
}

/* A program with its arguments, parted by blanks. */
static struct mr_texts words_of(struct mr_arena *arena, const char *text)
{
	struct mr_texts all = mr_str_split(arena, text, ' '), out = { all.items, 0 };

	for (size_t i = 0; i < all.len; i++)
		if (*all.items[i])
			out.items[out.len++] = all.items[i];
	return out;
}

/* The file that keeps the password when no place was named; NULL without a home directory. */
static const char *own_file(struct mr_arena *arena, const struct mr_work_setup *request)
{
	const char *config = request->environment("XDG_CONFIG_HOME");

	if (config && *config == '/')
		return mr_arena_printf(arena, "%s/mailroom/%s.password", config, request->address);
	if (!request->environment("HOME"))
		return NULL;
	return mr_arena_printf(arena, "~/.config/mailroom/%s.password", request->address);
}

static void choose_place(struct mr_ctx *cx, struct mr_work_setup_plan *plan)
{
	const struct mr_work_setup *request = plan->request;
	const char *command =
		request->token_command ? request->token_command : request->password_command;
	const char *file = request->token_file ? request->token_file : request->password_file;

	plan->is_token = request->token_command || request->token_file;
	if (request->password_env) {
		plan->place = MR_WORK_PLACE_ENVIRONMENT;
		plan->secret.env = request->password_env;
	} else if (command) {
		plan->place = MR_WORK_PLACE_COMMAND;
		plan->secret.command = words_of(cx->arena, command);
	} else if (request->keyring) {
		plan->place = MR_WORK_PLACE_KEYRING;
		plan->secret.keyring = request->address;
	} else if (request->inline_password) {
		plan->place = MR_WORK_PLACE_CONFIGURATION;
	} else {
		plan->place = MR_WORK_PLACE_FILE;
		plan->secret.file = file ? file : own_file(cx->arena, request);
	}
}

/* A secret that others can read is none. */
static enum mr_code check_file(struct mr_ctx *cx, const struct mr_work_setup_plan *plan)
{
	const char *path;
	struct stat st;

	if (!plan->secret.file) {
		(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"there is no home directory to keep the password in");
		return mr_work_hint(cx, "Name a place with --password-file PATH.");
	}
	path = mr_work_home_path(cx->arena, plan->secret.file, plan->request->environment);
	if (*path != '/')
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the file with the secret must have an absolute path, or one that begins "
			"with ~/, not '%s'",
			path);
	if (stat(path, &st) || !(st.st_mode & (S_IRWXG | S_IRWXO)) || plan->request->password)
		return MR_OK;
	(void)mr_work_refuse(cx, MR_WORK_CONFIG_INVALID,
		"others may read the file %s: its mode is %04o", path,
		(unsigned)st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
	return mr_work_hint(cx, "Make it yours alone with `chmod 600 %s`.", path);
}

/* The secret from its place, unless it was given. */
static enum mr_code fetch(struct mr_ctx *cx, struct mr_work_setup_plan *plan)
{
	const struct mr_work_setup *request = plan->request;
	bool is_named = request->password_env || request->password_file || request->keyring ||
		request->password_command || plan->is_token;
	enum mr_code rc;

	plan->password = request->password;
	plan->is_new = request->password && plan->place != MR_WORK_PLACE_ENVIRONMENT;
	if (plan->password)
		return MR_OK;
	if (is_named) {
		rc = mr_work_secret_find(cx, &plan->secret,
			plan->is_token ? "imap.token_secret" : "imap.password_secret",
			request->environment, &plan->password);
	} else {
		(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING, "no password was given for %s",
			request->address);
		rc = mr_work_hint(cx,
			"Write it to standard input with --password-stdin, or say where it is with "
			"--password-env NAME_SECRET, --password-file, --password-command or "
			"--keyring.");
	}
	if (!rc || plan->is_token || request->password_command)
		return rc;
	plan->needs_password = true;
	plan->is_new = plan->place != MR_WORK_PLACE_ENVIRONMENT;
	return MR_OK;
}

static enum mr_code plan_secret(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_setup_plan *plan)
{
	const struct mr_work_provider *provider = plan->provider;
	enum mr_code rc = check_places(cx, plan->request);

	if (rc)
		return rc;
	choose_place(cx, plan);
	if (provider && provider->login == MR_WORK_LOGIN_OAUTH && !plan->is_token &&
		!plan->request->imap.host) {
		(void)mr_work_refuse(cx, MR_WORK_CONFIG_MISSING,
			"%s wants a token of OAuth, and none was given", provider->title);
		return mr_work_hint(cx, "%s", provider->hint);
	}
	if (plan->place == MR_WORK_PLACE_FILE)
		rc = check_file(cx, plan);
	if (!rc)
		rc = mr_work_setup_check(cx, work, plan);
	if (!rc)
		rc = fetch(cx, plan);
	if (!rc && plan->needs_password)
		plan->question = mr_arena_printf(cx->arena,
			"%s%sPassword of %s (not shown): ", provider ? provider->hint : "",
			provider ? "\n" : "", plan->request->address);
	return rc;
}

enum mr_code mr_work_setup_plan(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup *request, struct mr_work_setup_plan *out)
{
	struct mr_work_setup_plan plan = { .request = request };
	enum mr_code rc = read_address(cx, request->address, &plan);

	if (!rc)
		rc = find_provider(cx, request->provider, &plan);
	if (!rc)
		rc = plan_servers(cx, &plan);
	if (!rc)
		rc = plan_secret(cx, work, &plan);
	if (!rc)
		*out = plan;
	return rc;
}

/* --- trying --- */

static struct mr_work_account account_of(struct mr_ctx *cx, const struct mr_work_setup_plan *plan,
	const struct mr_work_server *server)
{
	return (struct mr_work_account){ .host = server->host,
		.username = server->username,
		.password = plan->is_token ? NULL : plan->password,
		.token = plan->is_token ? plan->password : NULL,
		.auth = server->auth,
		.port = server->port,
		.tls = server->tls,
		.starttls = server->starttls,
		.ca_file = server->ca_file
			? mr_work_home_path(cx->arena, server->ca_file, plan->request->environment)
			: NULL,
		.timeout_ms = (int)server->timeout_s * 1000 };
}

static enum mr_code try_imap(struct mr_ctx *cx, const struct mr_work_account *account)
{
	struct mr_imap *session MR_CLEANUP(mr_imap_closep) = NULL;

	enum mr_code rc = mr_work_server_open(cx, account, &session);

	return rc ? mr_err_wrap(&cx->err, "IMAP") : MR_OK;
}

static bool has_failed_with(const struct mr_ctx *cx, enum mr_work_error error)
{
	return mr_str_eq(cx->err.word, mr_work_error_word(error));
}

/* Was a trusted server reached? Then another host would not do better, and has no business with the
 * password. */
static bool was_reached(const struct mr_ctx *cx)
{
	return !has_failed_with(cx, MR_WORK_IMAP_CONNECT_FAILED) &&
		!has_failed_with(cx, MR_WORK_IMAP_TLS_FAILED) &&
		!has_failed_with(cx, MR_WORK_SMTP_CONNECT_FAILED);
}

static enum mr_code explain(struct mr_ctx *cx, const struct mr_work_setup_plan *plan,
	const char *name)
{
	if (has_failed_with(cx, MR_WORK_IMAP_LOGIN_FAILED) ||
		has_failed_with(cx, MR_WORK_SMTP_SEND_FAILED)) {
		if (plan->provider)
			return mr_work_hint(cx, "%s", plan->provider->hint);
		return mr_work_hint(cx,
			"Check the password, and the user name: --username when it is not the "
			"address. Nothing was written.");
	}
	if (has_failed_with(cx, MR_WORK_IMAP_TLS_FAILED))
		return mr_work_hint(cx,
			"Name the server as its certificate does, and a private authority with "
			"--ca-file; see --%s-security for servers without TLS from the start.",
			name);
	return mr_work_hint(cx,
		"Check --%s-host, --%s-port and --%s-security; a private authority is named with "
		"--ca-file%s.",
		name, name, name,
		mr_str_eq(name, "smtp") ? ", and --no-smtp leaves sending for later" : "");
}

static enum mr_code none_found(struct mr_ctx *cx, const struct mr_work_setup_plan *plan,
	const struct mr_work_server *servers, size_t count, const char *name)
{
	struct mr_texts tried = { mr_arena_array(cx->arena, count, sizeof(char *)), 0 };

	for (; tried.len < count; tried.len++)
		tried.items[tried.len] = mr_arena_printf(cx->arena, "%s:%d",
			servers[tried.len].host, (int)servers[tried.len].port);
	(void)mr_work_refuse(cx,
		mr_str_eq(name, "imap") ? MR_WORK_IMAP_CONNECT_FAILED : MR_WORK_SMTP_CONNECT_FAILED,
		"no %s server of %s was found; tried were %s",
		mr_str_eq(name, "imap") ? "IMAP" : "SMTP", plan->domain,
		mr_str_join(cx->arena, &tried, ", "));
	return mr_work_hint(cx,
		"Name it with --%s-host HOST, or the provider of the domain with --provider, as in "
		"--provider gmail for Google Workspace.",
		name);
}

/* The first of the candidates that lets us in comes first afterwards. */
static enum mr_code try_all(struct mr_ctx *cx, struct mr_work_setup_plan *plan,
	struct mr_work_server *servers, size_t count, bool is_imap)
{
	const char *name = is_imap ? "imap" : "smtp";

	for (size_t i = 0; i < count; i++) {
		struct mr_work_account account = account_of(cx, plan, &servers[i]);
		enum mr_code rc;

		if (cx->progress)
			cx->progress(cx->progress_arg,
				mr_arena_printf(cx->arena, "Logging in to %s", account.host), i,
				count);
		rc = is_imap ? try_imap(cx, &account) : mr_work_submission_test(cx, &account);
		if (!rc) {
			servers[0] = servers[i];
			servers[0].timeout_s = MR_WORK_TIMEOUT_S;
			return MR_OK;
		}
		if (count == 1 || was_reached(cx))
			return explain(cx, plan, name);
	}
	return none_found(cx, plan, servers, count, name);
}

enum mr_code mr_work_setup_test(struct mr_ctx *cx, struct mr_work_setup_plan *plan)
{
	enum mr_code rc = try_all(cx, plan, plan->imap, plan->imap_count, true);

	if (!rc && plan->smtp)
		rc = try_all(cx, plan, plan->smtp, plan->smtp_count, false);
	return rc;
}
