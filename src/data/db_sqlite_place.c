/* data/db_sqlite_place.c - the files of an open SQLite database: whether they are still those that
 * were opened, and how long the write-ahead log may grow. */
#include "data/db_sqlite_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
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

static struct mr_db_sqlite_db *db_of(struct mr_db *db)
{
	return (struct mr_db_sqlite_db *)db;
}

/* The header as it is in the file, past all caches. False when there is not so much of it. Through
 * SQLite's own handle: closing another would drop the locks of this process. */
static bool read_header(struct mr_db_sqlite_db *self, unsigned char out[HEADER_BYTES])
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
	struct mr_db_sqlite_db *self = arg;
	int page_size = self->page_size[0] << 8 | self->page_size[1];

	(void)handle;
	(void)name;
	self->log_bytes =
		(int64_t)frames * ((page_size == 1 ? 65536 : page_size) + FRAME_HEADER_BYTES);
	return SQLITE_OK;
}

void mr_db_sqlite_note_files(struct mr_db_sqlite_db *self, struct mr_arena *arena)
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

static enum mr_code fail_gone(struct mr_db_sqlite_db *self, struct mr_err *err)
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

static enum mr_code fail_overwritten(struct mr_db_sqlite_db *self, const char *why,
	struct mr_err *err)
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
static enum mr_code check_header(struct mr_db_sqlite_db *self, struct mr_err *err)
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

enum mr_code mr_db_sqlite_still_there(struct mr_db *db, struct mr_err *err)
{
	struct mr_db_sqlite_db *self = db_of(db);
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
static void save_deleted_log(struct mr_db_sqlite_db *self)
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

void mr_db_sqlite_keep_log(struct mr_db *db)
{
	save_deleted_log(db_of(db));
	sqlite3_db_config(db_of(db)->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void mr_db_sqlite_trim_log(struct mr_db *db)
{
	struct mr_db_sqlite_db *self = db_of(db);
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
