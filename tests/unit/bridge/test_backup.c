/* tests/unit/bridge/test_backup.c - whole backups are tested in blackbox/backup_restore.py. */
#include "bridge/backup.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"

static struct mr_ctx enter(void)
{
	files_enter();
	return (struct mr_ctx){ .arena = mr_arena_new(), .clock = mr_clock_system() };
}

static void nothing_at_all_is_an_error_and_leaves_no_file(void)
{
	struct mr_ctx cx = enter();
	const struct mr_backup_sources sources = { .storage_root = "data",
		.database = "data/storage.sqlite3" };
	struct mr_backup_report report;

	CHECK_INT(mr_backup_take(&cx, &sources, "b.tar", &report), MR_ENOTFOUND);
	CHECK_INT(files_count("."), 0);
	mr_arena_free(cx.arena);
}

static void a_part_is_counted(void)
{
	struct mr_ctx cx = enter();
	const struct mr_backup_sources sources = { .settings_path = "/h/mailroom.yaml",
		.settings = { (const uint8_t *)"a: 1\n", 5 } };
	struct mr_backup_report report;

	CHECK_OK(mr_backup_take(&cx, &sources, "b.tar", &report), cx.err);
	CHECK_INT(report.len, 1);
	CHECK_STR(report.parts[0].kind, "settings");
	CHECK_INT(report.files, 1);
	CHECK_INT(report.bytes, 5);
	mr_arena_free(cx.arena);
}

static void a_part_that_cannot_be_had_leaves_no_file(void)
{
	struct mr_ctx cx = enter();
	const char *names[] = { "gone" };
	const struct mr_backup_sources sources = { .mailboxes = { names, 1 } };
	struct mr_backup_report report;

	CHECK_INT(mr_backup_take(&cx, &sources, "b.tar", &report), MR_ENOTFOUND);
	CHECK_INT(files_count("."), 0);
	mr_arena_free(cx.arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(nothing_at_all_is_an_error_and_leaves_no_file),
		TEST(a_part_is_counted),
		TEST(a_part_that_cannot_be_had_leaves_no_file),
	};

	return test_main(tests, MR_LEN(tests));
}
