/* op/mailbox/mailbox_mail.c - operations: the messages of a mailbox root, without the state that
 * owners gave them. */
#include "mailbox/carry.h"
#include "mailbox/credential.h"
#include "mailbox/export.h"
#include "op/contract.h"
#include "op/dispatch.h"
#include "op/mailbox/mail_session.h"
#include "op/mailbox/mailbox_ops.h"
#include "op/mailbox/render_mailbox.h"
#include "op/mailbox/shape_mailbox.h"
#include "op/nouns.h"

struct mail_request {
	const char *mailbox_root, *address, *message_id;
	int64_t limit;
	bool dry_run, with_state;
};

static const struct mr_param list_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct mail_request),
	MR_MAILBOX_ADDRESS_PARAM(struct mail_request),
	MR_PARAM(struct mail_request, limit, "limit", .max = 1000000,
		.summary = "the newest so many; 0 for all", .fallback = "0"),
	MR_PARAM(struct mail_request, with_state, "with_state", .flags = MR_RARE,
		.summary = "also whether its owner read, answered, starred or deleted each",
		.fallback = "false"),
	{ 0 },
};

/* What the results of list and get begin with. */
#define HEAD_FIELDS(struct_type, account)                                                          \
	MR_MEMBERS(struct_type, head, struct mr_shape_mailbox_head, mr_shape_mailbox_head_fields), \
		MR_MEMBERS(struct_type, account, struct mr_mailbox_registration, account_fields)

static const struct mr_field account_fields[] = {
	MR_FIELD(struct mr_mailbox_registration, address, "address"),
	MR_FIELD(struct mr_mailbox_registration, id, "registration_id"),
	{ 0 },
};

struct listed {
	struct mr_shape_mailbox_head head;
	struct mr_mailbox_inspect_messages found;
	struct mr_shape_mailbox_listed *rows;
};

static const struct mr_field list_fields[] = {
	HEAD_FIELDS(struct listed, found.account),
	MR_FIELD_ROWS(struct listed, rows, found.messages.len, struct mr_shape_mailbox_listed,
		mr_shape_mailbox_listed_fields, "messages"),
	{ 0 },
};

static enum mr_code list_messages(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct mail_request *asked, struct listed *out)
{
	const struct mr_mailbox_state *states = NULL;
	enum mr_code rc = mr_mailbox_inspect_messages(&call->cx, root, asked->address, asked->limit,
		&out->found);

	if (rc)
		return rc;
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	if (asked->with_state || (call->invocation && call->invocation->format->is_for_people))
		states = mr_mailbox_inspect_states(&call->cx, &out->found);
	out->rows = mr_arena_array(call->cx.arena, out->found.messages.len, sizeof(*out->rows));
	for (size_t i = 0; i < out->found.messages.len; i++) {
		out->rows[i].listed = out->found.messages.items[i];
		out->rows[i].shows_state = states != NULL;
		if (states)
			out->rows[i].state = states[i];
	}
	return MR_OK;
}
MR_MAILBOX_BIND(list, list_messages, MR_MAILBOX_ROOT_READ, struct mail_request, struct listed);

const struct mr_op mr_op_mailbox_messages_list = {
	.name = "mailbox_messages_list",
	.command = "mailbox messages list",
	.summary = "List the messages in an address's mailbox, newest first",
	.params = list_params,
	.result = list_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &list,
	.render = mr_render_mailbox_messages,
};

static const struct mr_param get_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct mail_request),
	MR_MAILBOX_ADDRESS_PARAM(struct mail_request),
	MR_PARAM(struct mail_request, message_id, "message_id", .flags = MR_REQUIRED,
		.summary = "its id, from mailroom mailbox messages list"),
	{ 0 },
};

struct got {
	struct mr_shape_mailbox_head head;
	struct mr_shape_mailbox_message message;
};

static const struct mr_field message_fields[] = {
	HEAD_FIELDS(struct got, message.found.account),
	MR_FIELD_STRUCT(struct got, message, struct mr_shape_mailbox_message,
		mr_shape_mailbox_message_fields, "message"),
	{ 0 },
};

static enum mr_code get_message(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct mail_request *asked, struct got *out)
{
	enum mr_code rc = mr_mailbox_inspect_message(&call->cx, root, asked->address,
		asked->message_id, &out->message.found);

	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	mr_shape_mailbox_message(call->cx.arena, &out->message);
	return rc;
}
MR_MAILBOX_BIND(get, get_message, MR_MAILBOX_ROOT_READ, struct mail_request, struct got);

const struct mr_op mr_op_mailbox_messages_get = {
	.name = "mailbox_messages_get",
	.command = "mailbox messages get",
	.summary = "Show one message of an address's mailbox, whole",
	.params = get_params,
	.result = message_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &get,
	.render = mr_render_mailbox_message,
};

static const struct mr_param clear_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct mail_request),
	MR_MAILBOX_DRY_RUN_PARAM(struct mail_request),
	{ 0 },
};

