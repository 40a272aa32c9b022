/*
 * data/rows.h - a statement in one call: its text, the values of its parameters, and where the
 * columns of its rows go.
 *
 *	return mr_rows_run(cx, db, SQL_RENEW, MR_BIND(id, expires_ts));
 *	return mr_rows_one(cx, db, SQL_TIMES, MR_BIND(id), MR_INTO(&created, &expires), &found);
 *	return mr_rows_list(cx, db, SQL_BY_TAIL, MR_BIND(tail, limit), read_project, MR_LIST(out));
 *
 * Every function takes its statement from the connection's cache and gives it back, whatever
 * happens. The lists of values and of destinations are arrays on the caller's stack: nothing is
 * allocated or parsed for them. NULL stands for an empty list of either kind.
 *
 * A set of ids is one parameter: `x IN ids(?3)` in the text, mr_bind_ids() for the value.
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

/* --- the values of parameters: the first one is ?1 --- */

enum mr_bind_type {
	MR_BIND_END,
	MR_BIND_NULL,
	MR_BIND_INT,
	MR_BIND_REAL,
	MR_BIND_TEXT,
	MR_BIND_BYTES,
	MR_BIND_IDS,
};

struct mr_bind {
	enum mr_bind_type type;
	union {
		int64_t number;
		double real;
		const char *text;
		struct mr_bytes bytes;
	};
};

/*
 * 1 to MR_ROWS_ARGS values. Numbers of any kind, bool, enum, texts and struct mr_bytes are
 * recognized by their C type; a text or bytes that are NULL bind NULL, and so does a plain NULL.
 * What the functions below return may stand in the list, too.
 */
#define MR_BIND(...) ((const struct mr_bind[]){ MR_ROWS_MAP(MR_BIND_OF, __VA_ARGS__), { 0 } })

static inline struct mr_bind mr_bind_int(int64_t number)
{
	return (struct mr_bind){ .type = MR_BIND_INT, .number = number };
}

/* For optional ids and times, which are 0 in our structs and NULL in the database. */
static inline struct mr_bind mr_bind_or_null(int64_t number)
{
	return (struct mr_bind){ .type = number ? MR_BIND_INT : MR_BIND_NULL, .number = number };
}

/* A set for `IN ids(?n)`, written [1,2,3]; NULL binds NULL. */
static inline struct mr_bind mr_bind_ids(const char *list)
{
	return (struct mr_bind){ .type = MR_BIND_IDS, .text = list };
}

/* --- where columns go: the first one is column 0 --- */

enum mr_into_type {
	MR_INTO_END,
	MR_INTO_NOTHING,
	MR_INTO_INT,
	MR_INTO_SIZE,
	MR_INTO_BOOL,
	MR_INTO_REAL,
	MR_INTO_TEXT,
	MR_INTO_BYTES,
};

struct mr_into {
	enum mr_into_type type;
	void *to;
};

/*
 * 1 to MR_ROWS_ARGS addresses, of int64_t, size_t, bool, double, const char * and struct mr_bytes.
 * A plain NULL leaves a column out. Texts and bytes are copied into the arena. A column that is
 * NULL becomes 0, false or NULL.
 */
#define MR_INTO(...) ((const struct mr_into[]){ MR_ROWS_MAP(MR_INTO_OF, __VA_ARGS__), { 0 } })

/* Columns of the present row, from `column` on. */
void mr_stmt_into(struct mr_stmt *row, int column, struct mr_arena *arena,
	const struct mr_into *into);
/* Bind the values from ?`first` on, for a statement that is stepped by hand. */
void mr_stmt_bind(struct mr_stmt *stmt, int first, const struct mr_bind *values);

/* --- statements --- */

/* A statement that changes something; its rows are not looked at. */
MR_CHECK enum mr_code mr_rows_run(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values);
/* The same by mr_stmt_send(): its failure may be told later. */
MR_CHECK enum mr_code mr_rows_send(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values);
/*
 * The first row. Without a row the destinations become what they are for NULL, so that `found` may
 * be NULL where that says enough. On failure nothing is written.
 */
MR_CHECK enum mr_code mr_rows_one(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, const struct mr_into *into, bool *found);
/* The same for INSERT, UPDATE or DELETE with RETURNING, which is run to its end. When that fails,
 * what the destinations hold means nothing. */
MR_CHECK enum mr_code mr_rows_returning(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, const struct mr_into *into, bool *found);
/* Is there a row? */
MR_CHECK enum mr_code mr_rows_exist(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, bool *out);

/*
 * Reads the present row into `to`: a new, zeroed item of a list, or what the caller of
 * mr_rows_first() and mr_rows_each() gave. A failure ends the statement and is passed on.
 */
typedef enum mr_code mr_row_read(struct mr_ctx *cx, struct mr_stmt *row, void *to);

/* The first row. Without one `to` is left alone; `found` may be NULL. */
MR_CHECK enum mr_code mr_rows_first(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *to, bool *found);
/* Every row, one after another, with the same `to`. */
MR_CHECK enum mr_code mr_rows_each(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *to);

/* A list in the arena: any struct with `items` and `len`. */
#define MR_LIST(list) &(list)->items, &(list)->len, sizeof(*(list)->items)

/* The items of a list may take this; more is MR_ELIMIT. */
enum { MR_ROWS_LIST_BYTES = 512 << 20 };
/*
 * Every statement that makes a list has a LIMIT, since an engine may fetch all rows before it gives
 * out the first. One that wants all rows ends with this: one row more than fits into a list, so
 * that a list is never cut off silently. An item has at least 8 bytes.
 */
#define MR_ROWS_ALL " LIMIT 67108865"

