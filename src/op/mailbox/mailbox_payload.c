/*
 * op/mailbox/mailbox_payload.c - Reads the JSON payloads of the managed mailbox scripts strictly
 * and turns them into requests.
 */
#include "op/mailbox/mailbox_payload.h"

#include "base/str.h"
#include "op/mailbox/shape_mailbox.h"

static const struct {
	const char *name;
	const char *model;
} kinds[] = {
	[MR_MAILBOX_PAYLOAD_REGISTER] = { "register payload", "RegisterMailboxRequest" },
	[MR_MAILBOX_PAYLOAD_DEREGISTER] = { "deregister payload", "DeregisterMailboxRequest" },
	[MR_MAILBOX_PAYLOAD_DELIVER] = { "delivery payload", "DeliveryRequest" },
	[MR_MAILBOX_PAYLOAD_STATE] = { "state update payload", "StateUpdateRequest" },
	[MR_MAILBOX_PAYLOAD_REPAIR] = { "repair payload", "RepairRequest" },
};

const char *mr_mailbox_payload_words(const struct mr_issue *issue)
{
	static const struct {
		const char *expected;
		const char *words;
	} types[] = {
		{ "string", "Input should be a valid string" },
		{ "boolean", "Input should be a valid boolean" },
		{ "integer", "Input should be a valid integer" },
		{ "list", "Input should be a valid tuple" },
		{ "object", "Input should be a valid dictionary" },
	};

	if (issue->kind == MR_ISSUE_MISSING)
		return "Field required";
	if (issue->kind == MR_ISSUE_UNKNOWN)
		return "Extra inputs are not permitted";
	for (size_t i = 0; issue->kind == MR_ISSUE_TYPE && i < MR_LEN(types); i++) {
		if (mr_str_eq(issue->expected, types[i].expected))
			return types[i].words;
	}
	return issue->msg;
}

/* A path: any text that is not blank; another type has words of its own. */
static bool read_path(struct mr_ctx *cx, const struct mr_cursor *at, const char **out)
{
	if (at->value && at->value->kind != MR_TEXT) {
		mr_cursor_refuse(at, "Input should be an instance of Path");
		return false;
	}
	return mr_mailbox_read_text(cx->arena, at, out);
}

static struct mr_cursor key(const struct mr_cursor *root, const char *name)
{
	return mr_cursor_key(root, name);
}

static void read_register(struct mr_ctx *cx, const struct mr_cursor *root,
	struct mr_mailbox_register_request *out)
{
	static const char *const known[] = { "mode", "address", "owner_principal_id",
		"mailbox_kind", "mailbox_path", "display_name", "manifest_path_hint", "role",
		NULL };
	struct mr_cursor mode = key(root, "mode");
	struct mr_cursor address = key(root, "address");
	struct mr_cursor owner = key(root, "owner_principal_id");
	struct mr_cursor kind = key(root, "mailbox_kind");
	struct mr_cursor path = key(root, "mailbox_path");
	struct mr_cursor name = key(root, "display_name");
	struct mr_cursor hint = key(root, "manifest_path_hint");
	struct mr_cursor role = key(root, "role");
	size_t choice = 0;

	if (mr_mailbox_read_choice(&mode, mr_shape_mailbox_register_modes, &choice))
		out->mode = (enum mr_mailbox_register_mode)choice;
	mr_mailbox_read_address(cx->arena, &address, &out->address);
	mr_mailbox_read_text(cx->arena, &owner, &out->owner);
	if (mr_mailbox_read_choice(&kind, mr_shape_mailbox_kinds, &choice))
		out->kind = (enum mr_mailbox_kind)choice;
	read_path(cx, &path, &out->path);
	mr_mailbox_read_text_opt(cx->arena, &name, &out->display_name);
	mr_mailbox_read_text_opt(cx->arena, &hint, &out->manifest_path_hint);
	mr_mailbox_read_text_opt(cx->arena, &role, &out->role);
	mr_cursor_only(root, known);
	if (!root->issues->len &&
		!mr_mailbox_register_may_have(out->address, out->owner, out->role))
		mr_cursor_refuse(root,
			"mailbox address `%s` is reserved for Houmao-owned system mailboxes",
			out->address);
}

