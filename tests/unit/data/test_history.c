/* tests/unit/data/test_history.c */
#include "data/history.h"

#include "base/buf.h"
#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/proc.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIME_S = 1700000000 };

/* Everything a test needs; memory lives until its process ends. */
static struct mr_arena *arena;
static struct mr_err err;

static void free_arena(void)
{
	mr_arena_free(arena);
}

static const char *at(const char *path)
{
	if (!arena) {
		arena = mr_arena_new();
		atexit(free_arena);
	}
	return mr_arena_printf(arena, "%s/%s", test_dir(), path);
}

static enum mr_code try_open(const char *name, enum mr_history_mode mode, struct mr_history **out)
{
	struct mr_history_options options = { .mode = mode, .lock_timeout_ms = 50 };

	return mr_history_open(at(name), &options, mr_clock_system(), out, &err);
}

static struct mr_history *make(const char *name)
{
	struct mr_history *history;

	CHECK_OK(try_open(name, MR_HISTORY_CREATE, &history), err);
	return history;
}

static enum mr_code append(struct mr_history *history, const struct mr_history_file *files,
	size_t count, struct mr_history_appended *out)
{
	struct mr_history_batch batch = { .files = files,
		.file_count = count,
		.message = "mail: a batch",
		.time_us = TIME_S * INT64_C(1000000) };

	return mr_history_append(history, &batch, out, &err);
}

static struct mr_history_file file(const char *path, const char *text)
{
	return (struct mr_history_file){ .path = path,
		.data = mr_bytes_text(text ? text : ""),
		.remove = !text };
}

/* One commit with one file, or without it when `text` is NULL. */
static struct mr_history_appended put(struct mr_history *history, const char *path,
	const char *text)
{
	struct mr_history_file one = file(path, text);
	struct mr_history_appended appended;

	CHECK_OK(append(history, &one, 1, &appended), err);
	return appended;
}

static enum mr_code try_put(struct mr_history *history, const char *path, const char *text)
{
	struct mr_history_file one = file(path, text);
	struct mr_history_appended appended;

	return append(history, &one, 1, &appended);
}

static const char *text_at(struct mr_history *history, const char *commit, const char *path)
{
	struct mr_bytes bytes;

	if (mr_history_read(arena, history, commit, path, 1 << 20, &bytes, &err))
		return NULL;
	return (const char *)bytes.data;
}

static const char *disk(const char *path)
{
	struct mr_bytes bytes;
	struct mr_err ignored;

	if (mr_fs_read(arena, AT_FDCWD, at(path), 1 << 20, &bytes, &ignored))
		return NULL;
	return (const char *)bytes.data;
}

static void overwrite(const char *path, const char *text)
{
	unlink(at(path));
	CHECK_OK(mr_fs_write(AT_FDCWD, at(path), mr_bytes_text(text), MR_FS_REPLACE, 0644, &err),
		err);
}

/* What `git -C name args` says; its exit status must be 0. */
static const char *git(const char *name, const char *args)
{
	static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent",
		"GIT_AUTHOR_NAME=A Person", "GIT_AUTHOR_EMAIL=p@example.org",
		"GIT_COMMITTER_NAME=A Person", "GIT_COMMITTER_EMAIL=p@example.org", NULL };
	const char *command = mr_arena_printf(arena, "git -C %s %s", at(name), args);
	struct mr_texts argv = mr_str_split(arena, command, ' ');
	struct mr_proc proc = { .argv = argv.items,
		.env = env,
		.timeout_ms = 60000,
		.max_output = 1 << 20 };
	struct mr_proc_result result;

	CHECK_OK(mr_proc_run(arena, &proc, &result, &err), err);
	if (result.exit_status != 0)
		test_fail(__FILE__, __LINE__, "%s: %s%s", command, (const char *)result.out.data,
			(const char *)result.err.data);
	return mr_str_trim(arena, (const char *)result.out.data);
}

static void check_fsck(const char *name)
{
	CHECK_STR(git(name, "fsck --strict --no-dangling --no-progress"), "");
}

/* Neither a lock nor a temporary file is left. */
static void check_clean(const char *name)
{
	struct mr_texts names;

	CHECK_OK(mr_fs_list(arena, AT_FDCWD, mr_arena_printf(arena, "%s/.git/mailroom", at(name)),
			 100, &names, &err),
		err);
	CHECK_STR(mr_str_join(arena, &names, " "), "lock state");
	CHECK(!mr_fs_exists(AT_FDCWD,
		mr_arena_printf(arena, "%s/.git/refs/heads/main.lock", at(name))));
	CHECK(!mr_fs_exists(AT_FDCWD, mr_arena_printf(arena, "%s/.git/index.lock", at(name))));
}

static size_t count_packs(const char *name)
{
	struct mr_texts names;

	CHECK_OK(mr_fs_list(arena, AT_FDCWD,
			 mr_arena_printf(arena, "%s/.git/objects/pack", at(name)), 1000, &names,
			 &err),
		err);
	return names.len / 2;
}

/* --- writing --- */

static void makes_a_repository_git_likes(void)
{
	struct mr_history *history = make("a");
	struct mr_history_appended appended =
		put(history, "agents/Fox/inbox/2026/01/one.md", "hello\n");

	CHECK(appended.committed);
	CHECK_STR(git("a", "rev-parse HEAD"), appended.id.hex);
	CHECK_STR(git("a", "log --format=%s|%an|%ae|%at"),
		"mail: a batch|mailroom|mailroom@localhost|1700000000");
	CHECK_STR(git("a", "symbolic-ref HEAD"), "refs/heads/main");
	CHECK_STR(git("a", "show HEAD:agents/Fox/inbox/2026/01/one.md"), "hello");
	CHECK_STR(disk("a/agents/Fox/inbox/2026/01/one.md"), "hello\n");
	CHECK_STR(text_at(history, NULL, "agents/Fox/inbox/2026/01/one.md"), "hello\n");
	check_fsck("a");
	check_clean("a");
	mr_history_close(history);
}

static void begins_with_the_initial_files(void)
{
	struct mr_history_file attributes = file(".gitattributes", "*.md text\n");
	struct mr_history_batch initial = { .files = &attributes,
		.file_count = 1,
		.message = "chore: initialize archive" };
	struct mr_history_options options = { .author_name = "Post Office",
		.author_email = "post@example.org",
		.initial = &initial };
	struct mr_history *first, *second;

	CHECK_OK(mr_history_open(at("a/b/c"), &options, mr_clock_system(), &first, &err), err);
	CHECK_OK(mr_history_open(at("a/b/c"), &options, mr_clock_system(), &second, &err), err);
	CHECK_STR(git("a/b/c", "log --format=%s|%an|%ae"),
		"chore: initialize archive|Post Office|post@example.org");
	mr_history_close(first);
	mr_history_close(second);
}

