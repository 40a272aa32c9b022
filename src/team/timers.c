/*
 * team/timers.c - The server's thread for periodic work: sweeping expired leases and escalating
 * overdue acknowledgements.
 */
#include "team/timers.h"

#include "base/log.h"
#include "base/oom.h"
#include "team/escalate.h"
#include "team/lease/reservation.h"
#include "team/limits.h"
#include "team/store/duty.h"
#include "text/time.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct timer {
	int64_t every_us; /* 0 is never */
	int64_t due_us;   /* on the machine's clock, since the thread sleeps in real time */
	void (*run)(struct mr_ctx *cx, struct mr_team *team);
};

enum { SWEEP, ACKS, TIMERS };

/* While another server has the duty, so that what is due is done soon after it died. */
enum { NOT_OURS_US = 1000000 };

struct mr_team_timers {
	struct mr_team *team;
	const struct mr_clock *clock;
	struct mr_rand *rand;
	pthread_t thread;
	pthread_mutex_t lock; /* guards `stopping` */
	pthread_cond_t wake;
	bool stopping;
	struct timer timers[TIMERS];
};

static void sweep(struct mr_ctx *cx, struct mr_team *team)
{
	int64_t released = 0;

	if (mr_team_reservation_sweep(cx, team, 0, &released)) {
		mr_log(MR_LOG_WARN, "reservation_sweep_failed", "%s", cx->err.msg);
	} else if (released) {
		struct mr_log_field fields[] = { { .key = "released", .number = released } };

		mr_log_fields(MR_LOG_INFO, "reservation_sweep", fields, MR_LEN(fields));
	}
}

static void log_overdue(const struct mr_team_overdue *overdue, int64_t ttl_s)
{
	struct mr_log_field fields[] = {
		{ .key = "message_id", .number = overdue->message_id },
		{ .key = "project_id", .number = overdue->project_id },
		{ .key = "agent_id", .number = overdue->agent_id },
		{ .key = "agent", .text = overdue->agent },
		{ .key = "age_s", .number = overdue->age_s },
		{ .key = "ttl_s", .number = ttl_s },
		{ .key = "times", .number = overdue->times },
	};

	mr_log_fields(MR_LOG_WARN, "ack_overdue", fields, MR_LEN(fields));
}

static void scan_acks(struct mr_ctx *cx, struct mr_team *team)
{
	struct mr_team_overdues overdues = { NULL, 0 };

	do {
		if (mr_team_escalate(cx, team, &overdues)) {
			mr_log(MR_LOG_WARN, "ack_scan_failed", "%s", cx->err.msg);
			return;
		}
		for (size_t i = 0; i < overdues.len; i++)
			log_overdue(&overdues.items[i], mr_team_config(team)->ack_ttl_s);
	} while (overdues.len == MR_TEAM_OVERDUE_BATCH);
}

static int64_t now_us(void)
{
	return mr_clock_mono_us(mr_clock_system());
}

static void run_due(struct mr_team_timers *t)
{
	for (size_t i = 0; i < TIMERS; i++) {
		struct timer *timer = &t->timers[i];
		struct mr_ctx cx = { .clock = t->clock, .rand = t->rand };

		if (!timer->every_us || timer->due_us > now_us())
			continue;
		if (!mr_team_duty_is_mine(t->team)) {
			timer->due_us = now_us() + NOT_OURS_US;
			continue;
		}
		cx.arena = mr_arena_new();
		timer->run(&cx, t->team);
		mr_arena_free(cx.arena);
		timer->due_us = now_us() + timer->every_us;
	}
}

static struct timespec next_due(const struct mr_team_timers *t)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < TIMERS; i++) {
		if (t->timers[i].every_us && t->timers[i].due_us < due)
			due = t->timers[i].due_us;
	}
	return (struct timespec){ .tv_sec = due / MR_TIME_S, .tv_nsec = due % MR_TIME_S * 1000 };
}

static void *work(void *arg)
{
	struct mr_team_timers *t = arg;
	bool stopping = false;

	while (!stopping) {
		struct timespec until;

		run_due(t);
		until = next_due(t);
		pthread_mutex_lock(&t->lock);
		while (!t->stopping && pthread_cond_timedwait(&t->wake, &t->lock, &until) == 0)
			continue;
		stopping = t->stopping;
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

static struct mr_team_timers *make(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_timers_config *config)
{
	struct mr_team_timers *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;

	if (!t)
		mr_oom(sizeof(*t));
	*t = (struct mr_team_timers){ .team = team, .clock = cx->clock, .rand = cx->rand };
	t->timers[SWEEP] = (struct timer){ .every_us = config->sweep_s * MR_TIME_S, .run = sweep };
	t->timers[ACKS] =
		(struct timer){ .every_us = config->acks_s * MR_TIME_S, .run = scan_acks };
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->wake, &attr);
	pthread_condattr_destroy(&attr);
	return t;
}

static void drop(struct mr_team_timers *t)
{
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

enum mr_code mr_team_timers_start(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_timers_config *config, struct mr_team_timers **out)
{
	struct mr_team_timers *t;
	int failed;

	*out = NULL;
	if (config->sweep_s <= 0 && config->acks_s <= 0)
		return MR_OK;
	t = make(cx, team, config);
	failed = pthread_create(&t->thread, NULL, work, t);
	if (failed) {
		drop(t);
		return mr_err_os(&cx->err, failed, "cannot start the thread of the timers");
	}
	*out = t;
	return MR_OK;
}

void mr_team_timers_stop(struct mr_team_timers *timers)
{
	if (!timers)
		return;
	pthread_mutex_lock(&timers->lock);
	timers->stopping = true;
	pthread_cond_signal(&timers->wake);
	pthread_mutex_unlock(&timers->lock);
	pthread_join(timers->thread, NULL);
	drop(timers);
}
