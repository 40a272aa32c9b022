/* workspace/generation_list.c - old forms of cases and categories, and the migration of a whole
 * workspace. */
#include "workspace/error.h"
#include "workspace/generation.h"
#include "workspace/layout.h"
#include "workspace/queue.h"
#include "workspace/text_set.h"

#include <string.h>

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool is_case(enum mr_work_collection_kind kind)
{
	return kind == MR_WORK_ACTIVE_CASE || kind == MR_WORK_ARCHIVED_CASE;
}

static const char *old_file(struct mr_arena *arena, const struct mr_work_place *place)
{
	return mr_work_join(arena, place->path,
		is_case(place->kind) ? "data/messages.json" : "data/archive.json");
}

enum mr_code mr_work_generation_files(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_texts *out)
{
	const char *path = old_file(cx->arena, place);

	*out = (struct mr_texts){ 0 };
	if (mr_fs_exists(work->dir, path)) {
		out->items = mr_arena_array(cx->arena, 2, sizeof(*out->items));
		out->items[out->len++] = path;
	}
	return MR_OK;
}

/* --- one list --- */

/* The entries of an old document: a list, or a map that has one under one of these names. */
static const struct mr_value *entries_of(const struct mr_value *document)
{
	static const char *const names[] = { "items", "messages", "message_ids" };
	const struct mr_value *list = document;

	for (size_t i = 0; list && list->kind == MR_MAP && i < sizeof(names) / sizeof(*names); i++)
		if (mr_value_get(document, names[i]))
			list = mr_value_get(document, names[i]);
	return list && list->kind == MR_LIST ? list : NULL;
}

/* An entry is a message id, or a map that has one. */
static bool add_entry(struct mr_ctx *cx, const struct mr_value *entry, const char *otherwise,
	struct mr_work_collection *out)
{
	const char *id = entry->kind == MR_TEXT ? entry->text : text_of(entry, "message_id");
	const char *added = text_of(entry, "added_rfc3339");
	struct mr_err kept = cx->err;

	if (!id || mr_work_check_message_id(cx, id)) {
		cx->err = kept;
		return false;
	}
	if (!added)
		added = text_of(entry, "archived_rfc3339");
	mr_work_collection_add(cx, out, id, text_of(entry, "summary"), added ? added : otherwise);
	return true;
}

static bool add_entries(struct mr_ctx *cx, const struct mr_value *document, const char *otherwise,
	struct mr_work_collection *out)
{
	const struct mr_value *list = entries_of(document);

	if (!list)
		return false;
	for (size_t i = 0; i < list->list.len; i++)
		if (!add_entry(cx, &list->list.items[i], otherwise, out))
			return false;
	return true;
}

static void read_tags(struct mr_ctx *cx, const struct mr_value *document,
	struct mr_work_collection *out)
{
	const struct mr_value *tags = mr_value_get(document, "tags");

	if (!tags || tags->kind != MR_LIST)
		return;
	out->tags.items = mr_arena_array(cx->arena, tags->list.len + 1, sizeof(*out->tags.items));
	for (size_t i = 0; i < tags->list.len; i++)
		if (tags->list.items[i].kind == MR_TEXT)
			out->tags.items[out->tags.len++] = tags->list.items[i].text;
}

/* What both generations say of a list. False when uid and name are not there. */
static bool read_head(struct mr_ctx *cx, const struct mr_value *document,
	const struct mr_work_place *place, struct mr_work_collection *out)
{
	bool of_case = is_case(place->kind);
	const char *uid = text_of(document, of_case ? "case_uid" : "archive_uid");
	const char *name = text_of(document, of_case ? "case_name" : "archive_name");

	*out = (struct mr_work_collection){ .kind = place->kind,
		.path = place->path,
		.group = place->group,
		.uid = uid ? uid : text_of(document, "collection_uid"),
		.name = name ? name : text_of(document, "collection_name"),
		.created = text_of(document, "created_rfc3339"),
		.updated = text_of(document, "updated_rfc3339"),
		.archived = text_of(document, "archived_rfc3339"),
		.last_message = text_of(document, "last_message_rfc3339") };
	if (of_case)
		out->status = text_of(document, "status");
	if (of_case && !out->status)
		out->status = place->kind == MR_WORK_ARCHIVED_CASE ? "archived" : "active";
	read_tags(cx, document, out);
	return out->name && mr_str_eq(out->uid, place->uid);
}

static bool read_case(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_place *place,
	struct mr_work_collection *out)
{
	const struct mr_value *document = NULL, *members = NULL;
	const char *added;

