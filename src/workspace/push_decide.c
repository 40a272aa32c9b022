/* workspace/push_decide.c - approves queued items as they are now, or sends them back. */
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/push.h"
#include "workspace/push_approval.h"
#include "workspace/push_mail.h"
#include "workspace/refresh.h"

#include <string.h>

/* What is queued, and which of it is meant. */
struct deciding {
	struct mr_work_push_items queue;
	struct mr_work_push_previewed shown; /* its rows are the items, in the same order */
	bool *is_meant;
	size_t count;
};

static void mean(struct deciding *d, size_t i)
{
	d->count += !d->is_meant[i];
	d->is_meant[i] = true;
}

/* A plan stands for all that can be carried out. */
static bool mean_id(struct deciding *d, const char *id)
{
	bool is_plan = mr_str_eq(id, d->shown.plan_id), found = is_plan;

	for (size_t i = 0; i < d->shown.len; i++)
		if (d->shown.items[i].content_id &&
			(is_plan || mr_str_eq(d->shown.items[i].content_id, id))) {
			mean(d, i);
			found = true;
		}
	return found;
}

static enum mr_code find(struct mr_ctx *cx, struct mr_work *work, const struct mr_texts *ids,
	struct deciding *d)
{
	const struct mr_work_push_preview all = { 0 };
	enum mr_code rc = mr_work_queue_load(cx, work, &d->queue);

	if (!rc)
		rc = mr_work_push_preview(cx, work, &all, &d->shown);
	if (rc)
		return rc;
	d->is_meant = mr_arena_array(cx->arena, d->shown.len + 1, sizeof(*d->is_meant));
	memset(d->is_meant, 0, (d->shown.len + 1) * sizeof(*d->is_meant));
	for (size_t i = 0; i < ids->len; i++) {
		if (!mr_str_starts(ids->items[i], "plan_") &&
			!mr_str_starts(ids->items[i], "content_"))
			return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
				"%s is neither a plan id nor a content id, as `afmail push show` "
				"prints them",
				ids->items[i]);
		if (mean_id(d, ids->items[i]))
			continue;
		(void)mr_work_refuse(cx, MR_WORK_PUSH_PLAN_CHANGED,
			"%s stands for nothing that is queued now: it was changed, carried out or "
			"taken out of the queue since; nothing was decided",
			ids->items[i]);
		return mr_work_hint(cx,
			"Look at it as it is now with `afmail push show`, and decide again.");
	}
	return MR_OK;
}

static enum mr_code check_refusable(struct mr_ctx *cx, const struct deciding *d)
{
	for (size_t i = 0; i < d->shown.len; i++) {
		const struct mr_work_push_item *item = &d->queue.items[i];

		if (d->is_meant[i] && mr_work_push_mail_is_fixed(item))
			return mr_work_refuse(cx, MR_WORK_PUSH_ALREADY_STARTED,
				"a step of %s has succeeded, or its mail may have gone: it cannot be "
				"sent back",
				item->push_id);
	}
	return MR_OK;
}

static enum mr_code decide(struct mr_ctx *cx, struct mr_work *work, struct deciding *d,
	enum mr_work_approval_state state, const char *reason, struct mr_work_push_decided *result)
{
	struct mr_work_push_decided decided = { .count = (int64_t)d->count };
	struct mr_work_change change;
	enum mr_code rc;

	decided.push_ids = mr_work_ids_room(cx->arena, d->count);
	decided.content_ids = mr_work_ids_room(cx->arena, d->count);
	mr_work_change_begin(cx, work, state == MR_WORK_APPROVED ? "push_approve" : "push_refuse",
		&change);
	for (size_t i = 0; i < d->shown.len; i++) {
		const struct mr_work_approval said = { state, d->shown.items[i].content_id,
			work->now, reason };

		if (!d->is_meant[i])
			continue;
		mr_work_approval_put(&change, &d->queue.items[i], &said);
		mr_work_ids_put(&decided.push_ids, d->shown.items[i].push_id);
		mr_work_ids_put(&decided.content_ids, said.content_id);
	}
	rc = mr_work_carry_out(cx, &change);
	if (!rc)
		*result = decided;
	return rc;
}

enum mr_code mr_work_push_approve(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_decide *request, struct mr_work_push_decided *result)
{
	struct deciding d = { 0 };
	enum mr_code rc = find(cx, work, &request->ids, &d);

	return rc ? rc : decide(cx, work, &d, MR_WORK_APPROVED, NULL, result);
}

/* Whoever gets it back has to know why, whatever the configuration says of reasons. */
static enum mr_code check_reason(struct mr_ctx *cx, const char *given, const char **out)
{
	*out = mr_str_trim(cx->arena, given ? given : "");
	if (**out)
		return MR_OK;
	(void)mr_work_refuse(cx, MR_WORK_REASON_REQUIRED,
		"what is sent back needs a reason: whoever wrote it reads it, and changes it so");
	(void)mr_work_hint(cx, "Add --reason TEXT.");
	return mr_work_detail_text(cx, "required_option", "--reason");
}

enum mr_code mr_work_push_refuse(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_decide *request, struct mr_work_push_decided *result)
{
	struct deciding d = { 0 };
	const char *reason = NULL;
	enum mr_code rc = check_reason(cx, request->reason, &reason);

	if (!rc)
		rc = find(cx, work, &request->ids, &d);
	if (!rc)
		rc = check_refusable(cx, &d);
	return rc ? rc : decide(cx, work, &d, MR_WORK_REFUSED, reason, result);
}
