/* mailbox/mail_keep.h - copies of attached files that a root keeps. */
#pragma once

#include "mailbox/message.h"
#include "mailbox/root.h"

/*
 * Copy the file that `*file` refers to into attachments/managed/<id>/ of the root; `*file` is then
 * a managed copy. MR_ECONFLICT: the file changed meanwhile. After an error nothing is left.
 */
MR_CHECK enum mr_code mr_mail_keep_copy(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_attachment *file);
/* Take such a copy away again. One that cannot be removed stays; cx->err is as it was. */
void mr_mail_keep_drop(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_attachment *file);
