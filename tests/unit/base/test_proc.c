/* tests/unit/base/test_proc.c */
#include "base/fs.h"
#include "base/proc.h"
#include "files.h"
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 60 * 1000, SHORT_MS = 200, MEGABYTE = 1 << 20 };

#define ARGV(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static struct mr_proc shell(const char *const *argv)
{
	return (struct mr_proc){ .argv = argv, .timeout_ms = LONG_MS, .max_output = MEGABYTE };
}

static struct mr_proc_result run(struct mr_arena *arena, const struct mr_proc *proc)
{
	size_t before = files_open();
	struct mr_proc_result result;
	struct mr_err err = { .msg = "kept" };

	CHECK_OK(mr_proc_run(arena, proc, &result, &err), err);
	CHECK_STR(err.msg, "kept");
	CHECK_INT(files_open(), before);
	return result;
}

/* Run it into its time limit, but on a busy machine not before it has said something and, where
 * asked, ended by itself. */
static struct mr_proc_result run_late(struct mr_arena *arena, const char *script, bool ends)
{
	struct mr_proc proc = shell(ARGV("sh", "-c", script));

	for (proc.timeout_ms = SHORT_MS;; proc.timeout_ms *= 2) {
		struct mr_proc_result got = run(arena, &proc);

		CHECK(got.timed_out);
		if (got.out.len > 0 && (!ends || got.signal == 0))
			return got;
		CHECK(proc.timeout_ms < LONG_MS);
	}
}

static struct mr_bytes some_bytes(struct mr_arena *arena, size_t len)
{
	uint8_t *data = mr_arena_alloc(arena, len);

	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 31 + i / 251);
	return mr_bytes_of(data, len);
}

static void gives_what_it_said(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("sh", "-c", "cat; echo bad >&2; exit 3"));
	struct mr_proc_result got;

	proc.input = mr_bytes_text("in");
	got = run(arena, &proc);
	CHECK_INT(got.exit_status, 3);
	CHECK_INT(got.signal, 0);
	CHECK(!got.timed_out && !got.truncated);
	CHECK_STR((const char *)got.out.data, "in");
	CHECK_INT(got.out.len, 2);
	CHECK_STR((const char *)got.err.data, "bad\n");

	proc = shell(ARGV("true"));
	got = run(arena, &proc);
	CHECK_INT(got.exit_status, 0);
	CHECK_STR((const char *)got.out.data, "");
	CHECK_STR((const char *)got.err.data, "");
	CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
}

static void tells_signals_from_exits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("sh", "-c", "kill -TERM $$"));
	struct mr_proc_result got = run(arena, &proc);

	CHECK_INT(got.exit_status, -1);
	CHECK_INT(got.signal, SIGTERM);
	CHECK(!got.timed_out);
}

/* More than a pipe holds in both directions at once. */
static void carries_much_both_ways(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("sh", "-c", "tee /dev/stderr"));
	struct mr_proc_result got;

	proc.input = some_bytes(arena, MEGABYTE);
	got = run(arena, &proc);
	CHECK(!got.truncated);
	CHECK_INT(got.out.len, MEGABYTE);
	CHECK(memcmp(got.out.data, proc.input.data, MEGABYTE) == 0);
	CHECK_INT(got.err.len, MEGABYTE);
	CHECK(memcmp(got.err.data, proc.input.data, MEGABYTE) == 0);
}

static void drops_what_is_too_much(void)
{
	static const struct {
		size_t max;
		size_t len;
		bool truncated;
	} cases[] = { { 0, 0, true }, { 7, 7, true }, { 99999, 99999, true },
		{ 100000, 100000, false }, { 100001, 100000, false } };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_proc proc =
			shell(ARGV("sh", "-c", "head -c 100000 /dev/zero; echo end >&2"));
		struct mr_proc_result got;

		proc.max_output = cases[i].max;
		got = run(arena, &proc);
		CHECK_INT(got.exit_status, 0);
		CHECK_INT(got.out.len, cases[i].len);
		CHECK_INT(got.err.len, cases[i].max < 4 ? cases[i].max : 4);
		CHECK_INT(got.truncated, cases[i].truncated);
	}
}

