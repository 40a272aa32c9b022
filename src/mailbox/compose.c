/* mailbox/compose.c - checks a draft, and gives it an id, a time and its place in a thread. */
#include "mailbox/compose.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "mailbox/notify.h"
#include "text/time.h"
#include "text/token.h"

#include <string.h>
#include <strings.h>

static const char REPLY_PREFIX[] = "Re: ";

static enum mr_code compose_subject(struct mr_ctx *cx, const char *subject, const char **out)
{
	size_t len = strlen(subject);
	size_t bad;

	if (!mr_utf8_is_valid(subject, len, &bad))
		return mr_err_set(&cx->err, MR_EINVAL, "the subject is not UTF-8 at byte %zu", bad);
	mr_utf8_strip(&subject, &len);
	if (len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "the subject must not be empty");
	if (len > MR_MAILBOX_SUBJECT_BYTES)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"the subject must not be longer than %d bytes", MR_MAILBOX_SUBJECT_BYTES);
	*out = mr_arena_strndup(cx->arena, subject, len);
	return MR_OK;
}

/* Add the prefix once, however long the thread is; a subject that becomes too long is cut. */
static const char *reply_subject(struct mr_arena *arena, const char *subject)
{
	const char *text;

	if (strncasecmp(subject, REPLY_PREFIX, strlen("re:")) == 0)
		return subject;
	text = mr_arena_printf(arena, "%s%s", REPLY_PREFIX, subject);
	return mr_arena_strndup(arena, text,
		mr_utf8_truncate(text, strlen(text), MR_MAILBOX_SUBJECT_BYTES));
}

static struct mr_texts reply_references(struct mr_arena *arena,
	const struct mr_mailbox_message *parent)
{
	size_t kept = parent->references.len;
	struct mr_texts out;

	if (kept > MR_MAILBOX_REFERENCES - 1)
		kept = MR_MAILBOX_REFERENCES - 1;
	out.items = mr_arena_array(arena, kept + 2, sizeof(*out.items));
	if (kept)
		memcpy(out.items, parent->references.items + parent->references.len - kept,
			kept * sizeof(*out.items));
	out.items[kept] = parent->message_id;
	out.len = kept + 1;
	return out;
}

static struct mr_bytes without_cr(struct mr_arena *arena, struct mr_bytes body)
{
	uint8_t *copy;
	size_t len = 0;

	if (body.len == 0 || !memmem(body.data, body.len, "\r\n", 2))
		return body;
	copy = mr_arena_alloc(arena, body.len);
	for (size_t i = 0; i < body.len; i++) {
		if (body.data[i] != '\r' || i + 1 == body.len || body.data[i + 1] != '\n')
			copy[len++] = body.data[i];
	}
	return mr_bytes_of(copy, len);
}

static enum mr_code check_counts(struct mr_ctx *cx, const struct mr_mailbox_draft *draft)
{
	if (draft->to.len == 0)
		return mr_err_set(&cx->err, MR_EINVAL,
			"a message must have at least one recipient in `to`");
	if (draft->to.len + draft->cc.len > MR_MAILBOX_RECIPIENTS)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"a message must not have more than %d recipients", MR_MAILBOX_RECIPIENTS);
	if (draft->attachments.len > MR_MAILBOX_ATTACHMENTS)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"a message must not have more than %d attachments", MR_MAILBOX_ATTACHMENTS);
	/* Leave room for the front matter. */
	if (draft->body.len > MR_MAILBOX_DOCUMENT_BYTES - MR_MAILBOX_HEAD_BYTES)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"the body must not be longer than %d bytes; attach the text as a file",
			MR_MAILBOX_DOCUMENT_BYTES - MR_MAILBOX_HEAD_BYTES);
	return MR_OK;
}

static enum mr_code compose_auth(struct mr_ctx *cx, const struct mr_mailbox_notify_auth *given,
	const struct mr_mailbox_notify_auth **out)
{
	struct mr_mailbox_notify_auth *auth;

	*out = NULL;
	if (!given)
		return MR_OK;
	if (given->scheme && !mr_str_eq(given->scheme, "none"))
		return mr_err_set(&cx->err, MR_EINVAL,
			"notify_auth scheme '%.100s': verifier not yet supported", given->scheme);
	auth = mr_arena_memdup(cx->arena, given, sizeof(*auth));
	auth->scheme = "none";
	*out = auth;
	return MR_OK;
}

enum mr_code mr_mailbox_compose(struct mr_ctx *cx, const struct mr_mailbox_draft *draft,
	const struct mr_mailbox_message *parent, struct mr_mailbox_message *out)
{
	static const struct mr_value no_headers = { .kind = MR_MAP };
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.created_at_utc = mr_time_format(cx->arena, now, MR_TIME_SECONDS),
		.sender = draft->sender,
		.to = draft->to,
		.cc = draft->cc,
		.reply_to = draft->reply_to,
		.attachments = draft->attachments,
		.headers = draft->headers ? draft->headers : &no_headers,
		.notify_block = draft->notify_block,
	};
	const char *subject = draft->subject;
	enum mr_code rc = check_counts(cx, draft);

	if (!subject && parent)
		subject = reply_subject(cx->arena, parent->subject);
	if (!rc)
		rc = compose_subject(cx, subject ? subject : "", &message.subject);
	if (!rc)
		rc = compose_auth(cx, draft->notify_auth, &message.notify_auth);
	if (rc)
		return rc;
	message.body = without_cr(cx->arena, draft->body);
	rc = mr_mailbox_notify_compose(cx->arena, draft->notify_is_explicit, &message, &cx->err);
	if (rc)
		return rc;
	message.message_id = mr_token_message_id(cx->arena, cx->rand, now);
	message.thread_id = message.message_id;
	if (parent) {
		message.thread_id = parent->thread_id;
		message.in_reply_to = parent->message_id;
		message.references = reply_references(cx->arena, parent);
	}
	*out = message;
	return MR_OK;
}
