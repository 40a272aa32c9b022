/* tests/unit/base/test_fs_tree.c - directories made, listed, walked and removed. */
#include "base/fs.h"
#include "files.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void make_dirs_makes_what_is_missing(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err err;
	struct stat st;

	files_enter();
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "a", 0700, &err), err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "a/b//c/./d/", 0775, &err), err);
	CHECK(stat("a", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK(stat("a/b/c/d", &st) == 0 && S_ISDIR(st.st_mode));
	CHECK_INT(st.st_mode & 07777, 0755);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "a/b/c/d", 0700, &err), err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, ".", 0700, &err), err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "/", 0700, &err), err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, mr_arena_printf(arena, "//%s/x/y", test_dir()), 0700,
			 &err),
		err);
	CHECK(mr_fs_exists(AT_FDCWD, "x/y"));
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "a", &dir, &err), err);
	CHECK_OK(mr_fs_make_dirs(dir, "e/f", 0700, &err), err);
	CHECK(mr_fs_exists(AT_FDCWD, "a/e/f"));
	CHECK(symlink("a", "link") == 0);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "link/g", 0700, &err), err);
	CHECK(mr_fs_exists(AT_FDCWD, "a/g"));
}

static void make_dirs_says_what_is_wrong(void)
{
	static const struct {
		const char *path;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "", MR_EINVAL, "a directory to make needs a name" },
		{ "f", MR_EEXISTS, "f exists and is not a directory" },
		{ "f/x", MR_EEXISTS, "f exists and is not a directory" },
		{ "dangling", MR_EEXISTS, "dangling exists and is not a directory" },
	};
	struct mr_err err;

	files_enter();
	files_put("f", "kept");
	CHECK(symlink("no", "dangling") == 0);
	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_ERR(mr_fs_make_dirs(AT_FDCWD, cases[i].path, 0700, &err), err, cases[i].code,
			cases[i].msg);
	files_hold("f", "kept");
	if (!files_fail_at("fs.mkdir:ENOSPC"))
		return;
	CHECK_ERR(mr_fs_make_dirs(AT_FDCWD, "new/x", 0700, &err), err, MR_EIO,
		"cannot make directory new: No space left on device; free some space and try "
		"again");
	files_fail_at("fs.sync:EIO");
	CHECK_ERR(mr_fs_make_dirs(AT_FDCWD, "new/x", 0700, &err), err, MR_EIO,
		"cannot write directory . to disk: Input/output error");
}

static void make_dirs_needs_no_right_to_what_exists(void)
{
	enum mr_code there, missing;
	struct mr_err err;

	files_enter();
	CHECK(chmod(".", 0755) == 0 && mkdir("d", 0755) == 0 && mkdir("d/e", 0777) == 0);
	CHECK(chmod("d/e", 0777) == 0);
	if (!files_become_nobody())
		return;
	if (getuid() != 0)
		CHECK(chmod("d", 0555) == 0);
	there = mr_fs_make_dirs(AT_FDCWD, "d/e/f", 0700, &err);
	if (there)
		fprintf(stderr, "# %s\n", err.msg);
	missing = mr_fs_make_dirs(AT_FDCWD, "d/new/f", 0700, &err);
	files_become_root();
	CHECK(chmod("d", 0755) == 0);
	CHECK_INT(there, MR_OK);
	CHECK_ERR(missing, err, MR_EPERM, "cannot make directory d/new: Permission denied");
}

static void *make_deep(void *arg)
{
	struct mr_err err;

	*(enum mr_code *)arg = mr_fs_make_dirs(AT_FDCWD, "p/q/r/s/t", 0700, &err);
	return NULL;
}

static void make_dirs_may_race(void)
{
	enum { THREADS = 4 };
	enum mr_code rcs[THREADS];
	pthread_t threads[THREADS];
	struct mr_err err;

	files_enter();
	for (int round = 0; round < 5; round++) {
		for (size_t i = 0; i < THREADS; i++)
			CHECK(pthread_create(&threads[i], NULL, make_deep, &rcs[i]) == 0);
		for (size_t i = 0; i < THREADS; i++) {
			CHECK(pthread_join(threads[i], NULL) == 0);
			CHECK_INT(rcs[i], MR_OK);
		}
		CHECK_OK(mr_fs_remove_all(AT_FDCWD, "p", &err), err);
	}
}

