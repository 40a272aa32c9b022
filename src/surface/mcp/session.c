/* surface/mcp/session.c */
#include "surface/mcp/session.h"

#include "text/time.h"
#include "text/token.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ID_BYTES = 24 };

struct event {
	struct event *next;
	uint64_t number;
	int64_t at_us;
	size_t len;
	char json[];
};

struct mr_mcp_session {
	struct mr_mcp_sessions *all;
	struct mr_mcp_session *next;
	struct mr_arena *arena; /* the id, and what the client said */
	const char *id;
	struct mr_mcp_client client;

	/* Guarded by all->lock. */
	unsigned holders; /* the table is one */
	bool ended;
	int64_t used_us;
	struct mr_http_stream *stream; /* or NULL */
	bool is_open;                  /* the client still reads it */
	struct event *oldest, **newest;
	uint64_t last_number;
	size_t events, event_bytes;
};

struct mr_mcp_sessions {
	const struct mr_clock *clock;
	struct mr_rand *rand;
	pthread_mutex_t lock;
	struct mr_mcp_session *first;
	size_t count;
};

struct mr_mcp_sessions *mr_mcp_sessions_new(const struct mr_clock *clock, struct mr_rand *rand)
{
	struct mr_mcp_sessions *sessions = calloc(1, sizeof(*sessions));

