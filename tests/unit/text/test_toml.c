/* tests/unit/text/test_toml.c */
#include "text/toml.h"

#include "test.h"

#include <string.h>

static struct mr_toml scan(struct mr_arena *arena, const char *text)
{
	struct mr_toml toml;
	struct mr_err err;

	CHECK_OK(mr_toml_scan(arena, mr_bytes_text(text), &toml, &err), err);
	return toml;
}

static void statements_have_paths_and_lines(void)
{
	static const char text[] =
		"# a comment\n"
		"model = \"o9\" # why\n"
		"\n"
		"  [mcp_servers.\"a.b\"]\r\n"
		"url.host = 'x'\r\n"
		"list = [1,\n  [2, 3], # two\n  ]\n"
		"[[ jobs ]]\n"
		"\"na\\u006de\" = { a = 1, b.c = \"\"\"x\ny\\\n   z\"\"\"\"\" }\n"
		"[[jobs]]\n"
		"name = 1979-05-27 07:32:00Z";
	static const struct {
		enum mr_toml_kind kind;
		const char *path;
		size_t line;
		const char *first;
	} want[] = {
		{ MR_TOML_VALUE, "model", 2, "model" },
		{ MR_TOML_TABLE, "mcp_servers|a.b", 4, "  [mcp_servers" },
		{ MR_TOML_VALUE, "mcp_servers|a.b|url|host", 5, "url" },
		{ MR_TOML_VALUE, "mcp_servers|a.b|list", 6, "list" },
		{ MR_TOML_ARRAY_TABLE, "jobs", 9, "[[ jobs" },
		{ MR_TOML_VALUE, "jobs|name", 10, "\"na" },
		{ MR_TOML_ARRAY_TABLE, "jobs", 13, "[[jobs" },
		{ MR_TOML_VALUE, "jobs|name", 14, "name" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_toml toml = scan(arena, text);

	CHECK_INT(toml.len, MR_LEN(want));
	for (size_t i = 0; i < toml.len; i++) {
		const struct mr_toml_statement *s = &toml.items[i];

		CHECK_INT(s->kind, want[i].kind);
		CHECK_STR(mr_str_join(arena, &s->path, "|"), want[i].path);
		CHECK_INT(s->line, want[i].line);
		CHECK(strncmp(text + s->start, want[i].first, strlen(want[i].first)) == 0);
		CHECK(s->end == strlen(text) || text[s->end - 1] == '\n');
		CHECK(i == 0 || toml.items[i - 1].end <= s->start);
	}
}

static void values_of_every_kind_are_taken(void)
{
	static const char *const values[] = { "0", "-0", "+99", "1_000", "0xDEAD_beef", "0o755",
		"0b11", "1.5", "-1e6", "6.626e-34", "1_0.0_1", "inf", "-inf", "nan", "true",
		"false", "1979-05-27", "07:32:00", "07:32:00.99", "1979-05-27T07:32:00",
		"1979-05-27T00:32:00.9-07:00", "1979-05-27 07:32:00z", "\"\"", "''", "\"\\\"\\t\"",
		"'C:\\x'", "[]", "[ ]", "[1,]", "[[1],['a']]", "{}", "{ a = 1 }", "\"\"\"\"\"\"",
		"''''''", "'''a'b''c'''", "\"\"\"\"a\"\"\"\"\"", "\"\\U0001F600\"",
		"{ a = [\n1,\n] }" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(values); i++)
		CHECK_INT(scan(arena, mr_arena_printf(arena, "a = %s\n", values[i])).len, 1);
	CHECK_INT(scan(arena, "").len, 0);
	CHECK_INT(scan(arena, "\xef\xbb\xbf# only\n\n").len, 0);
}

static void refuses(const char *text, const char *why)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_toml toml;
	struct mr_err err;

	CHECK(mr_toml_scan(arena, mr_bytes_text(text), &toml, &err) == MR_EFORMAT);
	CHECK_STR(err.msg, mr_arena_printf(arena, "not valid TOML at line %s", why));
}

static void errors_name_the_line(void)
{
	static const char *const words[] = { "x", "01", "1__0", "_1", "1_", "1.", ".5", "1.e5",
		"1e", "0x", "0xg", "+0x1", "True", "--1", "1979-5-27", "1979-05-27T", "07:32",
		"07:32:00.", "1979-05-27T07:32:00+1", "1979-05-27T07:32:00ZZ", "infinity" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(words); i++)
		refuses(mr_arena_printf(arena, "\na = %s\n", words[i]),
			"2: what should be a value is no string, number, date, true or false");
	refuses("model = \"o9", "1: a string has no end");
	refuses("a = 'x\n'\n", "1: a string has no end");
	refuses("a = \"\"\"x\n\n", "3: a string of several lines has no end");
	refuses("a = \"\\q\"", "1: there is no such escape in a string");
	refuses("a = \"\\u12\"", "1: \\u takes four hexadecimal digits, \\U eight");
	refuses("a = \"\\ud800\"", "1: an escape is no Unicode character");
	refuses("a =\n", "1: a value is missing");
	refuses("a\n", "1: a key has no = after it");
	refuses("= 1\n", "1: a key is missing");
	refuses("a. = 1\n", "1: a key is missing");
	refuses("[a\n", "1: the name of a table has no ] after it");
	refuses("[[a]\n", "1: the name of a table has no ] after it");
	refuses("[]\n", "1: a key is missing");
	refuses("a = 1 b = 2\n", "1: there is something after a value or the name of a table");
	refuses("[a] b\n", "1: there is something after a value or the name of a table");
	refuses("a = [1 2]\n", "1: an array has no , or ] after a value");
	refuses("a = [1\n", "2: an array has no , or ] after a value");
	refuses("a = {b = 1 c = 2}\n", "1: an inline table has no , or } after a value");
	refuses("a = {b = 1,}\n", "1: an inline table has a , before its }");
	refuses("{\"json\": 1}\n", "1: a key is missing");
	refuses("a = 1\n\x01\n", "2: there is a control character");
	refuses("a = 1\rb = 2\n", "1: there is a control character");
	refuses("a = 1\n# \xff\n", "2: it is not UTF-8");
}

static void what_is_there_twice_is_refused(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	refuses("a = 1\nb = 2\na = 3\n", "3: this is defined twice");
	refuses("[a]\n[b]\n['a']\n", "3: this is defined twice");
	refuses("[a]\nb = 1\n[a.b]\n", "3: this is defined twice");
	refuses("a = 1\n[a.b]\n", "2: this is below a key that has a value");
	refuses("[[a]]\nx = 1\nx = 2\n", "3: this is defined twice");
	CHECK_INT(scan(arena, "[[a]]\nx = 1\n[a.b]\n[[a]]\nx = 1\n[a.b]\n").len, 6);
	CHECK_INT(scan(arena, "[a]\n[a.b]\n[a-b]\n[ab]\n").len, 4);
}

static void what_is_too_much_is_refused(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *deep = mr_arena_alloc(arena, 1000), *many = mr_arena_alloc(arena, 100000);
	struct mr_toml toml;
	struct mr_err err;

	memcpy(deep, "a = ", 4);
	memset(deep + 4, '[', 900);
	refuses(deep, "1: values are nested too deeply");
	memset(deep, 'a', 900);
	for (size_t i = 1; i < 900; i += 2)
		deep[i] = '.';
	refuses(deep, "1: a key has too many dots");
	for (size_t i = 0, at = 0; i <= MR_TOML_STATEMENTS; i++) {
		const char *line = mr_arena_printf(arena, "a%zu = 1\n", i);

		memcpy(many + at, line, strlen(line));
		at += strlen(line);
	}
	CHECK(mr_toml_scan(arena, mr_bytes_text(many), &toml, &err) == MR_ELIMIT);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(statements_have_paths_and_lines),
		TEST(values_of_every_kind_are_taken),
		TEST(errors_name_the_line),
		TEST(what_is_there_twice_is_refused),
		TEST(what_is_too_much_is_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
