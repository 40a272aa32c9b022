/* mailbox/mail_jmap_send.c - sends mail through a JMAP server, each once. */
#include "base/fs.h"
#include "mailbox/limits.h"
#include "mailbox/mail_jmap_private.h"
#include "mailbox/root.h"
#include "text/time.h"

#include <string.h>

enum {
	UPLOAD_BYTES = 64 << 20,
	TRIES = 2,
	RACES = 8,        /* with others who change mail of the account meanwhile */
	REFERENCES = 100, /* of a long conversation the newest: servers limit headers */
	STAMP_BYTES = sizeof("msg-20260311T041500Z") - 1,
};

static const char MAIL[] = "mail";
static const char HANDED_OVER[] = "submission";

/* --- attachments --- */

static const char *blob_of(const struct mr_mailbox_attachment *file)
{
	return file->kind == MR_MAILBOX_TRANSPORT_OWNED ? file->path + strlen("blob:") : NULL;
}

enum mr_code mr_mail_jmap_keep(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mailbox_attachment *file)
{
	struct mr_mail_jmap *state = mail->state;
	const struct mr_jmap_session *session = NULL;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_bytes bytes;
	const char *blob = NULL;
	size_t max = UPLOAD_BYTES;
	enum mr_code rc = mr_jmap_session(cx, state->jmap, &session);

	if (!rc && session->limits.upload_bytes < (int64_t)max)
		max = (size_t)session->limits.upload_bytes;
	if (!rc && file->size_bytes > (int64_t)max)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"%s is too large for the server, which takes attachments of %zu bytes at "
			"most",
			file->path, max);
	if (!rc)
		rc = mr_fs_open_real(file->path, O_RDONLY, &fd, &cx->err);
	if (!rc)
		rc = mr_fs_read_fd(cx->arena, fd, max, &bytes, &cx->err);
	if (!rc && (int64_t)bytes.len != file->size_bytes)
		rc = mr_err_set(&cx->err, MR_ECONFLICT,
			"%s changed while it was being attached; try again", file->path);
	if (!rc)
		rc = mr_jmap_upload(cx, state->jmap, bytes, file->media_type, &blob);
	if (rc)
		return mr_err_wrap(&cx->err, "attachment");
	file->kind = MR_MAILBOX_TRANSPORT_OWNED;
	file->path = mr_arena_printf(cx->arena, "blob:%s", blob);
	return MR_OK;
}

/* --- what is sent --- */

struct outgoing {
	struct mr_mail_jmap *state;
	struct mr_mailbox_message message; /* as the canonical message has it */
	struct mr_jmap_email_new email;
	const char *sent, *drafts, *inbox; /* ids of the boxes; drafts may be NULL */
	bool is_post;                      /* it goes into the inbox, and is not submitted */
	/* How it is recognised: by a time and digits of its id (mr_mail_jmap_lookup()). */
	const char *since, *digits;
	/* It was looked for, and is made only if no mail was changed since then. */
	bool is_guarded;
	/* What the server said. */
	const char *id, *thread_id, *received_at;
	const char *twin_id; /* the message that was there already has this one; or NULL */
};

static enum mr_code upload_files(struct mr_ctx *cx, const struct mr_mail *mail,
	struct outgoing *out)
{
	struct mr_mailbox_attachments *files = &out->message.attachments;
	const char **blobs = mr_arena_array(cx->arena, files->len + 1, sizeof(*blobs));
	enum mr_code rc = MR_OK;

	if (files->len)
		files->items = mr_arena_memdup(cx->arena, files->items,
			files->len * sizeof(*files->items));
	for (size_t i = 0; i < files->len && !rc; i++) {
		if (!blob_of(&files->items[i]))
			rc = mr_mail_jmap_keep(cx, mail, &files->items[i]);
		blobs[i] = rc ? NULL : blob_of(&files->items[i]);
	}
	out->email.blobs = blobs;
	return rc;
}

