/* op/mailbox/gateway_write.c - operations of a gateway: send, post, reply. */
#include "op/mailbox/contract_gateway.h"
#include "op/mailbox/gateway_body.h"
#include "op/mailbox/gateway_rules.h"
#include "op/mailbox/shape_gateway.h"
#include "op/nouns.h"

#define MIRROR "/houmao/agents/{agent_ref}/mail/"

static const char *const policies[] = { "operator_mailbox", "none", NULL };
static const char *const placements[] = { "append", "prepend", NULL };

struct write_request {
	struct mr_texts to, cc;
	const char *subject, *body_content, *message_ref;
	unsigned reply_policy;
	const struct mr_value *attachments, *notify_block, *notify_auth;
};

static const struct mr_param file_members[] = {
	{ .name = "path",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.refuse = mr_gateway_refuse_blank,
		.summary = "a file of the gateway's machine" },
	{ .name = "label",
		.type = MR_TYPE_TEXT,
		.flags = MR_OR_NULL,
		.refuse = mr_gateway_refuse_blank,
		.summary = "what it is called" },
	{ 0 },
};

static const struct mr_param block_members[] = {
	{ .name = "text",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED,
		.refuse = mr_gateway_refuse_notice,
		.summary = "the notice" },
	{ .name = "placement",
		.type = MR_TYPE_TEXT,
		.choices = placements,
		.summary = "where it stands in the body",
		.fallback = "append" },
	{ 0 },
};

#define AUTH_MEMBER(key)                                                                           \
	{                                                                                          \
		.name = (key), .type = MR_TYPE_TEXT, .flags = MR_OR_NULL,                          \
		.refuse = mr_gateway_refuse_blank, .summary = "for the recipient's verifier"       \
	}

/* All but the first are reserved. */
static const char *const schemes[] = { "none", "shared-token", "hmac-sha256", "jws", NULL };

static const struct mr_param auth_members[] = {
	{ .name = "scheme",
		.type = MR_TYPE_TEXT,
		.choices = schemes,
		.refuse = mr_gateway_refuse_scheme,
		.summary = "none",
		.fallback = "none" },
	AUTH_MEMBER("token"),
	AUTH_MEMBER("iss"),
	AUTH_MEMBER("iat"),
	AUTH_MEMBER("exp"),
	{ 0 },
};

#define WRITE_PARAM(member, ...) MR_PARAM(struct write_request, member, __VA_ARGS__)
#define SUBJECT_PARAM                                                                              \
	WRITE_PARAM(subject, "subject", .flags = MR_REQUIRED, .refuse = mr_gateway_refuse_blank,   \
		.summary = "what it is about")
#define TEXT_PARAMS                                                                                \
	WRITE_PARAM(body_content, "body_content", .flags = MR_REQUIRED,                            \
		.summary = "the text, Markdown"),                                                  \
		MR_PARAM_LIST(struct write_request, attachments, "attachments",                    \
			.members = file_members, .summary = "files that go with it"),              \
		WRITE_PARAM(notify_block, "notify_block", .flags = MR_OR_NULL,                     \
			.members = block_members,                                                  \
			.summary = "a short notice for the recipient's wake-up"),                  \
		WRITE_PARAM(notify_auth, "notify_auth", .flags = MR_OR_NULL,                       \
			.members = auth_members, .summary = "who vouches for the notice")

static const struct mr_param send_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	WRITE_PARAM(to, "to", .flags = MR_REQUIRED, .refuse = mr_gateway_refuse_none,
		.summary = "recipients' full addresses"),
	WRITE_PARAM(cc, "cc", .refuse = mr_gateway_refuse_blanks,
		.summary = "those who get a copy"),
	SUBJECT_PARAM,
	TEXT_PARAMS,
	{ 0 },
};

static const struct mr_param post_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	SUBJECT_PARAM,
	WRITE_PARAM(reply_policy, "reply_policy", .choices = policies,
		.summary = "whether the operator takes answers", .fallback = "operator_mailbox"),
	TEXT_PARAMS,
	{ 0 },
};

static const struct mr_param reply_params[] = {
	MR_GATEWAY_VERSION_PARAM,
	WRITE_PARAM(message_ref, "message_ref", .flags = MR_REQUIRED,
		.refuse = mr_gateway_refuse_blank, .summary = "the message that is answered"),
	TEXT_PARAMS,
	{ 0 },
};

/* --- a draft from what was sent --- */

