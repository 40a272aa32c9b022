/* tests/unit/text/test_yaml.c */
#include "text/yaml.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct mr_value *parse(struct mr_arena *arena, const char *text)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_yaml_parse(arena, mr_bytes_text(text), NULL, &value, &err), err);
	return value;
}

static void types_plain_scalars(void)
{
	static const struct {
		const char *text;
		enum mr_kind kind;
		int64_t integer; /* or the boolean */
	} cases[] = {
		{ "~", MR_NULL, 0 },
		{ "null", MR_NULL, 0 },
		{ "Null", MR_NULL, 0 },
		{ "NULL", MR_NULL, 0 },
		{ "nULL", MR_TEXT, 0 },
		{ "yes", MR_BOOL, 1 },
		{ "Yes", MR_BOOL, 1 },
		{ "YES", MR_BOOL, 1 },
		{ "yEs", MR_TEXT, 0 },
		{ "no", MR_BOOL, 0 },
		{ "No", MR_BOOL, 0 },
		{ "NO", MR_BOOL, 0 },
		{ "true", MR_BOOL, 1 },
		{ "True", MR_BOOL, 1 },
		{ "TRUE", MR_BOOL, 1 },
		{ "false", MR_BOOL, 0 },
		{ "False", MR_BOOL, 0 },
		{ "FALSE", MR_BOOL, 0 },
		{ "on", MR_BOOL, 1 },
		{ "On", MR_BOOL, 1 },
		{ "ON", MR_BOOL, 1 },
		{ "off", MR_BOOL, 0 },
		{ "Off", MR_BOOL, 0 },
		{ "OFF", MR_BOOL, 0 },
		{ "y", MR_TEXT, 0 },
		{ "n", MR_TEXT, 0 },
		{ "yes ", MR_BOOL, 1 },
		{ "0", MR_INT, 0 },
		{ "-0", MR_INT, 0 },
		{ "+7", MR_INT, 7 },
		{ "1_000", MR_INT, 1000 },
		{ "1_", MR_INT, 1 },
		{ "_1", MR_TEXT, 0 },
		{ "0b101", MR_INT, 5 },
		{ "-0b1_1", MR_INT, -3 },
		{ "0b2", MR_TEXT, 0 },
		{ "010", MR_INT, 8 },
		{ "0_", MR_INT, 0 },
		{ "08", MR_TEXT, 0 },
		{ "0o10", MR_TEXT, 0 },
		{ "0x1F", MR_INT, 31 },
		{ "-0xff_ff", MR_INT, -65535 },
		{ "0xg", MR_TEXT, 0 },
		{ "0X1", MR_TEXT, 0 },
		{ "1:30", MR_INT, 90 },
		{ "-1:30:00", MR_INT, -5400 },
		{ "12:5", MR_INT, 725 },
		{ "1:60", MR_TEXT, 0 },
		{ "09:30", MR_TEXT, 0 },
		{ "1:", MR_MAP, 0 },
		{ "1:2:", MR_MAP, 0 },
		{ "1::2", MR_TEXT, 0 },
		{ "1:002", MR_TEXT, 0 },
		{ "1_0:3", MR_INT, 603 },
		{ "9223372036854775807", MR_INT, INT64_MAX },
		{ "-9223372036854775808", MR_INT, INT64_MIN },
		{ "-0x8000000000000000", MR_INT, INT64_MIN },
		{ "+", MR_TEXT, 0 },
		{ "1e3", MR_TEXT, 0 },
		{ "1.5e3", MR_TEXT, 0 },
		{ ".e+3", MR_TEXT, 0 },
		{ "-.5", MR_TEXT, 0 },
		{ "._5", MR_TEXT, 0 },
		{ "1.5.2", MR_TEXT, 0 },
		{ "-.nan", MR_TEXT, 0 },
		{ ".iNF", MR_TEXT, 0 },
		{ "1.2e+", MR_TEXT, 0 },
		{ "2026-03-11", MR_TEXT, 0 },
		{ "2026-03-11T04:15:00Z", MR_TEXT, 0 },
		{ "2001-12-14 21:59:43.10 -5", MR_TEXT, 0 },
		{ "=", MR_TEXT, 0 },
		{ "<<", MR_TEXT, 0 },
		{ "\"1\"", MR_TEXT, 0 },
		{ "'yes'", MR_TEXT, 0 },
		{ "|\n  1\n", MR_TEXT, 0 },
		{ ">\n  null\n", MR_TEXT, 0 },
		{ "''", MR_TEXT, 0 },
		{ "", MR_NULL, 0 },
		{ "\xef\xbb\xbf", MR_NULL, 0 },
		{ "# only\n", MR_NULL, 0 },
		{ "---\n", MR_NULL, 0 },
		{ "--- 5\n...\n", MR_INT, 5 },
		{ "\xef\xbb\xbf"
		  "5",
			MR_INT, 5 },
		{ "[]", MR_LIST, 0 },
		{ "{}", MR_MAP, 0 },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *v = parse(arena, cases[i].text);

		CHECK_STR(mr_kind_name(v->kind), mr_kind_name(cases[i].kind));
		if (v->kind == MR_INT)
			CHECK_INT(v->integer, cases[i].integer);
		if (v->kind == MR_BOOL)
			CHECK_INT(v->boolean, cases[i].integer);
	}
}

