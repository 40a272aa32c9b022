/* tests/unit/base/test_fs_read.c - files opened and read. */
#include "base/fs.h"
#include "files.h"
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_keeps_to_its_bounds(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes got = { .len = 77 };
	struct mr_err err;

	files_enter();
	files_put("empty", "");
	files_put("five", "12345");
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "empty", 0, &got, &err), err);
	CHECK_INT(got.len, 0);
	CHECK_STR((const char *)got.data, "");
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "five", 5, &got, &err), err);
	CHECK_INT(got.len, 5);
	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "five", SIZE_MAX, &got, &err), err);
	CHECK_STR((const char *)got.data, "12345");
	got.len = 77;
	CHECK_ERR(mr_fs_read(arena, AT_FDCWD, "five", 4, &got, &err), err, MR_ELIMIT,
		"five is larger than 4 bytes");
	CHECK_ERR(mr_fs_read(arena, AT_FDCWD, "five", 0, &got, &err), err, MR_ELIMIT,
		"five is larger than 0 bytes");
	CHECK_INT(got.len, 77);
}

/* Files of /proc claim to be empty, as a file does that grows while it is read. */
static void read_bounds_what_grows(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes got;
	struct mr_err err;

	CHECK_OK(mr_fs_read(arena, AT_FDCWD, "/proc/self/smaps", 1 << 20, &got, &err), err);
	CHECK(got.len > 4096);
	CHECK_INT(strlen((const char *)got.data), got.len);
	CHECK_ERR(mr_fs_read(arena, AT_FDCWD, "/proc/self/smaps", 100, &got, &err), err, MR_ELIMIT,
		"/proc/self/smaps is larger than 100 bytes");
}

