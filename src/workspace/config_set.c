/* workspace/config_set.c - changes the configuration by its keys. */
#include "text/json.h"
#include "workspace/config_private.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/offset.h"

#include <string.h>

enum mr_code mr_work_config_strict(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config **out)
{
	enum mr_code rc = mr_work_config_get(cx, work, out);

	return rc ? rc : mr_work_config_check_personas(cx, *out);
}

enum mr_code mr_work_config_store(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_value *document, struct mr_work_change *change)
{
	const struct mr_value *old = work->config->document;
	struct mr_work_config *config;
	enum mr_code rc = mr_work_config_read(cx, document, &config);

	if (!rc)
		rc = mr_work_personas_load(cx, work, config);
	if (!rc)
		rc = mr_work_config_check_personas(cx, config);
	if (rc || mr_value_equal(old, config->document))
		return rc;
	mr_work_change_json(change, MR_WORK_CONFIG, config->document);
	if (!mr_value_equal(mr_value_get(old, "identities"),
		    mr_value_get(config->document, "identities")))
		change->stale.identities = true;
	work->config = config;
	return MR_OK;
}

/* --- from words to a value --- */

static enum mr_code refuse_value(struct mr_ctx *cx, const struct mr_work_key_place *place,
	const char *want, const char *text)
{
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "%s must be %s, not '%s'", place->name,
		want, text);
}

static enum mr_code read_number(struct mr_ctx *cx, const struct mr_work_key_place *place,
	const char *text, int min, int max, const struct mr_value **out)
{
	struct mr_value *value = mr_arena_alloc(cx->arena, sizeof(*value));
	int64_t number;

	if (!mr_str_to_int(text, &number) || number < min || number > max)
		return refuse_value(cx, place,
			mr_arena_printf(cx->arena, "a number from %d to %d", min, max), text);
	value->kind = MR_INT;
	value->integer = number;
	*out = value;
	return MR_OK;
}

static enum mr_code read_bool(struct mr_ctx *cx, const struct mr_work_key_place *place,
	const char *text, const struct mr_value **out)
{
	struct mr_value *value = mr_arena_alloc(cx->arena, sizeof(*value));

	if (!mr_str_eq(text, "true") && !mr_str_eq(text, "false"))
		return refuse_value(cx, place, "true or false", text);
	value->kind = MR_BOOL;
	value->boolean = mr_str_eq(text, "true");
	*out = value;
	return MR_OK;
}

static enum mr_code read_offset(struct mr_ctx *cx, const struct mr_work_key_place *place,
	const char *text, const struct mr_value **out)
{
	int minutes;

	if (mr_str_eq_nocase(text, "null")) {
		*out = mr_work_value_text(cx->arena, NULL);
		return MR_OK;
	}
	if (!mr_work_offset_parse(text, &minutes))
		return refuse_value(cx, place, "UTC, null or an offset such as +05:30", text);
	*out = mr_work_value_text(cx->arena, mr_work_offset_text(cx->arena, minutes));
	return MR_OK;
}

static enum mr_code read_json(struct mr_ctx *cx, const struct mr_work_key_place *place,
	const char *text, const struct mr_value **out)
{
	struct mr_err err = { 0 };

	if (place->key->type == MR_WORK_KEY_STEPS && mr_str_eq(text, "none"))
		text = "[]";
	if (mr_json_parse(cx->arena, mr_bytes_text(text), NULL, out, &err))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the value of %s must be a list in JSON: %s", place->name, err.msg);
	if ((*out)->kind != MR_LIST)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the value of %s must be a list in JSON, not %s", place->name,
			mr_kind_name((*out)->kind));
	return MR_OK;
}

