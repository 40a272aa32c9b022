/* workspace/archive.c - lists the archive; makes, shows and renames categories, and their notes. */
#include "workspace/archive.h"

#include "workspace/archive_private.h"
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/members.h"
#include "workspace/refresh.h"
#include "workspace/view.h"

/* --- list --- */

static void read_row(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_place *place,
	struct mr_work_archive_row *row, struct mr_texts *invalid)
{
	struct mr_work_collection category = { 0 };
	struct mr_err kept = cx->err;

	*row = (struct mr_work_archive_row){ .archive_uid = place->uid, .archive_dir = place->dir };
	if (!mr_work_collection_load(cx, work, place->kind, place->path, &category)) {
		row->archive_name = category.name;
		return;
	}
	cx->err = kept;
	(void)!mr_work_split_name(cx->arena, MR_WORK_CATEGORY, place->dir, &row->archive_uid,
		&row->archive_name);
	mr_work_ids_put(invalid, mr_work_collection_file(cx->arena, place->kind, place->path));
}

static enum mr_code list_cases(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_archive_listed *out)
{
	static const struct mr_work_case_list archived = { .archived = true };
	struct mr_work_case_listed cases = { 0 };
	enum mr_code rc = mr_work_case_list(cx, work, &archived, &cases);

	out->has_cases = true;
	out->case_count = cases.count;
	out->case_path_templates = cases.path_templates;
	out->cases = cases.items;
	out->case_len = cases.len;
	out->invalid_paths = cases.invalid_paths;
	return rc;
}

static enum mr_code list_categories(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_archive_listed *out)
{
	static const struct mr_work_archive_templates templates = {
		"archive/notifications/{archive_dir}",
		"archive/notifications/{archive_dir}/archive.md",
		"archive/notifications/{archive_dir}/data/notification.json"
	};
	struct mr_work_places places = { 0 };
	struct mr_texts invalid;
	enum mr_code rc = mr_work_places(cx, work, MR_WORK_NOTIFICATION, &places);

	if (rc)
		return rc;
	out->has_messages = true;
	out->message_path_templates = templates;
	out->messages = mr_arena_array(cx->arena, places.len + 1, sizeof(*out->messages));
	invalid = mr_work_ids_room(cx->arena, places.len);
	for (size_t i = 0; i < places.len; i++)
		read_row(cx, work, &places.items[i], &out->messages[i], &invalid);
	out->message_len = places.len;
	out->message_count = (int64_t)places.len;
	out->invalid_paths = mr_work_ids_union(cx->arena, &out->invalid_paths, &invalid);
	return MR_OK;
}

enum mr_code mr_work_archive_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_list *request, struct mr_work_archive_listed *result)
{
	struct mr_work_archive_listed listed = { 0 };
	enum mr_code rc = MR_OK;

	if (request->what && !mr_str_eq(request->what, "cases") &&
		!mr_str_eq(request->what, "messages"))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"'%s' cannot be listed: cases and messages can", request->what);
	if (!request->what || mr_str_eq(request->what, "cases"))
		rc = list_cases(cx, work, &listed);
	if (!rc && (!request->what || mr_str_eq(request->what, "messages")))
		rc = list_categories(cx, work, &listed);
	if (!rc)
		*result = listed;
	return rc;
}

/* --- create --- */

/* The day of the message; today without one. */
static enum mr_code choose_uid(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const char **out)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_brief brief = { 0 };
	enum mr_code rc = mr_work_config_get(cx, work, &config);

	if (!rc && message_id)
		rc = mr_work_index_message(cx, work, message_id, &brief);
	if (rc)
		return rc;
	return mr_work_next_uid(cx, work, MR_WORK_CATEGORY,
		mr_work_local_date(cx->arena, config,
			brief.has_time ? brief.time_us : work->now_us),
		out);
}

static enum mr_code prepare(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_create *request, struct mr_work_archive_created *created)
{
	enum mr_code rc =
		mr_work_check_name(cx, "category name", request->name, &created->archive_name);

	created->message_id = request->message;
	created->summary = mr_work_text_or_null(cx->arena, request->summary);
	created->has_message = request->message != NULL;
	created->message_count = created->has_message;
	if (rc)
		return rc;
	if (created->has_message && !created->summary)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--message needs a --summary that is not blank");
	if (!created->has_message && created->summary)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "--summary needs --message");
	if (created->has_message)
		rc = mr_work_archive_check(cx, work, request->message, NULL);
	if (!rc)
		rc = choose_uid(cx, work, request->message, &created->archive_uid);
	if (rc)
		return rc;
	created->path = mr_work_join(cx->arena, MR_WORK_CATEGORIES,
		mr_work_dir_name(cx->arena, created->archive_uid, created->archive_name));
	if (mr_fs_exists(work->dir, created->path))
		return mr_work_refuse(cx, MR_WORK_ARCHIVE_EXISTS, "%s exists", created->path);
	return MR_OK;
}

static void tell_created(struct mr_work_change *change,
	const struct mr_work_archive_created *created, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "archive_message_created",
		MR_WORK_TARGETS({ "archive", created->archive_uid }), reason, &event);
	mr_out_text(&event.out, "archive_uid", created->archive_uid);
	mr_out_text(&event.out, "archive_name", created->archive_name);
	mr_out_text(&event.out, "message_id", created->message_id);
	mr_out_text(&event.out, "summary", created->summary);
	mr_out_text(&event.out, "path", created->path);
	mr_work_event_end(&event);
}

