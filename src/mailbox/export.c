/* mailbox/export.c - accounts and their mail as a directory of plain files. */
#include "mailbox/export_private.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/export_sql.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/lock_all.h"
#include "mailbox/register.h"
#include "mailbox/snapshot.h"
#include "text/address.h"
#include "text/time.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MANIFEST "manifest.json"

enum {
	DEPTH_MAX = 8, /* of the archive's tree */
};

static void release(struct mr_mailbox_export_job *job)
{
	struct mr_err ignored;

	mr_mailbox_manifest_release(&job->manifest);
	mr_fs_closep(&job->managed);
	mr_fs_closep(&job->dir);
	if (job->temporary)
		(void)!mr_fs_remove_all(job->parent, job->temporary, &ignored);
	mr_fs_closep(&job->parent);
}

/* What was asked for. */

static bool has_twice(const struct mr_texts *texts, size_t at)
{
	struct mr_texts before = { texts->items, at };

	return mr_texts_has(&before, texts->items[at]);
}

static enum mr_code check_request(struct mr_ctx *cx,
	const struct mr_mailbox_export_request *request)
{
	/* The error refers to them. */
	struct mr_issues *issues = mr_arena_alloc(cx->arena, sizeof(*issues));
	struct mr_address address;
	struct mr_err why;

	mr_issues_init(issues, cx->arena);
	if (mr_str_is_empty(request->output_dir))
		mr_issues_add(issues, MR_ISSUE_RULE, "$.output_dir", NULL, "must not be empty");
	for (size_t i = 0; i < request->addresses.len; i++) {
		if (mr_address_parse(cx->arena, request->addresses.items[i], &address, &why))
			mr_issues_add(issues, MR_ISSUE_RULE, "$.addresses", NULL, "%s", why.msg);
		else if (has_twice(&request->addresses, i))
			mr_issues_add(issues, MR_ISSUE_RULE, "$.addresses", NULL,
				"must not contain duplicate addresses: %s",
				request->addresses.items[i]);
	}
	if (issues->len == 0 && request->all_accounts == (request->addresses.len > 0))
		mr_issues_add(issues, MR_ISSUE_RULE, "$", NULL,
			"exactly one of all_accounts and addresses must be given");
	return issues->len > 0 ? mr_err_issues(&cx->err, issues, "mailbox export payload") : MR_OK;
}

static bool is_selected(void *arg, const struct mr_mailbox_registration *row)
{
	const struct mr_mailbox_export_request *request = arg;

	return request->all_accounts || mr_texts_has(&request->addresses, row->address);
}

static enum mr_code say_exists(const struct mr_mailbox_export_job *job)
{
	return mr_err_set(&job->cx->err, MR_EEXISTS, "export output directory already exists: %s",
		job->output);
}

/* An export inside the root's own directories would be taken for mail. */
static enum mr_code check_place(const struct mr_mailbox_export_job *job)
{
	const char *below = mr_mailbox_inside(job->root->path, job->parent_path);

	for (size_t i = 0; below && mr_mailbox_directories[i]; i++) {
		size_t len = strcspn(mr_mailbox_directories[i], "/");

		if (strncmp(below, mr_mailbox_directories[i], len) == 0 &&
			(below[len] == '/' || below[len] == '\0'))
			return mr_err_set(&job->cx->err, MR_EINVAL,
				"export output directory must not lie in the mailbox root's %.*s: "
				"%s",
				(int)len, mr_mailbox_directories[i], job->output);
	}
	return MR_OK;
}

/* Find where the output goes: its directory is made when missing, and its links are resolved. */
static enum mr_code find_place(struct mr_mailbox_export_job *job)
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

static enum mr_code choose_rows(struct mr_mailbox_export_job *job,
	const struct mr_mailbox_registrations *all)
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

static enum mr_code check_rows(struct mr_mailbox_export_job *job)
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

/* Rows of a root that was moved or copied lead to files that are not its own. */
static enum mr_code check_home(struct mr_mailbox_export_job *job)
{
	struct mr_mailbox_root root = *job->root;
	enum mr_code rc = mr_mailbox_root_check_home(job->cx, &root, MR_MAILBOX_LEND_READ);

	return rc ? mr_err_wrap(&job->cx->err, "mailbox root needs repair before export") : MR_OK;
}

