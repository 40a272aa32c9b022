/* workspace/purge.c - throws away discarded messages for good. */
#include "base/buf.h"
#include "text/digest.h"
#include "text/time.h"
#include "workspace/disposition.h"
#include "workspace/error.h"
#include "workspace/evidence.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/members.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"

#include <string.h>

enum { LISTS = 3, PLAN_BYTES = 64 << 20 };

/* The first moment of the calendar, 0001-01-01. */
static const int64_t calendar_begin_us = INT64_C(-62135596800) * MR_TIME_S;

struct list {
	enum mr_work_collection_kind kind;
	bool is_wanted;
	struct mr_work_collection collection;
	struct mr_texts purged;
};

struct plan {
	struct list lists[LISTS];
	int64_t days;
	struct mr_texts purged, referenced, recent;
};

/* --- what is asked for --- */

static enum mr_code read_days(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_purge *request, int64_t *out)
{
	int64_t days = MR_WORK_PURGE_DAYS;

	if (request->has_older_than_days && request->has_target_older_than_days)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--older-than-days was given twice, before the target and after it");
	if (request->has_older_than_days)
		days = request->older_than_days;
	if (request->has_target_older_than_days)
		days = request->target_older_than_days;
	if (days < 0)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--older-than-days %lld is negative", (long long)days);
	if (days > (work->now_us - calendar_begin_us) / MR_TIME_DAY)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--older-than-days %lld reaches back before the calendar", (long long)days);
	*out = days;
	return MR_OK;
}

static enum mr_code choose_lists(struct mr_ctx *cx, const char *target, struct plan *plan)
{
	bool found = !target;

	for (int i = 0; i < LISTS; i++) {
		struct list *list = &plan->lists[i];

		list->kind = (enum mr_work_collection_kind)(MR_WORK_SPAM + i);
		list->is_wanted = !target || mr_str_eq(target, mr_work_disposition_dir(list->kind));
		found |= list->is_wanted;
	}
	return found ? MR_OK
		     : mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			       "'%s' cannot be purged: spam, trash and deleted can", target);
}

/* --- what would go --- */

/* Since when the message has been discarded: as listed, else its own time, else now. */
static int64_t discarded_us(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_item *item)
{
	struct mr_work_brief brief = { 0 };
	struct mr_err kept = cx->err;
	int64_t us = 0;

	if (mr_work_instant(item->added, &us))
		return us;
	if (!mr_work_index_message(cx, work, item->message_id, &brief) && brief.has_time)
		return brief.time_us;
	cx->err = kept;
	return work->now_us;
}

static enum mr_code sort_out(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_holds *holds, struct list *list, struct plan *plan)
{
	static const struct mr_work_reference_rule rule = { 0 };
	int64_t until = work->now_us - plan->days * MR_TIME_DAY;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < list->collection.len; i++) {
		const struct mr_work_item *item = &list->collection.items[i];
		struct mr_texts paths = { 0 };

		if (discarded_us(cx, work, item) > until) {
			mr_work_ids_put(&plan->recent, item->message_id);
			continue;
		}
		rc = mr_work_references_among(cx, work, item->message_id, holds, &rule, &paths);
		if (rc)
			break;
		if (paths.len) {
			mr_work_ids_put(&plan->referenced, item->message_id);
			continue;
		}
		mr_work_ids_put(&plan->purged, item->message_id);
		mr_work_ids_put(&list->purged, item->message_id);
	}
	return rc;
}

/* What is deleted for good must be needed by nobody: a document that cannot be read might name it.
 */
static enum mr_code check_all_readable(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_holds *holds)
{
	enum mr_work_error error = MR_WORK_CASE_METADATA_INVALID;
	struct mr_texts unread = { 0 };
	const char *path;
	enum mr_code rc = mr_work_index_unread(cx, work, &unread);

	if (rc || !(unread.len || holds->queue.invalid.len))
		return rc;
	path = unread.len ? unread.items[0] : holds->queue.invalid.items[0];
	if (!unread.len)
		error = MR_WORK_PUSH_ITEM_INVALID;
	else if (mr_str_ends(path, "/notification.json"))
		error = MR_WORK_ARCHIVE_MESSAGES_INVALID;
	return mr_work_refuse(cx, error,
		"%s cannot be read, so nobody knows which messages it needs: nothing was purged",
		path);
}