	if (mr_work_read_json(cx, work,
		    mr_work_collection_file(cx->arena, place->kind, place->path), &document) ||
		mr_work_read_json(cx, work, old_file(cx->arena, place), &members) || !document ||
		!read_head(cx, document, place, out))
		return false;
	/* An old document, or a present one beside which the old list still stands. */
	if (!members && !text_of(document, "case_uid"))
		return false;
	added = out->created ? out->created : work->now;
	if (mr_value_get(document, "items") && !add_entries(cx, document, added, out))
		return false;
	return !members || add_entries(cx, members, added, out);
}

static bool read_category(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_collection *out)
{
	const struct mr_value *document = NULL, *now = NULL;

	if (mr_work_read_json(cx, work, old_file(cx->arena, place), &document) ||
		mr_work_read_json(cx, work,
			mr_work_collection_file(cx->arena, place->kind, place->path), &now) ||
		!document || !read_head(cx, document, place, out))
		return false;
	/* What the present document says comes first. */
	if (now && (!read_head(cx, now, place, out) || !add_entries(cx, now, work->now, out)))
		return false;
	return add_entries(cx, document, out->created ? out->created : work->now, out);
}

bool mr_work_generation_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, struct mr_work_collection *out)
{
	struct mr_work_collection found = { 0 };
	struct mr_err kept = cx->err;
	bool can = is_case(place->kind) ? read_case(cx, work, place, &found)
					: read_category(cx, work, place, &found);

	cx->err = kept;
	if (can && out)
		*out = found;
	return can;
}

/* --- the migration --- */

static enum mr_code migrate_places(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_collection_kind kind, int64_t *count)
{
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(cx, change->work, kind, &places);

	for (size_t i = 0; !rc && i < places.len; i++) {
		struct mr_work_collection list = { 0 };

		if (!mr_work_generation_list(cx, change->work, &places.items[i], &list))
			continue;
		rc = mr_work_collection_save(cx, change, &list);
		mr_work_change_remove(change, old_file(cx->arena, &places.items[i]));
		++*count;
	}
	return rc;
}

/* Which list a state file puts its message into; false for any other state. */
static bool kind_of_status(const char *status, enum mr_work_collection_kind *out)
{
	if (mr_str_eq(status, "spam"))
		*out = MR_WORK_SPAM;
	else if (mr_str_eq(status, "trashed") || mr_str_eq(status, "trash"))
		*out = MR_WORK_TRASH;
	else if (mr_str_eq(status, "deleted_remote"))
		*out = MR_WORK_DELETED;
	else
		return false;
	return true;
}

struct discarded {
	struct mr_work_collection lists[3];
	bool is_loaded[3], is_changed[3];
	struct mr_work_text_set held; /* messages that a disposition has */
};

static enum mr_code load_discarded(struct mr_ctx *cx, struct mr_work *work, struct discarded *out)
{
	for (unsigned i = 0; i < 3; i++) {
		enum mr_work_collection_kind kind = MR_WORK_SPAM + i;
		struct mr_err kept = cx->err;

		/* A list that cannot be read is left alone, and so are the states that go there. */
		out->is_loaded[i] = !mr_work_collection_load(cx, work, kind,
			mr_work_disposition_dir(kind), &out->lists[i]);
		cx->err = kept;
		for (size_t k = 0; out->is_loaded[i] && k < out->lists[i].len; k++)
			mr_work_text_set_add(cx->arena, &out->held,
				out->lists[i].items[k].message_id);
	}
	return MR_OK;
}

/* Items are put at the end at once: there may be very many. */
struct pending_items {
	struct mr_work_item *items;
	size_t len, cap;
};

static void put_item(struct mr_arena *arena, struct pending_items *out, struct mr_work_item item)
{
	if (out->len == out->cap) {
		struct mr_work_item *items;

		out->cap = out->cap ? out->cap * 2 : 64;
		items = mr_arena_array(arena, out->cap, sizeof(*items));
		if (out->len)
			memcpy(items, out->items, out->len * sizeof(*items));
		out->items = items;
	}
	out->items[out->len++] = item;
}

/* One state file: its message goes where it says, unless a list has it already. */
static bool migrate_state(struct mr_ctx *cx, struct mr_work *work, const char *path, const char *id,
	struct discarded *discarded, struct pending_items added[3], int64_t *count)
{
	const struct mr_value *state = NULL;
	enum mr_work_collection_kind kind = MR_WORK_SPAM;
	struct mr_err kept = cx->err;
	const char *status, *since;

