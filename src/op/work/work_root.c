/* op/work/work_root.c - operations: make a workspace, take mail in from files, look at it as a
 * whole. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/import.h"
#include "workspace/init.h"
#include "workspace/status.h"

/* --- init --- */

static const struct mr_param init_params[] = {
	MR_PARAM(struct mr_work_init, path, "path", .flags = MR_POSITIONAL,
		.summary = "a directory below the working directory", .fallback = "."),
	MR_PARAM(struct mr_work_init, agent, "agent",
		.summary = "the agent that gets the skill: codex, claude-code, opencode, hermes, "
			   "all or none",
		.fallback = "codex"),
	{ 0 },
};

#define INIT_FIELD(member, about) MR_WORK_FIELD(struct mr_work_initialized, member, about)

static const struct mr_field init_fields[] = {
	INIT_FIELD(workspace_path, "absolute"),
	INIT_FIELD(agent_root_path, "the working directory"),
	INIT_FIELD(workspace_ref, "the workspace as the working directory sees it"),
	INIT_FIELD(workspace_paths, "all workspaces that AGENTS.md names"),
	INIT_FIELD(created_rfc3339, "when"),
	INIT_FIELD(gitignore_path, "of the workspace"),
	INIT_FIELD(gitignore_created, "it was made"),
	INIT_FIELD(gitignore_updated, "it was added to"),
	INIT_FIELD(workspace_gitignore_path, "of the workspace"),
	INIT_FIELD(workspace_gitignore_created, "it was made"),
	INIT_FIELD(workspace_gitignore_updated, "it was added to"),
	INIT_FIELD(agent_gitignore_path, "of the working directory"),
	INIT_FIELD(agent_gitignore_created, "it was made"),
	INIT_FIELD(agent_gitignore_updated, "it was added to"),
	INIT_FIELD(agent_skill_path, "the file that tells agents of the workspaces"),
	INIT_FIELD(agent_skill_created, "it was made"),
	INIT_FIELD(agent_skill_updated, "it was added to"),
	MR_WORK_FIELD_NULL(struct mr_work_initialized, workspace_skill_path,
		"the skill, when an agent got it"),
	INIT_FIELD(workspace_skill_installed, "the skill is installed"),
	INIT_FIELD(do_not_edit_path, "the note in the directory that is not to be edited"),
	INIT_FIELD(do_not_edit_created, "it was made"),
	INIT_FIELD(do_not_edit_updated, "it was written"),
	MR_WORK_FIELD_NULL(struct mr_work_initialized, language_bcp47, "as configured"),
	INIT_FIELD(resolved_language_bcp47, "of views and templates"),
	INIT_FIELD(timezone_utc_offset, "of times in views"),
	INIT_FIELD(next_steps, "what to do now"),
	{ 0 },
};

static enum mr_code init(struct mr_call *call, struct mr_work_init *request,
	struct mr_work_initialized *result)
{
	enum mr_code rc = mr_around_agents(&call->cx, &request->around);

	return rc ? rc : mr_work_init(&call->cx, request, result);
}
MR_BIND_ALONE(initialising, init, struct mr_work_init, struct mr_work_initialized);

const struct mr_op mr_op_work_init = {
	.name = "work_init",
	.command = "work init",
	.summary = "Make an e-mail workspace, or complete one",
	.code = "workspace_initialized",
	.params = init_params,
	.result = init_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &initialising,
	.render = mr_render_workspace_made,
};

/* --- import --- */

static const struct mr_param import_params[] = {
	MR_PARAM(struct mr_work_import, paths, "paths", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "mails, mbox files, Maildirs, or directories of .eml files"),
	{ 0 },
};

#define FAILURE_FIELD(member, about) MR_WORK_FIELD(struct mr_work_import_failure, member, about)
static const struct mr_field import_failure_fields[] = {
	FAILURE_FIELD(source, "the file, and the number of the mail in an mbox"),
	FAILURE_FIELD(error_code, "the kind of failure"),
	FAILURE_FIELD(error, "what is wrong with it"),
	{ 0 },
};

