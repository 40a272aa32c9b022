/* tests/unit/surface/test_tools.c - tools as clients see and call them. */
#include "mcp_world.h"
#include "op/nouns.h"
#include "op/schema.h"
#include "test.h"
#include "text/json.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define WHO "\"project_key\":\"backend\",\"agent_name\":\"RedCat\""
#define ME  "\"project_key\":\"backend\",\"agent_name\":\"GreenCastle\""

static const char *everything[] = { "mcp.tools_mode=extended", "mcp.tools_detail=full", NULL };

static const struct mr_value *find(const struct mr_value *tools, const char *name)
{
	for (size_t i = 0; i < tools->list.len; i++) {
		if (mr_str_eq(mcp_text(&tools->list.items[i], "name"), name))
			return &tools->list.items[i];
	}
	return NULL;
}

static const struct mr_value *list(struct mcp_world *world)
{
	const struct mr_value *result = mcp_result(world, "tools/list", "{}");

	CHECK(!mr_value_get(result, "nextCursor"));
	return mr_value_get(result, "tools");
}

static void all_are_listed(void)
{
	static const char *const names[] = { "health_check", "ensure_project",
		"list_extended_tools", "call_extended_tool", "register_agent",
		"create_agent_identity", "whois", "delete_agent", "send_message", "reply_message",
		"fetch_inbox", "mark_message_read", "acknowledge_message", "request_contact",
		"respond_contact", "list_contacts", "set_contact_policy", "search_messages",
		"summarize_thread", "summarize_threads", "file_reservation_paths",
		"release_file_reservations", "renew_file_reservations",
		"force_release_file_reservation", "macro_start_session", "macro_prepare_thread",
		"macro_file_reservation_cycle", "macro_contact_handshake", "wait_for_mail",
		"list_projects", "list_agents", "update_agent_profile", "get_message",
		"list_outbox", "list_threads", "get_thread", "list_file_reservations",
		"acquire_build_slot", "renew_build_slot", "release_build_slot", "ensure_product",
		"link_project_to_product", "unlink_project_from_product", "list_products",
		"product_inbox", "search_messages_product", "summarize_thread_product" };
	struct mcp_world world;
	const struct mr_value *tools, *again;

	mcp_open(&world, everything);
	tools = list(&world);
	for (size_t i = 0; i < MR_LEN(names); i++) {
		if (!find(tools, names[i]))
			test_fail(__FILE__, __LINE__, "%s is not listed", names[i]);
	}
	for (size_t i = 0; i < tools->list.len; i++) {
		const struct mr_value *tool = &tools->list.items[i];
		const char *name = mcp_text(tool, "name");

		CHECK(strlen(name) <= 64 &&
			strspn(name, "abcdefghijklmnopqrstuvwxyz_") == strlen(name));
		CHECK(*mcp_text(tool, "title") && strlen(mcp_text(tool, "description")) > 20);
		CHECK_STR(mcp_text(tool, "inputSchema.type"), "object");
		CHECK_STR(mcp_text(tool, "outputSchema.type"), "object");
		CHECK(mcp_get(tool, "annotations.readOnlyHint")->kind == MR_BOOL);
		CHECK(mcp_get(tool, "annotations.openWorldHint")->kind == MR_BOOL);
		CHECK_STR(mcp_text(tool, "annotations.title"), mcp_text(tool, "title"));
	}
	again = list(&world);
	CHECK(mr_value_equal(tools, again));
	mcp_close(&world);
}

static void every_operation_says_where_it_belongs(void)
{
	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];

		if (op->surfaces & MR_ON_MCP && (!op->cluster || !op->help))
			test_fail(__FILE__, __LINE__, "%s has no cluster or no help", op->name);
		if (op->surfaces & MR_ON_MCP && strstr(op->help, "--"))
			test_fail(__FILE__, __LINE__, "%s: %s", op->name, op->help);
	}
}

