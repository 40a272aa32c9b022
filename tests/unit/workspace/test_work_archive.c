/* tests/unit/workspace/test_work_archive.c */
#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/error.h"

#include <stdio.h>
#include <string.h>

#define FIRST    "a" DESK_TODAY "001"
#define PATH     "archive/notifications/" FIRST "-N"
#define NOTICES  "a20260518001"
#define BY_MAIL  "archive/notifications/" NOTICES "-N"
#define ARCHIVED "archive/cases/c" DESK_TODAY "001-A"
#define CASE     "c" DESK_TODAY "001"

static void create(struct desk *desk, const char *name, const char *message)
{
	struct mr_work_archive_create request = { .name = name,
		.message = message,
		.summary = message ? "s" : NULL,
		.reason = "r" };
	struct mr_work_archive_created created = { 0 };

	POST_OK(desk, mr_work_archive_create(&desk->cx, desk->work, &request, &created));
}

static void archived_case(struct desk *desk)
{
	struct mr_work_case_create request = { .name = "A" };
	struct mr_work_case_created created = { 0 };
	struct mr_work_case_ref ref = { CASE, "r" };
	struct mr_work_case_archived archived = { 0 };

	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &created));
	POST_OK(desk, mr_work_case_archive(&desk->cx, desk->work, &ref, &archived));
}

/* --- categories --- */

static void create_empty(void)
{
	struct mr_work_archive_create request = { .name = " N " };
	struct mr_work_archive_created created = { 0 };
	struct desk desk;

	post_open(&desk);
	POST_OK(&desk, mr_work_archive_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.archive_uid, FIRST);
	CHECK_STR(created.archive_name, "N");
	CHECK_STR(created.path, PATH);
	CHECK_INT(created.message_count, 0);
	CHECK(!created.has_message);
	CHECK_STR(desk_text(&desk, PATH "/notes.md"), "# Notes\n\n");
	CHECK(desk_has(PATH "/archive.md"));
	CHECK_STR(post_event(&desk, "kind"), "archive_message_created");
	CHECK_STR(post_event_list(&desk, "targets"), "archive:" FIRST);
	CHECK_STR(post_event(&desk, "message_id"), "null");
	CHECK_STR(post_event(&desk, "summary"), "null");
	CHECK_STR(post_event(&desk, "path"), PATH);
	desk_close(&desk);
}

