/* tests/unit/workspace/test_work_ids.c */
#include "desk.h"
#include "test.h"
#include "workspace/ids.h"

static const char *join(struct desk *desk, struct mr_texts ids)
{
	CHECK(!ids.items || !ids.items[ids.len]);
	return mr_str_join(desk->cx.arena, &ids, " ");
}

static struct mr_texts split(struct desk *desk, const char *text)
{
	return mr_str_split(desk->cx.arena, text, ' ');
}

static void checked(void)
{
	struct mr_texts given, ids = { 0 };
	struct desk desk;

	desk_open(&desk);
	given = split(&desk, "b a b c a");
	CHECK_OK(mr_work_ids_check(&desk.cx, &given, &ids), desk.cx.err);
	CHECK_STR(join(&desk, ids), "b a c");
	given = split(&desk, "");
	desk_check_fail(&desk, mr_work_ids_check(&desk.cx, &given, &ids), "invalid_request", NULL,
		NULL);
	CHECK_STR(desk.cx.err.msg, "no message id was given");
	given = split(&desk, "a ..");
	desk_check_fail(&desk, mr_work_ids_check(&desk.cx, &given, &ids), "invalid_request", NULL,
		NULL);
	CHECK_STR(join(&desk, ids), "b a c");
	desk_close(&desk);
}

static void sets(void)
{
	struct mr_texts a, b, none = { 0 };
	struct desk desk;

	desk_open(&desk);
	a = split(&desk, "d b b");
	b = split(&desk, "c b a");
	CHECK_STR(join(&desk, mr_work_ids_union(desk.cx.arena, &a, &b)), "a b c d");
	CHECK_STR(join(&desk, mr_work_ids_union(desk.cx.arena, &a, &none)), "b d");
	CHECK_STR(join(&desk, mr_work_ids_union(desk.cx.arena, &none, &none)), "");
	CHECK_STR(join(&desk, mr_work_ids_without(desk.cx.arena, &a, &b)), "d");
	CHECK_STR(join(&desk, mr_work_ids_without(desk.cx.arena, &a, &none)), "d b b");
	CHECK_STR(join(&desk, mr_work_ids_one(desk.cx.arena, "x")), "x");
	mr_work_ids_sort(&b);
	CHECK_STR(join(&desk, b), "a b c");
	desk_close(&desk);
}

int main(void)
{
	static const struct test all[] = { TEST(checked), TEST(sets) };

	return test_main(all, sizeof(all) / sizeof(*all));
}
