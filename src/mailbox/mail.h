/*
 * mailbox/mail.h - the mail of one address: what its owner lists, reads, marks, moves and sends.
 *
 * These are the verbs that agents use, over the command line and over the gateway. The rules that
 * hold wherever mail is kept are in mail.c: limits, refs, what peeking and reading change, whom an
 * answer goes to. A transport keeps the mail: mail_fs.h opens that of an address in a root on this
 * machine.
 *
 * A message is named by its ref, the transport's name and the message's id: "filesystem:msg-…".
 * Callers treat refs as opaque; an id without a transport in front is taken too. Each verb is
 * complete when it returns. What is refused is refused before anything is changed, also when
 * several messages are named; when a verb over several messages fails later (a full disk), those
 * before are put back as they were. Results live in cx->arena.
 *
 * Errors of all verbs, besides the transport's own:
 *   MR_EINVAL    an argument that cannot be: a foreign ref, a blank subject, no flag to set, ...
 *   MR_ENOTFOUND the mailbox has no such message, or nobody has such an address
 *   MR_ECONFLICT the message is in another box, or the sender wants no answer
 *   MR_EPERM     the mail was opened for reading only
 *   MR_ELIMIT    too long or too many (limits.h)
 * The word mr_mail_unsupported marks what cannot be done at all, with this transport or this
 * message.
 */
#pragma once

#include "base/ctx.h"
#include "mailbox/message.h"

struct mr_mail_transport;

struct mr_mail {
	const struct mr_mail_transport *transport; /* NULL: not open */
	const char *address;
	const char *principal_id; /* its owner */
	const char *directory;    /* where its mailbox is on this machine; or NULL */
	bool read_only;
	void *state; /* the transport's */
};

#define MR_MAIL_INIT ((struct mr_mail){ NULL })

/* For MR_CLEANUP. */
void mr_mail_close(struct mr_mail *mail);

extern const char mr_mail_unsupported[]; /* "unsupported_operation" */
extern const char mr_mail_repeated[];    /* "key_reused" */
/* The server that keeps the mail refuses its login: no refusal to the caller. */
extern const char mr_mail_failed[]; /* "mailbox_failed" */

/* The owner's state of a message. */
struct mr_mail_view {
	bool read, answered, archived;
	const char *box;
};

struct mr_mail_message {
	const char *ref;
	const char *thread_ref; /* or NULL */
	struct mr_mail_view view;
	const char *preview; /* the body's beginning on one line, at most 240 characters */
	bool has_body;       /* content.body was asked for; else it is empty */
	/* In lists the headers are left out. */
	struct mr_mailbox_message content;
	/*
	 * Or NULL: a problem with this one message. In a list: its document cannot be read, and the
	 * content is what the transport still knows. After sending: the message was sent, but could
	 * not be read back, or the message it answers could not be marked.
	 */
	const char *problem;
};
struct mr_mail_messages {
	struct mr_mail_message *items;
	size_t len;
};

struct mr_mail_status {
	const char *transport;
	const char *address;
	const char *principal_id;
};
/* The owner of the mailbox; fails when the mailbox cannot be used now. */
MR_CHECK enum mr_code mr_mail_status(struct mr_ctx *cx, const struct mr_mail *mail,
	struct mr_mail_status *out);

/* -1 of a flag means: whatever it is. */
struct mr_mail_query {
	const char *box; /* NULL: inbox */
	int read, answered, archived;
	const char *since; /* a time, at or after which messages were made; or NULL */
	int64_t limit;     /* 0: all, which may be too many */
	bool include_body;
	/* Documents are not read: of the content there are ids, time and subject at least. */
	bool is_brief;
};
#define MR_MAIL_QUERY_INIT ((struct mr_mail_query){ .read = -1, .answered = -1, .archived = -1 })

struct mr_mail_list {
	const char *box;
	struct mr_mail_messages messages; /* newest first */
	size_t open_count;                /* of these: not archived */
	size_t unread_count;
};
/* The messages of a box; a box that is not there is empty. */
MR_CHECK enum mr_code mr_mail_list(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_query *query, struct mr_mail_list *out);

/* One message with its body; in `box`, unless that is NULL. Peeking changes nothing. */
MR_CHECK enum mr_code mr_mail_peek(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char *box, struct mr_mail_message *out);
/* The same, and it is marked as read. */
MR_CHECK enum mr_code mr_mail_read(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char *box, struct mr_mail_message *out);

/* -1 leaves a flag as it is; at least one is set. */
struct mr_mail_flags {
	int read, answered, archived;
};
/* Archived is moved to `archive` (and is read: `read` 0 is MR_EINVAL then), no longer archived is
 * moved to `inbox`. Each ref once. The messages as they are now, with their bodies, as below. */
MR_CHECK enum mr_code mr_mail_mark(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, const struct mr_mail_flags *flags,
	struct mr_mail_messages *out);
/* To any box; one that is not there is made. */
MR_CHECK enum mr_code mr_mail_move(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, const char *box, struct mr_mail_messages *out);
/* To `archive`, which means: done with. They are read then. */
MR_CHECK enum mr_code mr_mail_archive(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_texts *refs, struct mr_mail_messages *out);