/* The newest of these, and `last` unless that is NULL. */
static struct mr_texts with_newest(struct mr_arena *arena, const struct mr_texts *texts,
	const char *last)
{
	size_t from = texts->len > REFERENCES - 1 ? texts->len - (REFERENCES - 1) : 0;
	struct mr_texts out = { mr_arena_array(arena, texts->len - from + 2, sizeof(*out.items)),
		0 };

	for (size_t i = from; i < texts->len; i++)
		out.items[out.len++] = texts->items[i];
	if (last)
		out.items[out.len++] = last;
	out.items[out.len] = NULL;
	return out;
}

/* An answer: which mail it answers, and where it stands in the conversation that the canonical
 * messages tell of, as far as the answered mail does. */
static enum mr_code place_in_thread(struct mr_ctx *cx, const struct mr_mail *mail,
	struct outgoing *out)
{
	const struct mr_jmap_email *parent = &out->state->parent;
	struct mr_mailbox_message *message = &out->message;
	struct mr_texts *before = mr_arena_alloc(cx->arena, sizeof(*before));
	const struct mr_texts none = { NULL, 0 };

	if (!message->in_reply_to) {
		message->thread_id = message->message_id;
		return MR_OK;
	}
	if (!mr_str_eq(parent->id, message->in_reply_to)) {
		struct mr_mail_message again;
		enum mr_code rc = mail->transport->get(cx, mail, message->in_reply_to, &again);

		if (rc)
			return rc;
	}
	/* The conversation as mail programs know it, */
	*before = with_newest(cx->arena, &parent->content.references, parent->message_id);
	out->email.in_reply_to = parent->message_id;
	out->email.references = before;
	/* and as messages in roots do. */
	message->thread_id = message->message_id;
	message->in_reply_to = parent->original_id;
	message->references = none;
	if (!parent->original_id)
		return MR_OK;
	message->thread_id = parent->original ? parent->original->thread_id : parent->original_id;
	message->references = with_newest(cx->arena,
		parent->original ? &parent->original->references : &none, parent->original_id);
	return MR_OK;
}

static enum mr_code find_boxes(struct mr_ctx *cx, struct outgoing *out)
{
	const struct mr_mail_jmap_box *sent = NULL, *drafts;
	enum mr_code rc;

	if (out->is_post) {
		rc = mr_mail_jmap_boxes(cx, out->state, false);
		return rc ? rc : mr_mail_jmap_inbox(cx, out->state, &out->inbox);
	}
	rc = mr_mail_jmap_identity(cx, out->state);
	if (!rc)
		rc = mr_mail_jmap_make_box(cx, out->state, "sent", &sent);
	if (rc)
		return rc;
	out->sent = sent->id;
	drafts = mr_mail_jmap_find_box(out->state, "drafts");
	out->drafts = drafts ? drafts->id : NULL;
	return MR_OK;
}

static void put_mail(struct mr_ctx *cx, struct mr_jmap_request *request, struct outgoing *out)
{
	static const char *as_draft[] = { "$draft", "$seen", NULL };
	struct mr_out *args = mr_jmap_call(request, "Email/set", MAIL);
	const char **box = mr_arena_array(cx->arena, 2, sizeof(*box));

	box[0] = out->is_post ? out->inbox : out->drafts ? out->drafts : out->sent;
	out->email.message = &out->message;
	out->email.mailboxes = (struct mr_texts){ box, 1 };
	/* Some servers refuse an empty set of keywords. */
	out->email.keywords =
		out->is_post ? (struct mr_texts){ NULL, 0 } : (struct mr_texts){ as_draft, 2 };
	if (out->is_guarded && out->state->email_state)
		mr_out_text(args, "ifInState", out->state->email_state);
	mr_out_map(args, "create");
	mr_jmap_email_write(cx->arena, args, "m", &out->email);
	mr_out_end(args);
	mr_jmap_end(request);
}

/* What a draft becomes when it is sent. Whole sets, which every server takes. */
static void put_sent(struct mr_out *args, const char *key, const char *sent)
{
	mr_out_map(args, key);
	mr_out_map(args, "mailboxIds");
	mr_out_bool(args, sent, true);
	mr_out_end(args);
	mr_out_map(args, "keywords");
	mr_out_bool(args, "$seen", true);
	mr_out_end(args);
	mr_out_end(args);
}

/* Hand the mail over: `email` is its id, or "#m" when it is created in the same request. Only when
 * nothing was submitted since `if_state`, unless that is NULL. */
