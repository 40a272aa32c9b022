/*
 * data/queue.h - the one writer of a database in this process, which commits many jobs at once.
 *
 * A thread owns the read-write connection. It takes all jobs that wait, runs them in one
 * transaction, commits once, and then answers them all: one fsync serves everyone who waited. A job
 * answered with MR_OK is durable; a job that fails leaves nothing behind and harms no other.
 *
 * Most jobs that fail do so before they have changed anything. When one has, the transaction is
 * rolled back and run again with a savepoint for each job, and so are the next: savepoints for all
 * would cost every job a copy of the pages it touches.
 */
#pragma once

#include "data/db.h"

struct mr_queue;

enum {
	MR_QUEUE_WAITING = 4096, /* jobs that may wait */
	MR_QUEUE_BATCH = 512, /* jobs in one transaction: others must get their turn at the file */
};

/*
 * One change. It may be run more than once before it is answered: when a transaction cannot be kept
 * (one failed half way, an `after` failed, the disk filled up), it is rolled back and its jobs are
 * run again, if need be in smaller ones. So `run` and `after` change nothing but the database and
 * their own `arg`, which they fill anew each time. They may not begin or end transactions, and must
 * finish their statements.
 */
struct mr_queue_job {
	enum mr_code (*run)(struct mr_db *db, void *arg, struct mr_err *err);
	/*
	 * Or NULL. Called when every job of the transaction has run, and only if this one's `run`
	 * succeeded: for full-text rows, which SQLite would write out at each savepoint. Not under
	 * a savepoint: when it fails, the job as a whole fails, and the others are run again.
	 */
	enum mr_code (*after)(struct mr_db *db, void *arg, struct mr_err *err);
	/*
	 * For mr_queue_submit(): called once, on the writer's thread, when the job is durable or
	 * has failed (`err` is only set then). It should be short, and may submit, but not run,
	 * other jobs.
	 */
	void (*done)(void *arg, enum mr_code rc, const struct mr_err *err);
	void *arg;
};

/*
 * Checks on the database while it is in use; all are called on the writer's thread, and all are set
 * or none.
 */
struct mr_queue_guard {
	/*
	 * Is `db` still the database? Asked before each transaction and after each commit. Unless
	 * it answers MR_OK, no job of the transaction is acknowledged: all get this error.
	 */
	enum mr_code (*check)(void *arg, struct mr_db *db, struct mr_err *err);
	/*
	 * May this program change the database as it stands? Asked in each transaction, once it
	 * has begun and before its jobs run: unless it answers MR_OK, all of them get this error,
	 * and nothing is changed.
	 */
	enum mr_code (*admit)(void *arg, struct mr_db *db, struct mr_err *err);
	/* A check failed: the connection was abandoned. */
	void (*lost)(void *arg, const struct mr_err *err);
	/* Open it anew. Asked for each transaction while there is no connection; jobs get this
	 * error until it succeeds. */
	enum mr_code (*open)(void *arg, struct mr_db **out, struct mr_err *err);
	void *arg;
};

/* Zero means the default. */
struct mr_queue_options {
	size_t waiting;
	size_t batch;
	struct mr_queue_guard guard;
};

/* Start the writer on `db`, which it owns from now on and closes at the end; on failure `db` stays
 * the caller's. `options` may be NULL. */
MR_CHECK enum mr_code mr_queue_open(struct mr_db *db, const struct mr_queue_options *options,
	struct mr_queue **out, struct mr_err *err);
/*
 * Run the jobs that wait, answer them, refuse new ones with MR_EBUSY, end the thread. Can be called
 * from any thread but the writer's, more than once.
 */
void mr_queue_stop(struct mr_queue *queue);
/* Stop, close the database, free. Threads inside mr_queue_run() get their answers; no other call
 * may follow. NULL is fine. */
void mr_queue_close(struct mr_queue *queue);
/* For MR_CLEANUP. */
void mr_queue_closep(struct mr_queue **queue);

/*
 * Run the job and wait until it is durably committed or failed; the result is the job's own, or why
 * the transaction could not be committed: MR_EIO (disk full), MR_EBUSY (another process did not
 * stop writing within the busy timeout). When the queue is full this waits for room. MR_EBUSY after
 * stop.
 */
MR_CHECK enum mr_code mr_queue_run(struct mr_queue *queue, const struct mr_queue_job *job,
	struct mr_err *err);
/*
 * Hand the job over and return; `done` gets the result. `arg` must live until then. MR_EBUSY when
 * the queue is full or stopping: then `done` is not called. Jobs of one thread run in their order.
 */
MR_CHECK enum mr_code mr_queue_submit(struct mr_queue *queue, const struct mr_queue_job *job,
	struct mr_err *err);

struct mr_queue_stats {
	size_t depth;     /* jobs waiting now */
	uint64_t jobs;    /* answered */
	uint64_t failed;  /* of these, not with MR_OK */
	uint64_t batches; /* transactions answered */
	uint64_t split;   /* transactions given up and run again in halves */
	uint64_t busy; /* transactions that could not begin or end: another process was writing */
	uint64_t largest; /* jobs in the largest transaction */
};

void mr_queue_stats(struct mr_queue *queue, struct mr_queue_stats *out);
