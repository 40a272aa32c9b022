/* tests/unit/bridge/test_restore.c - whole backups are tested in blackbox/backup_restore.py. */
#include "bridge/restore.h"

#include "base/fs.h"
#include "bridge/backup.h"
#include "files.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

/* A backup with settings alone. */
static struct mr_ctx enter(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new(), .clock = mr_clock_system() };
	struct mr_backup_sources sources = { .settings = { (const uint8_t *)"a: 1\n", 5 } };
	struct mr_backup_report report;

	files_enter();
	sources.settings_path = mr_arena_printf(cx.arena, "%s/deep/mine.yaml", test_dir());
	CHECK_OK(mr_backup_take(&cx, &sources, "b.tar", &report), cx.err);
	return cx;
}

static void a_check_writes_nothing(void)
{
	struct mr_ctx cx = enter();
	const struct mr_restore_request request = { .file = "b.tar", .check = true };
	struct mr_restored told;

	CHECK_OK(mr_restore(&cx, &request, &told), cx.err);
	CHECK_INT(told.len, 1);
	CHECK_INT(told.bytes, 5);
	CHECK_INT(files_count("."), 1);
	mr_arena_free(cx.arena);
}

static void it_goes_where_it_was_once(void)
{
	struct mr_ctx cx = enter();
	const struct mr_restore_request request = { .file = "b.tar" };
	struct mr_restored told;

	CHECK_OK(mr_restore(&cx, &request, &told), cx.err);
	files_hold("deep/mine.yaml", "a: 1\n");
	CHECK_INT(files_count("deep"), 1);
	files_put("deep/mine.yaml", "b: 2\n");
	CHECK_INT(mr_restore(&cx, &request, &told), MR_EEXISTS);
	files_hold("deep/mine.yaml", "b: 2\n");
	mr_arena_free(cx.arena);
}

static void what_a_killed_restore_left_is_removed(void)
{
	struct mr_ctx cx = enter();
	const struct mr_restore_request request = { .file = "b.tar" };
	struct mr_restored told;

	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "deep/mine.yaml.restoring", 0700, &cx.err), cx.err);
	files_put("deep/mine.yaml.restoring/mailroom.yaml", "half");
	CHECK_OK(mr_restore(&cx, &request, &told), cx.err);
	files_hold("deep/mine.yaml", "a: 1\n");
	CHECK_INT(files_count("deep"), 1);
	mr_arena_free(cx.arena);
}

static void every_byte_counts(void)
{
	struct mr_ctx cx = enter();
	const struct mr_restore_request request = { .file = "b.tar" };
	struct stat st;
	int fd MR_CLEANUP(mr_fs_closep) = open("b.tar", O_RDWR);

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	/* Up to the zeros at the end. */
	for (off_t at = 0; at < st.st_size - 1024; at += 7) {
		struct mr_restored told;
		char c, bad;

		CHECK_INT(pread(fd, &c, 1, at), 1);
		bad = (char)(c ^ 4);
		CHECK_INT(pwrite(fd, &bad, 1, at), 1);
		if (mr_restore(&cx, &request, &told) == MR_OK)
			test_fail(__FILE__, __LINE__, "byte %lld", (long long)at);
		CHECK_INT(files_count("."), 1);
		CHECK_INT(pwrite(fd, &c, 1, at), 1);
	}
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_check_writes_nothing),
		TEST(it_goes_where_it_was_once),
		TEST(what_a_killed_restore_left_is_removed),
		TEST(every_byte_counts),
	};

	return test_main(tests, MR_LEN(tests));
}
