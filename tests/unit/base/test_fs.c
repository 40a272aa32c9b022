/* tests/unit/base/test_fs.c - files written, renamed and swept; see test_fs_read.c and
 * test_fs_tree.c for the rest. */
#include "base/fs.h"
#include "files.h"
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static enum mr_code write_text(const char *path, const char *text, enum mr_fs_write how,
	struct mr_err *err)
{
	return mr_fs_write(AT_FDCWD, path, mr_bytes_text(text), how, 0640, err);
}

static void write_makes_and_replaces(void)
{
	struct mr_err err;
	struct stat st;

	files_enter();
	CHECK_OK(write_text("a", "first", MR_FS_REPLACE, &err), err);
	files_hold("a", "first");
	CHECK_OK(write_text("./a", "second", MR_FS_REPLACE, &err), err);
	files_hold("a", "second");
	CHECK(stat("a", &st) == 0);
	CHECK_INT(st.st_mode & 07777, 0640);
	CHECK_INT(st.st_nlink, 1);
	CHECK_OK(mr_fs_write(AT_FDCWD, "b", mr_bytes_of("x\0y", 3), MR_FS_NEW, 0666, &err), err);
	CHECK(stat("b", &st) == 0);
	CHECK_INT(st.st_size, 3);
	CHECK_INT(st.st_mode & 07777, 0644);
	CHECK_OK(mr_fs_write(AT_FDCWD, "c", mr_bytes_of(NULL, 0), MR_FS_NEW, 0400, &err), err);
	CHECK(stat("c", &st) == 0);
	CHECK_INT(st.st_size, 0);
	CHECK_INT(st.st_mode & 07777, 0400);
	CHECK_INT(files_count("."), 3);
}

/* The lock is there with the name, and goes with the descriptor. */
static void write_locked_keeps_its_lock(void)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1, other MR_CLEANUP(mr_fs_closep) = -1;
	int refused MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err err;
	struct stat ours, named;

	files_enter();
	CHECK_OK(mr_fs_write_locked(AT_FDCWD, "a", mr_bytes_text("x"), MR_FS_NEW, MR_FS_SYNC_ALL,
			 0600, &fd, &err),
		err);
	files_hold("a", "x");
	CHECK(fstat(fd, &ours) == 0 && stat("a", &named) == 0);
	CHECK_INT(ours.st_ino, named.st_ino);
	CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	other = open("a", O_RDONLY | O_CLOEXEC);
	CHECK(flock(other, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK);
	CHECK_INT(mr_fs_write_locked(AT_FDCWD, "a", mr_bytes_text("y"), MR_FS_NEW, MR_FS_SYNC_ALL,
			  0600, &refused, &err),
		MR_EEXISTS);
	CHECK_INT(refused, -1);
	mr_fs_closep(&fd);
	CHECK(flock(other, LOCK_SH | LOCK_NB) == 0);
	CHECK_INT(files_count("."), 1);
}

static void write_goes_below_a_directory(void)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err err;

	files_enter();
	CHECK(mkdir("d", 0755) == 0 && mkdir("d/e", 0755) == 0);
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "d", &dir, &err), err);
	CHECK(fcntl(dir, F_GETFD) & FD_CLOEXEC);
	CHECK_OK(mr_fs_write(dir, "e/f", mr_bytes_text("text"), MR_FS_NEW, 0600, &err), err);
	files_hold("d/e/f", "text");
	CHECK_INT(files_count("d"), 1);
}

static void write_large(void)
{
	enum { BYTES = 3 * 1024 * 1024 + 1 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	uint8_t *data = mr_arena_alloc(arena, BYTES);
	struct mr_bytes got;
	struct mr_err err;

	files_enter();
	for (size_t i = 0; i < BYTES; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	CHECK_OK(mr_fs_write(AT_FDCWD, "a", mr_bytes_of(data, BYTES), MR_FS_NEW, 0600, &err), err);
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "a", BYTES, &got, &err), err);
	CHECK_INT(got.len, BYTES);
	CHECK(memcmp(got.data, data, BYTES) == 0);
}

