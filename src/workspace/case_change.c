/* workspace/case_change.c - moves, renames, tags, reopens and deletes cases; their notes. */
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/layout.h"
#include "workspace/refresh.h"

#include <string.h>

/* --- move --- */

enum mr_code mr_work_case_move(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_move *request, struct mr_work_case_moved *result)
{
	struct mr_work_place place = { 0 };
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	struct mr_work_case_moved moved;
	const char *to;
	enum mr_code rc = mr_work_active_case(cx, work, request->case_ref, &place);

	if (!rc)
		rc = mr_work_check_segment(cx, "group", request->group);
	if (!rc)
		rc = mr_work_case_load(cx, work, &place, &collection);
	if (rc)
		return rc;
	to = mr_work_join(cx->arena, mr_work_group_dir(cx->arena, request->group), place.dir);
	moved = (struct mr_work_case_moved){ place.uid, place.group, request->group, to };
	if (mr_str_eq(place.group, request->group)) {
		*result = moved;
		return MR_OK;
	}
	if (mr_fs_exists(work->dir, to))
		return mr_work_refuse(cx, MR_WORK_DUPLICATE_CASE_UID, "%s exists", to);
	mr_work_change_begin(cx, work, "case_move", &change);
	mr_work_change_move(&change, place.path, to);
	mr_work_change_drop_dir(&change, mr_work_group_dir(cx->arena, place.group));
	collection.path = to;
	collection.group = request->group;
	rc = mr_work_case_save(cx, &change, &collection);
	if (rc)
		return rc;
	mr_work_event_begin(&change, "case_moved", MR_WORK_TARGETS({ "case", place.uid }), NULL,
		&event);
	mr_out_text(&event.out, "case_uid", place.uid);
	mr_out_text(&event.out, "from_group", place.group);
	mr_out_text(&event.out, "to_group", request->group);
	mr_out_text(&event.out, "from_path", place.path);
	mr_out_text(&event.out, "to_path", to);
	mr_work_event_end(&event);
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = moved;
	return rc;
}

/* --- rename --- */

static void tell_renamed(struct mr_work_change *change, const struct mr_work_case_renamed *renamed,
	const char *from_path, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, renamed->group ? "case_renamed" : "archive_case_renamed",
		MR_WORK_TARGETS({ "case", renamed->case_uid }), reason, &event);
	mr_out_text(&event.out, "case_uid", renamed->case_uid);
	mr_out_text(&event.out, "old_case_name", renamed->old_case_name);
	mr_out_text(&event.out, "case_name", renamed->case_name);
	if (renamed->group)
		mr_out_text(&event.out, "group", renamed->group);
	mr_out_text(&event.out, "from_path", from_path);
	mr_out_text(&event.out, "to_path", renamed->case_path);
	mr_work_event_end(&event);
}

static const char *parent_of(struct mr_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return mr_arena_strndup(arena, path, (size_t)(slash - path));
}

static enum mr_code rename_to(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_collection *collection, const struct mr_work_case_renamed *renamed,
	const char *reason)
{
	const char *from = collection->path;
	struct mr_work_change change;
	enum mr_code rc;

	mr_work_change_begin(cx, work, "case_rename", &change);
	if (!mr_str_eq(from, renamed->case_path))
		mr_work_change_move(&change, from, renamed->case_path);
	collection->path = renamed->case_path;
	collection->name = renamed->case_name;
	rc = mr_work_case_save(cx, &change, collection);
	if (rc)
		return rc;
	tell_renamed(&change, renamed, from, reason);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_case_rename_at(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_place *place, const struct mr_work_case_rename *request,
	struct mr_work_case_renamed *result)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_case_renamed renamed = { .case_uid = place->uid, .group = place->group };
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_check_name(cx, "case name", request->name, &renamed.case_name);
	if (!rc)
		rc = mr_work_case_load(cx, work, place, &collection);
	if (rc)
		return rc;
	renamed.old_case_name = collection.name;
	renamed.case_path = mr_work_join(cx->arena, parent_of(cx->arena, place->path),
		mr_work_dir_name(cx->arena, place->uid, renamed.case_name));
	renamed.changed = !mr_str_eq(collection.name, renamed.case_name) ||
		!mr_str_eq(place->path, renamed.case_path);
	if (!mr_str_eq(place->path, renamed.case_path) &&
		mr_fs_exists(work->dir, renamed.case_path))
		return mr_work_refuse(cx, MR_WORK_CASE_EXISTS, "%s exists", renamed.case_path);
	if (renamed.changed)
		rc = rename_to(cx, work, &collection, &renamed, reason);
	if (!rc)
		*result = renamed;
	return rc;
}

enum mr_code mr_work_case_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_rename *request, struct mr_work_case_renamed *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_active_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_case_rename_at(cx, work, &place, request, result);
}

