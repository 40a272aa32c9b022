/* workspace/case_message.c - puts messages into cases, and takes them out again. */
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/disposition.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/members.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"
#include "workspace/withdraw.h"

/* --- add --- */

static void tell_added(struct mr_work_change *change, const struct mr_work_collection *collection,
	const char *message_id, const char *summary, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_message_added",
		MR_WORK_TARGETS({ "case", collection->uid }, { "message", message_id }), reason,
		&event);
	mr_out_text(&event.out, "case_uid", collection->uid);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "summary", summary);
	mr_out_text(&event.out, "group", collection->group);
	mr_work_event_end(&event);
}

static void tell_summary(struct mr_work_change *change, const struct mr_work_collection *collection,
	const char *message_id, const char *summary, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_summary_set",
		MR_WORK_TARGETS({ "case", collection->uid }, { "message", message_id }), reason,
		&event);
	mr_out_text(&event.out, "case_uid", collection->uid);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "summary", summary);
	mr_work_event_end(&event);
}

/* Put the messages into the list; `fresh` gets those that were not there. True when the list
 * changed. */
static bool list_them(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection, const struct mr_texts *ids, const char *summary,
	const char *reason, struct mr_work_case_added *added, struct mr_texts *fresh)
{
	bool changed = false;

	for (size_t i = 0; i < ids->len; i++) {
		const char *id = ids->items[i];
		struct mr_work_item *item = mr_work_collection_item(collection, id);

		added->items[i] = (struct mr_work_case_added_item){ id, item != NULL };
		added->already_present &= item != NULL;
		if (!item) {
			mr_work_collection_add(cx, collection, id, summary ? summary : reason,
				change->work->now);
			mr_work_ids_put(fresh, id);
			tell_added(change, collection, id, summary, reason);
			changed = true;
		} else if (summary && !mr_str_eq(item->summary, summary)) {
			item->summary = summary;
			tell_summary(change, collection, id, summary, reason);
			changed = true;
		}
	}
	return changed;
}

static enum mr_code find_related(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_texts *ids, struct mr_texts *out)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < ids->len; i++) {
		struct mr_texts related = { 0 };

		rc = mr_work_index_related(cx, work, ids->items[i], &related);
		if (!rc)
			*out = mr_work_ids_union(cx->arena, out, &related);
	}
	return rc;
}

static enum mr_code add(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection, const struct mr_texts *ids, const char *summary,
	const char *reason, struct mr_work_case_added *added)
{
	struct mr_texts fresh = mr_work_ids_room(cx->arena, ids->len);
	struct mr_work_queued there = { 0 };
	struct mr_texts old;
	enum mr_code rc = MR_OK;

	if (list_them(cx, change, collection, ids, summary, reason, added, &fresh))
		rc = mr_work_case_save(cx, change, collection);
	if (!rc && fresh.len)
		rc = mr_work_undiscard(cx, change, &fresh);
	if (!rc && fresh.len)
		rc = mr_work_queue_action(cx, change, MR_WORK_PUSH_CASE_ADD, &fresh, &added->queue);
	if (!rc)
		rc = mr_work_touch_conversation(cx, change, &fresh);
	old = mr_work_ids_without(cx->arena, ids, &fresh);
	if (!rc)
		rc = mr_work_count_locations(cx, change->work, &old, &there);
	added->queue.location_count += there.location_count;
	added->queue.queued_location_count += there.queued_location_count;
	return rc;
}

enum mr_code mr_work_case_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_add *request, struct mr_work_case_added *result)
{
	struct mr_work_case_added added = { .already_present = true };
	const char *summary = mr_work_text_or_null(cx->arena, request->summary), *reason = NULL;
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_texts ids = { 0 };
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
	if (!rc)
		rc = mr_work_ids_check(cx, &request->message_ids, &ids);
	if (!rc)
		rc = mr_work_check_known(cx, work, &ids);
	if (!rc)
		rc = find_related(cx, work, &ids, &added.related_message_ids);
	if (rc)
		return rc;
	added.case_uid = collection.uid;
	added.group = collection.group;
	added.case_path = collection.path;
	added.message_id = ids.items[0];
	added.message_count = (int64_t)ids.len;
	added.has_several = ids.len > 1;
	added.len = ids.len;
	added.items = mr_arena_array(cx->arena, ids.len + 1, sizeof(*added.items));
	mr_work_change_begin(cx, work, "case_add", &change);
	rc = add(cx, &change, &collection, &ids, summary, reason, &added);
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = added;
	return rc;
}