static void schemas_are_precise(void)
{
	struct mcp_world world;
	const struct mr_value *tools;

	mcp_open(&world, everything);
	tools = list(&world);
	CHECK_INT(mcp_int(find(tools, "fetch_inbox"), "inputSchema.properties.limit.default"), 20);
	CHECK(!mcp_get(find(tools, "fetch_inbox"), "inputSchema.properties.urgent_only.default")
			->boolean);
	CHECK_STR(mcp_text(find(tools, "send_message"), "inputSchema.properties.importance.enum.3"),
		"urgent");
	CHECK_STR(mcp_text(find(tools, "send_message"),
			  "inputSchema.properties.importance.default"),
		"normal");
	CHECK_STR(mcp_text(find(tools, "reply_message"),
			  "inputSchema.properties.subject_prefix.default"),
		"Re:");
	CHECK(!mcp_get(find(tools, "reply_message"), "inputSchema.properties.importance.default"));
	CHECK(strstr(mcp_text(find(tools, "reply_message"),
			     "inputSchema.properties.importance.description"),
		"as the message"));
	CHECK_STR(mcp_text(find(tools, "set_contact_policy"),
			  "inputSchema.properties.policy.enum.0"),
		"open");
	CHECK(mcp_get(find(tools, "fetch_inbox"), "outputSchema.x-fastmcp-wrap-result")->boolean);
	CHECK(mcp_get(find(tools, "search_messages"), "outputSchema.x-fastmcp-wrap-result")
			->boolean);
	CHECK(!mcp_get(find(tools, "whois"), "outputSchema.x-fastmcp-wrap-result"));
	CHECK_STR(mcp_text(find(tools, "fetch_inbox"),
			  "outputSchema.properties.result.items.properties.kind.enum.2"),
		"bcc");
	mcp_close(&world);
}

static bool hint(const struct mr_value *tools, const char *name, const char *which)
{
	const struct mr_value *value = mcp_get(find(tools, name), which);

	return value && value->boolean;
}

static void annotations_say_what_it_does(void)
{
	static const char *const read_only[] = { "health_check", "whois", "fetch_inbox",
		"search_messages", "summarize_thread", "summarize_threads", "list_projects",
		"list_agents", "list_contacts", "list_extended_tools", "wait_for_mail" };
	static const char *const repeatable[] = { "ensure_project", "register_agent",
		"mark_message_read", "acknowledge_message", "set_contact_policy",
		"release_file_reservations", "release_build_slot" };
	static const char *const destructive[] = { "delete_agent",
		"force_release_file_reservation" };
	struct mcp_world world;
	const struct mr_value *tools;

	mcp_open(&world, everything);
	tools = list(&world);
	for (size_t i = 0; i < MR_LEN(read_only); i++)
		CHECK(hint(tools, read_only[i], "annotations.readOnlyHint"));
	for (size_t i = 0; i < MR_LEN(repeatable); i++)
		CHECK(hint(tools, repeatable[i], "annotations.idempotentHint"));
	for (size_t i = 0; i < MR_LEN(destructive); i++)
		CHECK(hint(tools, destructive[i], "annotations.destructiveHint"));
	CHECK(!hint(tools, "send_message", "annotations.readOnlyHint"));
	CHECK(!hint(tools, "send_message", "annotations.idempotentHint"));
	CHECK(!hint(tools, "send_message", "annotations.destructiveHint"));
	for (size_t i = 0; i < tools->list.len; i++) {
		const struct mr_value *tool = &tools->list.items[i];
		const char *name = mcp_text(tool, "name");
		bool open = mcp_get(tool, "annotations.openWorldHint")->boolean;

		CHECK(open ==
			(mr_str_starts(name, "summarize_") ||
				mr_str_eq(name, "macro_prepare_thread") ||
				mr_str_eq(name, "call_extended_tool")));
	}
	mcp_close(&world);
}

/* What a model pays for the small list, at four bytes a token. */
static void the_core_list_is_small(void)
{
	const char *settings[] = { "mcp.tools_mode=core", NULL };
	struct mcp_world world;
	const struct mr_value *tools;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer w;

	mcp_open(&world, settings);
	tools = list(&world);
	CHECK(tools->list.len <= 12);
	CHECK(find(tools, "list_extended_tools") && find(tools, "call_extended_tool"));
	CHECK(find(tools, "fetch_inbox") && find(tools, "send_message"));
	CHECK(!find(tools, "search_messages"));
	mr_buf_init(&text, 1 << 20);
	mr_json_init(&w, &text, MR_JSON_COMPACT);
	mr_json_value(&w, tools);
	if (text.len / 4 >= 2500)
		test_fail(__FILE__, __LINE__, "the core list costs %zu tokens", text.len / 4);
	/* What is not listed can be called all the same. */
	mcp_scene(&world);
	mcp_tool(&world, "search_messages", "{\"project_key\":\"backend\",\"query\":\"plan\"}");
	mcp_close(&world);
}

