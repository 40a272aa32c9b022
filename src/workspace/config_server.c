/* workspace/config_server.c - reads and writes what the configuration says of the two servers. */
#include "text/value.h"
#include "workspace/config_private.h"

#include <ctype.h>
#include <string.h>

enum { PORT_MAX = 65535, COMMAND_WORDS_MAX = 64 };

const char *const mr_work_auth_names[] = { "auto", "plain", "login", "scram-sha-256", "xoauth2",
	"oauthbearer", NULL };

static bool is_secret_env(const char *text)
{
	static const char suffix[] = "_SECRET";

	for (const char *c = text; *c; c++)
		if (!isupper((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
			return false;
	return text[0] != '_' && !strstr(text, "__") && mr_str_ends(text, suffix) &&
		strlen(text) > strlen(suffix);
}

/* Commands run in any directory below the workspace, so a relative path would mean nothing. */
static void read_path(const struct mr_cursor *at, const char **out)
{
	if (mr_cursor_text_opt(at, out) && !mr_str_starts(*out, "/") && !mr_str_starts(*out, "~/"))
		mr_cursor_refuse(at, "must be an absolute path, or begin with ~/, not '%s'", *out);
}

static void read_command(const struct mr_cursor *at, struct mr_texts *out)
{
	size_t len;

	if (!mr_cursor_list_opt(at, &len) || !mr_cursor_texts(at, out))
		return;
	if (!out->len || out->len > COMMAND_WORDS_MAX || !*out->items[0])
		mr_cursor_refuse(at, "must be a program and its arguments, at most %d words",
			COMMAND_WORDS_MAX);
}

static void read_inline(const struct mr_cursor *at, const char **out)
{
	if (mr_cursor_text_opt(at, out) &&
		(mr_str_starts(*out, "env:") || mr_str_starts(*out, "literal:")))
		mr_cursor_refuse(at,
			"must be the password itself; name an environment variable in "
			"password_secret_env");
}

static void read_env(const struct mr_cursor *at, const char **out)
{
	if (mr_cursor_text_opt(at, out) && !is_secret_env(*out))
		mr_cursor_refuse(at,
			"must be upper-case letters, digits and single underscores that end in "
			"_SECRET, not '%s'",
			*out);
}

static void read_password(const struct mr_cursor *at, struct mr_work_secret *out)
{
	struct mr_cursor text = mr_cursor_key(at, "password_secret");
	struct mr_cursor env = mr_cursor_key(at, "password_secret_env");
	struct mr_cursor file = mr_cursor_key(at, "password_secret_file");
	struct mr_cursor command = mr_cursor_key(at, "password_secret_command");
	struct mr_cursor keyring = mr_cursor_key(at, "password_secret_keyring");

	read_inline(&text, &out->text);
	read_env(&env, &out->env);
	read_path(&file, &out->file);
	read_command(&command, &out->command);
	if (mr_cursor_text_opt(&keyring, &out->keyring) &&
		mr_work_is_blank(at->issues->arena, out->keyring))
		mr_cursor_refuse(&keyring, "must not be blank");
	if (out->text && out->env)
		mr_cursor_refuse(at, "must not have both password_secret and password_secret_env");
	else if (!!out->text + !!out->env + !!out->file + !!out->command.len + !!out->keyring > 1)
		mr_cursor_refuse(at, "must have the password in one place, not in several");
}

static void read_token(const struct mr_cursor *at, struct mr_work_secret *out)
{
	struct mr_cursor file = mr_cursor_key(at, "token_secret_file");
	struct mr_cursor command = mr_cursor_key(at, "token_secret_command");

	read_path(&file, &out->file);
	read_command(&command, &out->command);
	if (out->file && out->command.len)
		mr_cursor_refuse(at,
			"must not have both token_secret_file and token_secret_command");
}

static void read_server(const struct mr_cursor *at, struct mr_work_server *out)
{
	struct mr_cursor host = mr_cursor_key(at, "host"), port = mr_cursor_key(at, "port");
	struct mr_cursor username = mr_cursor_key(at, "username"), auth = mr_cursor_key(at, "auth");
	struct mr_cursor starttls = mr_cursor_key(at, "starttls");
	struct mr_cursor ca_file = mr_cursor_key(at, "ca_file");
	struct mr_cursor timeout = mr_cursor_key(at, "timeout_s");
	size_t chosen;

	mr_cursor_text_opt(&host, &out->host);
	mr_cursor_text_opt(&username, &out->username);
	mr_cursor_int_opt(&port, 0, PORT_MAX, &out->port);
	mr_cursor_bool_opt(&starttls, &out->starttls);
	read_password(at, &out->password);
	read_token(at, &out->token);
	read_path(&ca_file, &out->ca_file);
	mr_cursor_int_opt(&timeout, 1, MR_WORK_TIMEOUT_MAX_S, &out->timeout_s);
	if (auth.value && auth.value->kind != MR_NULL &&
		mr_cursor_choice(&auth, mr_work_auth_names, &chosen))
		out->auth = (enum mr_work_auth)chosen;
}

#define SERVER_MEMBERS                                                                             \
	"auth", "ca_file", "host", "password_secret", "password_secret_command",                   \
		"password_secret_env", "password_secret_file", "password_secret_keyring", "port",  \
		"starttls", "timeout_s", "token_secret_command", "token_secret_file", "username"

void mr_work_servers_at(const struct mr_cursor *root, struct mr_work_config *config)
{
	static const char *const known_imap[] = { SERVER_MEMBERS, "tls", NULL };
	static const char *const known_smtp[] = { SERVER_MEMBERS, "tls_wrapper", NULL };
	struct mr_cursor imap = mr_cursor_key(root, "imap"), smtp = mr_cursor_key(root, "smtp");
	struct mr_cursor tls = mr_cursor_key(&imap, "tls");
	struct mr_cursor wrapper = mr_cursor_key(&smtp, "tls_wrapper");

	config->imap =
		(struct mr_work_server){ .port = 993, .tls = true, .timeout_s = MR_WORK_TIMEOUT_S };
	config->smtp = (struct mr_work_server){ .port = 587,
		.starttls = true,
		.timeout_s = MR_WORK_TIMEOUT_S };
	if (mr_cursor_map(&imap)) {
		mr_cursor_only(&imap, known_imap);
		read_server(&imap, &config->imap);
		mr_cursor_bool_opt(&tls, &config->imap.tls);
	}
	if (mr_cursor_map(&smtp)) {
		mr_cursor_only(&smtp, known_smtp);
		read_server(&smtp, &config->smtp);
		mr_cursor_bool_opt(&wrapper, &config->smtp.tls);
	}
}

/* --- writing --- */

static void write_if_set(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
}

static void write_words_if_set(struct mr_out *out, const char *key, const struct mr_texts *words)
{
	if (words->len)
		mr_out_texts(out, key, words);
}

/* The members of the contract always, null or not; those that are ours only when they say
 * something, so that other programs can read the configuration as long as it has none of them. */
static void write_server(struct mr_out *out, const struct mr_work_server *server)
{
	if (server->auth != MR_WORK_AUTH_AUTO)
		mr_out_text(out, "auth", mr_work_auth_names[server->auth]);
	write_if_set(out, "ca_file", server->ca_file);
	mr_out_text(out, "host", server->host);
	mr_out_text(out, "password_secret", server->password.text);
	write_words_if_set(out, "password_secret_command", &server->password.command);
	mr_out_text(out, "password_secret_env", server->password.env);
	write_if_set(out, "password_secret_file", server->password.file);
	write_if_set(out, "password_secret_keyring", server->password.keyring);
	mr_out_int(out, "port", server->port);
	if (server->timeout_s != MR_WORK_TIMEOUT_S)
		mr_out_int(out, "timeout_s", server->timeout_s);
	write_words_if_set(out, "token_secret_command", &server->token.command);
	write_if_set(out, "token_secret_file", server->token.file);
	mr_out_text(out, "username", server->username);
}

void mr_work_imap_write(struct mr_out *out, const struct mr_work_server *imap)
{
	mr_out_map(out, "imap");
	write_server(out, imap);
	if (imap->starttls)
		mr_out_bool(out, "starttls", true);
	mr_out_bool(out, "tls", imap->tls);
	mr_out_end(out);
}

void mr_work_smtp_write(struct mr_out *out, const struct mr_work_server *smtp)
{
	mr_out_map(out, "smtp");
	write_server(out, smtp);
	mr_out_bool(out, "starttls", smtp->starttls);
	mr_out_bool(out, "tls_wrapper", smtp->tls);
	mr_out_end(out);
}
