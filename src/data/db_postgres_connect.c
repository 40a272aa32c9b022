/* data/db_postgres_connect.c - opens a connection to a server, with its certificate checked. */
#include "data/db_postgres_private.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* What the address, or a variable of libpq's, says of a connection; or NULL. */
static const char *said(const PQconninfoOption *all, const char *keyword)
{
	for (const PQconninfoOption *one = all; one && one->keyword; one++) {
		if (mr_str_eq(one->keyword, keyword))
			return one->val ? one->val : one->envvar ? getenv(one->envvar) : NULL;
	}
	return NULL;
}

static bool is_this_machine(const char *host)
{
	return mr_str_is_empty(host) || *host == '/' || mr_str_eq(host, "localhost") ||
		mr_str_eq(host, "127.0.0.1") || mr_str_eq(host, "::1");
}

/*
 * Whoever names no `sslmode` gets the strictest, unless the address leads to this machine. A
 * service's file may name any host.
 */
static void choose_tls(const struct mr_db_pq *pq, const char *url, const char **mode,
	const char **authorities)
{
	PQconninfoOption *all = pq->conninfoParse(url, NULL);
	bool is_near = is_this_machine(said(all, "host")) &&
		is_this_machine(said(all, "hostaddr")) && !said(all, "service");

	if (!said(all, "sslmode") && !is_near)
		*mode = "verify-full";
	if (*mode && !said(all, "sslrootcert"))
		*authorities = "/etc/ssl/certs/ca-certificates.crt";
	pq->conninfoFree(all);
}

/* Did the server's certificate, or its having none, end the attempt? */
static bool is_about_tls(const char *why)
{
	static const char *const words[] = { "certificate", "does not support SSL",
		"SSL was required", "SSL error" };

	for (size_t i = 0; i < MR_LEN(words); i++) {
		if (strstr(why, words[i]))
			return true;
	}
	return false;
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
		"fallback_application_name", "client_encoding", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "tcp_user_timeout", NULL };
	const char *values[] = { NULL, NULL, url, "10", "mailroom", "UTF8", "10", "5", "3", "30000",
		NULL };
	const char *why;
	PGconn *conn;

	choose_tls(pq, url, &values[0], &values[1]);
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
	if (strstr(why, "too many c") || strstr(why, "connection slots are reserved"))
		return mr_err_set(err, MR_EBUSY,
			"database %s: the server has no connection left: %s; try again, or raise its "
			"max_connections",
			shown, why);
	if (strstr(why, "database \"") && strstr(why, "does not exist"))
		return mr_err_set(err, MR_ENOTFOUND, "database %s: %s; make it with createdb",
			shown, why);
	if (strstr(why, "invalid ") && !strstr(why, "connection to server"))
		return mr_err_set(err, MR_EINVAL, "database %s: %s", shown, why);
	if (is_about_tls(why))
		return mr_err_set(err, MR_EREMOTE,
			"database %s: TLS with the server failed: %s; name the file of its authority "
			"with sslrootcert in the address, or say with sslmode what is enough",
			shown, why);
	return mr_err_set(err, MR_EBUSY, "database %s cannot be reached: %s; try again", shown,
		why);
}
