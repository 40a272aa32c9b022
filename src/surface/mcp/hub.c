/* surface/mcp/hub.c - notifies subscribers of changed resources. */
#include "surface/mcp/hub.h"

#include "base/log.h"
#include "base/oom.h"
#include "base/str.h"
#include "op/dispatch.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct subscription {
	struct subscription *next; /* older */
	struct mr_mcp_listener *listener;
	struct mr_team_topic topic;
	uint64_t number; /* counted in the order they were made */
	char *uri;
};

struct mr_mcp_hub {
	const struct mr_app *app;
	pthread_t thread;
	atomic_bool stop;
	_Atomic(uint64_t) came; /* how many subscriptions there have been */

	pthread_mutex_t lock; /* guards what follows; held while listeners are told */
	struct subscription *first;
	size_t count;
	bool running;
	struct mr_team *team; /* whose changes the thread waits for; set before it starts */
};

struct mr_mcp_hub *mr_mcp_hub_new(const struct mr_app *app)
{
	struct mr_mcp_hub *hub = calloc(1, sizeof(*hub));

	if (!hub)
		mr_oom(sizeof(*hub));
	hub->app = app;
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
		mr_watching_wake(hub->team);
		pthread_join(hub->thread, NULL);
	}
	while (hub->first) {
		struct subscription *sub = hub->first;

		hub->first = sub->next;
		free_subscription(sub);
	}
	pthread_mutex_destroy(&hub->lock);
	free(hub);
}

/* The topics of all subscriptions, newest first, as the thread waits for them. */
struct round {
	struct mr_mcp_hub *hub;
	struct mr_team_topic *topics;
	uint64_t *numbers; /* numbers of the subscriptions that the topics belong to */
	size_t count;
	uint64_t came; /* subscriptions that came later are not among them */
};

static void take_topics(struct mr_mcp_hub *hub, struct mr_arena *arena, struct round *out)
{
	pthread_mutex_lock(&hub->lock);
	*out = (struct round){
		.hub = hub,
		.topics = mr_arena_array(arena, hub->count, sizeof(*out->topics)),
		.numbers = mr_arena_array(arena, hub->count, sizeof(*out->numbers)),
		.came = hub->came,
	};
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		struct mr_team_topic *topic = &out->topics[out->count];

		*topic = sub->topic;
		topic->thread_id = mr_arena_strdup(arena, topic->thread_id);
		out->numbers[out->count++] = sub->number;
	}
	pthread_mutex_unlock(&hub->lock);
}

/* Notify the subscribers of the topics that changed. Subscriptions may have ended or been added
 * meanwhile. */
static void tell(struct mr_mcp_hub *hub, const struct round *round)
{
	size_t i = 0;

	pthread_mutex_lock(&hub->lock);
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		while (i < round->count && round->numbers[i] > sub->number)
			i++;
		if (i == round->count || round->numbers[i] != sub->number)
			continue;
		sub->topic.mark = round->topics[i].mark;
		if (round->topics[i].is_changed)
			sub->listener->updated(sub->listener, sub->uri);
	}
	pthread_mutex_unlock(&hub->lock);
}

/* The wait must begin anew when subscriptions were added. */
static bool is_over(void *arg)
{
	const struct round *round = arg;

	return round->hub->stop || round->hub->came != round->came;
}

static void *run(void *arg)
{
	struct mr_mcp_hub *hub = arg;

	while (!hub->stop) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_call call = mr_dispatch_call(hub->app, arena);
		struct round round;
		bool found;

		take_topics(hub, arena, &round);
		call.cx.is_over = is_over;
		call.cx.is_over_arg = &round;
		if (mr_watching_wait(&call, hub->team, round.topics, round.count, "hub_failed",
			    &found)) {
			mr_log(MR_LOG_ERROR, "hub_ended", "%s", call.cx.err.msg);
			return NULL;
		}
		tell(hub, &round);
	}
	return NULL;
}

/* Under the lock. */
static enum mr_code start(struct mr_mcp_hub *hub, struct mr_call *call, struct mr_team *team)
{
	sigset_t all, before;
	int failed;

