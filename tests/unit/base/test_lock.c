/* tests/unit/base/test_lock.c */
#include "base/fs.h"
#include "base/lock.h"
#include "files.h"
#include "test.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 60 * 1000 };

static const int64_t SOME_TIME_US = 1000000000LL * 1000000;

static enum mr_code take(const char *path, int timeout_ms, struct mr_lock *out, struct mr_err *err)
{
	return mr_lock_take(AT_FDCWD, path, "test", timeout_ms, mr_clock_system(), out, err);
}

static void says_who_holds_it(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock = MR_LOCK_INIT, other = MR_LOCK_INIT;
	struct mr_clock_fixed fixed;
	struct mr_err err;
	struct stat st;

	files_enter();
	mr_clock_fixed_init(&fixed, SOME_TIME_US);
	CHECK_OK(mr_lock_take(AT_FDCWD, "l", "mailroom serve", 0, &fixed.clock, &lock, &err), err);
	CHECK(lock.fd >= 0);
	CHECK(fcntl(lock.fd, F_GETFD) & FD_CLOEXEC);
	CHECK(stat("l", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0600);
	files_hold("l",
		mr_arena_printf(arena, "pid=%ld what=mailroom serve since=2001-09-09T01:46:40Z\n",
			(long)getpid()));
	CHECK_ERR(take("l", 0, &other, &err), err, MR_EBUSY,
		mr_arena_printf(arena,
			"lock l is held by pid=%ld what=mailroom serve since=2001-09-09T01:46:40Z",
			(long)getpid()));
	CHECK_INT(other.fd, -1);

	mr_lock_release(&lock);
	CHECK_INT(lock.fd, -1);
	mr_lock_release(&lock);
	files_hold("l", "");
	CHECK_OK(take("l", 0, &other, &err), err);
	mr_lock_release(&other);
}

static void error_stays_untouched_on_success(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_err err = { .msg = "kept" };

	files_enter();
	CHECK_OK(take("l", 0, &lock, &err), err);
	CHECK_STR(err.msg, "kept");
	mr_lock_release(&lock);
}

static void reads_any_owner_line(void)
{
	static const struct {
		const char *content;
		const char *msg;
	} cases[] = {
		{ "", "lock l is held by another process" },
		{ "\npid=1", "lock l is held by another process" },
		{ "pid=7 what=\xc3\xa9t\xc3\xa9\nsecond",
			"lock l is held by pid=7 what=\xc3\xa9t\xc3\xa9" },
		{ "pid=7\x1b[31m\r\x7f", "lock l is held by pid=7?[31m??" },
		{ "\xff\xc3\xa9 bytes", "lock l is held by ??? bytes" },
	};

	files_enter();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_lock lock = MR_LOCK_INIT;
		struct mr_err err;
		int fd;

		files_put("l", cases[i].content);
		fd = open("l", O_RDWR | O_CLOEXEC);
		CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
		CHECK_ERR(take("l", 0, &lock, &err), err, MR_EBUSY, cases[i].msg);
		close(fd);
	}
}

static void writes_a_readable_owner_line(void)
{
	static const char prefix[] = "what=";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_bytes got;
	struct mr_err err;
	char what[400];
	const char *at;

	files_enter();
	CHECK_OK(mr_lock_take(AT_FDCWD, "l", "a\nb\tc", 0, mr_clock_system(), &lock, &err), err);
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "l", 1000, &got, &err), err);
	CHECK(strstr((const char *)got.data, " what=a?b?c since="));
	mr_lock_release(&lock);

	/* A cut falls between characters. */
	for (size_t i = 0; i + 2 < sizeof(what); i += 2)
		memcpy(what + i + 1, "\xc3\xa9", 2);
	what[0] = 'x';
	what[sizeof(what) - 1] = '\0';
	CHECK_OK(mr_lock_take(AT_FDCWD, "l", what, 0, mr_clock_system(), &lock, &err), err);
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "l", 1000, &got, &err), err);
	at = strstr((const char *)got.data, prefix);
	CHECK(at);
	CHECK_INT(strcspn(at + strlen(prefix), " "), 127);
	CHECK(got.data[got.len - 1] == '\n');
	mr_lock_release(&lock);
}

