/* op/mailbox/mailbox_root.c - operations: a mailbox root as a whole. */
#include "app/locations.h"
#include "app/settings.h"
#include "mailbox/layout.h"
#include "mailbox/repair.h"
#include "op/contract.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/render_mailbox.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

enum mr_code mr_mailbox_ops_path(struct mr_call *call, const char *named, const char **out)
{
	*out = named;
	return named ? MR_OK
		     : mr_settings_path(call->app->settings, "mailbox.root", out, &call->cx.err);
}

/* Which of the ways to choose a root it was, in a sentence. */
static const char *choice(const struct mr_call *call, const char *named)
{
	const char *source;

	if (named)
		return "The mailbox root was given with --mailbox-root.";
	source = mr_settings_source(call->app->settings, "mailbox.root");
	if (mr_str_eq(source, "default"))
		return "The mailbox root is the default of the setting mailbox.root.";
	return mr_arena_printf(call->cx.arena,
		"The mailbox root is the setting mailbox.root, from %s.", source);
}

struct mr_shape_mailbox_head mr_mailbox_ops_head(const struct mr_call *call, const char *named,
	const char *root)
{
	return (struct mr_shape_mailbox_head){
		.schema_version = 1,
		.mailbox_root = mr_locations_absolute(call->cx.arena, root),
		.detail = choice(call, named),
	};
}

struct root_request {
	const char *mailbox_root;
};

static const struct mr_param root_params[] = { MR_MAILBOX_ROOT_PARAM(struct root_request), { 0 } };

struct made {
	struct mr_shape_mailbox_head head;
	bool bootstrapped, supported;
	int64_t protocol_version;
	const char *sqlite_path, *rules_dir, *mailboxes_dir, *status;
};

static const struct mr_field init_fields[] = {
	MR_MEMBERS(struct made, head, struct mr_shape_mailbox_head, mr_shape_mailbox_head_fields),
	MR_FIELD(struct made, bootstrapped, "bootstrapped"),
	MR_FIELD(struct made, supported, "supported"),
	MR_FIELD(struct made, protocol_version, "protocol_version"),
	MR_FIELD(struct made, sqlite_path, "sqlite_path"),
	MR_FIELD(struct made, rules_dir, "rules_dir"),
	MR_FIELD(struct made, mailboxes_dir, "mailboxes_dir"),
	MR_FIELD(struct made, status, "status"),
	{ 0 },
};

static enum mr_code make_root(struct mr_call *call, const struct root_request *asked,
	struct made *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_arena *arena = call->cx.arena;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, asked->mailbox_root, &path);

	if (!rc)
		rc = mr_mailbox_root_init(&call->cx, path, &root);
	if (rc)
		return rc;
	*out = (struct made){
		.head = mr_mailbox_ops_head(call, asked->mailbox_root, root.path),
		.bootstrapped = true,
		.supported = true,
		.protocol_version = 3,
		.sqlite_path = mr_mailbox_layout_join(arena, root.path, MR_MAILBOX_INDEX_FILE),
		.rules_dir = mr_mailbox_layout_join(arena, root.path, "rules"),
		.mailboxes_dir = mr_mailbox_layout_join(arena, root.path, MR_MAILBOX_MAILBOXES),
		.status = "ready",
	};
	return MR_OK;
}
MR_BIND_ALONE(init, make_root, struct root_request, struct made);

const struct mr_op mr_op_mailbox_init = {
	.name = "mailbox_init",
	.command = "mailbox init",
	.summary = "Make a mailbox root, or complete one",
	.params = root_params,
	.result = init_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &init,
	.render = mr_render_mailbox_init,
};

struct status {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_status root;
	int64_t protocol_version;
	bool has_version; /* and it is a number */
};

static const struct mr_field count_fields[] = {
	MR_FIELD(struct status, root.active, "active"),
	MR_FIELD(struct status, root.inactive, "inactive"),
	MR_FIELD(struct status, root.stashed, "stashed"),
	{ 0 },
};

static const struct mr_field status_fields[] = {
	MR_MEMBERS(struct status, head, struct mr_shape_mailbox_head, mr_shape_mailbox_head_fields),
	MR_FIELD(struct status, root.exists, "exists"),
	MR_FIELD(struct status, root.bootstrapped, "bootstrapped"),
	MR_FIELD(struct status, root.supported, "supported"),
	MR_FIELD(struct status, protocol_version, "protocol_version", .flags = MR_NULLABLE,
		.when = MR_FLAG(struct status, has_version)),
	MR_FIELD_SAME(struct status, count_fields, "registration_counts"),
	MR_FIELD(struct status, root.structural_state_readable, "structural_state_readable"),
	MR_FIELD(struct status, root.error, "error", .flags = MR_NULLABLE),
	{ 0 },
};

static enum mr_code look(struct mr_call *call, const struct root_request *asked, struct status *out)
{
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, asked->mailbox_root, &path);

	if (!rc)
		rc = mr_mailbox_root_status(&call->cx, path, &out->root);
	if (rc)
		return rc;
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, out->root.path);
	out->has_version = out->root.protocol_version &&
		mr_str_to_int(out->root.protocol_version, &out->protocol_version);
	return MR_OK;
}
MR_BIND_ALONE(status, look, struct root_request, struct status);

