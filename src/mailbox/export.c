/* mailbox/export.c - accounts and their mail as a directory of plain files. */
#include "mailbox/export.h"

#include "base/crash.h"
#include "base/fs.h"
#include "data/db_sqlite.h"
#include "mailbox/export_manifest.h"
#include "mailbox/export_sql.h"
#include "mailbox/hold.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/register.h"
#include "text/address.h"
#include "text/time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANIFEST "manifest.json"
#define SNAPSHOT ".index.sqlite"

enum {
	COPY_BYTES = 64 << 10,
	ACCOUNT_BYTES_MAX = 1 << 20,
	DEPTH_MAX = 8, /* of the archive's tree */
	PROGRESS_EVERY = 512,
};

struct job {
	struct mr_ctx *cx;
	const struct mr_mailbox_root *root;
	const struct mr_mailbox_export_request *request;
	struct mr_mailbox_registrations rows; /* selected */
	const char *parent_path;              /* absolute, of the output's directory */
	const char *name;                     /* of the output */
	const char *output;                   /* both */
	int parent;
	const char *temporary; /* name of the directory while it is written; NULL when renamed */
	int dir;               /* open on it */
	int managed;           /* attachments/managed of the root, or -1 */
	struct mr_mailbox_manifest manifest;
	size_t done, total;
	size_t unnamed; /* attachments whose id cannot name a directory */
};

static void release(struct job *job)
{
	struct mr_err ignored;

	mr_mailbox_manifest_release(&job->manifest);
	mr_fs_closep(&job->managed);
	mr_fs_closep(&job->dir);
	if (job->temporary)
		(void)!mr_fs_remove_all(job->parent, job->temporary, &ignored);
	mr_fs_closep(&job->parent);
}

static void advance(struct job *job)
{
	struct mr_ctx *cx = job->cx;

	job->done++;
	if (cx->progress && (job->done % PROGRESS_EVERY == 0 || job->done == job->total))
		cx->progress(cx->progress_arg, "exporting", job->done, job->total);
}

/* What was asked for. */

static bool has_twice(const struct mr_texts *texts, size_t at)
{
	struct mr_texts before = { texts->items, at };

	return mr_texts_has(&before, texts->items[at]);
}

static enum mr_code check_request(struct mr_ctx *cx, const struct mr_mailbox_export_request *request)
{
	struct mr_issues issues;
	struct mr_address address;
	struct mr_err why;

	mr_issues_init(&issues, cx->arena);
	if (mr_str_is_empty(request->output_dir))
		mr_issues_add(&issues, MR_ISSUE_RULE, "$.output_dir", NULL, "must not be empty");
	for (size_t i = 0; i < request->addresses.len; i++) {
		if (mr_address_parse(cx->arena, request->addresses.items[i], &address, &why))
			mr_issues_add(&issues, MR_ISSUE_RULE, "$.addresses", NULL, "%s", why.msg);
		else if (has_twice(&request->addresses, i))
			mr_issues_add(&issues, MR_ISSUE_RULE, "$.addresses", NULL,
				"must not contain duplicate addresses: %s",
				request->addresses.items[i]);
	}
	if (issues.len == 0 && request->all_accounts == (request->addresses.len > 0))
		mr_issues_add(&issues, MR_ISSUE_RULE, "$", NULL,
			"exactly one of all_accounts and addresses must be given");
	return issues.len > 0 ? mr_err_issues(&cx->err, &issues, "mailbox export payload") : MR_OK;
}

static bool is_selected(void *arg, const struct mr_mailbox_registration *row)
{
	const struct mr_mailbox_export_request *request = arg;

	return request->all_accounts || mr_texts_has(&request->addresses, row->address);
}

static enum mr_code say_exists(const struct job *job)
{
	return mr_err_set(&job->cx->err, MR_EEXISTS, "export output directory already exists: %s",
		job->output);
}

/* An export among the root's own files would be taken for mail. */
static enum mr_code check_place(const struct job *job)
{
	const char *below = mr_mailbox_inside(job->root->path, job->parent_path);

	for (size_t i = 0; below && mr_mailbox_directories[i]; i++) {
		size_t len = strcspn(mr_mailbox_directories[i], "/");

		if (strncmp(below, mr_mailbox_directories[i], len) == 0 &&
			(below[len] == '/' || below[len] == '\0'))
			return mr_err_set(&job->cx->err, MR_EINVAL,
				"export output directory must not lie in the mailbox root's %.*s: %s",
				(int)len, mr_mailbox_directories[i], job->output);
	}
	return MR_OK;
}

