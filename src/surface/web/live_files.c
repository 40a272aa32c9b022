/* surface/web/live_files.c - Follows the files that pages were made of, in a thread of its own. */
#include "surface/web/live_files.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/oom.h"
#include "base/str.h"
#include "data/followed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>

enum {
	FILES_MAX = 500, /* the newest that pages showed; with many mailboxes, not all */
	GAP_MS = 10,     /* between two changes that are told of */
};

struct mr_web_live_files {
	void (*changed)(void *arg);
	void *arg;
	pthread_mutex_t lock; /* guards what follows, while it is started */
	bool has_failed;
	struct mr_followed *follow; /* NULL until the first file; then the thread runs */
	int end;                    /* an eventfd */
	pthread_t thread;
};

struct mr_web_live_files *mr_web_live_files_new(void (*changed)(void *arg), void *arg)
{
	struct mr_web_live_files *files = calloc(1, sizeof(*files));

	if (!files)
		mr_oom(sizeof(*files));
	files->changed = changed;
	files->arg = arg;
	files->end = -1;
	pthread_mutex_init(&files->lock, NULL);
	return files;
}

void mr_web_live_files_free(struct mr_web_live_files *files)
{
	if (!files)
		return;
	if (files->follow) {
		(void)eventfd_write(files->end, 1);
		pthread_join(files->thread, NULL);
	}
	mr_followed_close(&files->follow);
	mr_fs_closep(&files->end);
	pthread_mutex_destroy(&files->lock);
	free(files);
}

static void *run(void *arg)
{
	struct mr_web_live_files *files = arg;
	struct pollfd fds[] = {
		{ .fd = files->end, .events = POLLIN },
		{ .fd = mr_followed_fd(files->follow), .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, MR_LEN(fds), -1) < 0)
			continue;
		if (fds[0].revents)
			return NULL;
		if (!mr_followed_drain(files->follow))
			continue;
		files->changed(files->arg);
		if (poll(fds, 1, GAP_MS) > 0)
			return NULL;
	}
}

/* Under the lock. */
static enum mr_code start(struct mr_web_live_files *files, struct mr_err *err)
{
	struct mr_followed *follow = NULL;
	sigset_t all, before;
	int failed;
	enum mr_code rc = mr_followed_open(FILES_MAX, &follow, err);

	if (rc)
		return rc;
	files->end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	files->follow = follow;
	/* Signals are for others. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = files->end < 0 ? errno : pthread_create(&files->thread, NULL, run, files);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		return MR_OK;
	mr_followed_close(&files->follow);
	mr_fs_closep(&files->end);
	return mr_err_os(err, failed, "cannot start the thread that follows files");
}

void mr_web_live_files_add(struct mr_web_live_files *files, const char *path, bool is_database)
{
	struct mr_err err;

	pthread_mutex_lock(&files->lock);
	/* Without it pages change when somebody looks at them again, and it is said once. */
	if (!files->follow && !files->has_failed && start(files, &err)) {
		files->has_failed = true;
		mr_log(MR_LOG_WARN, "live_files_failed", "%s", err.msg);
	}
	if (files->follow)
		mr_followed_add(files->follow, path, is_database);
	pthread_mutex_unlock(&files->lock);
}
