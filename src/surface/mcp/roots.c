/*
 * surface/mcp/roots.c - Asks the client for its root directories with roots/list and converts them
 * to paths.
 */
#include "surface/mcp/roots.h"

#include "surface/mcp/ask.h"
#include "surface/mcp/uri.h"

struct mr_texts mr_mcp_roots_read(struct mr_arena *arena, const struct mr_value *answer)
{
	const struct mr_value *list = mr_value_get(answer, "roots");
	struct mr_texts paths = { mr_arena_array(arena, MR_MCP_ROOTS, sizeof(*paths.items)), 0 };

	for (size_t i = 0; list && list->kind == MR_LIST && i < list->list.len; i++) {
		const struct mr_value *uri = mr_value_get(&list->list.items[i], "uri");
		const char *path =
			uri && uri->kind == MR_TEXT ? mr_uri_file(arena, uri->text) : NULL;

		if (path && paths.len < MR_MCP_ROOTS)
			paths.items[paths.len++] = path;
	}
	return paths;
}

enum mr_code mr_mcp_roots_ask(void *exchange, struct mr_ctx *cx, struct mr_texts *out)
{
	struct mr_mcp_exchange *ex = exchange;
	const struct mr_value *answer = NULL;
	enum mr_code rc = mr_mcp_ask(ex, "roots", "roots/list", NULL, &answer);

	if (rc) {
		ex->rpc_code = 0; /* the tool's own result reports the failure */
		return mr_err_wrap(&cx->err, "the client did not name its roots");
	}
	if (!answer)
		return mr_mcp_ask_later(ex);
	*out = mr_mcp_roots_read(cx->arena, answer);
	return MR_OK;
}
