/* tests/unit/data/test_history_list.c - what people look at: directories, changes, comparisons. */
#include "data/history.h"

#include "base/buf.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct mr_arena *arena;
static struct mr_err err;

static void free_arena(void)
{
	mr_arena_free(arena);
}

static struct mr_history *make(void)
{
	struct mr_history_options options = { .mode = MR_HISTORY_CREATE };
	struct mr_history *history;

	arena = mr_arena_new();
	atexit(free_arena);
	CHECK_OK(mr_history_open(mr_arena_printf(arena, "%s/a", test_dir()), &options,
			 mr_clock_system(), &history, &err),
		err);
	return history;
}

static const char *put(struct mr_history *history, const struct mr_history_file *files,
	size_t count)
{
	struct mr_history_batch batch = { .files = files,
		.file_count = count,
		.message = "mail: a batch" };
	struct mr_history_appended appended;

	CHECK_OK(mr_history_append(history, &batch, &appended, &err), err);
	return mr_arena_strdup(arena, appended.id.hex);
}

#define FILE_OF(its_path, text)                                                                    \
	{                                                                                          \
		.path = (its_path), .data = {(const uint8_t *)(text), strlen(text) }               \
	}

static const char *names(struct mr_history *history, const char *commit, const char *path)
{
	struct mr_history_items items;
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = mr_history_list(arena, history, commit, path, &items, &err);

	if (rc)
		return rc == MR_ENOTFOUND ? "not found" : rc == MR_EINVAL ? "invalid" : "failed";
	mr_buf_init(&text, 1000);
	for (size_t i = 0; i < items.len; i++)
		mr_buf_printf(&text, "%s%s ", items.items[i].name,
			items.items[i].is_dir ? "/" : "");
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

static void lists_directories(void)
{
	const struct mr_history_file first[] = { FILE_OF("d/x", "1"), FILE_OF("d/e/y", "2"),
		FILE_OF("z", "3") };
	const struct mr_history_file more[] = { FILE_OF("d/new", "4") };
	struct mr_history *history = make();
	const char *old;

	CHECK_STR(names(history, NULL, ""), "not found");
	old = put(history, first, MR_LEN(first));
	put(history, more, MR_LEN(more));
	CHECK_STR(names(history, NULL, ""), "d/ z ");
	CHECK_STR(names(history, NULL, "d"), "e/ new x ");
	CHECK_STR(names(history, old, "d"), "e/ x ");
	CHECK_STR(names(history, mr_arena_strndup(arena, old, 7), "d"), "e/ x ");
	CHECK_STR(names(history, "HEAD", "d/e"), "y ");
	CHECK_STR(names(history, NULL, "nix"), "not found");
	CHECK_STR(names(history, NULL, "d/nix/x"), "not found");
	CHECK_STR(names(history, NULL, "d/x"), "invalid");
	CHECK_STR(names(history, NULL, "d/x/y"), "invalid");
	CHECK_STR(names(history, NULL, "../d"), "invalid");
	CHECK_STR(names(history, NULL, "d/"), "invalid");
	CHECK_STR(names(history, "0123456789", "d"), "not found");
	CHECK_STR(names(history, "012345", "d"), "invalid");
	CHECK_STR(err.msg, "\"012345\" is no commit id: 7 to 40 hex digits are needed");
	mr_history_close(history);
}

static void tells_what_a_commit_changed(void)
{
	const struct mr_history_file first[] = { FILE_OF("a", "1"), FILE_OF("b", "2") };
	const struct mr_history_file second[] = { FILE_OF("b", "3"), FILE_OF("c/d", "4"),
		{ .path = "a", .remove = true } };
	struct mr_history *history = make();
	struct mr_history_changes changes;
	const char *before = put(history, first, MR_LEN(first));
	const char *after = put(history, second, MR_LEN(second));

	CHECK_OK(mr_history_changes(arena, history, before, 10, &changes, &err), err);
	CHECK_INT(changes.total, 2);
	CHECK_STR(changes.before.hex, "");
	CHECK_STR(changes.items[0].path, "a");
	CHECK_STR(changes.items[0].before.hex, "");
	CHECK_STR(changes.entry.subject, "mail: a batch");
	CHECK_OK(mr_history_changes(arena, history, after, 2, &changes, &err), err);
	CHECK_STR(changes.before.hex, before);
	CHECK_INT(changes.total, 3);
	CHECK_INT(changes.len, 2);
	CHECK_STR(changes.items[0].path, "a");
	CHECK_STR(changes.items[0].after.hex, "");
	CHECK_STR(changes.items[1].path, "b");
	CHECK_STR(changes.items[1].before.hex, mr_history_blob_id(mr_bytes_text("2")).hex);
	CHECK_STR(changes.items[1].after.hex, mr_history_blob_id(mr_bytes_text("3")).hex);
	CHECK_INT(mr_history_changes(arena, history, "nix", 2, &changes, &err), MR_EINVAL);
	mr_history_close(history);
}

static enum mr_code add_line(void *arg, enum mr_history_line_kind kind, int before, int after,
	struct mr_bytes text, struct mr_err *ignored)
{
	(void)ignored;
	mr_buf_printf(arg, "%c%d,%d %.*s;", (char)kind, before, after, (int)text.len,
		(const char *)text.data);
	return MR_OK;
}

static const char *compared(struct mr_bytes before, struct mr_bytes after)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 10000);
	CHECK_OK(mr_history_compare(before, after, add_line, &text, &err), err);
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

static void compares_by_lines(void)
{
	struct mr_history *history = make();

	CHECK_STR(compared(mr_bytes_text(""), mr_bytes_text("a\nb")), "@0,1 ;+-1,1 a\n;+-1,2 b;");
	CHECK_STR(compared(mr_bytes_text("a\nb\n"), mr_bytes_text("")),
		"@1,0 ;-1,-1 a\n;-2,-1 b\n;");
	CHECK_STR(compared(mr_bytes_text("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
			  mr_bytes_text("1\n2\n3\n4\n5\n6\n7\n8\nx\n")),
		"@6,6 ; 6,6 6\n; 7,7 7\n; 8,8 8\n;-9,-1 9\n;+-1,9 x\n;");
	CHECK_STR(compared(mr_bytes_text("same"), mr_bytes_text("same")), "");
	CHECK_STR(compared(mr_bytes_of("a\0b", 3), mr_bytes_text("x")), "");
	mr_history_close(history);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(lists_directories),
		TEST(tells_what_a_commit_changed),
		TEST(compares_by_lines),
	};

	return test_main(tests, MR_LEN(tests));
}
