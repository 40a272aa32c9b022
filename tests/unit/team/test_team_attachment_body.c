/* test_team_attachment_body.c - which pictures a body names, and which only look so. */
#include "team/attachment_body.h"

#include "base/buf.h"
#include "test.h"

#include <string.h>

enum { MAX = 64 };

static struct mr_team_body_images find(struct mr_arena *arena, const char *body)
{
	struct mr_team_body_images images;

	mr_team_body_images(arena, mr_bytes_text(body), MAX, &images);
	return images;
}

static void pictures_of_a_body(void)
{
	/* Paths parted by blanks; "" is none. */
	static const struct {
		const char *body, *paths;
	} rows[] = {
		{ "", "" },
		{ "![a](b.png)", "b.png" },
		{ "x ![a](b.png) y ![](c/d.jpg)z", "b.png c/d.jpg" },
		{ "![a]( b.png )", "b.png" },
		{ "![a](b.png \"title\") ![a](c.png 'it''s)", "b.png" },
		{ "![a](b.png (title)) ![a](c.png\n 't')", "b.png c.png" },
		{ "![a](<b(c.png>)", "b(c.png" },
		{ "![a](b(1).png)", "b(1).png" },
		{ "![a](b\\(1.png)", "b(1.png" },
		{ "![a [b] c](d.png)", "d.png" },
		{ "![a \\] c](d.png)", "d.png" },
		{ "[![a](b.png)](https://example.org)", "b.png" },
		{ "![a](/abs/b.png)", "/abs/b.png" },
		{ "![a](../b.png)", "../b.png" },
		{ "# head ![a](b.png)\n> quote ![a](c.png)\n\n- item ![a](d.png)",
			"b.png c.png d.png" },
		{ "| ![a](b.png) | ![a](c.png) |", "b.png c.png" },
		{ "1. item\n\n    ![a](b.png)\n", "b.png" },
		{ "text\n    ![a](b.png)\n", "b.png" },
		{ "`x` ![a](b.png) `y`", "b.png" },
		{ "` ![a](b.png)", "b.png" },
		{ "`` ` ![a](b.png)", "b.png" },
		{ "- a ` b\n- ![a](b.png)\n- c ` d\n", "b.png" },
		{ "~~~\n![x](y.png)\n~~~\n![a](b.png)", "b.png" },
		{ "```\n![x](y.png)\n````\n![a](b.png)", "b.png" },
		{ "> ```\n> ![x](y.png)\nplain ![a](b.png)", "b.png" },
		{ "``` not ` a fence\n![a](b.png)", "b.png" },
		{ "![a](b.png)\r\n![a](c.png)\r\n", "b.png c.png" },
		/* Only look so. */
		{ "[a](b.png)", "" },
		{ "! [a](b.png)", "" },
		{ "\\![a](b.png)", "" },
		{ "![a] (b.png)", "" },
		{ "![a](b.png", "" },
		{ "![a](b c.png)", "" },
		{ "![a]()", "" },
		{ "![a](<>)", "" },
		{ "![a](https://example.org/b.png)", "" },
		{ "![a](//example.org/b.png)", "" },
		{ "![a](file:///etc/passwd)", "" },
		{ "![a](#b)", "" },
		{ "`![a](b.png)`", "" },
		{ "`` ![a](b.png) ` x ``", "" },
		{ "`one\n![a](b.png)\ntwo`", "" },
		{ "```\n![a](b.png)\n```", "" },
		{ "```c\n![a](b.png)", "" },
		{ "- ```\n  ![a](b.png)\n  ```\n", "" },
		{ "    ![a](b.png)", "" },
		{ "x\n\n\t![a](b.png)\n\n    ![a](c.png)\n", "" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_team_body_images images = find(arena, rows[i].body);
		struct mr_texts paths = { mr_arena_array(arena, images.len + 1, sizeof(char *)),
			images.len };

		for (size_t k = 0; k < images.len; k++)
			paths.items[k] = images.items[k].path;
		if (strcmp(mr_str_join(arena, &paths, " "), rows[i].paths) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].body,
				mr_str_join(arena, &paths, " "));
	}
}

static void the_place_is_exact(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *body = "x ![a]( <b c.png> \"t\") y";
	struct mr_team_body_images images = find(arena, body);

	CHECK_INT(images.len, 1);
	CHECK_STR(images.items[0].path, "b c.png");
	CHECK_STR(mr_arena_strndup(arena, body + images.items[0].at,
			  images.items[0].end - images.items[0].at),
		"<b c.png>");
}

static void data_in_the_body(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_body_images images = find(arena,
		"![a](data:image/png;base64,AAAA) ![b](DATA:,x) ![c](data:image/gif,x 't')"
		" ![d](data:image/png;base64,BBBB");

	CHECK_INT(images.len, 3);
	CHECK_STR(images.items[0].media_type, "image/png");
	CHECK_STR(images.items[0].path, NULL);
	CHECK_STR(images.items[1].media_type, "image/webp");
	CHECK_STR(images.items[2].media_type, "image/gif");
}

/* Texts made to be slow; each is a megabyte. That this ends is the test. */
static void built_to_be_slow(void)
{
	static const char *const parts[] = { "![", "![](", "![](a", "![](data:", "![a](<", "`x",
		"![a](b \"", "[[![]", "> ", "- ", "\\", "![](a(", "`` ` ", "![a](data:x\n" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(parts); i++) {
		struct mr_team_body_images images;
		struct mr_buf body MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&body, 1 << 20);
		while (body.len + strlen(parts[i]) <= 1 << 18)
			mr_buf_puts(&body, parts[i]);
		mr_team_body_images(arena, mr_buf_bytes(&body), MAX, &images);
		CHECK_INT(images.len, 0);
	}
}

static void no_more_than_asked_for(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_body_images images;

	mr_team_body_images(arena, mr_bytes_text("![](a) ![](b)"), 2, &images);
	CHECK_INT(images.len, 2);
	CHECK(!images.more);
	mr_team_body_images(arena, mr_bytes_text("![](a) ![](b) ![](c)"), 2, &images);
	CHECK_INT(images.len, 2);
	CHECK(images.more);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(pictures_of_a_body),
		TEST(the_place_is_exact),
		TEST(data_in_the_body),
		TEST(built_to_be_slow),
		TEST(no_more_than_asked_for),
	};

	return test_main(tests, MR_LEN(tests));
}
