/* mailbox/export_copy.c - creates files and directories of an export. */
#include "mailbox/export_private.h"

#include "base/fs.h"
#include "mailbox/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { COPY_BYTES = 64 << 10 };

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
enum mr_code mr_mailbox_export_make_parents(struct mr_mailbox_export_job *job,
	struct mr_arena *scratch, const char *path)
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

enum mr_code mr_mailbox_export_create(struct mr_mailbox_export_job *job, const char *path, int *out)
{
	*out = openat(job->dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*out < 0)
		return mr_err_os(&job->cx->err, errno, "cannot create %s in the export", path);
	return MR_OK;
}

/* A new file of the archive from what `from` is open on. */
enum mr_code mr_mailbox_export_copy_in(struct mr_mailbox_export_job *job, struct mr_arena *scratch,
	int from, const char *path)
{
	int to MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err before = job->cx->err;
	enum mr_code rc = mr_mailbox_export_create(job, path, &to);

	/* The directory is nearly always there. */
	if (rc == MR_ENOTFOUND) {
		job->cx->err = before;
		rc = mr_mailbox_export_make_parents(job, scratch, path);
		if (!rc)
			rc = mr_mailbox_export_create(job, path, &to);
	}
	return rc ? rc : copy_bytes(job->cx, from, to, path);
}

/* "<output>/<path>" */
const char *mr_mailbox_export_final(const struct mr_mailbox_export_job *job,
	struct mr_arena *scratch, const char *path)
{
	return mr_mailbox_layout_join(scratch, job->output, path);
}

const char *mr_mailbox_export_account_path(struct mr_arena *arena,
	const struct mr_mailbox_registration *row)
{
	return mr_arena_printf(arena, "accounts/%s/%s", row->address, row->id);
}
