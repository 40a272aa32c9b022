/* op/team/team_mail.c - operations: sending messages, and answering them. */
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/message.h"

static const char *const alias_sender[] = { "from", "from_agent", "sender", NULL };
static const char *const alias_body[] = { "body", NULL };
static const char *const alias_to[] = { "recipients", "recipient_names", NULL };

#define SENDER_PARAM(request_type)                                                                 \
	MR_PARAM(request_type, sender_name, "sender_name",                                         \
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR | MR_KNOWN,                        \
		.summary = "who sends it: an agent of the project", .aliases = alias_sender)
#define BODY_PARAM(request_type)                                                                   \
	MR_PARAM(request_type, body_md, "body_md", .flags = MR_REQUIRED | MR_BODY | MR_KNOWN,      \
		.summary = "the text, Markdown", .aliases = alias_body)
#define COPY_PARAMS(request_type)                                                                  \
	MR_PARAM(request_type, lists.cc, "cc", .flags = MR_KNOWN, .summary = "who gets a copy"),   \
		MR_PARAM(request_type, lists.bcc, "bcc", .flags = MR_KNOWN,                        \
			.summary = "who gets a copy unseen by others")
#define ATTACHMENTS_PARAM(request_type)                                                            \
	MR_PARAM(request_type, attachment_paths, "attachment_paths", .flags = MR_KNOWN,            \
		.summary = "files to send along")
#define KEY_PARAM(request_type)                                                                    \
	MR_PARAM(request_type, idempotency_key, "idempotency_key", .flags = MR_RARE,               \
		.summary = "the same sender and key send only once a day")

static const struct mr_param send_params[] = {
	MR_TEAM_PROJECT(struct mr_team_draft),
	SENDER_PARAM(struct mr_team_draft),
	MR_PARAM(struct mr_team_draft, lists.to, "to",
		.summary = "recipients: Name, Name@project, project:<key>#Name; @all, @active, "
			   "@program:codex, @group",
		.aliases = alias_to),
	MR_PARAM(struct mr_team_draft, subject, "subject", .flags = MR_REQUIRED | MR_KNOWN,
		.summary = "one line"),
	BODY_PARAM(struct mr_team_draft),
	COPY_PARAMS(struct mr_team_draft),
	ATTACHMENTS_PARAM(struct mr_team_draft),
	MR_PARAM(struct mr_team_draft, convert_images, "convert_images", .flags = MR_RARE,
		.summary = "pictures become WebP", .fallback = "as attachment.convert_images says"),
	MR_PARAM(struct mr_team_draft, importance, "importance", .flags = MR_KNOWN,
		.choices = mr_shape_team_importances, .summary = "how much it matters",
		.fallback = "normal"),
	MR_PARAM(struct mr_team_draft, ack_required, "ack_required",
		.summary = "who is in `to` is asked to acknowledge it", .fallback = "false"),
	MR_PARAM(struct mr_team_draft, thread_id, "thread_id", .flags = MR_LENIENT,
		.summary = "the conversation it belongs to"),
	MR_PARAM(struct mr_team_draft, reply_to, "reply_to", .flags = MR_RARE,
		.summary = "the id of a message it answers"),
	MR_PARAM(struct mr_team_draft, auto_contact_if_blocked, "auto_contact_if_blocked",
		.flags = MR_RARE, .summary = "request contact where that is required",
		.fallback = "false"),
	MR_PARAM(struct mr_team_draft, strict_recipients, "strict_recipients", .flags = MR_RARE,
		.summary = "send to all or to nobody", .fallback = "false"),
	KEY_PARAM(struct mr_team_draft),
	{ 0 },
};

/* Clients also send "A, B": a name holds no comma, but the key of a project may. */
static void split_names(struct mr_arena *arena, struct mr_texts *names)
{
	struct mr_texts all = { NULL, 0 };
	size_t count = 0;

	for (size_t i = 0; i < names->len; i++)
		count += 1 + mr_str_split(arena, names->items[i], ',').len;
	all.items = mr_arena_array(arena, count + 1, sizeof(*all.items));
	for (size_t i = 0; i < names->len; i++) {
		struct mr_texts parts = mr_str_split(arena, names->items[i], ',');

		if (mr_str_starts(names->items[i], "project:") || parts.len < 2) {
			all.items[all.len++] = names->items[i];
			continue;
		}
		for (size_t k = 0; k < parts.len; k++)
			all.items[all.len++] = parts.items[k];
	}
	*names = all;
}

