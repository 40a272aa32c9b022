/* base/fs_watch_dirs.c - watches what happens in directories, with one inotify descriptor. */
#include "base/fs_watch_dirs.h"

#include "base/oom.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

struct mr_fs_watch_dirs {
	int fd;
};

enum { EVENTS_BYTES = 16 * 1024 };

enum mr_code mr_fs_watch_dirs_open(struct mr_fs_watch_dirs **out, struct mr_err *err)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct mr_fs_watch_dirs *watch;

	if (fd < 0)
		return mr_err_os(err, errno, "cannot watch directories");
	watch = malloc(sizeof(*watch));
	if (!watch)
		mr_oom(sizeof(*watch));
	watch->fd = fd;
	*out = watch;
	return MR_OK;
}

enum mr_code mr_fs_watch_dirs_add(struct mr_fs_watch_dirs *watch, const char *path, bool writes,
	int *out_id, struct mr_err *err)
{
	int id = inotify_add_watch(watch->fd, path,
		(writes ? IN_MODIFY : 0u) | IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_DELETE |
			IN_MOVED_FROM | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);

	if (id < 0)
		return mr_err_os(err, errno, "cannot watch %s", path);
	*out_id = id;
	return MR_OK;
}

void mr_fs_watch_dirs_remove(struct mr_fs_watch_dirs *watch, int id)
{
	if (id > 0)
		(void)inotify_rm_watch(watch->fd, id);
}

int mr_fs_watch_dirs_fd(const struct mr_fs_watch_dirs *watch)
{
	return watch->fd;
}

static unsigned what_of(uint32_t mask)
{
	unsigned what = 0;

	if (mask & IN_MODIFY)
		what |= MR_FS_WATCH_WRITTEN;
	if (mask & IN_CLOSE_WRITE)
		what |= MR_FS_WATCH_CLOSED;
	if (mask & (IN_CREATE | IN_MOVED_TO))
		what |= MR_FS_WATCH_ARRIVED;
	if (mask & (IN_DELETE | IN_MOVED_FROM))
		what |= MR_FS_WATCH_REMOVED;
	if (mask & IN_ATTRIB)
		what |= MR_FS_WATCH_TOUCHED;
	if (mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_Q_OVERFLOW | IN_UNMOUNT))
		what |= MR_FS_WATCH_LOST;
	return what;
}

void mr_fs_watch_dirs_drain(struct mr_fs_watch_dirs *watch, mr_fs_watch_told *told, void *arg)
{
	char events[EVENTS_BYTES] __attribute__((aligned(8)));
	ssize_t len;

	while ((len = read(watch->fd, events, sizeof(events))) > 0) {
		for (const char *at = events; at < events + len;) {
			const struct inotify_event *event = (const void *)at;
			unsigned what = what_of(event->mask);

			if (what)
				told(arg, event->wd > 0 ? event->wd : 0,
					event->len ? event->name : "", what);
			at += sizeof(*event) + event->len;
		}
	}
}

void mr_fs_watch_dirs_close(struct mr_fs_watch_dirs **watch)
{
	if (!*watch)
		return;
	close((*watch)->fd);
	free(*watch);
	*watch = NULL;
}
