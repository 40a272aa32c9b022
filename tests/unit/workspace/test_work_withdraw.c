/* tests/unit/workspace/test_work_withdraw.c */
#include "post.h"
#include "test.h"
#include "workspace/ids.h"
#include "workspace/refresh.h"
#include "workspace/withdraw.h"

static const char *queue(struct desk *desk, enum mr_work_push_action action, const char *ids)
{
	struct mr_texts list = mr_str_split(desk->cx.arena, ids, ' ');
	struct mr_work_queued queued = { 0 };
	struct mr_work_change change;

	mr_work_change_begin(&desk->cx, desk->work, "test", &change);
	CHECK_OK(mr_work_queue_action(&desk->cx, &change, action, &list, &queued), desk->cx.err);
	POST_OK(desk, mr_work_carry_out(&desk->cx, &change));
	return queued.push_id;
}

static const char *withdraw(struct desk *desk, unsigned actions, const char *ids)
{
	struct mr_texts list = mr_str_split(desk->cx.arena, ids, ' '), items = { 0 };
	struct mr_work_change change;

	mr_work_change_begin(&desk->cx, desk->work, "test", &change);
	CHECK_OK(mr_work_withdraw(&desk->cx, &change, actions, &list, &items), desk->cx.err);
	POST_OK(desk, mr_work_carry_out(&desk->cx, &change));
	return post_join(desk, &items);
}

static void several_at_once(void)
{
	const char *spam, *trash;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, NULL);
	spam = queue(&desk, MR_WORK_PUSH_SPAM, PLAIN " " SPAM " " NOTICE);
	trash = queue(&desk, MR_WORK_PUSH_TRASH, PLAIN);
	/* Other actions and other messages stay. */
	CHECK_STR(withdraw(&desk, MR_WORK_ACTION_BIT(MR_WORK_PUSH_ARCHIVE), PLAIN), "");
	CHECK_STR(withdraw(&desk, MR_WORK_ACTION_BIT(MR_WORK_PUSH_SPAM), T1), "");
	CHECK_STR(withdraw(&desk, MR_WORK_ACTION_BIT(MR_WORK_PUSH_SPAM), PLAIN " " NOTICE), spam);
	CHECK_STR(post_queue(&desk), "spam:" SPAM " trash:" PLAIN);
	CHECK_STR(withdraw(&desk,
			  MR_WORK_ACTION_BIT(MR_WORK_PUSH_SPAM) |
				  MR_WORK_ACTION_BIT(MR_WORK_PUSH_TRASH),
			  PLAIN " " SPAM),
		mr_arena_printf(desk.cx.arena, "%s %s", spam, trash));
	CHECK_STR(post_queue(&desk), "");
	desk_close(&desk);
}

static void not_what_has_begun(void)
{
	const char *spam;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	spam = queue(&desk, MR_WORK_PUSH_SPAM, PLAIN);
	post_start(&desk, spam);
	CHECK_STR(withdraw(&desk, MR_WORK_ACTION_BIT(MR_WORK_PUSH_SPAM), PLAIN), "");
	CHECK_STR(post_queue(&desk), "spam:" PLAIN);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(several_at_once), TEST(not_what_has_begun) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
