/* tests/unit/workspace/test_work_disposition.c */
#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/disposition.h"
#include "workspace/refresh.h"

#include <string.h>

static struct mr_texts texts(const char **items, size_t len)
{
	return (struct mr_texts){ items, len };
}
#define IDS(...)                                                                                   \
	texts((const char *[]){ __VA_ARGS__, NULL },                                               \
		sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))
#define DISCARD(...) ((struct mr_work_discard){ .message_ids = IDS(__VA_ARGS__), .reason = "r" })

static void spam(struct desk *desk, const char *id)
{
	struct mr_work_discarded discarded = { 0 };

	POST_OK(desk, mr_work_message_spam(&desk->cx, desk->work, &DISCARD(id), &discarded));
}

static void trash(struct desk *desk, const char *id)
{
	struct mr_work_discarded discarded = { 0 };

	POST_OK(desk, mr_work_message_trash(&desk->cx, desk->work, &DISCARD(id), &discarded));
}

/* Take an item out of the queue by hand. */
static void drop_queue(struct desk *desk)
{
	struct mr_work_push_items queue = { 0 };
	struct mr_work_change change;

	CHECK_OK(mr_work_queue_load(&desk->cx, desk->work, &queue), desk->cx.err);
	mr_work_change_begin(&desk->cx, desk->work, "push_drop", &change);
	for (size_t i = 0; i < queue.len; i++)
		mr_work_queue_remove(&change, &queue.items[i]);
	POST_OK(desk, mr_work_carry_out(&desk->cx, &change));
}

static const char *first_push(struct desk *desk)
{
	struct mr_work_push_items queue = { 0 };

	CHECK_OK(mr_work_queue_load(&desk->cx, desk->work, &queue), desk->cx.err);
	CHECK(queue.len > 0);
	return queue.items[0].push_id;
}

/* --- spam and trash --- */

static void mark_trash(void)
{
	struct mr_work_discarded discarded = { 0 };
	struct mr_work_collection list;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	POST_OK(&desk, mr_work_message_trash(&desk.cx, desk.work, &DISCARD(SPAM), &discarded));
	CHECK_STR(discarded.message_id, SPAM);
	CHECK_STR(discarded.special_use, "trash");
	CHECK_STR(post_join(&desk, &discarded.message_ids), SPAM);
	CHECK_INT(discarded.queue.location_count, 1);
	CHECK_INT(discarded.queue.queued_location_count, 1);
	CHECK(discarded.queue.queued && discarded.queue.push_id);
	CHECK_STR(post_queue(&desk), "trash:" SPAM);
	list = post_list(&desk, MR_WORK_TRASH, "trash");
	CHECK_STR(list.status, "trashed");
	CHECK_STR(list.name, "Trash");
	CHECK_INT(list.len, 1);
	CHECK(!list.items[0].summary);
	CHECK_STR(post_status(&desk, SPAM), "trashed");
	CHECK(!desk_has("triage/" SPAM ".md"));
	CHECK(desk_has("trash/" SPAM ".md"));
	CHECK(desk_has("trash/index.md"));
	CHECK(!desk_has("spam"));
	CHECK_STR(post_event(&desk, "kind"), "message_trashed");
	CHECK_STR(post_event(&desk, "special_use"), "trash");
	CHECK_STR(post_event_list(&desk, "targets"), "message:" SPAM);
	CHECK(strstr(desk_text(&desk, "messages/" SPAM ".json"), "\"message.trash\""));
	desk_close(&desk);
}

