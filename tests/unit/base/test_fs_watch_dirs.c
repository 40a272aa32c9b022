/* tests/unit/base/test_fs_watch_dirs.c - what happens in directories is told with its name. */
#include "base/fs_watch_dirs.h"

#include "files.h"
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All that was told: "id name what" a line. */
static char told[2048];

static void on_told(void *arg, int id, const char *name, unsigned what)
{
	(void)arg;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%d %s %u\n", id, name, what);
}

static const char *drain(struct mr_fs_watch_dirs *watch)
{
	struct pollfd fd = { .fd = mr_fs_watch_dirs_fd(watch), .events = POLLIN };

	CHECK(poll(&fd, 1, 5000) == 1);
	told[0] = '\0';
	mr_fs_watch_dirs_drain(watch, on_told, NULL);
	return told;
}

static void each_directory_has_its_id(void)
{
	struct mr_fs_watch_dirs *watch = NULL;
	struct mr_err err;
	int a = 0, b = 0, again = 0;

	files_enter();
	CHECK(mkdir("a", 0755) == 0 && mkdir("b", 0755) == 0);
	CHECK_OK(mr_fs_watch_dirs_open(&watch, &err), err);
	CHECK_OK(mr_fs_watch_dirs_add(watch, "a", true, &a, &err), err);
	CHECK_OK(mr_fs_watch_dirs_add(watch, "b", true, &b, &err), err);
	CHECK_OK(mr_fs_watch_dirs_add(watch, "a", true, &again, &err), err);
	CHECK(a > 0 && b > 0 && a != b && a == again);
	CHECK(mkdir("b/new", 0755) == 0);
	CHECK(strstr(drain(watch), " new 2\n") && strtol(told, NULL, 10) == b);
	CHECK(rename("b/new", "a/old") == 0);
	CHECK(strstr(drain(watch), " new 4\n") && strstr(told, " old 2\n"));
	CHECK(rmdir("a/old") == 0);
	CHECK(strstr(drain(watch), " old 4\n"));
	mr_fs_watch_dirs_remove(watch, b);
	CHECK(mkdir("b/unseen", 0755) == 0 && mkdir("a/seen", 0755) == 0);
	CHECK(strstr(drain(watch), " seen 2\n") && !strstr(told, "unseen"));
	CHECK(rmdir("a/seen") == 0 && rmdir("a") == 0);
	CHECK(strstr(drain(watch), "  32\n"));
	mr_fs_watch_dirs_close(&watch);
	CHECK(!watch);
}

static void a_missing_directory_is_said(void)
{
	struct mr_fs_watch_dirs *watch = NULL;
	struct mr_err err;
	int id = 0;

	files_enter();
	CHECK_OK(mr_fs_watch_dirs_open(&watch, &err), err);
	CHECK_ERR(mr_fs_watch_dirs_add(watch, "none", true, &id, &err), err, MR_ENOTFOUND,
		"cannot watch none: No such file or directory");
	mr_fs_watch_dirs_close(&watch);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(each_directory_has_its_id),
		TEST(a_missing_directory_is_said),
	};

	return test_main(tests, sizeof(tests) / sizeof(tests[0]));
}
