/* workspace/archive_message.c - puts messages into categories, moves them, takes them out. */
#include "workspace/archive_private.h"
#include "workspace/case_private.h"
#include "workspace/config.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/members.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"
#include "workspace/withdraw.h"

enum mr_code mr_work_archive_open(struct mr_ctx *cx, struct mr_work *work, const char *ref,
	struct mr_work_collection *out)
{
	struct mr_work_place place = { 0 };
	enum mr_code rc = mr_work_place_find(cx, work, MR_WORK_CATEGORY, ref, &place);

	return rc ? rc : mr_work_collection_load(cx, work, place.kind, place.path, out);
}

enum mr_code mr_work_archive_check(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	const char *path)
{
	struct mr_work_members members = { 0 };
	struct mr_work_brief brief = { 0 };
	enum mr_code rc = mr_work_check_message_id(cx, message_id);

	if (!rc)
		rc = mr_work_index_message(cx, work, message_id, &brief);
	if (!rc)
		rc = mr_work_check_unrelated(cx, work, message_id);
	if (!rc)
		rc = mr_work_index_members(cx, work, message_id, &members);
	for (size_t i = 0; !rc && i < members.len; i++)
		if (members.items[i].kind == MR_WORK_NOTIFICATION &&
			!mr_str_eq(members.items[i].path, path))
			rc = mr_work_refuse(cx, MR_WORK_MESSAGE_ALREADY_ARCHIVED,
				"message %s is in the category %s already", message_id,
				members.items[i].uid);
	return rc;
}

enum mr_code mr_work_archive_put(struct mr_ctx *cx, struct mr_work_change *change,
	const char *message_id, struct mr_texts *out_eligible, struct mr_work_queued *out)
{
	struct mr_texts one = mr_work_ids_one(cx->arena, message_id);
	enum mr_code rc = mr_work_undiscard(cx, change, &one);

	if (!rc)
		rc = mr_work_withdraw(cx, change, MR_WORK_ACTION_BIT(MR_WORK_PUSH_RESTORE), &one,
			NULL);
	if (!rc)
		rc = mr_work_eligible(cx, change->work, &one, NULL, true, out_eligible);
	if (!rc && out_eligible->len)
		rc = mr_work_queue_action(cx, change, MR_WORK_PUSH_ARCHIVE, out_eligible, out);
	if (!rc)
		rc = mr_work_touch_conversation(cx, change, &one);
	return rc;
}

/* --- add --- */

static void tell_summary(struct mr_work_change *change, const char *uid, const char *message_id,
	const char *summary, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "message_archive_summary_set",
		MR_WORK_TARGETS({ "message", message_id }, { "archive", uid }), reason, &event);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "archive_uid", uid);
	mr_out_text(&event.out, "summary", summary);
	mr_work_event_end(&event);
}

static void tell_archived(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_message_archived *done, const char *summary, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "message_archived",
		MR_WORK_TARGETS({ "message", done->message_id }, { "archive", done->archive_uid }),
		reason, &event);
	mr_out_text(&event.out, "message_id", done->message_id);
	mr_out_text(&event.out, "archive_uid", done->archive_uid);
	mr_out_text(&event.out, "summary", summary);
	mr_out_text(&event.out, "to_path",
		mr_work_member_view(cx->arena, done->path, done->message_id));
	mr_work_event_end(&event);
}

static enum mr_code add(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *category, const char *summary, const char *reason,
	struct mr_work_message_archived *done)
{
	struct mr_work_item *item = mr_work_collection_item(category, done->message_id);
	enum mr_code rc = MR_OK;

	if (!item) {
		mr_work_collection_add(cx, category, done->message_id, summary, change->work->now);
		rc = mr_work_collection_save(cx, change, category);
		tell_archived(cx, change, done, summary, reason);
	} else if (summary && !mr_str_eq(summary, item->summary)) {
		item->summary = summary;
		rc = mr_work_collection_save(cx, change, category);
		tell_summary(change, category->uid, done->message_id, summary, reason);
	}
	return rc ? rc
		  : mr_work_archive_put(cx, change, done->message_id, &done->eligible_message_ids,
			    &done->queue);
}

