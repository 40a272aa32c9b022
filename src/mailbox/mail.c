/* mailbox/mail.c - the verbs that list, read, mark and move mail, over any transport. */
#include "mailbox/mail.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "mailbox/limits.h"
#include "mailbox/mail_private.h"
#include "mailbox/state.h"
#include "text/time.h"

#include <string.h>

enum { PREVIEW_CHARS = 240 };

static const char INBOX[] = "inbox";
static const char ARCHIVE[] = "archive";
static const char ELLIPSIS[] = "...";

const char mr_mail_unsupported[] = "unsupported_operation";
const char mr_mail_failed[] = "mailbox_failed";

void mr_mail_close(struct mr_mail *mail)
{
	if (mail->transport)
		mail->transport->close(mail);
	*mail = MR_MAIL_INIT;
}

enum mr_code mr_mail_may_write(struct mr_ctx *cx, const struct mr_mail *mail)
{
	if (!mail->read_only)
		return MR_OK;
	return mr_err_set(&cx->err, MR_EPERM, "the mail of %s was opened for reading only",
		mail->address);
}

enum mr_code mr_mail_ref_id(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char **out)
{
	size_t len = strlen(ref);
	const char *colon, *text;

	mr_utf8_strip(&ref, &len);
	text = mr_arena_strndup(cx->arena, ref, len);
	colon = strchr(text, ':');
	*out = colon ? colon + 1 : text;
	if ((*out)[0] != '\0' &&
		(!colon ||
			mr_str_eq(mr_arena_strndup(cx->arena, text, (size_t)(colon - text)),
				mail->transport->name)))
		return MR_OK;
	return mr_err_set(&cx->err, MR_EINVAL,
		"`%.200s` is not the ref of a message here; refs begin with `%s:`", text,
		mail->transport->name);
}

/* One line: white space becomes single spaces, and too long a text ends in dots. */
static const char *preview(struct mr_arena *arena, struct mr_bytes body)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	const char *text = (const char *)body.data;
	size_t chars = 0, kept = 0;
	bool gap = false;

	mr_buf_init(&buf, (PREVIEW_CHARS + 2) * 4);
	for (size_t at = 0, len = 0; at < body.len && chars <= PREVIEW_CHARS; at += len) {
		uint32_t scalar = 0;

		len = mr_utf8_next(text + at, body.len - at, &scalar);
		if (len == 0)
			break;
		if (mr_utf8_is_space(scalar)) {
			gap = chars > 0;
			continue;
		}
		if (gap) {
			mr_buf_putc(&buf, ' ');
			chars++;
		}
		gap = false;
		mr_buf_add(&buf, text + at, len);
		chars++;
	}
	if (chars <= PREVIEW_CHARS)
		return mr_arena_strndup(arena, mr_buf_text(&buf), buf.len);
	kept = mr_utf8_prefix(mr_buf_text(&buf), buf.len, PREVIEW_CHARS - strlen(ELLIPSIS));
	return mr_arena_printf(arena, "%.*s%s", (int)kept, mr_buf_text(&buf), ELLIPSIS);
}

void mr_mail_dress(struct mr_arena *arena, const struct mr_mail *mail,
	struct mr_mail_message *message)
{
	const struct mr_mailbox_message *content = &message->content;

	message->ref = mr_arena_printf(arena, "%s:%s", mail->transport->name, content->message_id);
	message->thread_ref = content->thread_id
		? mr_arena_printf(arena, "%s:%s", mail->transport->thread_prefix,
			  content->thread_id)
		: NULL;
	message->preview = preview(arena, content->body);
}

enum mr_code mr_mail_load(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_mail_message *out)
{
	struct mr_mail_message message = { NULL };
	enum mr_code rc = mail->transport->get(cx, mail, id, &message);

	if (rc)
		return rc;
	mr_mail_dress(cx->arena, mail, &message);
	message.has_body = true;
	*out = message;
	return MR_OK;
}

enum mr_code mr_mail_status(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mail_status *out)
{
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->status(cx, mail, out);
	rc = mail->transport->check(cx, mail);
	if (!rc)
		*out = (struct mr_mail_status){
			.transport = mail->transport->name,
			.address = mail->address,
			.principal_id = mail->principal_id,
		};
	return rc;
}

/* Lists. A message that a transport passes lives only during the call, so it is copied. */

static const char *copy_text(struct mr_arena *arena, const char *text)
{
	return text ? mr_arena_strdup(arena, text) : NULL;
}

