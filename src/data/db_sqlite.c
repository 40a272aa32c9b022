/* data/db_sqlite.c - connections and statements of SQLite. */
#include "data/db_sqlite.h"

#include "base/fs.h"
#include "data/db_sqlite_bell.h"
#include "data/db_sqlite_check.h"
#include "data/db_sqlite_file.h"
#include "data/db_sqlite_private.h"
#include "data/db_sqlite_search.h"
#include "data/db_sqlite_words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	KEPT_LOG_BYTES = 64 << 20, /* a log that one huge transaction grew is cut back to this */
};

struct sqlite_stmt {
	struct mr_stmt base;
	struct mr_arena *arena; /* holds this and the SQL text */
	struct mr_db_sqlite_db *db;
	sqlite3_stmt *handle;
	int bind_rc; /* the first bind that failed, ... */
	int bind_index;
	bool ended;
	bool is_search;
};

static struct mr_db_sqlite_db *db_of(struct mr_db *db)
{
	return (struct mr_db_sqlite_db *)db;
}

static struct sqlite_stmt *stmt_of(struct mr_stmt *stmt)
{
	return (struct sqlite_stmt *)stmt;
}

static void sleep_us(int us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };

	nanosleep(&ts, NULL);
}

/*
 * Sleep briefly for a lock; false when the timeout is over. SQLite's own sleeps grow to 100 ms, and
 * against a writer that commits without pause such a sleeper rarely finds the gap.
 */
static bool wait_a_turn(int timeout_ms, int *waited_us)
{
	int us = *waited_us < 2000 ? 250 : *waited_us < 1000000 ? 1000 : 5000;

	if (timeout_ms < 0 || *waited_us / 1000 >= timeout_ms)
		return false;
	sleep_us(us);
	*waited_us += us;
	return true;
}

static int on_busy(void *arg, int turn)
{
	struct mr_db_sqlite_db *self = arg;

	if (turn == 0)
		self->waited_us = 0;
	return wait_a_turn(self->patience_ms ? self->patience_ms
					     : self->base.options.busy_timeout_ms,
		&self->waited_us);
}

/* What the program may do with this connection, whatever the file or a statement says. */
static void set_limits(sqlite3 *handle)
{
	sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, MR_DB_SQL_BYTES);
	sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, MR_DB_VALUE_BYTES);
	sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM needs one */
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

static enum mr_code sqlite_exec(struct mr_db *db, const char *sql, struct mr_err *err)
{
	struct mr_db_sqlite_db *self = db_of(db);