enum mr_code mr_work_archive_add(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_message_archived *result)
{
	const char *summary = mr_work_text_or_null(cx->arena, request->summary), *reason = NULL;
	struct mr_work_message_archived done = { .message_id = request->message_id,
		.special_use = "archive" };
	struct mr_work_collection category = { 0 };
	struct mr_work_change change;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_archive_open(cx, work, request->archive_ref, &category);
	if (!rc)
		rc = mr_work_archive_check(cx, work, request->message_id, category.path);
	if (rc)
		return rc;
	done.archive_uid = category.uid;
	done.path = category.path;
	mr_work_change_begin(cx, work, "message_archive", &change);
	rc = add(cx, &change, &category, summary, reason, &done);
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = done;
	return rc;
}

/* --- entries --- */

/* The category and the message's entry in it; archive_entry_not_found. */
static enum mr_code open_entry(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, const char **out_reason,
	struct mr_work_collection *out)
{
	enum mr_code rc = mr_work_reason(cx, work, request->reason, out_reason);

	if (!rc)
		rc = mr_work_archive_open(cx, work, request->archive_ref, out);
	if (!rc)
		rc = mr_work_check_message_id(cx, request->message_id);
	if (rc || mr_work_collection_item(out, request->message_id))
		return rc;
	return mr_work_refuse(cx, MR_WORK_ARCHIVE_ENTRY_NOT_FOUND,
		"message %s is not in the category %s", request->message_id, out->uid);
}

enum mr_code mr_work_archive_restore(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_message_restored *result)
{
	struct mr_work_collection category = { 0 };
	const char *reason = NULL;
	enum mr_code rc = open_entry(cx, work, request, &reason, &category);

	return rc ? rc
		  : mr_work_restore_entry(cx, work, category.path, request->message_id, reason,
			    "message_restored", result);
}

static enum mr_code move(struct mr_ctx *cx, struct mr_work *work, struct mr_work_collection *from,
	struct mr_work_collection *to, const char *message_id, const char *reason)
{
	const struct mr_work_item item = *mr_work_collection_item(from, message_id);
	struct mr_work_change change;
	struct mr_work_event event;
	enum mr_code rc;

	mr_work_change_begin(cx, work, "archive_move", &change);
	mr_work_collection_add(cx, to, message_id, item.summary, item.added);
	mr_work_collection_remove(from, message_id);
	rc = mr_work_collection_save(cx, &change, from);
	if (!rc)
		rc = mr_work_collection_save(cx, &change, to);
	if (rc)
		return rc;
	mr_work_touch_message(&change, message_id);
	mr_work_event_begin(&change, "message_archive_moved",
		MR_WORK_TARGETS({ "message", message_id }, { "archive", from->uid },
			{ "archive", to->uid }),
		reason, &event);
	mr_out_text(&event.out, "message_id", message_id);
	mr_out_text(&event.out, "from_archive_uid", from->uid);
	mr_out_text(&event.out, "archive_uid", to->uid);
	mr_work_event_end(&event);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_archive_move(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_archive_moved *result)
{
	struct mr_work_collection from = { 0 }, to = { 0 };
	struct mr_work_archive_moved moved = { .message_id = request->message_id };
	const char *reason = NULL;
	enum mr_code rc = open_entry(cx, work, request, &reason, &from);

	if (!rc)
		rc = mr_work_archive_open(cx, work, request->new_archive_ref, &to);
	if (rc)
		return rc;
	moved.archive_uid = to.uid;
	moved.changed = !mr_str_eq(from.uid, to.uid);
	if (moved.changed) {
		moved.from_archive_uid = from.uid;
		rc = move(cx, work, &from, &to, request->message_id, reason);
	} else {
		moved.new_archive_uid = to.uid;
	}
	if (!rc)
		*result = moved;
	return rc;
}

enum mr_code mr_work_archive_set_summary(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_archive_message *request, struct mr_work_archive_summary *result)
{
	const char *summary = mr_work_text_or_null(cx->arena, request->summary), *reason = NULL;
	struct mr_work_collection category = { 0 };
	struct mr_work_change change;
	enum mr_code rc = open_entry(cx, work, request, &reason, &category);

	if (rc)
		return rc;
	mr_work_collection_item(&category, request->message_id)->summary = summary;
	mr_work_change_begin(cx, work, "archive_set_summary", &change);
	rc = mr_work_collection_save(cx, &change, &category);
	if (rc)
		return rc;
	tell_summary(&change, category.uid, request->message_id, summary, reason);
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = (struct mr_work_archive_summary){ request->message_id, category.uid,
			summary };
	return rc;
}
