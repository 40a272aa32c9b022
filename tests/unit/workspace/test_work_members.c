/* tests/unit/workspace/test_work_members.c */
#include "post.h"
#include "test.h"
#include "workspace/ids.h"
#include "workspace/members.h"

static void texts(void)
{
	struct mr_work_item items[] = { { .message_id = "b" }, { .message_id = "a" } };
	struct mr_work_collection list = { .items = items, .len = 2 };
	struct mr_texts ids;
	struct desk desk;

	desk_open(&desk);
	ids = mr_work_member_ids(desk.cx.arena, &list);
	CHECK_STR(post_join(&desk, &ids), "b a");
	CHECK_STR(mr_work_member_view(desk.cx.arena, "spam", "x"), "spam/views/messages/x.md");
	CHECK_STR(mr_work_text_or_null(desk.cx.arena, " a b\n"), "a b");
	CHECK(!mr_work_text_or_null(desk.cx.arena, " \n"));
	CHECK(!mr_work_text_or_null(desk.cx.arena, NULL));
	desk_close(&desk);
}

static void known_and_located(void)
{
	struct mr_work_queued counted = { 0 };
	struct mr_texts ids;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NULL);
	ids = mr_str_split(desk.cx.arena, PLAIN " " SPAM, ' ');
	CHECK_OK(mr_work_check_known(&desk.cx, desk.work, &ids), desk.cx.err);
	CHECK_OK(mr_work_count_locations(&desk.cx, desk.work, &ids, &counted), desk.cx.err);
	CHECK_INT(counted.location_count, 2);
	CHECK_INT(counted.queued_location_count, 2);
	ids = mr_str_split(desk.cx.arena, PLAIN " message_x", ' ');
	desk_check_fail(&desk, mr_work_check_known(&desk.cx, desk.work, &ids), "message_not_found",
		NULL, NULL);
	desk_close(&desk);
}

static void conversation(void)
{
	struct mr_work_change change;
	struct mr_texts ids;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, T1, T4, T5, NULL);
	ids = mr_work_ids_one(desk.cx.arena, T5);
	mr_work_change_begin(&desk.cx, desk.work, "test", &change);
	CHECK_OK(mr_work_touch_conversation(&desk.cx, &change, &ids), desk.cx.err);
	CHECK_STR(post_join(&desk, &change.stale.messages), T5 " " T4 " " T1);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(texts), TEST(known_and_located),
		TEST(conversation) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
