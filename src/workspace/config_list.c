/* workspace/config_list.c - all keys with their values; members added to and taken from lists. */
#include "text/json.h"
#include "workspace/config_private.h"
#include "workspace/error.h"
#include "workspace/offset.h"

#include <string.h>

/* --- every key --- */

static void add_key(struct mr_arena *arena, const struct mr_work_key *key, const char *id,
	struct mr_texts *out)
{
	const char *star = strchr(key->name, '*');

	out->items[out->len++] = star ? mr_arena_printf(arena, "%.*s%s%s", (int)(star - key->name),
						key->name, id, star + 1)
				      : key->name;
}

enum mr_code mr_work_config_keys(struct mr_ctx *cx, struct mr_work *work, struct mr_texts *out)
{
	enum { KEYS_MAX = 128 };
	const struct mr_work_config *config;
	enum mr_code rc = mr_work_config_strict(cx, work, &config);
	struct mr_texts keys = { 0 };

	if (rc)
		return rc;
	keys.items = mr_arena_array(cx->arena, KEYS_MAX * (config->mailbox_count + 1) + 1,
		sizeof(*keys.items));
	for (const struct mr_work_key *key = mr_work_keys; key->name; key++) {
		if (key->type == MR_WORK_KEY_FIXED || key->is_alias)
			continue;
		if (!strchr(key->name, '*')) {
			add_key(cx->arena, key, NULL, &keys);
			continue;
		}
		for (size_t i = 0; i < config->mailbox_count; i++)
			add_key(cx->arena, key, config->mailboxes[i].id, &keys);
	}
	*out = keys;
	return MR_OK;
}

static bool equal(const struct mr_value *a, const struct mr_value *b)
{
	return a && b ? mr_value_equal(a, b) : a == b;
}

enum mr_code mr_work_config_list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_config_listed *out)
{
	const int offset = mr_work_offset_of_host(mr_clock_wall_us(cx->clock));
	struct mr_work_config *defaults;
	struct mr_texts keys = { 0 };
	enum mr_code rc = mr_work_config_keys(cx, work, &keys);

	if (!rc)
		rc = mr_work_config_read(cx, mr_work_config_default(cx, offset), &defaults);
	if (rc)
		return rc;
	*out = (struct mr_work_config_listed){ .count = (int64_t)keys.len, .len = keys.len };
	out->items = mr_arena_array(cx->arena, keys.len + 1, sizeof(*out->items));
	for (size_t i = 0; i < keys.len; i++) {
		struct mr_work_config_item *item = &out->items[i];
		struct mr_work_key_place place;

		rc = mr_work_key_place_find(cx, keys.items[i], &place);
		if (rc)
			return rc;
		item->key = keys.items[i];
		item->value = mr_work_key_place_value(cx->arena, work->config, &place);
		item->is_default =
			equal(item->value, mr_work_key_place_value(cx->arena, defaults, &place));
	}
	return MR_OK;
}

/* --- members of lists --- */

static const struct mr_value *new_identity(struct mr_ctx *cx,
	const struct mr_work_config_add *request, const char *slug)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "identity", slug);
	mr_out_text(&out, "name", request->name);
	mr_out_text(&out, "email", request->email);
	mr_out_bool(&out, "default", request->is_default);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* The identity that is to be added, from JSON or from options. */
static enum mr_code read_identity(struct mr_ctx *cx, const struct mr_work_config_add *request,
	const struct mr_value **out)
{
	const struct mr_texts *values = &request->values;
	const char *json = request->json;
	struct mr_err err = { 0 };

	if (!json && values->len == 1 && values->items[0][0] == '{')
		json = values->items[0];
	if (json) {
		if ((request->json && values->len) || request->name || request->email ||
			request->is_default)
			return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
				"an identity is given either as JSON or by its slug, name and "
				"email");
		if (mr_json_parse(cx->arena, mr_bytes_text(json), NULL, out, &err))
			return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
				"the identity is not JSON: %s", err.msg);
		return MR_OK;
	}
	if (values->len != 1 || !request->name || !request->email) {
		(void)mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"an identity needs a slug, a name and an email address");
		return mr_work_hint(cx,
			"Write `afmail config add identities SLUG --name NAME --email ADDRESS`.");
	}
	*out = new_identity(cx, request, values->items[0]);
	return MR_OK;
}

static bool is_true(const struct mr_value *value)
{
	return value && value->kind == MR_BOOL && value->boolean;
}

