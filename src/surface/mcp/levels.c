/* surface/mcp/levels.c - log messages for clients: how much each wants to hear. */
#include "base/attr.h"
#include "surface/mcp/hub.h"
#include "surface/mcp/method.h"

enum { MESSAGE_BYTES = 64 << 10 };

static const char *const words[] = { "debug", "info", "notice", "warning", "error", "critical",
	"alert", "emergency" };

bool mr_mcp_level_of(const char *word, enum mr_mcp_level *out)
{
	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (!mr_str_eq(words[i], word))
			continue;
		*out = (enum mr_mcp_level)i;
		return true;
	}
	return false;
}

enum mr_code mr_mcp_logging_set_level(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	struct mr_mcp_listener *listener = ex->client->listener;
	const char *word = mr_mcp_param_text(ex, "level");
	enum mr_mcp_level level;

	(void)out;
	if (!word || !mr_mcp_level_of(word, &level))
		return mr_mcp_refuse(ex, MR_RPC_PARAMS,
			"level must be one of debug, info, notice, warning, error, critical, "
			"alert, "
			"emergency");
	if (listener && listener->set_level)
		listener->set_level(listener, (int)level);
	return MR_OK;
}

void mr_mcp_log(struct mr_mcp_exchange *ex, enum mr_mcp_level level, const char *logger,
	const char *text)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	struct mr_err ignored;

	mr_buf_init(&json, MESSAGE_BYTES);
	if (!ex->channel || (int)level < ex->client->log_level)
		return;
	mr_out_init_json(&out, &json, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, "notifications/message");
	mr_out_map(&out, "params");
	mr_out_text(&out, "level", words[level]);
	mr_out_text(&out, "logger", logger);
	mr_out_text(&out, "data", text);
	mr_out_end(&out);
	mr_out_end(&out);
	/* A failure is ignored: the client has gone. */
	if (!json.failed && ex->channel->send(ex->channel, mr_buf_bytes(&json), &ignored))
		return;
}
