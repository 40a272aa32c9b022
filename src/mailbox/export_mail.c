/* mailbox/export_mail.c - an archive's messages, projections and attachments. */
#include "mailbox/export_private.h"

#include "base/fs.h"
#include "data/db.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { PROGRESS_EVERY = 512 };

static void advance(struct mr_mailbox_export_job *job)
{
	struct mr_ctx *cx = job->cx;

	job->done++;
	if (cx->progress && (job->done % PROGRESS_EVERY == 0 || job->done == job->total))
		cx->progress(cx->progress_arg, "exporting", job->done, job->total);
}

/*
 * Open a file below a directory of the root, not through a link at the end, and not out of it.
 * `*out_why` says why there is nothing to copy, or is NULL. An I/O problem is an error: an export
 * must not look complete when a second try would find more.
 */
static enum mr_code open_source(struct mr_mailbox_export_job *job, int dir, const char *path,
	const char *missing, int *out, const char **out_why)
{
	struct mr_err err = { .code = MR_OK };
	struct stat st;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = dir < 0
		? MR_ENOTFOUND
		: mr_fs_open_beneath(dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &err);

	if (rc == MR_ENOTFOUND)
		*out_why = missing;
	else if (rc == MR_EPERM || rc == MR_EINVAL)
		*out_why = "it cannot be opened";
	else if (rc)
		job->cx->err = err;
	else if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		*out_why = "it is not a regular file";
	else {
		*out_why = NULL;
		*out = mr_fs_take(&fd);
	}
	return rc == MR_ENOTFOUND || rc == MR_EPERM || rc == MR_EINVAL ? MR_OK : rc;
}

static const char *archived_message(const struct mr_mailbox_export_job *job,
	struct mr_arena *scratch, const char *canonical_path)
{
	const char *rest = mr_mailbox_inside(mr_mailbox_layout_join(scratch, job->root->path,
						     MR_MAILBOX_MESSAGES),
		canonical_path);

	return rest ? mr_mailbox_layout_join(scratch, MR_MAILBOX_MESSAGES, rest) : NULL;
}

static enum mr_code export_message(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_message *message)
{
	struct mr_mailbox_export_job *job = arg;
	int from MR_CLEANUP(mr_fs_closep) = -1;
	const char *path = archived_message(job, scratch, message->canonical_path);
	const char *why = "the document is not in the root's messages directory";
	struct mr_mailbox_export_action action = { .list = MR_MAILBOX_EXPORT_BLOCKED,
		.artifact_kind = "canonical_message",
		.source_path = message->canonical_path,
		.message_id = message->message_id };
	enum mr_code rc = MR_OK;

	if (path)
		rc = open_source(job, job->root->dir, path, "the document is missing", &from, &why);
	if (!rc && !why && mr_fs_exists(job->dir, path))
		why = "another message has the same document";
	if (!rc && !why)
		rc = mr_mailbox_export_copy_in(job, scratch, from, path);
	if (rc)
		return rc;
	action.reason = why ? why : "the message";
	if (!why) {
		action.list = MR_MAILBOX_EXPORT_COPIED;
		action.archive_path = mr_mailbox_export_final(job, scratch, path);
	}
	mr_mailbox_manifest_action(&job->manifest, &action);
	mr_mailbox_manifest_message(&job->manifest, message, why ? NULL : path);
	advance(job);
	return MR_OK;
}

static enum mr_code link_document(struct mr_mailbox_export_job *job, struct mr_arena *scratch,
	const char *target, const char *path)
{
	enum mr_code rc;

	if (symlinkat(target, job->dir, path) == 0)
		return MR_OK;
	rc = errno == ENOENT
		? mr_mailbox_export_make_parents(job, scratch, path)
		: mr_err_os(&job->cx->err, errno, "cannot link %s in the export", path);
	if (!rc && symlinkat(target, job->dir, path) != 0)
		rc = mr_err_os(&job->cx->err, errno, "cannot link %s in the export", path);
	return rc;
}

