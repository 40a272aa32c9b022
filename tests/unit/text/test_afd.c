/* tests/unit/text/test_afd.c */
#include "test.h"
#include "text/afd.h"
#include "text/json.h"
#include "text/yaml.h"

#include <stdio.h>
#include <string.h>

static struct mr_arena *arena;

static const struct mr_value *parse(const char *json)
{
	static const struct mr_json_limits limits = { 1 << 22, 2000, 1 << 20 };
	const struct mr_value *value = NULL;
	struct mr_err err = { 0 };

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), &limits, &value, &err), err);
	return value;
}

static const char *written(const char *json, enum mr_afd_format format)
{
	const struct mr_value *value = parse(json);
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1 << 24);
	mr_afd_write(arena, &buf, value, format);
	CHECK(!buf.failed);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

static void check(const char *json, enum mr_afd_format format, const char *expected)
{
	CHECK_STR(written(json, format), mr_arena_printf(arena, "%s\n", expected));
}

/* One member in YAML. */
static void check_yaml(const char *member, const char *expected)
{
	const char *json = mr_arena_printf(arena, "{%s}", member);

	CHECK_STR(written(json, MR_AFD_YAML), mr_arena_printf(arena, "---\n%s\n", expected));
}

static void check_url(const char *url, const char *expected)
{
	const char *json = mr_arena_printf(arena, "{\"a_url\":\"%s\"}", url);
	const struct mr_value *clean = mr_afd_redact(arena, parse(json));

	CHECK_STR(mr_value_get(clean, "a_url")->text, expected);
}

/* --- the three formats --- */

static void test_formats_by_name(void)
{
	CHECK_STR(mr_afd_format_names[MR_AFD_JSON], "json");
	CHECK_STR(mr_afd_format_names[MR_AFD_YAML], "yaml");
	CHECK_STR(mr_afd_format_names[MR_AFD_PLAIN], "plain");
	CHECK(!mr_afd_format_names[MR_AFD_PLAIN + 1]);
}

static void test_status_as_yaml(void)
{
	CHECK_STR(written("{\"code\":\"status\",\"triage_count\":0,\"case_count\":0,"
			  "\"cases_by_group\":{},\"archive_message_category_count\":0,"
			  "\"archived_case_count\":0,\"message_count\":0,\"message_status\":{},"
			  "\"remote_missing_count\":0,\"remote_effect_pending_message_count\":0,"
			  "\"push_count\":0,\"push_status\":{\"drafts\":0,\"case\":0,\"archive\":0,"
			  "\"spam\":0,\"trash\":0},\"progress\":{\"status\":\"idle\"},"
			  "\"trace\":{\"duration_ms\":0}}",
			  MR_AFD_YAML),
		"---\narchive_message_category_count: 0\narchived_case_count: 0\ncase_count: 0\n"
		"cases_by_group: {}\ncode: \"status\"\nmessage_count: 0\nmessage_status: {}\n"
		"progress:\n  status: \"idle\"\npush_count: 0\npush_status:\n  archive: 0\n"
		"  case: 0\n  drafts: 0\n  spam: 0\n  trash: 0\n"
		"remote_effect_pending_message_count: 0\nremote_missing_count: 0\ntrace:\n"
		"  duration: \"0ms\"\ntriage_count: 0\n");
}

static void test_json_is_one_line_with_keys_and_values_as_they_are(void)
{
	check("{\"b_ms\":1280,\"a\":{\"z\":null,\"y\":[true,25.0,\"x\\ny\"]},\"size_bytes\":2048}",
		MR_AFD_JSON,
		"{\"a\":{\"y\":[true,25.0,\"x\\ny\"],\"z\":null},\"b_ms\":1280,\"size_bytes\":"
		"2048}");
	check("[]", MR_AFD_JSON, "[]");
	check("{}", MR_AFD_JSON, "{}");
	check("\"text\"", MR_AFD_JSON, "\"text\"");
}

