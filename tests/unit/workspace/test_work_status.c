/* tests/unit/workspace/test_work_status.c - what the workspace holds, in numbers. */
#include "workspace/status.h"

#include "desk.h"
#include "post.h"
#include "test.h"
#include "text/json.h"
#include "workspace/case.h"
#include "workspace/layout.h"
#include "workspace/queue.h"
#include "workspace/refresh.h"

#include <string.h>

static struct desk desk;

static enum mr_code ask(struct mr_work_status_counts *out)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;

	CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_UNLOCKED, &work), desk.cx.err);
	return mr_work_status(&desk.cx, work, out);
}

/* While nobody writes; the next command begins. */
static struct mr_work_status_counts status(void)
{
	struct mr_work_status_counts counts;

	mr_work_close(desk.work);
	desk.work = NULL;
	CHECK_OK(ask(&counts), desk.cx.err);
	desk_next(&desk);
	return counts;
}

static void check_value(const struct mr_value *value, const char *json)
{
	const struct mr_value *expected = NULL;

	CHECK_OK(mr_json_parse(desk.cx.arena, mr_bytes_text(json), NULL, &expected, &desk.cx.err),
		desk.cx.err);
	CHECK(value);
	CHECK(mr_value_equal(value, expected));
}

static void spam(const char *id)
{
	struct mr_work_queued queued;
	struct mr_work_collection list = { 0 };
	const char *ids[] = { id, NULL };
	struct mr_texts one = { ids, 1 };
	struct mr_work_change change;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	CHECK_OK(mr_work_collection_load(&desk.cx, desk.work, MR_WORK_SPAM, "spam", &list),
		desk.cx.err);
	mr_work_collection_add(&desk.cx, &list, id, NULL, desk.work->now);
	CHECK_OK(mr_work_collection_save(&desk.cx, &change, &list), desk.cx.err);
	mr_work_touch_message(&change, id);
	CHECK_OK(mr_work_queue_action(&desk.cx, &change, MR_WORK_PUSH_SPAM, &one, &queued),
		desk.cx.err);
	POST_OK(&desk, mr_work_carry_out(&desk.cx, &change));
}

static void create_case(const char *name, const char *group, const char *message)
{
	struct mr_work_case_create request = { .name = name,
		.group = group,
		.message = message,
		.reason = "r" };
	struct mr_work_case_created created;

	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
}

static void test_a_fresh_workspace(void)
{
	struct mr_work_status_counts counts;

	post_open(&desk);
	counts = status();
	CHECK(!counts.workspace_locked && !counts.hint);
	CHECK_INT(counts.triage_count, 0);
	CHECK_INT(counts.case_count, 0);
	CHECK_INT(counts.archive_message_category_count, 0);
	CHECK_INT(counts.archived_case_count, 0);
	CHECK_INT(counts.message_count, 0);
	CHECK_INT(counts.remote_missing_count, 0);
	CHECK_INT(counts.remote_effect_pending_message_count, 0);
	CHECK_INT(counts.push_count, 0);
	CHECK_INT(counts.contact_count, 0);
	CHECK_INT(counts.archived_contact_count, 0);
	check_value(counts.cases_by_group, "{}");
	check_value(counts.message_status, "{}");
	check_value(counts.progress, "{\"status\":\"idle\"}");
	check_value(counts.push_status,
		"{\"drafts\":0,\"case\":0,\"archive\":0,\"spam\":0,\"trash\":0}");
	desk_close(&desk);
}

static void test_after_a_pull(void)
{
	struct mr_work_status_counts counts;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, NULL);
	spam(SPAM);
	create_case("A", NULL, PLAIN);
	desk_put(MR_WORK_PROGRESS,
		"{\"command\":\"pull\",\"status\":\"succeeded\",\"phase\":\"finish\",\"fields\":"
		"{\"success\":true},\"result\":{\"new_message_count\":3,\"mailbox_count\":1}}");
	counts = status();
	CHECK_INT(counts.message_count, 3);
	CHECK_INT(counts.triage_count, 1);
	CHECK_INT(counts.case_count, 1);
	check_value(counts.cases_by_group, "{\"open\":1}");
	check_value(counts.message_status, "{\"case\":1,\"spam\":1,\"triage\":1}");
	check_value(counts.push_status,
		"{\"archive\":0,\"case\":0,\"drafts\":0,\"spam\":1,\"trash\":0}");
	CHECK_INT(counts.push_count, 1);
	CHECK_INT(counts.remote_effect_pending_message_count, 1);
	CHECK_INT(counts.remote_missing_count, 0);
	CHECK(counts.storage_bytes > 0);
	CHECK_STR(mr_value_get(counts.progress, "summary")->text,
		"pull succeeded: 3 new messages across 1 mailboxes");
	desk_close(&desk);
}

