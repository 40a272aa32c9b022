/*
 * team/store/database.c - the database while it is in use.
 *
 * A running program keeps its connections open for weeks. When somebody deletes, moves or
 * overwrites the database meanwhile, SQLite goes on writing to the file it has open. So the queue's
 * writer looks before each transaction and after each commit whether the file is still the database
 * (mr_db_still_there()). When it is not, all connections are abandoned, the database is left
 * to whoever wants to rebuild it, and everybody who reads or writes is told what happened, until
 * there is a whole database at the path again, and it has been opened anew.
 */
#include "base/fs.h"
#include "base/log.h"
#include "data/db.h"
#include "team/store/root_private.h"
#include "team/store/schema.h"
#include "team/store/standing.h"
#include "team/store/use_lock.h"
#include "text/database_url.h"

#include <errno.h>
#include <string.h>

enum {
	RETRY_MS = 300, /* between two attempts to open the database anew */
	LOOK_MS = 200,  /* between two looks of readers */
	/* A connection to a server is a process there: readers wait for one of so many. */
	SERVER_READERS = 16,
	SERVER_WAIT_S = 30,
};

struct mr_db_options mr_team_database_options(const struct mr_team *team, bool read_only)
{
	return (struct mr_db_options){
		.path = team->config.database,
		.read_only = read_only,
		.create = !read_only,
		.busy_timeout_ms = 30000,
		.statement_ms = (int)team->config.statement_s * 1000,
		.statements = 128,
		.max_log_bytes = team->config.max_log_bytes,
		.repair_hint = MR_TEAM_REBUILD_HINT,
	};
}

static int64_t now_ms(void)
{
	return mr_clock_mono_ms(mr_clock_system());
}

/* ---- for the writer ---- */

/* A lost database may come back, so every failure of this check is reported as MR_EBUSY. */
static enum mr_code still_there(void *arg, struct mr_db *db, struct mr_err *err)
{
	(void)arg;
	if (!mr_db_still_there(db, err))
		return MR_OK;
	err->code = MR_EBUSY;
	return MR_EBUSY;
}

static enum mr_code admit(void *arg, struct mr_db *db, struct mr_err *err)
{
	(void)arg;
	return mr_team_standing_check(db, err);
}

static void lost(void *arg, const struct mr_err *err)
{
	struct mr_team *team = arg;
	struct mr_db *idle[MR_TEAM_READERS];
	size_t count;

	pthread_mutex_lock(&team->lock);
	team->down = true;
	team->trouble = *err;
	team->generation++;
	team->lent_old += team->lent;
	team->lent = 0;
	pthread_cond_broadcast(&team->returned);
	count = team->idle_count;
	memcpy(idle, team->idle, count * sizeof(idle[0]));
	team->idle_count = 0;
	pthread_mutex_unlock(&team->lock);
	for (size_t i = 0; i < count; i++)
		mr_db_abandon(idle[i]);
	/* From here on a rebuild may have it. */
	mr_fs_closep(&team->use_lock);
	team->tried_in_vain = false;
	team->tried_ms = 0;
	mr_log(MR_LOG_ERROR, "team.database.lost", "%s", err->msg);
}

/* The file at the path and its log; false when there is no such file. Of a server's they are all
 * zeros. */
static bool look(struct mr_ctx *cx, const struct mr_team *team, struct stat out[2])
{
	memset(out, 0, 2 * sizeof(out[0]));
	if (mr_database_url_is(team->config.database))
		return true;
	(void)stat(mr_arena_printf(cx->arena, "%s-wal", team->config.database), &out[1]);
	return stat(team->config.database, &out[0]) == 0;
}

static bool is_unchanged(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
		one->st_size == other->st_size && one->st_ctim.tv_sec == other->st_ctim.tv_sec &&
		one->st_ctim.tv_nsec == other->st_ctim.tv_nsec;
}

/* Is it a team's database, and whole? Asked on a connection that changes nothing. */
static enum mr_code examine(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db)
{
	struct mr_texts problems = { 0 };
	bool has_mail = false;
	/* With a log that has the first page, SQLite does not look at the file's. */
	enum mr_code rc = mr_db_still_there(db, &cx->err);

	if (!rc)
		rc = mr_db_has_table(db, "messages", &has_mail, &cx->err);
	if (!rc && !has_mail)
		return mr_err_set(&cx->err, MR_EFORMAT,
			"%s is not a database of Mailroom: put the right one back, "
			"or " MR_TEAM_REBUILD_HINT,
			team->shown);
	if (!rc)
		rc = mr_db_check(db, cx->arena, &problems, &cx->err);
	if (!rc && problems.len)
		rc = mr_err_set(&cx->err, MR_EFORMAT,
			"database %s is damaged (%.200s); " MR_TEAM_REBUILD_HINT, team->shown,
			problems.items[0]);
	return rc;
}

