/* tests/unit/workspace/test_work_progress.c - the snapshot of a pull or push, as status shows
 * it. */
#include "workspace/progress.h"

#include "desk.h"
#include "test.h"
#include "text/json.h"
#include "workspace/error.h"
#include "workspace/layout.h"

#include <unistd.h>

static struct desk desk;

static const struct mr_value *parse(const char *json)
{
	const struct mr_value *value = NULL;

	CHECK_OK(mr_json_parse(desk.cx.arena, mr_bytes_text(json), NULL, &value, &desk.cx.err),
		desk.cx.err);
	return value;
}

static const struct mr_value *show(bool is_locked)
{
	const struct mr_value *shown = NULL;

	CHECK_OK(mr_work_progress_show(&desk.cx, desk.work, is_locked, &shown), desk.cx.err);
	return shown;
}

/* A snapshot; `rest` are its further members. */
static void put(const char *command, const char *status, const char *phase, const char *rest)
{
	desk_put(MR_WORK_PROGRESS,
		mr_arena_printf(desk.cx.arena,
			"{\"schema_name\":\"workspace_progress\",\"schema_version\":1,"
			"\"command\":\"%s\",\"status\":\"%s\",\"phase\":\"%s\",\"message\":\"m\","
			"\"started_rfc3339\":\"2026-03-11T04:15:00Z\","
			"\"updated_rfc3339\":\"2026-03-11T04:15:01Z\",\"elapsed_ms\":5,%s}",
			command, status, phase, rest));
}

static void check_text(const struct mr_value *shown, const char *key, const char *text)
{
	const struct mr_value *value = mr_value_get(shown, key);

	CHECK(value && value->kind == MR_TEXT);
	CHECK_STR(value->text, text);
}

static void check_running(const char *command, const char *phase, const char *fields,
	const char *summary)
{
	put(command, "running", phase,
		mr_arena_printf(desk.cx.arena, "\"fields\":%s,\"result\":null,\"error\":null",
			fields));
	check_text(show(true), "summary", summary);
	check_text(show(true), "status", "running");
}

static void test_idle(void)
{
	desk_open(&desk);
	CHECK(mr_value_equal(show(false), parse("{\"status\":\"idle\"}")));
	CHECK(mr_value_equal(show(true), parse("{\"status\":\"idle\"}")));
	desk_close(&desk);
}

static void test_summaries_of_a_pull(void)
{
	desk_open(&desk);
	check_running("pull", "start", "{}", "pull: start");
	check_running("pull", "pull_resolve_targets", "{\"mailbox_count\":5}",
		"pull: resolved 5 mailboxes");
	check_running("pull", "pull_mailbox_headers_start", "{\"mailbox_name\":\"INBOX\"}",
		"pull: INBOX headers");
	check_running("pull", "pull_mailbox_headers_done",
		"{\"mailbox_name\":\"INBOX\",\"new_candidate_count\":12}",
		"pull: INBOX headers done, 12 new candidates");
	check_running("pull", "pull_mailbox_bodies_progress",
		"{\"mailbox_name\":\"INBOX\",\"processed_count\":25,\"uid_count\":199,"
		"\"batch_index\":1,\"batch_count\":8}",
		"pull: INBOX bodies 25/199, batch 1/8");
	desk_close(&desk);
}

static void test_summaries_of_a_push(void)
{
	desk_open(&desk);
	check_running("push", "push_item_start",
		"{\"display_kind\":\"message.spam\",\"index\":2,\"item_count\":3}",
		"push: message.spam item 2/3");
	check_running("push", "push_step_start",
		"{\"display_kind\":\"outbound\",\"item_index\":2,\"item_count\":3,"
		"\"step_index\":1,\"step_count\":2}",
		"push: outbound item 2/3, step 1/2");
	check_running("push", "push_done", "{\"pushed_count\":2,\"failed_count\":1}",
		"push: done, 2 pushed, 1 failed");
	desk_close(&desk);
}

static void test_a_pull_that_goes_on(void)
{
	desk_open(&desk);
	put("pull", "running", "pull_mailbox_bodies_progress",
		"\"fields\":{\"mailbox_id\":\"inbox\",\"mailbox_name\":\"INBOX\",\"index\":1,"
		"\"mailbox_count\":2,\"processed_count\":25,\"uid_count\":199,\"batch_index\":1,"
		"\"batch_count\":8},\"result\":null,\"error\":null");
	CHECK(mr_value_equal(show(true),
		parse("{\"status\":\"running\",\"command\":\"pull\","
		      "\"phase\":\"pull_mailbox_bodies_progress\","
		      "\"summary\":\"pull: INBOX bodies 25/199, batch 1/8\","
		      "\"processed_count\":25,\"total_count\":199,\"progress_percent\":12.56,"
		      "\"batch_index\":1,\"batch_count\":8,\"mailbox_id\":\"inbox\","
		      "\"mailbox_name\":\"INBOX\",\"mailbox_count\":2,\"mailbox_index\":1,"
		      "\"fields\":{\"mailbox_id\":\"inbox\",\"mailbox_name\":\"INBOX\","
		      "\"index\":1,\"mailbox_count\":2,\"processed_count\":25,\"uid_count\":199,"
		      "\"batch_index\":1,\"batch_count\":8},\"error\":null}")));
	desk_close(&desk);
}

