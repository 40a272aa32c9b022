/* workspace/case.c - makes, lists and shows cases. */
#include "workspace/case.h"

#include "text/time.h"
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/disposition.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/members.h"
#include "workspace/merged.h"
#include "workspace/refresh.h"
#include "workspace/view.h"

/* --- create --- */

/* The day of the earliest message of the conversation; today without one. */
static enum mr_code choose_date(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, const char *message_id, const char **out)
{
	struct mr_texts related = { 0 };
	struct mr_work_brief brief = { 0 };
	int64_t earliest = INT64_MAX;
	enum mr_code rc = MR_OK;

	if (message_id) {
		rc = mr_work_index_message(cx, work, message_id, &brief);
		if (!rc && brief.has_time)
			earliest = brief.time_us;
		if (!rc)
			rc = mr_work_index_related(cx, work, message_id, &related);
	}
	for (size_t i = 0; !rc && i < related.len; i++) {
		rc = mr_work_index_message(cx, work, related.items[i], &brief);
		if (!rc && brief.has_time && brief.time_us < earliest)
			earliest = brief.time_us;
	}
	if (!rc)
		*out = mr_work_local_date(cx->arena, config,
			earliest == INT64_MAX ? work->now_us : earliest);
	return rc;
}

/* The next uid of that day; that of a merged case still means the case it went into. */
static enum mr_code choose_uid(struct mr_ctx *cx, struct mr_work *work, const char *date,
	const char **out)
{
	enum mr_code rc = mr_work_next_uid(cx, work, MR_WORK_CASE, date, out);

	while (!rc && mr_work_merged_into(cx, work, *out))
		*out = mr_work_uid(cx->arena, MR_WORK_CASE, date,
			mr_work_uid_number(*out, date) + 1);
	return rc;
}

static void write_files(struct mr_ctx *cx, struct mr_work_change *change, const char *path,
	const char *notes)
{
	static const char *const dirs[] = { "views/messages", "drafts", "files" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		mr_work_change_make_dir(change, mr_work_join(cx->arena, path, dirs[i]));
	mr_work_change_write(change, mr_work_join(cx->arena, path, "notes.md"),
		mr_bytes_text(notes));
}

static void tell_created(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_case_created *created, const char *summary, const char *reason)
{
	struct mr_work_target *targets =
		mr_arena_array(cx->arena, created->message_ids.len + 2, sizeof(*targets));
	struct mr_work_event event;

	targets[0] = (struct mr_work_target){ "case", created->case_uid };
	for (size_t i = 0; i < created->message_ids.len; i++)
		targets[i + 1] =
			(struct mr_work_target){ "message", created->message_ids.items[i] };
	mr_work_event_begin(change, "case_created", targets, reason, &event);
	mr_out_text(&event.out, "case_uid", created->case_uid);
	mr_out_text(&event.out, "case_name", created->case_name);
	mr_out_text(&event.out, "group", created->group);
	mr_out_texts(&event.out, "message_ids", &created->message_ids);
	mr_out_text(&event.out, "summary", summary);
	mr_out_text(&event.out, "case_path", created->case_path);
	mr_work_event_end(&event);
}

static enum mr_code write_case(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_case_created *created, const char *summary, const char *reason)
{
	struct mr_work_collection collection = { .kind = MR_WORK_ACTIVE_CASE,
		.path = created->case_path,
		.group = created->group,
		.uid = created->case_uid,
		.name = created->case_name,
		.status = "active" };
	const char *notes = NULL;
	enum mr_code rc = mr_work_notes_new(cx, change->work, &notes);

	if (rc)
		return rc;
	for (size_t i = 0; i < created->message_ids.len; i++)
		mr_work_collection_add(cx, &collection, created->message_ids.items[i],
			summary ? summary : reason, change->work->now);
	write_files(cx, change, created->case_path, notes);
	rc = mr_work_case_save(cx, change, &collection);
	if (!rc && created->message_ids.len) {
		rc = mr_work_undiscard(cx, change, &created->message_ids);
		if (!rc)
			rc = mr_work_queue_action(cx, change, MR_WORK_PUSH_CASE_ADD,
				&created->message_ids, &created->queue);
	}
	if (!rc)
		rc = mr_work_touch_conversation(cx, change, &created->message_ids);
	tell_created(cx, change, created, summary, reason);
	return rc;
}

/* Check the request and choose uid and path. */
static enum mr_code prepare(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_create *request, struct mr_work_case_created *created)
{
	const struct mr_work_config *config = NULL;
	const char *date = NULL;
	enum mr_code rc = mr_work_check_name(cx, "case name", request->name, &created->case_name);

	if (!rc)
		rc = mr_work_config_get(cx, work, &config);
	if (rc)
		return rc;
	created->group = request->group ? request->group : config->case_group;
	rc = mr_work_check_segment(cx, "group", created->group);
	if (!rc && request->message) {
		rc = mr_work_check_message_id(cx, request->message);
		created->message_ids = mr_work_ids_one(cx->arena, request->message);
		created->message_count = 1;
		created->has_message = true;
	}
	if (!rc)
		rc = choose_date(cx, work, config, request->message, &date);
	if (!rc)
		rc = choose_uid(cx, work, date, &created->case_uid);
	if (rc)
		return rc;
	created->case_path = mr_work_join(cx->arena, mr_work_group_dir(cx->arena, created->group),
		mr_work_dir_name(cx->arena, created->case_uid, created->case_name));
	if (mr_fs_exists(work->dir, created->case_path))
		return mr_work_refuse(cx, MR_WORK_CASE_EXISTS, "%s exists", created->case_path);
	return MR_OK;
}

enum mr_code mr_work_case_create(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_create *request, struct mr_work_case_created *result)
{
	struct mr_work_case_created created = { 0 };
	const char *summary = mr_work_text_or_null(cx->arena, request->summary);
	const char *reason = mr_work_text_or_null(cx->arena, request->reason);
	struct mr_work_change change;
	enum mr_code rc = MR_OK;

	if (request->message)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (!rc)
		rc = prepare(cx, work, request, &created);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "case_create", &change);
	rc = write_case(cx, &change, &created, summary, reason);
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = created;
	return rc;
}

