/* op/mailbox/shape_mail.c - messages of agents and the results of their verbs, as tables of fields.
 */
#include "op/mailbox/shape_mail.h"

#include "op/bind.h"
#include "text/out.h"

#define SUBMITTED(member, ...)                                                                     \
	MR_FIELD(struct mr_shape_submission, member, __VA_ARGS__, .flags = MR_OPTIONAL)

static const struct mr_field diagnostics_fields[] = {
	SUBMITTED(tmux_session, "tmux_session_name"),
	SUBMITTED(pane, "tmux_pane_id"),
	SUBMITTED(mailbox_problem, "mailbox_problem",
		.summary = "why the mailbox itself could not be used"),
	{ 0 },
};

static const struct mr_field submission_fields[] = {
	SUBMITTED(bindings_version, "bindings_version"),
	SUBMITTED(request_id, "request_id"),
	SUBMITTED(verification_required, "verification_required"),
	SUBMITTED(verification_paths, "verification_paths"),
	SUBMITTED(detail, "detail"),
	SUBMITTED(submitted_at_utc, "submitted_at_utc"),
	MR_FIELD_SAME(struct mr_shape_submission, diagnostics_fields, "tui_diagnostics"),
	SUBMITTED(preview, "preview_result",
		.summary = "what the agent printed about it; it is not verified"),
	{ 0 },
};

#define HEAD(member, ...) MR_FIELD(struct mr_shape_mail_head, member, __VA_ARGS__)

const struct mr_field mr_shape_mail_head_fields[] = {
	HEAD(schema_version, "schema_version"),
	HEAD(operation, "operation"),
	HEAD(authoritative, "authoritative"),
	HEAD(status, "status"),
	HEAD(execution, "execution_path", .choices = mr_mail_executions),
	HEAD(transport, "transport"),
	HEAD(principal_id, "principal_id"),
	HEAD(address, "address"),
	{ .name = "*",
		.flags = MR_INCLUDED | MR_OPTIONAL,
		.fields = submission_fields,
		.from = MR_FROM_STRUCT(struct mr_shape_mail_head, submission,
			struct mr_shape_submission) },
	{ 0 },
};

struct mr_shape_mail_head mr_shape_mail_head(const struct mr_mail_session *session,
	const char *operation)
{
	return (struct mr_shape_mail_head){
		.schema_version = 1,
		.operation = operation,
		.authoritative = session->execution != MR_MAIL_TUI_SUBMISSION,
		.status = "verified",
		.execution = session->execution,
		.transport = mr_mailbox_transports[session->binding.transport],
		.principal_id = session->binding.principal_id,
		.address = session->binding.address,
	};
}

#define WHO(member, ...) MR_FIELD(struct mr_mailbox_principal, member, __VA_ARGS__)

static const struct mr_field who_fields[] = {
	WHO(address, "address"),
	WHO(display_name, "display_name", .flags = MR_NULLABLE),
	WHO(principal_id, "principal_id", .flags = MR_NULLABLE),
	{ 0 },
};

static const char *const file_kinds[] = { "path_ref", "managed_copy", "transport_owned", NULL };

#define ATTACHED(member, ...) MR_FIELD(struct mr_shape_mail_file, member, __VA_ARGS__)

static const struct mr_field file_fields[] = {
	ATTACHED(file.attachment_id, "attachment_id"),
	ATTACHED(file.kind, "kind", .choices = file_kinds),
	ATTACHED(file.media_type, "media_type"),
	ATTACHED(file.path, "locator"),
	ATTACHED(file.size_bytes, "size_bytes", .flags = MR_NULLABLE,
		.when = MR_FLAG(struct mr_shape_mail_file, is_measured)),
	ATTACHED(file.sha256, "sha256", .flags = MR_NULLABLE),
	ATTACHED(file.label, "label", .flags = MR_NULLABLE),
	{ 0 },
};

/* An object, or null when there is no such thing. */
static void put_placement(struct mr_out *out, const char *key, const void *from)
{
	const bool *prepend = from;

	mr_out_text(out, key, *prepend ? "prepend" : "append");
}

static const struct mr_field notice_fields[] = {
	MR_FIELD(struct mr_mailbox_notify_block, text, "text"),
	MR_FIELD(struct mr_mailbox_notify_block, prepend, "placement", .emit = put_placement),
	{ 0 },
};

#define AUTH(member, ...) MR_FIELD(struct mr_mailbox_notify_auth, member, __VA_ARGS__)

static const struct mr_field auth_fields[] = {
	AUTH(scheme, "scheme"),
	AUTH(token, "token", .flags = MR_NULLABLE),
	AUTH(iss, "iss", .flags = MR_NULLABLE),
	AUTH(iat, "iat", .flags = MR_NULLABLE),
	AUTH(exp, "exp", .flags = MR_NULLABLE),
	{ 0 },
};

