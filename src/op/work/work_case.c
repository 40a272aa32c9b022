/* op/work/work_case.c - operations: cases, and the messages in them. */
#include "op/work/render_work.h"
#include "op/work/shape_case.h"
#include "op/work/work_ops.h"
#include "workspace/case.h"

/* Without push_ids: a case queues one item at most. */
#define QUEUED_FIELD(member, ...) MR_FIELD(struct mr_work_queued, member, #member, __VA_ARGS__)
static const struct mr_field queued_one_fields[] = {
	QUEUED_FIELD(location_count, .summary = "places on the server that the messages are in"),
	QUEUED_FIELD(queued_location_count, .summary = "the same"),
	QUEUED_FIELD(queued, .summary = "something is queued for the server"),
	QUEUED_FIELD(push_id, .flags = MR_NULLABLE, .summary = "the item of the queue"),
	{ 0 },
};

/* --- create --- */

static const struct mr_param create_params[] = {
	MR_PARAM(struct mr_work_case_create, name, "name", .flags = MR_REQUIRED,
		.summary = "what the case is about; its directory is named after it"),
	MR_PARAM(struct mr_work_case_create, group, "group",
		.summary = "a directory below cases/, such as waiting",
		.fallback = "the group that case.default_group names"),
	MR_PARAM(struct mr_work_case_create, message, "message",
		.summary = "the id of its first message"),
	MR_PARAM(struct mr_work_case_create, summary, "summary",
		.summary = "of the first message, for the case's list", .fallback = "the reason"),
	MR_PARAM(struct mr_work_case_create, reason, "reason",
		.summary = "why, for the audit log; needed only with a message"),
	{ 0 },
};

#define CREATED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_created, member, about)
static const struct mr_field created_fields[] = {
	CREATED_FIELD(case_uid, "the new case"),
	CREATED_FIELD(case_name, "its name"),
	CREATED_FIELD(group, "that it is in"),
	CREATED_FIELD(case_path, "its directory"),
	CREATED_FIELD(message_ids, "that are in it"),
	CREATED_FIELD(message_count, "how many"),
	{
		.name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = queued_one_fields,
		.from = MR_FROM_STRUCT(struct mr_work_case_created, queue, struct mr_work_queued),
		.when = MR_FLAG(struct mr_work_case_created, has_message),
	},
	{ 0 },
};

MR_WORK_BIND(creating, mr_work_case_create, struct mr_work_case_create,
	struct mr_work_case_created);

const struct mr_op mr_op_work_case_create = {
	.name = "work_case_create",
	.command = "work case create",
	.summary = "Open a case, with its first message if one is named",
	.code = "case_created",
	.params = create_params,
	.result = created_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &creating,
	.render = mr_render_case_created,
};

/* --- list --- */

static const struct mr_param list_params[] = {
	MR_PARAM(struct mr_work_case_list, archived, "archived",
		.summary = "list the archived cases in place of the active ones"),
	{ 0 },
};

const struct mr_field mr_work_case_template_fields[] = {
	MR_WORK_FIELD(struct mr_work_case_templates, case_path, "of the directory"),
	MR_WORK_FIELD(struct mr_work_case_templates, view_path, "of the page to read"),
	MR_WORK_FIELD(struct mr_work_case_templates, data_path, "of the document"),
	{ 0 },
};
const struct mr_field mr_work_case_row_fields[] = {
	MR_WORK_FIELD(struct mr_work_case_row, case_uid, "stays the same for ever"),
	MR_WORK_FIELD(struct mr_work_case_row, case_name, "what it is about"),
	MR_WORK_FIELD_OPT(struct mr_work_case_row, group, "of an active case"),
	MR_WORK_FIELD(struct mr_work_case_row, case_dir, "the name of its directory"),
	{ 0 },
};

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_case_listed, count, "how many cases there are"),
	MR_FIELD_STRUCT(struct mr_work_case_listed, path_templates, struct mr_work_case_templates,
		mr_work_case_template_fields, "path_templates",
		.summary = "where the files of each are"),
	MR_FIELD_ROWS(struct mr_work_case_listed, items, len, struct mr_work_case_row,
		mr_work_case_row_fields, "items", .summary = "the cases, by group and uid"),
	MR_WORK_FIELD_OPT(struct mr_work_case_listed, invalid_paths,
		"documents that cannot be read"),
	{ 0 },
};

MR_WORK_BIND(listing, mr_work_case_list, struct mr_work_case_list, struct mr_work_case_listed);

const struct mr_op mr_op_work_case_list = {
	.name = "work_case_list",
	.command = "work case list",
	.summary = "List the cases",
	.code = "case_list",
	.params = list_params,
	.result = list_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &listing,
	.render = mr_render_case_list,
};

/* --- show --- */

static const struct mr_param show_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_show),
	{ 0 },
};

