/* team/store/duty.c - A thread that asks once a second for the duty of the database. */
#include "team/store/duty.h"

#include "base/log.h"
#include "base/oom.h"
#include "team/store/root_private.h"
#include "text/database_url.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { ASK_MS = 1000, LOOK_MS = 5000 };

struct mr_team_duty {
	struct mr_team *team;
	struct mr_db *db; /* the thread's own; NULL while the server cannot be reached */
	pthread_t thread;
	int64_t look_ms;      /* the thread's own: when it next asks how the server stands */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	bool stopping;
	bool has_server;
	struct mr_db_server server; /* without its texts */
	/* Until then it is ours for certain, on the monotonic clock: whoever holds the answer up
	 * must not make two of us believe that they have it. */
	_Atomic(int64_t) mine_until_ms;
};

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

/* Ask, on a new connection if there is none; 0 when it is not ours, or cannot be told. */
static int64_t ask(struct mr_team_duty *duty)
{
	struct mr_db_options options = mr_team_database_options(duty->team, false);
	int64_t asked_ms = now_ms();
	struct mr_err err;
	bool mine = false;
	enum mr_code rc = MR_OK;

	options.create = false;
	options.statement_ms = MR_DB_DUTY_MS;
	if (!duty->db)
		rc = mr_db_open(&options, &duty->db, &err);
	if (!rc)
		rc = mr_db_duty(duty->db, &mine, &err);
	if (!rc)
		return mine ? asked_ms + MR_DB_DUTY_MS : 0;
	mr_log(MR_LOG_DEBUG, "team.duty.failed", "%s", err.msg);
	mr_db_abandon(duty->db);
	duty->db = NULL;
	return 0;
}

/* This connection is not one that requests wait for. */
static void look_at_server(struct mr_team_duty *duty)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db_server server = { 0 };
	struct mr_err ignored;
	bool known;

	if (duty->db && now_ms() < duty->look_ms)
		return;
	known = duty->db && !mr_db_server(duty->db, arena, &server, &ignored);
	server.version = NULL;
	duty->look_ms = now_ms() + LOOK_MS;
	pthread_mutex_lock(&duty->lock);
	duty->has_server = known;
	duty->server = server;
	pthread_mutex_unlock(&duty->lock);
}

static void note(struct mr_team_duty *duty, int64_t until_ms)
{
	bool was = atomic_load(&duty->mine_until_ms) != 0;

	atomic_store(&duty->mine_until_ms, until_ms);
	if (was != (until_ms != 0))
		mr_log(MR_LOG_INFO, until_ms ? "team.duty.taken" : "team.duty.lost",
			until_ms ? "this server archives and runs the timers of database %s"
				 : "another server archives and runs the timers of database %s",
			duty->team->shown);
}

static void *work(void *arg)
{
	struct mr_team_duty *duty = arg;
	bool stopping = false;

	while (!stopping) {
		int64_t due_ms;
		struct timespec until;

		note(duty, ask(duty));
		look_at_server(duty);
		due_ms = now_ms() + ASK_MS;
		until = (struct timespec){ .tv_sec = due_ms / 1000,
			.tv_nsec = due_ms % 1000 * 1000000 };
		pthread_mutex_lock(&duty->lock);
		while (!duty->stopping &&
			pthread_cond_timedwait(&duty->wake, &duty->lock, &until) != ETIMEDOUT)
			continue;
		stopping = duty->stopping;
		pthread_mutex_unlock(&duty->lock);
	}
	return NULL;
}

static void drop(struct mr_team_duty *duty)
{
	/* Closing lets it go. */
	mr_db_close(duty->db);
	pthread_cond_destroy(&duty->wake);
	pthread_mutex_destroy(&duty->lock);
	free(duty);
}

enum mr_code mr_team_duty_start(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_duty *duty;
	pthread_condattr_t attributes;
	int failed;

	if (!mr_database_url_is(team->config.database))
		return MR_OK;
	duty = calloc(1, sizeof(*duty));
	if (!duty)
		mr_oom(sizeof(*duty));
	duty->team = team;
	pthread_mutex_init(&duty->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&duty->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	failed = pthread_create(&duty->thread, NULL, work, duty);
	if (failed) {
		drop(duty);
		return mr_err_os(&cx->err, failed, "cannot start the thread of the duty");
	}
	team->duty = duty;
	return MR_OK;
}

void mr_team_duty_stop(struct mr_team *team)
{
	struct mr_team_duty *duty = team->duty;

	if (!duty)
		return;
	pthread_mutex_lock(&duty->lock);
	duty->stopping = true;
	pthread_cond_signal(&duty->wake);
	pthread_mutex_unlock(&duty->lock);
	pthread_join(duty->thread, NULL);
	team->duty = NULL;
	drop(duty);
}

bool mr_team_duty_server(struct mr_team *team, struct mr_db_server *out)
{
	struct mr_team_duty *duty = team->duty;
	bool known;

	if (!duty)
		return false;
	pthread_mutex_lock(&duty->lock);
	known = duty->has_server;
	if (known)
		*out = duty->server;
	pthread_mutex_unlock(&duty->lock);
	return known;
}

bool mr_team_duty_is_mine(struct mr_team *team)
{
	return !team->duty || now_ms() < atomic_load(&team->duty->mine_until_ms);
}