static void gives_up_in_time(void)
{
	struct mr_lock lock = MR_LOCK_INIT, other = MR_LOCK_INIT;
	struct mr_clock_fixed fixed;
	struct mr_err err;

	files_enter();
	mr_clock_fixed_init(&fixed, SOME_TIME_US);
	CHECK_OK(take("l", 0, &lock, &err), err);
	CHECK_INT(take("l", 40, &other, &err), MR_EBUSY);
	/* The time is the kernel's: a clock that stands still does not make it wait for ever. */
	CHECK_INT(mr_lock_take(AT_FDCWD, "l", "x", 40, &fixed.clock, &other, &err), MR_EBUSY);
	mr_lock_release(&lock);
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *path;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "link", MR_EPERM, "lock file link is a link; links are not followed" },
		{ "dangling", MR_EPERM, "lock file dangling is a link; links are not followed" },
		{ "fifo", MR_EINVAL, "lock file fifo is not a regular file" },
		{ "d", MR_EIO, "cannot open lock file d: Is a directory" },
		{ "no/l", MR_ENOTFOUND, "cannot open lock file no/l: No such file or directory" },
	};
	size_t before;

	files_enter();
	files_put("f", "kept");
	CHECK(symlink("f", "link") == 0 && symlink("no", "dangling") == 0);
	CHECK(mkfifo("fifo", 0644) == 0 && mkdir("d", 0755) == 0);
	before = files_open();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_lock lock = MR_LOCK_INIT;
		struct mr_err err;

		/* At once: waiting would not help. */
		CHECK_ERR(take(cases[i].path, LONG_MS, &lock, &err), err, cases[i].code,
			cases[i].msg);
		CHECK_INT(lock.fd, -1);
	}
	CHECK_INT(files_open(), before);
	CHECK(!mr_fs_exists(AT_FDCWD, "no"));
	files_hold("f", "kept");
}

static void needs_permission(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	enum mr_code rc;
	struct mr_err err;

	files_enter();
	files_put("l", "");
	CHECK(chmod(".", 0755) == 0 && chmod("l", 0444) == 0);
	if (!files_become_nobody())
		return;
	rc = take("l", 0, &lock, &err);
	files_become_root();
	CHECK_ERR(rc, err, MR_EPERM, "cannot open lock file l: Permission denied");
}

