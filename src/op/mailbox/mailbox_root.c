/* op/mailbox/mailbox_root.c - operations: a mailbox root as a whole. */
#include "app/settings.h"
#include "mailbox/layout.h"
#include "mailbox/open.h"
#include "mailbox/repair.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

enum mr_code mr_mailbox_ops_path(struct mr_call *call, const struct mr_args *in, const char **out)
{
	*out = mr_args_text(in, "mailbox_root");
	return *out ? MR_OK
		    : mr_settings_path(call->app->settings, "mailbox.root", out, &call->cx.err);
}

enum mr_code mr_mailbox_ops_open(struct mr_call *call, const struct mr_args *in,
	enum mr_mailbox_root_for purpose, struct mr_mailbox_root *out)
{
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, in, &path);

	return rc ? rc : mr_mailbox_root_open(&call->cx, path, purpose, out);
}

static const struct mr_param root_params[] = { MR_MAILBOX_ROOT_PARAM, { 0 } };

static const struct mr_field init_fields[] = {
	{ .name = "schema_version", .type = MR_TYPE_INT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "bootstrapped", .type = MR_TYPE_BOOL },
	{ .name = "supported", .type = MR_TYPE_BOOL },
	{ .name = "protocol_version", .type = MR_TYPE_TEXT },
	{ .name = "sqlite_path", .type = MR_TYPE_TEXT },
	{ .name = "rules_dir", .type = MR_TYPE_TEXT },
	{ .name = "mailboxes_dir", .type = MR_TYPE_TEXT },
	{ .name = "status", .type = MR_TYPE_TEXT },
	{ 0 },
};

static enum mr_code init(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_arena *arena = call->cx.arena;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, in, &path);

	if (!rc)
		rc = mr_mailbox_root_init(&call->cx, path, &root);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "schema_version", 1);
	mr_out_text(out, "mailbox_root", root.path);
	mr_out_bool(out, "bootstrapped", true);
	mr_out_bool(out, "supported", true);
	mr_out_text(out, "protocol_version", "3");
	mr_out_text(out, "sqlite_path",
		mr_mailbox_layout_join(arena, root.path, MR_MAILBOX_INDEX_FILE));
	mr_out_text(out, "rules_dir", mr_mailbox_layout_join(arena, root.path, "rules"));
	mr_out_text(out, "mailboxes_dir",
		mr_mailbox_layout_join(arena, root.path, MR_MAILBOX_MAILBOXES));
	mr_out_text(out, "status", "ready");
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_init = {
	.name = "mailbox_init",
	.command = "mailbox init",
	.summary = "Make a mailbox root, or complete one",
	.params = root_params,
	.result = init_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = init,
};

static const struct mr_field count_fields[] = {
	{ .name = "active", .type = MR_TYPE_INT },
	{ .name = "inactive", .type = MR_TYPE_INT },
	{ .name = "stashed", .type = MR_TYPE_INT },
	{ 0 },
};

static const struct mr_field status_fields[] = {
	{ .name = "schema_version", .type = MR_TYPE_INT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "exists", .type = MR_TYPE_BOOL },
	{ .name = "bootstrapped", .type = MR_TYPE_BOOL },
	{ .name = "supported", .type = MR_TYPE_BOOL },
	{ .name = "protocol_version", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "registration_counts", .type = MR_TYPE_OBJECT, .fields = count_fields },
	{ .name = "structural_state_readable", .type = MR_TYPE_BOOL },
	{ .name = "error", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ 0 },
};

static enum mr_code status(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_status s;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, in, &path);

	if (!rc)
		rc = mr_mailbox_root_status(&call->cx, path, &s);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "schema_version", 1);
	mr_out_text(out, "mailbox_root", s.path);
	mr_out_bool(out, "exists", s.exists);
	mr_out_bool(out, "bootstrapped", s.bootstrapped);
	mr_out_bool(out, "supported", s.supported);
	mr_out_text(out, "protocol_version", s.protocol_version);
	mr_out_map(out, "registration_counts");
	mr_out_int(out, "active", s.active);
	mr_out_int(out, "inactive", s.inactive);
	mr_out_int(out, "stashed", s.stashed);
	mr_out_end(out);
	mr_out_bool(out, "structural_state_readable", s.structural_state_readable);
	mr_out_text(out, "error", s.error);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_status = {
	.name = "mailbox_status",
	.command = "mailbox status",
	.summary = "Show what is at a mailbox root",
	.params = root_params,
	.result = status_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = status,
};