static void put_submission(struct mr_jmap_request *request, const struct mr_mail_jmap *state,
	const char *sent, const char *email, const char *if_state)
{
	struct mr_out *args = mr_jmap_call(request, "EmailSubmission/set", HANDED_OVER);

	if (if_state)
		mr_out_text(args, "ifInState", if_state);
	mr_out_map(args, "create");
	mr_out_map(args, "s");
	mr_out_text(args, "identityId", state->identity);
	mr_out_text(args, "emailId", email);
	mr_out_end(args);
	mr_out_end(args);
	mr_out_map(args, "onSuccessUpdateEmail");
	put_sent(args, "#s", sent);
	mr_out_end(args);
	mr_jmap_end(request);
}

/* --- after it was submitted --- */

/* Put a message that was sent into `sent`, where the server did not by itself; or with `sent` NULL
 * remove one that was not. What became of the message is settled, so failures do not matter. */
static void tidy(struct mr_ctx *cx, struct mr_mail_jmap *state, const char *id, const char *sent)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	struct mr_ctx one = *cx;
	struct mr_out *args;
	enum mr_code rc;

	mr_jmap_begin(&request, cx->arena);
	args = mr_jmap_call(&request, "Email/set", "tidy");
	if (sent) {
		mr_out_map(args, "update");
		put_sent(args, id, sent);
		mr_out_end(args);
	} else {
		mr_out_texts(args, "destroy", &(struct mr_texts){ &id, 1 });
	}
	mr_jmap_end(&request);
	rc = mr_jmap_ask(&one, state->jmap, &request, MR_JMAP_READS, &response);
	(void)rc;
}

/* Was the mail put into `sent` by the submission itself? */
static bool is_filed(struct mr_ctx *cx, const struct mr_jmap_response *response, const char *id)
{
	const struct mr_value *result = NULL, *done = NULL;
	struct mr_ctx one = *cx;

	return !mr_jmap_find(&one, response, HANDED_OVER, "Email/set", &result) &&
		!mr_jmap_set_result(&one, result, "updated", "notUpdated", id, &done);
}

/* --- sending --- */

enum outcome { SENT, REFUSED, LOST };

static bool is_lost(const struct mr_ctx *cx, enum mr_code rc)
{
	return (rc == MR_EREMOTE || rc == MR_ETIMEOUT) && cx->err.word != mr_jmap_not_done;
}

/* What the server said about the mail and its submission; `*rc` when it refused. */
static enum outcome read_answer(struct mr_ctx *cx, struct outgoing *out,
	const struct mr_jmap_response *response, enum mr_code *rc)
{
	const struct mr_value *result = NULL, *created = NULL, *submitted = NULL;

	*rc = mr_jmap_find(cx, response, MAIL, "Email/set", &result);
	if (!*rc)
		*rc = mr_jmap_set_result(cx, result, "created", "notCreated", "m", &created);
	if (*rc)
		return is_lost(cx, *rc) ? LOST : REFUSED;
	out->id = mr_value_text(created, "id");
	out->thread_id = mr_value_text(created, "threadId");
	out->received_at = mr_value_text(created, "receivedAt");
	if (!out->id) {
		*rc = mr_err_set(&cx->err, MR_EREMOTE, "the server's new mail has no id");
		return LOST;
	}
	if (out->is_post)
		return SENT;
	*rc = mr_jmap_find(cx, response, HANDED_OVER, "EmailSubmission/set", &result);
	if (!*rc)
		*rc = mr_jmap_set_result(cx, result, "created", "notCreated", "s", &submitted);
	if (is_lost(cx, *rc))
		return LOST;
	if (*rc) {
		struct mr_err why = cx->err;

		tidy(cx, out->state, out->id, NULL);
		cx->err = why;
		return REFUSED;
	}
	if (!is_filed(cx, response, out->id))
		tidy(cx, out->state, out->id, out->sent);
	return SENT;
}

static enum outcome try_once(struct mr_ctx *cx, struct outgoing *out, enum mr_code *rc)
{
	struct mr_jmap_request request;
	struct mr_jmap_response response;

