/* tests/unit/workspace/test_work_reference.c */
#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/disposition.h"
#include "workspace/reference.h"

#include <stdio.h>
#include <string.h>

#define CASE "cases/open/c20260504001-A"

static const char *references(struct desk *desk, const char *id, const char *except)
{
	struct mr_texts paths = { 0 };

	CHECK_OK(mr_work_references(&desk->cx, desk->work, id, except, &paths), desk->cx.err);
	return post_join(desk, &paths);
}

static bool archivable(struct desk *desk, const char *id, const char *archiving_case, bool category)
{
	bool may = false;

	CHECK_OK(mr_work_is_archivable(&desk->cx, desk->work, id, archiving_case, category, &may),
		desk->cx.err);
	return may;
}

static void put_case(struct desk *desk)
{
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_case_created created = { 0 };

	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
}

static void put_item(const char *action)
{
	char text[2048];

	snprintf(text, sizeof(text),
		"{\"schema_name\": \"push_item\", \"schema_version\": 1, \"push_id\": "
		"\"push_20260101T000000Z\", \"kind\": \"message_action\", \"action\": \"%s\", "
		"\"message_ids\": [\"" PLAIN "\"], \"locations\": [], \"steps\": "
		"[{\"add_flags\": [\"x\"]}], \"created_rfc3339\": \"2026-01-01T00:00:00Z\", "
		"\"updated_rfc3339\": \"2026-01-01T00:00:00Z\", \"attempt_count\": 0, "
		"\"step_states\": []}",
		action);
	desk_put(".afmail/push/push_20260101T000000Z.json", text);
}

static void all_kinds(void)
{
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NULL);
	CHECK_STR(references(&desk, PLAIN, NULL), "");
	CHECK_OK(mr_work_check_unreferenced(&desk.cx, desk.work, PLAIN), desk.cx.err);
	put_case(&desk);
	put_item("spam");
	desk_put(CASE "/drafts/reply.md", "---\r\nreply_to_message_id: '" PLAIN "' \r\n---\r\n");
	/* Not the front matter, not this message, not a draft. */
	desk_put(CASE "/drafts/body.md", "---\nkind: draft\n---\nreply_to_message_id: " PLAIN "\n");
	desk_put(CASE "/drafts/none.md", "reply_to_message_id: " PLAIN "\n");
	desk_put(CASE "/drafts/empty.md", "");
	desk_put(CASE "/drafts/blank.md", "---\nreply_to_message_id:\n---\n");
	desk_put(CASE "/drafts/other.md", "---\nreply_to_message_id: " SPAM "\n---\n");
	desk_put(CASE "/drafts/notes.txt", "---\nreply_to_message_id: " PLAIN "\n---\n");
	CHECK_STR(references(&desk, PLAIN, NULL),
		".afmail/push/push_20260101T000000Z.json " CASE "/data/case.json " CASE
		"/drafts/reply.md");
	CHECK_STR(references(&desk, PLAIN, "push_20260101T000000Z"),
		CASE "/data/case.json " CASE "/drafts/reply.md");
	desk_check_fail(&desk, mr_work_check_unreferenced(&desk.cx, desk.work, PLAIN),
		"message_referenced", NULL, NULL);
	CHECK_STR(post_detail(&desk, "references"),
		".afmail/push/push_20260101T000000Z.json " CASE "/data/case.json " CASE
		"/drafts/reply.md");
	CHECK(strstr(desk.cx.err.msg, CASE "/drafts/reply.md"));
	CHECK_STR(references(&desk, SPAM, NULL), CASE "/drafts/other.md");
	/* A broken item or draft does not stand in the way of the others. */
	desk_put(".afmail/push/push_20260101T000001Z.json", "{");
	CHECK_STR(references(&desk, SPAM, NULL), CASE "/drafts/other.md");
	desk_close(&desk);
}