static void create_with_message(void)
{
	struct mr_work_archive_create request = { .name = "服务通知",
		.message = NOTICE,
		.summary = "May receipt",
		.reason = "r" };
	struct mr_work_archive_created created = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	POST_OK(&desk, mr_work_archive_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(created.archive_uid, NOTICES);
	CHECK_STR(created.path, "archive/notifications/" NOTICES "-服务通知");
	CHECK_INT(created.message_count, 1);
	CHECK_STR(created.message_id, NOTICE);
	CHECK_STR(created.summary, "May receipt");
	CHECK_STR(post_join(&desk, &created.eligible_message_ids), NOTICE);
	CHECK_INT(created.queue.location_count, 1);
	CHECK_INT(created.queue.queued_location_count, 1);
	CHECK(created.queue.queued && created.queue.push_id);
	CHECK_STR(post_queue(&desk), "archive:" NOTICE);
	list = post_list(&desk, MR_WORK_NOTIFICATION, created.path);
	CHECK_STR(list.items[0].summary, "May receipt");
	CHECK_STR(post_status(&desk, NOTICE), "archived");
	CHECK(strstr(desk_text(&desk, "messages/" NOTICE ".json"), "\"archive_eligible\": true"));
	CHECK(!desk_has("triage/" NOTICE ".md"));
	CHECK(desk_has("archive/notifications/" NOTICES "-服务通知/views/messages/" NOTICE ".md"));
	CHECK_STR(post_event(&desk, "archive_name"), "服务通知");
	CHECK_STR(post_event(&desk, "summary"), "May receipt");
	desk_close(&desk);
}

static void create_refused(void)
{
	struct mr_work_archive_created created = { 0 };
	struct desk desk;
	const char *before;

	post_open(&desk);
	post_mail(&desk, NOTICE, T1, T2, NULL);
	create(&desk, "N", NOTICE);
	before = desk_tree(&desk);
#define REFUSED(word, ...)                                                                         \
	desk_check_fail(&desk,                                                                     \
		mr_work_archive_create(&desk.cx, desk.work,                                        \
			&(struct mr_work_archive_create){ __VA_ARGS__ }, &created),                \
		word, NULL, NULL)
	REFUSED("invalid_request", .name = "a/b");
	REFUSED("invalid_request", .name = "A", .message = T1);
	REFUSED("invalid_request", .name = "A", .message = T1, .summary = " ");
	REFUSED("invalid_request", .name = "A", .summary = "s");
	REFUSED("invalid_request", .name = "A", .message = "a/b", .summary = "s");
	REFUSED("message_not_found", .name = "A", .message = "message_x", .summary = "s");
	REFUSED("message_already_archived", .name = "A", .message = NOTICE, .summary = "s");
	REFUSED("message_has_related_conversation_use_case", .name = "A", .message = T1,
		.summary = "s");
#undef REFUSED
	CHECK(strstr(post_hint(&desk), "Create a case"));
	CHECK_STR(post_detail(&desk, "related_message_ids"), T2);
	CHECK_STR(post_detail(&desk, "suggested_commands"),
		"afmail case create --name NAME --message " T1
		" --reason TEXT afmail case add CASE_REF " T2
		" --reason TEXT afmail case archive CASE_REF --reason TEXT");
	CHECK_STR(desk_tree(&desk), before);
	desk_put(PATH, "in the way");
	desk_check_fail(&desk,
		mr_work_archive_create(&desk.cx, desk.work,
			&(struct mr_work_archive_create){ .name = "N" }, &created),
		"archive_exists", NULL, NULL);
	desk_close(&desk);
}

static void list(void)
{
	struct mr_work_archive_list request = { 0 };
	struct mr_work_archive_listed listed = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "N", NULL);
	archived_case(&desk);
	desk_put("archive/notifications/a20260101001-cut/data/notification.json", "{");
	POST_OK(&desk, mr_work_archive_list(&desk.cx, desk.work, &request, &listed));
	CHECK(listed.has_cases && listed.has_messages);
	CHECK_INT(listed.case_count, 1);
	CHECK_INT(listed.message_count, 2);
	CHECK_STR(listed.cases[0].case_uid, CASE);
	CHECK_STR(listed.cases[0].case_name, "A");
	CHECK_STR(listed.cases[0].case_dir, CASE "-A");
	CHECK(!listed.cases[0].group);
	CHECK_STR(listed.messages[0].archive_name, "cut");
	CHECK_STR(listed.messages[1].archive_uid, FIRST);
	CHECK_STR(listed.messages[1].archive_name, "N");
	CHECK_STR(listed.messages[1].archive_dir, FIRST "-N");
	CHECK_STR(post_join(&desk, &listed.invalid_paths),
		"archive/notifications/a20260101001-cut/data/notification.json");
	CHECK_STR(listed.case_path_templates.view_path, "archive/cases/{case_dir}/case.md");
	CHECK_STR(listed.message_path_templates.archive_path,
		"archive/notifications/{archive_dir}");
	CHECK_STR(listed.message_path_templates.view_path,
		"archive/notifications/{archive_dir}/archive.md");
	CHECK_STR(listed.message_path_templates.data_path,
		"archive/notifications/{archive_dir}/data/notification.json");
	request.what = "cases";
	POST_OK(&desk, mr_work_archive_list(&desk.cx, desk.work, &request, &listed));
	CHECK(listed.has_cases && !listed.has_messages);
	request.what = "messages";
	POST_OK(&desk, mr_work_archive_list(&desk.cx, desk.work, &request, &listed));
	CHECK(!listed.has_cases && listed.has_messages);
	request.what = "contacts";
	desk_check_fail(&desk, mr_work_archive_list(&desk.cx, desk.work, &request, &listed),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void show(void)
{
	struct mr_work_archive_show request = { NOTICES };
	struct mr_work_archive_shown shown = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	create(&desk, "N", NOTICE);
	POST_OK(&desk, mr_work_archive_show(&desk.cx, desk.work, &request, &shown));
	CHECK_STR(shown.archive_uid, NOTICES);
	CHECK_STR(shown.archive_name, "N");
	CHECK_STR(shown.path, BY_MAIL);
	CHECK_STR(shown.view_path, BY_MAIL "/archive.md");
	CHECK_STR(shown.notes_path, BY_MAIL "/notes.md");
	CHECK_INT(shown.message_count, 1);
	CHECK_STR(shown.items[0].message_id, NOTICE);
	CHECK_STR(shown.items[0].summary, "s");
	CHECK(shown.text && *shown.text);
	request.archive_ref = "a20260101001";
	desk_check_fail(&desk, mr_work_archive_show(&desk.cx, desk.work, &request, &shown),
		"archive_not_found", NULL, NULL);
	CHECK(strstr(post_hint(&desk), "archive list messages"));
	request.archive_ref = "a20260518001-";
	desk_check_fail(&desk, mr_work_archive_show(&desk.cx, desk.work, &request, &shown),
		"invalid_request", NULL, NULL);
	desk_put("archive/notifications/" NOTICES "-again/notes.md", "");
	request.archive_ref = NOTICES;
	desk_check_fail(&desk, mr_work_archive_show(&desk.cx, desk.work, &request, &shown),
		"duplicate_archive_uid", NULL, NULL);
	desk_close(&desk);
}

static void rename_category(void)
{
	struct mr_work_archive_rename request = { FIRST, "New name", "r" };
	struct mr_work_archive_renamed renamed = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "N", NULL);
	POST_OK(&desk, mr_work_archive_rename(&desk.cx, desk.work, &request, &renamed));
	CHECK_STR(renamed.archive_uid, FIRST);
	CHECK_STR(renamed.old_archive_name, "N");
	CHECK_STR(renamed.archive_name, "New name");
	CHECK_STR(renamed.path, "archive/notifications/" FIRST "-New-name");
	CHECK_INT(renamed.message_count, 0);
	CHECK(renamed.changed);
	CHECK(!desk_has(PATH));
	CHECK_STR(post_event(&desk, "kind"), "message_archive_category_renamed");
	CHECK_STR(post_event(&desk, "message_count"), "0");
	POST_OK(&desk, mr_work_archive_rename(&desk.cx, desk.work, &request, &renamed));
	CHECK(!renamed.changed);
	desk_put("archive/notifications/" FIRST "-X", "in the way");
	request.name = "X";
	desk_check_fail(&desk, mr_work_archive_rename(&desk.cx, desk.work, &request, &renamed),
		"archive_exists", NULL, NULL);
	desk_close(&desk);
}

static void notes(void)
{
	struct mr_work_notes_request request = { .archive_ref = FIRST, .text = "x" };
	struct mr_work_notes notes = { 0 };
	struct desk desk;

	post_open(&desk);
	create(&desk, "N", NULL);
	POST_OK(&desk, mr_work_archive_notes_append(&desk.cx, desk.work, &request, &notes));
	CHECK_STR(notes.targets[0].kind, "archive");
	CHECK_STR(notes.targets[0].id, FIRST);
	CHECK_STR(notes.notes_path, PATH "/notes.md");
	CHECK_STR(notes.text_hash, "fnv1a64:af63f54c86021707");
	CHECK_INT(notes.text_len_bytes, 1);
	CHECK_STR(post_event(&desk, "kind"), "archive_message_notes_appended");
	POST_OK(&desk, mr_work_archive_notes_show(&desk.cx, desk.work, &request, &notes));
	CHECK_STR(notes.text, "# Notes\n\nx\n");
	CHECK(remove(PATH "/notes.md") == 0);
	desk_check_fail(&desk, mr_work_archive_notes_show(&desk.cx, desk.work, &request, &notes),
		"notes_missing", "suggested_command",
		"afmail archive message notes replace " FIRST " --text TEXT");
	POST_OK(&desk, mr_work_archive_notes_replace(&desk.cx, desk.work, &request, &notes));
	CHECK_STR(desk_text(&desk, PATH "/notes.md"), "x\n");
	CHECK_STR(post_event(&desk, "kind"), "archive_message_notes_replaced");
	desk_close(&desk);
}

/* --- messages --- */

static void add(void)
{
	struct mr_work_archive_message request = { .archive_ref = FIRST,
		.message_id = NOTICE,
		.summary = "s",
		.reason = "r" };
	struct mr_work_message_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, PLAIN, NULL);
	create(&desk, "N", NULL);
	POST_OK(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived));
	CHECK_STR(archived.archive_uid, FIRST);
	CHECK_STR(archived.message_id, NOTICE);
	CHECK_STR(archived.path, PATH);
	CHECK_STR(archived.special_use, "archive");
	CHECK_STR(post_join(&desk, &archived.eligible_message_ids), NOTICE);
	CHECK_INT(archived.queue.location_count, 1);
	CHECK(archived.queue.queued);
	CHECK_STR(post_event(&desk, "kind"), "message_archived");
	CHECK_STR(post_event_list(&desk, "targets"), "message:" NOTICE " archive:" FIRST);
	CHECK_STR(post_event(&desk, "summary"), "s");
	CHECK_STR(post_event(&desk, "to_path"), PATH "/views/messages/" NOTICE ".md");
	/* Again, with another summary: nothing is queued twice. */
	request.summary = "t";
	POST_OK(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived));
	CHECK_STR(post_event(&desk, "kind"), "message_archive_summary_set");
	CHECK_STR(post_queue(&desk), "archive:" NOTICE);
	/* A blank summary is none; items are in the order in which they came. */
	request.message_id = PLAIN;
	request.summary = " ";
	POST_OK(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived));
	CHECK_STR(post_members(&desk, MR_WORK_NOTIFICATION, PATH), NOTICE " " PLAIN);
	CHECK(!post_list(&desk, MR_WORK_NOTIFICATION, PATH).items[1].summary);
	CHECK_STR(post_event(&desk, "summary"), "null");
	request.reason = NULL;
	desk_check_fail(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived),
		"reason_required", NULL, NULL);
	desk_close(&desk);
}