static void mark_refused(void)
{
	struct mr_work_discarded discarded = { 0 };
	struct mr_work_discard request = { .message_ids = IDS(PLAIN) };
	struct mr_work_case_create in_case = { .name = "A", .message = PLAIN, .reason = "r" };
	struct mr_work_case_created created = { 0 };
	struct mr_work_archive_create in_category = { .name = "N",
		.message = NOTICE,
		.summary = "s" };
	struct mr_work_archive_created category = { 0 };
	const char *before;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NOTICE, T1, T2, NULL);
	before = desk_tree(&desk);
	desk_check_fail(&desk, mr_work_message_trash(&desk.cx, desk.work, &request, &discarded),
		"reason_required", "required_option", "--reason");
	desk_check_fail(&desk,
		mr_work_message_spam(&desk.cx, desk.work, &DISCARD("a/b"), &discarded),
		"invalid_request", NULL, NULL);
	desk_check_fail(&desk,
		mr_work_message_spam(&desk.cx, desk.work, &DISCARD("message_x"), &discarded),
		"message_not_found", NULL, NULL);
	desk_check_fail(&desk, mr_work_message_spam(&desk.cx, desk.work, &DISCARD(T1), &discarded),
		"message_has_related_conversation_use_case", "message_id", T1);
	CHECK(strstr(post_hint(&desk), "Create a case"));
	CHECK_STR(desk_tree(&desk), before);
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &in_case, &created));
	desk_check_fail(&desk,
		mr_work_message_spam(&desk.cx, desk.work, &DISCARD(PLAIN), &discarded),
		"message_referenced", NULL, NULL);
	CHECK_STR(post_detail(&desk, "references"), "cases/open/c20260504001-A/data/case.json");
	CHECK(strstr(desk.cx.err.msg, "cases/open/c20260504001-A/data/case.json"));
	CHECK_STR(post_detail(&desk, "suggested_commands"),
		"afmail status afmail push list afmail case show CASE_REF afmail archive message "
		"show ARCHIVE_REF");
	POST_OK(&desk, mr_work_archive_create(&desk.cx, desk.work, &in_category, &category));
	drop_queue(&desk);
	desk_check_fail(&desk,
		mr_work_message_trash(&desk.cx, desk.work, &DISCARD(NOTICE), &discarded),
		"message_referenced", NULL, NULL);
	CHECK_STR(post_detail(&desk, "references"),
		"archive/notifications/a20260518001-N/data/notification.json");
	/* Optional reasons. */
	post_set(&desk, "audit.reason_mode", "optional");
	request.message_ids = IDS(T1, T2);
	POST_OK(&desk, mr_work_message_trash(&desk.cx, desk.work, &request, &discarded));
	CHECK(!mr_value_get(desk_last_event(&desk), "reason"));
	desk_close(&desk);
}

static void mark_several(void)
{
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, T1, T2, NULL);
	/* The whole conversation, and one more; one that is unknown stops all. */
	desk_check_fail(&desk,
		mr_work_message_trash(&desk.cx, desk.work, &DISCARD(PLAIN, "message_x"),
			&discarded),
		"message_not_found", NULL, NULL);
	CHECK_STR(post_status(&desk, PLAIN), "triage");
	POST_OK(&desk,
		mr_work_message_trash(&desk.cx, desk.work, &DISCARD(T2, PLAIN, T1, T2),
			&discarded));
	CHECK_STR(post_join(&desk, &discarded.message_ids), T2 " " PLAIN " " T1);
	CHECK_INT(discarded.queue.location_count, 3);
	CHECK_STR(post_queue(&desk), "trash:" T2 "," PLAIN "," T1);
	CHECK_STR(desk_events(&desk), "message_trashed message_trashed message_trashed");
	desk_close(&desk);
}

static void from_spam_to_trash(void)
{
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	desk_check_fail(&desk,
		mr_work_message_trash(&desk.cx, desk.work, &DISCARD(SPAM), &discarded),
		"message_referenced", NULL, NULL);
	drop_queue(&desk);
	trash(&desk, SPAM);
	CHECK_STR(post_members(&desk, MR_WORK_SPAM, "spam"), "");
	CHECK_STR(post_members(&desk, MR_WORK_TRASH, "trash"), SPAM);
	CHECK(!desk_has("spam/" SPAM ".md"));
	desk_close(&desk);
}

/* What is put into a case leaves spam, and its queued move there with it. */
static void wanted_again(void)
{
	struct mr_work_case_create request = { .name = "A", .message = SPAM, .reason = "r" };
	struct mr_work_case_created created = { 0 };
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, PLAIN, NULL);
	POST_OK(&desk,
		mr_work_message_spam(&desk.cx, desk.work, &DISCARD(SPAM, PLAIN), &discarded));
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(post_status(&desk, SPAM), "case");
	CHECK_STR(post_members(&desk, MR_WORK_SPAM, "spam"), PLAIN);
	CHECK_STR(post_queue(&desk), "spam:" PLAIN);
	/* What has begun stays. */
	post_start(&desk, first_push(&desk));
	request.message = PLAIN;
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &request, &created));
	CHECK_STR(post_status(&desk, PLAIN), "case");
	CHECK_STR(post_queue(&desk), "spam:" PLAIN);
	desk_close(&desk);
}

/* --- restore --- */

