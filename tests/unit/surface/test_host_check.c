/* tests/unit/surface/test_host_check.c */
#include "surface/http/host_check.h"

#include "test.h"

#include <string.h>

static const char *const no_hosts[] = { NULL };
static const char *const our_hosts[] = { "mail.example.org", "fd00::1", "[fd00::2]", NULL };
static const char *const our_origins[] = { "https://ui.example.org:8443", "vscode-webview://abc",
	NULL };

static const struct mr_http_host_check plain = { .hosts = { (const char **)no_hosts, 0 } };
static const struct mr_http_host_check open_to_some = {
	.hosts = { (const char **)our_hosts, 3 },
	.origins = { (const char **)our_origins, 2 },
	.bound = "192.168.1.5",
};

struct question {
	const char *text;
	bool plain;
	bool some;
};

static void checks_hosts(void)
{
	static const struct question table[] = {
		{ "localhost", true, true },
		{ "LOCALHOST", true, true },
		{ "localhost:8765", true, true },
		{ "127.0.0.1", true, true },
		{ "127.0.0.1:80", true, true },
		{ "[::1]", true, true },
		{ "[::1]:80", true, true },
		{ "[0:0:0:0:0:0:0:1]:80", true, true },
		{ "mail.example.org", false, true },
		{ "MAIL.example.org:443", false, true },
		{ "192.168.1.5:8765", false, true },
		{ "[fd00::1]", false, true },
		{ "[fd00:0::2]:1", false, true },
		{ "10.0.0.7", false, false },
		{ "", false, false },
		{ "localhost.evil.com", false, false },
		{ "evil.com", false, false },
		{ "evil-localhost", false, false },
		{ "localhost.", false, false },
		{ "127.0.0.1.nip.io", false, false },
		{ "127.0.0.1.", false, false },
		{ "127.1", false, false },
		{ "2130706433", false, false },
		{ "0x7f000001", false, false },
		{ "0.0.0.0", false, false },
		{ "[::]", false, false },
		{ "::1", false, false },
		{ "[::1", false, false },
		{ "[::1]x", false, false },
		{ "[::1]:", false, false },
		{ "[127.0.0.1]", false, false },
		{ "[::ffff:127.0.0.1]", false, false },
		{ "localhost:", false, false },
		{ "localhost:80a", false, false },
		{ "localhost:123456", false, false },
		{ "localhost:80:80", false, false },
		{ "localhost@evil.com", false, false },
		{ "evil.com@localhost", false, false },
		{ "localhost/evil.com", false, false },
		{ "localhost, evil.com", false, false },
		{ "localhost evil.com", false, false },
		{ "localhost\\evil.com", false, false },
		{ "loc\xc3\xa4lhost", false, false },
		{ "[fd00::3]", false, false },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		if (mr_http_host_check_host(&plain, table[i].text, NULL) != table[i].plain ||
			mr_http_host_check_host(&open_to_some, table[i].text, NULL) !=
				table[i].some)
			test_fail(__FILE__, __LINE__, "Host: %s", table[i].text);
	}
	CHECK(!mr_http_host_check_host(&plain, NULL, NULL));
}

static void answers_to_the_address_it_was_reached_at(void)
{
	CHECK(mr_http_host_check_host(&plain, "10.0.0.7:80", "10.0.0.7"));
	CHECK(mr_http_host_check_host(&plain, "[fd00::7]", "fd00::7"));
	CHECK(!mr_http_host_check_host(&plain, "10.0.0.8", "10.0.0.7"));
	CHECK(mr_http_host_check_origin(&plain, "http://10.0.0.7:80", "10.0.0.7"));
}

