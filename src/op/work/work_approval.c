/* op/work/work_approval.c - operations: a person reads what is queued, approves it or sends it
 * back. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/push.h"

/* --- show --- */

static const struct mr_param show_params[] = {
	MR_PARAM(struct mr_work_push_show, push_ids, "push_id", .flags = MR_POSITIONAL,
		.summary = "queued items; without one, all"),
	{ 0 },
};

#define FILE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_push_file, member, about)
static const struct mr_field file_fields[] = {
	FILE_FIELD(filename, "its name"),
	FILE_FIELD(content_type, "what it is"),
	FILE_FIELD(size_bytes, "its size"),
	{ 0 },
};

static const struct mr_field change_fields[] = {
	MR_WORK_FIELD(struct mr_work_push_change, message_id, "the message"),
	MR_WORK_FIELD_OPT(struct mr_work_push_change, subject, "what it is about"),
	MR_WORK_FIELD_OPT(struct mr_work_push_change, from, "who sent it"),
	MR_WORK_FIELD(struct mr_work_push_change, mailbox_name, "the mailbox that it is in"),
	{ 0 },
};

#define ROW(member, about)     MR_WORK_FIELD(struct mr_work_push_row, member, about)
#define ROW_OPT(member, about) MR_WORK_FIELD_OPT(struct mr_work_push_row, member, about)
#define ROW_OUT(member, about)                                                                     \
	MR_WORK_FIELD_WHEN(struct mr_work_push_row, member, is_outbound, about)
static const struct mr_field row_fields[] = {
	ROW(push_id, "the queued item"),
	ROW(display_kind, "outbound, message.spam, ..."),
	ROW(actions, "its steps, in their order"),
	ROW_OPT(content_id, "stands for exactly this content: what is approved or sent back"),
	ROW(approval, "waiting, approved, refused, or changed since either"),
	ROW_OPT(approval_reason, "why it was sent back"),
	ROW_OPT(decided_rfc3339, "when it was approved or sent back"),
	ROW_OPT(action, "of a mail: save_draft or send"),
	ROW_OPT(case_uid, "of a mail: its case"),
	ROW_OPT(draft_name, "of a mail: its draft"),
	ROW_OUT(to, "of a mail: its recipients"),
	ROW_OUT(cc, "of a mail: those who get a copy"),
	ROW_OUT(subject, "of a mail: its subject"),
	ROW_OPT(draft_error, "of a mail: why it cannot be sent as it is"),
	{ 0 },
};

#define READ_OPT(member, about) MR_WORK_FIELD_OPT(struct mr_work_push_read, member, about)
static const struct mr_field read_fields[] = {
	MR_MEMBERS(struct mr_work_push_read, row, struct mr_work_push_row, row_fields),
	READ_OPT(from, "of a mail: who sends it"),
	READ_OPT(text, "of a mail: what it says, as it would go out now"),
	{ .name = "files",
		.type = MR_TYPE_LIST,
		.flags = MR_OPTIONAL,
		.summary = "of a mail: what is attached",
		.fields = file_fields,
		.from = MR_FROM_ROWS(struct mr_work_push_read, files, file_count,
			struct mr_work_push_file) },
	READ_OPT(new_recipients,
		"of a mail: addresses that no mail of this workspace went to before"),
	{ .name = "changes",
		.type = MR_TYPE_LIST,
		.flags = MR_OPTIONAL,
		.summary = "what is changed on the server",
		.fields = change_fields,
		.from = MR_FROM_ROWS(struct mr_work_push_read, changes, change_count,
			struct mr_work_push_change) },
	{ 0 },
};

#define SHOWN(member, about) MR_WORK_FIELD(struct mr_work_push_shown, member, about)
static const struct mr_field show_fields[] = {
	SHOWN(count, "how many items are shown"),
	SHOWN(waiting_count, "items that nobody has approved or sent back, of the whole queue"),
	SHOWN(approval_required, "a push carries out only what a person has approved"),
	SHOWN(plan_id, "stands for the whole queue"),
	MR_FIELD_ROWS(struct mr_work_push_shown, items, len, struct mr_work_push_read, read_fields,
		"items", .summary = "in the order they would be carried out"),
	MR_WORK_FIELD_OPT(struct mr_work_push_shown, invalid_paths,
		"files of the queue that cannot be read; `push drop` takes them out"),
	{ 0 },
};

MR_WORK_BIND(showing, mr_work_push_show, struct mr_work_push_show, struct mr_work_push_shown);

const struct mr_op mr_op_work_push_show = {
	.name = "work_push_show",
	.command = "work push show",
	.summary =
		"Show queued items in full: each mail as it would be sent, each change on the server",
	.code = "push_shown",
	.params = show_params,
	.result = show_fields,
	MR_WORK_OP,
	.bind = &showing,
	.render = mr_render_work_push_shown,
};

/* --- approve, refuse --- */

/* Not tools: what may leave this machine is for a person to decide. */

#define IDS_PARAM(about)                                                                           \
	MR_PARAM(struct mr_work_push_decide, ids, "id", .flags = MR_REQUIRED | MR_POSITIONAL,      \
		.summary = (about))
static const struct mr_param approve_params[] = {
	IDS_PARAM("content ids of items, or the plan id of all, as `push show` prints them"),
	{ 0 },
};
static const struct mr_param refuse_params[] = {
	IDS_PARAM("content ids of items, or the plan id of all, as `push show` prints them"),
	MR_PARAM(struct mr_work_push_decide, reason, "reason",
		.summary = "what has to be another way; needed"),
	{ 0 },
};

#define DECIDED(member, about) MR_WORK_FIELD(struct mr_work_push_decided, member, about)
static const struct mr_field decided_fields[] = {
	DECIDED(count, "how many items"),
	DECIDED(push_ids, "which"),
	DECIDED(content_ids, "what stands for their contents"),
	{ 0 },
};

MR_WORK_BIND(approving, mr_work_push_approve, struct mr_work_push_decide,
	struct mr_work_push_decided);
MR_WORK_BIND(refusing, mr_work_push_refuse, struct mr_work_push_decide,
	struct mr_work_push_decided);

const struct mr_op mr_op_work_push_approve = {
	.name = "work_push_approve",
	.command = "work push approve",
	.summary = "Approve queued items exactly as they are now",
	.help = "What is approved is the content that the id stands for, to the last byte. When a "
		"draft, a recipient, an attachment or a setting is another one afterwards, the item "
		"waits for approval again. With `config set audit.approval_mode required`, `push "
		"--confirm` carries out nothing else.",
	.code = "push_approved",
	.params = approve_params,
	.result = decided_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &approving,
	.render = mr_render_work_push_approved,
};

const struct mr_op mr_op_work_push_refuse = {
	.name = "work_push_refuse",
	.command = "work push refuse",
	.summary = "Send queued items back, with a reason",
	.help = "No push carries out what was sent back. It stays in the queue with the reason until "
		"its draft is changed, which asks for approval again, or it is dropped.",
	.code = "push_refused",
	.params = refuse_params,
	.result = decided_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &refusing,
	.render = mr_render_work_push_refused,
};
