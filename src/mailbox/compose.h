/*
 * mailbox/compose.h - from a draft to a message that can be delivered.
 *
 * Time and chance come from `cx`: the message's id, its time and its attachments' ids. Nothing is
 * written. The caller must have resolved the participants and checked that they have mailboxes.
 */
#pragma once

#include "base/ctx.h"
#include "mailbox/message.h"

struct mr_mailbox_draft {
	struct mr_mailbox_principal sender;
	struct mr_mailbox_principals to; /* at least one */
	struct mr_mailbox_principals cc;
	struct mr_mailbox_principals reply_to;
	const char *subject;  /* NULL in an answer: that of the parent, with "Re: " in front */
	struct mr_bytes body; /* Markdown; CRLF becomes LF */
	struct mr_mailbox_attachments attachments;
	const struct mr_value *headers; /* a map, or NULL for none */
	/* Without an explicit notice, the body's fence is one; see mr_mailbox_notify_compose(). */
	bool notify_is_explicit;
	const struct mr_mailbox_notify_block *notify_block; /* or NULL */
	const struct mr_mailbox_notify_auth *notify_auth;   /* or NULL; no scheme means "none" */
};

/*
 * Compose a message that begins a thread, or with `parent` one that answers: it is in the parent's
 * thread, and its references are the parent's (the newest MR_MAILBOX_REFERENCES of them) and the
 * parent itself. MR_EINVAL: a blank subject, an empty `to`, an invalid body or notice, an unknown
 * notify_auth scheme. MR_ELIMIT: too long or too many (limits.h). `*out` shares the texts of the
 * draft and of the parent.
 */
MR_CHECK enum mr_code mr_mailbox_compose(struct mr_ctx *cx, const struct mr_mailbox_draft *draft,
	const struct mr_mailbox_message *parent, struct mr_mailbox_message *out);

/*
 * Describe a file that goes with a message by its path: where it is without links, its length, its
 * digest, and its media type by the name's ending. `label` NULL is the name. The file is read, not
 * copied. MR_ENOTFOUND: nothing there. MR_EINVAL: no regular file. MR_EPERM: it cannot be read, or
 * it is not in a directory that the caller may name (cx->reach). MR_ELIMIT: a path or label that
 * is too long.
 */
MR_CHECK enum mr_code mr_mailbox_compose_file(struct mr_ctx *cx, const char *path,
	const char *label, struct mr_mailbox_attachment *out);