static void restore_spam(void)
{
	struct mr_work_message_restore request = { SPAM, "mistake" };
	struct mr_work_message_restored restored = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	POST_OK(&desk, mr_work_message_restore(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(restored.message_id, SPAM);
	CHECK_STR(restored.from_status, "spam");
	CHECK_STR(restored.status, "triage");
	CHECK(!restored.archive_uid);
	CHECK_STR(restored.triage_path, "triage/" SPAM ".md");
	CHECK_INT(restored.removed_push_count, 1);
	CHECK(!restored.queued);
	CHECK_STR(post_queue(&desk), "");
	CHECK_STR(post_members(&desk, MR_WORK_SPAM, "spam"), "");
	CHECK(desk_has("spam/data/spam.json"));
	CHECK(!desk_has("spam/" SPAM ".md"));
	CHECK(desk_has("triage/" SPAM ".md"));
	CHECK(!strstr(desk_text(&desk, "messages/" SPAM ".json"), "pending"));
	CHECK_STR(post_event(&desk, "kind"), "message_restored");
	CHECK_STR(post_event(&desk, "from_status"), "spam");
	CHECK_STR(post_event(&desk, "to_status"), "triage");
	CHECK_STR(post_event_list(&desk, "removed_push_ids"), restored.push_ids.items[0]);
	/* It is in triage now. */
	desk_check_fail(&desk, mr_work_message_restore(&desk.cx, desk.work, &request, &restored),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg,
		"message " SPAM " has the status triage: only spam, trashed and archived messages "
		"can be restored");
	desk_close(&desk);
}

static void restore_one_of_several(void)
{
	struct mr_work_message_restore request = { SPAM, "r" };
	struct mr_work_message_restored restored = { 0 };
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, PLAIN, NULL);
	POST_OK(&desk,
		mr_work_message_trash(&desk.cx, desk.work, &DISCARD(SPAM, PLAIN), &discarded));
	POST_OK(&desk, mr_work_message_restore(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(post_queue(&desk), "trash:" PLAIN);
	CHECK_STR(restored.from_status, "trashed");
	desk_close(&desk);
}

static void restore_what_has_begun(void)
{
	struct mr_work_message_restore request = { SPAM, "r" };
	struct mr_work_message_restored restored = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	post_start(&desk, first_push(&desk));
	desk_check_fail(&desk, mr_work_message_restore(&desk.cx, desk.work, &request, &restored),
		"push_already_started", NULL, NULL);
	CHECK_STR(post_status(&desk, SPAM), "spam");
	CHECK_STR(post_queue(&desk), "spam:" SPAM);
	desk_close(&desk);
}

/* After the push the message is in Junk alone: its move back is queued, and discarding it again
 * takes that back. */
static void restore_after_push(void)
{
	struct mr_work_message_restore request = { SPAM, "r" };
	struct mr_work_message_restored restored = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	drop_queue(&desk);
	post_locate(SPAM, "Junk", NULL);
	desk_next(&desk);
	POST_OK(&desk, mr_work_message_restore(&desk.cx, desk.work, &request, &restored));
	CHECK_INT(restored.removed_push_count, 0);
	CHECK(restored.queued);
	CHECK_INT(restored.queued_push_ids.len, 1);
	CHECK_STR(post_queue(&desk), "restore:" SPAM);
	trash(&desk, SPAM);
	CHECK_STR(post_queue(&desk), "trash:" SPAM);
	desk_close(&desk);
}

static void aliases(void)
{
	struct mr_work_message_restore request = { SPAM, "r" };
	struct mr_work_message_restored restored = { 0 };
	struct mr_work_archive_create in_category = { .name = "N",
		.message = SPAM,
		.summary = "s" };
	struct mr_work_archive_created category = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	desk_check_fail(&desk, mr_work_message_untrash(&desk.cx, desk.work, &request, &restored),
		"invalid_request", NULL, NULL);
	CHECK_STR(desk.cx.err.msg, "message " SPAM " has the status spam, not trashed");
	POST_OK(&desk, mr_work_message_unspam(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(post_event(&desk, "kind"), "message_unspammed");
	trash(&desk, SPAM);
	POST_OK(&desk, mr_work_message_untrash(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(post_event(&desk, "kind"), "message_untrashed");
	POST_OK(&desk, mr_work_archive_create(&desk.cx, desk.work, &in_category, &category));
	desk_check_fail(&desk, mr_work_message_unspam(&desk.cx, desk.work, &request, &restored),
		"invalid_request", NULL, NULL);
	POST_OK(&desk, mr_work_message_unarchive(&desk.cx, desk.work, &request, &restored));
	CHECK_STR(post_event(&desk, "kind"), "message_unarchived");
	CHECK_STR(restored.archive_uid, category.archive_uid);
	desk_check_fail(&desk,
		mr_work_message_restore(&desk.cx, desk.work,
			&(struct mr_work_message_restore){ "message_x", "r" }, &restored),
		"message_not_found", NULL, NULL);
	desk_close(&desk);
}

/* A message that was seen deleted on the server is not restored, but a case takes it. */
static void deleted(void)
{
	struct mr_work_message_restore request = { SPAM, "r" };
	struct mr_work_message_restored restored = { 0 };
	struct mr_work_case_create in_case = { .name = "A", .message = SPAM, .reason = "r" };
	struct mr_work_case_created created = { 0 };
	struct mr_work_collection list = { 0 };
	struct mr_work_change change;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	list = post_list(&desk, MR_WORK_DELETED, "deleted");
	mr_work_collection_add(&desk.cx, &list, SPAM, NULL, desk.work->now);
	mr_work_change_begin(&desk.cx, desk.work, "pull", &change);
	CHECK_OK(mr_work_collection_save(&desk.cx, &change, &list), desk.cx.err);
	POST_OK(&desk, mr_work_carry_out(&desk.cx, &change));
	CHECK_STR(post_status(&desk, SPAM), "deleted_remote");
	desk_check_fail(&desk, mr_work_message_restore(&desk.cx, desk.work, &request, &restored),
		"invalid_request", NULL, NULL);
	POST_OK(&desk, mr_work_case_create(&desk.cx, desk.work, &in_case, &created));
	CHECK_STR(post_members(&desk, MR_WORK_DELETED, "deleted"), "");
	CHECK_STR(post_status(&desk, SPAM), "case");
	desk_close(&desk);
}

/* A list that cannot be read is told, and nothing changes. */
static void broken_list(void)
{
	struct mr_work_discarded discarded = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	desk_put("spam/data/spam.json", "{\"schema_name\": \"trash\", \"schema_version\": 1}");
	desk_check_fail(&desk,
		mr_work_message_spam(&desk.cx, desk.work, &DISCARD(SPAM), &discarded),
		"disposition_messages_invalid", NULL, NULL);
	CHECK_STR(post_queue(&desk), "");
	CHECK_STR(post_status(&desk, SPAM), "triage");
	desk_close(&desk);
}

/* --- purge --- */

static void purge_recent(void)
{
	struct mr_work_purge request = { 0 };
	struct mr_work_purged purged = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_STR(purged.target, "discards");
	CHECK_STR(post_join(&desk, &purged.targets), "spam trash deleted");
	CHECK_INT(purged.older_than_days, 30);
	CHECK_INT(purged.purged_count, 0);
	CHECK_INT(purged.skipped_recent_count, 1);
	CHECK_STR(post_join(&desk, &purged.skipped_recent_message_ids), SPAM);
	CHECK_INT(purged.skipped_referenced_count, 0);
	CHECK_INT(purged.spam_count, 1);
	CHECK_INT(purged.spam_written_count, 1);
	CHECK_INT(purged.trash_count, 0);
	CHECK_INT(purged.stale_spam_removed_count, 0);
	/* At once: but what is queued needs it. */
	request = (struct mr_work_purge){ .target = "spam", .has_target_older_than_days = true };
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_STR(purged.target, "spam");
	CHECK_STR(post_join(&desk, &purged.targets), "spam");
	CHECK_INT(purged.older_than_days, 0);
	CHECK_INT(purged.skipped_recent_count, 0);
	CHECK_STR(post_join(&desk, &purged.skipped_referenced_message_ids), SPAM);
	CHECK(desk_has(".afmail/messages/" SPAM ".eml"));
	CHECK_STR(desk_events(&desk), "message_spam_marked");
	desk_close(&desk);
}

static void purge_old(void)
{
	struct mr_work_purge request = { .has_older_than_days = true, .older_than_days = 40 };
	struct mr_work_purged purged = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, PLAIN, NOTICE, NULL);
	spam(&desk, SPAM);
	trash(&desk, NOTICE);
	trash(&desk, PLAIN);
	drop_queue(&desk);
	desk_put(".afmail/messages/" SPAM ".files/a.pdf", "a");
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_INT(purged.purged_count, 0);
	desk.clock.now_us += INT64_C(40) * 24 * 3600 * 1000000;
	desk_next(&desk);
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_INT(purged.purged_count, 3);
	CHECK_STR(post_join(&desk, &purged.purged_message_ids), PLAIN " " SPAM " " NOTICE);
	CHECK_INT(purged.purged_spam_count, 1);
	CHECK_INT(purged.purged_trash_count, 2);
	CHECK_INT(purged.purged_deleted_count, 0);
	CHECK_INT(purged.spam_count, 0);
	CHECK_INT(purged.stale_spam_removed_count, 1);
	CHECK_INT(purged.stale_trash_removed_count, 2);
	CHECK(!desk_has(".afmail/messages/" SPAM ".eml"));
	CHECK(!desk_has(".afmail/messages/" SPAM ".remote.json"));
	CHECK(!desk_has(".afmail/messages/" SPAM ".files"));
	CHECK(!desk_has("messages/" SPAM ".json"));
	CHECK(!desk_has("spam/" SPAM ".md"));
	CHECK(!desk_has("trash/" PLAIN ".md"));
	CHECK_STR(post_members(&desk, MR_WORK_TRASH, "trash"), "");
	CHECK_STR(post_event(&desk, "kind"), "messages_purged");
	CHECK_STR(post_event_list(&desk, "targets"),
		"message:" PLAIN " message:" SPAM " message:" NOTICE);
	CHECK_STR(post_event_list(&desk, "message_ids"), PLAIN " " SPAM " " NOTICE);
	CHECK_STR(post_event(&desk, "target"), "discards");
	CHECK_STR(post_event(&desk, "older_than_days"), "40");
	desk_close(&desk);
}

static void purge_one_list(void)
{
	struct mr_work_purge request = { .target = "trash",
		.has_target_older_than_days = true,
		.target_older_than_days = 0 };
	struct mr_work_purged purged = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, PLAIN, NULL);
	spam(&desk, SPAM);
	trash(&desk, PLAIN);
	drop_queue(&desk);
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_STR(post_join(&desk, &purged.purged_message_ids), PLAIN);
	CHECK(desk_has("spam/" SPAM ".md"));
	CHECK_STR(post_status(&desk, SPAM), "spam");
	desk_close(&desk);
}

static void purge_plan(void)
{
	struct mr_work_purge request = { .has_older_than_days = true, .dry_run = true };
	struct mr_work_purged plan = { 0 }, purged = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, PLAIN, NULL);
	spam(&desk, SPAM);
	drop_queue(&desk);
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &plan));
	CHECK(plan.is_plan && plan.plan_id);
	CHECK_STR(post_join(&desk, &plan.purged_message_ids), SPAM);
	CHECK(desk_has(".afmail/messages/" SPAM ".eml"));
	CHECK_STR(desk_events(&desk), "message_spam_marked");
	/* Something else was discarded since. */
	trash(&desk, PLAIN);
	drop_queue(&desk);
	request.dry_run = false;
	request.plan_id = plan.plan_id;
	CHECK_INT(mr_work_purge(&desk.cx, desk.work, &request, &purged), MR_ENOTCONFIRMED);
	CHECK_STR(desk.cx.err.word, "confirm_required");
	CHECK(strstr(post_hint(&desk), "--dry-run"));
	CHECK(desk_has(".afmail/messages/" SPAM ".eml"));
	request.dry_run = true;
	request.plan_id = NULL;
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &plan));
	request.dry_run = false;
	request.plan_id = plan.plan_id;
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_INT(purged.purged_count, 2);
	desk_close(&desk);
}