/* Where the output will be: its directory, made when missing, with its links resolved. */
static enum mr_code find_place(struct job *job)
{
	struct mr_arena *arena = job->cx->arena;
	char *path = mr_arena_strdup(arena, job->request->output_dir);
	size_t len = strlen(path);
	const char *parent = ".";
	char *slash;
	char *real;
	enum mr_code rc;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	slash = strrchr(path, '/');
	job->name = slash ? slash + 1 : path;
	if (slash) {
		*slash = '\0';
		parent = slash == path ? "/" : path;
	}
	if (!mr_mailbox_inside_name(job->name))
		return mr_err_set(&job->cx->err, MR_EINVAL,
			"%s cannot be the name of an export output directory",
			job->request->output_dir);
	rc = mr_fs_make_dirs(AT_FDCWD, parent, 0700, &job->cx->err);
	if (rc)
		return rc;
	real = realpath(parent, NULL);
	if (!real)
		return mr_err_os(&job->cx->err, errno, "cannot resolve %s", parent);
	job->parent_path = mr_arena_strdup(arena, real);
	free(real);
	job->output = mr_mailbox_layout_join(arena,
		mr_str_eq(job->parent_path, "/") ? "" : job->parent_path, job->name);
	rc = check_place(job);
	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD, job->parent_path, &job->parent, &job->cx->err);
	if (!rc && mr_fs_exists(job->parent, job->name))
		rc = say_exists(job);
	return rc;
}

static enum mr_code choose_rows(struct job *job, const struct mr_mailbox_registrations *all)
{
	struct mr_arena *arena = job->cx->arena;
	struct mr_texts missing = { NULL, 0 };

	job->rows.items = mr_arena_array(arena, all->len + 1, sizeof(*job->rows.items));
	for (size_t i = 0; i < all->len; i++)
		if (job->request->all_accounts ||
			mr_texts_has(&job->request->addresses, all->items[i].address))
			job->rows.items[job->rows.len++] = all->items[i];
	missing.items =
		mr_arena_array(arena, job->request->addresses.len + 1, sizeof(*missing.items));
	for (size_t i = 0; i < job->request->addresses.len; i++) {
		bool found = false;

		for (size_t j = 0; !found && j < job->rows.len; j++)
			found = mr_str_eq(job->rows.items[j].address,
				job->request->addresses.items[i]);
		if (!found)
			missing.items[missing.len++] = job->request->addresses.items[i];
	}
	if (missing.len > 0)
		return mr_err_set(&job->cx->err, MR_ENOTFOUND,
			"mailbox export selected address not found: %s",
			mr_str_join(arena, &missing, ", "));
	return MR_OK;
}

static enum mr_code check_rows(struct job *job)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < job->rows.len; i++) {
		const struct mr_mailbox_registration *row = &job->rows.items[i];
		struct stat st;

		if (row->status != MR_MAILBOX_ACTIVE)
			continue;
		rc = mr_mailbox_register_check(job->cx, row);
		if (!rc && row->kind == MR_MAILBOX_IN_ROOT && lstat(row->entry_path, &st) == 0 &&
			S_ISLNK(st.st_mode))
			rc = mr_err_set(&job->cx->err, MR_ECONFLICT,
				"%s should be a directory, but is a link", row->entry_path);
		if (rc)
			mr_err_wrap(&job->cx->err, "mailbox root needs repair before export");
	}
	return rc;
}

static enum mr_code open_temporary(struct job *job)
{
	uint64_t chance[2];
	const char *name;
	enum mr_code rc;

	mr_rand_fill(job->cx->rand, chance, sizeof(chance));
	name = mr_arena_printf(job->cx->arena, ".%s.tmp-%ld-%016" PRIx64 "%016" PRIx64, job->name,
		(long)getpid(), chance[0], chance[1]);
	if (mkdirat(job->parent, name, 0700) != 0)
		return mr_err_os(&job->cx->err, errno, "cannot create %s/%s", job->parent_path,
			name);
	job->temporary = name;
	rc = mr_fs_open_dir(job->parent, name, &job->dir, &job->cx->err);
	mr_crash_point("export.open.made");
	return rc;
}

