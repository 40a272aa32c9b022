/*
 * op/mailbox/shape_mailbox.c - Emits the result objects of the mailbox operations: accounts,
 * deliveries, listings, and reports of repair and cleanup.
 */
#include "op/mailbox/shape_mailbox.h"

const struct mr_field mr_shape_mailbox_account_fields[] = {
	{ .name = "registration_id", .type = MR_TYPE_TEXT },
	{ .name = "address", .type = MR_TYPE_TEXT },
	{ .name = "owner_principal_id", .type = MR_TYPE_TEXT },
	{ .name = "status", .type = MR_TYPE_TEXT, .summary = "active, inactive or stashed" },
	{ .name = "mailbox_kind", .type = MR_TYPE_TEXT, .summary = "in_root or symlink" },
	{ .name = "mailbox_path", .type = MR_TYPE_TEXT },
	{ .name = "mailbox_entry_path", .type = MR_TYPE_TEXT },
	{ .name = "display_name", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "manifest_path_hint", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "role", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "created_at_utc", .type = MR_TYPE_TEXT },
	{ .name = "deactivated_at_utc", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "replaced_by_registration_id", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ 0 },
};

void mr_shape_mailbox_account(struct mr_out *out, const char *key,
	const struct mr_mailbox_registration *row)
{
	mr_out_map(out, key);
	mr_out_text(out, "registration_id", row->id);
	mr_out_text(out, "address", row->address);
	mr_out_text(out, "owner_principal_id", row->owner);
	mr_out_text(out, "status", mr_mailbox_status_name(row->status));
	mr_out_text(out, "mailbox_kind", mr_mailbox_kind_name(row->kind));
	mr_out_text(out, "mailbox_path", row->path);
	mr_out_text(out, "mailbox_entry_path", row->entry_path);
	mr_out_text(out, "display_name", row->display_name);
	mr_out_text(out, "manifest_path_hint", row->manifest_path_hint);
	mr_out_text(out, "role", row->role);
	mr_out_text(out, "created_at_utc", row->created_at);
	mr_out_text(out, "deactivated_at_utc", row->deactivated_at);
	mr_out_text(out, "replaced_by_registration_id", row->replaced_by);
	mr_out_end(out);
}

const struct mr_field mr_shape_mailbox_problem_fields[] = {
	{ .name = "what", .type = MR_TYPE_TEXT },
	{ .name = "path", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "detail", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ 0 },
};

void mr_shape_mailbox_problems(struct mr_out *out, const char *count_key, const char *key,
	const struct mr_mailbox_problem *problems, size_t count)
{
	size_t listed = count < MR_MAILBOX_PROBLEMS ? count : MR_MAILBOX_PROBLEMS;

	mr_out_int(out, count_key, (int64_t)count);
	mr_out_list(out, key);
	for (size_t i = 0; i < listed; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "what", problems[i].what);
		mr_out_text(out, "path", problems[i].path);
		mr_out_text(out, "detail", problems[i].detail);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static const struct mr_field action_fields[] = {
	{ .name = "artifact_kind", .type = MR_TYPE_TEXT },
	{ .name = "path", .type = MR_TYPE_TEXT, .flags = MR_NULLABLE },
	{ .name = "proposed_action", .type = MR_TYPE_TEXT },
	{ .name = "reason", .type = MR_TYPE_TEXT },
	{ .name = "details", .type = MR_TYPE_OBJECT },
	{ 0 },
};

static const struct mr_field scope_fields[] = {
	{ .name = "kind", .type = MR_TYPE_TEXT },
	{ .name = "mailbox_root", .type = MR_TYPE_TEXT },
	{ .name = "address", .type = MR_TYPE_TEXT, .flags = MR_OPTIONAL },
	{ 0 },
};

static const struct mr_field resolution_fields[] = {
	{ .name = "authority", .type = MR_TYPE_TEXT },
	{ 0 },
};

static const struct mr_field summary_fields[] = {
	{ .name = "planned_count", .type = MR_TYPE_INT },
	{ .name = "applied_count", .type = MR_TYPE_INT },
	{ .name = "blocked_count", .type = MR_TYPE_INT },
	{ .name = "preserved_count", .type = MR_TYPE_INT },
	{ 0 },
};

const struct mr_field mr_shape_mailbox_cleanup_fields[] = {
	{ .name = "dry_run", .type = MR_TYPE_BOOL },
	{ .name = "scope", .type = MR_TYPE_OBJECT, .fields = scope_fields },
	{ .name = "resolution", .type = MR_TYPE_OBJECT, .fields = resolution_fields },
	{ .name = "planned_actions", .type = MR_TYPE_LIST, .fields = action_fields },
	{ .name = "applied_actions", .type = MR_TYPE_LIST, .fields = action_fields },
	{ .name = "blocked_actions", .type = MR_TYPE_LIST, .fields = action_fields },
	{ .name = "preserved_actions", .type = MR_TYPE_LIST, .fields = action_fields },
	{ .name = "summary", .type = MR_TYPE_OBJECT, .fields = summary_fields },
	{ 0 },
};

static void put_known(struct mr_out *out, const char *key, const char *value)
{
	if (value)
		mr_out_text(out, key, value);
}

static void put_actions(struct mr_out *out, const char *key, const struct mr_mailbox_actions *list)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < list->len; i++) {
		const struct mr_mailbox_action *a = &list->items[i];

		mr_out_map(out, NULL);
		mr_out_text(out, "artifact_kind", a->artifact_kind);
		mr_out_text(out, "path", a->path);
		mr_out_text(out, "proposed_action", a->proposed_action);
		mr_out_text(out, "reason", a->reason);
		mr_out_map(out, "details");
		put_known(out, "address", a->address);
		put_known(out, "registration_id", a->registration_id);
		put_known(out, "registration_status", a->registration_status);
		put_known(out, "message_id", a->message_id);
		put_known(out, "attachment_id", a->attachment_id);
		mr_out_end(out);
		mr_out_end(out);
	}
	mr_out_end(out);
}