static enum mr_code clear(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct mail_request *asked, struct mr_shape_mailbox_cleanup *out)
{
	const char *question = "Every message of this root is deleted. Go on?";
	enum mr_code rc = MR_OK;

	if (asked->address)
		question = mr_arena_printf(call->cx.arena,
			"The messages of %s are deleted, unless somebody else has them too. Go on?",
			asked->address);
	if (!asked->dry_run)
		rc = mr_dispatch_confirm(call, question);
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	return rc ? rc
		  : mr_mailbox_clear(&call->cx, root, asked->address, asked->dry_run, &out->result);
}
MR_MAILBOX_BIND(clearing, clear, MR_MAILBOX_ROOT_WRITE, struct mail_request,
	struct mr_shape_mailbox_cleanup);

const struct mr_op mr_op_mailbox_clear_messages = {
	.name = "mailbox_clear_messages",
	.command = "mailbox clear-messages",
	.summary = "Delete every message of a root; addresses stay",
	.params = clear_params,
	.result = mr_shape_mailbox_cleanup_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &clearing,
	.render = mr_render_mailbox_removed,
};

static const struct mr_param account_clear_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct mail_request),
	MR_MAILBOX_ADDRESS_PARAM(struct mail_request),
	MR_MAILBOX_DRY_RUN_PARAM(struct mail_request),
	{ 0 },
};

const struct mr_op mr_op_mailbox_messages_clear = {
	.name = "mailbox_messages_clear",
	.command = "mailbox messages clear",
	.summary = "Delete the messages of one address",
	.params = account_clear_params,
	.result = mr_shape_mailbox_cleanup_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &clearing,
	.render = mr_render_mailbox_removed,
};

static const char *const symlink_modes[] = { "materialize", "preserve", NULL };

struct export_request {
	const char *mailbox_root, *symlink_mode, *to_jmap, *from_jmap, *credentials, *ca_file;
	struct mr_mailbox_export_request what;
};

static const struct mr_param export_params[] = {
	MR_MAILBOX_ROOT_PARAM(struct export_request),
	MR_PARAM(struct export_request, what.output_dir, "output_dir",
		.summary = "a directory that does not exist yet"),
	MR_PARAM(struct export_request, to_jmap, "to_jmap",
		.summary = "in its place: carry the mail to the accounts on this JMAP server"),
	MR_PARAM(struct export_request, from_jmap, "from_jmap",
		.summary =
			"in its place: carry the mail of accounts on this JMAP server into the root"),
	MR_PARAM(struct export_request, what.all_accounts, "all_accounts",
		.summary = "every address"),
	MR_PARAM(struct export_request, what.addresses, "address", .summary = "only this address"),
	MR_PARAM(struct export_request, symlink_mode, "symlink_mode",
		.summary = "copy what links point to, or keep links", .choices = symlink_modes,
		.fallback = "materialize"),
	MR_PARAM(struct export_request, credentials, "credentials", .flags = MR_CLI_ONLY,
		.summary =
			"with --to-jmap and --from-jmap: the directory of the accounts' password "
			"files",
		.fallback = "mailbox-credentials/stalwart of the agents' runtime"),
	MR_PARAM(struct export_request, ca_file, "ca_file", .flags = MR_CLI_ONLY,
		.summary = "further authorities that may vouch for the server"),
	{ 0 },
};

struct exported {
	struct mr_shape_mailbox_head head;
	struct export_request asked;
	struct mr_mailbox_export_result result;
	struct mr_mailbox_carried carried;
	bool is_copy, is_carried; /* to a directory, or to or from a server */
};

#define EXPORTED(member, ...)                                                                      \
	MR_FIELD(struct exported, result.member, __VA_ARGS__, .flags = MR_OPTIONAL,                \
		.when = MR_FROM(struct exported, is_copy))
#define CARRIED(member, ...)                                                                       \
	MR_FIELD(struct exported, carried.member, __VA_ARGS__, .flags = MR_OPTIONAL,               \
		.when = MR_FROM(struct exported, is_carried))

static const struct mr_field account_carried_fields[] = {
	MR_FIELD(struct mr_mailbox_carried_account, address, "address"),
	MR_FIELD(struct mr_mailbox_carried_account, carried, "carried_count"),
	MR_FIELD(struct mr_mailbox_carried_account, present, "present_count",
		.summary = "that were there already"),
	MR_FIELD(struct mr_mailbox_carried_account, left, "left_count",
		.summary = "that could not be carried"),
	{ 0 },
};

static const struct mr_field left_fields[] = {
	MR_FIELD(struct mr_mailbox_left, address, "address"),
	MR_FIELD(struct mr_mailbox_left, message, "message_id"),
	MR_FIELD(struct mr_mailbox_left, reason, "reason"),
	{ 0 },
};

