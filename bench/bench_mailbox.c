/*
 * bench/bench_mailbox.c - does delivery cost what its promises cost, and not more?
 *
 * bench_mailbox [DIR]: in DIR (or $TMPDIR, or /var/tmp; a real disk, please)
 *
 * - a message is delivered to 1 and to 16 recipients, in turn with the bare sum of what that needs:
 *   the same files written, renamed, linked and synced, the same rows committed, over connections
 *   and directories that stay open, and nothing else;
 * - 1,200 messages are sent into one root by one process, and by 24 processes at once;
 * - the newest 50 of an inbox of 100,000 messages are listed, and of 1,000.
 *
 * bench_mailbox DIR THREADS: only how many messages a second that many threads deliver to one
 * recipient, beside one thread; the yardstick of a gateway's sends (bench_gateway.py).
 */
#include "bench.h"

#include "base/fs.h"
#include "data/db.h"
#include "mailbox/deliver.h"
#include "mailbox/document.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/open.h"
#include "mailbox/register.h"
#include "mailbox/registration_sql.h"
#include "mailbox/state_sql.h"
#include "text/time.h"
#include "text/token.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS = 7,
	SENDS = 12, /* a round */
	PEOPLE = 24,
	SENDS_EACH = 50,
	THREADS_MAX = 64,
	MANY = 100000,
	FEW = 1000,
	LISTINGS = 200,
	LISTED = 50,
};

static const char CREATED[] = "2026-03-11T04:15:00Z";
static const char BODY[] = "Please review the migration before Thursday.\n\nIt changes the index "
			   "of leases; the plan is in docs/plan.md.\n";
static const struct mr_value no_headers = { .kind = MR_MAP };

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_mailbox: %s: %s\n", what, why);
	exit(1);
}

static void need(struct mr_ctx *cx, enum mr_code rc, const char *what)
{
	if (rc)
		die(what, cx->err.msg);
}

static struct mr_ctx context(struct mr_arena *arena)
{
	return (struct mr_ctx){
		.arena = arena,
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
}

static struct mr_mailbox_principal person(struct mr_arena *arena, size_t number)
{
	return (struct mr_mailbox_principal){
		.principal_id = mr_arena_printf(arena, "HOUMAO-p%zu", number),
		.address = mr_arena_printf(arena, "p%zu@houmao.localhost", number),
	};
}

/* A root with PEOPLE mailboxes. */
static void make_root(const char *path)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_ctx cx = context(arena);

	need(&cx, mr_mailbox_root_init(&cx, path, &root), "init");
	for (size_t i = 0; i < PEOPLE; i++) {
		struct mr_mailbox_principal who = person(arena, i);
		struct mr_mailbox_register_request request = { .mode = MR_MAILBOX_SAFE,
			.address = who.address,
			.owner = who.principal_id,
			.kind = MR_MAILBOX_IN_ROOT };
		struct mr_mailbox_register_result result;

		need(&cx, mr_mailbox_register(&cx, &root, &request, &result), "register");
	}
}

static struct mr_mailbox_message compose(struct mr_ctx *cx, size_t from, size_t recipients)
{
	const char *id = mr_token_message_id(cx->arena, cx->rand, mr_clock_wall_us(cx->clock));
	struct mr_mailbox_message message = {
		.protocol_version = 3,
		.message_id = id,
		.thread_id = id,
		.created_at_utc = CREATED,
		.sender = person(cx->arena, from),
		.to = { .items = mr_arena_array(cx->arena, recipients, sizeof(*message.to.items)),
			.len = recipients },
		.subject = "Review of the migration",
		.headers = &no_headers,
		.body = mr_bytes_text(BODY),
	};

	for (size_t i = 0; i < recipients; i++)
		message.to.items[i] = person(cx->arena, (from + 1 + i) % PEOPLE);
	return message;
}

