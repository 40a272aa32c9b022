/* tests/unit/text/test_dotenv.c */
#include "test.h"
#include "text/dotenv.h"

#include <string.h>

static void reads(const char *text, const char *name, const char *value)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_dotenv env;
	struct mr_err err;

	CHECK_OK(mr_dotenv_parse(arena, mr_bytes_text(text), &env, &err), err);
	CHECK_INT(env.len, 1);
	CHECK_STR(env.entries[0].name, name);
	CHECK_STR(env.entries[0].value, value);
}

static void values_are_read_in_every_form(void)
{
	reads("A=b", "A", "b");
	reads("  export A_1 =  b c  # why\r\n", "A_1", "b c");
	reads("A=b#c", "A", "b#c");
	reads("A=", "A", "");
	reads("A= # nothing", "A", "");
	reads("A=#x", "A", "");
	reads("A='b # $x \"c\" \\n' # why", "A", "b # $x \"c\" \\n");
	reads("A=\"b\\n\\t\\\"\\\\\\$c\"", "A", "b\n\t\"\\$c");
	reads("# first\n\n \t\nA=\xc3\xa9\n", "A", "\xc3\xa9");
	reads("export=1", "export", "1");
}

static void lines_are_counted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_dotenv env;
	struct mr_err err;

	CHECK_OK(mr_dotenv_parse(arena, mr_bytes_text("\nA=1\n#\nA=2"), &env, &err), err);
	CHECK_INT(env.len, 2);
	CHECK_INT(env.entries[0].line, 2);
	CHECK_INT(env.entries[1].line, 4);
	CHECK_OK(mr_dotenv_parse(arena, mr_bytes_text(""), &env, &err), err);
	CHECK_INT(env.len, 0);
}

static void refuses(struct mr_bytes text, enum mr_code code, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_dotenv env = { NULL, 77 };
	struct mr_err err;

	CHECK_INT(mr_dotenv_parse(arena, text, &env, &err), code);
	CHECK_STR(err.msg, why);
	CHECK_INT(env.len, 77);
}

static void says_which_line_is_wrong(void)
{
	static char many[MR_DOTENV_ENTRIES * 4 + 8];
	static char large[MR_DOTENV_BYTES + 1];

	refuses(mr_bytes_text("A=1\n=2"), MR_EFORMAT, "line 2: expected NAME=value");
	refuses(mr_bytes_text("1A=2"), MR_EFORMAT, "line 1: expected NAME=value");
	refuses(mr_bytes_text("A"), MR_EFORMAT, "line 1: expected '=' after A");
	refuses(mr_bytes_text("A='b"), MR_EFORMAT, "line 1: the single quote is not closed");
	refuses(mr_bytes_text("A=\"b"), MR_EFORMAT, "line 1: the double quote is not closed");
	refuses(mr_bytes_text("A=\"\\q\""), MR_EFORMAT,
		"line 1: unknown escape \\q in double quotes");
	refuses(mr_bytes_text("A=\"\\"), MR_EFORMAT, "line 1: unknown escape \\ in double quotes");
	refuses(mr_bytes_text("A='b'c"), MR_EFORMAT, "line 1: text after the closing quote of A");
	refuses(mr_bytes_text("A=\xff"), MR_EFORMAT, "not UTF-8 at byte 2");
	refuses(mr_bytes_of("A=\0b", 4), MR_EFORMAT, "a NUL byte");
	for (size_t i = 0; i <= MR_DOTENV_ENTRIES; i++)
		memcpy(many + i * 4, "A=1\n", 4);
	refuses(mr_bytes_text(many), MR_ELIMIT, "line 2001: more than 2000 entries");
	memset(large, ' ', sizeof(large));
	refuses(mr_bytes_of(large, sizeof(large)), MR_ELIMIT, "longer than 262144 bytes");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(values_are_read_in_every_form),
		TEST(lines_are_counted),
		TEST(says_which_line_is_wrong),
	};

	return test_main(tests, MR_LEN(tests));
}
