/*
 * bench/bench_queue.c - is the group-commit writer worth its thread?
 *
 * bench_queue [DIR]: in DIR (or $TMPDIR, or /var/tmp; a real disk, please) rows the size of a
 * message are inserted durably (WAL, synchronous=FULL): by plain SQLite with a commit each, and by
 * 64 threads through the queue; then both once more with a full-text row each. The two take turns,
 * because machines are noisy, and the medians are compared.
 */
#include "bench.h"

#include "data/db.h"
#include "data/queue.h"

#include <sqlite3.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ROUNDS = 5,
	THREADS = 64,
	ROWS_EACH = 48,
	ROWS = THREADS * ROWS_EACH,
	BODIES = 128,
	BODY_BYTES = 1024,
	FSYNCS = 500,
};

static const char SCHEMA[] =
	"CREATE TABLE message(id INTEGER PRIMARY KEY, subject TEXT, body TEXT)";
static const char INSERT[] = "INSERT INTO message(subject, body) VALUES(?1, ?2)";
static const char INSERT_RETURNING[] =
	"INSERT INTO message(subject, body) VALUES(?1, ?2) RETURNING id";
static const char SUBJECT[] = "Re: review of the migration";

static const char *const columns[] = { "subject", "body", NULL };
static const double weights[] = { 2, 1 };
static const struct mr_db_search search = {
	.name = "message_search",
	.table = "message",
	.id = "id",
	.columns = columns,
	.weights = weights,
};

struct bench {
	char dir[256];
	char path[300];
	char bodies[BODIES][BODY_BYTES + 1];
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_queue: %s: %s\n", what, why);
	exit(1);
}

static void fill_bodies(struct bench *bench)
{
	static const char *const words[] = { "the", "module", "please", "review", "commit", "and",
		"deploy", "reservation", "is", "failing", "in", "branch", "src", "agent", "a",
		"lease" };
	unsigned state = 1;

	for (size_t i = 0; i < BODIES; i++) {
		char *body = bench->bodies[i];
		size_t len = 0;

		while (len < BODY_BYTES - 32) {
			state = state * 1664525u + 1013904223u;
			len += (size_t)snprintf(body + len, 32, "%s%.0u ", words[state >> 28],
				(state >> 20) & 4 ? (state >> 10) % 300 : 0);
		}
	}
}

static void remove_database(struct bench *bench)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char path[320];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", bench->path, tails[i]);
		unlink(path);
	}
}

/* An empty database with the schema, and the search index when `full_text`. */
static struct mr_db *make_database(struct bench *bench, bool full_text)
{
	struct mr_db_options options = { .path = bench->path, .create = true };
	struct mr_db *db = NULL;
	struct mr_err err;

	remove_database(bench);
	if (mr_db_open(&options, &db, &err) || mr_db_exec(db, SCHEMA, &err) ||
		(full_text && mr_db_search_create(db, &search, &err)))
		die("making the database", err.msg);
	return db;
}

static void expect(sqlite3 *db, int rc, int wanted)
{
	if (rc != wanted)
		die("sqlite", sqlite3_errmsg(db));
}