static void test_yaml_lists(void)
{
	CHECK_STR(written("{\"items\":[{\"b\":1,\"a\":[\"x\"]},{},7,\"t\",null,[],[1,{\"z\":2,"
			  "\"y_ms\":3}]],\"none\":[],\"deep\":{\"er\":{\"n\":false}}}",
			  MR_AFD_YAML),
		"---\ndeep:\n  er:\n    n: false\nitems:\n  -\n    a:\n      - \"x\"\n    b: 1\n"
		"  - {}\n  - 7\n  - \"t\"\n  - null\n  - []\n"
		"  - \"[1,{\\\"y_ms\\\":3,\\\"z\\\":2}]\"\nnone: []\n");
}

static void test_yaml_of_a_value_that_is_no_map(void)
{
	CHECK_STR(written("[1,{\"a\":2}]", MR_AFD_YAML), "---\n- 1\n-\n  a: 2\n");
	CHECK_STR(written("\"x\"", MR_AFD_YAML), "---\n\"x\"\n");
	CHECK_STR(written("{}", MR_AFD_YAML), "---\n{}\n");
	CHECK_STR(written("[]", MR_AFD_YAML), "---\n[]\n");
}

static void test_yaml_escapes(void)
{
	check_yaml("\"a\":\"\\\\ \\\" \\n \\r \\t \\f \\u000b é\"",
		"a: \"\\\\ \\\" \\n \\r \\t \\f \\v é\"");
	/* What would end a line or be refused in YAML. */
	check_yaml("\"a\":\"\\u001b[0m\\u007f\\u0085\\u2028\\ufeff\\b\"",
		"a: \"\\u001B[0m\\u007F\\u0085\\u2028\\uFEFF\\u0008\"");
}

static void test_yaml_keys_are_quoted_when_not_plain(void)
{
	check_yaml("\"a.b-c_D9\":1", "a.b-c_D9: 1");
	check_yaml("\"a b\":1", "\"a b\": 1");
	check_yaml("\"\":1", "\"\": 1");
	check_yaml("\"é\":1", "\"é\": 1");
	check_yaml("\"a\\nb\":{\"c:d\":[]}", "\"a\\nb\":\n  \"c:d\": []");
}

static void test_plain(void)
{
	check("{\"trace\":{\"duration_ms\":3},\"progress\":{\"progress_percent\":25.0,\"z\":null},"
	      "\"code\":\"status\",\"ok\":true,\"empty\":\"\"}",
		MR_AFD_PLAIN,
		"code=status empty= ok=true progress.progress=25% progress.z= trace.duration=3ms");
	check("{\"list\":[1,\"a\",null,{\"b\":2,\"a\":[1]},[3,4],true],\"none\":[]}", MR_AFD_PLAIN,
		"list=\"1,a,,{\\\"a\\\":[1],\\\"b\\\":2},[3,4],true\" none=");
	check("{}", MR_AFD_PLAIN, "");
	check("\"a b\"", MR_AFD_PLAIN, "\"a b\"");
	check("[1,{\"a\":2}]", MR_AFD_PLAIN, "\"1,{\\\"a\\\":2}\"");
}

static void test_plain_quotes_what_is_not_one_word(void)
{
	check("{\"a\":\"x y\",\"b\":\"x=y\",\"c\":\"x\\\"y\",\"d\":\"x\\\\y\",\"e\":\"x\\ty\\n\","
	      "\"f\":\"x,y;é\"}",
		MR_AFD_PLAIN,
		"a=\"x y\" b=\"x=y\" c=\"x\\\"y\" d=\"x\\\\y\" e=\"x\\ty\\n\" f=x,y;é");
	check("{\"a b\":{\"c\":1},\"d\":{\"\":2}}", MR_AFD_PLAIN, "\"a b.c\"=1 d.=2");
	/* White space of any script, and what acts on terminals. */
	check("{\"a\":\"x\\u3000y\",\"b\":\"\\u001b[2J\"}", MR_AFD_PLAIN,
		"a=\"x\u3000y\" b=\"\\u001B[2J\"");
}

