/* tests/unit/mailbox/test_mailbox_locks.c */
#include "base/fs.h"
#include "files.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEAD_PID_LIMIT = 1 << 22 };

static const char LOCK_A[] = "root/locks/addresses/a@x.lock";
static const char LOCK_B[] = "root/locks/addresses/b@x.lock";
static const char LOCK_INDEX[] = "root/locks/index.lock";

/* A root as far as locks need one. */
struct place {
	struct mr_ctx cx;
	struct mr_mailbox_root root;
};

static void place_close(struct place *place)
{
	mr_fs_closep(&place->root.dir);
	mr_arena_free(place->cx.arena);
}

static struct place enter(void)
{
	struct place place = {
		.cx = { .arena = mr_arena_new(),
			.clock = mr_clock_system(),
			.rand = mr_rand_system() },
		.root = { .path = "/r", .dir = -1 },
	};

	files_enter();
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/locks/addresses", 0700, &place.cx.err),
		place.cx.err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "root/" MR_MAILBOX_GUARDS, 0700, &place.cx.err),
		place.cx.err);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "root", &place.root.dir, &place.cx.err), place.cx.err);
	return place;
}

static enum mr_code take(struct place *place, const char *first, const char *second,
	struct mr_mailbox_locks *out)
{
	const char *items[] = { first, second, NULL };
	struct mr_texts addresses = { items, second ? 2 : 1 };

	return mr_mailbox_locks_take(&place->cx, &place->root, &addresses, out);
}

