/* workspace/setup_store.c - writes a planned account: its secret, then the configuration. */
#include "workspace/setup_store.h"

#include "base/fs.h"
#include "text/json.h"
#include "workspace/config_private.h"
#include "workspace/error.h"
#include "workspace/refresh.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>

enum { SETTINGS_MAX = 64 };

struct settings {
	struct mr_arena *arena;
	struct mr_work_config_setting items[SETTINGS_MAX];
	size_t len;
};

/* --- keys and values --- */

static void put_words(struct settings *to, const char *key, const struct mr_texts *words)
{
	if (to->len < SETTINGS_MAX)
		to->items[to->len++] = (struct mr_work_config_setting){ key, *words };
}

/* NULL: the key becomes null. */
static void put(struct settings *to, const char *key, const char *text)
{
	struct mr_texts one = { 0 };

	if (text) {
		one.items = mr_arena_array(to->arena, 1, sizeof(*one.items));
		one.items[one.len++] = text;
	}
	put_words(to, key, &one);
}

static const char *key_of(struct settings *to, const char *section, const char *member)
{
	return mr_arena_printf(to->arena, "%s.%s", section, member);
}

static void put_secret(struct settings *to, const char *section,
	const struct mr_work_setup_plan *plan)
{
	static const char *const members[] = { "password_secret", "password_secret_env",
		"password_secret_file", "password_secret_command", "password_secret_keyring",
		"token_secret_file", "token_secret_command" };
	const char *kind = plan->is_token ? "token" : "password";

	for (size_t i = 0; i < MR_LEN(members); i++)
		put(to, key_of(to, section, members[i]), NULL);
	switch (plan->place) {
	case MR_WORK_PLACE_ENVIRONMENT:
		put(to, key_of(to, section, "password_secret_env"), plan->secret.env);
		break;
	case MR_WORK_PLACE_KEYRING:
		put(to, key_of(to, section, "password_secret_keyring"), plan->secret.keyring);
		break;
	case MR_WORK_PLACE_CONFIGURATION:
		put(to, key_of(to, section, "password_secret"), plan->password);
		break;
	case MR_WORK_PLACE_FILE:
		put(to, mr_arena_printf(to->arena, "%s.%s_secret_file", section, kind),
			plan->secret.file);
		break;
	case MR_WORK_PLACE_COMMAND:
		put_words(to, mr_arena_printf(to->arena, "%s.%s_secret_command", section, kind),
			&plan->secret.command);
		break;
	}
}

static void put_server(struct settings *to, const char *section, const char *tls_member,
	const struct mr_work_server *server, const struct mr_work_setup_plan *plan)
{
	put(to, key_of(to, section, "host"), server->host);
	put(to, key_of(to, section, "port"), mr_arena_printf(to->arena, "%d", (int)server->port));
	put(to, key_of(to, section, tls_member), server->tls ? "true" : "false");
	put(to, key_of(to, section, "starttls"), server->starttls ? "true" : "false");
	put(to, key_of(to, section, "username"), server->username);
	put(to, key_of(to, section, "auth"), mr_work_auth_names[server->auth]);
	put(to, key_of(to, section, "ca_file"), server->ca_file);
	put_secret(to, section, plan);
}

/* --- what is done with a mail that was sent --- */

static const char *steps_json(struct mr_arena *arena, const struct mr_value *steps)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;

	mr_buf_init(&buf, 64 << 10);
	mr_json_init(&json, &buf, MR_JSON_COMPACT);
	mr_json_value(&json, steps);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* The steps without the copy for the Sent mailbox. */
static const struct mr_value *without_copy(struct mr_arena *arena, const struct mr_value *steps)
{
	struct mr_value *out = mr_arena_alloc(arena, sizeof(*out));

	out->kind = MR_LIST;
	out->list.items = mr_arena_array(arena, steps->list.len + 1, sizeof(*out->list.items));
	for (size_t i = 0; i < steps->list.len; i++)
		if (!mr_value_get(&steps->list.items[i], "append_to_mailbox_id"))
			out->list.items[out->list.len++] = steps->list.items[i];
	return out;
}

static bool keeps_sent(const struct mr_work_setup_plan *plan)
{
	return plan->smtp && !plan->request->smtp.host && plan->provider &&
		plan->provider->keeps_sent;
}

/* A provider that files sent mail by itself would have it twice. Steps that somebody has thought
 * about are left alone. */
static void put_steps(struct mr_ctx *cx, struct settings *to, const struct mr_work_config *config,
	const struct mr_work_setup_plan *plan)
{
	static const char *path[] = { "actions", "draft.send", "steps" };
	const struct mr_texts at = { path, MR_LEN(path) };
	const struct mr_value *usual = mr_work_tree_get(mr_work_config_default(cx, 0), &at);
	const struct mr_value *now = mr_work_tree_get(config->document, &at);
	const struct mr_value *bare = without_copy(cx->arena, usual);

	if (!plan->smtp || !now || (!mr_value_equal(now, usual) && !mr_value_equal(now, bare)))
		return;
	put(to, "actions.draft.send.steps", steps_json(cx->arena, keeps_sent(plan) ? bare : usual));
}

/* --- who sends --- */

static const struct mr_work_identity *find_sender(const struct mr_work_config *config,
	const char *address)
{
	const struct mr_work_identity *usual = mr_work_default_identity(config);

	for (size_t i = 0; i < config->identity_count; i++)
		if (mr_str_eq_nocase(config->identities[i].email, address))
			return &config->identities[i];
	return usual && mr_str_eq(usual->email, MR_WORK_EXAMPLE_EMAIL) ? usual : NULL;
}