static void run_once(sqlite3 *db, sqlite3_stmt *stmt)
{
	expect(db, sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_reset(stmt);
}

/* Rows per second by plain SQLite, one commit each. */
static double measure_raw(struct bench *bench, bool full_text)
{
	static const char *const texts[] = { "BEGIN IMMEDIATE", INSERT,
		"INSERT INTO message_search(subject, body, rowid) VALUES(?1, ?2, ?3)", "COMMIT" };
	sqlite3_stmt *stmts[4] = { NULL };
	sqlite3 *db = NULL;
	double start;

	mr_db_close(make_database(bench, full_text));
	sqlite3_open_v2(bench->path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	expect(db,
		sqlite3_exec(db, "PRAGMA synchronous=FULL; PRAGMA secure_delete=FAST", NULL, NULL,
			NULL),
		SQLITE_OK);
	for (size_t i = 0; i < 4; i++) {
		if (full_text || i == 1)
			expect(db, sqlite3_prepare_v2(db, texts[i], -1, &stmts[i], NULL),
				SQLITE_OK);
	}
	start = bench_now();
	for (size_t row = 0; row < ROWS; row++) {
		for (size_t i = 0; i < 4; i++) {
			if (!stmts[i])
				continue;
			if (i == 1 || i == 2) {
				sqlite3_bind_text(stmts[i], 1, SUBJECT, -1, SQLITE_STATIC);
				sqlite3_bind_text(stmts[i], 2, bench->bodies[row % BODIES], -1,
					SQLITE_STATIC);
			}
			if (i == 2)
				sqlite3_bind_int64(stmts[i], 3, sqlite3_last_insert_rowid(db));
			run_once(db, stmts[i]);
		}
	}
	start = bench_now() - start;
	for (size_t i = 0; i < 4; i++)
		sqlite3_finalize(stmts[i]);
	sqlite3_close(db);
	return ROWS / start;
}

struct producer {
	struct mr_queue *queue;
	struct bench *bench;
	bool full_text;
	size_t number;
	const char *body; /* of the job at hand, */
	int64_t id;       /* and its row */
};

static enum mr_code insert_row(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct producer *producer = arg;
	enum mr_code rc = mr_db_prepare(db, INSERT_RETURNING, &stmt, err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, SUBJECT);
	mr_stmt_bind_text(stmt, 2, producer->body);
	rc = mr_stmt_step(stmt, &row, err);
	if (rc)
		return rc;
	producer->id = mr_stmt_int(stmt, 0);
	return mr_stmt_run(stmt, err);
}

static enum mr_code add_words(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct producer *producer = arg;

	return mr_db_search_add(db, &search, producer->id, err);
}

static void *produce(void *arg)
{
	struct producer *producer = arg;
	struct mr_queue_job job = {
		.run = insert_row,
		.after = producer->full_text ? add_words : NULL,
		.arg = producer,
	};
	struct mr_err err;

	for (size_t i = 0; i < ROWS_EACH; i++) {
		producer->body = producer->bench->bodies[(producer->number + i) % BODIES];
		if (mr_queue_run(producer->queue, &job, &err))
			die("mr_queue_run", err.msg);
	}
	return NULL;
}

/* Rows per second by 64 threads through the queue. */
static double measure_queue(struct bench *bench, bool full_text)
{
	struct producer producers[THREADS];
	pthread_t threads[THREADS];
	struct mr_queue_stats stats;
	struct mr_queue *queue = NULL;
	struct mr_err err;
	double start;

	if (mr_queue_open(make_database(bench, full_text), NULL, &queue, &err))
		die("mr_queue_open", err.msg);
	start = bench_now();
	for (size_t i = 0; i < THREADS; i++) {
		producers[i] = (struct producer){ queue, bench, full_text, i, NULL, 0 };
		if (pthread_create(&threads[i], NULL, produce, &producers[i]))
			die("pthread_create", "failed");
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	start = bench_now() - start;
	mr_queue_stats(queue, &stats);
	if (stats.jobs != ROWS)
		die("queue", "rows are missing");
	if (getenv("BENCH_VERBOSE"))
		fprintf(stderr, "queue: %.0f rows/s, %.1f rows a batch\n", ROWS / start,
			(double)stats.jobs / (double)stats.batches);
	mr_queue_close(queue);
	return ROWS / start;
}

/* Appended pages made durable per second: what the disk itself can do. */
static double measure_fsync(struct bench *bench)
{
	char page[4096];
	double start;
	int fd;

	memset(page, 'x', sizeof(page));
	remove_database(bench);
	fd = open(bench->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	start = bench_now();
	for (size_t i = 0; i < FSYNCS; i++) {
		if (write(fd, page, sizeof(page)) != sizeof(page) || fdatasync(fd))
			die(bench->path, "cannot be written");
	}
	start = bench_now() - start;
	close(fd);
	return FSYNCS / start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static void compare(struct bench *bench, bool full_text, const char *what, const char *yardstick,
	double target)
{
	double raw[ROUNDS], queue[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		raw[i] = measure_raw(bench, full_text);
		queue[i] = measure_queue(bench, full_text);
	}
	bench_figure(what, median(queue), "rows/s", yardstick, median(raw), BENCH_AT_LEAST, target);
}

int main(int argc, char **argv)
{
	static struct bench bench;
	const char *parent = argc > 1 ? argv[1] : getenv("TMPDIR");
	double syncs[ROUNDS];

	snprintf(bench.dir, sizeof(bench.dir), "%s/mailroom-bench-XXXXXX",
		parent ? parent : "/var/tmp");
	if (!mkdtemp(bench.dir))
		die(bench.dir, "cannot be made");
	snprintf(bench.path, sizeof(bench.path), "%s/db", bench.dir);
	fill_bodies(&bench);
	for (size_t i = 0; i < ROUNDS; i++)
		syncs[i] = measure_fsync(&bench);
	bench_figure("append_4k_and_sync", median(syncs), "1/s", "none", 0, BENCH_REPORT, 0);
	compare(&bench, false, "queue_64_threads", "sqlite_commit_per_row", 4.0);
	compare(&bench, true, "queue_64_threads_full_text", "sqlite_commit_per_row_full_text", 3.0);
	remove_database(&bench);
	rmdir(bench.dir);
	return 0;
}