static void list_sorts_by_bytes(void)
{
	static const char *const names[] = { "B", "a", "a.b", "a0", "b", "\xc3\xa9" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts got;
	struct mr_err err;

	files_enter();
	CHECK(mkdir("d", 0755) == 0 && mkdir("empty", 0755) == 0);
	for (size_t i = MR_LEN(names); i-- > 0;)
		files_put(mr_arena_printf(arena, "d/%s", names[i]), "");
	CHECK_OK(mr_fs_list(arena, AT_FDCWD, "d", MR_LEN(names), &got, &err), err);
	CHECK_INT(got.len, MR_LEN(names));
	for (size_t i = 0; i < MR_LEN(names); i++)
		CHECK_STR(got.items[i], names[i]);
	CHECK(got.items[got.len] == NULL);
	CHECK_OK(mr_fs_list(arena, AT_FDCWD, "empty", 0, &got, &err), err);
	CHECK_INT(got.len, 0);
	CHECK(got.items[0] == NULL);
}

static void list_keeps_to_its_bounds(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts got = { .len = 77 };
	struct mr_err err;

	files_enter();
	CHECK(mkdir("d", 0755) == 0);
	for (int i = 0; i < 200; i++)
		files_put(mr_arena_printf(arena, "d/%03d", i), "");
	CHECK_ERR(mr_fs_list(arena, AT_FDCWD, "d", 199, &got, &err), err, MR_ELIMIT,
		"directory d has more than 199 entries");
	CHECK_ERR(mr_fs_list(arena, AT_FDCWD, "no", 10, &got, &err), err, MR_ENOTFOUND,
		"cannot open directory no: No such file or directory");
	CHECK_ERR(mr_fs_list(arena, AT_FDCWD, "d/000", 10, &got, &err), err, MR_ENOTFOUND,
		"cannot open directory d/000: Not a directory");
	CHECK_INT(got.len, 77);
	CHECK_OK(mr_fs_list(arena, AT_FDCWD, "d", 200, &got, &err), err);
	CHECK_INT(got.len, 200);
	CHECK_STR(got.items[0], "000");
	CHECK_STR(got.items[199], "199");
}

/* Notes "type depth path" of each entry, and what to answer. */
struct notes {
	char seen[64][64];
	size_t len;
	const char *skip;
	const char *stop;
	const char *remove;
	const char *link_to; /* put a link in the place of what was removed */
};

static enum mr_fs_next note(void *arg, const struct mr_fs_entry *entry)
{
	struct notes *notes = arg;
	const char *base = strrchr(entry->path, '/');
	struct stat st;

	CHECK(notes->len < MR_LEN(notes->seen));
	CHECK_STR(entry->name, base ? base + 1 : entry->path);
	CHECK(fstatat(entry->dir, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	CHECK_INT(IFTODT(st.st_mode), entry->type);
	snprintf(notes->seen[notes->len++], sizeof(notes->seen[0]), "%c %u %s",
		entry->type == DT_DIR           ? 'd'
			: entry->type == DT_REG ? 'f'
			: entry->type == DT_LNK ? 'l'
						: '?',
		entry->depth, entry->path);
	if (notes->remove && strcmp(entry->path, notes->remove) == 0)
		CHECK(unlinkat(entry->dir, entry->name, AT_REMOVEDIR) == 0 &&
			(!notes->link_to ||
				symlinkat(notes->link_to, entry->dir, entry->name) == 0));
	if (notes->stop && strcmp(entry->path, notes->stop) == 0)
		return MR_FS_STOP;
	return notes->skip && strcmp(entry->path, notes->skip) == 0 ? MR_FS_SKIP : MR_FS_GO_ON;
}

static bool saw(const struct notes *notes, const char *line)
{
	for (size_t i = 0; i < notes->len; i++)
		if (strcmp(notes->seen[i], line) == 0)
			return true;
	return false;
}

static void make_tree(void)
{
	struct mr_err err;

	files_enter();
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "t/a/b/c", 0755, &err), err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "t/e", 0755, &err), err);
	CHECK_OK(mr_fs_make_dirs(AT_FDCWD, "outside", 0755, &err), err);
	files_put("t/f", "");
	files_put("t/a/f", "");
	files_put("t/a/b/f", "");
	files_put("t/a/b/c/f", "");
	files_put("outside/kept", "kept");
	CHECK(symlink("../outside", "t/out") == 0 && symlink("a", "t/in") == 0);
	CHECK(mkfifo("t/fifo", 0644) == 0);
}

static void walk_sees_everything_once(void)
{
	static const char *const lines[] = { "d 0 a", "d 1 a/b", "d 2 a/b/c", "d 0 e", "f 0 f",
		"f 1 a/f", "f 2 a/b/f", "f 3 a/b/c/f", "l 0 out", "l 0 in", "? 0 fifo" };
	struct notes notes = { .len = 0 };
	struct mr_err err;
	size_t before;

	make_tree();
	before = files_open();
	CHECK_OK(mr_fs_walk(AT_FDCWD, "t", 3, note, &notes, &err), err);
	CHECK_INT(notes.len, MR_LEN(lines));
	for (size_t i = 0; i < MR_LEN(lines); i++)
		if (!saw(&notes, lines[i]))
			test_fail(__FILE__, __LINE__, "not seen: %s", lines[i]);
	CHECK_INT(files_open(), before);
}