/* As a command does it: open the root, send. Seconds. */
static double send_one(const char *path, size_t from, size_t recipients)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_ctx cx = context(arena);
	struct mr_mailbox_message message = compose(&cx, from, recipients);
	struct mr_mailbox_deliver_result result;
	double start = bench_now();

	need(&cx, mr_mailbox_root_open(&cx, path, MR_MAILBOX_ROOT_WRITE, &root), "open");
	need(&cx, mr_mailbox_deliver_message(&cx, &root, &message, &result), "deliver");
	return bench_now() - start;
}

/* The bare sum: what stays open between deliveries. */
struct bare {
	struct mr_arena *arena;
	struct mr_ctx cx;
	int staging, intents, day;
	struct mr_db *index;
	int folders[PEOPLE];
	struct mr_db *locals[PEOPLE];
	const char *path;
};

static int make_dir(struct bare *bare, const char *name)
{
	const char *path = mr_arena_printf(bare->arena, "%s/%s", bare->path, name);
	int fd = -1;

	need(&bare->cx, mr_fs_make_dirs(AT_FDCWD, path, 0700, &bare->cx.err), path);
	need(&bare->cx, mr_fs_open_dir(AT_FDCWD, path, &fd, &bare->cx.err), path);
	return fd;
}

static struct mr_db *make_db(struct bare *bare, const char *name, bool is_index)
{
	struct mr_db_options options = {
		.path = mr_arena_printf(bare->arena, "%s/%s", bare->path, name),
		.create = true,
		.journal = MR_DB_JOURNAL_DELETE,
	};
	struct mr_db *db = NULL;

	need(&bare->cx, mr_db_open(&options, &db, &bare->cx.err), name);
	need(&bare->cx,
		is_index ? mr_mailbox_index_schema(&bare->cx, db)
			 : mr_mailbox_state_schema(&bare->cx, db),
		name);
	return db;
}

static void bare_open(struct bare *bare, const char *path)
{
	bare->arena = mr_arena_new();
	bare->cx = context(bare->arena);
	bare->path = path;
	bare->staging = make_dir(bare, "staging");
	bare->intents = make_dir(bare, "intents");
	bare->day = make_dir(bare, "day");
	bare->index = make_db(bare, "index.sqlite", true);
	for (size_t i = 0; i < PEOPLE; i++) {
		struct mr_mailbox_registration row = {
			.id = mr_arena_printf(bare->arena, "reg-%zu", i),
			.address = person(bare->arena, i).address,
			.owner = person(bare->arena, i).principal_id,
			.path = "/p",
			.entry_path = "/p",
			.created_at = CREATED,
		};

		bare->folders[i] = make_dir(bare, mr_arena_printf(bare->arena, "boxes/%zu/in", i));
		bare->locals[i] = make_db(bare,
			mr_arena_printf(bare->arena, "boxes/%zu/mailbox.sqlite", i), false);
		need(&bare->cx, mr_mailbox_registration_insert(&bare->cx, bare->index, &row),
			"registration");
	}
}

static void bare_close(struct bare *bare)
{
	for (size_t i = 0; i < PEOPLE; i++) {
		close(bare->folders[i]);
		mr_db_close(bare->locals[i]);
	}
	mr_db_close(bare->index);
	close(bare->staging);
	close(bare->intents);
	close(bare->day);
	mr_arena_free(bare->arena);
}

static void sync_fd(int fd)
{
	if (fsync(fd) != 0)
		die("fsync", "failed");
}

static void put_synced(int dir, const char *name, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		die(name, "cannot be written");
	sync_fd(fd);
	close(fd);
}

static void bare_index(struct bare *bare, struct mr_ctx *cx, const struct mr_mailbox_message *m,
	const char *document)
{
	const char **ids = mr_arena_array(cx->arena, m->to.len + 1, sizeof(*ids));
	struct mr_mailbox_delivered delivered = {
		.canonical_path = "/p/x.md",
		.document = document,
		.sender_registration_id = "reg-0",
		.recipient_registration_ids = ids,
	};

	for (size_t i = 0; i < m->to.len; i++)
		ids[i] = mr_arena_printf(cx->arena, "reg-%zu", i + 1);
	need(cx, mr_db_begin(bare->index, MR_DB_IMMEDIATE, &cx->err), "begin");
	need(cx, mr_mailbox_index_insert(cx, bare->index, m, &delivered), "insert");
	for (size_t i = 0; i <= m->to.len; i++) {
		struct mr_mailbox_projection row = {
			.registration_id = i ? ids[i - 1] : "reg-0",
			.message_id = m->message_id,
			.folder = i ? "inbox" : "sent",
			.path = "/p/x.md",
		};

		need(cx, mr_mailbox_index_add_projection(cx, bare->index, &row), "projection");
	}
	need(cx, mr_mailbox_index_thread(cx, bare->index, m->thread_id), "thread");
	need(cx, mr_db_commit(bare->index, &cx->err), "commit");
}

