/*
 * mailbox/mail_once.h - requests to send that may come twice.
 *
 * A caller that got no answer sends its request again, with the same key. The random part of the
 * message's id is then made of the key (16 digits) and of the request (16 digits): so the key is
 * stored with the message, in one rename and one commit, and survives whatever the message does. A
 * later request is compared with the messages that the same sender sent lately.
 */
#pragma once

#include "mailbox/mail.h"

enum { MR_MAILBOX_RETRY_HOURS = 24, MR_MAILBOX_RETRY_KEY_BYTES = 255 };

struct mr_mail_once {
	struct mr_mailbox_once once;
	const char *digits; /* all 32; NULL: the request has no key */
};

/*
 * What identifies the request `verb` (about the message `ref`, or NULL) with this draft, sent as
 * `sender`. MR_EINVAL: the key cannot be one.
 */
MR_CHECK enum mr_code mr_mail_once_of(struct mr_ctx *cx, const struct mr_mail *mail,
	const char *verb, const char *sender, const char *ref, const struct mr_mail_draft *draft,
	struct mr_mail_once *out);
/* The id that a message gets in place of `id`. */
const char *mr_mail_once_id(struct mr_arena *arena, const struct mr_mail_once *once,
	const char *id);
/* MR_ECONFLICT, mr_mail_repeated: the message of that id was sent by another request. */
MR_CHECK enum mr_code mr_mail_once_check(struct mr_ctx *cx, const struct mr_mail_once *once,
	const char *id);