static void test_groups_and_archives(void)
{
	struct mr_work_status_counts counts;

	post_open(&desk);
	create_case("A", NULL, NULL);
	create_case("B", "waiting", NULL);
	create_case("C", "waiting", NULL);
	desk_put("archive/cases/c20260101001-Old/x", "");
	desk_put("archive/notifications/a20260101001-N/x", "");
	desk_put("archive/notifications/a20260101002-M/x", "");
	counts = status();
	CHECK_INT(counts.case_count, 3);
	check_value(counts.cases_by_group, "{\"open\":1,\"waiting\":2}");
	CHECK_INT(counts.archived_case_count, 1);
	CHECK_INT(counts.archive_message_category_count, 2);
	desk_close(&desk);
}

static void test_a_message_of_two_items_is_pending_once(void)
{
	struct mr_work_status_counts counts;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(SPAM);
	spam(SPAM);
	desk_put(".afmail/push/push_x.json", "{}"); /* broken: not counted, not in the way */
	counts = status();
	CHECK_INT(counts.push_count, 2);
	CHECK_INT(counts.remote_effect_pending_message_count, 1);
	check_value(counts.push_status,
		"{\"archive\":0,\"case\":0,\"drafts\":0,\"spam\":2,\"trash\":0}");
	desk_close(&desk);
}

static void locate(const char *id, bool is_elsewhere)
{
	struct mr_work_location at[] = {
		{ .mailbox_name = "INBOX", .has_uid = true, .observed = "t", .missing = "t" },
		{ .mailbox_name = "X", .has_uid = true, .observed = "t" },
	};
	struct mr_work_locations locations = { at, is_elsewhere ? 2 : 1 };
	struct mr_work_change change;

	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	mr_work_remote_save(&change, id, &locations);
	POST_OK(&desk, mr_work_carry_out(&desk.cx, &change));
}

static void test_missing_on_the_server(void)
{
	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, NULL);
	/* One is gone from its only place, one from one of two. */
	locate(PLAIN, false);
	locate(SPAM, true);
	CHECK_INT(status().remote_missing_count, 1);
	desk_close(&desk);
}

static void test_contacts_are_counted(void)
{
	static const char card[] =
		"---\nschema_name: contact\nschema_version: 1\ncontact_uid: p20260101001\n"
		"display_name: Ann\nemails:\n- ann@example.org\n---\n";
	struct mr_work_status_counts counts;

	post_open(&desk);
	desk_put("contacts/people/p20260101001-Ann.md", card);
	desk_put("archive/contacts/p20260101002-Bob.md", card);
	desk_put("archive/contacts/p20260101003-Cy.md", card);
	counts = status();
	CHECK_INT(counts.contact_count, 1);
	CHECK_INT(counts.archived_contact_count, 2);
	desk_close(&desk);
}

static void test_while_another_command_writes(void)
{
	struct mr_work_status_counts counts;

	post_open(&desk);
	create_case("A", NULL, NULL);
	desk_put(MR_WORK_PROGRESS,
		"{\"command\":\"pull\",\"status\":\"running\",\"phase\":\"pull_resolve_targets\","
		"\"fields\":{\"mailbox_count\":2}}");
	/* The desk has the workspace open for writing. */
	CHECK_OK(ask(&counts), desk.cx.err);
	CHECK(counts.workspace_locked);
	CHECK(strstr(counts.hint, "counts are omitted"));
	CHECK_STR(mr_value_get(counts.progress, "status")->text, "running");
	CHECK_STR(mr_value_get(counts.progress, "summary")->text, "pull: resolved 2 mailboxes");
	CHECK(!counts.cases_by_group && !counts.message_status && !counts.push_status);
	CHECK_INT(counts.case_count, 0);
	CHECK(!desk.cx.err.word);
	/* The same snapshot once the writer is gone. */
	counts = status();
	CHECK(!counts.workspace_locked && !counts.hint);
	CHECK_STR(mr_value_get(counts.progress, "status")->text, "interrupted");
	CHECK_INT(counts.case_count, 1);
	desk_close(&desk);
}

static void test_while_others_read(void)
{
	struct mr_work *reader = NULL;
	struct mr_work_status_counts counts;

	post_open(&desk);
	mr_work_close(desk.work);
	CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_READ, &reader), desk.cx.err);
	CHECK_OK(ask(&counts), desk.cx.err);
	CHECK(!counts.workspace_locked);
	mr_work_close(reader);
	desk.work = NULL;
	desk_close(&desk);
}

static void test_a_snapshot_that_is_none(void)
{
	struct mr_work_status_counts counts;

	post_open(&desk);
	desk_put(MR_WORK_PROGRESS, "[]");
	desk_check_fail(&desk, ask(&counts), "progress_invalid", NULL, NULL);
	CHECK(!counts.progress);
	desk_close(&desk);
}

static const struct test tests[] = {
	TEST(test_a_fresh_workspace),
	TEST(test_after_a_pull),
	TEST(test_groups_and_archives),
	TEST(test_a_message_of_two_items_is_pending_once),
	TEST(test_missing_on_the_server),
	TEST(test_contacts_are_counted),
	TEST(test_while_another_command_writes),
	TEST(test_while_others_read),
	TEST(test_a_snapshot_that_is_none),
};

int main(void)
{
	return test_main(tests, MR_LEN(tests));
}
