/*
 * team/store/watch.c - Waits for changes of the database by watching a bell file that every writer
 * touches after its commit.
 *
 * After each commit the writer rings the bell: it sets the times of a file beside the database. The
 * database's own files would not do, since they are written before others can see the change.
 *
 * The kernel limits a user to about a hundred inotify instances. So all waiting threads of this
 * process share one "ear": one of them waits in the kernel, the others wait for it, and when it
 * leaves another takes its place. Each watch compares its own count of rings with the ear's.
 */
#include "team/store/watch.h"

#include "base/fs.h"
#include "base/fs_watch.h"
#include "base/lock.h"
#include "base/oom.h"
#include "team/layout.h"
#include "team/store/root_private.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct mr_team_ear {
	pthread_mutex_t lock;
	pthread_cond_t news; /* it rang, or nobody listens now */
	struct mr_fs_watch *bell;
	uint64_t rung;
	bool listening; /* somebody is inside the kernel */
};

enum { REBUILD_WAIT_MS = 5000 };

struct mr_team_watch {
	struct mr_team_ear *ear;
	uint64_t heard;
};

static const char *bell_path(struct mr_ctx *cx, const struct mr_team *team)
{
	return mr_team_layout_bell(cx->arena, team->config.database);
}

enum mr_code mr_team_bell_open(struct mr_ctx *cx, struct mr_team *team)
{
	const char *path = bell_path(cx, team);

	team->bell = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (team->bell < 0)
		return mr_err_os(&cx->err, errno, "cannot open %s", path);
	if (team->config.alone || !mr_lock_share(team->bell, path, REBUILD_WAIT_MS, &cx->err))
		return MR_OK;
	mr_fs_closep(&team->bell);
	if (cx->err.code == MR_EBUSY)
		mr_err_set(&cx->err, MR_EBUSY, "database %s is being rebuilt; try again later",
			team->config.database);
	return cx->err.code;
}

void mr_team_bell_yield(struct mr_team *team)
{
	if (!team->config.alone)
		mr_lock_unshare(team->bell);
}

/* The descriptor keeps its number, since other threads ring it. */
enum mr_code mr_team_bell_share(struct mr_ctx *cx, struct mr_team *team)
{
	const char *path = bell_path(cx, team);
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	if (team->config.alone)
		return MR_OK;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return mr_err_os(&cx->err, errno, "cannot open %s", path);
	rc = mr_lock_share(fd, path, 0, &cx->err);
	if (rc == MR_EBUSY)
		return mr_err_set(&cx->err, MR_EBUSY,
			"database %s is being rebuilt; try again later", team->config.database);
	if (!rc && dup3(fd, team->bell, O_CLOEXEC) < 0)
		rc = mr_err_os(&cx->err, errno, "cannot open %s", path);
	return rc;
}

void mr_team_bell_ring(struct mr_team *team)
{
	/* A failure is ignored: waiting threads check by themselves after a while. */
	(void)futimens(team->bell, NULL);
}

void mr_team_watch_ring(struct mr_team *team)
{
	mr_team_bell_ring(team);
}

static struct mr_team_ear *make_ear(struct mr_fs_watch *bell)
{
	struct mr_team_ear *ear = calloc(1, sizeof(*ear));
	pthread_condattr_t attr;

	if (!ear)
		mr_oom(sizeof(*ear));
	ear->bell = bell;
	pthread_mutex_init(&ear->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ear->news, &attr);
	pthread_condattr_destroy(&attr);
	return ear;
}

void mr_team_ear_close(struct mr_team *team)
{
	struct mr_team_ear *ear = team->ear;

	if (!ear)
		return;
	mr_fs_watch_close(&ear->bell);
	pthread_cond_destroy(&ear->news);
	pthread_mutex_destroy(&ear->lock);
	free(ear);
	team->ear = NULL;
}

/* The team's ear, made when it is first needed. */
static enum mr_code find_ear(struct mr_ctx *cx, struct mr_team *team, struct mr_team_ear **out)
{
	struct mr_fs_watch *bell = NULL;
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&team->lock);
	if (!team->ear) {
		rc = mr_fs_watch_open(bell_path(cx, team), &bell, &cx->err);
		if (!rc)
			team->ear = make_ear(bell);
	}
	*out = team->ear;
	pthread_mutex_unlock(&team->lock);
	return rc;
}

enum mr_code mr_team_watch_open(struct mr_ctx *cx, struct mr_team *team, struct mr_team_watch **out)
{
	struct mr_team_watch *watch;
	struct mr_team_ear *ear;
	enum mr_code rc = find_ear(cx, team, &ear);
	bool rang = false;

	if (rc)
		return rc;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		mr_oom(sizeof(*watch));
	watch->ear = ear;
	pthread_mutex_lock(&ear->lock);
	/* What rang before this watch was opened is not news to it. */
	if (!ear->listening)
		rc = mr_fs_watch_wait(ear->bell, 0, &rang, &cx->err);
	ear->rung += rang;
	watch->heard = ear->rung;
	pthread_mutex_unlock(&ear->lock);
	if (rc)
		free(watch);
	else
		*out = watch;
	return rc;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Under the lock, which is given back meanwhile. */
static enum mr_code listen_for_all(struct mr_ctx *cx, struct mr_team_ear *ear, int timeout_ms)
{
	bool rang = false;
	enum mr_code rc;

	ear->listening = true;
	pthread_mutex_unlock(&ear->lock);
	rc = mr_fs_watch_wait(ear->bell, timeout_ms, &rang, &cx->err);
	pthread_mutex_lock(&ear->lock);
	ear->listening = false;
	ear->rung += rang;
	pthread_cond_broadcast(&ear->news);
	return rc;
}

static void wait_for_listener(struct mr_team_ear *ear, int64_t until_ms)
{
	struct timespec until = { .tv_sec = until_ms / 1000,
		.tv_nsec = (until_ms % 1000) * 1000000 };

	if (until_ms < 0)
		pthread_cond_wait(&ear->news, &ear->lock);
	else
		pthread_cond_timedwait(&ear->news, &ear->lock, &until);
}

enum mr_code mr_team_watch_wait(struct mr_ctx *cx, struct mr_team_watch *watch, int timeout_ms,
	bool *changed)
{
	struct mr_team_ear *ear = watch->ear;
	int64_t until_ms = timeout_ms < 0 ? -1 : now_ms() + timeout_ms;
	enum mr_code rc = MR_OK;
	bool looked = false;

	pthread_mutex_lock(&ear->lock);
	while (!rc && ear->rung == watch->heard) {
		int64_t left_ms = until_ms < 0 ? -1 : until_ms - now_ms();

		if (until_ms >= 0 && left_ms <= 0 && looked)
			break;
		if (ear->listening)
			wait_for_listener(ear, until_ms);
		else
			rc = listen_for_all(cx, ear,
				left_ms < 0 && until_ms >= 0 ? 0 : (int)left_ms);
		looked = true;
	}
	*changed = ear->rung != watch->heard;
	watch->heard = ear->rung;
	pthread_mutex_unlock(&ear->lock);
	return rc;
}

void mr_team_watch_close(struct mr_team_watch **watch)
{
	free(*watch);
	*watch = NULL;
}