/* --- tags --- */

static enum mr_code set_tags(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_tag *request, bool is_wanted, struct mr_work_case_tagged *result)
{
	struct mr_texts one = mr_work_ids_one(cx->arena, request->tag), tags;
	static const struct mr_texts none = { 0 };
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL;
	bool changed;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
	if (!rc)
		rc = mr_work_check_segment(cx, "tag", request->tag);
	if (rc)
		return rc;
	changed = mr_texts_has(&collection.tags, request->tag) != is_wanted;
	tags = mr_work_ids_union(cx->arena, &collection.tags, is_wanted ? &one : &none);
	if (!is_wanted)
		tags = mr_work_ids_without(cx->arena, &tags, &one);
	collection.tags = tags;
	mr_work_change_begin(cx, work, "case_tag", &change);
	if (changed) {
		rc = mr_work_case_save(cx, &change, &collection);
		mr_work_event_begin(&change, is_wanted ? "case_tagged" : "case_untagged",
			MR_WORK_TARGETS({ "case", collection.uid }), reason, &event);
		mr_out_text(&event.out, "case_uid", collection.uid);
		mr_out_text(&event.out, "tag", request->tag);
		mr_out_texts(&event.out, "tags", &tags);
		mr_work_event_end(&event);
	}
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = (struct mr_work_case_tagged){ .case_uid = collection.uid,
			.tag = request->tag,
			.case_path = collection.path,
			.tags = tags };
	return rc;
}

enum mr_code mr_work_case_tag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_tag *request, struct mr_work_case_tagged *result)
{
	return set_tags(cx, work, request, true, result);
}

enum mr_code mr_work_case_untag(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_tag *request, struct mr_work_case_tagged *result)
{
	return set_tags(cx, work, request, false, result);
}

/* --- reopen --- */

enum mr_code mr_work_case_reopen(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_reopened *result)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
	if (rc)
		return rc;
	collection.status = "active";
	collection.archived = NULL;
	mr_work_change_begin(cx, work, "case_reopen", &change);
	rc = mr_work_case_save(cx, &change, &collection);
	if (rc)
		return rc;
	mr_work_event_begin(&change, "case_reopened", MR_WORK_TARGETS({ "case", collection.uid }),
		reason, &event);
	mr_out_text(&event.out, "case_uid", collection.uid);
	mr_work_event_end(&event);
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = (struct mr_work_case_reopened){ collection.uid, collection.status,
			collection.path, (int64_t)collection.len };
	return rc;
}

/* --- delete --- */

static enum mr_code check_empty(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection)
{
	struct mr_texts files = { 0 };
	enum mr_code rc = mr_work_case_check_idle(cx, work, collection, false);

	if (!rc && collection->len) {
		mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "case %s has messages: %zu",
			collection->uid, collection->len);
		return mr_work_hint(cx,
			"Take them out with `afmail case remove`, or discard them with `afmail "
			"case trash %s`.",
			collection->uid);
	}
	if (!rc)
		rc = mr_work_case_files(cx, work, collection->path, &files);
	if (rc || !files.len)
		return rc;
	mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "case %s has files: %s", collection->uid,
		mr_str_join(cx->arena, &files, ", "));
	return mr_work_hint(cx, "Move or delete the files below %s first.", collection->path);
}

enum mr_code mr_work_case_delete(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_deleted *result)
{
	struct mr_work_place place = { 0 };
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_place_find(cx, work, MR_WORK_CASE, request->case_ref, &place);
	if (!rc)
		rc = mr_work_case_load(cx, work, &place, &collection);
	if (!rc)
		rc = check_empty(cx, work, &collection);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "case_delete", &change);
	mr_work_change_remove(&change, place.path);
	if (place.group)
		mr_work_change_drop_dir(&change, mr_work_group_dir(cx->arena, place.group));
	mr_work_event_begin(&change, "case_deleted", MR_WORK_TARGETS({ "case", place.uid }), reason,
		&event);
	mr_out_text(&event.out, "case_uid", place.uid);
	mr_out_text(&event.out, "case_name", collection.name);
	mr_out_text(&event.out, "case_path", place.path);
	mr_work_event_end(&event);
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = (struct mr_work_case_deleted){ place.uid, collection.name, place.path };
	return rc;
}

/* --- notes --- */

enum mr_code mr_work_case_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_active_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_notes_show(cx, work, &place, result);
}

enum mr_code mr_work_case_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_active_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_notes_append(cx, work, &place, request->text, result);
}

enum mr_code mr_work_case_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_active_case(cx, work, request->case_ref, &place);

	return rc ? rc : mr_work_notes_replace(cx, work, &place, request->text, result);
}