static void types_floats(void)
{
	static const struct {
		const char *text;
		double real;
	} cases[] = {
		{ "1.5", 1.5 },
		{ "-1.", -1 },
		{ "+.inf", INFINITY },
		{ "-.INF", -INFINITY },
		{ ".Inf", INFINITY },
		{ ".5", 0.5 },
		{ ".5_0e+1", 5 },
		{ "1_0.2_5e-1", 1.025 },
		{ "1.0e+20", 1e20 },
		{ "1.0E+400", INFINITY },
		{ "1:30.5", 90.5 },
		{ "-190:20:30.15", -685230.15 },
		{ "0:0.", 0 },
		{ "0.0", 0 },
		{ "1._", 1 },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *v = parse(arena, cases[i].text);

		CHECK_STR(mr_kind_name(v->kind), "number");
		CHECK(v->real == cases[i].real);
		CHECK_STR(v->plain, cases[i].text);
	}
	CHECK(isnan(parse(arena, ".NaN")->real));
}

static void keeps_the_source_of_plain_scalars(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *v = parse(arena, "[0x1F, Yes, ~, 1.50, 2026-01-01, 'no', ]");

	CHECK_INT(v->list.len, 6);
	CHECK_STR(v->list.items[0].plain, "0x1F");
	CHECK_STR(v->list.items[1].plain, "Yes");
	CHECK_STR(v->list.items[2].plain, "~");
	CHECK_STR(v->list.items[3].plain, "1.50");
	CHECK(!v->list.items[4].plain);
	CHECK_STR(v->list.items[4].text, "2026-01-01");
	CHECK(!v->list.items[5].plain);
}

static void keys_are_text(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *v = parse(arena,
		"1: a\nyes: b\n~: c\n\"\": d\n? e\n: f\n\"<<\": g\n'h i': j\n2026-01-01: k\n0x1: "
		"l\n");
	static const char *const keys[] = { "1", "yes", "~", "", "e", "<<", "h i", "2026-01-01",
		"0x1" };

	CHECK_INT(v->map.len, MR_LEN(keys));
	for (size_t i = 0; i < MR_LEN(keys); i++)
		CHECK_STR(v->map.pairs[i].key, keys[i]);
	CHECK_STR(mr_value_get(v, "")->text, "d");
}

