/*
 * op/mailbox/shape_mailbox.c - The result objects of the mailbox operations: accounts, deliveries,
 * messages, and reports of repair and cleanup.
 */
#include "op/mailbox/shape_mailbox.h"

#include "text/out.h"

const char *const mr_shape_mailbox_statuses[] = { "active", "inactive", "stashed", NULL };
const char *const mr_shape_mailbox_kinds[] = { "in_root", "symlink", NULL };
const char *const mr_shape_mailbox_register_modes[] = { "safe", "force", "stash", NULL };
const char *const mr_shape_mailbox_unregister_modes[] = { "deactivate", "purge", NULL };

const struct mr_field mr_shape_mailbox_head_fields[] = {
	MR_FIELD(struct mr_shape_mailbox_head, schema_version, "schema_version"),
	MR_FIELD(struct mr_shape_mailbox_head, mailbox_root, "mailbox_root"),
	MR_FIELD(struct mr_shape_mailbox_head, detail, "mailbox_root_detail"),
	{ 0 },
};

#define ACCOUNT(member, ...) MR_FIELD(struct mr_mailbox_registration, member, __VA_ARGS__)

const struct mr_field mr_shape_mailbox_account_fields[] = {
	ACCOUNT(id, "registration_id"),
	ACCOUNT(address, "address"),
	ACCOUNT(owner, "owner_principal_id"),
	ACCOUNT(status, "status", .choices = mr_shape_mailbox_statuses),
	ACCOUNT(kind, "mailbox_kind", .choices = mr_shape_mailbox_kinds),
	ACCOUNT(path, "mailbox_path"),
	ACCOUNT(entry_path, "mailbox_entry_path"),
	ACCOUNT(display_name, "display_name", .flags = MR_NULLABLE),
	ACCOUNT(manifest_path_hint, "manifest_path_hint", .flags = MR_NULLABLE),
	ACCOUNT(role, "role", .flags = MR_NULLABLE),
	ACCOUNT(created_at, "created_at_utc"),
	ACCOUNT(deactivated_at, "deactivated_at_utc", .flags = MR_NULLABLE),
	ACCOUNT(replaced_by, "replaced_by_registration_id", .flags = MR_NULLABLE),
	{ 0 },
};

const struct mr_field mr_shape_mailbox_problem_fields[] = {
	MR_FIELD(struct mr_mailbox_problem, what, "what"),
	MR_FIELD(struct mr_mailbox_problem, path, "path", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_mailbox_problem, detail, "detail", .flags = MR_NULLABLE),
	{ 0 },
};

#define ACTION(member, ...) MR_FIELD(struct mr_mailbox_action, member, __VA_ARGS__)

static const struct mr_field detail_fields[] = {
	ACTION(address, "address", .flags = MR_OPTIONAL),
	ACTION(registration_id, "registration_id", .flags = MR_OPTIONAL),
	ACTION(registration_status, "registration_status", .flags = MR_OPTIONAL),
	ACTION(message_id, "message_id", .flags = MR_OPTIONAL),
	ACTION(attachment_id, "attachment_id", .flags = MR_OPTIONAL),
	{ 0 },
};

static const struct mr_field action_fields[] = {
	ACTION(artifact_kind, "artifact_kind"),
	ACTION(path, "path", .flags = MR_NULLABLE),
	ACTION(proposed_action, "proposed_action"),
	ACTION(reason, "reason"),
	MR_FIELD_SAME(struct mr_mailbox_action, detail_fields, "details"),
	{ 0 },
};

#define CLEANUP(member, ...) MR_FIELD(struct mr_shape_mailbox_cleanup, member, __VA_ARGS__)
#define ACTIONS(member, name)                                                                      \
	MR_FIELD_LIST(struct mr_shape_mailbox_cleanup, result.member, struct mr_mailbox_action,    \
		action_fields, name)

static const struct mr_field scope_fields[] = {
	CLEANUP(result.scope_kind, "kind"),
	CLEANUP(head.mailbox_root, "mailbox_root"),
	CLEANUP(result.address, "address", .flags = MR_OPTIONAL),
	CLEANUP(result.registration_id, "registration_id", .flags = MR_OPTIONAL),
	CLEANUP(result.inactive_older_than_s, "inactive_older_than_seconds", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct mr_shape_mailbox_cleanup, has_ages)),
	CLEANUP(result.stashed_older_than_s, "stashed_older_than_seconds", .flags = MR_OPTIONAL,
		.when = MR_FLAG(struct mr_shape_mailbox_cleanup, has_ages)),
	{ 0 },
};

