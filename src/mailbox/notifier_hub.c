/* mailbox/notifier_hub.c - sees that a mailbox changed, wakes who waits, and hands out rounds. */
#include "mailbox/notifier_hub.h"

#include "base/errand.h"
#include "base/fs.h"
#include "base/fs_watch_dirs.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/oom.h"
#include "data/followed.h"
#include "mailbox/gateway.h"
#include "mailbox/layout.h"
#include "mailbox/notifier_hub_private.h"
#include "mailbox/notifier_push.h"
#include "mailbox/notifier_sql.h"
#include "mailbox/registry.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

enum {
	GATHER_MS = 150,      /* a prompt waits this long for more mail that comes in succession, */
	GATHER_MAX_MS = 2500, /* at most so long */
	CLOSED_MS = 10,       /* a rollback journal that stays so long after it was closed, stays */
	LOCKED_MS = 5000,     /* another process has the notifier of the session */
	SCAN_MS = 60000,      /* between looks at the registry, */
	SCAN_UNWATCHED_MS = 5000, /* when it cannot be watched */
	SCANS_MORE = 3,
	LOOKS = 4,        /* at once: each has databases open meanwhile */
	POLLED_MS = 3000, /* after a long poll the next one is expected before a prompt */
};

#define LOCK_FILE "mailroom-notifier.lock"
#define JOURNAL   MR_MAILBOX_LOCAL_FILE "-journal"
#define LOG       MR_MAILBOX_LOCAL_FILE "-wal"

int64_t mr_notifier_hub_now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

static char *copy(const char *text)
{
	char *out = text ? strdup(text) : NULL;

	if (text && !out)
		mr_oom(strlen(text));
	return out;
}

static bool is_over(void *arg)
{
	struct mr_notifier_hub *hub = arg;
	bool is_over;

	pthread_mutex_lock(&hub->lock);
	is_over = hub->is_over;
	pthread_mutex_unlock(&hub->lock);
	return is_over;
}

static struct mr_ctx context(struct mr_notifier_hub *hub, struct mr_arena *arena)
{
	return (struct mr_ctx){
		.arena = arena,
		.clock = hub->config.clock,
		.rand = hub->config.rand,
		.is_over = is_over,
		.is_over_arg = hub,
	};
}

void mr_notifier_hub_ring(struct mr_notifier_hub *hub)
{
	(void)eventfd_write(hub->wake, 1);
}

/* --- agents --- */

/* From a thread of its own, which must not wait for the hub: that may be waiting for it. */
static void on_push(void *arg)
{
	struct mr_notifier_agent *agent = arg;

	atomic_store(&agent->is_pushed, true);
	mr_notifier_hub_ring(agent->hub);
}

void mr_notifier_hub_follow(struct mr_notifier_agent *agent,
	const struct mr_mailbox_binding *binding)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = context(agent->hub, arena);

	if (agent->push && mr_notifier_push_is_of(agent->push, binding))
		return;
	mr_notifier_push_close(agent->push);
	agent->push = mr_notifier_push_open(&cx, agent->session, binding, on_push, agent);
}

bool mr_notifier_hub_is_watched(const struct mr_notifier_agent *agent)
{
	return agent->mailbox_id || agent->push;
}

static struct mr_notifier_agent *find(struct mr_notifier_hub *hub, const char *session)
{
	struct mr_notifier_agent *agent;

	LIST_FOREACH(agent, &hub->agents, link)
	if (mr_str_eq(agent->session, session))
		return agent;
	return NULL;
}

static void init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* Commits show in other ways unless the database has a write-ahead log. */
static enum mr_code watch_mailbox(struct mr_notifier_agent *agent, bool has_log)
{
	struct mr_err ignored;

	return mr_fs_watch_dirs_add(agent->hub->watch, agent->mailbox, has_log, &agent->mailbox_id,
		&ignored);
}