static void completes_what_was_half_made(void)
{
	struct mr_history *history = make("a");

	mr_history_close(history);
	CHECK(unlink(at("a/.git/HEAD")) == 0 && unlink(at("a/.git/config")) == 0);
	CHECK(rmdir(at("a/.git/refs/heads")) == 0);
	history = make("a");
	put(history, "x", "1");
	check_fsck("a");
	mr_history_close(history);
}

static void replaces_and_removes(void)
{
	struct mr_history *history = make("a");
	struct mr_history_file files[] = { file("d/e/f", "1"), file("d/e/g", "2"), file("x", "3"),
		file("x", "4") };
	struct mr_history_appended appended;

	CHECK_OK(append(history, files, MR_LEN(files), &appended), err);
	CHECK_STR(text_at(history, NULL, "x"), "4");
	put(history, "d/e/f", "one");
	CHECK_STR(disk("a/d/e/f"), "one");
	CHECK_STR(text_at(history, appended.id.hex, "d/e/f"), "1");
	put(history, "d/e/f", NULL);
	CHECK(!disk("a/d/e/f") && disk("a/d/e/g"));
	put(history, "d/e/g", NULL);
	CHECK(!mr_fs_exists(AT_FDCWD, at("a/d")));
	CHECK_STR(git("a", "ls-tree -r --name-only HEAD"), "x");
	put(history, "x", NULL);
	CHECK_STR(git("a", "ls-tree -r --name-only HEAD"), "");
	put(history, "x", "again");
	check_fsck("a");
	mr_history_close(history);
}

static void keeps_git_order(void)
{
	static const char *const paths[] = { "a-b", "a.c", "a/z", "ab", "a0/q", "a0b", "Z/1/2",
		"\303\244/\346\227\245\346\234\254.md", "a/y/x.md", "a/y-x" };
	struct mr_history *history = make("a");
	struct mr_history_file files[MR_LEN(paths)];
	struct mr_history_appended appended;

	for (size_t i = 0; i < MR_LEN(paths); i++)
		put(history, paths[i], paths[i]);
	check_fsck("a");
	for (size_t i = 0; i < MR_LEN(paths); i++)
		CHECK_STR(text_at(history, NULL, paths[i]), paths[i]);
	mr_history_close(history);

	/* All at once gives the same tree. */
	history = make("b");
	for (size_t i = 0; i < MR_LEN(paths); i++)
		files[i] = file(paths[i], paths[i]);
	CHECK_OK(append(history, files, MR_LEN(files), &appended), err);
	CHECK_STR(git("b", "rev-parse HEAD^{tree}"), git("a", "rev-parse HEAD^{tree}"));
	check_fsck("b");
	mr_history_close(history);
}

static void does_nothing_for_what_is_there(void)
{
	struct mr_history *history = make("a");
	struct mr_history_appended first, again;

	CHECK_OK(append(history, NULL, 0, &again), err);
	CHECK(!again.committed);
	CHECK_STR(again.id.hex, "");
	again = put(history, "nothing/there", NULL);
	CHECK(!again.committed);
	first = put(history, "x/y", "1");
	again = put(history, "x/y", "1");
	CHECK(first.committed && !again.committed);
	CHECK_STR(again.id.hex, first.id.hex);
	again = put(history, "x/y/z", NULL);
	CHECK(!again.committed);
	CHECK_OK(append(history, NULL, 0, &again), err);
	CHECK_STR(again.id.hex, first.id.hex);
	mr_history_close(history);
}

static void makes_empty_files(void)
{
	struct mr_history *history = make("a");

	put(history, "empty", "");
	CHECK_STR(disk("a/empty"), "");
	CHECK_STR(text_at(history, NULL, "empty"), "");
	check_fsck("a");
	mr_history_close(history);
}

static void writes_the_message(void)
{
	static const struct mr_history_trailer trailers[] = { { "Agent", "Green\nCastle" },
		{ "Thread", "" }, { "Message-Id", "msg_1" } };
	struct mr_history *history = make("a");
	struct mr_history_file one = file("x", "1");
	struct mr_history_batch batch = { .files = &one,
		.file_count = 1,
		.message = "\n mail: Fox -> Owl | hi \n\nSome body.\n\nMore: of it\n\n\n",
		.trailers = trailers,
		.trailer_count = MR_LEN(trailers) };
	struct mr_history_appended appended;

	CHECK_OK(mr_history_append(history, &batch, &appended, &err), err);
	CHECK_STR(git("a", "log --format=%B"),
		"mail: Fox -> Owl | hi \n\nSome body.\n\nMore: of it\n\n"
		"Agent: Green Castle\nThread: \nMessage-Id: msg_1");
	CHECK_STR(git("a", "log --format=%(trailers:key=Agent,valueonly)"), "Green Castle");
	mr_history_close(history);
}

/* --- what is refused --- */

static void knows_good_paths(void)
{
	static const char *const good[] = { "a", ".gitattributes", ".gitignore", "a/.gitkeep",
		"git", "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p", "...", ".a", "a b/c d", "-x", "git~2",
		".gitx", ".git.md", "\303\274.md", "x.git" };

	for (size_t i = 0; i < MR_LEN(good); i++)
		CHECK_OK(mr_history_check_path(good[i], &err), err);
}

static void knows_bad_paths(void)
{
	static const struct {
		const char *path, *why;
	} bad[] = {
		{ "", "\"\": a path has no empty parts, and no '/' at its ends" },
		{ "/a", "\"/a\": a path has no empty parts, and no '/' at its ends" },
		{ "a/", "\"a/\": a path has no empty parts, and no '/' at its ends" },
		{ "a//b", "\"a//b\": a path has no empty parts, and no '/' at its ends" },
		{ ".", "\".\": \".\" is not allowed in a path" },
		{ "a/../b", "\"a/../b\": \"..\" is not allowed in a path" },
		{ "a/./b", "\"a/./b\": \".\" is not allowed in a path" },
		{ ".git/config", "\".git/config\": the name \".git\" belongs to git" },
		{ "a/.GIT", "\"a/.GIT\": the name \".GIT\" belongs to git" },
		{ ".git. .", "\".git. .\": the name \".git. .\" belongs to git" },
		{ ".git::$INDEX", "\".git::$INDEX\": the name \".git::$INDEX\" belongs to git" },
		{ "GIT~1", "\"GIT~1\": the name \"GIT~1\" belongs to git" },
		{ ".gitmodules", "\".gitmodules\": the name \".gitmodules\" belongs to git" },
		{ ".g\342\200\214it/x",
			"\".g\342\200\214it/x\": the name \".g\342\200\214it\" belongs to git" },
		{ "a\nb", "a path has a control character or backslash at byte 1" },
		{ "a\\b", "a path has a control character or backslash at byte 1" },
		{ "a\177", "a path has a control character or backslash at byte 1" },
		{ "a\377", "a path is not UTF-8" },
		{ "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q",
			"\"a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q\" has more than 16 parts" },
	};
	struct mr_history *history = make("a");
	char longer[MR_HISTORY_PATH_BYTES + 2];

	for (size_t i = 0; i < MR_LEN(bad); i++) {
		CHECK_INT(try_put(history, bad[i].path, "x"), MR_EINVAL);
		CHECK_STR(err.msg, bad[i].why);
	}
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK_INT(try_put(history, longer, "x"), MR_EINVAL);
	CHECK_STR(err.msg, "a path is longer than 1024 bytes");
	longer[256] = '\0';
	CHECK_INT(try_put(history, longer, "x"), MR_EINVAL);
	CHECK_STR(err.msg, "a part of the path is longer than 255 bytes");
	longer[255] = '\0';
	put(history, longer, "x");
	CHECK_STR(git("a", "rev-list --count HEAD"), "1");
	mr_history_close(history);
}

