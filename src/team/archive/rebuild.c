/* team/archive/rebuild.c - a database from the archives, and the archives from a database. */
#include "team/archive/rebuild.h"

#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/log.h"
#include "data/db.h"
#include "team/archive/archive.h"
#include "team/archive/archive_repair.h"
#include "team/archive/archive_take.h"
#include "team/archive/rebuild_carry.h"
#include "team/archive/rebuild_private.h"
#include "team/archive/rebuild_refill.h"
#include "team/layout.h"
#include "team/open.h"
#include "team/project.h"
#include "team/store/use_lock.h"
#include "text/time.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DRAIN_MS = 60000,
	ARCHIVE_MS = 24 * 3600 * 1000,
};

/* Beside a database. */
static const char *const companions[] = { "-wal", "-shm" };

/* --- the database --- */

/* Archive the rows that the old database still has queued. */
static void drain_old(struct mr_ctx *cx, const struct mr_team_config *config)
{
	struct mr_team *team MR_CLEANUP(mr_team_closep) = NULL;
	struct mr_team_config own = *config;
	enum mr_code rc;

	own.alone = true;
	rc = mr_team_open(cx, &own, &team);
	if (!rc)
		rc = mr_team_archive_drain(cx, team, DRAIN_MS, true);
	if (rc)
		mr_log(MR_LOG_DEBUG, "team.rebuild.drain", "%s", cx->err.msg);
}

static enum mr_code remove_database(struct mr_ctx *cx, const char *path)
{
	for (size_t i = 0; i <= MR_LEN(companions); i++) {
		const char *name = mr_arena_printf(cx->arena, "%s%s", path,
			i < MR_LEN(companions) ? companions[i] : "");

		if (unlink(name) != 0 && errno != ENOENT)
			return mr_err_os(&cx->err, errno, "cannot remove %s", name);
	}
	return MR_OK;
}

/* Is `name` what swap() calls the database `path` when it moves it aside? */
static bool is_aside(const char *name, const char *path)
{
	return mr_str_starts(name, path) && name[strlen(path)] == '.' && mr_str_ends(name, ".old");
}

/* Was `one` written after `other`? */
static bool is_newer(const struct stat *one, const struct stat *other)
{
	const struct timespec *a = &one->st_mtim, *b = &other->st_mtim;

	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/*
 * Move the write-ahead log back from `aside`. `*out_whole` is false when the database has been used
 * without it: then it does not fit any more, and stays where it is.
 */
static enum mr_code give_back(struct mr_ctx *cx, const char *database, const char *aside,
	const struct stat *own, bool *out_whole)
{
	const char *from = mr_arena_printf(cx->arena, "%s-wal", aside);
	const char *to = mr_arena_printf(cx->arena, "%s-wal", database);
	struct stat log;
	enum mr_code rc = MR_OK;

	*out_whole = true;
	if (lstat(from, &log) == 0) {
		*out_whole = !mr_fs_exists(AT_FDCWD, to) && !is_newer(own, &log);
		if (*out_whole)
			rc = mr_fs_rename(AT_FDCWD, from, AT_FDCWD, to, MR_FS_NEW, &cx->err);
	}
	mr_crash_point("rebuild.log_back");
	return rc;
}

/*
 * An interrupted swap left the database with a second name, and perhaps its log beside that one:
 * without the log the newest changes are missing, and opening the second name damages the first. So
 * undo it.
 */
static enum mr_code undo_swap(struct mr_ctx *cx, const char *database)
{
	const char *slash = strrchr(database, '/');
	const char *place = slash
		? mr_arena_strndup(cx->arena, database, (size_t)(slash - database) + 1)
		: "./";
	struct mr_texts names = { 0 };
	struct stat own, other;
	enum mr_code rc = MR_OK;

	if (stat(database, &own) != 0 || own.st_nlink < 2)
		return MR_OK;
	rc = mr_fs_list(cx->arena, AT_FDCWD, place, MR_TEAM_NAMES, &names, &cx->err);
	for (size_t i = 0; !rc && i < names.len; i++) {
		const char *aside = mr_arena_printf(cx->arena, "%s%s", place, names.items[i]);
		bool whole = false;

		if (!is_aside(names.items[i], slash ? slash + 1 : database) ||
			lstat(aside, &other) != 0 || other.st_dev != own.st_dev ||
			other.st_ino != own.st_ino)
			continue;
		rc = give_back(cx, database, aside, &own, &whole);
		if (!rc && whole)
			rc = remove_database(cx, aside);
	}
	return rc;
}

static enum mr_code build(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *database, struct mr_team_rebuilt *counts, struct mr_team_problems *problems,
	struct mr_team_told *told)
{
	struct mr_team *team MR_CLEANUP(mr_team_closep) = NULL;
	struct mr_team_config own = *config;
	enum mr_code rc = remove_database(cx, database);

	own.database = database;
	own.beside_archives = true;
	if (!rc)
		rc = mr_team_open(cx, &own, &team);
	return rc ? rc : mr_team_restore(cx, team, config->storage_root, counts, problems, told);
}

/* Copy what only the old database has, and count what would be lost. */
static enum mr_code take_over(struct mr_ctx *cx, const char *database, const char *old,
	const struct mr_team_told *told, struct mr_team_rebuilt *counts,
	struct mr_team_problems *problems, struct mr_team_carried *carried)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	/* What is written becomes durable when it is closed, before the swap. */
	struct mr_db_options options = { .path = database, .sync = MR_DB_SYNC_NORMAL };
	enum mr_code rc = mr_db_open(&options, &db, &cx->err);

	if (!rc)
		rc = mr_team_carry(cx, db, old, told, problems, carried);
	if (rc)
		return rc;
	counts->messages += carried->messages;
	counts->recipients += carried->recipients;
	counts->projects += carried->counts.projects;
	counts->agents += carried->counts.agents;
	counts->reservations += carried->counts.reservations;
	counts->links += carried->counts.links;
	counts->kept_state = carried->kept_state;
	counts->carried = carried->messages;
	counts->lost = carried->lost;
	counts->is_complete = carried->lost == 0 && (carried->is_compared || !told->is_uncertain);
	return MR_OK;
}

