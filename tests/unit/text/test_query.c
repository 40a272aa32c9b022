/* tests/unit/text/test_query.c */
#include "text/query.h"

#include "base/buf.h"
#include "base/str.h"
#include "query_keys.h"
#include "test.h"
#include "text/time.h"

#include <stdlib.h>
#include <string.h>

static void put_node(struct mr_buf *buf, const struct mr_query_node *node)
{
	static const char *const columns[] = { "", "S:", "B:" };
	static const char *const
		kinds[] = { [MR_QUERY_AND] = "and", [MR_QUERY_OR] = "or", [MR_QUERY_NOT] = "not" };

	if (node->kind == MR_QUERY_TERM) {
		mr_buf_printf(buf, "%s%s[%s]%s", node->term->negated ? "-" : "",
			columns[node->term->column], node->term->text,
			node->term->prefix ? "*" : "");
		return;
	}
	mr_buf_printf(buf, "%s(", kinds[node->kind]);
	for (const struct mr_query_node *one = node->inside; one; one = one->next) {
		put_node(buf, one);
		if (node->kind == MR_QUERY_NOT)
			break;
		if (one->next)
			mr_buf_putc(buf, ' ');
	}
	mr_buf_putc(buf, ')');
}

/* The tree; "?" and all terms when there is none; then the filters. */
static const char *shown(struct mr_arena *arena, const struct mr_query *query)
{
	static const char *const names[] = { "from", "to", "thread", "importance", "since", "until",
		"attachment", "unread", "ack" };
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1 << 20);
	if (query->root)
		put_node(&buf, query->root);
	else if (query->term_count)
		mr_buf_putc(&buf, '?');
	for (size_t i = 0; !query->root && i < query->term_count; i++)
		mr_buf_printf(&buf, " %s%s", query->terms[i].text,
			query->terms[i].prefix ? "*" : "");
	for (size_t i = 0; i < query->filter_count; i++) {
		const struct mr_query_filter *f = &query->filters[i];

		mr_buf_printf(&buf, " %s%s", f->negated ? "-" : "", names[f->kind]);
		if (f->text)
			mr_buf_printf(&buf, "=%s", f->text);
		if (f->place)
			mr_buf_printf(&buf, "@%s", f->place);
		if (f->time_us)
			mr_buf_printf(&buf, "=%s",
				mr_time_format(arena, f->time_us, MR_TIME_MICROS));
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* 2026-03-11T04:15:00Z */
static const int64_t NOW_US = 1773202500000000;

static struct mr_query parsed(struct mr_arena *arena, const char *text)
{
	struct mr_query query;

	mr_query_parse(arena, query_keys, NOW_US, text, &query);
	return query;
}

static void takes_apart(void)
{
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "plan", "[plan]" },
		{ "  plan\tusers\n", "and([plan] [users])" },
		{ "\"build plan\"", "[build plan]" },
		{ "\"build pl\"*", "[build pl]*" },
		{ "migrat*", "[migrat]*" },
		{ "plan AND users", "and([plan] [users])" },
		{ "plan and users", "and([plan] [and] [users])" },
		{ "plan OR users", "or([plan] [users])" },
		{ "a b OR c d", "or(and([a] [b]) and([c] [d]))" },
		{ "a NOT b", "and([a] not(-[b]))" },
		{ "a AND NOT b", "and([a] not(-[b]))" },
		{ "a -b", "and([a] not(-[b]))" },
		{ "-b a", "and(not(-[b]) [a])" },
		{ "-b", "not(-[b])" },
		{ "NOT NOT b", "[b]" },
		{ "-(-b)", "[b]" },
		{ "a -\"b c\"", "and([a] not(-[b c]))" },
		{ "a -(b OR c)", "and([a] not(or(-[b] -[c])))" },
		{ "(a b) c", "and([a] [b] [c])" },
		{ "(a OR b) c", "and(or([a] [b]) [c])" },
		{ "a OR (b OR c)", "or([a] [b] [c])" },
		{ "a () b", "and([a] [b])" },
		{ "NEAR(a b)", "and([NEAR] [a] [b])" },
		{ "subject:deploy", "S:[deploy]" },
		{ "Subject:deploy body:\"a b\"", "and(S:[deploy] B:[a b])" },
		{ "body_md:x", "B:[x]" },
		{ "subject:(a OR body:b) c", "and(or(S:[a] B:[b]) [c])" },
		{ "-subject:x y", "and(not(-S:[x]) [y])" },
		{ "subject:x*", "S:[x]*" },
		{ "subject: x", "and([subject:] [x])" },
		{ "full-text", "[full-text]" },
		{ "--force -> x", "and([--force] [->] [x])" },
		{ "src/foo.c:12 a@b http://x.y/z", "and([src/foo.c:12] [a@b] [http://x.y/z])" },
		{ "'; DROP TABLE", "and([';] [DROP] [TABLE])" },
		{ "*", "[*]" },
		{ "^a + b{c}", "and([^a] [+] [b{c}])" },
		{ "f()", "[f]" },
		/* What cannot be understood. */
		{ "AND", "? AND" },
		{ "a AND", "? a" },
		{ "OR b", "? b" },
		{ "a AND OR b", "? a b" },
		{ "a OR", "? a" },
		{ "(a OR) b", "? a b" },
		{ "(a", "? a" },
		{ "a)", "? a" },
		{ "\"build plan", "? build plan" },
		{ "say \"hi", "? say hi" },
		{ "NOT", "? NOT" },
		{ "a -", "and([a] [-])" },
		{ "()", "? ()" },
		{ "\"\"", "? \"\"" },
		{ "subject:AND x", "? x" },
		/* Filters. */
		{ "from:BlueLake", " from=bluelake" },
		{ "from:BlueLake@Backend to:@Red plan", "[plan] from=bluelake@backend to=red" },
		{ "from:\"Blue Lake\" -to:x", " from=blue lake -to=x" },
		{ "NOT from:x a", "[a] -from=x" },
		{ "from:a OR from:b", " from=a from=b" },
		{ "(plan from:a) OR users", "or([plan] [users]) from=a" },
		{ "thread:PLAN-1 importance:HIGH", " thread=PLAN-1 importance=high" },
		{ "since:2026-03-01", " since=2026-03-01T00:00:00.000000Z" },
		{ "until:2026-03-01", " until=2026-03-02T00:00:00.000000Z" },
		{ "until:2026-03-01T10:00:00+02:00", " until=2026-03-01T08:00:00.000001Z" },
		{ "since:\"2026-03-01 10:00\"", " since=2026-03-01T10:00:00.000000Z" },
		{ "since:1d", " since=2026-03-10T04:15:00.000000Z" },
		{ "has:attachment is:unread ack:pending",
			" attachment=attachment unread=unread ack=pending" },
		{ "HAS:Attachments", " attachment=attachments" },
		{ "from: x", "and([from:] [x])" },
		{ "from:\"\" x", "[x]" },
		{ "x from:", "and([x] [from:])" },
		{ "\"from:x\"", "[from:x]" },
		{ "(a from:x", "? a from=x" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena = mr_arena_new();
		struct mr_query query = parsed(arena, cases[i].text);

		if (strcmp(shown(arena, &query), cases[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s, not %s", cases[i].text,
				shown(arena, &query), cases[i].want);
		/* What is not understood says why. */
		CHECK_INT(query.problem != NULL, cases[i].want[0] == '?');
		CHECK(!query.bad_key);
		mr_arena_free(arena);
	}
}

static void knows_words_and_scripts(void)
{
	static const struct {
		const char *text;
		bool has_word, unspaced;
	} cases[] = {
		{ "a", true, false },
		{ "->", false, false },
		{ "\xc3\xa9t\xc3\xa9", true, false },
		{ "\xe6\x97\xa5\xe6\x9c\xac", true, true },
		{ "\xe0\xb8\x81", true, true },
		{ "\xf0\x9f\x98\x80", false, false },
		{ "\xff\xfe", false, false },
		{ "\xff"
		  "a",
			true, false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena = mr_arena_new();
		struct mr_query query = parsed(arena, cases[i].text);

		CHECK_INT(query.term_count, 1);
		CHECK_STR(query.terms[0].text, cases[i].text);
		CHECK_INT(query.terms[0].has_word, cases[i].has_word);
		CHECK_INT(query.terms[0].unspaced, cases[i].unspaced);
		mr_arena_free(arena);
	}
}

static void marks_nonsense(void)
{
	static const struct {
		const char *text;
		const char *key, *value, *expected;
	} cases[] = {
		{ "a importance:purple", "importance", "purple", "low, normal, high or urgent" },
		{ "since:yore", "since", "yore", "a date, a time or a duration (2026-03-11, 7d)" },
		{ "until:2026-13-01", "until", "2026-13-01",
			"a date, a time or a duration (2026-03-11, 7d)" },
		{ "-ack:done", "ack", "done", "pending" },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_query query = parsed(arena, cases[i].text);

		CHECK_STR(query.bad_key, cases[i].key);
		CHECK_STR(query.bad_value, cases[i].value);
		CHECK_STR(query.bad_expected, cases[i].expected);
	}
	mr_arena_free(arena);
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *text, *problem;
	} cases[] = {
		{ "say \"hi", "a quotation mark has no second one" },
		{ "from:\"hi", "a quotation mark has no second one" },
		{ "(a b", "a parenthesis is opened and not closed" },
		{ "a) b", "a parenthesis is closed and was not opened" },
		{ ") b", "a parenthesis is closed and was not opened" },
		{ "a AND", "AND, OR, NOT or a column has nothing to stand with" },
		{ "OR a", "AND, OR, NOT or a column has nothing to stand with" },
		{ "subject:AND x", "AND, OR, NOT or a column has nothing to stand with" },
		{ "()", "it has no words" },
		{ "a b", NULL },
		{ "since:1d", NULL },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(parsed(arena, cases[i].text).problem, cases[i].problem);
	mr_arena_free(arena);
}

static void nothing_is_nothing(void)
{
	static const char *const texts[] = { "", NULL, " \t\n " };
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		struct mr_query query = parsed(arena, texts[i]);

		CHECK_INT(query.term_count + query.filter_count, 0);
		CHECK(!query.root && !query.bad_key && !query.problem);
	}
	mr_arena_free(arena);
}

static void understands_times(void)
{
	static const struct {
		const char *text;
		bool is_until;
		const char *want;
	} cases[] = {
		{ "2026-03-01", false, "2026-03-01T00:00:00.000000Z" },
		{ "2026-03-01", true, "2026-03-02T00:00:00.000000Z" },
		{ "2026-03-01T10:00:00+02:00", true, "2026-03-01T08:00:00.000001Z" },
		{ "1d", false, "2026-03-10T04:15:00.000000Z" },
		{ "1d", true, "2026-03-10T04:15:00.000000Z" },
		{ "yore", false, NULL },
		{ "", true, NULL },
		{ "99999999999999999999d", false, NULL },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		int64_t us = 0;
		bool ok = mr_query_time(cases[i].text, cases[i].is_until, NOW_US, &us);

		CHECK_STR(ok ? mr_time_format(arena, us, MR_TIME_MICROS) : NULL, cases[i].want);
	}
	mr_arena_free(arena);
}

/* `unit` over and over, `count` times. */
static char *many(struct mr_arena *arena, const char *unit, size_t count)
{
	size_t len = strlen(unit);
	char *text = mr_arena_alloc(arena, len * count + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * len, unit, len);
	return text;
}

static void bombs_are_small_after_all(void)
{
	static const struct {
		const char *unit;
		size_t count;
		size_t terms;
		bool understood;
	} cases[] = {
		{ "(", 10000, 1, false },
		{ "(a ", 10000, MR_QUERY_TERMS, false },
		{ ")", 10000, 1, false },
		{ "a ", 100000, MR_QUERY_TERMS, true },
		{ "a OR ", 100000, MR_QUERY_TERMS, true },
		{ "a", 1 << 20, 1, true },
		{ "\xc3\xa9", 1 << 19, 1, true },
		{ "-", 1 << 20, 1, true },
		{ "- ", 1 << 20, MR_QUERY_TERMS, true },
		{ "NOT ", 100000, MR_QUERY_TERMS, false },
		{ "\"", 1 << 20, 1, false },
		{ "\"a\" ", 1 << 18, MR_QUERY_TERMS, true },
		{ "from:a ", 100000, 1, true }, /* the last is cut to a word */
		{ "subject:", 100000, 1, false },
		{ "a(", 10000, MR_QUERY_TERMS, false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena = mr_arena_new();
		const char *text = many(arena, cases[i].unit, cases[i].count);
		size_t before = mr_arena_size(arena);
		struct mr_query query = parsed(arena, text);

		if (query.term_count != cases[i].terms || !query.root == cases[i].understood)
			test_fail(__FILE__, __LINE__, "%s: %zu terms", cases[i].unit,
				query.term_count);
		CHECK(query.filter_count <= MR_QUERY_FILTERS);
		for (size_t t = 0; t < query.term_count; t++)
			CHECK(strlen(query.terms[t].text) <= MR_QUERY_TERM_BYTES);
		CHECK(mr_arena_size(arena) - before < 1 << 21);
		mr_arena_free(arena);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(takes_apart),
		TEST(knows_words_and_scripts),
		TEST(marks_nonsense),
		TEST(understands_times),
		TEST(says_what_is_wrong),
		TEST(nothing_is_nothing),
		TEST(bombs_are_small_after_all),
	};

	return test_main(tests, MR_LEN(tests));
}
