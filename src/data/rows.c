/* data/rows.c - statements in one call: values bound and columns read by lists of their types. */
#include "data/rows.h"

#include <string.h>

void mr_stmt_bind(struct mr_stmt *stmt, int first, const struct mr_bind *values)
{
	for (int i = first; values && values->type != MR_BIND_END; values++, i++) {
		switch (values->type) {
		case MR_BIND_END:
		case MR_BIND_NULL:
			mr_stmt_bind_null(stmt, i);
			break;
		case MR_BIND_INT:
			mr_stmt_bind_int(stmt, i, values->number);
			break;
		case MR_BIND_REAL:
			mr_stmt_bind_real(stmt, i, values->real);
			break;
		case MR_BIND_TEXT:
			mr_stmt_bind_text(stmt, i, values->text);
			break;
		case MR_BIND_BYTES:
			mr_stmt_bind_bytes(stmt, i, values->bytes);
			break;
		case MR_BIND_IDS:
			mr_stmt_bind_ids(stmt, i, values->text);
			break;
		}
	}
}

void mr_stmt_into(struct mr_stmt *row, int column, struct mr_arena *arena,
	const struct mr_into *into)
{
	for (; into && into->type != MR_INTO_END; into++, column++) {
		switch (into->type) {
		case MR_INTO_END:
		case MR_INTO_NOTHING:
			break;
		case MR_INTO_INT:
			*(int64_t *)into->to = mr_stmt_int(row, column);
			break;
		case MR_INTO_SIZE:
			*(size_t *)into->to = (size_t)mr_stmt_int(row, column);
			break;
		case MR_INTO_BOOL:
			*(bool *)into->to = mr_stmt_int(row, column) != 0;
			break;
		case MR_INTO_REAL:
			*(double *)into->to = mr_stmt_real(row, column);
			break;
		case MR_INTO_TEXT:
			*(const char **)into->to = mr_stmt_text(row, column, arena);
			break;
		case MR_INTO_BYTES:
			*(struct mr_bytes *)into->to = mr_stmt_bytes(row, column, arena);
			break;
		}
	}
}

/* As if every column were NULL. */
static void clear(const struct mr_into *into)
{
	for (; into && into->type != MR_INTO_END; into++) {
		switch (into->type) {
		case MR_INTO_END:
		case MR_INTO_NOTHING:
			break;
		case MR_INTO_INT:
			*(int64_t *)into->to = 0;
			break;
		case MR_INTO_SIZE:
			*(size_t *)into->to = 0;
			break;
		case MR_INTO_BOOL:
			*(bool *)into->to = false;
			break;
		case MR_INTO_REAL:
			*(double *)into->to = 0;
			break;
		case MR_INTO_TEXT:
			*(const char **)into->to = NULL;
			break;
		case MR_INTO_BYTES:
			*(struct mr_bytes *)into->to = mr_bytes_of(NULL, 0);
			break;
		}
	}
}

static enum mr_code prepare(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, struct mr_stmt **out)
{
	enum mr_code rc = mr_db_prepare(db, sql, out, &cx->err);

	if (!rc)
		mr_stmt_bind(*out, 1, values);
	return rc;
}

enum mr_code mr_rows_run(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);

	return rc ? rc : mr_stmt_run(stmt, &cx->err);
}

enum mr_code mr_rows_send(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);

	return rc ? rc : mr_stmt_send(stmt, &cx->err);
}

static enum mr_code read_one(struct mr_ctx *cx, struct mr_stmt *stmt, const struct mr_into *into,
	bool *found)
{
	bool row = false;
	enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);

	if (rc)
		return rc;
	if (row)
		mr_stmt_into(stmt, 0, cx->arena, into);
	else
		clear(into);
	if (found)
		*found = row;
	return MR_OK;
}

enum mr_code mr_rows_one(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, const struct mr_into *into, bool *found)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);

	return rc ? rc : read_one(cx, stmt, into, found);
}

enum mr_code mr_rows_returning(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, const struct mr_into *into, bool *found)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);

	if (!rc)
		rc = read_one(cx, stmt, into, &row);
	/* Some constraints are checked only when the statement ends. */
	if (!rc && row)
		rc = mr_stmt_run(stmt, &cx->err);
	if (!rc && found)
		*found = row;
	return rc;
}

enum mr_code mr_rows_exist(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, bool *out)
{
	return mr_rows_one(cx, db, sql, values, NULL, out);
}

enum mr_code mr_rows_first(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *to, bool *found)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc && row)
		rc = read(cx, stmt, to);
	if (!rc && found)
		*found = row;
	return rc;
}

enum mr_code mr_rows_each(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *to)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);
	bool row = true;

	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row)
			rc = read(cx, stmt, to);
	}
	return rc;
}

enum { FIRST_ITEMS = 16 };

/* The room of a list is FIRST_ITEMS or the next power of two, so that its length tells it. */
static bool is_full(size_t len)
{
	return len == 0 || (len >= FIRST_ITEMS && (len & (len - 1)) == 0);
}

static enum mr_code grow(struct mr_ctx *cx, struct mr_db *db, size_t len, size_t size, char **rows)
{
	size_t room = len ? 2 * len : FIRST_ITEMS;
	char *more;

	/* MR_ROWS_ALL lets more rows through than a list of the smallest items has room for. */
	_Static_assert(MR_ROWS_LIST_BYTES / 8 < 67108865, "a list of all rows would be cut off");
	if (room > MR_ROWS_LIST_BYTES / size)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"database %s: a list of more than %zu rows takes more than %d bytes",
			mr_db_path(db), len, MR_ROWS_LIST_BYTES);
	more = mr_arena_array(cx->arena, room, size);
	if (len)
		memcpy(more, *rows, len * size);
	*rows = more;
	return MR_OK;
}

enum mr_code mr_rows_append(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *items, size_t *len, size_t size)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = prepare(cx, db, sql, values, &stmt);
	size_t count = *len;
	char *rows = NULL;
	bool row = true;

	/* `items` is the address of a pointer of whatever type. */
	if (count)
		memcpy(&rows, items, sizeof(rows));
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc || !row)
			continue;
		if (is_full(count))
			rc = grow(cx, db, count, size, &rows);
		if (!rc)
			rc = read(cx, stmt, rows + size * count++);
	}
	if (rc)
		return rc;
	memcpy(items, &rows, sizeof(rows));
	*len = count;
	return MR_OK;
}

enum mr_code mr_rows_list(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *items, size_t *len, size_t size)
{
	size_t count = 0;
	enum mr_code rc = mr_rows_append(cx, db, sql, values, read, items, &count, size);

	if (!rc)
		*len = count;
	return rc;
}

enum mr_code mr_row_int(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	(void)cx;
	*(int64_t *)to = mr_stmt_int(row, 0);
	return MR_OK;
}

enum mr_code mr_row_text(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	*(const char **)to = mr_stmt_text(row, 0, cx->arena);
	return MR_OK;
}