static bool has(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

/* The pid of a process that has ended and been waited for. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0 && pid < DEAD_PID_LIMIT);
	if (pid == 0)
		_exit(0);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void makes_the_files_others_expect(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	struct mr_clock_fixed fixed;
	const char *text;
	struct stat st;

	mr_clock_fixed_init(&fixed, 1773202500123456);
	place.cx.clock = &fixed.clock;
	CHECK_OK(take(&place, "b@x", "a@x", &locks), place.cx.err);
	text = mr_arena_printf(place.cx.arena,
		"pid=%ld acquired_at_utc=2026-03-11T04:15:00.123456+00:00 by=mailroom\n",
		(long)getpid());
	files_hold(LOCK_A, text);
	files_hold(LOCK_B, text);
	files_hold(LOCK_INDEX, text);
	CHECK(stat(LOCK_A, &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);

	mr_mailbox_locks_release(&locks);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(!has(LOCK_INDEX));
	CHECK_INT(locks.len, 0);
	mr_mailbox_locks_release(&locks);
}

static void takes_each_address_once(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	size_t open_before = files_open();

	CHECK_OK(take(&place, "a@x", "a@x", &locks), place.cx.err);
	CHECK_INT(files_count("root/locks/addresses"), 1);
	mr_mailbox_locks_release(&locks);
	CHECK_INT(files_open(), open_before);

	CHECK_OK(mr_mailbox_locks_take(&place.cx, &place.root, NULL, &locks), place.cx.err);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(has(LOCK_INDEX));
	mr_mailbox_locks_release(&locks);
	CHECK(!has(LOCK_INDEX));
}

/* As many as a message may have recipients; descriptors do not grow with them. */
static void takes_a_thousand(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	const char *items[1001];
	struct mr_texts addresses = { items, 1000 };
	size_t open_before = files_open();

	for (int i = 0; i < 1000; i++)
		items[i] = mr_arena_printf(place.cx.arena, "agent-%d@x", (i * 7919) % 1000);
	items[1000] = NULL;
	CHECK_OK(mr_mailbox_locks_take(&place.cx, &place.root, &addresses, &locks), place.cx.err);
	CHECK_INT(files_count("root/locks/addresses"), 1000);
	CHECK_INT(files_open(), open_before + 1);
	mr_mailbox_locks_release(&locks);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK_INT(files_open(), open_before);
}

/* A child that takes the locks of one address, says so, and then does as `then` says. */
static pid_t start_holder(struct place *place, const char *address, void (*then)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;

		if (take(place, address, NULL, &locks))
			_exit(1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		then();
		mr_mailbox_locks_release(&locks);
		_exit(0);
	}
	close(ready[1]);
	CHECK_INT(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static void work_a_little(void)
{
	struct timespec some = { .tv_nsec = 30 * 1000000L };

	nanosleep(&some, NULL);
	files_put("done", "");
}

static void waits_for_a_living_process(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	pid_t child = start_holder(&place, "a@x", work_a_little);
	int status;

	CHECK_OK(take(&place, "a@x", NULL, &locks), place.cx.err);
	/* It let go before we got it. */
	CHECK(has("done"));
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
	CHECK(has(LOCK_A));
	mr_mailbox_locks_release(&locks);
}

static void the_dead_block_nobody(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	pid_t child = start_holder(&place, "a@x", wait_for_ever);

	CHECK(kill(child, SIGKILL) == 0);
	CHECK_INT(waitpid(child, NULL, 0), child);
	CHECK(has(LOCK_A));
	CHECK(has(LOCK_INDEX));
	CHECK_OK(take(&place, "b@x", "a@x", &locks), place.cx.err);
	mr_mailbox_locks_release(&locks);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(!has(LOCK_INDEX));
	/* Nor does anything of theirs stay. */
	CHECK(!mr_fs_exists(place.root.dir, MR_MAILBOX_STALE_LOCK));
}

static void takes_over_what_nobody_can_hold(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	const char *contents[] = {
		/* A dead process of another program. */
		mr_arena_printf(place.cx.arena,
			"pid=%ld acquired_at_utc=2026-03-11T04:15:00.123456+00:00\n",
			(long)dead_pid()),
		mr_arena_printf(place.cx.arena, "pid=%ld", (long)dead_pid()),
		/* Our own number, of a life before. */
		mr_arena_printf(place.cx.arena, "pid=%ld acquired_at_utc=x\n", (long)getpid()),
		/* Ours, and its number is somebody else's by now: we hold its guard. */
		"pid=1 acquired_at_utc=2026-03-11T04:15:00.123456+00:00 by=mailroom\n",
		/* Made and never filled. */
		"",
	};

	for (size_t i = 0; i < MR_LEN(contents); i++) {
		struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;

		files_put(LOCK_A, contents[i]);
		files_put(LOCK_INDEX, contents[i]);
		CHECK_OK(take(&place, "a@x", NULL, &locks), place.cx.err);
		mr_mailbox_locks_release(&locks);
		CHECK(!has(LOCK_A));
		CHECK(!has(LOCK_INDEX));
	}
}

/* The machine was switched off; now the number belongs to another program. */
static void takes_over_what_is_older_than_the_machine_runs(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };

	files_put(LOCK_A, "pid=1 acquired_at_utc=2001-09-09T01:46:40.000000+00:00\n");
	CHECK(utimensat(AT_FDCWD, LOCK_A, old, 0) == 0);
	CHECK_OK(take(&place, "a@x", NULL, &locks), place.cx.err);
	mr_mailbox_locks_release(&locks);
	CHECK(!has(LOCK_A));
}

/* More empty lock files than could be waited for, a second each, before the time is up. */
enum { EMPTY_FILES = 2 * MR_MAILBOX_LOCK_TIMEOUT_MS / 1000 };

static void take_over_empty_files_of(time_t when)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	const char *items[EMPTY_FILES + 1] = { NULL };
	struct mr_texts addresses = { items, EMPTY_FILES };

	for (int i = 0; i < EMPTY_FILES; i++) {
		const char *path;

		items[i] = mr_arena_printf(place.cx.arena, "agent-%d@x", i);
		path = mr_arena_printf(place.cx.arena, "root/locks/addresses/%s.lock", items[i]);
		files_put(path, "");
		CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
	}
	files_put(LOCK_INDEX, "");
	CHECK(utimensat(AT_FDCWD, LOCK_INDEX, times, 0) == 0);
	CHECK_OK(mr_mailbox_locks_take(&place.cx, &place.root, &addresses, &locks), place.cx.err);
	CHECK_INT(files_count("root/locks/addresses"), EMPTY_FILES);
	mr_mailbox_locks_release(&locks);
	CHECK_INT(files_count("root/locks/addresses"), 0);
	CHECK(!has(LOCK_INDEX));
}

/* A power loss leaves lock files whose content never came to the disk. */
static void waits_for_no_empty_file_from_before_the_boot(void)
{
	take_over_empty_files_of(1000000000);
}

/* Of this boot, and nobody has filled it for a minute: its process died. */
static void waits_for_no_empty_file_that_is_old(void)
{
	take_over_empty_files_of(time(NULL) - 60);
}

/* On this clock the time is almost up when one has looked at it once. */
struct hasty_clock {
	struct mr_clock clock;
	int64_t *now_us;
	int64_t step_ms;
};

static int64_t hurry(const struct mr_clock *clock)
{
	const struct hasty_clock *hasty = (const struct hasty_clock *)clock;

	return *hasty->now_us += hasty->step_ms * 1000;
}

/* A busy machine, on which each look takes a third of a second: two files that nobody fills are
 * still not waited for until the time is up. */
static void polls_that_take_long_count_as_long(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	int64_t now_us = 0;
	struct hasty_clock slow = { { hurry, hurry }, &now_us, 100 };

	place.cx.clock = &slow.clock;
	files_put(LOCK_A, "");
	files_put(LOCK_INDEX, "");
	CHECK_OK(take(&place, "a@x", NULL, &locks), place.cx.err);
	mr_mailbox_locks_release(&locks);
	CHECK(!has(LOCK_A) && !has(LOCK_INDEX));
}

static void gives_up_on_the_living(void)
{
	static const struct {
		const char *path;
		const char *content;
		const char *msg;
	} cases[] = {
		{ LOCK_A, "pid=1 acquired_at_utc=T\n",
			"timed out acquiring lock: /r/locks/addresses/a@x.lock: held by pid=1 "
			"acquired_at_utc=T" },
		{ LOCK_INDEX, "pid=1 acquired_at_utc=T\n",
			"timed out acquiring lock: /r/locks/index.lock: held by pid=1 "
			"acquired_at_utc=T" },
		{ LOCK_A, "\x1b[31mwho\n?",
			"timed out acquiring lock: /r/locks/addresses/a@x.lock: its owner cannot "
			"be "
			"told from \"?[31mwho\"; remove it if no program uses it" },
		{ LOCK_A, "pid=99999999999999999999 x",
			"timed out acquiring lock: /r/locks/addresses/a@x.lock: its owner cannot "
			"be "
			"told from \"pid=99999999999999999999 x\"; remove it if no program uses "
			"it" },
		{ LOCK_A, "pid=-1",
			"timed out acquiring lock: /r/locks/addresses/a@x.lock: its owner cannot "
			"be "
			"told from \"pid=-1\"; remove it if no program uses it" },
	};
	struct place place MR_CLEANUP(place_close) = enter();
	int64_t now_us = 0;
	struct hasty_clock hasty = { { hurry, hurry }, &now_us, MR_MAILBOX_LOCK_TIMEOUT_MS - 100 };
	size_t open_before = files_open();

	place.cx.clock = &hasty.clock;
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;

		files_put(cases[i].path, cases[i].content);
		CHECK_ERR(take(&place, "a@x", NULL, &locks), place.cx.err, MR_EBUSY, cases[i].msg);
		/* Theirs stays, and ours are gone. */
		files_hold(cases[i].path, cases[i].content);
		CHECK_INT(files_count("root/locks/addresses"), cases[i].path == LOCK_A);
		CHECK_INT(locks.len, 0);
		CHECK_INT(files_open(), open_before);
		CHECK(unlink(cases[i].path) == 0);
	}
}

