/*
 * surface/mcp/session.c
 *
 * Locks: a session's, then the table's or a stream's. The table's guards who is in it and who holds
 * whom; a session's guards all that changes in it.
 */
#include "surface/mcp/session.h"

#include "surface/mcp/events.h"
#include "surface/mcp/hub.h"
#include "text/time.h"
#include "text/token.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ID_BYTES = 24, BUCKETS = 1024, MESSAGE_BYTES = 4 << 20 };

/* A connection that carries a stream just now. The HTTP server has it until it ends. */
struct link {
	struct mr_mcp_session *session; /* held */
	struct mr_http_stream *http;
	struct mr_mcp_outlet *outlet; /* NULL: it carries nothing any more, and http is closed */
};

struct mr_mcp_outlet {
	struct mr_mcp_outlet *next;
	struct mr_mcp_session *session; /* held, but by the session's own */
	uint64_t stream;
	struct link *link; /* NULL while the client is away */
	char *request_id;  /* as JSON; NULL of the session's own */
	bool is_cancelled;
};

/* Something we asked, on the asker's stack. */
struct question {
	struct question *next;
	uint64_t number;
	struct mr_mcp_outlet *outlet;
	struct mr_buf answer; /* JSON */
	bool is_answered, is_error;
};

struct mr_mcp_session {
	struct mr_mcp_listener listener; /* first: it is the session */
	struct mr_mcp_sessions *all;
	struct mr_arena *arena; /* the ids, and what the client said */
	const char *id;
	const char *owner; /* or NULL */

	/* Guarded by the table's lock. */
	struct mr_mcp_session *next;
	unsigned holders; /* the table is one */
	bool is_out;      /* of the table */
	int64_t used_us;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* an answer, a cancellation, the end */
	bool ended;
	struct mr_mcp_client client;
	struct mr_mcp_events *events;
	struct mr_mcp_outlet unasked; /* the stream of GET */
	struct mr_mcp_outlet *outlets;
	struct question *questions;
	uint64_t last_question;
};

struct mr_mcp_sessions {
	const struct mr_clock *clock;
	struct mr_rand *rand;
	struct mr_mcp_hub *hub;
	pthread_mutex_t lock;
	bool stopping;
	size_t count;
	struct mr_mcp_session *buckets[BUCKETS];
};

static void *must_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p) {
		fprintf(stderr, "mailroom: out of memory (%zu bytes wanted)\n", size);
		abort();
	}
	return p;
}

/* ---- the table ---- */

struct mr_mcp_sessions *mr_mcp_sessions_new(const struct mr_clock *clock, struct mr_rand *rand,
	struct mr_mcp_hub *hub)
{
	struct mr_mcp_sessions *sessions = must_alloc(sizeof(*sessions));

	sessions->clock = clock;
	sessions->rand = rand;
	sessions->hub = hub;
	pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

/* Ids are random: their first characters spread well enough. */
static struct mr_mcp_session **bucket_of(struct mr_mcp_sessions *sessions, const char *id)
{
	unsigned hash = 0;

	for (unsigned i = 0; i < 4 && id[i]; i++)
		hash = hash * 61 + (unsigned char)id[i];
	return &sessions->buckets[hash % BUCKETS];
}

/* Its subscriptions. A request that was under way may have added one after the session's end. */
static void forget(struct mr_mcp_session *session)
{
	if (session->all->hub)
		mr_mcp_hub_unsubscribe(session->all->hub, NULL, &session->listener);
}

static void free_session(struct mr_mcp_session *session)
{
	forget(session);
	mr_mcp_events_free(session->events);
	pthread_cond_destroy(&session->changed);
	pthread_mutex_destroy(&session->lock);
	mr_arena_free(session->arena);
	free(session);
}

struct mr_mcp_session *mr_mcp_session_hold(struct mr_mcp_session *session)
{
	pthread_mutex_lock(&session->all->lock);
	session->holders++;
	pthread_mutex_unlock(&session->all->lock);
	return session;
}

void mr_mcp_session_done(struct mr_mcp_session **session)
{
	struct mr_mcp_session *mine = *session;
	bool last;

	if (!mine)
		return;
	pthread_mutex_lock(&mine->all->lock);
	last = --mine->holders == 0;
	mine->used_us = mr_clock_mono_us(mine->all->clock);
	pthread_mutex_unlock(&mine->all->lock);
	if (last)
		free_session(mine);
	*session = NULL;
}

/* Out of the table; false when it was already. */
static bool take_out(struct mr_mcp_session *session)
{
	struct mr_mcp_sessions *all = session->all;
	bool was_in;

	pthread_mutex_lock(&all->lock);
	was_in = !session->is_out;
	if (was_in) {
		struct mr_mcp_session **at = bucket_of(all, session->id);

		while (*at != session)
			at = &(*at)->next;
		*at = session->next;
		all->count--;
		session->is_out = true;
		session->holders--; /* whoever calls has another */
	}
	pthread_mutex_unlock(&all->lock);
	return was_in;
}

/* Under the session's lock: the connection is nobody's any more; the caller closes it. */
static struct mr_http_stream *unlink_outlet(struct mr_mcp_outlet *outlet)
{
	struct link *link = outlet->link;