void mr_shape_mailbox_cleanup(struct mr_out *out, const char *root,
	const struct mr_mailbox_cleanup_result *result)
{
	mr_out_bool(out, "dry_run", result->dry_run);
	mr_out_map(out, "scope");
	mr_out_text(out, "kind", result->scope_kind);
	mr_out_text(out, "mailbox_root", root);
	put_known(out, "address", result->address);
	mr_out_end(out);
	mr_out_map(out, "resolution");
	mr_out_text(out, "authority", "mailbox_root");
	mr_out_end(out);
	put_actions(out, "planned_actions", &result->planned);
	put_actions(out, "applied_actions", &result->applied);
	put_actions(out, "blocked_actions", &result->blocked);
	put_actions(out, "preserved_actions", &result->preserved);
	mr_out_map(out, "summary");
	mr_out_int(out, "planned_count", (int64_t)result->planned.len);
	mr_out_int(out, "applied_count", (int64_t)result->applied.len);
	mr_out_int(out, "blocked_count", (int64_t)result->blocked.len);
	mr_out_int(out, "preserved_count", (int64_t)result->preserved.len);
	mr_out_end(out);
}

void mr_shape_mailbox_attachments(struct mr_out *out, const char *key,
	const struct mr_mailbox_attachments *attachments)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < attachments->len; i++) {
		const struct mr_mailbox_attachment *a = &attachments->items[i];

		mr_out_map(out, NULL);
		mr_out_text(out, "attachment_id", a->attachment_id);
		mr_out_text(out, "kind",
			a->kind == MR_MAILBOX_PATH_REF ? "path_ref" : "managed_copy");
		mr_out_text(out, "locator", a->path);
		mr_out_text(out, "media_type", a->media_type);
		mr_out_text(out, "sha256", a->sha256);
		if (a->size_bytes >= 0)
			mr_out_int(out, "size_bytes", a->size_bytes);
		else
			mr_out_null(out, "size_bytes");
		mr_out_text(out, "label", a->label);
		mr_out_int(out, "ordinal", (int64_t)i);
		mr_out_end(out);
	}
	mr_out_end(out);
}

static const char *const mode_names[] = {
	[MR_MAILBOX_SAFE] = "safe",
	[MR_MAILBOX_FORCE] = "force",
	[MR_MAILBOX_STASH] = "stash",
};

void mr_shape_mailbox_registered(struct mr_out *out, const struct mr_mailbox_register_result *r)
{
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", true);
	mr_out_text(out, "mode", mode_names[r->mode]);
	mr_out_text(out, "address", r->address);
	mr_out_text(out, "active_registration_id", r->active_registration_id);
	mr_out_text(out, "owner_principal_id", r->owner);
	mr_out_text(out, "status", "active");
	if (r->reused_existing)
		mr_out_bool(out, "reused_existing", true);
	put_known(out, "replaced_registration_id", r->replaced_registration_id);
	put_known(out, "stashed_registration_id", r->stashed_registration_id);
	put_known(out, "stashed_mailbox_path", r->stashed_path);
	mr_out_end(out);
}

void mr_shape_mailbox_unregistered(struct mr_out *out, const struct mr_mailbox_unregister_result *r)
{
	bool purged = r->mode == MR_MAILBOX_PURGE;

	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", true);
	mr_out_text(out, "mode", purged ? "purge" : "deactivate");
	mr_out_text(out, "address", r->address);
	mr_out_text(out, "target_registration_id", r->registration_id);
	mr_out_text(out, "resulting_status", purged ? "purged" : "inactive");
	mr_out_text(out, purged ? "purged_registration_id" : "deactivated_registration_id",
		r->registration_id);
	if (r->foreign.len)
		mr_out_texts(out, "foreign_paths", &r->foreign);
	mr_out_end(out);
}

