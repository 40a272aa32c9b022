/* mailbox/mail_send.c - the verbs that send: send, post, reply. */
#include "base/utf8.h"
#include "mailbox/compose.h"
#include "mailbox/limits.h"
#include "mailbox/mail.h"
#include "mailbox/mail_once.h"
#include "mailbox/mail_private.h"
#include "mailbox/root.h"

#include <string.h>
#include <strings.h>

#define ORIGIN_HEADER "x-houmao-origin"
#define POLICY_HEADER "x-houmao-reply-policy"
#define OPERATOR      "operator"
#define TAKES_ANSWERS "operator_mailbox"
#define NO_ANSWERS    "none"

static enum mr_code refuse(struct mr_ctx *cx, enum mr_code code, const char *why)
{
	mr_err_set(&cx->err, code, "%s", why);
	return mr_err_word(&cx->err, mr_mail_unsupported);
}

/* Resolve the addresses to accounts; repeated ones are kept as given. */
static enum mr_code find_recipients(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *addresses, struct mr_mailbox_principals *out)
{
	enum mr_code rc = MR_OK;

	if (addresses->len > MR_MAILBOX_RECIPIENTS)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"a message must not have more than %d recipients", MR_MAILBOX_RECIPIENTS);
	out->items = mr_arena_array(cx->arena, addresses->len + 1, sizeof(*out->items));
	for (out->len = 0; out->len < addresses->len && !rc; out->len++)
		rc = mail->transport->recipient(cx, mail, addresses->items[out->len],
			&out->items[out->len]);
	return rc;
}

static enum mr_code describe_files(struct mr_ctx *cx, const struct mr_mail_draft *draft,
	struct mr_mailbox_attachments *out)
{
	enum mr_code rc = MR_OK;

	if (draft->file_count > MR_MAILBOX_ATTACHMENTS)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"a message must not have more than %d attachments", MR_MAILBOX_ATTACHMENTS);
	out->items = mr_arena_array(cx->arena, draft->file_count + 1, sizeof(*out->items));
	for (out->len = 0; out->len < draft->file_count && !rc; out->len++)
		rc = mr_mailbox_compose_file(cx, draft->files[out->len].path,
			draft->files[out->len].label, &out->items[out->len]);
	return rc;
}

/* Copies that were made for a message that is not sent. */
static void drop_files(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_attachments *files)
{
	for (size_t i = 0; i < files->len; i++) {
		if (files->items[i].kind == MR_MAILBOX_MANAGED_COPY)
			mail->transport->drop(cx, mail, &files->items[i]);
	}
}

/* The mailbox's own copies of the files that the draft wants copied. */
static enum mr_code keep_files(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, struct mr_mailbox_attachments *files)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < files->len && !rc; i++) {
		if (!draft->files[i].is_copied)
			continue;
		rc = mail->transport->keep
			? mail->transport->keep(cx, mail, &files->items[i])
			: refuse(cx, MR_ECONFLICT, "this transport keeps no copies of files");
	}
	if (rc)
		drop_files(cx, mail, files);
	return rc;
}

/* The message as it is after delivery, for when it cannot be read back. */
static struct mr_mail_message as_delivered(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_message *message, const char *id)
{
	struct mr_mail_message out = { .content = *message, .has_body = true };
	bool received = false;

	for (size_t i = 0; i < message->to.len; i++)
		received |= mr_str_eq(message->to.items[i].address, mail->address);
	for (size_t i = 0; i < message->cc.len; i++)
		received |= mr_str_eq(message->cc.items[i].address, mail->address);
	out.view = (struct mr_mail_view){ .read = !received, .box = received ? "inbox" : "sent" };
	out.content.message_id = id;
	mr_mail_dress(cx->arena, mail, &out);
	out.problem = mr_arena_printf(cx->arena,
		"the message is sent, but it could not be read back: %s", cx->err.msg);
	return out;
}

/* Compose, hand over to the transport, and read the result. Once the message is sent this does
 * not fail any more, or the caller would send it again. */
