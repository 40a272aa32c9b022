/* tests/unit/text/test_jmap.c */
#include "text/jmap.h"

#include "base/buf.h"
#include "test.h"
#include "text/json.h"

#include <string.h>

#define URL "https://mail.example:8443/jmap/session"

static const char session[] =
	"{\"capabilities\":{\"urn:ietf:params:jmap:core\":{\"maxSizeUpload\":1000,"
	"\"maxConcurrentUpload\":2,\"maxSizeRequest\":2e3,\"maxConcurrentRequests\":3,"
	"\"maxCallsInRequest\":5,\"maxObjectsInGet\":7,\"maxObjectsInSet\":0},\"x\":true},"
	"\"accounts\":{\"a\":{\"name\":\"x\"},\"b\":{\"accountCapabilities\":"
	"{\"urn:ietf:params:jmap:mail\":{}}},\"c\":{\"accountCapabilities\":"
	"{\"urn:ietf:params:jmap:mail\":{},\"urn:ietf:params:jmap:submission\":{}}}},"
	"\"primaryAccounts\":{\"urn:ietf:params:jmap:mail\":\"b\"},\"username\":\"u@example\","
	"\"apiUrl\":\"http://10.0.0.1/api?x=1#f\",\"downloadUrl\":\"/d/{accountId}/{blobId}\","
	"\"uploadUrl\":\"up/{accountId}/\",\"eventSourceUrl\":\"\",\"state\":\"s1\",\"news\":[1]}";

static void a_session_is_read(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_session s;
	struct mr_err err;

	CHECK_OK(mr_jmap_session_parse(arena, URL, mr_bytes_text(session), &s, &err), err);
	CHECK_STR(s.url, URL);
	/* Of an address on another host only the path counts. */
	CHECK_STR(s.api_url, "https://mail.example:8443/api?x=1");
	CHECK_STR(s.download_url, "https://mail.example:8443/d/{accountId}/{blobId}");
	CHECK_STR(s.upload_url, "https://mail.example:8443/jmap/up/{accountId}/");
	CHECK_STR(s.event_url, NULL);
	CHECK_STR(s.state, "s1");
	CHECK_STR(s.username, "u@example");
	CHECK_STR(s.mail_account, "b");
	CHECK_STR(s.submission_account, "c");
	CHECK_INT(s.limits.upload_bytes, 1000);
	CHECK_INT(s.limits.uploads, 2);
	CHECK_INT(s.limits.request_bytes, 2000);
	CHECK_INT(s.limits.requests, 3);
	CHECK_INT(s.limits.calls, 5);
	CHECK_INT(s.limits.gets, 7);
	CHECK_INT(s.limits.sets, 500); /* none at all cannot be meant */
	mr_arena_free(arena);
}

static void little_is_enough_for_a_session(void)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_session s;
	struct mr_err err;

	CHECK_OK(mr_jmap_session_parse(arena, "http://h",
			 mr_bytes_text("{\"apiUrl\":\"api\",\"primaryAccounts\":"
				       "{\"urn:ietf:params:jmap:mail\":\"m\"}}"),
			 &s, &err),
		err);
	CHECK_STR(s.api_url, "http://h/api");
	CHECK_STR(s.upload_url, NULL);
	CHECK_STR(s.state, NULL);
	CHECK_STR(s.submission_account, NULL);
	CHECK_INT(s.limits.calls, 16);
	CHECK_INT(s.limits.gets, 500);
	mr_arena_free(arena);
}