	if (!link)
		return NULL;
	outlet->link = NULL;
	link->outlet = NULL;
	return link->http;
}

void mr_mcp_session_end(struct mr_mcp_session *session)
{
	struct mr_http_stream *http;

	if (!take_out(session))
		return;
	pthread_mutex_lock(&session->lock);
	session->ended = true;
	pthread_cond_broadcast(&session->changed);
	http = unlink_outlet(&session->unasked);
	pthread_mutex_unlock(&session->lock);
	forget(session);
	mr_http_stream_close(http);
}

/* Some session, held, or NULL; with `before_us` only one that was not used since and is not
 * listened to. */
static struct mr_mcp_session *pick(struct mr_mcp_sessions *sessions, int64_t before_us)
{
	struct mr_mcp_session *found = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < BUCKETS && !found; i++) {
		struct mr_mcp_session *at = sessions->buckets[i];

		/* Whoever holds it besides the table uses it: a connection that listens too. */
		while (at && before_us && (at->holders > 1 || at->used_us > before_us))
			at = at->next;
		found = at;
	}
	if (found)
		found->holders++;
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

static void end_all(struct mr_mcp_sessions *sessions, int64_t before_us)
{
	struct mr_mcp_session *session;

	while ((session = pick(sessions, before_us))) {
		mr_mcp_session_end(session);
		mr_mcp_session_done(&session);
	}
}

void mr_mcp_sessions_stop(struct mr_mcp_sessions *sessions)
{
	pthread_mutex_lock(&sessions->lock);
	sessions->stopping = true;
	pthread_mutex_unlock(&sessions->lock);
	end_all(sessions, 0);
}

void mr_mcp_sessions_free(struct mr_mcp_sessions *sessions)
{
	if (!sessions)
		return;
	mr_mcp_sessions_stop(sessions);
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

static void on_updated(struct mr_mcp_listener *listener, const char *uri)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release);
	struct mr_out out;

	mr_buf_init(&json, MESSAGE_BYTES);
	mr_out_init_json(&out, &json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, "notifications/resources/updated");
	mr_out_map(&out, "params");
	mr_out_text(&out, "uri", uri);
	mr_out_end(&out);
	mr_out_end(&out);
	mr_mcp_session_tell((struct mr_mcp_session *)listener, mr_buf_bytes(&json));
}

static void on_level(struct mr_mcp_listener *listener, int level)
{
	mr_mcp_session_set_level((struct mr_mcp_session *)listener, level);
}

static struct mr_mcp_session *make(struct mr_mcp_sessions *sessions, const char *owner,
	const struct mr_mcp_hello *hello)
{
	struct mr_mcp_session *session = must_alloc(sizeof(*session));
	pthread_condattr_t attr;
	uint8_t random[ID_BYTES];

	mr_rand_fill(sessions->rand, random, sizeof(random));
	session->all = sessions;
	session->listener = (struct mr_mcp_listener){ on_updated, on_level };
	session->arena = mr_arena_new();
	session->id = mr_token_base64url(session->arena, mr_bytes_of(random, sizeof(random)));
	session->owner = mr_arena_strdup(session->arena, owner);
	session->client = (struct mr_mcp_client){
		.era = MR_MCP_SESSIONS,
		.version = mr_arena_strdup(session->arena, hello->version),
		.can_sample = hello->can_sample,
		.can_elicit = hello->can_elicit,
		.has_roots = hello->has_roots,
		.session = session,
		.listener = &session->listener,
	};
	session->holders = 2; /* the table and the caller */
	session->events = mr_mcp_events_new();
	session->unasked.session = session;
	session->unasked.stream = mr_mcp_events_open(session->events);
	pthread_mutex_init(&session->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&session->changed, &attr);
	pthread_condattr_destroy(&attr);
	return session;
}