static enum mr_code make_plan(struct mr_ctx *cx, struct mr_work *work, struct plan *plan)
{
	struct mr_work_holds holds = { 0 };
	size_t total = 0;
	enum mr_code rc = mr_work_holds_load(cx, work, &holds);

	for (int i = 0; !rc && i < LISTS; i++) {
		struct list *list = &plan->lists[i];

		rc = mr_work_collection_load(cx, work, list->kind,
			mr_work_disposition_dir(list->kind), &list->collection);
		total += list->collection.len;
	}
	if (rc)
		return rc;
	plan->purged = mr_work_ids_room(cx->arena, total);
	plan->referenced = mr_work_ids_room(cx->arena, total);
	plan->recent = mr_work_ids_room(cx->arena, total);
	for (int i = 0; !rc && i < LISTS; i++) {
		struct list *list = &plan->lists[i];

		list->purged = mr_work_ids_room(cx->arena, list->collection.len);
		if (list->is_wanted)
			rc = sort_out(cx, work, &holds, list, plan);
	}
	if (!rc && plan->purged.len)
		rc = check_all_readable(cx, work, &holds);
	mr_work_ids_sort(&plan->purged);
	mr_work_ids_sort(&plan->referenced);
	mr_work_ids_sort(&plan->recent);
	return rc;
}

/* The same messages from the same lists, and nothing else, have the same id. */
static const char *plan_id(struct mr_ctx *cx, const struct plan *plan)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, PLAN_BYTES);
	for (int i = 0; i < LISTS; i++) {
		const struct list *list = &plan->lists[i];

		mr_buf_printf(&buf, "%s %d\n", mr_work_disposition_dir(list->kind),
			list->is_wanted);
		for (size_t k = 0; k < list->purged.len; k++)
			mr_buf_printf(&buf, "%s\n", list->purged.items[k]);
	}
	return mr_arena_printf(cx->arena, "plan_%.32s",
		mr_digest_sha256(cx->arena, mr_buf_bytes(&buf)));
}

/* --- doing it --- */

static enum mr_code throw_away(struct mr_ctx *cx, struct mr_work_change *change, const char *id)
{
	struct mr_texts related = { 0 };
	enum mr_code rc = mr_work_index_related(cx, change->work, id, &related);

	for (size_t i = 0; i < related.len; i++)
		mr_work_touch_message(change, related.items[i]);
	mr_work_change_remove(change, mr_work_path_files(cx->arena, id));
	mr_work_change_remove(change, mr_work_path_remote(cx->arena, id));
	mr_work_change_remove(change, mr_work_path_record(cx->arena, id));
	mr_work_change_remove(change, mr_work_path_triage(cx->arena, id));
	mr_work_change_remove(change, mr_work_path_eml(cx->arena, id));
	return rc;
}

static enum mr_code empty_list(struct mr_ctx *cx, struct mr_work_change *change, struct list *list)
{
	enum mr_code rc = MR_OK;

	if (!list->purged.len)
		return MR_OK;
	for (size_t i = 0; !rc && i < list->purged.len; i++) {
		mr_work_collection_remove(&list->collection, list->purged.items[i]);
		rc = throw_away(cx, change, list->purged.items[i]);
	}
	return rc ? rc : mr_work_collection_save(cx, change, &list->collection);
}

static void tell(struct mr_ctx *cx, struct mr_work_change *change, const struct plan *plan,
	const char *target)
{
	struct mr_work_target *targets =
		mr_arena_array(cx->arena, plan->purged.len + 1, sizeof(*targets));
	struct mr_work_event event;

	for (size_t i = 0; i < plan->purged.len; i++)
		targets[i] = (struct mr_work_target){ "message", plan->purged.items[i] };
	mr_work_event_begin(change, "messages_purged", targets, NULL, &event);
	mr_out_text(&event.out, "target", target);
	mr_out_int(&event.out, "older_than_days", plan->days);
	mr_out_texts(&event.out, "message_ids", &plan->purged);
	mr_work_event_end(&event);
}