static void bare_local(struct mr_ctx *cx, struct mr_db *db, const struct mr_mailbox_message *m,
	bool is_recipient)
{
	struct mr_mailbox_state row = mr_mailbox_state_fresh(m->message_id, m->thread_id,
		m->created_at_utc, m->subject, is_recipient);

	need(cx, mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err), "begin");
	need(cx, mr_mailbox_state_add(cx, db, &row), "state");
	need(cx, mr_mailbox_state_thread(cx, db, m->thread_id), "thread");
	need(cx, mr_db_commit(db, &cx->err), "commit");
}

/* Every sync and commit that a delivery promises, and nothing else. Seconds. */
static double bare_one(struct bare *bare, size_t recipients)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = context(arena);
	struct mr_mailbox_message m = compose(&cx, 0, recipients);
	const char *name = mr_arena_printf(arena, "%s.md", m.message_id);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	double start;

	mr_buf_init(&buf, MR_MAILBOX_DOCUMENT_BYTES);
	need(&cx, mr_mailbox_document_write(&buf, &m, &cx.err), "document");
	start = bench_now();
	put_synced(bare->staging, name, buf.data, buf.len);
	put_synced(bare->intents, name, buf.data, 200);
	sync_fd(bare->intents);
	if (renameat(bare->staging, name, bare->day, name) != 0)
		die(name, "cannot be renamed");
	sync_fd(bare->day);
	sync_fd(bare->staging);
	for (size_t i = 0; i <= recipients; i++) {
		if (symlinkat("/p/x.md", bare->folders[i], name) != 0)
			die(name, "cannot be linked");
		sync_fd(bare->folders[i]);
	}
	bare_index(bare, &cx, &m, mr_buf_text(&buf));
	for (size_t i = 0; i <= recipients; i++)
		bare_local(&cx, bare->locals[i], &m, i > 0);
	unlinkat(bare->intents, name, 0);
	return bench_now() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t len)
{
	qsort(values, len, sizeof(*values), by_value);
	return values[len / 2];
}

static void measure_delivery(const char *root, struct bare *bare, size_t recipients,
	const char *what)
{
	double ours[ROUNDS * SENDS], raw[ROUNDS * SENDS];

	/* In turn, one by one: whatever else this machine does meets both. */
	for (size_t i = 0; i < ROUNDS * SENDS; i++) {
		raw[i] = bare_one(bare, recipients);
		ours[i] = send_one(root, 0, recipients);
	}
	bench_figure(what, median(ours, ROUNDS * SENDS) * 1e3, "ms", "bare_syncs_and_commits",
		median(raw, ROUNDS * SENDS) * 1e3, BENCH_AT_MOST, 1.5);
}

/* Sends by a process of its own; the worst wait goes to `out`. */
static pid_t start_sender(const char *root, size_t from, int out)
{
	pid_t pid = fork();
	double worst = 0;

	if (pid != 0)
		return pid;
	for (size_t i = 0; i < SENDS_EACH; i++) {
		double took = send_one(root, from, 1);

		worst = took > worst ? took : worst;
	}
	if (write(out, &worst, sizeof(worst)) != sizeof(worst))
		die("pipe", "cannot be written");
	_exit(0);
}

