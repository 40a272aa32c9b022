/* mailbox/state_private.h - for state.c and state_move.c only: a change of one message's state. */
#pragma once

#include "mailbox/locks.h"
#include "mailbox/root.h"
#include "mailbox/state.h"

/* The locks are held and a transaction on mailbox.sqlite is open, until the change is released. */
struct mr_mailbox_state_change {
	struct mr_mailbox_locks locks;
	struct mr_mailbox_lent index;
	struct mr_mailbox_lent local;
	const struct mr_mailbox_registration *row;
	const struct mr_mailbox_indexed *message;
	struct mr_mailbox_state state; /* as it is now, or the default of a row that is missing */
};

#define MR_MAILBOX_STATE_CHANGE_INIT                                                               \
	((struct mr_mailbox_state_change){ .locks = MR_MAILBOX_LOCKS_INIT })

/* MR_ENOTFOUND: no active registration, an unknown message, or one that the mailbox does not have.
 * MR_ECONFLICT: the mailbox is not whole. */
MR_CHECK enum mr_code mr_mailbox_state_change_begin(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const char *address, const char *message_id,
	bool index_read_only, struct mr_mailbox_state_change *out);
/* Write change->state and the summary of its thread; not yet committed. */
MR_CHECK enum mr_code mr_mailbox_state_change_write(struct mr_ctx *cx,
	struct mr_mailbox_state_change *change);
/* What was changed, for the caller. */
struct mr_mailbox_state_result mr_mailbox_state_change_result(
	const struct mr_mailbox_state_change *change);
/* For MR_CLEANUP: rolls back what was not committed, and lets go of the locks. */
void mr_mailbox_state_change_release(struct mr_mailbox_state_change *change);
