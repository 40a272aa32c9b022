/* data/db_sqlite_file.h - what the SQLite driver asks of the file system, without SQLite: which
 * file a path names, making an empty one, and who has it open. */
#pragma once

#include "data/db.h"

#include <sys/types.h>

/* Which file a path names; {0, 0} is none. */
struct mr_db_sqlite_file {
	dev_t dev;
	ino_t ino;
};

struct mr_db_sqlite_file mr_db_sqlite_file_at(const char *path);
bool mr_db_sqlite_file_is_same(struct mr_db_sqlite_file one, struct mr_db_sqlite_file other);

/* The path for an error's text, or its end after "..." when it is long, so that it leaves room for
 * what was wrong. */
enum { MR_DB_SQLITE_SHOWN_BYTES = 208 };
const char *mr_db_sqlite_shown_path(const struct mr_db_options *options,
	char room[MR_DB_SQLITE_SHOWN_BYTES]);

/* Make the file when it is missing, private from its first byte; the log inherits its mode. */
enum mr_code mr_db_sqlite_file_create(const struct mr_db_options *options, struct mr_arena *arena,
	struct mr_err *err);
/* See mr_db_is_open_elsewhere(). */
bool mr_db_sqlite_file_is_open_elsewhere(const char *path, long *pid);
