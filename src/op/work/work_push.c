/* op/work/work_push.c - operations: what is queued for the server, and done there. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/push.h"

#include <stdlib.h>

/* --- push --- */

/* A preview, or what a confirmed push did. */
struct pushed {
	const char *code;
	bool is_preview, is_done;
	bool is_ours;        /* with what the contract of afmail does not have */
	const char *plan_id; /* NULL as afmail, whose contract has none */
	struct mr_work_push_previewed preview;
	struct mr_work_push_pushed done;
};

static const struct mr_param push_params[] = {
	MR_PARAM(struct mr_work_push_preview, dry_run, "dry_run",
		.summary = "only show what would be done; so it is without --confirm, too"),
	/* What leaves this machine is for a person to decide, never for a client of a server. */
	MR_PARAM(struct mr_work_push_preview, confirm, "confirm", .flags = MR_CLI_ONLY,
		.summary = "carry it out on the server"),
	MR_PARAM(struct mr_work_push_preview, plan_id, "plan_id",
		.flags = MR_CLI_ONLY | MR_POSITIONAL,
		.summary = "with --confirm: the plan that was looked at, and nothing else"),
	MR_PARAM(struct mr_work_push_preview, only, "only", .summary = "this queued item alone"),
	MR_PARAM(struct mr_work_push_preview, resend, "resend", .flags = MR_CLI_ONLY,
		.summary =
			"with --confirm: send the mail of this item again, though it may have gone"),
	{ 0 },
};

#define ROW_FIELD(member, about) MR_WORK_FIELD(struct mr_work_push_row, member, about)
#define ROW_NULL(member, about)  MR_WORK_FIELD_NULL(struct mr_work_push_row, member, about)
#define ROW_OUT(member, about)                                                                     \
	MR_WORK_FIELD_WHEN(struct mr_work_push_row, member, is_outbound, about)
/* What the contract of afmail does not have. */
static const struct mr_field approval_fields[] = {
	MR_WORK_FIELD_OPT(struct mr_work_push_row, content_id,
		"stands for exactly this content, to approve it or to send it back"),
	ROW_FIELD(approval, "waiting, approved, refused, or changed since either"),
	MR_WORK_FIELD_OPT(struct mr_work_push_row, approval_reason, "why it was sent back"),
	MR_WORK_FIELD_OPT(struct mr_work_push_row, decided_rfc3339,
		"when it was approved or sent back"),
	{ 0 },
};

static const struct mr_field row_fields[] = {
	ROW_FIELD(push_id, "the queued item"),
	ROW_FIELD(kind, "outbound or message_action"),
	ROW_FIELD(display_kind, "the same, with what is done"),
	ROW_FIELD(actions, "its steps, in their order"),
	MR_WORK_FIELD_WHEN(struct mr_work_push_row, message_ids, has_messages,
		"the messages that it concerns"),
	MR_WORK_FIELD_WHEN(struct mr_work_push_row, message_subjects, has_messages,
		"what they are about"),
	ROW_NULL(action, "of a draft: save_draft or send"),
	ROW_NULL(case_uid, "of a draft: its case"),
	ROW_NULL(draft_name, "of a draft: its file name"),
	ROW_OUT(to, "of a draft: its recipients"),
	ROW_OUT(cc, "of a draft: those who get a copy"),
	ROW_OUT(subject, "of a draft: its subject"),
	ROW_OUT(identity, "of a draft: who sends it"),
	ROW_OUT(attachments, "of a draft: files that go with it"),
	ROW_OUT(draft_valid, "of a draft: it can be sent as it is"),
	MR_WORK_FIELD_OPT(struct mr_work_push_row, draft_error, "of a draft: why it cannot"),
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = approval_fields,
		.from = MR_FROM_SAME(struct mr_work_push_row),
		.when = MR_FLAG(struct mr_work_push_row, has_messages) },
	{ 0 },
};

static const struct mr_field preview_fields[] = {
	MR_WORK_FIELD(struct mr_work_push_previewed, confirmed, "false: nothing was carried out"),
	MR_WORK_FIELD(struct mr_work_push_previewed, hint, "how to carry it out"),
	MR_WORK_FIELD(struct mr_work_push_previewed, count, "how many items are queued"),
	MR_FIELD_ROWS(struct mr_work_push_previewed, items, len, struct mr_work_push_row,
		row_fields, "items", .summary = "in the order they would be carried out"),
	MR_WORK_FIELD_OPT(struct mr_work_push_previewed, invalid_paths,
		"files of the queue that cannot be read; `push drop` takes them out"),
	{ 0 },
};

#define FAILURE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_push_failure, member, about)
static const struct mr_field failure_fields[] = {
	FAILURE_FIELD(push_id, "the queued item"),
	FAILURE_FIELD(error_code, "the kind of failure"),
	FAILURE_FIELD(error, "what went wrong"),
	MR_WORK_FIELD_OPT(struct mr_work_push_failure, hint, "what to do"),
	MR_WORK_FIELD_WHEN(struct mr_work_push_failure, retryable, retryable,
		"the next push may succeed without a change"),
	{ 0 },
};