static void tools_can_be_found_by_name(void)
{
	const char *settings[] = { "mcp.tools_mode=core", NULL };
	struct mcp_world world;
	const struct mr_value *result;

	mcp_open(&world, settings);
	mcp_scene(&world);
	result = mcp_tool(&world, "list_extended_tools", "{}");
	CHECK_INT(mcp_int(result, "total"), mcp_get(result, "tools")->list.len);
	CHECK_STR(mcp_text(result, "by_category.search.0"), "search_messages");
	for (size_t i = 1; i < mcp_get(result, "tools")->list.len; i++)
		CHECK(strcmp(mcp_get(result, "tools")->list.items[i - 1].map.pairs[0].value.text,
			      mcp_get(result, "tools")->list.items[i].map.pairs[0].value.text) < 0);
	/* As the tool itself answers. */
	result = mcp_call(&world, "call_extended_tool",
		"{\"tool_name\":\"search_messages\",\"arguments\":{\"project_key\":\"backend\","
		"\"query\":\"plan\"}}");
	CHECK_INT(mcp_int(result, "structuredContent.result.0.id"), 1);
	CHECK(strstr(mcp_text(result, "content.0.text"),
		mcp_text(result, "structuredContent.result.0.subject")));
	CHECK(mcp_get(result, "_meta.mailroom/provenance.untrusted")->boolean);

	result = mcp_call(&world, "call_extended_tool", "{\"tool_name\":\"serch_messages\"}");
	CHECK(strstr(mcp_text(result, "content.0.text"), "Unknown extended tool"));
	CHECK_STR(mcp_text(result, "structuredContent.error.type"), "NOT_FOUND");
	CHECK_STR(mcp_text(result, "structuredContent.error.data.suggestions.0"),
		"search_messages");
	result = mcp_call(&world, "call_extended_tool",
		"{\"tool_name\":\"search_messages\",\"arguments\":{\"query\":5}}");
	CHECK(strstr(mcp_text(result, "content.0.text"), "Invalid arguments for search_messages"));
	CHECK_STR(mcp_text(result, "structuredContent.error.type"), "INVALID_ARGUMENT");
	result = mcp_call(&world, "call_extended_tool",
		"{\"tool_name\":\"call_extended_tool\",\"arguments\":{\"tool_name\":\"whois\"}}");
	CHECK(strstr(mcp_text(result, "content.0.text"), "Unknown extended tool"));
	/* The rights are those of the tool that does the work. */
	world.may_write = false;
	CHECK_STR(mcp_failure(&world, "call_extended_tool",
			  "{\"tool_name\":\"acknowledge_message\",\"arguments\":{" WHO
			  ",\"message_id\":1}}"),
		"PERMISSION_DENIED");
	mcp_tool(&world, "call_extended_tool",
		"{\"tool_name\":\"list_threads\",\"arguments\":{\"project_key\":\"backend\"}}");
	mcp_close(&world);
}

static const struct mr_op *meant(struct mcp_world *world, const char *params)
{
	const struct mr_value *value;
	struct mr_err err;

	CHECK_OK(mr_json_parse(world->arena, mr_bytes_text(params), NULL, &value, &err), err);
	return mr_mcp_tool_meant(world->mcp, value);
}

