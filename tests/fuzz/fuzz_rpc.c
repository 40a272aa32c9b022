/*
 * tests/fuzz/fuzz_rpc.c - any JSON as a message. What is one, written again by its kind, is the
 * same; what is none says why, and names at most an id that can be answered.
 */
#include "surface/mcp/rpc.h"

#include <stdlib.h>

static void write_again(const struct mr_rpc *rpc, struct mr_buf *out)
{
	struct mr_out json;

	mr_out_init_json(&json, out, MR_JSON_COMPACT);
	mr_out_map(&json, NULL);
	mr_out_text(&json, "jsonrpc", "2.0");
	if (rpc->id)
		mr_out_value(&json, "id", rpc->id);
	if (rpc->method)
		mr_out_text(&json, "method", rpc->method);
	if (rpc->params)
		mr_out_value(&json, "params", rpc->params);
	if (rpc->result)
		mr_out_value(&json, "result", rpc->result);
	if (rpc->error)
		mr_out_value(&json, "error", rpc->error);
	mr_out_end(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *value;
	struct mr_rpc rpc, again;
	struct mr_err err;
	const char *why;

	mr_buf_init(&text, 1 << 20);
	if (mr_json_parse(arena, mr_bytes_of(data, len), NULL, &value, &err))
		return 0;
	why = mr_rpc_read(value, &rpc);
	if (rpc.id && rpc.id->kind != MR_TEXT && rpc.id->kind != MR_INT)
		abort();
	if (why)
		return 0;
	write_again(&rpc, &text);
	if (text.failed)
		return 0;
	if (mr_json_parse(arena, mr_buf_bytes(&text), NULL, &value, &err) ||
		mr_rpc_read(value, &again) || again.kind != rpc.kind || !again.id != !rpc.id ||
		(rpc.id && !mr_value_equal(rpc.id, again.id)))
		abort();
	return 0;
}