static void gives_up_on_what_is_no_file(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	int64_t now_us = 0;
	struct hasty_clock hasty = { { hurry, hurry }, &now_us, MR_MAILBOX_LOCK_TIMEOUT_MS - 100 };

	place.cx.clock = &hasty.clock;
	CHECK(symlink("/dev/null", LOCK_A) == 0);
	CHECK_ERR(take(&place, "a@x", NULL, &locks), place.cx.err, MR_EBUSY,
		"timed out acquiring lock: /r/locks/addresses/a@x.lock: it is not a file that can "
		"be read; remove it");
	CHECK(mkdir("root/locks/addresses/b@x.lock", 0700) == 0);
	CHECK_INT(take(&place, "b@x", NULL, &locks), MR_EBUSY);
}

/* One of ours lives: the message is about the lock people know, not about our guard. */
static void names_the_living_holder(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	pid_t child = start_holder(&place, "a@x", wait_for_ever);
	int64_t now_us = 0;
	struct hasty_clock hasty = { { hurry, hurry }, &now_us, MR_MAILBOX_QUEUE_TIMEOUT_MS - 100 };

	place.cx.clock = &hasty.clock;
	CHECK_INT(take(&place, "a@x", NULL, &locks), MR_EBUSY);
	CHECK(mr_str_starts(place.cx.err.msg,
		mr_arena_printf(place.cx.arena,
			"timed out acquiring lock: /r/locks/index.lock: lock "
			"locks/guards/index.guard is held by pid=%ld what=mailroom since=",
			(long)child)));
	CHECK(kill(child, SIGKILL) == 0);
	CHECK_INT(waitpid(child, NULL, 0), child);
}

