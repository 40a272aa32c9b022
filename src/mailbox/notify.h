/*
 * mailbox/notify.h - the sender's notice: found in the body, cut to size, and always mirrored
 * there.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "mailbox/message.h"

/* For the first two, bodies and texts are UTF-8 without NUL; the last one looks. */

/* The text of the first houmao-notify fence of a body, or NULL (spec/mailbox.md 4.2). */
const char *mr_mailbox_notify_extract(struct mr_arena *arena, struct mr_bytes body);
/* The body with the block as a fence, unless a terminated one is there already. */
struct mr_bytes mr_mailbox_notify_mirror(struct mr_arena *arena, struct mr_bytes body,
	const struct mr_mailbox_notify_block *block);
/*
 * What composing does to a message (4.2 to 4.4): without an explicit block, the body's fence
 * becomes one; with one, it is cut and mirrored. `is_explicit` with a NULL block means: none, and
 * do not look. MR_EINVAL: a body that holds NUL or is not UTF-8, a text that is blank, is
 * not UTF-8, or would close its own fence; `*message` is then as it was.
 */
MR_CHECK enum mr_code mr_mailbox_notify_compose(struct mr_arena *arena, bool is_explicit,
	struct mr_mailbox_message *message, struct mr_err *err);
