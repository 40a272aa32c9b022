/* tests/unit/text/test_json.c */
#include "text/json.h"

#include "test.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Parse an exact copy, so that the sanitizer sees a read past the end. */
static enum mr_code parse(struct mr_arena *arena, const char *text, size_t len,
	const struct mr_json_limits *limits, const struct mr_value **out, struct mr_err *err)
{
	uint8_t *exact = memcpy(malloc(len + !len), text, len);
	enum mr_code rc = mr_json_parse(arena, mr_bytes_of(exact, len), limits, out, err);

	free(exact);
	return rc;
}

static void check_written(const struct mr_value *value, unsigned style, const char *want)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mr_buf_init(&buf, 1 << 20);
	mr_json_init(&w, &buf, style);
	mr_json_value(&w, value);
	CHECK_STR(mr_buf_text(&buf), want);
}

struct sample {
	const char *text;
	size_t len;
	const char *want; /* written compactly, or the message */
};

#define SAMPLE(text, want)                                                                         \
	{                                                                                          \
		text, sizeof(text) - 1, want                                                       \
	}

static void reads(void)
{
	static const struct sample samples[] = {
		SAMPLE("null", "null"),
		SAMPLE(" \t\r\n true \n", "true"),
		SAMPLE("false", "false"),
		SAMPLE("0", "0"),
		SAMPLE("-0", "0"),
		SAMPLE("-0.0", "-0.0"),
		SAMPLE("1.0", "1.0"),
		SAMPLE("1E5", "100000.0"),
		SAMPLE("1e-400", "0.0"),
		SAMPLE("1.7976931348623157e308", "1.7976931348623157e+308"),
		SAMPLE("9223372036854775807", "9223372036854775807"),
		SAMPLE("-9223372036854775808", "-9223372036854775808"),
		SAMPLE("\"\"", "\"\""),
		SAMPLE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""),
		SAMPLE("\"\\u0041\\u00e9\\u20AC\"", "\"A\xc3\xa9\xe2\x82\xac\""),
		SAMPLE("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""),
		SAMPLE("\"\\uffff\"", "\"\xef\xbf\xbf\""),
		SAMPLE("\"\x7f\"", "\"\x7f\""),
		SAMPLE("[]", "[]"),
		SAMPLE("{}", "{}"),
		SAMPLE("[ 1 , [ 2 ] , { } ]", "[1,[2],{}]"),
		/* The order of keys is kept. */
		SAMPLE("{\"b\":1,\"a\":{\"\":null},\"c\":[]}",
			"{\"b\":1,\"a\":{\"\":null},\"c\":[]}"),
		SAMPLE("{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}"),
	};

	for (size_t i = 0; i < MR_LEN(samples); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const struct mr_value *value = NULL;
		struct mr_err err;

		CHECK_OK(parse(arena, samples[i].text, samples[i].len, NULL, &value, &err), err);
		check_written(value, MR_JSON_COMPACT, samples[i].want);
	}
}