static void refuses(struct mr_history *history, struct mr_history_batch batch, enum mr_code code,
	const char *why)
{
	struct mr_history_appended appended = { .committed = true };

	CHECK_INT(mr_history_append(history, &batch, &appended, &err), code);
	CHECK_STR(err.msg, why);
	CHECK(appended.committed);
}

static void refuses_bad_batches(void)
{
	static const struct mr_history_trailer bad_key = { "Bad key", "x" },
					       bad_value = { "Key", "\377" };
	static struct mr_history_trailer many[MR_HISTORY_TRAILERS + 1];
	static struct mr_history_file files[MR_HISTORY_FILES + 1];
	struct mr_history_file big = { .path = "big",
		.data = mr_bytes_of("", (size_t)MR_HISTORY_FILE_BYTES + 1) };
	char *longer = mr_arena_alloc((at(""), arena), MR_HISTORY_MESSAGE_BYTES + 2);
	struct mr_history *history = make("a");

	memset(longer, 'x', MR_HISTORY_MESSAGE_BYTES + 1);
	refuses(history, (struct mr_history_batch){ .message = "" }, MR_EINVAL,
		"a commit needs a message");
	refuses(history, (struct mr_history_batch){ .message = " \n\n" }, MR_EINVAL,
		"a commit needs a message");
	refuses(history, (struct mr_history_batch){ .message = "\377" }, MR_EINVAL,
		"the message is not UTF-8");
	refuses(history, (struct mr_history_batch){ .message = "m", .time_us = -1 }, MR_EINVAL,
		"a commit cannot be older than 1970");
	refuses(history,
		(struct mr_history_batch){ .message = "m",
			.trailers = &bad_key,
			.trailer_count = 1 },
		MR_EINVAL, "\"Bad key\" cannot be a trailer's name: letters, digits and '-' only");
	refuses(history,
		(struct mr_history_batch){ .message = "m",
			.trailers = &bad_value,
			.trailer_count = 1 },
		MR_EINVAL, "trailer Key is not UTF-8");
	refuses(history,
		(struct mr_history_batch){ .message = "m",
			.trailers = many,
			.trailer_count = MR_LEN(many) },
		MR_ELIMIT, "a commit has more than 64 trailers");
	refuses(history,
		(struct mr_history_batch){ .message = "m",
			.files = files,
			.file_count = MR_LEN(files) },
		MR_ELIMIT, "a batch has 16385 files, more than 16384");
	refuses(history,
		(struct mr_history_batch){ .message = "m", .files = &big, .file_count = 1 },
		MR_ELIMIT, "big has 67108865 bytes, more than 67108864");
	CHECK_INT(mr_history_append(history, &(struct mr_history_batch){ .message = longer },
			  &(struct mr_history_appended){ 0 }, &err),
		MR_ELIMIT);
	mr_history_close(history);
}

static void refuses_files_that_are_directories(void)
{
	struct mr_history *history = make("a");
	struct mr_history_file both[] = { file("q", "1"), file("q/r", "2") };
	struct mr_history_file swap[] = { file("d/f", NULL), file("d/f/g", "now a directory") };
	struct mr_history_appended appended;

	put(history, "d/f", "1");
	CHECK_INT(try_put(history, "d", "x"), MR_ECONFLICT);
	CHECK_STR(err.msg, mr_arena_printf(arena, "d in archive %s is a directory", at("a")));
	CHECK_INT(try_put(history, "d", NULL), MR_ECONFLICT);
	CHECK_INT(try_put(history, "d/f/g", "x"), MR_ECONFLICT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena, "d/f in archive %s is a file, not a directory", at("a")));
	CHECK_INT(append(history, both, MR_LEN(both), &appended), MR_ECONFLICT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena, "q in archive %s is to be both a file and a directory",
			at("a")));
	CHECK_STR(git("a", "rev-list --count HEAD"), "1");
	CHECK_OK(append(history, swap, MR_LEN(swap), &appended), err);
	CHECK_STR(disk("a/d/f/g"), "now a directory");
	check_fsck("a");
	mr_history_close(history);
}

static void says_why_it_cannot_open(void)
{
	static const struct {
		const char *name, *email, *why;
	} authors[] = {
		{ "", NULL, "\"\" cannot be an author's name" },
		{ "a<b", NULL, "\"a<b\" cannot be an author's name" },
		{ "a", "x y", "\"x y\" cannot be an author's address" },
		{ "a", "x\n", "\"x\n\" cannot be an author's address" },
	};
	struct mr_history *history = NULL;

	CHECK_INT(try_open("none", MR_HISTORY_WRITE, &history), MR_ENOTFOUND);
	CHECK(mkdir(at("empty"), 0755) == 0);
	CHECK_INT(try_open("empty", MR_HISTORY_READ, &history), MR_ENOTFOUND);
	CHECK_STR(err.msg, mr_arena_printf(arena, "there is no archive at %s", at("empty")));
	overwrite("empty/.git", "gitdir: elsewhere\n");
	CHECK_INT(try_open("empty", MR_HISTORY_CREATE, &history), MR_ECONFLICT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena,
			"%s/.git is not a directory: the work tree of another repository",
			at("empty")));
	mr_history_close(make("bare"));
	git("bare", "config core.bare true");
	CHECK_INT(try_open("bare", MR_HISTORY_WRITE, &history), MR_ECONFLICT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena,
			"%s holds a bare repository, which has no work tree to write files to",
			at("bare")));
	for (size_t i = 0; i < MR_LEN(authors); i++) {
		struct mr_history_options options = { .author_name = authors[i].name,
			.author_email = authors[i].email };

		CHECK_INT(mr_history_open(at("x"), &options, mr_clock_system(), &history, &err),
			MR_EINVAL);
		CHECK_STR(err.msg, authors[i].why);
	}
	CHECK(!history);
}