/* --- list --- */

/* The name in the document; that of the directory when it cannot be read. */
static void read_row(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_place *place,
	struct mr_work_case_row *row, struct mr_texts *invalid)
{
	struct mr_work_collection collection = { 0 };
	struct mr_err kept = cx->err;

	*row = (struct mr_work_case_row){ .case_uid = place->uid,
		.group = place->group,
		.case_dir = place->dir };
	if (!mr_work_collection_load(cx, work, place->kind, place->path, &collection)) {
		row->case_name = collection.name;
		return;
	}
	cx->err = kept;
	(void)!mr_work_split_name(cx->arena, MR_WORK_CASE, place->dir, &row->case_uid,
		&row->case_name);
	mr_work_ids_put(invalid, mr_work_collection_file(cx->arena, place->kind, place->path));
}

enum mr_code mr_work_case_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_list *request, struct mr_work_case_listed *result)
{
	static const struct mr_work_case_templates active = { "cases/{group}/{case_dir}",
		"cases/{group}/{case_dir}/case.md", "cases/{group}/{case_dir}/data/case.json" };
	static const struct mr_work_case_templates archived = { "archive/cases/{case_dir}",
		"archive/cases/{case_dir}/case.md", "archive/cases/{case_dir}/data/case.json" };
	struct mr_work_case_listed listed = { 0 };
	struct mr_work_places places = { 0 };
	enum mr_code rc = mr_work_places(cx, work,
		request->archived ? MR_WORK_ARCHIVED_CASE : MR_WORK_ACTIVE_CASE, &places);

	if (rc)
		return rc;
	listed.path_templates = request->archived ? archived : active;
	listed.items = mr_arena_array(cx->arena, places.len + 1, sizeof(*listed.items));
	listed.invalid_paths = mr_work_ids_room(cx->arena, places.len);
	for (size_t i = 0; i < places.len; i++)
		read_row(cx, work, &places.items[i], &listed.items[i], &listed.invalid_paths);
	listed.len = places.len;
	listed.count = (int64_t)places.len;
	*result = listed;
	return MR_OK;
}

/* --- show --- */

/* One that cannot be read is listed by its id. */
static void list_messages(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, struct mr_work_case_shown *out)
{
	struct mr_err kept = cx->err;

	out->messages = mr_arena_array(cx->arena, collection->len + 1, sizeof(*out->messages));
	for (size_t i = 0; i < collection->len; i++) {
		const struct mr_work_item *item = &collection->items[i];
		struct mr_work_brief brief = { 0 };

		if (mr_work_index_message(cx, work, item->message_id, &brief))
			brief = (struct mr_work_brief){ 0 };
		out->messages[out->message_count++] = (struct mr_work_case_member){
			.message_id = item->message_id,
			.from = brief.from ? brief.from : "",
			.subject = brief.subject ? brief.subject : "",
			.summary = item->summary,
			.time = brief.has_time
				? mr_time_format(cx->arena, brief.time_us, MR_TIME_SECONDS)
				: NULL,
			.is_outbound = brief.is_outbound,
		};
	}
	cx->err = kept;
}

enum mr_code mr_work_case_show(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_show *request, struct mr_work_case_shown *result)
{
	struct mr_work_place place = { 0 };
	struct mr_work_collection collection = { 0 };
	const char *text = NULL;
	enum mr_code rc = mr_work_place_find(cx, work, MR_WORK_CASE, request->case_ref, &place);

	if (!rc)
		rc = mr_work_case_load(cx, work, &place, &collection);
	if (!rc)
		rc = mr_work_view_case(cx, work, place.path, &text);
	if (rc)
		return rc;
	*result = (struct mr_work_case_shown){ .is_archived = place.kind == MR_WORK_ARCHIVED_CASE,
		.case_uid = collection.uid,
		.case_name = collection.name,
		.group = place.group,
		.case_path = place.path,
		.view_path = mr_work_join(cx->arena, place.path, "case.md"),
		.text = text,
		.tags = collection.tags };
	list_messages(cx, work, &collection, result);
	if (!result->is_archived)
		result->messages_path = mr_work_join(cx->arena, place.path, "views/messages");
	return MR_OK;
}
