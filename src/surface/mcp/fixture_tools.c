/* surface/mcp/fixture_tools.c - the tests' tools. */
#include "surface/mcp/fixture_tools.h"
#include "base/attr.h"
#include "surface/mcp/ask.h"
#include "surface/mcp/hub.h"

#include <string.h>
#include <time.h>

#define EMPTY       "{\"type\":\"object\",\"properties\":{}}"
#define TAKES(what) "{\"type\":\"object\",\"properties\":{" what "}}"
#define WAV         "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
#define IMAGE       "{\"type\":\"image\",\"data\":\"" MR_MCP_FIXTURE_PNG "\",\"mimeType\":\"image/png\"}"
#define RESOURCE                                                                                   \
	"{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\",\"mimeType\":"  \
	"\"text/plain\",\"text\":\"This is an embedded resource content.\"}}"
#define NAME_SCHEMA(key)                                                                           \
	"\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" key                          \
	"\":{\"type\":\"string\"}},\"required\":[\"" key "\"]}"
#define CONFIRM                                                                                    \
	"{\"message\":\"Please confirm\",\"requestedSchema\":{\"type\":\"object\",\"properties\":" \
	"{\"ok\":{\"type\":\"boolean\"}},\"required\":[\"ok\"]}}"
#define SAMPLE(text)                                                                               \
	"{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text        \
	"\"}}],\"maxTokens\":100}"

typedef enum mr_code run_tool(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out);

enum {
	TALKS = 1, /* notifies before it answers */
	ASKS = 2,  /* asks the client */
};

struct tool {
	const char *name;
	const char *schema;
	const char *result; /* JSON, of those that always say the same */
	run_tool *run;
	unsigned flags;
};

static void put_text(struct mr_out *out, const char *text)
{
	mr_out_list(out, "content");
	mr_out_map(out, NULL);
	mr_out_text(out, "type", "text");
	mr_out_text(out, "text", text);
	mr_out_end(out);
	mr_out_end(out);
}

static const char *text_of(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

/* ---- tools that notify ---- */

static void pause_a_little(void)
{
	const struct timespec little = { .tv_nsec = 50 * 1000 * 1000 };

	nanosleep(&little, NULL);
}

static void notify(struct mr_mcp_exchange *ex, const char *method, const struct mr_value *params)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_out out;
	struct mr_err gone;

	if (!ex->channel)
		return;
	mr_buf_init(&text, 1 << 16);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	mr_rpc_begin_call(&out, NULL, method);
	mr_out_value(&out, "params", params);
	mr_out_end(&out);
	(void)!ex->channel->send(ex->channel, mr_buf_bytes(&text), &gone);
}

static void log_info(struct mr_mcp_exchange *ex, const char *text)
{
	mr_mcp_log(ex, MR_MCP_INFO, "conformance", text);
}

static enum mr_code run_logging(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	log_info(ex, "Tool execution started");
	pause_a_little();
	log_info(ex, "Tool processing data");
	pause_a_little();
	log_info(ex, "Tool execution completed");
	put_text(out, "It logged.");
	return MR_OK;
}

static enum mr_code run_progress(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	const struct mr_value *token =
		mr_value_get(mr_value_get(ex->params, "_meta"), "progressToken");

	(void)arguments;
	for (int64_t done = 0; done <= 100; done += 50) {
		struct mr_out params;

		if (done)
			pause_a_little();
		if (!mr_rpc_is_id(token))
			continue;
		mr_out_init_tree(&params, ex->call.cx.arena);
		mr_out_map(&params, NULL);
		mr_out_value(&params, "progressToken", token);
		mr_out_int(&params, "progress", done);
		mr_out_int(&params, "total", 100);
		mr_out_end(&params);
		notify(ex, "notifications/progress", mr_out_tree(&params));
	}
	put_text(out, "It came to its end.");
	return MR_OK;
}

static enum mr_code run_reconnection(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	if (ex->channel) {
		pause_a_little();
		ex->channel->pause(ex->channel);
		pause_a_little();
	}
	put_text(out, "The client came back.");
	return MR_OK;
}

/* ---- tools that ask ---- */

