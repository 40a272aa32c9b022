/* op/work/work_render.c - operations: files that are generated, and the templates they are made
 * from. */
#include "op/work/render_work.h"
#include "op/work/work_ops.h"
#include "workspace/refresh.h"
#include "workspace/templates.h"

/* --- refresh --- */

/* Members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define COUNT(member, field_name, about)                                                           \
	MR_FIELD(struct mr_work_refreshed, member, field_name, .summary = (about))
#define VIEW_COUNTS(list)                                                                          \
	COUNT(list.count, #list "_count", "messages there"),                                       \
		COUNT(list.count, #list "_written_count", "their views, which are up to date"),    \
		COUNT(list.removed, "stale_" #list "_removed_count", "views that were removed")
/* NOLINTEND(bugprone-macro-parentheses) */
const struct mr_field mr_work_refreshed_fields[] = {
	COUNT(active_cases, "active_case_count", "active cases"),
	COUNT(archived_cases, "archived_case_count", "archived cases"),
	COUNT(categories, "archive_message_category_count", "categories of archived messages"),
	COUNT(records_rebuilt, "message_cache_rebuilt_count", "records that were written"),
	VIEW_COUNTS(triage),
	VIEW_COUNTS(spam),
	VIEW_COUNTS(trash),
	VIEW_COUNTS(deleted),
	COUNT(generated, "generated", "how many views each template made"),
	COUNT(template_sources, "template_sources",
		"how often each template was the built-in one or the workspace's own"),
	{ 0 },
};

struct refreshed {
	struct mr_work_refreshed all;
	int64_t text_cache_removed_count; /* there is no such cache here */
};
static const struct mr_field refresh_fields[] = {
	MR_MEMBERS(struct refreshed, all, struct mr_work_refreshed, mr_work_refreshed_fields),
	MR_WORK_FIELD(struct refreshed, text_cache_removed_count, "always 0"),
	{ 0 },
};

static enum mr_code refresh(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_nothing *request, struct refreshed *result)
{
	(void)request;
	return mr_work_refresh_all(cx, work, &result->all);
}
MR_WORK_BIND(refreshing, refresh, struct mr_nothing, struct refreshed);

const struct mr_op mr_op_work_render_refresh = {
	.name = "work_render_refresh",
	.command = "work render refresh",
	.summary = "Write all generated files again where they are missing or out of date",
	.code = "render_refreshed",
	.result = refresh_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_TOOL_THAT(MR_IDEMPOTENT),
	.bind = &refreshing,
	.render = mr_render_work_refreshed,
};

/* --- templates --- */

static const struct mr_param templates_params[] = {
	MR_PARAM(struct mr_work_templates_export, force, "force",
		.summary = "overwrite templates that are there"),
	{ 0 },
};

#define TEMPLATE(member, about) MR_WORK_FIELD(struct mr_work_exported_template, member, about)
static const struct mr_field template_fields[] = {
	TEMPLATE(language, "en-US or zh-CN"),
	TEMPLATE(template_key, "which template"),
	TEMPLATE(path, "its file"),
	TEMPLATE(source, "workspace"),
	TEMPLATE(action, "exported, overwritten or kept"),
	{ 0 },
};

#define EXPORTED(member, about) MR_WORK_FIELD(struct mr_work_templates_exported, member, about)
static const struct mr_field templates_fields[] = {
	EXPORTED(template_dir, "the directory of the templates"),
	EXPORTED(template_dir_created, "it was made"),
	EXPORTED(force, "templates that were there were overwritten"),
	EXPORTED(exported_count, "templates that were not there before"),
	EXPORTED(overwritten_count, "templates that were overwritten"),
	EXPORTED(kept_count, "templates that were left as they are"),
	EXPORTED(builtin_count, "always 0"),
	EXPORTED(workspace_count, "templates that are in the workspace now"),
	MR_FIELD_ROWS(struct mr_work_templates_exported, items, len,
		struct mr_work_exported_template, template_fields, "items",
		.summary = "all of them"),
	{ 0 },
};

MR_WORK_BIND(exporting, mr_work_templates_export, struct mr_work_templates_export,
	struct mr_work_templates_exported);

const struct mr_op mr_op_work_render_templates = {
	.name = "work_render_templates",
	.command = "work render templates",
	.summary = "Copy the built-in templates into the workspace, to be changed there",
	.code = "render_templates",
	.params = templates_params,
	.result = templates_fields,
	.needs = MR_NEED_WRITE,
	MR_WORK_OP,
	.bind = &exporting,
	.render = mr_render_work_templates,
};
