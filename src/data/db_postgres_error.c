/* data/db_postgres_error.c - PostgreSQL's errors as ours, by their SQLSTATE. */
#include "data/db_postgres_private.h"

#include "base/str.h"

#include <errno.h>
#include <string.h>

enum { SHOWN_SQL = 100 };

static const struct {
	const char *state; /* all of it, or the class that it begins with */
	enum mr_code code;
	const char *hint;
} states[] = {
	{ "23505", MR_EEXISTS, NULL },
	{ "23", MR_ECONFLICT, NULL },
	{ "40", MR_EBUSY, "somebody else's change came in between; try again" },
	{ "55P03", MR_EBUSY, "another process is writing to it; try again" },
	{ "57014", MR_ETIMEOUT, "the statement took too long" },
	{ "57P0", MR_EBUSY, "the server is being stopped or started; try again" },
	{ "08", MR_EBUSY, "the connection to the server was lost; try again" },
	{ "53300", MR_EBUSY,
		"the server has no connection left; try again, or raise its max_connections" },
	{ "53100", MR_EIO, "the server's disk is full: free some space and try again" },
	{ "53", MR_EIO, "the server is out of resources" },
	{ "58", MR_EIO, "the server's disk failed" },
	{ "XX001", MR_EFORMAT, NULL },
	{ "XX002", MR_EFORMAT, NULL },
	{ "28", MR_EAUTH, "the server refuses the user or the password" },
	{ "42501", MR_EPERM, "the user may not do this: check what it was granted" },
	{ "3D000", MR_ENOTFOUND, "make it with createdb" },
	{ "42P01", MR_EFORMAT, NULL }, /* a table of ours is not there */
	{ "22021", MR_EINVAL, "a text is not UTF-8, or has a NUL" },
	{ "54", MR_ELIMIT, "a value or statement is too long" },
};

static enum mr_code fail_lost(const char *path, const char *msg, struct mr_err *err)
{
	return mr_err_set(err, MR_EBUSY,
		"database %s: the connection to the server was lost (%s); try again", path, msg);
}

/* The first line of what libpq says, without its end. */
static const char *line_of(struct mr_arena *arena, const char *text)
{
	size_t len = strcspn(text, "\n");

	return len ? mr_arena_strndup(arena, text, len) : "it says nothing";
}

enum mr_code mr_db_postgres_fail(const struct mr_db_pq *pq, const struct mr_db_options *options,
	const PGconn *conn, const PGresult *result, const char *sql, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *state = result ? pq->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *msg = result ? pq->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	const char *path = options->path;

	if (!msg)
		msg = line_of(arena, pq->errorMessage(conn));
	if (!state)
		return fail_lost(path, msg, err);
	if (mr_str_eq(state, "25006"))
		return options->read_only
			? mr_err_set(err, MR_EPERM,
				  "database %s was opened for reading only [PostgreSQL %s]", path,
				  state)
			: mr_err_set(err, MR_EBUSY,
				  "database %s may only be read there now: the server is a standby, or "
				  "read-only [PostgreSQL %s]",
				  path, state);
	for (size_t i = 0; i < MR_LEN(states); i++) {
		if (strncmp(state, states[i].state, strlen(states[i].state)) != 0)
			continue;
		if (states[i].code == MR_EFORMAT)
			return mr_err_set(err, MR_EFORMAT,
				"%s is not a usable database (%s [PostgreSQL %s]); %s", path, msg,
				state, options->repair_hint);
		mr_err_set(err, states[i].code, "database %s: %s [PostgreSQL %s]%s%s", path, msg,
			state, states[i].hint ? "; " : "", states[i].hint ? states[i].hint : "");
		err->os_errno = mr_str_eq(state, "53100") ? ENOSPC : 0;
		return err->code;
	}
	return mr_err_set(err, MR_EINTERNAL, "database %s: %s [PostgreSQL %s] in \"%.*s\"", path,
		msg, state, SHOWN_SQL, sql ? sql : "");
}