/* Messages per second by PEOPLE processes at once. */
static double send_together(const char *root, double *out_worst)
{
	double worst = 0, one, start = bench_now();
	int ends[2];

	if (pipe(ends) != 0)
		die("pipe", "cannot be made");
	for (size_t i = 0; i < PEOPLE; i++) {
		if (start_sender(root, i, ends[1]) < 0)
			die("fork", "failed");
	}
	close(ends[1]);
	for (size_t i = 0; i < PEOPLE; i++) {
		int status = 0;

		if (wait(&status) < 0 || status != 0)
			die("sender", "failed");
	}
	start = bench_now() - start;
	while (read(ends[0], &one, sizeof(one)) == sizeof(one))
		worst = one > worst ? one : worst;
	close(ends[0]);
	*out_worst = worst;
	return PEOPLE * SENDS_EACH / start;
}

static void *send_some(void *arg)
{
	const char *root = arg;

	for (size_t i = 0; i < SENDS_EACH; i++)
		send_one(root, 0, 1);
	return NULL;
}

/* Messages per second from one sender to one recipient, by so many threads. */
static double send_by_threads(char *root, size_t count)
{
	pthread_t threads[THREADS_MAX];
	double start = bench_now();

	for (size_t i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, send_some, root) != 0)
			die("thread", "cannot be started");
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return (double)count * SENDS_EACH / (bench_now() - start);
}

static void measure_threads(char *root, size_t count)
{
	double one, many;

	if (count == 0 || count > THREADS_MAX)
		die("THREADS", "must be between 1 and 64");
	make_root(root);
	one = send_by_threads(root, 1);
	many = send_by_threads(root, count);
	bench_figure("mailbox_deliver_by_threads", many, "1/s", "one_thread", one, BENCH_REPORT, 0);
}

static double send_alone(const char *root)
{
	double start = bench_now();

	for (size_t i = 0; i < SENDS_EACH; i++) {
		for (size_t from = 0; from < PEOPLE; from++)
			send_one(root, from, 1);
	}
	return PEOPLE * SENDS_EACH / (bench_now() - start);
}

/* Every message is in its inbox, once. */
static void check_inboxes(const char *path, size_t each)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = context(arena);

	for (size_t i = 0; i < PEOPLE; i++) {
		const char *box =
			mr_arena_printf(arena, "%s/mailboxes/p%zu@houmao.localhost", path, i);
		struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
		struct mr_mailbox_states rows;
		struct mr_texts links;

		need(&cx,
			mr_fs_list(arena, AT_FDCWD, mr_arena_printf(arena, "%s/inbox", box), MANY,
				&links, &cx.err),
			"inbox");
		need(&cx, mr_mailbox_root_local(&cx, box, true, &db), "local");
		need(&cx, mr_mailbox_state_list(&cx, db, "inbox", 0, &rows), "list");
		if (links.len != each || rows.len != each)
			die(box, "messages are lost");
	}
}

static void measure_crowd(const char *alone, const char *together)
{
	double worst = 0, one, many;

	make_root(alone);
	make_root(together);
	one = send_alone(alone);
	many = send_together(together, &worst);
	check_inboxes(alone, SENDS_EACH);
	check_inboxes(together, SENDS_EACH);
	bench_figure("mailbox_24_processes", many, "1/s", "one_process", one, BENCH_AT_LEAST, 1.0);
	bench_figure("mailbox_24_processes_worst_wait", worst, "s", "two_seconds", 2, BENCH_AT_MOST,
		1.0);
}

/* An index and a mailbox with `count` messages, in one transaction each. They come a few seconds
 * apart and nearly in the order in which they were written, as mail does. */
