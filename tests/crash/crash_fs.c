/*
 * tests/crash/crash_fs.c - does one of each with fs.h below the directory given, and can be run
 * again after a stop. "--sweep DIRECTORY" only removes what dead writers left.
 */
#include "base/fs.h"

#include <stdio.h>
#include <string.h>

static enum mr_code sweep(int dir, struct mr_err *err)
{
	static const char *const dirs[] = { ".", "made/a/b" };
	size_t removed;

	for (size_t i = 0; i < MR_LEN(dirs); i++) {
		enum mr_code rc = mr_fs_sweep_temporaries(dir, dirs[i], &removed, err);

		if (rc && rc != MR_ENOTFOUND)
			return rc;
	}
	return MR_OK;
}

/* A run before this one may have come further: what stands already was made by it. */
static enum mr_code once(enum mr_code rc, enum mr_code done)
{
	return rc == done ? MR_OK : rc;
}

static enum mr_code act(int dir, struct mr_err *err)
{
	enum mr_code rc = sweep(dir, err);

	if (!rc)
		rc = mr_fs_make_dirs(dir, "made/a/b", 0700, err);
	if (!rc)
		rc = mr_fs_write(dir, "old", mr_bytes_text("new text"), MR_FS_REPLACE, 0600, err);
	if (!rc)
		rc = once(mr_fs_write(dir, "made/a/b/new", mr_bytes_text("first text"), MR_FS_NEW,
				  0600, err),
			MR_EEXISTS);
	if (!rc)
		rc = once(mr_fs_rename(dir, "from", dir, "made/to", MR_FS_NEW, err), MR_ENOTFOUND);
	if (!rc)
		rc = mr_fs_remove_all(dir, "tree", err);
	return rc;
}

int main(int argc, char **argv)
{
	bool only_sweep = argc == 3 && strcmp(argv[1], "--sweep") == 0;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err err = { .msg = "usage: crash_fs [--sweep] DIRECTORY" };
	enum mr_code rc = MR_EINVAL;

	if (argc == 2 || only_sweep)
		rc = mr_fs_open_dir(AT_FDCWD, argv[argc - 1], &dir, &err);
	if (!rc)
		rc = only_sweep ? sweep(dir, &err) : act(dir, &err);
	if (rc)
		fprintf(stderr, "crash_fs: %s\n", err.msg);
	return rc ? 1 : 0;
}
