/* mailbox/cleanup.c - removes inactive and stashed registrations, and their mailboxes. */
#include "mailbox/cleanup.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"
#include "mailbox/lock_all.h"
#include "mailbox/trash.h"
#include "text/time.h"

#include <errno.h>
#include <string.h>

struct job {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	struct mr_mailbox_lock_all hold;
	int64_t older_than_s[MR_MAILBOX_STASHED + 1]; /* by status */
	/* By row: does it go, and where its mailbox is below the root, or NULL if that stays. */
	bool *goes;
	const char **paths;
	struct mr_mailbox_cleanup_result result;
};

void mr_mailbox_actions_add(struct mr_arena *arena, struct mr_mailbox_actions *actions,
	const struct mr_mailbox_action *action)
{
	if (actions->len == actions->cap) {
		size_t more = actions->cap ? actions->cap * 2 : 16;
		struct mr_mailbox_action *items = mr_arena_array(arena, more, sizeof(*items));

		if (actions->len > 0)
			memcpy(items, actions->items, actions->len * sizeof(*items));
		actions->items = items;
		actions->cap = more;
	}
	actions->items[actions->len++] = *action;
}

static bool is_over(void *arg, const struct mr_mailbox_registration *row)
{
	(void)arg;
	return row->status != MR_MAILBOX_ACTIVE;
}

static void report(struct job *job, struct mr_mailbox_actions *list,
	const struct mr_mailbox_registration *row, const char *reason)
{
	bool remove = list == &job->result.planned || list == &job->result.applied ||
		list == &job->result.blocked;

	mr_mailbox_actions_add(job->cx->arena, list,
		&(struct mr_mailbox_action){
			.artifact_kind = row->status == MR_MAILBOX_ACTIVE ? "active_registration"
									  : "mailbox_registration",
			.path = row->entry_path,
			.proposed_action = remove ? "remove" : "preserve",
			.reason = reason,
			.address = row->address,
			.registration_id = row->id,
			.registration_status = mr_mailbox_status_name(row->status),
		});
}

static bool is_old_enough(struct job *job, const struct mr_mailbox_registration *row)
{
	int64_t limit_s = job->older_than_s[row->status];
	int64_t age_s, since_us;
	struct mr_err ignored;

	if (limit_s == 0)
		return true;
	if (mr_time_parse(row->deactivated_at ? row->deactivated_at : row->created_at,
		    MR_TIME_LENIENT, &since_us, &ignored) != MR_OK)
		return true;
	age_s = mr_clock_wall_us(job->cx->clock) / MR_TIME_S - since_us / MR_TIME_S;
	return age_s >= limit_s;
}

/* Choose the rows to remove, and report why the others stay. */
static void choose(struct job *job)
{
	const struct mr_mailbox_registrations *rows = &job->hold.rows;
	struct mr_mailbox_actions *preserved = &job->result.preserved;

	for (size_t i = 0; i < rows->len; i++) {
		const struct mr_mailbox_registration *row = &rows->items[i];

		if (row->status == MR_MAILBOX_ACTIVE)
			report(job, preserved, row, "the registration is active");
		else if (mr_str_eq(row->address, MR_MAILBOX_OPERATOR_ADDRESS))
			report(job, preserved, row, "the operator's mailbox belongs to every root");
		else if (!is_old_enough(job, row))
			report(job, preserved, row,
				mr_arena_printf(job->cx->arena,
					"the registration has not been %s for long enough",
					mr_mailbox_status_name(row->status)));
		else
			job->goes[i] = true;
	}
}

/* Does a registration that stays use the same directory? Mode force leaves rows that share their
 * path with the mailbox that replaced them. */
static bool is_claimed(const struct job *job, const struct mr_mailbox_registration *row)
{
	for (size_t i = 0; i < job->hold.rows.len; i++) {
		const struct mr_mailbox_registration *other = &job->hold.rows.items[i];

		if (!job->goes[i] &&
			(mr_str_eq(other->entry_path, row->entry_path) ||
				mr_str_eq(other->path, row->entry_path)))
			return true;
	}
	return false;
}

/* The entry below the root, "mailboxes/<name>", or NULL when the row names something else. */
static const char *entry_below(const struct job *job, const struct mr_mailbox_registration *row)
{
	const char *mailboxes =
		mr_mailbox_layout_join(job->cx->arena, job->root->path, MR_MAILBOX_MAILBOXES "/");
	const char *name = row->entry_path + strlen(mailboxes);

	if (!mr_str_starts(row->entry_path, mailboxes) || strchr(name, '/') ||
		mr_str_is_empty(name) || mr_str_eq(name, ".") || mr_str_eq(name, ".."))
		return NULL;
	return mr_mailbox_layout_join(job->cx->arena, MR_MAILBOX_MAILBOXES, name);
}

/* Decide what becomes of the mailbox of a row to be removed. Returns a reason when the row must
 * stay after all. */
static const char *look_at_entry(struct job *job, size_t i, const char **out_reason)
{
	const struct mr_mailbox_registration *row = &job->hold.rows.items[i];
	const char *status = mr_mailbox_status_name(row->status);
	const char *path = entry_below(job, row);
	struct stat st;

	if (is_claimed(job, row)) {
		*out_reason = mr_arena_printf(job->cx->arena,
			"the registration is %s; the mailbox at its path belongs to another and "
			"stays",
			status);
		return NULL;
	}
	if (!path)
		return "its mailbox is not in this root's mailboxes directory";
	if (fstatat(job->root->dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		*out_reason = mr_arena_printf(job->cx->arena,
			"the registration is %s; its mailbox is gone already", status);
		return NULL;
	}
	if (row->kind == MR_MAILBOX_SYMLINK && !S_ISLNK(st.st_mode))
		return "it should be a link to a mailbox elsewhere, but is not a link";
	if (row->kind == MR_MAILBOX_IN_ROOT && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode))
		return "it should be a mailbox directory, but is a file";
	job->paths[i] = path;
	*out_reason = mr_arena_printf(job->cx->arena, "the registration is %s%s", status,
		S_ISLNK(st.st_mode) ? "; the directory that its entry links to stays" : "");
	return NULL;
}