void mr_shape_mailbox_delivered(struct mr_out *out, const struct mr_mailbox_deliver_result *r)
{
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", true);
	mr_out_text(out, "message_id", r->message_id);
	mr_out_text(out, "canonical_path", r->canonical_path);
	mr_out_int(out, "recipient_count", (int64_t)r->recipient_count);
	if (r->already_delivered)
		mr_out_bool(out, "already_delivered", true);
	mr_out_end(out);
}

void mr_shape_mailbox_state(struct mr_out *out, const struct mr_mailbox_state_result *r)
{
	mr_out_map(out, NULL);
	mr_out_bool(out, "ok", true);
	mr_out_text(out, "address", r->address);
	mr_out_text(out, "owner_principal_id", r->owner);
	mr_out_text(out, "registration_id", r->registration_id);
	mr_out_text(out, "message_id", r->state.message_id);
	mr_out_bool(out, "read", r->state.read);
	mr_out_bool(out, "answered", r->state.answered);
	mr_out_bool(out, "starred", r->state.starred);
	mr_out_bool(out, "archived", r->state.archived);
	mr_out_bool(out, "deleted", r->state.deleted);
	mr_out_text(out, "box", r->state.box);
	mr_out_end(out);
}

void mr_shape_mailbox_repair(struct mr_out *out, const struct mr_mailbox_repair_result *r)
{
	mr_out_bool(out, "ok", true);
	mr_out_int(out, "message_count", (int64_t)r->message_count);
	mr_out_int(out, "projection_count", (int64_t)r->projection_count);
	mr_out_int(out, "registration_count", (int64_t)r->registration_count);
	mr_out_int(out, "restored_state_count", (int64_t)r->restored_state_count);
	mr_out_int(out, "defaulted_state_count", (int64_t)r->defaulted_state_count);
	mr_out_text(out, "staging_action", r->staging_action);
	mr_out_int(out, "staging_artifact_count", (int64_t)r->staging_paths.len);
	mr_out_texts(out, "staging_artifact_paths", &r->staging_paths);
	mr_out_text(out, "backed_up_index_path", r->backed_up_index_path);
}

void mr_shape_mailbox_listed(struct mr_out *out, const struct mr_mailbox_listed *row)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "message_id", row->message.message_id);
	mr_out_text(out, "thread_id", row->message.thread_id);
	mr_out_text(out, "created_at_utc", row->message.created_at);
	mr_out_text(out, "subject", row->message.subject);
	mr_out_text(out, "sender_address", row->message.sender.address);
	mr_out_text(out, "sender_principal_id", row->message.sender.principal_id);
	mr_out_text(out, "folder", row->folder);
	mr_out_text(out, "projection_path", row->projection_path);
	mr_out_text(out, "canonical_path", row->message.canonical_path);
	mr_out_end(out);
}

/* A participant's members, in an open map. */
static void put_principal(struct mr_out *out, const struct mr_mailbox_principal *principal)
{
	mr_out_text(out, "address", principal->address);
	mr_out_text(out, "owner_principal_id", principal->principal_id);
	mr_out_text(out, "display_name", principal->display_name);
	mr_out_text(out, "manifest_path_hint", principal->manifest_path_hint);
	mr_out_text(out, "role", principal->role);
}

void mr_shape_mailbox_indexed(struct mr_out *out, const struct mr_mailbox_indexed *message,
	const struct mr_mailbox_projection *where)
{
	mr_out_text(out, "message_id", message->message_id);
	mr_out_text(out, "thread_id", message->thread_id);
	mr_out_text(out, "in_reply_to", message->in_reply_to);
	mr_out_text(out, "created_at_utc", message->created_at);
	mr_out_text(out, "subject", message->subject);
	mr_out_text(out, "folder", where->folder);
	mr_out_text(out, "projection_path", where->path);
	mr_out_text(out, "canonical_path", message->canonical_path);
	mr_out_text(out, "body_markdown", message->document);
	mr_out_map(out, "sender");
	put_principal(out, &message->sender);
	mr_out_text(out, "registration_id", message->sender_registration_id);
	mr_out_end(out);
}

void mr_shape_mailbox_recipients(struct mr_out *out, const char *key,
	const struct mr_mailbox_recipients *recipients)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < recipients->len; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "kind", recipients->items[i].kind);
		mr_out_int(out, "ordinal", recipients->items[i].ordinal);
		put_principal(out, &recipients->items[i].principal);
		mr_out_text(out, "delivered_registration_id", recipients->items[i].registration_id);
		mr_out_end(out);
	}
	mr_out_end(out);
}
