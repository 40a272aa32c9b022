/* surface/mcp/session_stream.c - the streams of a session: opened, written to, kept and resumed. */
#include "surface/mcp/session_private.h"

#include "base/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under the session's lock: detach the connection from its stream; the caller closes it. */
struct mr_http_stream *mr_mcp_outlet_unlink(struct mr_mcp_outlet *outlet)
{
	struct mr_mcp_link *link = outlet->link;

	if (!link)
		return NULL;
	outlet->link = NULL;
	link->outlet = NULL;
	return link->http;
}

/* The connection has ended: the client may come back. */
static void on_ended(void *arg)
{
	struct mr_mcp_link *link = arg;
	struct mr_mcp_session *session = link->session;
	struct mr_http_stream *http = NULL;

	pthread_mutex_lock(&session->lock);
	if (link->outlet)
		http = mr_mcp_outlet_unlink(link->outlet);
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(http);
	free(link);
	mr_mcp_session_done(&session);
}

/* Does the client's protocol version know events without a message? */
static bool can_be_primed(const struct mr_mcp_session *session)
{
	return strcmp(session->client.version, "2025-11-25") >= 0;
}

/* A failure is ignored: a client that has gone, or does not read, resumes later. */
static void send_event(struct mr_http_stream *http, uint64_t stream, uint64_t number,
	const char *json)
{
	char id[MR_MCP_EVENT_ID_BYTES];
	struct mr_err ignored;

	mr_mcp_events_id(stream, number, id);
	(void)!mr_http_stream_event(http, "message", id, json, &ignored);
}

/* Send an event without a message, so that the client has an id to resume from. */
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
	struct mr_http_response *resp, struct mr_mcp_link **out, struct mr_err *err)
{
	struct mr_mcp_link *link = mr_mcp_session_alloc(sizeof(*link));
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
static void join(struct mr_mcp_link *link, struct mr_mcp_outlet *outlet)
{
	link->outlet = outlet;
	outlet->link = link;
}

enum mr_code mr_mcp_session_listen(struct mr_mcp_session *session,
	const struct mr_http_request *req, struct mr_http_response *resp, struct mr_err *err)
{
	struct mr_mcp_link *link = NULL;
	enum mr_code rc;

	pthread_mutex_lock(&session->lock);
	if (session->ended)
		rc = mr_err_set(err, MR_ENOTFOUND, "the session has ended");
	else if (session->unasked.link)
		rc = mr_err_set(err, MR_EEXISTS, "this session already has a stream");
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

/* Under the session's lock: the outlet that sends on that stream; NULL when it has ended. */
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
	struct mr_mcp_link *link = NULL;
	enum mr_code rc;

	if (!mr_mcp_events_parse_id(last_id, &stream, &number))
		return mr_err_set(err, MR_ENOTFOUND,
			"Last-Event-ID is not an event of this session");
	pthread_mutex_lock(&session->lock);
	if (session->ended || !mr_mcp_events_knows(session->events, stream, number, now_us))
		rc = mr_err_set(err, MR_ENOTFOUND,
			"Last-Event-ID is not an event of this session, or no longer");
	else
		rc = open_link(session, req, resp, &link, err);
	if (!rc) {
		replay(session, link->http, stream, number);
		outlet = outlet_of(session, stream);
		if (outlet) {
			done = mr_mcp_outlet_unlink(outlet);
			outlet->is_remote = false;
			join(link, outlet);
		} else {
			done = link->http;
		}
	}
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(done);
	return rc;
}

/* How much one session may keep: the more there are, the less. */
static size_t share_of(struct mr_mcp_sessions *sessions)
{
	size_t count = atomic_load(&sessions->count);
	size_t share = MR_MCP_EVENT_BYTES_ALL / (count ? count : 1);

	return share < MR_MCP_EVENT_BYTES ? share : MR_MCP_EVENT_BYTES;
}

void mr_mcp_outlet_put_at(struct mr_mcp_outlet *outlet, uint64_t number, struct mr_bytes json)
{
	/* What was relayed twice, because the client came back twice, is here already. */
	if (mr_mcp_events_last(outlet->session->events, outlet->stream) + 1 == number)
		mr_mcp_outlet_put(outlet, json);
}

void mr_mcp_outlet_put(struct mr_mcp_outlet *outlet, struct mr_bytes json)
{
	struct mr_mcp_session *session = outlet->session;
	int64_t now_us = mr_clock_mono_us(session->all->clock);
	uint64_t number = mr_mcp_events_add(session->events, outlet->stream, now_us,
		share_of(session->all), json);

	if (outlet->is_remote)
		mr_mcp_outlet_relay(outlet, "event", number, (const char *)json.data);
	if (outlet->link)
		send_event(outlet->link->http, outlet->stream, number, (const char *)json.data);
}

void mr_mcp_session_tell(struct mr_mcp_session *session, struct mr_bytes json)
{
	pthread_mutex_lock(&session->lock);
	if (!session->ended)
		mr_mcp_outlet_put(&session->unasked, json);
	pthread_mutex_unlock(&session->lock);
}

char *mr_mcp_session_json(const struct mr_value *value)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;
	char *text;