static void fill(struct mr_ctx *cx, struct mr_db *index, struct mr_db *local, size_t count)
{
	static const char *const ids[] = { "reg-1", NULL };
	static const struct mr_mailbox_delivered delivered = { "/p/x.md", BODY, "reg-0", ids };

	need(cx, mr_db_begin(index, MR_DB_IMMEDIATE, &cx->err), "begin");
	need(cx, mr_db_begin(local, MR_DB_IMMEDIATE, &cx->err), "begin");
	for (size_t i = 0; i < count; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		int64_t at_us = (INT64_C(1773202500) + (int64_t)(i ^ 7) * 5) * MR_TIME_S;
		struct mr_ctx one = context(arena);
		struct mr_mailbox_message m = compose(&one, 0, 1);
		struct mr_mailbox_projection row;
		struct mr_mailbox_state state;

		m.message_id = m.thread_id = mr_token_message_id(arena, one.rand, at_us);
		m.created_at_utc = mr_time_format(arena, at_us, MR_TIME_SECONDS);
		row = (struct mr_mailbox_projection){ "reg-1", m.message_id, "inbox", "/p/x.md" };
		state = mr_mailbox_state_fresh(m.message_id, m.thread_id, m.created_at_utc,
			m.subject, true);
		need(&one, mr_mailbox_index_insert(&one, index, &m, &delivered), "insert");
		need(&one, mr_mailbox_index_add_projection(&one, index, &row), "projection");
		need(&one, mr_mailbox_state_add(&one, local, &state), "state");
	}
	need(cx, mr_db_commit(index, &cx->err), "commit");
	need(cx, mr_db_commit(local, &cx->err), "commit");
}

/* Seconds to open the database and list the newest, from the index or from the mailbox. */
static double list_newest(const char *path, bool is_index)
{
	double took[LISTINGS];

	for (size_t i = 0; i < LISTINGS; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_db_options options = {
			.path = mr_arena_printf(arena, "%s/%s", path,
				is_index ? "index.sqlite" : "boxes/1/mailbox.sqlite"),
			.read_only = true,
		};
		struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
		struct mr_mailbox_listing listing = { NULL, 0 };
		struct mr_mailbox_states states = { NULL, 0 };
		struct mr_ctx cx = context(arena);
		double start = bench_now();

		need(&cx, mr_db_open(&options, &db, &cx.err), "open");
		if (is_index)
			need(&cx, mr_mailbox_index_list(&cx, db, "reg-1", LISTED, &listing),
				"list");
		else
			need(&cx, mr_mailbox_state_list(&cx, db, "inbox", LISTED, &states), "list");
		took[i] = bench_now() - start;
		if (listing.len + states.len != LISTED)
			die("list", "messages are missing");
	}
	return median(took, LISTINGS);
}

static void measure_listing(const char *few, const char *many)
{
	static const struct {
		const char *what;
		bool is_index;
	} lists[] = { { "mailbox_list_50_of_100000", false },
		{ "mailbox_index_list_50_of_100000", true } };
	struct bare small, large;

	bare_open(&small, few);
	bare_open(&large, many);
	fill(&small.cx, small.index, small.locals[1], FEW);
	fill(&large.cx, large.index, large.locals[1], MANY);
	for (size_t i = 0; i < MR_LEN(lists); i++) {
		double of_few = list_newest(few, lists[i].is_index);

		bench_figure(lists[i].what, list_newest(many, lists[i].is_index) * 1e3, "ms",
			"50_of_1000", of_few * 1e3, BENCH_AT_MOST, 2.0);
	}
	bare_close(&small);
	bare_close(&large);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *parent = argc > 1 ? argv[1] : getenv("TMPDIR");
	char *dir =
		mr_arena_printf(arena, "%s/mailroom-bench-XXXXXX", parent ? parent : "/var/tmp");
	struct bare bare;
	char *root;

	if (!mkdtemp(dir))
		die(dir, "cannot be made");
	root = mr_arena_printf(arena, "%s/root", dir);
	if (argc > 2) {
		measure_threads(root, strtoul(argv[2], NULL, 10));
		bench_dir_remove(dir);
		return 0;
	}
	make_root(root);
	bare_open(&bare, mr_arena_printf(arena, "%s/bare", dir));
	measure_delivery(root, &bare, 1, "mailbox_deliver_to_1");
	measure_delivery(root, &bare, 16, "mailbox_deliver_to_16");
	bare_close(&bare);
	measure_crowd(mr_arena_printf(arena, "%s/alone", dir),
		mr_arena_printf(arena, "%s/together", dir));
	measure_listing(mr_arena_printf(arena, "%s/few", dir),
		mr_arena_printf(arena, "%s/many", dir));
	bench_dir_remove(dir);
	return 0;
}
