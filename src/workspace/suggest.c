/* workspace/suggest.c - makes suggestions, lists and drops them, and does what they say. */
#include "workspace/suggest.h"

#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/config.h"
#include "workspace/disposition.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/message.h"
#include "workspace/refresh.h"

static void text_if(struct mr_out *out, const char *key, const char *text)
{
	if (text)
		mr_out_text(out, key, text);
}

static void tell(struct mr_work_change *change, const char *kind,
	const struct mr_work_suggestion *item, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, kind, MR_WORK_TARGETS({ "message", item->message_id }), reason,
		&event);
	mr_out_text(&event.out, "message_id", item->message_id);
	mr_out_text(&event.out, "action", item->action);
	text_if(&event.out, "target", item->target);
	text_if(&event.out, "summary", item->summary);
	mr_work_event_end(&event);
}

/* --- set --- */

static const char *trimmed(struct mr_ctx *cx, const char *text)
{
	const char *trim = text ? mr_str_trim(cx->arena, text) : NULL;

	return trim && *trim ? trim : NULL;
}

/* The uid of the target, which must be there and be usable. */
static enum mr_code find_target(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_set *request, const char **out)
{
	const char *action = mr_work_suggested_names[request->action];
	struct mr_work_place place = { 0 };
	bool has_target = request->action == MR_WORK_SUGGEST_CASE ||
		request->action == MR_WORK_SUGGEST_ARCHIVE;
	enum mr_code rc;

	*out = NULL;
	if (has_target != (request->target != NULL))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			has_target ? "--action %s needs --target REF"
				   : "--action %s has no --target",
			action);
	if (!has_target)
		return MR_OK;
	rc = request->action == MR_WORK_SUGGEST_CASE
		? mr_work_active_case(cx, work, request->target, &place)
		: mr_work_place_find(cx, work, MR_WORK_CATEGORY, request->target, &place);
	*out = place.uid;
	return rc;
}

static enum mr_code check_message(struct mr_ctx *cx, struct mr_work *work, const char *message_id)
{
	struct mr_work_brief brief = { 0 };
	enum mr_code rc = mr_work_check_message_id(cx, message_id);

	if (!rc)
		rc = mr_work_index_message(cx, work, message_id, &brief);
	if (!rc && brief.status != MR_WORK_IS_TRIAGE)
		rc = mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"message %s has the status %s: suggestions are for messages in triage",
			message_id, mr_work_status_names[brief.status]);
	return rc;
}

enum mr_code mr_work_suggestion_set(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_set *request, struct mr_work_suggestion_was_set *result)
{
	const struct mr_work_suggestions *all = NULL;
	struct mr_work_suggestion item = { .message_id = request->message_id,
		.action = mr_work_suggested_names[request->action],
		.summary = trimmed(cx, request->summary),
		.created_rfc3339 = work->now };
	struct mr_work_change change;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &item.reason);

	if (!rc)
		rc = check_message(cx, work, request->message_id);
	if (!rc)
		rc = find_target(cx, work, request, &item.target);
	if (!rc && request->action == MR_WORK_SUGGEST_ARCHIVE && !item.summary)
		rc = mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--action archive needs --summary TEXT");
	if (!rc)
		rc = mr_work_suggestions_get(cx, work, &all);
	if (rc)
		return rc;
	*result = (struct mr_work_suggestion_was_set){ item,
		mr_work_suggestion_of(all, item.message_id) != NULL };
	mr_work_change_begin(cx, work, "suggestion_set", &change);
	mr_work_suggestions_save(cx, &change, all, item.message_id, &item);
	tell(&change, "suggestion_set", &item, item.reason);
	return mr_work_carry_out(cx, &change);
}

/* --- list --- */

enum mr_code mr_work_suggestion_list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_suggestion_listed *result)
{
	struct mr_work_suggestion_listed listed = { 0 };
	const struct mr_work_suggestions *all = NULL;
	enum mr_code rc = mr_work_suggestions_get(cx, work, &all);