static void test_percent_needs_both_numbers(void)
{
	desk_open(&desk);
	put("pull", "running", "x", "\"fields\":{\"processed_count\":0,\"uid_count\":0}");
	CHECK(!mr_value_get(show(true), "progress_percent"));
	CHECK_INT(mr_value_get(show(true), "total_count")->integer, 0);
	put("pull", "running", "x", "\"fields\":{\"uid_count\":10}");
	CHECK(!mr_value_get(show(true), "progress_percent"));
	CHECK(!mr_value_get(show(true), "processed_count"));
	put("pull", "running", "x", "\"fields\":{\"processed_count\":1,\"uid_count\":4}");
	CHECK(mr_value_get(show(true), "progress_percent")->real == 25.0);
	desk_close(&desk);
}

static void test_a_push_that_goes_on(void)
{
	static const char fields[] =
		"{\"push_id\":\"push_1\",\"kind\":\"message_action\",\"display_kind\":"
		"\"message.spam\",\"item_index\":1,\"item_count\":2,\"step_index\":1,"
		"\"step_count\":2,\"label\":\"add_flags\"";

	desk_open(&desk);
	put("push", "running", "push_step_done",
		mr_arena_printf(desk.cx.arena, "\"fields\":%s,\"index\":9}", fields));
	CHECK(mr_value_equal(show(true),
		parse(mr_arena_printf(desk.cx.arena,
			"%s,\"status\":\"running\",\"command\":\"push\",\"phase\":"
			"\"push_step_done\",\"summary\":\"push: message.spam item 1/2, step 1/2\","
			"\"fields\":%s,\"index\":9},\"error\":null}",
			fields, fields))));
	desk_close(&desk);
}

static void test_what_ended_well(void)
{
	desk_open(&desk);
	put("pull", "succeeded", "finish",
		"\"fields\":{\"success\":true},\"result\":{\"code\":\"pull_result\","
		"\"new_message_count\":3,\"mailbox_count\":1},\"error\":null");
	CHECK(mr_value_equal(show(false),
		parse("{\"status\":\"succeeded\",\"command\":\"pull\",\"phase\":\"finish\","
		      "\"summary\":\"pull succeeded: 3 new messages across 1 mailboxes\","
		      "\"fields\":{\"success\":true},\"error\":null}")));
	put("push", "succeeded", "finish",
		"\"fields\":{\"success\":true},\"result\":{\"code\":\"push_result\","
		"\"pushed_count\":2,\"failed_count\":1},\"error\":null");
	check_text(show(false), "summary", "push succeeded: 2 pushed, 1 failed");
	desk_close(&desk);
}

static void test_what_failed(void)
{
	static const char fields[] =
		"{\"success\":false,\"failed_phase\":\"pull_resolve_targets\",\"failed_fields\":"
		"{\"mailbox_count\":1,\"mailbox_ids\":[\"inbox\"]}}";
	static const char error[] =
		"{\"error_code\":\"imap_login_failed\",\"error\":\"no\",\"retryable\":false}";

	desk_open(&desk);
	put("pull", "failed", "finish",
		mr_arena_printf(desk.cx.arena, "\"fields\":%s,\"result\":null,\"error\":%s", fields,
			error));
	CHECK(mr_value_equal(show(false),
		parse(mr_arena_printf(desk.cx.arena,
			"{\"status\":\"failed\",\"command\":\"pull\",\"phase\":\"finish\","
			"\"summary\":\"pull failed: imap_login_failed during resolved 1 "
			"mailboxes\",\"mailbox_count\":1,\"failed_phase\":"
			"\"pull_resolve_targets\",\"failed_fields\":{\"mailbox_count\":1,"
			"\"mailbox_ids\":[\"inbox\"]},\"fields\":%s,\"error\":%s}",
			fields, error))));
	put("push", "failed", "finish",
		"\"fields\":{\"success\":false,\"failed_phase\":\"start\",\"failed_fields\":{}},"
		"\"error\":{\"error_code\":\"transaction_incomplete\"}");
	check_text(show(false), "summary", "push failed: transaction_incomplete during start");
	desk_close(&desk);
}

static void test_interrupted(void)
{
	desk_open(&desk);
	put("pull", "running", "pull_mailbox_headers_start",
		"\"fields\":{\"mailbox_name\":\"INBOX\"}");
	check_text(show(true), "status", "running");
	/* It says that it is running, but nobody holds the lock. */
	check_text(show(false), "status", "interrupted");
	check_text(show(false), "summary", "pull: INBOX headers");
	put("pull", "succeeded", "finish", "\"fields\":{\"success\":true}");
	check_text(show(false), "status", "succeeded");
	desk_close(&desk);
}