static enum mr_code refuse(struct mr_ctx *cx, const struct mr_team_carried *carried)
{
	const char *first = mr_str_join(cx->arena, &carried->lost_first, ", ");
	int64_t more = carried->lost - (int64_t)carried->lost_first.len;

	return mr_err_set(&cx->err, MR_ECONFLICT,
		"a new database would lose %lld message%s: %.200s%s. Nothing was changed. Bring "
		"back "
		"the archive or the database from a backup, or accept it with "
		"`mailroom team rebuild --accept-loss %lld`",
		(long long)carried->lost, carried->lost == 1 ? "" : "s", first,
		more > 0 ? mr_arena_printf(cx->arena, " and %lld more", (long long)more) : "",
		(long long)carried->lost);
}

/* A new database that is not wanted leaves nothing behind. */
static void discard(struct mr_ctx *cx, const char *fresh)
{
	struct mr_ctx own = *cx; /* keeps the error */

	if (remove_database(&own, fresh))
		mr_log(MR_LOG_DEBUG, "team.rebuild.discard", "%s", own.err.msg);
	unlink(mr_team_layout_use_lock(cx->arena, fresh));
}

/* Give the old database and its log another name, and put the new one in its place. */
static enum mr_code swap(struct mr_ctx *cx, const char *database, const char *fresh,
	const char **out_aside)
{
	const char *stamp = mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_COMPACT);
	const char *aside = mr_arena_printf(cx->arena, "%s.%s.old", database, stamp);
	bool was_there = mr_fs_exists(AT_FDCWD, database);
	enum mr_code rc;

	/* Rows in a log of its own would stay behind. */
	if (mr_fs_exists(AT_FDCWD, mr_arena_printf(cx->arena, "%s-wal", fresh)))
		return mr_err_set(&cx->err, MR_EIO,
			"%s could not be completed: is the disk full? Nothing was changed", fresh);
	for (int i = 1; was_there && link(database, aside) != 0; i++) {
		if (errno != EEXIST || i == 100)
			return mr_err_os(&cx->err, errno, "cannot move %s aside", database);
		aside = mr_arena_printf(cx->arena, "%s.%s-%d.old", database, stamp, i);
	}
	mr_crash_point("rebuild.aside");
	/* A log beside the wrong database would be replayed into it, so it is moved even when
	 * the database is gone. */
	for (size_t i = 0; i < MR_LEN(companions); i++) {
		const char *from = mr_arena_printf(cx->arena, "%s%s", database, companions[i]);

		if (rename(from, mr_arena_printf(cx->arena, "%s%s", aside, companions[i])) != 0 &&
			errno != ENOENT)
			return mr_err_os(&cx->err, errno, "cannot move %s aside", from);
	}
	mr_crash_point("rebuild.log_aside");
	*out_aside = was_there ? aside : NULL;
	rc = mr_fs_rename(AT_FDCWD, fresh, AT_FDCWD, database, MR_FS_REPLACE, &cx->err);
	unlink(mr_team_layout_use_lock(cx->arena, fresh));
	return rc;
}