/* Everything that will happen is in `planned` afterwards. */
static void plan(struct job *job)
{
	choose(job);
	/* A row that is blocked keeps its path, also for rows that were looked at before it. */
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < job->hold.rows.len; i++) {
			const char *reason = NULL;
			const char *blocked;

			job->paths[i] = NULL;
			if (!job->goes[i])
				continue;
			blocked = look_at_entry(job, i, &reason);
			if (!blocked)
				continue;
			report(job, &job->result.blocked, &job->hold.rows.items[i], blocked);
			job->goes[i] = false;
			again = true;
		}
	}
	for (size_t i = 0; i < job->hold.rows.len; i++) {
		const char *reason = NULL;

		if (job->goes[i] && !look_at_entry(job, i, &reason))
			report(job, &job->result.planned, &job->hold.rows.items[i], reason);
	}
	mr_mailbox_actions_add(job->cx->arena, &job->result.preserved,
		&(struct mr_mailbox_action){
			.artifact_kind = "canonical_messages",
			.path = mr_mailbox_layout_join(job->cx->arena, job->root->path,
				MR_MAILBOX_MESSAGES),
			.proposed_action = "preserve",
			.reason = "messages are kept by cleanup; clear-messages removes them",
		});
}

static enum mr_code move_away(struct job *job, struct mr_mailbox_trash *trash)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < job->hold.rows.len; i++) {
		if (!job->paths[i])
			continue;
		rc = mr_mailbox_trash_put(job->cx, trash, job->paths[i]);
		if (rc == MR_ENOTFOUND) /* of two rows with one path the first took it */
			rc = MR_OK;
	}
	return rc ? rc : mr_mailbox_trash_sync(job->cx, trash);
}

static enum mr_code delete_rows(struct job *job)
{
	struct mr_db *db = job->hold.index;
	enum mr_code rc = mr_db_begin(db, MR_DB_IMMEDIATE, &job->cx->err);

	for (size_t i = 0; !rc && i < job->hold.rows.len; i++)
		if (job->goes[i])
			rc = mr_mailbox_registration_delete(job->cx, db,
				job->hold.rows.items[i].id);
	if (!rc)
		rc = mr_db_commit(db, &job->cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

static enum mr_code apply(struct job *job)
{
	struct mr_mailbox_trash trash MR_CLEANUP(mr_mailbox_trash_close) = MR_MAILBOX_TRASH_INIT;
	enum mr_code rc;

	mr_mailbox_trash_sweep(job->cx, job->root, "cleanup");
	if (job->result.planned.len == 0)
		return MR_OK;
	rc = mr_mailbox_trash_open(job->cx, job->root, "cleanup", &trash);
	if (rc)
		return rc;
	rc = move_away(job, &trash);
	if (!rc)
		rc = delete_rows(job);
	if (rc) {
		mr_mailbox_trash_restore(job->cx, &trash);
		return rc;
	}
	mr_crash_point("cleanup.apply.committed");
	/* The index and the mailboxes are done, so the locks are no longer needed. */
	mr_mailbox_lock_all_release(&job->hold);
	if (job->cx->progress)
		job->cx->progress(job->cx->progress_arg, "removing", trash.paths.len,
			trash.paths.len);
	mr_mailbox_trash_empty(job->cx, &trash);
	job->result.applied = job->result.planned;
	job->result.planned = (struct mr_mailbox_actions){ NULL, 0, 0 };
	return MR_OK;
}

static void release(struct job *job)
{
	mr_mailbox_lock_all_release(&job->hold);
}

enum mr_code mr_mailbox_cleanup(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	int64_t inactive_older_than_s, int64_t stashed_older_than_s, bool dry_run,
	struct mr_mailbox_cleanup_result *out)
{
	struct job job MR_CLEANUP(release) = {
		.cx = cx,
		.root = root,
		.hold = MR_MAILBOX_LOCK_ALL_INIT,
		.older_than_s = { [MR_MAILBOX_INACTIVE] = inactive_older_than_s,
			[MR_MAILBOX_STASHED] = stashed_older_than_s },
		.result = { .dry_run = dry_run,
			.scope_kind = "mailbox_cleanup",
			.inactive_older_than_s = inactive_older_than_s,
			.stashed_older_than_s = stashed_older_than_s },
	};
	enum mr_code rc;

	if (inactive_older_than_s < 0 || stashed_older_than_s < 0)
		return mr_err_set(&cx->err, MR_EINVAL,
			"the age of a registration must be greater than or equal to zero seconds");
	rc = mr_mailbox_lock_all_take(cx, root, "cleanup", is_over, NULL, dry_run, &job.hold);
	if (rc)
		return rc;
	job.goes = mr_arena_array(cx->arena, job.hold.rows.len + 1, sizeof(*job.goes));
	job.paths = mr_arena_array(cx->arena, job.hold.rows.len + 1, sizeof(*job.paths));
	plan(&job);
	rc = dry_run ? MR_OK : apply(&job);
	if (!rc)
		*out = job.result;
	return rc;
}
