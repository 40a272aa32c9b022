/*
 * data/db_postgres_search.c - full-text search with PostgreSQL's tsvector.
 *
 * Words are taken apart and folded here, as SQLite's index does it, so that both engines find the
 * same; the server only keeps and finds them. An index is a table of its own: the row's id, and its
 * words with their places. A word's column is its weight's letter.
 *
 * A tsvector has limits: of a text longer than WORDS_BYTES the words that come after are not found,
 * and places past 16,383 are all the same to a phrase.
 */
#include "data/db_postgres_private.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

enum {
	STATEMENT_BYTES = 8192,
	COLUMNS = 4,          /* weights are A to D */
	WORDS_BYTES = 900000, /* a tsvector may have 1 MiB, with its own bookkeeping */
	WORD_BYTES = 1024,    /* of a longer one the beginning counts */
	WORD_COST = 8,        /* bytes that a word takes besides its own, at most */
	PLACES = 16383,
	COLUMN_GAP = 16, /* no phrase reaches from one column into the next */
	BATCH = 256,
};

static enum mr_code check_columns(const struct mr_db_search *search, struct mr_err *err)
{
	size_t count = 0;

	while (search->columns[count])
		count++;
	if (count <= COLUMNS)
		return MR_OK;
	return mr_err_set(err, MR_EINTERNAL, "search index %s: more than %d columns", search->name,
		COLUMNS);
}

/* --- words --- */

/* Reads a text word by word: `word` is the folded one. */
struct words {
	const char *at;
	size_t left;
	char word[WORD_BYTES + 8];
	size_t len;
};

static bool next_word(struct words *words)
{
	words->len = 0;
	while (words->left > 0) {
		uint32_t scalar = 0;
		size_t len = mr_utf8_next(words->at, words->left, &scalar);
		bool in_word = len && (mr_utf8_is_word(scalar) || mr_utf8_is_mark(scalar));

		if (words->len > 0 && !in_word)
			return true;
		words->at += len ? len : 1;
		words->left -= len ? len : 1;
		if (!len || !mr_utf8_is_word(scalar) || words->len >= WORD_BYTES)
			continue;
		words->len += mr_utf8_put(mr_utf8_fold(scalar), words->word + words->len);
	}
	return words->len > 0;
}

/* The words of one column as a tsvector is written: 'word':1A 'other':2A. */
static void put_words(struct mr_buf *out, const char *text, char weight, int *place, size_t *room)
{
	struct words words = { .at = text, .left = text ? strlen(text) : 0 };

	while (next_word(&words) && *room > words.len + WORD_COST) {
		mr_buf_putc(out, '\'');
		mr_buf_add(out, words.word, words.len);
		mr_buf_printf(out, "':%d%c ", *place < PLACES ? ++*place : PLACES, weight);
		*room -= words.len + WORD_COST;
	}
	*place += COLUMN_GAP;
}

static const char SQL_PUT[] = "INSERT INTO %s (id, words) VALUES (?1, CAST(?2 AS TSVECTOR))";

/* Texts are columns 1 and on of `from`, or those of `texts`. */
static void words_of_row(struct mr_buf *out, const struct mr_db_search *search,
	struct mr_stmt *from, const char *const *texts)
{
	size_t room = WORDS_BYTES;
	int place = 0;

	mr_buf_clear(out);
	for (int i = 0; search->columns[i]; i++)
		put_words(out, texts ? texts[i] : mr_stmt_peek(from, i + 1), (char)('A' + i),
			&place, &room);
}

enum { VECTOR_BYTES = 8 << 20 }; /* as it is written: with quotes and places */

static enum mr_code put(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	struct mr_stmt *from, const char *const *texts, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *to MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf words MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&words, VECTOR_BYTES);
	words_of_row(&words, search, from, texts);
	rc = mr_buf_check(&words, "the words of a text", err);
	if (!rc)
		rc = mr_db_prepare(db, mr_arena_printf(arena, SQL_PUT, search->name), &to, err);
	if (rc)
		return rc;
	mr_stmt_bind_int(to, 1, id);
	mr_stmt_bind_text(to, 2, mr_buf_text(&words));
	return mr_stmt_send(to, err);
}

static enum mr_code put_row(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	struct mr_stmt *from, struct mr_err *err)
{
	return put(db, search, id, from, NULL, err);
}

