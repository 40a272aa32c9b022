/* tests/unit/op/test_team_results.c - what the operations about mail answer is what their tables
 * promise. */
#include "app/metrics.h"
#include "app/settings.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/schema.h"
#include "op/team/team_home.h"
#include "test.h"
#include "text/json.h"

#include <fcntl.h>
#include <string.h>

struct fixture {
	struct mr_arena *arena;
	struct mr_app app;
	struct mr_call call;
};

static void set_up(struct fixture *f)
{
	const char *assignments[] = { NULL, NULL };
	struct mr_texts texts = { assignments, 1 };
	struct mr_settings_sources sources = { .assignments = &texts, .cwd = AT_FDCWD };

	f->arena = mr_arena_new();
	assignments[0] = mr_arena_printf(f->arena, "storage.root=%s", test_dir());
	f->app = (struct mr_app){
		.table = &mr_nouns,
		.metrics = mr_metrics_new(),
		.team = mr_team_home_new(),
		.clock = mr_clock_system(),
		.rand = mr_rand_system(),
	};
	f->call = mr_dispatch_call(&f->app, f->arena);
	f->call.may_write = true;
	CHECK_OK(mr_settings_load(f->arena, &sources, &f->app.settings, &f->call.cx.err),
		f->call.cx.err);
}

static void tear_down(struct fixture *f)
{
	mr_team_home_free(f->app.team);
	mr_metrics_free(f->app.metrics);
	mr_arena_free(f->arena);
}

/* Run it; the answer must be as its table says. */
static const struct mr_value *run(struct fixture *f, const char *name, const char *json)
{
	const struct mr_op *op = mr_op_find(&mr_nouns, name);
	const struct mr_value *sent;
	struct mr_issues issues;
	struct mr_cursor at;
	struct mr_out out;

	CHECK(op != NULL);
	CHECK_OK(mr_json_parse(f->arena, mr_bytes_text(json), NULL, &sent, &f->call.cx.err),
		f->call.cx.err);
	mr_out_init_tree(&out, f->arena);
	CHECK_OK(mr_dispatch(&f->call, op, sent, &out), f->call.cx.err);
	mr_issues_init(&issues, f->arena);
	at = mr_cursor_root(mr_out_tree(&out), &issues);
	mr_schema_check(op->result, &at);
	if (issues.len)
		test_fail(__FILE__, __LINE__, "%s: %s %s", name, issues.items[0].path,
			issues.items[0].msg);
	return mr_out_tree(&out);
}

static enum mr_code fails(struct fixture *f, const char *name, const char *json)
{
	const struct mr_value *sent;
	struct mr_out out;

	CHECK_OK(mr_json_parse(f->arena, mr_bytes_text(json), NULL, &sent, &f->call.cx.err),
		f->call.cx.err);
	mr_out_init_tree(&out, f->arena);
	return mr_dispatch(&f->call, mr_op_find(&mr_nouns, name), sent, &out);
}

static void meet(struct fixture *f)
{
	run(f, "register_agent",
		"{\"project_key\":\"/p/b\",\"name\":\"GreenCastle\",\"program\":\"x\","
		"\"model\":\"y\"}");
	run(f, "register_agent",
		"{\"project_key\":\"/p/f\",\"name\":\"BlueLake\",\"program\":\"x\","
		"\"model\":\"y\",\"contact_policy\":\"contacts_only\"}");
}

#define SEND(rest)                                                                                 \
	"{\"project_key\":\"b\",\"sender_name\":\"GreenCastle\",\"subject\":\"s\",\"body_md\":"    \
	"\"t\"," rest "}"

