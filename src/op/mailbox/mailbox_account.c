/* op/mailbox/mailbox_account.c - operations: addresses of a mailbox root. */
#include "mailbox/cleanup.h"
#include "mailbox/inspect.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

static const char *const register_modes[] = { "safe", "force", "stash", NULL };
static const char *const unregister_modes[] = { "deactivate", "purge", NULL };

static const struct mr_param register_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "address",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "the full address, research@houmao.localhost" },
	{ .name = "principal_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "its owner, HOUMAO-research" },
	{ .name = "mode",
		.type = MR_TYPE_TEXT,
		.summary = "what to do when the address is taken",
		.choices = register_modes,
		.fallback = "safe" },
	{ .name = "mailbox_path",
		.type = MR_TYPE_TEXT,
		.summary = "keep the mailbox in this private directory; the root links to it" },
	{ .name = "display_name", .type = MR_TYPE_TEXT, .summary = "a name for people" },
	{ .name = "role", .type = MR_TYPE_TEXT, .summary = "the role of the owner" },
	{ 0 },
};

static const struct mr_field register_fields[] = {
	{ .name = "ok", .type = MR_TYPE_BOOL },
	{ .name = "mode", .type = MR_TYPE_TEXT },
	{ .name = "address", .type = MR_TYPE_TEXT },
	{ .name = "active_registration_id", .type = MR_TYPE_TEXT },
	{ .name = "owner_principal_id", .type = MR_TYPE_TEXT },
	{ .name = "status", .type = MR_TYPE_TEXT },
	{ .name = "reused_existing", .type = MR_TYPE_BOOL, .flags = MR_OPTIONAL },
	{ .name = "replaced_registration_id", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },
	{ .name = "stashed_registration_id", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },
	{ .name = "stashed_mailbox_path", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },
	{ 0 },
};

static const char *text_or(const struct mr_args *in, const char *name, const char *fallback)
{
	const char *text = mr_args_text(in, name);

	return text ? text : fallback;
}

static enum mr_mailbox_register_mode register_mode(const struct mr_args *in)
{
	const char *mode = text_or(in, "mode", "safe");

	return mr_str_eq(mode, "safe")     ? MR_MAILBOX_SAFE
		: mr_str_eq(mode, "force") ? MR_MAILBOX_FORCE
					   : MR_MAILBOX_STASH;
}

/* When mode safe meets an existing mailbox, ask a person whether to replace it. */
static enum mr_code register_or_ask(struct mr_call *call, const struct mr_mailbox_root *root,
	struct mr_mailbox_register_request *request, struct mr_mailbox_register_result *out)
{
	enum mr_code rc = mr_mailbox_register(&call->cx, root, request, out);
	struct mr_err why = call->cx.err;

	if (rc != MR_ECONFLICT || request->mode != MR_MAILBOX_SAFE)
		return rc;
	if (mr_dispatch_confirm(call,
		    mr_arena_printf(call->cx.arena, "%s. Replace it?", why.msg))) {
		call->cx.err = why;
		return rc;
	}
	request->mode = MR_MAILBOX_FORCE;
	return mr_mailbox_register(&call->cx, root, request, out);
}

static enum mr_code register_account(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_register_request request = {
		.mode = register_mode(in),
		.address = mr_args_text(in, "address"),
		.owner = mr_args_text(in, "principal_id"),
		.kind = mr_args_has(in, "mailbox_path") ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT,
		.path = mr_args_text(in, "mailbox_path"),
		.display_name = mr_args_text(in, "display_name"),
		.role = mr_args_text(in, "role"),
	};
	struct mr_mailbox_register_result result;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, in, &path);

	if (!rc)
		rc = mr_mailbox_root_init(&call->cx, path, &root);
	if (!rc && request.mode == MR_MAILBOX_FORCE)
		rc = mr_dispatch_confirm(call, "Whatever holds the address is replaced. Go on?");
	if (!rc)
		rc = register_or_ask(call, &root, &request, &result);
	if (!rc)
		mr_shape_mailbox_registered(out, &result);
	return rc;
}

const struct mr_op mr_op_mailbox_register = {
	.name = "mailbox_register",
	.command = "mailbox register",
	.summary = "Give an address a mailbox",
	.params = register_params,
	.result = register_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = register_account,
};

static const struct mr_param unregister_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "address",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "the full address" },
	{ .name = "mode",
		.type = MR_TYPE_TEXT,
		.summary = "deactivate keeps everything; purge deletes the mailbox",
		.choices = unregister_modes,
		.fallback = "deactivate" },
	{ 0 },
};