void mr_notifier_hub_watch(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	const char *mailbox)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *gateway = mr_notifier_sql_dir(arena, agent->session);
	struct mr_err ignored;

	if (!mr_str_eq(agent->mailbox, mailbox)) {
		mr_fs_watch_dirs_remove(hub->watch, agent->mailbox_id);
		agent->mailbox_id = 0;
		free(agent->mailbox);
		agent->mailbox = copy(mailbox);
	}
	if (agent->mailbox && !agent->mailbox_id &&
		watch_mailbox(agent,
			mr_fs_exists(AT_FDCWD, mr_arena_printf(arena, "%s/" LOG, agent->mailbox))))
		agent->mailbox_id = 0;
	if (agent->has_gateway)
		return;
	if (!mr_fs_watch_dirs_add(hub->watch, gateway, false, &agent->gateway_id, &ignored))
		agent->has_gateway = true;
	else if (!agent->gateway_id &&
		mr_fs_watch_dirs_add(hub->watch, agent->session, false, &agent->gateway_id,
			&ignored))
		agent->gateway_id = 0;
}

struct mr_notifier_agent *mr_notifier_hub_agent(struct mr_notifier_hub *hub,
	const struct mr_mailbox_session *session)
{
	struct mr_notifier_agent *agent = find(hub, session->dir);

	if (agent)
		return agent;
	agent = calloc(1, sizeof(*agent));
	if (!agent)
		mr_oom(sizeof(*agent));
	agent->hub = hub;
	agent->session = copy(session->dir);
	agent->manifest = copy(session->path);
	agent->due_ms = mr_notifier_hub_now_ms() + GATHER_MS;
	agent->lock = MR_LOCK_INIT;
	init_cond(&agent->woken);
	mr_notifier_hub_watch(hub, agent, session->binding.path);
	LIST_INSERT_HEAD(&hub->agents, agent, link);
	mr_notifier_hub_ring(hub);
	return agent;
}

static void free_agent(struct mr_notifier_agent *agent)
{
	mr_notifier_push_close(agent->push);
	mr_lock_release(&agent->lock);
	pthread_cond_destroy(&agent->woken);
	free(agent->session);
	free(agent->manifest);
	free(agent->mailbox);
	free(agent);
}

void mr_notifier_hub_add(struct mr_notifier_hub *hub, const struct mr_mailbox_session *session)
{
	pthread_mutex_lock(&hub->lock);
	mr_notifier_hub_agent(hub, session);
	pthread_mutex_unlock(&hub->lock);
}

void mr_notifier_hub_listens(struct mr_notifier_hub *hub, const char *base_url)
{
	pthread_mutex_lock(&hub->lock);
	free(hub->base_url);
	hub->base_url = copy(base_url);
	hub->config.is_early = false;
	pthread_mutex_unlock(&hub->lock);
	mr_notifier_hub_ring(hub);
}

const char *mr_notifier_hub_url(struct mr_notifier_hub *hub, struct mr_arena *arena,
	const char *agent_id)
{
	const char *url = NULL;

	pthread_mutex_lock(&hub->lock);
	if (hub->base_url && agent_id)
		url = mr_arena_printf(arena, "%s/%s", hub->base_url, agent_id);
	pthread_mutex_unlock(&hub->lock);
	return url;
}

/* --- what the kernel tells --- */

/* The mailbox may have changed. Under the lock. */
static void on_change(struct mr_notifier_agent *agent, int64_t now)
{
	agent->changes++;
	agent->closed_ms = 0;
	agent->before_ms = agent->changed_ms;
	agent->changed_ms = now;
	if (!agent->gather_ms)
		agent->gather_ms = now;
	if (now + GATHER_MS < agent->gather_ms + GATHER_MAX_MS)
		agent->due_ms = now + GATHER_MS;
	else
		agent->due_ms = agent->gather_ms + GATHER_MAX_MS;
	pthread_cond_broadcast(&agent->woken);
}

/* Was a commit written to the log before it was watched? One that a reader made is empty. */
static bool is_log_begun(const struct mr_notifier_agent *agent, const char *name, unsigned what)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct stat st;

	if (!(what & MR_FS_WATCH_ARRIVED) || !mr_str_eq(name, LOG) || !agent->mailbox)
		return false;
	arena = mr_arena_new();
	return stat(mr_arena_printf(arena, "%s/" LOG, agent->mailbox), &st) == 0 && st.st_size > 0;
}