static void answers_keep_their_promise(void)
{
	struct fixture f;

	set_up(&f);
	meet(&f);
	run(&f, "send_message",
		SEND("\"to\":[\"RedCat\",\"BlueLake\"],\"auto_contact_if_blocked\":true,"
		     "\"idempotency_key\":\"k\",\"ack_required\":\"true\""));
	run(&f, "send_message", SEND("\"to\":[\"RedCat\"],\"idempotency_key\":\"k\""));
	run(&f, "send_message",
		SEND("\"to\":\"RedCat, GreenCastle\",\"bcc\":[\"SwiftFox\"],"
		     "\"importance\":\"high\",\"thread_id\":\"T\""));
	run(&f, "reply_message",
		"{\"project_key\":\"b\",\"message_id\":2,\"sender_name\":\"RedCat\","
		"\"body_md\":\"x\"}");
	run(&f, "fetch_inbox", "{\"project_key\":\"b\",\"agent_name\":\"RedCat\"}");
	run(&f, "fetch_inbox",
		"{\"project_key\":\"b\",\"agent\":\"RedCat\",\"include_bodies\":true,"
		"\"limit\":\"5\"}");
	run(&f, "list_outbox", "{\"project_key\":\"b\",\"agent_name\":\"GreenCastle\"}");
	run(&f, "acks_pending", "{\"project_key\":\"b\",\"agent_name\":\"RedCat\"}");
	run(&f, "acks_overdue",
		"{\"project_key\":\"b\",\"agent_name\":\"RedCat\",\"ttl_seconds\":0}");
	run(&f, "mark_message_read",
		"{\"project_key\":\"b\",\"agent_name\":\"RedCat\",\"message_id\":2}");
	run(&f, "mark_message_read",
		"{\"project_key\":\"f\",\"agent_name\":\"BlueLake\",\"message_id\":2}");
	run(&f, "acknowledge_message",
		"{\"project_key\":\"b\",\"agent_name\":\"RedCat\",\"message_id\":2}");
	run(&f, "get_message", "{\"project_key\":\"b\",\"message_id\":2}");
	run(&f, "get_message",
		"{\"project_key\":\"b\",\"message_id\":3,\"agent_name\":\"GreenCastle\"}");
	run(&f, "list_threads", "{\"project_key\":\"b\"}");
	run(&f, "get_thread", "{\"project_key\":\"b\",\"thread_id\":\"T\",\"limit\":1}");
	run(&f, "search_messages", "{\"project_key\":\"b\",\"query\":\"t\"}");
	run(&f, "search_messages",
		"{\"project_key\":\"b\",\"query\":\"is:unread\",\"limit\":\"3\",\"offset\":1,"
		"\"order\":\"newest\",\"agent\":\"RedCat\"}");
	run(&f, "summarize_thread",
		"{\"project_key\":\"b\",\"thread_id\":\"T\",\"include_examples\":true}");
	run(&f, "summarize_threads", "{\"project_key\":\"b\",\"thread_ids\":[\"T\",\"none\"]}");
	tear_down(&f);
}

static const char *as_json(struct fixture *f, const char *name, const char *json)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_value *sent;
	struct mr_out out;

	mr_buf_init(&text, 1 << 16);
	CHECK_OK(mr_json_parse(f->arena, mr_bytes_text(json), NULL, &sent, &f->call.cx.err),
		f->call.cx.err);
	mr_out_init_json(&out, &text, MR_JSON_COMPACT);
	CHECK_OK(mr_dispatch(&f->call, mr_op_find(&mr_nouns, name), sent, &out), f->call.cx.err);
	return mr_arena_strdup(f->arena, mr_buf_text(&text));
}

/* What was kept of a message is what would have been written again. */
static void a_list_says_the_same_again(void)
{
	static const char inbox[] = "{\"project_key\":\"b\",\"agent_name\":\"RedCat\"}";
	static const char outbox[] = "{\"project_key\":\"b\",\"agent_name\":\"GreenCastle\"}";
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_json_writer json;
	struct fixture f;

	set_up(&f);
	meet(&f);
	run(&f, "send_message", SEND("\"to\":\"RedCat\",\"thread_id\":\"a \\\"T\\\"\""));
	run(&f, "send_message", SEND("\"to\":\"RedCat\",\"importance\":\"urgent\""));
	mr_buf_init(&text, 1 << 16);
	mr_json_init(&json, &text, MR_JSON_COMPACT);
	mr_json_value(&json, run(&f, "fetch_inbox", inbox));
	for (int i = 0; i < 3; i++)
		CHECK_STR(as_json(&f, "fetch_inbox", inbox), mr_buf_text(&text));
	/* The same messages as their sender sees them, with other members behind. */
	mr_buf_clear(&text);
	mr_json_init(&json, &text, MR_JSON_COMPACT);
	mr_json_value(&json, run(&f, "list_outbox", outbox));
	CHECK_STR(as_json(&f, "list_outbox", outbox), mr_buf_text(&text));
	/* What is a recipient's own is looked up each time. */
	run(&f, "mark_message_read",
		"{\"project_key\":\"b\",\"agent_name\":\"RedCat\",\"message_id\":2}");
	CHECK(strstr(as_json(&f, "fetch_inbox", inbox), "\"read_ts\":\"20"));
	tear_down(&f);
}

static void names_in_one_text_are_split(void)
{
	struct fixture f;
	const struct mr_value *payload;

	set_up(&f);
	meet(&f);
	payload = run(&f, "send_message",
		SEND("\"recipients\":\"RedCat, SwiftFox,\",\"cc\":\"KeenOwl\""));
	payload = mr_value_get(&mr_value_get(payload, "deliveries")->list.items[0], "payload");
	CHECK_INT(mr_value_get(payload, "to")->list.len, 2);
	CHECK_STR(mr_value_get(payload, "cc")->list.items[0].text, "KeenOwl");
	CHECK_INT(fails(&f, "send_message", SEND("\"to\":[\"RedCat\"],\"cc\":5")), MR_EINVAL);
	CHECK_STR(f.call.cx.err.issues->items[0].path, "$.cc[0]");
	tear_down(&f);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(answers_keep_their_promise),
		TEST(a_list_says_the_same_again),
		TEST(names_in_one_text_are_split),
	};

	return test_main(tests, MR_LEN(tests));
}
