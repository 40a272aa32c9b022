/* tests/unit/workspace/test_work_queue.c - the items of the push queue, read and written. */
#include "workspace/queue.h"

#include "desk.h"
#include "test.h"
#include "workspace/error.h"

#include <string.h>

#define FIRST "push_20260311T041500Z"
#define HEAD(id)                                                                                   \
	"{\"schema_name\":\"push_item\",\"schema_version\":1,\"push_id\":\"" id "\","              \
	"\"created_rfc3339\":\"2026-03-11T04:15:00Z\",\"updated_rfc3339\":"                        \
	"\"2026-03-11T04:16:00Z\","
#define STATES "\"attempt_count\":0,\"step_states\":[]"
#define DRAFT                                                                                      \
	"\"kind\":\"outbound\",\"action\":\"send\",\"case_uid\":\"c20260311001\","                 \
	"\"draft_name\":\"x.md\","
#define ACTION                                                                                     \
	"\"kind\":\"message_action\",\"action\":\"spam\",\"message_ids\":[\"message_a\"],"         \
	"\"locations\":[{\"message_id\":\"message_a\",\"mailbox_name\":\"INBOX\","                 \
	"\"uid_validity\":7,\"uid\":3}],\"steps\":[{\"move_to_mailbox_id\":\"junk\"}],"

static struct desk desk;

static void put(const char *name, const char *text)
{
	desk_put(mr_arena_printf(desk.cx.arena, ".afmail/push/%s.json", name), text);
}

static const char *ids_of(const struct mr_work_push_items *queue)
{
	const char *line = "";

	for (size_t i = 0; i < queue->len; i++)
		line = mr_arena_printf(desk.cx.arena, "%s%s%s", line, i ? " " : "",
			queue->items[i].push_id);
	return line;
}

static void commit(struct mr_work_change *change)
{
	CHECK_OK(mr_work_change_commit(&desk.cx, change), desk.cx.err);
	mr_work_change_end(&desk.cx, change);
}

static void check_refused(const char *text, const char *word, const char *what)
{
	struct mr_work_push_item item = { .push_id = "untouched" };
	struct mr_work_push_items queue = { .len = 77 };

	put(FIRST, text);
	desk_check_fail(&desk, mr_work_queue_load_strict(&desk.cx, desk.work, &queue), word, NULL,
		NULL);
	CHECK_INT(queue.len, 77);
	desk_check_fail(&desk, mr_work_queue_find(&desk.cx, desk.work, FIRST, &item), word, NULL,
		NULL);
	if (!strstr(desk.cx.err.msg, what) || !strstr(desk.cx.err.msg, FIRST))
		test_fail(__FILE__, __LINE__, "'%s' is not in '%s'", what, desk.cx.err.msg);
}

/* --- reading --- */

static void test_an_empty_queue(void)
{
	struct mr_work_push_items queue = { .len = 77 };

	desk_open(&desk);
	CHECK_OK(mr_work_queue_load_strict(&desk.cx, desk.work, &queue), desk.cx.err);
	CHECK_INT(queue.len, 0);
	CHECK_INT(queue.invalid.len, 0);
	desk_close(&desk);
}

static void test_an_outbound_item(void)
{
	struct mr_work_push_item item = { 0 };

	desk_open(&desk);
	put(FIRST,
		HEAD(FIRST) DRAFT
		"\"draft_uid_validity\":5,\"draft_uid\":6,\"attempt_count\":2,\"last_error\":"
		"\"no\","
		"\"step_states\":[{\"index\":0,\"label\":\"smtp_send\",\"status\":\"succeeded\","
		"\"started_rfc3339\":\"s\",\"completed_rfc3339\":\"c\",\"result_summary\":\"r\"},"
		"{\"index\":1,\"label\":\"append_to_mailbox_id_sent\",\"status\":\"failed\","
		"\"started_rfc3339\":\"s\",\"error_code\":\"imap_append_failed\",\"error\":\"e\","
		"\"retryable\":false},{\"index\":2,\"label\":\"l\",\"status\":\"pending\"}]}");
	CHECK_OK(mr_work_queue_find(&desk.cx, desk.work, FIRST, &item), desk.cx.err);
	CHECK_STR(item.push_id, FIRST);
	CHECK_INT(item.kind, MR_WORK_PUSH_OUTBOUND);
	CHECK_INT(item.action, MR_WORK_PUSH_SEND);
	CHECK_STR(item.case_uid, "c20260311001");
	CHECK_STR(item.draft_name, "x.md");
	CHECK_INT(item.attempt_count, 2);
	CHECK_STR(item.last_error, "no");
	CHECK_INT(item.state_count, 3);
	CHECK_INT(item.states[0].status, MR_WORK_STEP_SUCCEEDED);
	CHECK_STR(item.states[0].result_summary, "r");
	CHECK(!item.states[0].has_retryable);
	CHECK_INT(item.states[1].index, 1);
	CHECK_STR(item.states[1].error_code, "imap_append_failed");
	CHECK(item.states[1].has_retryable && !item.states[1].retryable);
	CHECK_INT(item.states[2].status, MR_WORK_STEP_PENDING);
	CHECK(mr_work_push_has_started(&item) && mr_work_push_has_succeeded_step(&item));
	desk_close(&desk);
}

