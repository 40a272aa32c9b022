/*
 * surface/mcp/events.h - the last events of a session's streams, for clients that lost one.
 *
 * Every stream counts its events from 1; an event's id is "stream-number", and "stream-0" stands
 * before the first. What is kept is bounded in number, bytes and age, oldest first out. Not
 * guarded: the session's lock is.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MR_MCP_EVENTS = 1000,
	MR_MCP_EVENT_BYTES = 2 << 20,       /* of one session together, at most */
	MR_MCP_EVENT_BYTES_ALL = 256 << 20, /* of all sessions, about */
	MR_MCP_EVENTS_S = 600,
	MR_MCP_EVENT_ID_BYTES = 48,
};

struct mr_mcp_event {
	struct mr_mcp_event *next;
	uint64_t stream, number;
	int64_t at_us;
	size_t len;
	char json[];
};

struct mr_mcp_events;

struct mr_mcp_events *mr_mcp_events_new(void);
/* NULL is fine. */
void mr_mcp_events_free(struct mr_mcp_events *events);

/* A new stream; the first is 0. */
uint64_t mr_mcp_events_open(struct mr_mcp_events *events);
/* A stream that another server began, of which the client has seen events to `last`. */
void mr_mcp_events_open_at(struct mr_mcp_events *events, uint64_t stream, uint64_t last);
/* The streams that are opened from now on are numbered from `first` on. */
void mr_mcp_events_begin_at(struct mr_mcp_events *events, uint64_t first);
/* No more will be added to it; what is kept can still be asked for. */
void mr_mcp_events_close(struct mr_mcp_events *events, uint64_t stream);
/* Keep this event, and drop the oldest ones until all together have at most `max_bytes` (even
 * this one, when it alone is larger). Returns the event's number. */
uint64_t mr_mcp_events_add(struct mr_mcp_events *events, uint64_t stream, int64_t now_us,
	size_t max_bytes, struct mr_bytes json);

/* The number of the last event of an open stream. */
uint64_t mr_mcp_events_last(const struct mr_mcp_events *events, uint64_t stream);

void mr_mcp_events_id(uint64_t stream, uint64_t number, char out[MR_MCP_EVENT_ID_BYTES]);
/* Only what mr_mcp_events_id() writes. */
bool mr_mcp_events_parse_id(const char *id, uint64_t *stream, uint64_t *number);

/* Was this an event of that stream, and is all that came after it still here? */
bool mr_mcp_events_knows(struct mr_mcp_events *events, uint64_t stream, uint64_t number,
	int64_t now_us);
/* The first kept event of that stream after `number`, or NULL. */
const struct mr_mcp_event *mr_mcp_events_after(const struct mr_mcp_events *events, uint64_t stream,
	uint64_t number);
