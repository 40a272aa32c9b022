/* tests/unit/mailbox/test_mailbox_freeze.c */
#include "mailbox/freeze.h"

#include "base/lock.h"
#include "files.h"
#include "mailbox/layout.h"
#include "mailbox/open.h"
#include "test.h"

static void nobody_else_gets_the_lock(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system(), .rand = mr_rand_system() };
	struct mr_mailbox_root root MR_CLEANUP(mr_mailbox_root_close) = MR_MAILBOX_ROOT_INIT;
	struct mr_mailbox_freeze *freeze MR_CLEANUP(mr_mailbox_freeze_endp) = NULL;

	files_enter();
	CHECK_OK(mr_mailbox_root_init(&cx, "root", &root), cx.err);
	CHECK_OK(mr_mailbox_freeze_begin(&cx, "root", &freeze), cx.err);
	CHECK_STR(mr_mailbox_freeze_root(freeze), root.path);
	CHECK_INT(mr_mailbox_freeze_private(freeze).len, 0);
	CHECK(mr_lock_is_held(root.dir, MR_MAILBOX_INDEX_GUARD));
	mr_mailbox_freeze_endp(&freeze);
	CHECK(!freeze && !mr_lock_is_held(root.dir, MR_MAILBOX_INDEX_GUARD));
}

static void a_root_must_be_there(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new(), .clock = mr_clock_system() };
	struct mr_mailbox_freeze *freeze = NULL;

	files_enter();
	CHECK_INT(mr_mailbox_freeze_begin(&cx, "root", &freeze), MR_ENOTFOUND);
	CHECK(!freeze);
	mr_arena_free(cx.arena);
}

static void lock_files_are_no_part_of_it(void)
{
	CHECK(mr_mailbox_freeze_has("locks"));
	CHECK(mr_mailbox_freeze_has("locks/addresses"));
	CHECK(!mr_mailbox_freeze_has("locks/addresses/a@x.lock"));
	CHECK(!mr_mailbox_freeze_has("locks/index.lock"));
	CHECK(mr_mailbox_freeze_has("messages/2026-03-11/x.md"));
	CHECK(mr_mailbox_freeze_has("index.sqlite"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(nobody_else_gets_the_lock),
		TEST(a_root_must_be_there),
		TEST(lock_files_are_no_part_of_it),
	};

	return test_main(tests, MR_LEN(tests));
}
