/* mailbox/trash.c - moves files to be removed aside, and deletes them or puts them back. */
#include "mailbox/trash.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "text/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 24 };

enum mr_code mr_mailbox_trash_open(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *what, struct mr_mailbox_trash *out)
{
	struct mr_mailbox_trash trash = MR_MAILBOX_TRASH_INIT;
	enum mr_code rc;

	trash.root = root;
	trash.path = mr_arena_printf(cx->arena, "%s/%s-%s", MR_MAILBOX_TRASH, what,
		mr_token_hex(cx->arena, cx->rand, 16));
	rc = mr_fs_make_dirs(root->dir, trash.path, 0700, &cx->err);
	if (!rc)
		rc = mr_fs_open_dir(root->dir, trash.path, &trash.dir, &cx->err);
	if (rc)
		return rc;
	*out = trash;
	return MR_OK;
}

void mr_mailbox_trash_close(struct mr_mailbox_trash *trash)
{
	mr_fs_closep(&trash->parent);
	mr_fs_closep(&trash->dir);
}

static void append(struct mr_ctx *cx, struct mr_texts *texts, size_t *cap, const char *text)
{
	if (texts->len == *cap) {
		size_t more = *cap ? *cap * 2 : 16;
		const char **items = mr_arena_array(cx->arena, more, sizeof(*items));

		if (texts->len > 0)
			memcpy(items, texts->items, texts->len * sizeof(*items));
		texts->items = items;
		*cap = more;
	}
	texts->items[texts->len++] = text;
}

/* Open the directory that contains `path`. */
static enum mr_code enter(struct mr_ctx *cx, struct mr_mailbox_trash *trash, const char *path,
	size_t len)
{
	const char *parent = mr_arena_strndup(cx->arena, path, len);
	int fd = -1;
	enum mr_code rc = mr_fs_open_beneath(trash->root->dir, parent,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, &fd, &cx->err);

	if (rc)
		return rc;
	mr_fs_closep(&trash->parent);
	trash->parent = fd;
	/* The last of the list is the one that is open. */
	append(cx, &trash->parents, &trash->parent_cap, parent);
	return MR_OK;
}

static bool is_in(const struct mr_mailbox_trash *trash, const char *path, size_t len)
{
	const char *last =
		trash->parents.len > 0 ? trash->parents.items[trash->parents.len - 1] : NULL;

	return trash->parent >= 0 && last && strlen(last) == len && memcmp(last, path, len) == 0;
}

enum mr_code mr_mailbox_trash_put(struct mr_ctx *cx, struct mr_mailbox_trash *trash,
	const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char name[NAME_BYTES];
	enum mr_code rc;

	if (!slash)
		return mr_err_set(&cx->err, MR_EINTERNAL, "%s is not to be removed", path);
	rc = is_in(trash, path, len) ? MR_OK : enter(cx, trash, path, len);
	if (rc)
		return rc;
	snprintf(name, sizeof(name), "%zu", trash->paths.len);
	if (renameat(trash->parent, slash + 1, trash->dir, name) != 0)
		return mr_err_os(&cx->err, errno, "cannot move %s/%s into %s", trash->root->path,
			path, trash->path);
	append(cx, &trash->paths, &trash->cap, path);
	mr_crash_point("trash.put.moved");
	return MR_OK;
}

enum mr_code mr_mailbox_trash_sync(struct mr_ctx *cx, struct mr_mailbox_trash *trash)
{
	enum mr_code rc = mr_fs_sync_dir(trash->root->dir, trash->path, &cx->err);

	for (size_t i = 0; !rc && i < trash->parents.len; i++)
		rc = mr_fs_sync_dir(trash->root->dir, trash->parents.items[i], &cx->err);
	if (!rc)
		mr_crash_point("trash.sync.synced");
	return rc;
}

void mr_mailbox_trash_restore(struct mr_ctx *cx, struct mr_mailbox_trash *trash)
{
	struct mr_err err = cx->err;

	while (trash->paths.len > 0) {
		const char *path = trash->paths.items[trash->paths.len - 1];
		const char *slash = strrchr(path, '/');
		char name[NAME_BYTES];

		snprintf(name, sizeof(name), "%zu", trash->paths.len - 1);
		if (is_in(trash, path, (size_t)(slash - path)) ||
			enter(cx, trash, path, (size_t)(slash - path)) == MR_OK)
			(void)renameat(trash->dir, name, trash->parent, slash + 1);
		trash->paths.len--;
	}
	(void)!mr_mailbox_trash_sync(cx, trash);
	/* Only when it is empty: what could not be put back stays. */
	(void)unlinkat(trash->root->dir, trash->path, AT_REMOVEDIR);
	cx->err = err;
}

void mr_mailbox_trash_empty(struct mr_ctx *cx, struct mr_mailbox_trash *trash)
{
	struct mr_err err = cx->err;

	(void)!mr_fs_remove_all(trash->root->dir, trash->path, &cx->err);
	cx->err = err;
}

void mr_mailbox_trash_sweep(struct mr_ctx *cx, const struct mr_mailbox_root *root, const char *what)
{
	struct mr_err err = cx->err;
	struct mr_texts names;

	if (mr_fs_list(cx->arena, root->dir, MR_MAILBOX_TRASH, MR_MAILBOX_ENTRIES, &names,
		    &cx->err) == MR_OK) {
		for (size_t i = 0; i < names.len; i++) {
			size_t len = strlen(what);

			if (!mr_str_starts(names.items[i], what) || names.items[i][len] != '-')
				continue;
			(void)!mr_fs_remove_all(root->dir,
				mr_mailbox_layout_join(cx->arena, MR_MAILBOX_TRASH, names.items[i]),
				&cx->err);
		}
	}
	cx->err = err;
}
