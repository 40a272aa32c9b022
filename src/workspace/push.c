/* workspace/push.c - shows what a push would do, and drops items of the queue. */
#include "workspace/push.h"

#include "text/digest.h"
#include "workspace/draft.h"
#include "workspace/error.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/layout.h"
#include "workspace/push_approval.h"
#include "workspace/push_content.h"
#include "workspace/push_mail.h"
#include "workspace/refresh.h"

#include <string.h>

static const char *const kind_names[] = { "outbound", "message_action" };

/* --- kinds --- */

static const struct {
	const char *kind;
	enum mr_work_push_action action;
} kinds[] = {
	{ "drafts", MR_WORK_PUSH_SAVE_DRAFT },
	{ "drafts-send", MR_WORK_PUSH_SEND },
	{ "archive", MR_WORK_PUSH_ARCHIVE },
	{ "spam", MR_WORK_PUSH_SPAM },
	{ "trash", MR_WORK_PUSH_TRASH },
};

bool mr_work_push_is_of_kind(const struct mr_work_push_item *item, const char *kind)
{
	if (!kind)
		return true;
	for (size_t i = 0; i < MR_LEN(kinds); i++)
		if (mr_str_eq(kinds[i].kind, kind))
			return item->action == kinds[i].action;
	return false;
}

bool mr_work_push_is_wanted(const struct mr_work_push_item *item,
	const struct mr_work_push_preview *request)
{
	return mr_work_push_is_of_kind(item, request->kind) &&
		(!request->only || mr_str_eq(request->only, item->push_id));
}

enum mr_code mr_work_push_check_only(struct mr_ctx *cx, const struct mr_work_push_preview *request,
	const struct mr_work_push_items *queue)
{
	if (!request->only)
		return MR_OK;
	for (size_t i = 0; i < queue->len; i++)
		if (mr_work_push_is_wanted(&queue->items[i], request))
			return MR_OK;
	return mr_work_refuse(cx, MR_WORK_PUSH_NOT_FOUND, "%s is not queued", request->only);
}

enum mr_code mr_work_push_check(struct mr_ctx *cx, const struct mr_work_push_preview *request)
{
	if (request->dry_run && request->confirm)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--dry-run and --confirm cannot be given together");
	if ((request->plan_id || request->resend) && !request->confirm)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"%s is for a push with --confirm",
			request->plan_id ? "a plan id" : "--resend");
	if (!request->kind)
		return MR_OK;
	for (size_t i = 0; i < MR_LEN(kinds); i++)
		if (mr_str_eq(kinds[i].kind, request->kind))
			return MR_OK;
	return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
		"%s is no kind of queued work: drafts, drafts-send, archive, spam, trash",
		request->kind);
}

/* --- preview --- */

static void put_default_steps(enum mr_work_push_action action, struct mr_texts *out)
{
	if (action == MR_WORK_PUSH_SEND) {
		mr_work_ids_put(out, "smtp_send");
		mr_work_ids_put(out, "append_to_mailbox_id_sent");
	} else {
		mr_work_ids_put(out, "append_to_mailbox_id_drafts");
	}
}

static void put_steps(struct mr_arena *arena, const struct mr_work_action_steps *steps,
	bool is_reply, struct mr_texts *out)
{
	for (size_t i = 0; i < steps->len; i++)
		if (is_reply || !steps->items[i].on_reply_to_message)
			mr_work_ids_put(out, mr_work_step_label(arena, &steps->items[i]));
}

/* The mail as it would go out now; a broken draft is shown with what is wrong. */
static void show_draft(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_item *item, struct mr_digest *plan, struct mr_work_push_row *row,
	struct mr_work_outbound *out, bool *is_reply)
{
	struct mr_work_outbound mail = { 0 };
	struct mr_err kept = cx->err;
	struct mr_work_draft draft;
	enum mr_code rc = mr_work_draft_open(cx, work, item->case_uid, item->draft_name, &draft);

	row->to = draft.file.to;
	row->cc = draft.file.cc;
	row->attachments = draft.file.attachments;
	row->subject = draft.file.subject;
	row->identity = draft.file.identity;
	*is_reply = draft.file.reply_to_message_id && !mr_str_eq(draft.file.send_intent, "new");
	if (!rc) /* a date that is always the same: the plan does not change with the time */
		rc = mr_work_draft_build(cx, work, &draft, item, 0, &mail);
	if (mr_work_push_mail_is_fixed(item)) { /* this goes out, whatever the draft says now */
		struct mr_work_push_mail fixed = { 0 };
		enum mr_code loaded = mr_work_push_mail_load(cx, work, item, &fixed);

		if (!loaded && fixed.out.bytes.data) {
			mail = fixed.out;
			rc = MR_OK;
		}
	}
	row->draft_valid = !rc;
	row->draft_error = rc ? mr_arena_strdup(cx->arena, cx->err.msg) : NULL;
	cx->err = kept;
	mr_work_push_add_text(plan, row->draft_error);
	for (size_t i = 0; i < mail.to.len; i++)
		mr_work_push_add_text(plan, mail.to.items[i]);
	mr_digest_add(plan, mail.bytes.data, mail.bytes.len);
	row->mail = mail.bytes;
	row->recipients = mail.to;
	*out = mail;
}

