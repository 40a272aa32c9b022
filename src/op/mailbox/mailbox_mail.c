/* op/mailbox/mailbox_mail.c - operations: the messages of a mailbox root, without the state that
 * owners gave them. */
#include "mailbox/cleanup.h"
#include "mailbox/export.h"
#include "mailbox/inspect.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

static const struct mr_param list_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "address",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "the full address" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.max = 1000000,
		.summary = "the newest so many; 0 for all",
		.fallback = "0" },
	{ 0 },
};

static const struct mr_field listed_fields[] = {
	{ .name = "message_id", .type = MR_TYPE_TEXT },
	{ .name = "thread_id", .type = MR_TYPE_TEXT },
	{ .name = "created_at_utc", .type = MR_TYPE_TEXT },
	{ .name = "subject", .type = MR_TYPE_TEXT },
	{ .name = "sender_address", .type = MR_TYPE_TEXT },
	{ .name = "sender_principal_id", .type = MR_TYPE_TEXT },
	{ .name = "folder", .type = MR_TYPE_TEXT },
	{ .name = "projection_path", .type = MR_TYPE_TEXT },
	{ .name = "canonical_path", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field list_fields[] = {
	{ .name = "schema_version", .type = MR_TYPE_INT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "address", .type = MR_TYPE_TEXT },
	{ .name = "registration_id", .type = MR_TYPE_TEXT },
	{ .name = "messages", .type = MR_TYPE_LIST, .fields = listed_fields },
	{ 0 },
};

/* What the results of list and get begin with, in an open map. */
static void put_head(struct mr_out *out, const struct mr_mailbox_root *root,
	const struct mr_mailbox_registration *account)
{
	mr_out_int(out, "schema_version", 1);
	mr_out_text(out, "mailbox_root", root->path);
	mr_out_text(out, "address", account->address);
	mr_out_text(out, "registration_id", account->id);
}

static enum mr_code list(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_inspect_messages found;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_READ, &root);

	if (!rc)
		rc = mr_mailbox_inspect_messages(&call->cx, &root, mr_args_text(in, "address"),
			mr_args_int(in, "limit", 0), &found);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	put_head(out, &root, found.account);
	mr_out_list(out, "messages");
	for (size_t i = 0; i < found.messages.len; i++)
		mr_shape_mailbox_listed(out, &found.messages.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_messages_list = {
	.name = "mailbox_messages_list",
	.command = "mailbox messages list",
	.summary = "List the messages in an address's mailbox, newest first",
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
	{ .name = "message_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "its id, from mailroom mailbox messages list" },
	{ 0 },
};

static const struct mr_field message_fields[] = {
	{ .name = "schema_version", .type = MR_TYPE_INT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "address", .type = MR_TYPE_TEXT },
	{ .name = "registration_id", .type = MR_TYPE_TEXT },
	{ .name = "message", .type = MR_TYPE_OBJECT },
	{ 0 },
};

static enum mr_code get(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_inspect_message found;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_READ, &root);

	if (!rc)
		rc = mr_mailbox_inspect_message(&call->cx, &root, mr_args_text(in, "address"),
			mr_args_text(in, "message_id"), &found);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	put_head(out, &root, found.account);
	mr_out_map(out, "message");
	mr_shape_mailbox_indexed(out, found.message, found.where);
	mr_out_value(out, "headers", found.headers);
	mr_shape_mailbox_recipients(out, "recipients", &found.recipients);
	mr_shape_mailbox_attachments(out, "attachments", &found.attachments);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_messages_get = {
	.name = "mailbox_messages_get",
	.command = "mailbox messages get",
	.summary = "Show one message of an address's mailbox, whole",
	.params = get_params,
	.result = message_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = get,
};

static enum mr_code clear(struct mr_call *call, const struct mr_args *in, const char *address,
	const char *question, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	bool dry_run = mr_args_bool(in, "dry_run", false);
	struct mr_mailbox_cleanup_result result;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_WRITE, &root);

	if (!rc && !dry_run)
		rc = mr_dispatch_confirm(call, question);
	if (!rc)
		rc = mr_mailbox_clear(&call->cx, &root, address, dry_run, &result);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_mailbox_cleanup(out, root.path, &result);
	mr_out_end(out);
	return MR_OK;
}

static const struct mr_param clear_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "dry_run", .type = MR_TYPE_BOOL, .summary = "only say what would be done" },
	{ 0 },
};

static enum mr_code clear_all(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	return clear(call, in, NULL, "Every message of this root is deleted. Go on?", out);
}

const struct mr_op mr_op_mailbox_clear_messages = {
	.name = "mailbox_clear_messages",
	.command = "mailbox clear-messages",
	.summary = "Delete every message of a root; addresses stay",
	.params = clear_params,
	.result = mr_shape_mailbox_cleanup_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = clear_all,
};

static const struct mr_param account_clear_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "address",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "the full address" },
	{ .name = "dry_run", .type = MR_TYPE_BOOL, .summary = "only say what would be done" },
	{ 0 },
};