	mr_buf_init(&buf, MR_MCP_MESSAGE_BYTES);
	mr_json_init(&w, &buf, MR_JSON_COMPACT);
	mr_json_value(&w, value);
	text = strdup(mr_buf_text(&buf));
	if (!text)
		mr_oom(buf.len);
	return text;
}

enum mr_code mr_mcp_session_stream(struct mr_mcp_session *session,
	const struct mr_value *request_id, const struct mr_http_request *req,
	struct mr_http_response *resp, struct mr_mcp_outlet **out, struct mr_err *err)
{
	struct mr_mcp_outlet *outlet;
	struct mr_mcp_link *link = NULL;
	enum mr_code rc;

	pthread_mutex_lock(&session->lock);
	rc = session->ended ? mr_err_set(err, MR_ENOTFOUND, "the session has ended")
			    : open_link(session, req, resp, &link, err);
	if (!rc) {
		outlet = mr_mcp_session_alloc(sizeof(*outlet));
		outlet->session = mr_mcp_session_hold(session);
		outlet->stream = mr_mcp_events_open(session->events);
		outlet->request_id = mr_mcp_session_json(request_id);
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
bool mr_mcp_outlet_is_idle(const struct mr_mcp_outlet *outlet)
{
	return outlet->is_cancelled || outlet->session->ended;
}

enum mr_code mr_mcp_outlet_send(struct mr_mcp_outlet *outlet, struct mr_bytes json,
	struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&outlet->session->lock);
	if (mr_mcp_outlet_is_idle(outlet))
		rc = mr_err_set(err, MR_ENOTFOUND, "the client no longer waits for the answer");
	else
		mr_mcp_outlet_put(outlet, json);
	pthread_mutex_unlock(&outlet->session->lock);
	return rc;
}

void mr_mcp_outlet_pause(struct mr_mcp_outlet *outlet)
{
	struct mr_http_stream *http;

	pthread_mutex_lock(&outlet->session->lock);
	http = mr_mcp_outlet_unlink(outlet);
	pthread_mutex_unlock(&outlet->session->lock);
	mr_http_stream_close(http);
}

bool mr_mcp_outlet_is_over(struct mr_mcp_outlet *outlet)
{
	bool over;

	pthread_mutex_lock(&outlet->session->lock);
	over = mr_mcp_outlet_is_idle(outlet);
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
	if (outlet->is_remote)
		mr_mcp_outlet_relay(outlet, "over", 0, "");
	mr_mcp_events_close(session->events, outlet->stream);
	http = mr_mcp_outlet_unlink(outlet);
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(http);
	mr_mcp_session_done(&session);
	free(outlet->request_id);
	free(outlet);
}
