/*
 * mailbox/repair_own.c - repair: an entry that leads to another root's private directory gets a
 * mailbox of its own, with the same state, inside this root.
 *
 * That is what a copy of a root has: the private directory stays with the original.
 */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/register_private.h"
#include "mailbox/repair_private.h"
#include "mailbox/snapshot.h"
#include "text/token.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Flags and boxes of the private directory; without a readable database, repair makes a new one. */
static enum mr_code copy_state(struct mr_mailbox_repair_run *run, const char *from, const char *to)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_ctx *cx = run->cx;
	struct mr_err before = cx->err;
	const char *file = mr_mailbox_layout_join(cx->arena, to, MR_MAILBOX_LOCAL_FILE);
	enum mr_code rc;

	if (!mr_fs_exists(AT_FDCWD, mr_mailbox_layout_join(cx->arena, from, MR_MAILBOX_LOCAL_FILE)))
		return MR_OK;
	rc = mr_mailbox_root_local(cx, from, true, &db);
	if (!rc) /* private; the engine fills it */
		rc = mr_fs_write(run->root->dir, file, mr_bytes_text(""), MR_FS_NEW, 0600,
			&cx->err);
	if (!rc)
		rc = mr_mailbox_snapshot(cx, db,
			mr_mailbox_layout_join(cx->arena, run->root->path, file));
	if (rc != MR_EFORMAT)
		return rc;
	cx->err = before;
	(void)unlinkat(run->root->dir, file, 0);
	return MR_OK;
}

/* The directory takes the link's place at once; where that cannot be, the link goes first. */
static enum mr_code exchange(struct mr_mailbox_repair_run *run, const char *work, const char *entry)
{
	int dir = run->root->dir;
	struct mr_err *err = &run->cx->err;

	if (renameat2(dir, work, dir, entry, RENAME_EXCHANGE) == 0) {
		mr_crash_point("repair.own.exchanged");
		if (unlinkat(dir, work, 0) != 0)
			return mr_err_os(err, errno, "cannot remove %s/%s", run->root->path, work);
		return mr_fs_sync_dir(dir, MR_MAILBOX_MAILBOXES, err);
	}
	if (errno != EINVAL && errno != ENOSYS)
		return mr_err_os(err, errno, "cannot replace %s/%s", run->root->path, entry);
	if (unlinkat(dir, entry, 0) != 0)
		return mr_err_os(err, errno, "cannot remove %s/%s", run->root->path, entry);
	return mr_fs_rename(dir, work, dir, entry, MR_FS_NEW, err);
}

enum mr_code mr_mailbox_repair_own(struct mr_mailbox_repair_run *run, const char *entry,
	const char *from)
{
	struct mr_arena *arena = run->cx->arena;
	const char *work = mr_arena_printf(arena, MR_MAILBOX_TRASH "/own-%s",
		mr_token_hex(arena, run->cx->rand, 8));
	enum mr_code rc = mr_mailbox_register_boxes(run->cx, run->root->dir, work);

	if (!rc)
		rc = copy_state(run, from, work);
	if (!rc)
		rc = mr_fs_sync_dir(run->root->dir, work, &run->cx->err);
	mr_crash_point("repair.own.made");
	return rc ? rc : exchange(run, work, entry);
}
