/* workspace/search_sql.c - Builds and runs the SQL of a search in the index. */
#include "workspace/search_sql.h"

#include "text/snippet.h"
#include "workspace/index.h"
#include "workspace/index_search.h"

enum {
	WHERE_BYTES = 64 << 10,
	VALUES_MAX = MR_QUERY_TERMS + MR_QUERY_FILTERS,
	FIRST_VALUE = 4, /* as mr_db_search_query.where wants it */
};

struct builder {
	struct mr_ctx *cx;
	const struct mr_query *query;
	struct mr_buf *sql;
	struct mr_bind values[VALUES_MAX + 1]; /* ends with MR_BIND_END, which is 0 */
	size_t count;
};

/* A parameter of this value; its number. */
static int value(struct builder *b, int64_t number)
{
	b->values[b->count++] = mr_bind_int(number);
	return (int)(b->count - 1) + FIRST_VALUE;
}

static int64_t status_number(const char *name)
{
	int64_t i = 0;

	while (mr_work_status_names[i] && !mr_str_eq(mr_work_status_names[i], name))
		i++;
	return i;
}

static void put_filter(struct builder *b, const struct mr_query_filter *filter)
{
	/* Not all messages have a time, which NOT would leave unknown. */
	if (filter->negated)
		mr_buf_puts(b->sql, "COALESCE(NOT ");
	switch ((enum mr_work_search_filter)filter->kind) {
	case MR_WORK_FILTER_STATUS:
		mr_buf_printf(b->sql, "t.status = ?%d", value(b, status_number(filter->text)));
		break;
	case MR_WORK_FILTER_SINCE:
		mr_buf_printf(b->sql, "t.time >= ?%d", value(b, filter->time_us));
		break;
	case MR_WORK_FILTER_UNTIL:
		mr_buf_printf(b->sql, "t.time < ?%d", value(b, filter->time_us));
		break;
	case MR_WORK_FILTER_ATTACHMENT:
		mr_buf_puts(b->sql, "t.attachments > 0");
		break;
	}
	if (filter->negated)
		mr_buf_puts(b->sql, ", TRUE)");
}

static bool is_wanted_status(const struct mr_query_filter *filter)
{
	return filter->kind == MR_WORK_FILTER_STATUS && !filter->negated;
}

static void put_and(struct builder *b)
{
	if (b->sql->len)
		mr_buf_puts(b->sql, " AND ");
}

/* All must hold; only statuses are alternatives. */
static void put_filters(struct builder *b)
{
	const struct mr_query *query = b->query;
	bool any = false;

	for (size_t i = 0; i < query->filter_count; i++) {
		if (is_wanted_status(&query->filters[i]))
			continue;
		put_and(b);
		put_filter(b, &query->filters[i]);
	}
	for (size_t i = 0; i < query->filter_count; i++) {
		if (!is_wanted_status(&query->filters[i]))
			continue;
		if (any) {
			mr_buf_puts(b->sql, " OR ");
		} else {
			put_and(b);
			mr_buf_putc(b->sql, '(');
		}
		put_filter(b, &query->filters[i]);
		any = true;
	}
	if (any)
		mr_buf_putc(b->sql, ')');
}

/* The statement's LIMIT sees to it that there is room. */
static enum mr_code collect(struct mr_ctx *cx, struct mr_stmt *stmt, int64_t *out, size_t *out_len)
{
	size_t len = 0;
	bool row = true;
	enum mr_code rc;

	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row)
		out[len++] = mr_stmt_int(stmt, 0);
	if (!rc)
		*out_len = len;
	return rc;
}

static enum mr_code ask_index(struct builder *b, struct mr_db *db, int64_t limit, int64_t ranked,
	int64_t *out, size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_db_search_query asked = { .limit = limit, .among = ranked };
	enum mr_code rc;

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	mr_match_put(db, &mr_work_index_search_table, b->query, MR_MATCH_FTS, &match);
	rc = mr_buf_check(&match, "a search", &b->cx->err);
	if (rc)
		return rc;
	asked.match = mr_buf_text(&match);
	asked.where = b->sql->len ? mr_buf_text(b->sql) : NULL;
	rc = mr_db_search_prepare(db, &mr_work_index_search_table, &asked, &stmt, &b->cx->err);
	if (rc)
		return rc;
	mr_stmt_bind(stmt, FIRST_VALUE, b->values);
	return collect(b->cx, stmt, out, out_len);
}

static enum mr_code scan(struct builder *b, struct mr_db *db, int64_t limit, int64_t *out,
	size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	if (b->query->term_count) {
		put_and(b);
		b->count += mr_match_like(b->cx->arena, &mr_work_index_search_table, b->query,
			(int)b->count + FIRST_VALUE, b->values + b->count, b->sql);
	}
	mr_buf_init(&sql, WHERE_BYTES + 200);
	mr_buf_printf(&sql, "SELECT t.n FROM messages t WHERE %s ORDER BY t.n DESC LIMIT ?1",
		mr_buf_text(b->sql));
	rc = mr_buf_check(b->sql, "the conditions of a search", &b->cx->err);
	if (!rc)
		rc = mr_buf_check(&sql, "a search", &b->cx->err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&sql), &stmt, &b->cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, limit);
	mr_stmt_bind(stmt, FIRST_VALUE, b->values);
	return collect(b->cx, stmt, out, out_len);
}

enum mr_code mr_work_search_find_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_query *query, int64_t limit, int64_t ranked, int64_t *out, size_t *out_len)
{
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	struct builder b = { .cx = cx, .query = query, .sql = &sql };

	mr_buf_init(&sql, WHERE_BYTES);
	put_filters(&b);
	if (mr_match_mode(query) == MR_MATCH_FTS)
		return ask_index(&b, db, limit, ranked, out, out_len);
	return scan(&b, db, limit, out, out_len);
}

enum { ROW_COLUMNS = 6 };
static const char SQL_ROW[] = "SELECT m.id, m.subject, m.sender, m.status, m.time IS NOT NULL, "
			      "m.time, substr(m.body, 1, ?2) FROM messages m WHERE m.n = ?1";

enum mr_code mr_work_search_row_sql(struct mr_ctx *cx, struct mr_db *db, int64_t row,
	struct mr_arena *scratch, struct mr_work_search_row *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool there = false;
	enum mr_code rc = mr_db_prepare(db, SQL_ROW, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind(stmt, 1, MR_BIND(row, (int64_t)MR_SNIPPET_BODY_BYTES));
	rc = mr_stmt_step(stmt, &there, &cx->err);
	if (!rc && !there)
		return mr_err_set(&cx->err, MR_EINTERNAL, "message %lld of the index is gone",
			(long long)row);
	if (rc)
		return rc;
	mr_stmt_into(stmt, 0, cx->arena,
		MR_INTO(&out->message_id, &out->subject, &out->from, &out->status, &out->has_time,
			&out->time_us));
	out->body = mr_stmt_text(stmt, ROW_COLUMNS, scratch);
	return MR_OK;
}
