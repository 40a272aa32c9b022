/* tests/unit/surface/test_resources.c - what can be read by its URI. */
#include "surface/mcp/resources.h"

#include "files.h"
#include "mcp_world.h"
#include "test.h"

#include <string.h>

static int64_t count_at(const struct mr_value *value, const char *path)
{
	const struct mr_value *list = mcp_get(value, path);

	if (!list || list->kind != MR_LIST)
		test_fail(__FILE__, __LINE__, "no list at %s", path);
	return (int64_t)list->list.len;
}

static void the_server_tells_of_itself(void)
{
	struct mcp_world world;
	const struct mr_value *v;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	v = mcp_read(&world, "resource://config/environment");
	CHECK_STR(mcp_text(v, "environment"), "development");
	CHECK_STR(mcp_text(v, "http.path"), "/mcp/");
	CHECK_INT(mcp_int(v, "http.port"), 8765);
	CHECK(mr_str_starts(mcp_text(v, "database_url"), "sqlite:///"));
	v = mcp_read(&world, "resource://tooling/directory");
	CHECK_INT(count_at(v, "clusters"), 9);
	CHECK_STR(mcp_text(v, "clusters.2.name"), "messaging");
	CHECK_STR(mcp_text(v, "clusters.2.tools.0.name"), "send_message");
	CHECK_STR(mcp_text(v, "clusters.2.tools.0.usage_examples.0.sample"),
		"send_message(project_key=..., sender_name=..., subject=..., body_md=...)");
	CHECK_STR(mcp_text(v, "clusters.2.tools.0.required_capabilities.1"), "write");
	CHECK(count_at(v, "playbooks") > 3 && count_at(v, "clusters.2.tools.0.related") > 3);
	v = mcp_read(&world, "resource://tooling/schemas");
	CHECK_STR(mcp_text(v, "tools.send_message.required.0"), "project_key");
	CHECK_STR(mcp_text(v, "tools.send_message.shapes.to"), "list of strings");
	CHECK(count_at(v, "tools.send_message.optional") > 5);
	v = mcp_read(&world, "resource://tooling/metrics");
	for (size_t i = 0; i < mcp_get(v, "tools")->list.len; i++) {
		const struct mr_value *tool = &mcp_get(v, "tools")->list.items[i];

		if (mr_str_eq(mcp_text(tool, "name"), "register_agent")) {
			CHECK_INT(mcp_int(tool, "calls"), 3);
			CHECK_INT(mcp_int(tool, "errors"), 0);
			CHECK_STR(mcp_text(tool, "cluster"), "identity");
		}
	}
	v = mcp_read(&world, "resource://tooling/recent/60");
	CHECK_INT(mcp_int(v, "count"), 4);
	CHECK_STR(mcp_text(v, "entries.0.tool"), "send_message");
	CHECK_STR(mcp_text(v, "entries.0.agent"), "GreenCastle");
	v = mcp_read(&world, "resource://tooling/recent/soon?agent=bluelake");
	CHECK_INT(mcp_int(v, "count"), 1);
	CHECK_INT(mcp_int(v, "window_seconds"), 60);
	CHECK_INT(mcp_int(mcp_read(&world, "resource://tooling/recent/99999999999"),
			  "window_seconds"),
		2592000);
	mcp_close(&world);
}

static void locks_are_shown(void)
{
	struct mcp_world world;
	const struct mr_value *v;

	files_enter();
	mcp_open(&world, NULL);
	mcp_scene(&world);
	v = mcp_read(&world, "resource://tooling/locks");
	CHECK_INT(mcp_int(v, "summary.total"), 0);
	mcp_tool(&world, "whois", "{\"project_key\":\"backend\",\"agent_name\":\"RedCat\"}");
	/* Somebody who died: no process has this number. */
	files_put("projects/p-backend/.archive.lock.owner.json",
		"{\"pid\": 2147483647, \"created_ts\": 1700000000.5}\n");
	v = mcp_read(&world, "resource://tooling/locks");
	CHECK_INT(mcp_int(v, "summary.total"), 1);
	CHECK_INT(mcp_int(v, "summary.stale"), 1);
	CHECK_INT(mcp_int(v, "locks.0.owner_pid"), 2147483647);
	CHECK(!mcp_get(v, "locks.0.owner_alive")->boolean);
	CHECK_STR(mcp_text(v, "locks.0.created_ts"), "2023-11-14T22:13:20.500000Z");
	mcp_close(&world);
}

