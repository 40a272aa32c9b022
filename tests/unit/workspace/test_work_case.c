/* tests/unit/workspace/test_work_case.c */
#include "post.h"
#include "test.h"
#include "workspace/case.h"

#include <stdio.h>
#include <string.h>

#define OPEN    "cases/open/c" DESK_TODAY "001-A"
#define ACTIVE  "c" DESK_TODAY "001"
#define ANOTHER "c" DESK_TODAY "002"

static struct mr_texts texts(const char **items, size_t len)
{
	return (struct mr_texts){ items, len };
}
#define IDS(...)                                                                                   \
	texts((const char *[]){ __VA_ARGS__, NULL },                                               \
		sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))

static void create(struct desk *desk, const char *name, const char *message)
{
	struct mr_work_case_create request = { .name = name, .message = message, .reason = "r" };
	struct mr_work_case_created created = { 0 };

	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
}

/* --- create --- */

static void create_empty(void)
{
	struct mr_work_case_create request = { .name = "  B c " };
	struct mr_work_case_created created = { 0 };
	struct desk desk;

	post_open(&desk);
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.case_uid, ACTIVE);
	CHECK_STR(created.case_name, "B c");
	CHECK_STR(created.group, "open");
	CHECK_STR(created.case_path, "cases/open/c" DESK_TODAY "001-B-c");
	CHECK(!created.has_message);
	CHECK_INT(created.message_count, 0);
	CHECK_STR(desk_text(&desk, "cases/open/c" DESK_TODAY "001-B-c/notes.md"), "# Notes\n\n");
	CHECK(desk_has("cases/open/c" DESK_TODAY "001-B-c/drafts"));
	CHECK(desk_has("cases/open/c" DESK_TODAY "001-B-c/files"));
	CHECK(desk_has("cases/open/c" DESK_TODAY "001-B-c/views/messages"));
	CHECK(desk_has("cases/open/c" DESK_TODAY "001-B-c/case.md"));
	CHECK_STR(desk_text(&desk, "cases/open/c" DESK_TODAY "001-B-c/data/case.json"),
		"{\n  \"schema_name\": \"case\",\n  \"schema_version\": 1,\n"
		"  \"collection_uid\": \"c" DESK_TODAY "001\",\n  \"collection_name\": \"B c\",\n"
		"  \"status\": \"active\",\n  \"tags\": [],\n"
		"  \"created_rfc3339\": \"2026-03-11T04:15:01Z\",\n"
		"  \"updated_rfc3339\": \"2026-03-11T04:15:01Z\",\n  \"message_count\": 0,\n"
		"  \"thread_count\": 0,\n  \"attachment_count\": 0,\n  \"items\": []\n}\n");
	CHECK_STR(post_event(&desk, "kind"), "case_created");
	CHECK_STR(post_event(&desk, "summary"), "null");
	CHECK_STR(post_event(&desk, "group"), "open");
	CHECK(!mr_value_get(desk_last_event(&desk), "reason"));
	/* The next one of the day, in a group of its own. */
	request = (struct mr_work_case_create){ .name = "应用反馈 肥料", .group = "客户" };
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.case_path, "cases/客户/c" DESK_TODAY "002-应用反馈-肥料");
	desk_close(&desk);
}

static void create_with_message(void)
{
	struct mr_work_case_create request = { .name = "Late", .message = T5, .reason = " r " };
	struct mr_work_case_created created = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T4, T5, NULL);
	CHECK(desk_has("triage/" T5 ".md"));
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	/* The day of the first message of the conversation. */
	CHECK_STR(created.case_path, "cases/open/c20260512001-Late");
	CHECK_STR(post_join(&desk, &created.message_ids), T5);
	CHECK_INT(created.message_count, 1);
	CHECK(created.has_message);
	CHECK_INT(created.queue.location_count, 1);
	CHECK_INT(created.queue.queued_location_count, 1);
	CHECK(!created.queue.queued && !created.queue.push_id);
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, created.case_path);
	CHECK_STR(list.items[0].summary, "r");
	CHECK_INT(list.thread_count, 1);
	CHECK_INT(list.attachment_count, 0);
	CHECK_STR(list.last_message, "2026-05-13T07:30:00Z");
	CHECK(!desk_has("triage/" T5 ".md"));
	CHECK(desk_has("triage/" T1 ".md"));
	CHECK(desk_has("cases/open/c20260512001-Late/views/messages/" T5 ".md"));
	CHECK_STR(post_status(&desk, T5), "case");
	CHECK_STR(post_event_list(&desk, "targets"), "case:c20260512001 message:" T5);
	CHECK_STR(post_event(&desk, "reason"), "r");
	CHECK_STR(post_event(&desk, "summary"), "null");
	desk_close(&desk);
}