/* Ask one thing and show what came. */
static enum mr_code ask_and_show(struct mr_mcp_exchange *ex, const char *key, const char *method,
	const struct mr_value *params, struct mr_out *out)
{
	const struct mr_value *said;
	enum mr_code rc = mr_mcp_ask(ex, key, method, params, &said);

	if (rc)
		return rc;
	if (!said)
		return mr_mcp_ask_later(ex);
	put_text(out,
		mr_arena_printf(ex->call.cx.arena, "The client said: %s",
			mr_mcp_json(ex->call.cx.arena, said)));
	return MR_OK;
}

static enum mr_code ask_json(struct mr_mcp_exchange *ex, const char *key, const char *method,
	const char *params, struct mr_out *out)
{
	return ask_and_show(ex, key, method, mr_mcp_fixture_json(ex->call.cx.arena, params), out);
}

static enum mr_code run_sampling(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	struct mr_out params;

	mr_out_init_tree(&params, ex->call.cx.arena);
	mr_out_map(&params, NULL);
	mr_out_list(&params, "messages");
	mr_out_map(&params, NULL);
	mr_out_text(&params, "role", "user");
	mr_out_map(&params, "content");
	mr_out_text(&params, "type", "text");
	mr_out_text(&params, "text", text_of(arguments, "prompt"));
	mr_out_end(&params);
	mr_out_end(&params);
	mr_out_end(&params);
	mr_out_int(&params, "maxTokens", 100);
	mr_out_end(&params);
	return ask_and_show(ex, "sample", "sampling/createMessage", mr_out_tree(&params), out);
}

static enum mr_code run_elicitation(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	struct mr_out params;

	mr_out_init_tree(&params, ex->call.cx.arena);
	mr_out_map(&params, NULL);
	mr_out_text(&params, "message", text_of(arguments, "message"));
	mr_out_value(&params, "requestedSchema",
		mr_mcp_fixture_json(ex->call.cx.arena,
			"{\"type\":\"object\",\"properties\":{"
			"\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
			"\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
			"\"required\":[\"username\",\"email\"]}"));
	mr_out_end(&params);
	return ask_and_show(ex, "user", "elicitation/create", mr_out_tree(&params), out);
}

static enum mr_code run_defaults(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_json(ex, "defaults", "elicitation/create",
		"{\"message\":\"Please look through these\",\"requestedSchema\":{\"type\":"
		"\"object\",\"properties\":{"
		"\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
		"\"age\":{\"type\":\"integer\",\"default\":30},"
		"\"score\":{\"type\":\"number\",\"default\":95.5},"
		"\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
		"\"default\":\"active\"},"
		"\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}}",
		out);
}

static enum mr_code run_enums(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
#define VALUES "[\"option1\",\"option2\",\"option3\"]"
#define TITLES                                                                                     \
	"[{\"const\":\"value1\",\"title\":\"First Option\"},"                                      \
	"{\"const\":\"value2\",\"title\":\"Second Option\"},"                                      \
	"{\"const\":\"value3\",\"title\":\"Third Option\"}]"
	(void)arguments;
	return ask_json(ex, "enums", "elicitation/create",
		"{\"message\":\"Please choose\",\"requestedSchema\":{\"type\":\"object\","
		"\"properties\":{"
		"\"untitledSingle\":{\"type\":\"string\",\"enum\":" VALUES "},"
		"\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLES "},"
		"\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
		"\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
		"\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
		"\"enum\":" VALUES "}},"
		"\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" TITLES "}}},"
		"\"required\":[]}}",
		out);
}

static enum mr_code run_missing(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_json(ex, "sample", "sampling/createMessage", SAMPLE("Hello"), out);
}

static enum mr_code run_ask_name(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_json(ex, "user_name", "elicitation/create",
		"{\"message\":\"What is your name?\"," NAME_SCHEMA("name") "}", out);
}

static enum mr_code run_ask_capital(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_json(ex, "capital_question", "sampling/createMessage",
		SAMPLE("What is the capital of France?"), out);
}

static enum mr_code run_ask_roots(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_and_show(ex, "client_roots", "roots/list", NULL, out);
}

