/* mailbox/notifier_hub_wait.c - long polls: wait until an agent's mailbox changes, and take what is
 * to be told. */
#include "base/errand.h"
#include "base/str.h"
#include "mailbox/notifier_hub_private.h"

#include <time.h>

enum {
	ALONE_MS = 50,       /* mail that comes this long after the last comes alone */
	QUIET_MS = 50,       /* who waits waits this long for more that comes in succession, */
	QUIET_MAX_MS = 1000, /* at most so long */
	TIDY_MS = 1000,      /* after a look, while it waits */
	SLICE_MS = 1000,     /* between questions whether the client is still there */
};

static void sleep_until(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000,
		.tv_nsec = (until_ms % 1000) * 1000000 };

	pthread_cond_timedwait(&agent->woken, &hub->lock, &until);
}

static bool is_ended(const struct mr_ctx *cx, const struct mr_notifier_hub *hub)
{
	return hub->is_over || (cx->is_over && cx->is_over(cx->is_over_arg));
}

/* After changes in quick succession: wait for the rest. Under the lock. */
static void await_quiet(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	int64_t until_ms)
{
	int64_t first_ms = agent->changed_ms;

	if (until_ms > first_ms + QUIET_MAX_MS)
		until_ms = first_ms + QUIET_MAX_MS;
	while (agent->before_ms && agent->changed_ms - agent->before_ms < ALONE_MS &&
		mr_notifier_hub_now_ms() < agent->changed_ms + QUIET_MS &&
		mr_notifier_hub_now_ms() < until_ms && !hub->is_over)
		sleep_until(hub, agent, agent->changed_ms + QUIET_MS);
}

/* Until the mailbox changed since `seen`; false when the wait is over. Under the lock. */
static bool await_change(struct mr_ctx *cx, struct mr_notifier_hub *hub,
	struct mr_notifier_agent *agent, uint64_t seen, int64_t until_ms)
{
	while (agent->changes == seen) {
		int64_t now = mr_notifier_hub_now_ms();
		int64_t next = now +
			(mr_notifier_hub_is_watched(agent) ? SLICE_MS : MR_NOTIFIER_UNWATCHED_MS);

		if (now >= until_ms || is_ended(cx, hub))
			return false;
		sleep_until(hub, agent, next < until_ms ? next : until_ms);
		if (!mr_notifier_hub_is_watched(agent))
			return true; /* nobody tells: look */
	}
	await_quiet(hub, agent, until_ms);
	return true;
}

/* One look, in memory of its own unless there is something to tell. */
static enum mr_code take(struct mr_ctx *cx, const struct mr_notifier_target *target,
	struct mr_notifier_told *out)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx one = *cx;
	enum mr_code rc;

	one.arena = arena;
	one.err = (struct mr_err){ 0 };
	rc = mr_notifier_take(&one, target, "long_poll", out);
	if (rc) {
		cx->err = one.err;
		cx->err.issues = NULL;
		return rc;
	}
	if (out->notice) {
		mr_arena_defer(cx->arena, (void (*)(void *))mr_arena_free, arena);
		arena = NULL;
	}
	return MR_OK;
}

/* The same as an errand. */
struct look {
	struct mr_ctx *cx;
	const struct mr_notifier_target *target;
	struct mr_notifier_told *out;
	enum mr_code rc;
};

static void run_look(void *arg)
{
	struct look *look = arg;

	look->rc = take(look->cx, look->target, look->out);
}

void mr_notifier_hub_run(struct mr_notifier_hub *hub, void (*fn)(void *arg), void *arg)
{
	mr_errands_run(hub->looks, fn, arg);
}

enum mr_code mr_notifier_hub_wait(struct mr_ctx *cx, struct mr_notifier_hub *hub,
	const struct mr_mailbox_session *session, const char *base_url, const char *api,
	int timeout_ms, struct mr_notifier_told *out)
{
	int64_t until_ms = mr_notifier_hub_now_ms() + timeout_ms;
	struct mr_notifier_told told = { .notice = 0 };
	struct mr_notifier_target target;
	struct look look = { cx, &target, &told, MR_OK };
	struct mr_notifier_agent *agent;
	bool goes_on = true;
	enum mr_code rc = mr_notifier_target_of(cx, session, base_url, api, &target);

	if (rc)
		return rc;
	pthread_mutex_lock(&hub->lock);
	agent = mr_notifier_hub_agent(hub, session);
	mr_notifier_hub_watch(hub, agent, session->binding.path);
	mr_notifier_hub_follow(agent, &session->binding);
	agent->waits++;
	await_quiet(hub, agent, until_ms);
	while (!rc && !told.notice && goes_on) {
		uint64_t seen = agent->changes;

		pthread_mutex_unlock(&hub->lock);
		mr_errands_run(hub->looks, run_look, &look);
		pthread_mutex_lock(&hub->lock);
		rc = look.rc;
		if (!told.notice && !hub->tidy_ms) {
			hub->tidy_ms = mr_notifier_hub_now_ms() + TIDY_MS;
			mr_notifier_hub_ring(hub);
		}
		goes_on = !rc && !told.notice && await_change(cx, hub, agent, seen, until_ms);
	}
	agent->waits--;
	agent->polled_ms = mr_notifier_hub_now_ms();
	pthread_mutex_unlock(&hub->lock);
	if (!rc)
		*out = told;
	return rc;
}