static void refuses(void)
{
	static const struct sample samples[] = {
		SAMPLE("", "line 1 column 1: unexpected token near end of file"),
		SAMPLE(" ", "line 1 column 1: unexpected token near end of file"),
		SAMPLE("\n\n", "line 3 column 1: unexpected token near end of file"),
		SAMPLE("{", "line 1 column 1: string or '}' expected near end of file"),
		SAMPLE("[1", "line 1 column 2: ']' expected near end of file"),
		SAMPLE("[1,]", "line 1 column 4: unexpected token near ']'"),
		SAMPLE("{\"a\":1,}", "line 1 column 8: string or '}' expected near '}'"),
		SAMPLE("{a:1}", "line 1 column 2: string or '}' expected near 'a'"),
		SAMPLE("{'a':1}", "line 1 column 2: string or '}' expected near '''"),
		SAMPLE("{\"a\" 1}", "line 1 column 6: ':' expected near '1'"),
		SAMPLE("[1 2]", "line 1 column 4: ']' expected near '2'"),
		SAMPLE("[}", "line 1 column 2: unexpected token near '}'"),
		SAMPLE("]", "line 1 column 1: unexpected token near ']'"),
		/* Columns count characters, lines start anew. */
		SAMPLE("[1,\n 2,\n  x]", "line 3 column 3: invalid token near 'x'"),
		SAMPLE("[\"\xc3\xa9\xc3\xa9\", x]", "line 1 column 8: invalid token near 'x'"),
		SAMPLE("// note\n1", "line 1 column 1: invalid token near '/'"),
		SAMPLE("\xef\xbb\xbf{}", "line 1 column 1: invalid token near '\xef\xbb\xbf'"),
		/* Anything after the value. */
		SAMPLE("1 2", "line 1 column 3: end of file expected near '2'"),
		SAMPLE("{} x", "line 1 column 4: end of file expected near 'x'"),
		SAMPLE("{}{}", "line 1 column 3: end of file expected near '{'"),
		SAMPLE("null\0", "line 1 column 5: a NUL byte"),
		SAMPLE("[\xc3\xa9\n 1\0]", "line 2 column 3: a NUL byte"),
		SAMPLE("\0", "line 1 column 1: a NUL byte"),
		SAMPLE("\"a\0b\"", "line 1 column 3: a NUL byte"),
		/* Words and numbers that are none. */
		SAMPLE("nul", "line 1 column 3: invalid token near 'nul'"),
		SAMPLE("True", "line 1 column 4: invalid token near 'True'"),
		SAMPLE("NaN", "line 1 column 3: invalid token near 'NaN'"),
		SAMPLE("Infinity", "line 1 column 8: invalid token near 'Infinity'"),
		SAMPLE("-Infinity", "line 1 column 1: invalid token near '-'"),
		SAMPLE("+1", "line 1 column 1: invalid token near '+'"),
		SAMPLE("01", "line 1 column 1: invalid token near '0'"),
		SAMPLE("-01", "line 1 column 2: invalid token near '-0'"),
		SAMPLE("1.", "line 1 column 2: invalid token near '1.'"),
		SAMPLE(".5", "line 1 column 1: invalid token near '.'"),
		SAMPLE("1e", "line 1 column 2: invalid token near '1e'"),
		SAMPLE("0x10", "line 1 column 2: end of file expected near 'x'"),
		SAMPLE("1e400", "line 1 column 5: real number overflow near '1e400'"),
		SAMPLE("-1e400", "line 1 column 6: real number overflow near '-1e400'"),
		SAMPLE("9223372036854775808",
			"line 1 column 19: too big integer near '9223372036854775808'"),
		SAMPLE("-9223372036854775809",
			"line 1 column 20: too big negative integer near '-9223372036854775809'"),
		/* Strings. */
		SAMPLE("\"a", "line 1 column 2: premature end of input near '\"a'"),
		SAMPLE("\"a\nb\"", "line 1 column 2: unexpected newline near '\"a'"),
		SAMPLE("\"\t\"", "line 1 column 1: control character 0x9 near '\"'"),
		SAMPLE("\"\x1f\"", "line 1 column 1: control character 0x1f near '\"'"),
		SAMPLE("\"\\x41\"", "line 1 column 3: invalid escape near '\"\\x'"),
		SAMPLE("\"\\u12g4\"", "line 1 column 6: invalid escape near '\"\\u12g'"),
		SAMPLE("\"\\u12", "line 1 column 5: invalid escape near '\"\\u12'"),
		SAMPLE("\"\\", "line 1 column 2: invalid escape near '\"\\'"),
		SAMPLE("\"\\u0000\"", "line 1 column 8: \\u0000 is not allowed"),
		SAMPLE("{\"a\\u0000\":1}", "line 1 column 10: \\u0000 is not allowed"),
		SAMPLE("\"\\ud800\"",
			"line 1 column 8: invalid Unicode '\\uD800' near '\"\\ud800\"'"),
		SAMPLE("\"\\udc00\"",
			"line 1 column 8: invalid Unicode '\\uDC00' near '\"\\udc00\"'"),
		SAMPLE("\"\\ud800\\u0041\"",
			"line 1 column 14: invalid Unicode "
			"'\\uD800\\u0041' near '\"\\ud800\\u0041\"'"),
		SAMPLE("\"\xff\"", "line 1 column 1: unable to decode byte 0xff near '\"'"),
		SAMPLE("\"\xc0\xaf\"", "line 1 column 1: unable to decode byte 0xc0 near '\"'"),
		SAMPLE("\"\xed\xa0\x80\"", "line 1 column 1: unable to decode byte 0xed near '\"'"),
		SAMPLE("\"\xe2\x82\"", "line 1 column 1: unable to decode byte 0xe2 near '\"'"),
		SAMPLE("\x80", "line 1 column 1: unable to decode byte 0x80"),
		/* No key stands twice, however it is written. */
		SAMPLE("{\"a\":1,\"a\":2}", "line 1 column 10: duplicate object key near '\"a\"'"),
		SAMPLE("{\"a\":1,\"\\u0061\":1}",
			"line 1 column 15: duplicate object key near '\"\\u0061\"'"),
		SAMPLE("[{\"a\":{},\"a\":{}}]",
			"line 1 column 12: duplicate object key near '\"a\"'"),
	};

	for (size_t i = 0; i < MR_LEN(samples); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		static const struct mr_value kept;
		const struct mr_value *value = &kept;
		struct mr_err err;
		const char *want = mr_arena_printf(arena, "not valid JSON at %s", samples[i].want);

		if (!parse(arena, samples[i].text, samples[i].len, NULL, &value, &err))
			test_fail(__FILE__, __LINE__, "accepted: %s", samples[i].text);
		CHECK_INT(err.code, MR_EFORMAT);
		CHECK_STR(err.msg, want);
		CHECK(value == &kept);
	}
}

