/* net/jmap_watch.c - A thread that learns of changed mail on a JMAP server. */
#include "net/jmap_watch.h"

#include "net/event_source.h"
#include "text/json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	POLL_MS = 5000,
	PAUSE_MS = 500,
	PAUSE_MAX_MS = 30000,
	PING_S = 60,
	PING_MAX_S = 300,  /* what a server may make of it (RFC 8620, 7.3) */
	SLACK_MS = 5000,   /* that a ping may be late */
	AGAIN_MS = 600000, /* a server without push is asked for it again */
	STEADY_MS = 10000, /* a stream that lasted so long was a good one */
	CONNECT_MS = 10000,
	REDIRECTS = 3,
};

struct mr_jmap_watch {
	struct mr_jmap_watch_config config;
	struct mr_jmap *jmap;
	struct mr_event_source *source;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool is_stopping; /* under the lock, as what follows */
	enum mr_jmap_watch_way way;
	struct mr_err why;
	/* The thread's own. */
	struct mr_buf state; /* of the account's mails, when it was last heard of */
	struct mr_buf account;
	bool has_state;
	int64_t silence_ms; /* after which a stream is dead */
	int pause_ms;
	int64_t next_try_ms; /* for a stream, where there was none */
};

/* --- between the threads --- */

static void tell_way(struct mr_jmap_watch *watch, enum mr_jmap_watch_way way,
	const struct mr_err *why)
{
	pthread_mutex_lock(&watch->lock);
	watch->way = way;
	watch->why.msg[0] = '\0';
	if (why)
		watch->why = *why;
	pthread_mutex_unlock(&watch->lock);
}

enum mr_jmap_watch_way mr_jmap_watch_way(struct mr_jmap_watch *watch, struct mr_arena *arena,
	const char **out_why)
{
	enum mr_jmap_watch_way way;

	pthread_mutex_lock(&watch->lock);
	way = watch->way;
	*out_why = watch->why.msg[0] ? mr_arena_strdup(arena, watch->why.msg) : NULL;
	pthread_mutex_unlock(&watch->lock);
	return way;
}

static bool is_over(void *arg)
{
	struct mr_jmap_watch *watch = arg;
	bool is_stopping;

	pthread_mutex_lock(&watch->lock);
	is_stopping = watch->is_stopping;
	pthread_mutex_unlock(&watch->lock);
	return is_stopping;
}

static void sleep_for(struct mr_jmap_watch *watch, int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&watch->lock);
	while (!watch->is_stopping &&
		pthread_cond_timedwait(&watch->woken, &watch->lock, &until) == 0)
		;
	pthread_mutex_unlock(&watch->lock);
}

/* The client's own pauses end with the watch too. */
static void pause_watch(void *arg, int ms)
{
	sleep_for(arg, ms);
}

/* --- states --- */

/* A state that was heard of: is it news? The first one is: mail may have come before it. */
static void take_state(struct mr_jmap_watch *watch, const char *state)
{
	bool is_news = !watch->has_state || strcmp(mr_buf_text(&watch->state), state) != 0;

	mr_buf_clear(&watch->state);
	mr_buf_puts(&watch->state, state);
	watch->has_state = true;
	if (is_news)
		watch->config.changed(watch->config.arg);
}

/* Ask for the state of the account's mails. */
static enum mr_code compare_states(struct mr_ctx *cx, struct mr_jmap_watch *watch)
{
	const struct mr_jmap_session *session;
	struct mr_jmap_request request;
	struct mr_jmap_response response;
	const struct mr_value *result;
	const struct mr_value *state;
	struct mr_out *args;
	enum mr_code rc = mr_jmap_session(cx, watch->jmap, &session);

	if (rc)
		return rc;
	mr_buf_clear(&watch->account);
	mr_buf_puts(&watch->account, session->mail_account);
	mr_jmap_begin(&request, cx->arena);
	args = mr_jmap_call(&request, "Email/get", "0");
	mr_out_list(args, "ids");
	mr_out_end(args);
	mr_jmap_end(&request);
	rc = mr_jmap_ask(cx, watch->jmap, &request, MR_JMAP_READS, &response);
	if (!rc)
		rc = mr_jmap_find(cx, &response, "0", "Email/get", &result);
	if (rc)
		return rc;
	state = mr_value_get(result, "state");
	if (!state || state->kind != MR_TEXT)
		return mr_err_set(&cx->err, MR_EREMOTE, "the server does not tell a state");
	take_state(watch, state->text);
	return MR_OK;
}

/* --- events --- */

