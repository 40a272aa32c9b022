/* data/db_sqlite_error.c - SQLite's errors as ours. */
#include "data/db_sqlite_private.h"

#include "data/db_sqlite_file.h"

#include <errno.h>

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

enum mr_code mr_db_sqlite_fail_busy(int code, const char *path, struct mr_err *err)
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

enum mr_code mr_db_sqlite_fail(const struct mr_db_options *options, sqlite3 *handle,
	const char *sql, struct mr_err *err)
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
		return mr_db_sqlite_fail_busy(code, path, err);
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
			path, msg, code, MR_DB_SQLITE_SHOWN_SQL, sql ? sql : "");
	}
}
