/* tests/unit/op/test_render_page.c */
#include "op/work/render_page.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

static void page_is(const char *text, const char *expected)
{
	struct mr_buf out;

	mr_buf_init(&out, 1 << 16);
	mr_page_put(&out, text, &(struct mr_render){ 0 });
	CHECK_STR(mr_buf_text(&out), expected);
	mr_buf_release(&out);
}

static void pages_lose_what_only_programs_need(void)
{
	page_is("", "");
	page_is("# A\n\n<!-- afmail:conversation:start -->\n\ntext\n\n"
		"<!-- afmail:conversation:end -->\n\n",
		"# A\n\ntext\n");
	page_is("- Message: [message_x](views/messages/message_x.md)\n- From: a [b](c) d\n",
		"- Message: message_x\n- From: a [b](c) d\n");
	page_is("no newline", "no newline\n");
}

/* What stands in a fence is a mail's: it is shown as it is, and cannot end the fence. */
static void fences_are_left_alone(void)
{
	page_is("```text\n# not ours\n\n\n<!-- afmail:x -->\n- a: [b](c)\n```\n\n\n# ours\n",
		"```text\n# not ours\n\n\n<!-- afmail:x -->\n- a: [b](c)\n```\n\n# ours\n");
	page_is("````text\n```\n\n\nstill inside\n````\n\n\nx\n",
		"````text\n```\n\n\nstill inside\n````\n\nx\n");
	page_is("```text\n```sh\n\n\nstill inside\n```  \n",
		"```text\n```sh\n\n\nstill inside\n```  \n");
}

static void headings_are_bold_where_there_is_colour(void)
{
	struct mr_buf out;

	mr_buf_init(&out, 1 << 16);
	mr_page_put(&out, "# A\x1b[2J\n```\n# B\n```\n", &(struct mr_render){ .colour = true });
	CHECK(strstr(mr_buf_text(&out), "\033[1m# A"));
	CHECK(!strstr(mr_buf_text(&out), "[1m# B"));
	CHECK(!strstr(mr_buf_text(&out), "\033[2J"));
	mr_buf_release(&out);
}

static void lines_that_many_results_have(void)
{
	struct mr_arena *arena = mr_arena_new();
	const struct mr_value *value = NULL;
	struct mr_render how = { 0 };
	struct mr_err err;
	struct mr_buf out;

	mr_buf_init(&out, 1 << 16);
	CHECK_OK(mr_json_parse(arena,
			 mr_bytes_text("{\"n\":1,\"many\":2,\"queued\":true,\"t\":\"x\","
				       "\"invalid_paths\":[\"a\\u001b/b.json\"]}"),
			 NULL, &value, &err),
		err);
	CHECK_STR(mr_page_count(arena, value, "n", "mail", "mails"), "1 mail");
	CHECK_STR(mr_page_count(arena, value, "many", "mail", "mails"), "2 mails");
	CHECK_STR(mr_page_count(arena, value, "none", "mail", "mails"), "0 mails");
	CHECK_STR(mr_page_text(value, "t"), "x");
	CHECK_STR(mr_page_text(value, "n"), "");
	mr_page_queued(&out, value);
	mr_page_head(&out, &how, "Empty", "");
	mr_page_head(&out, &how, "Files", "a/b");
	mr_page_invalid(&out, value);
	CHECK_STR(mr_buf_text(&out),
		"The change on the server is queued; `mailroom work push` shows it.\n"
		"Files     a/b\n"
		"This document cannot be read: a\xef\xbf\xbd/b.json\n");
	mr_buf_release(&out);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(pages_lose_what_only_programs_need),
		TEST(fences_are_left_alone),
		TEST(headings_are_bold_where_there_is_colour),
		TEST(lines_that_many_results_have),
	};

	return test_main(tests, MR_LEN(tests));
}