struct mr_mail_file {
	const char *path;
	const char *label; /* NULL: the file's name */
	bool is_copied;    /* the mailbox keeps a copy; else the message names the path */
};
struct mr_mail_draft {
	struct mr_texts to, cc; /* full addresses; not of posts and answers */
	const char *subject;    /* not of answers */
	struct mr_bytes body;
	const struct mr_mail_file *files;
	size_t file_count;
	/* NULL: the body's fence, if it has one, is the notice. */
	const struct mr_mailbox_notify_block *notify_block;
	const struct mr_mailbox_notify_auth *notify_auth; /* or NULL */
	/*
	 * NULL, or what names this request to send among those of the mailbox: when one with the
	 * same key was sent within a day (mail_once.h), nothing is sent again, and that message
	 * is the result. The key is a part of the message's id, so it is stored with the message or
	 * not at all. MR_ECONFLICT, mr_mail_repeated: the earlier request was another one.
	 * MR_EINVAL: not 1 to 255 printable ASCII characters.
	 */
	const char *retry_key;
};
/* As the sender has it now: in `sent`, or in `inbox` when it is also to the sender. */
MR_CHECK enum mr_code mr_mail_send(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, struct mr_mail_message *out);
/* From the operator to this address; `answers` says whether the operator takes answers. Only a
 * transport with an operator can. */
MR_CHECK enum mr_code mr_mail_post(struct mr_ctx *cx, const struct mr_mail *mail,
	const struct mr_mail_draft *draft, bool answers, struct mr_mail_message *out);
/*
 * Answer a message of this mailbox, to those it names in reply_to, else to its sender. That message
 * is then read and answered. One of the operator's that takes no answers is MR_ECONFLICT,
 * mr_mail_unsupported.
 */
MR_CHECK enum mr_code mr_mail_reply(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const struct mr_mail_draft *draft, struct mr_mail_message *out);

/*
 * What a transport does. The functions get what mail.c has checked: ids instead of refs, names that
 * a box can have, times; they need not look at `read_only`. A message that they fill has view,
 * content (with its body, ids as the transport has them) and problem; mail.c adds the rest.
 */
struct mr_mail_sent {
	const char *id;         /* what `get` takes */
	const char *message_id; /* msg-...: that of the message which was sent */
};
typedef enum mr_code mr_mail_each(void *arg, const struct mr_mail_message *message);

/* The verbs of a transport that carries them out whole, elsewhere; `read` also marks as read. */
struct mr_mail_verbs {
	enum mr_code (
		*status)(struct mr_ctx *cx, const struct mr_mail *mail, struct mr_mail_status *out);
	enum mr_code (*list)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mail_query *query, struct mr_mail_list *out);
	enum mr_code (*get)(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
		const char *box, bool reads, struct mr_mail_message *out);
	enum mr_code (*mark)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_texts *refs, const struct mr_mail_flags *flags,
		struct mr_mail_messages *out);
	enum mr_code (*move)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_texts *refs, const char *box, struct mr_mail_messages *out);
	enum mr_code (*send)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mail_draft *draft, struct mr_mail_message *out);
	enum mr_code (*post)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mail_draft *draft, bool answers, struct mr_mail_message *out);
	enum mr_code (*reply)(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
		const struct mr_mail_draft *draft, struct mr_mail_message *out);
};

struct mr_mail_transport {
	const struct mr_mail_verbs
		*verbs;            /* in place of everything below but name and close; or NULL */
	const char *name;          /* in front of refs: "filesystem" */
	const char *thread_prefix; /* in front of threads' refs */
	void (*close)(struct mr_mail *mail);
	/* Is the mailbox there, whole, and its owner's? */
	enum mr_code (*check)(struct mr_ctx *cx, const struct mr_mail *mail);
	/* Each message of query->box, newest first, `limit` at most (always above 0). `since` is
	 * NULL or 2026-03-11T04:15:00Z. What is passed to `each` need not live on. */
	enum mr_code (*list)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mail_query *query, mr_mail_each *each, void *arg);
	/* MR_ENOTFOUND: not in this mailbox, whether or not it is in another. */
	enum mr_code (*get)(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
		struct mr_mail_message *out);
	/* `archived` of the flags is -1. The view is the one after the change. */
	enum mr_code (*mark)(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
		const struct mr_mail_flags *flags, struct mr_mail_view *out);
	enum mr_code (*move)(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
		const char *box, struct mr_mail_view *out);
	/* Who has this address? MR_EINVAL, MR_ENOTFOUND or MR_ECONFLICT says why it cannot be
	 * written to. */
	enum mr_code (*recipient)(struct mr_ctx *cx, const struct mr_mail *mail, const char *text,
		struct mr_mailbox_principal *out);
	/* Make sure that the operator has a mailbox; NULL: this transport has no operator. */
	enum mr_code (*make_operator)(struct mr_ctx *cx, const struct mr_mail *mail);
	/* Keep a copy of the file that an attachment refers to, which then is that copy; NULL: this
	 * transport cannot. `drop` takes it away again, when the message could not be sent. */
	enum mr_code (*keep)(struct mr_ctx *cx, const struct mr_mail *mail,
		struct mr_mailbox_attachment *file);
	void (*drop)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mailbox_attachment *file);
	/* With `once`, part of the message's id, and a message of the same sender there since
	 * `since` (an id's beginning) that has it at the same place, nothing is sent, and `*out` is
	 * that message. */
	enum mr_code (*send)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mailbox_message *message, const struct mr_mailbox_once *once,
		struct mr_mail_sent *out);
	/* Is there such a message? out->id NULL: no. NULL: this transport cannot tell. */
	enum mr_code (*find_once)(struct mr_ctx *cx, const struct mr_mail *mail,
		const struct mr_mailbox_once *once, struct mr_mail_sent *out);
};
