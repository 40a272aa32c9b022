/* surface/mcp/fixtures.c - the tests' prompts and resources. */
#include "surface/mcp/fixtures.h"

#include "surface/mcp/fixture_tools.h"

#include "base/attr.h"
#include "surface/mcp/ask.h"

#include <stdlib.h>
#include <string.h>

const struct mr_value *mr_mcp_fixture_json(struct mr_arena *arena, const char *json)
{
	const struct mr_value *value;
	struct mr_err err;

	if (mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err))
		abort();
	return value;
}

void mr_mcp_fixture_emit(struct mr_out *out, const struct mr_value *map)
{
	for (size_t i = 0; i < map->map.len; i++)
		mr_out_value(out, map->map.pairs[i].key, &map->map.pairs[i].value);
}

/* The items of a list. */
static void emit_items(struct mr_mcp_exchange *ex, struct mr_out *out, const char *json)
{
	const struct mr_value *list = mr_mcp_fixture_json(ex->call.cx.arena, json);

	for (size_t i = 0; i < list->list.len; i++)
		mr_out_value(out, NULL, &list->list.items[i]);
}

/* ---- prompts ---- */

static void prompts(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	emit_items(ex, out,
		"["
		"{\"name\":\"test_simple_prompt\",\"description\":\"Takes nothing\"},"
		"{\"name\":\"test_prompt_with_arguments\",\"description\":\"Repeats both\","
		"\"arguments\":[{\"name\":\"arg1\",\"description\":\"one\",\"required\":true},"
		"{\"name\":\"arg2\",\"description\":\"two\",\"required\":true}]},"
		"{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"Has a "
		"resource in it\",\"arguments\":[{\"name\":\"resourceUri\",\"description\":"
		"\"which\",\"required\":true}]},"
		"{\"name\":\"test_prompt_with_image\",\"description\":\"Has an image in it\"},"
		"{\"name\":\"test_input_required_result_prompt\",\"description\":\"Asks first\"}"
		"]");
}

static const char *argument(const struct mr_mcp_exchange *ex, const char *key)
{
	const struct mr_value *value = mr_value_get(mr_value_get(ex->params, "arguments"), key);

	return value && value->kind == MR_TEXT ? value->text : "";
}

static void begin_message(struct mr_out *out, const char *type)
{
	mr_out_map(out, NULL);
	mr_out_text(out, "role", "user");
	mr_out_map(out, "content");
	mr_out_text(out, "type", type);
}

static void put_text_message(struct mr_out *out, const char *text)
{
	begin_message(out, "text");
	mr_out_text(out, "text", text);
	mr_out_end(out);
	mr_out_end(out);
}

static void put_resource_message(struct mr_out *out, const char *uri)
{
	begin_message(out, "resource");
	mr_out_map(out, "resource");
	mr_out_text(out, "uri", uri);
	mr_out_text(out, "mimeType", "text/plain");
	mr_out_text(out, "text", "Embedded resource content for testing.");
	mr_out_end(out);
	mr_out_end(out);
	mr_out_end(out);
}

static void put_image_message(struct mr_out *out)
{
	begin_message(out, "image");
	mr_out_text(out, "data", MR_MCP_FIXTURE_PNG);
	mr_out_text(out, "mimeType", "image/png");
	mr_out_end(out);
	mr_out_end(out);
}

static enum mr_code ask_for_context(struct mr_mcp_exchange *ex, const struct mr_value **out)
{
	const struct mr_value *params = mr_mcp_fixture_json(ex->call.cx.arena,
		"{\"message\":\"What context should the prompt use?\",\"requestedSchema\":"
		"{\"type\":\"object\",\"properties\":{\"context\":{\"type\":\"string\"}},"
		"\"required\":[\"context\"]}}");
	enum mr_code rc = mr_mcp_ask(ex, "user_context", "elicitation/create", params, out);

	return rc || *out ? rc : mr_mcp_ask_later(ex);
}