static void what_is_no_session_is_refused(void)
{
	static const struct {
		const char *body;
		enum mr_code code;
		const char *says;
	} cases[] = {
		{ "<html>", MR_EFORMAT, "not valid JSON at line 1 column 1" },
		{ "[]", MR_EFORMAT, "the answer is not a JMAP session object" },
		{ "{\"apiUrl\":7}", MR_EFORMAT, "the answer is not a JMAP session object" },
		{ "{\"apiUrl\":\"\"}", MR_EFORMAT, "the answer is not a JMAP session object" },
		{ "{\"apiUrl\":\"ftp://h/\"}", MR_EFORMAT,
			"the answer is not a JMAP session object" },
		{ "{\"apiUrl\":\"/\",\"accounts\":{\"a\":{}}}", MR_ENOTFOUND,
			"the server has no account for mail here" },
		{ "{\"apiUrl\":\"/\",\"primaryAccounts\":{\"urn:ietf:params:jmap:mail\":\"\"}}",
			MR_ENOTFOUND, "the server has no account for mail here" },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_session s;
	struct mr_buf large;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_jmap_session_parse(arena, URL, mr_bytes_text(cases[i].body), &s, &err),
			cases[i].code);
		CHECK(strncmp(err.msg, cases[i].says, strlen(cases[i].says)) == 0);
	}
	mr_buf_init(&large, MR_JMAP_SESSION_BYTES + 1);
	mr_buf_pad(&large, ' ', MR_JMAP_SESSION_BYTES + 1);
	CHECK_INT(mr_jmap_session_parse(arena, URL, mr_buf_bytes(&large), &s, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the answer has more than 1048576 bytes");
	mr_buf_release(&large);
	mr_arena_free(arena);
}

static void a_response_is_read(void)
{
	static const char body[] =
		"{\"methodResponses\":[[\"Email/get\",{\"list\":[]},\"0\"],"
		"[\"error\",{\"type\":\"unknownMethod\"},\"1\"]],\"sessionState\":\"s2\",\"x\":1}";
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_response r;
	struct mr_err err;

	CHECK_OK(mr_jmap_response_parse(arena, mr_bytes_text(body), &r, &err), err);
	CHECK_STR(r.session_state, "s2");
	CHECK_INT(r.len, 2);
	CHECK_STR(r.items[0].name, "Email/get");
	CHECK_STR(r.items[0].id, "0");
	CHECK(mr_value_get(r.items[0].value, "list"));
	CHECK_STR(r.items[1].name, "error");
	mr_arena_free(arena);
}

static void what_is_no_response_is_refused(void)
{
	static const char *const cases[] = { "{}", "7", "{\"methodResponses\":{}}",
		"{\"methodResponses\":[1]}", "{\"methodResponses\":[[\"a\",{}]]}",
		"{\"methodResponses\":[[\"a\",[],\"b\"]]}", "{\"methodResponses\":[[\"a\",{},1]]}",
		"{\"methodResponses\":[[\"a\",{},\"b\",1]]}", "{\"methodResponses\":[[]]}" };
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_response r;
	struct mr_buf many;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK_INT(mr_jmap_response_parse(arena, mr_bytes_text(cases[i]), &r, &err),
			MR_EFORMAT);
		CHECK_STR(err.msg, "the answer is not a JMAP response");
	}
	/* Half of one. */
	CHECK_INT(mr_jmap_response_parse(arena, mr_bytes_text("{\"methodResponses\":[["), &r, &err),
		MR_EFORMAT);
	mr_buf_init(&many, 1 << 20);
	mr_buf_puts(&many, "{\"methodResponses\":[");
	for (int i = 0; i <= MR_JMAP_RESULTS; i++)
		mr_buf_puts(&many, i ? ",[\"a\",{},\"b\"]" : "[\"a\",{},\"b\"]");
	mr_buf_puts(&many, "]}");
	CHECK_INT(mr_jmap_response_parse(arena, mr_buf_bytes(&many), &r, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the answer has more than 1024 results");
	mr_buf_release(&many);
	mr_arena_free(arena);
}

/* A mail may hold what our texts cannot. */
static void texts_that_cannot_be_are_mended(void)
{
	static const struct {
		const char *json, *text;
	} cases[] = {
		{ "a\\u0000b",
			"a\xef\xbf\xbd"
			"b" },
		{ "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
		{ "\\ud83d", "\xef\xbf\xbd" },
		{ "\\ud83dx", "\xef\xbf\xbdx" },
		{ "\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\\\\u0000", "\\u0000" },
		{ "\\\\\\u0000", "\\\xef\xbf\xbd" },
		{ "\\ud83d\\u0041",
			"\xef\xbf\xbd"
			"A" },
		{ "\\uFFFF\\u00e9", "\xef\xbf\xbf\xc3\xa9" },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_jmap_response r;
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *body = mr_arena_printf(arena,
			"{\"methodResponses\":[[\"a\",{\"t\":\"%s\"},\"b\"]]}", cases[i].json);

		CHECK_OK(mr_jmap_response_parse(arena, mr_bytes_text(body), &r, &err), err);
		CHECK_STR(mr_value_get(r.items[0].value, "t")->text, cases[i].text);
	}
	CHECK_INT(mr_jmap_response_parse(arena, mr_bytes_text("[\"\\u00"), &r, &err), MR_EFORMAT);
	CHECK_INT(mr_jmap_response_parse(arena, mr_bytes_text("[\"\\u00zz\"]"), &r, &err),
		MR_EFORMAT);
	CHECK_INT(mr_jmap_response_parse(arena, mr_bytes_text("\\"), &r, &err), MR_EFORMAT);
	mr_arena_free(arena);
}

static void pointers_find(void)
{
	static const char body[] =
		"{\"ids\":[\"1\",\"2\"],\"list\":[{\"id\":\"x\",\"to\":[\"p\",\"q\"],\"n\":null},"
		"{\"id\":\"y\",\"to\":[],\"n\":1}],\"a/b\":{\"~\":{\"*\":3}},\"none\":[]}";
	static const struct {
		const char *path, *found;
	} cases[] = {
		{ "/ids", "[\"1\",\"2\"]" },
		{ "/ids/1", "\"2\"" },
		{ "/list/*/id", "[\"x\",\"y\"]" },
		{ "/list/*/to", "[\"p\",\"q\"]" },
		{ "/list/*/to/*", "[\"p\",\"q\"]" },
		{ "/list/*/n", "[null,1]" },
		{ "/list/0/to/0", "\"p\"" },
		{ "/a~1b/~0/*", "3" },
		{ "/none/*/id", "[]" },
		{ "/ids/*", "[\"1\",\"2\"]" },
		{ "/ids/2", NULL },
		{ "/ids/01", NULL },
		{ "/ids/-1", NULL },
		{ "/ids/-", NULL },
		{ "/list/*/gone", NULL },
		{ "/ids/0/x", NULL },
		{ "ids", NULL },
		{ "/list/", NULL },
		{ "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/"
		  "30/31/32/33",
			NULL },
	};
	struct mr_arena *arena = mr_arena_new();
	const struct mr_value *value, *found, *want;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(body), NULL, &value, &err), err);
	CHECK(mr_jmap_point(arena, value, "") == value);
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		found = mr_jmap_point(arena, value, cases[i].path);
		CHECK(!found == !cases[i].found);
		if (!found)
			continue;
		CHECK_OK(mr_json_parse(arena, mr_bytes_text(cases[i].found), NULL, &want, &err),
			err);
		CHECK(mr_value_equal(found, want));
	}
	mr_arena_free(arena);
}