/* Copying. */

static enum mr_code copy_bytes(struct mr_ctx *cx, int from, int to, const char *what)
{
	char buf[COPY_BYTES];

	for (;;) {
		ssize_t n = read(from, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot read %s", what);
		if (n == 0)
			return MR_OK;
		for (ssize_t at = 0; at < n;) {
			ssize_t m = write(to, buf + at, (size_t)(n - at));

			if (m < 0 && errno == EINTR)
				continue;
			if (m < 0)
				return mr_err_os(&cx->err, errno, "cannot write a copy of %s",
					what);
			at += m;
		}
	}
}

/* Directories above `path` in the archive. */
static enum mr_code make_parents(struct job *job, struct mr_arena *scratch, const char *path)
{
	char *parent = mr_arena_strdup(scratch, path);

	for (char *slash = strchr(parent, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(job->dir, parent, 0700) != 0 && errno != EEXIST)
			return mr_err_os(&job->cx->err, errno, "cannot create %s in the export",
				parent);
		*slash = '/';
	}
	return MR_OK;
}

static enum mr_code create(struct job *job, const char *path, int *out)
{
	*out = openat(job->dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*out < 0)
		return mr_err_os(&job->cx->err, errno, "cannot create %s in the export", path);
	return MR_OK;
}

/* A new file of the archive from what `from` is open on. */
static enum mr_code copy_in(struct job *job, struct mr_arena *scratch, int from, const char *path)
{
	int to MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = make_parents(job, scratch, path);

	if (!rc)
		rc = create(job, path, &to);
	return rc ? rc : copy_bytes(job->cx, from, to, path);
}

/* "<output>/<path>" */
static const char *final(const struct job *job, struct mr_arena *scratch, const char *path)
{
	return mr_mailbox_layout_join(scratch, job->output, path);
}

/*
 * Open a file below a directory of the root, not through a link at the end, and not out of it. NULL,
 * or why there is nothing to copy.
 */
static const char *open_source(int dir, const char *path, const char *missing, int *out)
{
	struct mr_err why;
	struct stat st;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = dir < 0 ? MR_ENOTFOUND
				  : mr_fs_open_beneath(dir, path, O_RDONLY | O_NOFOLLOW, 0, &fd, &why);

	if (rc == MR_ENOTFOUND)
		return missing;
	if (rc)
		return "it cannot be opened";
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return "it is not a regular file";
	*out = mr_fs_take(&fd);
	return NULL;
}

/* Accounts: under the locks. */

/* The state of one mailbox as the engine sees it, so that a writer without locks does no harm. */
static enum mr_code copy_state(struct job *job, const struct mr_mailbox_registration *row,
	const char *path)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	const char *whole = mr_mailbox_layout_join(job->cx->arena,
		mr_mailbox_layout_join(job->cx->arena, job->parent_path, job->temporary), path);
	enum mr_code rc = mr_mailbox_root_local(job->cx, row->path, false, &db);

	if (!rc) /* empty and private; the engine fills it */
		rc = create(job, path, &fd);
	if (!rc)
		rc = mr_mailbox_export_sql_copy(job->cx, db, whole);
	return rc;
}

static enum mr_code export_state(struct job *job, const struct mr_mailbox_registration *row,
	struct mr_mailbox_export_account *account)
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
			return mr_err_wrap(&job->cx->err, "mailbox root needs repair before export");
		if (rc == MR_EFORMAT) {
			/* Of a mailbox that is no longer used it is no reason to stop. */
			action.list = MR_MAILBOX_EXPORT_BLOCKED;
			action.reason = mr_arena_strdup(arena, job->cx->err.msg);
			job->cx->err = before;
			(void)unlinkat(job->dir, path, 0);
			rc = MR_OK;
		} else if (!rc) {
			action.archive_path = final(job, arena, path);
			account->archive_local_path = path;
		}
	}
	if (!rc)
		mr_mailbox_manifest_action(&job->manifest, &action);
	return rc;
}

static void look_at_entry(struct job *job, struct mr_mailbox_export_account *account)
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

