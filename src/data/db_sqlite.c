/* data/db_sqlite.c - the only file that includes sqlite3.h. */
#include "data/db_sqlite.h"

#include "base/fs.h"
#include "data/db_driver.h"
#include "data/db_sqlite_bell.h"
#include "data/db_sqlite_check.h"
#include "data/db_sqlite_file.h"
#include "data/db_sqlite_search.h"
#include "data/db_sqlite_words.h"

#include <sqlite3.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SHOWN_SQL_BYTES = 100,
	KEPT_LOG_BYTES = 64 << 20, /* a log that one huge transaction grew is cut back to this */
	/* Of the file's header: where its numbers stand. */
	HEADER_BYTES = 100,
	HEADER_PAGE_SIZE = 16,
	HEADER_COUNTER = 24,
	HEADER_PAGES = 28,
	FRAME_HEADER_BYTES = 24, /* before each page in the log */
	/* How long a checkpoint waits for readers before the log has reached its limit, and after
	 * that. Ours finish in milliseconds. */
	TRIM_WAIT_MS = 20,
	TRIM_LATE_WAIT_MS = 1000,
};

struct sqlite_db {
	struct mr_db base;
	sqlite3 *handle;
	int waited_us;   /* for the lock we are waiting for */
	int patience_ms; /* for locks, instead of the busy timeout; 0: that */
	bool has_score;
	int bell; /* see db_sqlite_bell.h; -1 until it is first rung */
	/* For sqlite_still_there(): what was open in the beginning, and what was seen last. */
	const char *log_path, *shm_path;
	struct mr_db_sqlite_file log, shm;
	unsigned char page_size[2]; /* as the header has it */
	uint32_t counter, pages;    /* the header's change counter and size of the file */
	bool damaged;               /* found when writing */
	/* For sqlite_trim_log(). */
	int64_t log_bytes; /* after the last commit */
	int64_t trim_at;   /* try when there are so many */
};

struct sqlite_stmt {
	struct mr_stmt base;
	struct mr_arena *arena; /* holds this and the SQL text */
	struct sqlite_db *db;
	sqlite3_stmt *handle;
	int bind_rc; /* the first bind that failed, ... */
	int bind_index;
	bool ended;
	bool is_search;
};

static struct sqlite_db *db_of(struct mr_db *db)
{
	return (struct sqlite_db *)db;
}

static struct sqlite_stmt *stmt_of(struct mr_stmt *stmt)
{
	return (struct sqlite_stmt *)stmt;
}

static enum mr_code fail_constraint(int code, const char *path, const char *msg, struct mr_err *err)
{
	switch (code) {
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_PRIMARYKEY:
	case SQLITE_CONSTRAINT_ROWID:
		return mr_err_set(err, MR_EEXISTS, "database %s: %s [SQLite %d]", path, msg, code);
	default:
		return mr_err_set(err, MR_ECONFLICT, "database %s: %s [SQLite %d]", path, msg,
			code);
	}
}

static enum mr_code fail_busy(int code, const char *path, struct mr_err *err)
{
	switch (code) {
	case SQLITE_BUSY_SNAPSHOT:
		return mr_err_set(err, MR_EBUSY,
			"database %s is busy: another process wrote to it since this transaction "
			"began to read; start it again [SQLite %d]",
			path, code);
	case SQLITE_LOCKED:
		return mr_err_set(err, MR_EBUSY,
			"database %s is busy: another statement of this connection is still at "
			"work [SQLite %d]",
			path, code);
	default:
		return mr_err_set(err, MR_EBUSY,
			"database %s is busy: another process is writing to it; try again [SQLite "
			"%d]",
			path, code);
	}
}

static enum mr_code fail_io(int code, int os_errno, const char *path, const char *msg,
	struct mr_err *err)
{
	if ((code & 0xff) == SQLITE_FULL || os_errno == ENOSPC || os_errno == EDQUOT) {
		mr_err_set(err, MR_EIO,
			"database %s: disk full: free some space and try again [SQLite %d]", path,
			code);
		err->os_errno = ENOSPC;
		return MR_EIO;
	}
	if (os_errno)
		return mr_err_os(err, os_errno, "database %s: %s [SQLite %d]", path, msg, code);
	return mr_err_set(err, MR_EIO, "database %s: %s [SQLite %d]", path, msg, code);
}

/*
 * Turn the connection's last error into ours, at once: the next call replaces it. `sql` may be
 * NULL; it is shown where the statement itself is wrong, and never holds a user's text.
 */
