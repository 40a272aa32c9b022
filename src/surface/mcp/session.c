/*
 * surface/mcp/session.c - The table of MCP sessions over HTTP: opened, found by id, held, expired
 * and ended.
 */
#include "base/oom.h"
#include "surface/mcp/session_private.h"
#include "text/digest.h"
#include "text/time.h"
#include "text/token.h"

#include <stdlib.h>
#include <time.h>

enum { ID_BYTES = 24 };

void *mr_mcp_session_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		mr_oom(size);
	return p;
}

struct mr_mcp_sessions *mr_mcp_sessions_new(const struct mr_clock *clock, struct mr_rand *rand,
	struct mr_mcp_hub *hub)
{
	struct mr_mcp_sessions *sessions = mr_mcp_session_alloc(sizeof(*sessions));

	sessions->clock = clock;
	sessions->rand = rand;
	sessions->hub = hub;
	pthread_mutex_init(&sessions->lock, NULL);
	pthread_mutex_init(&sessions->adopting, NULL);
	return sessions;
}

/* Ids are random: their first characters spread well enough. */
static struct mr_mcp_session **bucket_of(struct mr_mcp_sessions *sessions, const char *id)
{
	unsigned hash = 0;

	for (unsigned i = 0; i < 4 && id[i]; i++)
		hash = hash * 61 + (unsigned char)id[i];
	return &sessions->buckets[hash % MR_MCP_BUCKETS];
}

/* Drop its subscriptions: a request in progress may have added one after the session's end. */
static void forget(struct mr_mcp_session *session)
{
	if (session->all->hub)
		mr_mcp_hub_unsubscribe(session->all->hub, NULL, &session->listener);
}

static void free_session(struct mr_mcp_session *session)
{
	forget(session);
	mr_mcp_session_drop_guests(session);
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

void mr_mcp_session_end(struct mr_mcp_session *session)
{
	struct mr_http_stream *http;

	if (!take_out(session))
		return;
	pthread_mutex_lock(&session->lock);
	session->ended = true;
	pthread_cond_broadcast(&session->changed);
	http = mr_mcp_outlet_unlink(&session->unasked);
	mr_mcp_session_leave_guests(session);
	pthread_mutex_unlock(&session->lock);
	forget(session);
	mr_http_stream_close(http);
}

/* Any session, held, or NULL; with `before_us` only one that has not been used since then and
 * has no open stream. */
static struct mr_mcp_session *pick(struct mr_mcp_sessions *sessions, int64_t before_us)
{
	struct mr_mcp_session *found = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < MR_MCP_BUCKETS && !found; i++) {
		struct mr_mcp_session *at = sessions->buckets[i];

		/* A second holder besides the table uses it, such as a stream's connection. */
		while (at && before_us && (at->holders > 1 || at->used_us > before_us))
			at = at->next;
		found = at;
	}
	if (found)
		found->holders++;
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

/* When the table is full: end the least recently used session, if it has been unused long
 * enough. Its client is told to initialize again. */
static void make_room(struct mr_mcp_sessions *sessions, int64_t before_us)
{
	struct mr_mcp_session *oldest = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < MR_MCP_BUCKETS && sessions->count == MR_MCP_SESSIONS_MAX; i++) {
		for (struct mr_mcp_session *at = sessions->buckets[i]; at; at = at->next) {
			if (at->holders == 1 && at->used_us <= before_us &&
				(!oldest || at->used_us < oldest->used_us))
				oldest = at;
		}
	}
	if (oldest)
		oldest->holders++;
	pthread_mutex_unlock(&sessions->lock);
	if (oldest)
		mr_mcp_session_end(oldest);
	mr_mcp_session_done(&oldest);
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
	pthread_mutex_destroy(&sessions->adopting);
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

static void on_updated(struct mr_mcp_listener *listener, const char *uri)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&json, MR_MCP_MESSAGE_BYTES);
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

/* Numbers that no other server has for its streams and questions of the same session. */
static uint64_t first_number(struct mr_mcp_sessions *sessions)
{
	return sessions->relay ? (mr_rand_below(sessions->rand, INT32_MAX) + 1) * MR_MCP_STREAMS
			       : 0;
}

/* `id` NULL: a new one. */
static struct mr_mcp_session *make(struct mr_mcp_sessions *sessions, const char *owner,
	const char *id, const struct mr_mcp_hello *hello)
{
	struct mr_mcp_session *session = mr_mcp_session_alloc(sizeof(*session));
	pthread_condattr_t attr;
	uint8_t random[ID_BYTES];

	session->all = sessions;
	session->listener = (struct mr_mcp_listener){ on_updated, on_level };
	session->arena = mr_arena_new();
	if (!id) {
		mr_rand_fill(sessions->rand, random, sizeof(random));
		id = mr_token_base64url(session->arena, mr_bytes_of(random, sizeof(random)));
	}
	session->id = mr_arena_strdup(session->arena, id);
	if (sessions->relay)
		session->digest = mr_digest_sha256(session->arena, mr_bytes_text(id));
	session->last_question = first_number(sessions);
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
	mr_mcp_events_begin_at(session->events, first_number(sessions));
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

static enum mr_code enter(struct mr_mcp_sessions *sessions, const char *owner, const char *id,
	const struct mr_mcp_hello *hello, struct mr_mcp_session **out, struct mr_err *err)
{
	int64_t now_us = mr_clock_mono_us(sessions->clock);
	struct mr_mcp_session *session;
	enum mr_code rc;

	if (now_us > MR_MCP_IDLE_S * MR_TIME_S)
		end_all(sessions, now_us - MR_MCP_IDLE_S * MR_TIME_S);
	make_room(sessions, now_us - MR_MCP_UNUSED_S * MR_TIME_S);
	session = make(sessions, owner, id, hello);
	session->used_us = session->touched_us = now_us;
	rc = put_in(sessions, session, err);
	if (rc)
		free_session(session);
	else
		*out = session;
	return rc;
}

enum mr_code mr_mcp_session_open(struct mr_mcp_sessions *sessions, const char *owner,
	const struct mr_mcp_hello *hello, struct mr_mcp_session **out, struct mr_err *err)
{
	return enter(sessions, owner, NULL, hello, out, err);
}

enum mr_code mr_mcp_session_adopt(struct mr_mcp_sessions *sessions, const char *owner,
	const char *id, const struct mr_mcp_hello *hello, struct mr_mcp_session **out,
	struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	/* One at a time, because two requests may name it at once. */
	pthread_mutex_lock(&sessions->adopting);
	*out = mr_mcp_session_find(sessions, owner, id);
	if (!*out)
		rc = enter(sessions, owner, id, hello, out, err);
	pthread_mutex_unlock(&sessions->adopting);
	return rc;
}

struct mr_mcp_session *mr_mcp_session_of_digest(struct mr_mcp_sessions *sessions,
	const char *digest)
{
	struct mr_mcp_session *found = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < MR_MCP_BUCKETS && !found; i++) {
		struct mr_mcp_session *at = sessions->buckets[i];

		while (at && !mr_str_eq(at->digest, digest))
			at = at->next;
		found = at;
	}
	if (found)
		found->holders++;
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

bool mr_mcp_session_is_due(struct mr_mcp_session *session, int64_t now_us, int64_t every_s)
{
	bool is_due;

	pthread_mutex_lock(&session->all->lock);
	is_due = now_us - session->touched_us > every_s * MR_TIME_S;
	if (is_due)
		session->touched_us = now_us;
	pthread_mutex_unlock(&session->all->lock);
	return is_due;
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