static enum mr_code open_anew(struct mr_ctx *cx, struct mr_team *team, struct mr_db **out)
{
	struct mr_db_options options = mr_team_database_options(team, true);
	struct mr_db *db = NULL;
	enum mr_code rc = mr_db_open(&options, &db, &cx->err);

	if (!rc)
		rc = examine(cx, team, db);
	mr_db_abandon(db);
	if (rc)
		return rc;
	options = mr_team_database_options(team, false);
	options.create = false;
	rc = mr_db_open(&options, out, &cx->err);
	if (!rc)
		rc = mr_migrate_up(*out, mr_team_migrations, mr_team_migration_count, cx->clock,
			&cx->err);
	if (rc)
		mr_db_closep(out);
	return rc;
}

/* Drop everything cached from the previous database. */
static void regain(struct mr_team *team)
{
	team->hooks.replaced(team);
	pthread_mutex_lock(&team->lock);
	team->down = false;
	memset(team->noted, 0, sizeof(team->noted));
	pthread_mutex_unlock(&team->lock);
	mr_log(MR_LOG_WARN, "team.database.regained", "database %s is in use again", team->shown);
}

static void set_trouble(struct mr_team *team, struct mr_err *err)
{
	err->code = MR_EBUSY;
	pthread_mutex_lock(&team->lock);
	if (!mr_str_eq(team->trouble.msg, err->msg))
		mr_log(MR_LOG_ERROR, "team.database.lost", "%s", err->msg);
	team->trouble = *err;
	pthread_mutex_unlock(&team->lock);
}

/* Try once. A file that was found damaged is not examined again before it has changed. */
static enum mr_code try_to_open(struct mr_ctx *cx, struct mr_team *team, struct mr_db **out)
{
	struct stat now[2];
	enum mr_code rc;

	if (!look(cx, team, now)) {
		mr_err_set(&cx->err, MR_EBUSY,
			"database %s was deleted or moved away: put it back, "
			"or " MR_TEAM_REBUILD_HINT,
			team->shown);
		set_trouble(team, &cx->err);
		return MR_EBUSY;
	}
	if (team->tried_in_vain && is_unchanged(&now[0], &team->tried[0]) &&
		is_unchanged(&now[1], &team->tried[1]))
		return MR_EBUSY;
	rc = team->config.alone
		? MR_OK
		: mr_team_use_lock_share(cx, team->config.database, false, &team->use_lock);
	if (!rc) {
		rc = open_anew(cx, team, out);
		team->tried_in_vain = rc == MR_EFORMAT &&
			!mr_database_url_is(team->config.database) && look(cx, team, team->tried);
		if (rc)
			mr_fs_closep(&team->use_lock);
	}
	if (rc)
		set_trouble(team, &cx->err);
	else
		regain(team);
	return rc;
}

static enum mr_code reopen(void *arg, struct mr_db **out, struct mr_err *err)
{
	struct mr_team *team = arg;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = team->clock, .rand = team->rand };
	bool wait;

	pthread_mutex_lock(&team->lock);
	/* Old connections still use the former log, and connections to one file must share a
	 * log. */
	wait = team->lent_old > 0;
	pthread_mutex_unlock(&team->lock);
	if (!wait && (!team->tried_ms || now_ms() - team->tried_ms >= RETRY_MS)) {
		if (!try_to_open(&cx, team, out))
			return MR_OK;
		team->tried_ms = now_ms();
	}
	pthread_mutex_lock(&team->lock);
	*err = team->trouble;
	pthread_mutex_unlock(&team->lock);
	return MR_EBUSY;
}

struct mr_queue_guard mr_team_database_guard(struct mr_team *team)
{
	return (struct mr_queue_guard){
		.check = still_there,
		.admit = admit,
		.lost = lost,
		.open = reopen,
		.arg = team,
	};
}

/* ---- for readers ---- */

static enum mr_code change_nothing(struct mr_db *db, void *arg, struct mr_err *err)
{
	(void)db;
	(void)arg;
	(void)err;
	return MR_OK;
}

/* Have the writer look, and open the database anew if it can. */
static enum mr_code ask_writer(struct mr_ctx *cx, struct mr_team *team)
{
	return mr_queue_run(team->queue, &(struct mr_queue_job){ .run = change_nothing }, &cx->err);
}