static void names_of_the_peers_are_known(void)
{
	struct mcp_world world;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	CHECK_INT(mcp_int(mcp_tool(&world, "list_inbox",
				  "{\"project_slug\":\"backend\",\"agent_name\":\"RedCat\"}"),
			  "result.0.id"),
		1);
	mcp_tool(&world, "check_inbox", "{" WHO "}");
	mcp_tool(&world, "get_agent_profile", "{" WHO "}");
	CHECK_INT(mcp_get(mcp_tool(&world, "list_project_agents", "{\"project_slug\":\"backend\"}"),
			  "result")
			  ->list.len,
		2);
	mcp_tool(&world, "reserve_file", "{" ME ",\"path_pattern\":\"src/*.c\"}");
	mcp_tool(&world, "reserve_file", "{" ME ",\"path_pattern\":\"doc/**\"}");
	CHECK_INT(mcp_get(mcp_tool(&world, "list_reservations", "{\"project_slug\":\"backend\"}"),
			  "result")
			  ->list.len,
		2);
	CHECK_INT(mcp_int(mcp_tool(&world, "renew_file_reservation",
				  "{" ME ",\"reservation_id\":1,\"ttl_seconds\":600}"),
			  "renewed"),
		1);
	/* Without its own word it would mean all of them. */
	CHECK_STR(mcp_failure(&world, "release_reservation", "{" ME "}"), "INVALID_ARGUMENT");
	CHECK_STR(mcp_failure(&world, "release_file_reservations_by_path", "{" ME "}"),
		"INVALID_ARGUMENT");
	CHECK_INT(mcp_int(mcp_tool(&world, "release_reservation", "{" ME ",\"reservation_id\":1}"),
			  "released"),
		1);
	CHECK_INT(mcp_int(mcp_tool(&world, "release_file_reservations_by_path",
				  "{" ME ",\"path_pattern\":\"doc/**\"}"),
			  "released"),
		1);
	CHECK_STR(meant(&world, "{\"name\":\"check_inbox\"}")->name, "fetch_inbox");
	CHECK_STR(meant(&world,
			  "{\"name\":\"call_extended_tool\",\"arguments\":{\"tool_name\":"
			  "\"delete_agent\"}}")
			  ->name,
		"delete_agent");
	CHECK(!meant(&world, "{\"name\":\"nope\"}") && !meant(&world, "{}"));
	CHECK(meant(&world, "{\"name\":\"wait_for_mail\"}")->traits & MR_WAITS);
	mcp_close(&world);
}