static enum mr_code add_identity(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_key_place *place, const struct mr_work_config_add *request,
	struct mr_work_change *change)
{
	static const char *default_path[] = { "default", NULL };
	const struct mr_value *old = mr_value_get(work->config->document, "identities");
	struct mr_value list = { .kind = MR_LIST }, no = { .kind = MR_BOOL };
	const struct mr_value *added;
	enum mr_code rc = read_identity(cx, request, &added);

	if (rc)
		return rc;
	list.list.items = mr_arena_array(cx->arena, old->list.len + 1, sizeof(*list.list.items));
	for (size_t i = 0; i < old->list.len; i++) {
		const struct mr_value *item = &old->list.items[i];

		if (is_true(mr_value_get(added, "default")))
			item = mr_work_tree_put(cx->arena, item,
				&(struct mr_texts){ default_path, 1 }, &no);
		list.list.items[list.list.len++] = *item;
	}
	list.list.items[list.list.len++] = *added;
	return mr_work_config_store(cx, work,
		mr_work_tree_put(cx->arena, work->config->document, &place->path, &list), change);
}

static enum mr_code add_words(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_key_place *place, const struct mr_work_config_add *request,
	struct mr_work_change *change)
{
	const struct mr_value *old = mr_work_tree_get(work->config->document, &place->path);
	struct mr_texts words = { 0 };

	if (request->json || request->name || request->email || request->is_default)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"%s is a list of words: JSON, names and addresses are for identities",
			place->name);
	words.items = mr_arena_array(cx->arena, old->list.len + request->values.len + 1,
		sizeof(*words.items));
	for (size_t i = 0; i < old->list.len; i++)
		words.items[words.len++] = old->list.items[i].text;
	for (size_t i = 0; i < request->values.len; i++)
		if (!mr_texts_has(&words, request->values.items[i]))
			words.items[words.len++] = request->values.items[i];
	return mr_work_config_store(cx, work,
		mr_work_tree_put(cx->arena, work->config->document, &place->path,
			mr_work_value_texts(cx->arena, &words)),
		change);
}

/* The place of a key that is a list with members of its own. */
static enum mr_code find_list(struct mr_ctx *cx, struct mr_work *work, const char *key,
	struct mr_work_key_place *out)
{
	const struct mr_work_config *config;
	enum mr_code rc = mr_work_config_strict(cx, work, &config);

	if (!rc)
		rc = mr_work_key_place_find(cx, key, out);
	if (rc || out->key->type == MR_WORK_KEY_LIST || out->key->type == MR_WORK_KEY_IDENTITIES)
		return rc;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"nothing can be added to or removed from %s; use `config set`", key);
}

enum mr_code mr_work_config_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config_add *request, struct mr_work_change *change,
	const struct mr_value **out)
{
	struct mr_work_key_place place;
	enum mr_code rc = find_list(cx, work, request->key, &place);

	if (rc)
		return rc;
	if (place.key->type == MR_WORK_KEY_IDENTITIES)
		rc = add_identity(cx, work, &place, request, change);
	else if (!request->values.len)
		rc = mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "no value was given for %s",
			request->key);
	else
		rc = add_words(cx, work, &place, request, change);
	if (!rc)
		*out = mr_work_key_place_value(cx->arena, work->config, &place);
	return rc;
}

static const char *name_of(const struct mr_value *item)
{
	return item->kind == MR_TEXT ? item->text : mr_value_get(item, "identity")->text;
}

enum mr_code mr_work_config_remove(struct mr_ctx *cx, struct mr_work *work, const char *key,
	const struct mr_texts *values, struct mr_work_change *change, const struct mr_value **out)
{
	struct mr_value list = { .kind = MR_LIST };
	const struct mr_value *old;
	struct mr_work_key_place place;
	enum mr_code rc = find_list(cx, work, key, &place);

	if (rc)
		return rc;
	if (!values->len)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "no value was given for %s",
			key);
	old = mr_work_tree_get(work->config->document, &place.path);
	for (size_t i = 0; i < values->len; i++) {
		bool found = false;

		for (size_t k = 0; k < old->list.len; k++)
			found = found || mr_str_eq(name_of(&old->list.items[k]), values->items[i]);
		if (!found)
			return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "%s has no '%s'", key,
				values->items[i]);
	}
	list.list.items = mr_arena_array(cx->arena, old->list.len + 1, sizeof(*list.list.items));
	for (size_t k = 0; k < old->list.len; k++)
		if (!mr_texts_has(values, name_of(&old->list.items[k])))
			list.list.items[list.list.len++] = old->list.items[k];
	rc = mr_work_config_store(cx, work,
		mr_work_tree_put(cx->arena, work->config->document, &place.path, &list), change);
	if (!rc)
		*out = mr_work_key_place_value(cx->arena, work->config, &place);
	return rc;
}