static void reads_without_writing(void)
{
	struct mr_history *writer = make("a"), *reader;
	struct mr_history_id head;

	CHECK_OK(try_open("a", MR_HISTORY_READ, &reader), err);
	CHECK_INT(mr_history_head(reader, &head, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, mr_arena_printf(arena, "archive %s has no commits yet", at("a")));
	put(writer, "x", "1");
	CHECK_STR(text_at(reader, NULL, "x"), "1");
	CHECK_INT(try_put(reader, "x", "2"), MR_EPERM);
	CHECK_STR(err.msg,
		mr_arena_printf(arena, "archive %s was opened for reading only", at("a")));
	CHECK_INT(mr_history_tidy(reader, &err), MR_EPERM);
	CHECK_INT(mr_history_sync_index(reader, &err), MR_EPERM);
	mr_history_close(reader);
	mr_history_close(writer);
}

/* --- reading --- */

static void reads_files_of_old_commits(void)
{
	struct mr_history *history = make("a");
	struct mr_history_appended first = put(history, "d/x", "one");
	struct mr_history_appended second = put(history, "d/x", "two");
	struct mr_bytes bytes = { .len = 77 };
	const char *id = "0123456789012345678901234567890123456789";

	CHECK_STR(text_at(history, first.id.hex, "d/x"), "one");
	CHECK_STR(text_at(history, second.id.hex, "d/x"), "two");
	CHECK_STR(text_at(history, "HEAD", "d/x"), "two");
	CHECK_INT(mr_history_read(arena, history, NULL, "d/y", 9, &bytes, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, mr_arena_printf(arena, "archive %s has no d/y in commit HEAD", at("a")));
	CHECK_INT(mr_history_read(arena, history, NULL, "d/x/y", 9, &bytes, &err), MR_ENOTFOUND);
	CHECK_INT(mr_history_read(arena, history, NULL, "d", 9, &bytes, &err), MR_EINVAL);
	CHECK_STR(err.msg, mr_arena_printf(arena, "d in archive %s is a directory", at("a")));
	CHECK_INT(mr_history_read(arena, history, NULL, "../x", 9, &bytes, &err), MR_EINVAL);
	CHECK_INT(mr_history_read(arena, history, NULL, "d/x", 2, &bytes, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "d/x has 3 bytes, more than 2");
	CHECK_INT(mr_history_read(arena, history, "main~1", "d/x", 9, &bytes, &err), MR_EINVAL);
	CHECK_STR(err.msg, "\"main~1\" is no commit id: 7 to 40 hex digits are needed");
	CHECK_INT(mr_history_read(arena, history, id, "d/x", 9, &bytes, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, mr_arena_printf(arena, "archive %s has no commit %s", at("a"), id));
	id = git("a", "rev-parse HEAD:d/x");
	CHECK_INT(mr_history_read(arena, history, id, "d/x", 9, &bytes, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, mr_arena_printf(arena, "%s in archive %s is not a commit", id, at("a")));
	CHECK_INT(bytes.len, 77);
	mr_history_close(history);
}

static const char *subjects(struct mr_history *history, struct mr_history_query query,
	struct mr_history_log *out)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, 4096);
	CHECK_OK(mr_history_log(arena, history, &query, out, &err), err);
	for (size_t i = 0; i < out->len; i++)
		mr_buf_printf(&text, "%s%s", i ? " " : "", out->items[i].subject);
	return mr_arena_strdup(arena, mr_buf_text(&text));
}

static void say(struct mr_history *history, const char *message, const char *path, const char *text)
{
	struct mr_history_file one = file(path, text);
	struct mr_history_batch batch = { .files = &one, .file_count = 1, .message = message };
	struct mr_history_appended appended;

	CHECK_OK(mr_history_append(history, &batch, &appended, &err), err);
	CHECK(appended.committed);
}

static void logs_a_path(void)
{
	struct mr_history *history = make("a");
	struct mr_history_log log;

	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9 }, &log), "");
	CHECK_STR(log.next.hex, "");
	say(history, "c1", "d/e/x", "1");
	say(history, "c2", "d/e/y", "1");
	say(history, "c3", "d/e/x", "2");
	say(history, "c4", "z", "1");
	say(history, "c5", "d/e/x", NULL);
	say(history, "c6", "d/q", "1");
	say(history, "c7", "d/e/x", "2");
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9 }, &log),
		"c7 c6 c5 c4 c3 c2 c1");
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9, .path = "d/e/x" }, &log),
		"c7 c5 c3 c1");
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9, .path = "d/e" }, &log),
		"c7 c5 c3 c2 c1");
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9, .path = "d/e/x/y" },
			  &log),
		"");
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9, .path = "none" }, &log),
		"");

	/* In pages, by number found and by number looked at. */
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 2, .path = "d/e/x" }, &log),
		"c7 c5");
	CHECK_STR(subjects(history,
			  (struct mr_history_query){ .limit = 2,
				  .path = "d/e/x",
				  .start = log.next.hex },
			  &log),
		"c3 c1");
	CHECK_STR(log.next.hex, "");
	CHECK_STR(subjects(history,
			  (struct mr_history_query){ .limit = 9, .path = "d/e/x", .max_scan = 4 },
			  &log),
		"c7 c5");
	CHECK_STR(subjects(history, (struct mr_history_query){ .limit = 9, .start = log.next.hex },
			  &log),
		"c3 c2 c1");
	mr_history_close(history);
}

static void log_refuses(struct mr_history *history, struct mr_history_query query, const char *why)
{
	struct mr_history_log log;

	CHECK_INT(mr_history_log(arena, history, &query, &log, &err), MR_EINVAL);
	CHECK_STR(err.msg, why);
}

static void refuses_bad_queries(void)
{
	struct mr_history *history = make("a");

	log_refuses(history, (struct mr_history_query){ .limit = 0 },
		"a log has 1 to 1000 entries");
	log_refuses(history, (struct mr_history_query){ .limit = 1001 },
		"a log has 1 to 1000 entries");
	log_refuses(history, (struct mr_history_query){ .limit = 1, .max_scan = 100001 },
		"a log looks at no more than 100000 commits");
	log_refuses(history, (struct mr_history_query){ .limit = 1, .path = "." },
		"\".\": \".\" is not allowed in a path");
	log_refuses(history, (struct mr_history_query){ .limit = 1, .start = "x" },
		"\"x\" is no commit id: 7 to 40 hex digits are needed");
	mr_history_close(history);
}

