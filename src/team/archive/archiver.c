/* team/archive/archiver.c - the background thread that archives queued changes. */
#include "base/log.h"
#include "base/oom.h"
#include "team/archive/archive.h"
#include "team/archive/archive_repair.h"
#include "team/archive/archive_round.h"
#include "team/archive/archive_sql.h"
#include "team/archive/archive_take.h"
#include "team/store/duty.h"
#include "team/store/root_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	DUTY_MS = 250,     /* whether it is our duty is looked at so often */
	LOOK_MS = 2000,    /* rows queued by other processes are noticed within this time */
	IDLE_MS = 1000,    /* after so much idle time, tidy up */
	REST_MIN_MS = 100, /* after a round, ... */
	REST_MAX_MS = 500,
	BEHIND_MS = 1000,  /* unless a row has waited for so long */
	BACKOFF_MS = 1000, /* after a failure, twice as long each time */
	BACKOFF_MAX_MS = 60000,
	MEND_MS = 50,  /* between looks for torn files */
	TROUBLES = 64, /* projects that fail at once; more are tried as if they did not */
};

/* A project that could not be archived. */
struct trouble {
	int64_t project_id;
	int64_t delay_ms;
	int64_t next_ms; /* no attempt before this time */
};

struct mr_team_archiver {
	struct mr_team *team;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	bool stop;
	bool poked;
	int64_t commits, rows;
	int64_t failing_since_ts;
	char last_error[MR_ERR_MSG_BYTES];

	/* The thread's own. */
	struct mr_team_round *round;
	struct trouble troubles[TROUBLES];
	size_t trouble_count;
	bool settled; /* the archive is kept here, and what it lacks is queued */
};

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

static struct trouble *find_trouble(struct mr_team_archiver *archiver, int64_t project_id)
{
	for (size_t i = 0; i < archiver->trouble_count; i++) {
		if (archiver->troubles[i].project_id == project_id)
			return &archiver->troubles[i];
	}
	return NULL;
}

static void note_trouble(struct mr_team_archiver *archiver, int64_t project_id,
	const struct mr_err *err)
{
	struct trouble *trouble = find_trouble(archiver, project_id);

	if (!trouble && archiver->trouble_count < TROUBLES) {
		trouble = &archiver->troubles[archiver->trouble_count++];
		*trouble = (struct trouble){ .project_id = project_id };
	}
	if (trouble) {
		trouble->delay_ms = trouble->delay_ms ? 2 * trouble->delay_ms : BACKOFF_MS;
		if (trouble->delay_ms > BACKOFF_MAX_MS)
			trouble->delay_ms = BACKOFF_MAX_MS;
		trouble->next_ms = now_ms() + trouble->delay_ms;
	}
	mr_log(MR_LOG_WARN, "team.archive.failed", "%s; tried again in %lld s", err->msg,
		(long long)(trouble ? trouble->delay_ms / 1000 : BACKOFF_MS / 1000));
	pthread_mutex_lock(&archiver->lock);
	if (!archiver->failing_since_ts)
		archiver->failing_since_ts = mr_clock_wall_us(archiver->team->clock);
	memcpy(archiver->last_error, err->msg, sizeof(archiver->last_error));
	pthread_mutex_unlock(&archiver->lock);
}

static void end_trouble(struct mr_team_archiver *archiver, int64_t project_id)
{
	struct trouble *trouble = find_trouble(archiver, project_id);

	if (!trouble)
		return;
	*trouble = archiver->troubles[--archiver->trouble_count];
	mr_log(MR_LOG_INFO, "team.archive.mended", "project %lld is archived again",
		(long long)project_id);
	if (archiver->trouble_count > 0)
		return;
	pthread_mutex_lock(&archiver->lock);
	archiver->failing_since_ts = 0;
	pthread_mutex_unlock(&archiver->lock);
}

