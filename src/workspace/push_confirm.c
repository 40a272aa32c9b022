/* workspace/push_confirm.c - carries the push queue out: item by item, step by step. */
#include "base/crash.h"
#include "workspace/error.h"
#include "workspace/layout.h"
#include "workspace/progress.h"
#include "workspace/push.h"
#include "workspace/push_approval.h"
#include "workspace/push_content.h"
#include "workspace/push_imap.h"
#include "workspace/push_mail.h"
#include "workspace/record.h"
#include "workspace/reference.h"
#include "workspace/refresh.h"

#include <string.h>

struct pushing {
	struct mr_ctx *cx;
	struct mr_work *work;
	const struct mr_work_config *config;
	const struct mr_work_push_preview *request;
	struct mr_work_push_imap imap;
	const struct mr_err *smtp_failure; /* the server was not reached: it is not tried again */
	struct mr_work_progress *progress;
	struct mr_work_push_pushed *out;
	size_t index, count; /* of the present item, from 1 */
	bool is_fatal;       /* the workspace cannot be written: nothing more is tried */
};

/* One item under way. */
struct item {
	struct mr_work_push_item item;
	struct mr_work_action_steps steps;
	bool has_mail;
	bool is_held; /* nobody has approved it, or somebody sent it back: nothing was tried */
	struct mr_work_push_mail mail;
};

static const char *const kind_names[] = { "outbound", "message_action" };

/* --- telling --- */

static void begin_phase(struct pushing *p, struct mr_out *out)
{
	mr_out_init_tree(out, p->cx->arena);
	mr_out_map(out, NULL);
}

static void end_phase(struct pushing *p, struct mr_out *out, const char *phase)
{
	mr_out_end(out);
	mr_work_progress_phase(p->progress, phase, mr_out_tree(out));
}

static void emit_item(struct mr_out *out, const struct mr_work_push_item *item)
{
	mr_out_text(out, "push_id", item->push_id);
	mr_out_text(out, "kind", kind_names[item->kind]);
	mr_out_text(out, "display_kind", mr_work_push_display_kind(item));
}

static void emit_error(struct pushing *p, struct mr_out *out)
{
	mr_out_text(out, "error_code", p->cx->err.word ? p->cx->err.word : "store_error");
	mr_out_text(out, "error", p->cx->err.msg);
	mr_out_bool(out, "retryable", mr_code_is_retryable(p->cx->err.code));
}

static void tell_item(struct pushing *p, const struct mr_work_push_item *item, const char *phase,
	bool is_failure)
{
	struct mr_out out;

	begin_phase(p, &out);
	emit_item(&out, item);
	mr_out_int(&out, "index", (int64_t)p->index);
	mr_out_int(&out, "item_count", (int64_t)p->count);
	if (is_failure)
		emit_error(p, &out);
	end_phase(p, &out, phase);
}

static void tell_step(struct pushing *p, const struct item *i, size_t step, const char *label,
	const char *phase, bool is_failure)
{
	struct mr_out out;

	begin_phase(p, &out);
	emit_item(&out, &i->item);
	mr_out_int(&out, "item_index", (int64_t)p->index);
	mr_out_int(&out, "item_count", (int64_t)p->count);
	mr_out_int(&out, "step_index", (int64_t)step + 1);
	mr_out_int(&out, "step_count", (int64_t)i->steps.len);
	mr_out_text(&out, "label", label);
	if (is_failure)
		emit_error(p, &out);
	end_phase(p, &out, phase);
}

static void add_event(struct pushing *p, struct mr_work_change *change,
	const struct mr_work_push_item *item, const struct mr_err *err)
{
	struct mr_work_target *targets =
		mr_arena_array(p->cx->arena, item->message_ids.len + 3, sizeof(*targets));
	struct mr_work_event event;
	int64_t done = 0;
	size_t len = 0;

	for (size_t i = 0; i < item->state_count; i++)
		done += item->states[i].status == MR_WORK_STEP_SUCCEEDED;
	targets[len++] = (struct mr_work_target){ "push", item->push_id };
	if (item->case_uid)
		targets[len++] = (struct mr_work_target){ "case", item->case_uid };
	for (size_t i = 0; i < item->message_ids.len; i++)
		targets[len++] = (struct mr_work_target){ "message", item->message_ids.items[i] };
	mr_work_event_begin(change, err ? "push_failed" : "push_succeeded", targets, NULL, &event);
	mr_out_text(&event.out, "push_id", item->push_id);
	mr_out_text(&event.out, "push_kind", kind_names[item->kind]);
	mr_out_int(&event.out, "succeeded_step_count", done);
	mr_out_int(&event.out, "attempt_count", item->attempt_count);
	if (item->kind == MR_WORK_PUSH_OUTBOUND) {
		mr_out_text(&event.out, "case_uid", item->case_uid);
		mr_out_text(&event.out, "draft_name", item->draft_name);
		mr_out_text(&event.out, "action", mr_work_push_action_names[item->action]);
	}
	if (err) {
		mr_out_text(&event.out, "error_code", err->word ? err->word : "store_error");
		mr_out_text(&event.out, "error", err->msg);
		mr_out_bool(&event.out, "retryable", mr_code_is_retryable(err->code));
	}
	mr_work_event_end(&event);
}

