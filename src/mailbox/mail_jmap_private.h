/* mailbox/mail_jmap_private.h - what the files of the transport "stalwart" share. */
#pragma once

#include "mailbox/jmap_email.h"
#include "mailbox/mail_jmap.h"
#include "net/jmap.h"

/* A mailbox of the account. */
struct mr_mail_jmap_box {
	const char *id, *name;
	const char *role; /* or NULL */
	bool is_below;    /* another one */
};
struct mr_mail_jmap_boxes {
	struct mr_mail_jmap_box *items;
	size_t len;
};

/* The transport's state. */
struct mr_mail_jmap {
	struct mr_mail_jmap_account account;
	struct mr_jmap *jmap;
	struct mr_arena *arena; /* for all below */
	struct mr_mail_jmap_boxes boxes;
	bool boxes_are_fresh; /* the server said so since the mail was opened */
	const char *identity; /* to send as; or NULL: not known yet */
	struct mr_bytes session;
	bool is_changed; /* what is known differs from the file */
	/* Of the account's mails, when a message was last looked for; or NULL. */
	const char *email_state;
	/* Of the message that was read last: what an answer to it needs. */
	struct mr_jmap_email parent;
	/* The message that was sent last, so that it need not be read back. */
	struct mr_mail_message sent;
};

/* --- mail_jmap_known.c: what is known of the server --- */

/* Begin with what the file has of this account. */
void mr_mail_jmap_recall(struct mr_ctx *cx, struct mr_mail_jmap *state);
/* Write it, if it changed; failures do not matter. */
void mr_mail_jmap_remember(struct mr_mail_jmap *state);
/* A call that asks for the boxes, and what it answered. */
void mr_mail_jmap_ask_boxes(struct mr_jmap_request *request);
MR_CHECK enum mr_code mr_mail_jmap_take_boxes(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const struct mr_jmap_response *response);
/* Ask for them alone: unless they are known, or with `again` unless they are fresh. */
MR_CHECK enum mr_code mr_mail_jmap_boxes(struct mr_ctx *cx, struct mr_mail_jmap *state, bool again);
/* By the name that callers use; NULL: none that is known. */
const struct mr_mail_jmap_box *mr_mail_jmap_find_box(const struct mr_mail_jmap *state,
	const char *name);
/* The same, made when there is none. */
MR_CHECK enum mr_code mr_mail_jmap_make_box(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const char *name, const struct mr_mail_jmap_box **out);
/* The id of the inbox. MR_ENOTFOUND: the account has none. */
MR_CHECK enum mr_code mr_mail_jmap_inbox(struct mr_ctx *cx, const struct mr_mail_jmap *state,
	const char **out);
/* The name by which callers call the box of a message that is in these; the one called `first`
 * before others. */
const char *mr_mail_jmap_box_of(const struct mr_mail_jmap *state, const struct mr_texts *mailboxes,
	const char *first);
/* The identity to send as, and the boxes, in one request if they are not known. */
MR_CHECK enum mr_code mr_mail_jmap_identity(struct mr_ctx *cx, struct mr_mail_jmap *state);
/* Say what can be done about a failure of the server. */
enum mr_code mr_mail_jmap_explain(struct mr_ctx *cx, const struct mr_mail_jmap *state,
	enum mr_code rc);

/* --- mail_jmap.c --- */

/* The argument "sort" of a query. */
void mr_mail_jmap_put_newest_first(struct mr_out *args);

struct mr_mail_view mr_mail_jmap_view(const struct mr_mail_jmap *state,
	const struct mr_jmap_email *email, const char *first);

/* --- mail_jmap_send.c --- */

MR_CHECK enum mr_code mr_mail_jmap_keep(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mailbox_attachment *file);
MR_CHECK enum mr_code mr_mail_jmap_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
	struct mr_mail_sent *out);

/* --- mail_jmap_lookup.c: what became of a message --- */

struct mr_mail_jmap_found {
	bool is_found;
	bool is_sent; /* else it is in `drafts`, and what became of it is told by the next */
	enum { MR_MAIL_JMAP_UNKNOWN, MR_MAIL_JMAP_SUBMITTED, MR_MAIL_JMAP_NOT_SUBMITTED } draft;
	const char *submission_state; /* of all submissions before that was asked; or NULL */
	struct mr_jmap_email email;
};
/* The newest message in `sent`, `drafts` or `inbox` whose Message-ID begins with "msg-", a time
 * since `since`, "-" and then `digits`. */
MR_CHECK enum mr_code mr_mail_jmap_lookup(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const char *since, const char *digits, struct mr_mail_jmap_found *out);
/* See to it that a message that was found is sent. MR_EREMOTE: nobody can tell whether it was.
 * mr_jmap_changed: another program submits mail at this moment, so it has to be looked for again.
 */
MR_CHECK enum mr_code mr_mail_jmap_settle(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const struct mr_mail_jmap_found *found);
/* Both, as often as it takes. */
MR_CHECK enum mr_code mr_mail_jmap_recover(struct mr_ctx *cx, struct mr_mail_jmap *state,
	const char *since, const char *digits, struct mr_mail_jmap_found *out);
MR_CHECK enum mr_code mr_mail_jmap_find_once(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mailbox_once *once, struct mr_mail_sent *out);
