/* tests/unit/team/test_team_search_query.c */
#include "team/search_query.h"

#include "base/buf.h"
#include "team/error.h"
#include "test.h"
#include "text/time.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

static void put_node(struct mr_buf *buf, const struct mr_team_node *node)
{
	static const char *const columns[] = { "", "S:", "B:" };
	static const char *const
		kinds[] = { [MR_TEAM_AND] = "and", [MR_TEAM_OR] = "or", [MR_TEAM_NOT] = "not" };

	if (node->kind == MR_TEAM_TERM) {
		mr_buf_printf(buf, "%s%s[%s]%s", node->term->negated ? "-" : "",
			columns[node->term->column], node->term->text,
			node->term->prefix ? "*" : "");
		return;
	}
	mr_buf_printf(buf, "%s(", kinds[node->kind]);
	for (const struct mr_team_node *one = node->inside; one; one = one->next) {
		put_node(buf, one);
		if (node->kind == MR_TEAM_NOT)
			break;
		if (one->next)
			mr_buf_putc(buf, ' ');
	}
	mr_buf_putc(buf, ')');
}

/* The tree; "?" and all terms when there is none; then the filters. */
static const char *shown(struct mr_arena *arena, const struct mr_team_query *query)
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
		const struct mr_team_filter *f = &query->filters[i];

		mr_buf_printf(&buf, " %s%s", f->negated ? "-" : "", names[f->kind]);
		if (f->text)
			mr_buf_printf(&buf, "=%s", f->text);
		if (f->project)
			mr_buf_printf(&buf, "@%s", f->project);
		if (f->time_us)
			mr_buf_printf(&buf, "=%s",
				mr_time_format(arena, f->time_us, MR_TIME_MICROS));
		if (f->kind == MR_TEAM_FILTER_IMPORTANCE)
			mr_buf_printf(&buf, "=%s", mr_team_importance_name(f->importance));
	}
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

struct fixture {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
};

static void set_up(struct fixture *f)
{
	mr_clock_fixed_init(&f->clock, WORLD_NOW_US);
	f->cx = (struct mr_ctx){ .arena = mr_arena_new(), .clock = &f->clock.clock };
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
		{ "has:attachment is:unread ack:pending", " attachment unread ack" },
		{ "HAS:Attachments", " attachment" },
		{ "from: x", "and([from:] [x])" },
		{ "from:\"\" x", "[x]" },
		{ "x from:", "and([x] [from:])" },
		{ "\"from:x\"", "[from:x]" },
		{ "(a from:x", "? a from=x" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_query query;
		struct fixture f;

		set_up(&f);
		if (mr_team_query_parse(&f.cx, cases[i].text, &query))
			test_fail(__FILE__, __LINE__, "%s: %s", cases[i].text, f.cx.err.msg);
		if (strcmp(shown(f.cx.arena, &query), cases[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s, not %s", cases[i].text,
				shown(f.cx.arena, &query), cases[i].want);
		mr_arena_free(f.cx.arena);
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
		struct mr_team_query query;
		struct fixture f;

		set_up(&f);
		CHECK_OK(mr_team_query_parse(&f.cx, cases[i].text, &query), f.cx.err);
		CHECK_INT(query.term_count, 1);
		CHECK_STR(query.terms[0].text, cases[i].text);
		CHECK_INT(query.terms[0].has_word, cases[i].has_word);
		CHECK_INT(query.terms[0].unspaced, cases[i].unspaced);
		mr_arena_free(f.cx.arena);
	}
}

static void refuses_nonsense(void)
{
	static const struct {
		const char *text;
		const char *type;
		const char *key;
		const char *value;
		const char *why;
	} cases[] = {
		{ "", "INVALID_ARGUMENT", "argument", "query",
			"there is nothing to look for: query is empty" },
		{ NULL, "INVALID_ARGUMENT", "argument", "query", "query is empty" },
		{ " \t\n ", "INVALID_ARGUMENT", "argument", "query", "query is empty" },
		{ "a importance:purple", "SEARCH_SYNTAX", "filter", "importance",
			"the filter importance:purple makes no sense: expected low, normal, high "
			"or urgent; to look for these words, put them in quotes" },
		{ "since:yore", "SEARCH_SYNTAX", "filter", "since",
			"expected a date, a time or a duration" },
		{ "until:2026-13-01", "SEARCH_SYNTAX", "filter", "until", "until:2026-13-01" },
		{ "has:wings", "SEARCH_SYNTAX", "filter", "has", "expected attachment" },
		{ "is:broken", "SEARCH_SYNTAX", "filter", "is", "expected unread" },
		{ "-ack:done", "SEARCH_SYNTAX", "filter", "ack", "expected pending" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *data;
		struct mr_team_query query;
		struct fixture f;

		set_up(&f);
		CHECK_INT(mr_team_query_parse(&f.cx, cases[i].text, &query), MR_EINVAL);
		CHECK_STR(f.cx.err.word, cases[i].type);
		if (!strstr(f.cx.err.msg, cases[i].why))
			test_fail(__FILE__, __LINE__, "%s: %s", cases[i].text, f.cx.err.msg);
		data = mr_team_fail_data(&f.cx.err);
		CHECK_STR(mr_value_get(data, cases[i].key)->text, cases[i].value);
		mr_arena_free(f.cx.arena);
	}
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
		{ "(a ", 10000, MR_TEAM_QUERY_TERMS, false },
		{ ")", 10000, 1, false },
		{ "a ", 100000, MR_TEAM_QUERY_TERMS, true },
		{ "a OR ", 100000, MR_TEAM_QUERY_TERMS, true },
		{ "a", 1 << 20, 1, true },
		{ "\xc3\xa9", 1 << 19, 1, true },
		{ "-", 1 << 20, 1, true },
		{ "- ", 1 << 20, MR_TEAM_QUERY_TERMS, true },
		{ "NOT ", 100000, MR_TEAM_QUERY_TERMS, false },
		{ "\"", 1 << 20, 1, false },
		{ "\"a\" ", 1 << 18, MR_TEAM_QUERY_TERMS, true },
		{ "from:a ", 100000, 1, true }, /* the last is cut to a word */
		{ "subject:", 100000, 1, false },
		{ "a(", 10000, MR_TEAM_QUERY_TERMS, false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_team_query query;
		struct fixture f;
		size_t before;

		set_up(&f);
		const char *text = many(f.cx.arena, cases[i].unit, cases[i].count);

		before = mr_arena_size(f.cx.arena);
		CHECK_OK(mr_team_query_parse(&f.cx, text, &query), f.cx.err);
		if (query.term_count != cases[i].terms || !query.root == cases[i].understood)
			test_fail(__FILE__, __LINE__, "%s: %zu terms", cases[i].unit,
				query.term_count);
		CHECK(query.filter_count <= MR_TEAM_QUERY_FILTERS);
		for (size_t t = 0; t < query.term_count; t++)
			CHECK(strlen(query.terms[t].text) <= MR_TEAM_QUERY_TERM_BYTES);
		CHECK(mr_arena_size(f.cx.arena) - before < 1 << 21);
		mr_arena_free(f.cx.arena);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(takes_apart),
		TEST(knows_words_and_scripts),
		TEST(refuses_nonsense),
		TEST(bombs_are_small_after_all),
	};

	return test_main(tests, MR_LEN(tests));
}