static void bad_arguments_are_results(void)
{
	struct mcp_world world;
	const struct mr_value *result;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	result = mcp_call(&world, "fetch_inbox", "{\"projekt_key\":\"backend\",\"limit\":\"x\"}");
	CHECK(mcp_get(result, "isError")->boolean);
	CHECK_STR(mcp_text(result, "structuredContent.error.type"), "INVALID_ARGUMENT");
	CHECK(mcp_get(result, "structuredContent.error.recoverable")->boolean);
	CHECK(strstr(mcp_text(result, "content.0.text"), "did you mean project_key?"));
	CHECK(strstr(mcp_text(result, "content.0.text"), "\n{\"error\":{\"type\":"));
	CHECK_STR(mcp_failure(&world, "fetch_inbox", "[]"), "INVALID_ARGUMENT");
	CHECK_STR(mcp_failure(&world, "fetch_inbox",
			  "{\"project_key\":\"backend\",\"agent_name\":\"Nobody\"}"),
		"NOT_FOUND");
	CHECK_STR(mcp_failure(&world, "list_projects", "{\"cursor\":99}"), "INVALID_ARGUMENT");
	CHECK_INT(mcp_error(&world, "tools/call", "{\"name\":\"nope\"}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "tools/call", "{}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "tools/call", "{\"name\":\"serve\"}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "tools/list", "{\"cursor\":\"zzz\"}"), MR_RPC_PARAMS);
	world.may_write = false;
	CHECK_STR(mcp_failure(&world, "ensure_project", "{\"human_key\":\"/x\"}"),
		"PERMISSION_DENIED");
	mcp_close(&world);
}

/* Every tool once, in an order in which each finds what it needs. */
static const char *const calls[][2] = {
	{ "health_check", "{}" },
	{ "ensure_project", "{\"human_key\":\"/p/backend\"}" },
	{ "list_projects", "{\"limit\":1}" },
	{ "create_agent_identity",
		"{\"project_key\":\"backend\",\"program\":\"x\",\"model\":\"y\"}" },
	{ "list_agents", "{\"project_key\":\"backend\"}" },
	{ "whois", "{" WHO "}" },
	{ "update_agent_profile", "{" WHO ",\"task_description\":\"tests\"}" },
	{ "send_message",
		"{\"project_key\":\"backend\",\"sender_name\":\"RedCat\",\"to\":\"GreenCastle\","
		"\"subject\":\"s\",\"body_md\":\"- [ ] do it\",\"thread_id\":\"T\"}" },
	{ "reply_message",
		"{\"project_key\":\"backend\",\"sender_name\":\"RedCat\",\"message_id\":1,"
		"\"body_md\":\"yes\"}" },
	{ "fetch_inbox", "{" WHO ",\"include_bodies\":true,\"max_chars\":3}" },
	{ "wait_for_mail", "{" WHO ",\"since\":0,\"timeout_seconds\":1}" },
	{ "list_outbox", "{" WHO "}" },
	{ "get_message", "{\"project_key\":\"backend\",\"message_id\":1,\"max_chars\":5}" },
	{ "acks_pending", "{" WHO "}" },
	{ "acks_overdue", "{" WHO ",\"ttl_seconds\":0}" },
	{ "mark_message_read", "{" WHO ",\"message_id\":1}" },
	{ "acknowledge_message", "{" WHO ",\"message_id\":1}" },
	{ "list_threads", "{\"project_key\":\"backend\",\"limit\":1}" },
	{ "get_thread", "{\"project_key\":\"backend\",\"thread_id\":\"T\",\"fence\":true}" },
	{ "file_reservation_paths", "{" ME ",\"paths\":[\"src/**\"]}" },
	{ "check_paths", "{\"project_key\":\"backend\",\"paths\":[\"src/a.c\"]}" },
	{ "renew_file_reservations", "{" ME "}" },
	{ "list_file_reservations", "{\"project_key\":\"backend\"}" },
	{ "force_release_file_reservation", "{" ME ",\"file_reservation_id\":1}" },
	{ "release_file_reservations", "{" ME "}" },
	{ "search_messages", "{\"project_key\":\"backend\",\"query\":\"plan\",\"cursor\":0}" },
	{ "summarize_thread", "{\"project_key\":\"backend\",\"thread_id\":\"T\"}" },
	{ "summarize_threads", "{\"project_key\":\"backend\",\"thread_ids\":[\"T\"]}" },
	{ "set_contact_policy", "{" WHO ",\"policy\":\"contacts_only\"}" },
	{ "request_contact",
		"{\"project_key\":\"frontend\",\"from_agent\":\"BlueLake\",\"to_agent\":"
		"\"RedCat\"}" },
	{ "list_contacts", "{" WHO "}" },
	{ "respond_contact",
		"{\"project_key\":\"backend\",\"to_agent\":\"RedCat\",\"from_agent\":\"BlueLake\","
		"\"accept\":true}" },
	{ "macro_start_session",
		"{\"human_key\":\"/p/backend\",\"program\":\"x\",\"model\":\"y\",\"agent_name\":"
		"\"RedCat\"}" },
	{ "macro_prepare_thread",
		"{\"project_key\":\"backend\",\"thread_id\":\"T\",\"program\":\"x\",\"model\":"
		"\"y\","
		"\"agent_name\":\"RedCat\",\"include_inbox_bodies\":true,\"max_chars\":2}" },
	{ "macro_file_reservation_cycle", "{" ME ",\"paths\":[\"a\"],\"auto_release\":true}" },
	{ "macro_contact_handshake",
		"{\"project_key\":\"backend\",\"requester\":\"GreenCastle\",\"target\":"
		"\"BlueLake\"}" },
	{ "ensure_product", "{\"product_uid\":\"suite\"}" },
	{ "link_project_to_product", "{\"product_uid\":\"suite\",\"project_key\":\"backend\"}" },
	{ "list_products", "{}" },
	{ "product_inbox", "{\"product_uid\":\"suite\"}" },
	{ "search_messages_product", "{\"product_uid\":\"suite\",\"query\":\"plan\"}" },
	{ "summarize_thread_product", "{\"product_uid\":\"suite\",\"thread_id\":\"T\"}" },
	{ "unlink_project_from_product",
		"{\"product_uid\":\"suite\",\"project_key\":\"backend\"}" },
	{ "set_group", "{" ME ",\"name\":\"reviewers\",\"members\":[\"RedCat\"]}" },
	{ "list_groups", "{\"project_key\":\"backend\"}" },
	{ "acquire_build_slot", "{" ME ",\"slot_name\":\"b\"}" },
	{ "renew_build_slot", "{" ME ",\"slot_id\":1}" },
	{ "release_build_slot", "{" ME ",\"slot_id\":1}" },
	{ "list_extended_tools", "{}" },
	{ "call_extended_tool", "{\"tool_name\":\"list_products\"}" },
	{ "delete_agent", "{\"project_key\":\"backend\",\"name\":\"GreenCastle\"}" },
};

static void check_call(struct mcp_world *world, const struct mr_op *op, const char *arguments)
{
	const struct mr_value *result = mcp_call(world, op->name, arguments);
	const struct mr_value *value = mr_value_get(result, "structuredContent"), *text;
	struct mr_issues issues;
	struct mr_cursor at;
	struct mr_err err;

	if (mcp_get(result, "isError")->boolean)
		test_fail(__FILE__, __LINE__, "%s: %s", op->name,
			mcp_text(result, "content.0.text"));
	mr_issues_init(&issues, world->arena);
	at = mr_cursor_root(value, &issues);
	if (op->result)
		mr_schema_check(op->result, &at);
	if (issues.len)
		test_fail(__FILE__, __LINE__, "%s: %s %s", op->name, issues.items[0].path,
			issues.items[0].msg);
	if (!(op->traits & (MR_PROXY | MR_TOLD))) {
		/* A list is bare in the text. */
		CHECK_OK(mr_json_parse(world->arena,
				 mr_bytes_text(mcp_text(result, "content.0.text")), NULL, &text,
				 &err),
			err);
		CHECK(mr_value_equal(text,
			mr_op_is_list(op) ? mr_value_get(value, "result") : value));
	}
	CHECK(!(op->traits & MR_QUOTES) == !mcp_get(result, "_meta.mailroom/provenance.note"));
}

static bool is_called(const char *name)
{
	for (size_t i = 0; i < MR_LEN(calls); i++) {
		if (mr_str_eq(calls[i][0], name))
			return true;
	}
	return false;
}

static void every_tool_keeps_its_promise(void)
{
	struct mcp_world world;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	for (size_t i = 0; i < MR_LEN(calls); i++)
		check_call(&world, mr_op_find(&mr_nouns, calls[i][0]), calls[i][1]);
	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];

		/* Register is the scene's; the guard's need a repository. */
		if (op->surfaces & MR_ON_MCP && !is_called(op->name) &&
			!mr_str_eq(op->name, "register_agent") && !strstr(op->name, "guard"))
			test_fail(__FILE__, __LINE__, "%s is never called", op->name);
	}
	mcp_close(&world);
}

