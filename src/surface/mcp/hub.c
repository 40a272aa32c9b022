/* surface/mcp/hub.c */
#include "surface/mcp/hub.h"

#include "base/log.h"
#include "base/oom.h"
#include "op/team/team_home.h"
#include "team/message_sql.h"
#include "team/store/changes.h"
#include "team/store/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A writer that died before it could ring is noticed after this time. */
enum { LOOK_AGAIN_MS = 10000, PAGE = 256 };

struct subscription {
	struct subscription *next;
	struct mr_mcp_listener *listener;
	struct mr_mcp_topic topic;
	int64_t mark; /* of mail: the newest message there was; of others: their number */
	bool is_due;
	bool is_looked_at; /* in this round */
	char *uri;
};

struct mr_mcp_hub {
	const struct mr_app *app;
	struct mr_team *team;
	struct mr_team_watch *watch;
	pthread_t thread;
	atomic_bool stop;

	pthread_mutex_t lock; /* guards what follows; held while listeners are told */
	struct subscription *first;
	size_t count;
	bool running;
	int64_t seen; /* the newest message that was looked at; -1: none yet */
};

struct mr_mcp_hub *mr_mcp_hub_new(const struct mr_app *app)
{
	struct mr_mcp_hub *hub = calloc(1, sizeof(*hub));

	if (!hub)
		mr_oom(sizeof(*hub));
	hub->app = app;
	hub->seen = -1;
	pthread_mutex_init(&hub->lock, NULL);
	return hub;
}

static void free_subscription(struct subscription *sub)
{
	free(sub->uri);
	free((char *)sub->topic.thread_id);
	free(sub);
}

void mr_mcp_hub_free(struct mr_mcp_hub *hub)
{
	if (!hub)
		return;
	if (hub->running) {
		hub->stop = true;
		mr_team_watch_ring(hub->team);
		pthread_join(hub->thread, NULL);
		mr_team_watch_close(&hub->watch);
	}
	while (hub->first) {
		struct subscription *sub = hub->first;

		hub->first = sub->next;
		free_subscription(sub);
	}
	pthread_mutex_destroy(&hub->lock);
	free(hub);
}

/* Does this message belong to what was subscribed to, and came it later? */
static bool concerns(const struct subscription *sub, const struct mr_team_new *message)
{
	const struct mr_mcp_topic *topic = &sub->topic;
	bool by_thread = topic->kind == MR_MCP_TOPIC_THREAD;

	if (message->id <= sub->mark)
		return false;
	if (by_thread && !mr_str_eq(topic->thread_id, message->thread_id))
		return false;
	if (by_thread && message->project_id == topic->id)
		return true;
	for (size_t i = 0; i < message->reached_count; i++) {
		const struct mr_team_reached *one = &message->reached[i];

		if (by_thread ? one->project_id == topic->id && !one->is_blind
			      : one->agent_id == topic->id)
			return true;
	}
	return false;
}

/* Under the lock. */
static void note_mail(struct mr_mcp_hub *hub, const struct mr_team_changes *news)
{
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		if (sub->topic.kind != MR_MCP_TOPIC_INBOX && sub->topic.kind != MR_MCP_TOPIC_THREAD)
			continue;
		for (size_t i = 0; i < news->len && !sub->is_due; i++)
			sub->is_due = concerns(sub, &news->items[i]);
	}
}

static enum mr_code look_at_mail(struct mr_ctx *cx, struct mr_mcp_hub *hub, struct mr_db *db)
{
	struct mr_team_changes news = { .len = PAGE };
	enum mr_code rc = MR_OK;

	if (!hub->count)
		hub->seen = -1;
	if (hub->seen < 0)
		return MR_OK;
	while (!rc && news.len == PAGE) {
		rc = mr_team_changes_after(cx, db, hub->seen, PAGE, &news);
		if (rc || !news.len)
			return rc;
		note_mail(hub, &news);
		hub->seen = news.items[news.len - 1].id;
	}
	return rc;
}

/* Of these a number is kept that changes when they do. */
static bool has_number(const struct mr_mcp_topic *topic)
{
	return topic->kind == MR_MCP_TOPIC_LEASES || topic->kind == MR_MCP_TOPIC_MEMBERS;
}

static enum mr_code read_number(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mcp_topic *topic, int64_t *out)
{
	return topic->kind == MR_MCP_TOPIC_MEMBERS ? mr_team_changes_members(cx, db, out)
						   : mr_team_changes_leases(cx, db, topic->id, out);
}

/* Under the lock. One question for each topic, whoever asks for it. */
static enum mr_code look_at_numbers(struct mr_ctx *cx, struct mr_mcp_hub *hub, struct mr_db *db)
{
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		int64_t mark;
		enum mr_code rc;

		if (!has_number(&sub->topic) || sub->is_looked_at)
			continue;
		rc = read_number(cx, db, &sub->topic, &mark);
		if (rc)
			return rc;
		for (struct subscription *same = sub; same; same = same->next) {
			if (same->topic.kind != sub->topic.kind || same->topic.id != sub->topic.id)
				continue;
			same->is_due = same->mark != mark;
			same->mark = mark;
			same->is_looked_at = true;
		}
	}
	return MR_OK;
}

/* Under the lock. */
static void tell(struct mr_mcp_hub *hub)
{
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		sub->is_looked_at = false;
		if (!sub->is_due)
			continue;
		sub->is_due = false;
		sub->listener->updated(sub->listener, sub->uri);
	}
}