static void purge_refused(void)
{
	static const int64_t ages[] = { -1, 800000, INT64_MAX, INT64_MAX / 86400 };
	struct mr_work_purge request = { .has_older_than_days = true,
		.has_target_older_than_days = true };
	struct mr_work_purged purged = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, SPAM, NULL);
	spam(&desk, SPAM);
	drop_queue(&desk);
	desk_check_fail(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged),
		"invalid_request", NULL, NULL);
	request.has_target_older_than_days = false;
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		request.older_than_days = ages[i];
		desk_check_fail(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged),
			"invalid_request", NULL, NULL);
	}
	CHECK_STR(desk.cx.err.msg,
		"--older-than-days 106751991167300 reaches back before the calendar");
	request.older_than_days = 700000;
	POST_OK(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged));
	CHECK_INT(purged.purged_count, 0);
	request.target = "inbox";
	desk_check_fail(&desk, mr_work_purge(&desk.cx, desk.work, &request, &purged),
		"invalid_request", NULL, NULL);
	CHECK(desk_has(".afmail/messages/" SPAM ".eml"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(mark_trash), TEST(mark_refused), TEST(mark_several),
		TEST(from_spam_to_trash), TEST(wanted_again), TEST(restore_spam),
		TEST(restore_one_of_several), TEST(restore_what_has_begun),
		TEST(restore_after_push), TEST(aliases), TEST(deleted), TEST(broken_list),
		TEST(purge_recent), TEST(purge_old), TEST(purge_one_list), TEST(purge_plan),
		TEST(purge_refused) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
