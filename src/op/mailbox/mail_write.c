/* op/mailbox/mail_write.c - operations: send, post, reply. */
#include "op/mailbox/contract_mail.h"
#include "op/mailbox/mail_terminal.h"
#include "op/mailbox/mail_words.h"
#include "op/mailbox/render_agent_mail.h"
#include "op/mailbox/shape_mail.h"
#include "op/nouns.h"
#include "text/out.h"

static const char *const policies[] = { "operator_mailbox", "none", NULL };

struct write_request {
	struct mr_texts to, cc;
	const char *subject, *reply_policy, *message_ref;
	struct mr_mail_written text;
};

#define WRITE_PARAM(member, ...) MR_PARAM(struct write_request, member, __VA_ARGS__)
#define SUBJECT_PARAM                                                                              \
	WRITE_PARAM(subject, "subject", .flags = MR_REQUIRED, .summary = "what it is about")
#define BODY_PARAMS                                                                                \
	WRITE_PARAM(text.body_content, "body_content", .summary = "the text, Markdown"),           \
		WRITE_PARAM(text.body_file, "body_file", .summary = "the text from this file")
#define ATTACH_PARAMS                                                                              \
	WRITE_PARAM(text.attach, "attach", .summary = "a file that goes with it"),                 \
		WRITE_PARAM(text.attach_mode, "attach_mode", .flags = MR_LENIENT,                  \
			.choices = mr_mail_words_attach_modes,                                     \
			.summary =                                                                 \
				"refer to the files where they are, or keep copies in the root",   \
			.fallback = "path_ref")
#define NOTICE_PARAMS                                                                              \
	WRITE_PARAM(text.notify_block, "notify_block",                                             \
		.summary = "a short notice for the recipient's wake-up"),                          \
		WRITE_PARAM(text.notify_block_placement, "notify_block_placement",                 \
			.flags = MR_LENIENT, .choices = mr_mail_words_placements,                  \
			.summary = "where it stands in the body", .fallback = "append")

#define BODY_HELP                                                                                  \
	"Without --body-content and --body-file, the text is what is piped into the command."

static const struct mr_param send_params[] = {
	WRITE_PARAM(to, "to", .flags = MR_REQUIRED, .summary = "a recipient's full address"),
	WRITE_PARAM(cc, "cc", .summary = "somebody who gets a copy"),
	SUBJECT_PARAM,
	BODY_PARAMS,
	ATTACH_PARAMS,
	NOTICE_PARAMS,
	{ 0 },
};

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

/* Through the agent's terminal, whose mailbox is not open. */
static enum mr_code submit(struct mr_call *call, const struct mr_mail_session *session,
	const char *operation, const struct write_request *asked, const struct mr_mail_draft *draft,
	struct mr_shape_mail_one *out)
{
	struct mr_out arguments;
	enum mr_code rc = mr_mail_terminal_check(call, &asked->to);

	if (!rc)
		rc = mr_mail_terminal_check(call, &asked->cc);
	mr_out_init_tree(&arguments, call->cx.arena);
	mr_out_map(&arguments, NULL);
	if (asked->message_ref) {
		mr_out_text(&arguments, "message_ref", asked->message_ref);
	} else {
		mr_out_texts(&arguments, "to", &asked->to);
		mr_out_texts(&arguments, "cc", &asked->cc);
		mr_out_text(&arguments, "subject", asked->subject);
	}
	if (!rc)
		rc = mr_mail_terminal_put_draft(call, &arguments, draft);
	mr_out_end(&arguments);
	if (!rc)
		mr_mail_terminal_submit(call, session, operation, mr_out_tree(&arguments),
			&out->head);
	return rc;
}

