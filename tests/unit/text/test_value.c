/* tests/unit/text/test_value.c */
#include "text/value.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "test.h"
#include "text/json.h"

#include <math.h>
#include <string.h>

static const struct mr_value *read_json(struct mr_arena *arena, const char *text)
{
	const struct mr_json_limits limits = { 16 << 20, 2000, 2000000 };
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(text), &limits, &value, &err), err);
	return value;
}

static void gets_by_key(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *map = read_json(arena, "{\"a\":1,\"\":2,\"A\":3,\"n\":null}");

	CHECK_INT(mr_value_get(map, "a")->integer, 1);
	CHECK_INT(mr_value_get(map, "")->integer, 2);
	CHECK_INT(mr_value_get(map, "A")->integer, 3);
	CHECK_INT(mr_value_get(map, "n")->kind, MR_NULL);
	CHECK(mr_value_get(map, "b") == NULL);
	CHECK(mr_value_get(NULL, "a") == NULL);
	CHECK(mr_value_get(mr_value_get(map, "a"), "a") == NULL);
	CHECK(mr_value_get(read_json(arena, "[1]"), "a") == NULL);
	CHECK(mr_value_get(read_json(arena, "{}"), "a") == NULL);
}

static void equality(void)
{
	static const struct {
		const char *a;
		const char *b;
		bool equal;
	} cases[] = {
		{ "null", "null", true },
		{ "null", "false", false },
		{ "true", "true", true },
		{ "true", "false", false },
		{ "1", "1", true },
		{ "1", "2", false },
		{ "1", "1.0", false },
		{ "1", "true", false },
		{ "1.5", "1.5", true },
		{ "0.0", "-0.0", true },
		{ "\"a\"", "\"a\"", true },
		{ "\"a\"", "\"A\"", false },
		{ "\"\"", "null", false },
		{ "[]", "[]", true },
		{ "[]", "{}", false },
		{ "[1,2]", "[1,2]", true },
		{ "[1,2]", "[2,1]", false },
		{ "[1,2]", "[1]", false },
		{ "{}", "{}", true },
		{ "{\"a\":1}", "{\"a\":1}", true },
		{ "{\"a\":1}", "{\"a\":2}", false },
		{ "{\"a\":1}", "{\"b\":1}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
		{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
		{ "{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", false },
		{ "{\"a\":1,\"b\":2}", "{\"c\":2,\"a\":1}", false },
		{ "{\"z\":0,\"a\":1,\"b\":2,\"c\":3}", "{\"z\":0,\"c\":3,\"b\":2,\"a\":1}", true },
		{ "{\"z\":9,\"a\":1,\"b\":2,\"c\":3}", "{\"z\":0,\"c\":3,\"b\":2,\"a\":1}", false },
		{ "{\"a\":[{\"x\":1,\"y\":2}]}", "{\"a\":[{\"y\":2,\"x\":1}]}", true },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_value nan_value = { .kind = MR_FLOAT, .real = NAN };
	struct mr_value one = { .kind = MR_FLOAT, .real = 1 };

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *a = read_json(arena, cases[i].a);
		const struct mr_value *b = read_json(arena, cases[i].b);

		CHECK_INT(mr_value_equal(a, b), cases[i].equal);
		CHECK_INT(mr_value_equal(b, a), cases[i].equal);
		CHECK(mr_value_equal(a, a) && mr_value_equal(b, b));
	}
	CHECK(mr_value_equal(&nan_value, &nan_value));
	CHECK(!mr_value_equal(&nan_value, &one));
}

/* Were it quadratic in keys or exponential in depth, the suite's time limit would tell. */
static void large_maps_are_compared_quickly(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf up MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf down MR_CLEANUP(mr_buf_release) = { 0 };
	enum { KEYS = 200000, DEPTH = 64 };

	mr_buf_init(&up, 8 << 20);
	mr_buf_init(&down, 8 << 20);
	for (int i = 0; i < KEYS; i++) {
		mr_buf_printf(&up, "%c\"key%d\":0", i ? ',' : '{', i);
		mr_buf_printf(&down, "%c\"key%d\":0", i ? ',' : '{', KEYS - 1 - i);
	}
	mr_buf_putc(&up, '}');
	mr_buf_putc(&down, '}');
	CHECK(mr_value_equal(read_json(arena, up.data), read_json(arena, down.data)));
	mr_buf_clear(&up);
	mr_buf_clear(&down);
	for (int i = 0; i < DEPTH; i++) {
		mr_buf_puts(&up, "{\"a\":");
		mr_buf_puts(&down, "{\"a\":");
	}
	mr_buf_putc(&up, '1');
	mr_buf_putc(&down, '1');
	for (int i = 0; i < DEPTH; i++) {
		mr_buf_puts(&up, ",\"x\":1,\"y\":2}");
		mr_buf_puts(&down, ",\"y\":2,\"x\":1}");
	}
	CHECK(mr_value_equal(read_json(arena, up.data), read_json(arena, down.data)));
}

static void pairs_are_sorted_by_bytes(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *map = read_json(arena,
		"{\"b\":1,\"\xc3\xa9\":1,\"a\":1,\"\":1,\"ab\":1,\"Z\":1,\"\x7f\":1}");
	const struct mr_pair *sorted = mr_pairs_sorted(arena, map->map.pairs, map->map.len);
	static const char *const want[] = { "", "Z", "a", "ab", "b", "\x7f", "\xc3\xa9" };

	CHECK_INT(map->map.len, MR_LEN(want));
	for (size_t i = 0; i < MR_LEN(want); i++)
		CHECK_STR(sorted[i].key, want[i]);
}

static void kinds_have_names(void)
{
	static const char *const names[] = { "null", "boolean", "integer", "number", "string",
		"list", "object" };

	CHECK_INT(MR_LEN(names), MR_MAP + 1);
	for (size_t i = 0; i < MR_LEN(names); i++)
		CHECK_STR(mr_kind_name((enum mr_kind)i), names[i]);
}

/* A tree, a list of issues, and a cursor on its root. */
struct desk {
	struct mr_arena *arena;
	struct mr_issues issues;
	struct mr_cursor root;
};

static void open_desk(struct desk *desk, const char *json)
{
	desk->arena = mr_arena_new();
	mr_issues_init(&desk->issues, desk->arena);
	desk->root = mr_cursor_root(read_json(desk->arena, json), &desk->issues);
}

static void close_desk(struct desk *desk)
{
	mr_arena_free(desk->arena);
}

/* There is one issue; then there is none. */
static void check_issue(struct desk *desk, enum mr_issue_kind kind, const char *path,
	const char *expected, const char *msg)
{
	CHECK_INT(desk->issues.len, 1);
	CHECK_INT(desk->issues.items[0].kind, kind);
	CHECK_STR(desk->issues.items[0].path, path);
	CHECK_STR(desk->issues.items[0].expected, expected);
	CHECK_STR(desk->issues.items[0].msg, msg);
	desk->issues.len = 0;
}

static void paths_name_the_place(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_cursor to;
	struct mr_cursor second;
	struct mr_cursor address;
	struct mr_cursor beyond;

	open_desk(&desk, "{\"to\":[1,{\"address\":\"a@b\"}]}");
	to = mr_cursor_key(&desk.root, "to");
	second = mr_cursor_item(&to, 1);
	address = mr_cursor_key(&second, "address");
	CHECK_STR(mr_cursor_path(desk.arena, &desk.root), "$");
	CHECK_STR(mr_cursor_path(desk.arena, &to), "$.to");
	CHECK_STR(mr_cursor_path(desk.arena, &second), "$.to[1]");
	CHECK_STR(mr_cursor_path(desk.arena, &address), "$.to[1].address");
	CHECK_STR(address.value->text, "a@b");
	/* A place where nothing is has a path too, and so has what would be below it. */
	beyond = mr_cursor_item(&to, SIZE_MAX);
	CHECK(beyond.value == NULL);
	CHECK_STR(mr_cursor_path(desk.arena, &beyond), "$.to[18446744073709551615]");
	beyond = mr_cursor_item(&address, 0);
	CHECK(beyond.value == NULL);
	beyond = mr_cursor_item(&to, 2);
	CHECK(beyond.value == NULL);
	beyond = mr_cursor_key(&to, "x");
	CHECK(beyond.value == NULL);
	address = mr_cursor_key(&beyond, "");
	CHECK(address.value == NULL);
	CHECK_STR(mr_cursor_path(desk.arena, &address), "$.to.x.");
	CHECK_INT(desk.issues.len, 0);
}

static void long_keys_are_cut_in_paths(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	static char key[1 << 20];
	struct mr_cursor at;
	const char *path;

	open_desk(&desk, "{}");
	memset(key, 'k', 256);
	at = mr_cursor_key(&desk.root, key);
	CHECK_INT(strlen(mr_cursor_path(desk.arena, &at)), 2 + 256);
	memset(key, 'k', 257);
	path = mr_cursor_path(desk.arena, &at);
	CHECK_INT(strlen(path), 2 + 256 + 3);
	CHECK_STR(path + 2 + 256, "...");
	/* Not in the middle of a character. */
	memcpy(key + 255, "\xe2\x82\xac", 4);
	path = mr_cursor_path(desk.arena, &at);
	CHECK(mr_utf8_is_valid(path, strlen(path), NULL));
	CHECK_INT(strlen(path), 2 + 255 + 3);
}

static void presence(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	static const struct {
		const char *key;
		bool present;
	} cases[] = {
		{ "zero", true },
		{ "no", true },
		{ "empty", true },
		{ "list", true },
		{ "null", false },
		{ "absent", false },
	};

	open_desk(&desk, "{\"zero\":0,\"no\":false,\"empty\":\"\",\"list\":[],\"null\":null}");
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_cursor at = mr_cursor_key(&desk.root, cases[i].key);

		CHECK_INT(mr_cursor_is_present(&at), cases[i].present);
	}
	CHECK_INT(desk.issues.len, 0);
}

/* What the getters below are asked for, in this order. */
enum getter { TEXT, INT, BOOL, LIST, MAP, TEXTS, CHOICE, GETTERS };

static const char *const words[] = { "low", "high", NULL };

/* Ask for it, in the required or the optional form; the outputs must agree with the answer. */
static bool ask(const struct mr_cursor *at, enum getter getter, bool opt)
{
	static const char kept[] = "kept";
	const char *text = kept;
	int64_t number = 42;
	bool boolean = false;
	size_t len = 42;
	struct mr_texts texts = { NULL, 42 };
	bool got;

	switch (getter) {
	case TEXT:
		got = opt ? mr_cursor_text_opt(at, &text) : mr_cursor_text(at, &text);
		CHECK((text != kept) == got);
		return got;
	case INT:
		got = opt ? mr_cursor_int_opt(at, 0, 10, &number)
			  : mr_cursor_int(at, 0, 10, &number);
		CHECK((number != 42) == got);
		return got;
	case BOOL:
		got = opt ? mr_cursor_bool_opt(at, &boolean) : mr_cursor_bool(at, &boolean);
		CHECK(boolean == got);
		return got;
	case LIST:
		got = opt ? mr_cursor_list_opt(at, &len) : mr_cursor_list(at, &len);
		CHECK((len != 42) == got);
		return got;
	case MAP:
		return mr_cursor_map(at);
	case TEXTS:
		got = mr_cursor_texts(at, &texts);
		CHECK((texts.len != 42) == got);
		CHECK(!got || texts.items[texts.len] == NULL);
		return got;
	case CHOICE:
		got = mr_cursor_choice(at, words, &len);
		CHECK((len != 42) == got);
		return got;
	default:
		test_fail(__FILE__, __LINE__, "no such getter");
	}
}

static const struct {
	enum getter getter;
	bool has_opt;
	const char *article;
	const char *expected;
} getters[GETTERS] = {
	{ TEXT, true, "a", "string" },
	{ INT, true, "an", "integer" },
	{ BOOL, true, "a", "boolean" },
	{ LIST, true, "a", "list" },
	{ MAP, false, "an", "object" },
	{ TEXTS, false, "a", "list" },
	{ CHOICE, false, "a", "string" },
};

/* Every getter against every kind: nothing is coerced, and the report says what was there. */
static void getters_are_strict(void)
{
	static const struct {
		const char *key;
		const char *kind;
		bool accepted[GETTERS];
	} values[] = {
		{ "null", "null", { false } },
		{ "true", "boolean", { [BOOL] = true } },
		{ "one", "integer", { [INT] = true } },
		{ "ten", "number", { false } },
		{ "text", "string", { [TEXT] = true, [CHOICE] = true } },
		{ "list", "list", { [LIST] = true, [TEXTS] = true } },
		{ "map", "object", { [MAP] = true } },
	};
	struct desk desk MR_CLEANUP(close_desk);

	open_desk(&desk,
		"{\"null\":null,\"true\":true,\"one\":1,\"ten\":10.0,\"text\":\"low\",\"list\":[],"
		"\"map\":{}}");
	for (size_t v = 0; v < MR_LEN(values); v++) {
		struct mr_cursor at = mr_cursor_key(&desk.root, values[v].key);
		const char *path = mr_cursor_path(desk.arena, &at);

		for (size_t g = 0; g < GETTERS; g++) {
			bool want = values[v].accepted[g];
			const char *msg = mr_arena_printf(desk.arena, "must be %s %s, not %s",
				getters[g].article, getters[g].expected, values[v].kind);

			CHECK_INT(ask(&at, getters[g].getter, false), want);
			if (!want)
				check_issue(&desk, MR_ISSUE_TYPE, path, getters[g].expected, msg);
			if (!getters[g].has_opt)
				continue;
			CHECK_INT(ask(&at, getters[g].getter, true), want);
			if (!want && strcmp(values[v].key, "null") != 0)
				check_issue(&desk, MR_ISSUE_TYPE, path, getters[g].expected, msg);
			CHECK_INT(desk.issues.len, 0);
		}
	}
}

static void absence_is_reported_where_it_matters(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_cursor at;

	open_desk(&desk, "{}");
	at = mr_cursor_key(&desk.root, "gone");
	for (size_t g = 0; g < GETTERS; g++) {
		CHECK(!ask(&at, getters[g].getter, false));
		check_issue(&desk, MR_ISSUE_MISSING, "$.gone", getters[g].expected, "is required");
		if (getters[g].has_opt)
			CHECK(!ask(&at, getters[g].getter, true));
		CHECK_INT(desk.issues.len, 0);
	}
	/* Nothing at the root either. */
	at = mr_cursor_root(NULL, &desk.issues);
	CHECK(!mr_cursor_map(&at));
	check_issue(&desk, MR_ISSUE_MISSING, "$", "object", "is required");
}

static void integers_have_a_range(void)
{
	static const struct {
		const char *json;
		int64_t min;
		int64_t max;
		const char *msg;
	} cases[] = {
		{ "0", 0, 10, NULL },
		{ "10", 0, 10, NULL },
		{ "-1", 0, 10, "must be between 0 and 10" },
		{ "11", 0, 10, "must be between 0 and 10" },
		{ "9223372036854775807", INT64_MIN, INT64_MAX, NULL },
		{ "-9223372036854775808", INT64_MIN, INT64_MAX, NULL },
		{ "9223372036854775807", INT64_MIN, INT64_MAX - 1,
			"must be between -9223372036854775808 and 9223372036854775806" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct desk desk MR_CLEANUP(close_desk);
		int64_t got = 42;
		bool good;

		open_desk(&desk, cases[i].json);
		good = mr_cursor_int(&desk.root, cases[i].min, cases[i].max, &got);
		CHECK_INT(good, !cases[i].msg);
		CHECK_INT(got, good ? desk.root.value->integer : 42);
		if (!good)
			check_issue(&desk, MR_ISSUE_RULE, "$", NULL, cases[i].msg);
		CHECK_INT(mr_cursor_int_opt(&desk.root, cases[i].min, cases[i].max, &got), good);
	}
}

static void choices(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_cursor at;
	size_t got = 42;

	open_desk(&desk, "[\"high\",\"HIGH\",\"\"]");
	at = mr_cursor_item(&desk.root, 0);
	CHECK(mr_cursor_choice(&at, words, &got));
	CHECK_INT(got, 1);
	for (size_t i = 1; i < 3; i++) {
		at = mr_cursor_item(&desk.root, i);
		CHECK(!mr_cursor_choice(&at, words, &got));
		CHECK_INT(got, 1);
		check_issue(&desk, MR_ISSUE_RULE, i == 1 ? "$[1]" : "$[2]", NULL,
			"must be one of: low, high");
	}
}

static void lists_of_texts(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_texts got = { NULL, 42 };
	struct mr_cursor at;

	open_desk(&desk, "{\"good\":[\"a\",\"\",\"b\"],\"bad\":[\"a\",1,\"b\",null]}");
	at = mr_cursor_key(&desk.root, "good");
	CHECK(mr_cursor_texts(&at, &got));
	CHECK_INT(got.len, 3);
	CHECK_STR(got.items[2], "b");
	CHECK(got.items[3] == NULL);
	got.len = 42;
	at = mr_cursor_key(&desk.root, "bad");
	CHECK(!mr_cursor_texts(&at, &got));
	CHECK_INT(got.len, 42);
	/* One pass reports them all. */
	CHECK_INT(desk.issues.len, 2);
	CHECK_STR(desk.issues.items[0].path, "$.bad[1]");
	CHECK_STR(desk.issues.items[0].msg, "must be a string, not integer");
	CHECK_STR(desk.issues.items[1].path, "$.bad[3]");
	CHECK_STR(desk.issues.items[1].msg, "must be a string, not null");
}

static void only_known_keys(void)
{
	static const char *const known[] = { "to", "subject", "body_md", NULL };
	static const char *const none[] = { NULL };
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_cursor list;

	open_desk(&desk, "{\"to\":1,\"subjct\":2,\"body_md\":[],\"colour\":3,\"\":4}");
	mr_cursor_only(&desk.root, known);
	CHECK_INT(desk.issues.len, 3);
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(desk.issues.items[i].kind, MR_ISSUE_UNKNOWN);
		CHECK(desk.issues.items[i].expected == NULL);
	}
	CHECK_STR(desk.issues.items[0].path, "$.subjct");
	CHECK_STR(desk.issues.items[0].msg, "is not known; did you mean subject?");
	CHECK_STR(desk.issues.items[1].path, "$.colour");
	CHECK_STR(desk.issues.items[1].msg, "is not known");
	CHECK_STR(desk.issues.items[2].path, "$.");
	CHECK_STR(desk.issues.items[2].msg, "is not known");
	desk.issues.len = 0;
	mr_cursor_only(&desk.root, none);
	CHECK_INT(desk.issues.len, 5);
	desk.issues.len = 0;
	/* What is no map has no keys; that it is none is somebody else's to report. */
	list = mr_cursor_key(&desk.root, "body_md");
	mr_cursor_only(&list, none);
	list = mr_cursor_key(&desk.root, "gone");
	mr_cursor_only(&list, none);
	CHECK_INT(desk.issues.len, 0);
}

/* 200,000 unknown keys: were each looked up again, the suite's time limit would tell. */
static void many_unknown_keys_are_cheap(void)
{
	static const char *const known[] = { "to", "subject", NULL };
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	enum { KEYS = 200000 };
	size_t before;

	mr_buf_init(&json, 8 << 20);
	for (int i = 0; i < KEYS; i++)
		mr_buf_printf(&json, "%c\"key%d\":0", i ? ',' : '{', i);
	mr_buf_putc(&json, '}');
	open_desk(&desk, json.data);
	before = mr_arena_size(desk.arena);
	mr_cursor_only(&desk.root, known);
	CHECK_INT(desk.issues.len, MR_ISSUES_MAX);
	CHECK_INT(desk.issues.dropped, KEYS - MR_ISSUES_MAX);
	CHECK(mr_arena_size(desk.arena) - before < 1 << 20);
}

/* A full list costs nothing more, whatever is wrong and however often. */
static void a_full_list_takes_no_memory(void)
{
	struct desk desk MR_CLEANUP(close_desk);
	struct mr_cursor at;
	size_t before;

	open_desk(&desk, "{\"text\":\"x\",\"number\":11}");
	for (size_t i = 0; i < MR_ISSUES_MAX; i++)
		mr_cursor_refuse(&desk.root, "is wrong in way %zu", i);
	CHECK_INT(desk.issues.dropped, 0);
	CHECK_STR(desk.issues.items[63].msg, "is wrong in way 63");
	CHECK_INT(desk.issues.items[63].kind, MR_ISSUE_RULE);
	before = mr_arena_size(desk.arena);
	for (size_t i = 0; i < 20000; i++) {
		at = mr_cursor_key(&desk.root, "gone");
		CHECK(!ask(&at, TEXT, false));
		at = mr_cursor_key(&desk.root, "text");
		CHECK(!ask(&at, INT, false));
		CHECK(!ask(&at, CHOICE, false));
		at = mr_cursor_key(&desk.root, "number");
		CHECK(!ask(&at, INT, false));
		mr_cursor_refuse(&at, "is %s", "wrong");
	}
	CHECK_INT(desk.issues.len, MR_ISSUES_MAX);
	CHECK_INT(desk.issues.dropped, 100000);
	CHECK_INT(mr_arena_size(desk.arena), before);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(gets_by_key),
		TEST(equality),
		TEST(large_maps_are_compared_quickly),
		TEST(pairs_are_sorted_by_bytes),
		TEST(kinds_have_names),
		TEST(paths_name_the_place),
		TEST(long_keys_are_cut_in_paths),
		TEST(presence),
		TEST(getters_are_strict),
		TEST(absence_is_reported_where_it_matters),
		TEST(integers_have_a_range),
		TEST(choices),
		TEST(lists_of_texts),
		TEST(only_known_keys),
		TEST(many_unknown_keys_are_cheap),
		TEST(a_full_list_takes_no_memory),
	};

	return test_main(tests, MR_LEN(tests));
}
