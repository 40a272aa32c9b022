/* tests/unit/workspace/test_work_suggest.c */
#include "post.h"
#include "test.h"
#include "workspace/archive.h"
#include "workspace/case.h"
#include "workspace/layout.h"
#include "workspace/suggest.h"

static const char *make_case(struct desk *desk)
{
	struct mr_work_case_create request = { .name = "A", .reason = "r" };
	struct mr_work_case_created made = { 0 };

	POST_OK(desk, mr_work_case_create(&desk->cx, desk->work, &request, &made));
	return made.case_uid;
}

static void suggest(struct desk *desk, const char *message_id, enum mr_work_suggested action,
	const char *target, const char *summary)
{
	struct mr_work_suggestion_set request = { message_id, action, target, summary, "because" };
	struct mr_work_suggestion_was_set set = { 0 };

	POST_OK(desk, mr_work_suggestion_set(&desk->cx, desk->work, &request, &set));
}

static void accept(struct desk *desk, const char *message_id,
	struct mr_work_suggestion_accepted *out)
{
	struct mr_work_suggestion_ref request = { .message_id = message_id };

	POST_OK(desk, mr_work_suggestion_accept(&desk->cx, desk->work, &request, out));
}

static void accepted_is_done(void)
{
	struct mr_work_archive_create category = { .name = "N", .reason = "r" };
	struct mr_work_archive_created made = { 0 };
	struct mr_work_suggestion_accepted done = { 0 };
	const char *case_uid;
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, SPAM, NOTICE, FILES, NULL);
	case_uid = make_case(&desk);
	POST_OK(&desk, mr_work_archive_create(&desk.cx, desk.work, &category, &made));
	suggest(&desk, PLAIN, MR_WORK_SUGGEST_CASE, case_uid, "the plan");
	suggest(&desk, NOTICE, MR_WORK_SUGGEST_ARCHIVE, made.archive_uid, "a notice");
	suggest(&desk, SPAM, MR_WORK_SUGGEST_SPAM, NULL, NULL);
	suggest(&desk, FILES, MR_WORK_SUGGEST_TRASH, NULL, NULL);
	accept(&desk, PLAIN, &done);
	CHECK_STR(done.suggestion.target, case_uid);
	CHECK_STR(post_status(&desk, PLAIN), "case");
	accept(&desk, NOTICE, &done);
	CHECK_STR(post_status(&desk, NOTICE), "archived");
	accept(&desk, SPAM, &done);
	CHECK_STR(post_status(&desk, SPAM), "spam");
	CHECK(done.queued && done.push_ids.len == 1);
	accept(&desk, FILES, &done);
	CHECK_STR(post_status(&desk, FILES), "trashed");
	CHECK_STR(post_event(&desk, "kind"), "suggestion_accepted");
	CHECK_STR(desk_text(&desk, MR_WORK_SUGGESTIONS),
		"{\n  \"schema_name\": \"suggestions\",\n  \"schema_version\": 1,\n  \"items\": "
		"[]\n}\n");
	desk_close(&desk);
}

/* A case that was archived since: nothing happens, and the suggestion is still there. */
static void refused_stays(void)
{
	struct mr_work_case_ref archive = { .reason = "over" };
	struct mr_work_suggestion_ref request = { .message_id = PLAIN };
	struct mr_work_suggestion_accepted done = { 0 };
	struct mr_work_suggestion_listed listed = { 0 };
	struct mr_work_case_archived archived = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	archive.case_ref = make_case(&desk);
	suggest(&desk, PLAIN, MR_WORK_SUGGEST_CASE, archive.case_ref, NULL);
	POST_OK(&desk, mr_work_case_archive(&desk.cx, desk.work, &archive, &archived));
	desk_check_fail(&desk, mr_work_suggestion_accept(&desk.cx, desk.work, &request, &done),
		"case_archived", NULL, NULL);
	desk_next(&desk);
	CHECK_STR(post_status(&desk, PLAIN), "triage");
	CHECK_OK(mr_work_suggestion_list(&desk.cx, desk.work, &listed), desk.cx.err);
	CHECK_INT(listed.count, 1);
	CHECK_STR(listed.items[0].view_path, "triage/" PLAIN ".md");
	desk_close(&desk);
}

static void cleared_is_gone(void)
{
	struct mr_work_suggestion_ref request = { .message_id = PLAIN, .reason = "no" };
	struct mr_work_suggestion_cleared cleared = { 0 };
	struct desk desk;

	post_open(&desk);
	post_mail(&desk, PLAIN, NULL);
	suggest(&desk, PLAIN, MR_WORK_SUGGEST_TRASH, NULL, NULL);
	POST_OK(&desk, mr_work_suggestion_clear(&desk.cx, desk.work, &request, &cleared));
	CHECK(cleared.changed);
	CHECK_STR(post_event(&desk, "reason"), "no");
	POST_OK(&desk, mr_work_suggestion_clear(&desk.cx, desk.work, &request, &cleared));
	CHECK(!cleared.changed);
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(accepted_is_done), TEST(refused_stays),
		TEST(cleared_is_gone) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
