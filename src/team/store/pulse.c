/*
 * team/store/pulse.c - Checks whether the database accepts writes by committing a small change,
 * shared by all callers.
 */
#include "team/store/pulse.h"

#include "team/store/root_private.h"
#include "text/database_url.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The largest message with its rows needs so much: with less, the disk counts as full. */
enum { FULL_BYTES = 1 << 20 };

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

void mr_team_pulse_init(struct mr_team_pulse *pulse)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&pulse->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&pulse->ended, &attr);
	pthread_condattr_destroy(&attr);
}

void mr_team_pulse_destroy(struct mr_team_pulse *pulse)
{
	pthread_cond_destroy(&pulse->ended);
	pthread_mutex_destroy(&pulse->lock);
}

/* ---- on the writer's thread ---- */

/* The log reuses its space, so a small write may succeed on a full disk. */
static enum mr_code check_room(const struct mr_team *team, struct mr_err *err)
{
	const char *database = team->config.database;
	struct statvfs room;
	uint64_t blocks;

	if (mr_database_url_is(database))
		return MR_OK;
	if (statvfs(database, &room) != 0)
		return mr_err_os(err, errno, "the disk of database %s", database);
	blocks = geteuid() == 0 ? room.f_bfree : room.f_bavail;
	/* A file system that does not count says 0 of 0. */
	if (room.f_blocks > 0 && blocks < FULL_BYTES / room.f_frsize) {
		mr_err_set(err, MR_EIO, "database %s: disk full: free some space and try again",
			database);
		err->os_errno = ENOSPC;
		return MR_EIO;
	}
	return MR_OK;
}

static enum mr_code beat(struct mr_db *db, void *arg, struct mr_err *err)
{
	enum mr_code rc = check_room(arg, err);

	return rc ? rc : mr_db_touch(db, err);
}

static void ended(void *arg, enum mr_code rc, const struct mr_err *err)
{
	struct mr_team_pulse *pulse = &((struct mr_team *)arg)->pulse;

	pthread_mutex_lock(&pulse->lock);
	pulse->under_way = false;
	pulse->rounds++;
	pulse->ended_ms = now_ms();
	pulse->rc = rc;
	if (rc)
		pulse->err = *err;
	pthread_cond_broadcast(&pulse->ended);
	pthread_mutex_unlock(&pulse->lock);
}

/* ---- for callers ---- */

static uint64_t jobs_done(struct mr_team *team)
{
	struct mr_queue_stats stats;

	mr_queue_stats(team->queue, &stats);
	return stats.jobs - stats.failed;
}

/* Under the lock, which is given back meanwhile; false when the time is over. */
static bool wait_for_round(struct mr_team_pulse *pulse, uint64_t rounds, int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000,
		.tv_nsec = (until_ms % 1000) * 1000000 };
	int rc = 0;

	while (pulse->rounds == rounds && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&pulse->ended, &pulse->lock, &until);
	return pulse->rounds != rounds;
}

enum mr_code mr_team_pulse(struct mr_ctx *cx, struct mr_team *team, int max_age_ms, int wait_ms)
{
	struct mr_queue_job job = { .run = beat, .done = ended, .arg = team };
	struct mr_team_pulse *pulse = &team->pulse;
	uint64_t before = jobs_done(team);
	enum mr_code rc = MR_OK;
	bool known;

	if (cx->pause)
		cx->pause(cx->pause_arg, true);
	pthread_mutex_lock(&pulse->lock);
	known = pulse->rounds > 0 && now_ms() - pulse->ended_ms < max_age_ms;
	if (!known && !pulse->under_way) {
		pulse->under_way = true;
		rc = mr_queue_submit(team->queue, &job, &cx->err);
		pulse->under_way = !rc;
	}
	if (!rc && !known)
		known = wait_for_round(pulse, pulse->rounds, now_ms() + wait_ms);
	if (!rc && known && pulse->rc) {
		cx->err = pulse->err;
		rc = pulse->rc;
	}
	pthread_mutex_unlock(&pulse->lock);
	if (cx->pause)
		cx->pause(cx->pause_arg, false);
	/* Under load our write waits for its turn; then it is enough that other writes succeed. */
	if (!rc && !known && jobs_done(team) == before)
		rc = mr_err_set(&cx->err, MR_ETIMEOUT,
			"database %s: a write did not end within %d ms: does its disk answer, or "
			"is another program writing?",
			team->shown, wait_ms);
	return rc;
}