/* --- states --- */

/* The state of a step, which is added when it has none. */
static struct mr_work_step_state *state_of(struct pushing *p, struct mr_work_push_item *item,
	size_t index, const char *label)
{
	struct mr_work_step_state *states;

	for (size_t i = 0; i < item->state_count; i++)
		if (item->states[i].index == (int64_t)index &&
			mr_str_eq(item->states[i].label, label))
			return &item->states[i];
	states = mr_arena_array(p->cx->arena, item->state_count + 1, sizeof(*states));
	if (item->state_count)
		memcpy(states, item->states, item->state_count * sizeof(*states));
	states[item->state_count] =
		(struct mr_work_step_state){ .index = (int64_t)index, .label = label };
	item->states = states;
	return &states[item->state_count++];
}

/* Write the item as it is now; a failure here ends the whole push. */
static enum mr_code save(struct pushing *p, struct mr_work_push_item *item, const char *kind)
{
	struct mr_work_change change;
	enum mr_code rc;

	mr_work_change_begin(p->cx, p->work, kind, &change);
	mr_work_queue_save(&change, item);
	rc = mr_work_carry_out(p->cx, &change);
	p->is_fatal |= rc != MR_OK;
	return rc;
}

static void mark_failed(struct pushing *p, struct mr_work_step_state *state, bool is_unknown)
{
	state->status = is_unknown ? MR_WORK_STEP_PENDING : MR_WORK_STEP_FAILED;
	state->completed = is_unknown ? NULL : p->work->now;
	state->result_summary = NULL;
	state->error_code = p->cx->err.word ? p->cx->err.word : "store_error";
	state->error = mr_arena_strdup(p->cx->arena, p->cx->err.msg);
	state->has_retryable = true;
	state->retryable = mr_code_is_retryable(p->cx->err.code);
}

static void mark_done(struct pushing *p, struct mr_work_step_state *state, const char *summary)
{
	*state = (struct mr_work_step_state){ .index = state->index,
		.label = state->label,
		.status = MR_WORK_STEP_SUCCEEDED,
		.started = state->started,
		.completed = p->work->now,
		.result_summary = summary };
}

/* --- sending --- */

/* Where the item puts what it sent, or NULL. */
static const char *sent_mailbox(const struct item *i)
{
	for (size_t k = 0; k < i->steps.len; k++)
		if (i->steps.items[k].append_to_mailbox_id)
			return i->steps.items[k].append_to_mailbox_id;
	return NULL;
}

/* The server keeps what it sends, as was seen when a mail was looked for. */
static const char found_summary[] = "smtp_send succeeded: the mail is among the sent mails";

static bool has_kept_copy(const struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->state_count; i++)
		if (mr_str_eq(item->states[i].result_summary, found_summary))
			return true;
	return false;
}

/* The mail may have gone out. Some servers keep what they send: then it can be seen. */
static enum mr_code look_for_sent(struct pushing *p, const struct item *i)
{
	const char *mailbox = sent_mailbox(i);
	int64_t uid = 0;
	struct mr_err kept = p->cx->err;

	if (mailbox && !mr_work_push_find(&p->imap, mailbox, &i->mail, &uid) && uid)
		return MR_OK;
	p->cx->err = kept;
	(void)mr_work_refuse(p->cx, MR_WORK_PUSH_UNCERTAIN,
		"the mail of %s was on its way when the connection, or the program, ended: nobody knows "
		"whether it was accepted, and it is not among the sent mails on the server",
		i->item.push_id);
	return mr_work_hint(p->cx,
		"Find out whether the mail has arrived, then run `afmail push recover %s --sent` or "
		"`afmail push recover %s --not-sent`.",
		i->item.push_id, i->item.push_id);
}

