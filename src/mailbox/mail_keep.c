/* mailbox/mail_keep.c - keeps copies of attached files in a root. */
#include "mailbox/mail_keep.h"

#include "base/fs.h"
#include "mailbox/compose.h"
#include "mailbox/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 << 10 };

static enum mr_code write_all(struct mr_ctx *cx, int to, const uint8_t *bytes, size_t len,
	const char *path)
{
	while (len) {
		ssize_t put = write(to, bytes, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return mr_err_os(&cx->err, errno, "cannot write %s", path);
		bytes += put;
		len -= (size_t)put;
	}
	return MR_OK;
}

static enum mr_code copy(struct mr_ctx *cx, const char *from_path, int to, const char *path)
{
	int from MR_CLEANUP(mr_fs_closep) = -1;
	uint8_t *chunk = mr_arena_alloc(cx->arena, CHUNK);
	enum mr_code rc = mr_fs_open_real(from_path, O_RDONLY, &from, &cx->err);
	ssize_t got = 1;

	while (!rc && got != 0) {
		got = read(from, chunk, CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		rc = got < 0 ? mr_err_os(&cx->err, errno, "cannot read %s", from_path)
			     : write_all(cx, to, chunk, (size_t)got, path);
	}
	return rc ? rc : mr_fs_sync(to, path, &cx->err);
}

/* The copy is what is sent: it must be what was described. */
static enum mr_code describe(struct mr_ctx *cx, const char *path,
	struct mr_mailbox_attachment *file)
{
	struct mr_ctx ours = *cx;
	struct mr_mailbox_attachment kept;
	enum mr_code rc;

	ours.reach = NULL; /* it is the root's file now, not the caller's */
	rc = mr_mailbox_compose_file(&ours, path, NULL, &kept);
	if (rc) {
		cx->err = ours.err;
		return rc;
	}
	if (!mr_str_eq(kept.sha256, file->sha256))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s changed while it was being attached; try again", file->path);
	file->kind = MR_MAILBOX_MANAGED_COPY;
	file->path = kept.path;
	return MR_OK;
}

static const char *directory(struct mr_arena *arena, const struct mr_mailbox_attachment *file)
{
	return mr_arena_printf(arena, MR_MAILBOX_MANAGED "/%s", file->attachment_id);
}

void mr_mail_keep_drop(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const struct mr_mailbox_attachment *file)
{
	struct mr_err ignored;
	enum mr_code rc = mr_fs_remove_all(root->dir, directory(cx->arena, file), &ignored);

	(void)rc; /* a copy that nothing refers to takes room, and does no harm */
}

enum mr_code mr_mail_keep_copy(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_mailbox_attachment *file)
{
	const char *dir = directory(cx->arena, file);
	const char *path = mr_arena_printf(cx->arena, "%s/%s", dir, strrchr(file->path, '/') + 1);
	int to MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_make_dirs(root->dir, dir, 0700, &cx->err);

	if (rc)
		return rc;
	rc = mr_fs_open_beneath(root->dir, path, O_WRONLY | O_CREAT | O_EXCL, 0600, &to, &cx->err);
	if (!rc)
		rc = copy(cx, file->path, to, path);
	if (!rc)
		rc = mr_fs_sync_dir(root->dir, dir, &cx->err);
	if (!rc)
		rc = describe(cx, mr_mailbox_layout_join(cx->arena, root->path, path), file);
	if (rc)
		mr_mail_keep_drop(cx, root, file);
	return rc;
}