static void bare_writes_take_the_place_of_what_is_there(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_err err = { 0 };
	struct mr_bytes got;

	files_enter();
	CHECK_OK(mr_fs_write_bare(AT_FDCWD, "bare", mr_bytes_text("longer"), true, 0644, &err),
		err);
	CHECK_OK(mr_fs_write_bare(AT_FDCWD, "bare", mr_bytes_text("text"), false, 0644, &err), err);
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "bare", 100, &got, &err), err);
	CHECK_STR((const char *)got.data, "text");
	CHECK_INT(symlink("bare", "bare-link"), 0);
	CHECK(mr_fs_write_bare(AT_FDCWD, "bare-link", mr_bytes_text("x"), false, 0644, &err));
	CHECK_INT(mr_fs_write_bare(AT_FDCWD, "no/bare", mr_bytes_text("x"), false, 0644, &err),
		MR_ENOTFOUND);
}

static void write_new_refuses_what_is_there(void)
{
	struct mr_err err;

	files_enter();
	files_put("a", "kept");
	CHECK(symlink("nowhere", "link") == 0 && mkdir("dir", 0755) == 0);
	CHECK_ERR(write_text("a", "x", MR_FS_NEW, &err), err, MR_EEXISTS, "a exists already");
	files_hold("a", "kept");
	CHECK_ERR(write_text("link", "x", MR_FS_NEW, &err), err, MR_EEXISTS, "link exists already");
	CHECK_ERR(write_text("dir", "x", MR_FS_NEW, &err), err, MR_EEXISTS, "dir exists already");
	CHECK(!mr_fs_exists(AT_FDCWD, "nowhere"));
	CHECK_INT(files_count("."), 3);
}

static void write_replaces_a_link_itself(void)
{
	struct mr_err err;
	struct stat st;

	files_enter();
	files_put("a", "kept");
	CHECK(symlink("a", "link") == 0);
	CHECK_OK(write_text("link", "new", MR_FS_REPLACE, &err), err);
	files_hold("a", "kept");
	files_hold("link", "new");
	CHECK(lstat("link", &st) == 0 && S_ISREG(st.st_mode));
}

static void write_takes_the_longest_names(void)
{
	char name[NAME_MAX + 2];
	struct mr_err err;

	files_enter();
	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	CHECK_OK(write_text(name, "x", MR_FS_NEW, &err), err);
	/* Two bytes each, so that a cut at a fixed byte could fall between them. */
	for (size_t i = 0; i + 1 < NAME_MAX; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	CHECK_OK(write_text(name, "x", MR_FS_NEW, &err), err);
	CHECK_INT(files_count("."), 2);
	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	CHECK_INT(write_text(name, "x", MR_FS_NEW, &err), MR_EINVAL);
	CHECK(strstr(err.msg, "is longer than 255 bytes"));
}

static void write_says_what_is_wrong(void)
{
	static const struct {
		const char *path;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "", MR_EINVAL, "\"\" does not end in a file's name" },
		{ "/", MR_EINVAL, "\"/\" does not end in a file's name" },
		{ ".", MR_EINVAL, "\".\" does not end in a file's name" },
		{ "d/..", MR_EINVAL, "\"d/..\" does not end in a file's name" },
		{ "no/a", MR_ENOTFOUND,
			"cannot open the directory of no/a: No such file or directory" },
		{ "f/a", MR_ENOTFOUND, "cannot open the directory of f/a: Not a directory" },
		{ "d", MR_EIO, "cannot put d in place: Is a directory" },
	};
	size_t before;

	files_enter();
	files_put("f", "kept");
	CHECK(mkdir("d", 0755) == 0);
	before = files_open();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_err err;

		CHECK_ERR(write_text(cases[i].path, "x", MR_FS_REPLACE, &err), err, cases[i].code,
			cases[i].msg);
	}
	CHECK_INT(files_open(), before);
	CHECK_INT(files_count("."), 2);
	CHECK_INT(files_count("d"), 0);
}

static void write_needs_permission(void)
{
	enum mr_code rc;
	struct mr_err err;

	files_enter();
	CHECK(chmod(".", 0755) == 0 && mkdir("d", 0755) == 0);
	if (!files_become_nobody())
		return;
	if (getuid() != 0)
		CHECK(chmod("d", 0555) == 0);
	rc = write_text("d/a", "x", MR_FS_REPLACE, &err);
	files_become_root();
	CHECK_ERR(rc, err, MR_EPERM, "cannot create d/a: Permission denied");
	CHECK_INT(err.os_errno, EACCES);
}