static const struct mr_field done_fields[] = {
	MR_WORK_FIELD(struct mr_work_push_pushed, confirmed, "true"),
	MR_WORK_FIELD(struct mr_work_push_pushed, pushed_count, "items that were carried out"),
	MR_WORK_FIELD(struct mr_work_push_pushed, failed_count, "items that failed"),
	MR_FIELD_ROWS(struct mr_work_push_pushed, failures, len, struct mr_work_push_failure,
		failure_fields, "failures", .summary = "which, and why"),
	{ 0 },
};

static const struct mr_field waiting_fields[] = {
	MR_WORK_FIELD(struct mr_work_push_previewed, approval_required,
		"a push carries out only what a person has approved"),
	MR_WORK_FIELD(struct mr_work_push_previewed, waiting_count,
		"items that nobody has approved or sent back"),
	{ 0 },
};

static const struct mr_field push_fields[] = {
	MR_WORK_FIELD(struct pushed, code, "push_dry_run, or push_result with --confirm"),
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = preview_fields,
		.from = MR_FROM_STRUCT(struct pushed, preview, struct mr_work_push_previewed),
		.when = MR_FLAG(struct pushed, is_preview) },
	MR_WORK_FIELD_OPT(struct pushed, plan_id,
		"another one as soon as a push would do something else"),
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = waiting_fields,
		.from = MR_FROM_STRUCT(struct pushed, preview, struct mr_work_push_previewed),
		.when = MR_FLAG(struct pushed, is_ours) },
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = done_fields,
		.from = MR_FROM_STRUCT(struct pushed, done, struct mr_work_push_pushed),
		.when = MR_FLAG(struct pushed, is_done) },
	{ 0 },
};

/* A preview shares the workspace with other readers; a confirmed push has it alone. */
static enum mr_code push(struct mr_call *call, struct mr_work_push_preview *request,
	struct pushed *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	bool is_done = request->confirm && !request->dry_run;
	enum mr_code rc =
		mr_contract_work_open(call, is_done ? MR_WORK_WRITE : MR_WORK_READ, &work);

	if (rc)
		return rc;
	*result = (struct pushed){ .code = is_done ? "push_result" : "push_dry_run",
		.is_preview = !is_done,
		.is_done = is_done };
	request->environment = getenv;
	if (is_done)
		return mr_work_push_confirm(&call->cx, work, request, &result->done);
	rc = mr_work_push_preview(&call->cx, work, request, &result->preview);
	if (!rc && mr_contract_work_is_ours(call)) {
		result->is_ours = true;
		result->plan_id = result->preview.plan_id;
		mr_work_push_name_messages(&call->cx, work, &result->preview);
	}
	return rc;
}
MR_BIND_ALONE(pushing, push, struct mr_work_push_preview, struct pushed);

const struct mr_op mr_op_work_push = {
	.name = "work_push",
	.command = "work push",
	.summary = "Show what is queued for the server; with --confirm, carry it out",
	.params = push_params,
	.result = push_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &pushing,
	.render = mr_render_work_push,
};

/* --- the same, limited to a kind: older names --- */

#define KIND_OP(word, kind_word)                                                                   \
	static enum mr_code push_##word(struct mr_call *call,                                      \
		struct mr_work_push_preview *request, struct pushed *result)                       \
	{                                                                                          \
		request->kind = (kind_word);                                                       \
		return push(call, request, result);                                                \
	}                                                                                          \
	MR_BIND_ALONE(pushing_##word, push_##word, struct mr_work_push_preview, struct pushed);    \
	const struct mr_op mr_op_work_push_##word = {                                              \
		.name = "work_push_" #word,                                                        \
		.command = "work push " kind_word,                                                 \
		.summary = "The same of one kind: " kind_word,                                     \
		.params = push_params,                                                             \
		.result = push_fields,                                                             \
		.surfaces = MR_ON_CLI,                                                             \
		.traits = MR_ABROAD | MR_HIDDEN,                                                   \
		.contract = &mr_contract_work,                                                     \
		.cluster = "workspace",                                                            \
		.bind = &pushing_##word,                                                           \
		.render = mr_render_work_push,                                                     \
	}

KIND_OP(drafts, "drafts");
KIND_OP(drafts_send, "drafts-send");
KIND_OP(archive, "archive");
KIND_OP(spam, "spam");
KIND_OP(trash, "trash");

/* --- list --- */

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_push_listed, count, "how many items are queued"),
	{ .name = "items",
		.type = MR_TYPE_LIST,
		.summary = "the items as their files hold them",
		.from = MR_FROM(struct mr_work_push_listed, items) },
	{ 0 },
};