static void on_mailbox(struct mr_notifier_agent *agent, const char *name, unsigned what,
	int64_t now)
{
	unsigned but_closed = what & ~(unsigned)MR_FS_WATCH_CLOSED;

	if (mr_str_eq(name, LOG) && (what & (MR_FS_WATCH_ARRIVED | MR_FS_WATCH_REMOVED)) &&
		watch_mailbox(agent, what & MR_FS_WATCH_ARRIVED))
		agent->mailbox_id = 0;
	if ((what & MR_FS_WATCH_LOST) || is_log_begun(agent, name, what) ||
		mr_followed_is_commit(MR_MAILBOX_LOCAL_FILE, name, but_closed))
		on_change(agent, now);
	/* With the journal modes TRUNCATE and PERSIST the journal stays, and the commit was before
	 * it was closed. With DELETE it is removed right after: that is the commit. */
	else if ((what & MR_FS_WATCH_CLOSED) && mr_str_eq(name, JOURNAL))
		agent->closed_ms = now;
}

static void on_gateway(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	const char *name, unsigned what, int64_t now)
{
	if (!agent->has_gateway || (what & MR_FS_WATCH_LOST)) {
		agent->has_gateway = false;
		mr_notifier_hub_watch(hub, agent, agent->mailbox);
		agent->due_ms = now;
	}
	/* The bell of the database of settings: somebody changed them. */
	if (mr_str_ends(name, ".bell"))
		agent->due_ms = now;
}

/* Is this the directory of a record whose agent had no mailbox when it was read? */
static bool is_unbound(const struct mr_notifier_hub *hub, int id)
{
	for (size_t i = 0; i < hub->unbound_len; i++)
		if (hub->unbound_ids[i] == id)
			return true;
	return false;
}

/* Under the lock. */
static void on_event(void *arg, int id, const char *name, unsigned what)
{
	struct mr_notifier_hub *hub = arg;
	int64_t now = mr_notifier_hub_now_ms();
	struct mr_notifier_agent *agent;

	if (id == 0 || id == hub->registry_id || is_unbound(hub, id)) {
		hub->scan_ms = now;
		hub->scans_more = SCANS_MORE;
	}
	LIST_FOREACH(agent, &hub->agents, link)
	{
		if (id == 0 || id == agent->mailbox_id)
			on_mailbox(agent, name, what, now);
		if (id == 0 || id == agent->gateway_id)
			on_gateway(hub, agent, name, what, now);
		if ((what & MR_FS_WATCH_LOST) && id && id == agent->mailbox_id)
			agent->mailbox_id = 0;
	}
}

/* --- rounds --- */

/* One at a time for a session, also among processes. */
static bool hold(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	struct mr_arena *arena)
{
	const char *path =
		mr_arena_printf(arena, "%s/" LOCK_FILE, mr_notifier_sql_dir(arena, agent->session));
	struct mr_err ignored;

	return agent->lock.fd >= 0 ||
		!mr_lock_take(AT_FDCWD, path, "notifier", 0, hub->config.clock, &agent->lock,
			&ignored);
}

/* When the next round is, unless something happens before. */
static int64_t after_round(const struct mr_notifier_hub *hub,
	const struct mr_notifier_round *result)
{
	int64_t wait_ms = result->interval_seconds * 1000;

	if (result->next_us) {
		int64_t left_ms = (result->next_us - mr_clock_wall_us(hub->config.clock)) / 1000;

		if (left_ms < wait_ms)
			wait_ms = left_ms > 1 ? left_ms : 1;
	}
	return mr_notifier_hub_now_ms() + wait_ms;
}

static void log_failure(const struct mr_notifier_agent *agent, const struct mr_err *err)
{
	const struct mr_log_field fields[] = {
		{ .key = "session", .text = agent->session },
		{ .key = "error", .text = err->msg },
	};

	mr_log_fields(MR_LOG_DEBUG, "notifier_failed", fields, MR_LEN(fields));
}

/* Without the lock. Returns when the next round is; `*mailbox` is where mail comes now. */
static int64_t run_round(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent,
	struct mr_arena *arena, const char **mailbox, struct mr_mailbox_binding *binding)
{
	struct mr_ctx cx = context(hub, arena);
	struct mr_mailbox_session manifest;
	struct mr_notifier_target target;
	struct mr_notifier_round result = { .is_enabled = false };
	struct mr_mailbox_gateway gateway;
	bool has_gateway = false;
	const char *url;
	enum mr_code rc = mr_mailbox_session_read(&cx, agent->manifest, &manifest);