static void capabilities_come_from_a_file(void)
{
	const char *settings[] = { "mcp.capabilities_file=caps.json", NULL };
	struct mcp_world world;
	const struct mr_value *v;

	files_enter();
	mcp_open(&world, NULL);
	v = mcp_read(&world, "resource://tooling/capabilities/RedCat?project=backend");
	CHECK_INT(count_at(v, "capabilities"), 0);
	CHECK_STR(mcp_text(v, "agent"), "RedCat");
	mcp_close(&world);

	mcp_open(&world, settings);
	CHECK_INT(mcp_error(&world, "resources/read",
			  "{\"uri\":\"resource://tooling/capabilities/RedCat\"}"),
		MR_RPC_INTERNAL);
	files_put("caps.json",
		"{\"agents\":[{\"name\":\"RedCat\",\"project\":\"other\",\"capabilities\":[\"a\"]},"
		"{\"name\":\"redcat\",\"project\":\"backend\",\"capabilities\":[\"sql\",\"c\"]}]}");
	v = mcp_read(&world, "resource://tooling/capabilities/RedCat?project=backend");
	CHECK_STR(mcp_text(v, "capabilities.0"), "sql");
	v = mcp_read(&world, "resource://tooling/capabilities/Nobody");
	CHECK_INT(count_at(v, "capabilities"), 0);
	mcp_close(&world);
}

static void the_team_is_shown(void)
{
	struct mcp_world world;
	const struct mr_value *v;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	v = mcp_read(&world, "resource://projects");
	CHECK_INT(v->list.len, 2);
	CHECK_STR(mcp_text(v, "0.slug"), "p-backend");
	v = mcp_read(&world, "resource://project/p-backend");
	CHECK_STR(mcp_text(v, "human_key"), "/p/backend");
	CHECK_INT(count_at(v, "agents"), 2);
	/* Any name of the project will do, raw or encoded. */
	mcp_read(&world, "resource://project//p/backend");
	mcp_read(&world, "resource://project/%2Fp%2Fbackend");
	v = mcp_read(&world, "resource://agents/backend");
	CHECK_STR(mcp_text(v, "project.slug"), "p-backend");
	for (size_t i = 0; i < 2; i++) {
		const struct mr_value *agent = &mcp_get(v, "agents")->list.items[i];

		CHECK_INT(mcp_int(agent, "unread_count"),
			mr_str_eq(mcp_text(agent, "name"), "RedCat"));
	}
	mcp_tool(&world, "file_reservation_paths",
		"{\"project_key\":\"backend\",\"agent_name\":\"RedCat\",\"paths\":[\"a\",\"b\"]}");
	mcp_tool(&world, "release_file_reservations",
		"{\"project_key\":\"backend\",\"agent_name\":\"RedCat\",\"paths\":[\"a\"]}");
	CHECK_INT(mcp_read(&world, "resource://file_reservations/p-backend")->list.len, 2);
	v = mcp_read(&world, "resource://file_reservations/p-backend?active_only=on");
	CHECK_INT(v->list.len, 1);
	CHECK_STR(mcp_text(v, "0.path_pattern"), "b");
	v = mcp_read(&world, "resource://threads/backend");
	CHECK_STR(mcp_text(v, "0.thread_id"), "T");
	v = mcp_read(&world, "resource://contacts/RedCat");
	CHECK_INT(count_at(v, "contacts"), 0);
	mcp_tool(&world, "ensure_product", "{\"product_uid\":\"suite\"}");
	mcp_tool(&world, "link_project_to_product",
		"{\"product_uid\":\"suite\",\"project_key\":\"backend\"}");
	v = mcp_read(&world, "resource://product/suite");
	CHECK_STR(mcp_text(v, "projects.0.slug"), "p-backend");
	v = mcp_read(&world, "resource://identity//p/backend");
	CHECK(mcp_get(v, "exists")->boolean);
	v = mcp_read(&world, "resource://identity//some/where");
	CHECK(!mcp_get(v, "exists")->boolean);
	CHECK_STR(mcp_text(v, "slug"), "some-where");
	mcp_close(&world);
}

