/* op/work/work_archive_message.c - operations: single messages in and out of the archive. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/archive.h"

#define CATEGORY_PARAM                                                                             \
	MR_PARAM(struct mr_work_archive_message, archive_ref, "archive_ref",                       \
		.flags = MR_REQUIRED | MR_POSITIONAL,                                              \
		.summary = "the category: its uid, or the name of its directory")
#define SUMMARY_PARAM                                                                              \
	MR_PARAM(struct mr_work_archive_message, summary, "summary", .flags = MR_REQUIRED,         \
		.summary = "what the message says; blank: none, its subject is shown")

/* --- add --- */

static const struct mr_param add_params[] = {
	CATEGORY_PARAM,
	MR_WORK_MESSAGE_PARAM(struct mr_work_archive_message),
	SUMMARY_PARAM,
	MR_WORK_REASON_PARAM(struct mr_work_archive_message),
	{ 0 },
};
/* The older command names the message first. */
static const struct mr_param old_add_params[] = {
	MR_WORK_MESSAGE_PARAM(struct mr_work_archive_message),
	CATEGORY_PARAM,
	SUMMARY_PARAM,
	MR_WORK_REASON_PARAM(struct mr_work_archive_message),
	{ 0 },
};

#define ARCHIVED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_message_archived, member, about)
static const struct mr_field archived_fields[] = {
	ARCHIVED_FIELD(message_id, "the message"),
	ARCHIVED_FIELD(archive_uid, "the category"),
	ARCHIVED_FIELD(path, "the directory of the category"),
	ARCHIVED_FIELD(special_use, "archive"),
	ARCHIVED_FIELD(eligible_message_ids, "that are to be archived on the server too"),
	MR_WORK_QUEUED(struct mr_work_message_archived, queue),
	{ 0 },
};

MR_WORK_BIND(adding, mr_work_archive_add, struct mr_work_archive_message,
	struct mr_work_message_archived);

const struct mr_op mr_op_work_archive_message_add = {
	.name = "work_archive_message_add",
	.command = "work archive message add",
	.summary = "Put a message into a category of the archive",
	.help = "For mail that needs no answer. A message of a conversation belongs into a case.",
	.code = "message_archived",
	.params = add_params,
	.result = archived_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &adding,
	.render = mr_render_message_archived,
};

const struct mr_op mr_op_work_message_archive = {
	.name = "work_message_archive",
	.command = "work message archive",
	.summary = "Put a message into a category of the archive",
	.code = "message_archived",
	.params = old_add_params,
	.result = archived_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.traits = MR_ABROAD | MR_HIDDEN,
	.contract = &mr_contract_work,
	.cluster = "workspace",
	.bind = &adding,
	.render = mr_render_message_archived,
};

/* --- restore --- */

static const struct mr_param restore_params[] = {
	CATEGORY_PARAM,
	MR_WORK_MESSAGE_PARAM(struct mr_work_archive_message),
	MR_WORK_REASON_PARAM(struct mr_work_archive_message),
	{ 0 },
};

static const struct mr_field restored_fields[] = {
	MR_WORK_FIELD(struct mr_work_message_restored, message_id, "the message"),
	MR_WORK_FIELD(struct mr_work_message_restored, archive_uid, "the category that it was in"),
	MR_WORK_FIELD(struct mr_work_message_restored, triage_path, "its page in triage"),
	MR_WORK_FIELD(struct mr_work_message_restored, removed_push_count,
		"queued items that it was taken out of"),
	MR_WORK_FIELD(struct mr_work_message_restored, push_ids, "their ids"),
	MR_WORK_FIELD_OPT(struct mr_work_message_restored, queued,
		"its move back to the inbox is queued"),
	MR_WORK_FIELD_OPT(struct mr_work_message_restored, queued_push_ids,
		"the items of the queue that do it"),
	{ 0 },
};

MR_WORK_BIND(restoring, mr_work_archive_restore, struct mr_work_archive_message,
	struct mr_work_message_restored);

const struct mr_op mr_op_work_archive_message_restore = {
	.name = "work_archive_message_restore",
	.command = "work archive message restore",
	.summary = "Bring a message back from a category to triage",
	.code = "message_restored",
	.params = restore_params,
	.result = restored_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &restoring,
	.render = mr_render_archive_restored,
};

/* --- move --- */

static const struct mr_param move_params[] = {
	CATEGORY_PARAM,
	MR_WORK_MESSAGE_PARAM(struct mr_work_archive_message),
	MR_PARAM(struct mr_work_archive_message, new_archive_ref, "new_archive_ref",
		.flags = MR_REQUIRED | MR_POSITIONAL, .summary = "the category to move it to"),
	MR_WORK_REASON_PARAM(struct mr_work_archive_message),
	{ 0 },
};

static const struct mr_field moved_fields[] = {
	MR_WORK_FIELD(struct mr_work_archive_moved, message_id, "the message"),
	MR_WORK_FIELD_OPT(struct mr_work_archive_moved, from_archive_uid,
		"the category that it left"),
	MR_WORK_FIELD(struct mr_work_archive_moved, archive_uid, "the category that it is in"),
	MR_WORK_FIELD_OPT(struct mr_work_archive_moved, new_archive_uid,
		"the same, when it was there already"),
	MR_WORK_FIELD(struct mr_work_archive_moved, changed, "it was moved"),
	{ 0 },
};

MR_WORK_BIND(moving, mr_work_archive_move, struct mr_work_archive_message,
	struct mr_work_archive_moved);

const struct mr_op mr_op_work_archive_message_move = {
	.name = "work_archive_message_move",
	.command = "work archive message move",
	.summary = "Move a message to another category",
	.code = "message_archive_moved",
	.params = move_params,
	.result = moved_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &moving,
	.render = mr_render_archive_moved,
};

/* --- set-summary --- */

static const struct mr_field summary_fields[] = {
	MR_WORK_FIELD(struct mr_work_archive_summary, message_id, "the message"),
	MR_WORK_FIELD(struct mr_work_archive_summary, archive_uid, "the category"),
	MR_WORK_FIELD_NULL(struct mr_work_archive_summary, summary, "its summary now"),
	{ 0 },
};

MR_WORK_BIND(summing_up, mr_work_archive_set_summary, struct mr_work_archive_message,
	struct mr_work_archive_summary);

const struct mr_op mr_op_work_archive_message_set_summary = {
	.name = "work_archive_message_set_summary",
	.command = "work archive message set-summary",
	.summary = "Say in the category's list what a message is about",
	.code = "message_archive_summary_set",
	.params = add_params,
	.result = summary_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &summing_up,
	.render = mr_render_summary_set,
};
