/* tests/unit/data/test_queue.c */
#include "data/queue.h"
#include "test.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { BATCH = 10 };

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", test_dir(), name);
	return path;
}

static struct mr_db *open_db(int busy_timeout_ms)
{
	struct mr_db_options options = {
		.path = path_of("db"),
		.create = true,
		.busy_timeout_ms = busy_timeout_ms,
	};
	struct mr_db *db = NULL;
	struct mr_err err;

	CHECK_OK(mr_db_open(&options, &db, &err), err);
	CHECK_OK(mr_db_exec(db,
			 "CREATE TABLE IF NOT EXISTS one(n INTEGER PRIMARY KEY,"
			 " up INTEGER REFERENCES two(n) DEFERRABLE INITIALLY DEFERRED);"
			 "CREATE TABLE IF NOT EXISTS two(n INTEGER PRIMARY KEY, filler BLOB)",
			 &err),
		err);
	return db;
}

static struct mr_queue *open_queue(struct mr_queue_options options)
{
	struct mr_queue *queue = NULL;
	struct mr_err err;

	CHECK_OK(mr_queue_open(open_db(-1), &options, &queue, &err), err);
	return queue;
}

static int64_t number(const char *sql)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db(0);
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err err;
	bool row = false;

	CHECK_OK(mr_db_prepare(db, sql, &stmt, &err), err);
	CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
	return mr_stmt_int(stmt, 0);
}

/* How a job misbehaves. */
enum fault {
	GOOD,
	REFUSES,     /* before its first row */
	FAILS,       /* after its first row */
	FAILS_AFTER, /* in `after` */
	DANGLES,     /* a deferred constraint, seen at COMMIT */
	IS_TOO_BIG,  /* for the pages the database may have */
	ENDS,        /* rolls the transaction back */
};

/* A job that inserts `n` into both tables, and what became of it. */
struct task {
	int64_t n;
	enum fault fault;
	int runs;
	int answers;
	enum mr_code rc;
	struct mr_err err;
};

static enum mr_code insert(struct mr_db *db, const char *sql, int64_t n, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, n);
	return mr_stmt_run(stmt, err);
}

static enum mr_code run_task(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct task *task = arg;
	enum mr_code rc;

	task->runs++;
	if (task->fault == REFUSES)
		return mr_err_set(err, MR_EINVAL, "job %d refuses", (int)task->n);
	rc = insert(db,
		task->fault == DANGLES ? "INSERT INTO one(n, up) VALUES(?1, -1)"
				       : "INSERT INTO one(n) VALUES(?1)",
		task->n, err);
	if (rc)
		return rc;
	if (task->fault == FAILS)
		return mr_err_set(err, MR_EINVAL, "job %d fails", (int)task->n);
	if (task->fault == ENDS) {
		mr_db_rollback(db);
		return MR_OK;
	}
	return insert(db,
		task->fault == IS_TOO_BIG
			? "INSERT INTO two(n, filler) VALUES(?1, zeroblob(4000000))"
			: "INSERT INTO two(n) VALUES(?1)",
		task->n, err);
}

static enum mr_code after_task(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct task *task = arg;
	enum mr_code rc = insert(db, "UPDATE two SET filler = 'after' WHERE n = ?1", task->n, err);

	if (!rc && task->fault == FAILS_AFTER)
		rc = mr_err_set(err, MR_EINVAL, "job %d fails afterwards", (int)task->n);
	return rc;
}

static void note(void *arg, enum mr_code rc, const struct mr_err *err)
{
	struct task *task = arg;

	task->answers++;
	task->rc = rc;
	if (rc)
		task->err = *err;
}

static struct mr_queue_job job_of(struct task *task)
{
	return (struct mr_queue_job){ run_task, after_task, note, task };
}

/* A job that holds the writer until it is let go, so that a test decides what the next batch is. */
struct gate {
	sem_t entered;
	sem_t let_go;
};

static enum mr_code run_gate(struct mr_db *db, void *arg, struct mr_err *err)
{
	struct gate *gate = arg;

	(void)db;
	(void)err;
	sem_post(&gate->entered);
	sem_wait(&gate->let_go);
	return MR_OK;
}

static void ignore(void *arg, enum mr_code rc, const struct mr_err *err)
{
	(void)arg;
	(void)rc;
	(void)err;
}