static void test_plain_pairs_are_sorted_by_the_whole_key(void)
{
	check("{\"a\":{\"z\":1},\"a.b\":2,\"a-c\":3}", MR_AFD_PLAIN, "a-c=3 a.b=2 a.z=1");
}

static void test_keys_are_in_the_order_of_utf16(void)
{
	/* U+FF5E is above the surrogates that U+1F600 is written with. */
	check("{\"～\":1,\"😀\":2,\"é\":3,\"z\":4,\"퟿\":5,\"😀a\":6,\"😁\":7,\"zz\":8}",
		MR_AFD_JSON,
		"{\"z\":4,\"zz\":8,\"é\":3,\"퟿\":5,\"😀\":2,\"😀a\":6,\"😁\":7,\"～\":"
		"1}");
	CHECK_STR(written("{\"～\":1,\"😀\":2}", MR_AFD_YAML), "---\n\"😀\": 2\n\"～\": 1\n");
	check("{\"～\":1,\"😀\":2}", MR_AFD_PLAIN, "\"😀\"=2 \"～\"=1");
}

static void test_raw_yaml_keeps_keys_and_values(void)
{
	const struct mr_value *value = parse("{\"b_ms\":1280,\"a_secret\":1}");
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&buf, 1 << 16);
	mr_afd_write_raw_yaml(arena, &buf, value);
	CHECK_STR(mr_buf_text(&buf), "---\na_secret: \"***\"\nb_ms: 1280\n");
}

/* --- suffixes --- */

static void test_suffix_epoch(void)
{
	check_yaml("\"at_epoch_ms\":1773202500123", "at: \"2026-03-11T04:15:00.123Z\"");
	check_yaml("\"at_epoch_s\":1773202500", "at: \"2026-03-11T04:15:00.000Z\"");
	check_yaml("\"at_epoch_ns\":1773202500123456789", "at: \"2026-03-11T04:15:00.123Z\"");
	check_yaml("\"at_epoch_ns\":-1", "at: \"1969-12-31T23:59:59.999Z\"");
	check_yaml("\"at_epoch_s\":-1.0", "at: \"1969-12-31T23:59:59.000Z\"");
	check_yaml("\"AT_EPOCH_MS\":0", "AT: \"1970-01-01T00:00:00.000Z\"");
	check_yaml("\"at_epoch_s\":253402300799", "at: \"9999-12-31T23:59:59.000Z\"");
	/* Not a time that can be written, and not a whole number. */
	check_yaml("\"at_epoch_s\":253402300800", "at_epoch_s: 253402300800");
	check_yaml("\"at_epoch_s\":9223372036854775807", "at_epoch_s: 9223372036854775807");
	check_yaml("\"at_epoch_ms\":-9223372036854775807", "at_epoch_ms: -9223372036854775807");
	check_yaml("\"at_epoch_s\":1.5", "at_epoch_s: 1.5");
	check_yaml("\"at_epoch_ms\":\"x\"", "at_epoch_ms: \"x\"");
}