static void reads_what_the_reference_writes(void)
{
	static const char text[] =
		"message_id: msg-1\n"
		"created_at_utc: '2026-03-13T09:15:30Z'\n"
		"to:\n- principal_id: HOUMAO-bob\n  role: null\n"
		"- principal_id: it's\n"
		"subject: 'a long subject that is folded\n\n  over lines, it''s'\n"
		"folded: plain words that\n  go on\n"
		"quoted: \"caf\\xE9 \\u2014 \\U0001F600 \\N\\_\\L\\P \\\n  \\ end\"\n"
		"headers: {}\nreferences: []\nsize: 1.0e+20\n"
		"flow: {a: [1, {b: c}], \"d\": 'e'}\n"
		"block: |\n  one\n    two\n";
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *v = parse(arena, text);
	const struct mr_value *to = mr_value_get(v, "to");

	CHECK_INT(to->list.len, 2);
	CHECK_STR(mr_value_get(&to->list.items[1], "principal_id")->text, "it's");
	CHECK_STR(mr_value_get(v, "subject")->text,
		"a long subject that is folded\nover lines, it's");
	CHECK_STR(mr_value_get(v, "folded")->text, "plain words that go on");
	CHECK_STR(mr_value_get(v, "quoted")->text,
		"caf\u00e9 \u2014 \U0001F600 \xc2\x85\u00a0\u2028\u2029  end");
	CHECK_INT(mr_value_get(v, "headers")->kind, MR_MAP);
	CHECK(mr_value_get(v, "size")->real == 1e20);
	CHECK_STR(mr_value_get(v, "block")->text, "one\n  two\n");
	CHECK_STR(mr_value_get(&mr_value_get(v, "flow")->map.pairs[0].value.list.items[1], "b")
			  ->text,
		"c");
}

#define AT(line, column) "not valid YAML at line " #line " column " #column ": "

static void says_what_it_refuses_and_where(void)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "a: &x 1", AT(1, 4) "anchors are not allowed" },
		{ "a: &x [1]", AT(1, 4) "anchors are not allowed" },
		{ "a:\n  &x b: 1", AT(2, 3) "anchors are not allowed" },
		{ "&x {a: 1}", AT(1, 1) "anchors are not allowed" },
		{ "a: *x", AT(1, 4) "aliases are not allowed" },
		{ "*x : 1", AT(1, 1) "aliases are not allowed" },
		{ "a: !!str 1", AT(1, 4) "tags are not allowed" },
		{ "a: !!python/object:os.system [x]", AT(1, 4) "tags are not allowed" },
		{ "!!map {a: 1}", AT(1, 1) "tags are not allowed" },
		{ "! a", AT(1, 1) "tags are not allowed" },
		{ "!x k: 1", AT(1, 1) "tags are not allowed" },
		{ "a: 1\n---\nb: 1\n", AT(2, 1) "a second document is not allowed" },
		{ "a\n...\n---\n", AT(3, 1) "a second document is not allowed" },
		{ "a: 1\nb: 2\na: 3\nb: 4", AT(3, 1) "\"a\" stands twice as a key" },
		{ "1: 1\n'1': 2", AT(2, 1) "\"1\" stands twice as a key" },
		{ "{a: {x: 1, y: 2, x: 3}}", AT(1, 18) "\"x\" stands twice as a key" },
		{ "[a]: 1", AT(1, 1) "a key must be a scalar" },
		{ "? {a: 1}\n: 1", AT(1, 3) "a key must be a scalar" },
		{ "a:\n  <<: {b: 1}", AT(2, 3) "merge keys are not allowed" },
		{ "\xc3\xa9: \"a\\0b\"", AT(1, 4) "NUL is not allowed in a text" },
		{ "\"\\0\": 1", AT(1, 1) "NUL is not allowed in a text" },
		{ "a: 1\nb: \xff", AT(2, 4) "a byte that is not UTF-8" },
		{ "\xc3\xa9 \xc3", AT(1, 3) "a byte that is not UTF-8" },
		{ "a: 1\nb: \x01", AT(2, 4) "control characters are not allowed" },
		{ "n: 9223372036854775808",
			AT(1, 4) "\"9223372036854775808\" is an integer past 64 bits" },
		{ "- -9223372036854775809",
			AT(1, 3) "\"-9223372036854775809\" is an integer past 64 bits" },
		{ "0xFFFFFFFFFFFFFFFF",
			AT(1, 1) "\"0xFFFFFFFFFFFFFFFF\" is an integer past 64 bits" },
		{ "184467440737095516:00:00:00",
			AT(1, 1) "\"184467440737095516:00:00:00\" is an integer past 64 bits" },
		{ "0b_", AT(1, 1) "\"0b_\" is a number without digits" },
		{ "-0x__", AT(1, 1) "\"-0x__\" is a number without digits" },
		{ "a: b: c", AT(1, 5) "mapping values are not allowed in this context" },
		{ "a: [1, 2", AT(2, 1) "did not find expected ',' or ']'" },
		{ "a: \"\\ud800\"", AT(1, 7) "found invalid Unicode character escape code" },
		{ "a: @b", AT(1, 4) "found character that cannot start any token" },
		{ "- a\nb: c", AT(2, 1) "did not find expected '-' indicator" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *out = NULL;
		struct mr_err err = { 0 };

		CHECK_INT(mr_yaml_parse(arena, mr_bytes_text(cases[i].text), NULL, &out, &err),
			MR_EFORMAT);
		CHECK_STR(err.msg, cases[i].why);
		CHECK(!out);
	}
}

