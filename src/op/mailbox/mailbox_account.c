/* op/mailbox/mailbox_account.c - operations: addresses of a mailbox root. */
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/render_mailbox.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

struct register_request {
	const char *mailbox_root;
	struct mr_mailbox_register_request account;
};

#define REGISTER_PARAM(member, ...) MR_PARAM(struct register_request, account.member, __VA_ARGS__)

static const struct mr_param register_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct register_request),
	REGISTER_PARAM(address, "address", .flags = MR_REQUIRED,
		.summary = "the full address, research@houmao.localhost"),
	REGISTER_PARAM(owner, "principal_id", .flags = MR_REQUIRED,
		.summary = "its owner, HOUMAO-research"),
	REGISTER_PARAM(mode, "mode", .summary = "what to do when the address is taken",
		.choices = mr_shape_mailbox_register_modes, .fallback = "safe"),
	REGISTER_PARAM(path, "mailbox_path",
		.summary = "keep the mailbox in this private directory; the root links to it"),
	REGISTER_PARAM(display_name, "display_name", .summary = "a name for people"),
	REGISTER_PARAM(role, "role", .summary = "the role of the owner"),
	{ 0 },
};

enum mr_code mr_mailbox_ops_replace(struct mr_call *call)
{
	struct mr_err why = call->cx.err;

	if (!mr_dispatch_confirm(call, mr_arena_printf(call->cx.arena, "%s. Replace it?", why.msg)))
		return MR_OK;
	call->cx.err = why;
	return mr_err_set(&call->cx.err, why.code, "%s; with --yes it is replaced", why.msg);
}

/* When mode safe meets an existing mailbox, ask a person whether to replace it. */
static enum mr_code register_or_ask(struct mr_call *call, const struct mr_mailbox_root *root,
	struct mr_mailbox_register_request *request, struct mr_mailbox_register_result *out)
{
	enum mr_code rc = mr_mailbox_register(&call->cx, root, request, out);

	if (rc != MR_ECONFLICT || request->mode != MR_MAILBOX_SAFE)
		return rc;
	rc = mr_mailbox_ops_replace(call);
	if (rc)
		return rc;
	request->mode = MR_MAILBOX_FORCE;
	return mr_mailbox_register(&call->cx, root, request, out);
}

struct registered {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_register_result result;
};

static const struct mr_field registered_fields[] = {
	MR_MEMBERS(struct registered, head, struct mr_shape_mailbox_head,
		mr_shape_mailbox_head_fields),
	MR_MEMBERS(struct registered, result, struct mr_mailbox_register_result,
		mr_shape_mailbox_register_fields),
	{ 0 },
};

static enum mr_code register_account(struct mr_call *call, struct register_request *asked,
	struct registered *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	const char *path;
	enum mr_code rc = mr_mailbox_ops_path(call, asked->mailbox_root, &path);

	asked->account.kind = asked->account.path ? MR_MAILBOX_SYMLINK : MR_MAILBOX_IN_ROOT;
	if (!rc)
		rc = mr_mailbox_root_init(&call->cx, path, &root);
	if (!rc && asked->account.mode == MR_MAILBOX_FORCE)
		rc = mr_dispatch_confirm(call, "Whatever holds the address is replaced. Go on?");
	if (rc)
		return rc;
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root.path);
	return register_or_ask(call, &root, &asked->account, &out->result);
}
MR_BIND_ALONE(registering, register_account, struct register_request, struct registered);

const struct mr_op mr_op_mailbox_register = {
	.name = "mailbox_register",
	.command = "mailbox register",
	.summary = "Give an address a mailbox",
	.params = register_params,
	.result = registered_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &registering,
	.render = mr_render_mailbox_registered,
};

struct account_request {
	const char *mailbox_root, *address;
	enum mr_mailbox_unregister_mode mode;
	int64_t inactive_older_than_s, stashed_older_than_s;
	bool dry_run;
};

static const struct mr_param unregister_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct account_request),
	MR_MAILBOX_ADDRESS_PARAM(struct account_request),
	MR_PARAM(struct account_request, mode, "mode",
		.summary = "deactivate keeps everything; purge deletes the mailbox",
		.choices = mr_shape_mailbox_unregister_modes, .fallback = "deactivate"),
	{ 0 },
};

struct unregistered {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_unregister_result result;
};

static const struct mr_field unregistered_fields[] = {
	MR_MEMBERS(struct unregistered, head, struct mr_shape_mailbox_head,
		mr_shape_mailbox_head_fields),
	MR_MEMBERS(struct unregistered, result, struct mr_mailbox_unregister_result,
		mr_shape_mailbox_unregister_fields),
	{ 0 },
};

