/* mailbox/root.c - examines a mailbox root and opens its databases; open.c opens the root. */
#include "mailbox/root.h"

#include "base/fs.h"
#include "data/db.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/registration_sql.h"
#include "mailbox/root_private.h"
#include "mailbox/state_sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION_FILE_BYTES = 4096, LEAST_DB_BYTES = 512 };

static const char OLD_TABLE[] = "principals";
static const char REPAIR_HINT[] = "run `mailroom mailbox repair`";

void mr_mailbox_root_close(struct mr_mailbox_root *root)
{
	if (root->dir >= 0 && root->keeper)
		mr_keeper_stop(root->keeper);
	mr_fs_closep(&root->dir);
}

static enum mr_code say_stale(struct mr_ctx *cx, const char *path, const char *why)
{
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"unsupported stale mailbox root %s: %s; delete and re-bootstrap it with `mailroom "
		"mailbox init`",
		path, why);
}

enum mr_code mr_mailbox_root_find(struct mr_ctx *cx, const char *path, struct mr_mailbox_root *out)
{
	char *real = realpath(path, NULL);
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	enum mr_code rc;

	mr_ctx_reads(cx,
		mr_mailbox_layout_join(cx->arena, real ? real : path, MR_MAILBOX_INDEX_FILE), true);
	if (!real && (errno == ENOENT || errno == ENOTDIR))
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no mailbox root at %s; run `mailroom mailbox init`", path);
	if (!real)
		return mr_err_os(&cx->err, errno, "cannot find mailbox root %s", path);
	root.path = mr_arena_strdup(cx->arena, real);
	root.keeper = mr_arena_alloc(cx->arena, sizeof(*root.keeper));
	free(real);
	rc = mr_fs_open_dir(AT_FDCWD, root.path, &root.dir, &cx->err);
	if (rc)
		return rc;
	*out = root;
	root.dir = -1;
	return MR_OK;
}

enum mr_code mr_mailbox_root_version(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char **out)
{
	struct mr_bytes bytes;
	struct mr_err why;
	enum mr_code rc = mr_fs_read(cx->arena, root->dir, MR_MAILBOX_VERSION_FILE,
		VERSION_FILE_BYTES, &bytes, &why);
	const char *text;

	if (rc == MR_ENOTFOUND) {
		*out = NULL;
		return MR_OK;
	}
	if (rc) {
		cx->err = why;
		return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
	}
	text = mr_str_trim(cx->arena, (const char *)bytes.data);
	*out = text[0] == '\0' ? NULL : text;
	return MR_OK;
}

static enum mr_code say_unreadable(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *why)
{
	return mr_err_set(&cx->err, MR_EFORMAT, "%s/" MR_MAILBOX_INDEX_FILE " %s; %s", root->path,
		why, REPAIR_HINT);
}

/* Not opened: to close it would let go of the locks that connections of other threads have on it.
 * Whether a file of a database's size is one is found out by the first connection. */
enum mr_code mr_mailbox_root_check_index(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	struct stat st;

	if (fstatat(root->dir, MR_MAILBOX_INDEX_FILE, &st, 0) == 0 &&
		faccessat(root->dir, MR_MAILBOX_INDEX_FILE, R_OK, AT_EACCESS) == 0)
		return st.st_size == 0 || st.st_size >= LEAST_DB_BYTES
			? MR_OK
			: say_unreadable(cx, root, "is not a database");
	if (errno == ENOENT)
		return say_unreadable(cx, root, "is missing");
	return mr_err_os(&cx->err, errno, "cannot open %s/" MR_MAILBOX_INDEX_FILE, root->path);
}

enum mr_code mr_mailbox_root_check_layout(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	bool with_index)
{
	if (mr_fs_exists(root->dir, MR_MAILBOX_OLD_LOCKS))
		return say_stale(cx, root->path,
			MR_MAILBOX_OLD_LOCKS " is there, of the layout by principals");
	return with_index ? mr_mailbox_root_check_index(cx, root) : MR_OK;
}

enum mr_code mr_mailbox_root_check_version(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_root_for purpose)
{
	const char *version = NULL;
	enum mr_code rc = mr_mailbox_root_version(cx, root, &version);

	if (rc)
		return rc;
	if (!version) {
		/* Repair works from the messages without the version file; init writes it later. */
		if (purpose == MR_MAILBOX_ROOT_REPAIR &&
			mr_fs_exists(root->dir, MR_MAILBOX_MESSAGES))
			return MR_OK;
		if (mr_fs_exists(root->dir, MR_MAILBOX_INDEX_FILE) ||
			mr_fs_exists(root->dir, MR_MAILBOX_MAILBOXES))
			return mr_err_set(&cx->err, MR_ECONFLICT,
				"mailbox root %s has no " MR_MAILBOX_VERSION_FILE
				"; run `mailroom mailbox init`",
				root->path);
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no mailbox root at %s: the directory has no " MR_MAILBOX_VERSION_FILE
			"; run `mailroom mailbox init`",
			root->path);
	}
	if (mr_str_eq(version, MR_MAILBOX_PROTOCOL_VERSION) ||
		(mr_str_eq(version, "1") && purpose == MR_MAILBOX_ROOT_READ))
		return MR_OK;
	if (mr_str_eq(version, "1"))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"mailbox root %s is of protocol 1: it can be read, but not changed; make a "
			"new root with `mailroom mailbox init`",
			root->path);
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"unsupported mailbox root %s: " MR_MAILBOX_VERSION_FILE
		" says \"%.40s\", supported is " MR_MAILBOX_PROTOCOL_VERSION,
		root->path, version);
}