static void parses_messages(void)
{
	static const struct mr_history_trailer trailers[] = { { "Agent", "Fox" },
		{ "Tool", "send" } };
	struct mr_history *history = make("a");
	struct mr_history_file one = file("x", "1");
	struct mr_history_batch batch = { .files = &one,
		.file_count = 1,
		.message = "subject\n\nbody: one\n\nNot: trailers\n  indeed",
		.trailers = trailers,
		.trailer_count = 2,
		.time_us = INT64_C(1234567890123456) };
	struct mr_history_appended appended;
	struct mr_history_query query = { .limit = 1 };
	struct mr_history_log log;

	CHECK_OK(mr_history_append(history, &batch, &appended, &err), err);
	CHECK_OK(mr_history_log(arena, history, &query, &log, &err), err);
	CHECK_STR(log.items[0].id.hex, appended.id.hex);
	CHECK_STR(log.items[0].subject, "subject");
	CHECK_STR(log.items[0].body, "body: one\n\nNot: trailers\n  indeed");
	CHECK_STR(mr_history_trailer(&log.items[0], "agent"), "Fox");
	CHECK_STR(mr_history_trailer(&log.items[0], "Tool"), "send");
	CHECK_STR(mr_history_trailer(&log.items[0], "Not"), NULL);
	CHECK_STR(log.items[0].author_name, "mailroom");
	CHECK_STR(log.items[0].author_email, "mailroom@localhost");
	CHECK_INT(log.items[0].time_us, INT64_C(1234567890000000));

	/* Without a body, and by another's hand in bytes that are no UTF-8. */
	say(history, "only", "y", "1");
	git("a", "-c user.name=\377\376X commit-tree -m bad\377name HEAD^{tree}");
	CHECK_OK(mr_history_log(arena, history, &query, &log, &err), err);
	CHECK_STR(log.items[0].body, "");
	CHECK_INT(log.items[0].trailer_count, 0);
	query.start =
		git("a", "-c i18n.commitEncoding=latin1 commit-tree -m bad\377name HEAD^{tree}");
	CHECK_OK(mr_history_log(arena, history, &query, &log, &err), err);
	CHECK_STR(log.items[0].subject, "bad\357\277\275name");
	CHECK_STR(log.items[0].author_name, "A Person");
	mr_history_close(history);
}

/* --- others --- */

static void works_with_a_second_handle(void)
{
	struct mr_history *one = make("a"), *two = make("a");
	char path[32];

	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "d%d/f%d", i % 3, i);
		CHECK(put(i % 2 ? one : two, path, path).committed);
	}
	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "d%d/f%d", i % 3, i);
		CHECK_STR(text_at(i % 2 ? two : one, NULL, path), path);
	}
	CHECK_STR(git("a", "rev-list --count HEAD"), "40");
	check_fsck("a");
	check_clean("a");
	mr_history_close(one);
	mr_history_close(two);
}

static void merges_packs(void)
{
	struct mr_history *history = make("a"), *reader;
	struct mr_history_appended appended[150];
	size_t most = 0;
	char path[64], text[32];

	CHECK_OK(try_open("a", MR_HISTORY_READ, &reader), err);
	for (int i = 0; i < 150; i++) {
		size_t packs;

		snprintf(path, sizeof(path), "messages/2026/0%d/a-rather-long-name-%03d.md",
			1 + i % 2, i);
		snprintf(text, sizeof(text), "message %d", i);
		appended[i] = put(history, path, text);
		/* Going back to an earlier state must not tie deltas into a circle. */
		if (i % 10 == 0) {
			put(history, "flip", i % 20 ? "1" : "2");
			put(history, "dir/flip", i % 20 ? "1" : "2");
		}
		CHECK_STR(text_at(reader, NULL, path), text);
		packs = count_packs("a");
		most = packs > most ? packs : most;
	}
	CHECK(most < 2 * MR_HISTORY_PACKS);
	CHECK(most >= MR_HISTORY_PACKS - 1);
	check_fsck("a");
	CHECK(strstr(git("a", "count-objects -v"), "count: 0\n"));
	CHECK(strstr(git("a", "count-objects -v"), "garbage: 0\n"));
	CHECK_OK(mr_history_tidy(history, &err), err);
	CHECK_INT(count_packs("a"), 1);
	check_fsck("a");
	for (int i = 0; i < 150; i++) {
		snprintf(path, sizeof(path), "messages/2026/0%d/a-rather-long-name-%03d.md",
			1 + i % 2, i);
		snprintf(text, sizeof(text), "message %d", i);
		CHECK_STR(text_at(reader, appended[i].id.hex, path), text);
	}
	/* A hundred and fifty times the growing directory, whole, would be far more. */
	CHECK(atoi(strstr(git("a", "count-objects -v"), "size-pack: ") + 11) < 200);
	check_clean("a");
	mr_history_close(reader);
	mr_history_close(history);
}

static void lives_with_packs_of_git(void)
{
	struct mr_history *history = make("a");
	char path[32];

	for (int i = 0; i < 20; i++) {
		snprintf(path, sizeof(path), "d/file-%d", i);
		put(history, path, path);
	}
	git("a", "gc -q");
	CHECK(strstr(git("a", "count-objects -v"), "packs: 1\n"));
	for (int i = 20; i < 60; i++) {
		snprintf(path, sizeof(path), "d/file-%d", i);
		put(history, path, path);
	}
	CHECK_OK(mr_history_tidy(history, &err), err);
	check_fsck("a");
	for (int i = 0; i < 60; i++) {
		snprintf(path, sizeof(path), "d/file-%d", i);
		CHECK_STR(text_at(history, NULL, path), path);
	}
	git("a", "gc -q");
	check_fsck("a");
	put(history, "after", "gc");
	check_fsck("a");
	mr_history_close(history);
}

static void does_not_disturb_a_list_of_packs(void)
{
	struct mr_history *history = make("a");

	for (int i = 0; i < 6; i++)
		put(history, "x", mr_arena_printf(arena, "%d", i));
	git("a", "multi-pack-index write");
	CHECK_OK(mr_history_tidy(history, &err), err);
	check_fsck("a");
	mr_history_close(history);
}

static void goes_on_after_a_person_commits(void)
{
	struct mr_history *history = make("a");

	put(history, "d/x", "1");
	CHECK_OK(mr_history_sync_index(history, &err), err);
	overwrite("a/d/x", "theirs");
	overwrite("a/d/y", "theirs");
	git("a", "add -A");
	git("a", "commit -q -m theirs");
	put(history, "d/z", "2");
	CHECK_STR(git("a", "log --format=%s"), "mail: a batch\ntheirs\nmail: a batch");
	CHECK_STR(disk("a/d/x"), "theirs");
	CHECK_STR(text_at(history, NULL, "d/y"), "theirs");
	CHECK_OK(mr_history_tidy(history, &err), err);
	check_fsck("a");
	mr_history_close(history);
}

