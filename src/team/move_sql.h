/* team/move_sql.h - a database's tables row by row, and what a database knows of its move. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

enum { MR_TEAM_MOVE_KEYS = 2 };

/* A table that is moved. */
struct mr_team_move_table {
	const char *name;
	struct mr_db_columns columns;
	size_t keys[MR_TEAM_MOVE_KEYS]; /* the columns of its primary key */
	size_t key_count;
	bool counts_ids;
	size_t at_once; /* rows */
};
struct mr_team_move_tables {
	struct mr_team_move_table *items; /* what a row refers to comes before it */
	size_t len;
};
/* MR_EINTERNAL when the database has one that nobody knows where to put. */
MR_CHECK enum mr_code mr_team_move_tables(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_move_tables *out);

MR_CHECK enum mr_code mr_team_move_count(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, int64_t *out);
/* The highest id in it; 0: it is empty. For a table that counts ids. */
MR_CHECK enum mr_code mr_team_move_highest(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, int64_t *out);
/* How far a walk along a table is: the key of the last row. */
struct mr_team_move_place {
	bool has_begun, is_done;
	int64_t rows;
	const char *keys[MR_TEAM_MOVE_KEYS];
};
/*
 * The next rows after `place`, `at_once` of them, in the order of the table's primary key; fewer
 * are the last. `place` goes on with them, its texts are in cx->arena.
 */
typedef enum mr_code mr_team_move_row(struct mr_ctx *cx, const struct mr_team_move_table *table,
	struct mr_stmt *row, void *arg);
MR_CHECK enum mr_code mr_team_move_walk(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, struct mr_team_move_place *place,
	mr_team_move_row *each, void *arg);
/* For a walk: put the row into the database `arg`. */
mr_team_move_row mr_team_move_put;

/* --- what a database knows of its move; `role` is "from" or "to" --- */

struct mr_team_move_mark {
	bool exists, has_ended;
	const char *move;  /* the same in both databases */
	const char *other; /* for people */
};
MR_CHECK enum mr_code mr_team_move_mark_get(struct mr_ctx *cx, struct mr_db *db, const char *role,
	struct mr_team_move_mark *out);
MR_CHECK enum mr_code mr_team_move_mark_put(struct mr_ctx *cx, struct mr_db *db, const char *role,
	const char *move, const char *other);
MR_CHECK enum mr_code mr_team_move_mark_end(struct mr_ctx *cx, struct mr_db *db, const char *role,
	const char *move);
MR_CHECK enum mr_code mr_team_move_mark_remove(struct mr_ctx *cx, struct mr_db *db,
	const char *role);
/* Has it no team yet? */
MR_CHECK enum mr_code mr_team_move_is_unused(struct mr_ctx *cx, struct mr_db *db, bool *out);

/* How far the copy of a table is. */
MR_CHECK enum mr_code mr_team_move_place_get(struct mr_ctx *cx, struct mr_db *db, const char *table,
	struct mr_team_move_place *out);
MR_CHECK enum mr_code mr_team_move_place_put(struct mr_ctx *cx, struct mr_db *db, const char *table,
	const struct mr_team_move_place *place);