static void close_gate(struct mr_queue *queue, struct gate *gate)
{
	struct mr_queue_job job = { .run = run_gate, .done = ignore, .arg = gate };
	struct mr_err err;

	sem_init(&gate->entered, 0, 0);
	sem_init(&gate->let_go, 0, 0);
	CHECK_OK(mr_queue_submit(queue, &job, &err), err);
	sem_wait(&gate->entered);
}

static void submit(struct mr_queue *queue, struct task *task)
{
	struct mr_queue_job job = job_of(task);
	struct mr_err err;

	CHECK_OK(mr_queue_submit(queue, &job, &err), err);
}

/* BATCH tasks from number `first` on, one of them with a fault, go into one batch. The gate must
 * stay until they are answered. */
static void submit_batch(struct mr_queue *queue, struct gate *gate, struct task tasks[BATCH],
	int first, enum fault fault, int at)
{
	close_gate(queue, gate);
	for (int i = 0; i < BATCH; i++) {
		tasks[i] = (struct task){ .n = first + i, .fault = i == at ? fault : GOOD };
		submit(queue, &tasks[i]);
	}
	sem_post(&gate->let_go);
}

/* BATCH tasks, one of them with a fault, are run in one batch, then the queue is stopped. */
static void run_batch(struct mr_queue *queue, struct task tasks[BATCH], enum fault fault, int at)
{
	struct gate gate;

	submit_batch(queue, &gate, tasks, 0, fault, at);
	mr_queue_stop(queue);
	for (int i = 0; i < BATCH; i++)
		CHECK_INT(tasks[i].answers, 1);
}

/* All but `at` are in both tables, and `at` in none. */
static void check_all_but(struct task tasks[BATCH], int at)
{
	for (int i = 0; i < BATCH; i++) {
		if (i != at)
			CHECK_OK(tasks[i].rc, tasks[i].err);
	}
	CHECK_INT(number("SELECT count(*) FROM one"), at < 0 ? BATCH : BATCH - 1);
	CHECK_INT(number("SELECT count(*) FROM one JOIN two USING(n) WHERE filler = 'after'"),
		at < 0 ? BATCH : BATCH - 1);
}

static void runs_a_job(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct task task = { .n = 7 };
	struct mr_queue_job job = job_of(&task);
	struct mr_queue_stats stats;
	struct mr_err err;

	CHECK_OK(mr_queue_run(queue, &job, &err), err);
	CHECK_INT(task.answers, 0);
	CHECK_INT(number("SELECT n FROM two"), 7);
	CHECK_INT(mr_queue_run(queue, &job, &err), MR_EEXISTS);
	CHECK(strstr(err.msg, "UNIQUE constraint failed: one.n"));
	mr_queue_stats(queue, &stats);
	CHECK_INT(stats.jobs, 2);
	CHECK_INT(stats.failed, 1);
	CHECK_INT(stats.batches, 2);
	CHECK_INT(stats.largest, 1);
	CHECK_INT(stats.depth, 0);
}

static void commits_many_at_once(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct mr_queue_stats stats;
	struct task tasks[BATCH];

	run_batch(queue, tasks, GOOD, -1);
	check_all_but(tasks, -1);
	mr_queue_stats(queue, &stats);
	CHECK_INT(stats.largest, BATCH);
	CHECK_INT(stats.batches, 2);
	CHECK_INT(stats.split, 0);
}

static void bounds_a_batch(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ .batch = 4 });
	struct mr_queue_stats stats;
	struct task tasks[BATCH];

	run_batch(queue, tasks, GOOD, -1);
	check_all_but(tasks, -1);
	mr_queue_stats(queue, &stats);
	CHECK_INT(stats.largest, 4);
	CHECK_INT(stats.batches, 4);
}

/* Each kind of fault, at the ends and in the middle: one fails, the others do not notice. */
static void isolates(enum fault fault, enum mr_code code, const char *why)
{
	static const int places[] = { 0, 4, BATCH - 1 };

	for (size_t i = 0; i < MR_LEN(places); i++) {
		struct mr_queue *queue MR_CLEANUP(mr_queue_closep) = NULL;
		struct task tasks[BATCH];
		struct mr_db *db;
		struct mr_err err;

		db = open_db(0);
		CHECK_OK(mr_db_exec(db,
				 "DELETE FROM one; DELETE FROM two; PRAGMA max_page_count=100",
				 &err),
			err);
		CHECK_OK(mr_queue_open(db, NULL, &queue, &err), err);
		run_batch(queue, tasks, fault, places[i]);
		CHECK_INT(tasks[places[i]].rc, code);
		if (!strstr(tasks[places[i]].err.msg, why))
			CHECK_STR(tasks[places[i]].err.msg, why);
		check_all_but(tasks, places[i]);
	}
}