/* The text under this key, or NULL. */
static const char *text_at(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static void add_files(struct mr_arena *arena, const struct mr_value *list,
	struct mr_mail_draft *draft)
{
	size_t len = list ? list->list.len : 0;
	struct mr_mail_file *files = mr_arena_array(arena, len + 1, sizeof(*files));

	for (size_t i = 0; i < len; i++)
		files[i] = (struct mr_mail_file){
			.path = text_at(&list->list.items[i], "path"),
			.label = text_at(&list->list.items[i], "label"),
		};
	draft->files = files;
	draft->file_count = len;
}

static struct mr_mail_draft draft_of(struct mr_call *call, const struct write_request *asked)
{
	struct mr_arena *arena = call->cx.arena;
	struct mr_mail_draft draft = {
		.to = asked->to,
		.cc = asked->cc,
		.subject = asked->subject,
		.body = mr_bytes_text(asked->body_content),
		.retry_key = call->idempotency_key,
	};

	add_files(arena, asked->attachments, &draft);
	if (asked->notify_block) {
		struct mr_mailbox_notify_block *block = mr_arena_alloc(arena, sizeof(*block));

		block->text = text_at(asked->notify_block, "text");
		block->prepend =
			mr_str_eq(text_at(asked->notify_block, "placement"), placements[1]);
		draft.notify_block = block;
	}
	if (asked->notify_auth) {
		struct mr_mailbox_notify_auth *auth = mr_arena_alloc(arena, sizeof(*auth));

		auth->scheme = text_at(asked->notify_auth, "scheme");
		auth->token = text_at(asked->notify_auth, "token");
		auth->iss = text_at(asked->notify_auth, "iss");
		auth->iat = text_at(asked->notify_auth, "iat");
		auth->exp = text_at(asked->notify_auth, "exp");
		draft.notify_auth = auth;
	}
	return draft;
}

static enum mr_code show(struct mr_call *call, const struct mr_mail_session *session,
	const char *operation, const struct mr_mail_message *message, enum mr_code rc,
	struct mr_shape_mail_one *out)
{
	if (rc)
		return rc;
	out->head = mr_shape_mail_head(session, operation);
	out->message = mr_shape_mail(call->cx.arena, message);
	return MR_OK;
}

/* --- the operations --- */

static enum mr_code send_mail(struct mr_call *call, const struct mr_mail_session *session,
	const struct write_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_draft draft = draft_of(call, asked);
	struct mr_mail_message message;
	enum mr_code rc = mr_mail_send(&call->cx, &session->mail, &draft, &message);

	return show(call, session, "send", &message, rc, out);
}
MR_BIND_CALL(sending, send_mail, struct mr_mail_session, struct write_request,
	struct mr_shape_mail_one);

#define RETRY_HELP                                                                                 \
	"A request that repeats the Idempotency-Key header of an earlier one within a day is "     \
	"answered with that message, and sends nothing."

const struct mr_op mr_op_gateway_mail_send = {
	.name = "gateway_mail_send",
	.route = "POST " MIRROR "send",
	.summary = "Send a message",
	.help = RETRY_HELP,
	.params = send_params,
	.result = mr_shape_gateway_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &sending,
};

static enum mr_code post_mail(struct mr_call *call, const struct mr_mail_session *session,
	const struct write_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_draft draft = draft_of(call, asked);
	struct mr_mail_message message;
	enum mr_code rc =
		mr_mail_post(&call->cx, &session->mail, &draft, asked->reply_policy == 0, &message);

	return show(call, session, "post", &message, rc, out);
}
MR_BIND_CALL(posting, post_mail, struct mr_mail_session, struct write_request,
	struct mr_shape_mail_one);

const struct mr_op mr_op_gateway_mail_post = {
	.name = "gateway_mail_post",
	.route = "POST " MIRROR "post",
	.summary = "Leave the agent a message from its operator",
	.help = RETRY_HELP,
	.params = post_params,
	.result = mr_shape_gateway_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &posting,
};

static enum mr_code reply_mail(struct mr_call *call, const struct mr_mail_session *session,
	const struct write_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_draft draft = draft_of(call, asked);
	struct mr_mail_message message;
	enum mr_code rc =
		mr_mail_reply(&call->cx, &session->mail, asked->message_ref, &draft, &message);

	return show(call, session, "reply", &message, rc, out);
}
MR_BIND_CALL(replying, reply_mail, struct mr_mail_session, struct write_request,
	struct mr_shape_mail_one);

const struct mr_op mr_op_gateway_mail_reply = {
	.name = "gateway_mail_reply",
	.route = "POST " MIRROR "reply",
	.summary = "Answer a message, which is then read and answered",
	.help = RETRY_HELP,
	.params = reply_params,
	.result = mr_shape_gateway_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_HTTP,
	.contract = &mr_contract_gateway,
	.bind = &replying,
};
