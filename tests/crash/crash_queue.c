/*
 * tests/crash/crash_queue.c - eight threads that write through a queue, to be killed.
 *
 * crash_queue DIR BASE COUNT: each thread inserts COUNT numbered rows (its numbers begin at BASE
 * plus a million times the thread), each into two tables and the search index, going on where the
 * database stands. A number is appended to DIR/acks.BASE once its job was answered with success.
 */
#include "data/queue.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8, SPAN = 1000000 };

/* Nothing forbids a number to stand there twice: the test must see it when it does. */
static const char SCHEMA[] = "CREATE TABLE IF NOT EXISTS one(seq INTEGER PRIMARY KEY, n, text);"
			     "CREATE TABLE IF NOT EXISTS two(seq INTEGER PRIMARY KEY, n);"
			     "CREATE INDEX IF NOT EXISTS one_n ON one(n)";

static const char *const columns[] = { "text", NULL };
static const struct mr_db_search search = {
	.name = "one_search",
	.table = "one",
	.id = "seq",
	.columns = columns,
};

struct producer {
	pthread_t thread;
	struct mr_queue *queue;
	int acks;
	int64_t next;
	int64_t end;
	int64_t seq; /* of the job at hand */
};

static void die(const char *what)
{
	fprintf(stderr, "crash_queue: %s\n", what);
	exit(1);
}

/* Run an insert that returns the number of its row. */
static enum mr_code insert(struct mr_db *db, const char *sql, int64_t n, int64_t *seq,
	struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, n);
	rc = mr_stmt_step(stmt, &row, err);
	if (rc)
		return rc;
	*seq = mr_stmt_int(stmt, 0);
	return mr_stmt_run(stmt, err);
}

static enum mr_code run(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct producer *producer = arg;
	int64_t other;
	enum mr_code rc =
		insert(db, "INSERT INTO one(n, text) VALUES(?1, 'number ' || ?1) RETURNING seq",
			producer->next, &producer->seq, err);

	return rc ? rc
		  : insert(db, "INSERT INTO two(n) VALUES(?1) RETURNING seq", producer->next,
			    &other, err);
}

static enum mr_code after(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct producer *producer = arg;

	return mr_db_search_add(db, &search, producer->seq, err);
}

static void *produce(void *arg)
{
	struct producer *producer = arg;
	struct mr_queue_job job = { .run = run, .after = after, .arg = producer };

	for (; producer->next < producer->end; producer->next++) {
		struct mr_err err;
		char line[32];
		int len = snprintf(line, sizeof(line), "%" PRId64 "\n", producer->next);

		if (mr_queue_run(producer->queue, &job, &err))
			die(err.msg);
		/* One write with O_APPEND is not torn by a kill. */
		if (write(producer->acks, line, (size_t)len) != len)
			die("acks");
	}
	return NULL;
}

/* The first number from `base` on that was not inserted yet: a thread inserts in order. */
static int64_t first_missing(struct mr_db *db, int64_t base)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err err;
	bool row = false;

	if (mr_db_prepare(db, "SELECT coalesce(max(n) + 1, ?1) FROM one WHERE n >= ?1 AND n < ?2",
		    &stmt, &err))
		die(err.msg);
	mr_stmt_bind_int(stmt, 1, base);
	mr_stmt_bind_int(stmt, 2, base + SPAN);
	if (mr_stmt_step(stmt, &row, &err))
		die(err.msg);
	return mr_stmt_int(stmt, 0);
}

/* In one transaction, as migrations are. */
static void make_schema(struct mr_db *db)
{
	struct mr_err err;

	if (mr_db_begin(db, MR_DB_IMMEDIATE, &err) || mr_db_exec(db, SCHEMA, &err) ||
		mr_db_search_create(db, &search, &err) || mr_db_commit(db, &err))
		die(err.msg);
}

int main(int argc, char **argv)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db_options options = { .create = true };
	struct producer producers[THREADS];
	struct mr_queue *queue = NULL;
	struct mr_db *db = NULL;
	int64_t base = 0, count = 0;
	struct mr_err err;
	int acks;

	if (argc != 4 || !mr_str_to_int(argv[2], &base) || !mr_str_to_int(argv[3], &count))
		die("usage: crash_queue DIR BASE COUNT");
	options.path = mr_arena_printf(arena, "%s/db", argv[1]);
	acks = open(mr_arena_printf(arena, "%s/acks.%s", argv[1], argv[2]),
		O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (acks < 0)
		die("cannot open the acks");
	if (mr_db_open(&options, &db, &err))
		die(err.msg);
	make_schema(db);
	for (int i = 0; i < THREADS; i++) {
		int64_t first = base + (int64_t)i * SPAN;

		producers[i] = (struct producer){ .acks = acks,
			.next = first_missing(db, first),
			.end = first + count };
	}
	if (mr_queue_open(db, NULL, &queue, &err))
		die(err.msg);
	for (int i = 0; i < THREADS; i++) {
		producers[i].queue = queue;
		if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]))
			die("pthread_create");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(producers[i].thread, NULL);
	mr_queue_close(queue);
	close(acks);
	return 0;
}