static enum mr_code deliver(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, struct mr_mailbox_draft *composed,
	const struct mr_mailbox_message *parent, const struct mr_mail_once *once,
	struct mr_mail_message *out)
{
	struct mr_mailbox_message message;
	struct mr_mail_sent sent = { NULL, NULL };
	enum mr_code rc = describe_files(cx, draft, &composed->attachments);

	composed->subject = parent ? NULL : draft->subject;
	composed->body = draft->body;
	composed->notify_is_explicit = draft->notify_block != NULL;
	composed->notify_block = draft->notify_block;
	composed->notify_auth = draft->notify_auth;
	/* What is wrong with the message is found before files are copied for it. */
	if (!rc)
		rc = mr_mailbox_compose(cx, composed, parent, &message);
	if (!rc)
		rc = keep_files(cx, mail, draft, &composed->attachments);
	if (rc)
		return rc;
	message.attachments = composed->attachments;
	if (once->digits) {
		message.message_id = mr_mail_once_id(cx->arena, once, message.message_id);
		if (!parent)
			message.thread_id = message.message_id;
	}
	rc = mail->transport->send(cx, mail, &message, once->digits ? &once->once : NULL, &sent);
	if (!rc && once->digits && !mr_str_eq(sent.message_id, message.message_id)) {
		/* Somebody else with the same request was faster. */
		drop_files(cx, mail, &message.attachments);
		rc = mr_mail_once_check(cx, once, sent.message_id);
		return rc ? rc : mr_mail_load(cx, mail, sent.id, out);
	}
	if (rc) {
		drop_files(cx, mail, &message.attachments);
		return rc;
	}
	if (mr_mail_load(cx, mail, sent.id, out))
		*out = as_delivered(cx, mail, &message, sent.id);
	return MR_OK;
}

static struct mr_mailbox_principal owner(const struct mr_mail *mail)
{
	return (struct mr_mailbox_principal){ .principal_id = mail->principal_id,
		.address = mail->address };
}

/* What the request sent before, when it is repeated: then `*found`, and there is no more to do. */
static enum mr_code recall(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_once *once, bool *found, struct mr_mail_message *out)
{
	struct mr_mail_sent sent = { NULL, NULL };
	enum mr_code rc = MR_OK;

	*found = false;
	if (once->digits && !mail->transport->find_once)
		return refuse(cx, MR_ECONFLICT, "this transport does not recognise retries");
	if (once->digits)
		rc = mail->transport->find_once(cx, mail, &once->once, &sent);
	if (rc || !sent.id)
		return rc;
	*found = true;
	rc = mr_mail_once_check(cx, once, sent.message_id);
	return rc ? rc : mr_mail_load(cx, mail, sent.id, out);
}

enum mr_code mr_mail_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, struct mr_mail_message *out)
{
	struct mr_mailbox_draft composed = { .sender = owner(mail) };
	struct mr_mail_once once;
	bool found = false;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->send(cx, mail, draft, out);
	rc = mr_mail_may_write(cx, mail);
	if (!rc)
		rc = mr_mail_once_of(cx, mail, "send", mail->address, NULL, draft, &once);
	if (!rc)
		rc = recall(cx, mail, &once, &found, out);
	if (rc || found)
		return rc;
	rc = find_recipients(cx, mail, &draft->to, &composed.to);
	if (!rc)
		rc = find_recipients(cx, mail, &draft->cc, &composed.cc);
	return rc ? rc : deliver(cx, mail, draft, &composed, NULL, &once, out);
}