/* --- remove --- */

static enum mr_code check_entry(struct mr_ctx *cx, const struct mr_work_collection *collection,
	const char *message_id)
{
	if (mr_work_collection_item(collection, message_id))
		return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "message %s is not in case %s",
		message_id, collection->uid);
}

/* message_referenced while a draft of this case answers one of the messages. */
static enum mr_code check_unanswered(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const struct mr_texts *ids)
{
	const char *dir = mr_arena_printf(cx->arena, "%s/", collection->path);
	struct mr_work_holds holds = { 0 };
	enum mr_code rc = mr_work_holds_load(cx, work, &holds);

	for (size_t k = 0; !rc && k < ids->len; k++) {
		struct mr_texts paths = mr_work_ids_room(cx->arena, holds.draft_count);

		for (size_t i = 0; i < holds.draft_count; i++)
			if (mr_str_eq(holds.drafts[i].message_id, ids->items[k]) &&
				mr_str_starts(holds.drafts[i].path, dir))
				mr_work_ids_put(&paths, holds.drafts[i].path);
		if (paths.len)
			rc = mr_work_refuse_referenced(cx, ids->items[k], &paths);
	}
	return rc;
}

/* The status that a message has without one of the lists that hold it. */
static enum mr_code status_without(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const char *path, const char **out)
{
	static const enum mr_work_status statuses[] = {
		[MR_WORK_ACTIVE_CASE] = MR_WORK_IS_CASE,
		[MR_WORK_ARCHIVED_CASE] = MR_WORK_IS_CASE,
		[MR_WORK_NOTIFICATION] = MR_WORK_IS_ARCHIVED,
		[MR_WORK_SPAM] = MR_WORK_IS_SPAM,
		[MR_WORK_TRASH] = MR_WORK_IS_TRASHED,
		[MR_WORK_DELETED] = MR_WORK_IS_DELETED,
	};
	struct mr_work_members members = { 0 };
	enum mr_work_status status = MR_WORK_IS_TRIAGE;
	enum mr_code rc = mr_work_index_members(cx, work, message_id, &members);

	for (size_t i = 0; i < members.len; i++)
		if (!mr_str_eq(members.items[i].path, path) &&
			statuses[members.items[i].kind] > status)
			status = statuses[members.items[i].kind];
	*out = mr_work_status_names[status];
	return rc;
}

static void tell_removed(struct mr_work_change *change, const struct mr_work_collection *collection,
	const char *message_id, const struct mr_texts *push_ids, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_message_removed",
		MR_WORK_TARGETS({ "case", collection->uid }, { "message", message_id }), reason,
		&event);
	mr_out_text(&event.out, "case_uid", collection->uid);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "group", collection->group);
	mr_out_texts(&event.out, "removed_push_ids", push_ids);
	mr_work_event_end(&event);
}

/* Take the messages, all of which are in it, out of the case. */
static enum mr_code remove_them(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection, const struct mr_texts *ids, const char *reason,
	struct mr_work_case_removed *result)
{
	struct mr_work_case_removed removed = { .case_uid = collection->uid,
		.group = collection->group,
		.case_path = collection->path,
		.has_several = ids->len > 1,
		.len = ids->len };
	enum mr_code rc = MR_OK;

	removed.items = mr_arena_array(cx->arena, ids->len + 1, sizeof(*removed.items));
	for (size_t i = 0; !rc && i < ids->len; i++) {
		removed.items[i].message_id = ids->items[i];
		rc = status_without(cx, change->work, ids->items[i], collection->path,
			&removed.items[i].status);
		mr_work_collection_remove(collection, ids->items[i]);
	}
	if (!rc)
		rc = mr_work_case_save(cx, change, collection);
	if (!rc)
		rc = mr_work_withdraw(cx, change, MR_WORK_ACTION_BIT(MR_WORK_PUSH_CASE_ADD), ids,
			&removed.push_ids);
	if (!rc)
		rc = mr_work_touch_conversation(cx, change, ids);
	if (rc)
		return rc;
	for (size_t i = 0; i < ids->len; i++)
		tell_removed(change, collection, ids->items[i], &removed.push_ids, reason);
	removed.message_id = removed.items[0].message_id;
	removed.status = removed.items[0].status;
	removed.message_count = (int64_t)collection->len;
	removed.removed_push_count = (int64_t)removed.push_ids.len;
	rc = mr_work_carry_out(cx, change);
	if (!rc)
		*result = removed;
	return rc;
}

