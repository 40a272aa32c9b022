/* tests/unit/mailbox/test_mailbox_agent_unfinished.c */
#include "base/fs.h"
#include "files.h"
#include "mailbox/agent_unfinished.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "mailroom-"
#define MARK   "/mailroom-unfinished"

static struct mr_ctx context(struct mr_arena *arena)
{
	return (struct mr_ctx){ .arena = arena,
		.clock = mr_clock_system(),
		.rand = mr_rand_system() };
}

static void begin(struct mr_ctx *cx, const char *session, const char *record, int *fd)
{
	CHECK_OK(mr_mailbox_unfinished_begin(cx, session, record, fd), cx->err);
	files_put(mr_arena_printf(cx->arena, "%s/manifest.json", session), "{}");
}

static bool is_there(const char *path)
{
	return mr_fs_exists(AT_FDCWD, path);
}

static void leaves_what_is_being_made(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_ctx cx = context(arena);

	files_enter();
	begin(&cx, "all/mailroom-a-1", "records/1/record.json", &fd);
	mr_mailbox_unfinished_sweep(&cx, "all", PREFIX);
	CHECK(is_there("all/mailroom-a-1/manifest.json"));
	mr_mailbox_unfinished_end(&cx, "all/mailroom-a-1");
	mr_fs_closep(&fd);
	mr_mailbox_unfinished_sweep(&cx, "all", PREFIX);
	CHECK(is_there("all/mailroom-a-1/manifest.json"));
	CHECK(!is_there("all/mailroom-a-1" MARK));
}

static void removes_what_the_dead_left(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = context(arena);
	int fd = -1;

	files_enter();
	CHECK(mkdir("records", 0700) == 0 && mkdir("records/1", 0700) == 0);
	begin(&cx, "all/mailroom-a-1", "records/1/record.json", &fd);
	mr_fs_closep(&fd);
	/* Before its mark, while the mark was written, and while it was removed. */
	CHECK(mkdir("all/mailroom-a-2", 0700) == 0 && mkdir("all/mailroom-a-3", 0700) == 0);
	files_put("all/mailroom-a-3/.mailroom-unfinished.tmp-4194303-0123456789abcdef", "x");
	CHECK(mkdir("all/.mailroom-removed-mailroom-a-4", 0700) == 0);
	files_put("all/.mailroom-removed-mailroom-a-4/manifest.json", "{}");
	mr_mailbox_unfinished_sweep(&cx, "all", PREFIX);
	CHECK_INT(files_count("all"), 0);
	CHECK(!is_there("records/1"));
	mr_mailbox_unfinished_sweep(&cx, "nowhere", PREFIX);
}

static void keeps_what_is_an_agents(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = context(arena);
	int fd = -1;

	files_enter();
	CHECK(mkdir("records", 0700) == 0 && mkdir("records/1", 0700) == 0);
	/* Its process died after the record was written. */
	begin(&cx, "all/mailroom-a-1", "records/1/record.json", &fd);
	files_put("records/1/record.json", "{}");
	mr_fs_closep(&fd);
	/* Of another runtime. */
	CHECK(mkdir("all/theirs", 0700) == 0);
	mr_mailbox_unfinished_sweep(&cx, "all", PREFIX);
	CHECK(is_there("all/mailroom-a-1/manifest.json"));
	CHECK(!is_there("all/mailroom-a-1" MARK));
	CHECK(is_there("records/1/record.json"));
	CHECK(is_there("all/theirs"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(leaves_what_is_being_made),
		TEST(removes_what_the_dead_left),
		TEST(keeps_what_is_an_agents),
	};

	return test_main(tests, MR_LEN(tests));
}