/* Make the projection `path` from the archived document: a copy. */
static enum mr_code copy_document(struct mr_mailbox_export_job *job, struct mr_arena *scratch,
	const char *document, const char *path)
{
	int from MR_CLEANUP(mr_fs_closep) =
		openat(job->dir, document, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (from < 0)
		return mr_err_os(&job->cx->err, errno, "cannot open %s in the export", document);
	return mr_mailbox_export_copy_in(job, scratch, from, path);
}

/* Why a projection cannot be made, or NULL. */
static const char *refuse_projection(const struct mr_mailbox_export_job *job,
	const struct mr_mailbox_registration *row,
	const struct mr_mailbox_export_projection *projection, const char *document)
{
	if (!document || !mr_fs_exists(job->dir, document))
		return "its document is not in the export";
	if (!mr_mailbox_inside(row->path, projection->path))
		return "the projection is not in the registration's directory";
	if (!mr_mailbox_inside_name(projection->folder) ||
		!mr_mailbox_inside_name(projection->message_id))
		return "its folder or its id cannot name a file";
	return NULL;
}

static enum mr_code export_projection(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_projection *projection)
{
	struct mr_mailbox_export_job *job = arg;
	const struct mr_mailbox_registration *row = &job->rows.items[projection->row];
	const char *document = archived_message(job, scratch, projection->canonical_path);
	const char *path = NULL;
	const char *why = refuse_projection(job, row, projection, document);
	struct mr_mailbox_export_action action = { .list = MR_MAILBOX_EXPORT_BLOCKED,
		.artifact_kind = "mailbox_projection",
		.reason = why,
		.source_path = projection->path,
		.address = row->address,
		.registration_id = row->id,
		.registration_status = mr_mailbox_status_name(row->status),
		.message_id = projection->message_id };

	if (!why) {
		enum mr_code rc;

		path = mr_mailbox_layout_join(scratch, mr_mailbox_export_account_path(scratch, row),
			mr_mailbox_layout_projection(scratch, projection->folder,
				projection->message_id));
		if (job->request->preserve_symlinks) {
			action.list = MR_MAILBOX_EXPORT_PRESERVED;
			action.reason = "a relative link to the archived message";
			action.symlink_target =
				mr_mailbox_layout_join(scratch, "../../../..", document);
		} else {
			action.list = MR_MAILBOX_EXPORT_MATERIALIZED;
			action.reason = "a copy of the message instead of a link";
		}
		action.archive_path = mr_mailbox_export_final(job, scratch, path);
		rc = action.symlink_target
			? link_document(job, scratch, action.symlink_target, path)
			: copy_document(job, scratch, document, path);
		if (rc)
			return rc;
	}
	mr_mailbox_manifest_action(&job->manifest, &action);
	mr_mailbox_manifest_projection(&job->manifest, row, projection, path, action.list,
		action.reason);
	advance(job);
	return MR_OK;
}

/* attachments/managed/<id>/<name>; an id that cannot name a directory gets a number instead. */
static const char *attachment_path(struct mr_mailbox_export_job *job, struct mr_arena *scratch,
	const char *id, const char *source)
{
	const char *slash = strrchr(source, '/');

	if (!mr_mailbox_inside_name(id))
		id = mr_arena_printf(scratch, "unnamed-%zu", ++job->unnamed);
	return mr_arena_printf(scratch, "%s/%s/%s", MR_MAILBOX_MANAGED, id,
		slash ? slash + 1 : source);
}

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* Copy a managed attachment; `*out_why` says why not. */
static enum mr_code copy_managed(struct mr_mailbox_export_job *job, struct mr_arena *scratch,
	const struct mr_mailbox_export_attachment *attachment, const char *source,
	const char **out_path, const char **out_why)
{
	int from MR_CLEANUP(mr_fs_closep) = -1;
	const char *rest = mr_mailbox_inside(mr_mailbox_layout_join(scratch, job->root->path,
						     MR_MAILBOX_MANAGED),
		source);
	enum mr_code rc = MR_OK;

	*out_why = "the copy is not in the root's directory of managed attachments";
	if (rest)
		rc = open_source(job, job->managed, rest, "the copy is missing", &from, out_why);
	if (rc || *out_why)
		return rc;
	*out_path = attachment_path(job, scratch, attachment->attachment_id, rest);
	/* Another message of the export has it too. */
	if (mr_fs_exists(job->dir, *out_path))
		return MR_OK;
	return mr_mailbox_export_copy_in(job, scratch, from, *out_path);
}

static enum mr_code export_attachment(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_attachment *attachment)
{
	struct mr_mailbox_export_job *job = arg;
	const char *source = attachment->locator[0] == '/'
		? attachment->locator
		: mr_mailbox_layout_join(scratch, job->root->path, attachment->locator);
	bool exists = is_there(source);
	const char *path = NULL;
	const char *why = NULL;
	enum mr_code rc = MR_OK;
	struct mr_mailbox_export_action action = { .list = MR_MAILBOX_EXPORT_BLOCKED,
		.source_path = source,
		.message_id = attachment->message_id,
		.attachment_id = attachment->attachment_id };

	if (mr_str_eq(attachment->kind, "path_ref")) {
		action.list = MR_MAILBOX_EXPORT_SKIPPED;
		action.artifact_kind = "path_ref_attachment";
		action.reason = "the file was only referred to and is not the mailbox's";
		action.target_exists = &exists;
	} else if (!mr_str_eq(attachment->kind, "managed_copy")) {
		action.artifact_kind = "attachment";
		action.reason = "attachments of this kind are not known";
	} else {
		action.artifact_kind = "managed_attachment";
		rc = copy_managed(job, scratch, attachment, source, &path, &why);
		action.reason = why ? why : "the attached file";
		if (!why)
			action.list = MR_MAILBOX_EXPORT_COPIED;
	}
	if (rc)
		return rc;
	action.archive_path = path ? mr_mailbox_export_final(job, scratch, path) : NULL;
	mr_mailbox_manifest_action(&job->manifest, &action);
	mr_mailbox_manifest_attachment(&job->manifest, attachment, source, exists, path,
		action.list, action.reason);
	advance(job);
	return MR_OK;
}

enum mr_code mr_mailbox_export_mail(struct mr_mailbox_export_job *job)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_ctx *cx = job->cx;
	struct mr_db_options options = {
		.path = mr_arena_printf(cx->arena, "%s/%s/%s", job->parent_path, job->temporary,
			MR_MAILBOX_EXPORT_SNAPSHOT),
		.journal = MR_DB_JOURNAL_DELETE,
		.sync = MR_DB_SYNC_NORMAL,
		.no_foreign_keys = true,
		.repair_hint = "run `mailroom mailbox repair`",
	};
	enum mr_code rc = mr_db_open(&options, &db, &cx->err);

	if (!rc)
		rc = mr_mailbox_export_sql_select(cx, db, &job->rows, job->request->all_accounts,
			&job->total);
	if (!rc)
		rc = mr_mailbox_export_sql_messages(cx, db, export_message, job);
	if (!rc)
		rc = mr_mailbox_export_sql_projections(cx, db, export_projection, job);
	if (!rc)
		rc = mr_mailbox_export_sql_attachments(cx, db, export_attachment, job);
	return rc;
}