/* Somebody took our lock over, rightly or not: theirs is not for us to remove. */
static void leaves_the_locks_of_others(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;

	CHECK_OK(take(&place, "a@x", "b@x", &locks), place.cx.err);
	CHECK(unlink(LOCK_A) == 0);
	files_put(LOCK_A, "pid=1 theirs\n");
	files_put(LOCK_B, "pid=1 the same file, other words\n");
	CHECK(unlink(LOCK_INDEX) == 0);
	mr_mailbox_locks_release(&locks);
	files_hold(LOCK_A, "pid=1 theirs\n");
	files_hold(LOCK_B, "pid=1 the same file, other words\n");
	CHECK(!has(LOCK_INDEX));
}

static void says_what_is_missing(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;

	CHECK(rmdir("root/locks/addresses") == 0);
	CHECK_ERR(take(&place, "a@x", NULL, &locks), place.cx.err, MR_ENOTFOUND,
		"cannot create lock /r/locks/addresses/a@x.lock: No such file or directory");
	CHECK(!has(LOCK_INDEX));
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "root/" MR_MAILBOX_GUARDS, &place.cx.err),
		place.cx.err);
	CHECK_INT(take(&place, "a@x", NULL, &locks), MR_ENOTFOUND);
	CHECK(mr_str_starts(place.cx.err.msg, "/r: cannot open lock file locks/guards/"));
}

/* Read a number, add one, write it: only under the locks does none get lost. */
static void add_one(struct place *place, const char *first, const char *second)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_bytes bytes;
	struct mr_err err;
	int fd;

	if (take(place, first, second, &locks) ||
		mr_fs_read(place->cx.arena, AT_FDCWD, "count", 20, &bytes, &err))
		_exit(1);
	fd = open("count", O_WRONLY | O_TRUNC);
	if (fd < 0 || dprintf(fd, "%ld", strtol((const char *)bytes.data, NULL, 10) + 1) < 1)
		_exit(1);
	close(fd);
}