static void test_suffix_money(void)
{
	check_yaml("\"price_usd_cents\":1999", "price: \"$19.99\"");
	check_yaml("\"price_eur_cents\":5", "price: \"€0.05\"");
	check_yaml("\"price_gbp_cents\":100", "price: \"1.00 GBP\"");
	check_yaml("\"price_usdt_cents\":123456", "price: \"1234.56 USDT\"");
	check_yaml("\"PRICE_GBP_CENTS\":100", "PRICE: \"1.00 GBP\"");
	check_yaml("\"PRICE_USD_CENTS\":100.0", "PRICE: \"$1.00\"");
	check_yaml("\"price_jpy\":1234567", "price: \"¥1,234,567\"");
	check_yaml("\"price_jpy\":999", "price: \"¥999\"");
	check_yaml("\"price_jpy\":1000", "price: \"¥1,000\"");
	check_yaml("\"price_jpy\":-1", "price_jpy: -1");
	check_yaml("\"price_usd_cents\":-5", "price_usd_cents: -5");
	check_yaml("\"price_gbp_cents\":0.5", "price_gbp_cents: 0.5");
	check_yaml("\"gbp_cents\":5", "gbp_cents: 5");
	check_yaml("\"a_euros_cents\":5", "a_euros_cents: 5");
	check_yaml("\"a_Gbp_cents\":5", "a_Gbp_cents: 5");
	check_yaml("\"a_gbp_CENTS\":5", "a_gbp_CENTS: 5");
	check_yaml("\"_usd_cents\":5", "_usd_cents: 5");
}

static void test_suffix_units(void)
{
	check_yaml("\"a_rfc3339\":\"2026-01-01T00:00:00Z\"", "a: \"2026-01-01T00:00:00Z\"");
	check_yaml("\"a_rfc3339\":5", "a_rfc3339: 5");
	check_yaml("\"a_minutes\":30", "a: \"30 minutes\"");
	check_yaml("\"a_hours\":1.5", "a: \"1.5 hours\"");
	check_yaml("\"a_days\":7.0", "a: \"7 days\"");
	check_yaml("\"a_msats\":2056000", "a: \"2056000msats\"");
	check_yaml("\"a_sats\":2056", "a: \"2056sats\"");
	check_yaml("\"a_btc\":0.5", "a: \"0.5 BTC\"");
	check_yaml("\"a_percent\":85.5", "a: \"85.5%\"");
	check_yaml("\"a_percent\":25.0", "a: \"25%\"");
	check_yaml("\"a_ns\":450000", "a: \"450000ns\"");
	check_yaml("\"a_us\":830", "a: \"830μs\"");
	check_yaml("\"a_s\":3600", "a: \"3600s\"");
	check_yaml("\"A_S\":36", "A: \"36s\"");
	check_yaml("\"a_s\":\"x\"", "a_s: \"x\"");
	check_yaml("\"a_percent\":null", "a_percent: null");
	check_yaml("\"a_days\":{\"b_s\":1}", "a_days:\n  b: \"1s\"");
	check_yaml("\"a_days\":[1]", "a_days:\n  - 1");
}

static void test_suffix_milliseconds(void)
{
	check_yaml("\"a_ms\":1280", "a: \"1.28s\"");
	check_yaml("\"a_ms\":2000", "a: \"2.0s\"");
	check_yaml("\"a_ms\":999", "a: \"999ms\"");
	check_yaml("\"a_ms\":1000", "a: \"1.0s\"");
	check_yaml("\"a_ms\":-999", "a: \"-999ms\"");
	check_yaml("\"a_ms\":-1500", "a: \"-1.5s\"");
	check_yaml("\"a_ms\":1234", "a: \"1.234s\"");
	check_yaml("\"a_ms\":0.5", "a: \"0.5ms\"");
}

static void test_suffix_bytes(void)
{
	check_yaml("\"a_bytes\":0", "a: \"0B\"");
	check_yaml("\"a_bytes\":1023", "a: \"1023B\"");
	check_yaml("\"a_bytes\":1024", "a: \"1.0KB\"");
	check_yaml("\"a_bytes\":456789", "a: \"446.1KB\"");
	check_yaml("\"a_bytes\":5242880", "a: \"5.0MB\"");
	check_yaml("\"a_bytes\":1610612736", "a: \"1.5GB\"");
	check_yaml("\"a_bytes\":1099511627776", "a: \"1.0TB\"");
	check_yaml("\"a_bytes\":1125899906842624", "a: \"1024.0TB\"");
	check_yaml("\"a_bytes\":2048.0", "a: \"2.0KB\"");
	check_yaml("\"a_bytes\":-9223372036854775808", "a: \"-8388608.0TB\"");
	check_yaml("\"a_bytes\":\"1\"", "a_bytes: \"1\"");
	check_yaml("\"a_bytes\":1.5", "a_bytes: 1.5");
}