static bool is_prompt(const char *name)
{
	static const char *const names[] = { "test_simple_prompt", "test_prompt_with_arguments",
		"test_prompt_with_embedded_resource", "test_prompt_with_image",
		"test_input_required_result_prompt" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		if (mr_str_eq(names[i], name))
			return true;
	}
	return false;
}

static enum mr_code prompt(struct mr_mcp_exchange *ex, const char *name, struct mr_out *out)
{
	struct mr_arena *arena = ex->call.cx.arena;
	const struct mr_value *said;

	if (mr_str_eq(name, "test_input_required_result_prompt")) {
		enum mr_code rc = ask_for_context(ex, &said);

		if (rc)
			return rc;
	}
	mr_out_list(out, "messages");
	if (mr_str_ends(name, "embedded_resource"))
		put_resource_message(out, argument(ex, "resourceUri"));
	else if (mr_str_ends(name, "image"))
		put_image_message(out);
	put_text_message(out,
		mr_arena_printf(arena, "This is a prompt for testing: arg1='%s', arg2='%s'",
			argument(ex, "arg1"), argument(ex, "arg2")));
	mr_out_end(out);
	return MR_OK;
}

/* ---- resources ---- */

static void resources(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	emit_items(ex, out,
		"["
		"{\"uri\":\"test://static-text\",\"name\":\"static-text\",\"mimeType\":\"text/"
		"plain\"},"
		"{\"uri\":\"test://static-binary\",\"name\":\"static-binary\",\"mimeType\":"
		"\"image/png\"},"
		"{\"uri\":\"test://watched-resource\",\"name\":\"watched\",\"mimeType\":"
		"\"text/plain\"}]");
}

static void templates(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	emit_items(ex, out,
		"[{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"template\","
		"\"mimeType\":\"application/json\"}]");
}

static void put_contents(struct mr_out *out, const char *uri, const char *type, const char *key,
	const char *what)
{
	mr_out_list(out, "contents");
	mr_out_map(out, NULL);
	mr_out_text(out, "uri", uri);
	mr_out_text(out, "mimeType", type);
	mr_out_text(out, key, what);
	mr_out_end(out);
	mr_out_end(out);
}

static bool read_resource(struct mr_mcp_exchange *ex, const char *uri, struct mr_out *out)
{
	static const char before[] = "test://template/", after[] = "/data";
	struct mr_arena *arena = ex->call.cx.arena;
	size_t len = strlen(uri);

	if (mr_str_eq(uri, "test://static-text") || mr_str_eq(uri, "test://watched-resource")) {
		put_contents(out, uri, "text/plain", "text", "This is a text for testing.");
	} else if (mr_str_eq(uri, "test://static-binary")) {
		put_contents(out, uri, "image/png", "blob", MR_MCP_FIXTURE_PNG);
	} else if (mr_str_starts(uri, before) && mr_str_ends(uri, after) &&
		len > sizeof(before) + sizeof(after) - 2) {
		const char *id = mr_arena_strndup(arena, uri + sizeof(before) - 1,
			len - (sizeof(before) + sizeof(after) - 2));

		put_contents(out, uri, "application/json", "text",
			mr_arena_printf(arena, "{\"id\":\"%s\",\"templateTest\":true}", id));
	} else {
		return false;
	}
	return true;
}

const struct mr_mcp_fixtures *mr_mcp_fixtures(void)
{
	static const struct mr_mcp_fixtures all = {
		.tools = mr_mcp_fixture_tools,
		.is_tool = mr_mcp_fixture_is_tool,
		.is_long = mr_mcp_fixture_is_long,
		.schema = mr_mcp_fixture_schema,
		.call = mr_mcp_fixture_call,
		.prompts = prompts,
		.resources = resources,
		.templates = templates,
		.is_prompt = is_prompt,
		.prompt = prompt,
		.read = read_resource,
	};

	return &all;
}