static void leaves_a_clean_status(void)
{
	struct mr_history *history = make("a");

	CHECK_OK(mr_history_sync_index(history, &err), err);
	put(history, "d/x", "1");
	put(history, ".gitattributes", "*.md text\n");
	put(history, "d/crlf.md", "one\r\ntwo\r\n");
	CHECK_OK(mr_history_sync_index(history, &err), err);
	CHECK_STR(git("a", "status --porcelain"), "");
	put(history, "d/x", NULL);
	put(history, "e", "2");
	CHECK(*git("a", "status --porcelain"));
	CHECK_OK(mr_history_sync_index(history, &err), err);
	CHECK_STR(git("a", "status --porcelain"), "");
	overwrite("a/e", "changed by hand");
	CHECK_STR(git("a", "status --porcelain"), "M e");
	overwrite("a/.git/index", "rubbish");
	CHECK_OK(mr_history_sync_index(history, &err), err);
	CHECK_STR(git("a", "status --porcelain"), "M e");
	check_clean("a");
	mr_history_close(history);
}

/* --- trouble --- */

static void waits_for_locks_of_others(void)
{
	struct mr_history *history = make("a");

	overwrite("a/.git/refs/heads/main.lock", "");
	CHECK_INT(try_put(history, "x", "1"), MR_EBUSY);
	CHECK_STR(err.msg,
		mr_arena_printf(arena,
			"%s/.git/refs/heads/main.lock is held by a git command; if none is "
			"running, remove that file",
			at("a")));
	CHECK(unlink(at("a/.git/refs/heads/main.lock")) == 0);
	put(history, "x", "1");
	overwrite("a/.git/index.lock", "");
	CHECK_INT(mr_history_sync_index(history, &err), MR_EBUSY);
	CHECK(unlink(at("a/.git/index.lock")) == 0);
	mr_history_close(history);
}

static void waits_for_other_writers(void)
{
	struct mr_history *history = make("a");
	struct mr_lock lock = MR_LOCK_INIT;
	struct mr_history *other;

	CHECK_OK(mr_lock_take(AT_FDCWD, at("a/.git/mailroom/lock"), "a test", 0, mr_clock_system(),
			 &lock, &err),
		err);
	CHECK_INT(try_put(history, "x", "1"), MR_EBUSY);
	CHECK(strstr(err.msg, "what=a test"));
	CHECK_OK(try_open("a", MR_HISTORY_WRITE, &other), err);
	mr_history_close(other);
	mr_lock_release(&lock);
	put(history, "x", "1");
	mr_history_close(history);
}

static void removes_locks_of_the_dead(void)
{
	struct mr_history *history = make("a");

	CHECK(link(at("a/.git/mailroom/lock"), at("a/.git/refs/heads/main.lock")) == 0);
	CHECK(link(at("a/.git/mailroom/lock"), at("a/.git/index.lock")) == 0);
	put(history, "x", "1");
	check_clean("a");
	CHECK(link(at("a/.git/mailroom/lock"), at("a/.git/index.lock")) == 0);
	overwrite("a/.git/mailroom/file.tmp", "half");
	overwrite("a/.git/objects/pack/pack-0123456789012345678901234567890123456789.idx", "x");
	mr_history_close(history);
	history = make("a");
	check_clean("a");
	CHECK_INT(count_packs("a"), 1);
	check_fsck("a");
	mr_history_close(history);
}

static void write_state(const char *complete, const char *durable, const char *boot)
{
	overwrite("a/.git/mailroom/state",
		mr_arena_printf(arena, "complete %s\ndurable %s\nbehind 1\nboot %s\n", complete,
			durable, boot));
}

static const char *boot_id(void)
{
	struct mr_bytes bytes;

	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64, &bytes, &err),
		err);
	return mr_str_trim(arena, (const char *)bytes.data);
}

static void completes_the_work_tree(void)
{
	struct mr_history *history = make("a");
	const char *boot = boot_id();
	struct mr_history_appended first = put(history, "d/x", "1");
	struct mr_history_file files[] = { file("d/x", NULL), file("d/y", "2"), file("z", "3") };
	struct mr_history_appended second;

	CHECK_OK(append(history, files, MR_LEN(files), &second), err);

	/* Killed before the work tree was written. */
	write_state(first.id.hex, first.id.hex, boot);
	CHECK(unlink(at("a/d/y")) == 0);
	overwrite("a/d/x", "1");
	overwrite("a/z", "half");
	put(history, "new", "4");
	CHECK_STR(disk("a/d/y"), "2");
	CHECK_STR(disk("a/z"), "3");
	CHECK_STR(disk("a/d/x"), NULL);

	/* Power was lost: what was not on disk for sure is looked at. */
	overwrite("a/d/y", "");
	overwrite("a/z", "a person's");
	write_state(second.id.hex, second.id.hex, "another-boot");
	CHECK(unlink(at("a/new")) == 0);
	mr_history_close(history);
	history = make("a");
	CHECK_STR(disk("a/new"), "4");
	CHECK_STR(disk("a/z"), "a person's");
	write_state(second.id.hex, first.id.hex, "another-boot");
	mr_history_close(history);
	history = make("a");
	CHECK_STR(disk("a/d/y"), "2");
	CHECK_STR(disk("a/z"), "3");

	/* A note that is torn, or of a commit nobody has. */
	overwrite("a/.git/mailroom/state", "compl");
	overwrite("a/d/y", "");
	mr_history_close(history);
	history = make("a");
	CHECK_STR(disk("a/d/y"), "2");
	write_state("0123456789012345678901234567890123456789",
		"0123456789012345678901234567890123456789", boot);
	overwrite("a/d/y", "");
	put(history, "more", "5");
	CHECK_STR(disk("a/d/y"), "2");
	mr_history_close(history);
}

static size_t mend(struct mr_history *history)
{
	struct mr_history_repair repair = { 0 };

	do {
		CHECK_OK(mr_history_repair_some(history, &repair, &err), err);
	} while (repair.more);
	return repair.mended;
}

/* Power may be lost without a boot that tells: a disk that was pulled, a machine that was copied.
 */