/* No bytes at all, not even an address. */
static void nothing_is_not_json(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_INT(mr_json_parse(arena, (struct mr_bytes){ NULL, 0 }, NULL, &value, &err),
		MR_EFORMAT);
	CHECK_STR(err.msg, "not valid JSON at line 1 column 1: unexpected token near end of file");
}

/* A NUL where the library would lose it: behind a number or a word, anywhere. */
static void no_nul_is_lost(void)
{
	static const char text[] = "{\"a\": [1, 2.5, true, null, -0, \"x\"], \"b\": false }";
	char broken[sizeof(text)];

	for (size_t at = 0; at < sizeof(text); at++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const struct mr_value *value = NULL;
		struct mr_err err;

		memcpy(broken, text, at);
		broken[at] = '\0';
		memcpy(broken + at + 1, text + at, sizeof(text) - at - 1);
		CHECK_INT(parse(arena, broken, sizeof(text), NULL, &value, &err), MR_EFORMAT);
	}
}

static char *nested(size_t depth, const char *open, const char *inner, const char *close)
{
	size_t step = strlen(open);
	size_t back = strlen(close);
	char *text = malloc(depth * (step + back) + strlen(inner) + 1);
	char *at = text;

	for (size_t i = 0; i < depth; i++, at += step)
		memcpy(at, open, step);
	at = stpcpy(at, inner);
	for (size_t i = 0; i < depth; i++, at += back)
		memcpy(at, close, back);
	*at = '\0';
	return text;
}

