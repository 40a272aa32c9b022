/* tests/unit/surface/mcp_world.c */
#include "mcp_world.h"

#include "app/metrics.h"
#include "app/settings.h"
#include "op/nouns.h"
#include "op/team/team_home.h"
#include "surface/mcp/answer.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER = 64 << 20, SETTINGS = 16 };

void mcp_open(struct mcp_world *world, const char *const *settings)
{
	const char *assignments[SETTINGS] = { NULL };
	struct mr_texts texts = { assignments, 0 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };
	struct mr_mcp_options options = { 0 };
	struct mr_err err;

	*world = (struct mcp_world){ .arena = mr_arena_new(), .may_write = true };
	assignments[texts.len++] = mr_arena_printf(world->arena, "storage.root=%s", test_dir());
	for (size_t i = 0; settings && settings[i]; i++)
		assignments[texts.len++] = settings[i];
	world->app = (struct mr_app){
		.table = &mr_nouns,
		.metrics = mr_metrics_new(),
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	CHECK_OK(mr_settings_load(world->arena, &sources, &world->app.settings, &err), err);
	world->mcp = mr_mcp_new(&world->app, &options);
	world->client = (struct mr_mcp_client){ .era = MR_MCP_SESSIONS, .version = MR_MCP_LATEST };
}

void mcp_close(struct mcp_world *world)
{
	mr_mcp_free(world->mcp);
	mr_team_home_free(world->app.team);
	mr_metrics_free(world->app.metrics);
	mr_arena_free(world->arena);
}

static const struct mr_value *parse(struct mr_arena *arena, const char *json)
{
	static const struct mr_json_limits limits = { ANSWER, 64, 2000000 };
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), &limits, &value, &err), err);
	return value;
}

const struct mr_value *mcp_say(struct mcp_world *world, const char *method, const char *params)
{
	struct mr_mcp_exchange ex = { .call = mr_dispatch_call(&world->app, world->arena),
		.mcp = world->mcp,
		.client = &world->client };
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *request;
	struct mr_rpc rpc;

	ex.call.may_write = world->may_write;
	request = parse(world->arena,
		mr_arena_printf(world->arena,
			"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":%s}", method,
			params));
	CHECK(!mr_rpc_read(request, &rpc));
	mr_buf_init(&out, ANSWER);
	mr_mcp_answer(&ex, &rpc, &out);
	request = parse(world->arena, mr_buf_text(&out));
	CHECK_INT(mcp_int(request, "id"), 7);
	return request;
}

const struct mr_value *mcp_result(struct mcp_world *world, const char *method, const char *params)
{
	const struct mr_value *said = mcp_say(world, method, params);

	if (mr_value_get(said, "error"))
		test_fail(__FILE__, __LINE__, "%s %s: %s", method, params,
			mcp_text(said, "error.message"));
	return mr_value_get(said, "result");
}

int mcp_error(struct mcp_world *world, const char *method, const char *params)
{
	const struct mr_value *said = mcp_say(world, method, params);

	if (!mr_value_get(said, "error"))
		test_fail(__FILE__, __LINE__, "%s %s: no error", method, params);
	return (int)mcp_int(said, "error.code");
}

const struct mr_value *mcp_call(struct mcp_world *world, const char *tool, const char *arguments)
{
	return mcp_result(world, "tools/call",
		mr_arena_printf(world->arena, "{\"name\":\"%s\",\"arguments\":%s}", tool,
			arguments));
}

const struct mr_value *mcp_tool(struct mcp_world *world, const char *tool, const char *arguments)
{
	const struct mr_value *result = mcp_call(world, tool, arguments);

	if (mcp_get(result, "isError")->boolean)
		test_fail(__FILE__, __LINE__, "%s %s: %s", tool, arguments,
			mcp_text(result, "content.0.text"));
	return mr_value_get(result, "structuredContent");
}

const char *mcp_failure(struct mcp_world *world, const char *tool, const char *arguments)
{
	const struct mr_value *result = mcp_call(world, tool, arguments);

	if (!mcp_get(result, "isError")->boolean)
		test_fail(__FILE__, __LINE__, "%s %s: no failure", tool, arguments);
	return mcp_text(result, "structuredContent.error.type");
}

const struct mr_value *mcp_read(struct mcp_world *world, const char *uri)
{
	const struct mr_value *result = mcp_result(world, "resources/read",
		mr_arena_printf(world->arena, "{\"uri\":\"%s\"}", uri));

	CHECK_STR(mcp_text(result, "contents.0.uri"), uri);
	CHECK_STR(mcp_text(result, "contents.0.mimeType"), "application/json");
	return parse(world->arena, mcp_text(result, "contents.0.text"));
}

void mcp_scene(struct mcp_world *world)
{
	static const char *const who[][2] = { { "/p/backend", "GreenCastle" },
		{ "/p/backend", "RedCat" }, { "/p/frontend", "BlueLake" } };

	for (size_t i = 0; i < MR_LEN(who); i++)
		mcp_tool(world, "register_agent",
			mr_arena_printf(world->arena,
				"{\"project_key\":\"%s\",\"name\":\"%s\",\"program\":\"codex\","
				"\"model\":\"gpt\"}",
				who[i][0], who[i][1]));
	mcp_tool(world, "send_message",
		"{\"project_key\":\"backend\",\"sender_name\":\"GreenCastle\",\"to\":[\"RedCat\"],"
		"\"subject\":\"plan\",\"body_md\":\"build the \\u00fcber "
		"plan\",\"thread_id\":\"T\","
		"\"importance\":\"urgent\",\"ack_required\":true}");
}

const struct mr_value *mcp_get(const struct mr_value *value, const char *path)
{
	while (value && *path) {
		size_t len = strcspn(path, ".");
		char key[64];

		if (len >= sizeof(key))
			return NULL;
		memcpy(key, path, len);
		key[len] = '\0';
		path += len + (path[len] == '.');
		if (value->kind == MR_LIST) {
			size_t at = (size_t)strtoul(key, NULL, 10);

			value = at < value->list.len ? &value->list.items[at] : NULL;
		} else {
			value = mr_value_get(value, key);
		}
	}
	return value;
}

const char *mcp_text(const struct mr_value *value, const char *path)
{
	const struct mr_value *found = mcp_get(value, path);

	if (!found || found->kind != MR_TEXT)
		test_fail(__FILE__, __LINE__, "no text at %s", path);
	return found->text;
}

int64_t mcp_int(const struct mr_value *value, const char *path)
{
	const struct mr_value *found = mcp_get(value, path);

	if (!found || found->kind != MR_INT)
		test_fail(__FILE__, __LINE__, "no number at %s", path);
	return found->integer;
}