static void add_what_is_archived_there(void)
{
	struct mr_work_archive_message request = { .archive_ref = FIRST,
		.message_id = NOTICE,
		.summary = "s",
		.reason = "r" };
	struct mr_work_message_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	post_locate(NOTICE, "Archive", "archive");
	create(&desk, "N", NULL);
	POST_OK(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived));
	CHECK_INT(archived.queue.location_count, 1);
	CHECK(!archived.queue.queued);
	CHECK_STR(post_queue(&desk), "");
	CHECK_STR(post_status(&desk, NOTICE), "archived");
	desk_close(&desk);
}

/* What was spam, and is queued to be moved there, is archived instead. */
static void add_spam(void)
{
	struct mr_work_archive_message request = { .archive_ref = FIRST,
		.message_id = SPAM,
		.summary = "s",
		.reason = "r" };
	struct mr_work_discard discard = { .message_ids = { (const char *[]){ SPAM, NULL }, 1 },
		.reason = "r" };
	struct mr_work_discarded discarded = { 0 };
	struct mr_work_message_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	create(&desk, "N", NULL);
	POST_OK(&desk, mr_work_message_spam(&desk.cx, desk.work, &discard, &discarded));
	CHECK_STR(post_queue(&desk), "spam:" SPAM);
	POST_OK(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived));
	CHECK_STR(post_join(&desk, &archived.eligible_message_ids), SPAM);
	CHECK_STR(post_queue(&desk), "archive:" SPAM);
	CHECK_STR(post_members(&desk, MR_WORK_SPAM, "spam"), "");
	CHECK_STR(post_status(&desk, SPAM), "archived");
	desk_close(&desk);
}

