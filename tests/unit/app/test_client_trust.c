/* tests/unit/app/test_client_trust.c */
#include "app/client_trust.h"

#include "test.h"

/* What the clients print, of the versions that were tried. */
static void verdicts_are_read(void)
{
	static const struct {
		const char *output, *verdict, *line;
	} rows[] = {
		{ "", "silent", NULL },
		{ "No MCP servers configured.\n", "silent", NULL },
		{ "Checking...\n\nmailroom: mailroom mcp - \xe2\x9c\x94 Connected\n", "connected",
			"mailroom: mailroom mcp - \xe2\x9c\x94 Connected" },
		{ "mailroom: http://h/mcp (HTTP) - Pending approval (run `claude`)\n", "pending",
			"mailroom: http://h/mcp (HTTP) - Pending approval (run `claude`)" },
		{ "mailroom: x - \xe2\x9c\x98 Failed to connect", "failed",
			"mailroom: x - \xe2\x9c\x98 Failed to connect" },
		{ "\033[31m\xe2\x9c\x97\033[0m mailroom: x (stdio) - Disconnected", "failed",
			"mailroom: x (stdio) - Disconnected" },
		{ "\xe2\x97\x8b mailroom: x (stdio) - Disabled", "disabled",
			"mailroom: x (stdio) - Disabled" },
		{ "Name  Status\nother  enabled\nmailroom  enabled", "listed",
			"mailroom  enabled" },
		{ "\xe2\x97\x8f  \xe2\x9c\x93 mailroom \033[90mconnected\n", "connected",
			"mailroom connected" },
		/* Others' lines that name us. */
		{ "old: /opt/mailroom mcp - Connected\n", "silent", NULL },
		{ "\033[", "silent", NULL },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		const char *line;
		enum mr_client_verdict verdict = mr_client_verdict(arena, rows[i].output, &line);

		CHECK_STR(mr_client_verdicts[verdict], rows[i].verdict);
		CHECK(!line == !rows[i].line);
		if (line)
			CHECK_STR(line, rows[i].line);
	}
}

int main(void)
{
	static const struct test tests[] = { TEST(verdicts_are_read) };

	return test_main(tests, MR_LEN(tests));
}