static void test_a_message_action(void)
{
	struct mr_work_push_item item = { 0 };

	desk_open(&desk);
	put(FIRST, HEAD(FIRST) ACTION "\"reply_to_message_id\":\"message_r\"," STATES "}");
	CHECK_OK(mr_work_queue_find(&desk.cx, desk.work, FIRST, &item), desk.cx.err);
	CHECK_INT(item.kind, MR_WORK_PUSH_MESSAGE_ACTION);
	CHECK_INT(item.action, MR_WORK_PUSH_SPAM);
	CHECK_INT(item.message_ids.len, 1);
	CHECK_INT(item.location_count, 1);
	CHECK_STR(item.locations[0].mailbox_name, "INBOX");
	CHECK_INT(item.locations[0].uid_validity, 7);
	CHECK_INT(item.locations[0].uid, 3);
	CHECK_INT(item.steps.len, 1);
	CHECK_STR(mr_work_step_label(desk.cx.arena, &item.steps.items[0]),
		"move_to_mailbox_id_junk");
	CHECK(!mr_work_push_has_started(&item) && !mr_work_push_has_succeeded_step(&item));
	CHECK(mr_work_push_concerns(&item, "message_a"));
	CHECK(mr_work_push_concerns(&item, "message_r"));
	CHECK(!mr_work_push_concerns(&item, "message_b"));
	desk_close(&desk);
}

static void test_what_is_no_item(void)
{
	static const char invalid[] = "push_item_invalid";

	desk_open(&desk);
	check_refused("{}", invalid, "schema_name");
	check_refused("[]", invalid, "");
	check_refused(HEAD(FIRST) STATES "}", invalid, "kind");
	check_refused(HEAD(FIRST) "\"kind\":\"fax\",\"action\":\"send\"," STATES "}", invalid,
		"kind");
	check_refused("{\"schema_name\":\"push\",\"schema_version\":1,\"push_id\":\"" FIRST "\","
		      "\"created_rfc3339\":\"t\",\"updated_rfc3339\":\"t\"," DRAFT STATES "}",
		invalid, "push_item");
	check_refused("{\"schema_name\":\"push_item\",\"schema_version\":2,\"push_id\":\"" FIRST
		      "\",\"created_rfc3339\":\"t\",\"updated_rfc3339\":\"t\"," DRAFT STATES "}",
		invalid, "schema_version");
	check_refused(HEAD(FIRST) DRAFT "\"eml_path\":\"x\"," STATES "}", invalid, "eml_path");
	/* A member of the other kind. */
	check_refused(HEAD(FIRST) DRAFT "\"message_ids\":[]," STATES "}", invalid, "message_ids");
	check_refused(HEAD(FIRST) ACTION "\"case_uid\":\"c\"," STATES "}", invalid, "case_uid");
	check_refused(HEAD(FIRST) "\"kind\":\"outbound\",\"action\":\"spam\",\"case_uid\":\"c\","
				  "\"draft_name\":\"x.md\"," STATES "}",
		invalid, "action");
	check_refused(HEAD(FIRST) "\"kind\":\"outbound\",\"action\":\"send\",\"case_uid\":"
				  "\"c\"," STATES "}",
		invalid, "draft_name");
	check_refused(HEAD(FIRST) DRAFT "\"draft_uid\":\"6\"," STATES "}", invalid, "draft_uid");
	check_refused(HEAD(FIRST) "\"kind\":\"message_action\",\"action\":\"spam\",\"locations\":[]"
				  ","
				  "\"steps\":[]," STATES "}",
		invalid, "message_ids");
	check_refused(HEAD(FIRST) "\"kind\":\"message_action\",\"action\":\"spam\",\"message_ids\":"
				  "[\"../x\"],\"locations\":[],\"steps\":[]," STATES "}",
		invalid, "message_ids[0]");
	check_refused(HEAD(FIRST) "\"kind\":\"message_action\",\"action\":\"spam\",\"message_ids\":"
				  "[\"a\"],\"locations\":[{\"message_id\":\"a\"}],\"steps\":[]"
				  "," STATES "}",
		invalid, "mailbox_name");
	check_refused(HEAD(FIRST) "\"kind\":\"message_action\",\"action\":\"spam\",\"message_ids\":"
				  "[\"a\"],\"locations\":[],\"steps\":[{\"x\":1}]," STATES "}",
		invalid, "steps");
	check_refused(HEAD(FIRST) "\"kind\":\"message_action\",\"action\":\"spam\",\"message_ids\":"
				  "[\"a\"],\"locations\":[]," STATES "}",
		invalid, "steps");
	check_refused(HEAD(FIRST) DRAFT "\"step_states\":[{\"index\":0,\"label\":\"l\",\"status\":"
					"\"begun\"}]}",
		invalid, "status");
	check_refused(HEAD(FIRST) DRAFT "\"step_states\":{}}", invalid, "step_states");
	/* An id that is not the file's could lead a change to another file. */
	check_refused(HEAD("push_20260311T041500Z_1") DRAFT STATES "}", invalid, "push_id");
	check_refused(HEAD("../config") DRAFT STATES "}", invalid, "push_id");
	/* These have another word. */
	check_refused(HEAD(FIRST) DRAFT "\"attempt_count\":0}", "store_error", "step_states");
	check_refused("{", "store_error", "");
	desk_close(&desk);
}