static void read_deregister(struct mr_ctx *cx, const struct mr_cursor *root,
	struct mr_mailbox_payload *out)
{
	static const char *const known[] = { "mode", "address", NULL };
	struct mr_cursor mode = key(root, "mode");
	struct mr_cursor address = key(root, "address");
	size_t choice = 0;

	if (mr_mailbox_read_choice(&mode, mr_shape_mailbox_unregister_modes, &choice))
		out->deregistration.mode = (enum mr_mailbox_unregister_mode)choice;
	mr_mailbox_read_address(cx->arena, &address, &out->deregistration.address);
	mr_cursor_only(root, known);
}

static void read_deliver(struct mr_ctx *cx, const struct mr_cursor *root,
	struct mr_mailbox_payload *out)
{
	struct mr_cursor path = key(root, "staged_message_path");

	read_path(cx, &path, &out->delivery.staged_path);
	mr_mailbox_message_read(cx->arena, root, MR_MAILBOX_PAYLOAD, &out->delivery.message);
}

/* A flag that may be left out: -1 then. */
static int read_flag(const struct mr_cursor *root, const char *name)
{
	struct mr_cursor at = key(root, name);
	bool value = false;

	return mr_cursor_bool_opt(&at, &value) ? value : -1;
}

static void read_state(struct mr_ctx *cx, const struct mr_cursor *root,
	struct mr_mailbox_payload *out)
{
	static const char *const known[] = { "address", "message_id", "read", "answered", "starred",
		"archived", "deleted", NULL };
	struct mr_cursor address = key(root, "address");
	struct mr_cursor id = key(root, "message_id");
	struct mr_mailbox_flags *flags = &out->state.flags;

	mr_mailbox_read_address(cx->arena, &address, &out->state.address);
	mr_mailbox_read_message_id(cx->arena, &id, &out->state.message_id);
	flags->read = read_flag(root, "read");
	flags->answered = read_flag(root, "answered");
	flags->starred = read_flag(root, "starred");
	flags->archived = read_flag(root, "archived");
	flags->deleted = read_flag(root, "deleted");
	mr_cursor_only(root, known);
	if (!root->issues->len && flags->read < 0 && flags->answered < 0 && flags->starred < 0 &&
		flags->archived < 0 && flags->deleted < 0)
		mr_cursor_refuse(root, "state update payload must set at least one field");
}

static void read_repair(const struct mr_cursor *root, struct mr_mailbox_repair_options *out)
{
	static const char *const known[] = { "cleanup_staging", "quarantine_staging", NULL };
	struct mr_cursor cleanup = key(root, "cleanup_staging");
	struct mr_cursor quarantine = key(root, "quarantine_staging");
	bool value;

	/* Not the optional form: null is no boolean here. */
	if (cleanup.value && mr_cursor_bool(&cleanup, &value))
		out->keep_staging = !value;
	if (quarantine.value && mr_cursor_bool(&quarantine, &value))
		out->remove_staging = !value;
	mr_cursor_only(root, known);
}

enum mr_code mr_mailbox_payload_read(struct mr_ctx *cx, enum mr_mailbox_payload_kind kind,
	const struct mr_value *value, struct mr_mailbox_payload *out)
{
	struct mr_issues *issues = mr_arena_alloc(cx->arena, sizeof(*issues));
	struct mr_mailbox_payload payload = { .kind = kind };
	struct mr_cursor root = mr_cursor_root(value, issues);

	mr_issues_init(issues, cx->arena);
	if (value->kind != MR_MAP)
		mr_cursor_refuse(&root, "Input should be a valid dictionary or instance of %s",
			kinds[kind].model);
	else if (kind == MR_MAILBOX_PAYLOAD_REGISTER)
		read_register(cx, &root, &payload.registration);
	else if (kind == MR_MAILBOX_PAYLOAD_DEREGISTER)
		read_deregister(cx, &root, &payload);
	else if (kind == MR_MAILBOX_PAYLOAD_DELIVER)
		read_deliver(cx, &root, &payload);
	else if (kind == MR_MAILBOX_PAYLOAD_STATE)
		read_state(cx, &root, &payload);
	else
		read_repair(&root, &payload.repair);
	if (issues->len) {
		mr_err_issues(&cx->err, issues, kinds[kind].name);
		return mr_err_word(&cx->err, kinds[kind].name);
	}
	*out = payload;
	return MR_OK;
}
