/* op/work/work_doctor.c - operations: look for what is wrong with a workspace, and repair it. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/doctor.h"

/* --- doctor --- */

#define CHECK_FIELD(member, about) MR_WORK_FIELD(struct mr_work_doctor_checks, member, about)
static const struct mr_field check_fields[] = {
	CHECK_FIELD(git_checked, "never: Git is the user's own"),
	CHECK_FIELD(messages, "the files of messages were looked at"),
	CHECK_FIELD(cases, "cases were looked at"),
	CHECK_FIELD(archives, "archive categories were looked at"),
	CHECK_FIELD(push_queue, "the push queue was looked at"),
	CHECK_FIELD(templates, "templates were rendered; not when the configuration is broken"),
	CHECK_FIELD(transactions, "interrupted changes were looked for"),
	{ 0 },
};

#define ISSUE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_issue, member, about)
static const struct mr_field issue_fields[] = {
	ISSUE_FIELD(code, "the kind of issue"),
	ISSUE_FIELD(severity, "error or warning"),
	ISSUE_FIELD(message, "what is wrong, and what to do"),
	MR_WORK_FIELD_OPT(struct mr_work_issue, path, "the file or directory, or the template"),
	MR_WORK_FIELD_OPT(struct mr_work_issue, refs, "the uids and ids concerned"),
	ISSUE_FIELD(repairable, "`doctor repair` mends it"),
	{ 0 },
};

#define DOCTOR_FIELD(member, about) MR_WORK_FIELD(struct mr_work_doctored, member, about)
static const struct mr_field doctor_fields[] = {
	DOCTOR_FIELD(ok, "nothing is wrong"),
	DOCTOR_FIELD(issue_count, "all issues"),
	DOCTOR_FIELD(error_count, "issues that are errors; the others are warnings"),
	DOCTOR_FIELD(repairable_count, "issues that `doctor repair` mends"),
	MR_WORK_FIELD_OPT(struct mr_work_doctored, unlisted_count,
		"issues that are counted and not listed"),
	MR_FIELD_STRUCT(struct mr_work_doctored, checks, struct mr_work_doctor_checks, check_fields,
		"checks", .summary = "what was looked at"),
	MR_FIELD_ROWS(struct mr_work_doctored, issues, issues_len, struct mr_work_issue,
		issue_fields, "issues", .summary = "what is wrong"),
	{ 0 },
};

static enum mr_code examine(struct mr_call *call, struct mr_nothing *request,
	struct mr_work_doctored *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_contract_work_open_as_is(call, MR_WORK_READ, &work);

	(void)request;
	return rc ? rc : mr_work_doctor(&call->cx, work, result);
}
MR_BIND_ALONE(examining, examine, struct mr_nothing, struct mr_work_doctored);

const struct mr_op mr_op_work_doctor = {
	.name = "work_doctor",
	.command = "work doctor",
	.summary = "Look for what is wrong with the workspace",
	.help = "Reads all files and changes none. One that cannot be read is an issue, and the rest "
		"is looked at. The exit status is 0 also when there are issues.",
	.code = "doctor",
	.result = doctor_fields,
	MR_WORK_TOOL,
	.bind = &examining,
	.render = mr_render_work_doctor,
};

/* --- repair --- */

static const struct mr_param repair_params[] = {
	MR_PARAM(struct mr_work_doctor_repair, confirm, "confirm",
		.summary = "change the workspace; without it nothing happens"),
	{ 0 },
};

/* The result of `render refresh`, with its code, as a member. */
struct rendered {
	const char *code;
	struct mr_work_refreshed refreshed;
	int64_t text_cache_removed_count;
};

static const struct mr_field rendered_fields[] = {
	MR_WORK_FIELD(struct rendered, code, "render_refreshed"),
	MR_WORK_FIELD(struct rendered, text_cache_removed_count, "files of generation 0.1"),
	MR_MEMBERS(struct rendered, refreshed, struct mr_work_refreshed, mr_work_refreshed_fields),
	{ 0 },
};

struct repaired {
	struct mr_work_doctor_repaired own;
	struct rendered render;
	bool is_rendered;
};

#define REPAIR_FIELD(member, about) MR_WORK_FIELD(struct mr_work_doctor_repaired, member, about)
#define REPAIR_FIELD_OPT(member, about)                                                            \
	MR_WORK_FIELD_OPT(struct mr_work_doctor_repaired, member, about)
static const struct mr_field own_fields[] = {
	REPAIR_FIELD(confirmed, "true"),
	REPAIR_FIELD(before_issue_count, "issues before"),
	REPAIR_FIELD(after_issue_count, "issues that remain"),
	REPAIR_FIELD(message_cache_rebuilt_count, "records that could not be read"),
	REPAIR_FIELD(text_cache_removed_count, "text files of generation 0.1 that were deleted"),
	REPAIR_FIELD(deprecated_state_removed_count,
		"state files of generation 0.1 that were taken over and deleted"),
	REPAIR_FIELD_OPT(sidecar_removed_count, "files without a message that were deleted"),
	REPAIR_FIELD_OPT(directory_renamed_count, "directories that got the name of their case"),
	REPAIR_FIELD_OPT(transaction_removed_count, "marks of other programs that were removed"),
	REPAIR_FIELD_OPT(migrated_case_count, "cases of generation 0.1 brought up to date"),
	REPAIR_FIELD_OPT(migrated_category_count, "categories of generation 0.1"),
	REPAIR_FIELD_OPT(migrated_message_count, "messages that went from states into lists"),
	REPAIR_FIELD_OPT(migrated_push_count, "queued items of generation 0.1"),
	REPAIR_FIELD_OPT(config_migrated, "the configuration was of generation 0.1"),
	MR_FIELD_ROWS(struct mr_work_doctor_repaired, remaining_issues, remaining_issues_len,
		struct mr_work_issue, issue_fields, "remaining_issues",
		.summary = "what is still wrong"),
	{ 0 },
};
static const struct mr_field repair_fields[] = {
	MR_MEMBERS(struct repaired, own, struct mr_work_doctor_repaired, own_fields),
	MR_FIELD_STRUCT(struct repaired, render, struct rendered, rendered_fields, "render",
		.summary = "the projections, when there is a configuration to make them by",
		.flags = MR_OPTIONAL, .when = MR_FLAG(struct repaired, is_rendered)),
	{ 0 },
};

/* Without a confirmation nothing is written, so others may read meanwhile. */
static enum mr_code repair(struct mr_call *call, struct mr_work_doctor_repair *request,
	struct repaired *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_contract_work_open_as_is(call,
		request->confirm ? MR_WORK_WRITE : MR_WORK_READ, &work);

	if (!rc)
		rc = mr_work_doctor_repair(&call->cx, work, request, &result->own);
	if (rc)
		return rc;
	result->is_rendered = result->own.is_rendered;
	result->render = (struct rendered){ "render_refreshed", result->own.render, 0 };
	return MR_OK;
}
MR_BIND_ALONE(repairing, repair, struct mr_work_doctor_repair, struct repaired);

const struct mr_op mr_op_work_doctor_repair = {
	.name = "work_doctor_repair",
	.command = "work doctor repair",
	.summary = "Repair what can be repaired without guessing",
	.help = "Finishes interrupted changes, brings a workspace of generation 0.1 up to date, "
		"writes files again that can be derived from others, and makes records, views and "
		"the index anew. What people wrote is never changed.",
	.code = "doctor_repair",
	.params = repair_params,
	.result = repair_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &repairing,
	.render = mr_render_work_repaired,
};