static enum mr_code run_state(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	const struct mr_value *said;
	enum mr_code rc = mr_mcp_ask(ex, "confirm", "elicitation/create",
		mr_mcp_fixture_json(ex->call.cx.arena, CONFIRM), &said);

	(void)arguments;
	if (rc)
		return rc;
	if (!said) {
		mr_mcp_ask_keep(ex, mr_mcp_fixture_json(ex->call.cx.arena, "\"asked\""));
		return mr_mcp_ask_later(ex);
	}
	if (ex->client->era == MR_MCP_STATELESS && !mr_mcp_ask_state(ex))
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "requestState is missing");
	put_text(out, "state-ok");
	return MR_OK;
}

/* Whatever the client can be asked. */
static enum mr_code ask_several(struct mr_mcp_exchange *ex, bool all, struct mr_out *out)
{
	static const struct {
		const char *key, *method, *params;
	} rows[] = {
		{ "user_name", "elicitation/create",
			"{\"message\":\"What is your name?\"," NAME_SCHEMA("name") "}" },
		{ "greeting", "sampling/createMessage", SAMPLE("Generate a greeting") },
		{ "client_roots", "roots/list", "{}" },
	};
	bool is_missing = false;

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		const struct mr_value *said;
		enum mr_code rc;

		if (!all && !mr_mcp_can_ask(ex, rows[i].method))
			continue;
		rc = mr_mcp_ask(ex, rows[i].key, rows[i].method,
			mr_mcp_fixture_json(ex->call.cx.arena, rows[i].params), &said);
		if (rc)
			return rc;
		is_missing |= !said;
	}
	if (is_missing) {
		mr_mcp_ask_keep(ex, mr_mcp_fixture_json(ex->call.cx.arena, "\"several\""));
		return mr_mcp_ask_later(ex);
	}
	put_text(out, "All is answered.");
	return MR_OK;
}

static enum mr_code run_several(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_several(ex, true, out);
}

static enum mr_code run_capable(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	return ask_several(ex, false, out);
}

static enum mr_code run_rounds(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	const struct mr_value *state = mr_mcp_ask_state(ex);
	struct mr_arena *arena = ex->call.cx.arena;
	bool is_second = state && state->kind == MR_INT && state->integer >= 1;
	const struct mr_value *said;
	enum mr_code rc;

	(void)arguments;
	rc = mr_mcp_ask(ex, is_second ? "step2" : "step1", "elicitation/create",
		mr_mcp_fixture_json(arena,
			is_second ? "{\"message\":\"Step 2: What is your favorite "
				    "color?\"," NAME_SCHEMA("color") "}"
				  : "{\"message\":\"Step 1: What is your name?\"," NAME_SCHEMA(
					    "name") "}"),
		&said);
	if (rc)
		return rc;
	if (!said) {
		mr_mcp_ask_keep(ex, mr_mcp_fixture_json(arena, is_second ? "2" : "1"));
		return mr_mcp_ask_later(ex);
	}
	put_text(out, "Both steps are done.");
	return MR_OK;
}

/* ---- tools that change a list ---- */

static enum mr_code run_tool_change(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	mr_mcp_hub_publish(mr_mcp_hub(ex->mcp), MR_MCP_URI_TOOLS);
	put_text(out, "Somebody is told.");
	return MR_OK;
}

static enum mr_code run_prompt_change(struct mr_mcp_exchange *ex, const struct mr_value *arguments,
	struct mr_out *out)
{
	(void)arguments;
	mr_mcp_hub_publish(mr_mcp_hub(ex->mcp), MR_MCP_URI_PROMPTS);
	put_text(out, "Somebody is told.");
	return MR_OK;
}

/* ---- all of them ---- */