static void isolates_a_job_that_refuses(void)
{
	isolates(REFUSES, MR_EINVAL, " refuses");
}

/* What changed nothing is no reason to run the others again. */
static void runs_all_once_beside_a_refusal(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct task tasks[BATCH];

	run_batch(queue, tasks, REFUSES, 4);
	for (int i = 0; i < BATCH; i++)
		CHECK_INT(tasks[i].runs, 1);
}

/* The first failure half way costs its batch a second run, the next ones cost nobody anything. */
static void is_careful_after_a_failure(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct task first[BATCH], second[BATCH], between = { .n = 2 * BATCH };
	struct mr_queue_job job = job_of(&between);
	struct gate gates[2];
	struct mr_err err;

	submit_batch(queue, &gates[0], first, 0, FAILS, 4);
	CHECK_OK(mr_queue_run(queue, &job, &err), err);
	submit_batch(queue, &gates[1], second, BATCH, FAILS, 4);
	mr_queue_stop(queue);
	for (int i = 0; i < BATCH; i++) {
		CHECK_INT(first[i].runs, i <= 4 ? 2 : 1);
		CHECK_INT(first[i].rc, i == 4 ? MR_EINVAL : MR_OK);
		CHECK_INT(second[i].runs, 1);
		CHECK_INT(second[i].rc, i == 4 ? MR_EINVAL : MR_OK);
	}
	CHECK_INT(number("SELECT count(*) FROM one JOIN two USING(n) WHERE filler = 'after'"),
		2 * (BATCH - 1) + 1);
}

static void isolates_a_job_that_fails(void)
{
	isolates(FAILS, MR_EINVAL, " fails");
}

static void isolates_a_failure_afterwards(void)
{
	isolates(FAILS_AFTER, MR_EINVAL, " fails afterwards");
}

static void isolates_a_deferred_constraint(void)
{
	isolates(DANGLES, MR_ECONFLICT, "FOREIGN KEY constraint failed");
}

static void isolates_a_full_disk(void)
{
	isolates(IS_TOO_BIG, MR_EIO, "disk full: free some space");
}

static void isolates_a_job_that_ends_the_transaction(void)
{
	isolates(ENDS, MR_EINTERNAL, "a job ended the writer's transaction");
}

static void fails_all_when_all_fail(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct task tasks[BATCH];
	struct gate gate;

	close_gate(queue, &gate);
	for (int i = 0; i < BATCH; i++) {
		tasks[i] = (struct task){ .n = i, .fault = FAILS_AFTER };
		submit(queue, &tasks[i]);
	}
	sem_post(&gate.let_go);
	mr_queue_stop(queue);
	for (int i = 0; i < BATCH; i++)
		CHECK_INT(tasks[i].rc, MR_EINVAL);
	CHECK_INT(number("SELECT count(*) FROM one"), 0);
}

/* The log cannot grow: COMMIT itself fails, for everyone; then there is room again. */
static void outlives_a_failed_commit(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct task tasks[BATCH], later = { .n = 99 };
	struct mr_queue_job job = job_of(&later);
	struct rlimit before, small;
	struct mr_err err;
	struct gate gate;
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(stat(path_of("db-wal"), &st), 0);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = (rlim_t)st.st_size;
	close_gate(queue, &gate);
	for (int i = 0; i < BATCH; i++) {
		tasks[i] = (struct task){ .n = i, .fault = i == 3 ? FAILS : GOOD };
		submit(queue, &tasks[i]);
	}
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
	sem_post(&gate.let_go);
	CHECK_INT(mr_queue_run(queue, &job, &err), MR_EIO);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	for (int i = 0; i < BATCH; i++) {
		CHECK_INT(tasks[i].rc, MR_EIO);
		CHECK(strstr(tasks[i].err.msg, "/db: "));
	}
	CHECK_OK(mr_queue_run(queue, &job, &err), err);
	CHECK_INT(number("SELECT count(*) FROM one"), 1);
	CHECK_INT(number("SELECT n FROM two"), 99);
}

static void says_that_another_writes(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct mr_db *other = open_db(0);
	struct task task = { .n = 1 };
	struct mr_queue_job job = job_of(&task);
	struct mr_queue_stats stats;
	struct mr_err err;

	CHECK_OK(mr_db_begin(other, MR_DB_IMMEDIATE, &err), err);
	CHECK_INT(mr_queue_run(queue, &job, &err), MR_EBUSY);
	CHECK(strstr(err.msg, "another process is writing"));
	CHECK_INT(task.runs, 0);
	mr_db_close(other);
	CHECK_OK(mr_queue_run(queue, &job, &err), err);
	mr_queue_stats(queue, &stats);
	CHECK_INT(stats.busy, 1);
}

