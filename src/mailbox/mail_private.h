/* mailbox/mail_private.h - what mail.c and mail_send.c share. */
#pragma once

#include "mailbox/mail.h"

/* The id that a ref names. MR_EINVAL: a ref of another transport, or one without an id. */
MR_CHECK enum mr_code mr_mail_ref_id(struct mr_ctx *cx, const struct mr_mail *mail, const char *ref,
	const char **out);
/* MR_EPERM when the mail was opened for reading only. */
MR_CHECK enum mr_code mr_mail_may_write(struct mr_ctx *cx, const struct mr_mail *mail);
/* A message of this mailbox by its id, with its body, refs and preview. */
MR_CHECK enum mr_code mr_mail_load(struct mr_ctx *cx, const struct mr_mail *mail, const char *id,
	struct mr_mail_message *out);
/* Add what does not depend on the transport: refs and the preview. */
void mr_mail_dress(struct mr_arena *arena, const struct mr_mail *mail,
	struct mr_mail_message *message);