enum mr_code mr_work_case_remove(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_remove *request, struct mr_work_case_removed *result)
{
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	struct mr_texts ids = { 0 };
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
	if (!rc)
		rc = mr_work_ids_check(cx, &request->message_ids, &ids);
	for (size_t i = 0; !rc && i < ids.len; i++)
		rc = check_entry(cx, &collection, ids.items[i]);
	if (!rc)
		rc = check_unanswered(cx, work, &collection, &ids);
	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "case_remove", &change);
	return remove_them(cx, &change, &collection, &ids, reason, result);
}

/* --- set-summary --- */

enum mr_code mr_work_case_set_summary(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_message *request, struct mr_work_case_summary *result)
{
	const char *summary = mr_work_text_or_null(cx->arena, request->summary), *reason = NULL;
	struct mr_work_collection collection = { 0 };
	struct mr_work_case_summary set = { .message_id = request->message_id, .summary = summary };
	struct mr_work_change change;
	struct mr_work_item *item;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
	if (!rc)
		rc = mr_work_check_message_id(cx, request->message_id);
	if (!rc)
		rc = check_entry(cx, &collection, request->message_id);
	if (rc)
		return rc;
	item = mr_work_collection_item(&collection, request->message_id);
	set.case_uid = collection.uid;
	set.case_path = collection.path;
	set.changed = !mr_str_eq(item->summary, summary);
	mr_work_change_begin(cx, work, "case_set_summary", &change);
	if (set.changed) {
		item->summary = summary;
		rc = mr_work_case_save(cx, &change, &collection);
		tell_summary(&change, &collection, request->message_id, summary, reason);
	}
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = set;
	return rc;
}

/* --- trash --- */

/* Nothing but this case may need the messages. */
static enum mr_code check_own(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_collection *collection, const struct mr_texts *ids)
{
	struct mr_work_reference_rule rule = { .except_collection = collection->path,
		.but_restores = true };
	struct mr_work_holds holds = { 0 };
	enum mr_code rc = mr_work_holds_load(cx, work, &holds);

	for (size_t i = 0; !rc && i < ids->len; i++) {
		struct mr_texts paths = { 0 };

		rc = mr_work_references_among(cx, work, ids->items[i], &holds, &rule, &paths);
		if (!rc && paths.len)
			rc = mr_work_refuse_referenced(cx, ids->items[i], &paths);
	}
	return rc;
}

static void tell_trashed(struct mr_work_change *change, const struct mr_work_case_trashed *trashed,
	const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "case_trashed", MR_WORK_TARGETS({ "case", trashed->case_uid }),
		reason, &event);
	mr_out_text(&event.out, "case_uid", trashed->case_uid);
	mr_out_texts(&event.out, "message_ids", &trashed->message_ids);
	mr_work_event_end(&event);
}

enum mr_code mr_work_case_trash(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_case_ref *request, struct mr_work_case_trashed *result)
{
	struct mr_work_case_trashed trashed = { .special_use = "trash" };
	struct mr_work_collection collection = { 0 };
	struct mr_work_change change;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_case_open(cx, work, request->case_ref, &collection);
	if (!rc)
		rc = mr_work_case_check_idle(cx, work, &collection, false);
	if (rc)
		return rc;
	trashed.message_ids = mr_work_member_ids(cx->arena, &collection);
	rc = check_own(cx, work, &collection, &trashed.message_ids);
	if (rc)
		return rc;
	trashed.case_uid = collection.uid;
	trashed.group = collection.group;
	trashed.case_path = collection.path;
	trashed.message_count = (int64_t)trashed.message_ids.len;
	mr_work_change_begin(cx, work, "case_trash", &change);
	if (trashed.message_ids.len) {
		collection.len = 0;
		rc = mr_work_case_save(cx, &change, &collection);
		tell_trashed(&change, &trashed, reason);
		if (!rc)
			rc = mr_work_put_into_trash(cx, &change, &trashed.message_ids, reason,
				&trashed.queue);
	}
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = trashed;
	return rc;
}