static void a_move_back_does_not_count(void)
{
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	put_item("restore");
	CHECK_STR(references(&desk, PLAIN, NULL), ".afmail/push/push_20260101T000000Z.json");
	CHECK_OK(mr_work_check_unreferenced(&desk.cx, desk.work, PLAIN), desk.cx.err);
	post_start(&desk, "push_20260101T000000Z");
	desk_check_fail(&desk, mr_work_check_unreferenced(&desk.cx, desk.work, PLAIN),
		"message_referenced", NULL, NULL);
	desk_close(&desk);
}

static void related(void)
{
	struct mr_texts together = { (const char *[]){ T2, T5, NULL }, 2 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, T1, T2, T5, NULL);
	CHECK_OK(mr_work_check_unrelated(&desk.cx, desk.work, PLAIN), desk.cx.err);
	desk_check_fail(&desk, mr_work_check_unrelated(&desk.cx, desk.work, T1),
		"message_has_related_conversation_use_case", "message_id", T1);
	CHECK_STR(post_detail(&desk, "related_message_ids"), T2 " " T5);
	CHECK(strstr(post_hint(&desk), "Create a case"));
	CHECK_STR(post_detail(&desk, "suggested_commands"),
		"afmail case create --name NAME --message " T1
		" --reason TEXT afmail case add CASE_REF " T2
		" --reason TEXT afmail case add CASE_REF " T5
		" --reason TEXT afmail case archive CASE_REF --reason TEXT");
	CHECK_OK(mr_work_check_unrelated_but(&desk.cx, desk.work, T1, &together), desk.cx.err);
	together.len = 1;
	desk_check_fail(&desk, mr_work_check_unrelated_but(&desk.cx, desk.work, T1, &together),
		"message_has_related_conversation_use_case", NULL, NULL);
	CHECK_STR(post_detail(&desk, "related_message_ids"), T5);
	desk_close(&desk);
}

static void who_may_be_archived(void)
{
	struct mr_work_case_ref ref = { "c20260504001", "r" };
	struct mr_work_case_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	CHECK(!archivable(&desk, PLAIN, NULL, false));
	CHECK(archivable(&desk, PLAIN, NULL, true));
	put_case(&desk);
	CHECK(!archivable(&desk, PLAIN, NULL, false));
	CHECK(!archivable(&desk, PLAIN, NULL, true));
	CHECK(archivable(&desk, PLAIN, "c20260504001", false));
	CHECK(!archivable(&desk, PLAIN, "c20260504002", false));
	/* Items other than those that archive it need it; what a category withdraws does not. */
	put_item("case_add");
	CHECK(!archivable(&desk, PLAIN, "c20260504001", false));
	put_item("archive");
	CHECK(archivable(&desk, PLAIN, "c20260504001", false));
	put_item("spam");
	CHECK(!archivable(&desk, PLAIN, "c20260504001", false));
	CHECK(remove(".afmail/push/push_20260101T000000Z.json") == 0);
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &ref, &archived));
	CHECK(archivable(&desk, PLAIN, NULL, false));
	/* A draft of another case. */
	desk_put("cases/open/c20260101001-x/drafts/d.md",
		"---\nreply_to_message_id: " PLAIN "\n---\n");
	CHECK(!archivable(&desk, PLAIN, NULL, false));
	desk_close(&desk);
}

static void eligible(void)
{
	struct mr_texts ids = { (const char *[]){ PLAIN, SPAM, NULL }, 2 }, found = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NULL);
	put_item("archive");
	CHECK_OK(mr_work_eligible(&desk.cx, desk.work, &ids, NULL, true, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), SPAM);
	put_item("trash");
	CHECK_OK(mr_work_eligible(&desk.cx, desk.work, &ids, NULL, true, &found), desk.cx.err);
	CHECK_STR(post_join(&desk, &found), PLAIN " " SPAM);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(all_kinds), TEST(a_move_back_does_not_count),
		TEST(related), TEST(who_may_be_archived), TEST(eligible) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