static enum mr_code fail(const struct mr_db_options *options, sqlite3 *handle, const char *sql,
	struct mr_err *err)
{
	char room[MR_DB_SQLITE_SHOWN_BYTES];
	const char *path = mr_db_sqlite_shown_path(options, room);
	int code = handle ? sqlite3_extended_errcode(handle) : SQLITE_NOMEM;
	const char *msg = handle ? sqlite3_errmsg(handle) : "out of memory";
	int os_errno = handle ? sqlite3_system_errno(handle) : 0;

	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return fail_busy(code, path, err);
	case SQLITE_CONSTRAINT:
		return fail_constraint(code, path, msg, err);
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_NOMEM:
	case SQLITE_NOLFS:
		return fail_io(code, os_errno, path, msg, err);
	case SQLITE_CANTOPEN:
		if (os_errno)
			return mr_err_os(err, os_errno, "cannot open database %s [SQLite %d]", path,
				code);
		return mr_err_set(err, MR_EIO, "cannot open database %s: %s [SQLite %d]", path, msg,
			code);
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		if (code == SQLITE_READONLY_DBMOVED)
			return mr_err_set(err, MR_EIO,
				"database %s was moved or deleted while it was in use: put it "
				"back, "
				"or %s [SQLite %d]",
				path, options->repair_hint, code);
		if (options->read_only)
			return mr_err_set(err, MR_EPERM,
				"database %s was opened for reading only [SQLite %d]", path, code);
		return mr_err_set(err, MR_EPERM,
			"database %s may not be written (%s [SQLite %d]); check who owns the file "
			"and "
			"its directory",
			path, msg, code);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return mr_err_set(err, MR_EFORMAT,
			"%s is not a usable database (%s [SQLite %d]); %s", path, msg, code,
			options->repair_hint);
	case SQLITE_TOOBIG:
		return mr_err_set(err, MR_ELIMIT,
			"database %s: a value or statement is too long [SQLite %d]", path, code);
	case SQLITE_INTERRUPT:
		return mr_err_set(err, MR_ETIMEOUT, "database %s: interrupted [SQLite %d]", path,
			code);
	default:
		return mr_err_set(err, MR_EINTERNAL, "database %s: %s [SQLite %d] in \"%.*s\"",
			path, msg, code, SHOWN_SQL_BYTES, sql ? sql : "");
	}
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
	struct sqlite_db *self = arg;

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
	struct sqlite_db *self = db_of(db);

	if (strlen(sql) > MR_DB_SQL_BYTES)
		return mr_err_set(err, MR_ELIMIT, "database %s: more than %d bytes of statements",
			db->options.path, MR_DB_SQL_BYTES);
	if (sqlite3_exec(self->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
		return MR_OK;
	return fail(&db->options, self->handle, sql, err);
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
static enum mr_code ask(struct sqlite_db *self, const char *sql, char *out, size_t size,
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
		code = fail(&self->base.options, self->handle, sql, err);
	sqlite3_finalize(stmt);
	return code;
}

static enum mr_code set_journal(struct sqlite_db *self, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	bool wal = options->journal == MR_DB_JOURNAL_WAL;
	const char *wanted = wal ? "wal" : "delete";
	const char *sql = wal ? "PRAGMA journal_mode=WAL" : "PRAGMA journal_mode=DELETE";
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

/* The header as it is in the file, past all caches. False when there is not so much of it. Through
 * SQLite's own handle: closing another would drop the locks of this process. */
static bool read_header(struct sqlite_db *self, unsigned char out[HEADER_BYTES])
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) ==
		SQLITE_OK &&
		file && file->pMethods &&
		file->pMethods->xRead(file, out, HEADER_BYTES, 0) == SQLITE_OK;
}

static uint32_t read_u32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Told after each commit; this replaces SQLite's own checkpoints. */
static int note_log(void *arg, sqlite3 *handle, const char *name, int frames)
{
	struct sqlite_db *self = arg;
	int page_size = self->page_size[0] << 8 | self->page_size[1];

	(void)handle;
	(void)name;
	self->log_bytes =
		(int64_t)frames * ((page_size == 1 ? 65536 : page_size) + FRAME_HEADER_BYTES);
	return SQLITE_OK;
}

/* Remember what is open, once SQLite has opened all of it. */
static void note_files(struct sqlite_db *self, struct mr_arena *arena)
{
	const struct mr_db_options *options = &self->base.options;
	const char *path = sqlite3_db_filename(self->handle, "main");
	unsigned char header[HEADER_BYTES];

	self->log_path = mr_arena_printf(arena, "%s-wal", path);
	self->shm_path = mr_arena_printf(arena, "%s-shm", path);
	self->log = mr_db_sqlite_file_at(self->log_path);
	self->shm = mr_db_sqlite_file_at(self->shm_path);
	if (read_header(self, header)) {
		memcpy(self->page_size, header + HEADER_PAGE_SIZE, sizeof(self->page_size));
		self->counter = read_u32(header + HEADER_COUNTER);
		self->pages = read_u32(header + HEADER_PAGES);
	}
	if (options->max_log_bytes && !options->read_only) {
		self->trim_at = options->max_log_bytes / 2;
		sqlite3_wal_hook(self->handle, note_log, self);
	}
}

static enum mr_code set_up(struct sqlite_db *self, bool is_aside, struct mr_err *err)
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
	struct sqlite_db *self = mr_arena_alloc(arena, sizeof(*self));
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
		rc = fail(options, self->handle, NULL, err);
	if (!rc)
		rc = set_up(self, false, err);
	if (rc) {
		sqlite3_close(self->handle);
		return rc;
	}
	note_files(self, arena);
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

static enum mr_code fail_gone(struct sqlite_db *self, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	char room[MR_DB_SQLITE_SHOWN_BYTES];
	const char *path = mr_db_sqlite_shown_path(options, room);

	if (access(options->path, F_OK) == 0)
		return mr_err_set(err, MR_EIO,
			"another file has taken the place of database %s: put the right one back, "
			"or %s",
			path, options->repair_hint);
	mr_err_set(err, MR_EIO, "database %s was deleted or moved away (%s): put it back, or %s",
		path, strerror(errno), options->repair_hint);
	return MR_EIO;
}

static enum mr_code fail_overwritten(struct sqlite_db *self, const char *why, struct mr_err *err)
{
	const struct mr_db_options *options = &self->base.options;
	char room[MR_DB_SQLITE_SHOWN_BYTES];

	return mr_err_set(err, MR_EFORMAT, "database %s was %s by another program; %s",
		mr_db_sqlite_shown_path(options, room), why, options->repair_hint);
}

/*
 * The change counter never goes back, and the page count only when the file was compacted: a false
 * alarm then costs one check of the whole file when it is reopened.
 */
static enum mr_code check_header(struct sqlite_db *self, struct mr_err *err)
{
	static const char magic[16] = "SQLite format 3";
	unsigned char header[HEADER_BYTES];
	uint32_t counter, pages;

	if (!read_header(self, header))
		return fail_overwritten(self, "cut off", err);
	if (memcmp(header, magic, sizeof(magic)) != 0 ||
		memcmp(header + HEADER_PAGE_SIZE, self->page_size, sizeof(self->page_size)) != 0)
		return fail_overwritten(self, "overwritten", err);
	counter = read_u32(header + HEADER_COUNTER);
	pages = read_u32(header + HEADER_PAGES);
	if ((int32_t)(counter - self->counter) < 0 ||
		(counter == self->counter && pages < self->pages))
		return fail_overwritten(self, "overwritten with an older copy", err);
	self->counter = counter;
	self->pages = pages;
	return MR_OK;
}

static enum mr_code sqlite_still_there(struct mr_db *db, struct mr_err *err)
{
	struct sqlite_db *self = db_of(db);
	char room[MR_DB_SQLITE_SHOWN_BYTES];
	int moved = 0;

	if (sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) !=
			SQLITE_OK ||
		moved)
		return fail_gone(self, err);
	if (!mr_db_sqlite_file_is_same(self->log, mr_db_sqlite_file_at(self->log_path)) ||
		!mr_db_sqlite_file_is_same(self->shm, mr_db_sqlite_file_at(self->shm_path)))
		return mr_err_set(err, MR_EIO,
			"the log of database %s (-wal or -shm beside it) was deleted or replaced; "
			"if mail is missing, %s",
			mr_db_sqlite_shown_path(&db->options, room), db->options.repair_hint);
	if (self->damaged)
		return mr_err_set(err, MR_EFORMAT, "database %s is damaged; %s",
			mr_db_sqlite_shown_path(&db->options, room), db->options.repair_hint);
	return check_header(self, err);
}