static enum mr_code send_mail(struct pushing *p, struct item *i, bool again, const char **summary,
	bool *out_unknown)
{
	enum mr_code rc;

	if (!i->has_mail)
		return mr_work_refuse(p->cx, MR_WORK_PUSH_ITEM_INVALID,
			"%s sends no mail: smtp_send is a step for drafts", i->item.push_id);
	*out_unknown = again;
	*summary = again ? found_summary : "smtp_send succeeded";
	if (again)
		return look_for_sent(p, i);
	if (p->smtp_failure) {
		p->cx->err = *p->smtp_failure;
		return p->smtp_failure->code;
	}
	rc = mr_work_push_mail_send(p->cx, p->config, p->imap.environment, &i->mail, out_unknown);
	if (rc && *out_unknown) {
		*summary = found_summary;
		return look_for_sent(p, i);
	}
	if (rc && mr_str_eq(p->cx->err.word, mr_work_error_word(MR_WORK_SMTP_CONNECT_FAILED))) {
		struct mr_err *failure = mr_arena_alloc(p->cx->arena, sizeof(*failure));

		*failure = p->cx->err;
		p->smtp_failure = failure;
	}
	return rc;
}

/* --- steps --- */

/* `again`: it was begun before, and nobody knows how it ended; `was_tried`: or it failed. */
static enum mr_code do_step(struct pushing *p, struct item *i,
	const struct mr_work_action_step *step, bool again, bool was_tried, const char **summary,
	bool *out_unknown)
{
	const char *reply_to =
		i->has_mail ? i->mail.out.reply_to_message_id : i->item.reply_to_message_id;

	*out_unknown = false;
	if (step->smtp_send)
		return send_mail(p, i, again, summary, out_unknown);
	if (step->append_to_mailbox_id)
		return mr_work_push_append(&p->imap, &i->item, i->has_mail ? &i->mail : NULL,
			step->append_to_mailbox_id,
			/* Of several messages some may have been appended before one failed. */
			again || has_kept_copy(&i->item) || (was_tried && !i->has_mail), summary,
			out_unknown);
	if (step->move_to_mailbox_id)
		return mr_work_push_move(&p->imap, &i->item, step->move_to_mailbox_id, summary);
	return mr_work_push_flags(&p->imap, &i->item, &step->add_flags,
		step->on_reply_to_message ? reply_to : NULL, summary);
}

/* What a step did is written, and with it the mail that was sent. */
static enum mr_code save_done(struct pushing *p, struct item *i,
	const struct mr_work_action_step *step)
{
	struct mr_work_change change;
	enum mr_code rc = MR_OK;

	mr_work_change_begin(p->cx, p->work, "push_step", &change);
	mr_work_queue_save(&change, &i->item);
	if (step->smtp_send)
		rc = mr_work_push_mail_record(p->cx, &change, &i->item, &i->mail);
	if (!rc)
		rc = mr_work_carry_out(p->cx, &change);
	p->is_fatal |= rc != MR_OK;
	return rc;
}

static enum mr_code run_step(struct pushing *p, struct item *i, size_t index)
{
	const struct mr_work_action_step *step = &i->steps.items[index];
	const char *label = mr_work_step_label(p->cx->arena, step), *summary = NULL;
	struct mr_work_step_state *state = state_of(p, &i->item, index, label);
	bool was_tried = state->started != NULL, is_unknown = false;
	bool again = was_tried && state->status == MR_WORK_STEP_PENDING;
	enum mr_code rc;

	if (state->status == MR_WORK_STEP_SUCCEEDED)
		return MR_OK;
	tell_step(p, i, index, label, "push_step_start", false);
	if (!again)
		*state = (struct mr_work_step_state){ .index = (int64_t)index,
			.label = label,
			.started = p->work->now };
	rc = save(p, &i->item, "push_step");
	mr_crash_point("work.push.step_begun");
	if (rc)
		return rc;
	state = state_of(p, &i->item, index, label);
	rc = do_step(p, i, step, again, was_tried, &summary, &is_unknown);
	mr_crash_point("work.push.step_done");
	if (!rc) {
		mark_done(p, state, summary);
		rc = save_done(p, i, step);
		mr_crash_point("work.push.step_saved");
		if (!rc)
			tell_step(p, i, index, label, "push_step_done", false);
		return rc;
	}
	mark_failed(p, state, is_unknown);
	tell_step(p, i, index, label, "push_step_failed", true);
	return rc;
}

