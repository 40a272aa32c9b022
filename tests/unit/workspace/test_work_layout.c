/* tests/unit/workspace/test_work_layout.c */
#include "workspace/layout.h"

#include "test.h"

static void paths_are_those_of_the_contract(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_work_path_eml(arena, "m1"), ".afmail/messages/m1.eml");
	CHECK_STR(mr_work_path_remote(arena, "m1"), ".afmail/messages/m1.remote.json");
	CHECK_STR(mr_work_path_files(arena, "m1"), ".afmail/messages/m1.files");
	CHECK_STR(mr_work_path_record(arena, "m1"), "messages/m1.json");
	CHECK_STR(mr_work_path_triage(arena, "m1"), "triage/m1.md");
	CHECK_STR(mr_work_path_push(arena, "push_1"), ".afmail/push/push_1.json");
	CHECK_STR(mr_work_path_identity(arena, "me"), "identities/me.md");
	CHECK_STR(mr_work_dir_name(arena, "c20260521001", "A b/c"), "c20260521001-A-b-c");
	CHECK_STR(mr_work_join(arena, "a", "b"), "a/b");
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(paths_are_those_of_the_contract),
	};

	return test_main(tests, MR_LEN(tests));
}
