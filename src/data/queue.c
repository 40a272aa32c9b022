/*
 * data/queue.c - The writer thread that owns the connection and commits all waiting jobs in one
 * transaction.
 */
#include "data/queue.h"

#include "base/crash.h"
#include "data/db_driver.h"

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

/*
 * A thread in mr_queue_run(), on its stack. Each sleeps by itself, so that an answer wakes the one
 * it is for; and once answered it touches the queue no more.
 */
struct waiter {
	sem_t answered;
	enum mr_code rc;
	struct mr_err *err;
};

struct slot {
	struct mr_queue_job job;
	struct waiter *waiter; /* or NULL: `job.done` gets the answer */
};

struct entry {
	struct slot slot;
	enum mr_code rc;
	struct mr_err err;
};

struct mr_queue {
	struct mr_arena *arena;
	pthread_t writer;
	const char *path; /* of the database */
	struct mr_queue_guard guard;
	struct mr_db *db;    /* the writer's alone; NULL while it is lost, see `guard` */
	struct entry *batch; /* the writer's alone: what it has taken */
	size_t batch_max;
	size_t careful; /* batches that are still to be run with savepoints */

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t work;  /* the writer sleeps here when there is none */
	pthread_cond_t room;  /* runners sleep here when the ring is full */
	pthread_cond_t ended; /* for those who wait for the end */
	struct slot *ring;    /* `len` jobs that wait, from `first` on */
	size_t ring_max;
	size_t first;
	size_t len;
	size_t seeking_room;
	bool writer_sleeps;
	bool stopping;
	bool joining;
	bool joined;
	struct mr_queue_stats stats;
};

enum outcome {
	SETTLED, /* every job has its result */
	SPOILED, /* one job made the transaction unusable: it has its result, the others have
		    none */
	UNCLEAN, /* one failed when it had changed something, and there is no savepoint to go back
		    to; or it is not known which */
};

enum { CAREFUL_BATCHES = 64 }; /* after such a failure, others are likely */

static enum outcome call_job(struct mr_db *db, struct entry *entry)
{
	entry->rc = entry->slot.job.run(db, entry->slot.job.arg, &entry->err);
	assert(mr_db_statements_in_use(db) == 0);
	if (mr_db_in_transaction(db))
		return SETTLED;
	if (!entry->rc)
		entry->rc = mr_err_set(&entry->err, MR_EINTERNAL,
			"a job ended the writer's transaction");
	return SPOILED;
}

static enum outcome run_bare(struct mr_db *db, struct entry *entry)
{
	int64_t before = mr_db_total_changes(db);

	if (call_job(db, entry) == SPOILED)
		return SPOILED;
	return entry->rc && mr_db_total_changes(db) != before ? UNCLEAN : SETTLED;
}

/* What the job has sent without waiting: its failure is the job's. */
static void settle_sent(struct mr_db *db, struct entry *entry)
{
	struct mr_err err;
	enum mr_code rc = mr_db_settle(db, &err);

	if (!rc || entry->rc)
		return;
	entry->rc = rc;
	entry->err = err;
}

static enum outcome run_careful(struct mr_db *db, struct entry *entry)
{
	struct mr_err ignored;

	entry->rc = mr_db_run(db, "SAVEPOINT job", &entry->err);
	if (entry->rc || call_job(db, entry) == SPOILED)
		return SPOILED;
	settle_sent(db, entry);
	if (entry->rc && mr_db_run(db, "ROLLBACK TO SAVEPOINT job", &ignored))
		return SPOILED;
	if (mr_db_run(db, "RELEASE SAVEPOINT job", &ignored)) {
		if (!entry->rc) {
			entry->err = ignored;
			entry->rc = ignored.code;
		}
		return SPOILED;
	}
	return SETTLED;
}

/* What it sends is its own failure only when it is waited for. */
static enum outcome run_after(struct mr_db *db, struct entry *entry, bool is_careful)
{
	if (entry->rc || !entry->slot.job.after)
		return SETTLED;
	entry->rc = entry->slot.job.after(db, entry->slot.job.arg, &entry->err);
	assert(mr_db_statements_in_use(db) == 0);
	if (is_careful)
		settle_sent(db, entry);
	return entry->rc ? SPOILED : SETTLED;
}