/* Which root is meant was decided by its path. */
static void put_authority(struct mr_out *out, const char *key, const void *from)
{
	(void)from;
	mr_out_text(out, key, "mailbox_root");
}

static const struct mr_field resolution_fields[] = {
	CLEANUP(head.mailbox_root, "authority", .emit = put_authority),
	{ 0 },
};

static const struct mr_field summary_fields[] = {
	CLEANUP(result.planned.len, "planned_count"),
	CLEANUP(result.applied.len, "applied_count"),
	CLEANUP(result.blocked.len, "blocked_count"),
	CLEANUP(result.preserved.len, "preserved_count"),
	{ 0 },
};

const struct mr_field mr_shape_mailbox_cleanup_fields[] = {
	CLEANUP(result.dry_run, "dry_run"),
	MR_FIELD_SAME(struct mr_shape_mailbox_cleanup, scope_fields, "scope"),
	MR_FIELD_SAME(struct mr_shape_mailbox_cleanup, resolution_fields, "resolution"),
	ACTIONS(planned, "planned_actions"),
	ACTIONS(applied, "applied_actions"),
	ACTIONS(blocked, "blocked_actions"),
	ACTIONS(preserved, "preserved_actions"),
	MR_FIELD_SAME(struct mr_shape_mailbox_cleanup, summary_fields, "summary"),
	CLEANUP(head.detail, "mailbox_root_detail"),
	{ 0 },
};

/* A result is written only after success. */
static void put_true(struct mr_out *out, const char *key, const void *from)
{
	(void)from;
	mr_out_bool(out, key, true);
}

#define OK_FIELD(struct_type)                                                                      \
	{                                                                                          \
		.name = "ok", .type = MR_TYPE_BOOL, .from = MR_FROM_SAME(struct_type),             \
		.emit = put_true                                                                   \
	}

static void put_active(struct mr_out *out, const char *key, const void *from)
{
	(void)from;
	mr_out_text(out, key, mr_shape_mailbox_statuses[MR_MAILBOX_ACTIVE]);
}

#define REGISTERED(member, ...) MR_FIELD(struct mr_mailbox_register_result, member, __VA_ARGS__)

const struct mr_field mr_shape_mailbox_register_fields[] = {
	OK_FIELD(struct mr_mailbox_register_result),
	REGISTERED(mode, "mode", .choices = mr_shape_mailbox_register_modes),
	REGISTERED(address, "address"),
	REGISTERED(active_registration_id, "active_registration_id"),
	REGISTERED(owner, "owner_principal_id"),
	REGISTERED(active_registration_id, "status", .emit = put_active),
	REGISTERED(reused_existing, "reused_existing", .flags = MR_OPTIONAL),
	REGISTERED(replaced_registration_id, "replaced_registration_id", .flags = MR_OPTIONAL),
	REGISTERED(stashed_registration_id, "stashed_registration_id", .flags = MR_OPTIONAL),
	REGISTERED(stashed_path, "stashed_mailbox_path", .flags = MR_OPTIONAL),
	{ 0 },
};

#define UNREGISTERED(member, ...) MR_FIELD(struct mr_mailbox_unregister_result, member, __VA_ARGS__)

/* What a registration is after it was ended in each of the modes. */
static const char *const ended_statuses[] = { "inactive", "purged", NULL };

static const struct mr_field ended_fields[] = {
	UNREGISTERED(registration_id, "deactivated_registration_id", .flags = MR_OPTIONAL),
	UNREGISTERED(registration_id, "purged_registration_id", .flags = MR_OPTIONAL),
	{ 0 },
};

/* The one of these that the mode says. */
static void put_ended(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_mailbox_unregister_result *result = from;

	(void)key;
	mr_out_text(out, ended_fields[result->mode].name, result->registration_id);
}

