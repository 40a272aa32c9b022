/* tests/unit/surface/test_media.c */
#include "surface/http/media.h"

#include "test.h"

static void types_are_compared_without_parameters(void)
{
	static const struct {
		const char *header;
		bool is_json;
	} rows[] = {
		{ NULL, false },
		{ "", false },
		{ "application/json", true },
		{ "Application/JSON", true },
		{ " application/json\t; charset=utf-8", true },
		{ "application/json;", true },
		{ "application/jsonx", false },
		{ "xapplication/json", false },
		{ "application/", false },
		{ "text/plain; x=application/json", false },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++)
		CHECK_INT(mr_http_media_is(rows[i].header, "application/json"), rows[i].is_json);
}

static bool accepts(const char *a, const char *b)
{
	struct mr_http_header headers[] = { { "Host", "text/html" }, { "accept", a },
		{ "ACCEPT", b } };
	struct mr_http_request req = { .headers = headers, .headers_len = b ? 3 : a ? 2 : 1 };

	return mr_http_media_accepts(&req, "text/html");
}

static void ranges_and_weights_count(void)
{
	static const struct {
		const char *header;
		bool takes;
	} rows[] = {
		{ NULL, false },
		{ "", false },
		{ ",", false },
		{ "text/html", true },
		{ "a/b, TEXT/HTML ;q=0.1", true },
		{ "*/*", true },
		{ "text/*", true },
		{ "tex/*", false },
		{ "text/*x", false },
		{ "*", false },
		{ "text/html;q=0", false },
		{ "text/html; q=0.000", false },
		{ "text/html;Q=0;x=y", false },
		{ "text/html;q=0.001", true },
		{ "text/html;level=1;q=0", false },
		{ "text/html;q=", true },
		{ "text/html;q=0, */*", true },
		{ "text/htm", false },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++)
		CHECK_INT(accepts(rows[i].header, NULL), rows[i].takes);
	CHECK(accepts("a/b", "text/html"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(types_are_compared_without_parameters),
		TEST(ranges_and_weights_count),
	};

	return test_main(tests, MR_LEN(tests));
}
