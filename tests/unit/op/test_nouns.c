/* tests/unit/op/test_nouns.c - every operation is well formed, and its result keeps its promise. */
#include "app/metrics.h"
#include "app/settings.h"
#include "op/agent_auth.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/schema.h"
#include "op/team/contract_team.h"
#include "op/team/team_home.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>
#include <string.h>

static void operations_are_well_formed(void)
{
	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];

		CHECK(op->name && op->summary && op->contract);
		CHECK(!op->run != !op->bind);
		/* Who acts, and who may set what, is checked by the contract. */
		CHECK(!mr_agent_auth_takes_token(op) || op->contract == &mr_contract_team);
		CHECK(mr_op_find(&mr_nouns, op->name) == op);
		CHECK(op->surfaces != 0);
		CHECK(!(op->surfaces & MR_ON_CLI) == !op->command);
		CHECK(!(op->surfaces & MR_ON_HTTP) == !op->route);
		CHECK(op->summary[strlen(op->summary) - 1] != '.');
		for (size_t p = 0; p < mr_param_count(op->params); p++) {
			CHECK(op->params[p].summary != NULL);
			CHECK(!(op->params[p].flags & MR_ADMIN_ONLY) ||
				op->contract == &mr_contract_team);
			CHECK(mr_param_find(op->params, op->params[p].name) == &op->params[p]);
		}
	}
}

/* Does a result hold such a field, at any depth? */
static bool shows(const struct mr_field *fields, const char *name)
{
	for (size_t i = 0; i < mr_field_count(fields); i++) {
		if (strcmp(fields[i].name, name) == 0 || shows(fields[i].fields, name))
			return true;
	}
	return false;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcmp(name, *names) == 0)
			return true;
	}
	return false;
}

static bool takes(const struct mr_op *op, const char *name)
{
	return mr_param_find(op->params, name) != NULL;
}

/* A client's model pays for every byte: what can grow without end is given in pages. */
static void tools_that_list_take_a_limit_and_a_cursor(void)
{
	/* As long as this table, whatever agents do. */
	static const char *const fixed[] = { "list_extended_tools", NULL };
	size_t seen = 0;

	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];
		bool lists = mr_op_is_list(op) || strncmp(op->name, "list_", 5) == 0;

		for (size_t f = 0; f < mr_field_count(op->result); f++)
			lists = lists || strcmp(op->result[f].name, "messages") == 0;
		if (!(op->surfaces & MR_ON_MCP) || !lists || is_one_of(op->name, fixed))
			continue;
		seen++;
		if (!takes(op, "limit") || !takes(op, "cursor"))
			test_fail(__FILE__, __LINE__, "%s takes no limit or no cursor", op->name);
	}
	CHECK(seen >= 15);
}

static void tools_that_show_texts_can_cut_and_fence_them(void)
{
	/* They give back to the sender what it wrote; the start of a session shows no bodies. */
	static const char *const own[] = { "send_message", "reply_message", "macro_start_session",
		"macro_contact_handshake", NULL };
	size_t seen = 0;

	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];

		if (!(op->surfaces & MR_ON_MCP) || !shows(op->result, "body_md") ||
			is_one_of(op->name, own))
			continue;
		seen++;
		if (!takes(op, "max_chars") || !takes(op, "fence"))
			test_fail(__FILE__, __LINE__, "%s takes no max_chars or no fence",
				op->name);
	}
	CHECK(seen >= 8);
}

/* What others wrote, however short, is marked as theirs beside the result. */
static void tools_that_quote_say_so(void)
{
	static const char *const texts[] = { "subject", "body_md", "snippet", "reason",
		"task_description", "key_points", NULL };
	/* What they show the caller has just written. */
	static const char *const own[] = { "send_message", "reply_message", "register_agent",
		"create_agent_identity", "update_agent_profile", "set_contact_policy", NULL };
	size_t seen = 0;

	for (size_t i = 0; i < mr_nouns.len; i++) {
		const struct mr_op *op = mr_nouns.ops[i];
		bool quotes = false;

		for (size_t t = 0; texts[t]; t++)
			quotes = quotes || shows(op->result, texts[t]);
		if (!(op->surfaces & MR_ON_MCP) || !quotes || is_one_of(op->name, own))
			continue;
		seen++;
		if (!(op->traits & MR_QUOTES))
			test_fail(__FILE__, __LINE__, "%s does not say that it quotes", op->name);
	}
	CHECK(seen >= 20);
}

struct fixture {
	struct mr_arena *arena;
	struct mr_app app;
	struct mr_call call;
};

