/*
 * bench/bench_repair.c - do check and repair grow with the number of messages, and with nothing
 * else?
 *
 * bench_repair [DIR]: in DIR (or $TMPDIR, or /var/tmp) two mailbox roots are made, of 10,000 and of
 * 100,000 messages among ten accounts: documents and empty mailboxes are written directly, and a
 * first repair makes everything else. Then both are repaired and checked, several times in turn.
 * Every run is a process of its own, so that its peak of memory is known.
 */
#include "bench.h"

#include "base/buf.h"
#include "base/fs.h"
#include "mailbox/document.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/open.h"
#include "mailbox/repair.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SMALL = 10000,
	LARGE = 100000,
	ACCOUNTS = 10,
	DAYS = 20,
	THREAD = 4, /* messages of a thread */
	ROUNDS = 3,
	MEMORY_MIB = 200,
};

static const struct mr_value no_headers = { .kind = MR_MAP };

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_repair: %s: %s\n", what, why);
	exit(1);
}

static void begin(struct mr_ctx *cx)
{
	*cx = (struct mr_ctx){ .arena = mr_arena_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };
}

static struct mr_mailbox_principal account(struct mr_arena *arena, unsigned number)
{
	return (struct mr_mailbox_principal){
		.principal_id = mr_arena_printf(arena, "HOUMAO-agent%u", number % ACCOUNTS),
		.address = mr_arena_printf(arena, "agent%u@houmao.localhost", number % ACCOUNTS),
	};
}

/* Not durable: only the repairs are measured. */
static void write_file(int dir, const char *path, const struct mr_buf *buf)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, buf->data, buf->len) != (ssize_t)buf->len)
		die(path, "cannot write");
	close(fd);
}

static void write_message(int dir, unsigned number, const char *body)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_mailbox_principal to = account(arena, number + 1 + number / ACCOUNTS % 3);
	unsigned root = number - number % THREAD, day = root / THREAD % DAYS + 1;
	const char *thread = mr_arena_printf(arena, "msg-202603%02uT120000Z-%032x", day, root);
	const char *references[THREAD];
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = mr_arena_printf(arena, "msg-202603%02uT120000Z-%032x", day, number),
		.thread_id = thread,
		.created_at_utc = mr_arena_printf(arena, "2026-03-%02uT12:%02u:%02uZ", day,
			number / 60 % 60, number % 60),
		.sender = account(arena, number),
		.to = { &to, 1 },
		.subject = "Review of the migration",
		.headers = &no_headers,
		.body = mr_bytes_text(body),
	};
	struct mr_err err;

	if (number != root) {
		references[0] = thread;
		message.in_reply_to = thread;
		message.references = (struct mr_texts){ references, 1 };
	}
	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	if (mr_mailbox_document_write(&buf, &message, &err))
		die("document", err.msg);
	write_file(dir,
		mr_mailbox_layout_message(arena, message.created_at_utc, message.message_id), &buf);
}

static void make_root(const char *path, unsigned count)
{
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	char body[1025];
	struct mr_ctx cx;

	begin(&cx);
	memset(body, 'x', sizeof(body) - 1);
	for (size_t i = 63; i < sizeof(body); i += 64)
		body[i] = '\n';
	body[sizeof(body) - 1] = '\0';
	if (mr_mailbox_root_init(&cx, path, &root))
		die(path, cx.err.msg);
	for (unsigned i = 0; i < ACCOUNTS; i++) {
		if (mr_fs_make_dirs(root.dir,
			    mr_mailbox_layout_entry(cx.arena, account(cx.arena, i).address), 0700,
			    &cx.err))
			die(path, cx.err.msg);
	}
	for (unsigned i = 1; i <= DAYS; i++) {
		if (mr_fs_make_dirs(root.dir,
			    mr_arena_printf(cx.arena, MR_MAILBOX_MESSAGES "/2026-03-%02u", i), 0700,
			    &cx.err))
			die(path, cx.err.msg);
	}
	for (unsigned i = 0; i < count; i++)
		write_message(root.dir, i, body);
	mr_arena_free(cx.arena);
}

static void repair(const char *path, unsigned count)
{
	struct mr_mailbox_repair_options options = { .keep_staging = false };
	struct mr_mailbox_repair_result result;
	struct mr_ctx cx;

	begin(&cx);
	if (mr_mailbox_repair(&cx, path, &options, &result))
		die(path, cx.err.msg);
	if (result.message_count != count || result.projection_count != 2 * (size_t)count)
		die(path, "repair has lost something");
	mr_arena_free(cx.arena);
}

