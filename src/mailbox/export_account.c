/* mailbox/export_account.c - exports one registration: account.json and mailbox.sqlite. */
#include "mailbox/export_private.h"

#include "base/fs.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { ACCOUNT_BYTES_MAX = 1 << 20 };

/* Copy the mailbox's database through SQLite, so that writers that hold no locks do no harm. */
static enum mr_code copy_state(struct mr_mailbox_export_job *job,
	const struct mr_mailbox_registration *row, const char *path)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *whole = mr_mailbox_layout_join(job->cx->arena,
		mr_mailbox_layout_join(job->cx->arena, job->parent_path, job->temporary), path);
	enum mr_code rc = mr_mailbox_root_local(job->cx, row->path, true, &db);

	if (!rc) /* empty and private; the engine fills it */
		rc = mr_mailbox_export_create(job, path, &fd);
	if (!rc)
		rc = mr_mailbox_snapshot(job->cx, db, whole);
	return rc;
}

static enum mr_code export_state(struct mr_mailbox_export_job *job,
	const struct mr_mailbox_registration *row, struct mr_mailbox_export_account *account)
{
	struct mr_arena *arena = job->cx->arena;
	const char *path =
		mr_mailbox_layout_join(arena, account->archive_path, MR_MAILBOX_LOCAL_FILE);
	struct mr_mailbox_export_action action = { .list = MR_MAILBOX_EXPORT_COPIED,
		.artifact_kind = "mailbox_local_sqlite",
		.reason = "state of the mailbox",
		.source_path = mr_mailbox_layout_join(arena, row->path, MR_MAILBOX_LOCAL_FILE),
		.address = row->address,
		.registration_id = row->id,
		.registration_status = mr_mailbox_status_name(row->status) };
	struct mr_err before = job->cx->err;
	struct stat st;
	enum mr_code rc = MR_OK;

	if (lstat(action.source_path, &st) != 0) {
		action.list = MR_MAILBOX_EXPORT_SKIPPED;
		action.reason = "the mailbox has no state file";
	} else if (!S_ISREG(st.st_mode)) {
		action.list = MR_MAILBOX_EXPORT_BLOCKED;
		action.reason = "the mailbox's state is not a regular file";
	} else {
		rc = copy_state(job, row, path);
		if (rc == MR_EFORMAT && row->status == MR_MAILBOX_ACTIVE)
			return mr_err_wrap(&job->cx->err,
				"mailbox root needs repair before export");
		if (rc == MR_EFORMAT) {
			/* A mailbox that is no longer in use does not stop the export. */
			action.list = MR_MAILBOX_EXPORT_BLOCKED;
			action.reason = mr_arena_strdup(arena, job->cx->err.msg);
			job->cx->err = before;
			(void)unlinkat(job->dir, path, 0);
			rc = MR_OK;
		} else if (!rc) {
			action.archive_path = mr_mailbox_export_final(job, arena, path);
			account->archive_local_path = path;
		}
	}
	if (!rc)
		mr_mailbox_manifest_action(&job->manifest, &action);
	return rc;
}

static void look_at_entry(struct mr_mailbox_export_job *job,
	struct mr_mailbox_export_account *account)
{
	struct stat st;
	char *real;

	if (lstat(account->row->entry_path, &st) != 0 || !S_ISLNK(st.st_mode))
		return;
	account->entry_is_link = true;
	real = realpath(account->row->entry_path, NULL);
	account->entry_target = mr_arena_strdup(job->cx->arena, real);
	free(real);
}

static enum mr_code write_account(struct mr_mailbox_export_job *job,
	const struct mr_mailbox_export_account *account)
{
	struct mr_arena *arena = job->cx->arena;
	const char *path = mr_mailbox_layout_join(arena, account->archive_path, "account.json");
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	mr_buf_init(&buf, ACCOUNT_BYTES_MAX);
	mr_mailbox_manifest_account_json(&buf, account);
	rc = mr_buf_check(&buf, "account.json", &job->cx->err);
	if (!rc)
		rc = mr_mailbox_export_create(job, path, &fd);
	if (rc)
		return rc;
	if (write(fd, mr_buf_text(&buf), buf.len) != (ssize_t)buf.len)
		return mr_err_os(&job->cx->err, errno, "cannot write %s in the export", path);
	mr_mailbox_manifest_action(&job->manifest,
		&(struct mr_mailbox_export_action){ .list = MR_MAILBOX_EXPORT_COPIED,
			.artifact_kind = "account_metadata",
			.reason = "what the index says about the registration",
			.archive_path = mr_mailbox_export_final(job, arena, path),
			.address = account->row->address,
			.registration_id = account->row->id,
			.registration_status = mr_mailbox_status_name(account->row->status) });
	mr_mailbox_manifest_account(&job->manifest, account);
	return MR_OK;
}

enum mr_code mr_mailbox_export_account(struct mr_mailbox_export_job *job,
	const struct mr_mailbox_registration *row)
{
	struct mr_arena *arena = job->cx->arena;
	struct mr_mailbox_export_account account = { .row = row,
		.archive_path = mr_mailbox_export_account_path(arena, row) };
	enum mr_code rc = MR_OK;

	if (!mr_mailbox_inside_name(row->address) || !mr_mailbox_inside_name(row->id))
		return mr_err_set(&job->cx->err, MR_ECONFLICT,
			"mailbox root needs repair before export: registration %s of %s cannot "
			"name a directory",
			row->id, row->address);
	for (size_t i = 0; !rc && mr_mailbox_boxes[i]; i++)
		rc = mr_mailbox_export_make_parents(job, arena,
			mr_arena_printf(arena, "%s/%s/", account.archive_path,
				mr_mailbox_boxes[i]));
	if (!rc)
		rc = export_state(job, row, &account);
	if (rc)
		return rc;
	look_at_entry(job, &account);
	return write_account(job, &account);
}
