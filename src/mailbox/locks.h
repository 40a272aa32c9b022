/*
 * mailbox/locks.h - the locks of a root, as the contract has them, that no dead process can keep.
 *
 * Each lock is a file made with O_EXCL (locks/addresses/<address>.lock, then locks/index.lock), as
 * others expect. Before any of them we take the kernel's lock on one guard file: every operation
 * needs the index, so among ourselves one queue, in which the kernel wakes the next, is shorter
 * than one for each address, where all of one would wait behind those of another. Only lock files
 * of other programs are polled; when one of them keeps us long, everything is let go and taken
 * anew, so that those of us who do not want that address are not kept too.
 *
 * A lock file is taken over when its process cannot be alive: one of ours while we hold the guard,
 * one from before the last boot (whatever it says, and although it says nothing), one whose process
 * is not on this machine, one that has been empty for a while. Ours are removed only while they are
 * still ours.
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
 * Take the lock of every address (sorted and made unique here), then the index lock. Lock files of
 * other programs are waited for MR_MAILBOX_LOCK_TIMEOUT_MS, all of them together; the line behind
 * others of us is not counted, but both end after MR_MAILBOX_QUEUE_TIMEOUT_MS. Then MR_EBUSY,
 * "timed out acquiring lock: <path>" with its owner; whatever was taken is let go. No addresses
 * (NULL) takes the index lock. Whoever takes them twice waits for themselves. The items live in
 * cx->arena.
 */
MR_CHECK enum mr_code mr_mailbox_locks_take(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *addresses, struct mr_mailbox_locks *out);
/* In reverse order. For MR_CLEANUP; nothing held is fine. */
void mr_mailbox_locks_release(struct mr_mailbox_locks *locks);