static void test_suffixes_that_stay(void)
{
	check_yaml("\"a_url\":\"https://e.org\"", "a_url: \"https://e.org\"");
	check_yaml("\"a_bcp47\":\"de\"", "a_bcp47: \"de\"");
	check_yaml("\"a_utc_offset\":\"UTC\"", "a_utc_offset: \"UTC\"");
	check_yaml("\"a_rfc3339_date\":\"2026-01-01\"", "a_rfc3339_date: \"2026-01-01\"");
	check_yaml("\"a_rfc3339_time\":\"00:00:00\"", "a_rfc3339_time: \"00:00:00\"");
	check_yaml("\"a_size\":3", "a_size: 3");
	check_yaml("\"a_Ms\":3", "a_Ms: 3");
	check_yaml("\"_ms\":3", "_ms: 3");
	check_yaml("\"ms\":3", "ms: 3");
}

static void test_numbers(void)
{
	check_yaml("\"a\":25.0", "a: 25");
	check_yaml("\"a\":-0.25", "a: -0.25");
	check_yaml("\"a\":1e-7", "a: 1e-7");
	check_yaml("\"a\":1.5E+300", "a: 1.5e300");
	check_yaml("\"a\":9007199254740994.0", "a: 9007199254740994");
	check_yaml("\"a\":9223372036854775807", "a: 9223372036854775807");
}

static void test_keys_that_would_become_the_same_stay(void)
{
	check_yaml("\"a_ms\":5,\"a_s\":6", "a_ms: 5\na_s: 6");
	check_yaml("\"a\":1,\"a_ms\":5", "a: 1\na_ms: 5");
	check_yaml("\"a_ms\":5,\"a_bytes\":\"x\",\"b_s\":1",
		"a: \"5ms\"\na_bytes: \"x\"\nb: \"1s\"");
	check_yaml("\"a_secret\":1,\"a\":2", "a: 2\na_secret: \"***\"");
	/* What went back to its name is in the way of the next. */
	check_yaml("\"a_ms_s\":1,\"a_ms\":2,\"a\":3", "a: 3\na_ms: 2\na_ms_s: 1");
	check_yaml("\"a\":3,\"a_ms\":2,\"a_ms_s\":1", "a: 3\na_ms: 2\na_ms_s: 1");
	/* The siblings alone count. */
	check_yaml("\"a_ms\":5,\"b\":{\"a_ms\":6}", "a: \"5ms\"\nb:\n  a: \"6ms\"");
}

static void test_many_keys(void)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	const char *yaml;

	mr_buf_init(&json, 1 << 22);
	for (int i = 0; i < 50000; i++)
		mr_buf_printf(&json, "%c\"k%05d_%s\":1", i ? ',' : '{', i / 2, i % 2 ? "ms" : "s");
	mr_buf_putc(&json, '}');
	yaml = written(mr_buf_text(&json), MR_AFD_YAML);
	CHECK(mr_str_starts(yaml, "---\nk00000_ms: 1\nk00000_s: 1\nk00001_ms: 1\n"));
}

/* --- secrets --- */

