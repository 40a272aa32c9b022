/* workspace/generation.c - the version of the layout, and old forms of the configuration and of
 * queued items. */
#include "workspace/generation.h"

#include "text/mime.h"
#include "text/out.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/offset.h"
#include "workspace/queue.h"

#include <string.h>

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* --- the version --- */

int64_t mr_work_generation_version(struct mr_ctx *cx, struct mr_work *work)
{
	struct mr_err kept = cx->err;
	struct mr_bytes file = { 0 };
	struct mr_texts lines;
	int64_t version = 1;

	if (mr_work_read_opt(cx, work, MR_WORK_SENTINEL, &file) || !file.data) {
		cx->err = kept;
		return version;
	}
	lines = mr_str_split(cx->arena,
		mr_arena_strndup(cx->arena, (const char *)file.data, file.len), '\n');
	for (size_t i = 0; i < lines.len; i++)
		if (mr_str_starts(lines.items[i], MR_WORK_LAYOUT_LINE))
			(void)mr_str_to_int(mr_str_trim(cx->arena,
						    lines.items[i] + strlen(MR_WORK_LAYOUT_LINE)),
				&version);
	return version;
}

enum mr_code mr_work_generation_check(struct mr_ctx *cx, struct mr_work *work)
{
	int64_t version = mr_work_generation_version(cx, work);

	if (version <= MR_WORK_LAYOUT_VERSION)
		return MR_OK;
	mr_work_refuse(cx, MR_WORK_STORE_ERROR,
		"the workspace %s has layout version %lld, and this program knows versions up to "
		"%d",
		work->root, (long long)version, MR_WORK_LAYOUT_VERSION);
	return mr_work_hint(cx,
		"Use the version of the program that made the workspace, or a "
		"newer one.");
}

/* --- the configuration --- */

/* "Name <address>" of smtp.from as the identity `me`; the example of a new configuration when there
 * is no address. */
static void emit_identities(struct mr_ctx *cx, struct mr_out *out, const char *from)
{
	struct mr_mime_addresses found = { 0 };
	const char *name = NULL, *email = NULL;

	if (from)
		found = mr_mime_addresses_read(cx->arena, from);
	if (found.len) {
		name = found.items[0].name;
		email = found.items[0].email;
	}
	mr_out_list(out, "identities");
	mr_out_map(out, NULL);
	mr_out_text(out, "identity", "me");
	mr_out_text(out, "name",
		!mr_str_is_empty(name)           ? name
			: mr_str_is_empty(email) ? "Me"
						 : email);
	mr_out_text(out, "email", mr_str_is_empty(email) ? MR_WORK_EXAMPLE_EMAIL : email);
	mr_out_bool(out, "default", true);
	mr_out_end(out);
	mr_out_end(out);
}

static void emit_smtp(struct mr_out *out, const struct mr_value *smtp)
{
	mr_out_map(out, "smtp");
	for (size_t i = 0; i < smtp->map.len; i++)
		if (!mr_str_eq(smtp->map.pairs[i].key, "from"))
			mr_out_value(out, smtp->map.pairs[i].key, &smtp->map.pairs[i].value);
	mr_out_end(out);
}

/* Actions that the old configuration does not have yet get their defaults. */
static void emit_actions(struct mr_ctx *cx, struct mr_out *out, const struct mr_value *actions)
{
	const struct mr_value *defaults =
		mr_value_get(mr_work_config_default(cx,
				     mr_work_offset_of_host(mr_clock_wall_us(cx->clock))),
			"actions");

	mr_out_map(out, "actions");
	for (size_t i = 0; i < actions->map.len; i++)
		mr_out_value(out, actions->map.pairs[i].key, &actions->map.pairs[i].value);
	for (size_t i = 0; i < defaults->map.len; i++)
		if (!mr_value_get(actions, defaults->map.pairs[i].key))
			mr_out_value(out, defaults->map.pairs[i].key,
				&defaults->map.pairs[i].value);
	mr_out_end(out);
}

