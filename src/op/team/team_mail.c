/* op/team/team_mail.c - operations: sending messages, and answering them. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/message.h"

static const char *const alias_sender[] = { "from", "from_agent", "sender", NULL };
static const char *const alias_body[] = { "body", NULL };
static const char *const alias_to[] = { "recipients", "recipient_names", NULL };

#define SENDER_PARAM                                                                               \
	{                                                                                          \
		.name = "sender_name", .type = MR_TYPE_TEXT,                                       \
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR,                                   \
		.summary = "who sends it: an agent of the project", .aliases = alias_sender,       \
	}
#define BODY_PARAM                                                                                 \
	{                                                                                          \
		.name = "body_md", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED | MR_BODY,           \
		.summary = "the text, Markdown", .aliases = alias_body,                            \
	}
#define ATTACHMENTS_PARAM                                                                          \
	{                                                                                          \
		.name = "attachment_paths", .type = MR_TYPE_TEXTS,                                 \
		.summary = "files to send along",                                                  \
	}
#define KEY_PARAM                                                                                  \
	{                                                                                          \
		.name = "idempotency_key", .type = MR_TYPE_TEXT,                                   \
		.summary = "the same sender and key send only once a day",                         \
	}

static const struct mr_param send_params[] = {
	MR_TEAM_PROJECT_PARAM,
	SENDER_PARAM,
	{ .name = "to",
		.type = MR_TYPE_TEXTS,
		.summary = "recipients: Name, Name@project, project:<key>#Name",
		.aliases = alias_to },
	{ .name = "subject", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED, .summary = "one line" },
	BODY_PARAM,
	{ .name = "cc", .type = MR_TYPE_TEXTS, .summary = "who gets a copy" },
	{ .name = "bcc", .type = MR_TYPE_TEXTS, .summary = "who gets a copy unseen by others" },
	ATTACHMENTS_PARAM,
	{ .name = "convert_images",
		.type = MR_TYPE_BOOL,
		.summary = "pictures become WebP",
		.fallback = "as attachment.convert_images says" },
	{ .name = "importance",
		.type = MR_TYPE_TEXT,
		.choices = mr_shape_team_importances,
		.summary = "how much it matters",
		.fallback = "normal" },
	{ .name = "ack_required",
		.type = MR_TYPE_BOOL,
		.summary = "who is in `to` is asked to acknowledge it",
		.fallback = "false" },
	{ .name = "thread_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_LENIENT,
		.summary = "the conversation it belongs to" },
	{ .name = "reply_to", .type = MR_TYPE_INT, .summary = "the id of a message it answers" },
	{ .name = "auto_contact_if_blocked",
		.type = MR_TYPE_BOOL,
		.summary = "ask for contact where that is what it takes",
		.fallback = "false" },
	{ .name = "strict_recipients",
		.type = MR_TYPE_BOOL,
		.summary = "send to all or to nobody",
		.fallback = "false" },
	KEY_PARAM,
	{ 0 },
};

static const struct mr_field send_fields[] = {
	MR_SHAPE_TEAM_SENT_FIELDS,
	{ .name = "attachments", .type = MR_TYPE_LIST },
	{ 0 },
};

/* Clients also send "A, B": a name holds no comma, but the key of a project may. */
static struct mr_texts names_of(struct mr_arena *arena, const struct mr_args *in, const char *name)
{
	struct mr_texts given = mr_args_texts(arena, in, name);
	struct mr_texts all = { NULL, 0 };
	size_t count = 0;

	for (size_t i = 0; i < given.len; i++)
		count += 1 + mr_str_split(arena, given.items[i], ',').len;
	all.items = mr_arena_array(arena, count + 1, sizeof(*all.items));
	for (size_t i = 0; i < given.len; i++) {
		struct mr_texts parts = mr_str_split(arena, given.items[i], ',');

		if (mr_str_starts(given.items[i], "project:") || parts.len < 2) {
			all.items[all.len++] = given.items[i];
			continue;
		}
		for (size_t k = 0; k < parts.len; k++)
			all.items[all.len++] = parts.items[k];
	}
	return all;
}

static struct mr_team_address_lists lists_of(struct mr_arena *arena, const struct mr_args *in)
{
	return (struct mr_team_address_lists){
		.to = names_of(arena, in, "to"),
		.cc = names_of(arena, in, "cc"),
		.bcc = names_of(arena, in, "bcc"),
	};
}

/* true, false, or -1: it was left to us. */
static int choice(const struct mr_args *in, const char *name)
{
	return mr_args_has(in, name) ? mr_args_bool(in, name, false) : -1;
}

