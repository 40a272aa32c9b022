/* tests/unit/workspace/test_work_merged.c */
#include "desk.h"
#include "test.h"
#include "workspace/layout.h"
#include "workspace/merged.h"

#define MERGED(number, uid, into)                                                                  \
	"{\"code\":\"afmail_event\",\"event_id\":\"event_" number                                  \
	"\",\"kind\":\"case_merged\",\"case_uid\":\"" into "\",\"merged_case_uid\":\"" uid         \
	"\",\"targets\":[{\"kind\":\"case\",\"id\":\"" into "\"},{\"kind\":\"case\",\"id\":\"" uid \
	"\"}]}\n"

static void chains(void)
{
	struct desk desk;

	desk_open(&desk);
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	desk_put(MR_WORK_LOG, MERGED("1", "c1", "c2"));
	CHECK_STR(mr_work_merged_into(&desk.cx, desk.work, "c1"), "c2");
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c2"));
	desk_put(MR_WORK_LOG, MERGED("1", "c1", "c2") MERGED("2", "c2", "c3"));
	CHECK_STR(mr_work_merged_into(&desk.cx, desk.work, "c1"), "c3");
	/* A uid that was merged, used again and took in another case. */
	desk_put(MR_WORK_LOG, MERGED("1", "c2", "c3") MERGED("2", "c1", "c2"));
	CHECK_STR(mr_work_merged_into(&desk.cx, desk.work, "c1"), "c2");
	desk_close(&desk);
}

/* By hand: a circle ends, and what cannot be read leads nowhere and is no failure. */
static void damaged(void)
{
	struct desk desk;

	desk_open(&desk);
	desk_put(MR_WORK_LOG, MERGED("1", "c1", "c2") MERGED("2", "c2", "c1"));
	CHECK(mr_work_merged_into(&desk.cx, desk.work, "c1"));
	desk_put(MR_WORK_LOG, "{\"c1\n");
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	desk_put(MR_WORK_LOG, MERGED("1", "c1", ""));
	CHECK(!mr_work_merged_into(&desk.cx, desk.work, "c1"));
	CHECK_STR(desk.cx.err.msg, "");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(chains), TEST(damaged) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