static void messages_are_shown(void)
{
	static const char *const views[] = { "resource://views/urgent-unread/RedCat",
		"resource://views/ack-required/RedCat",
		"resource://views/acks-stale/RedCat?ttl_seconds=0",
		"resource://inbox/RedCat?urgent_only=1", "resource://inbox/redcat?project=backend",
		"resource://inbox/RedCat?since_ts=2020-01-01",
		"resource://mailbox/RedCat?limit=1" };
	struct mcp_world world;
	const struct mr_value *v;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	v = mcp_read(&world, "resource://message/1");
	CHECK(mr_str_starts(mcp_text(v, "body_md"), "build"));
	CHECK_STR(mcp_text(v, "from"), "GreenCastle");
	v = mcp_read(&world, "resource://message/1?project=backend&max_chars=5");
	CHECK_STR(mcp_text(v, "body_md"), "build");
	CHECK(mcp_get(v, "truncated")->boolean);
	v = mcp_read(&world, "resource://thread/T");
	CHECK_STR(mcp_text(v, "project"), "/p/backend");
	CHECK_INT(count_at(v, "messages"), 1);
	CHECK(!mcp_get(v, "messages.0.body_md"));
	v = mcp_read(&world, "resource://thread/1?include_bodies=true&project=backend");
	CHECK(mcp_get(v, "messages.0.body_md"));
	for (size_t i = 0; i < MR_LEN(views); i++) {
		v = mcp_read(&world, views[i]);
		CHECK_STR(mcp_text(v, "project"), "/p/backend");
		CHECK_STR(mcp_text(v, "agent"), "RedCat");
		CHECK_INT(mcp_int(v, "count"), 1);
		CHECK_INT(mcp_int(v, "messages.0.id"), 1);
	}
	v = mcp_read(&world, "resource://views/acks-stale/RedCat?ttl_seconds=0");
	CHECK_INT(mcp_int(v, "ttl_seconds"), 0);
	CHECK(mcp_int(v, "messages.0.age_seconds") >= 0);
	CHECK_STR(mcp_text(v, "messages.0.kind"), "to");
	v = mcp_read(&world, "resource://views/ack-overdue/RedCat?ttl_minutes=-5");
	CHECK_INT(mcp_int(v, "ttl_seconds"), 60);
	CHECK_INT(mcp_int(v, "count"), 0);
	v = mcp_read(&world, "resource://outbox/GreenCastle?include_bodies=y");
	CHECK_STR(mcp_text(v, "messages.0.to.0"), "RedCat");
	CHECK(mcp_get(v, "messages.0.body_md"));
	v = mcp_read(&world, "resource://mailbox/RedCat");
	CHECK_STR(mcp_text(v, "messages.0.commit.summary"), "mail: GreenCastle -> RedCat | plan");
	CHECK_INT(strlen(mcp_text(v, "messages.0.commit.hexsha")), 12);
	v = mcp_read(&world, "resource://mailbox-with-commits/RedCat");
	CHECK(mcp_int(v, "messages.0.commit.insertions") > 10);
	CHECK_INT(count_at(v, "messages.0.commit.diff_summary.excerpt"), 12);
	CHECK_STR(mcp_text(v, "messages.0.commit.diff_summary.excerpt.0"), "+---");
	mcp_close(&world);
}

static int read_error(struct mcp_world *world, const char *uri)
{
	const struct mr_value *said = mcp_say(world, "resources/read",
		mr_arena_printf(world->arena, "{\"uri\":\"%s\"}", uri));

	CHECK_STR(mcp_text(said, "error.data.uri"), uri);
	return (int)mcp_int(said, "error.code");
}

