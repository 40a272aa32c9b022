/* tests/unit/surface/test_uri.c */
#include "surface/mcp/uri.h"

#include "test.h"

#include <string.h>

static void uris_are_taken_apart(void)
{
	static const struct {
		const char *text, *prefix, *variable, *project;
	} rows[] = {
		{ "resource://inbox/BlueLake", "inbox", "BlueLake", NULL },
		{ "resource://inbox/BlueLake?project=backend&limit=5", "inbox", "BlueLake",
			"backend" },
		{ "resource://inbox/BlueLake/", "inbox", "BlueLake", NULL },
		{ "resource://inbox/Blue%20Lake?project=%2Fabs%2Fpath", "inbox", "Blue Lake",
			"/abs/path" },
		{ "resource://inbox/BlueLake?project=/abs/path", "inbox", "BlueLake", "/abs/path" },
		/* A query inside the last segment. */
		{ "resource://inbox/BlueLake%3Fproject%3Dx", "inbox", "BlueLake", "x" },
		{ "resource://thread/what%3F", "thread", "what?", NULL },
		{ "resource://thread/a%3Fb%3Dc", "thread", "a?b=c", NULL },
		/* A path may stand there as it is. */
		{ "resource://agents//abs/path", "agents", "/abs/path", NULL },
		{ "resource://agents/abs/path", "agents", "abs/path", NULL },
		/* What encodes nothing is itself. */
		{ "resource://thread/100%", "thread", "100%", NULL },
		{ "resource://thread/100%zz%4", "thread", "100%zz%4", NULL },
		{ "resource://thread/\xc3\xbc", "thread", "\xc3\xbc", NULL },
		{ "resource://views/ack-overdue/X?project=", "views/ack-overdue", "X", NULL },
		/* Of a key that stands twice, and of what has no key. */
		{ "resource://inbox/X?&=1&project=a&project=b&flag", "inbox", "X", "a" },
	};

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const char *variable = NULL;
		struct mr_uri uri;

		CHECK(mr_uri_parse(arena, rows[i].text, &uri));
		CHECK(mr_uri_match(arena, &uri, rows[i].prefix, &variable));
		CHECK_STR(variable, rows[i].variable);
		CHECK_STR(mr_uri_text(&uri, "project"), rows[i].project);
	}
}

static void others_are_refused(void)
{
	static const char *const wrong[] = { "", "resource:/inbox/X", "http://inbox/X", "inbox/X",
		"resource://inbox/%00", "resource://inbox/%ff", "resource://inbox/X?a=%00",
		"resource://inbox/X?%80=1" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *longest = mr_arena_alloc(arena, MR_URI_BYTES + 32);
	const char *variable;
	struct mr_uri uri;

	for (size_t i = 0; i < MR_LEN(wrong); i++)
		CHECK(!mr_uri_parse(arena, wrong[i], &uri));
	memset(longest, 'x', MR_URI_BYTES + 1);
	memcpy(longest, "resource://", 11);
	CHECK(!mr_uri_parse(arena, longest, &uri));
	CHECK(mr_uri_parse(arena, "resource://inbox", &uri));
	CHECK(!mr_uri_match(arena, &uri, "inbox", &variable));
	CHECK(mr_uri_match(arena, &uri, "inbox", NULL));
	CHECK(mr_uri_parse(arena, "resource://inbox/", &uri));
	CHECK(!mr_uri_match(arena, &uri, "inbox", &variable));
	CHECK(mr_uri_match(arena, &uri, "inbox", NULL));
	CHECK(mr_uri_parse(arena, "resource://inboxes/X", &uri));
	CHECK(!mr_uri_match(arena, &uri, "inbox", &variable));
	CHECK(mr_uri_parse(arena, "resource://inbox/%3Fproject=x", &uri));
	CHECK(!mr_uri_match(arena, &uri, "inbox", &variable));
}

static void queries_are_lenient(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_uri uri;

	CHECK(mr_uri_parse(arena, "resource://x?a=1&b=YES&c=on&d=T&e=0&f=maybe&g=&n=-7&m=12x",
		&uri));
	CHECK(mr_uri_flag(&uri, "a") && mr_uri_flag(&uri, "b") && mr_uri_flag(&uri, "c"));
	CHECK(mr_uri_flag(&uri, "d") && !mr_uri_flag(&uri, "e") && !mr_uri_flag(&uri, "f"));
	CHECK(!mr_uri_flag(&uri, "g") && !mr_uri_flag(&uri, "z"));
	CHECK_INT(mr_uri_int(&uri, "n", 3), -7);
	CHECK_INT(mr_uri_int(&uri, "m", 3), 3);
	CHECK_INT(mr_uri_int(&uri, "z", 3), 3);
}

static void what_is_encoded_comes_back(void)
{
	static const char *const texts[] = { "plain", "a b", "/abs/path?x=y&z", "100%", "\xc3\xbc",
		"" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		struct mr_uri uri;
		const char *text =
			mr_arena_printf(arena, "resource://x?v=%s", mr_uri_encode(arena, texts[i]));

		CHECK(mr_uri_parse(arena, text, &uri));
		CHECK_STR(mr_uri_text(&uri, "v"), *texts[i] ? texts[i] : NULL);
	}
}

static void files_have_paths(void)
{
	static const struct {
		const char *uri, *path;
	} cases[] = {
		{ "file:///srv/app", "/srv/app" },
		{ "file:///srv/my%20app/%c3%bc", "/srv/my app/\xc3\xbc" },
		{ "file://localhost/srv", "/srv" },
		{ "file:///srv?x#y", "/srv" },
		{ "file:///", "/" },
		{ "file://elsewhere/srv", NULL },
		{ "file:/srv", NULL },
		{ "resource:///srv", NULL },
		{ "/srv", NULL },
		{ "", NULL },
		{ "file:///a%00b", NULL },
		{ "file:///%ff", NULL },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_uri_file(arena, cases[i].uri), cases[i].path);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(uris_are_taken_apart),
		TEST(others_are_refused),
		TEST(queries_are_lenient),
		TEST(what_is_encoded_comes_back),
		TEST(files_have_paths),
	};

	return test_main(tests, MR_LEN(tests));
}