/* --- items --- */

static struct mr_work_action_steps default_steps(struct mr_ctx *cx, enum mr_work_push_action action)
{
	struct mr_work_action_step *steps = mr_arena_array(cx->arena, 2, sizeof(*steps));

	if (action == MR_WORK_PUSH_SAVE_DRAFT) {
		steps[0] = (struct mr_work_action_step){ .append_to_mailbox_id = "drafts" };
		return (struct mr_work_action_steps){ .items = steps, .len = 1 };
	}
	steps[0] = (struct mr_work_action_step){ .smtp_send = true };
	steps[1] = (struct mr_work_action_step){ .append_to_mailbox_id = "sent" };
	return (struct mr_work_action_steps){ .items = steps, .len = 2 };
}

/* Those of the steps that concern this mail: new mail answers nothing. */
static struct mr_work_action_steps steps_for(struct mr_ctx *cx,
	const struct mr_work_action_steps *all, bool is_reply)
{
	struct mr_work_action_step *steps = mr_arena_array(cx->arena, all->len + 1, sizeof(*steps));
	size_t len = 0;

	for (size_t i = 0; i < all->len; i++)
		if (is_reply || !all->items[i].on_reply_to_message)
			steps[len++] = all->items[i];
	return (struct mr_work_action_steps){ .items = steps, .len = len };
}

static enum mr_code prepare_mail(struct pushing *p, struct item *i)
{
	const struct mr_work_action_steps *configured = i->item.action == MR_WORK_PUSH_SEND
		? &p->config->draft_send
		: &p->config->draft_save;
	const struct mr_work_action_steps usual = default_steps(p->cx, i->item.action);
	enum mr_code rc = mr_work_push_mail_get(p->cx, p->work, &i->item, &i->mail);

	i->has_mail = true;
	i->steps = steps_for(p->cx, configured->len ? configured : &usual, i->mail.is_reply);
	return rc;
}

/* May it still be done? */
static enum mr_code check_messages(struct pushing *p, const struct mr_work_push_item *item)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < item->message_ids.len; i++) {
		const char *id = item->message_ids.items[i];
		struct mr_texts references = { 0 };
		bool may = true;

		if (item->action == MR_WORK_PUSH_ARCHIVE) {
			rc = mr_work_is_archivable(p->cx, p->work, id, NULL, false, &may);
			if (!rc && !may)
				rc = mr_work_refuse(p->cx, MR_WORK_MESSAGE_REFERENCED,
					"%s is needed again: it is not archived on the server", id);
		} else if (item->action == MR_WORK_PUSH_SPAM ||
			item->action == MR_WORK_PUSH_TRASH) {
			rc = mr_work_references(p->cx, p->work, id, item->push_id, &references);
			if (!rc && references.len)
				rc = mr_work_refuse_referenced(p->cx, id, &references);
		}
	}
	return rc;
}

/* The very bytes that would go are those that somebody has approved. */
static enum mr_code check_approval(struct pushing *p, struct item *i)
{
	enum mr_code rc = mr_work_approval_check(p->cx, p->work, p->config, i->item.push_id,
		mr_work_push_content_id(p->cx, p->config, &i->item, &i->mail.out));

	i->is_held = rc != MR_OK;
	return rc;
}

static enum mr_code run_steps(struct pushing *p, struct item *i)
{
	enum mr_code rc;

	if (i->item.kind == MR_WORK_PUSH_OUTBOUND) {
		rc = prepare_mail(p, i);
	} else {
		i->steps = i->item.steps;
		rc = check_messages(p, &i->item);
	}
	if (!rc)
		rc = check_approval(p, i);
	for (size_t k = 0; !rc && k < i->steps.len; k++)
		(void)state_of(p, &i->item, k,
			mr_work_step_label(p->cx->arena, &i->steps.items[k]));
	for (size_t k = 0; !rc && k < i->steps.len; k++)
		rc = run_step(p, i, k);
	return rc;
}

/* The records of the messages say when the last push that concerned them was done. A message that
 * cannot be read is no reason to do it again. */