static enum mr_code send_mail(struct mr_call *call, const struct mr_mail_session *session,
	const struct write_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_draft draft = { .to = asked->to,
		.cc = asked->cc,
		.subject = asked->subject };
	struct mr_mail_message message;
	enum mr_code rc = mr_mail_words_draft(call, &asked->text, &draft);

	if (!rc && session->execution == MR_MAIL_TUI_SUBMISSION)
		return submit(call, session, "send", asked, &draft, out);
	if (!rc)
		rc = mr_mail_send(&call->cx, &session->mail, &draft, &message);
	return show(call, session, "send", &message, rc, out);
}
MR_BIND_CALL(sending, send_mail, struct mr_mail_session, struct write_request,
	struct mr_shape_mail_one);

const struct mr_op mr_op_mail_send = {
	.name = "mail_send",
	.command = "mail send",
	.summary = "Send a message",
	.help = BODY_HELP,
	.params = send_params,
	.result = mr_shape_mail_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &sending,
	.render = mr_render_mail_sent,
};

static const struct mr_param post_params[] = {
	SUBJECT_PARAM,
	BODY_PARAMS,
	WRITE_PARAM(reply_policy, "reply_policy", .flags = MR_LENIENT, .choices = policies,
		.summary = "whether the operator takes answers", .fallback = "operator_mailbox"),
	ATTACH_PARAMS,
	NOTICE_PARAMS,
	{ 0 },
};

static enum mr_code post_mail(struct mr_call *call, const struct mr_mail_session *session,
	const struct write_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_draft draft = { .subject = asked->subject };
	struct mr_mail_message message;
	size_t policy = 0;
	enum mr_code rc = mr_mail_words_choice(call, "--reply-policy", asked->reply_policy,
		policies, &policy);

	if (!rc)
		rc = mr_mail_words_draft(call, &asked->text, &draft);
	if (!rc)
		rc = mr_mail_post(&call->cx, &session->mail, &draft, policy == 0, &message);
	return show(call, session, "post", &message, rc, out);
}
MR_BIND_CALL(posting, post_mail, struct mr_mail_session, struct write_request,
	struct mr_shape_mail_one);

const struct mr_op mr_op_mail_post = {
	.name = "mail_post",
	.command = "mail post",
	.summary = "Leave the agent a message from you, its operator",
	.help = "The agent's answer goes to the operator's mailbox, "
		"HOUMAO-operator@houmao.localhost; with --reply-policy none it cannot answer. " BODY_HELP,
	.params = post_params,
	.result = mr_shape_mail_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &posting,
	.render = mr_render_mail_sent,
};

static const struct mr_param reply_params[] = {
	WRITE_PARAM(message_ref, "message_ref", .flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "the message that is answered, from mailroom mail list"),
	BODY_PARAMS,
	ATTACH_PARAMS,
	{ 0 },
};

static enum mr_code reply_mail(struct mr_call *call, const struct mr_mail_session *session,
	const struct write_request *asked, struct mr_shape_mail_one *out)
{
	struct mr_mail_draft draft = { { NULL, 0 } };
	struct mr_mail_message message;
	enum mr_code rc = mr_mail_words_draft(call, &asked->text, &draft);

	if (!rc && session->execution == MR_MAIL_TUI_SUBMISSION)
		return submit(call, session, "reply", asked, &draft, out);
	if (!rc)
		rc = mr_mail_reply(&call->cx, &session->mail, asked->message_ref, &draft, &message);
	return show(call, session, "reply", &message, rc, out);
}
MR_BIND_CALL(replying, reply_mail, struct mr_mail_session, struct write_request,
	struct mr_shape_mail_one);

const struct mr_op mr_op_mail_reply = {
	.name = "mail_reply",
	.command = "mail reply",
	.summary = "Answer a message; it is then read and answered",
	.help = "The answer goes to those whom the message names for it, else to its sender. " BODY_HELP,
	.params = reply_params,
	.result = mr_shape_mail_one_fields,
	.needs = MR_NEED_WRITE,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_mail,
	.bind = &replying,
	.render = mr_render_mail_sent,
};
