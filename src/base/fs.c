/* base/fs.c - single files; see fs_tree.c for directories and what is below them. */
#include "base/fs.h"

#include "base/buf.h"
#include "base/crash.h"
#include "base/rand.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PATH_BYTES = PATH_MAX,
	/* "." base ".tmp-" pid "-" random fits in a name when this much of the base is kept. */
	TEMP_BASE_BYTES = 220,
	TEMP_RANDOM_DIGITS = 16,
	CREATE_ATTEMPTS = 16,
	OPENAT2_ATTEMPTS = 16,
	READ_FIRST_BYTES = 4096,
};

static const char TEMP_MARK[] = ".tmp-";

void mr_fs_closep(int *fd)
{
	int kept = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = kept;
}

int mr_fs_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static void close_dirp(DIR **stream)
{
	if (*stream)
		closedir(*stream);
}

/* 0, or -1 with the errno that a test requested. */
static int asked_to_fail(const char *name)
{
	int number = mr_crash_fail(name);

	if (number == 0)
		return 0;
	errno = number;
	return -1;
}

static int sys_open(int dir, const char *path, int flags, mode_t mode)
{
	int fd;

	if (asked_to_fail("fs.open"))
		return -1;
	do
		fd = openat(dir, path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

static int sys_sync(int fd)
{
	int rc;

	if (asked_to_fail("fs.sync"))
		return -1;
	do
		rc = fsync(fd);
	while (rc != 0 && errno == EINTR);
	return rc;
}

static int sys_write_all(int fd, struct mr_bytes data)
{
	while (data.len > 0) {
		ssize_t n = asked_to_fail("fs.write") ? -1 : write(fd, data.data, data.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data.data += n;
		data.len -= (size_t)n;
	}
	return 0;
}

/* Some file systems cannot sync a directory and say EINVAL; there is nothing more to be done. */
static int sync_dir_fd(int fd)
{
	return sys_sync(fd) == 0 || errno == EINVAL ? 0 : -1;
}

/* The directory a path leads to, and the name in it. */
struct place {
	int fd;
	char name[NAME_MAX + 1];
};

static void place_close(struct place *place)
{
	mr_fs_closep(&place->fd);
}

static enum mr_code place_open(int dir, const char *path, struct place *out, struct mr_err *err)
{
	struct mr_buf parent MR_CLEANUP(mr_buf_release) = { 0 };
	size_t end = strlen(path), start, len;

	mr_buf_init(&parent, PATH_BYTES);
	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	len = end - start;
	if (len == 0 || (len == 1 && path[start] == '.') ||
		(len == 2 && strncmp(path + start, "..", 2) == 0))
		return mr_err_set(err, MR_EINVAL, "\"%s\" does not end in a file's name", path);
	if (len > NAME_MAX)
		return mr_err_set(err, MR_EINVAL, "the name in %s is longer than %d bytes", path,
			NAME_MAX);
	if (start > 0)
		mr_buf_add(&parent, path, start);
	else
		mr_buf_putc(&parent, '.');
	if (mr_buf_check(&parent, path, err))
		return err->code;

	out->fd = sys_open(dir, mr_buf_text(&parent), O_RDONLY | O_DIRECTORY, 0);
	if (out->fd < 0)
		return mr_err_os(err, errno, "cannot open the directory of %s", path);
	memcpy(out->name, path + start, len);
	out->name[len] = '\0';
	return MR_OK;
}

enum mr_code mr_fs_open_dir(int dir, const char *path, int *out_fd, struct mr_err *err)
{
	int fd = sys_open(dir, path, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return mr_err_os(err, errno, "cannot open directory %s", path);
	*out_fd = fd;
	return MR_OK;
}

/* Go one directory down; a link is ELOOP, whatever the kernel calls it. */
static int open_step(int dir, const char *name)
{
	struct stat st;
	int fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 || errno != ENOTDIR)
		return fd;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		errno = ELOOP;
	else
		errno = ENOTDIR;
	return -1;
}

/*
 * For kernels and sandboxes without openat2(2): part by part, and no link at all, since only the
 * kernel can follow one and keep it inside.
 */
static int open_part_by_part(int dir, const char *path, int flags, mode_t mode)
{
	char part[NAME_MAX + 1];
	int at MR_CLEANUP(mr_fs_closep) = -1;
	size_t len;

	if (path[0] == '/') {
		errno = EXDEV;
		return -1;
	}
	for (;; path += len + strspn(path + len, "/")) {
		bool is_last;
		int fd;

		len = strcspn(path, "/");
		is_last = path[len + strspn(path + len, "/")] == '\0';
		if (len > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, path, len);
		part[len] = '\0';
		if (strcmp(part, "..") == 0) {
			errno = EXDEV;
			return -1;
		}
		if (is_last && path[len] == '\0')
			return openat(at < 0 ? dir : at, part, flags | O_NOFOLLOW, mode);
		fd = open_step(at < 0 ? dir : at, part);
		if (fd < 0)
			return -1;
		mr_fs_closep(&at);
		at = fd;
		if (is_last) /* a slash at the end: a directory is wanted */
			return openat(at, ".", flags, mode);
	}
}

static int sys_open_beneath(int dir, const char *path, int flags, mode_t mode, bool with_links)
{
	struct open_how how = {
		.flags = (uint64_t)flags,
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH |
			(with_links ? RESOLVE_NO_MAGICLINKS : RESOLVE_NO_SYMLINKS),
	};

	/* EAGAIN: something was renamed meanwhile and the kernel cannot vouch for "..". */
	for (int i = 0; i < OPENAT2_ATTEMPTS; i++) {
		long fd = asked_to_fail("fs.openat2")
			? -1
			: syscall(SYS_openat2, dir, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		/* Old sandboxes answer EPERM for calls they do not know. */
		if (errno == ENOSYS || errno == EPERM)
			return open_part_by_part(dir, path, flags, mode);
		if (errno != EAGAIN && errno != EINTR)
			return -1;
	}
	return -1;
}

static enum mr_code say_link(struct mr_err *err, const char *path)
{
	return mr_err_set(err, MR_EPERM, "%s goes through a link that is not followed", path);
}

static enum mr_code open_beneath(int dir, const char *path, int flags, mode_t mode, bool with_links,
	int *out_fd, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct stat st;

	if (asked_to_fail("fs.open"))
		return mr_err_os(err, errno, "cannot open %s", path);
	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	fd = sys_open_beneath(dir, path, flags | O_CLOEXEC, mode, with_links);
	if (fd < 0) {
		switch (errno) {
		case EXDEV:
			return mr_err_set(err, MR_EPERM, "%s leads out of its directory", path);
		case ELOOP:
			return say_link(err, path);
		case ENAMETOOLONG:
			return mr_err_set(err, MR_EINVAL, "cannot open %s: the name is too long",
				path);
		default:
			return mr_err_os(err, errno, "cannot open %s", path);
		}
	}
	if (fstat(fd, &st) != 0)
		return mr_err_os(err, errno, "cannot stat %s", path);
	if (S_ISLNK(st.st_mode) && !(flags & O_NOFOLLOW))
		return say_link(err, path);
	if (!(flags & O_PATH) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return mr_err_set(err, MR_EINVAL, "%s is neither a file nor a directory", path);
	*out_fd = mr_fs_take(&fd);
	return MR_OK;
}

enum mr_code mr_fs_open_beneath(int dir, const char *path, int flags, mode_t mode, int *out_fd,
	struct mr_err *err)
{
	return open_beneath(dir, path, flags, mode, true, out_fd, err);
}

enum mr_code mr_fs_open_real(const char *path, int flags, int *out_fd, struct mr_err *err)
{
	int top MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(AT_FDCWD, "/", &top, err);

	while (*path == '/')
		path++;
	return rc ? rc : open_beneath(top, path, flags, 0, false, out_fd, err);
}

static void temp_name(const char *base, char out[NAME_MAX + 1])
{
	size_t len = strlen(base);
	uint64_t number;

	/* Cut between characters: some file systems take only UTF-8. */
	if (len > TEMP_BASE_BYTES) {
		len = TEMP_BASE_BYTES;
		while (len > 0 && ((unsigned char)base[len] & 0xc0) == 0x80)
			len--;
	}
	mr_rand_fill(mr_rand_system(), &number, sizeof(number));
	snprintf(out, NAME_MAX + 1, ".%.*s%s%ld-%016" PRIx64, (int)len, base, TEMP_MARK,
		(long)getpid(), number);
}

/* The pid in the name of a temporary file; 0 when the name is not ours. */
static pid_t temp_owner(const char *name)
{
	const char *mark = NULL, *at = name;
	char *end;
	long pid;

	if (name[0] != '.')
		return 0;
	while ((at = strstr(at, TEMP_MARK)))
		mark = at++;
	if (!mark)
		return 0;
	mark += sizeof(TEMP_MARK) - 1;
	if (*mark < '1' || *mark > '9')
		return 0;
	errno = 0;
	pid = strtol(mark, &end, 10);
	if (errno != 0 || pid > INT_MAX || *end != '-')
		return 0;
	if (strspn(end + 1, "0123456789abcdef") != TEMP_RANDOM_DIGITS ||
		end[1 + TEMP_RANDOM_DIGITS] != '\0')
		return 0;
	return (pid_t)pid;
}

/*
 * A new temporary file, its name in `temp`. The writer keeps a lock on it, which tells a sweeper
 * that it lives; a sweeper that came between creation and lock has removed the name, so look again.
 */
static int temp_create(const struct place *at, mode_t mode, char temp[NAME_MAX + 1])
{
	for (int i = 0; i < CREATE_ATTEMPTS; i++) {
		struct stat st;
		int fd;

		temp_name(at->name, temp);
		fd = sys_open(at->fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -1;
		(void)flock(fd, LOCK_EX);
		if (fstat(fd, &st) == 0 && st.st_nlink > 0)
			return fd;
		close(fd);
	}
	errno = EEXIST;
	return -1;
}

static bool is_same_file(int dir, const char *name, const struct stat *st)
{
	struct stat other;
	int kept = errno;
	bool same = fstatat(dir, name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
		other.st_dev == st->st_dev && other.st_ino == st->st_ino;

	errno = kept;
	return same;
}

/*
 * For file systems without RENAME_NOREPLACE: a call that makes a new name claims it first. When
 * both names are one file already, an earlier attempt was stopped between, and this one finishes
 * it.
 */
static int rename_new_by_claim(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat st;

	if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	if (!S_ISDIR(st.st_mode)) {
		if (linkat(from_dir, from, to_dir, to, 0) != 0 &&
			!(errno == EEXIST && is_same_file(to_dir, to, &st)))
			return -1;
		mr_crash_point("fs.rename.linked");
		return unlinkat(from_dir, from, 0);
	}
	if (mkdirat(to_dir, to, 0700) != 0)
		return -1;
	mr_crash_point("fs.rename.claimed");
	if (renameat(from_dir, from, to_dir, to) != 0) {
		int kept = errno;

		unlinkat(to_dir, to, AT_REMOVEDIR);
		errno = kept;
		return -1;
	}
	return 0;
}

static int sys_rename(int from_dir, const char *from, int to_dir, const char *to,
	enum mr_fs_write how)
{
	int rc;

	if (asked_to_fail("fs.rename"))
		return -1;
	if (how == MR_FS_REPLACE)
		return renameat(from_dir, from, to_dir, to);
	rc = asked_to_fail("fs.renameat2")
		? -1
		: renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE);
	if (rc != 0 && (errno == EINVAL || errno == ENOSYS))
		return rename_new_by_claim(from_dir, from, to_dir, to);
	return rc;
}

static enum mr_code say_exists(struct mr_err *err, const char *path)
{
	return mr_err_set(err, MR_EEXISTS, "%s exists already", path);
}

/* Fill the temporary and give it its name; the caller removes it when this fails. */
static enum mr_code write_and_rename(int fd, const struct place *at, const char *temp,
	const char *path, struct mr_bytes data, enum mr_fs_write how, enum mr_fs_sync sync,
	struct mr_err *err)
{
	mr_crash_point("fs.write.created");
	if (sys_write_all(fd, data) != 0)
		return mr_err_os(err, errno, "cannot write %s", path);
	mr_crash_point("fs.write.written");
	if (sync != MR_FS_SYNC_NOTHING && sys_sync(fd) != 0)
		return mr_err_os(err, errno, "cannot write %s to disk", path);
	mr_crash_point("fs.write.synced");
	if (sys_rename(at->fd, temp, at->fd, at->name, how) != 0) {
		if (errno == EEXIST && how == MR_FS_NEW)
			return say_exists(err, path);
		return mr_err_os(err, errno, "cannot put %s in place", path);
	}
	mr_crash_point("fs.write.renamed");
	return MR_OK;
}

static enum mr_code write_file(int dir, const char *path, struct mr_bytes data,
	enum mr_fs_write how, enum mr_fs_sync sync, mode_t mode, int *out_fd, struct mr_err *err)
{
	struct place at MR_CLEANUP(place_close) = { .fd = -1 };
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	char temp[NAME_MAX + 1];
	enum mr_code rc = place_open(dir, path, &at, err);

	if (rc)
		return rc;
	/* Only saves work: the rename itself decides. */
	if (how == MR_FS_NEW && mr_fs_exists(at.fd, at.name))
		return say_exists(err, path);
	fd = temp_create(&at, mode, temp);
	if (fd < 0)
		return mr_err_os(err, errno, "cannot create %s", path);
	rc = write_and_rename(fd, &at, temp, path, data, how, sync, err);
	if (rc) {
		unlinkat(at.fd, temp, 0);
		return rc;
	}
	*out_fd = mr_fs_take(&fd);
	if (sync == MR_FS_SYNC_ALL && sync_dir_fd(at.fd) != 0)
		return mr_err_os(err, errno, "cannot write the directory of %s to disk", path);
	mr_crash_point("fs.write.done");
	return MR_OK;
}

enum mr_code mr_fs_write_locked(int dir, const char *path, struct mr_bytes data,
	enum mr_fs_write how, enum mr_fs_sync sync, mode_t mode, int *out_fd, struct mr_err *err)
{
	return write_file(dir, path, data, how, sync, mode, out_fd, err);
}

enum mr_code mr_fs_write_as(int dir, const char *path, struct mr_bytes data, enum mr_fs_write how,
	enum mr_fs_sync sync, mode_t mode, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;

	return write_file(dir, path, data, how, sync, mode, &fd, err);
}

enum mr_code mr_fs_write_bare(int dir, const char *path, struct mr_bytes data, bool sync,
	mode_t mode, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) =
		sys_open(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode);

	if (fd < 0)
		return mr_err_os(err, errno, "cannot create %s", path);
	mr_crash_point("fs.bare.created");
	if (sys_write_all(fd, data) != 0)
		return mr_err_os(err, errno, "cannot write %s", path);
	mr_crash_point("fs.bare.written");
	if (sync && sys_sync(fd) != 0)
		return mr_err_os(err, errno, "cannot write %s to disk", path);
	mr_crash_point("fs.bare.synced");
	return MR_OK;
}

enum mr_code mr_fs_write(int dir, const char *path, struct mr_bytes data, enum mr_fs_write how,
	mode_t mode, struct mr_err *err)
{
	return mr_fs_write_as(dir, path, data, how, MR_FS_SYNC_ALL, mode, err);
}

/* Has the writer of this temporary file died? `*out_fd` holds its lock, so that no new writer
 * goes unnoticed. */
static bool temp_is_stale(int dir, const char *name, int *out_fd)
{
	pid_t pid = temp_owner(name);
	struct stat st;

	/* A process with our own pid may be our predecessor: in a container both have number 1. */
	if (pid == 0 || (pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH)))
		return false;
	*out_fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*out_fd < 0)
		return errno == EACCES && pid != getpid();
	if (fstat(*out_fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (flock(*out_fd, LOCK_SH | LOCK_NB) == 0)
		return true;
	return errno != EWOULDBLOCK && pid != getpid();
}

enum mr_code mr_fs_sweep_temporaries(int dir, const char *path, size_t *out_removed,
	struct mr_err *err)
{
	DIR *stream MR_CLEANUP(close_dirp) = NULL;
	size_t removed = 0;
	struct dirent *entry;
	int fd = -1;
	enum mr_code rc = mr_fs_open_dir(dir, path, &fd, err);

	if (rc)
		return rc;
	stream = fdopendir(fd);
	if (!stream) {
		rc = mr_err_os(err, errno, "cannot read directory %s", path);
		close(fd);
		return rc;
	}
	while (errno = 0, entry = readdir(stream)) {
		int temp MR_CLEANUP(mr_fs_closep) = -1;

		if (!temp_is_stale(fd, entry->d_name, &temp))
			continue;
		if (unlinkat(fd, entry->d_name, 0) == 0)
			removed++;
		else if (errno != ENOENT)
			return mr_err_os(err, errno, "cannot remove %s/%s", path, entry->d_name);
		mr_crash_point("fs.sweep.removed");
	}
	if (errno != 0)
		return mr_err_os(err, errno, "cannot read directory %s", path);
	*out_removed = removed;
	return MR_OK;
}

enum mr_code mr_fs_rename(int from_dir, const char *from, int to_dir, const char *to,
	enum mr_fs_write how, struct mr_err *err)
{
	struct place source MR_CLEANUP(place_close) = { .fd = -1 };
	struct place target MR_CLEANUP(place_close) = { .fd = -1 };
	enum mr_code rc = place_open(from_dir, from, &source, err);

	if (!rc)
		rc = place_open(to_dir, to, &target, err);
	if (rc)
		return rc;
	if (sys_rename(source.fd, source.name, target.fd, target.name, how) != 0) {
		if (errno == EEXIST && how == MR_FS_NEW)
			return say_exists(err, to);
		return mr_err_os(err, errno, "cannot rename %s to %s", from, to);
	}
	mr_crash_point("fs.rename.renamed");
	/* The new name first, so that the file has one at any time. */
	if (sync_dir_fd(target.fd) != 0)
		return mr_err_os(err, errno, "cannot write the directory of %s to disk", to);
	mr_crash_point("fs.rename.target_synced");
	if (sync_dir_fd(source.fd) != 0)
		return mr_err_os(err, errno, "cannot write the directory of %s to disk", from);
	mr_crash_point("fs.rename.done");
	return MR_OK;
}

enum mr_code mr_fs_sync(int fd, const char *path, struct mr_err *err)
{
	return sys_sync(fd) == 0 ? MR_OK : mr_err_os(err, errno, "cannot write %s to disk", path);
}

enum mr_code mr_fs_sync_dir(int dir, const char *path, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc = mr_fs_open_dir(dir, path, &fd, err);

	if (rc)
		return rc;
	if (sync_dir_fd(fd) != 0)
		return mr_err_os(err, errno, "cannot write directory %s to disk", path);
	return MR_OK;
}

static char *grow(struct mr_arena *arena, const char *data, size_t len, size_t cap)
{
	char *grown = mr_arena_alloc(arena, cap);

	memcpy(grown, data, len);
	return grown;
}

/* read(2) that waits where the descriptor would not, as an inherited standard input may. */
static ssize_t sys_read(int fd, void *out, size_t len)
{
	for (;;) {
		ssize_t n = asked_to_fail("fs.read") ? -1 : read(fd, out, len);

		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			return n;
		if (errno == EAGAIN)
			(void)poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
	}
}

/* Read to the end; `hint` is the size to expect, or with `is_size` that of the file, after which
 * nothing more is asked for unless it is 0, as in /proc. One byte of room stays for the NUL. */
static enum mr_code read_all(struct mr_arena *arena, int fd, const char *what, size_t hint,
	bool is_size, size_t max, struct mr_bytes *out, struct mr_err *err)
{
	size_t most = max < SIZE_MAX ? max + 1 : max;
	size_t cap = hint < most ? hint + 1 : most;
	size_t len = 0;
	char *data = mr_arena_alloc(arena, cap);

	for (;;) {
		ssize_t n = sys_read(fd, data + len, cap - len);

		if (n < 0)
			return mr_err_os(err, errno, "cannot read %s", what);
		if (n == 0)
			break;
		len += (size_t)n;
		if (is_size && len == hint)
			break;
		if (len < cap)
			continue;
		if (cap == most)
			return mr_err_set(err, MR_ELIMIT, "%s is larger than %zu bytes", what, max);
		cap = cap < READ_FIRST_BYTES / 2 ? READ_FIRST_BYTES : cap * 2;
		cap = cap < most ? cap : most;
		data = grow(arena, data, len, cap);
	}
	data[len] = '\0';
	*out = mr_bytes_of(data, len);
	return MR_OK;
}

enum mr_code mr_fs_read(struct mr_arena *arena, int dir, const char *path, size_t max,
	struct mr_bytes *out, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = sys_open(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	struct stat st;

	if (fd < 0)
		return mr_err_os(err, errno, "cannot open %s", path);
	if (fstat(fd, &st) != 0)
		return mr_err_os(err, errno, "cannot stat %s", path);
	if (S_ISDIR(st.st_mode))
		return mr_err_set(err, MR_EINVAL, "%s is a directory, not a file", path);
	if (!S_ISREG(st.st_mode))
		return mr_err_set(err, MR_EINVAL, "%s is not a regular file", path);
	if ((uintmax_t)st.st_size > max)
		return mr_err_set(err, MR_ELIMIT, "%s is larger than %zu bytes", path, max);
	return read_all(arena, fd, path, (size_t)st.st_size, true, max, out, err);
}

enum mr_code mr_fs_read_fd(struct mr_arena *arena, int fd, size_t max, struct mr_bytes *out,
	struct mr_err *err)
{
	return read_all(arena, fd, "the input", READ_FIRST_BYTES, false, max, out, err);
}

bool mr_fs_exists(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