	if (!sessions)
		abort();
	sessions->clock = clock;
	sessions->rand = rand;
	pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

static void drop_event(struct mr_mcp_session *session)
{
	struct event *event = session->oldest;

	session->oldest = event->next;
	if (!session->oldest)
		session->newest = &session->oldest;
	session->events--;
	session->event_bytes -= event->len;
	free(event);
}

/* Under the lock. True when nobody holds it any more: free it outside. */
static bool let_go(struct mr_mcp_session *session)
{
	return --session->holders == 0;
}

static void free_session(struct mr_mcp_session *session)
{
	while (session->oldest)
		drop_event(session);
	mr_arena_free(session->arena);
	free(session);
}

/* Under the lock: out of the table. The stream is the caller's to close. */
static struct mr_http_stream *take_out(struct mr_mcp_session *session)
{
	struct mr_mcp_session **at = &session->all->first;
	struct mr_http_stream *stream = session->stream;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	session->all->count--;
	session->ended = true;
	session->stream = NULL;
	return stream;
}

void mr_mcp_session_end(struct mr_mcp_session *session)
{
	struct mr_mcp_sessions *all = session->all;
	struct mr_http_stream *stream = NULL;

	pthread_mutex_lock(&all->lock);
	if (!session->ended) {
		stream = take_out(session);
		session->holders--; /* the table's; the caller has its own */
	}
	pthread_mutex_unlock(&all->lock);
	mr_http_stream_close(stream);
}

void mr_mcp_sessions_free(struct mr_mcp_sessions *sessions)
{
	while (sessions->first) {
		struct mr_mcp_session *session = sessions->first;

		session->holders++;
		mr_mcp_session_end(session);
		mr_mcp_session_done(&session);
	}
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

/* Under the lock: the one that has been idle for longest, if for long enough. */
static struct mr_mcp_session *find_idle(struct mr_mcp_sessions *sessions, int64_t now_us)
{
	struct mr_mcp_session *found = NULL;

	for (struct mr_mcp_session *at = sessions->first; at; at = at->next) {
		if (at->is_open || now_us - at->used_us < MR_MCP_IDLE_S * MR_TIME_S)
			continue;
		if (!found || at->used_us < found->used_us)
			found = at;
	}
	return found;
}

static void end_idle(struct mr_mcp_sessions *sessions, int64_t now_us)
{
	for (;;) {
		struct mr_mcp_session *idle;

		pthread_mutex_lock(&sessions->lock);
		idle = find_idle(sessions, now_us);
		if (idle)
			idle->holders++;
		pthread_mutex_unlock(&sessions->lock);
		if (!idle)
			return;
		mr_mcp_session_end(idle);
		mr_mcp_session_done(&idle);
	}
}

static struct mr_mcp_session *make(struct mr_mcp_sessions *sessions,
	const struct mr_mcp_hello *hello)
{
	struct mr_mcp_session *session = calloc(1, sizeof(*session));
	uint8_t random[ID_BYTES];

	if (!session)
		abort();
	mr_rand_fill(sessions->rand, random, sizeof(random));
	session->all = sessions;
	session->arena = mr_arena_new();
	session->id = mr_token_base64url(session->arena, mr_bytes_of(random, sizeof(random)));
	session->client = (struct mr_mcp_client){
		.era = MR_MCP_SESSIONS,
		.version = mr_arena_strdup(session->arena, hello->version),
		.can_sample = hello->can_sample,
		.can_elicit = hello->can_elicit,
		.has_roots = hello->has_roots,
		.session = session,
	};
	session->holders = 2; /* the table and the caller */
	session->newest = &session->oldest;
	return session;
}

enum mr_code mr_mcp_session_open(struct mr_mcp_sessions *sessions, const struct mr_mcp_hello *hello,
	struct mr_mcp_session **out, struct mr_err *err)
{
	struct mr_mcp_session *session;
	int64_t now_us = mr_clock_mono_us(sessions->clock);

	end_idle(sessions, now_us);
	session = make(sessions, hello);
	session->used_us = now_us;
	pthread_mutex_lock(&sessions->lock);
	if (sessions->count < MR_MCP_SESSIONS_MAX) {
		session->next = sessions->first;
		sessions->first = session;
		sessions->count++;
		*out = session;
		session = NULL;
	}
	pthread_mutex_unlock(&sessions->lock);
	if (!session)
		return MR_OK;
	free_session(session);
	return mr_err_set(err, MR_ELIMIT, "too many sessions: %d are open", MR_MCP_SESSIONS_MAX);
}

struct mr_mcp_session *mr_mcp_session_find(struct mr_mcp_sessions *sessions, const char *id)
{
	struct mr_mcp_session *found = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (struct mr_mcp_session *at = sessions->first; at && !found; at = at->next) {
		if (mr_str_eq_secret(at->id, id))
			found = at;
	}
	if (found) {
		found->holders++;
		found->used_us = mr_clock_mono_us(sessions->clock);
	}
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

void mr_mcp_session_done(struct mr_mcp_session **session)
{
	struct mr_mcp_session *mine = *session;
	bool last;

	if (!mine)
		return;
	pthread_mutex_lock(&mine->all->lock);
	last = let_go(mine);
	pthread_mutex_unlock(&mine->all->lock);
	if (last)
		free_session(mine);
	*session = NULL;
}

const char *mr_mcp_session_id(const struct mr_mcp_session *session)
{
	return session->id;
}

const struct mr_mcp_client *mr_mcp_session_client(const struct mr_mcp_session *session)
{
	return &session->client;
}

/* --- the stream for what nobody asked --------------------------------------------------------- */

/* "stream-number": this session has one stream, 0. */
static const char *event_id(struct mr_arena *arena, uint64_t number)
{
	return mr_arena_printf(arena, "0-%llu", (unsigned long long)number);
}

static bool parse_event_id(const char *id, uint64_t *out)
{
	int64_t number;

	if (!mr_str_starts(id, "0-") || !mr_str_to_int(id + 2, &number) || number < 0)
		return false;
	*out = (uint64_t)number;
	return true;
}

/* Under the lock. */
static void forget_old(struct mr_mcp_session *session, int64_t now_us)
{
	while (session->oldest &&
		(session->events > MR_MCP_EVENTS || session->event_bytes > MR_MCP_EVENT_BYTES ||
			now_us - session->oldest->at_us > MR_MCP_EVENTS_S * MR_TIME_S))
		drop_event(session);
}

static void send_event(struct mr_mcp_session *session, const struct event *event)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err err;

	/* Who has gone, or does not read, asks again later. */
	if (mr_http_stream_event(session->stream, "message", event_id(arena, event->number),
		    event->json, &err))
		session->is_open = false;
}

void mr_mcp_session_tell(struct mr_mcp_session *session, struct mr_bytes json)
{
	struct event *event = malloc(sizeof(*event) + json.len + 1);
	int64_t now_us = mr_clock_mono_us(session->all->clock);

	if (!event)
		abort();
	*event = (struct event){ .at_us = now_us, .len = json.len };
	memcpy(event->json, json.data, json.len);
	event->json[json.len] = '\0';
	pthread_mutex_lock(&session->all->lock);
	event->number = ++session->last_number;
	*session->newest = event;
	session->newest = &event->next;
	session->events++;
	session->event_bytes += event->len;
	if (session->is_open)
		send_event(session, event);
	forget_old(session, now_us);
	pthread_mutex_unlock(&session->all->lock);
}
