/*
 * data/db_sqlite_search.c - Full-text search for the SQLite driver, on FTS5 tables with external
 * content.
 */
#include "data/db_sqlite_search.h"

#include "data/db_sqlite.h"

#include <inttypes.h>

/* Names and weights are constants of ours, so a statement always fits. */
enum { STATEMENT_BYTES = 8192 };

/* "a, b" or, with a prefix, ", a, b". */
static void put_columns(struct mr_buf *sql, const struct mr_db_search *search, const char *first)
{
	for (size_t i = 0; search->columns[i]; i++)
		mr_buf_printf(sql, "%s%s", i ? ", " : first, search->columns[i]);
}

static size_t count_columns(const struct mr_db_search *search)
{
	size_t count = 0;

	while (search->columns[count])
		count++;
	return count;
}

/* FTS5 takes its orders as insertions into a column that has the table's name. */
static enum mr_code command(struct mr_db *db, const struct mr_db_search *search, const char *rest,
	struct mr_err *err)
{
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&sql, STATEMENT_BYTES);
	mr_buf_printf(&sql, "INSERT INTO %s(%s%s", search->name, search->name, rest);
	rc = mr_buf_check(&sql, "a search statement", err);
	return rc ? rc : mr_db_run(db, mr_buf_text(&sql), err);
}

enum mr_code mr_db_sqlite_search_create(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	bool exists = false;
	enum mr_code rc;

	mr_buf_init(&sql, STATEMENT_BYTES);
	rc = mr_db_has_table(db, search->name, &exists, err);
	if (rc || exists)
		return rc;
	/* Beginnings of these lengths have lists of their own, read from the newest row on; of any
	 * other length SQLite first puts the rows of all words that begin so in one order. */
	mr_buf_printf(&sql, "CREATE VIRTUAL TABLE %s USING fts5(", search->name);
	put_columns(&sql, search, "");
	mr_buf_printf(&sql,
		", content='%s', content_rowid='%s', tokenize='unicode61 remove_diacritics 2', "
		"prefix='%s')",
		search->table, search->id, search->beginnings ? search->beginnings : "2 3 4 5 6");
	rc = mr_buf_check(&sql, "a search statement", err);
	if (!rc)
		rc = mr_db_exec(db, mr_buf_text(&sql), err);
	/* The option stays in the file. Before 3.42 there is only mr_db_search_purge(). */
	if (!rc && mr_db_sqlite_can_erase_words())
		rc = command(db, search, ", rank) VALUES('secure-delete', 1)", err);
	return rc;
}

/* Read the row's texts and hand them to `sql`, whose ?1 is the id and whose other parameters they
 * are. */
static enum mr_code pass_row(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	const char *sql, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *from MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *to MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf select MR_CLEANUP(mr_buf_release) = { 0 };
	bool row = false;
	enum mr_code rc;

	mr_buf_init(&select, STATEMENT_BYTES);
	mr_buf_puts(&select, "SELECT ");
	put_columns(&select, search, "");
	mr_buf_printf(&select, " FROM %s WHERE %s = ?1", search->table, search->id);
	rc = mr_buf_check(&select, "a search statement", err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&select), &from, err);
	if (!rc)
		rc = mr_db_prepare(db, sql, &to, err);
	if (rc)
		return rc;
	mr_stmt_bind_int(from, 1, id);
	rc = mr_stmt_step(from, &row, err);
	if (rc)
		return rc;
	if (!row)
		return mr_err_set(err, MR_ENOTFOUND,
			"search index %s: row %" PRId64 " is not in %s", search->name, id,
			search->table);
	mr_stmt_bind_int(to, 1, id);
	for (int i = 0; search->columns[i]; i++)
		mr_stmt_bind_text(to, i + 2, mr_stmt_text(from, i, arena));
	return mr_stmt_run(to, err);
}

/*
 * One INSERT with VALUES, not one with SELECT: the latter opens a savepoint of its own, and at each
 * savepoint FTS5 writes its pending words out.
 */
static enum mr_code change(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	const char *command_column, const char *command_value, struct mr_err *err)
{
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	size_t count = count_columns(search);
	enum mr_code rc;