static void show_approval(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_config *config, const struct mr_work_push_item *item,
	const struct mr_work_outbound *mail, struct mr_work_push_row *row)
{
	struct mr_work_approval said;

	if (!row->is_outbound || row->draft_valid)
		row->content_id = mr_work_push_content_id(cx, config, item, mail);
	mr_work_approval_get(cx, work, item->push_id, row->content_id, &said);
	row->approval = mr_work_approval_names[said.state];
	row->approval_reason = said.reason;
	row->decided_rfc3339 = said.decided;
}

static void show_item(struct mr_ctx *cx, struct mr_work *work, const struct mr_work_config *config,
	const struct mr_work_push_item *item, struct mr_digest *plan, struct mr_work_push_row *row)
{
	const struct mr_work_action_steps *steps = &item->steps;
	struct mr_work_outbound mail = { 0 };
	bool is_reply = true;

	*row = (struct mr_work_push_row){ .push_id = item->push_id,
		.kind = kind_names[item->kind],
		.display_kind = mr_work_push_display_kind(item),
		.message_ids = item->message_ids,
		.is_outbound = item->kind == MR_WORK_PUSH_OUTBOUND };
	mr_work_push_add_value(cx, plan, item->document);
	if (row->is_outbound) {
		row->action = mr_work_push_action_names[item->action];
		row->case_uid = item->case_uid;
		row->draft_name = item->draft_name;
		steps = item->action == MR_WORK_PUSH_SEND ? &config->draft_send
							  : &config->draft_save;
		mr_work_push_add_value(cx, plan, steps->document);
		show_draft(cx, work, item, plan, row, &mail, &is_reply);
	}
	show_approval(cx, work, config, item, &mail, row);
	row->actions = mr_work_ids_room(cx->arena, steps->len + 2);
	if (row->is_outbound && !steps->len)
		put_default_steps(item->action, &row->actions);
	put_steps(cx->arena, steps, is_reply, &row->actions);
}

enum mr_code mr_work_push_preview(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_preview *request, struct mr_work_push_previewed *result)
{
	const struct mr_work_config *config = NULL;
	struct mr_work_push_items queue = { 0 };
	struct mr_work_push_previewed shown = { 0 };
	struct mr_digest *plan;
	enum mr_code rc = mr_work_push_check(cx, request);

	if (!rc)
		rc = mr_work_config_get(cx, work, &config);
	if (!rc)
		rc = mr_work_queue_load(cx, work, &queue);
	if (!rc)
		rc = mr_work_push_check_only(cx, request, &queue);
	if (rc)
		return rc;
	shown.invalid_paths = mr_work_ids_room(cx->arena, queue.invalid.len / 2);
	for (size_t i = 0; i < queue.invalid.len; i += 2)
		mr_work_ids_put(&shown.invalid_paths, queue.invalid.items[i]);
	shown.items = mr_arena_array(cx->arena, queue.len + 1, sizeof(*shown.items));
	plan = mr_digest_begin_sha256();
	mr_work_push_add_config(cx, plan, config);
	mr_work_push_add_text(plan, request->kind);
	mr_work_push_add_text(plan, request->only);
	for (size_t i = 0; i < queue.len; i++) {
		struct mr_work_push_row *row = &shown.items[shown.len];

		if (!mr_work_push_is_wanted(&queue.items[i], request))
			continue;
		show_item(cx, work, config, &queue.items[i], plan, row);
		shown.waiting_count += !mr_str_eq(row->approval, "approved") &&
			!mr_str_eq(row->approval, "refused");
		shown.len++;
	}
	shown.approval_required = config->approval_required;
	shown.plan_id =
		mr_arena_printf(cx->arena, "plan_%.32s", mr_digest_end_hex(cx->arena, plan));
	shown.count = (int64_t)shown.len;
	shown.hint = mr_arena_printf(cx->arena,
		"%s. Carry out exactly this with `afmail push%s%s --confirm %s`.",
		mr_str_eq(request->kind, "drafts-send") ? "No mail was sent"
							: "No remote changes were made",
		request->kind ? " " : "", request->kind ? request->kind : "", shown.plan_id);
	*result = shown;
	return MR_OK;
}

void mr_work_push_name_messages(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_previewed *shown)
{
	struct mr_err kept = cx->err;
	bool has_index = !mr_work_index_open(cx, work);

	for (size_t i = 0; i < shown->len; i++) {
		struct mr_work_push_row *row = &shown->items[i];

		row->has_messages = true;
		row->message_subjects = mr_work_ids_room(cx->arena, row->message_ids.len);
		for (size_t k = 0; k < row->message_ids.len; k++) {
			struct mr_work_brief brief = { 0 };

			if (!has_index ||
				mr_work_index_message(cx, work, row->message_ids.items[k], &brief))
				brief.subject = NULL;
			mr_work_ids_put(&row->message_subjects, brief.subject ? brief.subject : "");
		}
	}
	cx->err = kept;
}

