/* tests/unit/op/test_out.c */
#include "op/out.h"
#include "test.h"

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
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	struct mr_out out;

	mr_buf_init(&text, 4096);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	emit(&out);
	CHECK_STR(mr_buf_text(&text), expected);
}

static void builds_the_same_tree(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release);
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
		TEST(builds_the_same_tree),
		TEST(the_tree_outlives_its_sources),
	};

	return test_main(tests, MR_LEN(tests));
}
