/* base/fs_watch.c - watches one file with inotify: it is written to, or its times are set. */
#include "base/fs_watch.h"

#include "base/oom.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

struct mr_fs_watch {
	int fd;
};

enum mr_code mr_fs_watch_open(const char *path, struct mr_fs_watch **out, struct mr_err *err)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	struct mr_fs_watch *watch;

	if (fd < 0)
		return mr_err_os(err, errno, "cannot watch %s", path);
	if (inotify_add_watch(fd, path, IN_ATTRIB | IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF) <
		0) {
		int why = errno;

		close(fd);
		return mr_err_os(err, why, "cannot watch %s", path);
	}
	watch = malloc(sizeof(*watch));
	if (!watch)
		mr_oom(sizeof(*watch));
	watch->fd = fd;
	*out = watch;
	return MR_OK;
}

int mr_fs_watch_fd(const struct mr_fs_watch *watch)
{
	return watch->fd;
}

bool mr_fs_watch_drain(struct mr_fs_watch *watch)
{
	char events[4096] __attribute__((aligned(8)));
	bool any = false;

	while (read(watch->fd, events, sizeof(events)) > 0)
		any = true;
	return any;
}

void mr_fs_watch_close(struct mr_fs_watch **watch)
{
	if (!*watch)
		return;
	close((*watch)->fd);
	free(*watch);
	*watch = NULL;
}