static void create_queues(void)
{
	struct mr_work_case_create request = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_case_created created = { 0 };
	struct desk desk;

	post_open(&desk);
	post_set_json(&desk, "actions.case.add.steps", "[{\"add_flags\": [\"\\\\Seen\"]}]");
	post_mail(&desk, PLAIN, NULL);
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	CHECK(created.queue.queued);
	CHECK_STR(post_queue(&desk), "case_add:" PLAIN);
	desk_close(&desk);
}

static void create_refused(void)
{
	struct mr_work_case_created created = { 0 };
	struct desk desk;
	const char *before;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	before = desk_tree(&desk);
#define REFUSED(word, ...)                                                                         \
	desk_check_fail(&desk,                                                                     \
		mr_work_case_create(&desk.cx, desk.work,                                           \
			&(struct mr_work_case_create){ __VA_ARGS__ }, &created),                   \
		word, NULL, NULL)
	REFUSED("invalid_request", .name = "a/b");
	REFUSED("invalid_request", .name = " ");
	REFUSED("invalid_request", .name = "..");
	REFUSED("invalid_request", .name = "A", .group = "a/b");
	REFUSED("invalid_request", .name = "A", .message = "../x", .reason = "r");
	REFUSED("message_not_found", .name = "A", .message = "message_x", .reason = "r");
	REFUSED("reason_required", .name = "A", .message = PLAIN);
	REFUSED("reason_required", .name = "A", .message = PLAIN, .reason = " ");
#undef REFUSED
	CHECK(!created.case_uid);
	CHECK_STR(desk_tree(&desk), before);
	desk_put(OPEN, "in the way");
	desk_check_fail(&desk,
		mr_work_case_create(&desk.cx, desk.work,
			&(struct mr_work_case_create){ .name = "A" }, &created),
		"case_exists", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, OPEN " exists");
	desk_close(&desk);
}

static void create_after_999(void)
{
	struct mr_work_case_create request = { .name = "A" };
	struct mr_work_case_created created = { 0 };
	struct desk desk;

	post_open(&desk);
	desk_put("archive/cases/c" DESK_TODAY "999-x/keep", "");
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.case_uid, "c" DESK_TODAY "1000");
	desk_close(&desk);
}

/* --- list and show --- */

static void list(void)
{
	struct mr_work_case_list request = { 0 };
	struct mr_work_case_listed listed = { 0 };
	struct mr_work_case_created created = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	POST_OK(&desk,
		mr_work_case_create(&desk.cx, desk.work,
			&(struct mr_work_case_create){ .name = "B", .group = "waiting" },
			&created));
	create(&desk, "A b", PLAIN);
	desk_put("cases/open/c20260101001-broken-one/data/case.json", "{\"schema_name\":");
	desk_put("cases/open/readme/data/case.json", "{}");
	POST_OK(&desk, mr_work_case_list(&desk.cx, desk.work, &request, &listed));
	CHECK_INT(listed.count, 3);
	CHECK_STR(listed.items[0].case_uid, "c20260101001");
	CHECK_STR(listed.items[0].case_name, "broken-one");
	CHECK_STR(listed.items[1].case_uid, "c20260504001");
	CHECK_STR(listed.items[1].case_name, "A b");
	CHECK_STR(listed.items[1].case_dir, "c20260504001-A-b");
	CHECK_STR(listed.items[1].group, "open");
	CHECK_STR(listed.items[2].group, "waiting");
	CHECK_STR(post_join(&desk, &listed.invalid_paths),
		"cases/open/c20260101001-broken-one/data/case.json");
	CHECK_STR(listed.path_templates.case_path, "cases/{group}/{case_dir}");
	CHECK_STR(listed.path_templates.view_path, "cases/{group}/{case_dir}/case.md");
	CHECK_STR(listed.path_templates.data_path, "cases/{group}/{case_dir}/data/case.json");
	CHECK_STR(desk.cx.err.msg, "");
	request.archived = true;
	POST_OK(&desk, mr_work_case_list(&desk.cx, desk.work, &request, &listed));
	CHECK_INT(listed.count, 0);
	CHECK_STR(listed.path_templates.data_path, "archive/cases/{case_dir}/data/case.json");
	desk_close(&desk);
}