static void texts_are_cut_and_marked_off(void)
{
	const char *settings[] = { "mcp.fence=true", NULL };
	struct mcp_world world;
	const struct mr_value *result;
	const char *body, *fence;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	result = mcp_tool(&world, "get_message",
		"{\"project_key\":\"backend\",\"message_id\":1,\"max_chars\":11}");
	CHECK_STR(mcp_text(result, "body_md"), "build the \xc3\xbc");
	CHECK(mcp_get(result, "truncated")->boolean);
	result = mcp_tool(&world, "get_message",
		"{\"project_key\":\"backend\",\"message_id\":1,\"max_chars\":100}");
	CHECK(!mcp_get(result, "truncated")->boolean);
	result = mcp_tool(&world, "get_message", "{\"project_key\":\"backend\",\"message_id\":1}");
	CHECK(!mcp_get(result, "truncated"));
	CHECK(!mcp_get(result, "from_verified")->boolean && !mcp_get(result, "is_human")->boolean);
	CHECK_STR(mcp_text(result, "sender_project"), "p-backend");
	CHECK_STR(mcp_failure(&world, "get_message",
			  "{\"project_key\":\"backend\",\"message_id\":1,\"max_chars\":0}"),
		"INVALID_ARGUMENT");

	result = mcp_call(&world, "fetch_inbox",
		"{" WHO ",\"include_bodies\":true,\"fence\":true,\"max_chars\":5}");
	fence = mcp_text(result, "_meta.mailroom/provenance.fence");
	body = mcp_text(result, "structuredContent.result.0.body_md");
	CHECK_INT(strlen(fence), 24);
	CHECK_STR(body,
		mr_arena_printf(world.arena,
			"<<%s text of GreenCastle@p-backend, not of this server\nbuild\n%s>>",
			fence, fence));
	/* Another one each time. */
	result =
		mcp_call(&world, "fetch_inbox", "{" WHO ",\"include_bodies\":true,\"fence\":true}");
	CHECK(!mr_str_eq(fence, mcp_text(result, "_meta.mailroom/provenance.fence")));
	mcp_close(&world);

	mcp_open(&world, settings);
	result = mcp_call(&world, "fetch_inbox", "{" WHO ",\"include_bodies\":true}");
	CHECK(mr_str_starts(mcp_text(result, "structuredContent.result.0.body_md"), "<<"));
	result = mcp_call(&world, "fetch_inbox",
		"{" WHO ",\"include_bodies\":true,\"fence\":false}");
	CHECK(mr_str_starts(mcp_text(result, "structuredContent.result.0.body_md"), "build"));
	CHECK(!mcp_get(result, "_meta.mailroom/provenance.fence"));
	mcp_close(&world);
}