struct runner {
	pthread_t thread;
	struct mr_queue *queue;
	struct task task;
	enum mr_code rc;
	struct mr_err err;
};

static void *run_one(void *arg)
{
	struct runner *runner = arg;
	struct mr_queue_job job = job_of(&runner->task);

	runner->rc = mr_queue_run(runner->queue, &job, &runner->err);
	return NULL;
}

static void start_runner(struct runner *runner, struct mr_queue *queue, int64_t n)
{
	*runner = (struct runner){ .queue = queue, .task = { .n = n } };
	CHECK_INT(pthread_create(&runner->thread, NULL, run_one, runner), 0);
}

static void pushes_back_when_full(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ .waiting = 2 });
	struct task tasks[3] = { { .n = 1 }, { .n = 2 }, { .n = 3 } };
	struct mr_queue_job job = job_of(&tasks[2]);
	struct runner runners[4];
	struct mr_queue_stats stats;
	struct mr_err err;
	struct gate gate;
	char want[256];

	close_gate(queue, &gate);
	submit(queue, &tasks[0]);
	submit(queue, &tasks[1]);
	CHECK_INT(mr_queue_submit(queue, &job, &err), MR_EBUSY);
	snprintf(want, sizeof(want), "database %s: 2 changes are waiting already; try again later",
		path_of("db"));
	CHECK_STR(err.msg, want);
	mr_queue_stats(queue, &stats);
	CHECK_INT(stats.depth, 2);
	for (int i = 0; i < 4; i++)
		start_runner(&runners[i], queue, 10 + i);
	sem_post(&gate.let_go);
	for (int i = 0; i < 4; i++) {
		pthread_join(runners[i].thread, NULL);
		CHECK_OK(runners[i].rc, runners[i].err);
	}
	mr_queue_stop(queue);
	CHECK_INT(tasks[2].answers, 0);
	CHECK_INT(number("SELECT count(*) FROM two"), 6);
}

/* Whoever had been accepted is answered; whoever still sought room is refused; nobody hangs. */
static void closes_while_busy(void)
{
	struct mr_queue *queue = open_queue((struct mr_queue_options){ .waiting = 4 });
	struct task tasks[3] = { { .n = 1 }, { .n = 2 }, { .n = 3 } };
	struct runner runners[6];
	struct gate gate;
	int good = 0;

	close_gate(queue, &gate);
	for (int i = 0; i < 3; i++)
		submit(queue, &tasks[i]);
	for (int i = 0; i < 6; i++)
		start_runner(&runners[i], queue, 10 + i);
	sem_post(&gate.let_go);
	mr_queue_stop(queue);
	for (int i = 0; i < 6; i++) {
		pthread_join(runners[i].thread, NULL);
		if (runners[i].rc) {
			CHECK_INT(runners[i].rc, MR_EBUSY);
			CHECK(strstr(runners[i].err.msg,
				"takes no more changes: the program is stopping"));
		} else {
			good++;
		}
	}
	for (int i = 0; i < 3; i++) {
		CHECK_INT(tasks[i].answers, 1);
		CHECK_OK(tasks[i].rc, tasks[i].err);
	}
	mr_queue_close(queue);
	CHECK_INT(number("SELECT count(*) FROM two"), 3 + good);
}

static void refuses_after_stop(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct task task = { .n = 1 };
	struct mr_queue_job job = job_of(&task);
	struct mr_err err;
	char want[256];

	mr_queue_stop(queue);
	mr_queue_stop(queue);
	snprintf(want, sizeof(want), "database %s takes no more changes: the program is stopping",
		path_of("db"));
	CHECK_INT(mr_queue_run(queue, &job, &err), MR_EBUSY);
	CHECK_STR(err.msg, want);
	CHECK_INT(mr_queue_submit(queue, &job, &err), MR_EBUSY);
	CHECK_STR(err.msg, want);
	CHECK_INT(task.answers + task.runs, 0);
	mr_queue_close(NULL);
}

/* A `done` that submits the next job of a chain. */
struct chain {
	struct mr_queue *queue;
	struct task task;
	sem_t finished;
};