static void set_up(struct fixture *f, const char *root)
{
	const char *assignments[] = {
		NULL,
		"http.bearer_token=hunter2",
		NULL,
	};
	struct mr_texts texts = { assignments, 2 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };

	f->arena = mr_arena_new();
	assignments[0] = mr_arena_printf(f->arena, "storage.root=%s", root);
	f->app = (struct mr_app){
		.table = &mr_nouns,
		.metrics = mr_metrics_new(),
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	f->call = mr_dispatch_call(&f->app, f->arena);
	CHECK_OK(mr_settings_load(f->arena, &sources, &f->app.settings, &f->call.cx.err),
		f->call.cx.err);
}

static void tear_down(struct fixture *f)
{
	mr_team_home_free(f->app.team);
	mr_metrics_free(f->app.metrics);
	mr_arena_free(f->arena);
}

static const struct mr_value *run(struct fixture *f, const char *name, const char *json)
{
	const struct mr_value *sent;
	struct mr_issues issues;
	struct mr_cursor at;
	struct mr_out out;

	CHECK_OK(mr_json_parse(f->arena, mr_bytes_text(json), NULL, &sent, &f->call.cx.err),
		f->call.cx.err);
	mr_out_init_tree(&out, f->arena);
	if (mr_dispatch(&f->call, mr_op_find(&mr_nouns, name), sent, &out))
		return NULL;
	mr_issues_init(&issues, f->arena);
	at = mr_cursor_root(mr_out_tree(&out), &issues);
	mr_schema_check(mr_op_find(&mr_nouns, name)->result, &at);
	if (issues.len)
		test_fail(__FILE__, __LINE__, "%s: %s %s", name, issues.items[0].path,
			issues.items[0].msg);
	return mr_out_tree(&out);
}

static const char *text_at(const struct mr_value *map, const char *key)
{
	return mr_value_get(map, key)->text;
}

static void health_is_told(void)
{
	struct fixture f;

	set_up(&f, test_dir());
	CHECK_STR(text_at(run(&f, "health_liveness", "{}"), "status"), "alive");
	CHECK_STR(text_at(run(&f, "health_readiness", "{}"), "status"), "ready");
	CHECK_STR(text_at(run(&f, "health", "{}"), "status"), "ok");
	CHECK_STR(text_at(run(&f, "health", "{}"), "protocol_version"), "v1");
	tear_down(&f);
}

static void a_place_that_cannot_be_used_is_not_ready(void)
{
	struct fixture f;

	set_up(&f, "/proc/none/here");
	CHECK(run(&f, "health_readiness", "{}") == NULL);
	CHECK_INT(f.call.cx.err.code, MR_EBUSY);
	CHECK(strstr(f.call.cx.err.msg, "not ready: storage.root: "));
	CHECK(strstr(f.call.cx.err.msg, "/proc/none"));
	CHECK(run(&f, "health", "{}") == NULL);
	CHECK_STR(text_at(run(&f, "health_liveness", "{}"), "status"), "alive");
	tear_down(&f);
}

static void settings_are_listed_without_secrets(void)
{
	const struct mr_value *list;
	struct fixture f;
	bool masked = false;

	set_up(&f, test_dir());
	list = mr_value_get(run(&f, "config", "{}"), "settings");
	for (size_t i = 0; i < list->list.len; i++) {
		const struct mr_value *row = &list->list.items[i];

		CHECK(!strstr(text_at(row, "value"), "hunter2"));
		if (strcmp(text_at(row, "key"), "http.bearer_token") == 0)
			masked = strcmp(text_at(row, "value"), "********") == 0;
	}
	CHECK(masked);
	tear_down(&f);
}

static void the_table_describes_itself(void)
{
	const struct mr_value *list;
	size_t hidden = 0;
	struct fixture f;

	set_up(&f, test_dir());
	list = mr_value_get(run(&f, "operations", "{}"), "operations");
	for (size_t i = 0; i < mr_nouns.len; i++)
		hidden += (mr_nouns.ops[i]->traits & MR_HIDDEN) != 0;
	CHECK_INT(list->list.len, mr_nouns.len - hidden);
	for (size_t i = 0; i < mr_nouns.len; i++)
		CHECK(run(&f, "schema",
			      mr_arena_printf(f.arena, "{\"operation\":\"%s\"}",
				      mr_nouns.ops[i]->name)) != NULL);
	CHECK(run(&f, "schema", "{\"operation\":\"helth\"}") == NULL);
	CHECK_STR(f.call.cx.err.msg, "there is no operation helth; did you mean health?");
	tear_down(&f);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(operations_are_well_formed),
		TEST(tools_that_list_take_a_limit_and_a_cursor),
		TEST(tools_that_show_texts_can_cut_and_fence_them),
		TEST(tools_that_quote_say_so),
		TEST(health_is_told),
		TEST(a_place_that_cannot_be_used_is_not_ready),
		TEST(settings_are_listed_without_secrets),
		TEST(the_table_describes_itself),
	};

	return test_main(tests, MR_LEN(tests));
}