static enum mr_code put_in(struct mr_mcp_sessions *sessions, struct mr_mcp_session *session,
	struct mr_err *err)
{
	struct mr_mcp_session **bucket = bucket_of(sessions, session->id);
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&sessions->lock);
	if (sessions->stopping) {
		rc = mr_err_set(err, MR_EBUSY, "the server is stopping");
	} else if (sessions->count == MR_MCP_SESSIONS_MAX) {
		rc = mr_err_set(err, MR_ELIMIT, "%d sessions are open, which is the maximum",
			MR_MCP_SESSIONS_MAX);
	} else {
		session->next = *bucket;
		*bucket = session;
		sessions->count++;
	}
	pthread_mutex_unlock(&sessions->lock);
	return rc;
}

enum mr_code mr_mcp_session_open(struct mr_mcp_sessions *sessions, const char *owner,
	const struct mr_mcp_hello *hello, struct mr_mcp_session **out, struct mr_err *err)
{
	int64_t now_us = mr_clock_mono_us(sessions->clock);
	struct mr_mcp_session *session;
	enum mr_code rc;

	if (now_us > MR_MCP_IDLE_S * MR_TIME_S)
		end_all(sessions, now_us - MR_MCP_IDLE_S * MR_TIME_S);
	session = make(sessions, owner, hello);
	session->used_us = now_us;
	rc = put_in(sessions, session, err);
	if (rc)
		free_session(session);
	else
		*out = session;
	return rc;
}

struct mr_mcp_session *mr_mcp_session_find(struct mr_mcp_sessions *sessions, const char *owner,
	const char *id)
{
	int64_t now_us = mr_clock_mono_us(sessions->clock);
	struct mr_mcp_session *at;
	bool is_idle = false;

	pthread_mutex_lock(&sessions->lock);
	at = *bucket_of(sessions, id);
	while (at && !mr_str_eq_secret(at->id, id))
		at = at->next;
	if (at && !mr_str_eq(at->owner, owner))
		at = NULL;
	if (at) {
		is_idle = at->holders == 1 && now_us - at->used_us > MR_MCP_IDLE_S * MR_TIME_S;
		at->holders++;
		at->used_us = now_us;
	}
	pthread_mutex_unlock(&sessions->lock);
	if (is_idle) {
		mr_mcp_session_end(at);
		mr_mcp_session_done(&at);
	}
	return at;
}

const char *mr_mcp_session_id(const struct mr_mcp_session *session)
{
	return session->id;
}

struct mr_mcp_client mr_mcp_session_client(struct mr_mcp_session *session)
{
	struct mr_mcp_client client;

	pthread_mutex_lock(&session->lock);
	client = session->client;
	pthread_mutex_unlock(&session->lock);
	return client;
}

void mr_mcp_session_set_level(struct mr_mcp_session *session, int level)
{
	pthread_mutex_lock(&session->lock);
	session->client.log_level = level;
	pthread_mutex_unlock(&session->lock);
}

/* ---- streams ---- */

/* The connection has ended: the client may come back. */
static void on_ended(void *arg)
{
	struct link *link = arg;
	struct mr_mcp_session *session = link->session;
	struct mr_http_stream *http = NULL;

	pthread_mutex_lock(&session->lock);
	if (link->outlet)
		http = unlink_outlet(link->outlet);
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(http);
	free(link);
	mr_mcp_session_done(&session);
}

/* Does it know what to do with an event without a message? */
static bool can_be_primed(const struct mr_mcp_session *session)
{
	return strcmp(session->client.version, "2025-11-25") >= 0;
}