static const struct mr_value *one_move(struct mr_arena *arena, const char *mailbox_id)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_list(&out, NULL);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "move_to_mailbox_id", mailbox_id);
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* Each once, in the order given. */
static const struct mr_value *read_list(struct mr_arena *arena, const struct mr_texts *values)
{
	struct mr_texts once = { mr_arena_array(arena, values->len + 1, sizeof(char *)), 0 };

	for (size_t i = 0; i < values->len; i++)
		if (!mr_texts_has(&once, values->items[i]))
			once.items[once.len++] = values->items[i];
	return mr_work_value_texts(arena, &once);
}

static enum mr_code read_value(struct mr_ctx *cx, const struct mr_work_key_place *place,
	const struct mr_texts *values, const struct mr_value **out)
{
	const char *text = values->items[0];

	switch (place->key->type) {
	case MR_WORK_KEY_PORT:
		return read_number(cx, place, text, 0, UINT16_MAX, out);
	case MR_WORK_KEY_SECONDS:
		return read_number(cx, place, text, 1, MR_WORK_TIMEOUT_MAX_S, out);
	case MR_WORK_KEY_COMMAND:
		*out = mr_work_value_texts(cx->arena, values);
		return MR_OK;
	case MR_WORK_KEY_BOOL:
		return read_bool(cx, place, text, out);
	case MR_WORK_KEY_OFFSET:
		return read_offset(cx, place, text, out);
	case MR_WORK_KEY_STEPS:
	case MR_WORK_KEY_IDENTITIES:
		return read_json(cx, place, text, out);
	case MR_WORK_KEY_IDENTITY:
		if (mr_str_eq(place->key->path, "default"))
			return read_bool(cx, place, text, out);
		break;
	case MR_WORK_KEY_LANGUAGE:
		if (mr_str_eq_nocase(text, "null"))
			text = NULL;
		break;
	case MR_WORK_KEY_MOVE:
		*out = one_move(cx->arena, text);
		return MR_OK;
	case MR_WORK_KEY_LIST:
		*out = read_list(cx->arena, values);
		return MR_OK;
	case MR_WORK_KEY_FIXED:
	case MR_WORK_KEY_TEXT:
		break;
	}
	*out = mr_work_value_text(cx->arena, text);
	return MR_OK;
}

/* --- into the document --- */

static struct mr_texts beside(struct mr_arena *arena, const struct mr_texts *path,
	const char *member)
{
	struct mr_texts copy = { mr_arena_array(arena, path->len + 1, sizeof(char *)), path->len };

	memcpy(copy.items, path->items, path->len * sizeof(*path->items));
	copy.items[path->len - 1] = member;
	return copy;
}

/* The list of identities with a member of one set; a new default takes that from the others. */
static const struct mr_value *put_identity(struct mr_arena *arena, const struct mr_value *document,
	const struct mr_work_key_place *place, const struct mr_value *value)
{
	static const char *list_path[] = { "identities", NULL };
	static const char *default_path[] = { "default", NULL };
	const struct mr_value *list = mr_value_get(document, "identities");
	struct mr_value *copy = mr_arena_alloc(arena, sizeof(*copy));
	const char *member[] = { place->key->path, NULL };
	bool moves_default = mr_str_eq(place->key->path, "default") && value->boolean;
	struct mr_value no = { .kind = MR_BOOL };

	*copy = (struct mr_value){ .kind = MR_LIST };
	copy->list.len = list->list.len;
	copy->list.items = mr_arena_array(arena, list->list.len, sizeof(*copy->list.items));
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *item = &list->list.items[i];

		if (mr_str_eq(mr_value_get(item, "identity")->text, place->id))
			item = mr_work_tree_put(arena, item, &(struct mr_texts){ member, 1 },
				value);
		else if (moves_default)
			item = mr_work_tree_put(arena, item, &(struct mr_texts){ default_path, 1 },
				&no);
		copy->list.items[i] = *item;
	}
	return mr_work_tree_put(arena, document, &(struct mr_texts){ list_path, 1 }, copy);
}

static bool is_pull_rule(const struct mr_work_key_place *place)
{
	return place->id && mr_str_starts(place->name, "actions.pull.");
}