static void the_dead_hold_nothing(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_err err;
	int ready[2];
	char byte;
	pid_t pid;

	files_enter();
	CHECK(pipe2(ready, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		CHECK_OK(take("l", 0, &lock, &err), err);
		CHECK(write(ready[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK_INT(take("l", 0, &lock, &err), MR_EBUSY);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	CHECK_OK(take("l", 0, &lock, &err), err);
	mr_lock_release(&lock);
}

static void *ask_once(void *arg)
{
	struct mr_lock *lock = arg;
	struct mr_err err;

	CHECK_OK(take("l", 0, lock, &err), err);
	return NULL;
}

/* Has the kernel somebody in its queue for the lock of this file? */
static bool somebody_waits_for(const char *path)
{
	char line[256], inode[32];
	bool found = false;
	struct stat st;
	FILE *locks = fopen("/proc/locks", "re");

	CHECK(locks && stat(path, &st) == 0);
	snprintf(inode, sizeof(inode), ":%llu ", (unsigned long long)st.st_ino);
	while (!found && fgets(line, sizeof(line), locks))
		found = strstr(line, "->") && strstr(line, "FLOCK") && strstr(line, inode);
	fclose(locks);
	return found;
}

/* It was killed right after fork(), and the child has not run its program yet. */
static void a_child_of_the_dead_is_waited_for(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock = MR_LOCK_INIT;
	pthread_t thread;
	pid_t owner;
	int child;

	files_enter();
	owner = fork();
	if (owner == 0)
		_exit(0);
	CHECK(waitpid(owner, NULL, 0) == owner);
	files_put("l", mr_arena_printf(arena, "pid=%ld what=gateway since=\n", (long)owner));
	child = open("l", O_RDWR | O_CLOEXEC);
	CHECK(child >= 0 && flock(child, LOCK_EX) == 0);
	CHECK(pthread_create(&thread, NULL, ask_once, &lock) == 0);
	while (!somebody_waits_for("l"))
		sched_yield();
	close(child);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(lock.fd >= 0);
	mr_lock_release(&lock);
}

static void *wait_for_lock(void *arg)
{
	struct mr_lock *lock = arg;
	struct mr_err err = { .msg = "kept" };

	CHECK_OK(take("l", LONG_MS, lock, &err), err);
	CHECK_STR(err.msg, "kept");
	return NULL;
}

static void waits_for_its_turn(void)
{
	struct mr_lock lock = MR_LOCK_INIT, other = MR_LOCK_INIT;
	struct mr_err err;
	pthread_t thread;

	files_enter();
	CHECK_OK(take("l", 0, &lock, &err), err);
	CHECK(pthread_create(&thread, NULL, wait_for_lock, &other) == 0);
	CHECK_INT(take("l", 5, &(struct mr_lock){ -1 }, &err), MR_EBUSY);
	mr_lock_release(&lock);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(other.fd >= 0);
	mr_lock_release(&other);
}

/* A child that inherits the descriptor does not keep the lock when we let go of it. */
static void release_frees_copies(void)
{
	struct mr_lock lock = MR_LOCK_INIT, other = MR_LOCK_INIT;
	struct mr_err err;
	int copy;

	files_enter();
	CHECK_OK(take("l", 0, &lock, &err), err);
	copy = fcntl(lock.fd, F_DUPFD_CLOEXEC, 0);
	mr_lock_release(&lock);
	CHECK_OK(take("l", 0, &other, &err), err);
	mr_lock_release(&other);
	close(copy);
}

enum { HOLDERS = 4, TURNS = 60, HASTY_TURNS = 200 };

struct counter {
	int value; /* guarded by the lock file only */
	bool removes;
};

static void *count_under_lock(void *arg)
{
	struct counter *counter = arg;

	for (int i = 0; i < (counter->removes ? HASTY_TURNS : TURNS); i++) {
		struct mr_lock lock = MR_LOCK_INIT;
		struct mr_err err;
		int seen;

		/* The moment between opening and locking is short: try often, without sleep. */
		while (counter->removes && take("l", 0, &lock, &err) != MR_OK)
			CHECK_INT(err.code, MR_EBUSY);
		if (!counter->removes)
			CHECK_OK(take("l", LONG_MS, &lock, &err), err);
		seen = __atomic_load_n(&counter->value, __ATOMIC_SEQ_CST);
		sched_yield();
		__atomic_store_n(&counter->value, seen + 1, __ATOMIC_SEQ_CST);
		if (counter->removes)
			unlink("l");
		mr_lock_release(&lock);
	}
	return NULL;
}

static void count_together(bool removes)
{
	struct counter counter = { .removes = removes };
	pthread_t threads[HOLDERS];

	files_enter();
	for (size_t i = 0; i < HOLDERS; i++)
		CHECK(pthread_create(&threads[i], NULL, count_under_lock, &counter) == 0);
	for (size_t i = 0; i < HOLDERS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK_INT(counter.value, HOLDERS * (removes ? HASTY_TURNS : TURNS));
}

static void one_holder_at_a_time(void)
{
	count_together(false);
}

/* Whoever removes the file last thing does not let two in. */
static void one_holder_though_the_file_is_removed(void)
{
	count_together(true);
}

static void tells_whether_it_is_held(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_err err;

	files_enter();
	CHECK(!mr_lock_is_held(AT_FDCWD, "l"));
	CHECK_INT(files_count("."), 0);
	CHECK_OK(take("l", 0, &lock, &err), err);
	CHECK(mr_lock_is_held(AT_FDCWD, "l"));
	mr_lock_release(&lock);
	CHECK(!mr_lock_is_held(AT_FDCWD, "l"));
}

static void is_shared_while_nobody_has_it_alone(void)
{
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_err err;
	int one, two;

	files_enter();
	CHECK_OK(mr_lock_take(AT_FDCWD, "l", "all of it", 0, mr_clock_system(), &lock, &err), err);
	one = open("l", O_RDWR | O_CLOEXEC);
	two = open("l", O_RDONLY | O_CLOEXEC);
	CHECK_INT(mr_lock_share(one, "l", 30, &err), MR_EBUSY);
	CHECK(strstr(err.msg, "lock l is held by pid="));
	CHECK(strstr(err.msg, "what=all of it"));
	mr_lock_release(&lock);
	CHECK_OK(mr_lock_share(one, "l", 0, &err), err);
	CHECK_OK(mr_lock_share(two, "l", 0, &err), err);
	CHECK_INT(mr_lock_take(AT_FDCWD, "l", "t", 0, mr_clock_system(), &lock, &err), MR_EBUSY);
	close(one);
	close(two);
	CHECK_OK(mr_lock_take(AT_FDCWD, "l", "t", 0, mr_clock_system(), &lock, &err), err);
	mr_lock_release(&lock);
	CHECK_INT(mr_lock_share(-1, "l", 0, &err), MR_EIO);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(tells_whether_it_is_held),
		TEST(is_shared_while_nobody_has_it_alone),
		TEST(says_who_holds_it),
		TEST(error_stays_untouched_on_success),
		TEST(reads_any_owner_line),
		TEST(writes_a_readable_owner_line),
		TEST(gives_up_in_time),
		TEST(says_what_is_wrong),
		TEST(needs_permission),
		TEST(the_dead_hold_nothing),
		TEST(a_child_of_the_dead_is_waited_for),
		TEST(waits_for_its_turn),
		TEST(release_frees_copies),
		TEST(one_holder_at_a_time),
		TEST(one_holder_though_the_file_is_removed),
	};
	return test_main(tests, MR_LEN(tests));
}
