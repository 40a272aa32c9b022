/* data/db_postgres_connect.c - opens a connection to a server, with its certificate checked. */
#include "data/db_postgres_private.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Does the URL lead to this machine only? */
static bool is_near(const struct mr_db_pq *pq, const char *url, bool *has_mode)
{
	PQconninfoOption *all = pq->conninfoParse(url, NULL);
	const char *host = NULL;
	bool near;

	*has_mode = getenv("PGSSLMODE") != NULL;
	for (PQconninfoOption *one = all; one && one->keyword; one++) {
		if (mr_str_eq(one->keyword, "host"))
			host = one->val;
		if (mr_str_eq(one->keyword, "sslmode"))
			*has_mode |= one->val != NULL;
	}
	near = all &&
		(!host || !*host || *host == '/' || mr_str_eq(host, "localhost") ||
			mr_str_eq(host, "127.0.0.1") || mr_str_eq(host, "::1"));
	pq->conninfoFree(all);
	return near;
}

/* What the server remarks besides is nothing to us, and standard error is not libpq's. */
static void ignore_notice(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

enum mr_code mr_db_postgres_connect(const struct mr_db_pq *pq, const char *url, const char *shown,
	PGconn **out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *keywords[] = { "sslmode", "sslrootcert", "dbname", "connect_timeout",
		"fallback_application_name", "client_encoding", NULL };
	const char *values[] = { NULL, NULL, url, "10", "mailroom", "UTF8", NULL };
	bool has_mode = false;
	const char *why;
	PGconn *conn;

	if (!is_near(pq, url, &has_mode) && !has_mode) {
		values[0] = "verify-full";
		values[1] = "/etc/ssl/certs/ca-certificates.crt";
	}
	conn = pq->connectdbParams(keywords, values, 1);
	pq->setNoticeProcessor(conn, ignore_notice, NULL);
	if (pq->status(conn) == CONNECTION_OK) {
		*out = conn;
		return MR_OK;
	}
	why = pq->errorMessage(conn);
	why = mr_arena_strndup(arena, why, strcspn(why, "\n"));
	pq->finish(conn);
	if (strstr(why, "authentication failed") || strstr(why, "no password supplied") ||
		(strstr(why, "role \"") && strstr(why, "does not exist")))
		return mr_err_set(err, MR_EAUTH,
			"database %s: the server refuses the user or the password: %s", shown, why);
	if (strstr(why, "database \"") && strstr(why, "does not exist"))
		return mr_err_set(err, MR_ENOTFOUND, "database %s: %s; make it with createdb",
			shown, why);
	if (strstr(why, "invalid ") && !strstr(why, "connection to server"))
		return mr_err_set(err, MR_EINVAL, "database %s: %s", shown, why);
	return mr_err_set(err, MR_EBUSY, "database %s cannot be reached: %s; try again", shown,
		why);
}
