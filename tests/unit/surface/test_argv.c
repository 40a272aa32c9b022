/* tests/unit/surface/test_argv.c */
#include "surface/cli/argv.h"
#include "table.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

enum { WORDS_MAX = 16 };

/* "mailroom" and the words of `line`, split at blanks. */
static enum mr_code parse(struct mr_arena *arena, const char *line, struct mr_argv *out,
	struct mr_err *err)
{
	struct mr_texts words = mr_str_split(arena, line, ' ');
	const char *argv[WORDS_MAX + 1] = { "mailroom" };

	CHECK(words.len < WORDS_MAX);
	for (size_t i = 0; i < words.len; i++)
		argv[i + 1] = words.items[i];
	return mr_argv_parse(arena, &table, (int)words.len + 1, argv, out, err);
}

static void reads(const char *line, const struct mr_op *op, const char *args)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	struct mr_argv got;
	struct mr_err err;

	CHECK_OK(parse(arena, line, &got, &err), err);
	CHECK(got.op == op);
	mr_buf_init(&text, 4096);
	mr_json_init(&json, &text, MR_JSON_COMPACT);
	mr_json_value(&json, got.args);
	CHECK_STR(mr_buf_text(&text), args);
}

static void arguments_are_gathered(void)
{
	reads("team inbox", &table_inbox, "{}");
	reads("health", &table_health, "{}");
	reads("health ready", &table_ready, "{}");
	reads("health ready force", &table_ready, "{\"mode\":\"force\"}");
	reads("team mail send --subject=hi A B", &table_send,
		"{\"subject\":\"hi\",\"to\":[\"A\",\"B\"]}");
	reads("team mail send A --subject hi --cc X --cc=Y --limit 5 B", &table_send,
		"{\"subject\":\"hi\",\"limit\":\"5\",\"cc\":[\"X\",\"Y\"],\"to\":[\"A\",\"B\"]}");
	reads("team mail send --ack-required --mode=safe", &table_send,
		"{\"ack_required\":\"true\",\"mode\":\"safe\"}");
	reads("team mail send --no-ack_required", &table_send, "{\"ack_required\":\"false\"}");
	reads("team mail send --ack-required=maybe", &table_send, "{\"ack_required\":\"maybe\"}");
	reads("team mail send --subject= -- --json -x", &table_send,
		"{\"subject\":\"\",\"to\":[\"--json\",\"-x\"]}");
	reads("team mail send --subject - --limit -5", &table_send,
		"{\"subject\":\"-\",\"limit\":\"-5\"}");
	reads("team mail send A -l 5", &table_send, "{\"limit\":\"5\",\"to\":[\"A\"]}");
	reads("team mail send -", &table_send, "{\"to\":[\"-\"]}");
}

static void global_options_stand_anywhere(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_argv got;
	struct mr_err err;

	CHECK_OK(parse(arena, "--json team --set a=1 inbox -y --set=b=2 --config c.yaml", &got,
			 &err),
		err);
	CHECK(got.op == &table_inbox && got.yes && !got.help && !got.version);
	CHECK_STR(got.format->name, "json");
	CHECK_STR(got.config_file, "c.yaml");
	CHECK_INT(got.assignments.len, 2);
	CHECK_STR(got.assignments.items[1], "b=2");
	CHECK_OK(parse(arena, "--version", &got, &err), err);
	CHECK(got.version && !got.op);
	CHECK_OK(parse(arena, "", &got, &err), err);
	CHECK(!got.op);
	CHECK_STR(got.path, "");
	CHECK_OK(parse(arena, "team", &got, &err), err);
	CHECK(!got.op);
	CHECK_STR(got.path, "team");
}

static void help_forgives(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_argv got;
	struct mr_err err;

	CHECK_OK(parse(arena, "team mail send --help --zebra", &got, &err), err);
	CHECK(got.help && got.op == &table_send);
	CHECK_OK(parse(arena, "team mail -h", &got, &err), err);
	CHECK(got.help);
	CHECK_STR(got.path, "team mail");
}

static void refuses(const char *line, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_argv got;
	struct mr_err err;

	CHECK_INT(parse(arena, line, &got, &err), MR_EINVAL);
	CHECK_STR(err.msg, why);
}

static void mistakes_are_named(void)
{
	refuses("taem", "there is no command 'taem'; did you mean 'team'?");
	refuses("zebra", "there is no command 'zebra'; see mailroom --help");
	refuses("team inobx", "there is no command 'inobx'; did you mean 'inbox'?");
	refuses("health redy", "there is no command 'redy'; did you mean 'ready'?");
	refuses("team inbox now", "'now' is one argument too many; see mailroom team inbox --help");
	refuses("health ready safe force",
		"'force' is one argument too many; see mailroom health ready --help");
	refuses("team mail send --subjet x",
		"there is no option --subjet; did you mean --subject?");
	refuses("team mail send --jsn", "there is no option --jsn; did you mean --json?");
	refuses("team mail send --zebra=1", "there is no option --zebra");
	refuses("team mail send -x", "there is no option -x");
	refuses("team mail send --no-subject",
		"there is no option --no-subject; did you mean --subject?");
	refuses("--zebra team", "there is no option --zebra");
	refuses("team mail send --subject", "--subject needs a value");
	refuses("--config", "--config needs a value");
	refuses("health --set", "--set needs a value");
	refuses("team mail send --limit 1 --limit 2", "--limit is given twice");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(arguments_are_gathered),
		TEST(global_options_stand_anywhere),
		TEST(help_forgives),
		TEST(mistakes_are_named),
	};

	return test_main(tests, MR_LEN(tests));
}
