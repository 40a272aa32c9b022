/* base/proc.c - Runs another program without a shell, with a time limit and bounded output. */
#include "base/proc.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/fs.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CHUNK_BYTES = 64 * 1024,
	FIRST_FREE_FD = 3,
	LOOK_MS = 20, /* polling interval for a child without a pidfd */
};

/* Our ends of the pipes; -1 once closed. */
struct child {
	pid_t pid;
	int pidfd; /* -1 where the kernel has none */
	int in;
	int out;
	int err;
	bool exited; /* but not reaped yet: its pid and group id stay valid */
	struct mr_bytes input;
	struct mr_buf out_text;
	struct mr_buf err_text;
	bool truncated;
};

static void child_release(struct child *child)
{
	mr_fs_closep(&child->pidfd);
	mr_fs_closep(&child->in);
	mr_fs_closep(&child->out);
	mr_fs_closep(&child->err);
	mr_buf_release(&child->out_text);
	mr_buf_release(&child->err_text);
}

struct pipe {
	int read;
	int write;
};

static void pipe_close(struct pipe *pipe)
{
	mr_fs_closep(&pipe->read);
	mr_fs_closep(&pipe->write);
}

/* Above the standard three: if these are closed, anything that prints would write into our
 * pipes. */
static int move_up(int fd)
{
	int moved;

	if (fd < 0 || fd >= FIRST_FREE_FD)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	close(fd);
	return moved;
}

static int pipe_open(struct pipe *out)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return -1;
	out->read = move_up(fds[0]);
	out->write = move_up(fds[1]);
	return out->read < 0 || out->write < 0 ? -1 : 0;
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* A server that ignores these must not make its children ignore them too. */
static int fill_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, to_default;
	int rc;

	sigemptyset(&none);
	sigemptyset(&to_default);
	sigaddset(&to_default, SIGPIPE);
	sigaddset(&to_default, SIGCHLD);
	rc = posix_spawnattr_setflags(attr,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = rc ? rc : posix_spawnattr_setpgroup(attr, 0);
	rc = rc ? rc : posix_spawnattr_setsigmask(attr, &none);
	return rc ? rc : posix_spawnattr_setsigdefault(attr, &to_default);
}

static int fill_actions(posix_spawn_file_actions_t *actions, const char *cwd, int in, int out,
	int err)
{
	int rc = posix_spawn_file_actions_adddup2(actions, in, STDIN_FILENO);

	rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, out, STDOUT_FILENO);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, err, STDERR_FILENO);
	rc = rc ? rc : posix_spawn_file_actions_addclosefrom_np(actions, FIRST_FREE_FD);
	if (!rc && cwd)
		rc = posix_spawn_file_actions_addchdir_np(actions, cwd);
	return rc;
}

