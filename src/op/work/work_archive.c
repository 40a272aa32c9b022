/* op/work/work_archive.c - operations: what the archive holds, and its categories. */
#include "op/work/render_work.h"
#include "op/work/shape_case.h"
#include "op/work/work_ops.h"
#include "workspace/archive.h"

/* --- list --- */

static const struct mr_field template_fields[] = {
	MR_WORK_FIELD(struct mr_work_archive_templates, archive_path, "of the directory"),
	MR_WORK_FIELD(struct mr_work_archive_templates, view_path, "of the page to read"),
	MR_WORK_FIELD(struct mr_work_archive_templates, data_path, "of the document"),
	{ 0 },
};
static const struct mr_field row_fields[] = {
	MR_WORK_FIELD(struct mr_work_archive_row, archive_uid, "stays the same for ever"),
	MR_WORK_FIELD(struct mr_work_archive_row, archive_name, "what is in it"),
	MR_WORK_FIELD(struct mr_work_archive_row, archive_dir, "the name of its directory"),
	{ 0 },
};

#define LISTED_CASE_TEMPLATES(name)                                                                \
	MR_FIELD_STRUCT(struct mr_work_archive_listed, case_path_templates,                        \
		struct mr_work_case_templates, mr_work_case_template_fields, name,                 \
		.summary = "where the files of a case are")
#define LISTED_CASES(name)                                                                         \
	MR_FIELD_ROWS(struct mr_work_archive_listed, cases, case_len, struct mr_work_case_row,     \
		mr_work_case_row_fields, name, .summary = "archived cases, by uid")
#define LISTED_CATEGORY_TEMPLATES(name)                                                            \
	MR_FIELD_STRUCT(struct mr_work_archive_listed, message_path_templates,                     \
		struct mr_work_archive_templates, template_fields, name,                           \
		.summary = "where the files of a category are")
#define LISTED_CATEGORIES(name)                                                                    \
	MR_FIELD_ROWS(struct mr_work_archive_listed, messages, message_len,                        \
		struct mr_work_archive_row, row_fields, name, .summary = "categories, by uid")
#define LISTED_INVALID                                                                             \
	MR_WORK_FIELD_OPT(struct mr_work_archive_listed, invalid_paths,                            \
		"documents that cannot be read")

static const struct mr_field list_fields[] = {
	MR_WORK_FIELD(struct mr_work_archive_listed, case_count, "archived cases"),
	MR_WORK_FIELD(struct mr_work_archive_listed, message_count,
		"categories of archived messages"),
	LISTED_CASE_TEMPLATES("case_path_templates"),
	LISTED_CATEGORY_TEMPLATES("message_path_templates"),
	LISTED_CASES("cases"),
	LISTED_CATEGORIES("messages"),
	LISTED_INVALID,
	{ 0 },
};
static const struct mr_field list_cases_fields[] = {
	MR_FIELD(struct mr_work_archive_listed, case_count, "count", .summary = "archived cases"),
	LISTED_CASE_TEMPLATES("path_templates"),
	LISTED_CASES("items"),
	LISTED_INVALID,
	{ 0 },
};
static const struct mr_field list_messages_fields[] = {
	MR_FIELD(struct mr_work_archive_listed, message_count, "count",
		.summary = "categories of archived messages"),
	LISTED_CATEGORY_TEMPLATES("path_templates"),
	LISTED_CATEGORIES("items"),
	LISTED_INVALID,
	{ 0 },
};

static enum mr_code list_all(struct mr_ctx *cx, struct mr_work *work, struct mr_nothing *request,
	struct mr_work_archive_listed *result)
{
	static const struct mr_work_archive_list all = { .what = NULL };

	(void)request;
	return mr_work_archive_list(cx, work, &all, result);
}
MR_WORK_BIND(listing, list_all, struct mr_nothing, struct mr_work_archive_listed);

static enum mr_code list_cases(struct mr_ctx *cx, struct mr_work *work, struct mr_nothing *request,
	struct mr_work_archive_listed *result)
{
	static const struct mr_work_archive_list cases = { .what = "cases" };

	(void)request;
	return mr_work_archive_list(cx, work, &cases, result);
}
MR_WORK_BIND(listing_cases, list_cases, struct mr_nothing, struct mr_work_archive_listed);

static enum mr_code list_messages(struct mr_ctx *cx, struct mr_work *work,
	struct mr_nothing *request, struct mr_work_archive_listed *result)
{
	static const struct mr_work_archive_list messages = { .what = "messages" };

	(void)request;
	return mr_work_archive_list(cx, work, &messages, result);
}
MR_WORK_BIND(listing_messages, list_messages, struct mr_nothing, struct mr_work_archive_listed);

const struct mr_op mr_op_work_archive_list = {
	.name = "work_archive_list",
	.command = "work archive list",
	.summary = "List the archived cases, and the categories of archived messages",
	.code = "archive_list",
	.result = list_fields,
	MR_WORK_TOOL,
	.bind = &listing,
	.render = mr_render_archive_list,
};

const struct mr_op mr_op_work_archive_list_cases = {
	.name = "work_archive_list_cases",
	.command = "work archive list cases",
	.summary = "List the archived cases",
	.code = "archive_case_list",
	.result = list_cases_fields,
	MR_WORK_TOOL,
	.bind = &listing_cases,
	.render = mr_render_case_list,
};

const struct mr_op mr_op_work_archive_list_messages = {
	.name = "work_archive_list_messages",
	.command = "work archive list messages",
	.summary = "List the categories of archived messages",
	.code = "archive_message_list",
	.result = list_messages_fields,
	MR_WORK_TOOL,
	.bind = &listing_messages,
	.render = mr_render_category_list,
};

