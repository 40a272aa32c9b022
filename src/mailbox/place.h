/*
 * mailbox/place.h - messages that were delivered elsewhere come into one mailbox of a root.
 *
 * Delivery puts a message into the mailboxes of all who get it; this puts it into one, with the
 * state that its owner gave it, because others may have moved or deleted theirs. A message that the
 * root has already is not written again, and one that the mailbox has stays as its owner has it.
 *
 * Documents and links are made before the index names them, and the index before the mailbox's own
 * rows: after a crash placing the same again completes it.
 */
#pragma once

#include "mailbox/model.h"
#include "mailbox/root.h"

struct mr_mailbox_placing {
	const struct mr_mailbox_message *message;
	struct mr_mailbox_state state; /* its flags and box; the rest follows from the message */
	/* Results. */
	bool was_there;
	const char *why; /* it was not placed, or NULL */
};

/* All of them, at once. MR_ENOTFOUND: the address has no active mailbox. */
MR_CHECK enum mr_code mr_mailbox_place_messages(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const char *address, struct mr_mailbox_placing *items,
	size_t count);
