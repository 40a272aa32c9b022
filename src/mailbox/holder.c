/* mailbox/holder.c - finds and marks the root that a private mailbox directory belongs to. */
#include "mailbox/holder.h"

#include "base/fs.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/registration_sql.h"
#include "mailbox/root_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

/* The root is named by the marker first, then by a link of each box. */
enum { HINTS = 8 };

struct hints {
	const char *roots[HINTS];
	size_t len;
};

static const char *link_text(struct mr_arena *arena, const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target));

	return len > 0 && (size_t)len < sizeof(target)
		? mr_arena_strndup(arena, target, (size_t)len)
		: NULL;
}

static void add_hint(struct hints *hints, const char *root)
{
	for (size_t i = 0; root && i < hints->len; i++) {
		if (mr_str_eq(hints->roots[i], root))
			return;
	}
	if (root && root[0] == '/' && hints->len < HINTS)
		hints->roots[hints->len++] = root;
}

/* The newest of the box: links of one root follow links of another when it took the directory. */
static void add_box(struct mr_arena *arena, const char *box, struct hints *hints)
{
	struct mr_texts names = { NULL, 0 };
	struct mr_err ignored;

	if (mr_fs_list(arena, AT_FDCWD, box, MR_MAILBOX_ENTRIES, &names, &ignored))
		return;
	for (size_t i = names.len; i > 0; i--) {
		const char *target =
			link_text(arena, mr_mailbox_layout_join(arena, box, names.items[i - 1]));
		const char *root = target ? mr_mailbox_layout_root_of_message(arena, target) : NULL;

		if (!root)
			continue;
		add_hint(hints, root);
		return;
	}
}

/* Does an entry of mailboxes/ lead to the directory? From these a lost index is made anew. */
static enum mr_code has_entry(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path, bool *out)
{
	const char *entries = mr_mailbox_layout_join(cx->arena, root->path, MR_MAILBOX_MAILBOXES);
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc =
		mr_fs_list(cx->arena, AT_FDCWD, entries, MR_MAILBOX_ENTRIES, &names, &cx->err);

	for (size_t i = 0; !rc && !*out && i < names.len; i++)
		*out = mr_mailbox_inside_same(mr_mailbox_layout_join(cx->arena, entries,
						      names.items[i]),
			path);
	return rc;
}

static enum mr_code has_row(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *path,
	bool *out)
{
	struct mr_db *index MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_mailbox_registrations rows = { NULL, 0 };
	enum mr_code rc = mr_mailbox_root_index(cx, root, true, &index);

	if (!rc)
		rc = mr_mailbox_registration_list(cx, index, NULL, &rows);
	for (size_t i = 0; !rc && !*out && i < rows.len; i++)
		*out = rows.items[i].kind == MR_MAILBOX_SYMLINK &&
			mr_mailbox_inside_same(rows.items[i].path, path);
	return rc;
}

/* Has the root at `other` a registration of the directory? */
static enum mr_code has_registered(struct mr_ctx *cx, const char *other, const char *path,
	bool *out)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	enum mr_code rc = mr_mailbox_root_find(cx, other, &root);

	if (rc)
		return rc;
	rc = mr_fs_exists(root.dir, MR_MAILBOX_INDEX_FILE) ? has_row(cx, &root, path, out)
							   : MR_EFORMAT;
	/* Repair would make the registrations anew. */
	return rc == MR_EFORMAT || rc == MR_EINTERNAL ? has_entry(cx, &root, path, out) : rc;
}

enum mr_code mr_mailbox_holder_find(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path, const char **out)
{
	struct mr_err before = cx->err;
	struct hints hints = { .len = 0 };

	*out = NULL;
	add_hint(&hints,
		link_text(cx->arena, mr_mailbox_layout_join(cx->arena, path, MR_MAILBOX_HOLDER)));
	for (const char *const *box = mr_mailbox_boxes; *box; box++)
		add_box(cx->arena, mr_mailbox_layout_join(cx->arena, path, *box), &hints);
	for (size_t i = 0; !*out && i < hints.len; i++) {
		bool found = false;
		enum mr_code rc;

		if (mr_mailbox_inside_same(hints.roots[i], root->path))
			continue;
		rc = has_registered(cx, hints.roots[i], path, &found);
		cx->err = before;
		/* When nothing is there any more, or nothing that is a root, it has no use for the
		 * directory. */
		if (found || (rc && rc != MR_ENOTFOUND && rc != MR_ECONFLICT))
			*out = hints.roots[i];
	}
	return MR_OK;
}

enum mr_code mr_mailbox_holder_mark(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *path)
{
	const char *mark = mr_mailbox_layout_join(cx->arena, path, MR_MAILBOX_HOLDER);
	const char *fresh = mr_arena_printf(cx->arena, "%s.new", mark);

	if (mr_str_eq(link_text(cx->arena, mark), root->path))
		return MR_OK;
	if ((unlink(fresh) != 0 && errno != ENOENT) || symlink(root->path, fresh) != 0 ||
		rename(fresh, mark) != 0)
		return mr_err_os(&cx->err, errno, "cannot write %s", mark);
	return MR_OK;
}

enum mr_code mr_mailbox_holder_lock(struct mr_ctx *cx, const char *path, int *out)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, path, &dir, &cx->err);

	if (rc)
		return rc;
	if (flock(dir, LOCK_EX | LOCK_NB) != 0)
		return mr_err_set(&cx->err, MR_EBUSY,
			"another process registers the private directory %s just now; try again",
			path);
	*out = mr_fs_take(&dir);
	return MR_OK;
}
