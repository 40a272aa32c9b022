/* tests/unit/base/test_buf.c */
#include "base/buf.h"

#include "test.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void starts_empty(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 10);
	CHECK(buf.data == NULL);
	CHECK_STR(mr_buf_text(&buf), "");
	CHECK_INT(mr_buf_bytes(&buf).len, 0);
	CHECK(mr_buf_bytes(&buf).data != NULL);
	CHECK_OK(mr_buf_check(&buf, "it", &err), err);
	mr_buf_clear(&buf);
	mr_buf_add(&buf, NULL, 0);
	CHECK_STR(mr_buf_text(&buf), "");
}

static void appends(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1000);
	mr_buf_puts(&buf, "one");
	mr_buf_putc(&buf, ' ');
	mr_buf_printf(&buf, "%d%s", 2, "");
	mr_buf_pad(&buf, '.', 3);
	mr_buf_pad(&buf, '!', 0);
	mr_buf_printf(&buf, "%s", "");
	mr_buf_add(&buf, "a\0b", 3);
	CHECK_INT(buf.len, 11);
	CHECK(memcmp(buf.data, "one 2...a\0b", 12) == 0);
	mr_buf_clear(&buf);
	CHECK_STR(mr_buf_text(&buf), "");
	mr_buf_puts(&buf, "again");
	CHECK_STR(mr_buf_text(&buf), "again");
}

/* The text is terminated at every length, also where the memory grows. */
static void is_terminated_at_every_length(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 5000);
	for (size_t len = 0; len < 5000; len++) {
		if (len % 3 == 0)
			mr_buf_putc(&buf, 'x');
		else if (len % 3 == 1)
			mr_buf_printf(&buf, "%c", 'x');
		else
			mr_buf_pad(&buf, 'x', 1);
		CHECK_INT(buf.len, len + 1);
		CHECK_INT(strlen(buf.data), len + 1);
	}
	CHECK(!buf.failed);
}

static void failure_is_sticky(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 8);
	mr_buf_puts(&buf, "12345678");
	CHECK_OK(mr_buf_check(&buf, "the note", &err), err);
	mr_buf_add(&buf, NULL, 0);
	CHECK_OK(mr_buf_check(&buf, "the note", &err), err);
	mr_buf_putc(&buf, '9');
	CHECK_INT(mr_buf_check(&buf, "the note", &err), MR_ELIMIT);
	CHECK_INT(err.code, MR_ELIMIT);
	CHECK_STR(err.msg, "the note is longer than 8 bytes");
	CHECK_STR(mr_buf_text(&buf), "12345678");
	mr_buf_clear(&buf);
	CHECK_OK(mr_buf_check(&buf, "the note", &err), err);
	mr_buf_puts(&buf, "1234");
	mr_buf_puts(&buf, "56789");
	/* There is room for this one, but then the text would have a hole. */
	mr_buf_puts(&buf, "x");
	mr_buf_printf(&buf, "%d", 1);
	mr_buf_pad(&buf, 'y', 1);
	mr_buf_pad(&buf, 'y', 0);
	mr_buf_put_utf8(&buf, 'z');
	mr_buf_put_json(&buf, "", 0, false);
	CHECK_STR(mr_buf_text(&buf), "1234");
	CHECK_INT(mr_buf_check(&buf, "it", &err), MR_ELIMIT);
	mr_buf_release(&buf);
	CHECK(buf.data == NULL && !buf.failed && buf.max == 8);
}

static void a_maximum_of_nothing_holds_nothing(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 0);
	mr_buf_puts(&buf, "");
	CHECK_OK(mr_buf_check(&buf, "it", &err), err);
	mr_buf_putc(&buf, 'x');
	CHECK_STR(mr_buf_text(&buf), "");
	CHECK_INT(mr_buf_check(&buf, "it", &err), MR_ELIMIT);
	CHECK_STR(err.msg, "it is longer than 0 bytes");
}

static void huge_counts_fail_without_memory(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 1000);
	mr_buf_puts(&buf, "x");
	mr_buf_pad(&buf, 'y', SIZE_MAX);
	CHECK_INT(mr_buf_check(&buf, "it", &err), MR_ELIMIT);
	mr_buf_clear(&buf);
	mr_buf_puts(&buf, "x");
	mr_buf_pad(&buf, 'y', SIZE_MAX - 1);
	CHECK_INT(mr_buf_check(&buf, "it", &err), MR_ELIMIT);
	CHECK_STR(mr_buf_text(&buf), "x");
}

