/* tests/unit/bridge/test_backup_file.c */
#include "bridge/backup_file.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

static struct mr_ctx enter(void)
{
	files_enter();
	return (struct mr_ctx){ .arena = mr_arena_new(), .clock = mr_clock_system() };
}

static void a_file_has_its_name_only_at_the_end(void)
{
	struct mr_ctx cx = enter();
	struct mr_backup_file file = MR_BACKUP_FILE_INIT;
	const struct mr_bytes bytes = { (const uint8_t *)"hello", 5 };

	CHECK_OK(mr_backup_file_begin(&cx, "b.tar", &file), cx.err);
	CHECK_OK(mr_backup_file_put_bytes(&cx, &file, "settings/mailroom.yaml", bytes), cx.err);
	CHECK(mr_fs_exists(AT_FDCWD, "b.tar.partial") && !mr_fs_exists(AT_FDCWD, "b.tar"));
	CHECK_OK(mr_backup_file_end(&cx, &file, NULL, 0), cx.err);
	mr_backup_file_close(&file);
	CHECK(!mr_fs_exists(AT_FDCWD, "b.tar.partial") && mr_fs_exists(AT_FDCWD, "b.tar"));
	mr_arena_free(cx.arena);
}

static void what_is_given_up_is_removed(void)
{
	struct mr_ctx cx = enter();
	struct mr_backup_file file = MR_BACKUP_FILE_INIT;

	CHECK_OK(mr_backup_file_begin(&cx, "b.tar", &file), cx.err);
	mr_backup_file_close(&file);
	CHECK_INT(files_count("."), 0);
	mr_arena_free(cx.arena);
}

static void one_at_a_time_and_never_over_another(void)
{
	struct mr_ctx cx = enter();
	struct mr_backup_file file = MR_BACKUP_FILE_INIT, other = MR_BACKUP_FILE_INIT;

	CHECK_OK(mr_backup_file_begin(&cx, "b.tar", &file), cx.err);
	CHECK_ERR(mr_backup_file_begin(&cx, "b.tar", &other), cx.err, MR_EBUSY,
		"another process is writing b.tar.partial");
	CHECK(mr_fs_exists(AT_FDCWD, "b.tar.partial"));
	mr_backup_file_close(&file);
	files_put("b.tar", "mine");
	CHECK_ERR(mr_backup_file_begin(&cx, "b.tar", &other), cx.err, MR_EEXISTS,
		"b.tar is there already: a backup never overwrites one; choose another name");
	files_hold("b.tar", "mine");
	mr_arena_free(cx.arena);
}

/* A file that grows is taken as long as it was, one that shrinks is told. */
static void a_file_that_changes_meanwhile(void)
{
	struct mr_ctx cx = enter();
	struct mr_backup_file file = MR_BACKUP_FILE_INIT;
	struct mr_backup_part part = { .name = "team" };
	struct mr_tar_entry entry = { .path = "team/x", .size = 3, .mode = 0600 };
	int fd MR_CLEANUP(mr_fs_closep) = -1;

	files_put("x", "longer");
	CHECK_OK(mr_backup_file_begin(&cx, "b.tar", &file), cx.err);
	fd = open("x", O_RDONLY);
	CHECK_OK(mr_backup_file_put(&cx, &file, &part, &entry, fd), cx.err);
	CHECK_INT(part.bytes, 3);
	entry.size = 7;
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	CHECK_ERR(mr_backup_file_put(&cx, &file, &part, &entry, fd), cx.err, MR_EBUSY,
		"team/x was made shorter while it was read; try again");
	mr_backup_file_close(&file);
	mr_arena_free(cx.arena);
}

static void odd_names_are_written_as_sha256sum_does(void)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, 1000);
	mr_backup_sum(&out, "00", "plain name");
	mr_backup_sum(&out, "00", "a\nb\\c\r");
	CHECK_STR(mr_buf_text(&out), "00  plain name\n\\00  a\\nb\\\\c\\r\n");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_file_has_its_name_only_at_the_end),
		TEST(what_is_given_up_is_removed),
		TEST(one_at_a_time_and_never_over_another),
		TEST(a_file_that_changes_meanwhile),
		TEST(odd_names_are_written_as_sha256sum_does),
	};

	return test_main(tests, MR_LEN(tests));
}