static void test_a_broken_item_does_not_stop_the_others(void)
{
	const struct mr_work_push_items *again = NULL;
	struct mr_work_push_items queue = { 0 };

	desk_open(&desk);
	put(FIRST, HEAD(FIRST) DRAFT STATES "}");
	put("push_x", "{}");
	put("push_y", "{");
	put("push_20260311T041500Z_1", HEAD("push_20260311T041500Z_1") ACTION STATES "}");
	desk_put(".afmail/push/notes.txt", "no item");
	desk_put(".afmail/push/.push_z.json", "{");
	CHECK_OK(mr_work_queue_load(&desk.cx, desk.work, &queue), desk.cx.err);
	CHECK_STR(ids_of(&queue), FIRST " push_20260311T041500Z_1");
	CHECK_INT(queue.invalid.len, 4);
	CHECK_STR(queue.invalid.items[0], ".afmail/push/push_x.json");
	CHECK(strstr(queue.invalid.items[1], "schema_name"));
	CHECK_STR(queue.invalid.items[2], ".afmail/push/push_y.json");
	CHECK(*queue.invalid.items[3]);
	CHECK(!desk.cx.err.word);
	/* Once in a command, whatever happens to the files. */
	CHECK_OK(mr_work_queue_get(&desk.cx, desk.work, &again), desk.cx.err);
	put(FIRST, "{}");
	CHECK_OK(mr_work_queue_get(&desk.cx, desk.work, &again), desk.cx.err);
	CHECK_INT(again->len, 2);
	desk_next(&desk);
	CHECK_OK(mr_work_queue_get(&desk.cx, desk.work, &again), desk.cx.err);
	CHECK_INT(again->len, 1);
	desk_close(&desk);
}