static void show(void)
{
	struct mr_work_case_show request = { .case_ref = ACTIVE "-anything" };
	struct mr_work_case_shown shown = { 0 };
	struct mr_work_case_archived archived = { 0 };
	struct mr_work_case_ref ref = { ACTIVE, "r" };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_show(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(shown.case_uid, ACTIVE);
	CHECK_STR(shown.case_name, "A");
	CHECK_STR(shown.group, "open");
	CHECK_STR(shown.case_path, OPEN);
	CHECK_STR(shown.view_path, OPEN "/case.md");
	CHECK_STR(shown.messages_path, OPEN "/views/messages");
	CHECK(shown.text && *shown.text && !shown.is_archived);
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &ref, &archived));
	POST_OK(&desk, mr_work_case_show(&desk.cx, desk.work, &request, &shown));
	CHECK(shown.is_archived && !shown.group && !shown.messages_path);
	CHECK_STR(shown.view_path, "archive/cases/" ACTIVE "-A/case.md");
	request.case_ref = "Invoice";
	desk_check_fail(&desk, mr_work_case_show(&desk.cx, desk.work, &request, &shown),
		"invalid_request", NULL, NULL);
	request.case_ref = "c20260504001";
	desk_check_fail(&desk, mr_work_case_show(&desk.cx, desk.work, &request, &shown),
		"case_not_found", NULL, NULL);
	desk_close(&desk);
}

static void two_directories_of_one_uid(void)
{
	struct mr_work_case_shown shown = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	desk_put("archive/cases/" ACTIVE "-copy/notes.md", "");
	desk_check_fail(&desk,
		mr_work_case_show(&desk.cx, desk.work, &(struct mr_work_case_show){ ACTIVE },
			&shown),
		"duplicate_case_uid", NULL, NULL);
	desk_close(&desk);
}

/* --- the case itself --- */

static void move(void)
{
	struct mr_work_case_move request = { ACTIVE, "waiting" };
	struct mr_work_case_moved moved = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	desk_put(OPEN "/files/mine.txt", "mine");
	POST_OK(&desk, mr_work_case_move(&desk.cx, desk.work, &request, &moved));
	CHECK_STR(moved.from_group, "open");
	CHECK_STR(moved.to_group, "waiting");
	CHECK_STR(moved.case_path, "cases/waiting/" ACTIVE "-A");
	CHECK(!desk_has("cases/open"));
	CHECK_STR(desk_text(&desk, "cases/waiting/" ACTIVE "-A/files/mine.txt"), "mine");
	CHECK_STR(post_event(&desk, "kind"), "case_moved");
	CHECK_STR(post_event(&desk, "from_group"), "open");
	CHECK_STR(post_event(&desk, "to_group"), "waiting");
	/* There already. */
	POST_OK(&desk, mr_work_case_move(&desk.cx, desk.work, &request, &moved));
	CHECK_STR(moved.from_group, "waiting");
	CHECK_STR(desk_events(&desk), "case_created case_moved");
	/* A group that somebody keeps a file in stays. */
	desk_put("cases/waiting/mine.txt", "");
	request.group = "open";
	POST_OK(&desk, mr_work_case_move(&desk.cx, desk.work, &request, &moved));
	CHECK(desk_has("cases/waiting/mine.txt"));
	request.group = "..";
	desk_check_fail(&desk, mr_work_case_move(&desk.cx, desk.work, &request, &moved),
		"invalid_request", NULL, NULL);
	desk_put("cases/later/" ACTIVE "-A", "in the way");
	request.group = "later";
	desk_check_fail(&desk, mr_work_case_move(&desk.cx, desk.work, &request, &moved),
		"duplicate_case_uid", NULL, NULL);
	desk_close(&desk);
}