static void write_leaves_the_old_when_the_disk_fails(void)
{
	static const struct {
		const char *setting;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "fs.open:EIO", MR_EIO, "cannot open the directory of a: Input/output error" },
		{ "fs.open:EROFS:2", MR_EIO,
			"cannot create a: Read-only file system; it must be mounted writable" },
		{ "fs.write:ENOSPC", MR_EIO,
			"cannot write a: No space left on device; free some space and try again" },
		{ "fs.sync:EIO", MR_EIO, "cannot write a to disk: Input/output error" },
		{ "fs.rename:EACCES", MR_EPERM, "cannot put a in place: Permission denied" },
	};
	size_t before;

	files_enter();
	files_put("a", "kept");
	before = files_open();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		pid_t pid = fork();
		int status;

		/* In a process of its own, because passes are counted per process. */
		if (pid == 0) {
			struct mr_err err;

			if (!files_fail_at(cases[i].setting))
				_exit(0);
			CHECK_ERR(write_text("a", "new", MR_FS_REPLACE, &err), err, cases[i].code,
				cases[i].msg);
			files_fail_at(NULL);
			CHECK_INT(files_open(), before);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		files_hold("a", "kept");
		CHECK_INT(files_count("."), 1);
	}
}

static void write_stands_when_only_the_directory_fails(void)
{
	struct mr_err err;

	files_enter();
	files_put("a", "old");
	if (!files_fail_at("fs.sync:EIO:2"))
		return;
	CHECK_ERR(write_text("a", "new", MR_FS_REPLACE, &err), err, MR_EIO,
		"cannot write the directory of a to disk: Input/output error");
	files_fail_at(NULL);
	files_hold("a", "new");
	CHECK_INT(files_count("."), 1);
}

static void works_without_renameat2(void)
{
	struct mr_err err;

	files_enter();
	if (!files_fail_at("fs.renameat2:ENOSYS"))
		return;
	CHECK_OK(write_text("a", "text", MR_FS_NEW, &err), err);
	CHECK_INT(files_count("."), 1);
	files_put("b", "kept");
	CHECK_ERR(mr_fs_rename(AT_FDCWD, "a", AT_FDCWD, "b", MR_FS_NEW, &err), err, MR_EEXISTS,
		"b exists already");
	files_hold("b", "kept");
	CHECK_OK(mr_fs_rename(AT_FDCWD, "a", AT_FDCWD, "c", MR_FS_NEW, &err), err);
	CHECK(!mr_fs_exists(AT_FDCWD, "a"));
	files_hold("c", "text");
	CHECK(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
	files_put("d/f", "inside");
	CHECK_ERR(mr_fs_rename(AT_FDCWD, "d", AT_FDCWD, "e", MR_FS_NEW, &err), err, MR_EEXISTS,
		"e exists already");
	CHECK_OK(mr_fs_rename(AT_FDCWD, "d", AT_FDCWD, "g", MR_FS_NEW, &err), err);
	files_hold("g/f", "inside");
	CHECK_ERR(mr_fs_rename(AT_FDCWD, "no", AT_FDCWD, "h", MR_FS_NEW, &err), err, MR_ENOTFOUND,
		"cannot rename no to h: No such file or directory");
	/* Stopped between link and unlink: the next attempt finishes. */
	CHECK(link("c", "i") == 0);
	CHECK_OK(mr_fs_rename(AT_FDCWD, "c", AT_FDCWD, "i", MR_FS_NEW, &err), err);
	CHECK(!mr_fs_exists(AT_FDCWD, "c"));
	files_hold("i", "text");
}

enum { WRITERS = 4, ROUNDS = 25 };

static void *write_often(void *arg)
{
	static const char *const texts[] = { "aaaaaaaaaaaaaaaa", "bbbb" };
	struct mr_err err;

	for (int i = 0; i < ROUNDS; i++)
		CHECK_OK(write_text("shared", texts[i % 2], MR_FS_REPLACE, &err), err);
	__atomic_store_n((bool *)arg, true, __ATOMIC_SEQ_CST);
	return NULL;
}

static bool all_true(const bool *flags, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!__atomic_load_n(&flags[i], __ATOMIC_SEQ_CST))
			return false;
	return true;
}