/* SELECT the id and the texts of the table's rows. */
static enum mr_code select_rows(struct mr_db *db, const struct mr_db_search *search,
	const char *where, struct mr_stmt **out, struct mr_err *err)
{
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&sql, STATEMENT_BYTES);
	mr_buf_printf(&sql, "SELECT %s", search->id);
	for (size_t i = 0; search->columns[i]; i++)
		mr_buf_printf(&sql, ", %s", search->columns[i]);
	mr_buf_printf(&sql, " FROM %s WHERE %s %s", search->table, search->id, where);
	rc = mr_buf_check(&sql, "a search statement", err);
	return rc ? rc : mr_db_prepare(db, mr_buf_text(&sql), out, err);
}

/* --- functions of the driver --- */

enum mr_code mr_db_postgres_search_create(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool exists = false;
	enum mr_code rc = check_columns(search, err);

	if (!rc)
		rc = mr_db_has_table(db, search->name, &exists, err);
	if (rc || exists)
		return rc;
	return mr_db_exec(db,
		mr_arena_printf(arena,
			"CREATE TABLE %s (id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL); "
			"CREATE INDEX %s_words ON %s USING gin (words)",
			search->name, search->name, search->name),
		err);
}

enum mr_code mr_db_postgres_search_add(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, const char *const *texts, struct mr_err *err)
{
	struct mr_stmt *from MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc;

	if (texts)
		return put(db, search, id, NULL, texts, err);
	rc = select_rows(db, search, "= ?1", &from, err);
	if (rc)
		return rc;
	mr_stmt_bind_int(from, 1, id);
	rc = mr_stmt_step(from, &row, err);
	if (!rc && !row)
		rc = mr_err_set(err, MR_ENOTFOUND, "search index %s: row %" PRId64 " is not in %s",
			search->name, id, search->table);
	return rc ? rc : put_row(db, search, id, from, err);
}

enum mr_code mr_db_postgres_search_remove(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db,
		mr_arena_printf(arena, "DELETE FROM %s WHERE id = ?1", search->name), &stmt, err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	return mr_stmt_run(stmt, err);
}

/* Some rows after `*last`, which becomes the last of them; `*more`: there may be others. */
static enum mr_code walk(struct mr_db *db, const struct mr_db_search *search, int64_t *last,
	bool *more,
	enum mr_code (*each)(struct mr_db *db, const struct mr_db_search *search, int64_t id,
		struct mr_stmt *from, struct mr_err *err),
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *from MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = select_rows(db, search,
		mr_arena_printf(arena, "> ?1 ORDER BY %s LIMIT %d", search->id, BATCH), &from, err);
	int count = 0;

	if (rc)
		return rc;
	mr_stmt_bind_int(from, 1, *last);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(from, &row, err);
		if (rc || !row)
			break;
		*last = mr_stmt_int(from, 0);
		count++;
		rc = each(db, search, *last, from, err);
		if (rc)
			break;
	}
	*more = count == BATCH;
	return rc;
}

enum mr_code mr_db_postgres_search_rebuild(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	enum mr_code rc =
		mr_db_run(db, mr_arena_printf(arena, "DELETE FROM %s", search->name), err);
	int64_t last = INT64_MIN;
	bool more = true;

	while (!rc && more)
		rc = walk(db, search, &last, &more, put_row, err);
	return rc;
}

/* A removed row's words go with it; what the server keeps of old rows, VACUUM takes. */
enum mr_code mr_db_postgres_search_purge(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	(void)db;
	(void)search;
	(void)err;
	return MR_OK;
}

static enum mr_code say_wrong(const struct mr_db_search *search, int64_t id, struct mr_err *err)
{
	return mr_err_set(err, MR_EFORMAT,
		"search index %s: it does not say what row %" PRId64 " of %s says", search->name,
		id, search->table);
}

static enum mr_code compare_row(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	struct mr_stmt *from, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf words MR_CLEANUP(mr_buf_release) = { 0 };
	bool row = false;
	enum mr_code rc;

	mr_buf_init(&words, VECTOR_BYTES);
	words_of_row(&words, search, from, NULL);
	rc = mr_buf_check(&words, "the words of a text", err);
	if (!rc)
		rc = mr_db_prepare(db,
			mr_arena_printf(arena,
				"SELECT 1 FROM %s WHERE id = ?1 AND words = CAST(?2 AS TSVECTOR)",
				search->name),
			&stmt, err);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	mr_stmt_bind_text(stmt, 2, mr_buf_text(&words));
	rc = mr_stmt_step(stmt, &row, err);
	return rc || row ? rc : say_wrong(search, id, err);
}