static enum mr_code run_chain(struct mr_db *db, void *arg, struct mr_err *err)
{
	return run_task(db, &((struct chain *)arg)->task, err);
}

static void continue_chain(void *arg, enum mr_code rc, const struct mr_err *err)
{
	struct chain *chain = arg;
	struct mr_queue_job job = { .run = run_chain, .done = continue_chain, .arg = chain };
	struct mr_err refused;

	if (rc)
		test_fail(__FILE__, __LINE__, "%s", err->msg);
	if (++chain->task.n == 5)
		sem_post(&chain->finished);
	else
		CHECK_OK(mr_queue_submit(chain->queue, &job, &refused), refused);
}

static void may_submit_when_answered(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ 0 });
	struct chain chain = { .queue = queue };
	struct mr_queue_job job = { .run = run_chain, .done = continue_chain, .arg = &chain };
	struct mr_err err;

	sem_init(&chain.finished, 0, 0);
	CHECK_OK(mr_queue_submit(queue, &job, &err), err);
	sem_wait(&chain.finished);
	CHECK_INT(number("SELECT count(*) FROM two"), 5);
}

enum { PRODUCERS = 8, EACH = 40 };

struct producer {
	pthread_t thread;
	struct mr_queue *queue;
	int64_t first;
};

/* Every seventh job fails in one way or another. */
static void *produce(void *arg)
{
	static const enum fault faults[] = { FAILS, FAILS_AFTER, DANGLES };
	struct producer *producer = arg;

	for (int64_t n = producer->first; n < producer->first + EACH; n++) {
		struct task task = { .n = n, .fault = n % 7 ? GOOD : faults[n / 7 % 3] };
		struct mr_queue_job job = job_of(&task);
		struct mr_err err;
		enum mr_code rc = mr_queue_run(producer->queue, &job, &err);

		CHECK((rc == MR_OK) == (task.fault == GOOD));
	}
	return NULL;
}

static void serves_many_threads(void)
{
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) =
		open_queue((struct mr_queue_options){ .waiting = 5 });
	struct producer producers[PRODUCERS];
	struct mr_queue_stats stats;
	int64_t good = 0;

	for (int i = 0; i < PRODUCERS; i++) {
		producers[i] = (struct producer){ .queue = queue, .first = i * EACH };
		CHECK_INT(pthread_create(&producers[i].thread, NULL, produce, &producers[i]), 0);
	}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(producers[i].thread, NULL);
	for (int n = 0; n < PRODUCERS * EACH; n++)
		good += n % 7 != 0;
	CHECK_INT(number("SELECT count(*) FROM one"), good);
	CHECK_INT(number("SELECT count(*) FROM one JOIN two USING(n) WHERE filler = 'after'"),
		good);
	mr_queue_stats(queue, &stats);
	CHECK_INT(stats.jobs, PRODUCERS * EACH);
	CHECK_INT(stats.failed, PRODUCERS * EACH - good);
}

/* A guard whose verdicts the test gives. */
struct watchman {
	int checks;
	int bad_check; /* this one fails, counted from 1 */
	int lost;
	bool shut; /* it cannot be opened anew yet */
	bool is_ours_no_more;
};

static enum mr_code watch_check(void *arg, struct mr_db *db, struct mr_err *err)
{
	struct watchman *watchman = arg;

	(void)db;
	if (++watchman->checks == watchman->bad_check)
		return mr_err_set(err, MR_EIO, "it is gone");
	return MR_OK;
}

static enum mr_code watch_admit(void *arg, struct mr_db *db, struct mr_err *err)
{
	const struct watchman *watchman = arg;

	CHECK(mr_db_in_transaction(db));
	return watchman->is_ours_no_more ? mr_err_set(err, MR_ECONFLICT, "it is another's") : MR_OK;
}

static void watch_lost(void *arg, const struct mr_err *err)
{
	struct watchman *watchman = arg;

	watchman->lost++;
	CHECK_STR(err->msg, "it is gone");
}

static enum mr_code watch_open(void *arg, struct mr_db **out, struct mr_err *err)
{
	struct watchman *watchman = arg;

	if (watchman->shut)
		return mr_err_set(err, MR_EBUSY, "it is gone still");
	*out = open_db(-1);
	return MR_OK;
}

static struct mr_queue *open_guarded(struct watchman *watchman)
{
	return open_queue((struct mr_queue_options){
		.guard = { watch_check, watch_admit, watch_lost, watch_open, watchman } });
}