enum mr_code mr_mail_post(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, bool answers, struct mr_mail_message *out)
{
	struct mr_pair pairs[] = {
		{ ORIGIN_HEADER, { .kind = MR_TEXT, .text = OPERATOR } },
		{ POLICY_HEADER,
			{ .kind = MR_TEXT, .text = answers ? TAKES_ANSWERS : NO_ANSWERS } },
	};
	struct mr_value headers = { .kind = MR_MAP, .map = { pairs, MR_LEN(pairs) } };
	struct mr_mailbox_principal sender = {
		.principal_id = MR_MAILBOX_OPERATOR_PRINCIPAL,
		.address = MR_MAILBOX_OPERATOR_ADDRESS,
		.display_name = MR_MAILBOX_OPERATOR_NAME,
		.role = MR_MAILBOX_OPERATOR_ROLE,
	};
	struct mr_mailbox_principal to = owner(mail);
	struct mr_mailbox_draft composed = {
		.sender = sender,
		.to = { &to, 1 },
		.reply_to = { &sender, answers },
		.headers = &headers,
	};
	struct mr_mail_once once;
	bool found = false;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->post(cx, mail, draft, answers, out);
	rc = mr_mail_may_write(cx, mail);
	if (!rc && !mail->transport->make_operator)
		rc = refuse(cx, MR_ECONFLICT, "this transport has no operator who could post");
	if (!rc)
		rc = mr_mail_once_of(cx, mail, "post", sender.address,
			answers ? TAKES_ANSWERS : NO_ANSWERS, draft, &once);
	if (!rc)
		rc = recall(cx, mail, &once, &found, out);
	if (rc || found)
		return rc;
	rc = mail->transport->make_operator(cx, mail);
	return rc ? rc : deliver(cx, mail, draft, &composed, NULL, &once, out);
}

/* Is this what a header says, but for case and white space around it? */
static bool header_is(const struct mr_value *headers, const char *key, const char *word)
{
	const struct mr_value *value = mr_value_get(headers, key);
	const char *text;
	size_t len;

	if (!value || value->kind != MR_TEXT)
		return false;
	text = value->text;
	len = strlen(text);
	mr_utf8_strip(&text, &len);
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

/* The recipients of an answer: the message's reply_to, else its sender. */
static struct mr_texts answer_to(struct mr_arena *arena, const struct mr_mailbox_message *parent)
{
	const struct mr_mailbox_principals sender = {
		(struct mr_mailbox_principal *)&parent->sender, 1
	};
	const struct mr_mailbox_principals *who =
		parent->reply_to.len ? &parent->reply_to : &sender;
	struct mr_texts out = { mr_arena_array(arena, who->len + 1, sizeof(*out.items)), who->len };

	for (size_t i = 0; i < who->len; i++)
		out.items[i] = who->items[i].address;
	return out;
}

enum mr_code mr_mail_reply(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const struct mr_mail_draft *draft, struct mr_mail_message *out)
{
	static const struct mr_mail_flags answered = { .read = 1, .answered = 1, .archived = -1 };
	struct mr_mailbox_draft composed = { .sender = owner(mail) };
	struct mr_mail_message parent, message;
	struct mr_mail_view view;
	struct mr_mail_once once;
	struct mr_texts to;
	bool found = false;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->reply(cx, mail, ref, draft, out);
	rc = mr_mail_may_write(cx, mail);
	if (!rc)
		rc = mr_mail_peek(cx, mail, ref, NULL, &parent);
	if (rc)
		return rc;
	if (header_is(parent.content.headers, ORIGIN_HEADER, OPERATOR) &&
		!header_is(parent.content.headers, POLICY_HEADER, TAKES_ANSWERS))
		return refuse(cx, MR_ECONFLICT,
			"answering is unsupported for operator-origin messages that take no "
			"answers");
	rc = mr_mail_once_of(cx, mail, "reply", mail->address, parent.ref, draft, &once);
	if (!rc)
		rc = recall(cx, mail, &once, &found, &message);
	to = answer_to(cx->arena, &parent.content);
	if (!rc && !found)
		rc = find_recipients(cx, mail, &to, &composed.to);
	if (!rc && !found)
		rc = deliver(cx, mail, draft, &composed, &parent.content, &once, &message);
	if (rc)
		return rc;
	/* Also when it was sent before: perhaps that request did not come so far. */
	if (mail->transport->mark(cx, mail, parent.content.message_id, &answered, &view))
		message.problem = mr_arena_printf(cx->arena,
			"the answer is sent, but %s could not be marked as answered: %s",
			parent.ref, cx->err.msg);
	*out = message;
	return MR_OK;
}