/* A client that went, or does not read, asks again later. */
static void send_event(struct mr_http_stream *http, uint64_t stream, uint64_t number,
	const char *json)
{
	char id[MR_MCP_EVENT_ID_BYTES];
	struct mr_err ignored;

	mr_mcp_events_id(stream, number, id);
	(void)!mr_http_stream_event(http, "message", id, json, &ignored);
}

/* An id to come back with before there is any message. */
static void prime(struct mr_http_stream *http, uint64_t stream)
{
	char text[MR_MCP_EVENT_ID_BYTES + 64];
	char id[MR_MCP_EVENT_ID_BYTES];
	struct mr_err ignored;

	mr_mcp_events_id(stream, 0, id);
	snprintf(text, sizeof(text), "id: %s\nretry: %d\ndata: \n\n", id, MR_MCP_RETRY_MS);
	(void)!mr_http_stream_send(http, mr_bytes_text(text), &ignored);
}

static void replay(struct mr_mcp_session *session, struct mr_http_stream *http, uint64_t stream,
	uint64_t after)
{
	const struct mr_mcp_event *event;

	while ((event = mr_mcp_events_after(session->events, stream, after))) {
		send_event(http, stream, event->number, event->json);
		after = event->number;
	}
}

/* Make the response a stream that nothing is on yet. */
static enum mr_code open_link(struct mr_mcp_session *session, const struct mr_http_request *req,
	struct mr_http_response *resp, struct link **out, struct mr_err *err)
{
	struct link *link = must_alloc(sizeof(*link));
	enum mr_code rc;

	link->session = mr_mcp_session_hold(session);
	rc = mr_http_stream_open(req, resp, on_ended, link, &link->http, err);
	if (rc) {
		mr_mcp_session_done(&link->session);
		free(link);
		return rc;
	}
	mr_http_response_header(resp, "Mcp-Session-Id", mr_arena_strdup(resp->arena, session->id));
	*out = link;
	return MR_OK;
}

/* Under the session's lock. */
static void join(struct link *link, struct mr_mcp_outlet *outlet)
{
	link->outlet = outlet;
	outlet->link = link;
}

enum mr_code mr_mcp_session_listen(struct mr_mcp_session *session,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err)
{
	struct link *link;
	enum mr_code rc;

	pthread_mutex_lock(&session->lock);
	if (session->ended)
		rc = mr_err_set(err, MR_ENOTFOUND, "the session has ended");
	else if (session->unasked.link)
		rc = mr_err_set(err, MR_EEXISTS, "this session has its stream already");
	else
		rc = open_link(session, req, resp, &link, err);
	if (!rc) {
		join(link, &session->unasked);
		if (can_be_primed(session))
			prime(link->http, session->unasked.stream);
	}
	pthread_mutex_unlock(&session->lock);
	return rc;
}

/* Under the session's lock: who sends on that stream; NULL when all has been sent. */
static struct mr_mcp_outlet *outlet_of(struct mr_mcp_session *session, uint64_t stream)
{
	struct mr_mcp_outlet *at = session->outlets;

	if (session->unasked.stream == stream)
		return &session->unasked;
	while (at && at->stream != stream)
		at = at->next;
	return at;
}

enum mr_code mr_mcp_session_resume(struct mr_mcp_session *session, const char *last_id,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err)
{
	int64_t now_us = mr_clock_mono_us(session->all->clock);
	struct mr_http_stream *done = NULL;
	struct mr_mcp_outlet *outlet;
	uint64_t stream, number;
	struct link *link;
	enum mr_code rc;

	if (!mr_mcp_events_parse_id(last_id, &stream, &number))
		return mr_err_set(err, MR_ENOTFOUND, "that is not an event of this session");
	pthread_mutex_lock(&session->lock);
	if (session->ended || !mr_mcp_events_knows(session->events, stream, number, now_us))
		rc = mr_err_set(err, MR_ENOTFOUND,
			"that is not an event of this session, or no longer");
	else
		rc = open_link(session, req, resp, &link, err);
	if (!rc) {
		replay(session, link->http, stream, number);
		outlet = outlet_of(session, stream);
		if (outlet) {
			done = unlink_outlet(outlet);
			join(link, outlet);
		} else {
			done = link->http;
		}
	}
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(done);
	return rc;
}