#define MAIL(member, ...) MR_FIELD(struct mr_shape_mail, member, __VA_ARGS__)
#define PEOPLE(member, name)                                                                       \
	MR_FIELD_LIST(struct mr_shape_mail, message.content.member, struct mr_mailbox_principal,   \
		who_fields, name)

const struct mr_field mr_shape_mail_fields[] = {
	MAIL(message.ref, "message_ref"),
	MAIL(message.thread_ref, "thread_ref", .flags = MR_NULLABLE),
	MAIL(message.content.created_at_utc, "created_at_utc"),
	MAIL(message.content.subject, "subject"),
	MAIL(message.view.read, "read"),
	MAIL(message.view.answered, "answered"),
	MAIL(message.view.archived, "archived"),
	MAIL(message.view.box, "box"),
	MAIL(unread, "unread"),
	MAIL(message.preview, "body_preview", .flags = MR_NULLABLE),
	MAIL(body_text, "body_text", .flags = MR_NULLABLE),
	MR_FIELD_STRUCT(struct mr_shape_mail, message.content.sender, struct mr_mailbox_principal,
		who_fields, "sender"),
	PEOPLE(to, "to"),
	PEOPLE(cc, "cc"),
	PEOPLE(reply_to, "reply_to"),
	MR_FIELD_ROWS(struct mr_shape_mail, files, message.content.attachments.len,
		struct mr_shape_mail_file, file_fields, "attachments"),
	MR_FIELD_STRUCT(struct mr_shape_mail, message.content.notify_block,
		struct mr_mailbox_notify_block, notice_fields, "notify_block",
		.flags = MR_NULLABLE),
	MR_FIELD_STRUCT(struct mr_shape_mail, message.content.notify_auth,
		struct mr_mailbox_notify_auth, auth_fields, "notify_auth", .flags = MR_NULLABLE),
	MAIL(message.problem, "problem", .flags = MR_OPTIONAL,
		.summary = "what is wrong with this one message"),
	{ 0 },
};

struct mr_shape_mail mr_shape_mail(struct mr_arena *arena, const struct mr_mail_message *message)
{
	struct mr_shape_mail out = { .message = *message, .unread = !message->view.read };
	const struct mr_mailbox_attachments *files = &message->content.attachments;
	const struct mr_bytes *body = &message->content.body;

	if (message->has_body)
		out.body_text = mr_arena_strndup(arena, (const char *)body->data, body->len);
	out.files = mr_arena_array(arena, files->len + 1, sizeof(*out.files));
	for (size_t i = 0; i < files->len; i++)
		out.files[i] = (struct mr_shape_mail_file){
			.file = files->items[i],
			.is_measured = files->items[i].size_bytes >= 0,
		};
	if (message->content.notify_auth) {
		struct mr_mailbox_notify_auth *auth = mr_arena_memdup(arena,
			message->content.notify_auth, sizeof(*message->content.notify_auth));

		auth->token = NULL;
		out.message.content.notify_auth = auth;
	}
	return out;
}

struct mr_shape_mails mr_shape_mails(struct mr_arena *arena,
	const struct mr_mail_messages *messages)
{
	struct mr_shape_mails out = {
		mr_arena_array(arena, messages->len + 1, sizeof(*out.items)),
		messages->len,
	};

	for (size_t i = 0; i < messages->len; i++)
		out.items[i] = mr_shape_mail(arena, &messages->items[i]);
	return out;
}

/* Nothing when there is none. */
static void put_message(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_shape_mail *mail = from;

	if (mail->message.ref)
		mr_bind_object(out, key, mr_shape_mail_fields, mail);
}

const struct mr_field mr_shape_mail_one_fields[] = {
	MR_MEMBERS(struct mr_shape_mail_one, head, struct mr_shape_mail_head,
		mr_shape_mail_head_fields),
	MR_FIELD_STRUCT(struct mr_shape_mail_one, message, struct mr_shape_mail,
		mr_shape_mail_fields, "message", .flags = MR_OPTIONAL, .emit = put_message),
	{ 0 },
};

static void put_count(struct mr_out *out, const char *key, const void *from)
{
	const size_t *count = from;

	if (*count)
		mr_out_int(out, key, (int64_t)*count);
}

static void put_messages(struct mr_out *out, const char *key, const void *from)
{
	const struct mr_shape_mails *mails = from;

	if (mails->len)
		mr_bind_list(out, key, mr_shape_mail_fields, mails->items, mails->len,
			sizeof(*mails->items));
}

const struct mr_field mr_shape_mail_many_fields[] = {
	MR_MEMBERS(struct mr_shape_mail_many, head, struct mr_shape_mail_head,
		mr_shape_mail_head_fields),
	MR_FIELD(struct mr_shape_mail_many, messages.len, "message_count", .flags = MR_OPTIONAL,
		.emit = put_count),
	MR_FIELD_LIST(struct mr_shape_mail_many, messages, struct mr_shape_mail,
		mr_shape_mail_fields, "messages", .flags = MR_OPTIONAL, .emit = put_messages),
	{ 0 },
};