	if (strlen(sql) > MR_DB_SQL_BYTES)
		return mr_err_set(err, MR_ELIMIT, "database %s: more than %d bytes of statements",
			db->options.path, MR_DB_SQL_BYTES);
	if (sqlite3_exec(self->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
		return MR_OK;
	return mr_db_sqlite_fail(&db->options, self->handle, sql, err);
}

static enum mr_code sqlite_set_sync(struct mr_db *db, enum mr_db_sync sync, struct mr_err *err)
{
	if (sync == MR_DB_SYNC_NORMAL)
		return sqlite_exec(db, "PRAGMA synchronous=NORMAL", err);
	/* A rollback journal that was unlinked may come back after a power cut and undo its
	 * transaction, unless its directory was synced as well. */
	if (sync == MR_DB_SYNC_FULL && db->options.journal == MR_DB_JOURNAL_DELETE)
		return sqlite_exec(db, "PRAGMA synchronous=EXTRA", err);
	return sqlite_exec(db, "PRAGMA synchronous=FULL", err);
}

/* Run a pragma; the first column of its first row, or "", goes to `out`. */
static enum mr_code ask(struct mr_db_sqlite_db *self, const char *sql, char *out, size_t size,
	struct mr_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(self->handle, sql, -1, &stmt, NULL);
	enum mr_code code = MR_OK;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		snprintf(out, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
	else if (rc == SQLITE_DONE)
		out[0] = '\0';
	else
		code = mr_db_sqlite_fail(&self->base.options, self->handle, sql, err);
	sqlite3_finalize(stmt);
	return code;
}

static enum mr_code set_journal(struct mr_db_sqlite_db *self, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	static const struct {
		const char *name, *sql;
	} modes[] = {
		[MR_DB_JOURNAL_WAL] = { "wal", "PRAGMA journal_mode=WAL" },
		[MR_DB_JOURNAL_DELETE] = { "delete", "PRAGMA journal_mode=DELETE" },
		[MR_DB_JOURNAL_PERSIST] = { "persist", "PRAGMA journal_mode=PERSIST" },
	};
	const char *wanted = modes[options->journal].name, *sql = modes[options->journal].sql;
	int waited_us = 0;

	for (;;) {
		char mode[16] = "";
		enum mr_code rc = ask(self, "PRAGMA journal_mode", mode, sizeof(mode), err);

		if (!rc && strcmp(mode, wanted) == 0)
			return MR_OK;
		if (!rc)
			rc = ask(self, sql, mode, sizeof(mode), err);
		if (!rc && strcmp(mode, wanted) == 0)
			return MR_OK;
		if (!rc)
			return mr_err_set(err, MR_EIO,
				"database %s: the journal mode stays \"%s\"; its file system may "
				"not allow \"%s\"",
				options->path, mode, wanted);
		/* Two that change the mode at once are told so without the busy handler. */
		if (rc != MR_EBUSY || !wait_a_turn(options->busy_timeout_ms, &waited_us))
			return rc;
	}
}

static enum mr_code set_up(struct mr_db_sqlite_db *self, bool is_aside, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	char room[MR_DB_SQLITE_SHOWN_BYTES];
	char version[16];
	char sql[512];
	enum mr_code rc;

	/* SQLite opens a write-protected file for reading, and would say so at the first write. */
	if (!options->read_only && sqlite3_db_readonly(self->handle, "main"))
		return mr_err_set(err, MR_EPERM,
			"database %s may not be written; check who owns the file and its "
			"directory, "
			"and that the disk is mounted for writing",
			mr_db_sqlite_shown_path(options, room));
	set_limits(self->handle);
	sqlite3_busy_handler(self->handle, on_busy, self);
	snprintf(sql, sizeof(sql),
		"PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
		"PRAGMA foreign_keys=%s; PRAGMA query_only=%s; "
		"PRAGMA secure_delete=FAST; PRAGMA journal_size_limit=%" PRId64,
		options->no_foreign_keys ? "OFF" : "ON", options->read_only ? "ON" : "OFF",
		options->max_log_bytes ? options->max_log_bytes : (int64_t)KEPT_LOG_BYTES);
	rc = sqlite_exec(&self->base, sql, err);
	if (!rc && options->cache_kib) {
		snprintf(sql, sizeof(sql), "PRAGMA cache_size=-%d", options->cache_kib);
		rc = sqlite_exec(&self->base, sql, err);
	}
	if (!rc)
		rc = sqlite_set_sync(&self->base, options->sync, err);
	if (!rc && !options->read_only && !is_aside)
		rc = set_journal(self, err);
	/* Nothing so far need have read the file: find out now whether it is a database. */
	return rc ? rc : ask(self, "PRAGMA schema_version", version, sizeof(version), err);
}

/* SQLite's memory statistics, which we do not use, cost one lock that all connections share. */
static void configure(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static enum mr_code sqlite_open(struct mr_arena *arena, const struct mr_db_options *options,
	struct mr_db **out, struct mr_err *err)
{
	static pthread_once_t configured = PTHREAD_ONCE_INIT;
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	struct mr_db_sqlite_db *self = mr_arena_alloc(arena, sizeof(*self));
	char room[MR_DB_SQLITE_SHOWN_BYTES];
	enum mr_code rc = MR_OK;

	self->base.options = *options;
	self->bell = -1;
	/* SQLite gives meaning to "" and to names like ":memory:". */
	if (!options->path || options->path[0] == '\0' || options->path[0] == ':')
		return mr_err_set(err, MR_EINVAL, "\"%s\" cannot name a database",
			options->path ? options->path : "");
	pthread_once(&configured, configure);
	flags |= options->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (options->create && !options->read_only)
		rc = mr_db_sqlite_file_create(options, arena, err);
	else if (access(options->path, F_OK) != 0)
		rc = mr_err_os(err, errno, "cannot open database %s",
			mr_db_sqlite_shown_path(options, room));
	if (rc)
		return rc;
	if (sqlite3_open_v2(options->path, &self->handle, flags, NULL) != SQLITE_OK)
		rc = mr_db_sqlite_fail(options, self->handle, NULL, err);
	if (!rc)
		rc = set_up(self, false, err);
	if (rc) {
		sqlite3_close(self->handle);
		return rc;
	}
	mr_db_sqlite_note_files(self, arena);
	*out = &self->base;
	return MR_OK;
}

static void sqlite_close(struct mr_db *db)
{
	mr_fs_closep(&db_of(db)->bell);
	sqlite3_close(db_of(db)->handle);
}

static void sqlite_notify(struct mr_db *db)
{
	mr_db_sqlite_bell_ring(db->options.path, &db_of(db)->bell);
}

/* user_version belongs to the application, and we use it for nothing else. */
static enum mr_code sqlite_touch(struct mr_db *db, struct mr_err *err)
{
	struct mr_db_sqlite_db *self = db_of(db);
	char number[16] = "";
	char sql[64];
	int64_t last = 0;
	enum mr_code rc = ask(self, "PRAGMA user_version", number, sizeof(number), err);

	if (rc)
		return rc;
	mr_str_to_int(number, &last);
	snprintf(sql, sizeof(sql), "PRAGMA user_version=%d", last == 1 ? 2 : 1);
	return sqlite_exec(db, sql, err);
}

static int64_t sqlite_changes(struct mr_db *db)
{
	return sqlite3_changes64(db_of(db)->handle);
}

static int64_t sqlite_total_changes(struct mr_db *db)
{
	return sqlite3_total_changes64(db_of(db)->handle);
}

static enum mr_code sqlite_begin(struct mr_db *db, enum mr_db_begin how, struct mr_err *err)
{
	return mr_db_run(db, how == MR_DB_IMMEDIATE ? "BEGIN IMMEDIATE" : "BEGIN", err);
}

static void sqlite_rollback(struct mr_db *db)
{
	struct mr_err ignored;

	/* When even this fails, SQLite has ended the transaction or will at close. */
	(void)!mr_db_run(db, "ROLLBACK", &ignored);
}

static bool sqlite_in_transaction(struct mr_db *db)
{
	return !sqlite3_get_autocommit(db_of(db)->handle);
}

static enum mr_code sqlite_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db_sqlite_db *self = db_of(db);
	struct sqlite_stmt *stmt = mr_arena_alloc(arena, sizeof(*stmt));
	const char *rest = "";

	if (sqlite3_prepare_v3(self->handle, mr_db_sqlite_spell(arena, sql), -1,
		    SQLITE_PREPARE_PERSISTENT, &stmt->handle, &rest) != SQLITE_OK)
		return mr_db_sqlite_fail(&db->options, self->handle, sql, err);
	if (!stmt->handle || rest[strspn(rest, " \t\n;")]) {
		sqlite3_finalize(stmt->handle);
		return mr_err_set(err, MR_EINTERNAL, "not exactly one statement: \"%.*s\"",
			MR_DB_SQLITE_SHOWN_SQL, sql);
	}
	stmt->base.sql = mr_arena_strdup(arena, sql);
	stmt->db = self;
	stmt->arena = arena;
	arena = NULL;
	*out = &stmt->base;
	return MR_OK;
}

static void sqlite_finalize(struct mr_stmt *stmt)
{
	sqlite3_finalize(stmt_of(stmt)->handle);
	mr_arena_free(stmt_of(stmt)->arena);
}

static void sqlite_reset(struct mr_stmt *stmt)
{
	struct sqlite_stmt *self = stmt_of(stmt);

	sqlite3_reset(self->handle);
	sqlite3_clear_bindings(self->handle);
	self->bind_rc = SQLITE_OK;
	self->ended = false;
}

static void note_bind(struct mr_stmt *stmt, int index, int rc)
{
	struct sqlite_stmt *self = stmt_of(stmt);

	if (rc == SQLITE_OK || self->bind_rc != SQLITE_OK)
		return;
	self->bind_rc = rc;
	self->bind_index = index;
}

static void sqlite_bind_int(struct mr_stmt *stmt, int index, int64_t value)
{
	note_bind(stmt, index, sqlite3_bind_int64(stmt_of(stmt)->handle, index, value));
}

static void sqlite_bind_real(struct mr_stmt *stmt, int index, double value)
{
	note_bind(stmt, index, sqlite3_bind_double(stmt_of(stmt)->handle, index, value));
}

static void sqlite_bind_text(struct mr_stmt *stmt, int index, const char *text)
{
	note_bind(stmt, index,
		sqlite3_bind_text64(stmt_of(stmt)->handle, index, text, strlen(text),
			SQLITE_TRANSIENT, SQLITE_UTF8));
}

static void sqlite_bind_bytes(struct mr_stmt *stmt, int index, struct mr_bytes bytes)
{
	note_bind(stmt, index,
		sqlite3_bind_blob64(stmt_of(stmt)->handle, index, bytes.data, bytes.len,
			SQLITE_TRANSIENT));
}

static void sqlite_bind_null(struct mr_stmt *stmt, int index)
{
	note_bind(stmt, index, sqlite3_bind_null(stmt_of(stmt)->handle, index));
}

static enum mr_code fail_bind(struct sqlite_stmt *self, struct mr_err *err)
{
	if (self->bind_rc == SQLITE_TOOBIG)
		return mr_err_set(err, MR_ELIMIT,
			"database %s: the value of ?%d is longer than %d bytes",
			self->db->base.options.path, self->bind_index, MR_DB_VALUE_BYTES);
	return mr_err_set(err, MR_EINTERNAL, "cannot bind ?%d [SQLite %d] in \"%.*s\"",
		self->bind_index, self->bind_rc, MR_DB_SQLITE_SHOWN_SQL, self->base.sql);
}

static enum mr_code sqlite_step(struct mr_stmt *stmt, bool *row, struct mr_err *err)
{
	struct sqlite_stmt *self = stmt_of(stmt);
	sqlite3 *handle = self->db->handle;
	enum mr_code code;
	int rc;

	if (self->bind_rc != SQLITE_OK)
		return fail_bind(self, err);
	/* SQLite would begin anew. */
	rc = self->ended ? SQLITE_DONE : sqlite3_step(self->handle);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		self->ended = rc == SQLITE_DONE;
		*row = rc == SQLITE_ROW;
		return MR_OK;
	}
	if (self->is_search && (rc & 0xff) == SQLITE_ERROR)
		code = mr_err_set(err, MR_EINVAL, "cannot search for that: %s",
			sqlite3_errmsg(handle));
	else
		code = mr_db_sqlite_fail(&self->db->base.options, handle, self->base.sql, err);
	/* Full-text indexes have their own check, and can be made anew. */
	if (code == MR_EFORMAT && !self->db->base.options.read_only &&
		sqlite3_extended_errcode(handle) != SQLITE_CORRUPT_VTAB)
		self->db->damaged = true;
	/* A failed statement must not go on holding a lock. */
	sqlite3_reset(self->handle);
	self->ended = true;
	return code;
}

static bool sqlite_is_null(struct mr_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt_of(stmt)->handle, column) == SQLITE_NULL;
}

static int64_t sqlite_column_int(struct mr_stmt *stmt, int column)
{
	return sqlite3_column_int64(stmt_of(stmt)->handle, column);
}

static double sqlite_column_real(struct mr_stmt *stmt, int column)
{
	return sqlite3_column_double(stmt_of(stmt)->handle, column);
}

static struct mr_bytes sqlite_column_text(struct mr_stmt *stmt, int column)
{
	sqlite3_stmt *handle = stmt_of(stmt)->handle;
	const unsigned char *text = sqlite3_column_text(handle, column);

