/* tests/unit/team/test_team_search_query.c */
#include "team/search_query.h"

#include "team/error.h"
#include "team/model.h"
#include "test.h"
#include "world.h"

#include <string.h>

struct fixture {
	struct mr_ctx cx;
	struct mr_clock_fixed clock;
};

static void set_up(struct fixture *f)
{
	mr_clock_fixed_init(&f->clock, WORLD_NOW_US);
	f->cx = (struct mr_ctx){ .arena = mr_arena_new(), .clock = &f->clock.clock };
}

static void knows_its_keys(void)
{
	static const struct {
		const char *text;
		int kind;
		const char *value, *place;
	} cases[] = {
		{ "from:BlueLake@Backend", MR_TEAM_FILTER_FROM, "bluelake", "backend" },
		{ "to:@Red", MR_TEAM_FILTER_TO, "red", NULL },
		{ "thread:PLAN-1", MR_TEAM_FILTER_THREAD, "PLAN-1", NULL },
		{ "importance:HIGH", MR_TEAM_FILTER_IMPORTANCE, "high", NULL },
		{ "since:1d", MR_TEAM_FILTER_SINCE, NULL, NULL },
		{ "until:1d", MR_TEAM_FILTER_UNTIL, NULL, NULL },
		{ "has:Attachment", MR_TEAM_FILTER_ATTACHMENT, "attachment", NULL },
		{ "is:unread", MR_TEAM_FILTER_UNREAD, "unread", NULL },
		{ "ack:pending", MR_TEAM_FILTER_ACK, "pending", NULL },
	};
	enum mr_team_importance importance;
	struct mr_query query;
	struct fixture f;

	set_up(&f);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_OK(mr_team_query_parse(&f.cx, cases[i].text, &query), f.cx.err);
		CHECK_INT(query.filter_count, 1);
		CHECK_INT(query.filters[0].kind, cases[i].kind);
		CHECK_STR(query.filters[0].text, cases[i].value);
		CHECK_STR(query.filters[0].place, cases[i].place);
		/* The words of the query are those of the model. */
		CHECK(cases[i].kind != MR_TEAM_FILTER_IMPORTANCE ||
			mr_team_importance_of(query.filters[0].text, &importance));
	}
	CHECK_OK(mr_team_query_parse(&f.cx, "subject:a body:b body_md:c d", &query), f.cx.err);
	CHECK_INT(query.term_count, 4);
	CHECK_INT(query.terms[0].column, MR_TEAM_SUBJECT);
	CHECK_INT(query.terms[1].column, MR_TEAM_BODY);
	CHECK_INT(query.terms[2].column, MR_TEAM_BODY);
	CHECK_INT(query.terms[3].column, MR_QUERY_ANY_COLUMN);
	mr_arena_free(f.cx.arena);
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
		struct mr_query query;
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

int main(void)
{
	static const struct test tests[] = {
		TEST(knows_its_keys),
		TEST(refuses_nonsense),
	};

	return test_main(tests, MR_LEN(tests));
}
