/* tests/unit/op/test_render.c */
#include "op/render.h"
#include "test.h"
#include "text/json.h"

static void renders(const char *json, struct mr_render how, const char *expected)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release);
	const struct mr_value *value;
	struct mr_err err;

	mr_buf_init(&text, 1 << 16);
	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	mr_render_value(&text, value, &how);
	CHECK_STR(mr_buf_text(&text), expected);
}

static void members_are_aligned(void)
{
	renders("{\"id\":1,\"long_name\":\"x\",\"none\":null,\"ok\":true,\"tags\":[\"a\",\"b\"]}",
		(struct mr_render){ 0 },
		"id         1\n"
		"long name  x\n"
		"none       -\n"
		"ok         yes\n"
		"tags       a, b\n");
}

static void lists_of_objects_are_tables(void)
{
	renders("{\"rows\":[{\"name\":\"caf\\u00e9\",\"n\":1},{\"name\":\"\\u65e5\\u672c\","
		"\"n\":22,\"extra\":false}]}",
		(struct mr_render){ 0 },
		"rows\n"
		"  name  n   extra\n"
		"  caf\xc3\xa9  1   \n"
		"  \xe6\x97\xa5\xe6\x9c\xac  22  no\n");
}

static void tables_fit_the_terminal(void)
{
	renders("[{\"a\":\"abcdefghijklmnopqrst\",\"b\":\"z\"}]", (struct mr_render){ .width = 16 },
		"a              b\n"
		"abcdefghijkl\xe2\x80\xa6  z\n");
	renders("[{\"a\":\"abcdefghijklmnopqrst\",\"b\":\"z\"},{\"a\":\"x\",\"b\":null}]",
		(struct mr_render){ .width = 10 },
		"a  abcdefghijklmnopqrst\n"
		"b  z\n"
		"\n"
		"a  x\n"
		"b  -\n");
}

static void texts_of_several_lines_stand_below(void)
{
	renders("{\"body\":\"one\\ntwo\",\"id\":3,\"sub\":{\"k\":\"v\"},\"no\":{},\"l\":[]}",
		(struct mr_render){ 0 },
		"body\n"
		"  one\n"
		"  two\n"
		"id    3\n"
		"sub\n"
		"  k  v\n"
		"no    {}\n"
		"l     -\n");
}

static void colour_only_when_asked(void)
{
	renders("{\"k\":\"v\"}", (struct mr_render){ .colour = true }, "\033[2mk\033[0m  v\n");
	renders("[{\"k\":\"v\"}]", (struct mr_render){ .colour = true }, "\033[1mk\033[0m\nv\n");
}

static void foreign_text_cannot_drive_the_terminal(void)
{
	renders("{\"k\":\"a\\u001b[31mb\\u009bc\\u202ed\\re\"}", (struct mr_render){ 0 },
		"k  a\xef\xbf\xbd[31mb\xef\xbf\xbd"
		"c\xef\xbf\xbd"
		"d\xef\xbf\xbd"
		"e\n");
}

static void messages_keep_their_lines(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release);

	mr_buf_init(&text, 4096);
	mr_render_text(&text, "a\n\tb\x1b");
	CHECK_STR(mr_buf_text(&text), "a\n\tb\xef\xbf\xbd");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(members_are_aligned),
		TEST(lists_of_objects_are_tables),
		TEST(tables_fit_the_terminal),
		TEST(texts_of_several_lines_stand_below),
		TEST(colour_only_when_asked),
		TEST(foreign_text_cannot_drive_the_terminal),
		TEST(messages_keep_their_lines),
	};

	return test_main(tests, MR_LEN(tests));
}