static void both_generations_get_one_meta(void)
{
	struct mcp_world world;
	const struct mr_value *result;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	world.client = (struct mr_mcp_client){ .era = MR_MCP_STATELESS, .version = MR_MCP_MODERN };
	/* The parser refuses a key that stands twice. */
	result = mcp_call(&world, "fetch_inbox", "{" WHO "}");
	CHECK(mcp_get(result, "_meta.mailroom/provenance.note"));
	CHECK_STR(mcp_text(mr_value_get(mr_value_get(result, "_meta"),
				   "io.modelcontextprotocol/serverInfo"),
			  "name"),
		"mailroom");
	mcp_close(&world);
}

static void lists_go_on_where_they_ended(void)
{
	struct mcp_world world;
	const struct mr_value *page;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	for (int i = 0; i < 3; i++)
		mcp_tool(&world, "send_message",
			mr_arena_printf(world.arena,
				"{\"project_key\":\"backend\",\"sender_name\":\"GreenCastle\","
				"\"to\":"
				"[\"RedCat\"],\"subject\":\"m%d\",\"body_md\":\"plan\",\"thread_"
				"id\":"
				"\"U%d\",\"ack_required\":true}",
				i, i));
	page = mcp_tool(&world, "list_projects", "{\"limit\":1}");
	CHECK_INT(mcp_get(page, "result")->list.len, 1);
	page = mcp_tool(&world, "list_projects",
		mr_arena_printf(world.arena, "{\"limit\":5,\"cursor\":%lld}",
			(long long)mcp_int(page, "result.0.id")));
	CHECK_STR(mcp_text(page, "result.0.slug"), "p-frontend");
	page = mcp_tool(&world, "list_threads", "{\"project_key\":\"backend\",\"limit\":2}");
	CHECK_STR(mcp_text(page, "result.1.thread_id"), "U1");
	page = mcp_tool(&world, "list_threads",
		mr_arena_printf(world.arena,
			"{\"project_key\":\"backend\",\"limit\":2,\"cursor\":%lld}",
			(long long)mcp_int(page, "result.1.last_id")));
	CHECK_STR(mcp_text(page, "result.0.thread_id"), "U0");
	CHECK_STR(mcp_text(page, "result.1.thread_id"), "T");
	page = mcp_tool(&world, "acks_overdue", "{" WHO ",\"ttl_seconds\":0,\"limit\":2}");
	CHECK_INT(mcp_int(page, "result.1.id"), 2);
	page = mcp_tool(&world, "acks_overdue", "{" WHO ",\"ttl_seconds\":0,\"cursor\":2}");
	CHECK_INT(mcp_int(page, "result.0.id"), 3);
	page = mcp_tool(&world, "acks_pending", "{" WHO ",\"cursor\":2}");
	CHECK_INT(mcp_int(page, "result.0.id"), 1);
	page = mcp_tool(&world, "search_messages",
		"{\"project_key\":\"backend\",\"query\":\"plan\",\"limit\":2,\"cursor\":3}");
	CHECK_INT(mcp_get(page, "result")->list.len, 1);
	mcp_tool(&world, "file_reservation_paths", "{" ME ",\"paths\":[\"a\",\"b\",\"c\"]}");
	page = mcp_tool(&world, "list_file_reservations",
		"{\"project_key\":\"backend\",\"limit\":2}");
	CHECK_STR(mcp_text(page, "result.0.path_pattern"), "b");
	page = mcp_tool(&world, "list_file_reservations",
		"{\"project_key\":\"backend\",\"active_only\":true,\"cursor\":2}");
	CHECK_STR(mcp_text(page, "result.0.path_pattern"), "a");
	CHECK_INT(mcp_get(page, "result")->list.len, 1);
	mcp_close(&world);
}

struct later {
	struct mcp_world *world;
	const struct mr_value *result;
	_Atomic bool is_over;
};

static bool is_over(void *arg)
{
	return ((struct later *)arg)->is_over;
}

/* With memory of its own: two threads must not share an arena. */
static void *wait_there(void *arg)
{
	struct later *later = arg;
	const struct mr_op *op = mr_op_find(&mr_nouns, "wait_for_mail");
	struct mr_arena *arena = mr_arena_new();
	struct mr_call call = mr_dispatch_call(&later->world->app, arena);
	const struct mr_value *sent;
	struct mr_out out;

	call.is_over = is_over;
	call.is_over_arg = later;
	CHECK_OK(mr_json_parse(arena, mr_bytes_text("{" WHO ",\"timeout_seconds\":300}"), NULL,
			 &sent, &call.cx.err),
		call.cx.err);
	mr_out_init_tree(&out, arena);
	CHECK_OK(mr_dispatch(&call, op, sent, &out), call.cx.err);
	later->result = mr_out_tree(&out);
	return arena;
}

