/* tests/unit/workspace/test_work_merged.c */
#include "desk.h"
#include "test.h"
#include "workspace/layout.h"
#include "workspace/merged.h"

static void note(struct desk *desk, const char *uid, const char *into)
{
	struct mr_work_change change;

	mr_work_change_begin(&desk->cx, desk->work, "case_merge", &change);
	mr_work_merged_note(&desk->cx, &change, uid, into);
	CHECK_OK(mr_work_change_commit(&desk->cx, &change), desk->cx.err);
	mr_work_change_end(&desk->cx, &change);
}

static void chains(void)
{
	struct desk desk;

	desk_open(&desk);
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	note(&desk, "c1", "c2");
	CHECK_STR(mr_work_merged_into(&desk.cx, desk.work, "c1"), "c2");
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c2"));
	note(&desk, "c2", "c3");
	CHECK_STR(mr_work_merged_into(&desk.cx, desk.work, "c1"), "c3");
	note(&desk, "c1", "c4");
	CHECK_STR(mr_work_merged_into(&desk.cx, desk.work, "c1"), "c4");
	CHECK_STR(desk_text(&desk, MR_WORK_MERGED),
		"{\n  \"schema_name\": \"merged_cases\",\n  \"schema_version\": 1,\n"
		"  \"cases\": {\n    \"c2\": \"c3\",\n    \"c1\": \"c4\"\n  }\n}\n");
	desk_close(&desk);
}

/* By hand: a circle ends, and what cannot be read leads nowhere and is no failure. */
static void damaged(void)
{
	struct desk desk;

	desk_open(&desk);
	desk_put(MR_WORK_MERGED, "{\"cases\": {\"c1\": \"c2\", \"c2\": \"c1\"}}");
	CHECK(mr_work_merged_into(&desk.cx, desk.work, "c1"));
	desk_put(MR_WORK_MERGED, "{\"cases\": {\"c1\":");
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	desk_put(MR_WORK_MERGED, "{\"cases\": []}");
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	desk_put(MR_WORK_MERGED, "{\"cases\": {\"c1\": 5}}");
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	CHECK_STR(desk.cx.err.msg, "");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(chains), TEST(damaged) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
