/*
 * mailbox/trash.h - files that an operation removes: they are renamed into a directory of their own
 * first, can be put back until the operation has committed, and are deleted afterwards.
 *
 * Nothing is deleted through a link: names are resolved below the root, the last directory of a
 * path must not be a link, and a link that is itself removed is moved, not followed.
 */
#pragma once

#include "base/str.h"
#include "mailbox/root.h"

struct mr_mailbox_trash {
	const struct mr_mailbox_root *root;
	int dir;               /* staging/.trash/<what>-<hex> */
	const char *path;      /* the same, below the root */
	struct mr_texts paths; /* what was moved, below the root, in order; item N is called N */
	size_t cap;
	struct mr_texts parents; /* directories that lost an entry */
	size_t parent_cap;
	int parent; /* open on the last of them, or -1 */
};

#define MR_MAILBOX_TRASH_INIT ((struct mr_mailbox_trash){ .dir = -1, .parent = -1 })

/* Make the directory; `what` is a word for people and for mr_mailbox_trash_sweep(). */
MR_CHECK enum mr_code mr_mailbox_trash_open(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *what, struct mr_mailbox_trash *out);
/* For MR_CLEANUP: closes it; what is in it stays there. */
void mr_mailbox_trash_close(struct mr_mailbox_trash *trash);

/* Move `path`, below the root, there. Not durable before mr_mailbox_trash_sync(). `path` must live
 * as long as the trash. MR_ENOTFOUND when there is nothing of that name. */
MR_CHECK enum mr_code mr_mailbox_trash_put(struct mr_ctx *cx, struct mr_mailbox_trash *trash,
	const char *path);
/* Make every move so far durable. */
MR_CHECK enum mr_code mr_mailbox_trash_sync(struct mr_ctx *cx, struct mr_mailbox_trash *trash);
/* Put everything back, newest first, because the operation failed. cx->err is left as it is; what
 * cannot be put back stays in the trash, where a person can find it until the next sweep. */
void mr_mailbox_trash_restore(struct mr_ctx *cx, struct mr_mailbox_trash *trash);
/* Delete what is in it, and the directory. Failures are left to a later sweep. */
void mr_mailbox_trash_empty(struct mr_ctx *cx, struct mr_mailbox_trash *trash);

/* Delete what operations of this kind left when they died. Call it under the index lock, which
 * all of them hold. */
void mr_mailbox_trash_sweep(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *what);