static const struct mr_value *put_place(struct mr_arena *arena, const struct mr_value *document,
	const struct mr_work_key_place *place, const struct mr_value *value)
{
	if (place->key->type == MR_WORK_KEY_IDENTITY)
		return put_identity(arena, document, place, value);
	if (is_pull_rule(place)) {
		/* A rule has both members. */
		bool is_import = mr_str_ends(place->name, ".import_as");
		struct mr_texts other =
			beside(arena, &place->path, is_import ? "direction" : "import_as");

		if (!mr_work_tree_get(document, &other))
			document = mr_work_tree_put(arena, document, &other,
				mr_work_value_text(arena, is_import ? "inbound" : "triage"));
	}
	if (place->key->others && value->kind != MR_NULL) {
		struct mr_texts names = mr_str_split(arena, place->key->others, ' ');

		for (size_t i = 0; i < names.len; i++) {
			struct mr_texts other = beside(arena, &place->path, names.items[i]);

			if (mr_work_tree_get(document, &other))
				document = mr_work_tree_put(arena, document, &other,
					mr_work_value_text(arena, NULL));
		}
	}
	return mr_work_tree_put(arena, document, &place->path, value);
}

static enum mr_code find_settable(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const struct mr_work_config **out_config, struct mr_work_key_place *out)
{
	enum mr_code rc = mr_work_config_strict(cx, work, out_config);

	if (!rc)
		rc = mr_work_key_place_find(cx, key, out);
	if (rc)
		return rc;
	if (out->key->type == MR_WORK_KEY_FIXED)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the key '%s' can be read but not set", key);
	if (out->key->type == MR_WORK_KEY_IDENTITY &&
		!mr_work_find_identity(*out_config, out->id)) {
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "there is no identity '%s'",
			out->id);
		return mr_work_hint(cx,
			"Add one with `afmail config add identities %s --name NAME --email "
			"ADDRESS`.",
			out->id);
	}
	return MR_OK;
}

static enum mr_code set_value(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_key_place *place, const struct mr_value *value,
	struct mr_work_change *change, const struct mr_value **out)
{
	const struct mr_value *document =
		put_place(cx->arena, work->config->document, place, value);
	enum mr_code rc = mr_work_config_store(cx, work, document, change);

	if (!rc)
		*out = mr_work_key_place_value(cx->arena, work->config, place);
	return rc;
}

enum mr_code mr_work_config_set(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const struct mr_texts *values, struct mr_work_change *change, const struct mr_value **out)
{
	const struct mr_work_config *config;
	const struct mr_value *value;
	struct mr_work_key_place place;
	enum mr_code rc = find_settable(cx, work, key, &config, &place);

	if (rc)
		return rc;
	if (!values->len)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "no value was given for %s",
			key);
	if (values->len > 1 && place.key->type != MR_WORK_KEY_LIST &&
		place.key->type != MR_WORK_KEY_COMMAND)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"%s takes one value, but %zu were given", key, values->len);
	rc = read_value(cx, &place, values, &value);
	return rc ? rc : set_value(cx, work, &place, value, change, out);
}

enum mr_code mr_work_config_set_many(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config_setting *settings, size_t len, struct mr_work_change *change)
{
	const struct mr_work_config *config;
	const struct mr_value *document;
	enum mr_code rc = mr_work_config_strict(cx, work, &config);

	if (rc)
		return rc;
	document = config->document;
	for (size_t i = 0; i < len; i++) {
		const struct mr_value *value = mr_work_value_text(cx->arena, NULL);
		struct mr_work_key_place place;

		rc = find_settable(cx, work, settings[i].key, &config, &place);
		if (!rc && settings[i].values.len)
			rc = read_value(cx, &place, &settings[i].values, &value);
		if (rc)
			return rc;
		document = put_place(cx->arena, document, &place, value);
	}
	return mr_work_config_store(cx, work, document, change);
}

