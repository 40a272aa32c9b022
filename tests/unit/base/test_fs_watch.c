/* tests/unit/base/test_fs_watch.c */
#include "base/fs_watch.h"

#include "files.h"
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

static bool waited(struct mr_fs_watch *watch, int timeout_ms)
{
	struct pollfd fd = { .fd = mr_fs_watch_fd(watch), .events = POLLIN };
	bool changed = poll(&fd, 1, timeout_ms) == 1;

	CHECK_INT(mr_fs_watch_drain(watch), changed);
	return changed;
}

static void what_happens_between_waits_is_noticed(void)
{
	struct mr_fs_watch *watch = NULL;
	struct mr_err err;

	files_enter();
	files_put("bell", "");
	CHECK_OK(mr_fs_watch_open("bell", &watch, &err), err);
	CHECK(!waited(watch, 0));
	CHECK(utimensat(AT_FDCWD, "bell", NULL, 0) == 0);
	CHECK(utimensat(AT_FDCWD, "bell", NULL, 0) == 0);
	CHECK(waited(watch, 10000));
	CHECK(!waited(watch, 0)); /* both times at once */
	files_put("other", "");
	CHECK(!waited(watch, 1));
	mr_fs_watch_close(&watch);
	CHECK(watch == NULL);
	mr_fs_watch_close(&watch);
}

static void *touch(void *arg)
{
	(void)arg;
	CHECK(utimensat(AT_FDCWD, "bell", NULL, 0) == 0);
	return NULL;
}

static void another_thread_wakes_us(void)
{
	struct mr_fs_watch *watch = NULL;
	struct mr_err err;
	pthread_t thread;

	files_enter();
	files_put("bell", "");
	CHECK_OK(mr_fs_watch_open("bell", &watch, &err), err);
	CHECK(pthread_create(&thread, NULL, touch, NULL) == 0);
	CHECK(waited(watch, -1));
	pthread_join(thread, NULL);
	mr_fs_watch_close(&watch);
}

static void a_missing_file_is_named(void)
{
	struct mr_fs_watch *watch = NULL;
	struct mr_err err;

	files_enter();
	CHECK_INT(mr_fs_watch_open("none", &watch, &err), MR_ENOTFOUND);
	CHECK(strstr(err.msg, "cannot watch none"));
	CHECK(watch == NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_happens_between_waits_is_noticed),
		TEST(another_thread_wakes_us),
		TEST(a_missing_file_is_named),
	};

	return test_main(tests, MR_LEN(tests));
}
