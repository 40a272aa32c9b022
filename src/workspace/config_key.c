/* workspace/config_key.c - the table of configuration keys, and the values they name. */
#include "workspace/config_private.h"
#include "workspace/error.h"

#include <string.h>

#define ARCHIVE_NAME "actions.message.archive.by_source_mailbox_id.*"
#define ARCHIVE_PATH "actions/message.archive/by_source_mailbox_id/*/steps"

/* A password is in one place: whatever names one takes the others away. */
#define IN_TEXT    "password_secret "
#define IN_ENV     "password_secret_env "
#define IN_FILE    "password_secret_file "
#define IN_COMMAND "password_secret_command "
#define IN_KEYRING "password_secret_keyring "

#define SERVER_KEYS(server)                                                                        \
	{ server ".host", server "/host", MR_WORK_KEY_TEXT, NULL, false },                         \
		{ server ".port", server "/port", MR_WORK_KEY_PORT, NULL, false },                 \
		{ server ".starttls", server "/starttls", MR_WORK_KEY_BOOL, NULL, false },         \
		{ server ".username", server "/username", MR_WORK_KEY_TEXT, NULL, false },         \
		{ server ".password_secret", server "/password_secret", MR_WORK_KEY_TEXT,          \
			IN_ENV IN_FILE IN_COMMAND IN_KEYRING, false },                             \
		{ server ".password_secret_env", server "/password_secret_env", MR_WORK_KEY_TEXT,  \
			IN_TEXT IN_FILE IN_COMMAND IN_KEYRING, false },                            \
		{ server ".password_secret_file", server "/password_secret_file",                  \
			MR_WORK_KEY_TEXT, IN_TEXT IN_ENV IN_COMMAND IN_KEYRING, false },           \
		{ server ".password_secret_command", server "/password_secret_command",            \
			MR_WORK_KEY_COMMAND, IN_TEXT IN_ENV IN_FILE IN_KEYRING, false },           \
		{ server ".password_secret_keyring", server "/password_secret_keyring",            \
			MR_WORK_KEY_TEXT, IN_TEXT IN_ENV IN_FILE IN_COMMAND, false },              \
		{ server ".token_secret_file", server "/token_secret_file", MR_WORK_KEY_TEXT,      \
			"token_secret_command", false },                                           \
		{ server ".token_secret_command", server "/token_secret_command",                  \
			MR_WORK_KEY_COMMAND, "token_secret_file", false },                         \
		{ server ".auth", server "/auth", MR_WORK_KEY_TEXT, NULL, false },                 \
		{ server ".ca_file", server "/ca_file", MR_WORK_KEY_TEXT, NULL, false },           \
	{                                                                                          \
		server ".timeout_s", server "/timeout_s", MR_WORK_KEY_SECONDS, NULL, false         \
	}

const struct mr_work_key mr_work_keys[] = {
	{ "schema_name", "schema_name", MR_WORK_KEY_FIXED, NULL, false },
	{ "schema_version", "schema_version", MR_WORK_KEY_FIXED, NULL, false },
	{ "workspace.language_bcp47", "workspace/language_bcp47", MR_WORK_KEY_LANGUAGE, NULL,
		false },
	{ "workspace.timezone_utc_offset", "workspace/timezone_utc_offset", MR_WORK_KEY_OFFSET,
		NULL, false },
	{ "identities", "identities", MR_WORK_KEY_IDENTITIES, NULL, false },
	{ "identities.*.name", "name", MR_WORK_KEY_IDENTITY, NULL, true },
	{ "identities.*.email", "email", MR_WORK_KEY_IDENTITY, NULL, true },
	{ "identities.*.default", "default", MR_WORK_KEY_IDENTITY, NULL, true },
	SERVER_KEYS("imap"),
	{ "imap.tls", "imap/tls", MR_WORK_KEY_BOOL, NULL, false },
	SERVER_KEYS("smtp"),
	{ "smtp.tls_wrapper", "smtp/tls_wrapper", MR_WORK_KEY_BOOL, NULL, false },
	{ "mailboxes", "mailboxes", MR_WORK_KEY_FIXED, NULL, false },
	{ "mailboxes.*.mailbox_name", "mailboxes/*/mailbox_name", MR_WORK_KEY_TEXT, "special_use",
		false },
	{ "mailboxes.*.special_use", "mailboxes/*/special_use", MR_WORK_KEY_TEXT, "mailbox_name",
		false },
	{ "actions", "actions", MR_WORK_KEY_FIXED, NULL, false },
	{ "actions.pull.default_mailbox_ids", "actions/pull/default_mailbox_ids", MR_WORK_KEY_LIST,
		NULL, false },
	{ "actions.pull.by_mailbox_id.*.import_as", "actions/pull/by_mailbox_id/*/import_as",
		MR_WORK_KEY_TEXT, NULL, false },
	{ "actions.pull.by_mailbox_id.*.direction", "actions/pull/by_mailbox_id/*/direction",
		MR_WORK_KEY_TEXT, NULL, false },
	{ "actions.case.add.steps", "actions/case.add/steps", MR_WORK_KEY_STEPS, NULL, false },
	{ "actions.draft.save.steps", "actions/draft.save/steps", MR_WORK_KEY_STEPS, NULL, false },
	{ "actions.draft.send.steps", "actions/draft.send/steps", MR_WORK_KEY_STEPS, NULL, false },
	{ "actions.message.spam.steps", "actions/message.spam/steps", MR_WORK_KEY_STEPS, NULL,
		false },
	{ "actions.message.trash.steps", "actions/message.trash/steps", MR_WORK_KEY_STEPS, NULL,
		false },
	{ ARCHIVE_NAME ".steps", ARCHIVE_PATH, MR_WORK_KEY_STEPS, NULL, false },
	{ ARCHIVE_NAME ".steps.move_to_mailbox_id", ARCHIVE_PATH, MR_WORK_KEY_MOVE, NULL, true },
	{ ARCHIVE_NAME ".move_to_mailbox_id", ARCHIVE_PATH, MR_WORK_KEY_MOVE, NULL, true },
	{ "case.default_group", "case/default_group", MR_WORK_KEY_TEXT, NULL, false },
	{ "contact.default_group", "contact/default_group", MR_WORK_KEY_TEXT, NULL, false },
	{ "archive", "archive", MR_WORK_KEY_FIXED, NULL, false },
	{ "archive.message_index.item_fields", "archive/message_index/item_fields",
		MR_WORK_KEY_LIST, NULL, false },
	{ "archive.message_index.sort", "archive/message_index/sort", MR_WORK_KEY_TEXT, NULL,
		false },
	{ "audit.approval_mode", "audit/approval_mode", MR_WORK_KEY_TEXT, NULL, false },
	{ "audit.reason_mode", "audit/reason_mode", MR_WORK_KEY_TEXT, NULL, false },
	{ NULL, NULL, MR_WORK_KEY_FIXED, NULL, false },
};