static enum mr_code write_account(struct job *job, const struct mr_mailbox_export_account *account)
{
	struct mr_arena *arena = job->cx->arena;
	const char *path = mr_mailbox_layout_join(arena, account->archive_path, "account.json");
	struct mr_buf buf MR_CLEANUP(mr_buf_release);
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	mr_buf_init(&buf, ACCOUNT_BYTES_MAX);
	mr_mailbox_manifest_account_json(&buf, account);
	rc = mr_buf_check(&buf, "account.json", &job->cx->err);
	if (!rc)
		rc = create(job, path, &fd);
	if (rc)
		return rc;
	if (write(fd, mr_buf_text(&buf), buf.len) != (ssize_t)buf.len)
		return mr_err_os(&job->cx->err, errno, "cannot write %s in the export", path);
	mr_mailbox_manifest_action(&job->manifest,
		&(struct mr_mailbox_export_action){ .list = MR_MAILBOX_EXPORT_COPIED,
			.artifact_kind = "account_metadata",
			.reason = "what the index says about the registration",
			.archive_path = final(job, arena, path),
			.address = account->row->address,
			.registration_id = account->row->id,
			.registration_status = mr_mailbox_status_name(account->row->status) });
	mr_mailbox_manifest_account(&job->manifest, account);
	return MR_OK;
}

/* accounts/<address>/<registration id> */
static const char *account_path(struct mr_arena *arena, const struct mr_mailbox_registration *row)
{
	return mr_arena_printf(arena, "accounts/%s/%s", row->address, row->id);
}

static enum mr_code export_account(struct job *job, const struct mr_mailbox_registration *row)
{
	struct mr_arena *arena = job->cx->arena;
	struct mr_mailbox_export_account account = { .row = row,
		.archive_path = account_path(arena, row) };
	enum mr_code rc = MR_OK;

	if (!mr_mailbox_inside_name(row->address) || !mr_mailbox_inside_name(row->id))
		return mr_err_set(&job->cx->err, MR_ECONFLICT,
			"mailbox root needs repair before export: registration %s of %s cannot "
			"name a directory",
			row->id, row->address);
	for (size_t i = 0; !rc && mr_mailbox_boxes[i]; i++)
		rc = make_parents(job, arena,
			mr_arena_printf(arena, "%s/%s/", account.archive_path,
				mr_mailbox_boxes[i]));
	if (!rc)
		rc = export_state(job, row, &account);
	if (rc)
		return rc;
	look_at_entry(job, &account);
	return write_account(job, &account);
}

static enum mr_code under_locks(struct job *job)
{
	struct mr_mailbox_hold hold MR_CLEANUP(mr_mailbox_hold_release) = MR_MAILBOX_HOLD_INIT;
	struct mr_arena *arena = job->cx->arena;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_mailbox_hold_take(job->cx, job->root, "export", is_selected,
		(void *)(uintptr_t)job->request, false, &hold);

	if (!rc)
		rc = choose_rows(job, &hold.rows);
	if (!rc)
		rc = check_rows(job);
	if (!rc)
		rc = open_temporary(job);
	if (rc)
		return rc;
	mr_mailbox_manifest_release(&job->manifest);
	mr_mailbox_manifest_init(&job->manifest, job->dir);
	rc = create(job, SNAPSHOT, &fd);
	if (!rc)
		rc = mr_mailbox_export_sql_copy(job->cx, hold.index,
			mr_arena_printf(arena, "%s/%s/%s", job->parent_path, job->temporary,
				SNAPSHOT));
	for (size_t i = 0; !rc && i < job->rows.len; i++)
		rc = export_account(job, &job->rows.items[i]);
	mr_crash_point("export.locked.copied");
	return rc;
}

/* Messages, projections, attachments: from the copy of the index. */

static const char *archived_message(const struct job *job, struct mr_arena *scratch,
	const char *canonical_path)
{
	const char *rest = mr_mailbox_inside(
		mr_mailbox_layout_join(scratch, job->root->path, MR_MAILBOX_MESSAGES),
		canonical_path);

	return rest ? mr_mailbox_layout_join(scratch, MR_MAILBOX_MESSAGES, rest) : NULL;
}

static enum mr_code export_message(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_message *message)
{
	struct job *job = arg;
	int from MR_CLEANUP(mr_fs_closep) = -1;
	const char *path = archived_message(job, scratch, message->canonical_path);
	const char *why = "the document is not in the root's messages directory";
	struct mr_mailbox_export_action action = { .list = MR_MAILBOX_EXPORT_BLOCKED,
		.artifact_kind = "canonical_message",
		.source_path = message->canonical_path,
		.message_id = message->message_id };
	enum mr_code rc = MR_OK;

