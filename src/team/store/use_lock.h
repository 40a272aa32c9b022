/*
 * team/store/use_lock.h - the lock that keeps a rebuild and the users of a database apart.
 *
 * Every process that has the database open shares the lock; a rebuild, which puts another file in
 * its place, holds it alone. The lock file is "<database>.bell", the same file that data/ uses to
 * tell listeners about changes (data/db_sqlite_bell.h): earlier versions lock that file, and they
 * may be running beside this one. The two uses share nothing but the file, and each opens it for
 * itself.
 */
#pragma once

#include "base/ctx.h"
#include "base/lock.h"

/*
 * Share the lock of `database`: `*lock`, which is -1 or an earlier share that is let go first,
 * becomes a descriptor that holds it until it is closed. `wait`: some seconds, for a rebuild to
 * end. MR_EBUSY: the database is being rebuilt. The file is opened anew each time, since somebody
 * may have deleted it.
 */
MR_CHECK enum mr_code mr_team_use_lock_share(struct mr_ctx *cx, const char *database, bool wait,
	int *lock);

/*
 * For a rebuild: keep every other process out of `database` until the lock is released. MR_EBUSY
 * when one has it open, also one that does not know of this lock.
 */
MR_CHECK enum mr_code mr_team_use_lock_alone(struct mr_ctx *cx, const char *database,
	struct mr_lock *out);
