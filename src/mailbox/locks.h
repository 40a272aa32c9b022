/*
 * mailbox/locks.h - the locks of a root, as the contract has them, that no dead process can keep.
 *
 * Each lock is a file made with O_EXCL (locks/addresses/<address>.lock, then locks/index.lock), as
 * others expect. We also hold a kernel lock on a guard file for each, taken first: among ourselves
 * the kernel queues and wakes, and only lock files of other programs are polled. A lock file whose
 * process is dead on this machine is taken over; ours are removed only while they are still ours.
 */
#pragma once

#include "base/ctx.h"
#include "base/lock.h"
#include "base/str.h"
#include "mailbox/root.h"

struct mr_mailbox_locks {
	const struct mr_mailbox_root *root;
	struct mr_mailbox_lock *items; /* in the order they were taken */
	size_t len;
};

#define MR_MAILBOX_LOCKS_INIT ((struct mr_mailbox_locks){ NULL, NULL, 0 })

/*
 * Take the lock of every address (sorted and made unique here), then the index lock. MR_ETIMEDOUT
 * is MR_EBUSY: "timed out acquiring lock: <path>", with the owner; whatever was taken is let go.
 */
MR_CHECK enum mr_code mr_mailbox_locks_take(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *addresses, struct mr_mailbox_locks *out);
/* In reverse order. For MR_CLEANUP; nothing held is fine. */
void mr_mailbox_locks_release(struct mr_mailbox_locks *locks);