	if (!rc) {
		*mailbox = manifest.binding.path;
		*binding = manifest.binding;
		has_gateway = mr_mailbox_gateway_find(&cx, &manifest, &gateway);
		url = mr_notifier_hub_url(hub, arena, manifest.agent_id);
		rc = mr_notifier_target_of(&cx, &manifest,
			url                   ? url
				: has_gateway ? gateway.base_url
					      : NULL,
			url ? "" : "/v1", &target);
	}
	/* An agent that has a gateway of its own is told by that. */
	if (!rc && has_gateway && hub->config.registry)
		return mr_notifier_hub_now_ms() + LOCKED_MS;
	if (!rc && !mr_fs_exists(AT_FDCWD, mr_notifier_sql_path(arena, agent->session)))
		return INT64_MAX;
	if (!rc && !hold(hub, agent, arena))
		return mr_notifier_hub_now_ms() + LOCKED_MS;
	if (!rc)
		rc = mr_notifier_round(&cx, &target, &result);
	/* A session that is gone does not come back. */
	if (rc && rc != MR_ENOTFOUND) {
		log_failure(agent, &cx.err);
		return mr_notifier_hub_now_ms() + LOCKED_MS;
	}
	if (!rc && result.is_enabled)
		return after_round(hub, &result);
	mr_lock_release(&agent->lock);
	agent->lock = MR_LOCK_INIT;
	return INT64_MAX;
}

/* Under the lock, which is given back meanwhile. */
static void serve_turn(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_binding binding = { MR_MAILBOX_UNBOUND };
	const char *mailbox = agent->mailbox;
	int64_t next_ms;

	agent->is_queued = false;
	agent->is_running = true;
	agent->gather_ms = 0;
	agent->due_ms = INT64_MAX;
	pthread_mutex_unlock(&hub->lock);
	next_ms = run_round(hub, agent, arena, &mailbox, &binding);
	pthread_mutex_lock(&hub->lock);
	agent->is_running = false;
	mr_notifier_hub_watch(hub, agent, mailbox);
	if (next_ms != INT64_MAX || agent->push)
		mr_notifier_hub_follow(agent, &binding);
	if (!mr_notifier_hub_is_watched(agent) && next_ms != INT64_MAX &&
		next_ms > mr_notifier_hub_now_ms() + MR_NOTIFIER_UNWATCHED_MS)
		next_ms = mr_notifier_hub_now_ms() + MR_NOTIFIER_UNWATCHED_MS;
	if (next_ms < agent->due_ms)
		agent->due_ms = next_ms;
	mr_notifier_hub_ring(hub);
}

static void *run_thread(void *arg)
{
	struct mr_notifier_hub *hub = arg;
	struct mr_notifier_agent *agent;

	pthread_mutex_lock(&hub->lock);
	while (!hub->is_over) {
		agent = STAILQ_FIRST(&hub->turns);
		if (agent) {
			STAILQ_REMOVE_HEAD(&hub->turns, turn);
			serve_turn(hub, agent);
			continue;
		}
		hub->idle_count++;
		pthread_cond_wait(&hub->work, &hub->lock);
		hub->idle_count--;
	}
	pthread_mutex_unlock(&hub->lock);
	return NULL;
}

/* Under the lock. Threads are started when they are first needed. */
static void queue_turn(struct mr_notifier_hub *hub, struct mr_notifier_agent *agent)
{
	agent->is_queued = true;
	STAILQ_INSERT_TAIL(&hub->turns, agent, turn);
	if (hub->idle_count == 0 && hub->thread_count < MR_NOTIFIER_HUB_THREADS &&
		pthread_create(&hub->threads[hub->thread_count], NULL, run_thread, hub) == 0)
		hub->thread_count++;
	pthread_cond_signal(&hub->work);
}

/* --- the registry --- */

/* Agents that have no mailbox yet: their records change when they get one. */
struct unbound {
	int *ids;
	size_t len;
};