static void test_items_are_in_the_order_of_queueing(void)
{
	static const char *const names[] = { "push_20260311T041500Z_10", "push_20260311T041500Z_2",
		"push_20260311T041500Z" };
	struct mr_work_push_items queue = { 0 };

	desk_open(&desk);
	for (size_t i = 0; i < MR_LEN(names); i++)
		put(names[i],
			mr_arena_printf(desk.cx.arena,
				"{\"schema_name\":\"push_item\",\"schema_version\":1,"
				"\"push_id\":\"%s\",\"created_rfc3339\":\"2026-03-11T04:15:00Z\","
				"\"updated_rfc3339\":\"t\"," DRAFT STATES "}",
				names[i]));
	/* Created earlier, whatever its name. */
	put("push_20260312T000000Z",
		"{\"schema_name\":\"push_item\",\"schema_version\":1,\"push_id\":"
		"\"push_20260312T000000Z\",\"created_rfc3339\":\"2026-03-11T04:14:59Z\","
		"\"updated_rfc3339\":\"t\"," DRAFT STATES "}");
	CHECK_OK(mr_work_queue_load(&desk.cx, desk.work, &queue), desk.cx.err);
	CHECK_STR(ids_of(&queue),
		"push_20260312T000000Z push_20260311T041500Z push_20260311T041500Z_2 "
		"push_20260311T041500Z_10");
	desk_close(&desk);
}