static void cuts_long_texts_in_messages_between_characters(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *out = NULL;
	struct mr_err err;

	mr_buf_init(&text, 10000);
	for (int round = 0; round < 2; round++) {
		mr_buf_puts(&text, "x");
		for (int i = 0; i < 50; i++)
			mr_buf_puts(&text, "\u20ac");
		mr_buf_puts(&text, ": 1\n");
	}
	CHECK_INT(mr_yaml_parse(arena, mr_buf_bytes(&text), NULL, &out, &err), MR_EFORMAT);
	CHECK(mr_utf8_is_valid(err.msg, strlen(err.msg), NULL));
	CHECK(strstr(err.msg, "\u20ac\" stands twice as a key"));
}

static void refuses_a_nul_byte(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *out = NULL;
	struct mr_err err;

	CHECK_INT(mr_yaml_parse(arena, mr_bytes_of("a: b\n c\0d", 9), NULL, &out, &err),
		MR_EFORMAT);
	CHECK_STR(err.msg, AT(2, 3) "a NUL byte");
}

static void keeps_its_limits(void)
{
	static const struct mr_yaml_limits limits = { .max_bytes = 40,
		.max_depth = 2,
		.max_nodes = 6 };
	static const struct {
		const char *text;
		const char *why; /* NULL: accepted */
	} cases[] = {
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
		{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			"YAML of 41 bytes is longer than 40" },
		{ "[[1]]", NULL },
		{ "[{a: b}, [[1]]]", AT(1, 11) "nested deeper than 2" },
		{ "a:\n  b:\n    c: 1", AT(3, 5) "nested deeper than 2" },
		{ "[1, 2, 3, 4, 5]", NULL },
		{ "[1, 2, 3, 4, 5, 6]", AT(1, 17) "more than 6 values and keys" },
		{ "a: 1\nb: 1\nc: 1", AT(3, 4) "more than 6 values and keys" },
		{ "a: 1\nb: [1]\nc: 1", AT(3, 1) "more than 6 values and keys" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const struct mr_value *out = NULL;
		struct mr_err err = { 0 };
		enum mr_code rc =
			mr_yaml_parse(arena, mr_bytes_text(cases[i].text), &limits, &out, &err);

		CHECK_INT(rc, cases[i].why ? MR_ELIMIT : MR_OK);
		CHECK_STR(cases[i].why ? err.msg : NULL, cases[i].why);
	}
}

/* Each ends, within the default limits and without a deep stack. */
static void survives_hostile_shapes(void)
{
	static const struct {
		const char *part;
		size_t count;
		enum mr_code code;
	} cases[] = {
		{ "[", 1000000, MR_ELIMIT },
		{ "{a: ", 200000, MR_ELIMIT },
		{ "- ", 500000, MR_ELIMIT },
		{ "? ", 500000, MR_EFORMAT },
		{ "- a\n", 99999, MR_OK },
		{ "- a\n", 100000, MR_ELIMIT },
		{ "1:1", 300000, MR_EFORMAT },
		{ "#\n", 500000, MR_OK },
		{ "\n", 1000000, MR_OK },
		{ "a\n", 500000, MR_OK },
		{ "--- a\n", 100000, MR_EFORMAT },
		{ "\"", 999999, MR_EFORMAT },
		{ "1:1:", 200000, MR_EFORMAT },
		{ "_", 1000000, MR_OK },
		{ "[],", 300000, MR_EFORMAT },
		{ "a: b\n", 2, MR_EFORMAT },
		{ "!", 1000000, MR_EFORMAT },
		{ "%a b\n", 200000, MR_EFORMAT },
		{ "&a ", 300000, MR_EFORMAT },
		{ "10", 500000, MR_EFORMAT },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
		const struct mr_value *out = NULL;
		struct mr_err err = { 0 };

		mr_buf_init(&text, 1 << 20);
		for (size_t n = 0; n < cases[i].count; n++)
			mr_buf_puts(&text, cases[i].part);
		CHECK(!text.failed);
		enum mr_code rc = mr_yaml_parse(arena, mr_buf_bytes(&text), NULL, &out, &err);
		if (rc != cases[i].code)
			test_fail(__FILE__, __LINE__, "%s times %zu: %d %s", cases[i].part,
				cases[i].count, (int)rc, err.msg);
	}
}

static void finds_a_repeated_key_among_many(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *out = NULL;
	struct mr_err err;

	mr_buf_init(&text, 1 << 20);
	for (int i = 0; i < 40000; i++)
		mr_buf_printf(&text, "k%d: 1\n", i);
	CHECK_OK(mr_yaml_parse(arena, mr_buf_bytes(&text), NULL, &out, &err), err);
	CHECK_INT(out->map.len, 40000);
	CHECK_STR(out->map.pairs[39999].key, "k39999");
	mr_buf_puts(&text, "k17: 1\n");
	CHECK_INT(mr_yaml_parse(arena, mr_buf_bytes(&text), NULL, &out, &err), MR_EFORMAT);
	CHECK_STR(err.msg, AT(40001, 1) "\"k17\" stands twice as a key");
}

/* The writer */

static void put_principal(struct mr_yaml_writer *w, const char *id, const char *address)
{
	mr_yaml_begin_map(w);
	mr_yaml_key(w, "principal_id");
	mr_yaml_text(w, id);
	mr_yaml_key(w, "address");
	mr_yaml_text(w, address);
	mr_yaml_key(w, "role");
	mr_yaml_text(w, NULL);
	mr_yaml_end(w);
}

static void put_empty_list(struct mr_yaml_writer *w, const char *key)
{
	mr_yaml_key(w, key);
	mr_yaml_begin_list(w);
	mr_yaml_end(w);
}

static void writes_a_document(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_yaml_writer w;

	mr_buf_init(&buf, 10000);
	mr_yaml_init(&w, &buf);
	mr_yaml_begin_map(&w);
	mr_yaml_key(&w, "protocol_version");
	mr_yaml_int(&w, 3);
	mr_yaml_key(&w, "in_reply_to");
	mr_yaml_null(&w);
	put_empty_list(&w, "references");
	mr_yaml_key(&w, "created_at_utc");
	mr_yaml_text_single(&w, "2026-03-11T04:15:00Z");
	mr_yaml_key(&w, "from");
	put_principal(&w, "HOUMAO-alice", "alice@houmao.localhost");
	mr_yaml_key(&w, "to");
	mr_yaml_begin_list(&w);
	put_principal(&w, "HOUMAO-bob", "bob@houmao.localhost");
	put_principal(&w, "no", "x y@b");
	mr_yaml_end(&w);
	put_empty_list(&w, "cc");
	mr_yaml_key(&w, "subject");
	mr_yaml_text(&w, "Re: \"x\": caf\u00e9");
	mr_yaml_key(&w, "headers");
	mr_yaml_begin_map(&w);
	mr_yaml_end(&w);
	mr_yaml_end(&w);
	CHECK_STR(mr_buf_text(&buf),
		"protocol_version: 3\nin_reply_to: null\nreferences: []\n"
		"created_at_utc: '2026-03-11T04:15:00Z'\n"
		"from:\n  principal_id: HOUMAO-alice\n  address: alice@houmao.localhost\n"
		"  role: null\n"
		"to:\n- principal_id: HOUMAO-bob\n  address: bob@houmao.localhost\n  role: null\n"
		"- principal_id: \"no\"\n  address: x y@b\n  role: null\n"
		"cc: []\nsubject: \"Re: \\\"x\\\": caf\\xE9\"\nheaders: {}\n");
}

/* Write what is read, and compare with the block form expected. */
static void writes_trees(void)
{
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{ "null", "null\n" },
		{ "[]", "[]\n" },
		{ "{}", "{}\n" },
		{ "a b", "a b\n" },
		{ "[[], {}, [[]], [{}], [1, [2, 3]], {a: [4]}]",
			"- []\n- {}\n- - []\n- - {}\n- - 1\n  - - 2\n    - 3\n- a:\n  - 4\n" },
		{ "{a: {b: {c: [1, {d: e, f: {g: [x]}}], h: {}}}, i: 1}",
			"a:\n  b:\n    c:\n    - 1\n    - d: e\n      f:\n        g:\n        - x\n"
			"    h: {}\ni: 1\n" },
		{ "[{a: 1, b: 2}, {}, {c: []}]", "- a: 1\n  b: 2\n- {}\n- c: []\n" },
		{ "{yes: no, 1: 0x10, \"\": \"\", 'a b': 'c: d', y: N}",
			"\"yes\": false\n\"1\": 16\n\"\": \"\"\na b: \"c: d\"\n\"y\": \"N\"\n" },
		{ "[1.5, 1.0e+20, -0.0, 100.0, .inf, -.inf, .nan, 1.0e-7, 0.1, "
		  "12345678901234567.0]",
			"- 1.5\n- 1.0e+20\n- -0.0\n- 100.0\n- .inf\n- -.inf\n- .nan\n- 1.0e-07\n"
			"- 0.1\n- 12345678901234568.0\n" },
		{ "[2026-01-01, true, ~, -9223372036854775808]",
			"- \"2026-01-01\"\n- true\n- null\n- -9223372036854775808\n" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		const struct mr_value *value = parse(arena, cases[i].from);
		struct mr_yaml_writer w;

		mr_buf_init(&buf, 10000);
		mr_yaml_init(&w, &buf);
		mr_yaml_value(&w, value);
		CHECK_STR(mr_buf_text(&buf), cases[i].to);
		CHECK(mr_value_equal(value, parse(arena, mr_buf_text(&buf))));
	}
}

static const char *const awkward[] = { "", " ", "a", "a ", " a", "a  b", "a b", "a\tb", "a\nb",
	"\n", "a\n", "\na", "a: b", "a:", ":a", ":", "-", "- a", "-a", "--- a", "---", "...", "#",
	"a #b", "a#b", "?", "? a", "!a", "&a", "*a", "@a", "`a", "%a", "|", ">", "'", "\"", "''",
	"it's", "\"q\"", "\\", "\\n", "[a]", "{a}", "a, b", "null", "Null", "NULL", "nULL", "~",
	"yes", "No", "on", "OFF", "y", "Y", "n", "N", "true", "False", "TRUE", "0", "1", "-1", "+1",
	"0x1F", "0b1", "010", "0o10", "1_000", "1:30", "1.5", ".5", "1e3", "1.0e+20", ".inf",
	"-.inf", ".nan", "2026-03-11", "2026-03-11T04:15:00Z", "<<", "=", "caf\u00e9", "\u2014",
	"\U0001F600", "\xc2\x85", "\u00a0", "\u2028", "\u2029", "\ufeff", "\ufeffa", "\ufffd",
	"\uffff", "\x01", "\x07\x08\x0b\x0c\x0d\x1b\x7f", "\xc2\x80\xc2\x9f", "\U0010ffff", "a/b",
	"a@b.c", "a+b-c_d", "Re: hello", "a -b", "a - b", "a.", "x.-.y",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a\rb", "a\r\nb",
	"  lead\n  ing", "tab\t", "/path", "http://a.b/c", "key: \"v\"", "{{x}}", "$a", "e1",
	"E+1" };

/* As a root, a list's element, a key and a value, in every style. */
static void every_string_reads_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static void (*const put[])(struct mr_yaml_writer *, const char *) = { mr_yaml_text,
		mr_yaml_text_double, mr_yaml_text_single };

	for (size_t i = 0; i < MR_LEN(awkward) * MR_LEN(put); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		const char *text = awkward[i / MR_LEN(put)];
		const struct mr_value *v;
		struct mr_yaml_writer w;

		mr_buf_init(&buf, 10000);
		mr_yaml_init(&w, &buf);
		put[i % MR_LEN(put)](&w, text);
		v = parse(arena, mr_buf_text(&buf));
		CHECK_INT(v->kind, MR_TEXT);
		CHECK_STR(v->text, text);
		CHECK(!strchr(mr_buf_text(&buf), '\n')[1]);

		mr_buf_clear(&buf);
		mr_yaml_init(&w, &buf);
		mr_yaml_begin_list(&w);
		mr_yaml_begin_map(&w);
		mr_yaml_key(&w, text);
		put[i % MR_LEN(put)](&w, text);
		mr_yaml_end(&w);
		mr_yaml_end(&w);
		v = parse(arena, mr_buf_text(&buf));
		CHECK_STR(v->list.items[0].map.pairs[0].key, text);
		CHECK_STR(mr_value_get(&v->list.items[0], text)->text, text);
	}
}