static void rename_case(void)
{
	struct mr_work_case_rename request = { ACTIVE, "B c", "r" };
	struct mr_work_case_renamed renamed = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_rename(&desk.cx, desk.work, &request, &renamed));
	CHECK_STR(renamed.old_case_name, "A");
	CHECK_STR(renamed.case_name, "B c");
	CHECK_STR(renamed.group, "open");
	CHECK_STR(renamed.case_path, "cases/open/" ACTIVE "-B-c");
	CHECK(renamed.changed);
	CHECK(!desk_has(OPEN));
	CHECK(desk_has("cases/open/" ACTIVE "-B-c/case.md"));
	CHECK_STR(post_event(&desk, "kind"), "case_renamed");
	CHECK_STR(post_event(&desk, "from_path"), OPEN);
	CHECK_STR(post_event(&desk, "to_path"), "cases/open/" ACTIVE "-B-c");
	POST_OK(&desk, mr_work_case_rename(&desk.cx, desk.work, &request, &renamed));
	CHECK(!renamed.changed);
	/* Another name with the same directory. */
	request.name = "B-c";
	POST_OK(&desk, mr_work_case_rename(&desk.cx, desk.work, &request, &renamed));
	CHECK(renamed.changed);
	CHECK_STR(post_list(&desk, MR_WORK_ACTIVE_CASE, renamed.case_path).name, "B-c");
	request.name = "a/b";
	desk_check_fail(&desk, mr_work_case_rename(&desk.cx, desk.work, &request, &renamed),
		"invalid_request", NULL, NULL);
	desk_put("cases/open/" ACTIVE "-X", "in the way");
	request.name = "X";
	desk_check_fail(&desk, mr_work_case_rename(&desk.cx, desk.work, &request, &renamed),
		"case_exists", NULL, NULL);
	desk_close(&desk);
}

static void tags(void)
{
	struct mr_work_case_tag request = { ACTIVE, "legal", "r" };
	struct mr_work_case_tagged tagged = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_tag(&desk.cx, desk.work, &request, &tagged));
	CHECK_STR(tagged.tag, "legal");
	CHECK_STR(tagged.case_path, OPEN);
	request.tag = "billing";
	POST_OK(&desk, mr_work_case_tag(&desk.cx, desk.work, &request, &tagged));
	POST_OK(&desk, mr_work_case_tag(&desk.cx, desk.work, &request, &tagged));
	CHECK_STR(post_join(&desk, &tagged.tags), "billing legal");
	CHECK_STR(desk_events(&desk), "case_created case_tagged case_tagged");
	CHECK_STR(post_event_list(&desk, "tags"), "billing legal");
	request.tag = "legal";
	POST_OK(&desk, mr_work_case_untag(&desk.cx, desk.work, &request, &tagged));
	POST_OK(&desk, mr_work_case_untag(&desk.cx, desk.work, &request, &tagged));
	CHECK_STR(post_join(&desk, &tagged.tags), "billing");
	CHECK_STR(post_event(&desk, "kind"), "case_untagged");
	request.tag = "a/b";
	desk_check_fail(&desk, mr_work_case_tag(&desk.cx, desk.work, &request, &tagged),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void reopen(void)
{
	struct mr_work_case_ref request = { ACTIVE, "r" };
	struct mr_work_case_reopened reopened = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_reopen(&desk.cx, desk.work, &request, &reopened));
	CHECK_STR(reopened.status, "active");
	CHECK_STR(reopened.case_path, OPEN);
	CHECK_INT(reopened.message_count, 0);
	CHECK_STR(post_event(&desk, "kind"), "case_reopened");
	POST_OK(&desk,
		mr_work_case_archive(&desk.cx, desk.work, &request,
			&(struct mr_work_case_archived){ 0 }));
	desk_check_fail(&desk, mr_work_case_reopen(&desk.cx, desk.work, &request, &reopened),
		"case_archived", "case_uid", ACTIVE);
	CHECK(strstr(post_hint(&desk), "afmail archive case show"));
	CHECK(strstr(post_hint(&desk), "afmail archive case restore"));
	desk_close(&desk);
}

