/* mailbox/open_init.c - creates a mailbox root, or completes one (spec/mailbox.md 7.4). */
#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"
#include "mailbox/holder.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/registration_sql.h"
#include "mailbox/root_private.h"
#include "mailbox/rules.h"
#include "mailbox/state_sql.h"

#include <string.h>

/* Refuse a root with mail but without an index: a new, empty index would hide the mail. */
static enum mr_code refuse_lost_index(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	static const char *const folders[] = { MR_MAILBOX_MESSAGES, MR_MAILBOX_MAILBOXES };

	for (size_t i = 0; i < MR_LEN(folders); i++) {
		struct mr_texts names = { NULL, 0 };
		struct mr_err why;
		enum mr_code rc = mr_fs_list(cx->arena, root->dir, folders[i], MR_MAILBOX_ENTRIES,
			&names, &why);

		if (rc == MR_ENOTFOUND)
			continue;
		if (rc) {
			cx->err = why;
			return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
		}
		for (size_t k = 0; k < names.len; k++) {
			if (names.items[k][0] != '.')
				return mr_err_set(&cx->err, MR_EFORMAT,
					"%s/" MR_MAILBOX_INDEX_FILE
					" is missing, but %s/%s is there; run `mailroom mailbox "
					"repair`",
					root->path, folders[i], names.items[k]);
		}
	}
	return MR_OK;
}

/* May this directory be completed? Nothing is changed before that is known. */
static enum mr_code check(struct mr_ctx *cx, struct mr_mailbox_root *root)
{
	bool has_index = mr_fs_exists(root->dir, MR_MAILBOX_INDEX_FILE);
	const char *version = NULL;
	enum mr_code rc = mr_mailbox_root_check_layout(cx, root, has_index);

	if (!rc && has_index)
		rc = mr_mailbox_root_check_home(cx, root, MR_MAILBOX_LEND_READ);
	if (!rc)
		rc = mr_mailbox_root_version(cx, root, &version);
	if (!rc && version)
		rc = mr_mailbox_root_check_version(cx, root, MR_MAILBOX_ROOT_WRITE);
	if (!rc && !has_index)
		rc = refuse_lost_index(cx, root);
	return rc;
}

static enum mr_code make_directories(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	for (const char *const *path = mr_mailbox_directories; *path; path++) {
		enum mr_code rc = MR_OK;

		if (!mr_fs_exists(root->dir, *path))
			rc = mr_fs_make_dirs(root->dir, *path, 0700, &cx->err);
		if (rc)
			return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
		mr_crash_point("root_init.directory.made");
	}
	return MR_OK;
}

static enum mr_code write_version(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	const char *version = NULL;
	size_t removed;
	enum mr_code rc = mr_mailbox_root_version(cx, root, &version);

	if (rc || version)
		return rc;
	rc = mr_fs_sweep_temporaries(root->dir, ".", &removed, &cx->err);
	if (!rc)
		rc = mr_fs_write(root->dir, MR_MAILBOX_VERSION_FILE,
			mr_bytes_text(MR_MAILBOX_PROTOCOL_VERSION "\n"), MR_FS_REPLACE, 0600,
			&cx->err);
	return rc ? mr_err_wrap(&cx->err, "mailbox root %s", root->path) : MR_OK;
}

/* Registering writes to the index, so do it only when something is missing. */
enum mr_code mr_mailbox_root_make_operator(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_db *db)
{
	struct mr_mailbox_register_request request = {
		.mode = MR_MAILBOX_SAFE,
		.address = MR_MAILBOX_OPERATOR_ADDRESS,
		.owner = MR_MAILBOX_OPERATOR_PRINCIPAL,
		.kind = MR_MAILBOX_IN_ROOT,
		.display_name = MR_MAILBOX_OPERATOR_NAME,
		.role = MR_MAILBOX_OPERATOR_ROLE,
	};
	struct mr_mailbox_register_result result;
	const struct mr_mailbox_registration *row = NULL;
	enum mr_code rc = mr_mailbox_registration_active(cx, db, request.address, &row);

	if (rc)
		return rc;
	if (row && mr_str_eq(row->owner, request.owner) && row->kind == request.kind &&
		mr_str_eq(row->display_name, request.display_name) &&
		mr_str_eq(row->role, request.role))
		return mr_mailbox_register_check(cx, row);
	return mr_mailbox_register(cx, root, &request, &result);
}

/* Must its mailbox.sqlite still be made or filled? A missing directory, for example after the
 * root was moved, is left to repair. */