static void split_lists(struct mr_arena *arena, struct mr_team_address_lists *lists)
{
	split_names(arena, &lists->to);
	split_names(arena, &lists->cc);
	split_names(arena, &lists->bcc);
}

static enum mr_code send_message(struct mr_call *call, struct mr_team *team,
	struct mr_team_draft *draft, struct mr_team_sent *out)
{
	split_lists(call->cx.arena, &draft->lists);
	draft->verified = call->is_verified;
	draft->rights = &call->rights;
	return mr_team_send(&call->cx, team, draft, out);
}
MR_TEAM_BIND_CALL(sending, send_message, struct mr_team_draft, struct mr_team_sent);

const struct mr_op mr_op_team_send = {
	.name = "send_message",
	.command = "team send",
	.summary = "Send a message to agents of this or another project",
	.help = "Give what belongs together one thread_id. A bare name is looked for in your "
		"project, then in the others.",
	.cluster = "messaging",
	.params = send_params,
	.result = mr_shape_team_sent_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &sending,
	.render = mr_render_sent,
};

static const struct mr_param reply_params[] = {
	MR_TEAM_PROJECT(struct mr_team_reply),
	SENDER_PARAM(struct mr_team_reply),
	MR_PARAM(struct mr_team_reply, message_id, "message_id",
		.flags = MR_REQUIRED | MR_POSITIONAL, .summary = "the message to answer"),
	BODY_PARAM(struct mr_team_reply),
	MR_PARAM(struct mr_team_reply, lists.to, "to", .summary = "recipients",
		.fallback = "who wrote the message", .aliases = alias_to),
	COPY_PARAMS(struct mr_team_reply),
	MR_PARAM(struct mr_team_reply, reply_all, "reply_all",
		.summary = "also to everybody in the message's to and cc", .fallback = "false"),
	MR_PARAM(struct mr_team_reply, subject_prefix, "subject_prefix", .flags = MR_RARE,
		.summary = "what stands before the subject, once", .fallback = "Re:"),
	MR_PARAM(struct mr_team_reply, importance, "importance", .flags = MR_RARE,
		.choices = mr_shape_team_importances, .summary = "how much it matters",
		.fallback = "as the message"),
	MR_PARAM(struct mr_team_reply, ack_required, "ack_required", .flags = MR_RARE,
		.summary = "who is in `to` is asked to acknowledge it",
		.fallback = "as the message"),
	ATTACHMENTS_PARAM(struct mr_team_reply),
	KEY_PARAM(struct mr_team_reply),
	{ 0 },
};

static const struct mr_field reply_fields[] = {
	MR_MEMBERS_SAME(struct mr_team_sent, mr_shape_team_payload_fields),
	MR_MEMBERS_SAME(struct mr_team_sent, mr_shape_team_report_fields),
	{ 0 },
};

static enum mr_code reply_message(struct mr_call *call, struct mr_team *team,
	struct mr_team_reply *reply, struct mr_team_sent *out)
{
	split_lists(call->cx.arena, &reply->lists);
	reply->verified = call->is_verified;
	reply->rights = &call->rights;
	return mr_team_reply(&call->cx, team, reply, out);
}
MR_TEAM_BIND_CALL(replying, reply_message, struct mr_team_reply, struct mr_team_sent);

const struct mr_op mr_op_team_reply = {
	.name = "reply_message",
	.command = "team reply",
	.summary = "Answer a message, in its thread",
	.help = "Recipient, subject and thread come from the message.",
	.cluster = "messaging",
	.params = reply_params,
	.result = reply_fields,
	.needs = MR_NEED_WRITE,
	.traits = MR_CORE | MR_STANDARD,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.bind = &replying,
	.render = mr_render_sent,
};