/* Readers and a sweeper with the writers' own process number never get in the way. */
static void writers_readers_and_sweepers_together(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	pthread_t threads[WRITERS];
	bool done[WRITERS] = { false };
	struct mr_bytes got;
	struct mr_err err;
	size_t removed;

	files_enter();
	CHECK_OK(write_text("shared", "bbbb", MR_FS_REPLACE, &err), err);
	for (size_t i = 0; i < WRITERS; i++)
		CHECK(pthread_create(&threads[i], NULL, write_often, &done[i]) == 0);
	while (!all_true(done, WRITERS)) {
		CHECK_OK(mr_fs_sweep_temporaries(AT_FDCWD, ".", &removed, &err), err);
		CHECK_OK(mr_fs_read(arena, AT_FDCWD, "shared", 64, &got, &err), err);
		CHECK(strcmp((const char *)got.data, "aaaaaaaaaaaaaaaa") == 0 ||
			strcmp((const char *)got.data, "bbbb") == 0);
	}
	for (size_t i = 0; i < WRITERS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK_INT(files_count("."), 1);
}

static void *write_new_once(void *arg)
{
	struct mr_err err;

	*(enum mr_code *)arg = write_text("new", "mine", MR_FS_NEW, &err);
	return NULL;
}

static void one_new_writer_wins(void)
{
	files_enter();
	for (int round = 0; round < 20; round++) {
		enum mr_code rcs[WRITERS];
		pthread_t threads[WRITERS];
		int won = 0;

		if (round == 10 && !files_fail_at("fs.renameat2:ENOSYS"))
			break;
		for (size_t i = 0; i < WRITERS; i++)
			CHECK(pthread_create(&threads[i], NULL, write_new_once, &rcs[i]) == 0);
		for (size_t i = 0; i < WRITERS; i++) {
			CHECK(pthread_join(threads[i], NULL) == 0);
			CHECK(rcs[i] == MR_OK || rcs[i] == MR_EEXISTS);
			won += rcs[i] == MR_OK;
		}
		CHECK_INT(won, 1);
		CHECK_INT(files_count("."), 1);
		CHECK(unlink("new") == 0);
	}
}

static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
	return pid;
}

static const char *put_temp(struct mr_arena *arena, pid_t pid, const char *random)
{
	char *name = mr_arena_printf(arena, ".x.tmp-%ld-%s", (long)pid, random);

	files_put(name, "half");
	return name;
}