static struct mr_mailbox_principal copy_principal(struct mr_arena *arena,
	const struct mr_mailbox_principal *from)
{
	return (struct mr_mailbox_principal){
		.principal_id = copy_text(arena, from->principal_id),
		.address = copy_text(arena, from->address),
		.display_name = copy_text(arena, from->display_name),
		.manifest_path_hint = copy_text(arena, from->manifest_path_hint),
		.role = copy_text(arena, from->role),
	};
}

static struct mr_mailbox_principals copy_principals(struct mr_arena *arena,
	const struct mr_mailbox_principals *from)
{
	struct mr_mailbox_principals to = {
		mr_arena_array(arena, from->len + 1, sizeof(*to.items)),
		from->len,
	};

	for (size_t i = 0; i < from->len; i++)
		to.items[i] = copy_principal(arena, &from->items[i]);
	return to;
}

static struct mr_mailbox_attachments copy_attachments(struct mr_arena *arena,
	const struct mr_mailbox_attachments *from)
{
	struct mr_mailbox_attachments to = {
		mr_arena_array(arena, from->len + 1, sizeof(*to.items)),
		from->len,
	};

	for (size_t i = 0; i < from->len; i++) {
		const struct mr_mailbox_attachment *one = &from->items[i];

		to.items[i] = (struct mr_mailbox_attachment){
			.attachment_id = copy_text(arena, one->attachment_id),
			.kind = one->kind,
			.path = copy_text(arena, one->path),
			.media_type = copy_text(arena, one->media_type),
			.sha256 = copy_text(arena, one->sha256),
			.size_bytes = one->size_bytes,
			.label = copy_text(arena, one->label),
		};
	}
	return to;
}

static void copy_notice(struct mr_arena *arena, const struct mr_mailbox_message *from,
	struct mr_mailbox_message *to)
{
	if (from->notify_block) {
		struct mr_mailbox_notify_block *block = mr_arena_alloc(arena, sizeof(*block));

		block->text = copy_text(arena, from->notify_block->text);
		block->prepend = from->notify_block->prepend;
		to->notify_block = block;
	}
	if (from->notify_auth) {
		struct mr_mailbox_notify_auth *auth = mr_arena_alloc(arena, sizeof(*auth));

		auth->scheme = copy_text(arena, from->notify_auth->scheme);
		auth->token = copy_text(arena, from->notify_auth->token);
		auth->iss = copy_text(arena, from->notify_auth->iss);
		auth->iat = copy_text(arena, from->notify_auth->iat);
		auth->exp = copy_text(arena, from->notify_auth->exp);
		to->notify_auth = auth;
	}
}

/* Without references and headers, which no list shows. */
static struct mr_mailbox_message copy_content(struct mr_arena *arena,
	const struct mr_mailbox_message *from, bool with_body)
{
	static const struct mr_value no_headers = { .kind = MR_MAP };
	struct mr_mailbox_message to = {
		.protocol_version = from->protocol_version,
		.message_id = copy_text(arena, from->message_id),
		.thread_id = copy_text(arena, from->thread_id),
		.in_reply_to = copy_text(arena, from->in_reply_to),
		.created_at_utc = copy_text(arena, from->created_at_utc),
		.sender = copy_principal(arena, &from->sender),
		.to = copy_principals(arena, &from->to),
		.cc = copy_principals(arena, &from->cc),
		.reply_to = copy_principals(arena, &from->reply_to),
		.subject = copy_text(arena, from->subject),
		.attachments = copy_attachments(arena, &from->attachments),
		.headers = &no_headers,
	};

	copy_notice(arena, from, &to);
	if (with_body && from->body.len)
		to.body = mr_bytes_of(mr_arena_memdup(arena, from->body.data, from->body.len),
			from->body.len);
	return to;
}

struct listing {
	struct mr_ctx *cx;
	const struct mr_mail *mail;
	bool with_body;
	size_t start; /* of the arena */
	size_t room;
	struct mr_mail_list list;
};

static enum mr_code check_size(struct mr_ctx *cx, size_t start)
{
	if (mr_arena_size(cx->arena) - start <= MR_MAILBOX_ANSWER_BYTES)
		return MR_OK;
	return mr_err_set(&cx->err, MR_ELIMIT,
		"these messages are longer than %d bytes together; ask for fewer, or without "
		"bodies",
		MR_MAILBOX_ANSWER_BYTES);
}

static enum mr_code on_message(void *arg, const struct mr_mail_message *message)
{
	struct listing *l = arg;
	struct mr_arena *arena = l->cx->arena;
	struct mr_mail_messages *out = &l->list.messages;
	struct mr_mail_message *copy;

