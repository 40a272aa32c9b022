/*
 * tests/fuzz/fuzz_events.c - any text as the id of an event to go on after. One that is known
 * belongs to its stream, and what follows it is of that stream alone, in order, to the last.
 */
#include "surface/mcp/events.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *id = mr_arena_strndup(arena, len ? (const char *)data : "", len);
	struct mr_mcp_events *events = mr_mcp_events_new();
	const struct mr_mcp_event *event;
	char again[MR_MCP_EVENT_ID_BYTES];
	uint64_t stream, number, last = 0;

	for (uint64_t i = 0; i < 12; i++) {
		if (i < 3)
			mr_mcp_events_open(events);
		mr_mcp_events_add(events, i % (i < 3 ? i + 1 : 3), 0, MR_MCP_EVENT_BYTES,
			mr_bytes_text("{}"));
	}
	if (mr_mcp_events_parse_id(id, &stream, &number)) {
		mr_mcp_events_id(stream, number, again);
		if (strcmp(again, id) != 0)
			abort();
		if (mr_mcp_events_knows(events, stream, number, 0)) {
			if (stream > 2 || number > 6)
				abort();
			last = number;
			while ((event = mr_mcp_events_after(events, stream, last))) {
				if (event->stream != stream || event->number != last + 1)
					abort();
				last = event->number;
			}
			if (mr_mcp_events_knows(events, stream, last + 1, 0))
				abort();
		}
	}
	mr_mcp_events_free(events);
	return 0;
}
