/* tests/unit/op/test_help.c */
#include "op/help.h"
#include "table.h"
#include "test.h"

#include <string.h>

static void shows(const char *path, const char *expected)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const char *globals;

	mr_buf_init(&text, 1 << 16);
	mr_help_write(&text, &table, path, false);
	globals = strstr(mr_buf_text(&text), "\nGlobal options\n  --help");
	CHECK(globals != NULL);
	text.data[globals - text.data] = '\0';
	CHECK_STR(mr_buf_text(&text), expected);
}

static void the_program_lists_its_commands(void)
{
	shows("",
		"Usage: mailroom COMMAND\n"
		"\n"
		"Mail for AI agents, in plain files.\n"
		"\n"
		"Commands\n"
		"  team        Agents that share repositories: names, mail, file leases, search\n"
		"  health      Check\n");
	shows("team",
		"Usage: mailroom team COMMAND\n"
		"\n"
		"Agents that share repositories: names, mail, file leases, search.\n"
		"\n"
		"Commands\n"
		"  mail        send\n"
		"  inbox       Show an inbox\n");
}

static void a_command_lists_its_options(void)
{
	shows("team mail send",
		"Usage: mailroom team mail send [options] TO...\n"
		"\n"
		"Send a message.\n"
		"\n"
		"It is kept for ever.\n"
		"\n"
		"Arguments\n"
		"  TO                        who (required)\n"
		"\n"
		"Options\n"
		"  --subject SUBJECT         what about (required)\n"
		"  --limit N                 how many (default 20)\n"
		"  --ack-required            ask for an answer\n"
		"  --cc CC                   copies; may be repeated\n"
		"  --mode safe|force         it's how\n");
}

static void a_command_can_be_a_group_too(void)
{
	shows("health",
		"Usage: mailroom health\n"
		"\n"
		"Check.\n"
		"\n"
		"Commands\n"
		"  ready       Check more\n");
	shows("health ready",
		"Usage: mailroom health ready [MODE]\n"
		"\n"
		"Check more.\n"
		"\n"
		"Arguments\n"
		"  MODE                      how\n"
		"                            one of safe|force\n");
}

static void long_help_is_wrapped(void)
{
	static const struct mr_op op = { .name = "x",
		.command = "x",
		.summary = "Do",
		.help = "One two three four five six seven eight nine ten eleven twelve thirteen "
			"14 "
			"15 16.\nA line of its own.\n\nAnd a paragraph.",
		.surfaces = MR_ON_CLI };
	static const struct mr_op *const ops[] = { &op };
	struct mr_op_table one = { ops, 1 };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	mr_help_write(&text, &one, "x", false);
	CHECK(strstr(mr_buf_text(&text),
		"\n\nOne two three four five six seven eight nine ten eleven twelve thirteen 14 "
		"15\n"
		"16.\nA line of its own.\n\nAnd a paragraph.\n"));
}

static void flags_that_are_on_can_be_turned_off(void)
{
	static const struct mr_param params[] = {
		{ .name = "keep_it", .type = MR_TYPE_BOOL, .summary = "stay", .fallback = "true" },
		{ .name = "loud", .type = MR_TYPE_BOOL, .summary = "shout", .fallback = "false" },
		{ .name = "note",
			.type = MR_TYPE_TEXT,
			.summary = "more words than there is room for in a line of a terminal" },
		{ 0 },
	};
	static const struct mr_op op = { .name = "x",
		.command = "x",
		.summary = "Do",
		.params = params,
		.surfaces = MR_ON_CLI };
	static const struct mr_op *const ops[] = { &op };
	struct mr_op_table one = { ops, 1 };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	mr_help_write(&text, &one, "x", false);
	CHECK(strstr(mr_buf_text(&text),
		"\n  --[no-]keep-it            stay (default true)\n"
		"  --loud                    shout\n"
		"  --note NOTE               more words than there is room for in a line of a\n"
		"                            terminal\n"));
}

static void colour_only_when_asked(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	mr_help_write(&text, &table, "", true);
	CHECK(strstr(mr_buf_text(&text), "\033[1mCommands\033[0m"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_program_lists_its_commands),
		TEST(a_command_lists_its_options),
		TEST(a_command_can_be_a_group_too),
		TEST(long_help_is_wrapped),
		TEST(flags_that_are_on_can_be_turned_off),
		TEST(colour_only_when_asked),
	};

	return test_main(tests, MR_LEN(tests));
}