/* Wait until fewer than SERVER_READERS are lent; the lock is held. False: the time is over. */
static bool wait_for_return(struct mr_team *team)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += SERVER_WAIT_S;
	while (!team->down && team->lent >= SERVER_READERS) {
		if (pthread_cond_timedwait(&team->returned, &team->lock, &end) == ETIMEDOUT)
			return team->down || team->lent < SERVER_READERS;
	}
	return true;
}

/*
 * Lend an idle connection; when there is none `reader->db` stays NULL and the caller must open one,
 * which is counted already. `*look_now`: it is time to check that the database is still there.
 * MR_EBUSY, without a message, while it is lost; MR_ETIMEOUT when too many are lent for too long.
 */
static enum mr_code lend(struct mr_ctx *cx, struct mr_team *team, struct mr_team_reader *reader,
	bool *look_now)
{
	int64_t now = now_ms();
	enum mr_code rc = MR_OK;

	pthread_mutex_lock(&team->lock);
	if (mr_database_url_is(team->config.database) && !wait_for_return(team))
		rc = mr_err_set(&cx->err, MR_ETIMEOUT,
			"database %s: %d connections have been in use for %d s; try again",
			team->shown, SERVER_READERS, SERVER_WAIT_S);
	else if (team->down)
		rc = MR_EBUSY;
	if (!rc) {
		reader->db = team->idle_count > 0 ? team->idle[--team->idle_count] : NULL;
		reader->generation = team->generation;
		team->lent++;
		*look_now = now - team->looked_ms >= LOOK_MS;
		if (*look_now)
			team->looked_ms = now;
	}
	pthread_mutex_unlock(&team->lock);
	return rc;
}

/* Keep the connection for the next reader, if there is room for it. */
static bool keep_idle(struct mr_team *team, const struct mr_team_reader *reader)
{
	bool kept;

	pthread_mutex_lock(&team->lock);
	kept = reader->db && reader->generation == team->generation &&
		team->idle_count < MR_TEAM_READERS;
	if (kept) {
		team->idle[team->idle_count++] = reader->db;
		team->lent--;
		pthread_cond_signal(&team->returned);
	}
	pthread_mutex_unlock(&team->lock);
	return kept;
}

/* After its connection was closed: reopening the database waits for this count. */
static void count_back(struct mr_team *team, const struct mr_team_reader *reader)
{
	pthread_mutex_lock(&team->lock);
	if (reader->generation == team->generation)
		team->lent--;
	else
		team->lent_old--;
	pthread_cond_signal(&team->returned);
	pthread_mutex_unlock(&team->lock);
}

/* Lend one when the writer has looked, and opened the database anew if it had to. */
static enum mr_code lend_after_look(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_reader *reader)
{
	bool ignored;
	enum mr_code rc = ask_writer(cx, team);

	if (rc)
		return rc;
	rc = lend(cx, team, reader, &ignored);
	if (rc == MR_EBUSY)
		rc = mr_err_set(&cx->err, MR_EBUSY, "database %s was lost again; try again",
			team->shown);
	return rc;
}

enum mr_code mr_team_read(struct mr_ctx *cx, struct mr_team *team, struct mr_team_reader *out)
{
	struct mr_db_options options = mr_team_database_options(team, true);
	struct mr_team_reader reader = { .team = team };
	struct mr_err ignored;
	bool look_now = false;
	enum mr_code rc = lend(cx, team, &reader, &look_now);

	if (rc == MR_EBUSY)
		rc = lend_after_look(cx, team, &reader);
	if (rc)
		return rc;
	if (reader.db && look_now && mr_db_still_there(reader.db, &ignored)) {
		mr_db_abandon(reader.db);
		count_back(team, &reader);
		rc = lend_after_look(cx, team, &reader);
		if (rc)
			return rc;
	}
	if (!reader.db) {
		rc = mr_db_open(&options, &reader.db, &cx->err);
		if (!rc && still_there(NULL, reader.db, &cx->err)) {
			mr_db_abandon(reader.db);
			rc = MR_EBUSY;
		}
	}
	if (rc)
		count_back(team, &reader);
	else
		*out = reader;
	return rc;
}

void mr_team_read_done(struct mr_team_reader *reader)
{
	struct mr_team *team = reader->team;

	if (!reader->db)
		return;
	if (mr_db_in_transaction(reader->db))
		mr_db_rollback(reader->db);
	if (!keep_idle(team, reader)) {
		/* A reader has nothing to checkpoint. */
		mr_db_abandon(reader->db);
		count_back(team, reader);
	}
	*reader = (struct mr_team_reader){ 0 };
}
