/* tests/unit/surface/test_web_form.c */
#include "surface/web/form.h"

#include "surface/http/cookie.h"
#include "surface/web/theme.h"
#include "test.h"

#include <string.h>

static size_t parse(struct mr_arena *arena, const char *text, struct mr_http_param **out)
{
	struct mr_err err;
	size_t len = 0;

	CHECK_OK(mr_web_form_parse(arena, mr_bytes_text(text), out, &len, &err), err);
	return len;
}

static void forms_are_decoded(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_param *fields;

	CHECK_INT(parse(arena, "", &fields), 0);
	CHECK_INT(parse(arena, "a=1&b=x+y%2B%26&c&d=&a=2", &fields), 5);
	CHECK_STR(fields[0].name, "a");
	CHECK_STR(fields[1].value, "x y+&");
	CHECK_STR(fields[2].name, "c");
	CHECK_STR(fields[2].value, "");
	CHECK_STR(mr_web_form_first(fields, 5, "a"), "1");
	CHECK(!mr_web_form_first(fields, 5, "e"));
}

static void what_cannot_be_decoded_is_refused(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const char *const wrong[] = { "a=%", "a=%4", "a=%zz", "a=%00", "%ff=1", "a=%c3%28" };
	struct mr_http_param *fields;
	struct mr_err err;
	char *many;
	size_t len;

	for (size_t i = 0; i < MR_LEN(wrong); i++)
		CHECK_INT(mr_web_form_parse(arena, mr_bytes_text(wrong[i]), &fields, &len, &err),
			MR_EINVAL);
	many = mr_arena_alloc(arena, (MR_WEB_FORM_FIELDS + 1) * 2 + 1);
	for (size_t i = 0; i <= MR_WEB_FORM_FIELDS; i++)
		memcpy(many + 2 * i, "a&", 2);
	CHECK_INT(mr_web_form_parse(arena, mr_bytes_text(many), &fields, &len, &err), MR_ELIMIT);
}

static const char *cookie(struct mr_arena *arena, const char *header, const char *name)
{
	struct mr_http_header headers[] = { { "Cookie", header } };
	struct mr_http_request req = { .arena = arena, .headers = headers, .headers_len = 1 };

	return mr_http_cookie(&req, name);
}

static void cookies_are_found_by_their_whole_name(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	CHECK_STR(cookie(arena, "a=1; b=2", "a"), "1");
	CHECK_STR(cookie(arena, "a=1; b=2", "b"), "2");
	CHECK_STR(cookie(arena, "ab=1;b=x=y", "b"), "x=y");
	CHECK_STR(cookie(arena, "b=", "b"), "");
	CHECK(!cookie(arena, "ab=1; bc=2", "b"));
	CHECK(!cookie(arena, "b", "b"));
	CHECK(!cookie(arena, "", "b"));
}

static void a_theme_is_one_of_three(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_header headers[] = { { "Cookie", "mailroom_theme=dark" } };
	struct mr_http_request req = { .arena = arena, .headers = headers, .headers_len = 1 };

	CHECK_STR(mr_web_theme(&req), "dark");
	headers[0].value = "mailroom_theme=\"><script>";
	CHECK_STR(mr_web_theme(&req), "system");
	req.headers_len = 0;
	CHECK_STR(mr_web_theme(&req), "system");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(forms_are_decoded),
		TEST(what_cannot_be_decoded_is_refused),
		TEST(cookies_are_found_by_their_whole_name),
		TEST(a_theme_is_one_of_three),
	};

	return test_main(tests, MR_LEN(tests));
}
