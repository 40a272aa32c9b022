/* op/work/work_archive_case.c - operations: archived cases. */
#include "op/work/render_work.h"
#include "op/work/shape_case.h"
#include "op/work/work_ops.h"
#include "workspace/archive.h"

/* --- show --- */

static const struct mr_param show_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_show),
	{ 0 },
};

#define SHOWN_FIELD(member, about) MR_WORK_FIELD(struct mr_work_case_shown, member, about)
static const struct mr_field shown_fields[] = {
	SHOWN_FIELD(case_uid, "the case"),
	SHOWN_FIELD(case_name, "its name"),
	SHOWN_FIELD(case_path, "its directory"),
	SHOWN_FIELD(view_path, "the page as a file"),
	SHOWN_FIELD(text, "the page: its messages, and what they say"),
	{ 0 },
};

MR_WORK_BIND(showing, mr_work_archive_case_show, struct mr_work_case_show,
	struct mr_work_case_shown);

const struct mr_op mr_op_work_archive_case_show = {
	.name = "work_archive_case_show",
	.command = "work archive case show",
	.summary = "Show an archived case with its messages",
	.code = "archive_case",
	.params = show_params,
	.result = shown_fields,
	MR_WORK_TOOL,
	.bind = &showing,
	.render = mr_render_case_page,
};

/* --- restore --- */

static const struct mr_param restore_params[] = {
	MR_WORK_CASE_PARAM(struct mr_work_case_restore),
	MR_PARAM(struct mr_work_case_restore, group, "group", .flags = MR_REQUIRED,
		.summary = "where to: a directory below cases/"),
	MR_WORK_REASON_PARAM(struct mr_work_case_restore),
	{ 0 },
};

MR_WORK_BIND(restoring, mr_work_case_restore, struct mr_work_case_restore,
	struct mr_work_case_restored);

const struct mr_op mr_op_work_archive_case_restore = {
	.name = "work_archive_case_restore",
	.command = "work archive case restore",
	.summary = "Bring a case back from the archive",
	.code = "case_restored",
	.params = restore_params,
	.result = mr_work_case_restored_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL,
	.bind = &restoring,
	.render = mr_render_case_restored,
};

/* --- rename --- */

MR_WORK_BIND(renaming, mr_work_archive_case_rename, struct mr_work_case_rename,
	struct mr_work_case_renamed);

const struct mr_op mr_op_work_archive_case_rename = {
	.name = "work_archive_case_rename",
	.command = "work archive case rename",
	.summary = "Give an archived case another name",
	.code = "archive_case_renamed",
	.params = mr_work_case_rename_params,
	.result = mr_work_case_renamed_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &renaming,
	.render = mr_render_case_renamed,
};