/*
 * A deleted log can still be read through this connection, for the last time. Copying it into the
 * file is safe as long as no other connection has begun a new one.
 */
static void save_deleted_log(struct sqlite_db *self)
{
	struct mr_err ignored;
	int moved = 0;

	if (self->base.options.read_only || self->log.ino == 0 ||
		access(self->log_path, F_OK) == 0 ||
		sqlite3_file_control(self->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) !=
			SQLITE_OK ||
		moved || check_header(self, &ignored))
		return;
	self->patience_ms = TRIM_LATE_WAIT_MS;
	sqlite3_wal_checkpoint_v2(self->handle, "main", SQLITE_CHECKPOINT_FULL, NULL, NULL);
	self->patience_ms = 0;
}

static void sqlite_keep_log(struct mr_db *db)
{
	save_deleted_log(db_of(db));
	sqlite3_db_config(db_of(db)->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

/* user_version belongs to the application, and we use it for nothing else. */
static enum mr_code sqlite_touch(struct mr_db *db, struct mr_err *err)
{
	struct sqlite_db *self = db_of(db);
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

static void sqlite_trim_log(struct mr_db *db)
{
	struct sqlite_db *self = db_of(db);
	int64_t max = db->options.max_log_bytes;
	bool late = self->log_bytes >= max;
	int rc;

	if (self->trim_at == 0 || self->log_bytes < self->trim_at)
		return;
	self->patience_ms = late ? TRIM_LATE_WAIT_MS : TRIM_WAIT_MS;
	rc = sqlite3_wal_checkpoint_v2(self->handle, "main",
		late ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART, NULL, NULL);
	self->patience_ms = 0;
	/* Whatever went wrong, the log keeps what was committed. */
	self->trim_at = rc == SQLITE_OK ? max / 2 : self->log_bytes + max / 8;
	if (rc == SQLITE_OK)
		self->log_bytes = 0;
}

static int64_t sqlite_changes(struct mr_db *db)
{
	return sqlite3_changes64(db_of(db)->handle);
}

static int64_t sqlite_total_changes(struct mr_db *db)
{
	return sqlite3_total_changes64(db_of(db)->handle);
}

static bool sqlite_in_transaction(struct mr_db *db)
{
	return !sqlite3_get_autocommit(db_of(db)->handle);
}

static enum mr_code sqlite_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct sqlite_db *self = db_of(db);
	struct sqlite_stmt *stmt = mr_arena_alloc(arena, sizeof(*stmt));
	const char *rest = "";

	if (sqlite3_prepare_v3(self->handle, mr_db_sqlite_spell(arena, sql), -1,
		    SQLITE_PREPARE_PERSISTENT, &stmt->handle, &rest) != SQLITE_OK)
		return fail(&db->options, self->handle, sql, err);
	if (!stmt->handle || rest[strspn(rest, " \t\n;")]) {
		sqlite3_finalize(stmt->handle);
		return mr_err_set(err, MR_EINTERNAL, "not exactly one statement: \"%.*s\"",
			SHOWN_SQL_BYTES, sql);
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
		self->bind_index, self->bind_rc, SHOWN_SQL_BYTES, self->base.sql);
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
		code = fail(&self->db->base.options, handle, self->base.sql, err);
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
static enum mr_code copy_pages(struct sqlite_db *self, sqlite3 *to, struct mr_err *err)
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
		return fail_busy(rc, self->base.options.path, err);
	return fail(&self->base.options, to, NULL, err);
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
		rc = fail(&options, to, NULL, err);
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
	struct sqlite_db *self = mr_arena_alloc(arena, sizeof(*self));
	enum mr_code rc = MR_OK;

	self->base.options = db->options;
	self->base.options.read_only = false;
	self->base.options.path = mr_arena_strdup(arena, db->options.path);
	self->base.options.repair_hint = mr_arena_strdup(arena, db->options.repair_hint);
	self->bell = -1;
	/* Without a name: a file that SQLite has removed already, so that no crash leaves it. */
	if (sqlite3_open_v2("", &self->handle, flags, NULL) != SQLITE_OK)
		rc = fail(&db->options, self->handle, NULL, err);
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

/*
 * The score of a row: BM25 with weights for columns, as FTS5's own bm25() has it, but that walks
 * through every row that holds a term, to count them, and through every place in a row. Here both
 * are cut off: a term that stands in more rows is as common as its first thousand say, and one that
 * stands more often in a row says no more.
 */
enum { COUNTED_ROWS = 1000, COUNTED_PLACES = 100 };

struct score {
	double average;  /* words in a row */
	double rarity[]; /* of each phrase */
};

struct phrase_rows {
	int64_t count, last_id;
};

static int count_row(const Fts5ExtensionApi *api, Fts5Context *at, void *arg)
{
	struct phrase_rows *rows = arg;

	rows->last_id = api->xRowid(at);
	return ++rows->count == COUNTED_ROWS ? SQLITE_DONE : SQLITE_OK;
}

static int measure_phrase(const Fts5ExtensionApi *api, Fts5Context *at, int phrase, double rows,
	double *out)
{
	struct phrase_rows holding = { 0, 0 };
	int rc = api->xQueryPhrase(at, phrase, &holding, count_row);
	double count = (double)holding.count;

	/* Ids are given one after the other: so many of the first, so many of all. */
	if (holding.count == COUNTED_ROWS && holding.last_id > COUNTED_ROWS)
		count = fmax(count, fmin(rows, count * rows / (double)holding.last_id));
	*out = log((fmax(rows, count) + 1) / (count + 0.5));
	return rc;
}

/* Once for a query. */
static int measure_query(const Fts5ExtensionApi *api, Fts5Context *at, struct score **out)
{
	int phrases = api->xPhraseCount(at);
	sqlite3_int64 rows = 0, words = 0;
	struct score *score =
		sqlite3_malloc64(sizeof(*score) + (size_t)phrases * sizeof(score->rarity[0]));
	int rc = score ? api->xRowCount(at, &rows) : SQLITE_NOMEM;

	if (rc == SQLITE_OK)
		rc = api->xColumnTotalSize(at, -1, &words);
	if (rc == SQLITE_OK)
		score->average = rows > 0 && words > 0 ? (double)words / (double)rows : 1;
	for (int i = 0; rc == SQLITE_OK && i < phrases; i++) {
		score->rarity[i] = 1; /* one alone is as rare as itself */
		if (phrases > 1)
			rc = measure_phrase(api, at, i, (double)rows, &score->rarity[i]);
	}
	if (rc == SQLITE_OK)
		rc = api->xSetAuxdata(at, score, sqlite3_free); /* frees it when it fails */
	else
		sqlite3_free(score);
	*out = score;
	return rc;
}

/* How much the row says of a phrase: its places, by the weight of their columns. */
static double places(const Fts5ExtensionApi *api, Fts5Context *at, int phrase,
	sqlite3_value **weights, int count)
{
	Fts5PhraseIter iter;
	int column = -1, offset, seen = 0;
	double sum = 0;

	if (api->xPhraseFirst(at, phrase, &iter, &column, &offset) != SQLITE_OK)
		return 0;
	while (column >= 0 && seen++ < COUNTED_PLACES) {
		sum += column < count ? sqlite3_value_double(weights[column]) : 1;
		api->xPhraseNext(at, &iter, &column, &offset);
	}
	return sum;
}

static void put_score(const Fts5ExtensionApi *api, Fts5Context *at, sqlite3_context *result,
	int count, sqlite3_value **weights)
{
	static const double k1 = 1.2, b = 0.75; /* the usual constants */
	struct score *score = api->xGetAuxdata(at, 0);
	int words = 0, rc = SQLITE_OK;
	double sum = 0;

	if (!score)
		rc = measure_query(api, at, &score);
	if (rc == SQLITE_OK)
		rc = api->xColumnSize(at, -1, &words);
	if (rc != SQLITE_OK) {
		sqlite3_result_error_code(result, rc);
		return;
	}
	for (int i = 0; i < api->xPhraseCount(at); i++) {
		double often = places(api, at, i, weights, count);

		sum += score->rarity[i] * often * (k1 + 1) /
			(often + k1 * (1 - b + b * words / score->average));
	}
	sqlite3_result_double(result, sum);
}

enum mr_code mr_db_sqlite_add_score(struct mr_db *db, struct mr_err *err)
{
	struct sqlite_db *self = db_of(db);
	static const char sql[] = "SELECT fts5(?1)";
	sqlite3_stmt *stmt = NULL;
	fts5_api *api = NULL;
	int rc;

	if (self->has_score)
		return MR_OK;
	rc = sqlite3_prepare_v2(self->handle, sql, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
	if (rc == SQLITE_OK)
		sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	if (api)
		rc = api->xCreateFunction(api, MR_DB_SQLITE_SCORE, NULL, put_score, NULL);
	if (!api || rc != SQLITE_OK)
		return fail(&db->options, self->handle, sql, err);
	self->has_score = true;
	return MR_OK;
}

bool mr_db_sqlite_can_erase_words(void)
{
	return sqlite3_libversion_number() >= 3042000;
}

const struct mr_db_driver mr_db_sqlite = {
	.name = "sqlite",
	.open = sqlite_open,
	.close = sqlite_close,
	.keep_log = sqlite_keep_log,
	.still_there = sqlite_still_there,
	.touch = sqlite_touch,
	.trim_log = sqlite_trim_log,
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
	.begin_sql = { [MR_DB_DEFERRED] = "BEGIN", [MR_DB_IMMEDIATE] = "BEGIN IMMEDIATE" },
	.has_table_sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
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
