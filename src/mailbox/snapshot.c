/*
 * mailbox/snapshot.c - copies a database file under a read transaction.
 *
 * A root's databases have a rollback journal: whoever reads keeps writers from changing the file.
 * The engine's own copy (VACUUM INTO) wants a connection that may write, which a read-only root has
 * not.
 */
#include "mailbox/snapshot.h"

#include "base/fs.h"

#include <errno.h>
#include <unistd.h>

enum { COPY_BYTES = 64 << 10 };

static enum mr_code write_all(struct mr_ctx *cx, int to, const char *bytes, size_t len,
	const char *path)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = write(to, bytes + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot write %s", path);
		at += (size_t)n;
	}
	return MR_OK;
}

static enum mr_code copy_file(struct mr_ctx *cx, const char *from_path, const char *to_path)
{
	int from MR_CLEANUP(mr_fs_closep) = open(from_path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	int to MR_CLEANUP(mr_fs_closep) = -1;
	char bytes[COPY_BYTES];

	if (from < 0)
		return mr_err_os(&cx->err, errno, "cannot open %s", from_path);
	to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	if (to < 0)
		return mr_err_os(&cx->err, errno, "cannot create %s", to_path);
	for (;;) {
		ssize_t n = read(from, bytes, sizeof(bytes));
		enum mr_code rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return mr_err_os(&cx->err, errno, "cannot read %s", from_path);
		if (n == 0)
			return mr_fs_sync(to, to_path, &cx->err);
		rc = write_all(cx, to, bytes, (size_t)n, to_path);
		if (rc)
			return rc;
	}
}

enum mr_code mr_mailbox_snapshot(struct mr_ctx *cx, struct mr_db *db, const char *path)
{
	struct mr_texts wrong = { NULL, 0 };
	enum mr_code rc = mr_db_begin(db, MR_DB_DEFERRED, &cx->err);

	/* Its first read begins the transaction. */
	if (!rc)
		rc = mr_db_check(db, cx->arena, &wrong, &cx->err);
	if (!rc && wrong.len > 0)
		rc = mr_err_set(&cx->err, MR_EFORMAT,
			"database %s is damaged: %s; run `mailroom mailbox repair`", mr_db_path(db),
			wrong.items[0]);
	if (!rc)
		rc = copy_file(cx, mr_db_path(db), path);
	mr_db_rollback(db);
	return rc;
}