	mr_jmap_begin(&request, cx->arena);
	put_mail(cx, &request, out);
	if (!out->is_post)
		put_submission(&request, out->state, out->sent, "#m", NULL);
	*rc = mr_jmap_ask(cx, out->state->jmap, &request, MR_JMAP_WRITES, &response);
	if (*rc)
		return is_lost(cx, *rc) ? LOST : REFUSED;
	return read_answer(cx, out, &response, rc);
}

enum mr_code mr_mail_jmap_settle(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const struct mr_mail_jmap_found *found)
{
	const struct mr_mail_jmap_box *sent = NULL;
	const struct mr_value *result = NULL, *created = NULL;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	enum mr_code rc;

	if (found->is_sent)
		return MR_OK;
	if (found->draft == MR_MAIL_JMAP_UNKNOWN)
		return mr_err_set(&cx->err, MR_EREMOTE,
			"the message stalwart:%s is in the box `drafts`, and the server does not "
			"tell whether it was sent: ask its recipients before it is sent again",
			found->email.id);
	rc = mr_mail_jmap_identity(cx, state);
	if (!rc)
		rc = mr_mail_jmap_make_box(cx, state, "sent", &sent);
	if (rc)
		return rc;
	if (found->draft == MR_MAIL_JMAP_SUBMITTED) {
		tidy(cx, state, found->email.id, sent->id);
		return MR_OK;
	}
	mr_jmap_begin(&request, cx->arena);
	put_submission(&request, state, sent->id, found->email.id, found->submission_state);
	rc = mr_jmap_ask(cx, state->jmap, &request, MR_JMAP_WRITES, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, HANDED_OVER, "EmailSubmission/set", &result);
	if (!rc)
		rc = mr_jmap_set_result(cx, result, "created", "notCreated", "s", &created);
	if (!rc && !is_filed(cx, &response, found->email.id))
		tidy(cx, state, found->email.id, sent->id);
	return rc;
}

static void take_found(struct outgoing *out, const struct mr_mail_jmap_found *found)
{
	out->id = found->email.id;
	out->thread_id = found->email.content.thread_id;
	out->received_at = found->email.content.created_at_utc;
}

/* The answer was lost: what became of the message? `*is_open` when it may be sent again. */
static enum mr_code look_after(struct mr_ctx *cx, struct outgoing *out, bool *is_open)
{
	struct mr_mail_jmap_found found = { .is_found = false };
	struct mr_err why = cx->err;
	/* A server that is only slow may still submit what it has made. */
	bool is_slow = why.code == MR_ETIMEOUT;
	enum mr_code rc = (is_slow ? mr_mail_jmap_lookup : mr_mail_jmap_recover)(cx, out->state,
		out->since, out->digits, &found);

	*is_open = false;
	if (rc)
		return mr_err_set(&cx->err, rc,
			"whether the message was sent is not known, because the server's answer "
			"was lost (%.150s) and it does not say more now (%.150s); look into the "
			"box `sent` before you send it again",
			mr_arena_strdup(cx->arena, why.msg),
			mr_arena_strdup(cx->arena, cx->err.msg));
	if (is_slow &&
		(!found.is_found || (!found.is_sent && found.draft != MR_MAIL_JMAP_SUBMITTED)))
		return mr_err_set(&cx->err, why.code,
			"the server did not answer in time (%.200s), and the message is "
			"not among those that were sent; look into the box `sent` before "
			"you send it again",
			mr_arena_strdup(cx->arena, why.msg));
	if (!found.is_found) {
		cx->err = why;
		*is_open = out->is_guarded = true;
		return why.code;
	}
	if (is_slow)
		rc = mr_mail_jmap_settle(cx, out->state, &found);
	if (!rc)
		take_found(out, &found);
	return rc;
}

/* Mail of the account changed since the message was looked for and not found: is it there now? */
static enum mr_code look_again(struct mr_ctx *cx, struct outgoing *out, bool *is_open)
{
	struct mr_mail_jmap_found found;
	enum mr_code rc = mr_mail_jmap_recover(cx, out->state, out->since, out->digits, &found);

	*is_open = !rc && !found.is_found;
	if (rc || *is_open)
		return rc;
	take_found(out, &found);
	out->twin_id = found.email.original_id;
	return MR_OK;
}

