/*
 * mailbox/lock_all.h - the index and the locks of many registrations, for work on all of them at
 * once.
 *
 * Which addresses to lock is only known from the index, and the index may be replaced (repair)
 * until it is locked: so it is read, the locks are taken, and it is opened and read anew. When rows
 * with an unlocked address were added in between, all locks are released and taken again.
 */
#pragma once

#include "mailbox/locks.h"
#include "mailbox/registration_sql.h"
#include "mailbox/root.h"

struct mr_mailbox_lock_all {
	struct mr_mailbox_locks locks;
	struct mr_db *index;
	struct mr_mailbox_registrations rows; /* all of the root, as they are under the locks */
};

#define MR_MAILBOX_LOCK_ALL_INIT ((struct mr_mailbox_lock_all){ .locks = MR_MAILBOX_LOCKS_INIT })

/* Is the address of this row to be locked? */
typedef bool mr_mailbox_lock_all_wants(void *arg, const struct mr_mailbox_registration *row);

/*
 * `before` names the work for "mailbox root needs repair before <before>": MR_ECONFLICT when there
 * is no index, and in front of MR_EFORMAT when it cannot be read. MR_EBUSY when new registrations
 * are added again and again. `wants` NULL wants all. `read_only` opens the index for reading; then
 * a root that this user cannot write is read without locks.
 */
MR_CHECK enum mr_code mr_mailbox_lock_all_take(struct mr_ctx *cx,
	const struct mr_mailbox_root *root, const char *before, mr_mailbox_lock_all_wants *wants,
	void *arg, bool read_only, struct mr_mailbox_lock_all *out);
/* For MR_CLEANUP; nothing held is fine. */
void mr_mailbox_lock_all_release(struct mr_mailbox_lock_all *hold);
