/* tests/unit/text/test_snippet.c */
#include "text/snippet.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "query_keys.h"
#include "test.h"

#include <string.h>

/* The snippet, hits between < and >. */
static const char *marked(struct mr_arena *arena, const struct mr_snippet *snippet)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	size_t at = 0;

	mr_buf_init(&buf, 1 << 20);
	for (size_t i = 0; i < snippet->hit_count; i++) {
		CHECK(snippet->hits[i].start >= at &&
			snippet->hits[i].end > snippet->hits[i].start);
		CHECK(snippet->hits[i].end <= strlen(snippet->text));
		mr_buf_add(&buf, snippet->text + at, snippet->hits[i].start - at);
		mr_buf_putc(&buf, '<');
		mr_buf_add(&buf, snippet->text + snippet->hits[i].start,
			snippet->hits[i].end - snippet->hits[i].start);
		mr_buf_putc(&buf, '>');
		at = snippet->hits[i].end;
	}
	mr_buf_puts(&buf, snippet->text + at);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static const char *snippet_of(struct mr_arena *arena, const char *query, const char *body,
	bool inside)
{
	struct mr_snippet snippet;
	struct mr_query parsed;

	mr_query_parse(arena, query_keys, 0, query, &parsed);
	mr_snippet(arena, body, &parsed, QUERY_BODY, inside, &snippet);
	CHECK(mr_utf8_count(snippet.text, strlen(snippet.text)) <= MR_SNIPPET_CHARS + 6);
	return marked(arena, &snippet);
}

static const char LONG_BODY[] =
	"The first paragraph says nothing of interest to anybody who searches, and goes on for a "
	"while.\n\n- then the build\tplan of the users\n- comes in a list\n\nAnd after it there is "
	"more text that nobody asked for, which should not be shown in full because it is long.";

static void shows_what_was_looked_for(void)
{
	static const struct {
		const char *query;
		const char *body;
		bool inside;
		const char *want;
	} cases[] = {
		{ "plan", "the plan of Plans, PLAN!", false, "the <plan> of Plans, <PLAN>!" },
		{ "plan*", "the plan of Plans", false, "the <plan> of <Plans>" },
		{ "\"build plan\"", "a build  plan, build a plan", false,
			"a <build plan>, build a plan" },
		{ "full-text", "with full text, full-text", false,
			"with <full text>, <full-text>" },
		{ "text \"full text\"", "the full text text", false, "the <full text> <text>" },
		{ "a -b", "a b a", false, "<a> b <a>" },
		{ "subject:a b", "a b", false, "a <b>" },
		{ "\xc3\xa9t\xc3\xa9", "En ETE, e\xcc\x81te\xcc\x81!", false,
			"En <ETE>, <e\xcc\x81te\xcc\x81>!" },
		{ "none", "  a\r\n\tbody\x01 \n", false, "a body" },
		{ "x", "", false, "" },
		{ "is:unread", "only filters", false, "only filters" },
		{ "->", "a->b -> c", false, "a->b -> c" },
		{ "->", "a->b -> c", true, "a<->>b <->> c" },
		{ "Lan", "planet LAN", true, "p<lan>et <LAN>" },
		{ "\xe6\x9c\xac", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", true,
			"\xe6\x97\xa5<\xe6\x9c\xac>\xe8\xaa\x9e" },
		{ "a", "bad \xff bytes \xc3", false, "bad bytes" },
		{ "plan", LONG_BODY, false,
			"...and goes on for a while. - then the build <plan> of the users - comes "
			"in a list And after it there is more text that nobody asked for, which "
			"should not be shown..." },
		{ "first", LONG_BODY, false,
			"The <first> paragraph says nothing of interest to anybody who searches, "
			"and "
			"goes on for a while. - then the build plan of the users - comes in a list "
			"And after..." },
	};
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(snippet_of(arena, cases[i].query, cases[i].body, cases[i].inside),
			cases[i].want);
	mr_arena_free(arena);
}

static void is_bounded(void)
{
	struct mr_arena *arena = mr_arena_new();
	char *body = mr_arena_alloc(arena, (1 << 20) + 1);
	const char *text;

	memset(body, 'a', 1 << 20);
	text = snippet_of(arena, "b", body, false);
	CHECK_INT(strlen(text), MR_SNIPPET_CHARS + 3);
	for (size_t i = 0; i < 1 << 20; i += 2)
		body[i] = ' ';
	text = snippet_of(arena, "a", body, false); /* more hits than are marked */
	CHECK(strstr(text, "<a> <a>") && strstr(text, "> a a"));
	memset(body, 'x', MR_SNIPPET_BODY_BYTES);
	body[MR_SNIPPET_BODY_BYTES] = ' '; /* too far */
	CHECK(!strchr(snippet_of(arena, "a", body, false), '<'));
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(shows_what_was_looked_for),
		TEST(is_bounded),
	};

	return test_main(tests, MR_LEN(tests));
}
