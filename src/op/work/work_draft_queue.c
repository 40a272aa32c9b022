/* op/work/work_draft_queue.c - operations: drafts are shown, checked, queued and removed. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/draft.h"

#define DRAFT_NAME_PARAM(request_type)                                                             \
	MR_PARAM(request_type, draft_name, "draft_name", .flags = MR_REQUIRED | MR_POSITIONAL,     \
		.summary = "the name of the draft's file")

/* Of operations that need a draft and nothing else. */
static const struct mr_param ref_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_ref),
	DRAFT_NAME_PARAM(struct mr_work_draft_ref),
	{ 0 },
};

/* --- list --- */

static const struct mr_param list_params[] = {
	MR_PARAM(struct mr_work_draft_list, case_ref, "case_ref", .flags = MR_POSITIONAL,
		.summary = "the case: its uid, or the name of its directory",
		.fallback = "all active cases"),
	{ 0 },
};

#define ROW_FIELD(member, about)      MR_WORK_FIELD(struct mr_work_draft_row, member, about)
#define ROW_FIELD_NULL(member, about) MR_WORK_FIELD_NULL(struct mr_work_draft_row, member, about)
static const struct mr_field row_fields[] = {
	MR_WORK_FIELD_OPT(struct mr_work_draft_row, case_uid, "of all cases: which it is of"),
	MR_WORK_FIELD_OPT(struct mr_work_draft_row, case_name, "of all cases: what that is about"),
	ROW_FIELD(draft_name, "the name of its file"),
	ROW_FIELD(draft_path, "where that is"),
	ROW_FIELD_NULL(subject, "its subject"),
	ROW_FIELD_NULL(identity, "who writes"),
	ROW_FIELD(to, "its recipients"),
	ROW_FIELD(cc, "who gets a copy"),
	ROW_FIELD_NULL(send_intent, "new or reply"),
	ROW_FIELD_NULL(reply_to_message_id, "the message that it answers"),
	ROW_FIELD_NULL(queued_action, "what it is queued for: save_draft or send"),
	ROW_FIELD_NULL(push_id, "the item of the queue"),
	ROW_FIELD(draft_valid, "it can be sent as it is"),
	MR_WORK_FIELD_OPT(struct mr_work_draft_row, draft_error, "why not"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD_OPT(struct mr_work_draft_listed, case_uid,
		"the case, unless it is all of them"),
	MR_WORK_FIELD(struct mr_work_draft_listed, count, "how many drafts there are"),
	MR_FIELD_ROWS(struct mr_work_draft_listed, items, len, struct mr_work_draft_row, row_fields,
		"items", .summary = "the drafts, by case and name"),
	{ 0 },
};

MR_WORK_BIND(listing, mr_work_draft_list, struct mr_work_draft_list, struct mr_work_draft_listed);

const struct mr_op mr_op_work_case_draft_list = {
	.name = "work_case_draft_list",
	.command = "work case draft list",
	.summary = "List the drafts of a case, or of all, broken ones too",
	.code = "draft_list",
	.params = list_params,
	.result = list_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_draft_list,
};

/* --- show --- */

static const struct mr_field attachment_fields[] = {
	MR_WORK_FIELD(struct mr_work_draft_attachment, path, "below the case's directory"),
	MR_WORK_FIELD(struct mr_work_draft_attachment, exists, "the file is there"),
	MR_FIELD(struct mr_work_draft_attachment, size_bytes, "size_bytes", .flags = MR_NULLABLE,
		.summary = "of the file",
		.when = MR_FLAG(struct mr_work_draft_attachment, has_size)),
	{ 0 },
};

#define SHOWN_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_shown, member, about)
#define SHOWN_FIELD_NULL(member, about)                                                            \
	MR_WORK_FIELD_NULL(struct mr_work_draft_shown, member, about)
static const struct mr_field shown_fields[] = {
	SHOWN_FIELD(case_uid, "the case"),
	SHOWN_FIELD(draft_name, "the name of its file"),
	SHOWN_FIELD(draft_path, "where that is"),
	SHOWN_FIELD_NULL(subject, "its subject"),
	SHOWN_FIELD_NULL(identity, "who writes"),
	SHOWN_FIELD(to, "its recipients"),
	SHOWN_FIELD(cc, "who gets a copy"),
	MR_FIELD_ROWS(struct mr_work_draft_shown, attachments, attachments_len,
		struct mr_work_draft_attachment, attachment_fields, "attachments",
		.summary = "files that go with it"),
	SHOWN_FIELD(body, "its text"),
	SHOWN_FIELD_NULL(queued_action, "what it is queued for: save_draft or send"),
	SHOWN_FIELD_NULL(push_id, "the item of the queue"),
	SHOWN_FIELD(remote_changed, "always false"),
	SHOWN_FIELD_NULL(send_intent, "new or reply"),
	SHOWN_FIELD_NULL(reply_to_message_id, "the message that it answers"),
	SHOWN_FIELD_NULL(last_validated_rfc3339, "when it was found to be right"),
	SHOWN_FIELD(validated_current, "it has not changed since then"),
	{ 0 },
};

MR_WORK_BIND(showing, mr_work_draft_show, struct mr_work_draft_ref, struct mr_work_draft_shown);

const struct mr_op mr_op_work_case_draft_show = {
	.name = "work_case_draft_show",
	.command = "work case draft show",
	.summary = "Show a draft",
	.code = "draft_shown",
	.params = ref_params,
	.result = shown_fields,
	MR_WORK_TOOL,
	.bind = &showing,
	.render = mr_render_draft,
};

/* --- validate --- */

#define VALID_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_valid, member, about)
static const struct mr_field valid_fields[] = {
	VALID_FIELD(case_uid, "the case"),
	VALID_FIELD(draft_name, "the draft"),
	VALID_FIELD(draft_hash, "of its file"),
	VALID_FIELD(last_validated_rfc3339, "now"),
	{ 0 },
};

MR_WORK_BIND(validating, mr_work_draft_validate, struct mr_work_draft_ref,
	struct mr_work_draft_valid);

const struct mr_op mr_op_work_case_draft_validate = {
	.name = "work_case_draft_validate",
	.command = "work case draft validate",
	.summary = "Check that a draft can be sent as it is",
	.code = "draft_valid",
	.params = ref_params,
	.result = valid_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &validating,
	.render = mr_render_draft_valid,
};

/* --- save, send --- */

#define QUEUED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_queued, member, about)
static const struct mr_field queued_fields[] = {
	QUEUED_FIELD(push_id, "the item of the queue"),
	QUEUED_FIELD(kind, "outbound"),
	QUEUED_FIELD(action, "save_draft or send"),
	QUEUED_FIELD(case_uid, "the case"),
	QUEUED_FIELD(draft_name, "the draft"),
	QUEUED_FIELD(draft_path, "where its file is"),
	QUEUED_FIELD(last_validated_rfc3339, "now: what is queued is checked"),
	{ 0 },
};

MR_WORK_BIND(saving, mr_work_draft_save, struct mr_work_draft_ref, struct mr_work_draft_queued);
MR_WORK_BIND(sending, mr_work_draft_send, struct mr_work_draft_ref, struct mr_work_draft_queued);
MR_WORK_BIND(composing, mr_work_draft_compose, struct mr_work_draft_ref,
	struct mr_work_draft_queued);

const struct mr_op mr_op_work_case_draft_save = {
	.name = "work_case_draft_save",
	.command = "work case draft save",
	.summary = "Queue a draft to be stored among the drafts on the server",
	.help = "Nothing leaves the machine before `push --confirm`; what the file says then is stored.",
	.code = "push_queued",
	.params = ref_params,
	.result = queued_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &saving,
	.render = mr_render_draft_queued,
};

const struct mr_op mr_op_work_case_draft_send = {
	.name = "work_case_draft_send",
	.command = "work case draft send",
	.summary = "Queue a draft to be sent",
	.help = "Nothing leaves the machine before `push --confirm`; what the file says then is sent.",
	.code = "push_queued",
	.params = ref_params,
	.result = queued_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD | MR_IDEMPOTENT),
	.bind = &sending,
	.render = mr_render_draft_queued,
};

