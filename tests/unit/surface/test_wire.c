/* tests/unit/surface/test_wire.c */
#include "surface/http/wire.h"

#include "base/str.h"
#include "test.h"

#include <string.h>

#define GET        "GET / HTTP/1.1\r\n"
#define HOST       "Host: a\r\n"
#define POST       "POST / HTTP/1.1\r\n" HOST
#define TEXT(text) text, sizeof(text) - 1

struct sample {
	const char *text;
	size_t len;
	const char *why; /* NULL: it is good */
};

static const struct sample good[] = {
	{ TEXT(GET HOST "\r\n"), NULL },
	{ TEXT("\r\n" GET HOST "\r\n"), NULL },
	{ TEXT("get /?a=%20&b HTTP/1.0\r\n" HOST "\r\n"), NULL },
	{ TEXT(GET HOST "A:\r\nB: \t\r\nC:c\r\nD: d e\t \r\nE: \xc3\xa9\r\n\r\n"), NULL },
	{ TEXT(GET "hOST:\r\n!#$%&'*+-.^_`|~09azAZ: x\r\n\r\n"), NULL },
	{ TEXT(POST "Content-Length: 3\r\n\r\n\0\n\r" GET HOST "\r\n"), NULL },
	{ TEXT(POST "content-length:0\r\n\r\n" GET HOST "\r\n"), NULL },
	{ TEXT(POST "Transfer-Encoding: chunked\r\n\r\n"
		    "3\r\n\0\n\r\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n" GET HOST "\r\n"),
		NULL },
	{ TEXT(POST "Transfer-Encoding: chunked\r\n\r\n"
		    "00\r\nContent-Length: 9\r\n\r\n" GET HOST "\r\n"),
		NULL },
};