static void test_secrets_of_any_kind_are_hidden(void)
{
	static const char json[] =
		"{\"a_secret\":\"x\",\"b_secret\":null,\"c_secret\":{\"d\":1},\"E_SECRET\":[1],"
		"\"f_secret_env\":\"X_SECRET\",\"g_Secret\":\"kept\",\"l\":[{\"p_secret\":5}],"
		"\"secret\":\"kept\",\"error\":\"p_secret=x\"}";

	check(json, MR_AFD_JSON,
		"{\"E_SECRET\":\"***\",\"a_secret\":\"***\",\"b_secret\":\"***\","
		"\"c_secret\":\"***\",\"error\":\"p_secret=x\",\"f_secret_env\":\"X_SECRET\","
		"\"g_Secret\":\"kept\",\"l\":[{\"p_secret\":\"***\"}],\"secret\":\"kept\"}");
	CHECK_STR(written(json, MR_AFD_YAML),
		"---\nE: \"***\"\na: \"***\"\nb: \"***\"\nc: \"***\"\nerror: \"p_secret=x\"\n"
		"f_secret_env: \"X_SECRET\"\ng_Secret: \"kept\"\nl:\n  -\n    p: \"***\"\n"
		"secret: \"kept\"\n");
	check(json, MR_AFD_PLAIN,
		"E=*** a=*** b=*** c=*** error=\"p_secret=x\" f_secret_env=X_SECRET g_Secret=kept "
		"l=\"{\\\"p_secret\\\":\\\"***\\\"}\" secret=kept");
}

static void test_urls_lose_their_password(void)
{
	check_url("https://user:pw@host:8080/p?q=1#f", "https://user:***@host:8080/p?q=1#f");
	check_url("imap://u:a:b@h@host/", "imap://u:***@host/");
	check_url("http://:pw@[::1]:80/", "http://:***@[::1]:80/");
	check_url("http://u:@host", "http://u:***@host");
	check_url("https://user@host/", "https://user@host/");
	check_url("https://host:80/a@b:c", "https://host:80/a@b:c");
	check_url("http://[fe80::1]/x@y", "http://[fe80::1]/x@y");
	check_url("https://host", "https://host");
	check_url("", "");
	check_url("relative/path?x=1", "relative/path?x=1");
}

static void test_urls_lose_secret_parameters(void)
{
	check_url("https://h/p?a=1&api_secret=xyz&b=2", "https://h/p?a=1&api_secret=***&b=2");
	check_url("https://h?API_SECRET=xyz#frag", "https://h?API_SECRET=***#frag");
	check_url("https://h?api%5fsecret=xyz", "https://h?api%5fsecret=***");
	check_url("https://h?api%5Fse%63ret=a=b&&c", "https://h?api%5Fse%63ret=***&&c");
	check_url("https://h?a%00_secret=xyz", "https://h?a%00_secret=***");
	check_url("https://h?a_secret&b_secret=&a_secret_env=V",
		"https://h?a_secret&b_secret=***&a_secret_env=V");
	check_url("https://h?a_secret%=x&%5=y", "https://h?a_secret%=x&%5=y");
	check_url("https://h/p#a_secret=x", "https://h/p#a_secret=x");
}

static void test_urls_that_are_none_are_hidden(void)
{
	check_url("user:pw@host", "***");
	check_url("https://u:p w@host", "***");
	check_url("https://host/a b", "***");
	check_url("see\\fhttps://host", "***");
	check_url("//u:p@host", "***");
	/* A password with a slash, which is no part of an authority. */
	check_url("https://user:p/w@host/", "***");
	check_url("https://user:p#w@host/", "***");
	check_url("https://host:port/", "https://host:port/");
}

static void test_only_texts_are_urls(void)
{
	check("{\"a_url\":[\"x://u:p@h\"],\"B_URL\":\"x://u:p@h\",\"url\":\"x://u:p@h\"}",
		MR_AFD_JSON,
		"{\"B_URL\":\"x://u:***@h\",\"a_url\":[\"x://u:p@h\"],\"url\":\"x://u:p@h\"}");
}

/* --- depth --- */

static const char *nested(size_t depth, const char *open, const char *close)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&json, 1 << 20);
	for (size_t i = 0; i < depth; i++)
		mr_buf_puts(&json, open);
	mr_buf_puts(&json, "1");
	for (size_t i = 0; i < depth; i++)
		mr_buf_puts(&json, close);
	return mr_arena_strdup(arena, mr_buf_text(&json));
}