#define IMPORT_FIELD(member, about) MR_WORK_FIELD(struct mr_work_imported, member, about)
static const struct mr_field import_fields[] = {
	IMPORT_FIELD(found_count, "mails in these files"),
	IMPORT_FIELD(new_message_count, "that were taken in"),
	IMPORT_FIELD(already_present_count, "that were there before"),
	IMPORT_FIELD(failed_count, "that could not be taken in"),
	IMPORT_FIELD(triage_created_count, "that wait in triage now"),
	IMPORT_FIELD(message_ids, "of the new ones"),
	MR_FIELD_ROWS(struct mr_work_imported, failures, failure_count,
		struct mr_work_import_failure, import_failure_fields, "failures",
		.summary = "mails that could not be taken in"),
	{ 0 },
};

static enum mr_code import(struct mr_ctx *cx, struct mr_work *work, struct mr_work_import *request,
	struct mr_work_imported *result)
{
	enum mr_code rc = mr_around_directory(cx, &request->base);

	return rc ? rc : mr_work_import(cx, work, request, result);
}
MR_WORK_BIND(importing, import, struct mr_work_import, struct mr_work_imported);

const struct mr_op mr_op_work_import = {
	.name = "work_import",
	.command = "work import",
	.summary = "Take mail in from files",
	.help = "Each mail becomes evidence in the workspace and waits in triage, as if it had been "
		"pulled from a server. A mail that is there already adds nothing.",
	.code = "import_result",
	.params = import_params,
	.result = import_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &importing,
	.render = mr_render_imported,
};

/* --- status --- */

#define STATUS_COUNT(member, about)                                                                \
	MR_WORK_FIELD_WHEN(struct mr_work_status_counts, member, has_counts, about)
static const struct mr_field status_fields[] = {
	MR_WORK_FIELD_OPT(struct mr_work_status_counts, workspace_locked,
		"another command writes just now, so there are no counts"),
	MR_WORK_FIELD_OPT(struct mr_work_status_counts, hint, "what that means"),
	STATUS_COUNT(triage_count, "messages that wait for a decision"),
	STATUS_COUNT(case_count, "active cases"),
	STATUS_COUNT(cases_by_group, "how many cases each group has"),
	STATUS_COUNT(archived_case_count, "archived cases"),
	STATUS_COUNT(archive_message_category_count, "categories of archived messages"),
	MR_WORK_FIELD_OPT(struct mr_work_status_counts, contact_count, "active contacts"),
	MR_WORK_FIELD_OPT(struct mr_work_status_counts, archived_contact_count,
		"archived contacts"),
	STATUS_COUNT(message_count, "all messages"),
	STATUS_COUNT(message_status, "how many messages are in which state"),
	MR_WORK_FIELD_WHEN(struct mr_work_status_counts, storage_bytes, has_storage,
		"of all mails as they came"),
	STATUS_COUNT(remote_missing_count, "messages that are gone from the server"),
	STATUS_COUNT(remote_effect_pending_message_count, "messages with something queued"),
	STATUS_COUNT(push_count, "items that are queued for the server"),
	STATUS_COUNT(push_status, "the same by their kinds"),
	MR_WORK_FIELD(struct mr_work_status_counts, progress, "of the last pull or push"),
	{ 0 },
};

struct status_request {
	bool storage;
};

/* Not shown unless it is asked for: programs compare the members of this object. */
static const struct mr_param status_params[] = {
	MR_PARAM(struct status_request, storage, "storage",
		.summary = "also say how many bytes the mails have"),
	{ 0 },
};

static enum mr_code show_status(struct mr_call *call, struct status_request *request,
	struct mr_work_status_counts *result)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;
	enum mr_code rc = mr_contract_work_open(call, MR_WORK_UNLOCKED, &work);

	if (!rc)
		rc = mr_work_status(&call->cx, work, result);
	result->has_storage = request->storage && result->has_counts;
	return rc;
}
MR_BIND_ALONE(counting, show_status, struct status_request, struct mr_work_status_counts);

const struct mr_op mr_op_work_status = {
	.name = "work_status",
	.command = "work status",
	.summary = "Show what the workspace holds and what is queued",
	.code = "status",
	.params = status_params,
	.result = status_fields,
	MR_WORK_TOOL_THAT(MR_STANDARD),
	.bind = &counting,
	.render = mr_render_work_status,
};
