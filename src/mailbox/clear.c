/* mailbox/clear.c - clears messages: documents, links, state and managed attachments. */
#include "mailbox/clear_private.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/cleanup_sql.h"
#include "mailbox/layout.h"
#include "mailbox/state_sql.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_EVERY = 512 };

static void tell(const struct mr_mailbox_clear *job, const char *what, size_t done)
{
	struct mr_ctx *cx = job->cx;

	if (cx->progress && (done % PROGRESS_EVERY == 0 || done == job->result.planned.len))
		cx->progress(cx->progress_arg, what, done, job->result.planned.len);
}

static enum mr_code move_away(struct mr_mailbox_clear *job, struct mr_mailbox_trash *trash)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < job->result.planned.len; i++) {
		if (job->work[i].how != MR_MAILBOX_CLEAR_MOVE)
			continue;
		rc = mr_mailbox_trash_put(job->cx, trash, job->work[i].path);
		if (rc == MR_ENOTFOUND) /* two attachments may share a file */
			rc = MR_OK;
		tell(job, "moving", i);
	}
	return rc ? rc : mr_mailbox_trash_sync(job->cx, trash);
}

/* Remove a link from a mailbox directory; gone already is fine. A NULL is success, else why not. */
static const char *unlink_link(const struct mr_mailbox_clear_work *work)
{
	int base MR_CLEANUP(mr_fs_closep) = -1;
	int folder MR_CLEANUP(mr_fs_closep) = -1;
	const char *slash = strchr(work->path, '/');
	char name[NAME_MAX + 1];
	struct stat st;

	snprintf(name, sizeof(name), "%.*s", (int)(slash - work->path), work->path);
	base = open(work->base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (base >= 0)
		folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return errno == ENOENT ? NULL : strerrordesc_np(errno);
	if (fstatat(folder, slash + 1, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? NULL : strerrordesc_np(errno);
	if (!S_ISLNK(st.st_mode))
		return "it is no longer a link";
	if (unlinkat(folder, slash + 1, 0) != 0 && errno != ENOENT)
		return strerrordesc_np(errno);
	mr_crash_point("clear.unlink.removed");
	return NULL;
}

static enum mr_code forget_all(struct mr_ctx *cx, struct mr_db *db)
{
	enum mr_code rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);

	if (!rc)
		rc = mr_mailbox_state_clear(cx, db);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

static const char *clear_state(struct mr_mailbox_clear *job,
	const struct mr_mailbox_clear_work *work)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_err before = job->cx->err;
	const char *why = NULL;
	enum mr_code rc = mr_mailbox_root_local(job->cx, work->base, false, &db);

	if (!rc)
		rc = forget_all(job->cx, db);
	if (rc)
		why = mr_arena_strdup(job->cx->arena, job->cx->err.msg);
	job->cx->err = before;
	mr_crash_point("clear.state.cleared");
	return why;
}

/* The index has committed: a failure from here on is reported, and the rest goes on. */
static void finish(struct mr_mailbox_clear *job)
{
	struct mr_mailbox_actions *planned = &job->result.planned;
	struct mr_mailbox_actions applied = { planned->items, 0, planned->cap };

	for (size_t i = 0; i < planned->len; i++) {
		struct mr_mailbox_action action = planned->items[i];
		const char *why = NULL;

		tell(job, "clearing", i);
		if (job->work[i].how == MR_MAILBOX_CLEAR_UNLINK)
			why = unlink_link(&job->work[i]);
		else if (job->work[i].how == MR_MAILBOX_CLEAR_STATE)
			why = clear_state(job, &job->work[i]);
		if (!why) {
			applied.items[applied.len++] = action;
			continue;
		}
		action.reason = mr_arena_printf(job->cx->arena, "%s; it could not be removed: %s",
			action.reason, why);
		mr_mailbox_actions_add(job->cx->arena, &job->result.blocked, &action);
	}
	tell(job, "clearing", planned->len);
	*planned = (struct mr_mailbox_actions){ NULL, 0, 0 };
	job->result.applied = applied;
}

struct directories {
	struct mr_arena *arena;
	const char *base;
	const char **items;
	size_t len, cap;
};

static enum mr_fs_next note_directory(void *arg, const struct mr_fs_entry *entry)
{
	struct directories *found = arg;

	if (entry->type != DT_DIR)
		return MR_FS_GO_ON;
	if (found->len == found->cap) {
		size_t more = found->cap ? found->cap * 2 : 64;
		const char **items = mr_arena_array(found->arena, more, sizeof(*items));

		if (found->len > 0)
			memcpy(items, found->items, found->len * sizeof(*items));
		found->items = items;
		found->cap = more;
	}
	found->items[found->len++] = mr_mailbox_layout_join(found->arena, found->base, entry->path);
	return MR_FS_GO_ON;
}

/* Directories below `path` that have become empty. The walk names a directory before those in it,
 * so from the end they come innermost first. */
static void remove_empty(struct mr_mailbox_clear *job, const char *path)
{
	struct directories found = { .arena = job->cx->arena, .base = path };
	struct mr_err ignored;

	if (mr_fs_walk(job->root->dir, path, MR_MAILBOX_CLEAR_DEPTH, note_directory, &found,
		    &ignored) != MR_OK)
		return;
	while (found.len > 0)
		(void)unlinkat(job->root->dir, found.items[--found.len], AT_REMOVEDIR);
}

static enum mr_code apply(struct mr_mailbox_clear *job)
{
	struct mr_mailbox_trash trash MR_CLEANUP(mr_mailbox_trash_close) = MR_MAILBOX_TRASH_INIT;
	enum mr_code rc;

	mr_mailbox_trash_sweep(job->cx, job->root, "clear");
	rc = mr_mailbox_trash_open(job->cx, job->root, "clear", &trash);
	if (rc)
		return rc;
	rc = move_away(job, &trash);
	if (!rc)
		rc = mr_mailbox_cleanup_sql_clear(job->cx, job->hold.index,
			job->account ? job->account->id : NULL);
	if (rc) {
		mr_mailbox_trash_restore(job->cx, &trash);
		return rc;
	}
	mr_crash_point("clear.apply.committed");
	finish(job);
	remove_empty(job, MR_MAILBOX_MESSAGES);
	remove_empty(job, MR_MAILBOX_MANAGED);
	mr_crash_point("clear.apply.tidied");
	mr_mailbox_lock_all_release(&job->hold);
	mr_mailbox_trash_empty(job->cx, &trash);
	return MR_OK;
}

static enum mr_code find_account(struct mr_mailbox_clear *job, const char *address)
{
	for (size_t i = 0; i < job->hold.rows.len; i++) {
		const struct mr_mailbox_registration *row = &job->hold.rows.items[i];

		if (row->status == MR_MAILBOX_ACTIVE && mr_str_eq(row->address, address)) {
			job->account = row;
			job->result.registration_id = row->id;
			return MR_OK;
		}
	}
	return mr_err_set(&job->cx->err, MR_ENOTFOUND,
		"no active mailbox registration exists for %s", address);
}

static void release(struct mr_mailbox_clear *job)
{
	mr_mailbox_lock_all_release(&job->hold);
}

enum mr_code mr_mailbox_clear(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, bool dry_run, struct mr_mailbox_cleanup_result *out)
{
	struct mr_mailbox_clear job MR_CLEANUP(release) = {
		.cx = cx,
		.root = root,
		.hold = MR_MAILBOX_LOCK_ALL_INIT,
		.result = { .dry_run = dry_run,
			.scope_kind =
				address ? "mailbox_account_message_clear" : "mailbox_message_clear",
			.address = address },
	};
	enum mr_code rc = mr_mailbox_lock_all_take(cx, root, "clearing messages", NULL, NULL,
		dry_run, &job.hold);

	if (!rc && address)
		rc = find_account(&job, address);
	if (!rc)
		rc = mr_mailbox_clear_plan(&job);
	if (!rc && !dry_run)
		rc = apply(&job);
	if (!rc)
		*out = job.result;
	return rc;
}
