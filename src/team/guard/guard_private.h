/* team/guard/guard_private.h - the sources in which the guard finds leases. */
#pragma once

#include "team/guard/guard.h"

/* The state of one answer. */
struct mr_team_guard_look {
	const struct mr_team_guard_question *question;
	bool found; /* the project */
	struct mr_team_project project;
	const char *source;
	const char *agent;              /* that asks, as far as it is known */
	const char *last;               /* when it is not: the last one of the work tree */
	const char *sender, *free_name; /* as in the answer */
	bool was_warned;
	struct mr_texts ours;  /* names of agents whose leases are the asking session's own */
	struct mr_texts paths; /* relative to the project's directory, sorted */
	struct mr_team_reservations leases; /* active, exclusive, of others */
	size_t room;                        /* for leases */
	struct mr_texts warnings;
	size_t warnings_room;
};

/* Keep the lease when it may conflict with the asking agent. */
void mr_team_guard_keep(struct mr_ctx *cx, struct mr_team_guard_look *look,
	const struct mr_team_reservation *lease);
void mr_team_guard_warn(struct mr_ctx *cx, struct mr_team_guard_look *look, const char *fmt, ...)
	MR_PRINTF(3, 4);
/* The project is known now: which paths concern it? */
void mr_team_guard_rebase(struct mr_ctx *cx, struct mr_team_guard_look *look);

/* guard_database.c: the team's database, to read; and the project of a place, looked for in it. */
struct mr_db;
MR_CHECK enum mr_code mr_team_guard_open(struct mr_ctx *cx, const struct mr_team_config *config,
	struct mr_db **out);
MR_CHECK enum mr_code mr_team_guard_project(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_guard_look *look);

/* Each fills `look` when it knows the project, and leaves it unchanged otherwise. */
/* guard_database.c; no database is no project. */
MR_CHECK enum mr_code mr_team_guard_database(struct mr_ctx *cx, struct mr_team_guard_look *look);
/* guard_archive.c; no archive is no project. */
MR_CHECK enum mr_code mr_team_guard_archive(struct mr_ctx *cx, struct mr_team_guard_look *look);
/* guard_server.c; only when one is configured. */
MR_CHECK enum mr_code mr_team_guard_server(struct mr_ctx *cx, struct mr_team_guard_look *look);
struct mr_http_client_response;
/* Take the leases from a server's answer; MR_EREMOTE says why that failed. Sends nothing. */
MR_CHECK enum mr_code mr_team_guard_server_take(struct mr_ctx *cx, struct mr_team_guard_look *look,
	const struct mr_http_client_response *response);

/* One record of a lease, as the archive and servers write it. Strict: MR_EFORMAT says what is
 * wrong. A lease without an end is active until it is released. */
struct mr_value;
MR_CHECK enum mr_code mr_team_guard_read_lease(struct mr_arena *arena, const struct mr_value *map,
	struct mr_team_reservation *out, struct mr_err *err);