static void walk_can_skip_and_stop(void)
{
	struct notes notes = { .skip = "a/b" };
	struct notes stopped = { .stop = "a/b" };
	struct mr_err err;
	size_t before;

	make_tree();
	before = files_open();
	CHECK_OK(mr_fs_walk(AT_FDCWD, "t", 10, note, &notes, &err), err);
	CHECK(saw(&notes, "d 1 a/b") && saw(&notes, "f 1 a/f") && saw(&notes, "d 0 e"));
	CHECK(!saw(&notes, "d 2 a/b/c") && !saw(&notes, "f 2 a/b/f"));
	CHECK_INT(notes.len, 8);
	CHECK_OK(mr_fs_walk(AT_FDCWD, "t", 10, note, &stopped, &err), err);
	CHECK_STR(stopped.seen[stopped.len - 1], "d 1 a/b");
	CHECK_INT(files_open(), before);
}

static void walk_keeps_to_its_bounds(void)
{
	struct notes notes = { .len = 0 };
	struct mr_err err;
	size_t before;

	make_tree();
	before = files_open();
	CHECK_ERR(mr_fs_walk(AT_FDCWD, "t", 2, note, &notes, &err), err, MR_ELIMIT,
		"t is deeper than 2 levels at a/b/c/f");
	CHECK(unlink("t/a/b/c/f") == 0);
	notes.len = 0;
	CHECK_OK(mr_fs_walk(AT_FDCWD, "t", 2, note, &notes, &err), err);
	CHECK_ERR(mr_fs_walk(AT_FDCWD, "no", 2, note, &notes, &err), err, MR_ENOTFOUND,
		"cannot open directory no: No such file or directory");
	CHECK_INT(files_open(), before);
}

static void walk_passes_over_what_vanishes(void)
{
	struct notes notes = { .remove = "e" };
	struct mr_err err;

	make_tree();
	CHECK_OK(mr_fs_walk(AT_FDCWD, "t", 10, note, &notes, &err), err);
	CHECK_INT(notes.len, 11);

	/* Also when a link out of the tree takes its place. */
	CHECK(mkdir("t/e", 0755) == 0);
	notes = (struct notes){ .remove = "e", .link_to = "../outside" };
	CHECK_OK(mr_fs_walk(AT_FDCWD, "t", 10, note, &notes, &err), err);
	CHECK_INT(notes.len, 11);
}

static void walk_names_what_it_cannot_read(void)
{
	struct notes notes = { .len = 0 };
	enum mr_code rc;
	struct mr_err err;

	make_tree();
	CHECK(chmod(".", 0755) == 0 && chmod("t/a/b", 0) == 0);
	if (!files_become_nobody())
		return;
	rc = mr_fs_walk(AT_FDCWD, "t", 10, note, &notes, &err);
	files_become_root();
	CHECK(chmod("t/a/b", 0755) == 0);
	CHECK_ERR(rc, err, MR_EPERM, "cannot open directory t/a/b: Permission denied");
}

/* Deeper in bytes than a path given to the kernel may be long. */
static void make_very_deep(const char *start, unsigned levels)
{
	char name[201];
	int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (unsigned i = 0; i < levels; i++) {
		const char *part = i == 0 ? start : name;
		int next;

		CHECK(mkdirat(at, part, 0755) == 0);
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(next >= 0);
		close(at);
		at = next;
	}
	close(at);
}

static enum mr_fs_next count(void *arg, const struct mr_fs_entry *entry)
{
	size_t *longest = arg;

	if (strlen(entry->path) > *longest)
		*longest = strlen(entry->path);
	return MR_FS_GO_ON;
}

static void goes_deeper_than_a_path_is_long(void)
{
	size_t longest = 0;
	struct mr_err err;

	files_enter();
	make_very_deep("deep", 100);
	CHECK_OK(mr_fs_walk(AT_FDCWD, "deep", 200, count, &longest, &err), err);
	CHECK_INT(longest, 99 * 201 - 1);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "deep", &err), err);
	CHECK_INT(files_count("."), 0);
}

static void bounds_how_deep_it_goes(void)
{
	size_t longest = 0;
	struct mr_err err;

	files_enter();
	make_very_deep("deep", 259);
	CHECK_INT(mr_fs_walk(AT_FDCWD, "deep", 1, count, &longest, &err), MR_ELIMIT);
	CHECK(strstr(err.msg, "deep is deeper than 1 levels at nnn"));
	CHECK_INT(mr_fs_remove_all(AT_FDCWD, "deep", &err), MR_ELIMIT);
	CHECK(strstr(err.msg, "deep/nnn"));
}