static void read_refuses_other_kinds(void)
{
	static const struct {
		const char *path;
		enum mr_code code;
		const char *msg;
	} cases[] = {
		{ "no", MR_ENOTFOUND, "cannot open no: No such file or directory" },
		{ "f/x", MR_ENOTFOUND, "cannot open f/x: Not a directory" },
		{ "dangling", MR_ENOTFOUND, "cannot open dangling: No such file or directory" },
		{ "d", MR_EINVAL, "d is a directory, not a file" },
		{ "fifo", MR_EINVAL, "fifo is not a regular file" },
		{ "/dev/null", MR_EINVAL, "/dev/null is not a regular file" },
		{ "socket", MR_EIO, "cannot open socket: No such device or address" },
		{ "loop", MR_EIO, "cannot open loop: Too many levels of symbolic links" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd MR_CLEANUP(mr_fs_closep) = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t before;

	files_enter();
	files_put("f", "text");
	CHECK(mkdir("d", 0755) == 0 && mkfifo("fifo", 0644) == 0);
	CHECK(symlink("no", "dangling") == 0 && symlink("loop", "loop") == 0);
	CHECK(symlink("f", "link") == 0);
	CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	files_hold("link", "text");
	before = files_open();
	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_bytes got;
		struct mr_err err;

		CHECK_ERR(mr_fs_read(arena, AT_FDCWD, cases[i].path, 100, &got, &err), err,
			cases[i].code, cases[i].msg);
	}
	CHECK_INT(files_open(), before);
}

static void read_reports_the_disk(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes got;
	struct mr_err err;

	files_enter();
	files_put("a", "text");
	if (!files_fail_at("fs.read:EIO"))
		return;
	CHECK_ERR(mr_fs_read(arena, AT_FDCWD, "a", 100, &got, &err), err, MR_EIO,
		"cannot read a: Input/output error");
}

static void read_fd_takes_pipes(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes got;
	struct mr_err err;

	/* Also when the descriptor would not wait by itself, as an inherited one may. */
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		int fds[2];
		pid_t pid;

		CHECK(pipe2(fds, O_CLOEXEC | flags) == 0);
		pid = fork();
		if (pid == 0) {
			for (int i = 0; i < 1000; i++) {
				ssize_t n;

				do
					n = write(fds[1], "0123456789", 10);
				while (n < 0 && errno == EAGAIN);
				if (n != 10)
					_exit(1);
			}
			_exit(0);
		}
		close(fds[1]);
		CHECK_OK(mr_fs_read_fd(arena, fds[0], 10000, &got, &err), err);
		CHECK_INT(got.len, 10000);
		CHECK(got.data[9999] == '9' && got.data[10000] == '\0');
		close(fds[0]);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

static void read_fd_starts_where_it_stands(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_bytes got;
	struct mr_err err;

	files_enter();
	files_put("a", "0123456789");
	fd = open("a", O_RDONLY | O_CLOEXEC);
	CHECK(lseek(fd, 7, SEEK_SET) == 7);
	CHECK_OK(mr_fs_read_fd(arena, fd, 3, &got, &err), err);
	CHECK_STR((const char *)got.data, "789");
	CHECK(lseek(fd, 6, SEEK_SET) == 6);
	CHECK_ERR(mr_fs_read_fd(arena, fd, 3, &got, &err), err, MR_ELIMIT,
		"the input is larger than 3 bytes");
	mr_fs_closep(&fd);
	CHECK_INT(fd, -1);
	CHECK_ERR(mr_fs_read_fd(arena, fd, 3, &got, &err), err, MR_EIO,
		"cannot read the input: Bad file descriptor");
}

enum { BOTH, ONLY_OPENAT2, ONLY_FALLBACK };

static const struct {
	const char *path;
	int flags;
	int where;
	enum mr_code code;
	const char *msg;
} beneath_cases[] = {
	{ "f", O_RDONLY, BOTH, MR_OK, NULL },
	{ "d/f", O_RDONLY, BOTH, MR_OK, NULL },
	{ "./d//f", O_RDONLY, BOTH, MR_OK, NULL },
	{ "d", O_RDONLY, BOTH, MR_OK, NULL },
	{ "d/", O_RDONLY, BOTH, MR_OK, NULL },
	{ ".", O_RDONLY | O_DIRECTORY, BOTH, MR_OK, NULL },
	{ "d/new", O_WRONLY | O_CREAT | O_EXCL, BOTH, MR_OK, NULL },
	{ "d/f", O_PATH, BOTH, MR_OK, NULL },
	{ "fifo", O_PATH, BOTH, MR_OK, NULL },
	{ "d/../f", O_RDONLY, ONLY_OPENAT2, MR_OK, NULL },
	{ "inside", O_RDONLY, ONLY_OPENAT2, MR_OK, NULL },
	{ "inside_dir/f", O_RDONLY, ONLY_OPENAT2, MR_OK, NULL },
	{ "d/../f", O_RDONLY, ONLY_FALLBACK, MR_EPERM, "d/../f leads out of its directory" },
	{ "inside", O_RDONLY, ONLY_FALLBACK, MR_EPERM,
		"inside goes through a link that is not followed" },
	{ "inside_dir/f", O_RDONLY, ONLY_FALLBACK, MR_EPERM,
		"inside_dir/f goes through a link that is not followed" },
	{ "inside_dir/", O_RDONLY, ONLY_OPENAT2, MR_OK, NULL },
	{ "inside_dir/", O_RDONLY, ONLY_FALLBACK, MR_EPERM,
		"inside_dir/ goes through a link that is not followed" },
	{ "inside", O_PATH | O_NOFOLLOW, BOTH, MR_OK, NULL },
	{ "inside", O_PATH, ONLY_OPENAT2, MR_OK, NULL },
	{ "inside", O_PATH, ONLY_FALLBACK, MR_EPERM,
		"inside goes through a link that is not followed" },
	{ "inside", O_RDONLY | O_NOFOLLOW, BOTH, MR_EPERM,
		"inside goes through a link that is not followed" },
	{ "new_dir/", O_WRONLY | O_CREAT, ONLY_OPENAT2, MR_EIO,
		"cannot open new_dir/: Is a directory" },
	{ "new_dir/", O_WRONLY | O_CREAT, ONLY_FALLBACK, MR_ENOTFOUND,
		"cannot open new_dir/: No such file or directory" },
	{ "/etc/passwd", O_RDONLY, BOTH, MR_EPERM, "/etc/passwd leads out of its directory" },
	{ "..", O_RDONLY, BOTH, MR_EPERM, ".. leads out of its directory" },
	{ "../secret", O_RDONLY, BOTH, MR_EPERM, "../secret leads out of its directory" },
	{ "d/../../secret", O_RDONLY, BOTH, MR_EPERM, "d/../../secret leads out of its directory" },
	{ "out", O_RDONLY, ONLY_OPENAT2, MR_EPERM, "out leads out of its directory" },
	{ "out_absolute", O_RDONLY, ONLY_OPENAT2, MR_EPERM,
		"out_absolute leads out of its directory" },
	{ "out", O_RDONLY, ONLY_FALLBACK, MR_EPERM,
		"out goes through a link that is not followed" },
	{ "out_dir/secret", O_RDONLY, ONLY_OPENAT2, MR_EPERM,
		"out_dir/secret leads out of its directory" },
	{ "out_dir/secret", O_RDONLY, ONLY_FALLBACK, MR_EPERM,
		"out_dir/secret goes through a link that is not followed" },
	{ "out_new", O_WRONLY | O_CREAT, ONLY_OPENAT2, MR_EPERM,
		"out_new leads out of its directory" },
	{ "out_new", O_WRONLY | O_CREAT, ONLY_FALLBACK, MR_EPERM,
		"out_new goes through a link that is not followed" },
	{ "loop", O_RDONLY, BOTH, MR_EPERM, "loop goes through a link that is not followed" },
	{ "", O_RDONLY, BOTH, MR_ENOTFOUND, "cannot open : No such file or directory" },
	{ "no", O_RDONLY, BOTH, MR_ENOTFOUND, "cannot open no: No such file or directory" },
	{ "no/f", O_RDONLY, BOTH, MR_ENOTFOUND, "cannot open no/f: No such file or directory" },
	{ "f/f", O_RDONLY, BOTH, MR_ENOTFOUND, "cannot open f/f: Not a directory" },
	{ "f/", O_RDONLY, BOTH, MR_ENOTFOUND, "cannot open f/: Not a directory" },
	{ "f", O_WRONLY | O_CREAT | O_EXCL, BOTH, MR_EEXISTS, "cannot open f: File exists" },
	{ "d", O_WRONLY, BOTH, MR_EIO, "cannot open d: Is a directory" },
	{ "fifo", O_RDONLY, BOTH, MR_EINVAL, "fifo is neither a file nor a directory" },
	{ "fifo", O_WRONLY, BOTH, MR_EIO, "cannot open fifo: No such device or address" },
};

static void try_beneath(int where)
{
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err err;
	size_t before;

	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "home", &dir, &err), err);
	before = files_open();
	for (size_t i = 0; i < MR_LEN(beneath_cases); i++) {
		int fd = -77;
		enum mr_code rc;

		if (beneath_cases[i].where != BOTH && beneath_cases[i].where != where)
			continue;
		rc = mr_fs_open_beneath(dir, beneath_cases[i].path, beneath_cases[i].flags, 0644,
			&fd, &err);
		if (beneath_cases[i].code != MR_OK) {
			CHECK_ERR(rc, err, beneath_cases[i].code, beneath_cases[i].msg);
			CHECK_INT(fd, -77);
			continue;
		}
		CHECK_OK(rc, err);
		CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
	CHECK_INT(files_open(), before);
	CHECK(!mr_fs_exists(AT_FDCWD, "made_outside"));
}

static void prepare_home(void)
{
	files_enter();
	CHECK(mkdir("home", 0755) == 0 && mkdir("home/d", 0755) == 0);
	files_put("secret", "secret");
	files_put("home/f", "text");
	files_put("home/d/f", "text");
	CHECK(mkfifo("home/fifo", 0644) == 0);
	CHECK(symlink("d/f", "home/inside") == 0 && symlink("d", "home/inside_dir") == 0);
	CHECK(symlink("../secret", "home/out") == 0 && symlink("..", "home/out_dir") == 0);
	CHECK(symlink("/etc/passwd", "home/out_absolute") == 0);
	CHECK(symlink("../made_outside", "home/out_new") == 0);
	CHECK(symlink("loop", "home/loop") == 0);
}

static void open_beneath_stays_home(void)
{
	prepare_home();
	try_beneath(ONLY_OPENAT2);
}

static void open_beneath_stays_home_without_openat2(void)
{
	prepare_home();
	if (files_fail_at("fs.openat2:ENOSYS"))
		try_beneath(ONLY_FALLBACK);
}

static void open_beneath_refuses_long_names(void)
{
	char name[NAME_MAX + 2];
	struct mr_err err;
	int fd;

	files_enter();
	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	for (int i = 0; i < 2; i++) {
		if (i == 1 && !files_fail_at("fs.openat2:ENOSYS"))
			return;
		CHECK_INT(mr_fs_open_beneath(AT_FDCWD, name, O_RDONLY, 0, &fd, &err), MR_EINVAL);
		CHECK(strstr(err.msg, "nnn: the name is too long"));
	}
}

static void open_beneath_knows_magic_links(void)
{
	struct mr_err err;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	int fd;

	CHECK_OK(mr_fs_open_dir(AT_FDCWD, "/proc/self", &dir, &err), err);
	CHECK_ERR(mr_fs_open_beneath(dir, "root/etc/passwd", O_RDONLY, 0, &fd, &err), err, MR_EPERM,
		"root/etc/passwd goes through a link that is not followed");
}

static void open_real_takes_no_links(void)
{
	static const char *const links[] = { "d/link", "up/f" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	char here[PATH_MAX];
	struct mr_err err;

	files_enter();
	CHECK(realpath(".", here));
	CHECK(mkdir("d", 0755) == 0);
	files_put("d/f", "text");
	CHECK(symlink("f", "d/link") == 0 && symlink("d", "up") == 0);
	CHECK(mkfifo("d/pipe", 0600) == 0);
	for (int way = 0; way < 2; way++) {
		CHECK_OK(mr_fs_open_real(mr_arena_printf(arena, "%s/d/f", here), O_RDONLY, &fd,
				 &err),
			err);
		mr_fs_closep(&fd);
		for (size_t i = 0; i < MR_LEN(links); i++)
			CHECK_INT(mr_fs_open_real(mr_arena_printf(arena, "%s/%s", here, links[i]),
					  O_RDONLY, &fd, &err),
				MR_EPERM);
		CHECK_INT(mr_fs_open_real(mr_arena_printf(arena, "%s/d/pipe", here), O_RDONLY, &fd,
				  &err),
			MR_EINVAL);
		CHECK_INT(mr_fs_open_real(mr_arena_printf(arena, "%s/gone", here), O_RDONLY, &fd,
				  &err),
			MR_ENOTFOUND);
		if (!files_fail_at("fs.openat2:ENOSYS"))
			return;
	}
}

static void exists_counts_links(void)
{
	files_enter();
	files_put("a", "");
	CHECK(symlink("nowhere", "link") == 0);
	CHECK(mr_fs_exists(AT_FDCWD, "a"));
	CHECK(mr_fs_exists(AT_FDCWD, "."));
	CHECK(mr_fs_exists(AT_FDCWD, "link"));
	CHECK(!mr_fs_exists(AT_FDCWD, "nowhere"));
	CHECK(!mr_fs_exists(AT_FDCWD, ""));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(read_keeps_to_its_bounds),
		TEST(read_bounds_what_grows),
		TEST(read_refuses_other_kinds),
		TEST(read_reports_the_disk),
		TEST(read_fd_takes_pipes),
		TEST(read_fd_starts_where_it_stands),
		TEST(open_beneath_stays_home),
		TEST(open_beneath_stays_home_without_openat2),
		TEST(open_beneath_refuses_long_names),
		TEST(open_beneath_knows_magic_links),
		TEST(open_real_takes_no_links),
		TEST(exists_counts_links),
	};
	return test_main(tests, MR_LEN(tests));
}