/* Archive one project; `*worked`: rows were done. */
static void serve(struct mr_ctx *cx, struct mr_team_archiver *archiver, int64_t project_id,
	bool *worked)
{
	struct trouble *trouble = find_trouble(archiver, project_id);
	struct mr_team_round_result result;
	enum mr_code rc;

	if (trouble && now_ms() < trouble->next_ms)
		return;
	if (trouble)
		mr_team_round_retry(archiver->round);
	rc = mr_team_round_go(cx, archiver->round, project_id, 0, &result);
	archiver->settled = archiver->settled && !result.elsewhere;
	*worked = *worked || result.rows > 0;
	pthread_mutex_lock(&archiver->lock);
	archiver->commits += (int64_t)result.commits;
	archiver->rows += (int64_t)result.rows;
	pthread_mutex_unlock(&archiver->lock);
	if (rc)
		note_trouble(archiver, project_id, &cx->err);
	else if (!result.busy && result.rows > 0)
		end_trouble(archiver, project_id);
}

/* Is it for this process to archive? Where several servers have a storage root each, the archive
 * comes to that of the one who does. */
static bool may_archive(struct mr_team_archiver *archiver)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena,
		.clock = archiver->team->clock,
		.rand = archiver->team->rand };
	struct trouble *trouble = find_trouble(archiver, 0);

	if (!mr_team_duty_is_mine(archiver->team)) {
		archiver->settled = false;
		return false;
	}
	if (archiver->settled)
		return true;
	if (trouble && now_ms() < trouble->next_ms)
		return false;
	if (mr_team_place_take(&cx, archiver->team, true, &archiver->settled))
		note_trouble(archiver, 0, &cx.err);
	return archiver->settled;
}

/* All projects once; true when something was done, so that it is worth looking again. */
static bool go_round(struct mr_team_archiver *archiver)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena,
		.clock = archiver->team->clock,
		.rand = archiver->team->rand };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t *ids = NULL;
	size_t len = 0;
	bool worked = false;
	enum mr_code rc = mr_team_read(&cx, archiver->team, &reader);

	if (!rc)
		rc = mr_team_archive_projects(&cx, reader.db, &ids, &len);
	mr_team_read_done(&reader);
	if (rc)
		note_trouble(archiver, 0, &cx.err);
	else
		end_trouble(archiver, 0);
	for (size_t i = 0; i < len; i++)
		serve(&cx, archiver, ids[i], &worked);
	return worked;
}

static struct timespec after_ms(int64_t ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	return until;
}

/* Have the oldest rows waited for long? */
static bool is_behind(struct mr_team_archiver *archiver)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = archiver->team->clock };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t oldest_ts = 0;

	return !mr_team_read(&cx, archiver->team, &reader) &&
		!mr_team_archive_oldest(&cx, reader.db, &oldest_ts) && oldest_ts &&
		mr_clock_wall_us(cx.clock) - oldest_ts > BEHIND_MS * INT64_C(1000);
}

/*
 * After a round, sleep for twice as long as it took: writers need the processors more, and what
 * they queue meanwhile becomes one larger commit.
 */
static void rest(struct mr_team_archiver *archiver, int64_t took_ms)
{
	int64_t ms = 2 * took_ms < REST_MIN_MS ? REST_MIN_MS : 2 * took_ms;
	struct timespec until = after_ms(ms < REST_MAX_MS ? ms : REST_MAX_MS);
	int rc = 0;

	if (is_behind(archiver))
		return;
	pthread_mutex_lock(&archiver->lock);
	while (!archiver->stop && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&archiver->wake, &archiver->lock, &until);
	pthread_mutex_unlock(&archiver->lock);
}

/* Sleep until something is queued, or for `ms`; false when the thread must end. */
static bool doze(struct mr_team_archiver *archiver, int ms, bool *poked)
{
	struct timespec until = after_ms(ms);
	int rc = 0;
	bool stop;

	pthread_mutex_lock(&archiver->lock);
	while (!archiver->stop && !archiver->poked && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&archiver->wake, &archiver->lock, &until);
	*poked = archiver->poked;
	archiver->poked = false;
	stop = archiver->stop;
	pthread_mutex_unlock(&archiver->lock);
	return !stop;
}

static void mend(struct mr_team_archiver *archiver)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena,
		.clock = archiver->team->clock,
		.rand = archiver->team->rand };

	mr_team_round_repair(&cx, archiver->round);
}