static enum mr_code under_locks(struct mr_mailbox_export_job *job)
{
	struct mr_mailbox_lock_all hold MR_CLEANUP(mr_mailbox_lock_all_release) =
		MR_MAILBOX_LOCK_ALL_INIT;
	struct mr_arena *arena = job->cx->arena;
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_mailbox_lock_all_take(job->cx, job->root, "export", is_selected,
		(void *)(uintptr_t)job->request, true, &hold);

	if (!rc)
		rc = check_home(job);
	if (!rc)
		rc = choose_rows(job, &hold.rows);
	if (!rc)
		rc = check_rows(job);
	if (!rc)
		rc = mr_mailbox_export_open_temporary(job);
	if (rc)
		return rc;
	mr_mailbox_manifest_release(&job->manifest);
	mr_mailbox_manifest_init(&job->manifest, job->dir);
	rc = mr_mailbox_export_create(job, MR_MAILBOX_EXPORT_SNAPSHOT, &fd);
	if (!rc)
		rc = mr_mailbox_snapshot(job->cx, hold.index,
			mr_arena_printf(arena, "%s/%s/%s", job->parent_path, job->temporary,
				MR_MAILBOX_EXPORT_SNAPSHOT));
	if (rc == MR_EFORMAT) {
		job->cx->err.code = rc = MR_ECONFLICT;
		return mr_err_wrap(&job->cx->err, "mailbox root needs repair before export");
	}
	for (size_t i = 0; !rc && i < job->rows.len; i++)
		rc = mr_mailbox_export_account(job, &job->rows.items[i]);
	mr_crash_point("export.locked.copied");
	return rc;
}

/* The end. */

static enum mr_fs_next find_link(void *arg, const struct mr_fs_entry *entry)
{
	bool *found = arg;

	*found = *found || entry->type == DT_LNK;
	return *found ? MR_FS_STOP : MR_FS_GO_ON;
}

static enum mr_code check_no_links(struct mr_mailbox_export_job *job)
{
	bool found = false;
	enum mr_code rc = mr_fs_walk(job->dir, ".", DEPTH_MAX, find_link, &found, &job->cx->err);

	if (!rc && found)
		return mr_err_set(&job->cx->err, MR_EINTERNAL,
			"mailbox export was to hold no links, but does");
	return rc;
}

/* -1 when the file is missing or says something else. */
static enum mr_code read_protocol_version(struct mr_mailbox_export_job *job, int64_t *out)
{
	struct mr_err before = job->cx->err;
	struct mr_bytes text;
	enum mr_code rc = mr_fs_read(job->cx->arena, job->root->dir, MR_MAILBOX_VERSION_FILE, 64,
		&text, &job->cx->err);

	*out = -1;
	if (rc == MR_ENOTFOUND || rc == MR_ELIMIT) {
		job->cx->err = before;
		return MR_OK;
	}
	if (!rc && !mr_str_to_int(mr_str_trim(job->cx->arena, (const char *)text.data), out))
		*out = -1;
	return rc;
}

static enum mr_code finish(struct mr_mailbox_export_job *job)
{
	struct mr_ctx *cx = job->cx;
	struct mr_mailbox_manifest_head head = {
		.source_root = job->root->path,
		.exported_at =
			mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS),
		.all_accounts = job->request->all_accounts,
		.addresses = &job->request->addresses,
		.preserve_symlinks = job->request->preserve_symlinks,
	};
	enum mr_code rc;

	if (unlinkat(job->dir, MR_MAILBOX_EXPORT_SNAPSHOT, 0) != 0)
		return mr_err_os(&cx->err, errno, "cannot remove %s from the export",
			MR_MAILBOX_EXPORT_SNAPSHOT);
	rc = read_protocol_version(job, &head.protocol_version);
	if (!rc)
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
	struct mr_mailbox_export_job job MR_CLEANUP(release) = { .cx = cx,
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
	if (rc)
		return rc;
	/* Before the locks: it may take long. */
	mr_mailbox_export_clear_left(&job);
	rc = under_locks(&job);
	if (rc)
		return rc;
	job.managed = openat(root->dir, MR_MAILBOX_MANAGED,
		O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = mr_mailbox_export_mail(&job);
	if (!rc)
		rc = finish(&job);
	if (rc)
		return rc;
	*out = (struct mr_mailbox_export_result){
		.output_dir = job.output,
		.manifest_path = mr_mailbox_export_final(&job, cx->arena, MANIFEST),
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
