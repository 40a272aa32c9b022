/* tests/unit/workspace/test_work_case_message.c */
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

static void add_one(void)
{
	struct mr_work_case_add request = { .case_ref = "c20260512001",
		.message_ids = IDS(T2),
		.summary = "agrees",
		.reason = "same" };
	struct mr_work_case_added added = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T2, NULL);
	create(&desk, "Meet", T1);
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added));
	CHECK_STR(added.case_uid, "c20260512001");
	CHECK_STR(added.case_path, "cases/open/c20260512001-Meet");
	CHECK_STR(added.group, "open");
	CHECK_STR(added.message_id, T2);
	CHECK_INT(added.message_count, 1);
	CHECK(!added.already_present && !added.created_case && !added.has_several);
	CHECK_STR(post_join(&desk, &added.related_message_ids), T1);
	CHECK_INT(added.queue.location_count, 1);
	CHECK(!added.queue.queued);
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, "cases/open/c20260512001-Meet");
	CHECK_INT(list.len, 2);
	CHECK_STR(list.items[1].summary, "agrees");
	CHECK_INT(list.thread_count, 1);
	CHECK_STR(list.last_message, "2026-05-12T09:00:00Z");
	CHECK_STR(post_event_list(&desk, "targets"), "case:c20260512001 message:" T2);
	CHECK_STR(post_event(&desk, "kind"), "case_message_added");
	CHECK_STR(post_event(&desk, "summary"), "agrees");
	CHECK(!desk_has("triage/" T2 ".md"));
	/* Again: nothing changes, and the reason is no summary. */
	request.summary = NULL;
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added));
	CHECK(added.already_present);
	CHECK_INT(added.queue.location_count, 1);
	CHECK_STR(desk_events(&desk), "case_created case_message_added");
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, "cases/open/c20260512001-Meet");
	CHECK_STR(list.items[1].summary, "agrees");
	/* Only a summary replaces one. */
	request.summary = "comes";
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added));
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, "cases/open/c20260512001-Meet");
	CHECK_STR(list.items[1].summary, "comes");
	CHECK_STR(post_event(&desk, "kind"), "case_summary_set");
	desk_close(&desk);
}

static void add_several(void)
{
	struct mr_work_case_add request = { .case_ref = ACTIVE,
		.message_ids = IDS(FILES, T1, FILES, T5, PLAIN),
		.reason = "r" };
	struct mr_work_case_added added = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T2, T5, FILES, PLAIN, NULL);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added));
	CHECK_INT(added.message_count, 4);
	CHECK(added.has_several);
	CHECK_INT(added.len, 4);
	CHECK_STR(added.items[1].message_id, T1);
	CHECK_STR(post_join(&desk, &added.related_message_ids), T1 " " T2 " " T5);
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, OPEN);
	CHECK_INT(list.len, 4);
	CHECK_INT(list.thread_count, 3);
	CHECK_INT(list.attachment_count, 2);
	CHECK_STR(list.last_message, "2026-05-13T07:30:00Z");
	/* All or none. */
	request.message_ids = IDS(T2, "message_x");
	desk_check_fail(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added),
		"message_not_found", NULL, NULL);
	CHECK_STR(post_status(&desk, T2), "triage");
	request.message_ids = IDS(T1, T2);
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added));
	CHECK(!added.already_present && added.items[0].already_present);
	request.message_ids = (struct mr_texts){ 0 };
	desk_check_fail(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added),
		"invalid_request", NULL, NULL);
	request = (struct mr_work_case_add){ .case_ref = ACTIVE, .message_ids = IDS(T2) };
	desk_check_fail(&desk, mr_work_case_add(&desk.cx, desk.work, &request, &added),
		"reason_required", NULL, NULL);
	desk_close(&desk);
}