static void depth_is_limited(void)
{
	static const struct {
		size_t depth;
		const char *open;
		const char *close;
		const char *msg;
	} cases[] = {
		{ 64, "[", "]", NULL },
		{ 65, "[", "]", "JSON is nested deeper than 64 at byte 64" },
		{ 100000, "[", "]", "JSON is nested deeper than 64 at byte 64" },
		{ 64, "{\"k\":", "}", NULL },
		{ 65, "{\"k\":", "}", "JSON is nested deeper than 64 at byte 320" },
		{ 100000, "{\"k\":", "}", "JSON is nested deeper than 64 at byte 320" },
		/* Never closed: the library must not see it either. */
		{ 1000000, "[", "", "JSON is nested deeper than 64 at byte 64" },
		{ 300000, "[{\"\":", "", "JSON is nested deeper than 64 at byte 160" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		char *text = nested(cases[i].depth, cases[i].open, "1", cases[i].close);
		const struct mr_value *value = NULL;
		struct mr_err err;
		enum mr_code rc = parse(arena, text, strlen(text), NULL, &value, &err);

		CHECK_INT(rc, cases[i].msg ? MR_ELIMIT : MR_OK);
		if (rc)
			CHECK_STR(err.msg, cases[i].msg);
		free(text);
	}
}

/* Brackets in strings are no depth, wherever quotes and backslashes stand. */
static void strings_do_not_nest(void)
{
	static const char *const texts[] = { "\"[[[[\"", "[\"\\\"[[[[\"]", "[\"\\\\\",[1]]",
		"{\"[[[\":\"{{{\"}", "[\"]]]\",[2]]" };
	static const struct mr_json_limits limits = { 100, 2, 10 };

	for (size_t i = 0; i < MR_LEN(texts); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		const struct mr_value *value = NULL;
		struct mr_err err;

		CHECK_OK(parse(arena, texts[i], strlen(texts[i]), &limits, &value, &err), err);
	}
}

/* Callers may allow more than the library does: then its own limit is a limit too. */
static void the_library_has_a_limit_of_its_own(void)
{
	static const struct mr_json_limits limits = { 1 << 20, 100000, 1000000 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	char *text = nested(5000, "[", "", "]");
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_INT(parse(arena, text, strlen(text), &limits, &value, &err), MR_ELIMIT);
	CHECK(strncmp(err.msg, "JSON is nested deeper than can be read", 38) == 0);
	free(text);
}

static void size_and_number_are_limited(void)
{
	static const struct {
		const char *text;
		struct mr_json_limits limits;
		const char *msg;
	} cases[] = {
		{ "[1,2,3]", { 7, 1, 4 }, NULL },
		{ "[1,2,3]", { 6, 1, 4 }, "JSON of 7 bytes is longer than 6" },
		{ "[1,2,3]", { 7, 0, 4 }, "JSON is nested deeper than 0 at byte 0" },
		{ "[1,2,3]", { 7, 1, 3 }, "JSON has more than 3 values" },
		{ "[1,2,3]", { 7, 1, 2 }, "JSON has more than 2 values" },
		{ "7", { 1, 0, 1 }, NULL },
		{ "7", { 1, 0, 0 }, "JSON has more than 0 values" },
		{ "[]", { 2, 1, 1 }, NULL },
		{ "{\"a\":{\"b\":1}}", { 99, 2, 3 }, NULL },
		{ "{\"a\":{\"b\":1}}", { 99, 2, 2 }, "JSON has more than 2 values" },
		{ "[[],[]]", { 99, 2, 3 }, NULL },
		{ "[[],[]]", { 99, 2, 2 }, "JSON has more than 2 values" },
		/* Commas in strings count for nothing. */
		{ "[\",,,,,,\"]", { 99, 1, 2 }, NULL },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		static const struct mr_value kept;
		const struct mr_value *value = &kept;
		struct mr_err err;
		enum mr_code rc = parse(arena, cases[i].text, strlen(cases[i].text),
			&cases[i].limits, &value, &err);

		CHECK_INT(rc, cases[i].msg ? MR_ELIMIT : MR_OK);
		CHECK((value == &kept) == (rc != MR_OK));
		if (rc)
			CHECK_STR(err.msg, cases[i].msg);
	}
}

static void the_default_limits(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum { MOST = 4 << 20 };
	char *text = malloc(MOST + 2);
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_INT(mr_json_default_limits.max_bytes, MOST);
	CHECK_INT(mr_json_default_limits.max_depth, 64);
	CHECK_INT(mr_json_default_limits.max_nodes, 200000);
	memset(text, 'x', MOST + 2);
	text[0] = text[MOST - 1] = text[MOST] = '"';
	CHECK_OK(parse(arena, text, MOST, NULL, &value, &err), err);
	CHECK_INT(strlen(value->text), MOST - 2);
	CHECK_INT(parse(arena, text, MOST + 1, NULL, &value, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "JSON of 4194305 bytes is longer than 4194304");
	/* Two bytes a value: far too many. */
	for (size_t i = 1; i < MOST - 1; i++)
		text[i] = i % 2 ? '0' : ',';
	text[0] = '[';
	text[MOST - 2] = ']';
	CHECK_INT(parse(arena, text, MOST - 1, NULL, &value, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "JSON has more than 200000 values");
	free(text);
}

/* Everything a writer can do, once. */
static void write_sample(struct mr_json_writer *w)
{
	mr_json_begin_map(w);
	mr_json_key(w, "b\"");
	mr_json_int(w, INT64_MIN);
	mr_json_key(w, "a");
	mr_json_begin_list(w);
	mr_json_null(w);
	mr_json_bool(w, true);
	mr_json_real(w, 1.5);
	mr_json_text(w, "\xc3\xa9");
	mr_json_text(w, NULL);
	mr_json_begin_list(w);
	mr_json_end(w);
	mr_json_begin_map(w);
	mr_json_end(w);
	mr_json_end(w);
	mr_json_key(w, "m");
	mr_json_begin_map(w);
	mr_json_key(w, "x");
	mr_json_bool(w, false);
	mr_json_end(w);
	mr_json_end(w);
}

static void writes_in_every_style(void)
{
	static const struct {
		unsigned style;
		const char *want;
	} cases[] = {
		{ MR_JSON_COMPACT,
			"{\"b\\\"\":-9223372036854775808,\"a\":[null,true,1.5,\"\xc3\xa9\",null,[],"
			"{}],"
			"\"m\":{\"x\":false}}" },
		{ MR_JSON_COMPACT | MR_JSON_ASCII,
			"{\"b\\\"\":-9223372036854775808,\"a\":[null,true,1.5,\"\\u00e9\",null,[],{"
			"}],"
			"\"m\":{\"x\":false}}" },
		{ MR_JSON_SPACED,
			"{\"b\\\"\": -9223372036854775808, \"a\": [null, true, 1.5, \"\xc3\xa9\", "
			"null, [], {}], \"m\": {\"x\": false}}" },
		{ MR_JSON_INDENTED,
			"{\n  \"b\\\"\": -9223372036854775808,\n  \"a\": [\n    null,\n    true,\n"
			"    1.5,\n    \"\xc3\xa9\",\n    null,\n    [],\n    {}\n  ],\n"
			"  \"m\": {\n    \"x\": false\n  }\n}" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_json_writer w;

		mr_buf_init(&buf, 1000);
		mr_json_init(&w, &buf, cases[i].style);
		write_sample(&w);
		CHECK_STR(mr_buf_text(&buf), cases[i].want);
	}
}

static void writes_values_sorted(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const char text[] =
		"{\"b\":1,\"a\":{\"\xc3\xa9\":1,\"z\":2,\"\":3,\"Z\":4},\"ab\":[]}";
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(parse(arena, text, strlen(text), NULL, &value, &err), err);
	check_written(value, MR_JSON_COMPACT, text);
	check_written(value, MR_JSON_COMPACT | MR_JSON_SORTED,
		"{\"a\":{\"\":3,\"Z\":4,\"z\":2,\"\xc3\xa9\":1},\"ab\":[],\"b\":1}");
	check_written(value, MR_JSON_SPACED | MR_JSON_SORTED | MR_JSON_ASCII,
		"{\"a\": {\"\": 3, \"Z\": 4, \"z\": 2, \"\\u00e9\": 1}, \"ab\": [], \"b\": 1}");
	check_written(value, MR_JSON_INDENTED | MR_JSON_SORTED,
		"{\n  \"a\": {\n    \"\": 3,\n    \"Z\": 4,\n    \"z\": 2,\n    \"\xc3\xa9\": 1\n  "
		"},\n  \"ab\": [],\n  \"b\": 1\n}");
}

static void check_real(double number, const char *want)
{
	struct mr_value value = { .kind = MR_FLOAT, .real = number };

	check_written(&value, MR_JSON_COMPACT, want);
}

static void writes_reals_short(void)
{
	static const struct {
		double number;
		const char *want;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 1, "1.0" },
		{ -17, "-17.0" },
		{ 0.1, "0.1" },
		{ 1.1, "1.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 123456789.125, "123456789.125" },
		{ 9007199254740992.0, "9007199254740992.0" },
		{ 1e15, "1e+15" },
		{ 1e23, "1e+23" },
		{ 1e-5, "1e-05" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ 5e-324, "5e-324" },
		{ 1.5e-323, "1.5e-323" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		check_real(cases[i].number, cases[i].want);
}

/* Any double survives the way out and back in, and stays a double. */
static void reals_go_there_and_back(void)
{
	uint64_t bits = 88172645463325252u;

	for (int i = 0; i < 20000; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		const struct mr_value *back = NULL;
		struct mr_json_writer w;
		struct mr_err err;
		double number;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&number, &bits, sizeof(number));
		if (!isfinite(number))
			continue;
		mr_buf_init(&buf, 100);
		mr_json_init(&w, &buf, MR_JSON_COMPACT);
		mr_json_real(&w, number);
		CHECK_OK(mr_json_parse(arena, mr_buf_bytes(&buf), NULL, &back, &err), err);
		CHECK_INT(back->kind, MR_FLOAT);
		CHECK(memcmp(&back->real, &number, sizeof(number)) == 0);
	}
}

/* The buffer's maximum is the writer's: no crash, no more bytes, and the check says so. */
static void a_full_buffer_is_noticed(void)
{
	size_t whole = 0;

	for (size_t max = 0; max < 300; max++) {
		struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
		struct mr_json_writer w;
		struct mr_err err;

		mr_buf_init(&buf, max);
		mr_json_init(&w, &buf, MR_JSON_INDENTED);
		write_sample(&w);
		CHECK(buf.len <= max);
		if (mr_buf_check(&buf, "the result", &err) == MR_OK)
			whole++;
		else
			CHECK(strncmp(err.msg, "the result is longer than ", 26) == 0);
	}
	CHECK(whole > 100 && whole < 200);
}

/* What was read at the deepest can stand inside a result. */
static void the_deepest_value_fits_into_a_result(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	char *text = nested(64, "[", "", "]");
	const struct mr_value *value = NULL;
	struct mr_json_writer w;
	struct mr_err err;

	CHECK_OK(parse(arena, text, strlen(text), NULL, &value, &err), err);
	free(text);
	mr_buf_init(&buf, 1000);
	mr_json_init(&w, &buf, MR_JSON_COMPACT);
	for (int i = 0; i < MR_JSON_WRITER_DEPTH - 64; i++)
		mr_json_begin_list(&w);
	mr_json_value(&w, value);
	for (int i = 0; i < MR_JSON_WRITER_DEPTH - 64; i++)
		mr_json_end(&w);
	CHECK_INT(buf.len, 2 * MR_JSON_WRITER_DEPTH);
}

static void value_without_key(struct mr_json_writer *w)
{
	mr_json_begin_map(w);
	mr_json_int(w, 1);
}

static void map_without_key(struct mr_json_writer *w)
{
	mr_json_begin_map(w);
	mr_json_begin_map(w);
}

static void key_in_a_list(struct mr_json_writer *w)
{
	mr_json_begin_list(w);
	mr_json_key(w, "k");
}

static void key_at_the_top(struct mr_json_writer *w)
{
	mr_json_key(w, "k");
}

static void two_keys(struct mr_json_writer *w)
{
	mr_json_begin_map(w);
	mr_json_key(w, "a");
	mr_json_key(w, "b");
}

static void end_after_key(struct mr_json_writer *w)
{
	mr_json_begin_map(w);
	mr_json_key(w, "a");
	mr_json_end(w);
}

static void end_without_begin(struct mr_json_writer *w)
{
	mr_json_end(w);
}

static void second_value(struct mr_json_writer *w)
{
	mr_json_null(w);
	mr_json_null(w);
}

static void too_deep(struct mr_json_writer *w)
{
	for (int i = 0; i <= MR_JSON_WRITER_DEPTH; i++)
		mr_json_begin_list(w);
}

static void misuse_aborts(void)
{
	static void (*const misuses[])(struct mr_json_writer * w) = {
		value_without_key,
		map_without_key,
		key_in_a_list,
		key_at_the_top,
		two_keys,
		end_after_key,
		end_without_begin,
		second_value,
		too_deep,
	};

	for (size_t i = 0; i < MR_LEN(misuses); i++) {
		int status = 0;
		pid_t pid = fork();

		CHECK(pid >= 0);
		if (pid == 0) {
			struct mr_json_writer w;
			struct mr_buf buf;

			close(STDERR_FILENO);
			mr_buf_init(&buf, 10000);
			mr_json_init(&w, &buf, MR_JSON_COMPACT);
			misuses[i](&w);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
			test_fail(__FILE__, __LINE__, "misuse %zu went unnoticed", i);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads),
		TEST(refuses),
		TEST(nothing_is_not_json),
		TEST(no_nul_is_lost),
		TEST(depth_is_limited),
		TEST(strings_do_not_nest),
		TEST(the_library_has_a_limit_of_its_own),
		TEST(size_and_number_are_limited),
		TEST(the_default_limits),
		TEST(writes_in_every_style),
		TEST(writes_values_sorted),
		TEST(writes_reals_short),
		TEST(reals_go_there_and_back),
		TEST(a_full_buffer_is_noticed),
		TEST(the_deepest_value_fits_into_a_result),
		TEST(misuse_aborts),
	};

	return test_main(tests, MR_LEN(tests));
}