static void take_ping(struct mr_jmap_watch *watch, const struct mr_value *data)
{
	const struct mr_value *interval = mr_value_get(data, "interval");

	if (interval && interval->kind == MR_INT && interval->integer > 0 &&
		interval->integer <= PING_MAX_S) {
		watch->silence_ms = 2 * 1000 * interval->integer + SLACK_MS;
		mr_event_source_wake(watch->source); /* which waits for longer now */
	}
}

static void take_event(void *arg, const struct mr_event *event)
{
	struct mr_jmap_watch *watch = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *data;
	const struct mr_value *state;
	struct mr_err ignored;

	if (mr_json_parse(arena, mr_bytes_text(event->data), NULL, &data, &ignored))
		return;
	if (strcmp(event->type, "ping") == 0)
		take_ping(watch, data);
	state = mr_value_get(mr_value_get(mr_value_get(data, "changed"),
				     mr_buf_text(&watch->account)),
		"Email");
	if (state && state->kind == MR_TEXT)
		take_state(watch, state->text);
}

/* The address of the stream; NULL: the server has none. */
static enum mr_code find_stream(struct mr_ctx *cx, struct mr_jmap_watch *watch, const char **out)
{
	const char *ping = mr_arena_printf(cx->arena, "%d", watch->config.ping_s);
	const struct mr_jmap_variable values[] = { { "types", "Email" }, { "closeafter", "no" },
		{ "ping", ping }, { NULL, NULL } };
	const struct mr_jmap_session *session;
	enum mr_code rc = mr_jmap_session(cx, watch->jmap, &session);

	if (!rc)
		*out = session->event_url
			? mr_jmap_url_expand(cx->arena, session->event_url, values)
			: NULL;
	return rc;
}

/* `*out_none`: the server does not push. */
static enum mr_code open_stream(struct mr_ctx *cx, struct mr_jmap_watch *watch, bool *out_none)
{
	struct mr_event_source_request request = {
		.headers = mr_jmap_headers(watch->jmap),
		.ca_file = mr_jmap_ca_file(watch->jmap),
		.connect_ms = CONNECT_MS,
	};
	const char *location;
	int status;
	enum mr_code rc = find_stream(cx, watch, &request.url);

	*out_none = false;
	if (rc)
		return rc;
	if (!request.url) {
		*out_none = true;
		return mr_err_set(&cx->err, MR_EREMOTE, "the server offers no push");
	}
	for (int i = 0; i <= REDIRECTS; i++) {
		rc = mr_event_source_open(watch->source, &request, &status, &location, &cx->err);
		if (!rc || !location || !mr_jmap_url_is_same_host(request.url, location))
			break;
		request.url = mr_arena_strdup(cx->arena, location);
	}
	/* Busy, or broken for now: the stream may come later. */
	*out_none = rc && status && status != 429 && status != 401 && status < 500;
	return rc;
}

/* Take events until the stream is over. */
static enum mr_code follow_stream(struct mr_ctx *cx, struct mr_jmap_watch *watch)
{
	while (!is_over(watch)) {
		int64_t left_ms = watch->silence_ms - mr_event_source_silent_ms(watch->source);
		enum mr_code rc;

		if (left_ms <= 0)
			return mr_err_set(&cx->err, MR_EREMOTE,
				"nothing was heard on the stream of events for %lld s",
				(long long)(watch->silence_ms / 1000));
		rc = mr_event_source_run(watch->source, (int)left_ms, &cx->err);
		if (rc)
			return rc;
	}
	return MR_OK;
}

/* --- the thread --- */

static int64_t mono_ms(const struct mr_jmap_watch *watch)
{
	return mr_clock_mono_ms(watch->config.clock);
}

/* How long to wait before a stream is opened again, or a server that does not answer is asked
 * again: longer each time. */
static int next_pause(struct mr_jmap_watch *watch)
{
	int64_t wanted_ms = mr_event_source_retry_ms(watch->source);
	int64_t pause_ms = watch->pause_ms;

	if (wanted_ms > pause_ms)
		pause_ms = wanted_ms < PAUSE_MAX_MS ? wanted_ms : PAUSE_MAX_MS;
	/* Clients that lost their streams together should not come back together. */
	pause_ms += (int64_t)mr_rand_below(watch->config.rand, (uint64_t)pause_ms / 4 + 1);
	watch->pause_ms = watch->pause_ms < PAUSE_MAX_MS / 2 ? 2 * watch->pause_ms : PAUSE_MAX_MS;
	return (int)pause_ms;
}

