/* tests/unit/workspace/test_work_frame.c */
#include "workspace/frame.h"

#include "data/followed.h"
#include "desk.h"
#include "files.h"
#include "test.h"
#include "workspace/layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_workspace_is_found_from_below(void)
{
	struct desk desk;
	const char *root = NULL;

	desk_open(&desk);
	desk_put("cases/open/x/notes.md", "");
	CHECK_OK(mr_work_find(&desk.cx, test_dir(), &root), desk.cx.err);
	CHECK_STR(root, test_dir());
	CHECK_OK(mr_work_find(&desk.cx,
			 mr_arena_printf(desk.cx.arena, "%s/cases/open/x", test_dir()), &root),
		desk.cx.err);
	CHECK_STR(root, test_dir());
	/* A file of that name is no workspace. */
	desk_put("sub/.afmail", "");
	CHECK_OK(mr_work_find(&desk.cx, mr_arena_printf(desk.cx.arena, "%s/sub", test_dir()),
			 &root),
		desk.cx.err);
	CHECK_STR(root, test_dir());
	desk_close(&desk);
}

static void no_workspace_is_told(void)
{
	struct mr_ctx cx = { .arena = mr_arena_new(), .clock = mr_clock_system() };
	struct mr_work *work = NULL;
	const char *root = NULL;

	CHECK_INT(mr_work_find(&cx, "/proc/self", &root), MR_ENOTFOUND);
	CHECK_STR(cx.err.word, "workspace_not_found");
	CHECK_STR(cx.err.msg, "neither /proc/self nor a directory above it has a workspace");
	CHECK_INT(mr_work_open(&cx, test_dir(), MR_WORK_READ, &work), MR_ENOTFOUND);
	CHECK_STR(cx.err.word, "workspace_not_found");
	CHECK_INT(mr_work_open(&cx, "/nowhere/at/all", MR_WORK_WRITE, &work), MR_ENOTFOUND);
	CHECK_STR(cx.err.word, "workspace_not_found");
	CHECK(!work);
	mr_arena_free(cx.arena);
}

/* What another command gets: "ok", or the word it fails with. */
static const char *try_open(struct desk *desk, enum mr_work_access access)
{
	struct mr_work *work MR_CLEANUP(mr_work_closep) = NULL;

	desk->cx.err = (struct mr_err){ 0 };
	if (mr_work_open(&desk->cx, test_dir(), access, &work) == MR_OK)
		return "ok";
	CHECK(mr_code_is_retryable(desk->cx.err.code));
	return desk->cx.err.word;
}

static void a_writer_is_alone(void)
{
	struct desk desk;
	size_t before;

	desk_open(&desk);
	before = files_open();
	CHECK_STR(try_open(&desk, MR_WORK_WRITE), "workspace_locked");
	CHECK_STR(try_open(&desk, MR_WORK_READ), "workspace_locked");
	CHECK_STR(try_open(&desk, MR_WORK_UNLOCKED), "ok");
	CHECK_INT(files_open(), before);
	mr_work_close(desk.work);
	CHECK_STR(try_open(&desk, MR_WORK_WRITE), "ok");
	CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_READ, &desk.work), desk.cx.err);
	CHECK_STR(try_open(&desk, MR_WORK_READ), "ok");
	CHECK_STR(try_open(&desk, MR_WORK_WRITE), "workspace_locked");
	desk_close(&desk);
}

/* Other programs lock the same file with flock(2). */
static void another_program_locks_the_same_way(void)
{
	struct desk desk;
	int lock;

	desk_open(&desk);
	mr_work_close(desk.work);
	lock = open(MR_WORK_LOCK, O_RDWR | O_CLOEXEC);
	CHECK(lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0);
	CHECK_STR(try_open(&desk, MR_WORK_READ), "ok");
	CHECK_STR(try_open(&desk, MR_WORK_WRITE), "workspace_locked");
	CHECK(flock(lock, LOCK_EX | LOCK_NB) == 0);
	CHECK_STR(try_open(&desk, MR_WORK_READ), "workspace_locked");
	close(lock);
	CHECK_STR(try_open(&desk, MR_WORK_WRITE), "ok");
	desk.work = NULL;
	desk_close(&desk);
}

static void a_reader_may_be_without_rights(void)
{
	struct desk desk;

	desk_open(&desk);
	mr_work_close(desk.work);
	desk.work = NULL;
	CHECK(chmod(".", 0755) == 0 && chmod(MR_WORK_STATE, 0555) == 0);
	CHECK(chmod(MR_WORK_LOCK, 0444) == 0);
	if (getuid() != 0 || files_become_nobody()) {
		CHECK_STR(try_open(&desk, MR_WORK_READ), "ok");
		desk.cx.err = (struct mr_err){ 0 };
		CHECK_INT(mr_work_open(&desk.cx, test_dir(), MR_WORK_WRITE, &desk.work), MR_EPERM);
		CHECK_STR(desk.cx.err.word, "store_error");
		files_become_root();
	}
	CHECK(chmod(MR_WORK_STATE, 0755) == 0);
	desk_close(&desk);
}

static void times_are_whole_seconds(void)
{
	struct desk desk;

	desk_open(&desk);
	mr_work_close(desk.work);
	desk.clock.now_us = DESK_NOW_US + 999999;
	CHECK_OK(mr_work_open(&desk.cx, test_dir(), MR_WORK_READ, &desk.work), desk.cx.err);
	CHECK_STR(desk.work->now, "2026-03-11T04:15:00Z");
	CHECK_INT(desk.work->now_us, DESK_NOW_US);
	desk_close(&desk);
}

