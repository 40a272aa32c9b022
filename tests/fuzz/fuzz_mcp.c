/*
 * tests/fuzz/fuzz_mcp.c - any JSON as a request, in both generations, to a server without storage
 * that may change nothing. What is a request is answered by one response with its id, which holds
 * a result or an error and not both.
 */
#include "app/metrics.h"
#include "app/settings.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "surface/mcp/answer.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/mcp.h"

#include <fcntl.h>
#include <stdlib.h>

static struct mr_mcp *mcp;

static void begin(void)
{
	static const char *nowhere[] = { "storage.root=/proc/nowhere" };
	static struct mr_arena *arena; /* kept until the end */
	static struct mr_app app;
	const struct mr_texts texts = { nowhere, 1 };
	const struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };
	struct mr_err err;

	app = (struct mr_app){ .table = &mr_nouns,
		.metrics = mr_metrics_new(),
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };
	arena = mr_arena_new();
	if (mr_settings_load(arena, &sources, &app.settings, &err))
		abort();
	mcp = mr_mcp_new(&app, &(struct mr_mcp_options){ .fixtures = mr_mcp_fixtures() });
}

static void answer(struct mr_arena *arena, const struct mr_rpc *rpc, enum mr_mcp_era era)
{
	const struct mr_mcp_client client = { .era = era,
		.version = era == MR_MCP_SESSIONS ? MR_MCP_LATEST : MR_MCP_MODERN };
	struct mr_mcp_exchange ex = { .mcp = mcp, .client = &client };
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *value;
	struct mr_rpc said;
	struct mr_err err;

	mr_buf_init(&text, 64 << 20);
	if (mr_mcp_is_long(mcp, &client, rpc))
		return;
	ex.call = mr_dispatch_call(mr_mcp_app(mcp), arena);
	mr_mcp_answer(&ex, rpc, &text);
	if (mr_json_parse(arena, mr_buf_bytes(&text), NULL, &value, &err) ||
		mr_rpc_read(value, &said) || said.kind != MR_RPC_RESPONSE || !said.id ||
		!mr_value_equal(said.id, rpc->id))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *value;
	struct mr_rpc rpc;
	struct mr_err err;

	if (!mcp)
		begin();
	if (mr_json_parse(arena, mr_bytes_of(data, len), NULL, &value, &err) ||
		mr_rpc_read(value, &rpc) || rpc.kind != MR_RPC_REQUEST)
		return 0;
	answer(arena, &rpc, MR_MCP_SESSIONS);
	answer(arena, &rpc, MR_MCP_STATELESS);
	return 0;
}
