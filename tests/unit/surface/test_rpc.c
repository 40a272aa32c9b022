/* tests/unit/surface/test_rpc.c */
#include "surface/mcp/rpc.h"

#include "test.h"
#include "text/json.h"

static struct mr_arena *arena;

static const struct mr_value *parse(const char *json)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	return value;
}

static void reads_what_is_a_message(void)
{
	static const struct {
		const char *json;
		enum mr_rpc_kind kind;
		const char *method;
		bool has_id, has_params;
	} rows[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MR_RPC_REQUEST, "ping",
			true, false },
		{ "{\"method\":\"x\",\"params\":{},\"id\":\"a\",\"jsonrpc\":\"2.0\",\"more\":[]}",
			MR_RPC_REQUEST, "x", true, true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":-9007199254740993,\"method\":\"\"}", MR_RPC_REQUEST,
			"", true, false },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}", MR_RPC_NOTIFICATION, "n", false,
			false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":null}", MR_RPC_RESPONSE, NULL,
			true, false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{}}", MR_RPC_RESPONSE, NULL, true,
			false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", MR_RPC_RESPONSE, NULL, false,
			false },
	};

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_rpc rpc;

		CHECK_STR(mr_rpc_read(parse(rows[i].json), &rpc), NULL);
		CHECK_INT(rpc.kind, rows[i].kind);
		CHECK_STR(rpc.method, rows[i].method);
		CHECK_INT(rpc.id != NULL, rows[i].has_id);
		CHECK_INT(rpc.params != NULL, rows[i].has_params);
		CHECK_INT((rpc.result != NULL) + (rpc.error != NULL), rpc.kind == MR_RPC_RESPONSE);
	}
	mr_arena_free(arena);
}

static void says_what_is_wrong(void)
{
	static const struct {
		const char *json, *why;
		bool has_id;
	} rows[] = {
		{ "[]", "a message must be an object", false },
		{ "null", "a message must be an object", false },
		{ "{}", "jsonrpc must be \"2.0\"", false },
		{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"x\"}", "jsonrpc must be \"2.0\"", true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}", "method must be a string", true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}",
			"params must be an object", true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":null}",
			"params must be an object", true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}",
			"id must be a string (of at most 1024 bytes) or an integer", false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}",
			"id must be a string (of at most 1024 bytes) or an integer", false },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}",
			"a message needs a method, a result or an error", true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}",
			"a message needs a method, a result or an error", true },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}", "error must be an object",
			true },
		{ "{\"jsonrpc\":\"2.0\",\"result\":{}}", "a response needs the id it answers",
			false },
	};

	arena = mr_arena_new();
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_rpc rpc;

		CHECK_STR(mr_rpc_read(parse(rows[i].json), &rpc), rows[i].why);
		CHECK_INT(rpc.id != NULL, rows[i].has_id);
	}
	mr_arena_free(arena);
}

static void writes_messages(void)
{
	struct mr_buf buf;
	struct mr_out out;

	arena = mr_arena_new();
	mr_buf_init(&buf, 4096);
	mr_out_init_json(&out, &buf, MR_JSON_COMPACT);
	mr_rpc_begin(&out, parse("\"a\""));
	mr_out_map(&out, "result");
	mr_out_end(&out);
	mr_out_end(&out);
	CHECK_STR(mr_buf_text(&buf), "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
	mr_buf_clear(&buf);
	mr_out_init_json(&out, &buf, MR_JSON_COMPACT);
	mr_rpc_error(&out, NULL, MR_RPC_PARSE, "no \"JSON\"", NULL);
	CHECK_STR(mr_buf_text(&buf),
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":"
		"\"no \\\"JSON\\\"\"}}");
	mr_buf_clear(&buf);
	mr_out_init_json(&out, &buf, MR_JSON_COMPACT);
	mr_rpc_error(&out, parse("3"), MR_RPC_VERSION, "no", parse("{\"a\":1}"));
	CHECK_STR(mr_buf_text(&buf),
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32022,\"message\":\"no\","
		"\"data\":{\"a\":1}}}");
	mr_buf_clear(&buf);
	mr_out_init_json(&out, &buf, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, "q1", "roots/list");
	mr_out_end(&out);
	CHECK_STR(mr_buf_text(&buf),
		"{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"roots/list\"}");
	mr_buf_release(&buf);
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_what_is_a_message),
		TEST(says_what_is_wrong),
		TEST(writes_messages),
	};

	return test_main(tests, MR_LEN(tests));
}