static void files_are_read(void)
{
	struct desk desk;
	struct mr_bytes bytes = mr_bytes_text("x");
	const struct mr_value *value = NULL;
	struct mr_texts names = { 0 };

	desk_open(&desk);
	CHECK_OK(mr_work_read_opt(&desk.cx, desk.work, "none", &bytes), desk.cx.err);
	CHECK(!bytes.data);
	CHECK_OK(mr_work_read_json(&desk.cx, desk.work, "none", &value), desk.cx.err);
	CHECK(!value);
	desk_check_fail(&desk, mr_work_read(&desk.cx, desk.work, "none", &bytes), "store_error",
		NULL, NULL);
	desk_put("half.json", "{\"a\": [1,");
	desk_check_fail(&desk, mr_work_read_json(&desk.cx, desk.work, "half.json", &value),
		"store_error", NULL, NULL);
	CHECK(strstr(desk.cx.err.msg, "half.json: "));
	desk_put("whole.json", "{\"a\": 1}");
	CHECK_OK(mr_work_read_json(&desk.cx, desk.work, "whole.json", &value), desk.cx.err);
	CHECK_INT(mr_value_get(value, "a")->integer, 1);
	CHECK_OK(mr_work_list(&desk.cx, desk.work, "none", &names), desk.cx.err);
	CHECK_INT(names.len, 0);
	desk_put("dir/b", "");
	desk_put("dir/a", "");
	CHECK_OK(mr_work_list(&desk.cx, desk.work, "dir", &names), desk.cx.err);
	CHECK_STR(mr_str_join(desk.cx.arena, &names, " "), "a b");
	CHECK(mr_work_is_dir(desk.work, "dir") && !mr_work_is_dir(desk.work, "dir/a"));
	desk_close(&desk);
}

static void a_projection_is_written_when_it_differs(void)
{
	struct desk desk;
	bool done = true;

	desk_open(&desk);
	CHECK_OK(mr_work_project(&desk.cx, desk.work, "triage/x.md", mr_bytes_text("one"), &done),
		desk.cx.err);
	CHECK(done);
	CHECK_OK(mr_work_project(&desk.cx, desk.work, "triage/x.md", mr_bytes_text("one"), &done),
		desk.cx.err);
	CHECK(!done);
	CHECK_OK(mr_work_project(&desk.cx, desk.work, "triage/x.md", mr_bytes_text("two"), &done),
		desk.cx.err);
	CHECK(done);
	files_hold("triage/x.md", "two");
	CHECK_OK(mr_work_project(&desk.cx, desk.work, "triage/x.md", (struct mr_bytes){ 0 }, &done),
		desk.cx.err);
	CHECK(done);
	CHECK_OK(mr_work_project(&desk.cx, desk.work, "triage/x.md", (struct mr_bytes){ 0 }, &done),
		desk.cx.err);
	CHECK(!done);
	CHECK_OK(mr_work_unproject(&desk.cx, desk.work, "triage/x.md", &done), desk.cx.err);
	CHECK(done && !desk_has("triage/x.md"));
	CHECK_OK(mr_work_unproject(&desk.cx, desk.work, "triage/x.md", &done), desk.cx.err);
	CHECK(!done);
	CHECK_INT(files_count("triage"), 0);
	desk_close(&desk);
}

static void on_reads(void *arg, const char *path, bool is_database)
{
	CHECK(!is_database);
	mr_followed_add(arg, path, is_database);
}

/* Whoever follows the workspace is told when a writer ends or rests, and never by a reader. */
static void writers_tell_followers(void)
{
	struct desk desk;
	struct mr_followed *follow = NULL;
	struct mr_work *work = NULL;
	const char *root;

	desk_open(&desk);
	root = mr_arena_strdup(desk.cx.arena, desk.work->root);
	mr_work_closep(&desk.work);
	CHECK_OK(mr_followed_open(8, &follow, &desk.cx.err), desk.cx.err);
	desk.cx.reads = on_reads;
	desk.cx.reads_arg = follow;
	CHECK_OK(mr_work_open(&desk.cx, root, MR_WORK_READ, &work), desk.cx.err);
	mr_work_closep(&work);
	CHECK(!mr_followed_drain(follow));
	CHECK_OK(mr_work_open(&desk.cx, root, MR_WORK_WRITE, &work), desk.cx.err);
	CHECK(!mr_followed_drain(follow));
	mr_work_rest(work);
	CHECK(mr_followed_drain(follow));
	CHECK_OK(mr_work_resume(&desk.cx, work, NULL), desk.cx.err);
	CHECK(!mr_followed_drain(follow));
	mr_work_closep(&work);
	CHECK(mr_followed_drain(follow));
	mr_followed_close(&follow);
	desk_close(&desk);
}

static void documents_are_indented(void)
{
	struct desk desk;
	struct mr_out out;
	struct mr_bytes bytes;

	desk_open(&desk);
	mr_out_init_tree(&out, desk.cx.arena);
	mr_out_map(&out, NULL);
	mr_out_list(&out, "a");
	mr_out_end(&out);
	mr_out_text(&out, "b", "x");
	mr_out_end(&out);
	bytes = mr_work_pretty(&desk.cx, mr_out_tree(&out));
	CHECK_STR(mr_arena_strndup(desk.cx.arena, (const char *)bytes.data, bytes.len),
		"{\n  \"a\": [],\n  \"b\": \"x\"\n}\n");
	desk_close(&desk);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_workspace_is_found_from_below),
		TEST(no_workspace_is_told),
		TEST(a_writer_is_alone),
		TEST(another_program_locks_the_same_way),
		TEST(a_reader_may_be_without_rights),
		TEST(times_are_whole_seconds),
		TEST(files_are_read),
		TEST(a_projection_is_written_when_it_differs),
		TEST(writers_tell_followers),
		TEST(documents_are_indented),
	};

	return test_main(tests, MR_LEN(tests));
}