enum mr_code mr_db_postgres_search_check(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t last = INT64_MIN;
	bool more = true, row = false;
	enum mr_code rc = MR_OK;

	while (!rc && more)
		rc = walk(db, search, &last, &more, compare_row, err);
	if (!rc)
		rc = mr_db_prepare(db,
			mr_arena_printf(arena,
				"SELECT id FROM %s WHERE id NOT IN (SELECT %s FROM %s) LIMIT 1",
				search->name, search->id, search->table),
			&stmt, err);
	if (!rc)
		rc = mr_stmt_step(stmt, &row, err);
	return rc || !row ? rc : say_wrong(search, mr_stmt_int(stmt, 0), err);
}

/* What no text has: words have letters and numbers only. */
static const char NOTHING[] = "'-'";

void mr_db_postgres_search_quote(const struct mr_db_search *search, struct mr_buf *match,
	const char *column, const char *term, bool prefix)
{
	struct words words = { .at = term, .left = strlen(term) };
	char weight = 0;
	bool any = next_word(&words);

	for (size_t i = 0; column && search->columns[i]; i++)
		weight = strcmp(search->columns[i], column) == 0 ? (char)('A' + i) : weight;
	mr_buf_putc(match, '(');
	if (!any)
		mr_buf_puts(match, NOTHING);
	while (any) {
		char word[sizeof(words.word)];
		size_t len = words.len;

		memcpy(word, words.word, len);
		any = next_word(&words);
		mr_buf_putc(match, '\'');
		mr_buf_add(match, word, len);
		mr_buf_putc(match, '\'');
		if (weight || (prefix && !any))
			mr_buf_putc(match, ':');
		if (prefix && !any)
			mr_buf_putc(match, '*');
		if (weight)
			mr_buf_putc(match, weight);
		if (any)
			mr_buf_puts(match, " <-> ");
	}
	mr_buf_putc(match, ')');
}

/* ts_rank() wants the weights of D, C, B and A, none above 1. */
static void put_score(struct mr_buf *sql, const struct mr_db_search *search)
{
	double weights[COLUMNS] = { 0 }, most = 1;

	for (size_t i = 0; i < COLUMNS && search->columns[i]; i++) {
		weights[i] = search->weights ? search->weights[i] : 1;
		most = weights[i] > most ? weights[i] : most;
	}
	mr_buf_puts(sql, "CAST(ts_rank('{");
	for (size_t i = COLUMNS; i-- > 0;)
		mr_buf_printf(sql, "%.6f%s", weights[i] / most, i ? "," : "");
	/* 1: a long text has no advantage by its length. */
	mr_buf_puts(sql, "}', f.words, CAST(?1 AS TSQUERY), 1) AS DOUBLE PRECISION)");
}

enum mr_code mr_db_postgres_search_prepare(struct mr_db *db, const struct mr_db_search *search,
	const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	int64_t among = query->newest_first ? 0 : query->among;
	enum mr_code rc;

	mr_buf_init(&sql, MR_DB_SQL_BYTES);
	if (among > 0)
		mr_buf_puts(&sql, "SELECT id, score FROM (");
	mr_buf_puts(&sql, "SELECT f.id AS id, ");
	if (query->newest_first)
		mr_buf_puts(&sql, "CAST(0 AS DOUBLE PRECISION)");
	else
		put_score(&sql, search);
	mr_buf_printf(&sql, " AS score FROM %s AS f", search->name);
	if (query->where)
		mr_buf_printf(&sql, " JOIN %s AS t ON t.%s = f.id", search->table, search->id);
	mr_buf_puts(&sql, " WHERE f.words @@ CAST(?1 AS TSQUERY)");
	if (query->where)
		mr_buf_printf(&sql, " AND (%s)", query->where);
	if (among > 0)
		mr_buf_printf(&sql,
			" ORDER BY f.id DESC LIMIT %" PRId64
			") AS among ORDER BY score DESC, id DESC",
			among);
	else
		mr_buf_printf(&sql, " ORDER BY %sf.id DESC",
			query->newest_first ? "" : "score DESC, ");
	mr_buf_puts(&sql, " LIMIT CAST(?2 AS BIGINT) OFFSET CAST(?3 AS BIGINT)");
	rc = mr_buf_check(&sql, "a search statement", err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&sql), &stmt, err);
	if (rc)
		return rc;
	mr_db_postgres_mark_search(stmt);
	mr_stmt_bind_text(stmt, 1, query->match);
	mr_stmt_bind_int(stmt, 2, query->limit);
	mr_stmt_bind_int(stmt, 3, query->offset);
	*out = stmt;
	stmt = NULL;
	return MR_OK;
}