static void remove_one(void)
{
	struct mr_work_case_remove request = { .case_ref = "c20260504001",
		.message_ids = IDS(PLAIN),
		.reason = "r" };
	struct mr_work_case_removed removed = { 0 };
	struct desk desk;

	post_open(&desk);
	post_set_json(&desk, "actions.case.add.steps", "[{\"add_flags\": [\"\\\\Seen\"]}]");
	post_mail(&desk, PLAIN, NULL);
	create(&desk, "A", PLAIN);
	desk_put("cases/open/c20260504001-A/drafts/reply.md",
		"---\nkind: draft\nreply_to_message_id: \"" PLAIN "\"\n---\nHi\n");
	desk_check_fail(&desk, mr_work_case_remove(&desk.cx, desk.work, &request, &removed),
		"message_referenced", NULL, NULL);
	CHECK_STR(post_detail(&desk, "references"), "cases/open/c20260504001-A/drafts/reply.md");
	desk_put("cases/open/c20260504001-A/drafts/reply.md", "---\nkind: draft\n---\nHi\n");
	POST_OK(&desk, mr_work_case_remove(&desk.cx, desk.work, &request, &removed));
	CHECK_STR(removed.status, "triage");
	CHECK_INT(removed.message_count, 0);
	CHECK_INT(removed.removed_push_count, 1);
	CHECK_STR(removed.case_path, "cases/open/c20260504001-A");
	CHECK_STR(post_queue(&desk), "");
	CHECK_STR(post_status(&desk, PLAIN), "triage");
	CHECK(desk_has("triage/" PLAIN ".md"));
	CHECK(!desk_has("cases/open/c20260504001-A/views/messages/" PLAIN ".md"));
	CHECK_STR(post_event(&desk, "kind"), "case_message_removed");
	CHECK_STR(post_event_list(&desk, "targets"), "case:c20260504001 message:" PLAIN);
	desk_check_fail(&desk, mr_work_case_remove(&desk.cx, desk.work, &request, &removed),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

/* All of them or none, and each is told of. */
static void remove_several(void)
{
	struct mr_work_case_add all = { .case_ref = ACTIVE,
		.message_ids = IDS(T1, T2, PLAIN),
		.reason = "r" };
	struct mr_work_case_remove request = { .case_ref = ACTIVE,
		.message_ids = IDS(T1, PLAIN, T1),
		.reason = "r" };
	struct mr_work_case_added added = { 0 };
	struct mr_work_case_removed removed = { 0 };
	struct desk desk;

	post_open(&desk);
	post_set_json(&desk, "actions.case.add.steps", "[{\"add_flags\": [\"\\\\Seen\"]}]");
	post_mail(&desk, T1, T2, PLAIN, NULL);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &all, &added));
	desk_put(OPEN "/drafts/reply.md",
		"---\nkind: draft\nreply_to_message_id: \"" PLAIN "\"\n---\nHi\n");
	desk_check_fail(&desk, mr_work_case_remove(&desk.cx, desk.work, &request, &removed),
		"message_referenced", NULL, NULL);
	CHECK_STR(post_members(&desk, MR_WORK_ACTIVE_CASE, OPEN), T1 " " T2 " " PLAIN);
	desk_put(OPEN "/drafts/reply.md", "---\nkind: draft\n---\nHi\n");
	POST_OK(&desk, mr_work_case_remove(&desk.cx, desk.work, &request, &removed));
	CHECK(removed.has_several);
	CHECK_INT(removed.len, 2);
	CHECK_STR(removed.items[1].message_id, PLAIN);
	CHECK_STR(removed.items[1].status, "triage");
	CHECK_INT(removed.message_count, 1);
	CHECK_INT(removed.removed_push_count, 1);
	CHECK_STR(post_members(&desk, MR_WORK_ACTIVE_CASE, OPEN), T2);
	CHECK_STR(post_queue(&desk), "case_add:" T2);
	CHECK_STR(post_event_list(&desk, "targets"), "case:" ACTIVE " message:" PLAIN);
	desk_close(&desk);
}

static void set_summary(void)
{
	struct mr_work_case_message request = { .case_ref = "c20260504001",
		.message_id = PLAIN,
		.summary = " the invoice ",
		.reason = "r" };
	struct mr_work_case_summary set = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	create(&desk, "A", PLAIN);
	POST_OK(&desk, mr_work_case_set_summary(&desk.cx, desk.work, &request, &set));
	CHECK_STR(set.summary, "the invoice");
	CHECK(set.changed);
	CHECK_STR(post_list(&desk, MR_WORK_ACTIVE_CASE, set.case_path).items[0].summary,
		"the invoice");
	CHECK_STR(post_event(&desk, "kind"), "case_summary_set");
	POST_OK(&desk, mr_work_case_set_summary(&desk.cx, desk.work, &request, &set));
	CHECK(!set.changed);
	request.summary = " ";
	POST_OK(&desk, mr_work_case_set_summary(&desk.cx, desk.work, &request, &set));
	CHECK(!set.summary && set.changed);
	CHECK(!post_list(&desk, MR_WORK_ACTIVE_CASE, set.case_path).items[0].summary);
	request.message_id = T1;
	desk_check_fail(&desk, mr_work_case_set_summary(&desk.cx, desk.work, &request, &set),
		"invalid_request", NULL, NULL);
	desk_close(&desk);
}

