/*
 * mailbox/jmap_email.h - a message as an Email of a JMAP server (RFC 8621), and back. Pure.
 *
 * What every mail program understands is written as such: addresses, subject, Message-ID, threads,
 * the Markdown body as the only text part, attachments as parts. Headers of the message whose names
 * a mail can have ("x-houmao-origin") are headers of the mail. All fields that a mail has no place
 * for are in one more header, X-Houmao-Message, so that a message that went to a server and back is
 * the same. Servers may drop headers, and mail may come from programs that know nothing of this:
 * then what is left is read.
 *
 * A message of the id msg-... has the Message-ID <msg-...@houmao.localhost>, on every server.
 */
#pragma once

#include "mailbox/message.h"
#include "text/out.h"

enum {
	/* As long as most mail programs take a header. */
	MR_JMAP_EMAIL_HEADER_BYTES = 48 << 10,
	/* Text that a preview is made of. */
	MR_JMAP_EMAIL_PREVIEW_BYTES = 2048,
};

/* The Message-ID of a message, without its brackets. */
const char *mr_jmap_email_message_id(struct mr_arena *arena, const char *id);
/* The id of the message that has this Message-ID; NULL: it is none of ours. */
const char *mr_jmap_email_id(struct mr_arena *arena, const char *message_id);

/* --- to the server --- */

struct mr_jmap_email_new {
	/* With the ids that a message in a root has. */
	const struct mr_mailbox_message *message;
	struct mr_texts mailboxes; /* their ids */
	struct mr_texts keywords;  /* none are not written: some servers refuse an empty set */
	/* Message-IDs of the message that is answered and of those before it; NULL: those of the
	 * message's own in_reply_to and references. */
	const char *in_reply_to;
	const struct mr_texts *references;
	/* The blob of each attachment, or NULL for one that is only described. NULL: none. */
	const char *const *blobs;
	/* Paths of attachments are told; else they are taken as copies without a place. */
	bool keeps_paths;
	bool is_received; /* received when it was made; else: now */
};
/* What Email/set creates. */
void mr_jmap_email_write(struct mr_arena *arena, struct mr_out *out, const char *key,
	const struct mr_jmap_email_new *email);

/* --- from the server --- */

/* The arguments of Email/get but for its ids: what mr_jmap_email_read() reads, and of each text
 * part at most so many bytes. */
void mr_jmap_email_ask(struct mr_out *args, size_t text_bytes);

struct mr_jmap_email {
	const char *id, *blob_id;
	/*
	 * Its ids are the server's: message_id is `id`, thread_id the server's thread, in_reply_to
	 * and references are Message-IDs. created_at_utc is when the server received it. Principals
	 * whose id is not known have none. The path of an attachment is "blob:" and its id.
	 */
	struct mr_mailbox_message content;
	const char *message_id; /* Message-ID, or NULL */
	/* The message as its writer made it, without body; NULL when the mail does not tell. */
	const struct mr_mailbox_message *original;
	const char *original_id; /* msg-..., also without `original`; or NULL */
	const char *sent_at;     /* or NULL */
	struct mr_texts mailboxes;
	bool is_read, is_answered, is_draft, is_flagged;
	bool is_cut; /* a text part is longer than what was asked for */
};
/* MR_EFORMAT: without an id it is no Email. */
MR_CHECK enum mr_code mr_jmap_email_read(struct mr_arena *arena, const struct mr_value *value,
	struct mr_jmap_email *out, struct mr_err *err);
