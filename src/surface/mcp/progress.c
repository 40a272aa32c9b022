/*
 * surface/mcp/progress.c - Sends progress notifications to a client whose request carries a
 * progressToken.
 */
#include "surface/mcp/progress.h"

enum { MESSAGE_BYTES = 1 << 16 };

/* A failure is ignored: a notification that a slow client misses is followed by others, and the
 * tool goes on. */
static void send(const struct mr_mcp_progress *progress, const char *what, size_t done,
	size_t total)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err gone;
	struct mr_out out;

	mr_buf_init(&json, MESSAGE_BYTES);
	mr_out_init_json(&out, &json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, "notifications/progress");
	mr_out_map(&out, "params");
	mr_out_value(&out, "progressToken", progress->token);
	mr_out_int(&out, "progress", (int64_t)done);
	if (total)
		mr_out_int(&out, "total", (int64_t)total);
	mr_out_text(&out, "message", what);
	mr_out_end(&out);
	mr_out_end(&out);
	if (!json.failed)
		(void)!progress->channel->send(progress->channel, mr_buf_bytes(&json), &gone);
}

static void tell(void *arg, const char *what, size_t done, size_t total)
{
	struct mr_mcp_progress *progress = arg;
	int64_t now_ms = mr_clock_mono_ms(mr_clock_system());

	if (now_ms < progress->next_ms || (int64_t)done <= progress->told)
		return;
	progress->next_ms = now_ms + MR_MCP_PROGRESS_MS;
	progress->told = (int64_t)done;
	send(progress, what, done, total);
}

void mr_mcp_progress_begin(struct mr_mcp_progress *progress, struct mr_mcp_exchange *ex)
{
	const struct mr_value *token =
		mr_value_get(mr_value_get(ex->params, "_meta"), "progressToken");

	*progress = (struct mr_mcp_progress){ .channel = ex->channel, .token = token, .told = -1 };
	if (!ex->channel || !token || (token->kind != MR_TEXT && token->kind != MR_INT))
		return;
	ex->call.cx.progress = tell;
	ex->call.cx.progress_arg = progress;
}
