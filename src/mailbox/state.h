/* mailbox/state.h - what an owner does with mail: flags and boxes (spec/mailbox.md 13). */
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
