/* tests/support/files.c */
#include "files.h"

#include "base/fs.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOBODY = 65534, MOST_BYTES = 1 << 20, MOST_ENTRIES = 10000 };

void files_enter(void)
{
	umask(022);
	CHECK(chdir(test_dir()) == 0);
}

void files_put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

void files_hold(const char *path, const char *text)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes got;
	struct mr_err err;

	CHECK_OK(mr_fs_read(arena, AT_FDCWD, path, MOST_BYTES, &got, &err), err);
	test_check_str(__FILE__, __LINE__, path, (const char *)got.data, text);
}

size_t files_count(const char *path)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names;
	struct mr_err err;

	CHECK_OK(mr_fs_list(arena, AT_FDCWD, path, MOST_ENTRIES, &names, &err), err);
	return names.len;
}

size_t files_open(void)
{
	return files_count("/proc/self/fd");
}

bool files_fail_at(const char *setting)
{
	if (setting)
		setenv("MAILROOM_FAIL_AT", setting, 1);
	else
		unsetenv("MAILROOM_FAIL_AT");
	return TEST_CRASH_POINTS;
}

bool files_become_nobody(void)
{
	return geteuid() != 0 || seteuid(NOBODY) == 0;
}

void files_become_root(void)
{
	if (getuid() == 0)
		CHECK(seteuid(0) == 0);
}
