/*
 * team/watch.c
 *
 * Who has changed the database rings the bell: a file beside it whose times are set. The database's
 * own files would not do, since they are written before others can see what was written.
 */
#include "team/watch.h"

#include "base/fs.h"
#include "base/fs_watch.h"
#include "base/lock.h"
#include "team/layout.h"
#include "team/root_private.h"

#include <errno.h>
#include <stdlib.h>

enum { REBUILD_WAIT_MS = 5000 };

struct mr_team_watch {
	struct mr_fs_watch *bell;
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

void mr_team_bell_ring(struct mr_team *team)
{
	/* Who is not woken looks again by himself, after a while. */
	(void)futimens(team->bell, NULL);
}

enum mr_code mr_team_watch_open(struct mr_ctx *cx, struct mr_team *team, struct mr_team_watch **out)
{
	struct mr_team_watch *watch = calloc(1, sizeof(*watch));
	enum mr_code rc;

	if (!watch)
		abort();
	rc = mr_fs_watch_open(bell_path(cx, team), &watch->bell, &cx->err);
	if (rc)
		free(watch);
	else
		*out = watch;
	return rc;
}

enum mr_code mr_team_watch_wait(struct mr_ctx *cx, struct mr_team_watch *watch, int timeout_ms,
	bool *changed)
{
	return mr_fs_watch_wait(watch->bell, timeout_ms, changed, &cx->err);
}

void mr_team_watch_close(struct mr_team_watch **watch)
{
	if (!*watch)
		return;
	mr_fs_watch_close(&(*watch)->bell);
	free(*watch);
	*watch = NULL;
}
