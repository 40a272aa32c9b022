/* surface/web/live.c - Sends an event to every open page when the team's database has changed, or a
 * file that pages were made of. */
#include "surface/web/live.h"

#include "base/log.h"
#include "base/oom.h"
#include "op/dispatch.h"
#include "op/team/contract_team.h"
#include "op/team/watching.h"
#include "surface/http/stream.h"
#include "surface/web/live_files.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	SLEEP_MS = 60000,
	AGAIN_MS = 1000, /* after a failure */
	GAP_MS = 10,     /* between two events, however many commits there are */
	EVENT_BYTES = 128,
};

struct viewer {
	struct mr_web_live *live;
	struct mr_http_stream *stream;
	struct viewer *next, **at;
};

struct mr_web_live {
	const struct mr_app *app;
	_Atomic(uint64_t) number;
	struct mr_web_live_files *files;
	pthread_mutex_t lock; /* guards what follows */
	struct viewer *first;
	struct mr_team *team; /* set before the thread starts */
	bool running, stop;
	pthread_cond_t stopped;
	pthread_t thread;
};

/* ---- a change ---- */

static void send_number(struct viewer *viewer, uint64_t number)
{
	char text[EVENT_BYTES];
	struct mr_err ignored;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	/* A client that has gone, or does not read, is let go by the stream itself. */
	(void)!mr_http_stream_event(viewer->stream, "change", NULL, text, &ignored);
}

static void tell(void *arg)
{
	struct mr_web_live *live = arg;
	uint64_t number;

	pthread_mutex_lock(&live->lock);
	number = ++live->number;
	for (struct viewer *at = live->first; at; at = at->next)
		send_number(at, number);
	pthread_mutex_unlock(&live->lock);
}

/* ---- the beginning and the end ---- */

struct mr_web_live *mr_web_live_new(const struct mr_app *app)
{
	struct mr_web_live *live = calloc(1, sizeof(*live));
	pthread_condattr_t attr;

	if (!live)
		mr_oom(sizeof(*live));
	live->app = app;
	/* A page may come from one server and its stream from another: what they count must not
	 * be taken for the same. */
	live->number = mr_rand_below(app->rand, UINT64_C(1) << 40);
	live->files = mr_web_live_files_new(tell, live);
	pthread_mutex_init(&live->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&live->stopped, &attr);
	pthread_condattr_destroy(&attr);
	return live;
}

void mr_web_live_free(struct mr_web_live *live)
{
	bool running;

	if (!live)
		return;
	mr_web_live_files_free(live->files);
	pthread_mutex_lock(&live->lock);
	running = live->running;
	live->stop = true;
	pthread_cond_signal(&live->stopped);
	pthread_mutex_unlock(&live->lock);
	if (running) {
		mr_watching_wake(live->team);
		pthread_join(live->thread, NULL);
	}
	pthread_cond_destroy(&live->stopped);
	pthread_mutex_destroy(&live->lock);
	free(live);
}

uint64_t mr_web_live_number(const struct mr_web_live *live)
{
	return live->number;
}

void mr_web_live_reads(void *arg, const char *path, bool is_database)
{
	struct mr_web_live *live = arg;

	mr_web_live_files_add(live->files, path, is_database);
}

/* ---- the thread ---- */

/* Sleep so long, or until it is to stop; true: stop. */
static bool pause_ms(struct mr_web_live *live, int ms)
{
	struct timespec until;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&live->lock);
	while (!live->stop &&
		pthread_cond_timedwait(&live->stopped, &live->lock, &until) != ETIMEDOUT)
		;
	stop = live->stop;
	pthread_mutex_unlock(&live->lock);
	return stop;
}

/* Tell of changes until it is to stop, or fails. */
static enum mr_code follow(struct mr_web_live *live, struct mr_call *call)
{
	struct mr_team_watch *watch MR_CLEANUP(mr_watching_close) = NULL;
	enum mr_code rc = mr_watching_open(call, live->team, &watch);

	/* What happened before counts as a change: nobody was told of it. */
	tell(live);
	while (!rc && !pause_ms(live, GAP_MS)) {
		bool changed = false;

		while (!rc && !changed)
			rc = mr_watching_change(call, watch, SLEEP_MS, &changed);
		if (!rc)
			tell(live);
	}
	return rc;
}

static void *run(void *arg)
{
	struct mr_web_live *live = arg;
	enum mr_code rc;

	do {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_call call = mr_dispatch_call(live->app, arena);

		rc = follow(live, &call);
		if (rc)
			mr_log(MR_LOG_ERROR, "live_failed", "%s", call.cx.err.msg);
	} while (rc && !pause_ms(live, AGAIN_MS));
	return NULL;
}

/* Under the lock. */
static enum mr_code start(struct mr_web_live *live, struct mr_call *call)
{
	sigset_t all, before;
	int failed;
	enum mr_code rc = mr_contract_team_open(call, &live->team);

	if (rc)
		return rc;
	/* Signals are for others. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&live->thread, NULL, run, live);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return mr_err_os(&call->cx.err, failed,
			"cannot start the thread that tells pages of changes");
	live->running = true;
	return MR_OK;
}

/* ---- viewers ---- */

static void on_ended(void *arg)
{
	struct viewer *viewer = arg;

	pthread_mutex_lock(&viewer->live->lock);
	*viewer->at = viewer->next;
	if (viewer->next)
		viewer->next->at = viewer->at;
	pthread_mutex_unlock(&viewer->live->lock);
	mr_http_stream_close(viewer->stream);
	free(viewer);
}

/* Under the lock, so that no number is missed. */
static enum mr_code add(struct mr_web_live *live, const struct mr_http_request *req,
	struct mr_http_response *resp, struct mr_err *err)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));
	enum mr_code rc;

	if (!viewer)
		mr_oom(sizeof(*viewer));
	viewer->live = live;
	rc = mr_http_stream_open(req, resp, on_ended, viewer, &viewer->stream, err);
	if (rc) {
		free(viewer);
		return rc;
	}
	viewer->next = live->first;
	viewer->at = &live->first;
	if (viewer->next)
		viewer->next->at = &viewer->next;
	live->first = viewer;
	send_number(viewer, live->number);
	return MR_OK;
}

void mr_web_live_open(const struct mr_http_request *req, struct mr_http_response *resp)
{
	struct mr_web_live *live = (struct mr_web_live *)(uintptr_t)req->match.route->arg;
	struct mr_call call = mr_dispatch_call(live->app, req->arena);
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&live->lock);
	if (!live->running)
		rc = start(live, &call);
	if (!rc)
		rc = add(live, req, resp, &call.cx.err);
	pthread_mutex_unlock(&live->lock);
	if (rc)
		mr_http_response_fail(resp, &call.cx.err);
}