	if (path)
		why = open_source(job->root->dir, path, "the document is missing", &from);
	if (!why && mr_fs_exists(job->dir, path))
		why = "another message has the same document";
	if (!why)
		rc = copy_in(job, scratch, from, path);
	if (rc)
		return rc;
	action.reason = why ? why : "the message";
	if (!why) {
		action.list = MR_MAILBOX_EXPORT_COPIED;
		action.archive_path = final(job, scratch, path);
	}
	mr_mailbox_manifest_action(&job->manifest, &action);
	mr_mailbox_manifest_message(&job->manifest, message, why ? NULL : path);
	advance(job);
	return MR_OK;
}

/* Make the projection `path` from the archived document. NULL target: a copy. */
static enum mr_code project(struct job *job, struct mr_arena *scratch, const char *document,
	const char *path, const char *target)
{
	int from MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = make_parents(job, scratch, path);

	if (rc)
		return rc;
	if (target) {
		if (symlinkat(target, job->dir, path) != 0)
			return mr_err_os(&job->cx->err, errno, "cannot link %s in the export", path);
		return MR_OK;
	}
	from = openat(job->dir, document, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (from < 0)
		return mr_err_os(&job->cx->err, errno, "cannot open %s in the export", document);
	return copy_in(job, scratch, from, path);
}

/* Why a projection cannot be made, or NULL. */
static const char *refuse_projection(const struct job *job,
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
	struct job *job = arg;
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

		path = mr_mailbox_layout_join(scratch, account_path(scratch, row),
			mr_mailbox_layout_projection(scratch, projection->folder,
				projection->message_id));
		if (job->request->preserve_symlinks) {
			action.list = MR_MAILBOX_EXPORT_PRESERVED;
			action.reason = "a relative link to the archived message";
			action.symlink_target = mr_mailbox_layout_join(scratch, "../../../..",
				document);
		} else {
			action.list = MR_MAILBOX_EXPORT_MATERIALIZED;
			action.reason = "a copy of the message instead of a link";
		}
		action.archive_path = final(job, scratch, path);
		rc = project(job, scratch, document, path, action.symlink_target);
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
static const char *attachment_path(struct job *job, struct mr_arena *scratch, const char *id,
	const char *source)
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
static enum mr_code copy_managed(struct job *job, struct mr_arena *scratch,
	const struct mr_mailbox_export_attachment *attachment, const char *source,
	const char **out_path, const char **out_why)
{
	int from MR_CLEANUP(mr_fs_closep) = -1;
	const char *rest = mr_mailbox_inside(
		mr_mailbox_layout_join(scratch, job->root->path, MR_MAILBOX_MANAGED), source);

	*out_why = "the copy is not in the root's directory of managed attachments";
	if (rest)
		*out_why = open_source(job->managed, rest, "the copy is missing", &from);
	if (*out_why)
		return MR_OK;
	*out_path = attachment_path(job, scratch, attachment->attachment_id, rest);
	/* Another message of the export has it too. */
	if (mr_fs_exists(job->dir, *out_path))
		return MR_OK;
	return copy_in(job, scratch, from, *out_path);
}

static enum mr_code export_attachment(void *arg, struct mr_arena *scratch,
	const struct mr_mailbox_export_attachment *attachment)
{
	struct job *job = arg;
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
	action.archive_path = path ? final(job, scratch, path) : NULL;
	mr_mailbox_manifest_action(&job->manifest, &action);
	mr_mailbox_manifest_attachment(&job->manifest, attachment, source, exists, path, action.list,
		action.reason);
	advance(job);
	return MR_OK;
}

static enum mr_code from_snapshot(struct job *job)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_ctx *cx = job->cx;
	struct mr_db_options options = {
		.path = mr_arena_printf(cx->arena, "%s/%s/%s", job->parent_path, job->temporary,
			SNAPSHOT),
		.journal = MR_DB_JOURNAL_DELETE,
		.sync = MR_DB_SYNC_NORMAL,
		.no_foreign_keys = true,
		.repair_hint = "run `mailroom mailbox repair`",
	};
	enum mr_code rc = mr_db_open(&mr_db_sqlite, &options, &db, &cx->err);

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

/* The end. */

static enum mr_fs_next find_link(void *arg, const struct mr_fs_entry *entry)
{
	bool *found = arg;

	*found = *found || entry->type == DT_LNK;
	return *found ? MR_FS_STOP : MR_FS_GO_ON;
}

static enum mr_code check_no_links(struct job *job)
{
	bool found = false;
	enum mr_code rc = mr_fs_walk(job->dir, ".", DEPTH_MAX, find_link, &found, &job->cx->err);

	if (!rc && found)
		return mr_err_set(&job->cx->err, MR_EINTERNAL,
			"mailbox export was to hold no links, but does");
	return rc;
}

static int64_t protocol_version(struct job *job)
{
	struct mr_bytes text;
	struct mr_err ignored;
	int64_t version = -1;

	if (mr_fs_read(job->cx->arena, job->root->dir, MR_MAILBOX_VERSION_FILE, 64, &text,
		    &ignored) != MR_OK ||
		!mr_str_to_int(mr_str_trim(job->cx->arena, (const char *)text.data), &version))
		return -1;
	return version;
}

static enum mr_code finish(struct job *job)
{
	struct mr_ctx *cx = job->cx;
	const struct mr_mailbox_manifest_head head = {
		.source_root = job->root->path,
		.protocol_version = protocol_version(job),
		.exported_at = mr_time_format(cx->arena, mr_clock_wall_us(cx->clock),
			MR_TIME_SECONDS),
		.all_accounts = job->request->all_accounts,
		.addresses = &job->request->addresses,
		.preserve_symlinks = job->request->preserve_symlinks,
	};
	enum mr_code rc;

	if (unlinkat(job->dir, SNAPSHOT, 0) != 0)
		return mr_err_os(&cx->err, errno, "cannot remove %s from the export", SNAPSHOT);
	rc = mr_mailbox_manifest_write(&job->manifest, &head, MANIFEST, &cx->err);
	if (!rc && !job->request->preserve_symlinks)
		rc = check_no_links(job);
	if (rc)
		return rc;
	/* All of it at once: a file at a time would take a hundred times as long. */
	if (syncfs(job->dir) != 0)
		return mr_err_os(&cx->err, errno, "cannot write the export to disk");
	mr_crash_point("export.finish.synced");
	rc = mr_fs_rename(job->parent, job->temporary, job->parent, job->name, MR_FS_NEW, &cx->err);
	if (rc == MR_EEXISTS)
		return say_exists(job);
	if (!rc)
		job->temporary = NULL;
	mr_crash_point("export.finish.renamed");
	return rc;
}

enum mr_code mr_mailbox_export(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_export_request *request, struct mr_mailbox_export_result *out)
{
	struct job job MR_CLEANUP(release) = { .cx = cx,
		.root = root,
		.request = request,
		.parent = -1,
		.dir = -1,
		.managed = -1 };
	const struct mr_mailbox_manifest_part *lists = job.manifest.lists;
	enum mr_code rc;

	mr_mailbox_manifest_init(&job.manifest, -1);
	rc = check_request(cx, request);
	if (!rc)
		rc = find_place(&job);
	if (!rc)
		rc = under_locks(&job);
	if (rc)
		return rc;
	job.managed = openat(root->dir, MR_MAILBOX_MANAGED,
		O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = from_snapshot(&job);
	if (!rc)
		rc = finish(&job);
	if (rc)
		return rc;
	*out = (struct mr_mailbox_export_result){
		.output_dir = job.output,
		.manifest_path = final(&job, cx->arena, MANIFEST),
		.account_count = lists[MR_MAILBOX_EXPORT_ACCOUNTS].count,
		.message_count = lists[MR_MAILBOX_EXPORT_MESSAGES].count,
		.projection_count = lists[MR_MAILBOX_EXPORT_PROJECTIONS].count,
		.attachment_count = lists[MR_MAILBOX_EXPORT_ATTACHMENTS].count,
		.copied = lists[MR_MAILBOX_EXPORT_COPIED].count,
		.materialized = lists[MR_MAILBOX_EXPORT_MATERIALIZED].count,
		.preserved = lists[MR_MAILBOX_EXPORT_PRESERVED].count,
		.skipped = lists[MR_MAILBOX_EXPORT_SKIPPED].count,
		.blocked = lists[MR_MAILBOX_EXPORT_BLOCKED].count,
	};
	return MR_OK;
}