static void delete_empty(void)
{
	struct mr_work_case_ref request = { "c20260504001", "r" };
	struct mr_work_case_deleted deleted = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	create(&desk, "A", PLAIN);
	desk_check_fail(&desk, mr_work_case_delete(&desk.cx, desk.work, &request, &deleted),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "case c20260504001 has messages: 1");
	CHECK(strstr(post_hint(&desk), "afmail case remove"));
	POST_OK(&desk,
		mr_work_case_remove(&desk.cx, desk.work,
			&(struct mr_work_case_remove){ "c20260504001", IDS(PLAIN), "r" },
			&(struct mr_work_case_removed){ 0 }));
	desk_put("cases/open/c20260504001-A/files/x.txt", "");
	desk_put("cases/open/c20260504001-A/plan.ods", "");
	desk_check_fail(&desk, mr_work_case_delete(&desk.cx, desk.work, &request, &deleted),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "case c20260504001 has files: plan.ods, files/x.txt");
	CHECK(remove("cases/open/c20260504001-A/files/x.txt") == 0);
	CHECK(remove("cases/open/c20260504001-A/plan.ods") == 0);
	desk_put("cases/open/c20260504001-A/drafts/d.md", "");
	desk_check_fail(&desk, mr_work_case_delete(&desk.cx, desk.work, &request, &deleted),
		"case_has_local_drafts", NULL, NULL);
	CHECK(remove("cases/open/c20260504001-A/drafts/d.md") == 0);
	POST_OK(&desk, mr_work_case_delete(&desk.cx, desk.work, &request, &deleted));
	CHECK_STR(deleted.case_name, "A");
	CHECK_STR(deleted.case_path, "cases/open/c20260504001-A");
	CHECK(!desk_has("cases/open"));
	CHECK_STR(post_event(&desk, "kind"), "case_deleted");
	desk_close(&desk);
}

/* --- archive --- */

static void archive(void)
{
	struct mr_work_case_ref request = { "c20260504001", "done" };
	struct mr_work_case_archived archived = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	create(&desk, "A", PLAIN);
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived));
	CHECK_STR(archived.case_uid, "c20260504001");
	CHECK_STR(archived.from_path, "cases/open/c20260504001-A");
	CHECK_STR(archived.case_path, "archive/cases/c20260504001-A");
	CHECK_INT(archived.message_count, 1);
	CHECK_STR(post_join(&desk, &archived.eligible_message_ids), PLAIN);
	CHECK_INT(archived.queue.location_count, 1);
	CHECK_INT(archived.queue.queued_location_count, 1);
	CHECK(archived.queue.queued && archived.queue.push_id);
	CHECK_INT(archived.queue.push_ids.len, 1);
	CHECK_STR(post_queue(&desk), "archive:" PLAIN);
	CHECK(!desk_has("cases/open"));
	list = post_list(&desk, MR_WORK_ARCHIVED_CASE, archived.case_path);
	CHECK_STR(list.status, "archived");
	CHECK(list.archived);
	CHECK_STR(post_status(&desk, PLAIN), "case");
	CHECK(strstr(desk_text(&desk, "messages/" PLAIN ".json"), "\"archive_eligible\": true"));
	CHECK_STR(post_event(&desk, "kind"), "case_archived");
	CHECK_STR(post_event(&desk, "from_path"), "cases/open/c20260504001-A");
	CHECK_STR(post_event(&desk, "to_path"), "archive/cases/c20260504001-A");
	CHECK_STR(post_event(&desk, "reason"), "done");
	CHECK_STR(post_event_list(&desk, "message_ids"), PLAIN);
	desk_close(&desk);
}

static void archive_shared_message(void)
{
	struct mr_work_case_ref request = { "c20260504001", "done" };
	struct mr_work_case_add more = { .case_ref = ACTIVE,
		.message_ids = IDS(PLAIN),
		.reason = "r" };
	struct mr_work_case_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	create(&desk, "A", PLAIN);
	create(&desk, "B", NULL);
	POST_OK(&desk,
		mr_work_case_add(&desk.cx, desk.work, &more, &(struct mr_work_case_added){ 0 }));
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived));
	CHECK_INT(archived.eligible_message_ids.len, 0);
	CHECK_INT(archived.queue.location_count, 0);
	CHECK(!archived.queue.queued && !archived.queue.push_id);
	CHECK_STR(post_queue(&desk), "");
	CHECK(strstr(desk_text(&desk, "messages/" PLAIN ".json"), "\"archive_eligible\": false"));
	/* The last case that needs it. */
	request.case_ref = ACTIVE;
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived));
	CHECK_STR(post_queue(&desk), "archive:" PLAIN);
	desk_close(&desk);
}

