/*
 * mailbox/holder.h - which root a private mailbox directory belongs to.
 *
 * A private directory has one mailbox.sqlite and one set of boxes, so only one root may use it. The
 * link .mailroom-root in it names the root that registered it last, and links to messages name
 * theirs. Both are only hints: a directory belongs to a root whose index has a registration of it,
 * whatever its status. Directories that the reference implementation registered have no
 * .mailroom-root until one of our commands writes it.
 */
#pragma once

#include "mailbox/root.h"

/*
 * The path of another root that has registered the private directory `path` (absolute); NULL: none
 * has. A root that may have, but cannot be read, counts. The same directory under another name is
 * no other root.
 */
MR_CHECK enum mr_code mr_mailbox_holder_find(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path, const char **out);
/* Say in the private directory that it belongs to `root`. */
MR_CHECK enum mr_code mr_mailbox_holder_mark(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path);
/*
 * Open the private directory `path` and keep others from registering it, until `*out` is closed.
 * MR_EBUSY: another process registers it now.
 */
MR_CHECK enum mr_code mr_mailbox_holder_lock(struct mr_ctx *cx, const char *path, int *out);