	hub->team = team;
	/* Signals are for others. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&hub->thread, NULL, run, hub);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return mr_err_os(&call->cx.err, failed, "cannot start the hub's thread");
	hub->running = true;
	return MR_OK;
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

/* Under the lock. */
static enum mr_code add(struct mr_mcp_hub *hub, struct mr_call *call, struct mr_team *team,
	const char *uri, const struct mr_team_topic *topic, struct mr_mcp_listener *listener)
{
	struct mr_team_topic begun = *topic;
	struct subscription *sub;
	enum mr_code rc = MR_OK;

	if (topic->kind != MR_TEAM_TOPIC_NONE) {
		rc = mr_watching_begin(call, team, &begun);
		if (!rc && !hub->running)
			rc = start(hub, call, team);
	}
	if (rc)
		return rc;
	sub = calloc(1, sizeof(*sub));
	if (!sub)
		mr_oom(sizeof(*sub));
	*sub = (struct subscription){ .next = hub->first,
		.listener = listener,
		.topic = begun,
		.number = ++hub->came,
		.uri = copy_of(uri) };
	sub->topic.thread_id = copy_of(topic->thread_id);
	hub->first = sub;
	hub->count++;
	return MR_OK;
}

enum mr_code mr_mcp_hub_subscribe(struct mr_mcp_hub *hub, struct mr_call *call,
	struct mr_team *team, const char *uri, const struct mr_team_topic *topic,
	struct mr_mcp_listener *listener)
{
	enum mr_code rc = MR_OK;
	size_t mine = 0;

	pthread_mutex_lock(&hub->lock);
	if (!find(hub, uri, listener, &mine)) {
		if (mine >= MR_MCP_SUBSCRIPTIONS || hub->count >= MR_MCP_SUBSCRIPTIONS_ALL)
			rc = mr_err_set(&call->cx.err, MR_ELIMIT,
				"%zu subscriptions are the maximum: end one first",
				mine >= MR_MCP_SUBSCRIPTIONS ? mine : hub->count);
		else
			rc = add(hub, call, team, uri, topic, listener);
	}
	pthread_mutex_unlock(&hub->lock);
	return rc;
}

/* Those of the listener: to `uri`, or all but those to `but`; either may be NULL. */
static void end_some(struct mr_mcp_hub *hub, const struct mr_mcp_listener *listener,
	const char *uri, const struct mr_texts *but)
{
	struct subscription **at = &hub->first;

	pthread_mutex_lock(&hub->lock);
	while (*at) {
		struct subscription *sub = *at;

		if (sub->listener != listener || (uri && !mr_str_eq(uri, sub->uri)) ||
			(but && mr_texts_has(but, sub->uri))) {
			at = &sub->next;
			continue;
		}
		*at = sub->next;
		hub->count--;
		free_subscription(sub);
	}
	pthread_mutex_unlock(&hub->lock);
}

bool mr_mcp_hub_topic(struct mr_mcp_hub *hub, struct mr_arena *arena, const char *uri,
	const struct mr_mcp_listener *listener, struct mr_team_topic *out)
{
	const struct subscription *sub;
	size_t ignored = 0;

	pthread_mutex_lock(&hub->lock);
	sub = find(hub, uri, listener, &ignored);
	if (sub) {
		*out = sub->topic;
		out->thread_id = mr_arena_strdup(arena, sub->topic.thread_id);
	}
	pthread_mutex_unlock(&hub->lock);
	return sub;
}

void mr_mcp_hub_tell_all(struct mr_mcp_hub *hub, struct mr_mcp_listener *listener)
{
	pthread_mutex_lock(&hub->lock);
	for (struct subscription *sub = hub->first; sub; sub = sub->next) {
		if (sub->listener == listener)
			listener->updated(listener, sub->uri);
	}
	pthread_mutex_unlock(&hub->lock);
}

void mr_mcp_hub_unsubscribe(struct mr_mcp_hub *hub, const char *uri,
	struct mr_mcp_listener *listener)
{
	end_some(hub, listener, uri, NULL);
}

void mr_mcp_hub_retain(struct mr_mcp_hub *hub, struct mr_mcp_listener *listener,
	const struct mr_texts *uris)
{
	end_some(hub, listener, NULL, uris);
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
