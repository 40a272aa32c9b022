/* tests/unit/surface/test_forward.c */
#include "surface/http/forward.h"

#include "test.h"

static struct mr_arena *arena;

static struct mr_http_nets nets_of(const char *list)
{
	struct mr_texts texts = mr_str_split(arena, list, ',');
	struct mr_http_nets nets;
	struct mr_err err;

	CHECK_OK(mr_http_nets_parse(arena, &texts, &nets, &err), err);
	return nets;
}

static void networks(void)
{
	static const struct {
		const char *nets, *ip;
		bool has;
	} table[] = {
		{ "10.0.0.0/8", "10.1.2.3", true },
		{ "10.0.0.0/8", "11.0.0.0", false },
		{ "192.0.2.128/25", "192.0.2.127", false },
		{ "192.0.2.128/25", "192.0.2.200", true },
		{ "192.0.2.7", "192.0.2.7", true },
		{ "192.0.2.7", "192.0.2.70", false },
		{ "0.0.0.0/0", "203.0.113.9", true },
		{ "0.0.0.0/0", "2001:db8::1", false },
		{ "fd00::/8", "fd12:3456::1", true },
		{ "fd00::/8", "fe80::1", false },
		{ "::1, 127.0.0.1", "::1", true },
		{ "10.0.0.0/8", "::ffff:10.0.0.1", true },
		{ "10.0.0.0/8", "ten", false },
		{ "", "127.0.0.1", false },
	};
	static const char *const bad[] = { "10.0.0.0/33", "10.0.0/8", "localhost", "::1/129", "/8",
		"10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x" };
	struct mr_err err = { 0 };

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_http_nets nets = nets_of(table[i].nets);

		CHECK_INT(mr_http_nets_has(&nets, table[i].ip), table[i].has);
	}
	for (size_t i = 0; i < MR_LEN(bad); i++) {
		struct mr_texts texts = mr_str_split(arena, bad[i], ',');
		struct mr_http_nets nets;

		CHECK_INT(mr_http_nets_parse(arena, &texts, &nets, &err), MR_EINVAL);
		CHECK_STR(err.msg,
			mr_arena_printf(arena, "\"%s\" is no address or network such as 10.0.0.0/8",
				bad[i]));
	}
	mr_arena_free(arena);
}

static void who_it_is(void)
{
	static const struct {
		const char *peer;
		struct mr_http_header headers[2];
		const char *ip;
		bool is_forwarded;
	} table[] = {
		{ "10.0.0.1", { { "Accept", "x" } }, "10.0.0.1", false },
		/* Anybody can say so. */
		{ "203.0.113.1", { { "X-Forwarded-For", "127.0.0.1" } }, "203.0.113.1", true },
		{ "127.0.0.1", { { "x-forwarded-for", "127.0.0.1" } }, "127.0.0.1", true },
		{ "127.0.0.1", { { "X-Forwarded-Proto", "http" } }, "127.0.0.1", true },
		{ "127.0.0.1", { { "Forwarded", "" } }, "127.0.0.1", true },
		{ "127.0.0.1", { { "X-Real-IP", "1.2.3.4" } }, "127.0.0.1", true },
		{ "127.0.0.1", { { "Via", "1.1 proxy" } }, "127.0.0.1", true },
		/* A trusted one is believed, as far as it is the one who said it. */
		{ "10.0.0.1", { { "X-Forwarded-For", "198.51.100.7" } }, "198.51.100.7", true },
		{ "10.0.0.1", { { "X-Forwarded-For", "127.0.0.1, 198.51.100.7" } }, "198.51.100.7",
			true },
		{ "10.0.0.1", { { "X-Forwarded-For", "198.51.100.7, 10.0.0.2" } }, "198.51.100.7",
			true },
		{ "10.0.0.1",
			{ { "X-Forwarded-For", "1.1.1.1" }, { "X-Forwarded-For", "2.2.2.2" } },
			"2.2.2.2", true },
		{ "10.0.0.1", { { "X-Forwarded-For", "10.0.0.3,10.0.0.2" } }, "10.0.0.3", true },
		{ "10.0.0.1", { { "X-Forwarded-For", "198.51.100.7, junk" } }, "10.0.0.1", true },
		{ "10.0.0.1", { { "X-Forwarded-For", "198.51.100.7, junk, 10.0.0.2" } }, "10.0.0.2",
			true },
		{ "10.0.0.1", { { "X-Forwarded-For", "" } }, "10.0.0.1", true },
		{ "10.0.0.1", { { "X-Forwarded-For", "198.51.100.7:4711" } }, "198.51.100.7",
			true },
		{ "10.0.0.1", { { "X-Forwarded-For", "2001:db8::1" } }, "2001:db8::1", true },
		{ "10.0.0.1",
			{ { "Forwarded",
				"for=192.0.2.60;proto=http, for=\"[2001:db8::7]:80\";by=x" } },
			"2001:db8::7", true },
		{ "10.0.0.1", { { "Forwarded", "proto=http;For=192.0.2.60" } }, "192.0.2.60",
			true },
		{ "10.0.0.1", { { "Forwarded", "for=_hidden" } }, "10.0.0.1", true },
		{ "10.0.0.1", { { "Forwarded", "for=\"[::1\"" } }, "10.0.0.1", true },
	};
	struct mr_http_nets trusted;

	arena = mr_arena_new();
	trusted = nets_of("10.0.0.0/24");
	for (size_t i = 0; i < MR_LEN(table); i++) {
		struct mr_http_header headers[2] = { table[i].headers[0], table[i].headers[1] };
		struct mr_http_request req = {
			.client_ip = table[i].peer,
			.headers = headers,
			.headers_len = headers[1].name ? 2 : 1,
		};
		struct mr_http_origin origin = mr_http_forward_origin(arena, &trusted, &req);

		CHECK_STR(origin.ip, table[i].ip);
		CHECK_INT(origin.is_forwarded, table[i].is_forwarded);
	}
	mr_arena_free(arena);
}

static void identities(void)
{
	arena = mr_arena_new();
	CHECK_STR(mr_http_forward_identity(arena, "192.0.2.1"), "192.0.2.1");
	CHECK_STR(mr_http_forward_identity(arena, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
	CHECK_STR(mr_http_forward_identity(arena, "2001:db8:1:2:ffff::"), "2001:db8:1:2::/64");
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(networks),
		TEST(who_it_is),
		TEST(identities),
	};

	return test_main(tests, MR_LEN(tests));
}