static void note_completed(struct pushing *p, struct mr_work_change *change,
	const struct mr_texts *message_ids)
{
	struct mr_err kept = p->cx->err;

	for (size_t i = 0; i < message_ids->len; i++) {
		struct mr_work_record record;

		if (mr_work_record_make(p->cx, p->work, message_ids->items[i], &record))
			continue;
		record.last_completed = p->work->now;
		mr_work_change_json(change,
			mr_work_path_record(p->cx->arena, message_ids->items[i]),
			mr_work_record_value(p->cx, &record));
	}
	p->cx->err = kept;
}

static enum mr_code finish(struct pushing *p, struct item *i)
{
	struct mr_work_change change;
	enum mr_code rc = MR_OK;

	mr_work_change_begin(p->cx, p->work, "push_commit", &change);
	if (i->has_mail)
		rc = mr_work_push_mail_finish(p->cx, &change, &i->item, &i->mail);
	if (rc)
		return rc;
	note_completed(p, &change, &i->item.message_ids);
	mr_work_queue_remove(&change, &i->item);
	add_event(p, &change, &i->item, NULL);
	mr_crash_point("work.push.finishing");
	rc = mr_work_carry_out(p->cx, &change);
	p->is_fatal |= rc != MR_OK;
	return rc;
}

/* It stays in the queue, with what went wrong. */
static enum mr_code keep(struct pushing *p, struct item *i)
{
	struct mr_err failure = p->cx->err;
	const struct mr_work_trouble *trouble =
		mr_work_error_is_known(failure.word) ? mr_work_trouble(&failure) : NULL;
	struct mr_work_change change;
	enum mr_code rc;

	tell_item(p, &i->item, "push_item_failed", true);
	p->out->failures[p->out->len++] = (struct mr_work_push_failure){ .push_id = i->item.push_id,
		.error_code = failure.word ? failure.word : "store_error",
		.error = mr_arena_strdup(p->cx->arena, failure.msg),
		.hint = trouble ? trouble->hint : NULL,
		.retryable = mr_code_is_retryable(failure.code) };
	p->out->failed_count++;
	mr_work_change_begin(p->cx, p->work, "push_failed", &change);
	if (!i->is_held) { /* else nothing was tried */
		add_event(p, &change, &i->item, &failure);
		i->item.attempt_count++;
		i->item.last_error = mr_arena_strdup(p->cx->arena, failure.msg);
		mr_work_queue_save(&change, &i->item);
	}
	if (i->has_mail && !mr_work_push_mail_is_fixed(&i->item))
		mr_work_queue_forget_mail(&change, &i->item);
	rc = mr_work_carry_out(p->cx, &change);
	mr_crash_point("work.push.kept");
	return rc;
}

/* The person says that it was not sent, or wants it sent again all the same. */
static void forget_uncertain(struct mr_work_push_item *item)
{
	for (size_t i = 0; i < item->state_count; i++)
		if (item->states[i].status == MR_WORK_STEP_PENDING)
			item->states[i] =
				(struct mr_work_step_state){ .index = item->states[i].index,
					.label = item->states[i].label };
}

static enum mr_code run_item(struct pushing *p, const struct mr_work_push_item *item)
{
	struct item i = { .item = *item };
	enum mr_code rc = MR_OK;

	tell_item(p, item, "push_item_start", false);
	if (mr_str_eq(p->request->resend, item->push_id)) {
		forget_uncertain(&i.item);
		rc = save(p, &i.item, "push_resend");
	}
	if (!rc)
		rc = run_steps(p, &i);
	if (!rc)
		rc = finish(p, &i);
	if (p->is_fatal)
		return rc;
	if (rc)
		return keep(p, &i);
	p->out->pushed_count++;
	tell_item(p, item, "push_item_done", false);
	return MR_OK;
}

/* --- the whole --- */