static enum mr_code open_db(struct mr_ctx *cx, const char *path, enum mr_mailbox_lend how,
	enum mr_db_journal journal, struct mr_db **out)
{
	bool read_only = how == MR_MAILBOX_LEND_READ;
	struct mr_db_options options = {
		.path = path,
		.read_only = read_only,
		.create = how == MR_MAILBOX_LEND_WRITE,
		.journal = journal,
		.sync = MR_DB_SYNC_FULL,
		.repair_hint = REPAIR_HINT,
	};
	struct mr_db *writer = NULL;
	struct mr_err ignored;
	enum mr_code rc;

	mr_ctx_reads(cx, path, true);
	rc = mr_db_open(&options, out, &cx->err);
	if (rc != MR_EPERM || !read_only)
		return rc;
	/* A writer may have died during its commit: its journal must be rolled back first, which
	 * needs write access. */
	options.read_only = false;
	if (mr_db_open(&options, &writer, &ignored))
		return rc;
	mr_db_close(writer);
	options.read_only = true;
	return mr_db_open(&options, out, &cx->err);
}

enum mr_code mr_mailbox_root_look(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_lend how, enum mr_db_journal journal, struct mr_db **out)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	bool is_old = false;
	enum mr_code rc =
		open_db(cx, mr_mailbox_layout_join(cx->arena, root->path, MR_MAILBOX_INDEX_FILE),
			how, journal, &db);

	if (!rc)
		rc = mr_db_has_table(db, OLD_TABLE, &is_old, &cx->err);
	if (!rc && is_old)
		rc = say_stale(cx, root->path, "its index has a table `principals`");
	if (rc)
		return rc;
	*out = db;
	db = NULL;
	return MR_OK;
}

enum mr_code mr_mailbox_root_index(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	bool read_only, struct mr_db **out)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_mailbox_root_look(cx, root,
		read_only ? MR_MAILBOX_LEND_READ : MR_MAILBOX_LEND_WRITE, MR_DB_JOURNAL_DELETE,
		&db);

	if (!rc && !read_only)
		rc = mr_mailbox_index_schema(cx, db);
	if (rc)
		return rc;
	*out = db;
	db = NULL;
	return MR_OK;
}

enum mr_code mr_mailbox_root_local_in(struct mr_ctx *cx, const char *path, bool read_only,
	enum mr_db_journal journal, struct mr_db **out)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc =
		open_db(cx, mr_mailbox_layout_join(cx->arena, path, MR_MAILBOX_LOCAL_FILE),
			read_only ? MR_MAILBOX_LEND_READ : MR_MAILBOX_LEND_WRITE, journal, &db);

	if (!rc && !read_only)
		rc = mr_mailbox_state_schema(cx, db);
	if (rc)
		return rc;
	*out = db;
	db = NULL;
	return MR_OK;
}

enum mr_code mr_mailbox_root_local(struct mr_ctx *cx, const char *path, bool read_only,
	struct mr_db **out)
{
	return mr_mailbox_root_local_in(cx, path, read_only, MR_DB_JOURNAL_DELETE, out);
}