static void in_another_category(void)
{
	struct mr_work_archive_message request = { .archive_ref = FIRST,
		.message_id = NOTICE,
		.summary = "s",
		.reason = "r" };
	struct mr_work_message_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	create(&desk, "N", NOTICE);
	create(&desk, "O", NULL);
	desk_check_fail(&desk, mr_work_archive_add(&desk.cx, desk.work, &request, &archived),
		"message_already_archived", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "message " NOTICE " is in the category " NOTICES " already");
	CHECK(!mr_work_trouble(&desk.cx.err)->detail);
	desk_close(&desk);
}

static void move(void)
{
	struct mr_work_archive_message request = { .archive_ref = NOTICES,
		.message_id = NOTICE,
		.new_archive_ref = FIRST,
		.reason = "r" };
	struct mr_work_archive_moved moved = { 0 };
	struct mr_work_message_restored restored = { 0 };
	struct mr_work_collection before, after;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	create(&desk, "N", NOTICE);
	create(&desk, "O", NULL);
	before = post_list(&desk, MR_WORK_NOTIFICATION, BY_MAIL);
	POST_OK(&desk, mr_work_archive_move(&desk.cx, desk.work, &request, &moved));
	CHECK(moved.changed);
	CHECK_STR(moved.message_id, NOTICE);
	CHECK_STR(moved.from_archive_uid, NOTICES);
	CHECK_STR(moved.archive_uid, FIRST);
	CHECK(!moved.new_archive_uid);
	after = post_list(&desk, MR_WORK_NOTIFICATION, "archive/notifications/" FIRST "-O");
	CHECK_STR(after.items[0].summary, "s");
	CHECK_STR(after.items[0].added, before.items[0].added);
	CHECK_STR(post_members(&desk, MR_WORK_NOTIFICATION, BY_MAIL), "");
	CHECK(!desk_has(BY_MAIL "/views/messages/" NOTICE ".md"));
	CHECK(desk_has("archive/notifications/" FIRST "-O/views/messages/" NOTICE ".md"));
	CHECK_STR(post_queue(&desk), "archive:" NOTICE);
	CHECK_STR(post_event_list(&desk, "targets"),
		"message:" NOTICE " archive:" NOTICES " archive:" FIRST);
	/* It is there no more. */
	desk_check_fail(&desk, mr_work_archive_restore(&desk.cx, desk.work, &request, &restored),
		"archive_entry_not_found", NULL, NULL);
	desk_check_fail(&desk, mr_work_archive_move(&desk.cx, desk.work, &request, &moved),
		"archive_entry_not_found", NULL, NULL);
	request.archive_ref = FIRST;
	POST_OK(&desk, mr_work_archive_move(&desk.cx, desk.work, &request, &moved));
	CHECK(!moved.changed && !moved.from_archive_uid);
	CHECK_STR(moved.archive_uid, FIRST);
	CHECK_STR(moved.new_archive_uid, FIRST);
	desk_close(&desk);
}

