/* tests/unit/app/test_client_file.c */
#include "app/client_file.h"

#include "test.h"

#include <string.h>

static const struct mr_value *read_json(struct mr_arena *arena, const char *text)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_client_json_read(arena, mr_bytes_text(text), &value, &err), err);
	return value;
}

static const char *text_of(struct mr_arena *arena, const struct mr_value *value)
{
	struct mr_bytes text = mr_client_json_write(arena, value);

	return mr_arena_strndup(arena, (const char *)text.data, text.len);
}

static void values_are_put_at_a_path(void)
{
	static const char *const path[] = { "a", "b", NULL };
	static const struct {
		const char *before, *after;
	} cases[] = {
		{ "", "{\n  \"a\": {\n    \"b\": 7\n  }\n}\n" },
		{ " \r\n\t", "{\n  \"a\": {\n    \"b\": 7\n  }\n}\n" },
		{ "{\"x\":1,\"a\":{\"b\":0,\"c\":[]},\"y\":null}",
			"{\n  \"x\": 1,\n  \"a\": {\n    \"b\": 7,\n    \"c\": []\n  },\n"
			"  \"y\": null\n}\n" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value seven = { .kind = MR_INT, .integer = 7 };
	const struct mr_value *out = NULL;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *before = read_json(arena, cases[i].before);

		CHECK_OK(mr_client_json_set(arena, before, path, &seven, &out, &err), err);
		CHECK_STR(text_of(arena, out), cases[i].after);
		CHECK(mr_client_json_at(out, path)->integer == 7);
	}
	CHECK_INT(mr_client_json_set(arena, read_json(arena, "{\"a\":[1]}"), path, &seven, &out,
			  &err),
		MR_ECONFLICT);
	CHECK_STR(err.msg, "what should hold \"b\" is no object");
}

static void values_are_taken_out_again(void)
{
	static const char *const path[] = { "a", "b", NULL };
	static const struct {
		const char *before, *after;
	} cases[] = {
		{ "{\"a\":{\"b\":7}}", "{}\n" },
		{ "{\"a\":{\"b\":7},\"x\":{}}", "{\n  \"x\": {}\n}\n" },
		{ "{\"a\":{\"b\":7,\"c\":1}}", "{\n  \"a\": {\n    \"c\": 1\n  }\n}\n" },
	};
	static const char *const others[] = { "{}", "{\"a\":{}}", "{\"a\":[]}",
		"{\"a\":{\"c\":1}}" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(text_of(arena,
				  mr_client_json_remove(arena, read_json(arena, cases[i].before),
					  path)),
			cases[i].after);
	for (size_t i = 0; i < MR_LEN(others); i++) {
		const struct mr_value *before = read_json(arena, others[i]);

		CHECK(mr_client_json_remove(arena, before, path) == before);
	}
}

static bool is_one(const struct mr_value *item)
{
	return item->kind == MR_INT && item->integer == 1;
}

static void items_of_lists_come_and_go(void)
{
	static const char *const path[] = { "a", "l", NULL };
	static const struct {
		const char *before;
		bool is_in;
		const char *after;
	} cases[] = {
		{ "{}", true, "{\n  \"a\": {\n    \"l\": [\n      9\n    ]\n  }\n}\n" },
		{ "{\"a\":{\"l\":[1]}}", false, "{}\n" },
		{ "{\"a\":{\"l\":[1,5,1]}}", true,
			"{\n  \"a\": {\n    \"l\": [\n      9,\n      5\n    ]\n  }\n}\n" },
		{ "{\"a\":{\"l\":[1,5]}}", false,
			"{\n  \"a\": {\n    \"l\": [\n      5\n    ]\n  }\n}\n" },
		{ "{\"a\":{\"l\":[]}}", false, "{\n  \"a\": {\n    \"l\": []\n  }\n}\n" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value nine = *mr_value_get(read_json(arena, "{\"items\":[9]}"), "items");
	const struct mr_value *out = NULL;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *before = read_json(arena, cases[i].before);

		CHECK_OK(mr_client_json_list(arena, before, path, is_one,
				 cases[i].is_in ? &nine : NULL, &out, &err),
			err);
		CHECK_STR(text_of(arena, out), cases[i].after);
	}
	CHECK_INT(mr_client_json_list(arena, read_json(arena, "{\"a\":{\"l\":{}}}"), path, is_one,
			  &nine, &out, &err),
		MR_ECONFLICT);
	CHECK_STR(err.msg, "\"l\" is no list");
}

static void several_items_take_the_place_of_one(void)
{
	static const char *const path[] = { "l", NULL };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *document = read_json(arena, "{\"l\":[7,1,8,1]}");
	const struct mr_value *items = mr_value_get(read_json(arena, "{\"i\":[2,3]}"), "i");
	const struct mr_value *out = NULL;
	struct mr_err err;

	CHECK_INT(mr_client_json_ours(arena, document, path, is_one)->list.len, 2);
	CHECK_OK(mr_client_json_list(arena, document, path, is_one, items, &out, &err), err);
	CHECK_STR(text_of(arena, out), "{\n  \"l\": [\n    7,\n    2,\n    3,\n    8\n  ]\n}\n");
	CHECK(!mr_client_json_ours(arena, out, path, is_one));
	CHECK(!mr_client_json_ours(arena, read_json(arena, "{}"), path, is_one));
}

static void what_is_no_document_is_refused(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *out = NULL;
	struct mr_err err;

	CHECK_INT(mr_client_json_read(arena, mr_bytes_text("[]"), &out, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the document is no object");
	CHECK_INT(mr_client_json_read(arena, mr_bytes_text("{} // no"), &out, &err), MR_EFORMAT);
	CHECK_INT(mr_client_json_read(arena, mr_bytes_of("\0", 1), &out, &err), MR_EFORMAT);
	CHECK(!out);
}

static const struct mr_client_marks marks = { "# begin", "# end" };

static void blocks_come_and_go(void)
{
	static const struct {
		const char *before, *block, *after;
	} cases[] = {
		{ "", "# begin\nx\n# end\n", "# begin\nx\n# end\n" },
		{ "a\n", "# begin\nx\n# end\n", "a\n\n# begin\nx\n# end\n" },
		{ "a", "# begin\nx\n# end\n", "a\n\n# begin\nx\n# end\n" },
		{ "a\n# begin 1\nold\n# end\nb\n", "# begin\nx\n# end\n",
			"a\n# begin\nx\n# end\nb\n" },
		{ "a\n\n# begin\nold\n# end\n", NULL, "a\n" },
		{ "a\n\n# begin\nold\n# end\nb", NULL, "a\nb" },
		{ "# begin\nold\n# end", NULL, "" },
		{ "a\n # begin\nb # end\n", NULL, "a\n # begin\nb # end\n" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes out;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_OK(mr_client_block_set(arena, mr_bytes_text(cases[i].before), &marks,
				 cases[i].block, &out, &err),
			err);
		CHECK_STR((const char *)out.data, cases[i].after);
	}
	CHECK_INT(mr_client_block_set(arena, mr_bytes_text("# begin\nx\n"), &marks, NULL, &out,
			  &err),
		MR_EFORMAT);
	CHECK_STR(err.msg, "the line \"# end\" is missing after \"# begin\"");
	CHECK_INT(mr_client_block_set(arena, mr_bytes_text("# begin\n# end\n# begin\n# end\n"),
			  &marks, NULL, &out, &err),
		MR_EFORMAT);
	CHECK_STR(err.msg, "there are two lines \"# begin\": which one is it?");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(values_are_put_at_a_path),
		TEST(values_are_taken_out_again),
		TEST(items_of_lists_come_and_go),
		TEST(several_items_take_the_place_of_one),
		TEST(what_is_no_document_is_refused),
		TEST(blocks_come_and_go),
	};

	return test_main(tests, MR_LEN(tests));
}