/* Is `path` another name of this directory? */
static bool is_same_directory(int dir, const char *path)
{
	struct stat here, there;

	return fstat(dir, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
		here.st_ino == there.st_ino;
}

/* Where the root of a row is that is not below `path`; NULL when all rows are. */
static enum mr_code find_elsewhere(struct mr_ctx *cx, struct mr_db *index, const char *path,
	const char **out)
{
	const char *entry = NULL;
	enum mr_code rc = mr_mailbox_registration_elsewhere(cx, index,
		mr_mailbox_layout_join(cx->arena, path, MR_MAILBOX_MAILBOXES "/"), &entry);

	if (rc)
		return rc;
	*out = entry ? mr_mailbox_layout_root_of_entry(cx->arena, entry) : NULL;
	if (entry && !*out)
		*out = entry;
	return MR_OK;
}

static enum mr_code find_home(struct mr_ctx *cx, struct mr_mailbox_root *root,
	enum mr_mailbox_lend how, struct mr_mailbox_home *out)
{
	struct mr_mailbox_lent index MR_CLEANUP(mr_mailbox_lent_return) = MR_MAILBOX_LENT_INIT;
	const char *elsewhere = NULL;
	bool has_rows = false;
	enum mr_code rc = mr_mailbox_lend_index(cx, root, how, &index);

	/* In one transaction: each query by itself would lock the file anew. */
	if (!rc)
		rc = mr_db_begin(index.db, MR_DB_DEFERRED, &cx->err);
	if (!rc)
		rc = mr_db_has_table(index.db, "mailbox_registrations", &has_rows, &cx->err);
	if (!rc && has_rows)
		rc = find_elsewhere(cx, index.db, root->path, &elsewhere);
	if (!rc && elsewhere && is_same_directory(root->dir, elsewhere)) {
		root->path = elsewhere;
		rc = find_elsewhere(cx, index.db, root->path, &elsewhere);
	}
	if (rc)
		return rc;
	*out = (struct mr_mailbox_home){ NULL, false };
	if (elsewhere && !is_same_directory(root->dir, elsewhere)) {
		out->recorded = elsewhere;
		out->is_copy = mr_fs_exists(AT_FDCWD, elsewhere);
	}
	return MR_OK;
}

enum mr_code mr_mailbox_root_home(struct mr_ctx *cx, struct mr_mailbox_root *root,
	struct mr_mailbox_home *out)
{
	return find_home(cx, root, MR_MAILBOX_LEND_READ, out);
}

static enum mr_code say_not_home(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_home *home)
{
	return mr_err_set(&cx->err, MR_ECONFLICT,
		"mailbox root %s was %s %s, and its index and links still lead there; run "
		"`mailroom mailbox adopt` to see what makes it a root of its own, or `mailroom "
		"mailbox repair`",
		root->path, home->is_copy ? "copied from" : "moved here from", home->recorded);
}

enum mr_code mr_mailbox_root_check_home(struct mr_ctx *cx, struct mr_mailbox_root *root,
	enum mr_mailbox_lend how)
{
	struct mr_mailbox_home home;
	enum mr_code rc = find_home(cx, root, how, &home);

	if (rc)
		return rc;
	return home.recorded ? say_not_home(cx, root, &home) : MR_OK;
}

static bool is_bootstrapped(const struct mr_mailbox_root *root)
{
	return mr_fs_exists(root->dir, MR_MAILBOX_VERSION_FILE) &&
		mr_fs_exists(root->dir, MR_MAILBOX_INDEX_FILE) &&
		mr_fs_exists(root->dir, MR_MAILBOX_README) &&
		mr_fs_exists(root->dir, MR_MAILBOX_PROTOCOL);
}

static enum mr_code count_registrations(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_status *out)
{
	struct mr_mailbox_registrations rows = { NULL, 0 };
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_mailbox_root_index(cx, root, true, &db);

	if (!rc)
		rc = mr_mailbox_registration_list(cx, db, NULL, &rows);
	if (rc)
		return rc;
	for (size_t i = 0; i < rows.len; i++) {
		out->active += rows.items[i].status == MR_MAILBOX_ACTIVE;
		out->inactive += rows.items[i].status == MR_MAILBOX_INACTIVE;
		out->stashed += rows.items[i].status == MR_MAILBOX_STASHED;
	}
	return MR_OK;
}

/* The first thing that is wrong with what is there; a directory without anything of a root in it is
 * no root yet, which is nothing wrong. */
static enum mr_code examine(struct mr_ctx *cx, struct mr_mailbox_root *root,
	struct mr_mailbox_status *status)
{
	enum mr_code rc = mr_mailbox_root_version(cx, root, &status->protocol_version);

	status->bootstrapped = is_bootstrapped(root);
	if (!rc)
		rc = mr_mailbox_root_check_layout(cx, root, false);
	if (!rc)
		rc = mr_mailbox_root_check_version(cx, root, MR_MAILBOX_ROOT_READ);
	if (rc == MR_ENOTFOUND)
		return MR_OK;
	if (!rc)
		rc = mr_mailbox_root_check_index(cx, root);
	if (rc)
		return rc;
	rc = count_registrations(cx, root, status);
	status->structural_state_readable = rc == MR_OK;
	return rc;
}

enum mr_code mr_mailbox_root_status(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_status *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_status status = { .path = path };
	struct mr_err before = cx->err;
	enum mr_code rc = mr_mailbox_root_find(cx, path, &root);

	status.exists = rc == MR_OK;
	if (!rc) {
		status.path = root.path;
		rc = examine(cx, &root, &status);
	} else if (rc == MR_ENOTFOUND) {
		rc = MR_OK;
	}
	status.supported = rc == MR_OK;
	/* Readers may go on with a root that is not at home. */
	if (!rc && status.structural_state_readable)
		rc = mr_mailbox_root_check_home(cx, &root, MR_MAILBOX_LEND_READ);
	if (rc)
		status.error = mr_arena_strdup(cx->arena, cx->err.msg);
	cx->err = before;
	*out = status;
	return MR_OK;
}