static void fail_all(struct entry *entries, size_t count, const struct mr_err *err)
{
	for (size_t i = 0; i < count; i++) {
		entries[i].rc = err->code;
		entries[i].err = *err;
	}
}

static void count_busy(struct mr_queue *queue, enum mr_code rc)
{
	if (rc != MR_EBUSY)
		return;
	pthread_mutex_lock(&queue->lock);
	queue->stats.busy++;
	pthread_mutex_unlock(&queue->lock);
}

static enum mr_code commit(struct mr_db *db, struct mr_err *err)
{
	int os_errno = mr_crash_fail("queue.commit");

	if (os_errno)
		return mr_err_os(err, os_errno, "database %s: COMMIT", mr_db_path(db));
	return mr_db_commit(db, err);
}

/* Is what was committed, or will be, in the database? If not, the connection is given up. */
static enum mr_code check(struct mr_queue *queue, struct mr_err *err)
{
	enum mr_code rc;

	if (!queue->guard.check)
		return MR_OK;
	rc = queue->guard.check(queue->guard.arg, queue->db, err);
	if (!rc)
		return MR_OK;
	mr_db_abandon(queue->db);
	queue->db = NULL;
	queue->guard.lost(queue->guard.arg, err);
	return rc;
}

/* Have a connection to what is the database now. */
static enum mr_code have_database(struct mr_queue *queue, struct mr_err *err)
{
	if (queue->db && !check(queue, err))
		return MR_OK;
	return queue->guard.open(queue->guard.arg, &queue->db, err);
}

/* Begin the transaction, if this program may write. */
static enum mr_code begin(struct mr_queue *queue, struct mr_err *err)
{
	enum mr_code rc = mr_db_begin(queue->db, MR_DB_IMMEDIATE, err);

	if (rc) {
		count_busy(queue, rc);
		return rc;
	}
	mr_crash_point("queue.begun");
	if (queue->guard.admit)
		rc = queue->guard.admit(queue->guard.arg, queue->db, err);
	if (rc)
		mr_db_rollback(queue->db);
	return rc;
}

/* All jobs in one transaction. */
static enum outcome try_batch(struct mr_queue *queue, struct entry *entries, size_t count)
{
	enum outcome (*run_job)(struct mr_db *, struct entry *) =
		queue->careful ? run_careful : run_bare;
	enum outcome outcome = SETTLED;
	struct mr_db *db;
	struct mr_err err;
	enum mr_code rc = have_database(queue, &err);

	if (rc) {
		fail_all(entries, count, &err);
		return SETTLED;
	}
	db = queue->db;
	rc = begin(queue, &err);
	if (rc) {
		fail_all(entries, count, &err);
		return SETTLED;
	}
	for (size_t i = 0; i < count; i++) {
		outcome = run_job(db, &entries[i]);
		if (outcome)
			return outcome;
		mr_crash_point("queue.job_done");
	}
	for (size_t i = 0; i < count; i++) {
		outcome = run_after(db, &entries[i], queue->careful > 0);
		if (outcome)
			return outcome;
	}
	rc = mr_db_settle(db, &err);
	if (rc && !queue->careful)
		return UNCLEAN; /* whose failure it is comes out when each job is waited for */
	if (rc) {
		fail_all(entries, count, &err);
		mr_db_rollback(db);
		return SETTLED;
	}
	mr_crash_point("queue.before_commit");
	rc = commit(db, &err);
	if (rc) {
		count_busy(queue, rc);
		/* A job's own failure may rest on another job's work, which was rolled back: so
		 * all jobs get the error of the commit. */
		fail_all(entries, count, &err);
		mr_db_rollback(db);
		/* A deferred constraint is one job's fault; a full disk is not. */
		return rc == MR_ECONFLICT ? SPOILED : SETTLED;
	}
	mr_crash_point("queue.committed");
	if (check(queue, &err)) {
		/* Committed, but perhaps to a lost file: a retry could do it twice. */
		err.code = MR_EIO;
		(void)mr_err_wrap(&err,
			"it is not known whether this was stored; look before you "
			"ask for it again");
		fail_all(entries, count, &err);
	}
	return SETTLED;
}