static const struct sample bad[] = {
	{ TEXT("\n"), "a line ends with LF instead of CR LF" },
	{ TEXT("\r\n\r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("\rG"), "a CR is not followed by LF" },
	{ TEXT(" GET / HTTP/1.1\r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GE(T"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET\t/"), "a control character in the headers" },
	{ TEXT("GET\r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET  /"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET /\r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET /\n"), "a line ends with LF instead of CR LF" },
	{ TEXT("GET /\0"), "a NUL in the headers" },
	{ TEXT("GET / \r"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET / http/1.1\r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET /a b HTTP/1.1\r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET / HTTP/1.1 \r\n"), "the request line is not \"METHOD target HTTP/1.1\"" },
	{ TEXT("GET / HTTP/1.1\n"), "a line ends with LF instead of CR LF" },
	{ TEXT("GET / HTTP/1.1\r\r"), "a CR is not followed by LF" },
	{ TEXT(GET " Host: a"), "a header line begins with white space" },
	{ TEXT(GET HOST "\tb"), "a header line begins with white space" },
	{ TEXT(GET HOST " \r\n"), "a header line begins with white space" },
	{ TEXT(GET ": a"), "a header line begins with a colon" },
	{ TEXT(GET HOST ":\n"), "a header line begins with a colon" },
	{ TEXT(GET "Host : a"), "white space before a header's colon" },
	{ TEXT(GET "Host\t: a"), "white space before a header's colon" },
	{ TEXT(GET "Host\r\n"), "a header line has no colon" },
	{ TEXT(GET "Ho\0st: a"), "a NUL in the headers" },
	{ TEXT(GET "(Host: a"), "the name of a header is not a token" },
	{ TEXT(GET "H\xc3\xb6st: a"), "the name of a header is not a token" },
	{ TEXT(GET "Host: a\n"), "a line ends with LF instead of CR LF" },
	{ TEXT(GET "Host: a\r\r\n"), "a CR is not followed by LF" },
	{ TEXT(GET "Host: a\rb"), "a CR is not followed by LF" },
	{ TEXT(GET "Host: a\0b\r\n"), "a NUL in the headers" },
	{ TEXT(GET "Host: a\0\n"), "a NUL in the headers" },
	{ TEXT(GET "Host: a\x7f"), "a control character in the headers" },
	{ TEXT(GET "Host: a\v"), "a control character in the headers" },
	{ TEXT(GET HOST "\n"), "a line ends with LF instead of CR LF" },
	{ TEXT(GET HOST "\0"), "a NUL in the headers" },
	{ TEXT(GET HOST "\r\0"), "a CR is not followed by LF" },
	{ TEXT(GET "\r\n"), "no Host" },
	{ TEXT(GET "Hos:\r\n\r\n"), "no Host" },
	{ TEXT(POST "Content-Length:\r\n"), "Content-Length is not a length" },
	{ TEXT(POST "Content-Length: x\r\n"), "Content-Length is not a length" },
	{ TEXT(POST "Content-Length: 1 1\r\n"), "Content-Length is not a length" },
	{ TEXT(POST "Content-Length: 1,1\r\n"), "Content-Length is not a length" },
	{ TEXT(POST "Content-Length: -1\r\n"), "Content-Length is not a length" },
	{ TEXT(POST "Content-Length: 99999999999999999999\r\n"), "Content-Length is not a length" },
	{ TEXT(POST "Content-Length: 1\n\r\n"), "a line ends with LF instead of CR LF" },
	{ TEXT(POST "Content-Length: 3\r\n\r\nabc\n"), "a line ends with LF instead of CR LF" },
};

#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

static const struct sample bad_chunks[] = {
	{ TEXT(CHUNKED "\r"), "a chunk's size is not a hexadecimal number" },
	{ TEXT(CHUNKED ";"), "a chunk's size is not a hexadecimal number" },
	{ TEXT(CHUNKED "x"), "a chunk's size is not a hexadecimal number" },
	{ TEXT(CHUNKED "-1"), "a chunk's size is not a hexadecimal number" },
	{ TEXT(CHUNKED "3 "), "a chunk's size is not a hexadecimal number" },
	{ TEXT(CHUNKED "fffffffffffffffff"), "a chunk's size is not a hexadecimal number" },
	{ TEXT(CHUNKED "3\n"), "a line ends with LF instead of CR LF" },
	{ TEXT(CHUNKED "3\ra"), "a CR is not followed by LF" },
	{ TEXT(CHUNKED "3;a\n"), "a line ends with LF instead of CR LF" },
	{ TEXT(CHUNKED "3;a\0"), "a NUL in the headers" },
	{ TEXT(CHUNKED "1\r\nab"), "a chunk is longer than its size" },
	{ TEXT(CHUNKED "1\r\na\n"), "a chunk is longer than its size" },
	{ TEXT(CHUNKED "1\r\na\rb"), "a chunk is longer than its size" },
	{ TEXT(CHUNKED "0\r\n\n"), "a line ends with LF instead of CR LF" },
	{ TEXT(CHUNKED "0\r\n a"), "a header line begins with white space" },
};

/* Everything but the last byte is good, in one piece or in many. */
static void check_bad(const struct sample *s)
{
	struct mr_http_wire whole = { 0 }, pieces = { 0 };
	size_t at = 0;

	while (at < s->len && mr_http_wire_read(&pieces, s->text + at, 1) == 1)
		at++;
	mr_http_wire_read(&whole, s->text, s->len);
	if (!whole.wrong || strcmp(whole.wrong, s->why) != 0 || pieces.wrong != whole.wrong)
		test_fail(__FILE__, __LINE__, "%s: %s, %s", s->text, whole.wrong, pieces.wrong);
	CHECK(memcmp(&whole, &pieces, sizeof(whole)) == 0);
	CHECK_INT(mr_http_wire_read(&whole, "a", 1), 0);
}

static void reads_what_has_one_meaning(void)
{
	for (size_t i = 0; i < MR_LEN(good); i++) {
		struct mr_http_wire whole = { 0 }, pieces = { 0 };

		if (mr_http_wire_read(&whole, good[i].text, good[i].len) != good[i].len)
			test_fail(__FILE__, __LINE__, "%s: %s", good[i].text, whole.wrong);
		for (size_t at = 0; at < good[i].len; at++)
			CHECK_INT(mr_http_wire_read(&pieces, good[i].text + at, 1), 1);
		CHECK(memcmp(&whole, &pieces, sizeof(whole)) == 0);
		/* And is ready for another request. */
		CHECK_INT(mr_http_wire_read(&whole, GET HOST "\r\n", strlen(GET HOST) + 2),
			strlen(GET HOST) + 2);
		CHECK_INT(whole.sections, pieces.sections + 1);
	}
}

static void says_what_is_wrong(void)
{
	for (size_t i = 0; i < MR_LEN(bad); i++)
		check_bad(&bad[i]);
	for (size_t i = 0; i < MR_LEN(bad_chunks); i++)
		check_bad(&bad_chunks[i]);
}

/* What was good and the completion are a header section that this reader itself accepts. */
static void completes_what_was_good(void)
{
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		struct mr_http_wire wire = { 0 }, again = { 0 };
		size_t len = mr_http_wire_read(&wire, bad[i].text, bad[i].len);
		const char *rest = mr_http_wire_completion(&wire);

		CHECK_INT(mr_http_wire_read(&again, bad[i].text, len), len);
		CHECK_INT(mr_http_wire_read(&again, rest, strlen(rest)), strlen(rest));
		CHECK_INT(again.sections, wire.sections + 1);
	}
}

static void compares_with_what_the_library_read(void)
{
	struct mr_http_wire wire = { 0 };
	size_t len = strlen(GET HOST "\r\n");

	CHECK_STR(mr_http_wire_take(&wire, len), "the header section was not read as it was sent");
	mr_http_wire_read(&wire, TEXT("\r\n" GET HOST "\r\n" GET HOST "\r\n" GET HOST " fold"));
	CHECK(!mr_http_wire_take(&wire, len));
	CHECK(!mr_http_wire_take(&wire, len));
	CHECK_STR(mr_http_wire_take(&wire, len), "a header line begins with white space");

	wire = (struct mr_http_wire){ 0 };
	mr_http_wire_read(&wire, TEXT(GET HOST "\r\n"));
	CHECK_STR(mr_http_wire_take(&wire, len - 1),
		"the header section was not read as it was sent");
}

/* What a request with an ambiguous length carries is never read as a request. */
static void is_blind_after_ambiguous_lengths(void)
{
	static const struct sample table[] = {
		{ TEXT(POST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n"), NULL },
		{ TEXT(POST "Content-Length: 1\r\n"
			    "Transfer-Encoding: chunked\r\n\r\n"),
			NULL },
		{ TEXT(POST "Transfer-Encoding: chunked\r\n"
			    "Content-Length: 1\r\n\r\n"),
			NULL },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_http_wire wire = { 0 };

		mr_http_wire_read(&wire, table[i].text, table[i].len);
		CHECK_INT(wire.sections, 1);
		mr_http_wire_read(&wire, TEXT("\n\0x" GET HOST "\r\n" GET HOST "\r\n"));
		CHECK_INT(wire.sections, 1);
		CHECK(!wire.wrong);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_what_has_one_meaning),
		TEST(says_what_is_wrong),
		TEST(completes_what_was_good),
		TEST(compares_with_what_the_library_read),
		TEST(is_blind_after_ambiguous_lengths),
	};

	return test_main(tests, MR_LEN(tests));
}