static void what_is_not_there_is_said_by_era(void)
{
	static const char *const missing[] = { "resource://nope", "resource://inbox",
		"resource://inbox/Nobody", "resource://inbox/RedCat?project=nowhere",
		"resource://message/99", "resource://thread/none",
		"resource://thread/none?project=backend", "resource://agents/nowhere",
		"resource://file_reservations/nowhere", "resource://product/none", "http://x",
		"resource://projects/x" };
	static const char *const wrong[] = { "resource://message/abc",
		"resource://inbox/RedCat?since_ts=never", "resource://inbox/GreenCastle" };
	struct mcp_world world;

	mcp_open(&world, NULL);
	mcp_scene(&world);
	/* One name in two projects. */
	mcp_tool(&world, "register_agent",
		"{\"project_key\":\"/p/frontend\",\"name\":\"GreenCastle\",\"program\":\"x\","
		"\"model\":\"y\"}");
	for (size_t i = 0; i < MR_LEN(missing); i++)
		CHECK_INT(read_error(&world, missing[i]), MR_RPC_RESOURCE);
	for (size_t i = 0; i < MR_LEN(wrong); i++)
		CHECK_INT(read_error(&world, wrong[i]), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "resources/read", "{}"), MR_RPC_PARAMS);
	world.client = (struct mr_mcp_client){ .era = MR_MCP_STATELESS, .version = MR_MCP_MODERN };
	for (size_t i = 0; i < MR_LEN(missing); i++)
		CHECK_INT(read_error(&world, missing[i]), MR_RPC_PARAMS);
	mcp_close(&world);
}

static void concrete_ones_are_listed_page_by_page(void)
{
	enum { AGENTS = 230 };
	const char *settings[] = { "team.name_validation=any", NULL };
	struct mcp_world world;
	const struct mr_value *page;
	const char *params = "{}";
	size_t pages = 0, inboxes = 0, total = 0;

	mcp_open(&world, settings);
	mcp_scene(&world);
	for (int i = 0; i < AGENTS; i++)
		mcp_tool(&world, "register_agent",
			mr_arena_printf(world.arena,
				"{\"project_key\":\"backend\",\"name\":\"Agent%03d\",\"program\":"
				"\"x\",\"model\":\"y\"}",
				i));
	do {
		page = mcp_result(&world, "resources/list", params);
		pages++;
		for (size_t i = 0; i < mcp_get(page, "resources")->list.len; i++) {
			const struct mr_value *one = &mcp_get(page, "resources")->list.items[i];

			total++;
			inboxes += mr_str_starts(mcp_text(one, "uri"), "resource://inbox/");
			CHECK(*mcp_text(one, "name"));
			/* Each can be read as it stands; a few are enough. */
			if (total < 20)
				mcp_read(&world, mcp_text(one, "uri"));
		}
		if (mr_value_get(page, "nextCursor"))
			params = mr_arena_printf(world.arena, "{\"cursor\":\"%s\"}",
				mcp_text(page, "nextCursor"));
	} while (mr_value_get(page, "nextCursor"));
	CHECK_INT(inboxes, AGENTS + 3);
	CHECK_INT(total, 6 + 2 * 3 + AGENTS + 3);
	CHECK_INT(pages, 3);
	CHECK_INT(mcp_error(&world, "resources/list", "{\"cursor\":\"eA\"}"), MR_RPC_PARAMS);
	CHECK_INT(mcp_error(&world, "resources/list", "{\"cursor\":5}"), MR_RPC_PARAMS);
	mcp_close(&world);
}

static void templates_are_listed(void)
{
	struct mcp_world world;
	const struct mr_value *list;
	bool found = false;

	mcp_open(&world, NULL);
	list = mcp_get(mcp_result(&world, "resources/templates/list", "{}"), "resourceTemplates");
	CHECK_INT(list->list.len, 19);
	for (size_t i = 0; i < list->list.len; i++) {
		const char *text = mcp_text(&list->list.items[i], "uriTemplate");

		CHECK(mr_mcp_resource_template(text) != NULL);
		found = found || mr_str_starts(text, "resource://inbox/{agent}{?project,");
	}
	CHECK(found);
	CHECK(!mr_mcp_resource_template("resource://projects"));
	CHECK(!mr_mcp_resource_template("http://inbox/{agent}"));
	CHECK_INT(mcp_error(&world, "resources/templates/list", "{\"cursor\":\"x\"}"),
		MR_RPC_PARAMS);
	mcp_close(&world);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_server_tells_of_itself),
		TEST(locks_are_shown),
		TEST(capabilities_come_from_a_file),
		TEST(the_team_is_shown),
		TEST(messages_are_shown),
		TEST(what_is_not_there_is_said_by_era),
		TEST(concrete_ones_are_listed_page_by_page),
		TEST(templates_are_listed),
	};

	return test_main(tests, MR_LEN(tests));
}