static void check(const char *path, unsigned count)
{
	struct mr_mailbox_check_result result;
	struct mr_ctx cx;

	begin(&cx);
	if (mr_mailbox_check(&cx, path, &result))
		die(path, cx.err.msg);
	if (result.problem_count > 0)
		die(result.problems[0].path, result.problems[0].detail);
	if (result.message_count != count)
		die(path, "check has lost something");
	mr_arena_free(cx.arena);
}

/* The links of a first repair, and nothing else: what the file system takes for them. */
static void link_only(const char *path, unsigned count)
{
	char name[400];

	for (unsigned i = 0; i < 2 * ACCOUNTS; i++) {
		snprintf(name, sizeof(name), "%s-links-%u", path, i);
		if (mkdir(name, 0700))
			die(name, "cannot make");
	}
	for (unsigned i = 0; i < 2 * count; i++) {
		snprintf(name, sizeof(name), "%s-links-%u/msg-20260301T120000Z-%032x.md", path,
			i % (2 * ACCOUNTS), i);
		if (symlink(path, name))
			die(name, "cannot link");
	}
}

struct cost {
	double wall_s;
	double cpu_s; /* ours and the kernel's for us */
	double own_s; /* ours */
	double peak_mib;
};

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static struct cost run(void (*verb)(const char *path, unsigned count), const char *path,
	unsigned count)
{
	double begun = bench_now();
	struct rusage usage;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		verb(path, count);
		_exit(0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
		die(path, "failed");
	return (struct cost){
		.wall_s = bench_now() - begun,
		.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
		.own_s = seconds(usage.ru_utime),
		.peak_mib = (double)usage.ru_maxrss / 1024,
	};
}

static int by_wall(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return (x->wall_s > y->wall_s) - (x->wall_s < y->wall_s);
}

static void say(const char *what, const struct cost *small, const struct cost *large,
	enum bench_goal goal)
{
	char label[100];

	snprintf(label, sizeof(label), "%s of 100,000 messages", what);
	bench_figure(label, large->wall_s, "s", "of 10,000, s", small->wall_s, goal, 11);
	/* Tells a machine that is busy with other things from work that grows too fast. */
	snprintf(label, sizeof(label), "%s of 100,000 messages, CPU", what);
	bench_figure(label, large->cpu_s, "s", "of 10,000, s", small->cpu_s, BENCH_REPORT, 0);
	snprintf(label, sizeof(label), "%s of 100,000 messages, memory", what);
	bench_figure(label, large->peak_mib, "MiB", "allowed, MiB", MEMORY_MIB, BENCH_AT_MOST, 1);
}

/* In turn, so that a busy moment meets both; the median of each. */
static void measure(const char *what, void (*verb)(const char *path, unsigned count),
	const char *small, const char *large)
{
	struct cost small_costs[ROUNDS], large_costs[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		small_costs[i] = run(verb, small, SMALL);
		large_costs[i] = run(verb, large, LARGE);
	}
	qsort(small_costs, ROUNDS, sizeof(*small_costs), by_wall);
	qsort(large_costs, ROUNDS, sizeof(*large_costs), by_wall);
	say(what, &small_costs[ROUNDS / 2], &large_costs[ROUNDS / 2], BENCH_AT_MOST);
}

int main(int argc, char **argv)
{
	const char *tmp = argc > 1 ? argv[1] : getenv("TMPDIR");
	char dir[256], small[300], large[300];
	struct cost small_cost, large_cost;

	snprintf(dir, sizeof(dir), "%s/bench-repair-XXXXXX", tmp ? tmp : "/var/tmp");
	if (!mkdtemp(dir))
		die(dir, "cannot make");
	snprintf(small, sizeof(small), "%s/small", dir);
	snprintf(large, sizeof(large), "%s/large", dir);
	make_root(small, SMALL);
	make_root(large, LARGE);
	/* Or the first fsync would pay for all those files. */
	sync();
	small_cost = run(repair, small, SMALL);
	large_cost = run(repair, large, LARGE);
	say("first repair", &small_cost, &large_cost, BENCH_REPORT);
	/* Half of it is the file system making links: what must not grow is the rest. */
	bench_figure("first repair of 100,000 messages, own CPU", large_cost.own_s, "s",
		"of 10,000, s", small_cost.own_s, BENCH_AT_MOST, 11);
	small_cost = run(link_only, small, SMALL);
	large_cost = run(link_only, large, LARGE);
	bench_figure("200,000 bare links", large_cost.wall_s, "s", "20,000, s", small_cost.wall_s,
		BENCH_REPORT, 0);
	measure("repair", repair, small, large);
	measure("check", check, small, large);
	bench_dir_remove(dir);
	return 0;
}
