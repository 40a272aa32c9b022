/* base/fs_many.c - many files at once: durable by one call instead of one each. */
#include "base/crash.h"
#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static int asked_to_fail(const char *name)
{
	int number = mr_crash_fail(name);

	if (number)
		errno = number;
	return number ? -1 : 0;
}

/* Some file systems cannot sync a directory and say EINVAL. */
static int sync_one(int fd)
{
	int rc;

	do
		rc = asked_to_fail("fs.sync") ? -1 : fsync(fd);
	while (rc != 0 && errno == EINTR);
	return rc == 0 || errno == EINVAL ? 0 : -1;
}

enum mr_code mr_fs_sync_together(const int *fds, size_t count, struct mr_err *err)
{
	/* Begin to write all before the first is waited for. It is a hint: directories refuse it.
	 */
	for (size_t i = 0; i < count; i++)
		(void)sync_file_range(fds[i], 0, 0, SYNC_FILE_RANGE_WRITE);
	for (size_t i = 0; i < count; i++) {
		if (sync_one(fds[i]) != 0)
			return mr_err_os(err, errno, "cannot write to disk");
	}
	return MR_OK;
}

enum mr_code mr_fs_sync_all(int dir, struct mr_err *err)
{
	int rc;

	do
		rc = asked_to_fail("fs.sync") ? -1 : syncfs(dir);
	while (rc != 0 && errno == EINTR);
	return rc == 0 ? MR_OK : mr_err_os(err, errno, "cannot write to disk");
}

/* For file systems without RENAME_NOREPLACE. */
static int link_and_unlink(int dir, const char *from, const char *to)
{
	return linkat(dir, from, dir, to, 0) == 0 ? unlinkat(dir, from, 0) : -1;
}

enum mr_code mr_fs_place(int dir, const char *from, const char *to, enum mr_fs_write how,
	struct mr_err *err)
{
	int rc;

	if (asked_to_fail("fs.rename"))
		rc = -1;
	else if (how == MR_FS_REPLACE)
		rc = renameat(dir, from, dir, to);
	else
		rc = renameat2(dir, from, dir, to, RENAME_NOREPLACE);
	if (rc != 0 && how == MR_FS_NEW && (errno == EINVAL || errno == ENOSYS))
		rc = link_and_unlink(dir, from, to);
	if (rc == 0)
		return MR_OK;
	if (errno == EEXIST)
		return mr_err_set(err, MR_EEXISTS, "%s exists already", to);
	return mr_err_os(err, errno, "cannot put %s in place", to);
}