static const struct mr_field check_fields[] = {
	{ .name = "ok", .type = MR_TYPE_BOOL, .summary = "no problem was found" },
	{ .name = "message_count", .type = MR_TYPE_INT },
	{ .name = "registration_count", .type = MR_TYPE_INT },
	{ .name = "problem_count", .type = MR_TYPE_INT },
	{ .name = "problems", .type = MR_TYPE_LIST, .fields = mr_shape_mailbox_problem_fields },
	{ .name = "warning_count", .type = MR_TYPE_INT },
	{ .name = "warnings", .type = MR_TYPE_LIST, .fields = mr_shape_mailbox_problem_fields },
	{ 0 },
};

static enum mr_code check(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_check_result result;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, in, &path);

	if (!rc)
		rc = mr_mailbox_check(&call->cx, path, &result);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", result.problem_count == 0);
	mr_out_int(out, "message_count", (int64_t)result.message_count);
	mr_out_int(out, "registration_count", (int64_t)result.registration_count);
	mr_shape_mailbox_problems(out, "problem_count", "problems", result.problems,
		result.problem_count);
	mr_shape_mailbox_problems(out, "warning_count", "warnings", result.warnings,
		result.warning_count);
	mr_out_end(out);
	call->exit_status = result.problem_count > 0;
	return MR_OK;
}

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
	.run = check,
};

static const struct mr_param repair_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "cleanup_staging",
		.type = MR_TYPE_BOOL,
		.summary = "clear what was left in staging/",
		.fallback = "yes" },
	{ .name = "quarantine_staging",
		.type = MR_TYPE_BOOL,
		.summary = "keep it in staging/quarantine/",
		.fallback = "yes" },
	{ .name = "remove_staging", .type = MR_TYPE_BOOL, .summary = "delete it instead" },
	{ 0 },
};

static const struct mr_field repair_fields[] = {
	{ .name = "ok", .type = MR_TYPE_BOOL },
	{ .name = "message_count", .type = MR_TYPE_INT },
	{ .name = "projection_count", .type = MR_TYPE_INT },
	{ .name = "registration_count", .type = MR_TYPE_INT },
	{ .name = "restored_state_count", .type = MR_TYPE_INT },
	{ .name = "defaulted_state_count", .type = MR_TYPE_INT },
	{ .name = "staging_action", .type = MR_TYPE_TEXT },
	{ .name = "staging_artifact_count", .type = MR_TYPE_INT },
	{ .name = "staging_artifact_paths", .type = MR_TYPE_TEXTS },
	{ .name = "backed_up_index_path", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "problem_count", .type = MR_TYPE_INT },
	{ .name = "problems", .type = MR_TYPE_LIST, .fields = mr_shape_mailbox_problem_fields },
	{ .name = "warning_count", .type = MR_TYPE_INT },
	{ .name = "warnings", .type = MR_TYPE_LIST, .fields = mr_shape_mailbox_problem_fields },
	{ 0 },
};

static enum mr_code repair(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_repair_options options = {
		.keep_staging = !mr_args_bool(in, "cleanup_staging", true),
		.remove_staging = mr_args_bool(in, "remove_staging", false) ||
			!mr_args_bool(in, "quarantine_staging", true),
	};
	struct mr_mailbox_repair_result result;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, in, &path);

	if (!rc)
		rc = mr_mailbox_repair(&call->cx, path, &options, &result);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_mailbox_repair(out, &result);
	mr_shape_mailbox_problems(out, "problem_count", "problems", result.problems,
		result.problem_count);
	mr_shape_mailbox_problems(out, "warning_count", "warnings", result.warnings,
		result.warning_count);
	mr_out_end(out);
	return MR_OK;
}

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
	.run = repair,
};