/* The identity of the address, or that of a new configuration, becomes the sender's. */
static void put_sender(struct settings *to, const struct mr_work_identity *sender,
	const struct mr_work_setup_plan *plan)
{
	bool is_example = mr_str_eq(sender->email, MR_WORK_EXAMPLE_EMAIL);
	const char *name = plan->request->name;

	if (!name && is_example)
		name = plan->local;
	if (is_example)
		put(to, mr_arena_printf(to->arena, "identities.%s.email", sender->identity),
			plan->request->address);
	if (name)
		put(to, mr_arena_printf(to->arena, "identities.%s.name", sender->identity), name);
}

/* A further identity, named after the address; mail is sent as this one unless a draft says
 * otherwise. */
static enum mr_code add_sender(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup_plan *plan, struct mr_work_change *change)
{
	char *slug = mr_arena_strdup(cx->arena, plan->local);
	const char *values[] = { slug };
	const struct mr_work_config_add request = { .key = "identities",
		.values = { values, 1 },
		.name = plan->request->name ? plan->request->name : plan->local,
		.email = plan->request->address,
		.is_default = true };
	const struct mr_value *ignored;

	for (char *c = slug; *c; c++)
		*c = (char)(isalnum((unsigned char)*c) ? tolower((unsigned char)*c) : '-');
	return mr_work_config_add(cx, work, &request, change, &ignored);
}

/* --- all of it --- */

static enum mr_code collect(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup_plan *plan, struct mr_work_change *change)
{
	struct settings settings = { .arena = cx->arena };
	const struct mr_work_config *config = NULL;
	const struct mr_work_identity *sender;
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (rc)
		return rc;
	sender = find_sender(config, plan->request->address);
	put_server(&settings, "imap", "tls", plan->imap, plan);
	if (plan->smtp)
		put_server(&settings, "smtp", "tls_wrapper", plan->smtp, plan);
	put_steps(cx, &settings, config, plan);
	if (sender)
		put_sender(&settings, sender, plan);
	rc = mr_work_config_set_many(cx, work, settings.items, settings.len, change);
	if (!rc && !sender)
		rc = add_sender(cx, work, plan, change);
	return rc;
}

enum mr_code mr_work_setup_check(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup_plan *plan)
{
	struct mr_work_change unused;

	mr_work_change_begin(cx, work, "setup", &unused);
	return collect(cx, work, plan, &unused);
}

static enum mr_code write_file(struct mr_ctx *cx, const struct mr_work_setup_plan *plan)
{
	const char *path =
		mr_work_home_path(cx->arena, plan->secret.file, plan->request->environment);
	const char *slash = strrchr(path, '/');
	const char *line = mr_arena_printf(cx->arena, "%s\n", plan->password);
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD,
		mr_arena_strndup(cx->arena, path, (size_t)(slash - path) + (slash == path)), 0700,
		&cx->err);

	if (!rc)
		rc = mr_fs_write(AT_FDCWD, path, mr_bytes_text(line), MR_FS_REPLACE, 0600,
			&cx->err);
	return rc ? mr_work_store_error(cx) : MR_OK;
}

static enum mr_code keep_secret(struct mr_ctx *cx, const struct mr_work_setup_plan *plan)
{
	if (!plan->is_new)
		return MR_OK;
	if (plan->place == MR_WORK_PLACE_KEYRING)
		return mr_work_keyring_store(cx, plan->secret.keyring, plan->password);
	return plan->place == MR_WORK_PLACE_FILE ? write_file(cx, plan) : MR_OK;
}

static struct mr_work_setup_server tell_server(const struct mr_work_server *server)
{
	return (struct mr_work_setup_server){ .host = server->host,
		.port = server->port,
		.security = server->tls    ? MR_WORK_SECURITY_TLS
			: server->starttls ? MR_WORK_SECURITY_STARTTLS
					   : MR_WORK_SECURITY_NONE,
		.username = server->username };
}

static const char *where(const struct mr_work_secret *secret)
{
	if (secret->env)
		return secret->env;
	if (secret->file)
		return secret->file;
	return secret->keyring        ? secret->keyring
		: secret->command.len ? secret->command.items[0]
				      : NULL;
}

static void tell(struct mr_ctx *cx, const struct mr_work *work,
	const struct mr_work_setup_plan *plan, struct mr_work_setup_done *out)
{
	const struct mr_work_identity *sender = find_sender(work->config, plan->request->address);

	*out = (struct mr_work_setup_done){ .address = plan->request->address,
		.identity = sender ? sender->identity : "",
		.name = sender ? sender->name : "",
		.provider = plan->provider ? plan->provider->title : NULL,
		.imap = tell_server(plan->imap),
		.password_place = plan->place,
		.password_where = where(&plan->secret),
		.keeps_sent = keeps_sent(plan),
		.hint = "Take mail in with `afmail pull`." };
	if (plan->smtp) {
		out->smtp = mr_arena_alloc(cx->arena, sizeof(*out->smtp));
		*out->smtp = tell_server(plan->smtp);
	}
	if (plan->secret.env && plan->request->password)
		out->hint = mr_arena_printf(cx->arena,
			"Put the password into the environment variable %s; then take mail in with "
			"`afmail pull`.",
			plan->secret.env);
}

/* The secret first: a configuration never names one that is not there. */
enum mr_code mr_work_setup_store(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup_plan *plan, struct mr_work_setup_done *result)
{
	struct mr_work_setup_done done = { 0 };
	struct mr_work_change change;
	enum mr_code rc;

	mr_work_change_begin(cx, work, "setup", &change);
	rc = collect(cx, work, plan, &change);
	if (!rc)
		rc = keep_secret(cx, plan);
	if (rc)
		return rc;
	tell(cx, work, plan, &done);
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = done;
	return rc;
}