static void remove_all_follows_no_link(void)
{
	struct mr_err err;
	size_t before;

	make_tree();
	before = files_open();
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "t", &err), err);
	CHECK(!mr_fs_exists(AT_FDCWD, "t"));
	files_hold("outside/kept", "kept");
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "t", &err), err);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "t/u/v", &err), err);
	CHECK(symlink("outside", "link") == 0);
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "link", &err), err);
	CHECK(!mr_fs_exists(AT_FDCWD, "link"));
	CHECK_OK(mr_fs_remove_all(AT_FDCWD, "outside/kept", &err), err);
	CHECK_INT(files_count("outside"), 0);
	CHECK_INT(files_open(), before);
}

static void remove_all_refuses_dots_and_slashes(void)
{
	static const struct {
		const char *path;
		const char *msg;
	} cases[] = {
		{ "", "\"\" does not end in a name to remove" },
		{ "/", "\"/\" does not end in a name to remove" },
		{ ".", "\".\" does not end in a name to remove" },
		{ "..", "\"..\" does not end in a name to remove" },
		{ "t/..", "\"t/..\" does not end in a name to remove" },
		{ "t/.", "\"t/.\" does not end in a name to remove" },
		{ "t/out/", "\"t/out/\" does not end in a name to remove" },
	};

	make_tree();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_err err;

		CHECK_ERR(mr_fs_remove_all(AT_FDCWD, cases[i].path, &err), err, MR_EINVAL,
			cases[i].msg);
	}
	CHECK_INT(files_count("."), 2);
	CHECK_INT(files_count("t"), 6);
	files_hold("outside/kept", "kept");
}

static void remove_all_says_what_stays(void)
{
	enum mr_code rc;
	struct mr_err err;
	size_t before;

	make_tree();
	before = files_open();
	CHECK(chmod(".", 0755) == 0);
	if (getuid() != 0)
		CHECK(chmod("t", 0555) == 0);
	if (!files_become_nobody())
		return;
	rc = mr_fs_remove_all(AT_FDCWD, "t/f", &err);
	files_become_root();
	CHECK(chmod("t", 0755) == 0);
	CHECK_ERR(rc, err, MR_EPERM, "cannot remove t/f: Permission denied");
	if (!files_fail_at("fs.remove:EROFS"))
		return;
	CHECK_ERR(mr_fs_remove_all(AT_FDCWD, "t", &err), err, MR_EIO,
		"cannot remove t: Read-only file system; it must be mounted writable");
	CHECK_INT(files_open(), before);
}

static void *remove_tree(void *arg)
{
	struct mr_err err;

	*(enum mr_code *)arg = mr_fs_remove_all(AT_FDCWD, "many", &err);
	if (*(enum mr_code *)arg)
		fprintf(stderr, "# %s\n", err.msg);
	return NULL;
}

static void remove_all_may_race(void)
{
	enum { THREADS = 4 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum mr_code rcs[THREADS];
	pthread_t threads[THREADS];

	files_enter();
	for (int round = 0; round < 5; round++) {
		CHECK(mkdir("many", 0755) == 0);
		for (int i = 0; i < 30; i++) {
			CHECK(mkdir(mr_arena_printf(arena, "many/%d", i), 0755) == 0);
			for (int k = 0; k < 5; k++)
				files_put(mr_arena_printf(arena, "many/%d/%d", i, k), "");
		}
		for (size_t i = 0; i < THREADS; i++)
			CHECK(pthread_create(&threads[i], NULL, remove_tree, &rcs[i]) == 0);
		for (size_t i = 0; i < THREADS; i++) {
			CHECK(pthread_join(threads[i], NULL) == 0);
			CHECK_INT(rcs[i], MR_OK);
		}
		CHECK(!mr_fs_exists(AT_FDCWD, "many"));
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(make_dirs_makes_what_is_missing),
		TEST(make_dirs_says_what_is_wrong),
		TEST(make_dirs_needs_no_right_to_what_exists),
		TEST(make_dirs_may_race),
		TEST(list_sorts_by_bytes),
		TEST(list_keeps_to_its_bounds),
		TEST(walk_sees_everything_once),
		TEST(walk_can_skip_and_stop),
		TEST(walk_keeps_to_its_bounds),
		TEST(walk_passes_over_what_vanishes),
		TEST(walk_names_what_it_cannot_read),
		TEST(goes_deeper_than_a_path_is_long),
		TEST(bounds_how_deep_it_goes),
		TEST(remove_all_follows_no_link),
		TEST(remove_all_refuses_dots_and_slashes),
		TEST(remove_all_says_what_stays),
		TEST(remove_all_may_race),
	};
	return test_main(tests, MR_LEN(tests));
}