static void watch_unbound(struct mr_notifier_hub *hub, const char *record, struct unbound *list)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *dir = mr_arena_strndup(arena, record, (size_t)(strrchr(record, '/') - record));
	struct mr_err ignored;

	if (!mr_fs_watch_dirs_add(hub->watch, dir, false, &list->ids[list->len], &ignored))
		list->len++;
}

/* Under the lock. */
static void keep_unbound(struct mr_notifier_hub *hub, struct unbound *list)
{
	struct unbound before = { hub->unbound_ids, hub->unbound_len };

	hub->unbound_ids = list->ids;
	hub->unbound_len = list->len;
	for (size_t i = 0; i < before.len; i++)
		if (!is_unbound(hub, before.ids[i]))
			mr_fs_watch_dirs_remove(hub->watch, before.ids[i]);
	free(before.ids);
}

/* Agents that came since. Not under the lock: it reads many files. */
static void scan(struct mr_notifier_hub *hub)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = context(hub, arena);
	struct mr_mailbox_records records = { NULL, 0 };
	struct unbound unbound = { NULL, 0 };
	const char *live = mr_arena_printf(arena, "%s/live_agents", hub->config.registry);
	struct mr_err ignored;
	int id = 0;
	bool is_watched = !mr_fs_watch_dirs_add(hub->watch, live, false, &id, &ignored);

	if (mr_mailbox_registry_list(&cx, hub->config.registry, &records))
		records.len = 0;
	unbound.ids = calloc(records.len + 1, sizeof(*unbound.ids));
	if (!unbound.ids)
		mr_oom(records.len * sizeof(*unbound.ids));
	for (size_t i = 0; i < records.len; i++) {
		struct mr_mailbox_session session;

		if (records.items[i].problem ||
			mr_mailbox_registry_manifest(&cx, &records.items[i], &session) ||
			session.binding.transport == MR_MAILBOX_UNBOUND)
			watch_unbound(hub, records.items[i].path, &unbound);
		else
			mr_notifier_hub_add(hub, &session);
	}
	pthread_mutex_lock(&hub->lock);
	keep_unbound(hub, &unbound);
	hub->registry_id = id;
	hub->scan_ms = mr_notifier_hub_now_ms() +
		(is_watched && !hub->scans_more ? SCAN_MS : SCAN_UNWATCHED_MS);
	hub->scans_more -= hub->scans_more > 0;
	pthread_mutex_unlock(&hub->lock);
}

/* --- the loop --- */

/* Changes that no event of the kernel told of: on a server, or with a journal that stays. */
static void notice(struct mr_notifier_agent *agent, int64_t now)
{
	if (atomic_exchange(&agent->is_pushed, false) ||
		(agent->closed_ms && agent->closed_ms + CLOSED_MS <= now))
		on_change(agent, now);
}

/* Hand out what is due; how long to sleep. Under the lock. */
static int hand_out(struct mr_notifier_hub *hub)
{
	int64_t now = mr_notifier_hub_now_ms(), next = hub->scan_ms;
	struct mr_notifier_agent *agent;

	LIST_FOREACH(agent, &hub->agents, link)
	{
		notice(agent, now);
		if (agent->closed_ms && agent->closed_ms + CLOSED_MS < next)
			next = agent->closed_ms + CLOSED_MS;
		if (agent->is_queued || agent->is_running || agent->due_ms == INT64_MAX ||
			hub->config.is_early)
			continue;
		/* A long poll takes it, or the next one will. */
		if (agent->waits)
			agent->due_ms =
				agent->due_ms > now + POLLED_MS ? agent->due_ms : now + POLLED_MS;
		else if (agent->polled_ms && agent->due_ms < agent->polled_ms + POLLED_MS)
			agent->due_ms = agent->polled_ms + POLLED_MS;
		if (agent->due_ms <= now)
			queue_turn(hub, agent);
		else if (agent->due_ms < next)
			next = agent->due_ms;
	}
	if (hub->tidy_ms && hub->tidy_ms < next)
		next = hub->tidy_ms;
	return next - now > INT32_MAX ? INT32_MAX : next < now ? 0 : (int)(next - now);
}