static void checks_origins(void)
{
	static const struct question table[] = {
		{ "http://localhost", true, true },
		{ "http://localhost:3000", true, true },
		{ "HTTP://LocalHost:3000", true, true },
		{ "https://127.0.0.1", true, true },
		{ "http://[::1]:8765", true, true },
		{ "https://mail.example.org", false, true },
		{ "https://ui.example.org:8443", false, true },
		{ "vscode-webview://abc", false, true },
		{ "https://ui.example.org", false, false },
		{ "http://ui.example.org:8443", false, false },
		{ "vscode-webview://abcd", false, false },
		{ "null", false, false },
		{ "", false, false },
		{ "localhost", false, false },
		{ "//localhost", false, false },
		{ "file://", false, false },
		{ "ftp://localhost", false, false },
		{ "http://", false, false },
		{ "http://evil.com", false, false },
		{ "http://localhost.evil.com", false, false },
		{ "http://127.0.0.1.nip.io", false, false },
		{ "http://localhost@evil.com", false, false },
		{ "http://evil.com@localhost", false, false },
		{ "http://localhost:80@evil.com", false, false },
		{ "http://localhost/", false, false },
		{ "http://localhost#evil.com", false, false },
		{ "http://localhost?evil.com", false, false },
		{ "http://localhost http://evil.com", false, false },
		{ "http://evil.com/http://localhost", false, false },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		if (mr_http_host_check_origin(&plain, table[i].text, NULL) != table[i].plain ||
			mr_http_host_check_origin(&open_to_some, table[i].text, NULL) !=
				table[i].some)
			test_fail(__FILE__, __LINE__, "Origin: %s", table[i].text);
	}
	CHECK(mr_http_host_check_origin(&plain, NULL, NULL));
}

static void checks_framing(void)
{
	static const struct {
		struct mr_http_framing framing;
		const char *why;
	} table[] = {
		{ { 0, 0, 1, NULL }, NULL },
		{ { 1, 0, 1, NULL }, NULL },
		{ { 0, 1, 1, "chunked" }, NULL },
		{ { 0, 1, 1, "Chunked" }, NULL },
		{ { 1, 1, 1, "chunked" },
			"Content-Length and Transfer-Encoding exclude each other" },
		{ { 2, 0, 1, NULL }, "more than one Content-Length" },
		{ { 0, 2, 1, "chunked" }, "more than one Transfer-Encoding" },
		{ { 0, 1, 1, "gzip, chunked" },
			"the only Transfer-Encoding understood is chunked" },
		{ { 0, 1, 1, "" }, "the only Transfer-Encoding understood is chunked" },
		{ { 0, 0, 2, NULL }, "more than one Host" },
		{ { 0, 0, 0, NULL }, "no Host" },
	};

	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_STR(mr_http_host_check_framing(&table[i].framing), table[i].why);
}

static void counts_headers(void)
{
	static const struct {
		const char *first, *second, *why;
	} table[] = {
		{ "X", "X", NULL },
		{ "X-Forwarded-For", "x-forwarded-for", NULL },
		{ "Accept", "Accept", NULL },
		{ "Origin", "Authorization", NULL },
		{ "Origin", "oRIGIN", "more than one Origin" },
		{ "Authorization", "authorization", "more than one Authorization" },
		{ "Mcp-Session-Id", "mcp-session-id", "more than one Mcp-Session-Id" },
		{ "Content-Length", "content-length", "more than one Content-Length" },
		{ "Transfer-Encoding", "TRANSFER-ENCODING", "more than one Transfer-Encoding" },
		{ "Host", "X", "more than one Host" },
		{ "X", "Transfer-Encoding ", "the name of a header is not one" },
		{ "X", "", "the name of a header is not one" },
		{ "X Y", "X", "the name of a header is not one" },
		{ "X\t", "X", "the name of a header is not one" },
		{ "\xc3\xa9", "X", "the name of a header is not one" },
		{ "!#$%&'*+-.^_`|~09azAZ", "X", NULL },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_http_framing framing = { 0 };

		mr_http_host_check_count(&framing, "Host", "localhost");
		mr_http_host_check_count(&framing, table[i].first, "chunked");
		mr_http_host_check_count(&framing, table[i].second, "chunked");
		CHECK_STR(mr_http_host_check_framing(&framing), table[i].why);
	}
}

static void knows_sane_request_ids(void)
{
	char longest[66];

	memset(longest, 'a', sizeof(longest));
	longest[65] = '\0';
	CHECK(!mr_http_host_check_is_request_id(longest));
	longest[64] = '\0';
	CHECK(mr_http_host_check_is_request_id(longest));
	CHECK(mr_http_host_check_is_request_id("01J.abc_DEF-9"));
	CHECK(!mr_http_host_check_is_request_id(""));
	CHECK(!mr_http_host_check_is_request_id("a b"));
	CHECK(!mr_http_host_check_is_request_id("a\"b"));
	CHECK(!mr_http_host_check_is_request_id("\xc3\xa4"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(checks_hosts),
		TEST(answers_to_the_address_it_was_reached_at),
		TEST(checks_origins),
		TEST(checks_framing),
		TEST(counts_headers),
		TEST(knows_sane_request_ids),
	};
	return test_main(tests, MR_LEN(tests));
}