/* Repair the work trees; a failure is logged, and the next server to start tries again. */
static void mend_work_trees(struct mr_ctx *cx, const char *storage_root)
{
	struct mr_team_archive_repairs *mending =
		mr_team_archive_repairs_new(storage_root, cx->clock);
	bool more = true;

	while (more)
		mr_team_archive_repairs_some(mending, &more);
	mr_team_archive_repairs_free(mending);
}

/* Build and compare; the new database is complete at `fresh`. */
static enum mr_code prepare(struct mr_ctx *cx, const struct mr_team_config *config,
	const char *database, const char *fresh, int64_t accept_loss,
	struct mr_team_rebuilt *counts, struct mr_team_problems *problems)
{
	bool has_old = mr_fs_exists(AT_FDCWD, database);
	struct mr_team_carried carried = { 0 };
	struct mr_team_told told = { 0 };
	enum mr_code rc;

	if (has_old)
		drain_old(cx, config);
	rc = build(cx, config, fresh, counts, problems, &told);
	mr_crash_point("rebuild.read");
	if (!rc)
		rc = take_over(cx, fresh, has_old ? database : NULL, &told, counts, problems,
			&carried);
	if (!rc && carried.lost > accept_loss)
		rc = refuse(cx, &carried);
	mr_crash_point("rebuild.built");
	return rc;
}

enum mr_code mr_team_rebuild_database(struct mr_ctx *cx, const struct mr_team_config *config,
	int64_t accept_loss, struct mr_team_rebuilt *out)
{
	struct mr_team_rebuilt counts = { 0 };
	struct mr_team_problems problems;
	const char *database = config->database
		? config->database
		: mr_arena_printf(cx->arena, "%s/" MR_TEAM_DATABASE_FILE, config->storage_root);
	const char *fresh = mr_arena_printf(cx->arena, "%s.rebuild", database);
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	enum mr_code rc = mr_team_use_lock_alone(cx, database, &lock);

	if (rc)
		return rc;
	mr_team_problems_init(&problems, cx->arena);
	rc = undo_swap(cx, database);
	if (rc)
		return rc;
	rc = prepare(cx, config, database, fresh, accept_loss, &counts, &problems);
	if (!rc)
		rc = swap(cx, database, fresh, &counts.moved_aside);
	mr_crash_point("rebuild.swapped");
	if (rc) {
		discard(cx, fresh);
		return rc;
	}
	mend_work_trees(cx, config->storage_root);
	counts.problems = problems.items;
	counts.len = problems.len;
	counts.dropped = problems.dropped;
	*out = counts;
	return MR_OK;
}

/* --- the archive --- */

/* Move an unreadable repository aside, so that a new one can be made; its files stay. */
static enum mr_code make_way(struct mr_ctx *cx, struct mr_team *team, const char *slug)
{
	struct mr_history_options options = { .mode = MR_HISTORY_WRITE };
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	const char *place = mr_team_layout_project(cx->arena, mr_team_storage_root(team), slug);
	const char *aside;
	enum mr_code rc = mr_history_open(place, &options, cx->clock, &history, &cx->err);
	struct mr_history_log log;

	if (!rc)
		rc = mr_history_log(cx->arena, history,
			&(struct mr_history_query){ .limit = 1, .path = MR_TEAM_PROJECT_FILE },
			&log, &cx->err);
	if (rc != MR_EFORMAT)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	mr_log(MR_LOG_WARN, "team.rebuild.archive", "%s", cx->err.msg);
	aside = mr_arena_printf(cx->arena, "%s/" MR_TEAM_GIT_DIR ".damaged-%s", place,
		mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_COMPACT));
	return mr_fs_rename(AT_FDCWD, mr_arena_printf(cx->arena, "%s/" MR_TEAM_GIT_DIR, place),
		AT_FDCWD, aside, MR_FS_NEW, &cx->err);
}

enum mr_code mr_team_rebuild_archive(struct mr_ctx *cx, struct mr_team *team, int64_t *queued)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_projects projects = { 0 };
	bool here;
	int64_t count = 0;
	enum mr_code rc = mr_team_place_take(cx, team, true, &here);

	if (!rc)
		rc = mr_team_read(cx, team, &reader);
	if (!rc)
		rc = mr_team_project_list(cx, reader.db, &projects);
	mr_team_read_done(&reader);
	for (size_t i = 0; !rc && i < projects.len; i++) {
		if (cx->progress)
			cx->progress(cx->progress_arg, "projects", i, projects.len);
		rc = make_way(cx, team, projects.items[i].slug);
		if (!rc)
			rc = mr_team_refill_project(cx, team, &projects.items[i], 0, &count);
		if (!rc)
			rc = mr_team_archive_drain(cx, team, ARCHIVE_MS, true);
		if (!rc)
			rc = mr_team_rebuild_tree(cx, team, projects.items[i].slug);
	}
	if (!rc)
		*queued = count;
	return rc;
}