const struct mr_field mr_shape_mailbox_unregister_fields[] = {
	OK_FIELD(struct mr_mailbox_unregister_result),
	UNREGISTERED(mode, "mode", .choices = mr_shape_mailbox_unregister_modes),
	UNREGISTERED(address, "address"),
	UNREGISTERED(registration_id, "target_registration_id"),
	UNREGISTERED(mode, "resulting_status", .choices = ended_statuses),
	{ .name = "*",
		.flags = MR_INCLUDED,
		.fields = ended_fields,
		.from = MR_FROM_SAME(struct mr_mailbox_unregister_result),
		.emit = put_ended },
	UNREGISTERED(foreign, "foreign_paths", .flags = MR_OPTIONAL),
	{ 0 },
};

#define DELIVERED(member, ...) MR_FIELD(struct mr_mailbox_deliver_result, member, __VA_ARGS__)

const struct mr_field mr_shape_mailbox_deliver_fields[] = {
	OK_FIELD(struct mr_mailbox_deliver_result),
	DELIVERED(message_id, "message_id"),
	DELIVERED(canonical_path, "canonical_path"),
	DELIVERED(recipient_count, "recipient_count"),
	DELIVERED(already_delivered, "already_delivered", .flags = MR_OPTIONAL),
	{ 0 },
};

#define STATE(member, ...) MR_FIELD(struct mr_mailbox_state_result, member, __VA_ARGS__)

const struct mr_field mr_shape_mailbox_state_fields[] = {
	OK_FIELD(struct mr_mailbox_state_result),
	STATE(address, "address"),
	STATE(owner, "owner_principal_id"),
	STATE(registration_id, "registration_id"),
	STATE(state.message_id, "message_id"),
	STATE(state.read, "read"),
	STATE(state.answered, "answered"),
	STATE(state.starred, "starred"),
	STATE(state.archived, "archived"),
	STATE(state.deleted, "deleted"),
	STATE(state.box, "box"),
	{ 0 },
};

#define REPAIRED(member, ...) MR_FIELD(struct mr_mailbox_repair_result, member, __VA_ARGS__)

const struct mr_field mr_shape_mailbox_repair_fields[] = {
	OK_FIELD(struct mr_mailbox_repair_result),
	REPAIRED(message_count, "message_count"),
	REPAIRED(projection_count, "projection_count"),
	REPAIRED(registration_count, "registration_count"),
	REPAIRED(restored_state_count, "restored_state_count"),
	REPAIRED(defaulted_state_count, "defaulted_state_count"),
	REPAIRED(staging_action, "staging_action"),
	REPAIRED(staging_paths.len, "staging_artifact_count"),
	REPAIRED(staging_paths, "staging_artifact_paths"),
	REPAIRED(backed_up_index_path, "backed_up_index_path", .flags = MR_NULLABLE),
	{ 0 },
};

#define LISTED(member, ...) MR_FIELD(struct mr_shape_mailbox_listed, member, __VA_ARGS__)
#define FLAG(member, name)                                                                         \
	LISTED(state.member, name, .flags = MR_OPTIONAL,                                           \
		.when = MR_FLAG(struct mr_shape_mailbox_listed, shows_state))

const struct mr_field mr_shape_mailbox_listed_fields[] = {
	LISTED(listed.message.message_id, "message_id"),
	LISTED(listed.message.thread_id, "thread_id"),
	LISTED(listed.message.created_at, "created_at_utc"),
	LISTED(listed.message.subject, "subject"),
	LISTED(listed.message.sender.address, "sender_address"),
	LISTED(listed.message.sender.principal_id, "sender_principal_id"),
	LISTED(listed.folder, "folder"),
	LISTED(listed.projection_path, "projection_path"),
	LISTED(listed.message.canonical_path, "canonical_path"),
	FLAG(read, "read"),
	FLAG(answered, "answered"),
	FLAG(starred, "starred"),
	FLAG(deleted, "deleted"),
	{ 0 },
};

#define PRINCIPAL(member, ...) MR_FIELD(struct mr_mailbox_principal, member, __VA_ARGS__)

static const struct mr_field principal_fields[] = {
	PRINCIPAL(address, "address"),
	PRINCIPAL(principal_id, "owner_principal_id"),
	PRINCIPAL(display_name, "display_name", .flags = MR_NULLABLE),
	PRINCIPAL(manifest_path_hint, "manifest_path_hint", .flags = MR_NULLABLE),
	PRINCIPAL(role, "role", .flags = MR_NULLABLE),
	{ 0 },
};