static enum mr_code write_category(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_archive_created *created)
{
	struct mr_work_collection category = { .kind = MR_WORK_NOTIFICATION,
		.path = created->path,
		.uid = created->archive_uid,
		.name = created->archive_name };
	const char *notes = NULL;
	enum mr_code rc = mr_work_notes_new(cx, change->work, &notes);

	if (rc)
		return rc;
	mr_work_change_make_dir(change, mr_work_join(cx->arena, created->path, "views/messages"));
	mr_work_change_write(change, mr_work_join(cx->arena, created->path, "notes.md"),
		mr_bytes_text(notes));
	if (created->has_message)
		mr_work_collection_add(cx, &category, created->message_id, created->summary,
			change->work->now);
	rc = mr_work_collection_save(cx, change, &category);
	if (!rc && created->has_message)
		rc = mr_work_archive_put(cx, change, created->message_id,
			&created->eligible_message_ids, &created->queue);
	return rc;
}

enum mr_code mr_work_archive_create(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_create *request, struct mr_work_archive_created *result)
{
	struct mr_work_archive_created created = { 0 };
	struct mr_work_change change;
	enum mr_code rc = prepare(cx, work, request, &created);

	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "message_archive", &change);
	rc = write_category(cx, &change, &created);
	if (rc)
		return rc;
	tell_created(&change, &created, mr_work_text_or_null(cx->arena, request->reason));
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = created;
	return rc;
}

/* --- show --- */

enum mr_code mr_work_archive_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_show *request, struct mr_work_archive_shown *result)
{
	struct mr_work_collection category = { 0 };
	const char *text = NULL;
	enum mr_code rc = mr_work_archive_open(cx, work, request->archive_ref, &category);

	if (!rc)
		rc = mr_work_view_category(cx, work, category.path, &text);
	if (rc)
		return rc;
	*result = (struct mr_work_archive_shown){ .archive_uid = category.uid,
		.archive_name = category.name,
		.path = category.path,
		.view_path = mr_work_join(cx->arena, category.path, "archive.md"),
		.notes_path = mr_work_join(cx->arena, category.path, "notes.md"),
		.message_count = (int64_t)category.len,
		.items = category.items,
		.len = category.len,
		.text = text };
	return MR_OK;
}

/* --- rename --- */

static enum mr_code rename_to(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_collection *category, const struct mr_work_archive_renamed *renamed,
	const char *reason)
{
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc;

	mr_work_change_begin(cx, work, "archive_rename", &change);
	if (!mr_str_eq(category->path, renamed->path))
		mr_work_change_move(&change, category->path, renamed->path);
	category->path = renamed->path;
	category->name = renamed->archive_name;
	rc = mr_work_collection_save(cx, &change, category);
	if (rc)
		return rc;
	mr_work_event_begin(&change, "message_archive_category_renamed",
		MR_WORK_TARGETS({ "archive", category->uid }), reason, &event);
	mr_out_text(&event.out, "archive_uid", category->uid);
	mr_out_text(&event.out, "old_archive_name", renamed->old_archive_name);
	mr_out_text(&event.out, "archive_name", renamed->archive_name);
	mr_out_int(&event.out, "message_count", renamed->message_count);
	mr_work_event_end(&event);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_archive_rename(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_rename *request, struct mr_work_archive_renamed *result)
{
	struct mr_work_collection category = { 0 };
	struct mr_work_archive_renamed renamed = { 0 };
	const char *reason = NULL;
	bool moves;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_archive_open(cx, work, request->archive_ref, &category);
	if (!rc)
		rc = mr_work_check_name(cx, "category name", request->name, &renamed.archive_name);
	if (rc)
		return rc;
	renamed.archive_uid = category.uid;
	renamed.old_archive_name = category.name;
	renamed.message_count = (int64_t)category.len;
	renamed.path = mr_work_join(cx->arena, MR_WORK_CATEGORIES,
		mr_work_dir_name(cx->arena, category.uid, renamed.archive_name));
	moves = !mr_str_eq(category.path, renamed.path);
	renamed.changed = moves || !mr_str_eq(category.name, renamed.archive_name);
	if (moves && mr_fs_exists(work->dir, renamed.path))
		return mr_work_refuse(cx, MR_WORK_ARCHIVE_EXISTS, "%s exists", renamed.path);
	if (renamed.changed)
		rc = rename_to(cx, work, &category, &renamed, reason);
	if (!rc)
		*result = renamed;
	return rc;
}

/* --- notes --- */

enum mr_code mr_work_archive_notes_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc =
		mr_work_place_find(cx, work, MR_WORK_CATEGORY, request->archive_ref, &place);

	return rc ? rc : mr_work_notes_show(cx, work, &place, result);
}

enum mr_code mr_work_archive_notes_append(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc =
		mr_work_place_find(cx, work, MR_WORK_CATEGORY, request->archive_ref, &place);

	return rc ? rc : mr_work_notes_append(cx, work, &place, request->text, result);
}

enum mr_code mr_work_archive_notes_replace(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_notes_request *request, struct mr_work_notes *result)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc =
		mr_work_place_find(cx, work, MR_WORK_CATEGORY, request->archive_ref, &place);

	return rc ? rc : mr_work_notes_replace(cx, work, &place, request->text, result);
}