static enum mr_code lacks_local(struct mr_ctx *cx, struct mr_db *index,
	const struct mr_mailbox_registration *row, bool *out)
{
	struct mr_db *local MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mailbox_listing listing = { NULL, 0 };
	bool has_table = false;
	int64_t count = 0;
	enum mr_code rc;

	*out = false;
	if (!mr_fs_exists(AT_FDCWD, row->path))
		return MR_OK;
	if (!mr_fs_exists(AT_FDCWD,
		    mr_mailbox_layout_join(cx->arena, row->path, MR_MAILBOX_LOCAL_FILE))) {
		*out = true;
		return MR_OK;
	}
	rc = mr_mailbox_root_local(cx, row->path, true, &local);
	if (!rc)
		rc = mr_db_has_table(local, "message_state", &has_table, &cx->err);
	if (!rc && has_table)
		rc = mr_mailbox_state_count(cx, local, &count);
	if (!rc && has_table && count == 0)
		rc = mr_mailbox_index_list(cx, index, row->id, 1, &listing);
	if (!rc)
		*out = !has_table || listing.len > 0;
	return rc;
}

/* Another program registered it: say in the private directory whose it is. One that cannot be
 * written is no reason to fail. */
static void mark_private(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_registration *row)
{
	struct mr_err before = cx->err;

	if (row->kind == MR_MAILBOX_SYMLINK && mr_fs_exists(AT_FDCWD, row->path) &&
		!mr_fs_exists(AT_FDCWD,
			mr_mailbox_layout_join(cx->arena, row->path, MR_MAILBOX_HOLDER)) &&
		mr_mailbox_holder_mark(cx, root, row->path))
		cx->err = before;
}

static enum mr_code make_locals(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_db *db)
{
	struct mr_mailbox_registrations rows = { NULL, 0 };
	enum mr_code rc = mr_mailbox_registration_list(cx, db, NULL, &rows);

	for (size_t i = 0; !rc && i < rows.len; i++) {
		struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) =
			MR_MAILBOX_LOCKS_INIT;
		const char *address[] = { rows.items[i].address, NULL };
		struct mr_texts addresses = { address, 1 };
		const struct mr_mailbox_registration *row = NULL;
		bool lacks = false;

		if (rows.items[i].status != MR_MAILBOX_ACTIVE)
			continue;
		mark_private(cx, root, &rows.items[i]);
		rc = lacks_local(cx, db, &rows.items[i], &lacks);
		if (rc || !lacks)
			continue;
		rc = mr_mailbox_locks_take(cx, root, &addresses, &locks);
		/* The index may have been replaced while we waited for the lock. */
		if (!rc)
			rc = mr_mailbox_registration_active(cx, db, address[0], &row);
		if (!rc && row)
			rc = mr_mailbox_register_local(cx, db, row, false);
		mr_crash_point("root_init.local.made");
	}
	return rc;
}

/* Only one process initialises a root at a time. */
static enum mr_code take_turn(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_lock *out)
{
	struct mr_err why;
	enum mr_code rc = mr_lock_take(root->dir, MR_MAILBOX_INIT_GUARD, "mailroom mailbox init",
		MR_MAILBOX_LOCK_TIMEOUT_MS, cx->clock, out, &why);

	if (rc == MR_EBUSY)
		return mr_err_set(&cx->err, MR_EBUSY,
			"timed out acquiring lock: %s/" MR_MAILBOX_INIT_GUARD ": %s", root->path,
			why.msg);
	if (rc) {
		cx->err = why;
		return mr_err_wrap(&cx->err, "mailbox root %s", root->path);
	}
	return MR_OK;
}

/* The part that two processes must not do at once. */
static enum mr_code complete(struct mr_ctx *cx, const struct mr_mailbox_root *root)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = write_version(cx, root);

	if (!rc) {
		mr_crash_point("root_init.version.written");
		rc = mr_mailbox_rules_publish(cx, root);
	}
	if (!rc)
		rc = mr_mailbox_root_index(cx, root, false, &db);
	if (!rc) {
		mr_crash_point("root_init.index.made");
		rc = mr_mailbox_root_recover(cx, root);
	}
	if (!rc)
		rc = mr_mailbox_root_make_operator(cx, root, db);
	if (!rc)
		rc = make_locals(cx, root, db);
	return rc;
}

enum mr_code mr_mailbox_root_init(struct mr_ctx *cx, const char *path, struct mr_mailbox_root *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD, path, 0700, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "making a mailbox root");
	rc = mr_mailbox_root_find(cx, path, &root);
	if (!rc)
		rc = check(cx, &root);
	if (!rc)
		rc = make_directories(cx, &root);
	if (!rc)
		rc = take_turn(cx, &root, &lock);
	if (!rc)
		rc = complete(cx, &root);
	if (rc)
		return rc;
	*out = root;
	root.dir = -1;
	return MR_OK;
}