/* As draft save was called when a draft had to be validated by itself before it was queued. */
const struct mr_op mr_op_work_case_compose = {
	.name = "work_case_compose",
	.command = "work case compose",
	.summary = "Queue a draft that was validated, to be stored among the drafts on the server",
	.code = "push_queued",
	.params = ref_params,
	.result = queued_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.traits = MR_ABROAD | MR_HIDDEN,
	.contract = &mr_contract_work,
	.cluster = "workspace",
	.bind = &composing,
	.render = mr_render_draft_queued,
};

/* --- remove --- */

static const struct mr_param remove_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_draft_remove),
	DRAFT_NAME_PARAM(struct mr_work_draft_remove),
	MR_WORK_REASON_PARAM(struct mr_work_draft_remove),
	{ 0 },
};

#define REMOVED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_draft_removed, member, about)
static const struct mr_field removed_fields[] = {
	REMOVED_FIELD(case_uid, "the case"),
	REMOVED_FIELD(draft_name, "the draft"),
	REMOVED_FIELD(draft_path, "where its file was"),
	REMOVED_FIELD(draft_deleted, "there was a file"),
	REMOVED_FIELD(state_removed, "the case remembered when it was checked"),
	REMOVED_FIELD(queued_removed, "it was queued"),
	REMOVED_FIELD(removed_push_count, "how many items were taken off the queue"),
	REMOVED_FIELD(push_ids, "their ids"),
	REMOVED_FIELD(actions, "what they were to do"),
	REMOVED_FIELD(mail_sent, "always false: a draft that may have been sent stays"),
	{ 0 },
};

MR_WORK_BIND(removing, mr_work_draft_remove, struct mr_work_draft_remove,
	struct mr_work_draft_removed);

const struct mr_op mr_op_work_case_draft_remove = {
	.name = "work_case_draft_remove",
	.command = "work case draft remove",
	.summary = "Remove a draft, and take it off the queue",
	.code = "draft_removed",
	.params = remove_params,
	.result = removed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_DESTRUCTIVE),
	.bind = &removing,
	.render = mr_render_draft_removed,
};