static const struct mr_value *new_config(struct mr_ctx *cx, const struct mr_value *old)
{
	const struct mr_value *smtp = mr_value_get(old, "smtp");
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	for (size_t i = 0; i < old->map.len; i++) {
		const struct mr_pair *pair = &old->map.pairs[i];

		if (mr_str_eq(pair->key, "smtp") && pair->value.kind == MR_MAP)
			emit_smtp(&out, &pair->value);
		else if (mr_str_eq(pair->key, "actions") && pair->value.kind == MR_MAP)
			emit_actions(cx, &out, &pair->value);
		else
			mr_out_value(&out, pair->key, &pair->value);
	}
	if (!mr_value_get(old, "identities"))
		emit_identities(cx, &out, text_of(smtp, "from"));
	mr_out_end(&out);
	return mr_out_tree(&out);
}

bool mr_work_generation_config(struct mr_ctx *cx, struct mr_work *work, const struct mr_value **out)
{
	const struct mr_value *old = NULL, *new;
	struct mr_work_config *config = NULL;
	struct mr_err kept = cx->err;
	bool can = false;

	if (!mr_work_read_json(cx, work, MR_WORK_CONFIG, &old) && old && old->kind == MR_MAP &&
		(!mr_value_get(old, "identities") ||
			mr_value_get(mr_value_get(old, "smtp"), "from"))) {
		new = new_config(cx, old);
		can = !mr_work_config_read(cx, new, &config);
		if (can && out)
			*out = new;
	}
	cx->err = kept;
	return can;
}

/* --- queued items --- */

static bool is_action(const char *action)
{
	return mr_str_eq(action, "save_draft") || mr_str_eq(action, "send");
}

/* Has a step of the item begun? */
static bool has_begun(const struct mr_value *item)
{
	const struct mr_value *states = mr_value_get(item, "step_states");

	for (size_t i = 0; states && states->kind == MR_LIST && i < states->list.len; i++) {
		const struct mr_value *state = &states->list.items[i];

		if (text_of(state, "started_rfc3339") ||
			!mr_str_eq(text_of(state, "status"), "pending"))
			return true;
	}
	return false;
}

static const struct mr_value *new_item(struct mr_ctx *cx, const struct mr_value *old)
{
	static const char *const kept[] = { "push_id", "kind", "created_rfc3339", "updated_rfc3339",
		"attempt_count", "last_error", "action", "case_uid", "draft_name" };
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "schema_name", "push_item");
	mr_out_int(&out, "schema_version", 1);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		const struct mr_value *value = mr_value_get(old, kept[i]);

		if (value)
			mr_out_value(&out, kept[i], value);
	}
	if (!mr_value_get(old, "attempt_count"))
		mr_out_int(&out, "attempt_count", 0);
	if (!mr_value_get(old, "updated_rfc3339"))
		mr_out_text(&out, "updated_rfc3339", text_of(old, "created_rfc3339"));
	mr_out_list(&out, "step_states");
	mr_out_end(&out);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

/* Mail that generation 0.1 queued: the draft is used as it is at push time, not the copy that was
 * staged. An item that has begun stays as it is, because nobody knows how far it came. */
bool mr_work_generation_item(struct mr_ctx *cx, struct mr_work *work, const char *path,
	const struct mr_value **out)
{
	const struct mr_value *old = NULL;
	struct mr_err kept = cx->err;
	const char *id;
	bool can;

	if (mr_work_read_json(cx, work, path, &old) || !old || old->kind != MR_MAP) {
		cx->err = kept;
		return false;
	}
	id = text_of(old, "push_id");
	can = id && mr_str_eq(mr_work_path_push(cx->arena, id), path) &&
		mr_str_eq(text_of(old, "kind"), "outbound") && is_action(text_of(old, "action")) &&
		text_of(old, "case_uid") && text_of(old, "draft_name") &&
		text_of(old, "created_rfc3339") && !has_begun(old);
	if (can && out)
		*out = new_item(cx, old);
	return can;
}
