/*
 * mailbox/locks.h - the lock files of a root, as the contract defines them; those of dead processes
 * are removed.
 *
 * Each lock is a file made with O_EXCL (locks/addresses/<address>.lock, then locks/index.lock), as
 * others expect. Before any of them we take the kernel's lock on one guard file: every operation
 * needs the index, so among ourselves one queue, in which the kernel wakes the next, is shorter
 * than one for each address, where all of one would wait behind those of another. Only lock files
 * of other programs are polled; when one of them makes us wait long, everything is released and
 * taken again, so that processes that do not need that address need not wait.
 *
 * Should this process die, its keeper (base/keeper.h) removes its lock files: other programs would
 * wait for them in vain. Where that fails too, the next of us removes all that ours have left.
 *
 * A lock file is taken over when its process cannot be alive: one of ours while we hold the
 * guard, one from before the last boot (whatever it says, and although it says nothing), one whose
 * process is not on this machine, one that has been empty for a while. Ours are removed only while
 * they are still ours.
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
 * (NULL) takes the index lock. A process that takes them twice waits for itself. The items live in
 * cx->arena.
 */
MR_CHECK enum mr_code mr_mailbox_locks_take(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *addresses, struct mr_mailbox_locks *out);
/* In reverse order. For MR_CLEANUP; nothing held is fine. */
void mr_mailbox_locks_release(struct mr_mailbox_locks *locks);
