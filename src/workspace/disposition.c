/* workspace/disposition.c - puts messages into spam and trash, and takes them out again. */
#include "workspace/disposition.h"

#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/members.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"
#include "workspace/withdraw.h"

struct way {
	enum mr_work_collection_kind kind;
	enum mr_work_push_action action;
	const char *special_use, *event, *change;
};
static const struct way to_spam = { MR_WORK_SPAM, MR_WORK_PUSH_SPAM, "junk", "message_spam_marked",
	"message_spam" };
static const struct way to_trash = { MR_WORK_TRASH, MR_WORK_PUSH_TRASH, "trash", "message_trashed",
	"message_trash" };

/* Which of the lists hold one of the messages? Bits by kind. */
static enum mr_code kinds_of(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *ids,
	unsigned *out)
{
	enum mr_code rc = MR_OK;

	*out = 0;
	for (size_t i = 0; !rc && i < ids->len; i++) {
		struct mr_work_members members = { 0 };

		rc = mr_work_index_members(cx, work, ids->items[i], &members);
		for (size_t k = 0; !rc && k < members.len; k++)
			*out |= 1U << members.items[k].kind;
	}
	return rc;
}

static enum mr_code take_out(struct mr_ctx *cx, struct mr_work_change *change,
	enum mr_work_collection_kind kind, const struct mr_texts *ids)
{
	struct mr_work_collection list = { 0 };
	enum mr_code rc = mr_work_collection_load(cx, change->work, kind,
		mr_work_disposition_dir(kind), &list);
	bool changed = false;

	if (rc)
		return rc;
	for (size_t i = 0; i < ids->len; i++) {
		if (!mr_work_collection_remove(&list, ids->items[i]))
			continue;
		mr_work_touch_message(change, ids->items[i]);
		changed = true;
	}
	return changed ? mr_work_collection_save(cx, change, &list) : MR_OK;
}

/* Out of all lists but one. */
static enum mr_code leave(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *ids, unsigned but)
{
	unsigned kinds = 0, actions = 0;
	enum mr_code rc = kinds_of(cx, change->work, ids, &kinds);

	kinds &= ~but;
	for (int kind = MR_WORK_SPAM; !rc && kind <= MR_WORK_DELETED; kind++)
		if (kinds & (1U << kind))
			rc = take_out(cx, change, (enum mr_work_collection_kind)kind, ids);
	if (kinds & (1U << MR_WORK_SPAM))
		actions |= MR_WORK_ACTION_BIT(MR_WORK_PUSH_SPAM);
	if (kinds & (1U << MR_WORK_TRASH))
		actions |= MR_WORK_ACTION_BIT(MR_WORK_PUSH_TRASH);
	return !rc && actions ? mr_work_withdraw(cx, change, actions, ids, NULL) : rc;
}

enum mr_code mr_work_undiscard(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *message_ids)
{
	return leave(cx, change, message_ids, 0);
}

static void tell(struct mr_work_change *change, const struct way *way, const char *id,
	const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, way->event, MR_WORK_TARGETS({ "message", id }), reason, &event);
	mr_out_text(&event.out, "message_id", id);
	mr_out_text(&event.out, "special_use", way->special_use);
	mr_work_event_end(&event);
}

static enum mr_code put(struct mr_ctx *cx, struct mr_work_change *change, const struct way *way,
	const struct mr_texts *ids, const char *reason, struct mr_work_queued *out)
{
	struct mr_work_collection list = { 0 };
	enum mr_code rc = leave(cx, change, ids, 1U << way->kind);

	/* A move back to the inbox would undo what is done here. */
	if (!rc)
		rc = mr_work_withdraw(cx, change, MR_WORK_ACTION_BIT(MR_WORK_PUSH_RESTORE), ids,
			NULL);
	if (!rc)
		rc = mr_work_collection_load(cx, change->work, way->kind,
			mr_work_disposition_dir(way->kind), &list);
	if (rc)
		return rc;
	for (size_t i = 0; i < ids->len; i++) {
		mr_work_collection_add(cx, &list, ids->items[i], NULL, change->work->now);
		tell(change, way, ids->items[i], reason);
	}
	rc = mr_work_collection_save(cx, change, &list);
	if (!rc)
		rc = mr_work_queue_action(cx, change, way->action, ids, out);
	if (!rc)
		rc = mr_work_touch_conversation(cx, change, ids);
	return rc;
}

enum mr_code mr_work_put_into_trash(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_texts *message_ids, const char *reason, struct mr_work_queued *out)
{
	return put(cx, change, &to_trash, message_ids, reason, out);
}

/* May they be discarded together? */
static enum mr_code check(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *ids)
{
	struct mr_work_reference_rule rule = { .but_restores = true };
	struct mr_work_holds holds = { 0 };
	enum mr_code rc = mr_work_check_known(cx, work, ids);

	for (size_t i = 0; !rc && i < ids->len; i++)
		rc = mr_work_check_unrelated_but(cx, work, ids->items[i], ids);
	if (!rc)
		rc = mr_work_holds_load(cx, work, &holds);
	for (size_t i = 0; !rc && i < ids->len; i++) {
		struct mr_texts paths = { 0 };

		rc = mr_work_references_among(cx, work, ids->items[i], &holds, &rule, &paths);
		if (!rc && paths.len)
			rc = mr_work_refuse_referenced(cx, ids->items[i], &paths);
	}
	return rc;
}

static enum mr_code discard(struct mr_ctx *cx, struct mr_work *work, const struct way *way,
	const struct mr_work_discard *request, struct mr_work_discarded *result)
{
	struct mr_work_discarded done = { .special_use = way->special_use };
	struct mr_work_change change;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (!rc)
		rc = mr_work_ids_check(cx, &request->message_ids, &done.message_ids);
	if (!rc)
		rc = check(cx, work, &done.message_ids);
	if (rc)
		return rc;
	done.message_id = done.message_ids.items[0];
	mr_work_change_begin(cx, work, way->change, &change);
	rc = put(cx, &change, way, &done.message_ids, reason, &done.queue);
	if (!rc)
		rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = done;
	return rc;
}

enum mr_code mr_work_message_spam(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_discard *request, struct mr_work_discarded *result)
{
	return discard(cx, work, &to_spam, request, result);
}

enum mr_code mr_work_message_trash(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_discard *request, struct mr_work_discarded *result)
{
	return discard(cx, work, &to_trash, request, result);
}
