/* workspace/push_recover.c - mails that may have been sent: listed, and settled by a person. */
#include "workspace/error.h"
#include "workspace/push.h"
#include "workspace/push_mail.h"
#include "workspace/refresh.h"

/* The step that sends, when nobody knows how it ended. */
static struct mr_work_step_state *uncertain_send(const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->state_count; i++)
		if (item->states[i].status == MR_WORK_STEP_PENDING && item->states[i].started &&
			mr_str_eq(item->states[i].label, "smtp_send"))
			return &item->states[i];
	return NULL;
}

static enum mr_code list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_recovered *out)
{
	struct mr_work_push_items queue = { 0 };
	enum mr_code rc = mr_work_queue_load(cx, work, &queue);

	out->is_list = true;
	out->items = mr_arena_array(cx->arena, queue.len + 1, sizeof(*out->items));
	for (size_t i = 0; !rc && i < queue.len; i++) {
		const struct mr_work_push_item *item = &queue.items[i];
		const struct mr_work_step_state *state = uncertain_send(item);
		struct mr_work_push_mail mail = { 0 };

		if (!state)
			continue;
		rc = mr_work_push_mail_load(cx, work, item, &mail);
		out->items[out->len++] = (struct mr_work_push_uncertain){ .push_id = item->push_id,
			.case_uid = item->case_uid,
			.draft_name = item->draft_name,
			.message_id = mail.out.message_id,
			.subject = mail.out.subject,
			.started_rfc3339 = state->started,
			.to = mail.out.to };
	}
	out->count = (int64_t)out->len;
	return rc;
}

static void add_event(struct mr_work_change *change, const struct mr_work_push_item *item,
	const char *outcome, const char *reason)
{
	struct mr_work_event event;

	mr_work_event_begin(change, "push_recovered",
		MR_WORK_TARGETS({ "push", item->push_id }, { "case", item->case_uid }), reason,
		&event);
	mr_out_text(&event.out, "push_id", item->push_id);
	mr_out_text(&event.out, "outcome", outcome);
	mr_out_text(&event.out, "case_uid", item->case_uid);
	mr_out_text(&event.out, "draft_name", item->draft_name);
	mr_work_event_end(&event);
}

static enum mr_code settle(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_recover *request, struct mr_work_push_recovered *out)
{
	struct mr_work_push_item item = { 0 };
	struct mr_work_push_mail mail = { 0 };
	struct mr_work_step_state *state;
	struct mr_work_change change;
	const char *reason = NULL;
	enum mr_code rc = mr_work_queue_find(cx, work, request->push_id, &item);

	if (!rc)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (rc)
		return rc;
	state = uncertain_send(&item);
	if (!state)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"%s is not uncertain: nothing has to be settled", item.push_id);
	mr_work_change_begin(cx, work, "push_recover", &change);
	*state = (struct mr_work_step_state){ .index = state->index,
		.label = state->label,
		.status = request->sent ? MR_WORK_STEP_SUCCEEDED : MR_WORK_STEP_PENDING,
		.started = request->sent ? state->started : NULL,
		.completed = request->sent ? work->now : NULL,
		.result_summary = request->sent ? "smtp_send succeeded" : NULL };
	item.last_error = NULL;
	if (request->sent) {
		rc = mr_work_push_mail_get(cx, work, &item, &mail);
		if (!rc)
			rc = mr_work_push_mail_record(cx, &change, &item, &mail);
	}
	if (rc)
		return rc;
	mr_work_queue_save(&change, &item);
	*out = (struct mr_work_push_recovered){ .is_one = true,
		.push_id = item.push_id,
		.outcome = request->sent ? "sent" : "not_sent",
		.case_uid = item.case_uid,
		.draft_name = item.draft_name,
		.message_id = mail.out.message_id };
	add_event(&change, &item, out->outcome, reason);
	return mr_work_carry_out(cx, &change);
}

enum mr_code mr_work_push_recover(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_recover *request, struct mr_work_push_recovered *result)
{
	*result = (struct mr_work_push_recovered){ 0 };
	if (request->sent && request->not_sent)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--sent and --not-sent cannot be given together");
	if (!request->push_id && (request->sent || request->not_sent))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the id of the item is missing: `afmail push recover` lists them");
	if (!request->push_id)
		return list(cx, work, result);
	if (!request->sent && !request->not_sent)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"say whether the mail has arrived: --sent or --not-sent");
	return settle(cx, work, request, result);
}
