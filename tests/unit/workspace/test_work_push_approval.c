/* tests/unit/workspace/test_work_push_approval.c */
#include "workspace/push_approval.h"

#include "post.h"
#include "test.h"
#include "workspace/error.h"
#include "workspace/refresh.h"

#define PATH ".afmail/push/push_1.approval"

static const struct mr_work_push_item item = { .push_id = "push_1",
	.kind = MR_WORK_PUSH_OUTBOUND,
	.action = MR_WORK_PUSH_SEND,
	.case_uid = "c1" };

static void say(struct desk *desk, enum mr_work_approval_state state, const char *content,
	const char *reason)
{
	const struct mr_work_approval said = { state, content, desk->work->now, reason };
	struct mr_work_change change;

	mr_work_change_begin(&desk->cx, desk->work, "push_approve", &change);
	mr_work_approval_put(&change, &item, &said);
	POST_OK(desk, mr_work_carry_out(&desk->cx, &change));
	desk_next(desk);
}

static enum mr_work_approval_state state_of(struct desk *desk, const char *content)
{
	struct mr_work_approval said;

	mr_work_approval_get(&desk->cx, desk->work, "push_1", content, &said);
	return said.state;
}

static void what_was_said_holds_for_one_content(void)
{
	struct desk desk;

	post_open(&desk);
	CHECK_INT(state_of(&desk, "content_1"), MR_WORK_APPROVAL_WAITING);
	say(&desk, MR_WORK_APPROVED, "content_1", NULL);
	CHECK_INT(state_of(&desk, "content_1"), MR_WORK_APPROVED);
	CHECK_INT(state_of(&desk, "content_2"), MR_WORK_APPROVAL_CHANGED);
	CHECK_INT(state_of(&desk, NULL), MR_WORK_APPROVAL_CHANGED);
	CHECK_STR(desk_events(&desk), "push_approved");
	say(&desk, MR_WORK_REFUSED, "content_2", "no");
	CHECK_INT(state_of(&desk, "content_2"), MR_WORK_REFUSED);
	CHECK_INT(state_of(&desk, "content_1"), MR_WORK_APPROVAL_CHANGED);
	desk_close(&desk);
}

static void a_file_that_is_none_says_nothing(void)
{
	static const char *const texts[] = { "", "{", "[]", "{}",
		"{\"schema_name\":\"push_approval\",\"schema_version\":2,\"push_id\":\"push_1\","
		"\"state\":\"approved\",\"content_id\":\"content_1\",\"decided_rfc3339\":\"t\"}",
		"{\"schema_name\":\"push_approval\",\"schema_version\":1,\"push_id\":\"push_2\","
		"\"state\":\"approved\",\"content_id\":\"content_1\",\"decided_rfc3339\":\"t\"}" };
	struct desk desk;

	post_open(&desk);
	for (size_t i = 0; i < MR_LEN(texts); i++) {
		desk_put(PATH, texts[i]);
		CHECK_INT(state_of(&desk, "content_1"), MR_WORK_APPROVAL_WAITING);
		CHECK(!desk.cx.err.code);
	}
	desk_close(&desk);
}

static void a_push_needs_approval_where_it_is_asked_for(void)
{
	struct mr_work_config config = { .approval_required = true };
	struct desk desk;

	post_open(&desk);
	desk_check_fail(&desk,
		mr_work_approval_check(&desk.cx, desk.work, &config, "push_1", "content_1"),
		"push_not_approved", NULL, NULL);
	config.approval_required = false;
	POST_OK(&desk, mr_work_approval_check(&desk.cx, desk.work, &config, "push_1", "content_1"));
	say(&desk, MR_WORK_REFUSED, "content_1", "rude");
	desk_check_fail(&desk,
		mr_work_approval_check(&desk.cx, desk.work, &config, "push_1", "content_1"),
		"push_refused", "reason", "rude");
	POST_OK(&desk, mr_work_approval_check(&desk.cx, desk.work, &config, "push_1", "content_2"));
	config.approval_required = true;
	desk_check_fail(&desk,
		mr_work_approval_check(&desk.cx, desk.work, &config, "push_1", "content_2"),
		"push_not_approved", NULL, NULL);
	say(&desk, MR_WORK_APPROVED, "content_2", NULL);
	POST_OK(&desk, mr_work_approval_check(&desk.cx, desk.work, &config, "push_1", "content_2"));
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_was_said_holds_for_one_content),
		TEST(a_file_that_is_none_says_nothing),
		TEST(a_push_needs_approval_where_it_is_asked_for),
	};

	return test_main(tests, MR_LEN(tests));
}
