/* op/work/work_notes.c - operations: the notes of cases and of categories in the archive. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/archive.h"
#include "workspace/case.h"

#define CATEGORY_PARAM                                                                             \
	MR_PARAM(struct mr_work_notes_request, archive_ref, "archive_ref",                         \
		.flags = MR_REQUIRED | MR_POSITIONAL,                                              \
		.summary = "the category: its uid, or the name of its directory")
#define TEXT_PARAM(about)                                                                          \
	MR_PARAM(struct mr_work_notes_request, text, "text", .flags = MR_REQUIRED | MR_BODY,       \
		.summary = about ", or - for standard input")

static const struct mr_param case_show_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_notes_request),
	{ 0 },
};
static const struct mr_param case_append_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_notes_request),
	TEXT_PARAM("what to add at the end"),
	{ 0 },
};
static const struct mr_param case_replace_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_notes_request),
	TEXT_PARAM("the new notes"),
	{ 0 },
};
static const struct mr_param category_show_params[] = {
	CATEGORY_PARAM,
	{ 0 },
};
static const struct mr_param category_append_params[] = {
	CATEGORY_PARAM,
	TEXT_PARAM("what to add at the end"),
	{ 0 },
};
static const struct mr_param category_replace_params[] = {
	CATEGORY_PARAM,
	TEXT_PARAM("the new notes"),
	{ 0 },
};

static const struct mr_field target_fields[] = {
	MR_WORK_FIELD(struct mr_work_target, kind, "case or archive"),
	MR_WORK_FIELD(struct mr_work_target, id, "its uid"),
	{ 0 },
};

#define NOTES_TARGETS                                                                              \
	MR_FIELD_ROWS(struct mr_work_notes, targets, target_count, struct mr_work_target,          \
		target_fields, "targets", .summary = "what the notes belong to")
static const struct mr_field shown_fields[] = {
	NOTES_TARGETS,
	MR_WORK_FIELD(struct mr_work_notes, notes_path, "the file"),
	MR_WORK_FIELD(struct mr_work_notes, text, "all that is in it"),
	{ 0 },
};
static const struct mr_field written_fields[] = {
	NOTES_TARGETS,
	MR_WORK_FIELD(struct mr_work_notes, notes_path, "the file"),
	MR_WORK_FIELD(struct mr_work_notes, text_len_bytes, "of the text that was given"),
	MR_WORK_FIELD(struct mr_work_notes, text_hash, "of the same"),
	{ 0 },
};

/* --- of active cases --- */

MR_WORK_BIND(case_show, mr_work_case_notes_show, struct mr_work_notes_request,
	struct mr_work_notes);
MR_WORK_BIND(case_append, mr_work_case_notes_append, struct mr_work_notes_request,
	struct mr_work_notes);
MR_WORK_BIND(case_replace, mr_work_case_notes_replace, struct mr_work_notes_request,
	struct mr_work_notes);

const struct mr_op mr_op_work_case_notes_show = {
	.name = "work_case_notes_show",
	.command = "work case notes show",
	.summary = "Show the notes of a case",
	.code = "case_notes",
	.params = case_show_params,
	.result = shown_fields,
	MR_WORK_TOOL,
	.bind = &case_show,
	.render = mr_render_notes,
};

const struct mr_op mr_op_work_case_notes_append = {
	.name = "work_case_notes_append",
	.command = "work case notes append",
	.summary = "Add to the notes of a case",
	.code = "case_notes_appended",
	.params = case_append_params,
	.result = written_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &case_append,
	.render = mr_render_notes_written,
};

const struct mr_op mr_op_work_case_notes_replace = {
	.name = "work_case_notes_replace",
	.command = "work case notes replace",
	.summary = "Write the notes of a case anew",
	.code = "case_notes_replaced",
	.params = case_replace_params,
	.result = written_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT | MR_DESTRUCTIVE),
	.bind = &case_replace,
	.render = mr_render_notes_written,
};

/* --- of categories --- */

MR_WORK_BIND(category_show, mr_work_archive_notes_show, struct mr_work_notes_request,
	struct mr_work_notes);
MR_WORK_BIND(category_append, mr_work_archive_notes_append, struct mr_work_notes_request,
	struct mr_work_notes);
MR_WORK_BIND(category_replace, mr_work_archive_notes_replace, struct mr_work_notes_request,
	struct mr_work_notes);

const struct mr_op mr_op_work_archive_message_notes_show = {
	.name = "work_archive_message_notes_show",
	.command = "work archive message notes show",
	.summary = "Show the notes of a category",
	.code = "archive_message_notes",
	.params = category_show_params,
	.result = shown_fields,
	MR_WORK_TOOL,
	.bind = &category_show,
	.render = mr_render_notes,
};

const struct mr_op mr_op_work_archive_message_notes_append = {
	.name = "work_archive_message_notes_append",
	.command = "work archive message notes append",
	.summary = "Add to the notes of a category",
	.code = "archive_message_notes_appended",
	.params = category_append_params,
	.result = written_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &category_append,
	.render = mr_render_notes_written,
};

const struct mr_op mr_op_work_archive_message_notes_replace = {
	.name = "work_archive_message_notes_replace",
	.command = "work archive message notes replace",
	.summary = "Write the notes of a category anew",
	.code = "archive_message_notes_replaced",
	.params = category_replace_params,
	.result = written_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT | MR_DESTRUCTIVE),
	.bind = &category_replace,
	.render = mr_render_notes_written,
};

/* --- of archived cases --- */

MR_WORK_BIND(archived_show, mr_work_archive_case_notes_show, struct mr_work_notes_request,
	struct mr_work_notes);
MR_WORK_BIND(archived_append, mr_work_archive_case_notes_append, struct mr_work_notes_request,
	struct mr_work_notes);
MR_WORK_BIND(archived_replace, mr_work_archive_case_notes_replace, struct mr_work_notes_request,
	struct mr_work_notes);

const struct mr_op mr_op_work_archive_case_notes_show = {
	.name = "work_archive_case_notes_show",
	.command = "work archive case notes show",
	.summary = "Show the notes of an archived case",
	.code = "case_notes",
	.params = case_show_params,
	.result = shown_fields,
	MR_WORK_TOOL,
	.bind = &archived_show,
	.render = mr_render_notes,
};

const struct mr_op mr_op_work_archive_case_notes_append = {
	.name = "work_archive_case_notes_append",
	.command = "work archive case notes append",
	.summary = "Add to the notes of an archived case",
	.code = "case_notes_appended",
	.params = case_append_params,
	.result = written_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &archived_append,
	.render = mr_render_notes_written,
};

const struct mr_op mr_op_work_archive_case_notes_replace = {
	.name = "work_archive_case_notes_replace",
	.command = "work archive case notes replace",
	.summary = "Write the notes of an archived case anew",
	.code = "case_notes_replaced",
	.params = case_replace_params,
	.result = written_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT | MR_DESTRUCTIVE),
	.bind = &archived_replace,
	.render = mr_render_notes_written,
};