static const struct mr_field unregister_fields[] = {
	{ .name = "ok", .type = MR_TYPE_BOOL },
	{ .name = "mode", .type = MR_TYPE_TEXT },
	{ .name = "address", .type = MR_TYPE_TEXT },
	{ .name = "target_registration_id", .type = MR_TYPE_TEXT },
	{ .name = "resulting_status", .type = MR_TYPE_TEXT },
	{ .name = "deactivated_registration_id", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },
	{ .name = "purged_registration_id", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },
	{ .name = "foreign_paths", .type = MR_TYPE_TEXTS, .flags = MR_OPTIONAL },
	{ 0 },
};

static enum mr_code unregister(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	bool purge = mr_str_eq(mr_args_text(in, "mode"), "purge");
	const char *address = mr_args_text(in, "address");
	struct mr_mailbox_unregister_result result;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_WRITE, &root);

	if (!rc && purge)
		rc = mr_dispatch_confirm(call,
			mr_arena_printf(call->cx.arena,
				"The mailbox of %s and what was done in it are deleted; messages "
				"stay. "
				"Go on?",
				address));
	if (!rc)
		rc = mr_mailbox_unregister(&call->cx, &root,
			purge ? MR_MAILBOX_PURGE : MR_MAILBOX_DEACTIVATE, address, &result);
	if (!rc)
		mr_shape_mailbox_unregistered(out, &result);
	return rc;
}

const struct mr_op mr_op_mailbox_unregister = {
	.name = "mailbox_unregister",
	.command = "mailbox unregister",
	.summary = "Take an address's mailbox away",
	.params = unregister_params,
	.result = unregister_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = unregister,
};

static const struct mr_param list_params[] = { MR_MAILBOX_ROOT_PARAM, { 0 } };

static const struct mr_field list_fields[] = {
	{ .name = "schema_version", .type = MR_TYPE_INT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "accounts", .type = MR_TYPE_LIST, .fields = mr_shape_mailbox_account_fields },
	{ 0 },
};

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_registrations rows;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_READ, &root);

	if (!rc)
		rc = mr_mailbox_inspect_accounts(&call->cx, &root, &rows);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "schema_version", 1);
	mr_out_text(out, "mailbox_root", root.path);
	mr_out_list(out, "accounts");
	for (size_t i = 0; i < rows.len; i++)
		mr_shape_mailbox_account(out, NULL, &rows.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_accounts_list = {
	.name = "mailbox_accounts_list",
	.command = "mailbox accounts list",
	.summary = "List the addresses of a root",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = list,
};

static const struct mr_param get_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "address",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "the full address" },
	{ 0 },
};

static const struct mr_field get_fields[] = {
	{ .name = "schema_version", .type = MR_TYPE_INT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "account", .type = MR_TYPE_OBJECT, .fields = mr_shape_mailbox_account_fields },
	{ 0 },
};

static enum mr_code get(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	const struct mr_mailbox_registration *account;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_READ, &root);

	if (!rc)
		rc = mr_mailbox_inspect_account(&call->cx, &root, mr_args_text(in, "address"),
			&account);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_int(out, "schema_version", 1);
	mr_out_text(out, "mailbox_root", root.path);
	mr_shape_mailbox_account(out, "account", account);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_accounts_get = {
	.name = "mailbox_accounts_get",
	.command = "mailbox accounts get",
	.summary = "Show one address of a root",
	.params = get_params,
	.result = get_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = get,
};

static const struct mr_param cleanup_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "inactive_older_than_seconds",
		.type = MR_TYPE_INT,
		.max = INT32_MAX,
		.summary = "spare younger inactive registrations",
		.fallback = "0" },
	{ .name = "stashed_older_than_seconds",
		.type = MR_TYPE_INT,
		.max = INT32_MAX,
		.summary = "spare younger stashed registrations",
		.fallback = "0" },
	{ .name = "dry_run", .type = MR_TYPE_BOOL, .summary = "only say what would be done" },
	{ 0 },
};

static enum mr_code cleanup(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	bool dry_run = mr_args_bool(in, "dry_run", false);
	struct mr_mailbox_cleanup_result result;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_WRITE, &root);

	if (!rc && !dry_run)
		rc = mr_dispatch_confirm(call,
			"Mailboxes of inactive and stashed registrations are deleted. Go on?");
	if (!rc)
		rc = mr_mailbox_cleanup(&call->cx, &root,
			mr_args_int(in, "inactive_older_than_seconds", 0),
			mr_args_int(in, "stashed_older_than_seconds", 0), dry_run, &result);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_mailbox_cleanup(out, root.path, &result);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_cleanup = {
	.name = "mailbox_cleanup",
	.command = "mailbox cleanup",
	.summary = "Delete registrations that are over, and their mailboxes",
	.params = cleanup_params,
	.result = mr_shape_mailbox_cleanup_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = cleanup,
};
