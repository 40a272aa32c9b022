/* tests/unit/surface/test_claim.c */
#include "surface/mcp/claim.h"

#include "test.h"

#include <string.h>

#define VERSION "\"io.modelcontextprotocol/protocolVersion\":"
#define CAN     "\"io.modelcontextprotocol/clientCapabilities\":"
#define LEVEL   "\"io.modelcontextprotocol/logLevel\":"

static struct mr_mcp_claim claim_of(struct mr_arena *arena, const char *json)
{
	const struct mr_value *params = NULL;
	struct mr_mcp_claim claim;
	struct mr_err err;

	if (*json)
		CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &params, &err), err);
	mr_mcp_claim(arena, params, &claim);
	return claim;
}

static void the_first_generation_makes_none(void)
{
	static const char *const params[] = { "", "{}", "{\"_meta\":{}}", "{\"_meta\":7}",
		"{\"_meta\":{" CAN "{}}}", "{\"_meta\":{\"progressToken\":1}}" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(params); i++)
		CHECK(!claim_of(arena, params[i]).is_made);
}

static void it_says_what_the_client_can(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mcp_claim claim = claim_of(arena,
		"{\"_meta\":{" VERSION "\"2026-07-28\"," CAN "{\"sampling\":{}}," LEVEL
		"\"warning\"}}");

	CHECK(claim.is_made);
	CHECK_INT(claim.rpc_code, 0);
	CHECK_INT(claim.client.era, MR_MCP_STATELESS);
	CHECK_STR(claim.client.version, "2026-07-28");
	CHECK(claim.client.can_sample && !claim.client.can_elicit && !claim.client.has_roots);
	CHECK_INT(claim.client.log_level, MR_MCP_WARNING);
	claim = claim_of(arena,
		"{\"_meta\":{" VERSION "\"2026-07-28\"," CAN "{}," LEVEL "\"loud\"}}");
	CHECK_INT(claim.rpc_code, 0);
	CHECK_INT(claim.client.log_level, MR_MCP_SILENCE);
	claim = claim_of(arena, "{\"_meta\":{" VERSION "\"2026-07-28\"," CAN "{}}}");
	CHECK_INT(claim.client.log_level, MR_MCP_SILENCE);
}

static void what_is_wrong_is_told(void)
{
	static const struct {
		const char *params;
		int code;
		const char *message;
	} cases[] = {
		{ "{\"_meta\":{" VERSION "7," CAN "{}}}", MR_RPC_PARAMS,
			"protocolVersion must be a string" },
		{ "{\"_meta\":{" VERSION "\"2025-11-25\"," CAN "{}}}", MR_RPC_VERSION,
			"protocol version 2025-11-25 is not spoken here" },
		{ "{\"_meta\":{" VERSION "\"2026-07-28\"}}", MR_RPC_PARAMS,
			"clientCapabilities is missing" },
		{ "{\"_meta\":{" VERSION "\"2026-07-28\"," CAN "[]}}", MR_RPC_PARAMS,
			"clientCapabilities is missing" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_mcp_claim claim = claim_of(arena, cases[i].params);

		CHECK(claim.is_made);
		CHECK_INT(claim.rpc_code, cases[i].code);
		CHECK(strstr(claim.message, cases[i].message));
		CHECK((claim.data != NULL) == (cases[i].code == MR_RPC_VERSION));
	}
	CHECK_STR(mr_value_get(claim_of(arena, cases[1].params).data, "requested")->text,
		"2025-11-25");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_first_generation_makes_none),
		TEST(it_says_what_the_client_can),
		TEST(what_is_wrong_is_told),
	};

	return test_main(tests, MR_LEN(tests));
}
