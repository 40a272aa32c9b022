/* mailbox/state.h - changes of a message's flags by the owner of a mailbox (spec/mailbox.md 13). */
#pragma once

#include "mailbox/model.h"
#include "mailbox/root.h"

/* -1 leaves a flag as it is. */
struct mr_mailbox_flags {
	int read, answered, starred, archived, deleted;
};

struct mr_mailbox_state_result {
	const char *address;
	const char *owner;
	const char *registration_id;
	struct mr_mailbox_state state;
};

/* Only the flags given; `archived` does not move anything. MR_ENOTFOUND: "unknown message id", "is
 * not projected into". */
MR_CHECK enum mr_code mr_mailbox_state_update(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, const struct mr_mailbox_flags *flags,
	struct mr_mailbox_state_result *out);

/*
 * Move the message into a box, and out of all others: any name that can be a directory's; a box
 * that is new is made. In `archive` a message is archived and read, in all others it is not
 * archived.
 *
 * The box in mailbox.sqlite decides where a message is. It is committed after the new link is made
 * and before the index and the old links follow, so a crash leaves the message in the old box or in
 * the new one; what did not follow is made good by moving it again, or by repair. Errors besides
 * those of mr_mailbox_state_update(): MR_EINVAL, a name that no box can have; MR_ECONFLICT,
 * something else stands where the link belongs; and "is moved, but", when the index could not be
 * written after all.
 */
MR_CHECK enum mr_code mr_mailbox_state_move(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, const char *box,
	struct mr_mailbox_state_result *out);
/* The name without white space around it, if a box can have it; MR_EINVAL. */
MR_CHECK enum mr_code mr_mailbox_state_box(struct mr_ctx *cx, const char *name, const char **out);

/* The state of a message that has no row in mailbox.sqlite yet, from the folders that the index has
 * it in (8.4). MR_ENOTFOUND: "is not projected into". */
MR_CHECK enum mr_code mr_mailbox_state_default(struct mr_ctx *cx, struct mr_db *index,
	const struct mr_mailbox_registration *row, const struct mr_mailbox_indexed *message,
	struct mr_mailbox_state *out);
