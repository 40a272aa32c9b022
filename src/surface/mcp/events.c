/*
 * surface/mcp/events.c - Keeps the latest events of a session's streams, within limits, so that a
 * client can resume with Last-Event-ID.
 */
#include "surface/mcp/events.h"

#include "base/oom.h"
#include "text/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stream of which something is kept, or to which something may still be added. */
struct stream {
	struct stream *next;
	uint64_t number;
	uint64_t last; /* event */
	uint64_t lost; /* the last that is not kept any more */
	size_t kept;
	bool closed;
};

struct mr_mcp_events {
	struct stream *streams;
	uint64_t next_stream;
	struct mr_mcp_event *oldest, **newest;
	size_t len, bytes;
};

static void *must_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		mr_oom(size);
	return p;
}

struct mr_mcp_events *mr_mcp_events_new(void)
{
	struct mr_mcp_events *events = must_alloc(sizeof(*events));

	events->newest = &events->oldest;
	return events;
}

static struct stream *find(const struct mr_mcp_events *events, uint64_t number)
{
	struct stream *at = events->streams;

	while (at && at->number != number)
		at = at->next;
	return at;
}

/* A closed stream of which nothing is kept is forgotten. */
static void forget_stream(struct mr_mcp_events *events, struct stream *stream)
{
	struct stream **at = &events->streams;

	if (!stream->closed || stream->kept)
		return;
	while (*at != stream)
		at = &(*at)->next;
	*at = stream->next;
	free(stream);
}

static void drop_oldest(struct mr_mcp_events *events)
{
	struct mr_mcp_event *event = events->oldest;
	struct stream *stream = find(events, event->stream);

	events->oldest = event->next;
	if (!events->oldest)
		events->newest = &events->oldest;
	events->len--;
	events->bytes -= event->len;
	stream->lost = event->number;
	stream->kept--;
	forget_stream(events, stream);
	free(event);
}

static void drop_old(struct mr_mcp_events *events, int64_t now_us, size_t max_bytes)
{
	while (events->oldest &&
		(events->len > MR_MCP_EVENTS || events->bytes > max_bytes ||
			now_us - events->oldest->at_us > MR_MCP_EVENTS_S * MR_TIME_S))
		drop_oldest(events);
}

void mr_mcp_events_free(struct mr_mcp_events *events)
{
	if (!events)
		return;
	while (events->oldest)
		drop_oldest(events);
	while (events->streams) {
		struct stream *stream = events->streams;

		events->streams = stream->next;
		free(stream);
	}
	free(events);
}

uint64_t mr_mcp_events_open(struct mr_mcp_events *events)
{
	struct stream *stream = must_alloc(sizeof(*stream));

	stream->number = events->next_stream++;
	stream->next = events->streams;
	events->streams = stream;
	return stream->number;
}

void mr_mcp_events_begin_at(struct mr_mcp_events *events, uint64_t first)
{
	events->next_stream = first;
}

void mr_mcp_events_open_at(struct mr_mcp_events *events, uint64_t stream, uint64_t last)
{
	struct stream *at = must_alloc(sizeof(*at));

	*at = (struct stream){ .next = events->streams,
		.number = stream,
		.last = last,
		.lost = last };
	events->streams = at;
}

void mr_mcp_events_close(struct mr_mcp_events *events, uint64_t stream)
{
	struct stream *found = find(events, stream);

	if (!found)
		return;
	found->closed = true;
	forget_stream(events, found);
}

uint64_t mr_mcp_events_add(struct mr_mcp_events *events, uint64_t stream, int64_t now_us,
	size_t max_bytes, struct mr_bytes json)
{
	struct stream *to = find(events, stream);
	struct mr_mcp_event *event;
	uint64_t number = ++to->last;

	if (json.len > max_bytes) {
		to->lost = number;
		return number;
	}
	event = must_alloc(sizeof(*event) + json.len + 1);
	event->stream = stream;
	event->number = number;
	event->at_us = now_us;
	event->len = json.len;
	memcpy(event->json, json.data, json.len);
	*events->newest = event;
	events->newest = &event->next;
	events->len++;
	events->bytes += json.len;
	to->kept++;
	drop_old(events, now_us, max_bytes);
	return number;
}

uint64_t mr_mcp_events_last(const struct mr_mcp_events *events, uint64_t stream)
{
	return find(events, stream)->last;
}

void mr_mcp_events_id(uint64_t stream, uint64_t number, char out[MR_MCP_EVENT_ID_BYTES])
{
	snprintf(out, MR_MCP_EVENT_ID_BYTES, "%llu-%llu", (unsigned long long)stream,
		(unsigned long long)number);
}

bool mr_mcp_events_parse_id(const char *id, uint64_t *stream, uint64_t *number)
{
	const char *dash = strchr(id, '-');
	char again[MR_MCP_EVENT_ID_BYTES];
	char left[MR_MCP_EVENT_ID_BYTES];
	int64_t a, b;

	if (!dash || strlen(id) >= sizeof(left))
		return false;
	memcpy(left, id, (size_t)(dash - id));
	left[dash - id] = '\0';
	if (!mr_str_to_int(left, &a) || !mr_str_to_int(dash + 1, &b) || a < 0 || b < 0)
		return false;
	mr_mcp_events_id((uint64_t)a, (uint64_t)b, again);
	if (strcmp(again, id) != 0)
		return false;
	*stream = (uint64_t)a;
	*number = (uint64_t)b;
	return true;
}

bool mr_mcp_events_knows(struct mr_mcp_events *events, uint64_t stream, uint64_t number,
	int64_t now_us)
{
	const struct stream *found;

	drop_old(events, now_us, MR_MCP_EVENT_BYTES);
	found = find(events, stream);
	return found && number <= found->last && number >= found->lost;
}

const struct mr_mcp_event *mr_mcp_events_after(const struct mr_mcp_events *events, uint64_t stream,
	uint64_t number)
{
	const struct mr_mcp_event *at = events->oldest;

	while (at && (at->stream != stream || at->number <= number))
		at = at->next;
	return at;
}