static void *run_loop(void *arg)
{
	struct mr_notifier_hub *hub = arg;
	struct pollfd fds[] = {
		{ .fd = mr_fs_watch_dirs_fd(hub->watch), .events = POLLIN },
		{ .fd = hub->wake, .events = POLLIN },
	};
	eventfd_t ignored;

	pthread_mutex_lock(&hub->lock);
	while (!hub->is_over) {
		int sleep_ms;

		if (hub->scan_ms <= mr_notifier_hub_now_ms()) {
			pthread_mutex_unlock(&hub->lock);
			scan(hub);
			pthread_mutex_lock(&hub->lock);
		}
		if (hub->tidy_ms && hub->tidy_ms <= mr_notifier_hub_now_ms()) {
			hub->tidy_ms = 0;
			pthread_mutex_unlock(&hub->lock);
			mr_memory_give_back();
			pthread_mutex_lock(&hub->lock);
		}
		sleep_ms = hand_out(hub);
		pthread_mutex_unlock(&hub->lock);
		(void)poll(fds, MR_LEN(fds), sleep_ms);
		pthread_mutex_lock(&hub->lock);
		(void)eventfd_read(hub->wake, &ignored);
		mr_fs_watch_dirs_drain(hub->watch, on_event, hub);
	}
	pthread_mutex_unlock(&hub->lock);
	return NULL;
}

/* --- the hub --- */

enum mr_code mr_notifier_hub_open(const struct mr_notifier_hub_config *config,
	struct mr_notifier_hub **out, struct mr_err *err)
{
	struct mr_notifier_hub *hub = calloc(1, sizeof(*hub));
	enum mr_code rc = MR_OK;

	if (!hub)
		mr_oom(sizeof(*hub));
	hub->config = *config;
	hub->config.registry = copy(config->registry);
	hub->scan_ms = config->registry ? 0 : INT64_MAX;
	hub->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	LIST_INIT(&hub->agents);
	STAILQ_INIT(&hub->turns);
	pthread_mutex_init(&hub->lock, NULL);
	pthread_cond_init(&hub->work, NULL);
	hub->looks = mr_errands_new(LOOKS);
	if (hub->wake < 0)
		rc = mr_err_os(err, errno, "cannot start the notifier");
	if (!rc)
		rc = mr_fs_watch_dirs_open(&hub->watch, err);
	if (!rc && pthread_create(&hub->loop, NULL, run_loop, hub) != 0)
		rc = mr_err_set(err, MR_EIO, "cannot start the notifier's thread");
	if (rc) {
		hub->is_over = true;
		mr_notifier_hub_close(hub);
		return rc;
	}
	*out = hub;
	return MR_OK;
}

void mr_notifier_hub_stop(struct mr_notifier_hub *hub)
{
	struct mr_notifier_agent *agent;

	pthread_mutex_lock(&hub->lock);
	if (hub->is_over) {
		pthread_mutex_unlock(&hub->lock);
		return;
	}
	hub->is_over = true;
	LIST_FOREACH(agent, &hub->agents, link)
	{
		pthread_cond_broadcast(&agent->woken);
		mr_notifier_push_stop(agent->push);
	}
	pthread_cond_broadcast(&hub->work);
	pthread_mutex_unlock(&hub->lock);
	mr_notifier_hub_ring(hub);
	pthread_join(hub->loop, NULL);
	for (size_t i = 0; i < hub->thread_count; i++)
		pthread_join(hub->threads[i], NULL);
}

void mr_notifier_hub_close(struct mr_notifier_hub *hub)
{
	struct mr_notifier_agent *agent;

	if (!hub)
		return;
	mr_notifier_hub_stop(hub);
	while ((agent = LIST_FIRST(&hub->agents))) {
		LIST_REMOVE(agent, link);
		free_agent(agent);
	}
	mr_fs_watch_dirs_close(&hub->watch);
	mr_fs_closep(&hub->wake);
	pthread_cond_destroy(&hub->work);
	mr_errands_free(hub->looks);
	pthread_mutex_destroy(&hub->lock);
	free((char *)hub->config.registry);
	free(hub->unbound_ids);
	free(hub->base_url);
	free(hub);
}