/* --- trees --- */

const struct mr_value *mr_work_tree_get(const struct mr_value *root, const struct mr_texts *path)
{
	for (size_t i = 0; root && i < path->len; i++)
		root = mr_value_get(root, path->items[i]);
	return root;
}

static struct mr_value *put(struct mr_arena *arena, const struct mr_value *map,
	const char *const *path, size_t len, const struct mr_value *value)
{
	struct mr_value *copy = mr_arena_alloc(arena, sizeof(*copy));
	size_t old = map && map->kind == MR_MAP ? map->map.len : 0, at = 0;

	copy->kind = MR_MAP;
	copy->map.pairs = mr_arena_array(arena, old + 1, sizeof(*copy->map.pairs));
	if (old)
		memcpy(copy->map.pairs, map->map.pairs, old * sizeof(*copy->map.pairs));
	copy->map.len = old;
	while (at < old && !mr_str_eq(copy->map.pairs[at].key, path[0]))
		at++;
	if (len > 1)
		value = put(arena, at < old ? &copy->map.pairs[at].value : NULL, path + 1, len - 1,
			value);
	if (value) {
		copy->map.pairs[at] = (struct mr_pair){ path[0], *value };
		copy->map.len = at < old ? old : old + 1;
	} else if (at < old) {
		copy->map.pairs[at] = copy->map.pairs[old - 1];
		copy->map.len--;
	}
	return copy;
}

const struct mr_value *mr_work_tree_put(struct mr_arena *arena, const struct mr_value *root,
	const struct mr_texts *path, const struct mr_value *value)
{
	return put(arena, root, path->items, path->len, value);
}

struct mr_value *mr_work_value_text(struct mr_arena *arena, const char *text)
{
	struct mr_value *value = mr_arena_alloc(arena, sizeof(*value));

	value->kind = text ? MR_TEXT : MR_NULL;
	value->text = mr_arena_strdup(arena, text);
	return value;
}

struct mr_value *mr_work_value_texts(struct mr_arena *arena, const struct mr_texts *texts)
{
	struct mr_value *value = mr_arena_alloc(arena, sizeof(*value));

	value->kind = MR_LIST;
	value->list.items = mr_arena_array(arena, texts->len + 1, sizeof(*value->list.items));
	value->list.len = texts->len;
	for (size_t i = 0; i < texts->len; i++)
		value->list.items[i] = *mr_work_value_text(arena, texts->items[i]);
	return value;
}

/* --- from a key to its place --- */

/* Does the name fit the pattern? `*out_id` gets what stands for '*', NULL without one. */
static bool fits(struct mr_arena *arena, const char *pattern, const char *name, const char **out_id)
{
	const char *star = strchr(pattern, '*');
	size_t before, after, len = strlen(name);

	*out_id = NULL;
	if (!star)
		return mr_str_eq(pattern, name);
	before = (size_t)(star - pattern);
	after = strlen(star + 1);
	if (len < before + after || memcmp(pattern, name, before) != 0 ||
		!mr_str_ends(name, star + 1))
		return false;
	*out_id = mr_arena_strndup(arena, name + before, len - before - after);
	return true;
}