static void mends_torn_files(void)
{
	struct mr_history *history = make("a");
	struct mr_history_file files[] = { file("d/cut", "line 1\nline 2\n"), file("d/none", "1"),
		file("d/gone", "2"), file("person", "3\n"), file("empty", ""),
		file("nul", "123456789") };
	const struct mr_bytes nul = mr_bytes_of((const uint8_t *)"123\0\0\0\0\0\0", 9);
	struct mr_history_appended appended;

	CHECK_OK(append(history, files, MR_LEN(files), &appended), err);
	CHECK_INT(mend(history), 0);
	for (int synced = 0; synced < 2; synced++) {
		overwrite("a/d/cut", "line 1\nli");
		overwrite("a/d/none", "");
		CHECK(unlink(at("a/d/gone")) == 0);
		/* Neither is what a torn file looks like. */
		overwrite("a/person", synced ? "x" : "a person wrote more");
		unlink(at("a/nul"));
		CHECK_OK(mr_fs_write(AT_FDCWD, at("a/nul"), nul, MR_FS_REPLACE, 0644, &err), err);
		/* Of files that were on disk, only those that are too short are looked into. */
		CHECK_INT(mend(history), synced ? 3 : 4);
		CHECK_STR(disk("a/d/cut"), "line 1\nline 2\n");
		CHECK_STR(disk("a/d/none"), "1");
		CHECK_STR(disk("a/d/gone"), "2");
		CHECK_STR(disk("a/person"), synced ? "x" : "a person wrote more");
		CHECK_STR(disk("a/nul"), synced ? "123" : "123456789");
		CHECK_STR(disk("a/empty"), "");
		CHECK_OK(mr_history_tidy(history, &err), err);
	}
	mr_history_close(history);
	/* Somebody else's work tree is not ours to judge. */
	CHECK(unlink(at("a/.git/mailroom/state")) == 0);
	CHECK(unlink(at("a/d/gone")) == 0);
	CHECK_OK(try_open("a", MR_HISTORY_WRITE, &history), err);
	CHECK_INT(mend(history), 0);
	CHECK_STR(disk("a/d/gone"), NULL);
	mr_history_close(history);
}

static enum mr_code list_files(void *arg, const char *path, const struct mr_history_id *id,
	struct mr_err *why)
{
	const char **list = arg;
	struct mr_bytes bytes = { 0 };
	struct mr_history *history;

	CHECK_OK(try_open("a", MR_HISTORY_READ, &history), err);
	if (id && mr_history_blob(arena, history, id, 100, &bytes, &err))
		bytes = mr_bytes_text("?");
	*list = mr_arena_printf(arena, "%s%s=%s ", *list, path,
		id ? (const char *)bytes.data : why->msg);
	mr_history_close(history);
	return MR_OK;
}

static struct mr_history_salvage salvage(const char **list)
{
	struct mr_history_salvage found;
	struct mr_history *history;

	CHECK_OK(try_open("a", MR_HISTORY_READ, &history), err);
	CHECK_OK(mr_history_salvage(arena, history, &found, &err), err);
	*list = "";
	if (found.id.hex[0])
		CHECK_OK(mr_history_files_of(history, &found.id, list_files, list, &err), err);
	mr_history_close(history);
	return found;
}

static void remove_object(const char *id)
{
	CHECK(unlink(at(mr_arena_printf(arena, "a/.git/objects/%.2s/%s", id, id + 2))) == 0);
}

static void finds_what_a_damaged_one_has(void)
{
	static const char nobodys[] = "0123456789012345678901234567890123456789\n";
	struct mr_history *history = make("a");
	struct mr_history_salvage found;
	struct mr_history_appended first, last;
	const char *list, *tree;

	found = salvage(&list);
	CHECK_STR(found.id.hex, "");
	CHECK_STR(found.why, NULL);
	/* All of one second: what comes last is the one that nothing follows. */
	first = put(history, "d/x", "1");
	put(history, "d/y", "2");
	last = put(history, "z", "3");
	mr_history_close(history);
	found = salvage(&list);
	CHECK_STR(found.id.hex, last.id.hex);
	CHECK_STR(found.why, NULL);
	CHECK_INT(found.time_us, TIME_S * INT64_C(1000000));
	CHECK_STR(list, "d/x=1 d/y=2 z=3 ");

	overwrite("a/.git/refs/heads/main", "");
	found = salvage(&list);
	CHECK_STR(found.id.hex, last.id.hex);
	CHECK(strstr(found.why, "cannot read branch main"));
	overwrite("a/.git/refs/heads/main", nobodys);
	found = salvage(&list);
	CHECK_STR(found.id.hex, last.id.hex);
	CHECK(strstr(found.why, "cannot read the newest commit"));
	CHECK(unlink(at("a/.git/refs/heads/main")) == 0);
	found = salvage(&list);
	CHECK_STR(found.id.hex, last.id.hex);
	CHECK_STR(found.why, "branch main has no commit");

	/* Each object in a file of its own, so that single ones can be lost. */
	overwrite("a/.git/refs/heads/main", mr_arena_printf(arena, "%s\n", last.id.hex));
	CHECK(mkdir(at("packs"), 0755) == 0);
	git("a", "config core.logallrefupdates false");
	CHECK(system(mr_arena_printf(arena,
		      "cd %s && mv .git/objects/pack/* ../packs/ && for p in ../packs/*.pack; do "
		      "git unpack-objects -q <$p; done",
		      at("a"))) == 0);
	tree = git("a", "rev-parse HEAD:d");
	overwrite(mr_arena_printf(arena, "a/.git/objects/%.2s/%s", tree, tree + 2), "");
	found = salvage(&list);
	CHECK_STR(found.id.hex, last.id.hex);
	CHECK(mr_str_starts(list, "d=archive ") && mr_str_ends(list, " z=3 "));
	remove_object(last.id.hex);
	remove_object(git("a", mr_arena_printf(arena, "rev-parse %s^{tree}", first.id.hex)));
	found = salvage(&list);
	CHECK(found.why && found.id.hex[0] && !mr_str_eq(found.id.hex, last.id.hex));
	CHECK(mr_str_starts(list, "d=archive "));
}

static void adopts_a_repository(void)
{
	struct mr_history *history;

	CHECK(mkdir(at("a"), 0755) == 0);
	git("a", "init -q -b main");
	overwrite("a/theirs", "committed");
	git("a", "add -A");
	git("a", "commit -q -m theirs");
	overwrite("a/theirs", "being edited");
	CHECK_OK(try_open("a", MR_HISTORY_WRITE, &history), err);
	put(history, "ours", "1");
	CHECK_STR(disk("a/theirs"), "being edited");
	CHECK_STR(git("a", "log --format=%s"), "mail: a batch\ntheirs");
	mr_history_close(history);
}