	if (mr_work_read_json(cx, work, path, &state) || !state) {
		cx->err = kept;
		return false; /* what it says is not known: it stays, and doctor tells */
	}
	status = text_of(state, "status");
	if (!status)
		status = text_of(mr_value_get(state, "workspace"), "status");
	if (!kind_of_status(status, &kind))
		return true;
	if (!discarded->is_loaded[kind - MR_WORK_SPAM])
		return false;
	if (!mr_fs_exists(work->dir, mr_work_path_eml(cx->arena, id)) &&
		!mr_fs_exists(work->dir, mr_work_path_record(cx->arena, id)))
		return true; /* the message is gone, and its state with it */
	if (!mr_work_text_set_add(cx->arena, &discarded->held, id))
		return true;
	since = text_of(state, "updated_rfc3339");
	put_item(cx->arena, &added[kind - MR_WORK_SPAM],
		(struct mr_work_item){ .message_id = id, .added = since ? since : work->now });
	++*count;
	return true;
}

static enum mr_code save_discarded(struct mr_ctx *cx, struct mr_work_change *change,
	struct discarded *discarded, const struct pending_items added[3])
{
	enum mr_code rc = MR_OK;

	for (unsigned i = 0; !rc && i < 3; i++) {
		struct mr_work_collection *list = &discarded->lists[i];
		struct mr_work_item *items;

		if (!added[i].len)
			continue;
		items = mr_arena_array(cx->arena, list->len + added[i].len, sizeof(*items));
		if (list->len)
			memcpy(items, list->items, list->len * sizeof(*items));
		memcpy(items + list->len, added[i].items, added[i].len * sizeof(*items));
		list->items = items;
		list->len += added[i].len;
		rc = mr_work_collection_save(cx, change, list);
	}
	return rc;
}

static enum mr_code migrate_messages(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_migrated *out)
{
	struct pending_items added[3] = { 0 };
	struct discarded discarded = { 0 };
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, change->work, MR_WORK_EVIDENCE, &names);

	if (!rc)
		rc = load_discarded(cx, change->work, &discarded);
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *name = names.items[i];
		const char *path = mr_work_join(cx->arena, MR_WORK_EVIDENCE, name);
		const char *id = mr_work_stem(cx->arena, name, ".state.json");

		if (id &&
			migrate_state(cx, change->work, path, id, &discarded, added,
				&out->messages)) {
			mr_work_change_remove(change, path);
			out->states_removed++;
		} else if (!id && mr_work_stem(cx->arena, name, ".txt")) {
			mr_work_change_remove(change, path);
			out->texts_removed++;
		}
	}
	return rc ? rc : save_discarded(cx, change, &discarded, added);
}

/* Queued mail, and the copies that were staged for it. A copy stays while an item that could not be
 * brought up to date may need it. */
static enum mr_code migrate_queue(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_migrated *out)
{
	const struct mr_work_push_items *queue = NULL;
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_queue_get(cx, change->work, &queue);
	bool all = true;

	for (size_t i = 0; !rc && i + 1 < queue->invalid.len; i += 2) {
		const struct mr_value *item = NULL;

		if (!mr_work_generation_item(cx, change->work, queue->invalid.items[i], &item)) {
			all = false;
			continue;
		}
		mr_work_change_json(change, queue->invalid.items[i], item);
		out->items++;
	}
	if (!rc && all)
		rc = mr_work_list(cx, change->work, MR_WORK_PUSH, &names);
	for (size_t i = 0; !rc && i < names.len; i++)
		if (mr_work_stem(cx->arena, names.items[i], ".eml"))
			mr_work_change_remove(change,
				mr_work_join(cx->arena, MR_WORK_PUSH, names.items[i]));
	return rc;
}

enum mr_code mr_work_generation_migrate(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_migrated *out)
{
	const struct mr_value *config = NULL;
	enum mr_code rc;

	*out = (struct mr_work_migrated){ 0 };
	if (mr_work_generation_config(cx, change->work, &config)) {
		mr_work_change_json(change, MR_WORK_CONFIG, config);
		out->config = true;
	}
	rc = migrate_places(cx, change, MR_WORK_ACTIVE_CASE, &out->cases);
	if (!rc)
		rc = migrate_places(cx, change, MR_WORK_ARCHIVED_CASE, &out->cases);
	if (!rc)
		rc = migrate_places(cx, change, MR_WORK_NOTIFICATION, &out->categories);
	if (!rc)
		rc = migrate_messages(cx, change, out);
	if (!rc)
		rc = migrate_queue(cx, change, out);
	return rc;
}