static void trash_all(void)
{
	struct mr_work_case_ref request = { ACTIVE, "r" };
	struct mr_work_case_add more = { .case_ref = ACTIVE,
		.message_ids = IDS(T1, PLAIN),
		.reason = "r" };
	struct mr_work_case_added added = { 0 };
	struct mr_work_case_trashed trashed = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, T2, PLAIN, NULL);
	create(&desk, "A", NULL);
	POST_OK(&desk, mr_work_case_add(&desk.cx, desk.work, &more, &added));
	create(&desk, "B", PLAIN);
	/* Another case needs one of them. */
	desk_check_fail(&desk, mr_work_case_trash(&desk.cx, desk.work, &request, &trashed),
		"message_referenced", NULL, NULL);
	CHECK_STR(post_detail(&desk, "references"), "cases/open/c20260504001-B/data/case.json");
	CHECK_STR(post_members(&desk, MR_WORK_ACTIVE_CASE, OPEN), T1 " " PLAIN);
	POST_OK(&desk,
		mr_work_case_remove(&desk.cx, desk.work,
			&(struct mr_work_case_remove){ "c20260504001", IDS(PLAIN), "r" },
			&(struct mr_work_case_removed){ 0 }));
	POST_OK(&desk, mr_work_case_trash(&desk.cx, desk.work, &request, &trashed));
	CHECK_INT(trashed.message_count, 2);
	CHECK_STR(post_join(&desk, &trashed.message_ids), T1 " " PLAIN);
	CHECK_INT(trashed.queue.location_count, 2);
	CHECK_STR(post_queue(&desk), "trash:" T1 "," PLAIN);
	CHECK_STR(post_members(&desk, MR_WORK_ACTIVE_CASE, OPEN), "");
	CHECK_STR(post_members(&desk, MR_WORK_TRASH, "trash"), T1 " " PLAIN);
	CHECK_STR(post_status(&desk, T1), "trashed");
	CHECK(strstr(desk_events(&desk), "case_trashed message_trashed message_trashed"));
	desk_close(&desk);
}

