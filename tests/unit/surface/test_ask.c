/* tests/unit/surface/test_ask.c - requests through mr_mcp_answer(), with the tests' tools. */
#include "surface/mcp/ask.h"
#include "surface/mcp/fixtures.h"

#include "app/principal.h"
#include "app/settings.h"
#include "surface/mcp/answer.h"
#include "test.h"
#include "text/time.h"

#include <fcntl.h>
#include <string.h>

static struct mr_clock_fixed clock_;
static struct mr_rand rand_;
static struct mr_arena *arena;
static struct mr_mcp *mcp;
static const struct mr_principal *principal;
static int status;

static const struct mr_value *parse(const char *json)
{
	const struct mr_value *value = NULL;
	struct mr_err err;

	CHECK_OK(mr_json_parse(arena, mr_bytes_text(json), NULL, &value, &err), err);
	return value;
}

static void start(void)
{
	static const struct mr_op_table table;
	static struct mr_app app;
	const struct mr_settings_sources sources = { .cwd = AT_FDCWD };
	struct mr_err err;

	arena = mr_arena_new();
	mr_clock_fixed_init(&clock_, 1000 * MR_TIME_S);
	mr_rand_seeded_init(&rand_, 7);
	app = (struct mr_app){ .table = &table, .clock = &clock_.clock, .rand = &rand_ };
	CHECK_OK(mr_settings_load(arena, &sources, &app.settings, &err), err);
	mcp = mr_mcp_new(&app, &(struct mr_mcp_options){ .fixtures = mr_mcp_fixtures() });
}

static void stop(void)
{
	mr_mcp_free(mcp);
	mr_arena_free(arena);
}

static const struct mr_value *ask(enum mr_mcp_era era, const char *method, const char *params)
{
	const struct mr_mcp_client client = { .era = era,
		.version = MR_MCP_MODERN,
		.can_elicit = true };
	struct mr_mcp_exchange ex = { .mcp = mcp, .client = &client };
	const struct mr_rpc rpc = { .kind = MR_RPC_REQUEST,
		.id = parse("1"),
		.method = method,
		.params = parse(params) };
	const struct mr_value *answer;
	struct mr_buf text;

	ex.call = mr_dispatch_call(mr_mcp_app(mcp), arena);
	ex.call.principal = principal;
	mr_buf_init(&text, 1 << 20);
	status = mr_mcp_answer(&ex, &rpc, &text);
	answer = parse(mr_buf_text(&text));
	mr_buf_release(&text);
	return answer;
}

static const char *text_at(const struct mr_value *map, const char *a, const char *b)
{
	const struct mr_value *value = mr_value_get(mr_value_get(map, a), b);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static int64_t error_of(const struct mr_value *answer)
{
	const struct mr_value *code = mr_value_get(mr_value_get(answer, "error"), "code");

	return code ? code->integer : 0;
}

static const struct mr_value *call(const char *tool, const char *state, bool answers)
{
	return ask(MR_MCP_STATELESS, "tools/call",
		mr_arena_printf(arena, "{\"name\":\"%s\"%s%s%s%s}", tool,
			answers ? ",\"inputResponses\":{\"confirm\":{\"action\":\"accept\"}}" : "",
			state ? ",\"requestState\":\"" : "", state ? state : "",
			state ? "\"" : ""));
}

#define TOOL "test_input_required_result_request_state"

static void states_come_back_unchanged(void)
{
	const struct mr_value *answer;
	const char *state;

	start();
	answer = call(TOOL, NULL, false);
	CHECK_INT(status, 200);
	CHECK_STR(text_at(answer, "result", "resultType"), "input_required");
	state = text_at(answer, "result", "requestState");
	CHECK(state);
	CHECK_STR(text_at(call(TOOL, state, true), "result", "resultType"), "complete");
	/* Every change is noticed. */
	for (size_t i = 0; i < strlen(state); i++) {
		char *bad = mr_arena_strdup(arena, state);

		bad[i] = (char)(bad[i] == 'A' ? 'B' : 'A');
		CHECK_INT(error_of(call(TOOL, bad, true)), MR_RPC_PARAMS);
	}
	CHECK_INT(error_of(call(TOOL, "", true)), MR_RPC_PARAMS);
	CHECK_INT(error_of(call(TOOL, NULL, true)), MR_RPC_PARAMS);
	stop();
}

static void states_belong_to_one_request_and_principal(void)
{
	const struct mr_principal alice = { .name = "sub:alice" }, bob = { .name = "sub:bob" };
	struct mr_mcp *other;
	const char *state;

	start();
	principal = &alice;
	state = text_at(call(TOOL, NULL, false), "result", "requestState");
	CHECK_INT(error_of(call("test_input_required_result_tampered_state", state, true)),
		MR_RPC_PARAMS);
	principal = &bob;
	CHECK_INT(error_of(call(TOOL, state, true)), MR_RPC_PARAMS);
	principal = &alice;
	clock_.now_us += MR_MCP_STATE_S * MR_TIME_S;
	CHECK_INT(error_of(call(TOOL, state, true)), 0);
	clock_.now_us += MR_TIME_S;
	CHECK_INT(error_of(call(TOOL, state, true)), MR_RPC_PARAMS);
	/* Nor does another server know it. */
	clock_.now_us -= MR_TIME_S;
	other = mr_mcp_new(mr_mcp_app(mcp),
		&(struct mr_mcp_options){ .fixtures = mr_mcp_fixtures() });
	mr_mcp_free(mcp);
	mcp = other;
	CHECK_INT(error_of(call(TOOL, state, true)), MR_RPC_PARAMS);
	stop();
}

static void clients_that_cannot_be_asked_are_told(void)
{
	const struct mr_value *answer;

	start();
	answer = call("test_input_required_result_sampling", NULL, false);
	CHECK_INT(status, 400);
	CHECK_INT(error_of(answer), MR_RPC_CAPABILITY);
	CHECK(mr_value_equal(mr_value_get(mr_value_get(answer, "error"), "data"),
		parse("{\"requiredCapabilities\":{\"sampling\":{}}}")));
	/* In the first generation only a request with a channel can ask. */
	answer = ask(MR_MCP_SESSIONS, "tools/call", "{\"name\":\"" TOOL "\"}");
	CHECK_INT(error_of(answer), MR_RPC_INTERNAL);
	stop();
}

static void methods_belong_to_their_generation(void)
{
	static const struct {
		const char *method;
		bool first, second;
	} rows[] = {
		{ "initialize", true, false },
		{ "ping", true, false },
		{ "logging/setLevel", true, false },
		{ "resources/subscribe", true, false },
		{ "server/discover", false, true },
		{ "tools/list", true, true },
		{ "no/such", false, false },
	};

	start();
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		CHECK_INT(error_of(ask(MR_MCP_SESSIONS, rows[i].method, "{}")) == MR_RPC_METHOD,
			!rows[i].first);
		CHECK_INT(error_of(ask(MR_MCP_STATELESS, rows[i].method, "{}")) == MR_RPC_METHOD,
			!rows[i].second);
		CHECK_INT(status, rows[i].second ? 200 : 404);
	}
	stop();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(states_come_back_unchanged),
		TEST(states_belong_to_one_request_and_principal),
		TEST(clients_that_cannot_be_asked_are_told),
		TEST(methods_belong_to_their_generation),
	};

	return test_main(tests, MR_LEN(tests));
}