/* Under the session's lock. */
static void send_on(struct mr_mcp_outlet *outlet, struct mr_bytes json)
{
	struct mr_mcp_session *session = outlet->session;
	int64_t now_us = mr_clock_mono_us(session->all->clock);
	uint64_t number = mr_mcp_events_add(session->events, outlet->stream, now_us, json);

	if (outlet->link)
		send_event(outlet->link->http, outlet->stream, number, (const char *)json.data);
}

void mr_mcp_session_tell(struct mr_mcp_session *session, struct mr_bytes json)
{
	pthread_mutex_lock(&session->lock);
	if (!session->ended)
		send_on(&session->unasked, json);
	pthread_mutex_unlock(&session->lock);
}

static char *json_text(const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release);
	struct mr_json_writer w;
	char *text;

	mr_buf_init(&buf, MESSAGE_BYTES);
	mr_json_init(&w, &buf, MR_JSON_COMPACT);
	mr_json_value(&w, value);
	text = strdup(mr_buf_text(&buf));
	if (!text)
		abort();
	return text;
}

enum mr_code mr_mcp_session_stream(struct mr_mcp_session *session,
	const struct mr_value *request_id, const struct mr_http_request *req,
	struct mr_http_response *resp, struct mr_mcp_outlet **out, struct mr_err *err)
{
	struct mr_mcp_outlet *outlet;
	struct link *link;
	enum mr_code rc;

	pthread_mutex_lock(&session->lock);
	rc = session->ended ? mr_err_set(err, MR_ENOTFOUND, "the session has ended")
			    : open_link(session, req, resp, &link, err);
	if (!rc) {
		outlet = must_alloc(sizeof(*outlet));
		outlet->session = mr_mcp_session_hold(session);
		outlet->stream = mr_mcp_events_open(session->events);
		outlet->request_id = json_text(request_id);
		outlet->next = session->outlets;
		session->outlets = outlet;
		join(link, outlet);
		if (can_be_primed(session))
			prime(link->http, outlet->stream);
		*out = outlet;
	}
	pthread_mutex_unlock(&session->lock);
	return rc;
}

/* Under the session's lock. */
static bool is_over(const struct mr_mcp_outlet *outlet)
{
	return outlet->is_cancelled || outlet->session->ended;
}

enum mr_code mr_mcp_outlet_send(struct mr_mcp_outlet *outlet, struct mr_bytes json,
	struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&outlet->session->lock);
	if (is_over(outlet))
		rc = mr_err_set(err, MR_ENOTFOUND, "nobody waits for the answer any more");
	else
		send_on(outlet, json);
	pthread_mutex_unlock(&outlet->session->lock);
	return rc;
}

void mr_mcp_outlet_pause(struct mr_mcp_outlet *outlet)
{
	struct mr_http_stream *http;

	pthread_mutex_lock(&outlet->session->lock);
	http = unlink_outlet(outlet);
	pthread_mutex_unlock(&outlet->session->lock);
	mr_http_stream_close(http);
}

bool mr_mcp_outlet_is_over(struct mr_mcp_outlet *outlet)
{
	bool over;

	pthread_mutex_lock(&outlet->session->lock);
	over = is_over(outlet);
	pthread_mutex_unlock(&outlet->session->lock);
	return over;
}

void mr_mcp_outlet_end(struct mr_mcp_outlet *outlet)
{
	struct mr_mcp_session *session = outlet->session;
	struct mr_mcp_outlet **at = &session->outlets;
	struct mr_http_stream *http;

	pthread_mutex_lock(&session->lock);
	while (*at != outlet)
		at = &(*at)->next;
	*at = outlet->next;
	mr_mcp_events_close(session->events, outlet->stream);
	http = unlink_outlet(outlet);
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(http);
	mr_mcp_session_done(&session);
	free(outlet->request_id);
	free(outlet);
}

/* ---- questions ---- */

static enum mr_code write_question(struct mr_buf *buf, uint64_t number, const char *method,
	const struct mr_value *params, struct mr_err *err)
{
	struct mr_out out;
	char id[24];

	snprintf(id, sizeof(id), "q%llu", (unsigned long long)number);
	mr_out_init_json(&out, buf, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, id, method);
	if (params)
		mr_out_value(&out, "params", params);
	mr_out_end(&out);
	return mr_buf_check(buf, "the question", err);
}