static void addresses_stay_on_their_host(void)
{
	static const struct {
		const char *base, *reference, *url;
	} cases[] = {
		{ "http://h/a/b?q", "c", "http://h/a/c" },
		{ "http://h/a/b?q", "?x={y}", "http://h/a/b?x={y}" },
		{ "http://h/a/b?q#f", "", "http://h/a/b?q" },
		{ "http://h/a/b?q#f", "#g", "http://h/a/b?q" },
		{ "http://h/a/b", "/", "http://h/" },
		{ "http://h", "", "http://h/" },
		{ "http://h", "c", "http://h/c" },
		{ "http://h?q", "c", "http://h/c" },
		{ "http://h?q", "?r", "http://h/?r" },
		{ "HTTPS://h:1", "http://other/p", "https://h:1/p" },
		{ "https://h:1/deep/", "http://other", "https://h:1/" },
		{ "https://h:1/deep/", "http://other?q", "https://h:1/?q" },
		{ "https://h/deep/", "//other/p#f", "https://h/p" },
		{ "https://h/deep/", "//other?p", "https://h/?p" },
		{ "http://[::1]:80/", "x", "http://[::1]:80/x" },
		{ "http://h/", "{a}:b", "http://h/{a}:b" },
		{ "http://h/", "mailto:x", NULL },
		{ "http://h/", "javascript:x", NULL },
		{ "http://h/", "http://u@other/", NULL },
		{ "http://u:p@h/", "x", NULL },
		{ "http://h\\@x/", "x", NULL },
		{ "http:///x", "x", NULL },
		{ "ftp://h/", "x", NULL },
		{ "h/x", "x", NULL },
		{ "http://h/", "a b", NULL },
		{ "http://h/", "a\r\nX: y", NULL },
		{ "http://h/", "\xc3\xbc", NULL },
	};
	struct mr_arena *arena = mr_arena_new();
	struct mr_buf large;

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_jmap_url(arena, cases[i].base, cases[i].reference), cases[i].url);
	mr_buf_init(&large, MR_JMAP_URL_BYTES);
	mr_buf_pad(&large, 'x', MR_JMAP_URL_BYTES - 9);
	CHECK(mr_jmap_url(arena, "http://h/", mr_buf_text(&large)));
	mr_buf_putc(&large, 'x');
	CHECK_STR(mr_jmap_url(arena, "http://h/", mr_buf_text(&large)), NULL);
	mr_buf_release(&large);
	mr_arena_free(arena);
}

