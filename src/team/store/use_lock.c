/* team/store/use_lock.c - a database is shared by its users, or held by one rebuild. */
#include "team/store/use_lock.h"

#include "base/fs.h"
#include "data/db.h"
#include "team/layout.h"
#include "text/database_url.h"

#include <errno.h>

enum {
	REBUILD_WAIT_MS = 5000, /* for a rebuild to end */
	USERS_WAIT_MS = 2000,   /* for running commands to end */
};

enum mr_code mr_team_use_lock_share(struct mr_ctx *cx, const char *database, bool wait, int *lock)
{
	const char *path = mr_team_layout_use_lock(cx->arena, database);
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	mr_fs_closep(lock);
	if (mr_database_url_is(database))
		return MR_OK;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return mr_err_os(&cx->err, errno, "cannot open %s", path);
	rc = mr_lock_share(fd, path, wait ? REBUILD_WAIT_MS : 0, &cx->err);
	if (rc == MR_EBUSY)
		mr_err_set(&cx->err, MR_EBUSY, "database %s is being rebuilt; try again later",
			database);
	if (!rc) {
		*lock = fd;
		fd = -1;
	}
	return rc;
}

enum mr_code mr_team_use_lock_alone(struct mr_ctx *cx, const char *database, struct mr_lock *out)
{
	const char *path = mr_team_layout_use_lock(cx->arena, database);
	enum mr_code rc;
	long pid;

	if (mr_database_url_is(database))
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"database %s is on a server, which keeps it whole: restore it from a backup "
			"of the server's (pg_dump, pg_restore)",
			mr_database_url_shown(cx->arena, database));
	rc = mr_lock_take(AT_FDCWD, path, "mailroom team rebuild", USERS_WAIT_MS, cx->clock, out,
		&cx->err);
	/* Another program does not take the lock. */
	if ((!rc || rc == MR_EBUSY) && mr_db_is_open_elsewhere(database, &pid))
		return mr_err_set(&cx->err, MR_EBUSY, "%s is open in process %ld: stop it first",
			database, pid);
	if (rc == MR_EBUSY)
		mr_err_set(&cx->err, rc, "%s is open in other processes: stop them first",
			database);
	return rc;
}