static enum mr_code send_message(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team_draft draft = {
		.project_key = mr_args_text(in, "project_key"),
		.sender_name = mr_args_text(in, "sender_name"),
		.lists = lists_of(call->cx.arena, in),
		.subject = mr_args_text(in, "subject"),
		.body_md = mr_args_text(in, "body_md"),
		.attachment_paths = mr_args_texts(call->cx.arena, in, "attachment_paths"),
		.convert_images = choice(in, "convert_images"),
		.importance = mr_args_text(in, "importance"),
		.ack_required = mr_args_bool(in, "ack_required", false),
		.thread_id = mr_args_text(in, "thread_id"),
		.reply_to = mr_args_int(in, "reply_to", 0),
		.auto_contact_if_blocked = mr_args_bool(in, "auto_contact_if_blocked", false),
		.strict_recipients = mr_args_bool(in, "strict_recipients", false),
		.idempotency_key = mr_args_text(in, "idempotency_key"),
		.verified = call->is_verified,
		.rights = &call->rights,
	};
	struct mr_team_sent sent;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_send(&call->cx, team, &draft, &sent);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_sent_members(out, &sent);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_send = {
	.name = "send_message",
	.command = "team send",
	.summary = "Send a message to agents of this or another project",
	.help = "Use it to tell or ask others something; give what belongs together one "
		"thread_id. A bare name is looked for here, then everywhere; who is "
		"unknown and has a valid name becomes an agent.",
	.cluster = "messaging",
	.params = send_params,
	.result = send_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = send_message,
	.render = mr_render_sent,
};

static const struct mr_param reply_params[] = {
	MR_TEAM_PROJECT_PARAM,
	SENDER_PARAM,
	{ .name = "message_id",
		.type = MR_TYPE_INT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message to answer" },
	BODY_PARAM,
	{ .name = "to",
		.type = MR_TYPE_TEXTS,
		.summary = "recipients",
		.fallback = "who wrote the message",
		.aliases = alias_to },
	{ .name = "cc", .type = MR_TYPE_TEXTS, .summary = "who gets a copy" },
	{ .name = "bcc", .type = MR_TYPE_TEXTS, .summary = "who gets a copy unseen by others" },
	{ .name = "reply_all",
		.type = MR_TYPE_BOOL,
		.summary = "also to everybody in the message's to and cc",
		.fallback = "false" },
	{ .name = "subject_prefix",
		.type = MR_TYPE_TEXT,
		.summary = "what stands before the subject, once",
		.fallback = "Re:" },
	{ .name = "importance",
		.type = MR_TYPE_TEXT,
		.choices = mr_shape_team_importances,
		.summary = "how much it matters",
		.fallback = "as the message" },
	{ .name = "ack_required",
		.type = MR_TYPE_BOOL,
		.summary = "who is in `to` is asked to acknowledge it",
		.fallback = "as the message" },
	ATTACHMENTS_PARAM,
	KEY_PARAM,
	{ 0 },
};

static const struct mr_field reply_fields[] = {
	MR_SHAPE_TEAM_PAYLOAD_FIELDS,
	MR_SHAPE_TEAM_SENT_FIELDS,
	{ 0 },
};

static enum mr_code reply_message(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	struct mr_team_reply reply = {
		.project_key = mr_args_text(in, "project_key"),
		.message_id = mr_args_int(in, "message_id", 0),
		.sender_name = mr_args_text(in, "sender_name"),
		.body_md = mr_args_text(in, "body_md"),
		.lists = lists_of(call->cx.arena, in),
		.reply_all = mr_args_bool(in, "reply_all", false),
		.subject_prefix = mr_args_text(in, "subject_prefix"),
		.importance = mr_args_text(in, "importance"),
		.ack_required = choice(in, "ack_required"),
		.attachment_paths = mr_args_texts(call->cx.arena, in, "attachment_paths"),
		.idempotency_key = mr_args_text(in, "idempotency_key"),
		.verified = call->is_verified,
		.rights = &call->rights,
	};
	struct mr_team_sent sent;
	struct mr_team *team;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_reply(&call->cx, team, &reply, &sent);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_reply_members(out, &sent);
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_reply = {
	.name = "reply_message",
	.command = "team reply",
	.summary = "Answer a message, in its thread",
	.help = "Use it instead of send_message when you answer: recipient, subject and "
		"thread come from the message.",
	.cluster = "messaging",
	.params = reply_params,
	.result = reply_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = reply_message,
	.render = mr_render_sent,
};