/* What was committed to something that is not the database is not acknowledged. */
static void acknowledges_only_what_is_in_the_database(void)
{
	struct watchman watchman = { .bad_check = 4 };
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) = open_guarded(&watchman);
	struct task tasks[BATCH];
	struct gate gate;

	/* Checks 1 and 2 are the gate's, 3 and 4 the batch's. */
	submit_batch(queue, &gate, tasks, 0, GOOD, -1);
	mr_queue_stop(queue);
	CHECK_INT(watchman.lost, 1);
	for (int i = 0; i < BATCH; i++) {
		CHECK_INT(tasks[i].answers, 1);
		CHECK_INT(tasks[i].runs, 1);
		CHECK_INT(tasks[i].rc, MR_EIO);
		CHECK_STR(tasks[i].err.msg,
			"it is not known whether this was stored; look before you ask for it "
			"again: it is gone");
	}
}

/* One that is gone before a transaction begins is replaced first: nobody notices. */
static void opens_it_anew(void)
{
	struct watchman watchman = { .bad_check = 3 };
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) = open_guarded(&watchman);
	struct task first = { .n = 1 }, second = { .n = 2 };
	struct mr_queue_job jobs[] = { job_of(&first), job_of(&second) };
	struct mr_err err;

	CHECK_OK(mr_queue_run(queue, &jobs[0], &err), err);
	CHECK_OK(mr_queue_run(queue, &jobs[1], &err), err);
	CHECK_INT(watchman.lost, 1);
	CHECK_INT(number("SELECT count(*) FROM one"), 2);
}

static void refuses_until_it_can_be_opened(void)
{
	struct watchman watchman = { .bad_check = 1, .shut = true };
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) = open_guarded(&watchman);
	struct task task = { .n = 1 };
	struct mr_queue_job job = job_of(&task);
	struct mr_err err;

	for (int i = 0; i < 3; i++) {
		CHECK_INT(mr_queue_run(queue, &job, &err), MR_EBUSY);
		CHECK_STR(err.msg, "it is gone still");
	}
	CHECK_INT(task.runs, 0);
	CHECK_INT(watchman.lost, 1);
	watchman.shut = false;
	CHECK_OK(mr_queue_run(queue, &job, &err), err);
	CHECK_INT(number("SELECT count(*) FROM one"), 1);
}

static void changes_nothing_that_it_may_not_change(void)
{
	struct watchman watchman = { .is_ours_no_more = true };
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) = open_guarded(&watchman);
	struct task task = { .n = 1 };
	struct mr_queue_job job = job_of(&task);
	struct mr_err err;

	CHECK_INT(mr_queue_run(queue, &job, &err), MR_ECONFLICT);
	CHECK_STR(err.msg, "it is another's");
	CHECK_INT(task.runs, 0);
	CHECK_INT(watchman.lost, 0);
	watchman.is_ours_no_more = false;
	CHECK_OK(mr_queue_run(queue, &job, &err), err);
	CHECK_INT(number("SELECT count(*) FROM one"), 1);
}

/* Nor is it written to when the queue is closed. */
static void closes_without_a_database(void)
{
	struct watchman watchman = { .bad_check = 1, .shut = true };
	struct mr_queue *queue MR_CLEANUP(mr_queue_closep) = open_guarded(&watchman);
	struct stat st;

	mr_queue_closep(&queue);
	CHECK_INT(watchman.lost, 1);
	CHECK_INT(stat(path_of("db-wal"), &st), 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(runs_a_job),
		TEST(commits_many_at_once),
		TEST(bounds_a_batch),
		TEST(isolates_a_job_that_refuses),
		TEST(runs_all_once_beside_a_refusal),
		TEST(isolates_a_job_that_fails),
		TEST(is_careful_after_a_failure),
		TEST(isolates_a_failure_afterwards),
		TEST(isolates_a_deferred_constraint),
		TEST(isolates_a_full_disk),
		TEST(isolates_a_job_that_ends_the_transaction),
		TEST(fails_all_when_all_fail),
		TEST(outlives_a_failed_commit),
		TEST(says_that_another_writes),
		TEST(pushes_back_when_full),
		TEST(closes_while_busy),
		TEST(refuses_after_stop),
		TEST(may_submit_when_answered),
		TEST(serves_many_threads),
		TEST(acknowledges_only_what_is_in_the_database),
		TEST(opens_it_anew),
		TEST(refuses_until_it_can_be_opened),
		TEST(changes_nothing_that_it_may_not_change),
		TEST(closes_without_a_database),
	};
	return test_main(tests, MR_LEN(tests));
}