static enum mr_code refuse_unknown(struct mr_ctx *cx, const char *name)
{
	enum { NAMES_MAX = 128 };
	const char *names[NAMES_MAX], *near;
	size_t count = 0;

	for (const struct mr_work_key *key = mr_work_keys; key->name && count < NAMES_MAX; key++)
		names[count++] = key->name;
	near = mr_str_nearest(name, names, count);
	(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "there is no configuration key '%s'",
		name);
	if (near)
		return mr_work_hint(cx, "Did you mean %s? `afmail config list` shows all keys.",
			near);
	return mr_work_hint(cx, "See the keys with `afmail config list`.");
}

static void set_path(struct mr_arena *arena, struct mr_work_key_place *place)
{
	place->path = mr_str_split(arena, place->key->path, '/');
	for (size_t i = 0; i < place->path.len; i++)
		if (mr_str_eq(place->path.items[i], "*"))
			place->path.items[i] = place->id;
}

enum mr_code mr_work_key_place_find(struct mr_ctx *cx, const char *name,
	struct mr_work_key_place *out)
{
	const char *bad_id = NULL;

	for (const struct mr_work_key *key = mr_work_keys; key->name; key++) {
		const char *id;

		if (!fits(cx->arena, key->name, name, &id))
			continue;
		if (id && !mr_work_is_config_id(id)) {
			bad_id = id; /* a longer pattern may fit better */
			continue;
		}
		*out = (struct mr_work_key_place){ .key = key, .name = name, .id = id };
		set_path(cx->arena, out);
		return MR_OK;
	}
	if (!bad_id)
		return refuse_unknown(cx, name);
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"the id '%s' in the key '%s' is not letters, digits, '_' and '-'", bad_id, name);
}

/* --- values --- */

static const struct mr_value *identity_member(const struct mr_work_config *config,
	const struct mr_work_key_place *place)
{
	const struct mr_value *list = mr_value_get(config->document, "identities");

	for (size_t i = 0; i < list->list.len; i++)
		if (mr_str_eq(mr_value_get(&list->list.items[i], "identity")->text, place->id))
			return mr_value_get(&list->list.items[i], place->key->path);
	return NULL;
}

/* The mailbox of the first move, or NULL. */
static const struct mr_value *first_move(const struct mr_value *steps)
{
	for (size_t i = 0; steps && i < steps->list.len; i++) {
		const struct mr_value *move =
			mr_value_get(&steps->list.items[i], "move_to_mailbox_id");

		if (move && move->kind == MR_TEXT)
			return move;
	}
	return NULL;
}

const struct mr_value *mr_work_key_place_value(struct mr_arena *arena,
	const struct mr_work_config *config, const struct mr_work_key_place *place)
{
	const struct mr_value *value;

	if (place->key->type == MR_WORK_KEY_IDENTITY)
		return identity_member(config, place);
	value = mr_work_tree_get(config->document, &place->path);
	if (place->key->type == MR_WORK_KEY_MOVE)
		return first_move(value);
	if (!value && place->key->type == MR_WORK_KEY_STEPS)
		return mr_work_value_texts(arena, &(struct mr_texts){ 0 });
	return value && value->kind != MR_NULL ? value : NULL;
}

static enum mr_code check_id(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_work_key_place *place)
{
	struct mr_texts ids = { 0 };

	if (!place->id)
		return MR_OK;
	if (place->key->type == MR_WORK_KEY_IDENTITY) {
		if (mr_work_find_identity(config, place->id))
			return MR_OK;
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "there is no identity '%s'",
			place->id);
	}
	if (mr_work_find_mailbox(config, place->id))
		return MR_OK;
	ids.items = mr_arena_array(cx->arena, config->mailbox_count + 1, sizeof(*ids.items));
	for (; ids.len < config->mailbox_count; ids.len++)
		ids.items[ids.len] = config->mailboxes[ids.len].id;
	return mr_work_refuse(cx, MR_WORK_UNKNOWN_MAILBOX_ID,
		"there is no mailbox with the id '%s'; available ids: %s", place->id,
		mr_str_join(cx->arena, &ids, ", "));
}

enum mr_code mr_work_config_value(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const struct mr_value **out)
{
	const struct mr_work_config *config;
	struct mr_work_key_place place;
	enum mr_code rc = mr_work_config_strict(cx, work, &config);

	if (!rc)
		rc = mr_work_key_place_find(cx, key, &place);
	if (!rc)
		rc = check_id(cx, config, &place);
	if (rc)
		return rc;
	*out = mr_work_key_place_value(cx->arena, config, &place);
	return MR_OK;
}