static void many_processes_lose_nothing(void)
{
	enum { PROCESSES = 8, ROUNDS = 25 };
	struct place place MR_CLEANUP(place_close) = enter();
	static const char *const names[] = { "a@x", "b@x", "c@x", "d@x" };
	pid_t children[PROCESSES];

	files_put("count", "0");
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		CHECK(children[i] >= 0);
		if (children[i] == 0) {
			for (int k = 0; k < ROUNDS; k++)
				add_one(&place, names[(i + k) % 4], names[(i + 2 * k + 1) % 4]);
			_exit(0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status;

		CHECK_INT(waitpid(children[i], &status, 0), children[i]);
		CHECK_INT(status, 0);
	}
	files_hold("count", mr_arena_printf(place.cx.arena, "%d", PROCESSES * ROUNDS));
	CHECK_INT(files_count("root/locks/addresses"), 0);
}

/* Wherever one of us is killed, the next one goes on. */
static void any_crash_is_survived(void)
{
	static const char *const points[] = { "locks.take.guarded:1", "locks.take.created:1",
		"locks.take.filled:1", "locks.take.created:2", "locks.take.filled:2",
		"locks.remove_stale.renamed", "locks.remove_stale.removed",
		"locks.release.removed:1", "locks.release.removed:2" };
	struct place place MR_CLEANUP(place_close) = enter();

	if (!files_fail_at(NULL))
		return;
	for (size_t i = 0; i < MR_LEN(points); i++) {
		struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
		int status;
		pid_t child = fork();

		CHECK(child >= 0);
		if (child == 0) {
			setenv("MAILROOM_CRASH_AT", points[i], 1);
			if (mr_str_starts(points[i], "locks.remove_stale."))
				files_put(LOCK_A, "pid=2147483646\n"); /* nobody's */
			if (take(&place, "a@x", NULL, &locks))
				_exit(1);
			mr_mailbox_locks_release(&locks);
			_exit(2);
		}
		CHECK_INT(waitpid(child, &status, 0), child);
		CHECK(WIFSIGNALED(status));
		CHECK_OK(take(&place, "a@x", NULL, &locks), place.cx.err);
		mr_mailbox_locks_release(&locks);
		CHECK(!has(LOCK_A));
		CHECK(!has(LOCK_INDEX));
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino;
}

/* Lock files are names of one file that stays. In a copy made of links it is also the original's,
 * and then it is left to that. */
static void are_names_of_a_file_that_stays(void)
{
	struct place place MR_CLEANUP(place_close) = enter();
	struct mr_mailbox_locks locks = MR_MAILBOX_LOCKS_INIT;
	static const char CONTENT[] = "root/" MR_MAILBOX_LOCK_CONTENT;

	for (int i = 0; i < 3; i++) {
		if (i == 1)
			CHECK(link(CONTENT, "kept") == 0);
		CHECK_OK(take(&place, "a@x", "b@x", &locks), place.cx.err);
		CHECK(is_same_file(LOCK_A, CONTENT) == (i != 1));
		CHECK(is_same_file(LOCK_A, LOCK_INDEX) == (i != 1));
		CHECK(!is_same_file("kept", LOCK_A));
		mr_mailbox_locks_release(&locks);
		CHECK(!has(LOCK_A) && !has(LOCK_B) && !has(LOCK_INDEX));
	}
	/* Where it cannot be one, each is a file of its own. */
	CHECK(unlink(CONTENT) == 0 && mkdir(CONTENT, 0700) == 0);
	CHECK_OK(take(&place, "a@x", "b@x", &locks), place.cx.err);
	CHECK(has(LOCK_A) && !is_same_file(LOCK_A, LOCK_B));
	mr_mailbox_locks_release(&locks);
	CHECK(!has(LOCK_A) && !has(LOCK_B));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_the_files_others_expect),
		TEST(takes_each_address_once),
		TEST(takes_a_thousand),
		TEST(waits_for_a_living_process),
		TEST(the_dead_block_nobody),
		TEST(takes_over_what_nobody_can_hold),
		TEST(takes_over_what_is_older_than_the_machine_runs),
		TEST(waits_for_no_empty_file_from_before_the_boot),
		TEST(waits_for_no_empty_file_that_is_old),
		TEST(polls_that_take_long_count_as_long),
		TEST(gives_up_on_the_living),
		TEST(gives_up_on_what_is_no_file),
		TEST(names_the_living_holder),
		TEST(leaves_the_locks_of_others),
		TEST(says_what_is_missing),
		TEST(many_processes_lose_nothing),
		TEST(any_crash_is_survived),
		TEST(are_names_of_a_file_that_stays),
	};

	return test_main(tests, MR_LEN(tests));
}