/* An errno, or 0 with the process started. */
static int spawn(const struct mr_proc *proc, int in, int out, int err, pid_t *out_pid)
{
	char *const *env = proc->env ? (char *const *)proc->env : environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (!rc) {
		rc = fill_attributes(&attr);
		rc = rc ? rc : fill_actions(&actions, proc->cwd, in, out, err);
		rc = rc ? rc
			: posix_spawnp(out_pid, proc->argv[0], &actions, &attr,
				  (char *const *)proc->argv, env);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static enum mr_code check_cwd(const char *cwd, struct mr_err *err)
{
	struct stat st;

	if (stat(cwd, &st) != 0)
		return mr_err_os(err, errno, "cannot run in directory %s", cwd);
	if (!S_ISDIR(st.st_mode))
		return mr_err_os(err, ENOTDIR, "cannot run in directory %s", cwd);
	return MR_OK;
}

static int open_pidfd(pid_t pid)
{
	return mr_crash_fail("proc.pidfd") ? -1 : move_up((int)syscall(SYS_pidfd_open, pid, 0));
}

static enum mr_code start(const struct mr_proc *proc, struct child *child, struct mr_err *err)
{
	struct pipe in MR_CLEANUP(pipe_close) = { -1, -1 };
	struct pipe out MR_CLEANUP(pipe_close) = { -1, -1 };
	struct pipe errors MR_CLEANUP(pipe_close) = { -1, -1 };
	int rc;

	if (pipe_open(&in) != 0 || pipe_open(&out) != 0 || pipe_open(&errors) != 0 ||
		set_nonblocking(in.write) != 0 || set_nonblocking(out.read) != 0 ||
		set_nonblocking(errors.read) != 0)
		return mr_err_os(err, errno, "cannot make pipes for %s", proc->argv[0]);
	rc = spawn(proc, in.read, out.write, errors.write, &child->pid);
	if (rc == ENOENT)
		return mr_err_set(err, MR_ENOTFOUND, "cannot start %s: no such program",
			proc->argv[0]);
	if (rc)
		return mr_err_os(err, rc, "cannot start %s", proc->argv[0]);
	child->pidfd = open_pidfd(child->pid);
	child->in = mr_fs_take(&in.write);
	child->out = mr_fs_take(&out.read);
	child->err = mr_fs_take(&errors.read);
	return MR_OK;
}

/* Give it more of its input; the pipe is closed after the last byte, or when nobody listens. */
static void feed(struct child *child)
{
	while (child->input.len > 0) {
		ssize_t n = write(child->in, child->input.data, child->input.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			break;
		child->input.data += n;
		child->input.len -= (size_t)n;
	}
	mr_fs_closep(&child->in);
}

/* Read what is available; past the maximum it is dropped. One chunk at a time, so that both
 * streams are served. */
static void collect(struct child *child, int *fd, struct mr_buf *text)
{
	char chunk[CHUNK_BYTES];
	ssize_t n = read(*fd, chunk, sizeof(chunk));
	size_t room = text->max - text->len;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		mr_fs_closep(fd);
		return;
	}
	if ((size_t)n > room)
		child->truncated = true;
	mr_buf_add(text, chunk, (size_t)n < room ? (size_t)n : room);
}

static bool has_exited(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		info.si_pid == pid;
}

/* Until it has ended and its output is closed. False when the time was up first. */
static bool attend(struct child *child, int64_t deadline_ms)
{
	const struct mr_clock *clock = mr_clock_system();

	while (!child->exited || child->out >= 0 || child->err >= 0) {
		struct pollfd fds[] = {
			{ .fd = child->in, .events = POLLOUT },
			{ .fd = child->out, .events = POLLIN },
			{ .fd = child->err, .events = POLLIN },
			{ .fd = child->exited ? -1 : child->pidfd, .events = POLLIN },
		};
		int64_t left_ms = deadline_ms - mr_clock_mono_ms(clock);

		if (left_ms <= 0)
			return false;
		if (!child->exited && child->pidfd < 0 && left_ms > LOOK_MS)
			left_ms = LOOK_MS;
		if (poll(fds, MR_LEN(fds), (int)left_ms) < 0)
			continue;
		if (fds[0].revents)
			feed(child);
		if (fds[1].revents)
			collect(child, &child->out, &child->out_text);
		if (fds[2].revents)
			collect(child, &child->err, &child->err_text);
		if (!child->exited && (child->pidfd < 0 || fds[3].revents))
			child->exited = has_exited(child->pid);
	}
	return true;
}

/* Writing into a closed pipe must not kill us; the pending signal is removed by the same thread. */
static bool hold_sigpipe(sigset_t *out_old)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &set, out_old);
	return sigismember(&pending, SIGPIPE) == 1;
}

static void let_sigpipe_go(const sigset_t *old, bool was_pending)
{
	static const struct timespec no_wait;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (!was_pending)
		while (sigtimedwait(&set, NULL, &no_wait) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static struct mr_bytes keep(struct mr_arena *arena, const struct mr_buf *text)
{
	char *copy = mr_arena_strndup(arena, "", 0);

	if (text->len > 0) {
		copy = mr_arena_alloc(arena, text->len + 1);
		memcpy(copy, text->data, text->len);
	}
	return mr_bytes_of(copy, text->len);
}

static enum mr_code reap(const struct child *child, const char *name, int *out_status,
	struct mr_err *err)
{
	pid_t pid;

	do
		pid = waitpid(child->pid, out_status, 0);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return mr_err_os(err, errno, "cannot learn how %s ended", name);
	return MR_OK;
}

enum mr_code mr_proc_run(struct mr_arena *arena, const struct mr_proc *proc,
	struct mr_proc_result *out, struct mr_err *err)
{
	struct child child MR_CLEANUP(child_release) = {
		.pidfd = -1,
		.in = -1,
		.out = -1,
		.err = -1,
		.input = proc->input,
	};
	int64_t deadline_ms = mr_clock_mono_ms(mr_clock_system()) + proc->timeout_ms;
	bool in_time, sigpipe_pending;
	enum mr_code rc = MR_OK;
	sigset_t old;
	int status = 0;

	assert(proc->argv && proc->argv[0] && proc->timeout_ms > 0);
	mr_buf_init(&child.out_text, proc->max_output);
	mr_buf_init(&child.err_text, proc->max_output);
	if (proc->cwd)
		rc = check_cwd(proc->cwd, err);
	if (!rc)
		rc = start(proc, &child, err);
	if (rc)
		return rc;

	sigpipe_pending = hold_sigpipe(&old);
	in_time = attend(&child, deadline_ms);
	let_sigpipe_go(&old, sigpipe_pending);
	if (!in_time)
		kill(-child.pid, SIGKILL);
	rc = reap(&child, proc->argv[0], &status, err);
	if (rc)
		return rc;
	*out = (struct mr_proc_result){
		.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
		.timed_out = !in_time,
		.truncated = child.truncated,
		.out = keep(arena, &child.out_text),
		.err = keep(arena, &child.err_text),
	};
	return MR_OK;
}