const struct mr_op mr_op_mailbox_status = {
	.name = "mailbox_status",
	.command = "mailbox status",
	.summary = "Show what is at a mailbox root",
	.params = root_params,
	.result = status_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &status,
	.render = mr_render_mailbox_status,
};

/* Of a result that has a report of check or repair as `report`: what was found. Many are only
 * counted, the first are listed. */
#define FOUND_FIELDS(struct_type)                                                                  \
	MR_FIELD(struct_type, report.problem_count, "problem_count"),                              \
		MR_FIELD_ROWS(struct_type, report.problems, problems_listed,                       \
			struct mr_mailbox_problem, mr_shape_mailbox_problem_fields, "problems"),   \
		MR_FIELD(struct_type, report.warning_count, "warning_count"),                      \
		MR_FIELD_ROWS(struct_type, report.warnings, warnings_listed,                       \
			struct mr_mailbox_problem, mr_shape_mailbox_problem_fields, "warnings")

static size_t listed(size_t count)
{
	return count < MR_MAILBOX_PROBLEMS ? count : MR_MAILBOX_PROBLEMS;
}

struct checked {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_check_result report;
	bool ok;
	size_t problems_listed, warnings_listed;
};

static const struct mr_field check_fields[] = {
	MR_FIELD(struct checked, ok, "ok", .summary = "no problem was found"),
	MR_FIELD(struct checked, report.message_count, "message_count"),
	MR_FIELD(struct checked, report.registration_count, "registration_count"),
	FOUND_FIELDS(struct checked),
	MR_MEMBERS(struct checked, head, struct mr_shape_mailbox_head,
		mr_shape_mailbox_head_fields),
	{ 0 },
};

static enum mr_code compare(struct mr_call *call, const struct root_request *asked,
	struct checked *out)
{
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, asked->mailbox_root, &path);

	if (!rc)
		rc = mr_mailbox_check(&call->cx, path, &out->report);
	if (rc)
		return rc;
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, path);
	out->ok = out->report.problem_count == 0;
	out->problems_listed = listed(out->report.problem_count);
	out->warnings_listed = listed(out->report.warning_count);
	call->exit_status = !out->ok;
	return MR_OK;
}
MR_BIND_ALONE(check, compare, struct root_request, struct checked);

const struct mr_op mr_op_mailbox_check = {
	.name = "mailbox_check",
	.command = "mailbox check",
	.summary = "Compare a mailbox root with its messages; change nothing",
	.help = "Mail that is being delivered meanwhile is no problem. Ends with 1 when something "
		"is "
		"wrong; mailroom mailbox repair puts it right.",
	.params = root_params,
	.result = check_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &check,
	.render = mr_render_mailbox_checked,
};

struct repair_request {
	const char *mailbox_root;
	bool cleanup_staging, quarantine_staging, remove_staging;
};

static const struct mr_param repair_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct repair_request),
	MR_PARAM(struct repair_request, cleanup_staging, "cleanup_staging",
		.summary = "clear what was left in staging/", .fallback = "yes"),
	MR_PARAM(struct repair_request, quarantine_staging, "quarantine_staging",
		.summary = "keep it in staging/quarantine/", .fallback = "yes"),
	MR_PARAM(struct repair_request, remove_staging, "remove_staging",
		.summary = "delete it instead"),
	{ 0 },
};

struct repaired {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_repair_result report;
	size_t problems_listed, warnings_listed;
};

static const struct mr_field repair_fields[] = {
	MR_MEMBERS(struct repaired, head, struct mr_shape_mailbox_head,
		mr_shape_mailbox_head_fields),
	MR_MEMBERS(struct repaired, report, struct mr_mailbox_repair_result,
		mr_shape_mailbox_repair_fields),
	FOUND_FIELDS(struct repaired),
	{ 0 },
};

static enum mr_code rebuild(struct mr_call *call, const struct repair_request *asked,
	struct repaired *out)
{
	const struct mr_mailbox_repair_options options = {
		.keep_staging = !asked->cleanup_staging,
		.remove_staging = asked->remove_staging || !asked->quarantine_staging,
	};
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, asked->mailbox_root, &path);

	if (!rc)
		rc = mr_mailbox_repair(&call->cx, path, &options, &out->report);
	if (rc)
		return rc;
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, path);
	out->problems_listed = listed(out->report.problem_count);
	out->warnings_listed = listed(out->report.warning_count);
	return MR_OK;
}
MR_BIND_ALONE(repair, rebuild, struct repair_request, struct repaired);

const struct mr_op mr_op_mailbox_repair = {
	.name = "mailbox_repair",
	.command = "mailbox repair",
	.summary = "Rebuild a root's index, links and missing state from its messages",
	.help = "Flags and boxes that exist are kept; documents that cannot be read are set "
		"aside. "
		"mailroom mailbox check tells beforehand what it would find.",
	.params = repair_params,
	.result = repair_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &repair,
	.render = mr_render_mailbox_repaired,
};