#define INDEXED(member, ...) MR_FIELD(struct mr_mailbox_indexed, member, __VA_ARGS__)

static const struct mr_field sender_fields[] = {
	MR_MEMBERS(struct mr_mailbox_indexed, sender, struct mr_mailbox_principal,
		principal_fields),
	INDEXED(sender_registration_id, "registration_id", .flags = MR_NULLABLE),
	{ 0 },
};

/* What the index knows of a message, before and after where a mailbox has it. */
static const struct mr_field first_fields[] = {
	INDEXED(message_id, "message_id"),
	INDEXED(thread_id, "thread_id"),
	INDEXED(in_reply_to, "in_reply_to", .flags = MR_NULLABLE),
	INDEXED(created_at, "created_at_utc"),
	INDEXED(subject, "subject"),
	{ 0 },
};

static const struct mr_field where_fields[] = {
	MR_FIELD(struct mr_mailbox_projection, folder, "folder"),
	MR_FIELD(struct mr_mailbox_projection, path, "projection_path"),
	{ 0 },
};

static const struct mr_field other_fields[] = {
	INDEXED(canonical_path, "canonical_path"),
	INDEXED(document, "body_markdown"),
	MR_FIELD_SAME(struct mr_mailbox_indexed, sender_fields, "sender"),
	{ 0 },
};

#define RECIPIENT(member, ...) MR_FIELD(struct mr_mailbox_recipient, member, __VA_ARGS__)

static const struct mr_field recipient_fields[] = {
	RECIPIENT(kind, "kind"),
	RECIPIENT(ordinal, "ordinal"),
	MR_MEMBERS(struct mr_mailbox_recipient, principal, struct mr_mailbox_principal,
		principal_fields),
	RECIPIENT(registration_id, "delivered_registration_id", .flags = MR_NULLABLE),
	{ 0 },
};

static const char *const attachment_kinds[] = { "path_ref", "managed_copy", NULL };

#define ATTACHMENT(member, ...) MR_FIELD(struct mr_shape_mailbox_attachment, member, __VA_ARGS__)

static const struct mr_field attachment_fields[] = {
	ATTACHMENT(file.attachment_id, "attachment_id"),
	ATTACHMENT(file.kind, "kind", .choices = attachment_kinds),
	ATTACHMENT(file.path, "locator"),
	ATTACHMENT(file.media_type, "media_type"),
	ATTACHMENT(file.sha256, "sha256", .flags = MR_NULLABLE),
	ATTACHMENT(file.size_bytes, "size_bytes", .flags = MR_NULLABLE,
		.when = MR_FLAG(struct mr_shape_mailbox_attachment, is_measured)),
	ATTACHMENT(file.label, "label", .flags = MR_NULLABLE),
	ATTACHMENT(ordinal, "ordinal"),
	{ 0 },
};

const struct mr_field mr_shape_mailbox_message_fields[] = {
	MR_MEMBERS(struct mr_shape_mailbox_message, found.message, struct mr_mailbox_indexed,
		first_fields),
	MR_MEMBERS(struct mr_shape_mailbox_message, found.where, struct mr_mailbox_projection,
		where_fields),
	MR_MEMBERS(struct mr_shape_mailbox_message, found.message, struct mr_mailbox_indexed,
		other_fields),
	MR_FIELD(struct mr_shape_mailbox_message, found.headers, "headers"),
	MR_FIELD_LIST(struct mr_shape_mailbox_message, found.recipients,
		struct mr_mailbox_recipient, recipient_fields, "recipients"),
	MR_FIELD_ROWS(struct mr_shape_mailbox_message, attachments, found.attachments.len,
		struct mr_shape_mailbox_attachment, attachment_fields, "attachments"),
	{ 0 },
};

void mr_shape_mailbox_message(struct mr_arena *arena, struct mr_shape_mailbox_message *shown)
{
	const struct mr_mailbox_attachments *files = &shown->found.attachments;

	shown->attachments = mr_arena_array(arena, files->len, sizeof(*shown->attachments));
	for (size_t i = 0; i < files->len; i++)
		shown->attachments[i] = (struct mr_shape_mailbox_attachment){
			.file = files->items[i],
			.ordinal = i,
			.is_measured = files->items[i].size_bytes >= 0,
		};
}