static void test_finding_one(void)
{
	struct mr_work_push_item item = { 0 };

	desk_open(&desk);
	desk_check_fail(&desk, mr_work_queue_find(&desk.cx, desk.work, FIRST, &item),
		"push_not_found", NULL, NULL);
	desk_check_fail(&desk, mr_work_queue_find(&desk.cx, desk.work, "../config", &item),
		"invalid_request", NULL, NULL);
	desk_check_fail(&desk, mr_work_queue_find(&desk.cx, desk.work, "", &item),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

/* --- writing --- */

static void test_new_ids(void)
{
	struct mr_work_push_item item = { .kind = MR_WORK_PUSH_OUTBOUND,
		.action = MR_WORK_PUSH_SEND,
		.case_uid = "c20260311001",
		.draft_name = "x.md" };
	struct mr_work_change change;

	desk_open(&desk);
	put("push_20260311T041500Z_1", "{}");
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	item.push_id = mr_work_queue_new_id(&desk.cx, &change);
	CHECK_STR(item.push_id, FIRST);
	/* Asking takes none. */
	CHECK_STR(mr_work_queue_new_id(&desk.cx, &change), FIRST);
	mr_work_queue_save(&change, &item);
	/* One is in this change, one on disk. */
	CHECK_STR(mr_work_queue_new_id(&desk.cx, &change), "push_20260311T041500Z_2");
	/* A mail that was sent in this second has the id that would come from the next. */
	desk_put(".afmail/messages/message_sent_20260311T041500Z_2.eml", "x");
	CHECK_STR(mr_work_queue_new_id(&desk.cx, &change), "push_20260311T041500Z_3");
	commit(&change);
	desk_next(&desk);
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	CHECK_STR(mr_work_queue_new_id(&desk.cx, &change), "push_20260311T041501Z");
	desk_close(&desk);
}

static void test_an_item_is_written_as_the_contract_has_it(void)
{
	static const char path[] = ".afmail/push/" FIRST ".json";
	struct mr_work_push_item item = { 0 };
	struct mr_work_change change;

	desk_open(&desk);
	put(FIRST, HEAD(FIRST) ACTION STATES "}");
	CHECK_OK(mr_work_queue_find(&desk.cx, desk.work, FIRST, &item), desk.cx.err);
	item.attempt_count = 1;
	item.last_error = "no";
	item.states = &(struct mr_work_step_state){ .label = "move_to_mailbox_id_junk",
		.status = MR_WORK_STEP_FAILED,
		.started = "s",
		.error_code = "imap_move_failed",
		.error = "no",
		.has_retryable = true,
		.retryable = true };
	item.state_count = 1;
	desk_next(&desk);
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	mr_work_queue_save(&change, &item);
	CHECK_INT(change.stale.messages.len, 1);
	CHECK_STR(change.stale.messages.items[0], "message_a");
	commit(&change);
	CHECK_STR(desk_text(&desk, path),
		"{\n  \"schema_name\": \"push_item\",\n  \"schema_version\": 1,\n"
		"  \"push_id\": \"" FIRST "\",\n  \"kind\": \"message_action\",\n"
		"  \"action\": \"spam\",\n  \"message_ids\": [\n    \"message_a\"\n  ],\n"
		"  \"locations\": [\n    {\n      \"message_id\": \"message_a\",\n"
		"      \"mailbox_name\": \"INBOX\",\n      \"uid_validity\": 7,\n"
		"      \"uid\": 3\n    }\n  ],\n  \"steps\": [\n    {\n"
		"      \"move_to_mailbox_id\": \"junk\"\n    }\n  ],\n"
		"  \"created_rfc3339\": \"2026-03-11T04:15:00Z\",\n"
		"  \"updated_rfc3339\": \"2026-03-11T04:15:01Z\",\n  \"attempt_count\": 1,\n"
		"  \"step_states\": [\n    {\n      \"index\": 0,\n"
		"      \"label\": \"move_to_mailbox_id_junk\",\n      \"status\": \"failed\",\n"
		"      \"started_rfc3339\": \"s\",\n      \"error_code\": \"imap_move_failed\",\n"
		"      \"error\": \"no\",\n      \"retryable\": true\n    }\n  ],\n"
		"  \"last_error\": \"no\"\n}\n");
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	mr_work_queue_remove(&change, &item);
	CHECK_INT(change.stale.messages.len, 1);
	commit(&change);
	CHECK(!desk_has(path));
	desk_close(&desk);
}

static void test_a_saved_draft_keeps_its_uid(void)
{
	struct mr_work_push_item item = { 0 };
	struct mr_work_change change;

	desk_open(&desk);
	put(FIRST, HEAD(FIRST) DRAFT "\"draft_uid_validity\":5,\"draft_uid\":6," STATES "}");
	CHECK_OK(mr_work_queue_find(&desk.cx, desk.work, FIRST, &item), desk.cx.err);
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	mr_work_queue_save(&change, &item);
	commit(&change);
	CHECK_OK(mr_work_queue_find(&desk.cx, desk.work, FIRST, &item), desk.cx.err);
	CHECK_INT(mr_value_get(item.document, "draft_uid_validity")->integer, 5);
	CHECK_INT(mr_value_get(item.document, "draft_uid")->integer, 6);
	CHECK(!mr_value_get(item.document, "message_ids"));
	desk_close(&desk);
}

/* --- questions --- */

static void test_names(void)
{
	static const struct {
		enum mr_work_push_action action;
		const char *name, *display, *label;
	} all[] = {
		{ MR_WORK_PUSH_SAVE_DRAFT, "save_draft", "outbound", "drafts" },
		{ MR_WORK_PUSH_SEND, "send", "outbound", "drafts" },
		{ MR_WORK_PUSH_ARCHIVE, "archive", "message.archive", "archive" },
		{ MR_WORK_PUSH_SPAM, "spam", "message.spam", "spam" },
		{ MR_WORK_PUSH_TRASH, "trash", "message.trash", "trash" },
		{ MR_WORK_PUSH_CASE_ADD, "case_add", "case.add", "case" },
	};

	for (size_t i = 0; i < MR_LEN(all); i++) {
		struct mr_work_push_item item = { .action = all[i].action };

		CHECK_STR(mr_work_push_action_names[all[i].action], all[i].name);
		CHECK_STR(mr_work_push_display_kind(&item), all[i].display);
		CHECK_STR(mr_work_push_summary_label(&item), all[i].label);
	}
	CHECK(!mr_work_push_action_names[MR_WORK_PUSH_ACTION_COUNT]);
}

static void test_what_has_started(void)
{
	struct mr_work_step_state state = { .status = MR_WORK_STEP_PENDING };
	struct mr_work_push_item item = { .states = &state, .state_count = 1 };

	CHECK(!mr_work_push_has_started(&item));
	state.started = "2026-03-11T04:15:00Z";
	CHECK(mr_work_push_has_started(&item) && !mr_work_push_has_succeeded_step(&item));
	state = (struct mr_work_step_state){ .status = MR_WORK_STEP_FAILED };
	CHECK(mr_work_push_has_started(&item) && !mr_work_push_has_succeeded_step(&item));
	state = (struct mr_work_step_state){ .status = MR_WORK_STEP_SUCCEEDED };
	CHECK(mr_work_push_has_started(&item) && mr_work_push_has_succeeded_step(&item));
}

static const struct test tests[] = {
	TEST(test_an_empty_queue),
	TEST(test_an_outbound_item),
	TEST(test_a_message_action),
	TEST(test_what_is_no_item),
	TEST(test_a_broken_item_does_not_stop_the_others),
	TEST(test_items_are_in_the_order_of_queueing),
	TEST(test_finding_one),
	TEST(test_new_ids),
	TEST(test_an_item_is_written_as_the_contract_has_it),
	TEST(test_a_saved_draft_keeps_its_uid),
	TEST(test_names),
	TEST(test_what_has_started),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