static void set_summary(void)
{
	struct mr_work_archive_message request = { .archive_ref = NOTICES,
		.message_id = NOTICE,
		.summary = "new",
		.reason = "r" };
	struct mr_work_archive_summary set = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	create(&desk, "N", NOTICE);
	POST_OK(&desk, mr_work_archive_set_summary(&desk.cx, desk.work, &request, &set));
	CHECK_STR(set.message_id, NOTICE);
	CHECK_STR(set.archive_uid, NOTICES);
	CHECK_STR(set.summary, "new");
	CHECK_STR(post_event(&desk, "kind"), "message_archive_summary_set");
	CHECK_STR(post_event(&desk, "summary"), "new");
	request.summary = "";
	POST_OK(&desk, mr_work_archive_set_summary(&desk.cx, desk.work, &request, &set));
	CHECK(!post_list(&desk, MR_WORK_NOTIFICATION, BY_MAIL).items[0].summary);
	desk_close(&desk);
}

static void restore(void)
{
	struct mr_work_archive_message request = { .archive_ref = NOTICES,
		.message_id = NOTICE,
		.reason = "x" };
	struct mr_work_message_restored restored = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, NOTICE, NULL);
	create(&desk, "N", NOTICE);
	POST_OK(&desk, mr_work_archive_restore(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(restored.message_id, NOTICE);
	CHECK_STR(restored.archive_uid, NOTICES);
	CHECK(!restored.from_status && !restored.status);
	CHECK_STR(restored.triage_path, "triage/" NOTICE ".md");
	CHECK_INT(restored.removed_push_count, 1);
	CHECK_INT(restored.push_ids.len, 1);
	CHECK(!restored.queued);
	CHECK_STR(post_queue(&desk), "");
	CHECK(desk_has("triage/" NOTICE ".md"));
	CHECK(!strstr(desk_text(&desk, "messages/" NOTICE ".json"), "remote_sync"));
	CHECK_STR(post_event(&desk, "kind"), "message_restored");
	CHECK_STR(post_event_list(&desk, "targets"), "message:" NOTICE " archive:" NOTICES);
	CHECK_STR(post_event(&desk, "from_path"),
		"archive/notifications/" NOTICES "/views/messages/" NOTICE ".md");
	CHECK_STR(post_event(&desk, "to_path"), "triage/" NOTICE ".md");
	CHECK_STR(post_event_list(&desk, "removed_push_ids"), restored.push_ids.items[0]);
	desk_close(&desk);
}

/* --- archived cases --- */

static void cases(void)
{
	struct mr_work_case_show request = { CASE };
	struct mr_work_case_shown shown = { 0 };
	struct mr_work_case_rename to = { CASE, "Z", "r" };
	struct mr_work_case_renamed renamed = { 0 };
	struct mr_work_notes_request about = { .case_ref = CASE, .text = "x" };
	struct mr_work_notes notes = { 0 };
	struct desk desk;

	post_open(&desk);
	archived_case(&desk);
	POST_OK(&desk, mr_work_archive_case_show(&desk.cx, desk.work, &request, &shown));
	CHECK(shown.is_archived);
	CHECK_STR(shown.case_path, ARCHIVED);
	CHECK_STR(shown.view_path, ARCHIVED "/case.md");
	POST_OK(&desk, mr_work_archive_case_notes_append(&desk.cx, desk.work, &about, &notes));
	CHECK_STR(notes.notes_path, ARCHIVED "/notes.md");
	CHECK_STR(post_event(&desk, "kind"), "case_notes_appended");
	POST_OK(&desk, mr_work_archive_case_notes_show(&desk.cx, desk.work, &about, &notes));
	CHECK_STR(notes.text, "# Notes\n\nx\n");
	POST_OK(&desk, mr_work_archive_case_notes_replace(&desk.cx, desk.work, &about, &notes));
	CHECK_STR(desk_text(&desk, ARCHIVED "/notes.md"), "x\n");
	POST_OK(&desk, mr_work_archive_case_rename(&desk.cx, desk.work, &to, &renamed));
	CHECK_STR(renamed.old_case_name, "A");
	CHECK_STR(renamed.case_name, "Z");
	CHECK_STR(renamed.case_path, "archive/cases/" CASE "-Z");
	CHECK(renamed.changed && !renamed.group);
	CHECK_STR(post_event(&desk, "kind"), "archive_case_renamed");
	CHECK(!mr_value_get(desk_last_event(&desk), "group"));
	CHECK_STR(post_list(&desk, MR_WORK_ARCHIVED_CASE, renamed.case_path).status, "archived");
	desk_check_fail(&desk, mr_work_case_notes_show(&desk.cx, desk.work, &about, &notes),
		"case_archived", "case_uid", CASE);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(create_empty), TEST(create_with_message),
		TEST(create_refused), TEST(list), TEST(show), TEST(rename_category), TEST(notes),
		TEST(add), TEST(add_what_is_archived_there), TEST(add_spam),
		TEST(in_another_category), TEST(move), TEST(set_summary), TEST(restore),
		TEST(cases) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