/* What cannot be formatted must not vanish silently. */
static void a_failed_format_fails_the_buffer(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&buf, 100);
	mr_buf_puts(&buf, "x");
	/* The C locale has no such character. */
	mr_buf_printf(&buf, "%ls", L"\x20ac");
	mr_buf_puts(&buf, "y");
	CHECK_STR(mr_buf_text(&buf), "x");
	CHECK_INT(mr_buf_check(&buf, "it", &err), MR_ELIMIT);
}

/* With no real maximum the size arithmetic must end in an abort, not in a loop. */
static void sizes_past_the_address_space_abort(void)
{
	static const size_t counts[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2 + 1 };

	for (size_t i = 0; i < MR_LEN(counts); i++) {
		int status = 0;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0) {
			struct mr_buf buf;

			close(STDERR_FILENO);
			alarm(60);
			mr_buf_init(&buf, SIZE_MAX);
			mr_buf_pad(&buf, 'x', counts[i]);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status));
		CHECK_INT(WTERMSIG(status), SIGABRT);
	}
}

static void puts_scalars(void)
{
	static const struct {
		uint32_t scalar;
		const char *text;
	} cases[] = {
		{ 'a', "a" },
		{ 0xe9, "\xc3\xa9" },
		{ 0x20ac, "\xe2\x82\xac" },
		{ 0x1f600, "\xf0\x9f\x98\x80" },
		{ 0xd800, "" },
		{ 0x110000, "" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&buf, 10);
		mr_buf_put_utf8(&buf, cases[i].scalar);
		CHECK_STR(mr_buf_text(&buf), cases[i].text);
	}
}

static void puts_integers(void)
{
	static const struct {
		int64_t value;
		const char *want;
	} rows[] = { { 0, "0" }, { 7, "7" }, { -1, "-1" }, { 1000, "1000" },
		{ INT64_MAX, "9223372036854775807" }, { INT64_MIN, "-9223372036854775808" } };

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&buf, 64);
		mr_buf_put_int(&buf, rows[i].value);
		CHECK_STR(mr_buf_text(&buf), rows[i].want);
	}
}

static void check_json(const char *text, size_t len, bool ascii, const char *want)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	/* An exact copy, so that the sanitizer sees a read past the end. */
	char *exact = memcpy(malloc(len + !len), text, len);

	mr_buf_init(&buf, 10000);
	mr_buf_put_json(&buf, exact, len, ascii);
	free(exact);
	CHECK_STR(mr_buf_text(&buf), want);
}

static void writes_json_strings(void)
{
	static const struct {
		const char *text;
		const char *plain;
		const char *ascii;
	} cases[] = {
		{ "", "\"\"", "\"\"" },
		{ "abc", "\"abc\"", "\"abc\"" },
		{ "/", "\"/\"", "\"/\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"", "\"a\\\"b\\\\c\"" },
		{ "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"", "\"\\b\\f\\n\\r\\t\"" },
		{ "\x01\x1f\x0b", "\"\\u0001\\u001f\\u000b\"", "\"\\u0001\\u001f\\u000b\"" },
		{ "~\x7f", "\"~\x7f\"", "\"~\\u007f\"" },
		{ "\xc2\x80", "\"\xc2\x80\"", "\"\\u0080\"" },
		{ "\xc3\xa9", "\"\xc3\xa9\"", "\"\\u00e9\"" },
		{ "\xe2\x80\xa8", "\"\xe2\x80\xa8\"", "\"\\u2028\"" },
		{ "\xef\xbf\xbf", "\"\xef\xbf\xbf\"", "\"\\uffff\"" },
		{ "\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\"", "\"\\ud800\\udc00\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"", "\"\\ud83d\\ude00\"" },
		{ "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"", "\"\\udbff\\udfff\"" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		check_json(cases[i].text, strlen(cases[i].text), false, cases[i].plain);
		check_json(cases[i].text, strlen(cases[i].text), true, cases[i].ascii);
	}
	check_json("a\0b", 3, false, "\"a\\u0000b\"");
}

/* What stands at one place must not depend on what stands beside it, nor on how much. */
static void json_strings_are_the_sum_of_their_bytes(void)
{
	static const char dots[] = "....................";

	for (int c = 1; c < 0x80; c++) {
		for (size_t at = 0; at < sizeof(dots) - 1; at++) {
			struct mr_buf one MR_CLEANUP(mr_buf_release) = { 0 };
			struct mr_buf want MR_CLEANUP(mr_buf_release) = { 0 };
			char text[sizeof(dots)];

			memcpy(text, dots, sizeof(dots));
			text[at] = (char)c;
			mr_buf_init(&one, 100);
			mr_buf_put_json(&one, &text[at], 1, true);
			mr_buf_init(&want, 100);
			mr_buf_printf(&want, "\"%.*s%.*s%s\"", (int)at, dots, (int)one.len - 2,
				one.data + 1, dots + at + 1);
			check_json(text, strlen(text), true, mr_buf_text(&want));
		}
	}
}

/* Any mix of bytes, of any length, is what its characters are one by one. */
static void json_strings_of_all_kinds_together(void)
{
	static const char *const kinds[] = { "a", "b", "\"", "\\", "\n", "\x01", "\xc3\xa9", "\xff",
		"\x7f", " " };
	uint32_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 },
				   want MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&text, 1000);
		mr_buf_init(&want, 1000);
		mr_buf_puts(&text, "");
		mr_buf_putc(&want, '"');
		for (int i = 0; i < round % 100; i++) {
			struct mr_buf one MR_CLEANUP(mr_buf_release) = { 0 };
			const char *kind;

			seed = seed * 1103515245 + 12345;
			kind = kinds[(seed >> 16) % (round % 2 ? MR_LEN(kinds) : 4)];
			mr_buf_init(&one, 100);
			mr_buf_put_json(&one, kind, strlen(kind), round % 3 == 0);
			mr_buf_add(&want, one.data + 1, one.len - 2);
			mr_buf_puts(&text, kind);
		}
		mr_buf_putc(&want, '"');
		check_json(mr_buf_text(&text), text.len, round % 3 == 0, mr_buf_text(&want));
	}
}