static const struct tool tools[] = {
	{ "test_simple_text", EMPTY,
		"{\"content\":[{\"type\":\"text\",\"text\":\"This is a simple text.\"}]}" },
	{ "test_image_content", EMPTY, "{\"content\":[" IMAGE "]}" },
	{ "test_audio_content", EMPTY,
		"{\"content\":[{\"type\":\"audio\",\"data\":\"" WAV
		"\",\"mimeType\":\"audio/wav\"}]}" },
	{ "test_embedded_resource", EMPTY, "{\"content\":[" RESOURCE "]}" },
	{ "test_multiple_content_types", EMPTY,
		"{\"content\":[{\"type\":\"text\",\"text\":\"Several:\"}," IMAGE "," RESOURCE
		"]}" },
	{ "test_error_handling", EMPTY,
		"{\"content\":[{\"type\":\"text\",\"text\":\"This tool fails.\"}],\"isError\":"
		"true}" },
	{ "json_schema_2020_12_tool",
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
		"\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\","
		"\"properties\":{\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}}"
		","
		"\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":"
		"\"#/$defs/address\"},\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\","
		"\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
		"\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
		"\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":"
		"[\"contactMethod\"]},\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":"
		"[\"email\"]},\"additionalProperties\":false}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Its schema is what counts.\"}]}" },
	{ "test_header_parameter",
		"{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
		"\"x-mcp-header\":\"Region\"}},\"required\":[\"region\"]}",
		"{\"content\":[{\"type\":\"text\",\"text\":\"Header and body agree.\"}]}" },
	{ "test_tool_with_logging", EMPTY, NULL, run_logging, TALKS },
	{ "test_logging_tool", EMPTY, NULL, run_logging, TALKS },
	{ "test_tool_with_progress", EMPTY, NULL, run_progress, TALKS },
	{ "test_reconnection", EMPTY, NULL, run_reconnection, TALKS },
	{ "test_sampling", TAKES("\"prompt\":{\"type\":\"string\"}"), NULL, run_sampling, ASKS },
	{ "test_elicitation", TAKES("\"message\":{\"type\":\"string\"}"), NULL, run_elicitation,
		ASKS },
	{ "test_elicitation_sep1034_defaults", EMPTY, NULL, run_defaults, ASKS },
	{ "test_elicitation_sep1330_enums", EMPTY, NULL, run_enums, ASKS },
	{ "test_missing_capability", EMPTY, NULL, run_missing, ASKS },
	{ "test_streaming_elicitation", EMPTY, NULL, run_ask_name, ASKS },
	{ "test_trigger_tool_change", EMPTY, NULL, run_tool_change },
	{ "test_trigger_prompt_change", EMPTY, NULL, run_prompt_change },
	{ "test_input_required_result_elicitation", EMPTY, NULL, run_ask_name, ASKS },
	{ "test_input_required_result_sampling", EMPTY, NULL, run_ask_capital, ASKS },
	{ "test_input_required_result_list_roots", EMPTY, NULL, run_ask_roots, ASKS },
	{ "test_input_required_result_request_state", EMPTY, NULL, run_state, ASKS },
	{ "test_input_required_result_tampered_state", EMPTY, NULL, run_state, ASKS },
	{ "test_input_required_result_multiple_inputs", EMPTY, NULL, run_several, ASKS },
	{ "test_input_required_result_capabilities", EMPTY, NULL, run_capable, ASKS },
	{ "test_input_required_result_multi_round", EMPTY, NULL, run_rounds, ASKS },
};

static const struct tool *find(const char *name)
{
	for (size_t i = 0; i < MR_LEN(tools); i++) {
		if (mr_str_eq(tools[i].name, name))
			return &tools[i];
	}
	return NULL;
}

void mr_mcp_fixture_tools(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	for (size_t i = 0; i < MR_LEN(tools); i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "name", tools[i].name);
		mr_out_text(out, "description", "For the conformance tests of the protocol");
		mr_out_value(out, "inputSchema",
			mr_mcp_fixture_json(ex->call.cx.arena, tools[i].schema));
		mr_out_end(out);
	}
}

bool mr_mcp_fixture_is_tool(const char *name)
{
	return find(name);
}

bool mr_mcp_fixture_is_long(const struct mr_mcp_client *client, const struct mr_value *params)
{
	const struct tool *tool = find(text_of(params, "name"));

	return tool &&
		(tool->flags & TALKS || (tool->flags & ASKS && client->era == MR_MCP_SESSIONS));
}

const struct mr_value *mr_mcp_fixture_schema(struct mr_arena *arena, const char *name)
{
	const struct tool *tool = find(name);

	return tool ? mr_mcp_fixture_json(arena, tool->schema) : NULL;
}

enum mr_code mr_mcp_fixture_call(struct mr_mcp_exchange *ex, const char *name,
	const struct mr_value *arguments, struct mr_out *out)
{
	const struct tool *tool = find(name);

	if (tool->run)
		return tool->run(ex, arguments, out);
	mr_mcp_fixture_emit(out, mr_mcp_fixture_json(ex->call.cx.arena, tool->result));
	return MR_OK;
}