enum mr_code mr_work_config_set_json(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const char *json, struct mr_work_change *change, const struct mr_value **out)
{
	const struct mr_work_config *config;
	const struct mr_value *value;
	struct mr_work_key_place place;
	enum mr_code rc = find_settable(cx, work, key, &config, &place);

	if (rc)
		return rc;
	if (place.key->type != MR_WORK_KEY_STEPS && place.key->type != MR_WORK_KEY_IDENTITIES)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"%s cannot be set from JSON; only identities and steps can", key);
	rc = read_json(cx, &place, json, &value);
	return rc ? rc : set_value(cx, work, &place, value, change, out);
}

/* --- back to defaults --- */

/* A mailbox of our own goes with its rules; one that every workspace has becomes as it was. */
static const struct mr_value *reset_mailbox(struct mr_arena *arena, const struct mr_value *document,
	const struct mr_value *defaults, const struct mr_work_key_place *place)
{
	const char *mailbox[] = { "mailboxes", place->id, NULL };
	const char *pull[] = { "actions", "pull", "by_mailbox_id", place->id, NULL };
	const char *archive[] = { "actions", "message.archive", "by_source_mailbox_id", place->id,
		NULL };
	const struct mr_texts path = { mailbox, 2 };
	const struct mr_value *old = mr_work_tree_get(defaults, &path);
	const struct mr_value *now = mr_work_tree_get(document, &place->path);

	if (old)
		return mr_work_tree_put(arena, document, &path, old);
	if (!now || now->kind == MR_NULL)
		return document;
	document = mr_work_tree_put(arena, document, &(struct mr_texts){ pull, 4 }, NULL);
	document = mr_work_tree_put(arena, document, &(struct mr_texts){ archive, 4 }, NULL);
	return mr_work_tree_put(arena, document, &path, NULL);
}

static const struct mr_value *default_of(struct mr_arena *arena, const struct mr_value *defaults,
	const struct mr_work_key_place *place)
{
	const struct mr_value *value = mr_work_tree_get(defaults, &place->path);

	if (value)
		return value;
	if (is_pull_rule(place))
		return mr_work_value_text(arena,
			mr_str_ends(place->name, ".import_as") ? "triage" : "inbound");
	if (place->key->type != MR_WORK_KEY_STEPS && place->key->type != MR_WORK_KEY_MOVE)
		return mr_work_value_text(arena, NULL); /* it is left out by default */
	return mr_work_value_texts(arena, &(struct mr_texts){ 0 });
}

enum mr_code mr_work_config_unset(struct mr_ctx *cx, struct mr_work *work, const char *key,
	struct mr_work_change *change, const struct mr_value **out)
{
	const struct mr_work_config *config;
	const struct mr_value *defaults, *document;
	struct mr_work_key_place place;
	enum mr_code rc = find_settable(cx, work, key, &config, &place);

	if (rc)
		return rc;
	if (place.key->type == MR_WORK_KEY_IDENTITY) {
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "%s has no default", key);
		return mr_work_hint(cx,
			"Remove the whole identity with `afmail config remove identities %s`.",
			place.id);
	}
	if (place.id && !mr_work_find_mailbox(config, place.id))
		return mr_work_refuse(cx, MR_WORK_UNKNOWN_MAILBOX_ID,
			"there is no mailbox with the id '%s'", place.id);
	defaults = mr_work_config_default(cx, mr_work_offset_of_host(mr_clock_wall_us(cx->clock)));
	if (place.id && mr_str_starts(place.name, "mailboxes."))
		document = reset_mailbox(cx->arena, config->document, defaults, &place);
	else
		document = put_place(cx->arena, config->document, &place,
			default_of(cx->arena, defaults, &place));
	rc = mr_work_config_store(cx, work, document, change);
	if (!rc)
		*out = mr_work_key_place_value(cx->arena, work->config, &place);
	return rc;
}
