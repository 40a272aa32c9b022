/* tests/unit/surface/test_events.c */
#include "surface/mcp/events.h"

#include "test.h"
#include "text/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ids_are_what_they_were(void)
{
	static const char *const bad[] = { "", "-", "1", "1-", "-1", "1--1", "+1-1", "1-+1", "01-1",
		"1-01", " 1-1", "1-1 ", "1-1-1", "a-1", "1-a", "0x1-1", "9223372036854775808-0",
		"1-9223372036854775808", "111111111111111111111111111111111111111111111111-1" };
	uint64_t stream = 7, number = 7;
	char id[MR_MCP_EVENT_ID_BYTES];

	for (size_t i = 0; i < MR_LEN(bad); i++)
		CHECK(!mr_mcp_events_parse_id(bad[i], &stream, &number));
	CHECK_INT(stream, 7);
	CHECK(mr_mcp_events_parse_id("12-0", &stream, &number));
	CHECK_INT(stream, 12);
	CHECK_INT(number, 0);
	mr_mcp_events_id(INT64_MAX, INT64_MAX, id);
	CHECK(mr_mcp_events_parse_id(id, &stream, &number));
	CHECK(stream == INT64_MAX && number == INT64_MAX);
}

static void add(struct mr_mcp_events *events, uint64_t stream, int64_t now_us, const char *json)
{
	mr_mcp_events_add(events, stream, now_us, MR_MCP_EVENT_BYTES, mr_bytes_text(json));
}

static void streams_are_kept_apart(void)
{
	struct mr_mcp_events *events = mr_mcp_events_new();
	const struct mr_mcp_event *event;

	CHECK_INT(mr_mcp_events_open(events), 0);
	CHECK_INT(mr_mcp_events_open(events), 1);
	CHECK_INT(mr_mcp_events_add(events, 0, 1, MR_MCP_EVENT_BYTES, mr_bytes_text("a")), 1);
	CHECK_INT(mr_mcp_events_add(events, 1, 1, MR_MCP_EVENT_BYTES, mr_bytes_text("b")), 1);
	CHECK_INT(mr_mcp_events_add(events, 0, 1, MR_MCP_EVENT_BYTES, mr_bytes_text("c")), 2);
	event = mr_mcp_events_after(events, 0, 0);
	CHECK_STR(event->json, "a");
	event = mr_mcp_events_after(events, 0, event->number);
	CHECK_STR(event->json, "c");
	CHECK(!mr_mcp_events_after(events, 0, event->number));
	CHECK_STR(mr_mcp_events_after(events, 1, 0)->json, "b");
	CHECK(!mr_mcp_events_after(events, 2, 0));
	CHECK(mr_mcp_events_knows(events, 0, 0, 1) && mr_mcp_events_knows(events, 0, 2, 1));
	CHECK(!mr_mcp_events_knows(events, 0, 3, 1));
	CHECK(mr_mcp_events_knows(events, 1, 1, 1) && !mr_mcp_events_knows(events, 1, 2, 1));
	CHECK(!mr_mcp_events_knows(events, 2, 0, 1));
	mr_mcp_events_free(events);
	mr_mcp_events_free(NULL);
}

static void closed_streams_are_kept_while_their_events_are(void)
{
	struct mr_mcp_events *events = mr_mcp_events_new();
	uint64_t empty = mr_mcp_events_open(events);
	uint64_t full = mr_mcp_events_open(events);

	mr_mcp_events_close(events, empty);
	CHECK(!mr_mcp_events_knows(events, empty, 0, 0));
	add(events, full, 0, "x");
	mr_mcp_events_close(events, full);
	CHECK(mr_mcp_events_knows(events, full, 0, MR_MCP_EVENTS_S * MR_TIME_S));
	CHECK(!mr_mcp_events_knows(events, full, 0, MR_MCP_EVENTS_S * MR_TIME_S + 1));
	CHECK(!mr_mcp_events_after(events, full, 0));
	mr_mcp_events_close(events, full);
	mr_mcp_events_free(events);
}

static void what_is_kept_is_bounded(void)
{
	struct mr_mcp_events *events = mr_mcp_events_new();
	uint64_t stream = mr_mcp_events_open(events);
	char *large = malloc(MR_MCP_EVENT_BYTES + 2);

	for (int i = 0; i < MR_MCP_EVENTS + 5; i++)
		add(events, stream, 0, "x");
	CHECK_INT(mr_mcp_events_after(events, stream, 0)->number, 6);
	/* The fifth was the last to be lost: who has seen it misses nothing. */
	CHECK(mr_mcp_events_knows(events, stream, 5, 0));
	CHECK(!mr_mcp_events_knows(events, stream, 4, 0));
	memset(large, 'y', MR_MCP_EVENT_BYTES + 1);
	large[MR_MCP_EVENT_BYTES] = '\0';
	add(events, stream, 0, large);
	CHECK_INT(mr_mcp_events_after(events, stream, 0)->number, MR_MCP_EVENTS + 6);
	/* Too large for any room: it is lost at once, and so is who waited for it. */
	large[MR_MCP_EVENT_BYTES] = 'y';
	large[MR_MCP_EVENT_BYTES + 1] = '\0';
	add(events, stream, 0, large);
	CHECK(!mr_mcp_events_knows(events, stream, MR_MCP_EVENTS + 6, 0));
	CHECK(mr_mcp_events_knows(events, stream, MR_MCP_EVENTS + 7, 0));
	free(large);
	mr_mcp_events_free(events);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(ids_are_what_they_were),
		TEST(streams_are_kept_apart),
		TEST(closed_streams_are_kept_while_their_events_are),
		TEST(what_is_kept_is_bounded),
	};

	return test_main(tests, MR_LEN(tests));
}
