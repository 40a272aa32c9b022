/* data/db_sqlite_file.c - the file of an SQLite database, as the file system sees it. */
#include "data/db_sqlite_file.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SHOWN_PATH_BYTES = MR_DB_SQLITE_SHOWN_BYTES - 8,
	/* The bytes in which SQLite locks its files: a process that has one open locks some of
	 * them. */
	LOCK_START = 0x40000000,
	LOCK_BYTES = 512,
};

struct mr_db_sqlite_file mr_db_sqlite_file_at(const char *path)
{
	struct stat st;

	return stat(path, &st) ? (struct mr_db_sqlite_file){ 0, 0 }
			       : (struct mr_db_sqlite_file){ st.st_dev, st.st_ino };
}

bool mr_db_sqlite_file_is_same(struct mr_db_sqlite_file one, struct mr_db_sqlite_file other)
{
	return one.dev == other.dev && one.ino == other.ino;
}

const char *mr_db_sqlite_shown_path(const struct mr_db_options *options,
	char room[MR_DB_SQLITE_SHOWN_BYTES])
{
	size_t len = strlen(options->path);
	const char *end = options->path + len;

	if (len <= SHOWN_PATH_BYTES)
		return options->path;
	end -= SHOWN_PATH_BYTES;
	while (((unsigned char)*end & 0xc0) == 0x80)
		end++;
	snprintf(room, MR_DB_SQLITE_SHOWN_BYTES, "...%s", end);
	return room;
}

enum mr_code mr_db_sqlite_file_create(const struct mr_db_options *options, struct mr_arena *arena,
	struct mr_err *err)
{
	/* O_EXCL: opening and closing a file that has connections would drop their locks. */
	int fd = open(options->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	const char *slash = strrchr(options->path, '/');
	const char *dir = ".";
	char room[MR_DB_SQLITE_SHOWN_BYTES];

	if (fd < 0 && errno == EEXIST)
		return MR_OK;
	if (fd < 0)
		return mr_err_os(err, errno, "cannot create database %s",
			mr_db_sqlite_shown_path(options, room));
	close(fd);
	if (slash)
		dir = slash == options->path
			? "/"
			: mr_arena_strndup(arena, options->path, (size_t)(slash - options->path));
	return mr_fs_sync_dir(AT_FDCWD, dir, err);
}

/* The kernel is asked, since a damaged database cannot tell. */
bool mr_db_sqlite_file_is_open_elsewhere(const char *path, long *pid)
{
	int fd MR_CLEANUP(mr_fs_closep) = open(path, O_RDWR | O_CLOEXEC);
	struct flock lock = { .l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = LOCK_START,
		.l_len = LOCK_BYTES };

	if (fd < 0 || fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
		return false;
	*pid = (long)lock.l_pid;
	return true;
}