static enum mr_code clear_account(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	const char *address = mr_args_text(in, "address");

	return clear(call, in, address,
		mr_arena_printf(call->cx.arena,
			"The messages of %s are deleted, unless somebody else has them too. Go on?",
			address),
		out);
}

const struct mr_op mr_op_mailbox_messages_clear = {
	.name = "mailbox_messages_clear",
	.command = "mailbox messages clear",
	.summary = "Delete the messages of one address",
	.params = account_clear_params,
	.result = mr_shape_mailbox_cleanup_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = clear_account,
};

static const char *const symlink_modes[] = { "materialize", "preserve", NULL };

static const struct mr_param export_params[] = {
	MR_MAILBOX_ROOT_PARAM,
	{ .name = "output_dir",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.summary = "a directory that does not exist yet" },
	{ .name = "all_accounts", .type = MR_TYPE_BOOL, .summary = "every address" },
	{ .name = "address", .type = MR_TYPE_TEXTS, .summary = "only this address" },
	{ .name = "symlink_mode",
		.type = MR_TYPE_TEXT,
		.summary = "copy what links point to, or keep links",
		.choices = symlink_modes,
		.fallback = "materialize" },
	{ 0 },
};

static const struct mr_field export_fields[] = {
	{ .name = "output_dir", .type = MR_TYPE_TEXT },
	{ .name = "manifest_path", .type = MR_TYPE_TEXT },
	{ .name = "account_count", .type = MR_TYPE_INT },
	{ .name = "message_count", .type = MR_TYPE_INT },
	{ .name = "projection_count", .type = MR_TYPE_INT },
	{ .name = "attachment_count", .type = MR_TYPE_INT },
	{ .name = "copied_count", .type = MR_TYPE_INT },
	{ .name = "materialized_count", .type = MR_TYPE_INT },
	{ .name = "preserved_symlink_count", .type = MR_TYPE_INT },
	{ .name = "skipped_count", .type = MR_TYPE_INT },
	{ .name = "blocked_count", .type = MR_TYPE_INT },
	{ 0 },
};

static enum mr_code export_root(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_export_request request = {
		.output_dir = mr_args_text(in, "output_dir"),
		.all_accounts = mr_args_bool(in, "all_accounts", false),
		.addresses = mr_args_texts(call->cx.arena, in, "address"),
		.preserve_symlinks = mr_str_eq(mr_args_text(in, "symlink_mode"), "preserve"),
	};
	struct mr_mailbox_export_result r;
	enum mr_code rc = mr_mailbox_ops_open(call, in, MR_MAILBOX_ROOT_WRITE, &root);

	if (!rc)
		rc = mr_mailbox_export(&call->cx, &root, &request, &r);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_text(out, "output_dir", r.output_dir);
	mr_out_text(out, "manifest_path", r.manifest_path);
	mr_out_int(out, "account_count", (int64_t)r.account_count);
	mr_out_int(out, "message_count", (int64_t)r.message_count);
	mr_out_int(out, "projection_count", (int64_t)r.projection_count);
	mr_out_int(out, "attachment_count", (int64_t)r.attachment_count);
	mr_out_int(out, "copied_count", (int64_t)r.copied);
	mr_out_int(out, "materialized_count", (int64_t)r.materialized);
	mr_out_int(out, "preserved_symlink_count", (int64_t)r.preserved);
	mr_out_int(out, "skipped_count", (int64_t)r.skipped);
	mr_out_int(out, "blocked_count", (int64_t)r.blocked);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_mailbox_export = {
	.name = "mailbox_export",
	.command = "mailbox export",
	.summary = "Copy accounts and their mail into a directory of plain files",
	.params = export_params,
	.result = export_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.run = export_root,
};
