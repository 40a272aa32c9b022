/* tests/unit/mailbox/test_mailbox_notify.c */
#include "mailbox/notify.h"

#include "base/utf8.h"
#include "test.h"

#include <string.h>

#define OPEN "```houmao-notify"

static void finds_the_notice(void)
{
	static const struct {
		const char *body;
		const char *text; /* NULL: none */
	} cases[] = {
		{ "", NULL },
		{ "no fence\n", NULL },
		{ OPEN "\nlook\n```", "look" },
		{ "# Hi\n\n" OPEN "\n\n  look here \n\n```\n\nbye\n", "look here" },
		{ OPEN "\none\n  two  \n\nthree\n```\n", "one\n  two  \n\nthree" },
		{ OPEN "\r\none\rtwo\r\n```\r\n", "one\ntwo" },
		{ OPEN "\xe2\x80\xa8x\xc2\x85```\f", "x" },
		{ OPEN "  \t\nx\n```  \n", "x" },
		{ "``` houmao-notify\nx\n```\n", "x" },
		/* The first one counts, also when it is empty. */
		{ OPEN "\na\n```\n" OPEN "\nb\n```\n", "a" },
		{ OPEN "\n \n```\n" OPEN "\nb\n```\n", NULL },
		{ OPEN "\n```\n" OPEN "\nb\n```\n", NULL },
		/* Never closed. */
		{ OPEN "\nx\n", NULL },
		{ OPEN "\nx\n ```\n````\n```x\n", NULL },
		{ OPEN, NULL },
		/* No opening line. */
		{ " " OPEN "\nx\n```\n", NULL },
		{ "~~~houmao-notify\nx\n~~~\n", NULL },
		{ "````houmao-notify\nx\n````\n", NULL },
		{ OPEN " now\nx\n```\n", NULL },
		{ "```Houmao-Notify\nx\n```\n", NULL },
		{ "x " OPEN "\nx\n```\n", NULL },
		/* Other fences mean nothing. */
		{ "```c\n" OPEN "\nx\n```\n```\n", "x" },
		{ OPEN "\n```c\nx\n```\n", "```c\nx" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_bytes body = mr_bytes_text(cases[i].body);
		struct mr_mailbox_message m = { .body = body };
		struct mr_err err;

		CHECK_STR(mr_mailbox_notify_extract(arena, body), cases[i].text);
		/* Composing without a word about it does the same, and leaves the body. */
		CHECK_OK(mr_mailbox_notify_compose(arena, false, &m, &err), err);
		CHECK_STR(m.notify_block ? m.notify_block->text : NULL, cases[i].text);
		CHECK(!m.notify_block || !m.notify_block->prepend);
		CHECK(m.body.data == body.data && m.body.len == body.len);
	}
}

/* `count` times `unit`. */
static char *repeat(struct mr_arena *arena, const char *unit, size_t count)
{
	size_t len = strlen(unit);
	char *text = mr_arena_alloc(arena, len * count + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * len, unit, len);
	return text;
}

static void cuts_by_characters(void)
{
	static const char *const units[] = { "x", "\xc3\xa9", "\xf0\x9f\x98\x80" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(mr_mailbox_notify_cut(arena, " a "), " a ");
	CHECK_STR(mr_mailbox_notify_cut(arena, ""), "");
	for (size_t i = 0; i < MR_LEN(units); i++) {
		const char *fits = repeat(arena, units[i], 512);
		const char *kept = repeat(arena, units[i], 511);
		const char *cut = mr_arena_printf(arena, "%s\xe2\x80\xa6", kept);

		CHECK_STR(mr_mailbox_notify_cut(arena, fits), fits);
		CHECK_STR(mr_mailbox_notify_cut(arena, repeat(arena, units[i], 513)), cut);
		CHECK_STR(mr_mailbox_notify_cut(arena, repeat(arena, units[i], 562)), cut);
		CHECK_INT(mr_utf8_count(cut, strlen(cut)), 512);
	}
}

static const char *compose(struct mr_arena *arena, const char *body, const char *text, bool prepend,
	struct mr_mailbox_message *m)
{
	struct mr_mailbox_notify_block block = { text, prepend };
	struct mr_err err;

	*m = (struct mr_mailbox_message){ .body = mr_bytes_text(body), .notify_block = &block };
	CHECK_OK(mr_mailbox_notify_compose(arena, true, m, &err), err);
	CHECK(m->notify_block != &block);
	CHECK_INT(m->notify_block->prepend, prepend);
	return mr_arena_strndup(arena, (const char *)m->body.data, m->body.len);
}

static void mirrors_into_the_body(void)
{
	static const struct {
		const char *body;
		const char *text;
		bool prepend;
		const char *mirrored;
	} cases[] = {
		{ "", "look", false, OPEN "\nlook\n```" },
		{ "", "look", true, OPEN "\nlook\n```" },
		{ "hi", "look", false, "hi\n\n" OPEN "\nlook\n```" },
		{ "hi\n", "look", false, "hi\n\n\n" OPEN "\nlook\n```" },
		{ "hi\n", "look", true, OPEN "\nlook\n```\n\nhi\n" },
		{ "hi", " a\n b ", true, OPEN "\n a\n b \n```\n\nhi" },
		/* One that is there stays the only one, whatever it says. */
		{ OPEN "\nother\n```\n", "look", false, OPEN "\nother\n```\n" },
		{ "x\n" OPEN "\n\n```\n", "look", true, "x\n" OPEN "\n\n```\n" },
		/* One that is never closed is none. */
		{ OPEN "\nx", "look", true, OPEN "\nlook\n```\n\n" OPEN "\nx" },
		{ OPEN "\nx", "look", false, OPEN "\nx\n\n" OPEN "\nlook\n```" },
		{ " " OPEN "\nx\n```", "look", true, OPEN "\nlook\n```\n\n " OPEN "\nx\n```" },
		{ "hi", "a ```\n ```\n```c", true, OPEN "\na ```\n ```\n```c\n```\n\nhi" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_message m;

		CHECK_STR(compose(arena, cases[i].body, cases[i].text, cases[i].prepend, &m),
			cases[i].mirrored);
		CHECK_STR(m.notify_block->text, cases[i].text);
	}
}

static void cuts_before_it_mirrors(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *cut = mr_arena_printf(arena, "%s\xe2\x80\xa6", repeat(arena, "x", 511));
	const char *fence = mr_arena_printf(arena, OPEN "\n%s\n```", repeat(arena, "x", 562));
	struct mr_mailbox_message m;
	struct mr_err err;

	CHECK_STR(compose(arena, "", repeat(arena, "x", 562), false, &m),
		mr_arena_printf(arena, OPEN "\n%s\n```", cut));
	CHECK_STR(m.notify_block->text, cut);
	/* What the cut takes away cannot close the fence. */
	compose(arena, "", mr_arena_printf(arena, "%s\n```", repeat(arena, "x", 562)), false, &m);
	CHECK_STR(m.notify_block->text, cut);

	m = (struct mr_mailbox_message){ .body = mr_bytes_text(fence) };
	CHECK_OK(mr_mailbox_notify_compose(arena, false, &m, &err), err);
	CHECK_STR(m.notify_block->text, cut);
	CHECK_INT(m.body.len, strlen(fence));
}

static void leaves_it_when_told_none(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_message m = { .body = mr_bytes_text(OPEN "\nx\n```") };
	struct mr_bytes body = m.body;
	struct mr_err err;

	CHECK_OK(mr_mailbox_notify_compose(arena, true, &m, &err), err);
	CHECK(!m.notify_block);
	CHECK(m.body.data == body.data && m.body.len == body.len);
}

static void refuses(void)
{
	static const struct {
		struct mr_bytes body;
		const char *text; /* NULL: none given */
		const char *why;
	} cases[] = {
		{ { (const uint8_t *)"a\0b", 3 }, NULL, "the body must not contain NUL" },
		{ { (const uint8_t *)"ab\xff", 3 }, NULL, "the body is not UTF-8 at byte 2" },
		{ { (const uint8_t *)"a\0b", 3 }, "x", "the body must not contain NUL" },
		{ { NULL, 0 }, "", "notify_block: text must not be empty" },
		{ { NULL, 0 }, " \n\xc2\xa0", "notify_block: text must not be empty" },
		{ { NULL, 0 }, "a\xc3", "notify_block: text is not UTF-8 at byte 1" },
		{ { NULL, 0 }, "a\n```\nb",
			"notify_block: text must not hold a line of three backticks: it would end "
			"its own fence" },
		{ { NULL, 0 }, "```",
			"notify_block: text must not hold a line of three backticks: it would end "
			"its own fence" },
		{ { NULL, 0 }, "a\r``` \t\rb",
			"notify_block: text must not hold a line of three backticks: it would end "
			"its own fence" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mailbox_notify_block block = { cases[i].text, false };
		struct mr_mailbox_message m = { .body = cases[i].body,
			.notify_block = cases[i].text ? &block : NULL };
		struct mr_err err;

		CHECK_INT(mr_mailbox_notify_compose(arena, cases[i].text != NULL, &m, &err),
			MR_EINVAL);
		CHECK_STR(err.msg, cases[i].why);
		CHECK(m.body.data == cases[i].body.data && m.body.len == cases[i].body.len);
		CHECK(m.notify_block == (cases[i].text ? &block : NULL));
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(finds_the_notice),
		TEST(cuts_by_characters),
		TEST(mirrors_into_the_body),
		TEST(cuts_before_it_mirrors),
		TEST(leaves_it_when_told_none),
		TEST(refuses),
	};
	return test_main(tests, MR_LEN(tests));
}