static void does_not_leave_the_work_tree(void)
{
	struct mr_history *history = make("a");

	CHECK(mkdir(at("outside"), 0755) == 0);
	CHECK(symlink(at("outside"), at("a/link")) == 0);
	CHECK_INT(try_put(history, "link/x", "1"), MR_ECONFLICT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena,
			"committed, but not in the work tree yet: %s/link is in the way of a "
			"directory: move it away",
			at("a")));
	CHECK(!mr_fs_exists(AT_FDCWD, at("outside/x")));
	CHECK(unlink(at("a/link")) == 0);
	CHECK(!put(history, "link/x", "1").committed);
	CHECK_STR(disk("a/link/x"), "1");

	CHECK(mkdir(at("a/f"), 0755) == 0 && mkdir(at("a/f/g"), 0755) == 0);
	CHECK_INT(try_put(history, "f", "1"), MR_ECONFLICT);
	CHECK_STR(err.msg,
		mr_arena_printf(arena,
			"committed, but not in the work tree yet: %s/f is a directory in the way "
			"of a file: move it away",
			at("a")));
	CHECK(rmdir(at("a/f/g")) == 0 && rmdir(at("a/f")) == 0);
	CHECK(!put(history, "f", "1").committed);
	CHECK_STR(disk("a/f"), "1");

	/* A file may be a link: it is replaced, not followed; removing looks at no link either. */
	overwrite("outside/f", "kept");
	CHECK(unlink(at("a/f")) == 0 && symlink(at("outside/f"), at("a/f")) == 0);
	put(history, "f", "2");
	CHECK_STR(disk("outside/f"), "kept");
	CHECK_STR(disk("a/f"), "2");
	check_clean("a");
	mr_history_close(history);
}

static const char *pack_of(const char *name)
{
	struct mr_texts names;
	const char *dir = mr_arena_printf(arena, "%s/.git/objects/pack", at(name));

	CHECK_OK(mr_fs_list(arena, AT_FDCWD, dir, 2, &names, &err), err);
	return mr_arena_printf(arena, "%s/.git/objects/pack/%s", name, names.items[1]);
}

static void says_what_is_damaged(void)
{
	struct mr_history *history = make("a");
	struct mr_bytes bytes;
	const char *pack;
	char *copy;

	put(history, "d/x", "1");
	mr_history_close(history);
	pack = pack_of("a");
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, at(pack), 9999, &bytes, &err), err);
	copy = mr_arena_memdup(arena, bytes.data, bytes.len);
	for (size_t i = 20; i < bytes.len - 20; i++)
		copy[i] ^= 0x55;
	CHECK(unlink(at(pack)) == 0);
	CHECK_OK(mr_fs_write(AT_FDCWD, at(pack), mr_bytes_of(copy, bytes.len), MR_FS_NEW, 0444,
			 &err),
		err);
	CHECK_OK(try_open("a", MR_HISTORY_WRITE, &history), err);
	CHECK_INT(try_put(history, "d/x", "2"), MR_EFORMAT);
	CHECK(strstr(err.msg, mr_arena_printf(arena, "archive %s is damaged: ", at("a"))));
	CHECK(strstr(err.msg, "; look with 'git fsck', or move it away to have it made anew"));
	CHECK_INT(mr_history_read(arena, history, NULL, "d/x", 9, &bytes, &err), MR_EFORMAT);
	mr_history_close(history);

	overwrite("a/.git/refs/heads/main", "rubbish\n");
	CHECK_INT(try_open("a", MR_HISTORY_WRITE, &history), MR_EFORMAT);
	CHECK(strstr(err.msg, "cannot read branch main"));
}

static void says_that_the_disk_is_full(void)
{
	static const struct {
		const char *point;
		size_t nth;
		const char *what;
	} cases[] = {
		{ "history.pack.write:ENOSPC", 1, "cannot write a pack" },
		{ "history.sync:EIO", 1, "cannot put a pack on disk" },
		{ "history.sync:EIO", 2, "cannot put the index of a pack on disk" },
		{ "history.sync:EIO", 3, "cannot put ref.tmp on disk" },
		{ "history.pack.rename:EROFS", 1, ".idx" },
		{ "history.pack.rename:EROFS", 2, ".pack" },
	};
	struct mr_history *history = make("a");

	put(history, "x", "0");
	setenv("MAILROOM_FAIL_AT", "history.test:EIO", 1);
	for (size_t i = 0; mr_crash_fail("history.test") && i < MR_LEN(cases); i++) {
		char text[8];
		pid_t pid = fork();
		int status;

		/* Our own questions have been counted, and the child's are not. */
		snprintf(text, sizeof(text), "%zu", i + 1);
		if (pid == 0) {
			setenv("MAILROOM_FAIL_AT",
				mr_arena_printf(arena, "%s:%zu", cases[i].point,
					i + 1 + cases[i].nth),
				1);
			if (try_put(history, "x", text) != MR_EIO ||
				!strstr(err.msg, cases[i].what)) {
				fprintf(stderr, "# %s: %s\n", cases[i].point, err.msg);
				_exit(1);
			}
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		unsetenv("MAILROOM_FAIL_AT");
		CHECK_STR(text_at(history, NULL, "x"), mr_arena_printf(arena, "%zu", i));
		put(history, "x", text);
		CHECK_STR(disk("a/x"), text);
		check_clean("a");
		setenv("MAILROOM_FAIL_AT", "history.test:EIO", 1);
	}
	unsetenv("MAILROOM_FAIL_AT");
	check_fsck("a");
	mr_history_close(history);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(makes_a_repository_git_likes),
		TEST(begins_with_the_initial_files),
		TEST(completes_what_was_half_made),
		TEST(replaces_and_removes),
		TEST(keeps_git_order),
		TEST(does_nothing_for_what_is_there),
		TEST(makes_empty_files),
		TEST(writes_the_message),
		TEST(knows_good_paths),
		TEST(knows_bad_paths),
		TEST(refuses_bad_batches),
		TEST(refuses_files_that_are_directories),
		TEST(says_why_it_cannot_open),
		TEST(reads_without_writing),
		TEST(reads_files_of_old_commits),
		TEST(logs_a_path),
		TEST(refuses_bad_queries),
		TEST(parses_messages),
		TEST(works_with_a_second_handle),
		TEST(merges_packs),
		TEST(lives_with_packs_of_git),
		TEST(does_not_disturb_a_list_of_packs),
		TEST(goes_on_after_a_person_commits),
		TEST(leaves_a_clean_status),
		TEST(waits_for_locks_of_others),
		TEST(waits_for_other_writers),
		TEST(removes_locks_of_the_dead),
		TEST(completes_the_work_tree),
		TEST(mends_torn_files),
		TEST(finds_what_a_damaged_one_has),
		TEST(adopts_a_repository),
		TEST(does_not_leave_the_work_tree),
		TEST(says_what_is_damaged),
		TEST(says_that_the_disk_is_full),
	};
	return test_main(tests, MR_LEN(tests));
}
