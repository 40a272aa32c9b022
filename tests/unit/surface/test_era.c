/* tests/unit/surface/test_era.c */
#include "surface/mcp/era.h"

#include "test.h"
#include "text/json.h"

#define META(version)                                                                              \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":" version                          \
	",\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":{}}}"

static struct mr_arena *arena;

static const struct mr_value *parse(const char *json)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	return value;
}

static struct mr_rpc message(const char *method, const char *params)
{
	return (struct mr_rpc){ .kind = MR_RPC_REQUEST,
		.id = parse("1"),
		.method = method,
		.params = params ? parse(params) : NULL };
}

/* 0 when it may come in, else the code. */
static int check(const char *version, const char *method, const char *name, const struct mr_rpc *m)
{
	struct mr_http_header headers[] = { { "MCP-Protocol-Version", version },
		{ "mcp-method", method }, { "Mcp-Name", name } };
	struct mr_http_request req = { .arena = arena, .headers = headers };
	struct mr_mcp_objection objection = { 0 };
	struct mr_mcp_client client = { 0 };

	for (size_t i = 0; i < MR_LEN(headers); i++) {
		if (headers[i].value)
			headers[req.headers_len++] = headers[i];
	}
	if (mr_mcp_era_check(&req, m, &client, &objection)) {
		CHECK_INT(client.era, mr_mcp_era_is_modern(m) ? MR_MCP_STATELESS : 0);
		CHECK_INT(client.can_sample, mr_mcp_era_is_modern(m));
		return 0;
	}
	CHECK(objection.message);
	return objection.code;
}

static void bodies_decide(void)
{
	struct mr_rpc m;

	arena = mr_arena_new();
	m = message("tools/list", NULL);
	CHECK(!mr_mcp_era_is_modern(&m));
	CHECK_INT(check(NULL, NULL, NULL, &m), 0);
	CHECK_INT(check("2025-11-25", NULL, NULL, &m), 0);
	/* What nobody speaks is the other generation's to refuse. */
	CHECK_INT(check("2027-01-01", NULL, NULL, &m), 0);
	CHECK_INT(check(MR_MCP_MODERN, "tools/list", NULL, &m), MR_RPC_PARAMS);
	m = message("initialize", NULL);
	CHECK_INT(check(MR_MCP_MODERN, NULL, NULL, &m), 0);
	m = message("tools/list", "{" META("\"2026-07-28\"") "}");
	CHECK(mr_mcp_era_is_modern(&m));
	CHECK_INT(check(MR_MCP_MODERN, "tools/list", NULL, &m), 0);
	m.kind = MR_RPC_NOTIFICATION;
	CHECK_INT(check(NULL, NULL, NULL, &(struct mr_rpc){ .kind = MR_RPC_NOTIFICATION }), 0);
	m = message("tools/list", "{" META("7") "}");
	CHECK_INT(check(MR_MCP_MODERN, "tools/list", NULL, &m), MR_RPC_PARAMS);
	m = message("tools/list", "{" META("\"2025-11-25\"") "}");
	CHECK_INT(check("2025-11-25", "tools/list", NULL, &m), MR_RPC_VERSION);
	CHECK_INT(check(MR_MCP_MODERN, "tools/list", NULL, &m), MR_RPC_HEADERS);
	m = message("tools/list",
		"{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}");
	CHECK_INT(check(MR_MCP_MODERN, "tools/list", NULL, &m), MR_RPC_PARAMS);
	mr_arena_free(arena);
}

static void headers_must_agree(void)
{
	static const struct {
		const char *version, *method, *name;
		int code;
	} rows[] = {
		{ MR_MCP_MODERN, "tools/call", "whois", 0 },
		{ " 2026-07-28 ", "\ttools/call", "whois  ", 0 },
		{ MR_MCP_MODERN, "tools/call", "=?base64?d2hvaXM=?=", 0 },
		{ MR_MCP_MODERN, "tools/call", "=?base64?d2hvaXM?=", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call", "=?base64?d2hv*XM=?=", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call",
			"=?base64?"
			"?=",
			MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call", "=?base64?=", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call", "=?base64?AA==?=", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call", "Whois", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call", "", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/call", NULL, MR_RPC_HEADERS },
		{ MR_MCP_MODERN, "tools/list", "whois", MR_RPC_HEADERS },
		{ MR_MCP_MODERN, NULL, "whois", MR_RPC_HEADERS },
		{ NULL, "tools/call", "whois", MR_RPC_HEADERS },
	};
	struct mr_rpc m;

	arena = mr_arena_new();
	m = message("tools/call", "{\"name\":\"whois\"," META("\"2026-07-28\"") "}");
	for (size_t i = 0; i < MR_LEN(rows); i++)
		CHECK_INT(check(rows[i].version, rows[i].method, rows[i].name, &m), rows[i].code);
	/* A resource is named by its URI; what has no name needs no header. */
	m = message("resources/read", "{\"uri\":\"a://b\"," META("\"2026-07-28\"") "}");
	CHECK_INT(check(MR_MCP_MODERN, "resources/read", "a://b", &m), 0);
	CHECK_INT(check(MR_MCP_MODERN, "resources/read", "a://c", &m), MR_RPC_HEADERS);
	m = message("tools/call", "{\"name\":7," META("\"2026-07-28\"") "}");
	CHECK_INT(check(MR_MCP_MODERN, "tools/call", NULL, &m), 0);
	CHECK_INT(check(MR_MCP_MODERN, "tools/call", "7", &m), MR_RPC_HEADERS);
	mr_arena_free(arena);
}

static void arguments_may_stand_in_headers(void)
{
	static const struct {
		const char *header, *arguments;
		bool agrees;
	} rows[] = {
		{ "eu", "{\"r\":\"eu\"}", true },
		{ "us", "{\"r\":\"eu\"}", false },
		{ NULL, "{\"r\":\"eu\"}", false },
		{ NULL, "{}", true },
		{ "eu", "{}", false },
		{ "-3", "{\"r\":-3}", true },
		{ "true", "{\"r\":true}", true },
		{ "false", "{\"r\":false}", true },
		{ "1", "{\"r\":true}", false },
		{ "x", "{\"r\":[]}", false },
	};
	const struct mr_value *schema;

	arena = mr_arena_new();
	schema = parse("{\"properties\":{\"o\":{},\"r\":{\"x-mcp-header\":\"Region\"}}}");
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_http_header header = { "mcp-param-region", rows[i].header };
		struct mr_http_request req = { .arena = arena,
			.headers = &header,
			.headers_len = rows[i].header != NULL };

		CHECK_STR(mr_mcp_era_wrong_param(&req, schema, parse(rows[i].arguments)),
			rows[i].agrees ? NULL : "Mcp-Param-Region");
		CHECK_STR(mr_mcp_era_wrong_param(&req, NULL, NULL), NULL);
	}
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(bodies_decide),
		TEST(headers_must_agree),
		TEST(arguments_may_stand_in_headers),
	};

	return test_main(tests, MR_LEN(tests));
}