static void test_what_is_deep_is_written_and_what_is_deeper_hidden(void)
{
	const char *deep = nested(MR_AFD_DEPTH, "[", "]");

	check(deep, MR_AFD_JSON, deep);
	CHECK(strstr(written(nested(MR_AFD_DEPTH + 1, "[", "]"), MR_AFD_JSON), "[\"***\"]"));
	deep = nested(MR_AFD_DEPTH, "{\"a\":", "}");
	check(deep, MR_AFD_JSON, deep);
	CHECK(strstr(written(nested(2000, "{\"a\":", "}"), MR_AFD_JSON), "{\"a\":\"***\"}"));
}

static void test_every_format_writes_any_depth(void)
{
	static const char *const shapes[][2] = { { "[", "]" }, { "{\"a\":", "}" },
		{ "{\"a\":[", "]}" }, { "[{\"a\":[", "]}]" } };

	for (size_t i = 0; i < MR_LEN(shapes); i++)
		for (size_t depth = 60; depth < 600; depth += 67)
			for (int format = MR_AFD_JSON; format <= MR_AFD_PLAIN; format++)
				CHECK(strlen(written(nested(depth, shapes[i][0], shapes[i][1]),
					      (enum mr_afd_format)format)) > 1);
}

static void test_yaml_reads_back(void)
{
	const struct mr_value *back = NULL;
	struct mr_err err = { 0 };
	const char *yaml = written("{\"a\":[{\"b\":\"x\\u0001\\u2029: # -\"}],\"-\":1,\"...\":2,"
				   "\"---\":3,\"null\":4,\"? x\":5,\"c_rfc3339\":\"t\"}",
		MR_AFD_YAML);

	CHECK_OK(mr_yaml_parse(arena, mr_bytes_text(yaml), NULL, &back, &err), err);
	CHECK(mr_value_equal(back,
		parse("{\"a\":[{\"b\":\"x\\u0001\\u2029: # -\"}],\"-\":1,\"...\":2,\"---\":3,"
		      "\"null\":4,\"? x\":5,\"c\":\"t\"}")));
}

static const struct test tests[] = {
	TEST(test_formats_by_name),
	TEST(test_status_as_yaml),
	TEST(test_json_is_one_line_with_keys_and_values_as_they_are),
	TEST(test_yaml_lists),
	TEST(test_yaml_of_a_value_that_is_no_map),
	TEST(test_yaml_escapes),
	TEST(test_yaml_keys_are_quoted_when_not_plain),
	TEST(test_plain),
	TEST(test_plain_quotes_what_is_not_one_word),
	TEST(test_plain_pairs_are_sorted_by_the_whole_key),
	TEST(test_keys_are_in_the_order_of_utf16),
	TEST(test_raw_yaml_keeps_keys_and_values),
	TEST(test_suffix_epoch),
	TEST(test_suffix_money),
	TEST(test_suffix_units),
	TEST(test_suffix_milliseconds),
	TEST(test_suffix_bytes),
	TEST(test_suffixes_that_stay),
	TEST(test_numbers),
	TEST(test_keys_that_would_become_the_same_stay),
	TEST(test_many_keys),
	TEST(test_secrets_of_any_kind_are_hidden),
	TEST(test_urls_lose_their_password),
	TEST(test_urls_lose_secret_parameters),
	TEST(test_urls_that_are_none_are_hidden),
	TEST(test_only_texts_are_urls),
	TEST(test_what_is_deep_is_written_and_what_is_deeper_hidden),
	TEST(test_every_format_writes_any_depth),
	TEST(test_yaml_reads_back),
};

int main(void)
{
	int failed;

	arena = mr_arena_new();
	failed = test_main(tests, MR_LEN(tests));
	mr_arena_free(arena);
	return failed;
}