/* The waiter's memory may be gone as soon as it is woken. */
static void answer(struct entry *entry)
{
	struct waiter *waiter = entry->slot.waiter;

	if (!waiter) {
		entry->slot.job.done(entry->slot.job.arg, entry->rc, &entry->err);
		return;
	}
	if (entry->rc)
		*waiter->err = entry->err;
	waiter->rc = entry->rc;
	sem_post(&waiter->answered);
}

static void settle(struct mr_queue *queue, struct entry *entries, size_t count)
{
	size_t failed = 0;

	for (size_t i = 0; i < count; i++)
		failed += entries[i].rc != MR_OK;
	pthread_mutex_lock(&queue->lock);
	queue->stats.jobs += count;
	queue->stats.failed += failed;
	queue->stats.batches++;
	if (count > queue->stats.largest)
		queue->stats.largest = count;
	pthread_mutex_unlock(&queue->lock);
	for (size_t i = 0; i < count; i++)
		answer(&entries[i]);
}

/* Halve a spoiled batch until the job that spoils it is alone: at most nine times. */
static void run_batch(struct mr_queue *queue, struct entry *entries, size_t count)
{
	enum outcome outcome = try_batch(queue, entries, count);

	if (outcome == UNCLEAN) {
		mr_db_rollback(queue->db); /* which is there: only SETTLED loses it */
		queue->careful = CAREFUL_BATCHES;
		outcome = try_batch(queue, entries, count);
	} else if (queue->careful) {
		queue->careful--;
	}
	if (outcome == SPOILED) {
		mr_db_rollback(queue->db);
		if (count > 1) {
			pthread_mutex_lock(&queue->lock);
			queue->stats.split++;
			pthread_mutex_unlock(&queue->lock);
			run_batch(queue, entries, count / 2);
			run_batch(queue, entries + count / 2, count - count / 2);
			return;
		}
	}
	settle(queue, entries, count);
}

/* Move waiting jobs to the batch; the lock is held. */
static size_t take(struct mr_queue *queue)
{
	size_t count = queue->len < queue->batch_max ? queue->len : queue->batch_max;
	size_t seekers = queue->seeking_room < count ? queue->seeking_room : count;

	for (size_t i = 0; i < count; i++) {
		queue->batch[i].slot = queue->ring[queue->first];
		queue->first = (queue->first + 1) % queue->ring_max;
	}
	queue->len -= count;
	while (seekers-- > 0)
		pthread_cond_signal(&queue->room);
	return count;
}

static void *write_all(void *arg)
{
	struct mr_queue *queue = arg;

	pthread_mutex_lock(&queue->lock);
	for (;;) {
		size_t count;

		while (queue->len == 0 && !queue->stopping) {
			queue->writer_sleeps = true;
			pthread_cond_wait(&queue->work, &queue->lock);
		}
		queue->writer_sleeps = false;
		if (queue->len == 0)
			break;
		count = take(queue);
		pthread_mutex_unlock(&queue->lock);
		run_batch(queue, queue->batch, count);
		/* After all jobs are answered: only the next batch has to wait for it. */
		if (queue->db)
			mr_db_trim_log(queue->db);
		pthread_mutex_lock(&queue->lock);
	}
	pthread_mutex_unlock(&queue->lock);
	return NULL;
}

/* Signals are for the program's other threads. */
static int start_writer(struct mr_queue *queue)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&queue->writer, NULL, write_all, queue);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void release(struct mr_queue *queue)
{
	pthread_cond_destroy(&queue->ended);
	pthread_cond_destroy(&queue->room);
	pthread_cond_destroy(&queue->work);
	pthread_mutex_destroy(&queue->lock);
	mr_arena_free(queue->arena);
}

enum mr_code mr_queue_open(struct mr_db *db, const struct mr_queue_options *options,
	struct mr_queue **out, struct mr_err *err)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_queue *queue = mr_arena_alloc(arena, sizeof(*queue));
	int rc;

	queue->arena = arena;
	queue->db = db;
	queue->path = mr_arena_strdup(arena, mr_db_path(db));
	if (options)
		queue->guard = options->guard;
	queue->ring_max = options && options->waiting ? options->waiting : MR_QUEUE_WAITING;
	queue->batch_max = options && options->batch ? options->batch : MR_QUEUE_BATCH;
	queue->ring = mr_arena_array(arena, queue->ring_max, sizeof(*queue->ring));
	queue->batch = mr_arena_array(arena, queue->batch_max, sizeof(*queue->batch));
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->work, NULL);
	pthread_cond_init(&queue->room, NULL);
	pthread_cond_init(&queue->ended, NULL);
	rc = start_writer(queue);
	if (rc) {
		release(queue);
		return mr_err_os(err, rc, "cannot start the writer of database %s", mr_db_path(db));
	}
	*out = queue;
	return MR_OK;
}