static void *run(void *arg)
{
	struct mr_team_archiver *archiver = arg;
	int64_t busy_ms = now_ms();
	bool tidy = true, poked = true, torn = true;
	struct mr_team_archive_repairs *mending =
		mr_team_archive_repairs_new(archiver->team->config.storage_root,
			archiver->team->clock);

	mend(archiver);
	do {
		int64_t begun_ms = now_ms();

		if (!may_archive(archiver)) {
			tidy = false;
		} else if (go_round(archiver)) {
			busy_ms = now_ms();
			tidy = true;
			rest(archiver, busy_ms - begun_ms);
		} else if (tidy && !poked && now_ms() - busy_ms >= IDLE_MS) {
			mr_team_round_tidy(archiver->round, &tidy);
		}
		/* Between rounds, so that neither delays the other much. */
		if (torn)
			mr_team_archive_repairs_some(mending, &torn);
	} while (doze(archiver,
		torn                         ? MEND_MS
			: !archiver->settled ? DUTY_MS
			: tidy               ? IDLE_MS
					     : LOOK_MS,
		&poked));
	mr_team_archive_repairs_free(mending);
	return NULL;
}

enum mr_code mr_team_archive_start(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_archiver *archiver = calloc(1, sizeof(*archiver));
	pthread_condattr_t attributes;
	int number;

	if (!archiver)
		mr_oom(sizeof(*archiver));
	archiver->team = team;
	archiver->round = mr_team_round_new(team);
	pthread_mutex_init(&archiver->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&archiver->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	number = pthread_create(&archiver->thread, NULL, run, archiver);
	if (number) {
		mr_team_round_free(archiver->round, false);
		free(archiver);
		return mr_err_os(&cx->err, number, "cannot start the archiver");
	}
	pthread_mutex_lock(&team->lock);
	team->archiver = archiver;
	pthread_mutex_unlock(&team->lock);
	return MR_OK;
}

void mr_team_archive_wake(struct mr_team *team)
{
	struct mr_team_archiver *archiver;

	pthread_mutex_lock(&team->lock);
	archiver = team->archiver;
	pthread_mutex_unlock(&team->lock);
	if (!archiver)
		return;
	pthread_mutex_lock(&archiver->lock);
	if (!archiver->poked)
		pthread_cond_signal(&archiver->wake);
	archiver->poked = true;
	pthread_mutex_unlock(&archiver->lock);
}

void mr_team_archive_stop(struct mr_team *team)
{
	struct mr_team_archiver *archiver = team->archiver;

	if (!archiver)
		return;
	pthread_mutex_lock(&archiver->lock);
	archiver->stop = true;
	pthread_cond_signal(&archiver->wake);
	pthread_mutex_unlock(&archiver->lock);
	pthread_join(archiver->thread, NULL);
	team->archiver = NULL;
	mr_team_round_free(archiver->round, true);
	pthread_cond_destroy(&archiver->wake);
	pthread_mutex_destroy(&archiver->lock);
	free(archiver);
}

static void tell(struct mr_ctx *cx, struct mr_team *team, struct mr_team_archive_status *out)
{
	struct mr_team_archiver *archiver;

	pthread_mutex_lock(&team->lock);
	archiver = team->archiver;
	if (archiver) {
		pthread_mutex_lock(&archiver->lock);
		out->running = true;
		out->commits = archiver->commits;
		out->rows = archiver->rows;
		out->failing_since_ts = archiver->failing_since_ts;
		if (archiver->last_error[0])
			out->last_error = mr_arena_strdup(cx->arena, archiver->last_error);
		pthread_mutex_unlock(&archiver->lock);
	}
	pthread_mutex_unlock(&team->lock);
}

enum mr_code mr_team_archive_status(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_archive_status *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_archive_status status = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_archive_depth(cx, reader.db, &status.depth);
	if (!rc)
		rc = mr_team_archive_oldest(cx, reader.db, &status.oldest_ts);
	if (rc)
		return rc;
	tell(cx, team, &status);
	*out = status;
	return MR_OK;
}
