/* tests/unit/text/test_smtp_reply.c */
#include "text/smtp_reply.h"

#include "base/buf.h"
#include "test.h"

#include <string.h>

static const char ehlo[] = "250-mail.example SIZE 1\r\n250-size 1000\r\n250-8BITMIME\n250-\r\n"
			   "250-SIZEABLE\r\n250 SmtpUTF8\r\n";

/* What a reply says, when it comes in two pieces. */
static struct mr_smtp_reply read_in_two(struct mr_arena *arena, const char *text, size_t first)
{
	struct mr_smtp_reply reply = { 0 };
	size_t used = 0, more = 0;
	struct mr_err err;

	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_bytes_of(text, first), &used, &err), err);
	CHECK(used <= first);
	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_bytes_of(text + used, strlen(text) - used),
			 &more, &err),
		err);
	CHECK_INT(used + more, strlen(text));
	CHECK(reply.is_whole);
	return reply;
}

static void replies_come_in_pieces(void)
{
	struct mr_arena *arena = mr_arena_new();

	for (size_t i = 0; i < sizeof(ehlo) - 1; i++) {
		struct mr_smtp_reply reply = read_in_two(arena, ehlo, i);

		CHECK_INT(reply.code, 250);
		CHECK_INT(reply.lines, 6);
		CHECK_STR(reply.text, "250 SmtpUTF8");
		CHECK(reply.can.utf8 && reply.can.eight_bit && reply.can.has_size);
		CHECK_INT(reply.can.size, 1000);
	}
	mr_arena_free(arena);
}

static void what_follows_is_not_touched(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_smtp_reply reply = { 0 };
	size_t used = 0;
	struct mr_err err;

	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_bytes_text("250\r\n354 go\r\n"), &used, &err),
		err);
	CHECK_INT(used, 5);
	CHECK_STR(reply.text, "250");
	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_bytes_text("354 go\r\n"), &used, &err), err);
	CHECK_INT(used, 0); /* this one is whole */
	mr_arena_free(arena);
}

static void what_is_no_reply_is_refused(void)
{
	static const char *const cases[] = { "\r\n", "25\r\n", "25x\r\n", "2500\r\n", "250_x\r\n",
		"150 x\r\n", "650 x\r\n", "HTTP/1.1 200 OK\r\n", "250-a\r\n251 b\r\n",
		"250-a\r\n\r\n" };
	struct mr_arena *arena = mr_arena_new();
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_smtp_reply reply = { 0 };
		size_t used = 0;

		CHECK_INT(mr_smtp_reply_take(arena, &reply, mr_bytes_text(cases[i]), &used, &err),
			MR_EREMOTE);
		CHECK_STR(err.msg, "the server answers with something that is no reply");
	}
	mr_arena_free(arena);
}

static void nothing_is_endless(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_buf bytes;
	struct mr_smtp_reply reply = { 0 };
	size_t used = 0;
	struct mr_err err;

	mr_buf_init(&bytes, 1 << 20);
	mr_buf_puts(&bytes, "250 ");
	mr_buf_pad(&bytes, 'x', MR_SMTP_LINE_BYTES - 4);
	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_buf_bytes(&bytes), &used, &err), err);
	CHECK_INT(used, 0);
	mr_buf_putc(&bytes, 'x');
	CHECK_INT(mr_smtp_reply_take(arena, &reply, mr_buf_bytes(&bytes), &used, &err), MR_EREMOTE);
	CHECK_STR(err.msg, "the server answers with an endless line");

	mr_buf_clear(&bytes);
	for (int i = 0; i < MR_SMTP_LINES; i++)
		mr_buf_puts(&bytes, "250-x\r\n");
	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_buf_bytes(&bytes), &used, &err), err);
	CHECK_INT(used, bytes.len);
	CHECK_INT(mr_smtp_reply_take(arena, &reply, mr_bytes_text("250 x\r\n"), &used, &err),
		MR_EREMOTE);
	CHECK_STR(err.msg, "the server answers with an endless reply");
	mr_buf_release(&bytes);
	mr_arena_free(arena);
}

static void texts_are_for_people(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *text;
	} cases[] = {
		{ "550 a\0b\tc\x7f\r\r\n", 13, "550 a?b?c?" },
		{ "550 gr\xc3\xbc\xc3\x9f\r\n", 12, "550 gr\xc3\xbc\xc3\x9f" },
		{ "550 gr\xfc\r\n", 9, "550 gr?" },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_smtp_reply reply = { 0 };
	struct mr_buf bytes;
	size_t used = 0;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		reply = (struct mr_smtp_reply){ 0 };
		CHECK_OK(mr_smtp_reply_take(arena, &reply,
				 mr_bytes_of(cases[i].bytes, cases[i].len), &used, &err),
			err);
		CHECK_STR(reply.text, cases[i].text);
	}
	/* A long one is cut between two letters. */
	reply = (struct mr_smtp_reply){ 0 };
	mr_buf_init(&bytes, 1 << 20);
	mr_buf_puts(&bytes, "550 x");
	for (int i = 0; i < 1000; i++)
		mr_buf_puts(&bytes, "\xc3\xbc");
	mr_buf_puts(&bytes, "\r\n");
	CHECK_OK(mr_smtp_reply_take(arena, &reply, mr_buf_bytes(&bytes), &used, &err), err);
	CHECK_INT(strlen(reply.text), MR_SMTP_TEXT_BYTES - 1);
	CHECK(!strchr(reply.text, '?'));
	mr_buf_release(&bytes);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(replies_come_in_pieces),
		TEST(what_follows_is_not_touched),
		TEST(what_is_no_reply_is_refused),
		TEST(nothing_is_endless),
		TEST(texts_are_for_people),
	};

	return test_main(tests, MR_LEN(tests));
}