struct shown {
	const char *code;
	bool is_ours; /* with what the contract of afmail does not have */
	struct mr_work_case_shown page;
};

#define MESSAGE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_member, member, about)
static const struct mr_field message_fields[] = {
	MESSAGE_FIELD(message_id, "its id"),
	MESSAGE_FIELD(from, "who sent it"),
	MESSAGE_FIELD(subject, "its subject"),
	MR_WORK_FIELD_OPT(struct mr_work_case_member, summary, "what the case's list says of it"),
	MR_WORK_FIELD_OPT(struct mr_work_case_member, time, "when it was received, else sent"),
	MESSAGE_FIELD(is_outbound, "it is ours"),
	{ 0 },
};

#define SHOWN_FIELD(member, ...) MR_FIELD(struct shown, page.member, #member, __VA_ARGS__)
static const struct mr_field show_fields[] = {
	MR_FIELD(struct shown, code, "code", .summary = "case, or archive_case"),
	SHOWN_FIELD(case_uid, .summary = "the case"),
	SHOWN_FIELD(case_name, .summary = "its name"),
	SHOWN_FIELD(group, .flags = MR_OPTIONAL, .summary = "of an active case"),
	SHOWN_FIELD(case_path, .summary = "its directory"),
	SHOWN_FIELD(view_path, .summary = "the page as a file"),
	SHOWN_FIELD(messages_path, .flags = MR_OPTIONAL, .summary = "the pages of its messages"),
	SHOWN_FIELD(text, .summary = "the page: its messages, and what they say"),
	SHOWN_FIELD(tags, .flags = MR_OPTIONAL, .summary = "its tags",
		.when = MR_FLAG(struct shown, is_ours)),
	MR_FIELD_ROWS(struct shown, page.messages, page.message_count, struct mr_work_case_member,
		message_fields, "messages", .flags = MR_OPTIONAL, .summary = "its messages",
		.when = MR_FLAG(struct shown, is_ours)),
	{ 0 },
};

static enum mr_code show(struct mr_call *call, struct mr_work *work,
	const struct mr_work_case_show *request, struct shown *result)
{
	enum mr_code rc = mr_work_case_show(&call->cx, work, request, &result->page);

	result->is_ours = mr_contract_work_is_ours(call);
	result->code = result->page.is_archived ? "archive_case" : "case";
	return rc;
}
MR_WORK_BIND_CALL(showing, show, struct mr_work_case_show, struct shown);

const struct mr_op mr_op_work_case_show = {
	.name = "work_case_show",
	.command = "work case show",
	.summary = "Show a case with its messages",
	.code = "case",
	.params = show_params,
	.result = show_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &showing,
	.render = mr_render_case_page,
};

/* --- add --- */

static const struct mr_param add_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_add),
	MR_PARAM(struct mr_work_case_add, message_ids, "message_id",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message's id; several may be named"),
	MR_PARAM(struct mr_work_case_add, summary, "summary",
		.summary = "of the message, for the case's list",
		.fallback = "the reason, for a message that is new in the case"),
	MR_WORK_REASON_PARAM(struct mr_work_case_add),
	{ 0 },
};

static const struct mr_field added_item_fields[] = {
	MR_WORK_FIELD(struct mr_work_case_added_item, message_id, "the message"),
	MR_WORK_FIELD(struct mr_work_case_added_item, already_present, "it was in the case before"),
	{ 0 },
};

#define ADDED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_added, member, about)
static const struct mr_field added_fields[] = {
	ADDED_FIELD(case_uid, "the case"),
	ADDED_FIELD(message_id, "the message, or the first of them"),
	ADDED_FIELD(group, "of the case"),
	ADDED_FIELD(case_path, "its directory"),
	ADDED_FIELD(created_case, "always false"),
	ADDED_FIELD(message_count, "how many messages were named"),
	ADDED_FIELD(already_present, "all of them were in the case before"),
	ADDED_FIELD(related_message_ids, "other messages of the same conversation"),
	MR_MEMBERS(struct mr_work_case_added, queue, struct mr_work_queued, queued_one_fields),
	MR_FIELD_ROWS(struct mr_work_case_added, items, len, struct mr_work_case_added_item,
		added_item_fields, "items", .summary = "each of several messages",
		.flags = MR_OPTIONAL, .when = MR_FLAG(struct mr_work_case_added, has_several)),
	{ 0 },
};

MR_WORK_BIND(adding, mr_work_case_add, struct mr_work_case_add, struct mr_work_case_added);

const struct mr_op mr_op_work_case_add = {
	.name = "work_case_add",
	.command = "work case add",
	.summary = "Put messages into a case",
	.help = "A message leaves triage, spam or trash for the case. One that is in the case already "
		"stays as it is, but a summary that is given replaces the one it has.",
	.code = "case_message_added",
	.params = add_params,
	.result = added_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD | MR_IDEMPOTENT),
	.bind = &adding,
	.render = mr_render_case_added,
};