static const struct mr_value *result_fields(struct mr_ctx *cx,
	const struct mr_work_push_pushed *pushed)
{
	struct mr_out out;

	mr_out_init_tree(&out, cx->arena);
	mr_out_map(&out, NULL);
	mr_out_text(&out, "code", "push_result");
	mr_out_bool(&out, "confirmed", pushed->confirmed);
	mr_out_int(&out, "pushed_count", pushed->pushed_count);
	mr_out_int(&out, "failed_count", pushed->failed_count);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static void tell_start(struct pushing *p)
{
	struct mr_out out;

	begin_phase(p, &out);
	mr_out_int(&out, "item_count", (int64_t)p->count);
	end_phase(p, &out, "push_start");
}

static void tell_done(struct pushing *p)
{
	struct mr_out out;

	begin_phase(p, &out);
	mr_out_int(&out, "pushed_count", p->out->pushed_count);
	mr_out_int(&out, "failed_count", p->out->failed_count);
	end_phase(p, &out, "push_done");
}

/* Only what was looked at may happen. */
static enum mr_code check_plan(struct pushing *p)
{
	struct mr_work_push_previewed now = { 0 };
	enum mr_code rc;

	if (!p->request->plan_id)
		return MR_OK;
	rc = mr_work_push_preview(p->cx, p->work, p->request, &now);
	if (!rc && !mr_str_eq(now.plan_id, p->request->plan_id))
		rc = mr_work_refuse(p->cx, MR_WORK_PUSH_PLAN_CHANGED,
			"%s is not what a push would do now; nothing was done",
			p->request->plan_id);
	return rc;
}

static enum mr_code check_resend(struct pushing *p)
{
	struct mr_work_push_item item = { 0 };
	enum mr_code rc;

	if (!p->request->resend)
		return MR_OK;
	rc = mr_work_queue_find(p->cx, p->work, p->request->resend, &item);
	if (!rc && (!mr_work_push_uncertain_step(&item) || item.action != MR_WORK_PUSH_SEND))
		rc = mr_work_refuse(p->cx, MR_WORK_INVALID_REQUEST,
			"%s is not uncertain: a push sends it without --resend", item.push_id);
	return rc;
}

/* Items that cannot be read stay where they are, and the others have their turn. */
static void fail_broken(struct pushing *p, const struct mr_work_push_items *queue)
{
	for (size_t i = 0; !p->request->only && i < queue->invalid.len; i += 2) {
		const char *name = strrchr(queue->invalid.items[i], '/') + 1;

		p->out->failures[p->out->len++] =
			(struct mr_work_push_failure){ .push_id = mr_arena_strndup(p->cx->arena,
							       name,
							       strlen(name) - strlen(".json")),
				.error_code = mr_work_error_word(MR_WORK_PUSH_ITEM_INVALID),
				.error = queue->invalid.items[i + 1] };
		p->out->failed_count++;
	}
}

static enum mr_code run(struct pushing *p)
{
	struct mr_work_push_items queue = { 0 };
	enum mr_code rc = mr_work_queue_load(p->cx, p->work, &queue);

	for (size_t i = 0; !rc && i < queue.len; i++)
		p->count += mr_work_push_is_wanted(&queue.items[i], p->request);
	tell_start(p);
	if (!rc)
		rc = mr_work_push_check_only(p->cx, p->request, &queue);
	if (!rc)
		rc = check_resend(p);
	if (!rc)
		rc = check_plan(p);
	if (!rc && p->count)
		rc = mr_work_config_get(p->cx, p->work, &p->config);
	p->imap.config = p->config;
	p->out->failures = mr_arena_array(p->cx->arena, queue.len + queue.invalid.len + 1,
		sizeof(*p->out->failures));
	if (!rc)
		fail_broken(p, &queue);
	for (size_t i = 0; !rc && i < queue.len; i++) {
		if (!mr_work_push_is_wanted(&queue.items[i], p->request))
			continue;
		if (p->cx->progress)
			p->cx->progress(p->cx->progress_arg, "pushing", p->index, p->count);
		p->index++;
		rc = run_item(p, &queue.items[i]);
	}
	mr_imap_closep(&p->imap.session);
	if (!rc)
		tell_done(p);
	return rc;
}

enum mr_code mr_work_push_confirm(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_pushed *result)
{
	struct mr_work_push_pushed pushed = { .confirmed = true };
	struct mr_work_progress progress;
	struct pushing p = { .cx = cx,
		.work = work,
		.request = request,
		.imap = { .cx = cx, .work = work, .environment = request->environment },
		.progress = &progress,
		.out = &pushed };
	enum mr_code rc = mr_work_push_check(cx, request);

	if (rc)
		return rc;
	mr_work_progress_start(cx, work, "push", &progress);
	rc = run(&p);
	if (rc)
		mr_work_progress_failed(&progress);
	else
		mr_work_progress_done(&progress, result_fields(cx, &pushed));
	if (!rc)
		*result = pushed;
	return rc;
}