	mr_buf_init(&sql, STATEMENT_BYTES);
	mr_buf_printf(&sql, "INSERT INTO %s(%s%srowid", search->name, command_column,
		command_column[0] ? ", " : "");
	put_columns(&sql, search, ", ");
	mr_buf_printf(&sql, ") VALUES(%s?1", command_value);
	for (size_t i = 0; i < count; i++)
		mr_buf_printf(&sql, ", ?%zu", i + 2);
	mr_buf_putc(&sql, ')');
	rc = mr_buf_check(&sql, "a search statement", err);
	return rc ? rc : pass_row(db, search, id, mr_buf_text(&sql), err);
}

enum mr_code mr_db_sqlite_search_add(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, const char *const *texts, struct mr_err *err)
{
	(void)texts;
	return change(db, search, id, "", "", err);
}

enum mr_code mr_db_sqlite_search_remove(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, struct mr_err *err)
{
	return change(db, search, id, search->name, "'delete', ", err);
}

enum mr_code mr_db_sqlite_search_rebuild(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	return command(db, search, ") VALUES('rebuild')", err);
}

enum mr_code mr_db_sqlite_search_purge(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	return command(db, search, ") VALUES('optimize')", err);
}

enum mr_code mr_db_sqlite_search_check(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	/* Rank 1: compare with the table too, not only the index with itself. */
	enum mr_code rc = command(db, search, ", rank) VALUES('integrity-check', 1)", err);

	return rc ? mr_err_wrap(err, "search index %s", search->name) : MR_OK;
}

void mr_db_sqlite_search_quote(const struct mr_db_search *search, struct mr_buf *match,
	const char *column, const char *term, bool prefix)
{
	(void)search;
	if (column)
		mr_buf_printf(match, "%s : ", column);
	mr_buf_putc(match, '"');
	for (const char *c = term; *c; c++) {
		if (*c == '"')
			mr_buf_putc(match, '"');
		mr_buf_putc(match, *c);
	}
	mr_buf_puts(match, prefix ? "\" *" : "\"");
}

static void put_score(struct mr_buf *sql, const struct mr_db_search *search)
{
	mr_buf_printf(sql, MR_DB_SQLITE_SCORE "(%s", search->name);
	for (size_t i = 0; search->columns[i]; i++)
		mr_buf_printf(sql, ", %.6f", search->weights ? search->weights[i] : 1.0);
	mr_buf_putc(sql, ')');
}

enum mr_code mr_db_sqlite_search_prepare(struct mr_db *db, const struct mr_db_search *search,
	const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	int64_t among = query->newest_first ? 0 : query->among;
	enum mr_code rc = query->newest_first ? MR_OK : mr_db_sqlite_add_score(db, err);

	mr_buf_init(&sql, MR_DB_SQL_BYTES);
	if (rc)
		return rc;
	if (among > 0)
		mr_buf_puts(&sql, "SELECT id, score FROM (");
	mr_buf_printf(&sql, "SELECT %s.rowid AS id, ", search->name);
	if (query->newest_first)
		mr_buf_puts(&sql, "0.0");
	else
		put_score(&sql, search);
	mr_buf_printf(&sql, " AS score FROM %s", search->name);
	/* CROSS JOIN: the words first, then the rows; the planner might think otherwise. */
	if (query->where)
		mr_buf_printf(&sql, " CROSS JOIN %s AS t ON t.%s = %s.rowid", search->table,
			search->id, search->name);
	mr_buf_printf(&sql, " WHERE %s MATCH ?1", search->name);
	if (query->where)
		mr_buf_printf(&sql, " AND (%s)", query->where);
	/* The index is walked from its newest row on, and no further than need be. */
	if (among > 0)
		mr_buf_printf(&sql,
			" ORDER BY %s.rowid DESC LIMIT %" PRId64
			") ORDER BY score DESC, id DESC LIMIT ?2 OFFSET ?3",
			search->name, among);
	else
		mr_buf_printf(&sql, " ORDER BY %s%s.rowid DESC LIMIT ?2 OFFSET ?3",
			query->newest_first ? "" : "score DESC, ", search->name);
	rc = mr_buf_check(&sql, "a search statement", err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&sql), &stmt, err);
	if (rc)
		return rc;
	mr_db_sqlite_mark_search(stmt);
	mr_stmt_bind_text(stmt, 1, query->match);
	mr_stmt_bind_int(stmt, 2, query->limit);
	mr_stmt_bind_int(stmt, 3, query->offset);
	*out = stmt;
	stmt = NULL;
	return MR_OK;
}