static void quotes_by_the_rule(void)
{
	static const struct {
		const char *text;
		const char *automatic;
		const char *single;
	} cases[] = {
		{ "abc", "abc\n", "'abc'\n" },
		{ "a b-c", "a b-c\n", "'a b-c'\n" },
		{ "it's", "\"it's\"\n", "\"it's\"\n" },
		{ "1", "\"1\"\n", "'1'\n" },
		{ "\u00e9\u2014\U0001F600", "\"\\xE9\\u2014\\U0001F600\"\n",
			"\"\\xE9\\u2014\\U0001F600\"\n" },
		{ "\xc2\x85\u00a0\u2028\u2029", "\"\\N\\_\\L\\P\"\n", "\"\\N\\_\\L\\P\"\n" },
		{ "\a\b\t\n\v\f\r\x1b\x7f\x02", "\"\\a\\b\\t\\n\\v\\f\\r\\e\\x7F\\x02\"\n",
			"\"\\a\\b\\t\\n\\v\\f\\r\\e\\x7F\\x02\"\n" },
		{ "\\\"/", "\"\\\\\\\"/\"\n", "'\\\"/'\n" },
		/* The type says UTF-8; a byte that is not must not spoil the document. */
		{ "a\xff", "\"a\\uFFFD\"\n", "\"a\\uFFFD\"\n" },
		{ NULL, "null\n", "null\n" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_yaml_writer w;

		mr_buf_init(&buf, 1000);
		mr_yaml_init(&w, &buf);
		mr_yaml_text(&w, cases[i].text);
		CHECK_STR(mr_buf_text(&buf), cases[i].automatic);
		mr_buf_clear(&buf);
		mr_yaml_init(&w, &buf);
		mr_yaml_text_single(&w, cases[i].text);
		CHECK_STR(mr_buf_text(&buf), cases[i].single);
	}
}

static void quotes_header_values(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_yaml_writer w;

	mr_buf_init(&buf, 1000);
	mr_yaml_init(&w, &buf);
	mr_yaml_begin_map(&w);
	mr_yaml_key(&w, "headers");
	mr_yaml_value_double(&w, parse(arena, "{x-a: b, x-n: 1, x-l: [c, true]}"));
	mr_yaml_end(&w);
	CHECK_STR(mr_buf_text(&buf),
		"headers:\n  x-a: \"b\"\n  x-n: 1\n  x-l:\n  - \"c\"\n  - true\n");
}

static void writes_flow_that_is_json(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = parse(arena,
		"{to: [a, \"caf\\xE9 \\U0001F600\\N\\L\\uFEFF\\x7F\\t\\\"\\e\"], f: 1.0e+20, "
		"g: {}, h: [], i: [~, no, .inf]}");
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_yaml_writer w;

	mr_buf_init(&buf, 1000);
	mr_yaml_init(&w, &buf);
	mr_yaml_begin_map(&w);
	mr_yaml_key(&w, "k");
	mr_yaml_value_flow(&w, value);
	mr_yaml_key(&w, "l");
	mr_yaml_int(&w, 1);
	mr_yaml_end(&w);
	CHECK_STR(mr_buf_text(&buf),
		"k: {\"to\": [\"a\", \"caf\u00e9 "
		"\U0001F600\\u0085\\u2028\\uFEFF\\u007F\\t\\\"\\u001B\"], "
		"\"f\": 1.0e+20, \"g\": {}, \"h\": [], \"i\": [null, false, null]}\nl: 1\n");
	CHECK(mr_value_equal(&value->map.pairs[0].value,
		mr_value_get(mr_value_get(parse(arena, mr_buf_text(&buf)), "k"), "to")));
}

static void announces_a_long_key(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_yaml_writer w;
	char key[5001] = "";

	memset(key, '-', sizeof(key) - 1);
	mr_buf_init(&buf, 100000);
	for (int round = 0; round < 3; round++) {
		const struct mr_value *v;

		mr_buf_clear(&buf);
		mr_yaml_init(&w, &buf);
		mr_yaml_begin_list(&w);
		mr_yaml_begin_map(&w);
		mr_yaml_key(&w, key);
		if (round == 0)
			mr_yaml_text(&w, "a");
		else if (round == 1)
			mr_yaml_value(&w, parse(arena, "[1, [2]]"));
		else
			mr_yaml_value(&w, parse(arena, "{b: {c: 1}}"));
		mr_yaml_key(&w, "next");
		mr_yaml_int(&w, 1);
		mr_yaml_end(&w);
		mr_yaml_end(&w);
		v = parse(arena, mr_buf_text(&buf));
		CHECK_STR(v->list.items[0].map.pairs[0].key, key);
		CHECK_INT(v->list.items[0].map.pairs[1].value.integer, 1);
	}
}

static void floats_read_back(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const double reals[] = { 0.1, 1.0 / 3, 1e15, 1e16, 1e17, 123456789012345678.0,
		5e-324, 1.7976931348623157e308, -2.5e-10, 1e-5, 1e-4, 4503599627370497.5 };

	for (size_t i = 0; i < MR_LEN(reals); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		const struct mr_value *v;
		struct mr_yaml_writer w;

		mr_buf_init(&buf, 100);
		mr_yaml_init(&w, &buf);
		mr_yaml_real(&w, reals[i]);
		v = parse(arena, mr_buf_text(&buf));
		CHECK_STR(mr_kind_name(v->kind), "number");
		CHECK(v->real == reals[i]);
	}
}

static void stops_at_the_buffer_s_maximum(void)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_yaml_writer w;
	struct mr_err err;

	mr_buf_init(&buf, 20);
	mr_yaml_init(&w, &buf);
	mr_yaml_begin_list(&w);
	for (int i = 0; i < 100; i++)
		mr_yaml_text(&w, "word");
	mr_yaml_end(&w);
	CHECK_INT(mr_buf_check(&buf, "the header", &err), MR_ELIMIT);
	CHECK(buf.len <= 20);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(types_plain_scalars),
		TEST(types_floats),
		TEST(keeps_the_source_of_plain_scalars),
		TEST(keys_are_text),
		TEST(reads_what_the_reference_writes),
		TEST(says_what_it_refuses_and_where),
		TEST(cuts_long_texts_in_messages_between_characters),
		TEST(refuses_a_nul_byte),
		TEST(keeps_its_limits),
		TEST(survives_hostile_shapes),
		TEST(finds_a_repeated_key_among_many),
		TEST(writes_a_document),
		TEST(writes_trees),
		TEST(every_string_reads_back),
		TEST(quotes_by_the_rule),
		TEST(quotes_header_values),
		TEST(writes_flow_that_is_json),
		TEST(announces_a_long_key),
		TEST(floats_read_back),
		TEST(stops_at_the_buffer_s_maximum),
	};
	return test_main(tests, MR_LEN(tests));
}