/* Every row as an item of a new list. On failure the list is left alone. */
MR_CHECK enum mr_code mr_rows_list(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *items, size_t *len, size_t size);
/* The same after the items of a list that is empty or that these two functions have made. */
MR_CHECK enum mr_code mr_rows_append(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, mr_row_read *read, void *items, size_t *len, size_t size);

/* Readers of rows with a single column: items are int64_t, or const char *. */
enum mr_code mr_row_int(struct mr_ctx *cx, struct mr_stmt *row, void *to);
enum mr_code mr_row_text(struct mr_ctx *cx, struct mr_stmt *row, void *to);

/* --- how the macros above find the type of an argument --- */

static inline struct mr_bind mr_bind_unsigned(unsigned long long number)
{
	return mr_bind_int((int64_t)number);
}

static inline struct mr_bind mr_bind_real(double real)
{
	return (struct mr_bind){ .type = MR_BIND_REAL, .real = real };
}

static inline struct mr_bind mr_bind_text(const char *text)
{
	return (struct mr_bind){ .type = MR_BIND_TEXT, .text = text };
}

static inline struct mr_bind mr_bind_bytes(struct mr_bytes bytes)
{
	return (struct mr_bind){ .type = MR_BIND_BYTES, .bytes = bytes };
}

static inline struct mr_bind mr_bind_null(const void *null)
{
	(void)null;
	return (struct mr_bind){ .type = MR_BIND_NULL };
}

static inline struct mr_bind mr_bind_same(struct mr_bind value)
{
	return value;
}

/* clang-format off */
#define MR_BIND_OF(value) _Generic((value), \
	bool: mr_bind_int, \
	int: mr_bind_int, \
	long: mr_bind_int, \
	long long: mr_bind_int, \
	unsigned: mr_bind_unsigned, \
	unsigned long: mr_bind_unsigned, \
	unsigned long long: mr_bind_unsigned, \
	double: mr_bind_real, \
	char *: mr_bind_text, \
	const char *: mr_bind_text, \
	struct mr_bytes: mr_bind_bytes, \
	void *: mr_bind_null, \
	struct mr_bind: mr_bind_same)(value)

#define MR_INTO_OF(address) { _Generic((address), \
	int64_t *: MR_INTO_INT, \
	size_t *: MR_INTO_SIZE, \
	bool *: MR_INTO_BOOL, \
	double *: MR_INTO_REAL, \
	const char **: MR_INTO_TEXT, \
	struct mr_bytes *: MR_INTO_BYTES, \
	void *: MR_INTO_NOTHING), (address) }

enum { MR_ROWS_ARGS = 20 };

/* f(a), f(b), ... */
#define MR_ROWS_MAP(f, ...) MR_ROWS_PICK(__VA_ARGS__, MR_ROWS_20, MR_ROWS_19, MR_ROWS_18, \
	MR_ROWS_17, MR_ROWS_16, MR_ROWS_15, MR_ROWS_14, MR_ROWS_13, MR_ROWS_12, MR_ROWS_11, \
	MR_ROWS_10, MR_ROWS_9, MR_ROWS_8, MR_ROWS_7, MR_ROWS_6, MR_ROWS_5, MR_ROWS_4, MR_ROWS_3, \
	MR_ROWS_2, MR_ROWS_1, 0)(f, __VA_ARGS__)
#define MR_ROWS_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, map, ...) map
#define MR_ROWS_1(f, a) f(a)
#define MR_ROWS_2(f, a, ...) f(a), MR_ROWS_1(f, __VA_ARGS__)
#define MR_ROWS_3(f, a, ...) f(a), MR_ROWS_2(f, __VA_ARGS__)
#define MR_ROWS_4(f, a, ...) f(a), MR_ROWS_3(f, __VA_ARGS__)
#define MR_ROWS_5(f, a, ...) f(a), MR_ROWS_4(f, __VA_ARGS__)
#define MR_ROWS_6(f, a, ...) f(a), MR_ROWS_5(f, __VA_ARGS__)
#define MR_ROWS_7(f, a, ...) f(a), MR_ROWS_6(f, __VA_ARGS__)
#define MR_ROWS_8(f, a, ...) f(a), MR_ROWS_7(f, __VA_ARGS__)
#define MR_ROWS_9(f, a, ...) f(a), MR_ROWS_8(f, __VA_ARGS__)
#define MR_ROWS_10(f, a, ...) f(a), MR_ROWS_9(f, __VA_ARGS__)
#define MR_ROWS_11(f, a, ...) f(a), MR_ROWS_10(f, __VA_ARGS__)
#define MR_ROWS_12(f, a, ...) f(a), MR_ROWS_11(f, __VA_ARGS__)
#define MR_ROWS_13(f, a, ...) f(a), MR_ROWS_12(f, __VA_ARGS__)
#define MR_ROWS_14(f, a, ...) f(a), MR_ROWS_13(f, __VA_ARGS__)
#define MR_ROWS_15(f, a, ...) f(a), MR_ROWS_14(f, __VA_ARGS__)
#define MR_ROWS_16(f, a, ...) f(a), MR_ROWS_15(f, __VA_ARGS__)
#define MR_ROWS_17(f, a, ...) f(a), MR_ROWS_16(f, __VA_ARGS__)
#define MR_ROWS_18(f, a, ...) f(a), MR_ROWS_17(f, __VA_ARGS__)
#define MR_ROWS_19(f, a, ...) f(a), MR_ROWS_18(f, __VA_ARGS__)
#define MR_ROWS_20(f, a, ...) f(a), MR_ROWS_19(f, __VA_ARGS__)
/* clang-format on */