/* --- list --- */

enum mr_code mr_work_push_list(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_push_listed *result)
{
	struct mr_work_push_items queue = { 0 };
	struct mr_out out;
	enum mr_code rc = mr_work_queue_load_strict(cx, work, &queue);

	if (rc)
		return rc;
	mr_out_init_tree(&out, cx->arena);
	mr_out_list(&out, NULL);
	for (size_t i = 0; i < queue.len; i++)
		mr_out_value(&out, NULL, queue.items[i].document);
	mr_out_end(&out);
	*result = (struct mr_work_push_listed){ (int64_t)queue.len, mr_out_tree(&out) };
	return MR_OK;
}

/* --- drop --- */

static void add_event(struct mr_ctx *cx, struct mr_work_change *change,
	const struct mr_work_push_item *item, const char *reason)
{
	struct mr_work_target *targets =
		mr_arena_array(cx->arena, item->message_ids.len + 3, sizeof(*targets));
	struct mr_work_event event;
	size_t len = 0;

	targets[len++] = (struct mr_work_target){ "push", item->push_id };
	if (item->case_uid)
		targets[len++] = (struct mr_work_target){ "case", item->case_uid };
	for (size_t i = 0; i < item->message_ids.len; i++)
		targets[len++] = (struct mr_work_target){ "message", item->message_ids.items[i] };
	mr_work_event_begin(change, "push_dropped", targets, reason, &event);
	mr_out_text(&event.out, "push_id", item->push_id);
	mr_out_text(&event.out, "push_kind", kind_names[item->kind]);
	mr_out_text(&event.out, "action", mr_work_push_action_names[item->action]);
	if (item->kind == MR_WORK_PUSH_OUTBOUND) {
		mr_out_text(&event.out, "case_uid", item->case_uid);
		mr_out_text(&event.out, "draft_name", item->draft_name);
	} else {
		mr_out_texts(&event.out, "message_ids", &item->message_ids);
	}
	mr_work_event_end(&event);
}

/* An item that cannot be read: whoever drops it has looked at it, nothing else can be done. */
static enum mr_code drop_broken(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_drop *request, struct mr_work_push_dropped *result)
{
	struct mr_work_change change;
	struct mr_work_event event;
	const char *reason = NULL;
	enum mr_code rc = mr_work_reason(cx, work, request->reason, &reason);

	if (rc)
		return rc;
	mr_work_change_begin(cx, work, "push_drop", &change);
	mr_work_change_remove(&change, mr_work_path_push(cx->arena, request->push_id));
	mr_work_event_begin(&change, "push_dropped", MR_WORK_TARGETS({ "push", request->push_id }),
		reason, &event);
	mr_out_text(&event.out, "push_id", request->push_id);
	mr_work_event_end(&event);
	*result = (struct mr_work_push_dropped){ .push_id = request->push_id };
	return mr_work_carry_out(cx, &change);
}

static bool is_broken(const struct mr_err *err)
{
	return mr_str_eq(err->word, mr_work_error_word(MR_WORK_PUSH_ITEM_INVALID)) ||
		mr_str_eq(err->word, mr_work_error_word(MR_WORK_STORE_ERROR));
}

enum mr_code mr_work_push_drop(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_push_drop *request, struct mr_work_push_dropped *result)
{
	struct mr_work_push_item item = { 0 };
	struct mr_work_change change;
	struct mr_err kept = cx->err;
	const char *reason = NULL;
	enum mr_code rc = mr_work_queue_find(cx, work, request->push_id, &item);

	if (rc && is_broken(&cx->err)) {
		cx->err = kept;
		return drop_broken(cx, work, request, result);
	}
	if (!rc)
		rc = mr_work_reason(cx, work, request->reason, &reason);
	if (rc)
		return rc;
	if (mr_work_push_has_succeeded_step(&item))
		return mr_work_refuse(cx, MR_WORK_PUSH_ALREADY_STARTED,
			"a step of %s has succeeded: it cannot be dropped", item.push_id);
	if (item.kind == MR_WORK_PUSH_OUTBOUND && mr_work_push_uncertain_step(&item))
		return mr_work_refuse(cx, MR_WORK_PUSH_ALREADY_STARTED,
			"%s was being carried out when the program ended: its mail may have gone",
			item.push_id);
	mr_work_change_begin(cx, work, "push_drop", &change);
	mr_work_queue_remove(&change, &item);
	add_event(cx, &change, &item, reason);
	*result = (struct mr_work_push_dropped){ item.push_id, kind_names[item.kind],
		mr_work_push_action_names[item.action], item.message_ids };
	return mr_work_carry_out(cx, &change);
}