static enum mr_code unregister(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct account_request *asked, struct unregistered *out)
{
	enum mr_code rc = MR_OK;

	if (asked->mode == MR_MAILBOX_PURGE)
		rc = mr_dispatch_confirm(call,
			mr_arena_printf(call->cx.arena,
				"The mailbox of %s and what was done in it are deleted; messages "
				"stay. Go on?",
				asked->address));
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	return rc
		? rc
		: mr_mailbox_unregister(&call->cx, root, asked->mode, asked->address, &out->result);
}
MR_MAILBOX_BIND(unregistering, unregister, MR_MAILBOX_ROOT_WRITE, struct account_request,
	struct unregistered);

const struct mr_op mr_op_mailbox_unregister = {
	.name = "mailbox_unregister",
	.command = "mailbox unregister",
	.summary = "Take an address's mailbox away",
	.params = unregister_params,
	.result = unregistered_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &unregistering,
	.render = mr_render_mailbox_unregistered,
};

static const struct mr_param list_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct account_request),
	{ 0 },
};

struct listed {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_registrations accounts;
};

static const struct mr_field list_fields[] = {
	MR_MEMBERS(struct listed, head, struct mr_shape_mailbox_head, mr_shape_mailbox_head_fields),
	MR_FIELD_LIST(struct listed, accounts, struct mr_mailbox_registration,
		mr_shape_mailbox_account_fields, "accounts"),
	{ 0 },
};

static enum mr_code list_accounts(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct account_request *asked, struct listed *out)
{
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	return mr_mailbox_inspect_accounts(&call->cx, root, &out->accounts);
}
MR_MAILBOX_BIND(list, list_accounts, MR_MAILBOX_ROOT_READ, struct account_request, struct listed);

const struct mr_op mr_op_mailbox_accounts_list = {
	.name = "mailbox_accounts_list",
	.command = "mailbox accounts list",
	.summary = "List the addresses of a root",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &list,
	.render = mr_render_mailbox_accounts,
};

static const struct mr_param get_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct account_request),
	MR_MAILBOX_ADDRESS_PARAM(struct account_request),
	{ 0 },
};

struct got {
	struct mr_shape_mailbox_head head;
	const struct mr_mailbox_registration *account;
};

static const struct mr_field get_fields[] = {
	MR_MEMBERS(struct got, head, struct mr_shape_mailbox_head, mr_shape_mailbox_head_fields),
	MR_FIELD_STRUCT(struct got, account, struct mr_mailbox_registration,
		mr_shape_mailbox_account_fields, "account"),
	{ 0 },
};

static enum mr_code get_account(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct account_request *asked, struct got *out)
{
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	return mr_mailbox_inspect_account(&call->cx, root, asked->address, &out->account);
}
MR_MAILBOX_BIND(get, get_account, MR_MAILBOX_ROOT_READ, struct account_request, struct got);

const struct mr_op mr_op_mailbox_accounts_get = {
	.name = "mailbox_accounts_get",
	.command = "mailbox accounts get",
	.summary = "Show one address of a root",
	.params = get_params,
	.result = get_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &get,
	.render = mr_render_mailbox_account,
};

static const struct mr_param cleanup_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct account_request),
	MR_PARAM(struct account_request, inactive_older_than_s, "inactive_older_than_seconds",
		.max = INT32_MAX, .summary = "spare younger inactive registrations",
		.fallback = "0"),
	MR_PARAM(struct account_request, stashed_older_than_s, "stashed_older_than_seconds",
		.max = INT32_MAX, .summary = "spare younger stashed registrations",
		.fallback = "0"),
	MR_MAILBOX_DRY_RUN_PARAM(struct account_request),
	{ 0 },
};

static enum mr_code clean_up(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct account_request *asked, struct mr_shape_mailbox_cleanup *out)
{
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	out->has_ages = true;
	return mr_mailbox_cleanup(&call->cx, root, asked->inactive_older_than_s,
		asked->stashed_older_than_s, asked->dry_run, &out->result);
}
MR_MAILBOX_BIND(cleanup, clean_up, MR_MAILBOX_ROOT_WRITE, struct account_request,
	struct mr_shape_mailbox_cleanup);

const struct mr_op mr_op_mailbox_cleanup = {
	.name = "mailbox_cleanup",
	.command = "mailbox cleanup",
	.summary = "Delete registrations that are over, and their mailboxes",
	.params = cleanup_params,
	.result = mr_shape_mailbox_cleanup_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &cleanup,
	.render = mr_render_mailbox_removed,
};