/* --- create --- */

static const struct mr_param create_params[] = {
	MR_PARAM(struct mr_work_archive_create, name, "name", .flags = MR_REQUIRED,
		.summary = "what is in the category; its directory is named after it"),
	MR_PARAM(struct mr_work_archive_create, message, "message",
		.summary = "the id of its first message"),
	MR_PARAM(struct mr_work_archive_create, summary, "summary",
		.summary = "of the first message, for the category's list; needed with a message"),
	MR_WORK_REASON_PARAM(struct mr_work_archive_create),
	{ 0 },
};

#define CREATED_FIELD_WHEN(member, about)                                                          \
	MR_WORK_FIELD_WHEN(struct mr_work_archive_created, member, has_message, about)
static const struct mr_field created_fields[] = {
	MR_WORK_FIELD(struct mr_work_archive_created, archive_uid, "the new category"),
	MR_WORK_FIELD(struct mr_work_archive_created, archive_name, "its name"),
	MR_WORK_FIELD(struct mr_work_archive_created, message_count, "messages in it"),
	MR_WORK_FIELD(struct mr_work_archive_created, path, "its directory"),
	CREATED_FIELD_WHEN(message_id, "its first message"),
	CREATED_FIELD_WHEN(summary, "of that message"),
	CREATED_FIELD_WHEN(eligible_message_ids, "that are to be archived on the server too"),
	{
		.name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = mr_work_queued_fields,
		.from = MR_FROM_STRUCT(struct mr_work_archive_created, queue,
			struct mr_work_queued),
		.when = MR_FLAG(struct mr_work_archive_created, has_message),
	},
	{ 0 },
};

MR_WORK_BIND(creating, mr_work_archive_create, struct mr_work_archive_create,
	struct mr_work_archive_created);

const struct mr_op mr_op_work_archive_message_create = {
	.name = "work_archive_message_create",
	.command = "work archive message create",
	.summary = "Make a category for messages that need no case, with a first one if named",
	.code = "archive_message_created",
	.params = create_params,
	.result = created_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &creating,
	.render = mr_render_category_created,
};

/* --- show --- */

#define CATEGORY_PARAM(request_type)                                                               \
	MR_PARAM(request_type, archive_ref, "archive_ref", .flags = MR_REQUIRED | MR_POSITIONAL,   \
		.summary = "the category: its uid, or the name of its directory")

static const struct mr_param show_params[] = {
	CATEGORY_PARAM(struct mr_work_archive_show),
	{ 0 },
};

static const struct mr_field item_fields[] = {
	MR_WORK_FIELD(struct mr_work_item, message_id, "the message"),
	MR_WORK_FIELD_OPT(struct mr_work_item, summary, "what it says"),
	MR_FIELD(struct mr_work_item, added, "added_rfc3339", .summary = "when it was archived"),
	{ 0 },
};

#define SHOWN_FIELD(member, about) MR_WORK_FIELD(struct mr_work_archive_shown, member, about)
static const struct mr_field shown_fields[] = {
	SHOWN_FIELD(archive_uid, "the category"),
	SHOWN_FIELD(archive_name, "its name"),
	SHOWN_FIELD(path, "its directory"),
	SHOWN_FIELD(view_path, "the page as a file"),
	SHOWN_FIELD(notes_path, "its notes"),
	SHOWN_FIELD(message_count, "messages in it"),
	MR_FIELD_ROWS(struct mr_work_archive_shown, items, len, struct mr_work_item, item_fields,
		"items", .summary = "the messages"),
	SHOWN_FIELD(text, "the page"),
	{ 0 },
};

MR_WORK_BIND(showing, mr_work_archive_show, struct mr_work_archive_show,
	struct mr_work_archive_shown);

const struct mr_op mr_op_work_archive_message_show = {
	.name = "work_archive_message_show",
	.command = "work archive message show",
	.summary = "Show a category with its messages",
	.code = "archive_message",
	.params = show_params,
	.result = shown_fields,
	MR_WORK_TOOL,
	.bind = &showing,
	.render = mr_render_category_page,
};

/* --- rename --- */

static const struct mr_param rename_params[] = {
	CATEGORY_PARAM(struct mr_work_archive_rename),
	MR_PARAM(struct mr_work_archive_rename, name, "name", .flags = MR_REQUIRED,
		.summary = "the new name"),
	MR_WORK_REASON_PARAM(struct mr_work_archive_rename),
	{ 0 },
};

#define RENAMED_FIELD(member, about) MR_WORK_FIELD(struct mr_work_archive_renamed, member, about)
static const struct mr_field renamed_fields[] = {
	RENAMED_FIELD(archive_uid, "the category"),
	RENAMED_FIELD(old_archive_name, "the name it had"),
	RENAMED_FIELD(archive_name, "the name it has"),
	RENAMED_FIELD(path, "its directory"),
	RENAMED_FIELD(message_count, "messages in it"),
	RENAMED_FIELD(changed, "the name is another one than before"),
	{ 0 },
};

MR_WORK_BIND(renaming, mr_work_archive_rename, struct mr_work_archive_rename,
	struct mr_work_archive_renamed);

const struct mr_op mr_op_work_archive_message_rename = {
	.name = "work_archive_message_rename",
	.command = "work archive message rename",
	.summary = "Give a category another name",
	.code = "message_archive_category_renamed",
	.params = rename_params,
	.result = renamed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &renaming,
	.render = mr_render_category_renamed,
};