	if (out->len == MR_MAILBOX_LISTED)
		return mr_err_set(&l->cx->err, MR_ELIMIT,
			"the box `%s` holds more than %d such messages; give a limit up to that",
			l->list.box, MR_MAILBOX_LISTED);
	if (out->len == l->room) {
		struct mr_mail_message *more;

		l->room = l->room ? l->room * 2 : 16;
		more = mr_arena_array(arena, l->room, sizeof(*more));
		if (out->len)
			memcpy(more, out->items, out->len * sizeof(*more));
		out->items = more;
	}
	copy = &out->items[out->len++];
	*copy = (struct mr_mail_message){
		.view = message->view,
		.content = message->content,
		.problem = copy_text(arena, message->problem),
		.has_body = l->with_body && !message->problem,
	};
	mr_mail_dress(arena, l->mail, copy);
	copy->view.box = copy_text(arena, message->view.box);
	copy->content = copy_content(arena, &message->content, copy->has_body);
	l->list.open_count += !copy->view.archived;
	l->list.unread_count += !copy->view.read;
	return check_size(l->cx, l->start);
}

/* Messages have whole seconds: those at or after a fraction begin with the next one. */
static enum mr_code read_since(struct mr_ctx *cx, const char *text, const char **out)
{
	int64_t us;
	enum mr_code rc = mr_time_parse(text, MR_TIME_LENIENT, &us, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "since");
	if (us % MR_TIME_S != 0)
		us += MR_TIME_S;
	*out = mr_time_format(cx->arena, us, MR_TIME_SECONDS);
	return MR_OK;
}

enum mr_code mr_mail_list(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_query *query, struct mr_mail_list *out)
{
	struct mr_mail_query checked = *query;
	struct listing listing = {
		.cx = cx,
		.mail = mail,
		.with_body = query->include_body,
		.start = mr_arena_size(cx->arena),
	};
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->list(cx, mail, query, out);
	rc = mr_mailbox_state_box(cx, query->box ? query->box : INBOX, &checked.box);
	if (!rc && query->since)
		rc = read_since(cx, query->since, &checked.since);
	if (!rc && query->limit < 0)
		rc = mr_err_set(&cx->err, MR_EINVAL, "limit must not be negative");
	if (rc)
		return rc;
	/* Ask for one more than the maximum, to notice that there are too many. */
	if (query->limit == 0 || query->limit > MR_MAILBOX_LISTED)
		checked.limit = MR_MAILBOX_LISTED + 1;
	listing.list.box = checked.box;
	rc = mail->transport->list(cx, mail, &checked, on_message, &listing);
	if (!rc)
		*out = listing.list;
	return rc;
}

enum mr_code mr_mail_peek(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char *box, struct mr_mail_message *out)
{
	struct mr_mail_message message;
	const char *id = NULL, *wanted = NULL;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->get(cx, mail, ref, box, false, out);
	rc = mr_mail_ref_id(cx, mail, ref, &id);
	if (!rc && box)
		rc = mr_mailbox_state_box(cx, box, &wanted);
	if (!rc)
		rc = mr_mail_load(cx, mail, id, &message);
	if (rc)
		return rc;
	if (wanted && !mr_str_eq(message.view.box, wanted))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"message %s is in the box `%s`, not in `%s`", message.ref, message.view.box,
			wanted);
	*out = message;
	return MR_OK;
}

enum mr_code mr_mail_read(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char *box, struct mr_mail_message *out)
{
	static const struct mr_mail_flags read = { .read = 1, .answered = -1, .archived = -1 };
	struct mr_mail_message message;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->get(cx, mail, ref, box, true, out);
	rc = mr_mail_may_write(cx, mail);
	if (!rc)
		rc = mr_mail_peek(cx, mail, ref, box, &message);
	if (!rc && !message.view.read)
		rc = mail->transport->mark(cx, mail, message.content.message_id, &read,
			&message.view);
	if (!rc)
		*out = message;
	return rc;
}

/* Every message that is named, before any of them is changed. */
static enum mr_code load_all(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, struct mr_mail_messages *out)
{
	size_t start = mr_arena_size(cx->arena);
	enum mr_code rc = mr_mail_may_write(cx, mail);