static void json_strings_may_fill_the_buffer(void)
{
	static const char text[] = "a\"b\"c\"d\"e";
	static const char want[] = "\"a\\\"b\\\"c\\\"d\\\"e\"";

	for (size_t max = 0; max <= 20 * sizeof(want); max++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

		mr_buf_init(&buf, max);
		mr_buf_put_json(&buf, text, strlen(text), false);
		CHECK_INT(buf.failed, max < strlen(want));
		CHECK(buf.len <= max && strncmp(mr_buf_text(&buf), want, buf.len) == 0);
	}
}

/* Short ones go another way than long ones. */
static void json_strings_have_any_length(void)
{
	char text[150], want[2 * sizeof(text) + 2] = "\"";

	for (size_t len = 0; len < sizeof(text); len++) {
		text[len] = '\0';
		memcpy(want + 1 + 2 * len, "\"", 2);
		check_json(text, len, true, want);
		text[len] = '"';
		memcpy(want + 1 + 2 * len, "\\\"", 3);
	}
}

#define FFFD "\xef\xbf\xbd"

static void bad_bytes_become_the_replacement(void)
{
	static const struct {
		const char *text;
		const char *plain;
		const char *ascii;
	} cases[] = {
		{ "\x80", "\"" FFFD "\"", "\"\\ufffd\"" },
		{ "a\xff\"", "\"a" FFFD "\\\"\"", "\"a\\ufffd\\\"\"" },
		/* Cut off at the end. */
		{ "\xc3", "\"" FFFD "\"", "\"\\ufffd\"" },
		{ "\xe2\x82", "\"" FFFD FFFD "\"", "\"\\ufffd\\ufffd\"" },
		/* What follows a broken character survives, the quote above all. */
		{ "\xc3\"", "\"" FFFD "\\\"\"", "\"\\ufffd\\\"\"" },
		{ "\xe2\x82\n", "\"" FFFD FFFD "\\n\"", "\"\\ufffd\\ufffd\\n\"" },
		/* Overlong, a surrogate, past the end. */
		{ "\xc0\xa2", "\"" FFFD FFFD "\"", "\"\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"" FFFD FFFD FFFD "\"", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\"",
			"\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		check_json(cases[i].text, strlen(cases[i].text), false, cases[i].plain);
		check_json(cases[i].text, strlen(cases[i].text), true, cases[i].ascii);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(starts_empty),
		TEST(appends),
		TEST(is_terminated_at_every_length),
		TEST(failure_is_sticky),
		TEST(a_maximum_of_nothing_holds_nothing),
		TEST(huge_counts_fail_without_memory),
		TEST(a_failed_format_fails_the_buffer),
		TEST(sizes_past_the_address_space_abort),
		TEST(puts_integers),
		TEST(puts_scalars),
		TEST(writes_json_strings),
		TEST(json_strings_are_the_sum_of_their_bytes),
		TEST(json_strings_of_all_kinds_together),
		TEST(json_strings_may_fill_the_buffer),
		TEST(json_strings_have_any_length),
		TEST(bad_bytes_become_the_replacement),
	};

	return test_main(tests, MR_LEN(tests));
}