static enum mr_code list(struct mr_ctx *cx, struct mr_work *work, const struct mr_nothing *request,
	struct mr_work_push_listed *result)
{
	(void)request;
	return mr_work_push_list(cx, work, result);
}
MR_WORK_BIND(listing, list, struct mr_nothing, struct mr_work_push_listed);

const struct mr_op mr_op_work_push_list = {
	.name = "work_push_list",
	.command = "work push list",
	.summary = "List the queued items in full",
	.code = "push_list",
	.result = list_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_work_push_items,
};

/* --- drop --- */

static const struct mr_param drop_params[] = {
	MR_PARAM(struct mr_work_push_drop, push_id, "push_id", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the queued item"),
	MR_WORK_REASON_PARAM(struct mr_work_push_drop),
	{ 0 },
};

#define DROPPED(member, about) MR_WORK_FIELD(struct mr_work_push_dropped, member, about)
static const struct mr_field drop_fields[] = {
	DROPPED(push_id, "the item"),
	MR_WORK_FIELD_NULL(struct mr_work_push_dropped, kind,
		"outbound or message_action; null: it could not be read"),
	MR_WORK_FIELD_NULL(struct mr_work_push_dropped, action, "what would have been done"),
	DROPPED(message_ids, "to which messages"),
	{ 0 },
};

MR_WORK_BIND(dropping, mr_work_push_drop, struct mr_work_push_drop, struct mr_work_push_dropped);

const struct mr_op mr_op_work_push_drop = {
	.name = "work_push_drop",
	.command = "work push drop",
	.summary = "Take an item out of the queue",
	.help = "What was decided here stays as it is: only the server is not told. An item of "
		"which a step has succeeded stays in the queue.",
	.code = "push_dropped",
	.params = drop_params,
	.result = drop_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &dropping,
	.render = mr_render_work_dropped,
};

/* --- recover --- */

static const struct mr_param recover_params[] = {
	MR_PARAM(struct mr_work_push_recover, push_id, "push_id", .flags = MR_POSITIONAL,
		.summary = "the queued item; without one they are listed"),
	MR_PARAM(struct mr_work_push_recover, sent, "sent", .summary = "its mail has arrived"),
	MR_PARAM(struct mr_work_push_recover, not_sent, "not_sent",
		.summary = "its mail has not arrived: the next push sends it"),
	MR_WORK_REASON_PARAM(struct mr_work_push_recover),
	{ 0 },
};

#define UNCERTAIN(member, about) MR_WORK_FIELD(struct mr_work_push_uncertain, member, about)
static const struct mr_field uncertain_fields[] = {
	UNCERTAIN(push_id, "the queued item"),
	UNCERTAIN(case_uid, "the case of its draft"),
	UNCERTAIN(draft_name, "the draft's file name"),
	MR_WORK_FIELD_OPT(struct mr_work_push_uncertain, message_id, "the mail's id here"),
	MR_WORK_FIELD_OPT(struct mr_work_push_uncertain, subject, "the mail's subject"),
	UNCERTAIN(started_rfc3339, "when it was handed over"),
	UNCERTAIN(to, "who would have got it"),
	{ 0 },
};

static const struct mr_field uncertain_list_fields[] = {
	MR_WORK_FIELD(struct mr_work_push_recovered, count, "how many there are"),
	MR_FIELD_ROWS(struct mr_work_push_recovered, items, len, struct mr_work_push_uncertain,
		uncertain_fields, "items", .summary = "mails that may have been sent"),
	{ 0 },
};

#define RECOVERED(member, about) MR_WORK_FIELD(struct mr_work_push_recovered, member, about)
static const struct mr_field recovered_one_fields[] = {
	RECOVERED(push_id, "the item"),
	RECOVERED(outcome, "sent or not_sent"),
	RECOVERED(case_uid, "the case of its draft"),
	RECOVERED(draft_name, "the draft's file name"),
	MR_WORK_FIELD_OPT(struct mr_work_push_recovered, message_id,
		"the message that was recorded, of a mail that was sent"),
	{ 0 },
};

static const struct mr_field recover_fields[] = {
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = uncertain_list_fields,
		.from = MR_FROM_SAME(struct mr_work_push_recovered),
		.when = MR_FLAG(struct mr_work_push_recovered, is_list) },
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = recovered_one_fields,
		.from = MR_FROM_SAME(struct mr_work_push_recovered),
		.when = MR_FLAG(struct mr_work_push_recovered, is_one) },
	{ 0 },
};

MR_WORK_BIND(recovering, mr_work_push_recover, struct mr_work_push_recover,
	struct mr_work_push_recovered);

const struct mr_op mr_op_work_push_recover = {
	.name = "work_push_recover",
	.command = "work push recover",
	.summary = "List mails that may have been sent, or say whether one has arrived",
	.help = "A mail is uncertain when the connection, or the program, ended after it was handed "
		"over and before the server's answer. A push never sends such a mail again by "
		"itself.",
	.code = "push_recovered",
	.params = recover_params,
	.result = recover_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &recovering,
	.render = mr_render_work_recovered,
};