	if (rc)
		return rc;
	if (refs->len == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "name at least one message");
	if (refs->len > MR_MAILBOX_REFS)
		return mr_err_set(&cx->err, MR_ELIMIT, "name at most %d messages at once",
			MR_MAILBOX_REFS);
	out->items = mr_arena_array(cx->arena, refs->len, sizeof(*out->items));
	for (out->len = 0; out->len < refs->len && !rc; out->len++) {
		struct mr_mail_message *message = &out->items[out->len];
		const char *id = NULL;

		rc = mr_mail_ref_id(cx, mail, refs->items[out->len], &id);
		if (!rc)
			rc = mr_mail_load(cx, mail, id, message);
		for (size_t i = 0; i < out->len && !rc; i++) {
			if (mr_str_eq(out->items[i].ref, message->ref))
				rc = mr_err_set(&cx->err, MR_EINVAL, "message %s is named twice",
					message->ref);
		}
		if (!rc)
			rc = check_size(cx, start);
	}
	return rc;
}

/* The views of messages before they are changed. */
static struct mr_mail_view *views_of(struct mr_arena *arena,
	const struct mr_mail_messages *messages)
{
	struct mr_mail_view *views = mr_arena_array(arena, messages->len + 1, sizeof(*views));

	for (size_t i = 0; i < messages->len; i++)
		views[i] = messages->items[i].view;
	return views;
}

/*
 * After a failure: put the first `count` messages back as they were, and keep the reason. All or
 * none is changed, unless the disk that failed fails here too.
 */
static enum mr_code put_back(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_messages *messages, const struct mr_mail_view *before, size_t count)
{
	struct mr_err why = cx->err;

	for (size_t i = 0; i < count; i++) {
		const struct mr_mail_message *one = &messages->items[i];
		const struct mr_mail_flags flags = { before[i].read, before[i].answered, -1 };
		struct mr_mail_view view = one->view;
		enum mr_code rc = MR_OK;

		if (!mr_str_eq(view.box, before[i].box))
			rc = mail->transport->move(cx, mail, one->content.message_id, before[i].box,
				&view);
		if (!rc && (view.read != before[i].read || view.answered != before[i].answered))
			rc = mail->transport->mark(cx, mail, one->content.message_id, &flags,
				&view);
		if (rc)
			mr_err_set(&why, why.code, "%s (and %s could not be put back: %s)",
				mr_arena_strdup(cx->arena, why.msg), one->ref, cx->err.msg);
	}
	cx->err = why;
	return why.code;
}

enum mr_code mr_mail_mark(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, const struct mr_mail_flags *flags,
	struct mr_mail_messages *out)
{
	struct mr_mail_flags rest = { flags->read, flags->answered, -1 };
	struct mr_mail_messages messages = { NULL, 0 };
	const struct mr_mail_view *before;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->mark(cx, mail, refs, flags, out);
	if (flags->read < 0 && flags->answered < 0 && flags->archived < 0)
		return mr_err_set(&cx->err, MR_EINVAL,
			"set at least one of read, answered and archived");
	if (flags->archived > 0 && flags->read == 0)
		return mr_err_set(&cx->err, MR_EINVAL, "archived messages must be read");
	rc = load_all(cx, mail, refs, &messages);
	if (rc)
		return rc;
	before = views_of(cx->arena, &messages);
	for (size_t i = 0; i < messages.len; i++) {
		struct mr_mail_message *one = &messages.items[i];

		if (flags->archived >= 0)
			rc = mail->transport->move(cx, mail, one->content.message_id,
				flags->archived ? ARCHIVE : INBOX, &one->view);
		if (!rc && (rest.read >= 0 || rest.answered >= 0))
			rc = mail->transport->mark(cx, mail, one->content.message_id, &rest,
				&one->view);
		if (rc)
			return put_back(cx, mail, &messages, before, i + 1);
	}
	*out = messages;
	return MR_OK;
}

enum mr_code mr_mail_move(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, const char *box, struct mr_mail_messages *out)
{
	struct mr_mail_messages messages = { NULL, 0 };
	const struct mr_mail_view *before;
	const char *name = NULL;
	enum mr_code rc;

	if (mail->transport->verbs)
		return mail->transport->verbs->move(cx, mail, refs, box, out);
	rc = mr_mailbox_state_box(cx, box, &name);
	if (!rc)
		rc = load_all(cx, mail, refs, &messages);
	if (rc)
		return rc;
	before = views_of(cx->arena, &messages);
	for (size_t i = 0; i < messages.len; i++) {
		rc = mail->transport->move(cx, mail, messages.items[i].content.message_id, name,
			&messages.items[i].view);
		if (rc)
			return put_back(cx, mail, &messages, before, i + 1);
	}
	*out = messages;
	return MR_OK;
}

enum mr_code mr_mail_archive(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, struct mr_mail_messages *out)
{
	return mr_mail_move(cx, mail, refs, ARCHIVE, out);
}