static void archive_refused(void)
{
	struct mr_work_case_ref request = { ACTIVE, "r" };
	struct mr_work_case_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "A", NULL);
	desk_put(OPEN "/drafts/new-hi.md", "x");
	desk_check_fail(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived),
		"case_has_local_drafts", "case_uid", ACTIVE);
	CHECK_STR(post_detail(&desk, "draft_names"), "new-hi.md");
	CHECK_STR(post_detail(&desk, "suggested_commands"),
		"afmail case draft validate " ACTIVE " DRAFT_NAME afmail case draft save " ACTIVE
		" DRAFT_NAME afmail case draft send " ACTIVE
		" DRAFT_NAME afmail case draft remove " ACTIVE " DRAFT_NAME --reason TEXT");
	CHECK(remove(OPEN "/drafts/new-hi.md") == 0);
	desk_put(".afmail/push/push_20260101T000000Z.json",
		"{\"schema_name\": \"push_item\", \"schema_version\": 1, \"push_id\": "
		"\"push_20260101T000000Z\", \"kind\": \"outbound\", \"action\": \"send\", "
		"\"case_uid\": \"" ACTIVE "\", \"draft_name\": \"new-hi.md\", "
		"\"created_rfc3339\": \"2026-01-01T00:00:00Z\", \"updated_rfc3339\": "
		"\"2026-01-01T00:00:00Z\", \"attempt_count\": 0, \"step_states\": []}");
	desk_check_fail(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived),
		"case_has_outbound_push", "case_uid", ACTIVE);
	CHECK_STR(post_detail(&desk, "push_ids"), "push_20260101T000000Z");
	CHECK(*post_detail(&desk, "suggested_commands"));
	request.reason = NULL;
	desk_check_fail(&desk, mr_work_case_archive(&desk.cx, desk.work, &request, &archived),
		"reason_required", "config_key", "audit.reason_mode");
	desk_close(&desk);
}

static void restore(void)
{
	struct mr_work_case_ref ref = { "c20260504001", "r" };
	struct mr_work_case_restore request = { "c20260504001", "waiting", "r" };
	struct mr_work_case_restored restored = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	create(&desk, "A", PLAIN);
	desk_check_fail(&desk, mr_work_case_restore(&desk.cx, desk.work, &request, &restored),
		"case_not_found", NULL, NULL);
	POST_OK(&desk,
		mr_work_case_archive(&desk.cx, desk.work, &ref,
			&(struct mr_work_case_archived){ 0 }));
	desk_put("cases/waiting/c20260504001-A", "in the way");
	desk_check_fail(&desk, mr_work_case_restore(&desk.cx, desk.work, &request, &restored),
		"case_exists", NULL, NULL);
	request.group = NULL; /* the default one */
	POST_OK(&desk, mr_work_case_restore(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(restored.group, "open");
	CHECK_STR(restored.case_path, "cases/open/c20260504001-A");
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, restored.case_path);
	CHECK_STR(list.status, "active");
	CHECK(!list.archived);
	CHECK_STR(post_event(&desk, "kind"), "case_restored");
	CHECK_STR(post_event(&desk, "to_group"), "open");
	CHECK_STR(post_event(&desk, "from_path"), "archive/cases/c20260504001-A");
	CHECK_STR(post_event(&desk, "to_path"), "cases/open/c20260504001-A");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(create_empty), TEST(create_with_message),
		TEST(create_queues), TEST(create_refused), TEST(create_after_999), TEST(list),
		TEST(show), TEST(two_directories_of_one_uid), TEST(move), TEST(rename_case),
		TEST(tags), TEST(reopen), TEST(delete_empty), TEST(archive),
		TEST(archive_shared_message), TEST(archive_refused), TEST(restore) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
