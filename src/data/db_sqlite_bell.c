/* data/db_sqlite_bell.c - notices for SQLite: a file whose times are set, and inotify on it. */
#include "data/db_sqlite_bell.h"

#include "base/fs.h"
#include "base/fs_watch.h"
#include "base/oom.h"
#include "data/db_driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

struct sqlite_listener {
	struct mr_db_listener base;
	struct mr_fs_watch *bell;
};

static const char *bell_path(struct mr_arena *arena, const char *database)
{
	return mr_arena_printf(arena, "%s.bell", database);
}

static int open_bell(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void mr_db_sqlite_bell_ring(const char *database, int *fd)
{
	if (*fd < 0) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

		*fd = open_bell(bell_path(arena, database));
	}
	if (*fd >= 0)
		(void)futimens(*fd, NULL);
}

enum mr_code mr_db_sqlite_listen(const char *database, struct mr_db_listener **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *path = bell_path(arena, database);
	/* Only a file that is there can be watched. When it cannot be made, watching says why. */
	int fd MR_CLEANUP(mr_fs_closep) = open_bell(path);
	struct mr_fs_watch *bell = NULL;
	struct sqlite_listener *self;
	enum mr_code rc = mr_fs_watch_open(path, &bell, err);

	(void)fd;
	if (rc)
		return rc;
	self = calloc(1, sizeof(*self));
	if (!self)
		mr_oom(sizeof(*self));
	self->bell = bell;
	*out = &self->base;
	return MR_OK;
}

int mr_db_sqlite_listener_fd(const struct mr_db_listener *listener)
{
	return mr_fs_watch_fd(((const struct sqlite_listener *)listener)->bell);
}

bool mr_db_sqlite_listener_drain(struct mr_db_listener *listener)
{
	return mr_fs_watch_drain(((struct sqlite_listener *)listener)->bell);
}

void mr_db_sqlite_listener_close(struct mr_db_listener *listener)
{
	struct sqlite_listener *self = (struct sqlite_listener *)listener;

	mr_fs_watch_close(&self->bell);
	free(self);
}