static void look(struct mr_mcp_hub *hub)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = hub->app->clock, .rand = hub->app->rand };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(&cx, hub->team, &reader);

	pthread_mutex_lock(&hub->lock);
	if (!rc)
		rc = look_at_mail(&cx, hub, reader.db);
	if (!rc)
		rc = look_at_numbers(&cx, hub, reader.db);
	tell(hub);
	pthread_mutex_unlock(&hub->lock);
	if (rc)
		mr_log(MR_LOG_ERROR, "hub_failed", "%s", cx.err.msg);
}

static void *run(void *arg)
{
	struct mr_mcp_hub *hub = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = hub->app->clock, .rand = hub->app->rand };

	while (!hub->stop) {
		bool changed = false;

		if (mr_team_watch_wait(&cx, hub->watch, LOOK_AGAIN_MS, &changed)) {
			mr_log(MR_LOG_ERROR, "hub_ended", "%s", cx.err.msg);
			return NULL;
		}
		if (!hub->stop)
			look(hub);
	}
	return NULL;
}

/* Under the lock. */
static enum mr_code start(struct mr_mcp_hub *hub, struct mr_call *call)
{
	sigset_t all, before;
	enum mr_code rc = mr_team_home_open(call, &hub->team);
	int failed;

	if (!rc)
		rc = mr_team_watch_open(&call->cx, hub->team, &hub->watch);
	if (rc)
		return rc;
	/* Signals are for others. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&hub->thread, NULL, run, hub);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed) {
		mr_team_watch_close(&hub->watch);
		return mr_err_os(&call->cx.err, failed, "cannot start the hub's thread");
	}
	hub->running = true;
	return MR_OK;
}

/* How things stand now: what comes later is news. */
static enum mr_code read_mark(struct mr_call *call, struct mr_team *team,
	const struct mr_mcp_topic *topic, int64_t *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(&call->cx, team, &reader);

	if (rc)
		return rc;
	return has_number(topic) ? read_number(&call->cx, reader.db, topic, out)
				 : mr_team_message_last(&call->cx, reader.db, out);
}

static char *copy_of(const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		mr_oom(strlen(text) + 1);
	return copy;
}

/* Under the lock. NULL when it is new; `*mine` counts the listener's. */
static struct subscription *find(struct mr_mcp_hub *hub, const char *uri,
	const struct mr_mcp_listener *listener, size_t *mine)
{
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		if (sub->listener != listener)
			continue;
		++*mine;
		if (mr_str_eq(sub->uri, uri))
			return sub;
	}
	return NULL;
}

static enum mr_code add(struct mr_mcp_hub *hub, struct mr_call *call, const char *uri,
	const struct mr_mcp_topic *topic, struct mr_mcp_listener *listener)
{
	bool of_team = topic->kind != MR_MCP_TOPIC_OTHER;
	struct subscription *sub;
	int64_t mark = 0;
	enum mr_code rc = MR_OK;

	if (of_team && !hub->running)
		rc = start(hub, call);
	if (!rc && of_team)
		rc = read_mark(call, hub->team, topic, &mark);
	if (rc)
		return rc;
	/* Nobody has asked before: what was before concerns nobody. */
	if (of_team && !has_number(topic) && hub->seen < 0)
		hub->seen = mark;
	sub = calloc(1, sizeof(*sub));
	if (!sub)
		mr_oom(sizeof(*sub));
	*sub = (struct subscription){ .next = hub->first,
		.listener = listener,
		.topic = *topic,
		.mark = mark,
		.uri = copy_of(uri) };
	sub->topic.thread_id = copy_of(topic->thread_id);
	hub->first = sub;
	hub->count++;
	return MR_OK;
}

enum mr_code mr_mcp_hub_subscribe(struct mr_mcp_hub *hub, struct mr_call *call, const char *uri,
	const struct mr_mcp_topic *topic, struct mr_mcp_listener *listener)
{
	enum mr_code rc = MR_OK;
	size_t mine = 0;

	pthread_mutex_lock(&hub->lock);
	if (!find(hub, uri, listener, &mine)) {
		if (mine >= MR_MCP_SUBSCRIPTIONS || hub->count >= MR_MCP_SUBSCRIPTIONS_ALL)
			rc = mr_err_set(&call->cx.err, MR_ELIMIT,
				"%zu subscriptions are enough: end one first",
				mine >= MR_MCP_SUBSCRIPTIONS ? mine : hub->count);
		else
			rc = add(hub, call, uri, topic, listener);
	}
	pthread_mutex_unlock(&hub->lock);
	return rc;
}

void mr_mcp_hub_unsubscribe(struct mr_mcp_hub *hub, const char *uri,
	struct mr_mcp_listener *listener)
{
	struct subscription **at = &hub->first;

	pthread_mutex_lock(&hub->lock);
	while (*at) {
		struct subscription *sub = *at;

		if (sub->listener != listener || (uri && !mr_str_eq(uri, sub->uri))) {
			at = &sub->next;
			continue;
		}
		*at = sub->next;
		hub->count--;
		free_subscription(sub);
	}
	pthread_mutex_unlock(&hub->lock);
}

void mr_mcp_hub_publish(struct mr_mcp_hub *hub, const char *uri)
{
	pthread_mutex_lock(&hub->lock);
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		if (mr_str_eq(sub->uri, uri))
			sub->listener->updated(sub->listener, sub->uri);
	}
	pthread_mutex_unlock(&hub->lock);
}