void mr_queue_stop(struct mr_queue *queue)
{
	assert(!pthread_equal(pthread_self(), queue->writer));
	pthread_mutex_lock(&queue->lock);
	queue->stopping = true;
	pthread_cond_signal(&queue->work);
	pthread_cond_broadcast(&queue->room);
	if (!queue->joining) {
		queue->joining = true;
		pthread_mutex_unlock(&queue->lock);
		pthread_join(queue->writer, NULL);
		pthread_mutex_lock(&queue->lock);
		queue->joined = true;
		pthread_cond_broadcast(&queue->ended);
	}
	/* Threads that waited for room must have left before the queue is freed. */
	while (!queue->joined || queue->seeking_room > 0)
		pthread_cond_wait(&queue->ended, &queue->lock);
	pthread_mutex_unlock(&queue->lock);
}

void mr_queue_close(struct mr_queue *queue)
{
	struct mr_err ignored;

	if (!queue)
		return;
	mr_queue_stop(queue);
	/* Closing would copy the log over another file at the path. */
	if (queue->db && !check(queue, &ignored))
		mr_db_close(queue->db);
	release(queue);
}

void mr_queue_closep(struct mr_queue **queue)
{
	mr_queue_close(*queue);
	*queue = NULL;
}

/* Wait until the ring has room or the queue stops; the lock is held. */
static void wait_for_room(struct mr_queue *queue)
{
	queue->seeking_room++;
	while (queue->len == queue->ring_max && !queue->stopping)
		pthread_cond_wait(&queue->room, &queue->lock);
	queue->seeking_room--;
	if (queue->stopping)
		pthread_cond_broadcast(&queue->ended);
}

static enum mr_code enqueue(struct mr_queue *queue, const struct mr_queue_job *job,
	struct waiter *waiter, struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&queue->lock);
	if (waiter && queue->len == queue->ring_max && !queue->stopping)
		wait_for_room(queue);
	if (queue->stopping) {
		rc = mr_err_set(err, MR_EBUSY,
			"database %s takes no more changes: the program is stopping", queue->path);
	} else if (queue->len == queue->ring_max) {
		rc = mr_err_set(err, MR_EBUSY,
			"database %s: %zu changes are waiting already; try again later",
			queue->path, queue->len);
	} else {
		queue->ring[(queue->first + queue->len++) % queue->ring_max] =
			(struct slot){ .job = *job, .waiter = waiter };
		if (queue->writer_sleeps)
			pthread_cond_signal(&queue->work);
		queue->writer_sleeps = false;
	}
	pthread_mutex_unlock(&queue->lock);
	return rc;
}

enum mr_code mr_queue_run(struct mr_queue *queue, const struct mr_queue_job *job,
	struct mr_err *err)
{
	struct waiter waiter = { .err = err };
	enum mr_code rc;

	/* The writer would wait for itself. */
	assert(!pthread_equal(pthread_self(), queue->writer));
	sem_init(&waiter.answered, 0, 0);
	rc = enqueue(queue, job, &waiter, err);
	if (!rc) {
		while (sem_wait(&waiter.answered) != 0)
			continue;
		rc = waiter.rc;
	}
	sem_destroy(&waiter.answered);
	return rc;
}

enum mr_code mr_queue_submit(struct mr_queue *queue, const struct mr_queue_job *job,
	struct mr_err *err)
{
	assert(job->done);
	return enqueue(queue, job, NULL, err);
}

void mr_queue_stats(struct mr_queue *queue, struct mr_queue_stats *out)
{
	pthread_mutex_lock(&queue->lock);
	*out = queue->stats;
	out->depth = queue->len;
	pthread_mutex_unlock(&queue->lock);
}