static enum mr_code carry_out(struct mr_ctx *cx, struct mr_work *work, struct plan *plan,
	const char *target)
{
	struct mr_work_change change;
	enum mr_code rc = MR_OK;

	if (!plan->purged.len)
		return MR_OK;
	mr_work_change_begin(cx, work, "purge", &change);
	for (int i = 0; !rc && i < LISTS; i++)
		rc = empty_list(cx, &change, &plan->lists[i]);
	if (rc)
		return rc;
	tell(cx, &change, plan, target);
	return mr_work_carry_out(cx, &change);
}

/* --- the result --- */

/* Views in the list's directory of messages that are not in the list, before it is refreshed. */
static enum mr_code count_stale(struct mr_ctx *cx, struct mr_work *work, const struct list *list,
	int64_t *out)
{
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_work_list(cx, work, mr_work_disposition_dir(list->kind), &names);

	*out = 0;
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *name = names.items[i];
		const char *id;

		if (!mr_str_ends(name, ".md") || name[0] == '.' || mr_str_eq(name, "index.md"))
			continue;
		id = mr_arena_printf(cx->arena, "%.*s", (int)(strlen(name) - strlen(".md")), name);
		*out += mr_texts_has(&list->purged, id) ||
			!mr_work_collection_item(&list->collection, id);
	}
	return rc;
}

static enum mr_code describe(struct mr_ctx *cx, struct mr_work *work, const struct plan *plan,
	const struct mr_work_purge *request, struct mr_work_purged *out)
{
	int64_t *counts[LISTS][4] = {
		{ &out->purged_spam_count, &out->spam_count, &out->spam_written_count,
			&out->stale_spam_removed_count },
		{ &out->purged_trash_count, &out->trash_count, &out->trash_written_count,
			&out->stale_trash_removed_count },
		{ &out->purged_deleted_count, &out->deleted_count, &out->deleted_written_count,
			&out->stale_deleted_removed_count },
	};
	enum mr_code rc = MR_OK;

	out->target = request->target ? request->target : "discards";
	out->targets = mr_work_ids_room(cx->arena, LISTS);
	out->older_than_days = plan->days;
	out->purged_message_ids = plan->purged;
	out->purged_count = (int64_t)plan->purged.len;
	out->skipped_referenced_message_ids = plan->referenced;
	out->skipped_referenced_count = (int64_t)plan->referenced.len;
	out->skipped_recent_message_ids = plan->recent;
	out->skipped_recent_count = (int64_t)plan->recent.len;
	out->plan_id = plan_id(cx, plan);
	for (int i = 0; !rc && i < LISTS; i++) {
		const struct list *list = &plan->lists[i];

		if (list->is_wanted)
			mr_work_ids_put(&out->targets, mr_work_disposition_dir(list->kind));
		*counts[i][0] = (int64_t)list->purged.len;
		*counts[i][1] = (int64_t)(list->collection.len - list->purged.len);
		*counts[i][2] = *counts[i][1];
		rc = count_stale(cx, work, list, counts[i][3]);
	}
	return rc;
}

static enum mr_code refuse_other_plan(struct mr_ctx *cx, const struct mr_work_purge *request,
	const char *now)
{
	mr_work_refuse(cx, MR_WORK_CONFIRM_REQUIRED, "what would be purged is not plan %s any more",
		request->plan_id);
	mr_work_hint(cx, "Look at the new plan with --dry-run and confirm that one.");
	return mr_work_detail_text(cx, "plan_id", now);
}

enum mr_code mr_work_purge(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_purge *request, struct mr_work_purged *result)
{
	struct mr_work_purged done = { .is_plan = request->dry_run };
	struct plan plan = { 0 };
	enum mr_code rc = read_days(cx, work, request, &plan.days);

	if (!rc)
		rc = choose_lists(cx, request->target, &plan);
	if (!rc)
		rc = make_plan(cx, work, &plan);
	if (!rc)
		rc = describe(cx, work, &plan, request, &done);
	if (!rc && request->plan_id && !mr_str_eq(request->plan_id, done.plan_id))
		rc = refuse_other_plan(cx, request, done.plan_id);
	if (!rc && !request->dry_run)
		rc = carry_out(cx, work, &plan, done.target);
	if (!rc)
		*result = done;
	return rc;
}
