/*
 * mailbox/register_private.h - for register*.c and unregister.c only: one entry of mailboxes/ is
 * exchanged for another, or taken away, so that a crash leaves it done or not done.
 *
 * The order: the intent (staging/.intents/<name>.json), synced; the new entry built aside, in the
 * work directory staging/.trash/<name>/new; the old one renamed to <name>/old, or to the name of a
 * stash; the new one renamed into place; the index's transaction; the work directory removed; the
 * intent dropped. Whether the row says that it was committed decides between finish and undo, here
 * and after a crash.
 */
#pragma once

#include "mailbox/register.h"
#include "mailbox/registration_sql.h"

#include <sys/types.h>

struct mr_mailbox_swap {
	const char *name;            /* reg-<32 hex>, of the intent and of the work directory */
	const char *address;         /* whose entry, and whose lock */
	const char *registration_id; /* the row that decides */
	const char *replaces; /* the row the old entry belongs to, or NULL; the same row when it
			       * is made active again */
	const char *stash;    /* suffix under which the old entry is kept, or NULL */
	bool is_purge;        /* committed when the row is gone; else when it is active */
	bool takes;           /* there is an old entry, to be set aside */
	bool places;          /* there will be a new entry */
};

/* What stands at a path, links not followed: its S_IFMT bits, 0 when nothing does. */
MR_CHECK enum mr_code mr_mailbox_swap_look(struct mr_ctx *cx, int dir, const char *path,
	mode_t *out);
/* Chooses the name; writes the intent, makes the work directory. */
MR_CHECK enum mr_code mr_mailbox_swap_begin(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_swap *swap);
/* Set the old entry aside; put the new one, a link to `target` or with NULL a directory with its
 * boxes and database, in its place. */
MR_CHECK enum mr_code mr_mailbox_swap_apply(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap, const char *target);
/* After the commit: remove the work directory and the intent. What cannot be removed now is left
 * to the next recovery. */
void mr_mailbox_swap_finish(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap);
/*
 * Nothing was committed: restore everything. With `entry_is_foreign` another program has registered
 * the address since: its entry stays, and what was set aside is kept as a stash. On failure the
 * intent stays.
 */
MR_CHECK enum mr_code mr_mailbox_swap_undo(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap, bool entry_is_foreign);
/* Undo after a failure: cx->err stays as it is; returns its code. */
enum mr_code mr_mailbox_swap_give_up(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_swap *swap);

/* Make what is missing of a mailbox directory and its boxes. */
MR_CHECK enum mr_code mr_mailbox_register_boxes(struct mr_ctx *cx, int dir, const char *path);
/*
 * Open or make the mailbox.sqlite of a mailbox directory and its tables. One that cannot be read
 * is MR_ENOTCONFIRMED, or with `replace` set aside as mailbox.sqlite.local-unusable-<time>.bak.
 */
MR_CHECK enum mr_code mr_mailbox_register_open_local(struct mr_ctx *cx, const char *path,
	bool replace, struct mr_db **out);