/* --- remove --- */

static const struct mr_param remove_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_remove),
	MR_PARAM(struct mr_work_case_remove, message_ids, "message_id",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message's id; several may be named"),
	MR_WORK_REASON_PARAM(struct mr_work_case_remove),
	{ 0 },
};

static const struct mr_field removed_item_fields[] = {
	MR_WORK_FIELD(struct mr_work_case_removed_item, message_id, "the message"),
	MR_WORK_FIELD(struct mr_work_case_removed_item, status, "what it is now"),
	{ 0 },
};

#define REMOVED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_removed, member, about)
static const struct mr_field removed_fields[] = {
	REMOVED_FIELD(case_uid, "the case"),
	REMOVED_FIELD(message_id, "the message, or the first of them"),
	REMOVED_FIELD(group, "of the case"),
	REMOVED_FIELD(case_path, "its directory"),
	REMOVED_FIELD(message_count, "messages that are left in the case"),
	REMOVED_FIELD(status, "what the message is now: triage, or what else holds it"),
	REMOVED_FIELD(removed_push_count, "queued items that the messages were taken out of"),
	REMOVED_FIELD(push_ids, "their ids"),
	MR_FIELD_ROWS(struct mr_work_case_removed, items, len, struct mr_work_case_removed_item,
		removed_item_fields, "items", .summary = "each of several messages",
		.flags = MR_OPTIONAL, .when = MR_FLAG(struct mr_work_case_removed, has_several)),
	{ 0 },
};

MR_WORK_BIND(removing, mr_work_case_remove, struct mr_work_case_remove,
	struct mr_work_case_removed);

const struct mr_op mr_op_work_case_remove = {
	.name = "work_case_remove",
	.command = "work case remove",
	.summary = "Take messages out of a case",
	.help = "A message goes back to triage unless another case or category holds it. One that a "
		"draft of the case answers stays: remove the draft first.",
	.code = "case_message_removed",
	.params = remove_params,
	.result = removed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &removing,
	.render = mr_render_case_removed,
};

/* --- set-summary --- */

static const struct mr_param summary_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_message),
	MR_WORK_MESSAGE_PARAM(struct mr_work_case_message),
	MR_PARAM(struct mr_work_case_message, summary, "summary", .flags = MR_REQUIRED,
		.summary = "what the message says; blank: none, its subject is shown"),
	MR_WORK_REASON_PARAM(struct mr_work_case_message),
	{ 0 },
};

#define SUMMARY_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_summary, member, about)
static const struct mr_field summary_fields[] = {
	SUMMARY_FIELD(case_uid, "the case"),
	SUMMARY_FIELD(message_id, "the message"),
	MR_WORK_FIELD_NULL(struct mr_work_case_summary, summary, "its summary now"),
	SUMMARY_FIELD(case_path, "the directory of the case"),
	SUMMARY_FIELD(changed, "it had another one"),
	{ 0 },
};

MR_WORK_BIND(summing_up, mr_work_case_set_summary, struct mr_work_case_message,
	struct mr_work_case_summary);

const struct mr_op mr_op_work_case_set_summary = {
	.name = "work_case_set_summary",
	.command = "work case set-summary",
	.summary = "Say in the case's list what a message is about",
	.code = "case_summary_set",
	.params = summary_params,
	.result = summary_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_STANDARD | MR_IDEMPOTENT),
	.bind = &summing_up,
	.render = mr_render_summary_set,
};

/* --- trash --- */

static const struct mr_param trash_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_ref),
	MR_WORK_REASON_PARAM(struct mr_work_case_ref),
	{ 0 },
};

#define TRASHED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_trashed, member, about)
static const struct mr_field trashed_fields[] = {
	TRASHED_FIELD(case_uid, "the case, which is empty now"),
	TRASHED_FIELD(group, "of the case"),
	TRASHED_FIELD(case_path, "its directory"),
	TRASHED_FIELD(special_use, "trash"),
	TRASHED_FIELD(message_ids, "that are in the trash now"),
	TRASHED_FIELD(message_count, "how many"),
	MR_WORK_QUEUED(struct mr_work_case_trashed, queue),
	{ 0 },
};

MR_WORK_BIND(trashing, mr_work_case_trash, struct mr_work_case_ref, struct mr_work_case_trashed);

const struct mr_op mr_op_work_case_trash = {
	.name = "work_case_trash",
	.command = "work case trash",
	.summary = "Put all messages of a case into the trash",
	.help = "The case stays, without messages; `case delete` removes it. Nothing changes when "
		"something besides the case needs one of the messages.",
	.code = "case_trashed",
	.params = trash_params,
	.result = trashed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &trashing,
	.render = mr_render_case_trashed,
};
