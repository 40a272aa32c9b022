/* tests/unit/workspace/test_work_suggestion.c */
#include "post.h"
#include "test.h"
#include "workspace/disposition.h"
#include "workspace/layout.h"
#include "workspace/suggestion.h"

static void save(struct desk *desk, const char *message_id, const char *action)
{
	struct mr_work_suggestion item = { .message_id = message_id,
		.action = action,
		.reason = "because",
		.created_rfc3339 = "2026-03-11T04:15:00Z" };
	const struct mr_work_suggestions *all = NULL;
	struct mr_work_change change;

	CHECK_OK(mr_work_suggestions_get(&desk->cx, desk->work, &all), desk->cx.err);
	mr_work_change_begin(&desk->cx, desk->work, "suggestion_set", &change);
	mr_work_suggestions_save(&desk->cx, &change, all, message_id, action ? &item : NULL);
	CHECK_OK(mr_work_change_commit(&desk->cx, &change), desk->cx.err);
	mr_work_change_end(&desk->cx, &change);
}

/* All of them: "message:action". */
static const char *shown(struct desk *desk)
{
	const struct mr_work_suggestions *all = NULL;
	const char *text = "";

	CHECK_OK(mr_work_suggestions_get(&desk->cx, desk->work, &all), desk->cx.err);
	for (size_t i = 0; i < all->len; i++)
		text = mr_arena_printf(desk->cx.arena, "%s%s%s:%s", text, i ? " " : "",
			all->items[i].message_id, all->items[i].action);
	return text;
}

static void are_kept_in_order(void)
{
	const struct mr_work_suggestions *all = NULL;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, NULL);
	CHECK_STR(shown(&desk), "");
	save(&desk, SPAM, "spam");
	save(&desk, PLAIN, "trash");
	save(&desk, NOTICE, "trash");
	CHECK_STR(shown(&desk), PLAIN ":trash " SPAM ":spam " NOTICE ":trash");
	save(&desk, SPAM, "trash");
	CHECK_STR(shown(&desk), PLAIN ":trash " SPAM ":trash " NOTICE ":trash");
	save(&desk, PLAIN, NULL);
	CHECK_STR(shown(&desk), SPAM ":trash " NOTICE ":trash");
	CHECK_OK(mr_work_suggestions_get(&desk.cx, desk.work, &all), desk.cx.err);
	CHECK_STR(mr_work_suggestion_of(all, NOTICE)->reason, "because");
	CHECK(!mr_work_suggestion_of(all, PLAIN));
	desk_close(&desk);
}

/* What does not wait any more goes at the next writing. */
static void end_with_their_messages(void)
{
	struct mr_work_discarded discarded;
	struct mr_work_discard discard = { { (const char *[]){ SPAM }, 1 }, "ads" };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NULL);
	save(&desk, SPAM, "spam");
	CHECK(mr_work_is_waiting(&desk.cx, desk.work, SPAM));
	POST_OK(&desk, mr_work_message_spam(&desk.cx, desk.work, &discard, &discarded));
	CHECK(!mr_work_is_waiting(&desk.cx, desk.work, SPAM));
	CHECK(!mr_work_is_waiting(&desk.cx, desk.work, "message_20260101_0000000000000000"));
	CHECK_STR(shown(&desk), SPAM ":spam");
	save(&desk, PLAIN, "trash");
	CHECK_STR(shown(&desk), PLAIN ":trash");
	desk_close(&desk);
}

static void that_are_broken_are_told(void)
{
	static const char *const broken[] = { "{\"schema_name\": \"sugg", "[]", "{}",
		"{\"schema_name\": \"suggestions\", \"items\": {}}",
		"{\"schema_name\": \"suggestions\", \"items\": [{\"action\": \"spam\"}]}",
		"{\"schema_name\": \"suggestions\", \"items\": [{\"message_id\": \"a\"}]}",
		("{\"schema_name\": \"suggestions\", \"items\": [{\"message_id\": \"a\", "
		 "\"action\": \"burn\"}]}") };

	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		const struct mr_work_suggestions *all = NULL;
		struct desk desk;

		post_open(&desk);
		desk_put(MR_WORK_SUGGESTIONS, broken[i]);
		/* Views go on without. */
		mr_work_suggestions_warm(&desk.cx, desk.work);
		CHECK(!desk.work->suggestions);
		CHECK_STR(desk.cx.err.msg, "");
		desk_check_fail(&desk, mr_work_suggestions_get(&desk.cx, desk.work, &all),
			"store_error", NULL, NULL);
		desk_close(&desk);
	}
}

int main(void)
{
	static const struct test all[] = { TEST(are_kept_in_order), TEST(end_with_their_messages),
		TEST(that_are_broken_are_told) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
