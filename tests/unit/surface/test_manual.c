/* tests/unit/surface/test_manual.c - groff itself reads the pages in blackbox/. */
#include "surface/cli/manual.h"
#include "table.h"
#include "test.h"

#include <string.h>

static void has(const char *page, const char *line)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	CHECK(mr_manual_write(&text, &table, page));
	CHECK(!text.failed);
	if (!strstr(mr_buf_text(&text), line))
		test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", line, mr_buf_text(&text));
}

static void each_first_word_has_a_page(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts pages = mr_manual_pages(arena, &table);

	CHECK_STR(mr_str_join(arena, &pages, " "), "mailroom mailroom-team mailroom-health");
}

static void a_page_has_everything_below_its_word(void)
{
	has("mailroom-team", ".SS \"mailroom team mail send [options] TO...\"\nSend a message.\n");
	has("mailroom-team", ".SS \"mailroom team inbox\"\n");
	has("mailroom-team", ".TP\n.B \"\\-\\-limit N\"\nhow many (default 20)\n");
	has("mailroom-health", ".B \"MODE\"\nhow: one of safe|\\:force\n");
}

static void what_troff_would_read_is_escaped(void)
{
	has("mailroom-team", ".B \"\\-\\-mode safe|\\:force\"\nit\\(aqs how\n");
}

static void there_is_no_other_page(void)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 1 << 16);
	CHECK(!mr_manual_write(&text, &table, "mailroom-hidden"));
	CHECK(!mr_manual_write(&text, &table, "team"));
	CHECK(text.len == 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(each_first_word_has_a_page),
		TEST(a_page_has_everything_below_its_word),
		TEST(what_troff_would_read_is_escaped),
		TEST(there_is_no_other_page),
	};

	return test_main(tests, MR_LEN(tests));
}
