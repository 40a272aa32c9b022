/*
 * surface/mcp/session_relay.c - Hands a stream of a session over to the server at which its client
 * came back.
 *
 * The server that works on the request goes on sending events: to the other one, through the
 * database, which has an outlet of the same number for them, a guest.
 */
#include "surface/mcp/session_private.h"

#include "base/oom.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void mr_mcp_sessions_share(struct mr_mcp_sessions *sessions, mr_mcp_session_relay *relay, void *arg)
{
	sessions->relay = relay;
	sessions->relay_arg = arg;
}

/* Under the session's lock. */
static struct mr_mcp_outlet *find(struct mr_mcp_session *session, uint64_t stream)
{
	struct mr_mcp_outlet *at = session->outlets;

	while (at && at->stream != stream)
		at = at->next;
	return at;
}

void mr_mcp_outlet_relay(struct mr_mcp_outlet *outlet, const char *kind, uint64_t number,
	const char *json)
{
	struct mr_mcp_session *session = outlet->session;
	struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };
	char id[MR_MCP_EVENT_ID_BYTES];

	mr_mcp_events_id(outlet->stream, number, id);
	mr_buf_init(&body, MR_MCP_MESSAGE_BYTES + MR_MCP_EVENT_ID_BYTES);
	mr_buf_printf(&body, "%s %s", id, json);
	session->all->relay(session->all->relay_arg, session, kind, mr_buf_text(&body));
}

void mr_mcp_session_hand_over(struct mr_mcp_session *session, uint64_t stream, uint64_t number)
{
	int64_t now_us = mr_clock_mono_us(session->all->clock);
	/* Where the call has ended, what is kept is handed over all the same. */
	struct mr_mcp_outlet ended = { .session = session, .stream = stream };
	struct mr_http_stream *http = NULL;
	const struct mr_mcp_event *event;
	struct mr_mcp_outlet *outlet;

	pthread_mutex_lock(&session->lock);
	outlet = find(session, stream);
	if (outlet && outlet->is_guest) {
		/* The client has gone on to yet another server. */
		http = mr_mcp_outlet_unlink(outlet);
	} else if (mr_mcp_events_knows(session->events, stream, number, now_us)) {
		if (outlet)
			http = mr_mcp_outlet_unlink(outlet);
		mr_mcp_outlet_relay(outlet ? outlet : &ended, "found", number, "");
		while ((event = mr_mcp_events_after(session->events, stream, number))) {
			number = event->number;
			mr_mcp_outlet_relay(outlet ? outlet : &ended, "event", number, event->json);
		}
		if (outlet)
			outlet->is_remote = true;
		else
			mr_mcp_outlet_relay(&ended, "over", number, "");
	}
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(http);
}

/* --- at the server where the client came back --- */

/* Under the session's lock. */
static void remove_guest(struct mr_mcp_session *session, struct mr_mcp_outlet *guest)
{
	struct mr_mcp_outlet **at = &session->outlets;

	while (*at != guest)
		at = &(*at)->next;
	*at = guest->next;
	mr_mcp_events_close(session->events, guest->stream);
	free(guest->request_id);
	free(guest);
}

void mr_mcp_session_leave_guests(struct mr_mcp_session *session)
{
	for (struct mr_mcp_outlet *at = session->outlets; at; at = at->next) {
		if (at->is_guest)
			mr_http_stream_close(mr_mcp_outlet_unlink(at));
	}
}

void mr_mcp_session_drop_guests(struct mr_mcp_session *session)
{
	/* Every other outlet holds the session. */
	while (session->outlets)
		remove_guest(session, session->outlets);
}

bool mr_mcp_session_expect(struct mr_mcp_session *session, uint64_t stream, uint64_t number)
{
	struct mr_mcp_outlet *guest;
	bool is_new;

	pthread_mutex_lock(&session->lock);
	is_new = !session->ended && !find(session, stream);
	if (is_new) {
		guest = mr_mcp_session_alloc(sizeof(*guest));
		guest->session = session;
		guest->stream = stream;
		guest->is_guest = true;
		guest->request_id = strdup("null");
		if (!guest->request_id)
			mr_oom(5);
		guest->next = session->outlets;
		session->outlets = guest;
		mr_mcp_events_open_at(session->events, stream, number);
	}
	pthread_mutex_unlock(&session->lock);
	return is_new;
}

bool mr_mcp_session_wait_found(struct mr_mcp_session *session, uint64_t stream, int timeout_ms)
{
	int64_t until_ms = mr_clock_mono_ms(mr_clock_system()) + timeout_ms;
	struct timespec until = { .tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000 };
	struct mr_mcp_outlet *guest;
	bool found;
	int rc = 0;

	pthread_mutex_lock(&session->lock);
	while ((guest = find(session, stream)) && !guest->is_found && !session->ended &&
		rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&session->changed, &session->lock, &until);
	/* When it has ended meanwhile, its events are kept. */
	found = !guest || guest->is_found;
	if (!found)
		remove_guest(session, guest);
	pthread_mutex_unlock(&session->lock);
	return found;
}

void mr_mcp_session_arrived(struct mr_mcp_session *session, const char *kind, uint64_t stream,
	uint64_t number, const char *json)
{
	struct mr_http_stream *http = NULL;
	struct mr_mcp_outlet *guest;

	pthread_mutex_lock(&session->lock);
	guest = find(session, stream);
	if (guest && guest->is_guest) {
		guest->is_found = true;
		if (strcmp(kind, "event") == 0)
			mr_mcp_outlet_put_at(guest, number, mr_bytes_text(json));
		if (strcmp(kind, "over") == 0) {
			http = mr_mcp_outlet_unlink(guest);
			remove_guest(session, guest);
		}
		pthread_cond_broadcast(&session->changed);
	}
	pthread_mutex_unlock(&session->lock);
	mr_http_stream_close(http);
}
