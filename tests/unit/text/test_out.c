/* tests/unit/text/test_out.c */
#include "test.h"
#include "text/out.h"

#include <string.h>

static void emit(struct mr_out *out)
{
	const char *names[] = { "x", "y", NULL };
	struct mr_texts texts = { names, 2 };

	mr_out_map(out, NULL);
	mr_out_text(out, "text", "a\nb");
	mr_out_text(out, "none", NULL);
	mr_out_int(out, "int", -7);
	mr_out_real(out, "real", 0.5);
	mr_out_bool(out, "yes", true);
	mr_out_null(out, "null");
	mr_out_texts(out, "texts", &texts);
	mr_out_list(out, "list");
	mr_out_map(out, NULL);
	mr_out_end(out);
	mr_out_int(out, NULL, 1);
	mr_out_end(out);
	mr_out_map(out, "map");
	mr_out_list(out, "empty");
	mr_out_end(out);
	mr_out_end(out);
	mr_out_end(out);
}

static const char expected[] =
	"{\"text\":\"a\\nb\",\"none\":null,\"int\":-7,\"real\":0.5,\"yes\":true,\"null\":null,"
	"\"texts\":[\"x\",\"y\"],\"list\":[{},1],\"map\":{\"empty\":[]}}";

static void streams_json(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;

	mr_buf_init(&text, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	emit(&out);
	CHECK_STR(mr_buf_text(&text), expected);
}

/* What stands between `from` and `to`, or where there is none "-". */
static void finds(const char *key, const char *want)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf found MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out_span span = { .key = key };
	struct mr_out out;

	mr_buf_init(&text, 4096);
	mr_buf_init(&found, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_out_find(&out, &span);
	emit(&out);
	CHECK_STR(mr_buf_text(&text), expected);
	mr_buf_add(&found, mr_buf_text(&text) + span.from, span.to - span.from);
	CHECK_STR(span.to ? mr_buf_text(&found) : "-", want);
}

static void says_where_a_member_stands(void)
{
	finds("text", "\"a\\nb\"");
	finds("int", "-7");
	finds("texts", "[\"x\",\"y\"]");
	finds("list", "[{},1]");
	finds("map", "{\"empty\":[]}");
	finds("empty", "-");
	finds("other", "-");
}

static void takes_json_as_it_is(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out_span span = { .key = "j" };
	struct mr_out out;

	mr_buf_init(&text, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_out_find(&out, &span);
	mr_out_map(&out, NULL);
	mr_out_bytes(&out, "b", mr_bytes_of("a\"bc", 3));
	mr_out_json(&out, "j", mr_bytes_text("{\"x\":[1,2]}"));
	mr_out_list(&out, "l");
	mr_out_json(&out, NULL, mr_bytes_text("1"));
	mr_out_json(&out, NULL, mr_bytes_text("\"2\""));
	mr_out_end(&out);
	mr_out_end(&out);
	CHECK_STR(mr_buf_text(&text), "{\"b\":\"a\\\"b\",\"j\":{\"x\":[1,2]},\"l\":[1,\"2\"]}");
	CHECK_INT(span.to - span.from, strlen("{\"x\":[1,2]}"));
}

static void members_can_be_written_again(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 },
			   again MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes first, rest;
	struct mr_out out;
	size_t mark;

	mr_buf_init(&text, 4096);
	mr_buf_init(&again, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	CHECK(mr_out_is_compact(&out));
	mr_out_map(&out, NULL);
	mark = mr_out_mark(&out);
	mr_out_int(&out, "a", 1);
	mr_out_text(&out, "b", "2");
	first = mr_out_since(&out, mark);
	CHECK_INT(first.len, strlen("\"a\":1,\"b\":\"2\""));
	mr_buf_add(&again, first.data, first.len);
	mark = mr_out_mark(&out);
	mr_out_null(&out, "c");
	rest = mr_out_since(&out, mark);
	CHECK_INT(rest.len, strlen("\"c\":null"));
	CHECK_INT(mr_out_since(&out, mr_out_mark(&out)).len, 0);
	mr_out_map(&out, "m");
	mr_out_members(&out, mr_buf_bytes(&again));
	mr_out_members(&out, mr_bytes_text("\"d\":[]"));
	mr_out_bool(&out, "e", true);
	mr_out_end(&out);
	mr_out_end(&out);
	CHECK_STR(mr_buf_text(&text),
		"{\"a\":1,\"b\":\"2\",\"c\":null,"
		"\"m\":{\"a\":1,\"b\":\"2\",\"d\":[],\"e\":true}}");
}

/* What did not fit is no member to be kept. */
static void members_that_do_not_fit_are_none(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	size_t mark;

	mr_buf_init(&text, 10);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_out_map(&out, NULL);
	mark = mr_out_mark(&out);
	mr_out_text(&out, "k", "too long by far");
	CHECK_INT(mr_out_since(&out, mark).len, 0);
	mr_out_init_json(&out, &text, MR_JSON_SPACED);
	CHECK(!mr_out_is_compact(&out));
	mr_out_init_tree(&out, arena);
	CHECK(!mr_out_is_compact(&out));
}

static void builds_the_same_tree(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	struct mr_out out;

	mr_buf_init(&text, 4096);
	mr_out_init_tree(&out, arena);
	CHECK(mr_out_tree(&out) == NULL);
	emit(&out);
	mr_json_init(&json, &text, MR_JSON_COMPACT);
	mr_json_value(&json, mr_out_tree(&out));
	CHECK_STR(mr_buf_text(&text), expected);
}

static void the_tree_outlives_its_sources(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_arena *brief = mr_arena_new();
	const struct mr_value *read;
	struct mr_out out;
	struct mr_err err;

	CHECK_OK(mr_json_parse(brief, mr_bytes_text("{\"k\":[\"v\",{\"n\":\"w\"}]}"), NULL, &read,
			 &err),
		err);
	mr_out_init_tree(&out, arena);
	mr_out_value(&out, NULL, read);
	mr_arena_free(brief);
	CHECK_STR(mr_value_get(mr_out_tree(&out), "k")->list.items[0].text, "v");
	CHECK_STR(mr_value_get(&mr_value_get(mr_out_tree(&out), "k")->list.items[1], "n")->text,
		"w");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(streams_json),
		TEST(says_where_a_member_stands),
		TEST(takes_json_as_it_is),
		TEST(members_can_be_written_again),
		TEST(members_that_do_not_fit_are_none),
		TEST(builds_the_same_tree),
		TEST(the_tree_outlives_its_sources),
	};

	return test_main(tests, MR_LEN(tests));
}
