/*
 * surface/mcp/claim.c - Reads the protocol version, client information and capabilities that a
 * request of protocol 2026-07-28 carries in params._meta.
 */
#include "surface/mcp/claim.h"

#define PREFIX "io.modelcontextprotocol/"

/* {"supported":[…],"requested":…} */
static const struct mr_value *version_data(struct mr_arena *arena, const struct mr_value *requested)
{
	struct mr_out out;

	mr_out_init_tree(&out, arena);
	mr_out_map(&out, NULL);
	mr_out_list(&out, "supported");
	mr_out_text(&out, NULL, MR_MCP_MODERN);
	mr_out_end(&out);
	mr_out_value(&out, "requested", requested);
	mr_out_end(&out);
	return mr_out_tree(&out);
}

static void refuse(struct mr_mcp_claim *out, int code, const char *message)
{
	out->rpc_code = code;
	out->message = message;
}

void mr_mcp_claim(struct mr_arena *arena, const struct mr_value *params, struct mr_mcp_claim *out)
{
	const struct mr_value *meta = mr_value_get(params, "_meta");
	const struct mr_value *version = mr_value_get(meta, PREFIX "protocolVersion");
	const struct mr_value *can = mr_value_get(meta, PREFIX "clientCapabilities");
	const struct mr_value *level = mr_value_get(meta, PREFIX "logLevel");
	enum mr_mcp_level wanted = MR_MCP_SILENCE;

	*out = (struct mr_mcp_claim){ .is_made = version != NULL };
	if (!version)
		return;
	if (version->kind != MR_TEXT) {
		refuse(out, MR_RPC_PARAMS, PREFIX "protocolVersion must be a string");
	} else if (!mr_str_eq(version->text, MR_MCP_MODERN)) {
		refuse(out, MR_RPC_VERSION,
			mr_arena_printf(arena, "protocol version %.40s is not spoken here",
				version->text));
		out->data = version_data(arena, version);
	} else if (!can || can->kind != MR_MAP) {
		refuse(out, MR_RPC_PARAMS, PREFIX "clientCapabilities is missing in _meta");
	}
	/* A level nobody knows is none. */
	if (level && level->kind == MR_TEXT && !mr_mcp_level_of(level->text, &wanted))
		wanted = MR_MCP_SILENCE;
	out->client = (struct mr_mcp_client){
		.era = MR_MCP_STATELESS,
		.version = MR_MCP_MODERN,
		.can_sample = mr_value_get(can, "sampling"),
		.can_elicit = mr_value_get(can, "elicitation"),
		.has_roots = mr_value_get(can, "roots"),
		.log_level = (int)wanted,
	};
}
