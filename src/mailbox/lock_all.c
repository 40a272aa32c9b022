/* mailbox/lock_all.c - the index and the locks of many registrations. */
#include "mailbox/lock_all.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"

#include <errno.h>

enum { ATTEMPTS = 5 };

void mr_mailbox_lock_all_release(struct mr_mailbox_lock_all *hold)
{
	/* Close the index first: once the lock is released, repair may replace it. */
	mr_db_close(hold->index);
	hold->index = NULL;
	mr_mailbox_locks_release(&hold->locks);
	hold->locks = MR_MAILBOX_LOCKS_INIT;
}

static enum mr_code open_index(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *before, bool read_only, struct mr_db **out)
{
	enum mr_code rc;

	if (!mr_fs_exists(root->dir, MR_MAILBOX_INDEX_FILE))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"mailbox root needs repair before %s: %s is missing; run `mailroom mailbox "
			"repair`",
			before,
			mr_mailbox_layout_join(cx->arena, root->path, MR_MAILBOX_INDEX_FILE));
	rc = mr_mailbox_root_index(cx, root, read_only, out);
	if (rc == MR_EFORMAT)
		return mr_err_wrap(&cx->err, "mailbox root needs repair before %s", before);
	return rc;
}

static enum mr_code read_rows(struct mr_ctx *cx, struct mr_db *index, const char *before,
	struct mr_mailbox_registrations *out)
{
	enum mr_code rc = mr_mailbox_registration_list(cx, index, NULL, out);

	/* A table that is missing, or has other columns, needs repair as well. */
	if (rc == MR_EFORMAT || rc == MR_EINTERNAL)
		return mr_err_wrap(&cx->err, "mailbox root needs repair before %s", before);
	return rc;
}

static struct mr_texts addresses_of(struct mr_ctx *cx, const struct mr_mailbox_registrations *rows,
	mr_mailbox_lock_all_wants *wants, void *arg)
{
	struct mr_texts found = { mr_arena_array(cx->arena, rows->len + 1, sizeof(char *)), 0 };

	/* Rows are sorted by address. */
	for (size_t i = 0; i < rows->len; i++) {
		const char *address = rows->items[i].address;

		if (wants && !wants(arg, &rows->items[i]))
			continue;
		if (found.len == 0 || !mr_str_eq(found.items[found.len - 1], address))
			found.items[found.len++] = address;
	}
	return found;
}

static bool is_covered(const struct mr_texts *wanted, const struct mr_texts *locked)
{
	size_t j = 0;

	for (size_t i = 0; i < wanted->len; i++) {
		while (j < locked->len && !mr_str_eq(locked->items[j], wanted->items[i]))
			j++;
		if (j == locked->len)
			return false;
	}
	return true;
}

/* The addresses to lock, read without a lock. */
static enum mr_code first_look(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *before, mr_mailbox_lock_all_wants *wants, void *arg, struct mr_texts *out)
{
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mailbox_registrations rows;
	enum mr_code rc = open_index(cx, root, before, true, &index);

	if (!rc)
		rc = read_rows(cx, index, before, &rows);
	if (!rc)
		*out = addresses_of(cx, &rows, wants, arg);
	return rc;
}

/* A reader whose root cannot be written goes without locks: it opens the databases for reading, and
 * these show it one moment each. */
static enum mr_code take_locks(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_texts *addresses, bool read_only, struct mr_mailbox_locks *out)
{
	struct mr_err before = cx->err;
	enum mr_code rc = MR_OK;

	if (read_only) /* another program's root may lack it */
		rc = mr_fs_make_dirs(root->dir, MR_MAILBOX_GUARDS, 0700, &cx->err);
	if (!rc)
		rc = mr_mailbox_locks_take(cx, root, addresses, out);
	if (!rc || !read_only ||
		(cx->err.os_errno != EROFS && cx->err.os_errno != EACCES &&
			cx->err.os_errno != EPERM))
		return rc;
	cx->err = before;
	return MR_OK;
}

enum mr_code mr_mailbox_lock_all_take(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *before, mr_mailbox_lock_all_wants *wants, void *arg, bool read_only,
	struct mr_mailbox_lock_all *out)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		struct mr_mailbox_lock_all hold MR_CLEANUP(mr_mailbox_lock_all_release) =
			MR_MAILBOX_LOCK_ALL_INIT;
		struct mr_texts locked, wanted;
		enum mr_code rc = first_look(cx, root, before, wants, arg, &locked);

		if (!rc)
			rc = take_locks(cx, root, &locked, read_only, &hold.locks);
		if (!rc)
			rc = open_index(cx, root, before, read_only, &hold.index);
		if (!rc)
			rc = read_rows(cx, hold.index, before, &hold.rows);
		if (rc)
			return rc;
		mr_crash_point("hold.take.locked");
		wanted = addresses_of(cx, &hold.rows, wants, arg);
		if (is_covered(&wanted, &locked)) {
			*out = hold;
			hold = MR_MAILBOX_LOCK_ALL_INIT;
			return MR_OK;
		}
	}
	return mr_err_set(&cx->err, MR_EBUSY,
		"mailboxes keep being registered in %s; try again when it is quieter", root->path);
}