/* A stream, from its opening to its end. */
static enum mr_code be_pushed(struct mr_ctx *cx, struct mr_jmap_watch *watch)
{
	bool none;
	enum mr_code rc = open_stream(cx, watch, &none);
	int64_t since_ms = mono_ms(watch);

	if (!rc)
		rc = compare_states(cx, watch);
	if (!rc) {
		tell_way(watch, MR_JMAP_WATCH_PUSHED, NULL);
		rc = follow_stream(cx, watch);
		if (mono_ms(watch) - since_ms >= STEADY_MS)
			watch->pause_ms = watch->config.pause_ms;
	}
	watch->next_try_ms = mono_ms(watch) + (none ? AGAIN_MS : next_pause(watch));
	return rc;
}

/* Ask once, without a stream; how long to wait then. `why`: there is no stream. */
static int poll_once(struct mr_ctx *cx, struct mr_jmap_watch *watch, const struct mr_err *why)
{
	int64_t left_ms;

	if (compare_states(cx, watch)) {
		tell_way(watch, MR_JMAP_WATCH_LOST, &cx->err);
		return next_pause(watch);
	}
	tell_way(watch, MR_JMAP_WATCH_POLLED, why);
	left_ms = watch->next_try_ms - mono_ms(watch);
	if (left_ms < 1)
		return 0;
	return left_ms < watch->config.poll_ms ? (int)left_ms : watch->config.poll_ms;
}

static void *run(void *arg)
{
	struct mr_jmap_watch *watch = arg;
	struct mr_err why = { .code = MR_OK };

	while (!is_over(watch)) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_ctx cx = { .arena = arena,
			.clock = watch->config.clock,
			.rand = watch->config.rand,
			.is_over = is_over,
			.is_over_arg = watch };

		if (mono_ms(watch) >= watch->next_try_ms && be_pushed(&cx, watch))
			why = cx.err;
		if (!is_over(watch))
			sleep_for(watch, poll_once(&cx, watch, &why));
	}
	return NULL;
}

/* --- opening and closing --- */

static void keep_config(struct mr_jmap_watch *watch, const struct mr_jmap_watch_config *config)
{
	watch->config = *config;
	if (config->poll_ms <= 0)
		watch->config.poll_ms = POLL_MS;
	if (config->pause_ms <= 0)
		watch->config.pause_ms = PAUSE_MS;
	if (config->ping_s <= 0)
		watch->config.ping_s = PING_S;
	watch->pause_ms = watch->config.pause_ms;
	/* The server may choose less often than it was asked for, and says so with its first. */
	watch->silence_ms = 1000 * PING_MAX_S + SLACK_MS;
	watch->config.login.pause = pause_watch;
	watch->config.login.pause_arg = watch;
	mr_buf_init(&watch->state, MR_EVENT_DATA_BYTES);
	mr_buf_init(&watch->account, MR_EVENT_DATA_BYTES);
}

static void free_watch(struct mr_jmap_watch *watch)
{
	mr_event_source_free(watch->source);
	mr_jmap_close(watch->jmap);
	mr_buf_release(&watch->state);
	mr_buf_release(&watch->account);
	pthread_cond_destroy(&watch->woken);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

enum mr_code mr_jmap_watch_open(struct mr_ctx *cx, const struct mr_jmap_watch_config *config,
	struct mr_jmap_watch **out)
{
	struct mr_jmap_watch *watch = calloc(1, sizeof(*watch));
	pthread_condattr_t monotonic;
	enum mr_code rc;

	if (!watch)
		return mr_err_set(&cx->err, MR_EINTERNAL, "no memory to watch a mailbox");
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->woken, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&watch->lock, NULL);
	keep_config(watch, config);
	rc = mr_jmap_open(cx, &watch->config.login, &watch->jmap);
	if (!rc)
		rc = mr_event_source_new(take_event, watch, &watch->source, &cx->err);
	if (!rc && pthread_create(&watch->thread, NULL, run, watch) != 0)
		rc = mr_err_set(&cx->err, MR_EINTERNAL, "no thread to watch a mailbox");
	if (rc) {
		free_watch(watch);
		return rc;
	}
	*out = watch;
	return MR_OK;
}

void mr_jmap_watch_stop(struct mr_jmap_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	watch->is_stopping = true;
	pthread_cond_signal(&watch->woken);
	pthread_mutex_unlock(&watch->lock);
	mr_event_source_wake(watch->source);
}

void mr_jmap_watch_close(struct mr_jmap_watch *watch)
{
	if (!watch)
		return;
	mr_jmap_watch_stop(watch);
	pthread_join(watch->thread, NULL);
	free_watch(watch);
}