static void merge(void)
{
	struct mr_work_case_merge request = { ACTIVE, ANOTHER, "r" };
	struct mr_work_case_merged merged = { 0 };
	struct mr_work_case_add more = { .case_ref = ANOTHER,
		.message_ids = IDS(T1, PLAIN),
		.summary = "s",
		.reason = "r" };
	struct mr_work_case_tagged tagged = { 0 };
	struct mr_work_case_shown shown = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, T1, PLAIN, NULL);
	create(&desk, "A", NULL);
	create(&desk, "B", NULL);
	POST_OK(&desk,
		mr_work_case_add(&desk.cx, desk.work, &more, &(struct mr_work_case_added){ 0 }));
	more.case_ref = ACTIVE;
	more.summary = NULL;
	more.message_ids = IDS(T1);
	POST_OK(&desk,
		mr_work_case_add(&desk.cx, desk.work, &more, &(struct mr_work_case_added){ 0 }));
	POST_OK(&desk,
		mr_work_case_tag(&desk.cx, desk.work,
			&(struct mr_work_case_tag){ ACTIVE, "x", "r" }, &tagged));
	POST_OK(&desk,
		mr_work_case_tag(&desk.cx, desk.work,
			&(struct mr_work_case_tag){ ANOTHER, "b", "r" }, &tagged));
	desk_put(OPEN "/files/1.txt", "1");
	desk_put("cases/open/" ANOTHER "-B/files/2.txt", "2");
	desk_put("cases/open/" ANOTHER "-B/plan.ods", "plan");
	desk_put("cases/open/" ANOTHER "-B/drafts/idea.txt", "idea");
	desk_put("cases/open/" ANOTHER "-B/notes.md", "their notes");
	POST_OK(&desk, mr_work_case_merge(&desk.cx, desk.work, &request, &merged));
	CHECK_STR(merged.case_uid, ACTIVE);
	CHECK_STR(merged.merged_case_uid, ANOTHER);
	CHECK_INT(merged.message_count, 2);
	list = post_list(&desk, MR_WORK_ACTIVE_CASE, OPEN);
	CHECK_STR(post_members(&desk, MR_WORK_ACTIVE_CASE, OPEN), T1 " " PLAIN);
	CHECK_STR(list.items[0].summary, "r");
	CHECK_STR(list.items[1].summary, "s");
	CHECK_STR(post_join(&desk, &list.tags), "b x");
	CHECK_INT(list.thread_count, 2);
	CHECK_STR(desk_text(&desk, OPEN "/files/1.txt"), "1");
	CHECK_STR(desk_text(&desk, OPEN "/files/2.txt"), "2");
	CHECK_STR(desk_text(&desk, OPEN "/plan.ods"), "plan");
	CHECK_STR(desk_text(&desk, OPEN "/drafts/idea.txt"), "idea");
	CHECK(strstr(desk_text(&desk, OPEN "/notes.md"), ANOTHER));
	CHECK(strstr(desk_text(&desk, OPEN "/notes.md"), "their notes\n"));
	CHECK(mr_str_starts(desk_text(&desk, OPEN "/notes.md"), "# Notes\n"));
	CHECK(!desk_has("cases/open/" ANOTHER "-B"));
	CHECK_STR(post_event(&desk, "kind"), "case_merged");
	CHECK_STR(post_event_list(&desk, "targets"), "case:" ACTIVE " case:" ANOTHER);
	CHECK_STR(post_event_list(&desk, "message_ids"), T1 " " PLAIN);
	/* The old uid leads to the case, and no other gets it. */
	desk_check_fail(&desk,
		mr_work_case_show(&desk.cx, desk.work, &(struct mr_work_case_show){ ANOTHER },
			&shown),
		"case_not_found", "case_merged_into", ACTIVE);
	CHECK(strstr(post_hint(&desk), "afmail case show " ACTIVE));
	create(&desk, "C", NULL);
	CHECK(desk_has("cases/open/c" DESK_TODAY "003-C"));
	request = (struct mr_work_case_merge){ "c" DESK_TODAY "003", ACTIVE, "r" };
	POST_OK(&desk, mr_work_case_merge(&desk.cx, desk.work, &request, &merged));
	desk_check_fail(&desk,
		mr_work_case_show(&desk.cx, desk.work, &(struct mr_work_case_show){ ANOTHER },
			&shown),
		"case_not_found", "case_merged_into", "c" DESK_TODAY "003");
	desk_close(&desk);
}

static void merge_refused(void)
{
	struct mr_work_case_merge request = { ACTIVE, ACTIVE, "r" };
	struct mr_work_case_merged merged = { 0 };
	struct desk desk;
	const char *before;

	post_open(&desk);
	create(&desk, "A", NULL);
	create(&desk, "B", NULL);
	desk_check_fail(&desk, mr_work_case_merge(&desk.cx, desk.work, &request, &merged),
		"invalid_request", NULL, NULL);
	request.other_case_ref = ANOTHER;
	desk_put(OPEN "/files/same", "1");
	desk_put("cases/open/" ANOTHER "-B/files/same", "2");
	before = desk_tree(&desk);
	desk_check_fail(&desk, mr_work_case_merge(&desk.cx, desk.work, &request, &merged),
		"merge_conflict", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "both cases have files/same");
	CHECK_STR(desk_tree(&desk), before);
	desk_put("cases/open/" ANOTHER "-B/drafts/new-x.md", "x");
	desk_check_fail(&desk, mr_work_case_merge(&desk.cx, desk.work, &request, &merged),
		"case_has_local_drafts", "case_uid", ANOTHER);
	CHECK_STR(post_detail(&desk, "draft_names"), "new-x.md");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(add_one), TEST(add_several), TEST(remove_one),
		TEST(remove_several), TEST(set_summary), TEST(trash_all), TEST(merge),
		TEST(merge_refused) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