static void sweep_removes_only_what_the_dead_left(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	pid_t dead = dead_pid();
	const char *stale, *live, *locked, *mine, *before;
	int fd, my_fd;
	size_t removed = 77;
	struct mr_err err;

	files_enter();
	stale = put_temp(arena, dead, "0123456789abcdef");
	live = put_temp(arena, getppid(), "0123456789abcdef");
	/* The number is dead here, but somebody in another container holds it. */
	locked = put_temp(arena, dead, "1123456789abcdef");
	fd = open(locked, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
	mine = put_temp(arena, getpid(), "0123456789abcdef");
	my_fd = open(mine, O_RDWR | O_CLOEXEC);
	CHECK(my_fd >= 0 && flock(my_fd, LOCK_EX) == 0);
	/* Left by a process that had our number before us. */
	before = put_temp(arena, getpid(), "1123456789abcdef");

	CHECK_OK(mr_fs_sweep_temporaries(AT_FDCWD, ".", &removed, &err), err);
	CHECK_INT(removed, 2);
	CHECK(!mr_fs_exists(AT_FDCWD, stale) && !mr_fs_exists(AT_FDCWD, before));
	CHECK(mr_fs_exists(AT_FDCWD, live));
	CHECK(mr_fs_exists(AT_FDCWD, locked));
	CHECK(mr_fs_exists(AT_FDCWD, mine));

	close(fd);
	close(my_fd);
	CHECK_OK(mr_fs_sweep_temporaries(AT_FDCWD, ".", &removed, &err), err);
	CHECK_INT(removed, 2);
	CHECK_INT(files_count("."), 1);
}

static void sweep_leaves_what_is_not_ours(void)
{
	static const char *const names[] = {
		"x.tmp-%ld-0123456789abcdef",   /* no dot in front */
		".x.tmp-%ld-0123456789abcde",   /* too short */
		".x.tmp-%ld-0123456789abcdef0", /* too long */
		".x.tmp-%ld-0123456789ABCDEF",  /* wrong digits */
		".x.tmp-%ld-0123456789abcdef~", /* something after it */
		".x.tmp-%ld",                   /* no random part */
		".x.tmp-0%ld-0123456789abcdef", /* not how we write numbers */
		".x.tmp--%ld-0123456789abcdef", /* a process group */
		".x.tmp-99999999999999999999%ld-0123456789abcdef",
		".x.temp-%ld-0123456789abcdef",
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	long dead = dead_pid();
	size_t removed = 77;
	struct mr_err err;

	files_enter();
	for (size_t i = 0; i < MR_LEN(names); i++) {
		const char *at = strstr(names[i], "%ld");

		files_put(mr_arena_printf(arena, "%.*s%ld%s", (int)(at - names[i]), names[i], dead,
				  at + 3),
			"kept");
	}
	CHECK(mkdir(mr_arena_printf(arena, ".d.tmp-%ld-0123456789abcdef", dead), 0755) == 0);
	CHECK(mkfifo(mr_arena_printf(arena, ".f.tmp-%ld-0123456789abcdef", dead), 0644) == 0);
	CHECK(symlink("x", mr_arena_printf(arena, ".l.tmp-%ld-0123456789abcdef", dead)) == 0);
	CHECK_OK(mr_fs_sweep_temporaries(AT_FDCWD, ".", &removed, &err), err);
	CHECK_INT(removed, 0);
	CHECK_INT(files_count("."), MR_LEN(names) + 3);

	/* A base that itself looks like a temporary: the last mark counts. */
	files_put(mr_arena_printf(arena, ".x.tmp-1-0123456789abcdef.tmp-%ld-0123456789abcdef",
			  dead),
		"");
	CHECK_OK(mr_fs_sweep_temporaries(AT_FDCWD, ".", &removed, &err), err);
	CHECK_INT(removed, 1);
	removed = 77;
	CHECK_ERR(mr_fs_sweep_temporaries(AT_FDCWD, "no", &removed, &err), err, MR_ENOTFOUND,
		"cannot open directory no: No such file or directory");
	CHECK_INT(removed, 77);
}

static void sweep_says_what_it_cannot_remove(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	pid_t dead = dead_pid();
	enum mr_code rc;
	size_t removed;
	struct mr_err err;

	files_enter();
	CHECK(chmod(".", 0755) == 0 && mkdir("d", 0755) == 0);
	files_put(mr_arena_printf(arena, "d/.x.tmp-%ld-0123456789abcdef", (long)dead), "half");
	if (getuid() != 0)
		CHECK(chmod("d", 0555) == 0);
	if (!files_become_nobody())
		return;
	rc = mr_fs_sweep_temporaries(AT_FDCWD, "d", &removed, &err);
	files_become_root();
	CHECK(chmod("d", 0755) == 0);
	CHECK_ERR(rc, err, MR_EPERM,
		mr_arena_printf(arena,
			"cannot remove d/.x.tmp-%ld-0123456789abcdef: Permission denied",
			(long)dead));
}

static void rename_moves(void)
{
	struct mr_err err;

	files_enter();
	CHECK(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
	files_put("a", "text a");
	files_put("b", "text b");
	CHECK_OK(mr_fs_rename(AT_FDCWD, "a", AT_FDCWD, "d/a", MR_FS_NEW, &err), err);
	files_hold("d/a", "text a");
	CHECK(!mr_fs_exists(AT_FDCWD, "a"));
	CHECK_ERR(mr_fs_rename(AT_FDCWD, "b", AT_FDCWD, "d/a", MR_FS_NEW, &err), err, MR_EEXISTS,
		"d/a exists already");
	CHECK_OK(mr_fs_rename(AT_FDCWD, "b", AT_FDCWD, "d/a", MR_FS_REPLACE, &err), err);
	files_hold("d/a", "text b");
	CHECK_OK(mr_fs_rename(AT_FDCWD, "d/", AT_FDCWD, "e/d/", MR_FS_NEW, &err), err);
	files_hold("e/d/a", "text b");
}

static void rename_says_what_is_wrong(void)
{
	static const struct {
		const char *from;
		const char *to;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "no", "x", MR_ENOTFOUND, "cannot rename no to x: No such file or directory" },
		{ "a", "no/x", MR_ENOTFOUND,
			"cannot open the directory of no/x: No such file or directory" },
		{ "no/a", "x", MR_ENOTFOUND,
			"cannot open the directory of no/a: No such file or directory" },
		{ "a", "", MR_EINVAL, "\"\" does not end in a file's name" },
		{ "a", "full", MR_EIO, "cannot rename a to full: Is a directory" },
	};

	files_enter();
	files_put("a", "kept");
	CHECK(mkdir("full", 0755) == 0);
	files_put("full/a", "x");
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_err err;

		CHECK_ERR(mr_fs_rename(AT_FDCWD, cases[i].from, AT_FDCWD, cases[i].to,
				  MR_FS_REPLACE, &err),
			err, cases[i].code, cases[i].msg);
	}
	files_hold("a", "kept");
}

static void rename_and_sync_report_the_disk(void)
{
	struct mr_err err;

	files_enter();
	CHECK(mkdir("d", 0755) == 0);
	files_put("a", "text");
	CHECK_OK(mr_fs_sync_dir(AT_FDCWD, "d", &err), err);
	CHECK_ERR(mr_fs_sync_dir(AT_FDCWD, "a", &err), err, MR_ENOTFOUND,
		"cannot open directory a: Not a directory");
	if (!files_fail_at("fs.sync:EIO:2"))
		return;
	CHECK_ERR(mr_fs_rename(AT_FDCWD, "a", AT_FDCWD, "d/a", MR_FS_NEW, &err), err, MR_EIO,
		"cannot write the directory of a to disk: Input/output error");
	CHECK_ERR(mr_fs_rename(AT_FDCWD, "d/a", AT_FDCWD, "b", MR_FS_NEW, &err), err, MR_EIO,
		"cannot write the directory of b to disk: Input/output error");
	CHECK_ERR(mr_fs_sync_dir(AT_FDCWD, "d", &err), err, MR_EIO,
		"cannot write directory d to disk: Input/output error");
}

/* Files and directories alike; one that cannot be synced is told. */
static void many_are_synced_together(void)
{
	int fds[] = { -1, -1 };
	struct mr_err err;

	files_enter();
	files_put("a", "x");
	CHECK_OK(mr_fs_open_dir(AT_FDCWD, ".", &fds[0], &err), err);
	fds[1] = open("a", O_RDONLY | O_CLOEXEC);
	CHECK_OK(mr_fs_sync_together(fds, MR_LEN(fds), &err), err);
	CHECK_OK(mr_fs_sync_together(fds, 0, &err), err);
	if (files_fail_at("fs.sync:EIO")) {
		CHECK_ERR(mr_fs_sync_together(fds, MR_LEN(fds), &err), err, MR_EIO,
			"cannot write to disk: Input/output error");
		files_fail_at(NULL);
	}
	for (size_t i = 0; i < MR_LEN(fds); i++)
		mr_fs_closep(&fds[i]);
	CHECK(mr_fs_sync_together(fds, 1, &err) != MR_OK);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(write_makes_and_replaces),
		TEST(write_locked_keeps_its_lock),
		TEST(write_goes_below_a_directory),
		TEST(write_large),
		TEST(bare_writes_take_the_place_of_what_is_there),
		TEST(write_new_refuses_what_is_there),
		TEST(write_replaces_a_link_itself),
		TEST(write_takes_the_longest_names),
		TEST(write_says_what_is_wrong),
		TEST(write_needs_permission),
		TEST(write_leaves_the_old_when_the_disk_fails),
		TEST(write_stands_when_only_the_directory_fails),
		TEST(works_without_renameat2),
		TEST(writers_readers_and_sweepers_together),
		TEST(one_new_writer_wins),
		TEST(sweep_removes_only_what_the_dead_left),
		TEST(sweep_leaves_what_is_not_ours),
		TEST(sweep_says_what_it_cannot_remove),
		TEST(rename_moves),
		TEST(rename_says_what_is_wrong),
		TEST(rename_and_sync_report_the_disk),
		TEST(many_are_synced_together),
	};
	return test_main(tests, MR_LEN(tests));
}