static void hosts_are_compared(void)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{ "http://h/x", "http://H:80", true },
		{ "https://h:443/", "https://h", true },
		{ "https://h:/", "https://h", true },
		{ "http://[::1]/", "http://[::1]:80/", true },
		{ "http://h/", "https://h/", false },
		{ "http://h:443/", "https://h/", false },
		{ "http://h/", "http://h:81/", false },
		{ "http://h/", "http://h.x/", false },
		{ "http://h/", "http://h@x/", false },
		{ "http://:80/", "http://:80/", false },
		{ "http://h:000080/", "http://h/", false },
		{ "http://h:0/", "http://h:0/", false },
		{ "ftp://h/", "ftp://h/", false },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_INT(mr_jmap_url_is_same_host(cases[i].a, cases[i].b), cases[i].same);
}

static void templates_are_filled(void)
{
	static const struct mr_jmap_variable values[] = { { "accountId", "u@x y/\xc3\xbc" },
		{ "blobId", "-._~aZ9" }, { "name", NULL }, { NULL, NULL } };
	struct mr_arena *arena = mr_arena_new();
	struct mr_buf large;

	CHECK_STR(mr_jmap_url_expand(arena, "/d/{accountId}/{blobId}/{name}?t={type}&x", values),
		"/d/u%40x%20y%2F%C3%BC/-._~aZ9/?t=&x");
	CHECK_STR(mr_jmap_url_expand(arena, "", values), "");
	CHECK_STR(mr_jmap_url_expand(arena, "/}{}", values), "/}");
	CHECK_STR(mr_jmap_url_expand(arena, "/{accountId", values), NULL);
	mr_buf_init(&large, MR_JMAP_URL_BYTES + 1);
	mr_buf_pad(&large, 'x', MR_JMAP_URL_BYTES + 1);
	CHECK_STR(mr_jmap_url_expand(arena, mr_buf_text(&large), values), NULL);
	mr_buf_release(&large);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_session_is_read),
		TEST(little_is_enough_for_a_session),
		TEST(what_is_no_session_is_refused),
		TEST(a_response_is_read),
		TEST(what_is_no_response_is_refused),
		TEST(texts_that_cannot_be_are_mended),
		TEST(pointers_find),
		TEST(addresses_stay_on_their_host),
		TEST(hosts_are_compared),
		TEST(templates_are_filled),
	};

	return test_main(tests, MR_LEN(tests));
}
