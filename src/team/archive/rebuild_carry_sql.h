/* team/archive/rebuild_carry_sql.h - the statements of rebuild_carry.c; the old database is
 * attached as `old`, and temporary tables hold what is to be remembered meanwhile. */
#pragma once

#include "team/archive/rebuild_carry.h"

/* `path` is attached; MR_EFORMAT and others when it cannot be. */
MR_CHECK enum mr_code mr_team_carry_attach(struct mr_ctx *cx, struct mr_db *db, const char *path);
void mr_team_carry_detach(struct mr_db *db);

/* Make the temporary tables, and note which rows are there before anything is taken over. */
MR_CHECK enum mr_code mr_team_carry_begin(struct mr_ctx *cx, struct mr_db *db);
MR_CHECK enum mr_code mr_team_carry_purged(struct mr_ctx *cx, struct mr_db *db, const char *slug,
	const char *name_fold);

/* Run one by one: a step that fails does not stop the others. */
struct mr_team_carry_step {
	const char *what; /* for people: "agents cannot be read" */
	const char *sql;
	int64_t since; /* the version of the schema that has these rows; 0: all have them */
};
/* The version of the old database's schema; the largest number when that cannot be read. */
int64_t mr_team_carry_version(struct mr_db *db);
/* Before messages, and after their recipients; each ends with a NULL `sql`. */
extern const struct mr_team_carry_step mr_team_carry_first[];
extern const struct mr_team_carry_step mr_team_carry_rest[];

/* Messages, then recipients, with ids of old messages from `first` to `last`; adds to `*count`. */
enum mr_team_carry_range { MR_TEAM_CARRY_MESSAGES, MR_TEAM_CARRY_RECIPIENTS };
MR_CHECK enum mr_code mr_team_carry_range(struct mr_ctx *cx, struct mr_db *db,
	enum mr_team_carry_range what, int64_t first, int64_t last, int64_t *count);
/* The first id from `first` on that the old database has; INT64_MAX when there is none. */
MR_CHECK enum mr_code mr_team_carry_next_id(struct mr_ctx *cx, struct mr_db *db,
	enum mr_team_carry_range what, int64_t first, int64_t *out);
/* The highest id a message of the old database may have. */
int64_t mr_team_carry_last_id(struct mr_db *db);
/* Threads that got messages are numbered anew, in the order of ids. */
MR_CHECK enum mr_code mr_team_carry_number(struct mr_ctx *cx, struct mr_db *db);
/* Read and acknowledged times. */
MR_CHECK enum mr_code mr_team_carry_state(struct mr_ctx *cx, struct mr_db *db, int64_t *kept);
/* Queue for the archive what was taken over. */
MR_CHECK enum mr_code mr_team_carry_queue(struct mr_ctx *cx, struct mr_db *db);
/* How many were taken over. */
MR_CHECK enum mr_code mr_team_carry_counts(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_carry_counts *out);

/* Note old messages that are not in the new database as lost, and count the old ones. */
MR_CHECK enum mr_code mr_team_carry_compare(struct mr_ctx *cx, struct mr_db *db, int64_t *count);
/* A message that could not be read from an archive is lost, unless a message has its id. */
MR_CHECK enum mr_code mr_team_carry_unread(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *where);
/* How many are lost, and the first `max` of them. */
MR_CHECK enum mr_code mr_team_carry_lost(struct mr_ctx *cx, struct mr_db *db, bool is_attached,
	size_t max, int64_t *count, struct mr_texts *out);
/* Number of rows of a table in both databases, if the old one has more. */
MR_CHECK enum mr_code mr_team_carry_missing(struct mr_ctx *cx, struct mr_db *db, size_t table,
	const char **name, int64_t *missing);
size_t mr_team_carry_tables(void);
