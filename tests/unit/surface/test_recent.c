/* tests/unit/surface/test_recent.c */
#include "surface/mcp/recent.h"

#include "test.h"

#include <string.h>

static void the_last_are_kept(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mcp_recent *recent = mr_mcp_recent_new();
	struct mr_mcp_called *calls;
	char name[300];

	CHECK_INT(mr_mcp_recent_since(recent, arena, 0, &calls), 0);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < MR_MCP_RECENT + 10; i++)
		mr_mcp_recent_add(recent, i, "whois", i % 2 ? "p" : NULL, i == 5 ? NULL : name);
	CHECK_INT(mr_mcp_recent_since(recent, arena, 0, &calls), MR_MCP_RECENT);
	CHECK_INT(calls[0].at_us, MR_MCP_RECENT + 9);
	CHECK_STR(calls[0].project, "p");
	CHECK_STR(calls[1].project, "");
	CHECK_INT(strlen(calls[0].agent), MR_MCP_RECENT_BYTES - 1);
	CHECK_INT(mr_mcp_recent_since(recent, arena, MR_MCP_RECENT, &calls), 10);
	mr_mcp_recent_free(recent);
}

/* What is cut is cut between characters. */
static void names_stay_text(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mcp_recent *recent = mr_mcp_recent_new();
	struct mr_mcp_called *calls;
	char name[201] = "";

	for (int i = 0; i < 200; i += 2)
		memcpy(name + i, "\xc3\xbc", 2);
	mr_mcp_recent_add(recent, 1, "whois", name, name);
	CHECK_INT(mr_mcp_recent_since(recent, arena, 0, &calls), 1);
	CHECK_INT(strlen(calls[0].project), 126);
	mr_mcp_recent_free(recent);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_last_are_kept),
		TEST(names_stay_text),
	};

	return test_main(tests, MR_LEN(tests));
}
