/* tests/unit/text/test_glob.c */
#include "test.h"
#include "text/glob.h"

#include "base/rand.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

static struct mr_glob *compile(struct mr_arena *arena, const char *text, unsigned flags)
{
	struct mr_glob_options options = { .flags = flags };
	struct mr_glob *glob = NULL;
	struct mr_err err;
	enum mr_code rc = mr_glob_compile(arena, text, &options, &glob, &err);

	if (rc)
		test_fail(__FILE__, __LINE__, "%s: %s", text, err.msg);
	return glob;
}

struct match {
	const char *pattern;
	const char *path;
	bool matches;
};

static void check_matches(const struct match *table, size_t count, unsigned flags)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < count; i++) {
		const struct match *row = &table[i];
		bool got = mr_glob_matches(compile(arena, row->pattern, flags), row->path);

		if (got != row->matches)
			test_fail(__FILE__, __LINE__, "row %zu: '%s' %s '%s'", i, row->pattern,
				got ? "matches" : "does not match", row->path);
	}
}

static void normalises(void)
{
	static const struct {
		const char *text;
		const char *normal;
		const char *prefix;
	} table[] = {
		{ "src/a.c", "src/a.c", "src/a.c" },
		{ "  src/a.c\n", "src/a.c", "src/a.c" },
		{ "\xc2\xa0src\xe3\x80\x80", "src", "src" },
		{ "/src/a.c", "src/a.c", "src/a.c" },
		{ "./././src", "src", "src" },
		{ ".//src///a/./b", "src/a/b", "src/a/b" },
		{ "src\\api\\*.c", "src/api/*.c", "src/api" },
		{ "docs/", "docs/**", "docs" },
		{ "docs/.", "docs/**", "docs" },
		{ "docs//", "docs/**", "docs" },
		{ "/ a", "a", "a" },
		{ "/", "**", "" },
		{ ".", "**", "" },
		{ "./", "**", "" },
		{ ".hidden/x", ".hidden/x", ".hidden/x" },
		{ "a/...", "a/...", "a/..." },
		{ "..a/b..", "..a/b..", "..a/b.." },
		{ "[/]a", NULL, NULL },
		{ "src/**/x.c", "src/**/x.c", "src" },
		{ "src/a?/x.c", "src/a?/x.c", "src" },
		{ "*", "*", "" },
		{ "src/{a,b}/x", "src/{a,b}/x", "src" },
		{ "src/{a/x,a/y}.c", "src/{a/x,a/y}.c", "src/a" },
		{ "{src,src2}/x", "{src,src2}/x", "" },
		{ "{src,src/a}", "{src,src/a}", "src" },
		{ "a/[[]x]/*", "a/[[]x]/*", "a/[x]" },
		{ "{{name}}/x", "{{name}}/x", "{{name}}/x" },
		{ "d\xc3\xa9j\xc3\xa0/*", "d\xc3\xa9j\xc3\xa0/*", "d\xc3\xa9j\xc3\xa0" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_glob *glob;
		struct mr_err err;

		if (!table[i].normal) {
			CHECK(mr_glob_compile(arena, table[i].text, NULL, &glob, &err) ==
				MR_EINVAL);
			continue;
		}
		CHECK_OK(mr_glob_compile(arena, table[i].text, NULL, &glob, &err), err);
		CHECK_STR(mr_glob_text(glob), table[i].normal);
		CHECK_STR(mr_glob_literal_prefix(glob), table[i].prefix);
		CHECK_OK(mr_glob_compile(arena, mr_glob_text(glob), NULL, &glob, &err), err);
		CHECK_STR(mr_glob_text(glob), table[i].normal);
	}
}

static void matches(void)
{
	static const struct match table[] = {
		{ "src/a.c", "src/a.c", true },
		{ "src/a.c", "src/A.c", false },
		{ "src/a.c", "src/a.cc", false },
		{ "src/a.c", "./src//a.c", true },
		{ "src/a.c", "/src/./a.c", true },
		/* Without wildcards, all below. */
		{ "docs", "docs", true },
		{ "docs", "docs/x.md", true },
		{ "docs", "docs/a/b/c", true },
		{ "docs", "docs2", false },
		{ "docs", "doc", false },
		{ "docs", "x/docs", false },
		{ "docs/", "docs/x.md", true },
		{ "docs/", "docs", true },
		{ ".", "any/thing", true },
		{ "{docs,src/a*}", "docs/x/y", true },
		{ "{docs,src/a*}", "src/ab", true },
		{ "{docs,src/a*}", "src/ab/c", false },
		{ "a[[]b", "a[b/c", true },
		/* One name at a time. */
		{ "src/*", "src/a", true },
		{ "src/*", "src/a/b", false },
		{ "src/*", "src", false },
		{ "*", "a", true },
		{ "*", ".a", true },
		{ "*", "a/b", false },
		{ "*.c", "a.c", true },
		{ "*.c", ".c", true },
		{ "*.c", "a.cc", false },
		{ "*.c", "x/a.c", false },
		{ "a*b*c", "abc", true },
		{ "a*b*c", "aXbYbZc", true },
		{ "a*b*c", "aXbYbZ", false },
		{ "a*", "a", true },
		{ "a**b", "aXXb", true },
		{ "a**b", "a/b", false },
		{ "***", "a", true },
		{ "***", "a/b", false },
		{ "?", "a", true },
		{ "?", "\xc3\xa9", true },
		{ "??", "\xc3\xa9", false },
		{ "?", "\xff", true },
		{ "?", "\xc3\xc3", false },
		{ "??", "\xc3\xc3", true },
		{ "a?b", "a/b", false },
		/* Classes. */
		{ "[abc]", "b", true },
		{ "[abc]", "d", false },
		{ "[a-c]x", "bx", true },
		{ "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true },
		{ "[!a-c]x", "ax", false },
		{ "[^a]x", "bx", true },
		{ "[^a]x", "ax", false },
		{ "a[!x]b", "a/b", false },
		{ "a[+-9]b", "a/b", false },
		{ "a[+-9]b", "a.b", true },
		{ "[]a]", "]", true },
		{ "[]a]", "a", true },
		{ "[!]a]", "]", false },
		{ "[!]a]", "b", true },
		{ "[a-]", "-", true },
		{ "[-a]", "-", true },
		{ "[a!]", "!", true },
		{ "[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", true },
		{ "[\xc3\xa0-\xc3\xbf]", "e", false },
		{ "[!a]", "\xff", true },
		{ "[[]", "[", true },
		{ "[*?]", "*", true },
		{ "[*?]", "a", false },
		{ "[{,}]", ",", true },
		/* Braces. */
		{ "*.{c,h}", "a.c", true },
		{ "*.{c,h}", "a.h", true },
		{ "*.{c,h}", "a.o", false },
		{ "{a,b{c,d}}x", "bdx", true },
		{ "{a,b{c,d}}x", "bx", false },
		{ "{src/*,docs/**}.md", "src/a.md", true },
		{ "x{,y}", "x", true },
		{ "x{,y}", "xy", true },
		{ "x{/,y}z", "x/z", true },
		{ "a/{,b}", "a/anything/below", true },
		{ "{a}", "{a}", true },
		{ "{a}", "a", false },
		{ "{x{a,b}}", "{xb}", true },
		{ "a}b", "a}b", true },
		{ "{[,],b}", ",", true },
		{ "*{*,a}/x", "p/q/x", true },
		/* Any depth. */
		{ "**", "a", true },
		{ "**", "a/b/c", true },
		{ "src/**", "src/a/b", true },
		{ "src/**", "src", true },
		{ "src/**", "src2/a", false },
		{ "**/x.c", "x.c", true },
		{ "**/x.c", "a/b/x.c", true },
		{ "**/x.c", "a/b/xx.c", false },
		{ "a/**/b", "a/b", true },
		{ "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "a/b/c", false },
		{ "a/**/**/b", "a/b", true },
		{ "**/a/**/b/**", "x/a/y/b/z", true },
		{ "**/a/**/b/**", "x/b/y/a/z", false },
		{ "**/a*/b", "a1/a2/b", true },
		{ "**/a/b/*", "a/a/b/a/b/c", true },
	};

	check_matches(table, MR_LEN(table), 0);
}

static void widens_a_last_star(void)
{
	static const struct match table[] = {
		{ "src/*", "src/a/b", true },
		{ "src/*", "src2/a", false },
		{ "*", "a/b", true },
		{ "src/*.c", "src/a/b.c", false },
		{ "src/{*,x}", "src/a/b", true },
		{ "**/*", "a/b", true },
	};

	check_matches(table, MR_LEN(table), MR_GLOB_WIDEN);
}

static void takes_a_class_by_its_spelling(void)
{
	static const struct match table[] = {
		{ "app/[id]/page.tsx", "app/[id]/page.tsx", true },
		{ "app/[id]/page.tsx", "app/i/page.tsx", true },
		{ "app/[id]", "app/[id]/x", true },
		{ "app/[id]", "app/i/x", false },
		{ "app/[id]/*.{ts,tsx}", "app/[id]/a.ts", true },
		{ "app/[user-id]/x", "app/[user-id]/x", true }, /* backwards as a range */
		{ "app/[...all]/**", "app/[...all]/x/y", true },
		{ "a[", "a[", true },
		{ "[:alpha:]", "[:alpha:]", true },
		{ "[[:alpha:]]", "[[:alpha:]]", true },
	};

	check_matches(table, MR_LEN(table), MR_GLOB_SPELLING);
}

static void crosses_slashes(void)
{
	static const struct match table[] = {
		{ "src/*", "src/a/b", true },
		{ "src/*.c", "src/a/b.c", true },
		{ "*.c", "a/b.c", true },
		{ "a?b", "a/b", true },
		{ "a[!x]b", "a/b", true },
		{ "a[/]b", "a/b", true },
		{ "a/**/b", "a/b", false },
		{ "a/**/b", "a/x/b", true },
		{ "docs", "docs/x", true },
		{ "docs", "docs2", false },
		{ "docs/", "docs/x/y", true },
		{ "**", "a/b", true },
		{ "src/*", "./src/a/", true },
	};

	check_matches(table, MR_LEN(table), MR_GLOB_CROSS);
}

static void escapes(void)
{
	static const struct match table[] = {
		{ "a\\*b", "a*b", true },
		{ "a\\*b", "axb", false },
		{ "a\\*b", "a*b/below", true },
		{ "\\[x]", "[x]", true },
		{ "[\\]]", "]", true },
		{ "[\\a-\\c]", "b", true },
		{ "\\{a,b}", "{a,b}", true },
		{ "{a\\,b,c}", "a,b", true },
		{ "a\\/b", "a/b", true },
		{ "  a\\ ", "a ", true },
		{ "a\\\\ ", "a\\", true },
		{ "\\ a", " a", true },
	};

	check_matches(table, MR_LEN(table), MR_GLOB_ESCAPE);
}

/* As git 2.39 and pathspec 0.11 both answer, except where a comment says who does not. */
static void ignores_as_git_does(void)
{
	static const struct match table[] = {
		{ "*.o", "x.o", true },
		{ "*.o", "a/x.o", true },
		{ "*.o", "x.o/y", true },
		{ "*.o", "x.c", false },
		{ "foo", "foo", true },
		{ "foo", "foo/x/y", true },
		{ "foo", "a/b/foo/c", true },
		{ "foo", "foox/y", false },
		{ "foo", "Foo", false },
		{ "/foo", "foo/x", true },
		{ "/foo", "a/foo", false },
		{ "foo/", "foo", false },
		{ "foo/", "foo/", true },
		{ "foo/", "foo/x", true },
		{ "foo/", "a/foo/x", true },
		{ "foo/", "a/foo", false },
		{ "foo/bar/", "foo/bar/z", true },
		{ "foo/bar/", "a/foo/bar/z", false },
		{ "foo/*", "foo/x", true },
		{ "foo/*", "foo/x/y", true },
		{ "foo/*", "foo", false },
		{ "foo/*", "a/foo/x", false },
		{ "foo/**", "foo/x/y", true },
		{ "foo/**", "foo", false },
		{ "foo/**", "a/foo/x", false },
		{ "**/foo", "foo", true },
		{ "**/foo", "a/b/foo/c", true },
		{ "**/foo/bar", "a/foo/bar", true },
		{ "**/foo/bar", "a/foo/x/bar", false },
		{ "foo/**/bar", "foo/bar", true },
		{ "foo/**/bar", "foo/x/y/bar", true },
		{ "foo/**/bar", "foo/x/bar/z", true },
		{ "foo/**/*.c", "foo/x/a.c", true },
		{ "foo/**/*.c", "x/foo/a.c", false },
		{ "a/b", "a/b/c", true },
		{ "a/b", "b/a/b", false },
		{ "/a/*", "a/b/c", true },
		{ "doc/*.txt", "doc/a.txt", true },
		{ "doc/*.txt", "doc/b/a.txt", false },
		{ "doc/*.txt", "x/doc/a.txt", false },
		{ "**", "a/b", true },
		{ "*", ".hidden", true },
		{ "/*", "a/b", true },
		{ "**/", "a", false },
		{ "**/", "a/b", true },
		{ "a/**/", "a/x/y", true },
		{ "a/**/", "a/b", false }, /* pathspec takes files too */
		{ "a/**/b/**/c", "a/x/y/b/z/c", true },
		{ "a?c", "abc", true },
		{ "a?c", "a/c", false },
		{ "[ab].c", "x/b.c", true },
		{ "[!a].c", "a.c", false },
		{ "[!a].c", "b.c", true },
		{ "[^a].c", "b.c", true }, /* pathspec takes '^' for a member */
		{ "[^a].c", "a.c", false },
		{ "*.py[co]", "m.pyo", true },
		{ "*.py[co]", "m.py", false },
		{ "[]a]", "]", true },
		{ "[a-]b", "-b", true },
		{ "a[/]b", "a/b", false },
		{ "foo**bar", "fooxbar", true },
		{ "foo**bar", "foo/x/bar", false },
		{ "a/***/b", "a/b", true }, /* pathspec takes this for one star */
		{ "a/***/b", "a/x/y/b", true },
		{ "a/**b", "a/b", true },
		{ "a/**b", "a/x/b", false },
		{ "{a,b}", "{a,b}", true },
		{ "{a,b}", "a", false },
		{ "\\#x", "#x", true },
		{ "\\!x", "!x", true },
		{ "x\\*y", "x*y", true },
		{ "x\\*y", "xay", false },
		{ "x ", "x", true },
		{ "x\\ ", "x ", true }, /* pathspec cannot read this one */
		{ " x", " x", true },   /* pathspec drops blanks in front */
		{ " x", "x", false },
		{ "*/foo", "a/foo/x", true },
		{ "*/foo", "a/b/foo", false },
		{ "foo*/", "foox/y", true },
		{ "*a*b*", "bab", true },
		{ "\xc3\xa9*",
			"\xc3\xa9"
			"a",
			true },
	};

	check_matches(table, MR_LEN(table), MR_GLOB_IGNORE);
}

static void strips_the_root(void)
{
	static const struct {
		const char *root;
		const char *text;
		const char *normal;
	} table[] = {
		{ "/data/app", "/data/app/src/*.c", "src/*.c" },
		{ "/data/app/", "/data/app/src", "src" },
		{ "/data/app", "/data/app", "**" },
		{ "/data/app", "/data/app2/src", "data/app2/src" },
		{ "/data/app", "src", "src" },
		{ "/data/app", "/data", "data" },
		{ "C:\\work", "C:\\work\\src\\a.c", "src/a.c" },
		{ "/", "/src", "src" },
		{ "", "/src", "src" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_glob_options options = { .root = table[i].root };
		struct mr_glob *glob;
		struct mr_err err;

		CHECK_OK(mr_glob_compile(arena, table[i].text, &options, &glob, &err), err);
		CHECK_STR(mr_glob_text(glob), table[i].normal);
	}
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *text;
		unsigned flags;
		const char *msg;
	} table[] = {
		{ "", 0, "pattern is empty" },
		{ " \t\n", 0, "pattern is empty" },
		{ "  ", MR_GLOB_ESCAPE, "pattern is empty" },
		{ "\t", MR_GLOB_ESCAPE, "pattern is empty" },
		{ "  ", MR_GLOB_IGNORE, "pattern is empty" },
		{ "/", MR_GLOB_IGNORE, "pattern names nothing" },
		{ "//", MR_GLOB_IGNORE, "pattern names nothing" },
		{ "a\xff", 0, "pattern is not UTF-8 at byte 1" },
		{ "..", 0, "'..' at byte 0: a pattern cannot leave its directory" },
		{ " ./a/../b", 0, "'..' at byte 5: a pattern cannot leave its directory" },
		{ "a\\..\\b", 0, "'..' at byte 2: a pattern cannot leave its directory" },
		{ "x/{.,y}{.,z}", 0, "'..' at byte 3: a pattern cannot leave its directory" },
		{ "a/[bc", 0, "'[' at byte 2 has no ']' (write [[] for the character itself)" },
		{ "a[!]", 0, "'[' at byte 1 has no ']' (write [[] for the character itself)" },
		{ "a[", MR_GLOB_IGNORE,
			"'[' at byte 1 has no ']' (write [[] for the character itself)" },
		{ "ab[xz-a]", 0, "range at byte 4 runs backwards" },
		{ "a[x/y]", 0, "class at byte 1 holds a '/', which it cannot match" },
		{ "a[.-/]", 0, "class at byte 1 holds a '/', which it cannot match" },
		{ "a[\\d]", 0, "class at byte 1 holds a '/', which it cannot match" },
		{ "[[:alpha:]]", 0,
			"class at byte 0 uses a name such as [:alpha:]; write the range instead" },
		{ "a/{b,c", 0, "'{' at byte 2 has no '}'" },
		{ "a/{b,{c}", 0, "'{' at byte 2 has no '}'" },
		{ "{,a}", 0, "one alternative of the pattern is empty" },
		{ "a\\", MR_GLOB_ESCAPE, "'\\' at byte 1 has nothing to escape" },
		{ "a\\", MR_GLOB_IGNORE, "'\\' at byte 1 has nothing to escape" },
		{ "[a]/..", MR_GLOB_SPELLING,
			"'..' at byte 4: a pattern cannot leave its directory" },
		{ "a/{b", MR_GLOB_SPELLING, "'{' at byte 2 has no '}'" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_glob_options options = { .flags = table[i].flags };
		struct mr_glob *glob = NULL;
		struct mr_err err = { 0 };

		enum mr_code rc = mr_glob_compile(arena, table[i].text, &options, &glob, &err);

		CHECK_STR(rc ? err.msg : "no error", table[i].msg);
		CHECK_INT(rc, MR_EINVAL);
		CHECK(!glob);
	}
}

static char *repeat(struct mr_arena *arena, const char *text, size_t times, const char *end)
{
	char *out = mr_arena_strdup(arena, "");

	for (size_t i = 0; i < times; i++)
		out = mr_arena_printf(arena, "%s%s", out, text);
	return mr_arena_printf(arena, "%s%s", out, end);
}

static void has_limits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct {
		const char *text;
		const char *msg; /* NULL: it fits */
	} table[] = {
		{ repeat(arena, "a", 512, ""), NULL },
		{ repeat(arena, "a", 513, ""), "pattern is longer than 512 bytes" },
		{ repeat(arena, "a", 511, "/"), "pattern is longer than 512 bytes" },
		{ repeat(arena, "a/", 63, "a"), NULL },
		{ repeat(arena, "a/", 64, "a"), "pattern has more than 64 segments at byte 128" },
		{ repeat(arena, "**/", 100, "a"), NULL },
		{ repeat(arena, "{a,b}", 6, "c"), NULL },
		{ repeat(arena, "{a,b}", 7, "c"),
			"braces at byte 15 make more than 64 alternatives" },
		{ repeat(arena, "{", 250, repeat(arena, "}", 250, "")), NULL },
		{ repeat(arena, "{a,", 100, repeat(arena, "}", 100, "")),
			"braces at byte 189 make more than 64 alternatives" },
		{ repeat(arena, "{a,b}", 6, repeat(arena, "c", 100, "")),
			"braces at byte 25 make a pattern of more than 4096 bytes" },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_glob *glob = NULL;
		struct mr_err err = { 0 };
		enum mr_code rc = mr_glob_compile(arena, table[i].text, NULL, &glob, &err);

		CHECK_STR(rc ? err.msg : NULL, table[i].msg);
		CHECK_INT(rc, table[i].msg ? MR_ELIMIT : MR_OK);
	}
}

/* Patterns that take a matcher with naive backtracking longer than anyone waits. */
static void is_not_slowed_by_bombs(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *stars = repeat(arena, "a*", 200, "b");
	const char *deeps = repeat(arena, "**/a/", 25, "b");
	const char *mixed = repeat(arena, "**/*a*a*/", 20, "b");

	CHECK(!mr_glob_matches(compile(arena, stars, 0), repeat(arena, "a", 2000, "")));
	CHECK(mr_glob_matches(compile(arena, stars, 0), repeat(arena, "a", 2000, "b")));
	CHECK(!mr_glob_matches(compile(arena, deeps, 0), repeat(arena, "a/", 1000, "a")));
	CHECK(mr_glob_matches(compile(arena, deeps, 0), repeat(arena, "a/", 1000, "b")));
	CHECK(!mr_glob_matches(compile(arena, mixed, 0), repeat(arena, "aaa/", 500, "a")));
	CHECK(mr_glob_matches(compile(arena, mixed, 0), repeat(arena, "aaa/", 500, "b")));
}

/* The language once more, as naively as it can be said: no bounds, no automaton, no shared code. */

static bool naive_needs_nothing(const char *p)
{
	while (strncmp(p, "**", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
		p += p[2] == '/' ? 3 : 2;
	return *p == '\0';
}

static bool naive_tail(const char *p, const char *s, bool at_start)
{
	if (at_start && strncmp(p, "**", 2) == 0 && (p[2] == '/' || p[2] == '\0')) {
		const char *rest = p[2] ? p + 3 : p + 2;

		/* Take no segment, or the first one of the text. */
		if (*s == '\0')
			return naive_needs_nothing(rest);
		if (*rest && naive_tail(rest, s, true))
			return true;
		s += strcspn(s, "/");
		return *s ? naive_tail(p, s + 1, true) : naive_needs_nothing(rest);
	}
	if (*p == '\0')
		return *s == '\0';
	if (*p == '*') {
		for (size_t i = 0;; i++) {
			if (naive_tail(p + 1, s + i, false))
				return true;
			if (s[i] == '\0' || s[i] == '/')
				return false;
		}
	}
	if (*p == '/') {
		/* The text may end before the last "**". */
		if (*s == '\0')
			return p[1] && naive_needs_nothing(p + 1);
		return *s == '/' && naive_tail(p + 1, s + 1, true);
	}
	if (*s == '\0' || *s == '/')
		return false;
	if (*p == '?')
		return naive_tail(p + 1, s + 1, false);
	if (strncmp(p, "[ab]", 4) == 0)
		return (*s == 'a' || *s == 'b') && naive_tail(p + 4, s + 1, false);
	if (strncmp(p, "[!a]", 4) == 0)
		return *s != 'a' && naive_tail(p + 4, s + 1, false);
	return *p == *s && naive_tail(p + 1, s + 1, false);
}

static bool naive_matches(const char *pattern, const char *path)
{
	const char *open = strchr(pattern, '{');
	char one[256];

	if (open) {
		const char *comma = strchr(open, ',');
		const char *close = strchr(open, '}');
		int head = (int)(open - pattern);

		snprintf(one, sizeof(one), "%.*s%.*s%s", head, pattern, (int)(comma - open - 1),
			open + 1, close + 1);
		if (naive_matches(one, path))
			return true;
		snprintf(one, sizeof(one), "%.*s%.*s%s", head, pattern, (int)(close - comma - 1),
			comma + 1, close + 1);
		return naive_matches(one, path);
	}
	if (naive_tail(pattern, path, true))
		return true;
	snprintf(one, sizeof(one), "%s/", pattern);
	return !strpbrk(pattern, "*?[") && mr_str_starts(path, one);
}

static void add_random(struct mr_rand *rand, const char *const *words, size_t count, size_t max,
	char *out, size_t room)
{
	size_t atoms = 1 + mr_rand_below(rand, max);

	for (size_t i = 0; i < atoms; i++) {
		size_t len = strlen(out);

		snprintf(out + len, room - len, "%s", words[mr_rand_below(rand, count)]);
	}
}

static void agrees_with_a_naive_matcher(void)
{
	static const char *const atoms[] = { "a", "b", "a", "b", "*", "?", "[ab]", "[!a]", "{a,b}",
		"{*,ab}", "**", "{a/b,b}", "{*/a,}b" };
	static const char *const letters[] = { "a", "b", "c" };
	struct mr_rand rand;
	size_t positive = 0;

	mr_rand_seeded_init(&rand, 1);
	for (size_t round = 0; round < 4000; round++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		char pattern[200] = "";
		size_t segments = 1 + mr_rand_below(&rand, 4);

		for (size_t i = 0; i < segments; i++) {
			if (i > 0)
				strncat(pattern, "/", sizeof(pattern) - strlen(pattern) - 1);
			if (mr_rand_below(&rand, 4) == 0)
				strncat(pattern, "**", sizeof(pattern) - strlen(pattern) - 1);
			else
				add_random(&rand, atoms, MR_LEN(atoms), 3, pattern,
					sizeof(pattern));
		}

		struct mr_glob *glob;
		struct mr_err err;

		/* Some have too many braces. */
		if (mr_glob_compile(arena, pattern, NULL, &glob, &err))
			continue;
		for (size_t k = 0; k < 40; k++) {
			char path[64] = "";
			size_t depth = 1 + mr_rand_below(&rand, 4);

			for (size_t i = 0; i < depth; i++) {
				if (i > 0)
					strncat(path, "/", sizeof(path) - strlen(path) - 1);
				add_random(&rand, letters, MR_LEN(letters), 3, path, sizeof(path));
			}

			bool want = naive_matches(pattern, path);

			positive += want;
			if (mr_glob_matches(glob, path) != want)
				test_fail(__FILE__, __LINE__, "'%s' should%s match '%s'", pattern,
					want ? "" : " not", path);
		}
	}
	/* The comparison is worth something only if both answers are common. */
	CHECK(positive > 10000 && positive < 100000);
}

/* Every alternative counts, and no pattern is larger than its limits allow. */
static void has_a_size(void)
{
	static const struct {
		const char *pattern;
		size_t size;
	} table[] = {
		{ "a", 3 }, /* the name, its character, and all below */
		{ "a*", 3 },
		{ "**", 1 },
		{ "{a,b}", 6 },
		{ "ab/c*", 6 },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_err err = { 0 };
	struct mr_glob *glob;

	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_OK(mr_glob_compile(arena, table[i].pattern, NULL, &glob, &err), err);
		CHECK_INT(mr_glob_size(glob), table[i].size);
	}
	CHECK_OK(mr_glob_compile(arena,
			 "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", NULL,
			 &glob, &err),
		err);
	CHECK_INT(mr_glob_size(glob), 64 * 40);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(has_a_size),
		TEST(normalises),
		TEST(matches),
		TEST(widens_a_last_star),
		TEST(takes_a_class_by_its_spelling),
		TEST(crosses_slashes),
		TEST(escapes),
		TEST(ignores_as_git_does),
		TEST(strips_the_root),
		TEST(says_what_is_wrong),
		TEST(has_limits),
		TEST(is_not_slowed_by_bombs),
		TEST(agrees_with_a_naive_matcher),
	};

	return test_main(tests, MR_LEN(tests));
}
