/* tests/unit/base/test_keeper.c */
#include "base/fs.h"
#include "base/keeper.h"
#include "files.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tells the test through a FIFO, which the test waits for. */
static void clean(int dir)
{
	int fd = openat(dir, "told", O_WRONLY);

	unlinkat(dir, "sign", 0);
	(void)!write(fd, "c", 1);
}

/* A process with a keeper, or with one that it has ended, dies. */
static void run(bool stops, int how)
{
	int dir MR_CLEANUP(mr_fs_closep) = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		struct mr_keeper keeper = { 0, -1 };

		mr_keeper_start(&keeper, dir, clean);
		mr_keeper_start(&keeper, dir, clean);
		if (stops)
			mr_keeper_stop(&keeper);
		raise(how);
		_exit(0);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
}

static void cleans_after_a_death(void)
{
	static const int ways[] = { SIGKILL, SIGTERM, SIGINT };

	files_enter();
	CHECK(mkfifo("told", 0600) == 0);
	for (size_t i = 0; i < MR_LEN(ways); i++) {
		int fd MR_CLEANUP(mr_fs_closep) = -1;
		char byte = 0;

		files_put("sign", "of life");
		run(false, ways[i]);
		fd = open("told", O_RDONLY);
		CHECK(read(fd, &byte, 1) == 1 && byte == 'c');
		/* Until this keeper has ended: the next turn must not meet its end of the FIFO. */
		CHECK(read(fd, &byte, 1) == 0);
		CHECK(access("sign", F_OK) != 0);
	}
}

/* The process waits for the end of its keeper, which then has not cleaned. */
static void cleans_nothing_when_it_is_ended(void)
{
	files_enter();
	files_put("sign", "of life");
	run(true, SIGKILL);
	CHECK(access("sign", F_OK) == 0);
}

static void ends_with_a_keeper_that_was_killed(void)
{
	struct mr_keeper keeper = { 0, -1 };

	files_enter();
	mr_keeper_stop(&keeper);
	mr_keeper_start(&keeper, AT_FDCWD, clean);
	if (keeper.pid > 0)
		CHECK(kill(keeper.pid, SIGKILL) == 0);
	mr_keeper_stop(&keeper);
	CHECK_INT(keeper.pid, 0);
}

/* One for each directory, however often it is asked for; all of them clean after a death. */
static void are_kept_together(void)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1, fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_keepers *keepers = mr_keepers_new();
	char byte = 0;
	pid_t child;
	int status;

	files_enter();
	CHECK(mkfifo("told", 0600) == 0);
	files_put("sign", "of life");
	dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mr_keepers_start(keepers, dir, clean));
	CHECK(mr_keepers_start(keepers, dir, clean));
	CHECK(!mr_keepers_start(keepers, -1, clean));
	mr_keepers_free(keepers);
	mr_keepers_free(NULL);
	CHECK(access("sign", F_OK) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		keepers = mr_keepers_new();
		for (int i = 0; i < 3; i++)
			(void)mr_keepers_start(keepers, dir, clean);
		raise(SIGKILL);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	fd = open("told", O_RDONLY);
	CHECK(read(fd, &byte, 1) == 1 && byte == 'c');
	CHECK(read(fd, &byte, 1) == 0);
	CHECK(access("sign", F_OK) != 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(cleans_after_a_death),
		TEST(cleans_nothing_when_it_is_ended),
		TEST(ends_with_a_keeper_that_was_killed),
		TEST(are_kept_together),
	};

	return test_main(tests, MR_LEN(tests));
}