static bool sigpipe_is_pending(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static void survives_those_who_do_not_listen(void)
{
	static const char *const scripts[] = {
		"exit 0",
		"exec <&-; head -c 300000 /dev/zero",
		"head -c 300000 /dev/zero",
		"head -c 1 >/dev/null; head -c 300000 /dev/zero >&2",
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	sigset_t before, after, pipe_only;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	signal(SIGPIPE, SIG_DFL);
	pthread_sigmask(SIG_BLOCK, NULL, &before);
	for (size_t i = 0; i < MR_LEN(scripts); i++) {
		struct mr_proc proc = shell(ARGV("sh", "-c", scripts[i]));

		proc.input = some_bytes(arena, MEGABYTE);
		CHECK_INT(run(arena, &proc).exit_status, 0);
		CHECK(!sigpipe_is_pending());
	}
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CHECK_INT(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));

	/* One that waited before we came still waits. */
	pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
	raise(SIGPIPE);
	{
		struct mr_proc proc = shell(ARGV("true"));

		proc.input = some_bytes(arena, MEGABYTE);
		run(arena, &proc);
	}
	CHECK(sigpipe_is_pending());
}

static void stops_in_time(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc_result got =
		run_late(arena, "trap '' TERM; echo begun; exec sleep 1000", false);

	CHECK_STR((const char *)got.out.data, "begun\n");
	CHECK_INT(got.exit_status, -1);
	CHECK_INT(got.signal, SIGKILL);

	/* Endless output does not keep the clock from being looked at. */
	got = run_late(arena, "exec yes", false);
	CHECK_INT(got.signal, SIGKILL);
}

/* Children of our children become ours, so that we can see how they end. */
static void adopt(void)
{
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
}

static pid_t pid_in(struct mr_bytes text)
{
	long pid = strtol((const char *)text.data, NULL, 10);

	CHECK(pid > 1);
	return (pid_t)pid;
}

static void kills_the_whole_group(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc_result got;
	int status;

	adopt();
	got = run_late(arena, "sleep 1000 & echo $!; wait", false);
	CHECK_INT(got.signal, SIGKILL);
	CHECK(waitpid(pid_in(got.out), &status, 0) > 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The program is gone, but what it started still has its output. */
static void does_not_wait_for_grandchildren(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc_result got;
	int status;

	adopt();
	got = run_late(arena, "sleep 1000 & echo $!; exit 3", true);
	CHECK_INT(got.exit_status, 3);
	CHECK(waitpid(pid_in(got.out), &status, 0) > 0);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

	/* One that left the group lives on, and we go on without it. */
	got = run_late(arena, "setsid sh -c 'echo $$; exec sleep 1000' & wait", false);
	CHECK(waitpid(pid_in(got.out), &status, WNOHANG) == 0);
	CHECK(kill(pid_in(got.out), SIGKILL) == 0);
	CHECK(waitpid(pid_in(got.out), &status, 0) > 0);
}

static void lets_quiet_daemons_live(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc =
		shell(ARGV("sh", "-c", "sleep 1000 </dev/null >/dev/null 2>&1 & echo $!"));
	struct mr_proc_result got;
	int status;

	adopt();
	got = run(arena, &proc);
	CHECK(!got.timed_out);
	CHECK_INT(got.exit_status, 0);
	CHECK(waitpid(pid_in(got.out), &status, WNOHANG) == 0);
	CHECK(kill(pid_in(got.out), SIGKILL) == 0);
	CHECK(waitpid(pid_in(got.out), &status, 0) > 0);
}

static void works_without_pidfd(void)
{
	if (!files_fail_at("proc.pidfd:ENOSYS"))
		return;
	gives_what_it_said();
	stops_in_time();
	does_not_wait_for_grandchildren();
}

static void says_why_it_did_not_start(void)
{
	static const struct {
		const char *program;
		const char *cwd;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "no-such-program", NULL, MR_ENOTFOUND,
			"cannot start no-such-program: no such program" },
		{ "./no-such-program", NULL, MR_ENOTFOUND,
			"cannot start ./no-such-program: no such program" },
		{ "./plain", NULL, MR_EPERM, "cannot start ./plain: Permission denied" },
		/* A shell would have run it. */
		{ "./script", NULL, MR_EIO, "cannot start ./script: Exec format error" },
		{ "true", "no", MR_ENOTFOUND,
			"cannot run in directory no: No such file or directory" },
		{ "true", "plain", MR_ENOTFOUND, "cannot run in directory plain: Not a directory" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t before;

	files_enter();
	files_put("plain", "echo plain\n");
	files_put("script", "echo script\n");
	CHECK(chmod("script", 0755) == 0);
	before = files_open();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_proc proc = shell(ARGV(cases[i].program));
		struct mr_proc_result got = { .exit_status = 77 };
		struct mr_err err;

		proc.cwd = cases[i].cwd;
		CHECK_ERR(mr_proc_run(arena, &proc, &got, &err), err, cases[i].code, cases[i].msg);
		CHECK_INT(got.exit_status, 77);
	}
	CHECK_INT(files_open(), before);
	CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
}

static void runs_where_and_with_what_it_is_told(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("sh", "-c", "pwd -P"));
	struct mr_proc_result got;

	files_enter();
	CHECK(mkdir("d", 0755) == 0);
	files_put("d/here", "#!/bin/sh\necho ran here\n");
	CHECK(chmod("d/here", 0755) == 0);
	proc.cwd = "d";
	got = run(arena, &proc);
	CHECK_STR((const char *)got.out.data, mr_arena_printf(arena, "%s/d\n", test_dir()));
	proc.argv = ARGV("./here");
	got = run(arena, &proc);
	CHECK_STR((const char *)got.out.data, "ran here\n");

	proc = shell(ARGV("env"));
	proc.env = ARGV("ONE=1", "TWO=2");
	got = run(arena, &proc);
	CHECK_STR((const char *)got.out.data, "ONE=1\nTWO=2\n");
	setenv("OURS", "is inherited", 1);
	proc = shell(ARGV("sh", "-c", "echo $OURS '$HOME' \"*\""));
	got = run(arena, &proc);
	CHECK_STR((const char *)got.out.data, "is inherited $HOME *\n");
}

static void inherits_nothing_else(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("sh", "-c", "ls /proc/$$/fd"));
	struct mr_proc_result got;
	sigset_t all;
	int fd = open("/dev/null", O_RDONLY); /* deliberately left to be inherited */

	CHECK(fd >= 0);
	got = run(arena, &proc);
	CHECK_STR((const char *)got.out.data, "0\n1\n2\n");
	close(fd);

	signal(SIGPIPE, SIG_IGN);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	proc.argv = ARGV("grep", "SigBlk", "/proc/self/status");
	got = run(arena, &proc);
	CHECK_STR((const char *)got.out.data, "SigBlk:\t0000000000000000\n");
	/* libc ignores two signals of its own there, so look at ours only. */
	proc.argv = ARGV("grep", "-o", "SigIgn:.*", "/proc/self/status");
	got = run(arena, &proc);
	CHECK_INT(strtoul(strchr((const char *)got.out.data, '\t'), NULL, 16) >> (SIGPIPE - 1) & 1,
		0);
}

/* Nor do our ends of the pipes take the free numbers, where somebody would print into them. */
static void works_without_standard_streams(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("sh", "-c", "cat; (echo; ls /proc/$PPID/fd) >&2"));
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
	struct mr_proc_result got;

	proc.input = mr_bytes_text("in");
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	got = run(arena, &proc);
	CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
	CHECK(open("/dev/null", O_RDWR) == 0 && dup(0) == 1 && dup2(kept, 2) == 2);
	CHECK_STR((const char *)got.out.data, "in");
	CHECK(strstr((const char *)got.err.data, "\n10\n"));
	CHECK(!strstr((const char *)got.err.data, "\n0\n"));
	CHECK(!strstr((const char *)got.err.data, "\n1\n"));
	CHECK(!strstr((const char *)got.err.data, "\n2\n"));
}

static void says_when_somebody_else_reaped(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_proc proc = shell(ARGV("true"));
	struct mr_proc_result got;
	struct mr_err err;

	signal(SIGCHLD, SIG_IGN);
	CHECK_ERR(mr_proc_run(arena, &proc, &got, &err), err, MR_EIO,
		"cannot learn how true ended: No child processes");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(gives_what_it_said),
		TEST(tells_signals_from_exits),
		TEST(carries_much_both_ways),
		TEST(drops_what_is_too_much),
		TEST(survives_those_who_do_not_listen),
		TEST(stops_in_time),
		TEST(kills_the_whole_group),
		TEST(does_not_wait_for_grandchildren),
		TEST(lets_quiet_daemons_live),
		TEST(works_without_pidfd),
		TEST(says_why_it_did_not_start),
		TEST(runs_where_and_with_what_it_is_told),
		TEST(inherits_nothing_else),
		TEST(works_without_standard_streams),
		TEST(says_when_somebody_else_reaped),
	};
	return test_main(tests, MR_LEN(tests));
}