/* Boxes that were remembered may be gone since: then nothing was done, and it is tried with those
 * that are there. */
static enum mr_code refresh(struct mr_ctx *cx, struct outgoing *out, bool *is_open)
{
	struct mr_err why = cx->err;
	enum mr_code rc;

	*is_open = false;
	if (out->state->boxes_are_fresh || (why.code != MR_EINVAL && why.code != MR_ENOTFOUND))
		return why.code;
	out->state->identity = NULL;
	rc = mr_mail_jmap_boxes(cx, out->state, true);
	if (!rc)
		rc = find_boxes(cx, out);
	*is_open = rc == MR_OK;
	if (rc)
		cx->err = why;
	return why.code;
}

static enum mr_code send_once(struct mr_ctx *cx, struct outgoing *out)
{
	bool is_open = true;
	enum mr_code rc = MR_OK;
	int races = 0;

	for (int tries = 0; is_open && tries < TRIES; tries++) {
		switch (try_once(cx, out, &rc)) {
		case SENT:
			return MR_OK;
		case REFUSED:
			if (cx->err.word != mr_jmap_changed || ++races > RACES) {
				rc = refresh(cx, out, &is_open);
				break;
			}
			rc = look_again(cx, out, &is_open);
			if (!is_open)
				return rc;
			tries--;
			break;
		case LOST:
			rc = look_after(cx, out, &is_open);
			if (rc == MR_OK)
				return MR_OK;
			break;
		}
	}
	return rc;
}

/* A list of the caller's, which may go before the message does. */
static struct mr_mailbox_principals copy_list(struct mr_arena *arena,
	const struct mr_mailbox_principals *list)
{
	struct mr_mailbox_principals out = { NULL, list->len };

	if (list->len)
		out.items = mr_arena_memdup(arena, list->items, list->len * sizeof(*out.items));
	return out;
}

/* The message as its sender has it, of which everything is known. */
static void keep_sent(struct mr_ctx *cx, struct outgoing *out,
	const struct mr_mailbox_message *composed)
{
	static const struct mr_value no_headers = { .kind = MR_MAP };
	struct mr_mail_message *sent = &out->state->sent;
	struct mr_err ignored;
	int64_t us;

	*sent = (struct mr_mail_message){
		.view = { .read = !out->is_post, .box = out->is_post ? "inbox" : "sent" },
		.content = *composed,
	};
	sent->content.message_id = mr_arena_strdup(out->state->arena, out->id);
	sent->content.thread_id = out->thread_id;
	sent->content.attachments = out->message.attachments;
	sent->content.to = copy_list(cx->arena, &composed->to);
	sent->content.cc = copy_list(cx->arena, &composed->cc);
	sent->content.reply_to = copy_list(cx->arena, &composed->reply_to);
	sent->content.headers = &no_headers;
	if (out->received_at && !mr_time_parse(out->received_at, MR_TIME_LENIENT, &us, &ignored))
		sent->content.created_at_utc = mr_time_format(cx->arena, us, MR_TIME_SECONDS);
}

enum mr_code mr_mail_jmap_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mail_sent *out)
{
	struct outgoing outgoing = {
		.state = mail->state,
		.message = *message,
		.is_post = !mr_str_eq(message->sender.address, mail->address),
		.since = once ? once->since
			      : mr_arena_strndup(cx->arena, message->message_id, STAMP_BYTES),
		.digits = once ? once->mark : message->message_id + STAMP_BYTES + 1,
		/* What a request sent before was looked for when it came again. */
		.is_guarded = once != NULL,
	};
	enum mr_code rc = place_in_thread(cx, mail, &outgoing);

	if (!rc)
		rc = find_boxes(cx, &outgoing);
	if (!rc)
		rc = upload_files(cx, mail, &outgoing);
	if (!rc)
		rc = send_once(cx, &outgoing);
	if (rc)
		return rc;
	if (outgoing.twin_id) {
		*out = (struct mr_mail_sent){ outgoing.id, outgoing.twin_id };
		return MR_OK;
	}
	keep_sent(cx, &outgoing, message);
	*out = (struct mr_mail_sent){ outgoing.state->sent.content.message_id,
		message->message_id };
	return MR_OK;
}