static const struct mr_field export_fields[] = {
	MR_MEMBERS(struct exported, head, struct mr_shape_mailbox_head,
		mr_shape_mailbox_head_fields),
	MR_FIELD(struct exported, asked.symlink_mode, "symlink_mode", .flags = MR_OPTIONAL,
		.when = MR_FROM(struct exported, is_copy)),
	MR_FIELD(struct exported, asked.what.all_accounts, "all_accounts"),
	MR_FIELD(struct exported, asked.what.addresses, "selected_addresses"),
	EXPORTED(output_dir, "output_dir"),
	EXPORTED(manifest_path, "manifest_path"),
	EXPORTED(account_count, "account_count"),
	EXPORTED(message_count, "message_count"),
	EXPORTED(projection_count, "projection_count"),
	EXPORTED(attachment_count, "attachment_count"),
	EXPORTED(copied, "copied_count"),
	EXPORTED(materialized, "materialized_count"),
	EXPORTED(preserved, "preserved_symlink_count"),
	EXPORTED(skipped, "skipped_count"),
	EXPORTED(blocked, "blocked_count"),
	MR_FIELD(struct exported, asked.to_jmap, "to_jmap", .flags = MR_OPTIONAL),
	MR_FIELD(struct exported, asked.from_jmap, "from_jmap", .flags = MR_OPTIONAL),
	CARRIED(carried, "carried_count"),
	CARRIED(present, "present_count"),
	CARRIED(left, "left_count"),
	MR_FIELD_ROWS(struct exported, carried.accounts, carried.account_count,
		struct mr_mailbox_carried_account, account_carried_fields, "accounts",
		.flags = MR_OPTIONAL),
	MR_FIELD_ROWS(struct exported, carried.problems, carried.problem_count,
		struct mr_mailbox_left, left_fields, "left", .flags = MR_OPTIONAL,
		.summary = "the first of those that could not be carried"),
	{ 0 },
};

static enum mr_code check_export(struct mr_call *call, const struct export_request *asked)
{
	int places = (asked->what.output_dir != NULL) + (asked->to_jmap != NULL) +
		(asked->from_jmap != NULL);

	if (places != 1)
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"exactly one of output_dir, to_jmap and from_jmap must be given");
	if (asked->from_jmap && (asked->what.all_accounts || !asked->what.addresses.len))
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"name each address whose mail from_jmap shall carry: a JMAP server does not list its accounts");
	if (asked->to_jmap && asked->what.all_accounts == (asked->what.addresses.len > 0))
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"exactly one of all_accounts and address must be given");
	if (!asked->to_jmap && !asked->from_jmap && (asked->credentials || asked->ca_file))
		return mr_err_set(&call->cx.err, MR_EINVAL,
			"credentials and ca_file are for to_jmap and from_jmap");
	return MR_OK;
}

static enum mr_code carry_mail(struct mr_call *call, const struct mr_mailbox_root *root,
	const struct export_request *asked, struct exported *out)
{
	struct mr_mailbox_carry_request request = {
		.jmap_url = asked->to_jmap ? asked->to_jmap : asked->from_jmap,
		.addresses = asked->what.addresses,
		.credentials = asked->credentials,
		.ca_file = asked->ca_file,
	};
	const char *runtime;
	enum mr_code rc = MR_OK;

	if (!request.credentials) {
		rc = mr_mail_session_overlay(call, "agents.runtime", "runtime", &runtime);
		if (!rc)
			request.credentials =
				mr_mailbox_credential_runtime(call->cx.arena, runtime);
	}
	if (rc)
		return rc;
	out->is_carried = true;
	return asked->to_jmap ? mr_mailbox_carry_out(&call->cx, root, &request, &out->carried)
			      : mr_mailbox_carry_in(&call->cx, root, &request, &out->carried);
}

static enum mr_code export_mail(struct mr_call *call, const struct mr_mailbox_root *root,
	struct export_request *asked, struct exported *out)
{
	enum mr_code rc = check_export(call, asked);

	if (rc)
		return rc;
	asked->what.preserve_symlinks = mr_str_eq(asked->symlink_mode, "preserve");
	out->head = mr_mailbox_ops_head(call, asked->mailbox_root, root->path);
	out->asked = *asked;
	if (!asked->what.output_dir)
		return carry_mail(call, root, asked, out);
	out->is_copy = true;
	return mr_mailbox_export(&call->cx, root, &asked->what, &out->result);
}
MR_MAILBOX_BIND(export_root, export_mail,
	request->from_jmap ? MR_MAILBOX_ROOT_WRITE : MR_MAILBOX_ROOT_READ, struct export_request,
	struct exported);

const struct mr_op mr_op_mailbox_export = {
	.name = "mailbox_export",
	.command = "mailbox export",
	.summary = "Copy accounts and their mail into a directory, to a JMAP server, or back",
	.help = "With --to-jmap each address's mail goes to its account on the server, with boxes, flags "
		"and threads; with --from-jmap it comes from there, and an address that the root does "
		"not have is registered. What is there already stays as it is: run it again after a "
		"failure, and it goes on. Passwords are read from files, one for each address.",
	.params = export_params,
	.result = export_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &export_root,
	.render = mr_render_mailbox_exported,
};