static void test_what_is_no_snapshot(void)
{
	static const char *const texts[] = { "", "{", "[]", "\"running\"", "null" };
	const struct mr_value *shown = NULL;

	desk_open(&desk);
	for (size_t i = 0; i < MR_LEN(texts); i++) {
		desk_put(MR_WORK_PROGRESS, texts[i]);
		desk_check_fail(&desk, mr_work_progress_show(&desk.cx, desk.work, false, &shown),
			"progress_invalid", NULL, NULL);
		CHECK(!shown);
	}
	/* Members of other kinds do no harm. */
	desk_put(MR_WORK_PROGRESS,
		"{\"command\":1,\"status\":\"failed\",\"fields\":[],\"error\":\"x\",\"result\":7}");
	check_text(show(false), "status", "failed");
	desk_close(&desk);
}

static const struct mr_value *snapshot(void)
{
	return parse(desk_text(&desk, MR_WORK_PROGRESS));
}

/* What the commands write is what status reads. */
static void test_written(void)
{
	struct mr_work_progress progress;

	desk_open(&desk);
	mr_work_progress_start(&desk.cx, desk.work, "pull", &progress);
	check_text(snapshot(), "status", "running");
	check_text(snapshot(), "phase", "start");
	check_text(snapshot(), "started_rfc3339", "2026-03-11T04:15:00Z");
	check_text(show(true), "summary", "pull: start");
	desk.clock.now_us += 2500000;
	mr_work_progress_phase(&progress, "pull_mailbox_headers_start",
		parse("{\"mailbox_name\": \"INBOX\", \"index\": 1}"));
	check_text(snapshot(), "message", "pull: INBOX headers");
	check_text(snapshot(), "updated_rfc3339", "2026-03-11T04:15:02Z");
	CHECK_INT(mr_value_get(snapshot(), "elapsed_ms")->integer, 2500);
	check_text(show(true), "summary", "pull: INBOX headers");
	check_text(show(false), "status", "interrupted");
	mr_work_progress_done(&progress,
		parse("{\"code\": \"pull_result\", \"new_message_count\": 3, "
		      "\"mailbox_count\": 2, \"mailbox_ids\": [\"a\", \"b\"]}"));
	CHECK(mr_value_equal(mr_value_get(snapshot(), "fields"), parse("{\"success\": true}")));
	CHECK(mr_value_equal(mr_value_get(snapshot(), "result"),
		parse("{\"code\": \"pull_result\", \"new_message_count\": 3, "
		      "\"mailbox_count\": 2}")));
	CHECK(mr_value_get(snapshot(), "error")->kind == MR_NULL);
	check_text(show(false), "summary", "pull succeeded: 3 new messages across 2 mailboxes");
	desk_close(&desk);
}

static void test_failure_written(void)
{
	struct mr_work_progress progress;

	desk_open(&desk);
	mr_work_progress_start(&desk.cx, desk.work, "push", &progress);
	mr_work_progress_phase(&progress, "push_item",
		parse("{\"display_kind\": \"drafts\", \"index\": 1, \"item_count\": 4}"));
	CHECK(mr_work_refuse(&desk.cx, MR_WORK_WORKSPACE_LOCKED, "in use") != MR_OK);
	mr_work_progress_failed(&progress);
	check_text(snapshot(), "phase", "finish");
	CHECK(mr_value_equal(mr_value_get(snapshot(), "fields"),
		parse("{\"success\": false, \"failed_phase\": \"push_item\", \"failed_fields\": "
		      "{\"display_kind\": \"drafts\", \"index\": 1, \"item_count\": 4}}")));
	CHECK(mr_value_equal(mr_value_get(snapshot(), "error"),
		parse("{\"error_code\": \"workspace_locked\", \"error\": \"in use\", "
		      "\"retryable\": true}")));
	CHECK(mr_value_get(snapshot(), "result")->kind == MR_NULL);
	check_text(show(false), "summary", "push failed: workspace_locked during drafts item 1/4");
	/* The command's own error stays as it was. */
	CHECK_STR(desk.cx.err.msg, "in use");
	/* That it cannot be written does not concern the command. */
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, MR_WORK_PROGRESS, &desk.cx.err), desk.cx.err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, MR_WORK_PROGRESS "/in the way", 0755, &desk.cx.err),
		desk.cx.err);
	mr_work_progress_failed(&progress);
	desk_close(&desk);
}

static const struct test tests[] = {
	TEST(test_idle),
	TEST(test_summaries_of_a_pull),
	TEST(test_summaries_of_a_push),
	TEST(test_a_pull_that_goes_on),
	TEST(test_percent_needs_both_numbers),
	TEST(test_a_push_that_goes_on),
	TEST(test_what_ended_well),
	TEST(test_what_failed),
	TEST(test_interrupted),
	TEST(test_what_is_no_snapshot),
	TEST(test_written),
	TEST(test_failure_written),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