/* Under the session's lock: until it is answered, or nobody waits, or the time is up. */
static enum mr_code wait_for_answer(struct question *question, unsigned timeout_ms,
	struct mr_err *err)
{
	struct mr_mcp_session *session = question->outlet->session;
	int64_t until_ms = mr_clock_mono_ms(mr_clock_system()) + timeout_ms;
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
	int rc = 0;

	while (!question->is_answered && !is_over(question->outlet) && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&session->changed, &session->lock, &until);
	if (question->is_answered)
		return MR_OK;
	if (is_over(question->outlet))
		return mr_err_set(err, MR_ENOTFOUND, "nobody waits for the answer any more");
	return mr_err_set(err, MR_ETIMEOUT, "the client has not answered for %u s",
		timeout_ms / 1000);
}

static enum mr_code put_question(struct mr_mcp_outlet *outlet, struct question *question,
	const char *method, const struct mr_value *params, unsigned timeout_ms, struct mr_err *err)
{
	struct mr_mcp_session *session = outlet->session;
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct question **at;
	enum mr_code rc;

	mr_buf_init(&text, MESSAGE_BYTES);
	pthread_mutex_lock(&session->lock);
	question->number = ++session->last_question;
	rc = write_question(&text, question->number, method, params, err);
	if (!rc && is_over(outlet))
		rc = mr_err_set(err, MR_ENOTFOUND, "nobody waits for the answer any more");
	if (!rc) {
		question->next = session->questions;
		session->questions = question;
		send_on(outlet, mr_buf_bytes(&text));
		rc = wait_for_answer(question, timeout_ms, err);
		for (at = &session->questions; *at != question; at = &(*at)->next)
			continue;
		*at = question->next;
	}
	pthread_mutex_unlock(&session->lock);
	return rc;
}

enum mr_code mr_mcp_outlet_ask(struct mr_mcp_outlet *outlet, struct mr_arena *arena,
	const char *method, const struct mr_value *params, unsigned timeout_ms,
	const struct mr_value **out, struct mr_err *err)
{
	struct question question = { .outlet = outlet };
	const struct mr_value *said, *message;
	enum mr_code rc;

	mr_buf_init(&question.answer, MESSAGE_BYTES);
	rc = put_question(outlet, &question, method, params, timeout_ms, err);
	if (!rc)
		rc = mr_json_parse(arena, mr_buf_bytes(&question.answer), NULL, &said, err);
	mr_buf_release(&question.answer);
	if (rc)
		return rc;
	if (!question.is_error) {
		*out = said;
		return MR_OK;
	}
	message = mr_value_get(said, "message");
	return mr_err_set(err, MR_EREMOTE, "the client refused %s: %.200s", method,
		message && message->kind == MR_TEXT ? message->text : "");
}

void mr_mcp_session_answered(struct mr_mcp_session *session, const struct mr_rpc *response)
{
	const char *id = response->id && response->id->kind == MR_TEXT ? response->id->text : "";
	struct question *at;
	int64_t number;

	if (id[0] != 'q' || !mr_str_to_int(id + 1, &number))
		return;
	pthread_mutex_lock(&session->lock);
	at = session->questions;
	while (at && at->number != (uint64_t)number)
		at = at->next;
	if (at && !at->is_answered) {
		struct mr_json_writer w;

		mr_json_init(&w, &at->answer, MR_JSON_COMPACT);
		mr_json_value(&w, response->error ? response->error : response->result);
		at->is_error = response->error;
		at->is_answered = true;
		pthread_cond_broadcast(&session->changed);
	}
	pthread_mutex_unlock(&session->lock);
}

void mr_mcp_session_cancel(struct mr_mcp_session *session, const struct mr_value *request_id)
{
	char *id = json_text(request_id);

	pthread_mutex_lock(&session->lock);
	for (struct mr_mcp_outlet *at = session->outlets; at; at = at->next) {
		if (strcmp(at->request_id, id) == 0)
			at->is_cancelled = true;
	}
	pthread_cond_broadcast(&session->changed);
	pthread_mutex_unlock(&session->lock);
	free(id);
}