	return mr_bytes_of(text, (size_t)sqlite3_column_bytes(handle, column));
}

static struct mr_bytes sqlite_column_bytes(struct mr_stmt *stmt, int column)
{
	sqlite3_stmt *handle = stmt_of(stmt)->handle;
	const void *data = sqlite3_column_blob(handle, column);
	size_t len = (size_t)sqlite3_column_bytes(handle, column);

	/* An empty blob comes as NULL, but it is not a null. */
	if (!data && sqlite3_column_type(handle, column) != SQLITE_NULL)
		data = "";
	return mr_bytes_of(data, len);
}

static enum mr_code sqlite_compact(struct mr_db *db, struct mr_err *err)
{
	/* The log holds copies of old pages until it is cut. */
	return sqlite_exec(db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", err);
}

/* Copy all pages as they are at one moment; writers of a database with a log go on meanwhile. */
static enum mr_code copy_pages(struct mr_db_sqlite_db *self, sqlite3 *to, struct mr_err *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", self->handle, "main");
	int waited_us = 0;
	int rc = SQLITE_NOMEM;

	while (backup) {
		rc = sqlite3_backup_step(backup, -1);
		if ((rc != SQLITE_BUSY && rc != SQLITE_LOCKED) ||
			!wait_a_turn(self->base.options.busy_timeout_ms, &waited_us))
			break;
	}
	/* What failed is known to `to` when it is finished. */
	if (backup && sqlite3_backup_finish(backup) == SQLITE_OK && rc == SQLITE_DONE)
		return MR_OK;
	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return mr_db_sqlite_fail_busy(rc, self->base.options.path, err);
	return mr_db_sqlite_fail(&self->base.options, to, NULL, err);
}

static enum mr_code sqlite_copy(struct mr_db *db, const char *path, struct mr_err *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE;
	struct mr_db_options options = { .path = path, .create = true, .repair_hint = "" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	sqlite3 *to = NULL;
	enum mr_code rc = mr_db_sqlite_file_create(&options, arena, err);

	if (rc)
		return rc;
	if (sqlite3_open_v2(path, &to, flags, NULL) != SQLITE_OK)
		rc = mr_db_sqlite_fail(&options, to, NULL, err);
	if (!rc)
		rc = copy_pages(db_of(db), to, err);
	sqlite3_close(to);
	return rc;
}

static enum mr_code sqlite_copy_aside(struct mr_arena *arena, struct mr_db *db, struct mr_db **out,
	struct mr_err *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE |
		SQLITE_OPEN_CREATE;
	struct mr_db_sqlite_db *self = mr_arena_alloc(arena, sizeof(*self));
	enum mr_code rc = MR_OK;

	self->base.options = db->options;
	self->base.options.read_only = false;
	self->base.options.path = mr_arena_strdup(arena, db->options.path);
	self->base.options.repair_hint = mr_arena_strdup(arena, db->options.repair_hint);
	self->bell = -1;
	/* Without a name: a file that SQLite has removed already, so that no crash leaves it. */
	if (sqlite3_open_v2("", &self->handle, flags, NULL) != SQLITE_OK)
		rc = mr_db_sqlite_fail(&db->options, self->handle, NULL, err);
	if (!rc)
		rc = copy_pages(db_of(db), self->handle, err);
	if (!rc)
		rc = set_up(self, true, err);
	if (rc)
		sqlite3_close(self->handle);
	else
		*out = &self->base;
	return rc;
}

void mr_db_sqlite_mark_search(struct mr_stmt *stmt)
{
	stmt_of(stmt)->is_search = true;
}

bool mr_db_sqlite_can_erase_words(void)
{
	return sqlite3_libversion_number() >= 3042000;
}

const struct mr_db_driver mr_db_sqlite = {
	.name = "sqlite",
	.open = sqlite_open,
	.close = sqlite_close,
	.keep_log = mr_db_sqlite_keep_log,
	.still_there = mr_db_sqlite_still_there,
	.touch = sqlite_touch,
	.trim_log = mr_db_sqlite_trim_log,
	.notify = sqlite_notify,
	.listen = mr_db_sqlite_listen,
	.listener_fd = mr_db_sqlite_listener_fd,
	.listener_drain = mr_db_sqlite_listener_drain,
	.listener_close = mr_db_sqlite_listener_close,
	.is_open_elsewhere = mr_db_sqlite_file_is_open_elsewhere,
	.exec = sqlite_exec,
	.set_sync = sqlite_set_sync,
	.changes = sqlite_changes,
	.total_changes = sqlite_total_changes,
	.in_transaction = sqlite_in_transaction,
	.begin = sqlite_begin,
	.rollback = sqlite_rollback,
	.has_tables_sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1",
	.has_table_sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
	.tables_sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
	.columns_sql = "SELECT name, CASE type WHEN 'TEXT' THEN 1 WHEN 'BLOB' THEN 2 ELSE 0 END, pk"
		       " FROM pragma_table_info(?1) ORDER BY cid",
	.last_id_sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1",
	.set_last_id_sql = { "UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1",
		"INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2"
		" WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)"
		" AND EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1"
		"  AND sql LIKE '%AUTOINCREMENT%')" },
	.check = mr_db_sqlite_check,
	.compact = sqlite_compact,
	.copy = sqlite_copy,
	.copy_aside = sqlite_copy_aside,
	.prepare = sqlite_prepare,
	.finalize = sqlite_finalize,
	.reset = sqlite_reset,
	.bind_int = sqlite_bind_int,
	.bind_real = sqlite_bind_real,
	.bind_text = sqlite_bind_text,
	.bind_bytes = sqlite_bind_bytes,
	.bind_null = sqlite_bind_null,
	.bind_ids = sqlite_bind_text,
	.step = sqlite_step,
	.is_null = sqlite_is_null,
	.column_int = sqlite_column_int,
	.column_real = sqlite_column_real,
	.column_text = sqlite_column_text,
	.column_bytes = sqlite_column_bytes,
	.search_create = mr_db_sqlite_search_create,
	.search_add = mr_db_sqlite_search_add,
	.search_remove = mr_db_sqlite_search_remove,
	.search_rebuild = mr_db_sqlite_search_rebuild,
	.search_purge = mr_db_sqlite_search_purge,
	.search_check = mr_db_sqlite_search_check,
	.search_quote = mr_db_sqlite_search_quote,
	.search_words = { " AND ", " OR ", " NOT ", "(", ")" },
	.search_prepare = mr_db_sqlite_search_prepare,
};