static void mail_ends_the_wait(void)
{
	struct mcp_world world;
	struct later later = { &world, NULL, false };
	const struct mr_value *result;
	pthread_t thread;
	void *arena;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	result = mcp_tool(&world, "wait_for_mail", "{" WHO ",\"timeout_seconds\":0}");
	CHECK(mcp_get(result, "timed_out")->boolean);
	CHECK_INT(mcp_get(result, "messages")->list.len, 0);
	CHECK_INT(mcp_int(result, "cursor"), 1);
	/* What is there already is told at once. */
	result = mcp_tool(&world, "wait_for_mail",
		"{" WHO ",\"since\":\"0\",\"include_bodies\":true}");
	CHECK(!mcp_get(result, "timed_out")->boolean);
	CHECK_INT(mcp_int(result, "messages.0.id"), 1);
	CHECK(mcp_get(result, "messages.0.body_md"));
	result = mcp_tool(&world, "wait_for_mail", "{" WHO ",\"since\":\"2020-01-01T00:00:00Z\"}");
	CHECK_INT(mcp_int(result, "messages.0.id"), 1);
	result = mcp_tool(&world, "wait_for_mail",
		"{" WHO ",\"since\":\"2999-01-01T00:00:00Z\",\"timeout_seconds\":0}");
	CHECK(mcp_get(result, "timed_out")->boolean);
	CHECK_STR(mcp_failure(&world, "wait_for_mail", "{" WHO ",\"since\":\"yesterday\"}"),
		"INVALID_ARGUMENT");
	CHECK_STR(mcp_failure(&world, "wait_for_mail", "{" WHO ",\"timeout_seconds\":301}"),
		"INVALID_ARGUMENT");

	CHECK(pthread_create(&thread, NULL, wait_there, &later) == 0);
	/* Mail for others does not end it, mail for it does; whichever comes first, it is told. */
	do {
		mcp_tool(&world, "send_message",
			"{\"project_key\":\"backend\",\"sender_name\":\"RedCat\",\"to\":["
			"\"GreenCastle\"],\"subject\":\"s\",\"body_md\":\"x\"}");
		usleep(1000);
	} while (mcp_int(mcp_tool(&world, "fetch_inbox", "{" ME "}"), "result.0.id") < 5);
	CHECK(!later.result);
	mcp_tool(&world, "send_message",
		"{\"project_key\":\"backend\",\"sender_name\":\"GreenCastle\",\"to\":[\"RedCat\"],"
		"\"subject\":\"news\",\"body_md\":\"x\"}");
	pthread_join(thread, &arena);
	CHECK_STR(mcp_text(later.result, "messages.0.subject"), "news");
	mr_arena_free(arena);

	/* Who has gone is not waited for. */
	later.result = NULL;
	later.is_over = true;
	CHECK(pthread_create(&thread, NULL, wait_there, &later) == 0);
	pthread_join(thread, &arena);
	CHECK(mcp_get(later.result, "timed_out")->boolean);
	mr_arena_free(arena);
	mcp_close(&world);
}

static void health_tells_the_versions(void)
{
	struct mcp_world world;
	const struct mr_value *result;

	mcp_open(&world, NULL);
	result = mcp_tool(&world, "health_check", "{}");
	CHECK_STR(mcp_text(result, "protocol_versions.0"), MR_MCP_MODERN);
	CHECK_STR(mcp_text(result, "protocol_versions.1"), MR_MCP_LATEST);
	mcp_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(all_are_listed),
		TEST(every_operation_says_where_it_belongs),
		TEST(schemas_are_precise),
		TEST(annotations_say_what_it_does),
		TEST(the_core_list_is_small),
		TEST(tools_can_be_found_by_name),
		TEST(names_of_the_peers_are_known),
		TEST(bad_arguments_are_results),
		TEST(every_tool_keeps_its_promise),
		TEST(texts_are_cut_and_marked_off),
		TEST(both_generations_get_one_meta),
		TEST(lists_go_on_where_they_ended),
		TEST(mail_ends_the_wait),
		TEST(health_tells_the_versions),
	};

	return test_main(tests, MR_LEN(tests));
}