	if (rc)
		return rc;
	listed.items = mr_arena_array(cx->arena, all->len + 1, sizeof(*listed.items));
	for (size_t i = 0; !rc && i < all->len; i++) {
		struct mr_work_suggestion_row *row = &listed.items[listed.len];
		struct mr_work_brief brief = { 0 };

		if (!mr_work_is_waiting(cx, work, all->items[i].message_id))
			continue;
		rc = mr_work_index_message(cx, work, all->items[i].message_id, &brief);
		if (!rc)
			rc = mr_work_message_view(cx, work, brief.message_id, &row->view_path);
		row->suggestion = all->items[i];
		row->from = brief.from;
		row->subject = brief.subject;
		listed.len++;
	}
	listed.count = (int64_t)listed.len;
	if (!rc)
		*result = listed;
	return rc;
}

/* --- clear --- */

enum mr_code mr_work_suggestion_clear(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_ref *request, struct mr_work_suggestion_cleared *result)
{
	const struct mr_work_suggestions *all = NULL;
	const struct mr_work_suggestion *item;
	const char *reason = trimmed(cx, request->reason);
	struct mr_work_change change;
	enum mr_code rc = mr_work_check_message_id(cx, request->message_id);

	if (!rc)
		rc = mr_work_suggestions_get(cx, work, &all);
	if (rc)
		return rc;
	item = mr_work_suggestion_of(all, request->message_id);
	*result = (struct mr_work_suggestion_cleared){ request->message_id, item != NULL };
	if (!item)
		return MR_OK;
	mr_work_change_begin(cx, work, "suggestion_clear", &change);
	mr_work_suggestions_save(cx, &change, all, item->message_id, NULL);
	tell(&change, "suggestion_cleared", item, reason);
	return mr_work_carry_out(cx, &change);
}

/* --- accept --- */

static enum mr_code carry_out(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion *item, struct mr_work_queued *out)
{
	struct mr_texts ids = mr_work_ids_one(cx->arena, item->message_id);
	struct mr_work_discard discard = { ids, item->reason };
	struct mr_work_discarded discarded = { 0 };
	enum mr_code rc;

	if (mr_str_eq(item->action, "case")) {
		struct mr_work_case_add request = { item->target, ids, item->summary,
			item->reason };
		struct mr_work_case_added added = { 0 };

		rc = mr_work_case_add(cx, work, &request, &added);
		*out = added.queue;
	} else if (mr_str_eq(item->action, "archive")) {
		struct mr_work_archive_message request = { .archive_ref = item->target,
			.message_id = item->message_id,
			.summary = item->summary,
			.reason = item->reason };
		struct mr_work_message_archived archived = { 0 };

		rc = mr_work_archive_add(cx, work, &request, &archived);
		*out = archived.queue;
	} else {
		rc = mr_str_eq(item->action, "spam")
			? mr_work_message_spam(cx, work, &discard, &discarded)
			: mr_work_message_trash(cx, work, &discard, &discarded);
		*out = discarded.queue;
	}
	return rc;
}

struct acceptance {
	const struct mr_work_suggestions *all;
	const struct mr_work_suggestion *item;
};

/* The suggestion ends with the change that it asked for. */
static void add_acceptance(struct mr_work_change *change, void *arg)
{
	const struct acceptance *accepted = arg;

	mr_work_suggestions_save(change->cx, change, accepted->all, accepted->item->message_id,
		NULL);
	tell(change, "suggestion_accepted", accepted->item, accepted->item->reason);
}

enum mr_code mr_work_suggestion_accept(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_suggestion_ref *request, struct mr_work_suggestion_accepted *result)
{
	const struct mr_work_suggestions *all = NULL;
	const struct mr_work_suggestion *found;
	struct mr_work_suggestion item;
	struct mr_work_queued queued = { 0 };
	struct acceptance accepted;
	enum mr_code rc = check_message(cx, work, request->message_id);

	if (!rc)
		rc = mr_work_suggestions_get(cx, work, &all);
	if (rc)
		return rc;
	found = mr_work_suggestion_of(all, request->message_id);
	if (!found)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "message %s has no suggestion",
			request->message_id);
	item = *found;
	if (trimmed(cx, request->reason))
		item.reason = trimmed(cx, request->reason);
	accepted = (struct acceptance){ all, &item };
	work->add_to_change = add_acceptance;
	work->add_to_change_arg = &accepted;
	rc = carry_out(cx, work, &item, &queued);
	work->add_to_change = NULL;
	if (!rc)
		*result = (struct mr_work_suggestion_accepted){ item, queued.queued,
			queued.push_ids };
	return rc;
}
