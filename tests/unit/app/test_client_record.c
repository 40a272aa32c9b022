/* tests/unit/app/test_client_record.c */
#include "app/client_record.h"

#include "base/fs.h"
#include "test.h"

#include <string.h>
#include <unistd.h>

static struct mr_client_record read_back(struct mr_arena *arena, const char *path)
{
	struct mr_client_record record;
	struct mr_err err;

	CHECK_OK(mr_client_record_read(arena, test_dir(), path, &record, &err), err);
	return record;
}

static void is_text(struct mr_bytes bytes, const char *text)
{
	CHECK_INT(bytes.len, strlen(text));
	CHECK(memcmp(bytes.data, text, bytes.len) == 0);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	CHECK(stat(path, &st) == 0);
	return st.st_mode & 0777;
}

static void a_record_is_read_as_it_was_written(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_client_record record = read_back(arena, "/p/.mcp.json");
	struct mr_err err;

	CHECK(!record.is_there && !mr_client_record_backup(arena, &record));
	umask(077);
	record.existed = true;
	record.mode = 0664;
	record.before = mr_bytes_of("a\0\xff", 3);
	record.after = mr_bytes_text("b");
	CHECK_OK(mr_client_record_write(arena, "/p/.mcp.json", &record, &err), err);
	CHECK(!read_back(arena, "/p/other").is_there);
	record = read_back(arena, "/p/.mcp.json");
	CHECK(record.is_there && record.existed && !record.made_directory);
	CHECK_INT(record.mode, 0664);
	CHECK(record.before.len == 3 && memcmp(record.before.data, "a\0\xff", 3) == 0);
	is_text(record.after, "b");
	CHECK_INT(mode_of(record.folder), 0700);
	CHECK(mr_fs_exists(AT_FDCWD, mr_client_record_backup(arena, &record)));
	/* A newer one takes its place, in every point. */
	record.existed = false;
	record.made_directory = true;
	record.after = mr_bytes_text("c");
	CHECK_OK(mr_client_record_write(arena, "/p/.mcp.json", &record, &err), err);
	record = read_back(arena, "/p/.mcp.json");
	CHECK(record.is_there && !record.existed && record.made_directory);
	is_text(record.before, "");
	is_text(record.after, "c");
	CHECK_OK(mr_client_record_drop(&record, &err), err);
	CHECK(!mr_fs_exists(AT_FDCWD, record.folder));
	CHECK(!read_back(arena, "/p/.mcp.json").is_there);
}

/* Stopped before its last step it is none. */
static void a_record_that_is_not_whole_is_none(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_client_record record = read_back(arena, "/p/x");
	struct mr_err err;

	record.existed = true;
	record.mode = 0600;
	record.before = record.after = mr_bytes_text("a");
	CHECK_OK(mr_client_record_write(arena, "/p/x", &record, &err), err);
	CHECK(unlink(mr_arena_printf(arena, "%s/after", record.folder)) == 0);
	CHECK(!read_back(arena, "/p/x").is_there);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_record_is_read_as_it_was_written),
		TEST(a_record_that_is_not_whole_is_none),
	};

	return test_main(tests, MR_LEN(tests));
}
