/*
 * team/move_sql.c - Walks along any table by its primary key, inserts its rows elsewhere, and
 * keeps what a database knows of its move.
 */
#include "team/move_sql.h"

#include "base/buf.h"
#include "data/rows.h"

#include <inttypes.h>

enum {
	STATEMENT_BYTES = 16384,
	/* An engine may fetch all rows of a statement at once: a few files, or many small rows. */
	FILES_AT_ONCE = 4,
	ROWS_AT_ONCE = 256,
};

/* What a row refers to comes before it. */
static const char *const order[] = {
	"projects",
	"project_keys",
	"agents",
	"messages",
	"message_recipients",
	"message_groups",
	"sent_keys",
	"file_reservations",
	"agent_links",
	"ack_escalations",
	"products",
	"product_project_links",
	"build_slots",
	"archive_queue",
	"archive_removals",
	"attachment_files",
	"agent_groups",
	"agent_group_members",
	"agent_sessions",
	"hook_sessions",
	"hook_warnings",
	"hook_told",
};

/* What each database has of its own: the version of its schema, the words of the search, its moves,
 * the archives of its servers with the clients that these have now, and what the engine keeps. */
static const char *const own[] = { "schema_version", "fts_", "database_move", "archive_places",
	"client_", "relayed", "shared_secrets", "sqlite_" };

static bool is_own(const char *name)
{
	for (size_t i = 0; i < MR_LEN(own); i++) {
		if (mr_str_starts(name, own[i]))
			return true;
	}
	return false;
}

static bool is_in_order(const char *name)
{
	for (size_t i = 0; i < MR_LEN(order); i++) {
		if (mr_str_eq(order[i], name))
			return true;
	}
	return false;
}

static enum mr_code look_at(struct mr_ctx *cx, struct mr_db *db, const char *name,
	struct mr_team_move_table *out)
{
	enum mr_code rc;

	out->name = name;
	out->at_once = ROWS_AT_ONCE;
	rc = mr_db_columns(db, name, cx->arena, &out->columns, &cx->err);
	for (size_t i = 0; !rc && i < out->columns.len; i++) {
		int key = out->columns.items[i].key;

		if (key > MR_TEAM_MOVE_KEYS)
			return mr_err_set(&cx->err, MR_EINTERNAL,
				"table %s has a key of %d columns", name, key);
		if (out->columns.items[i].type == MR_DB_BYTES)
			out->at_once = FILES_AT_ONCE;
		if (key > 0) {
			out->keys[key - 1] = i;
			out->key_count++;
		}
	}
	if (rc || out->key_count == 0)
		return rc ? rc
			  : mr_err_set(&cx->err, MR_EINTERNAL, "table %s has no primary key", name);
	out->counts_ids =
		out->key_count == 1 && mr_str_eq(out->columns.items[out->keys[0]].name, "id");
	return MR_OK;
}

enum mr_code mr_team_move_tables(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_move_tables *out)
{
	struct mr_team_move_table *items = mr_arena_array(cx->arena, MR_LEN(order), sizeof(*items));
	struct mr_texts names = { 0 };
	enum mr_code rc = mr_db_tables(db, cx->arena, &names, &cx->err);

	for (size_t i = 0; !rc && i < names.len; i++) {
		if (!is_own(names.items[i]) && !is_in_order(names.items[i]))
			rc = mr_err_set(&cx->err, MR_EINTERNAL,
				"database %s has a table %s, which a move does not know",
				mr_db_path(db), names.items[i]);
	}
	for (size_t i = 0; !rc && i < MR_LEN(order); i++)
		rc = look_at(cx, db, order[i], &items[i]);
	if (!rc)
		*out = (struct mr_team_move_tables){ items, MR_LEN(order) };
	return rc;
}

static const char SQL_COUNT[] = "SELECT count(*) FROM %s";

enum mr_code mr_team_move_count(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, int64_t *out)
{
	return mr_rows_one(cx, db, mr_arena_printf(cx->arena, SQL_COUNT, table->name), NULL,
		MR_INTO(out), NULL);
}

static const char SQL_HIGHEST[] = "SELECT COALESCE(max(id), 0) FROM %s";

enum mr_code mr_team_move_highest(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, int64_t *out)
{
	return mr_rows_one(cx, db, mr_arena_printf(cx->arena, SQL_HIGHEST, table->name), NULL,
		MR_INTO(out), NULL);
}

static void put_keys(struct mr_buf *sql, const struct mr_team_move_table *table)
{
	for (size_t i = 0; i < table->key_count; i++)
		mr_buf_printf(sql, "%s%s", i ? ", " : "",
			table->columns.items[table->keys[i]].name);
}

static void put_columns(struct mr_buf *sql, const struct mr_team_move_table *table)
{
	for (size_t i = 0; i < table->columns.len; i++)
		mr_buf_printf(sql, "%s%s", i ? ", " : "", table->columns.items[i].name);
}

/* "(a, b) > (?1, ?2)" goes along the index of the primary key, in the engine's own order. */
static enum mr_code select_next(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, const struct mr_team_move_place *place,
	struct mr_stmt **out)
{
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&sql, STATEMENT_BYTES);
	mr_buf_puts(&sql, "SELECT ");
	put_columns(&sql, table);
	mr_buf_printf(&sql, " FROM %s", table->name);
	if (place->has_begun) {
		mr_buf_puts(&sql, " WHERE (");
		put_keys(&sql, table);
		mr_buf_printf(&sql, ") > (%s)", table->key_count == 1 ? "?1" : "?1, ?2");
	}
	mr_buf_puts(&sql, " ORDER BY ");
	put_keys(&sql, table);
	mr_buf_printf(&sql, " LIMIT %zu", table->at_once);
	rc = mr_buf_check(&sql, "a statement", &cx->err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&sql), out, &cx->err);
	for (size_t i = 0; !rc && place->has_begun && i < table->key_count; i++) {
		int64_t number = 0;

		if (table->columns.items[table->keys[i]].type == MR_DB_TEXT)
			mr_stmt_bind_text(*out, (int)i + 1, place->keys[i]);
		else if (mr_str_to_int(place->keys[i], &number))
			mr_stmt_bind_int(*out, (int)i + 1, number);
	}
	return rc;
}

/* The keys of the present row, as texts. */
static void keep_keys(struct mr_ctx *cx, const struct mr_team_move_table *table,
	struct mr_stmt *row, struct mr_team_move_place *place)
{
	for (size_t i = 0; i < table->key_count; i++) {
		int column = (int)table->keys[i];

		place->keys[i] = table->columns.items[column].type == MR_DB_TEXT
			? mr_stmt_text(row, column, cx->arena)
			: mr_arena_printf(cx->arena, "%" PRId64, mr_stmt_int(row, column));
	}
}

enum mr_code mr_team_move_walk(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_move_table *table, struct mr_team_move_place *place,
	mr_team_move_row *each, void *arg)
{
	struct mr_stmt *row MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = select_next(cx, db, table, place, &row);
	size_t count = 0;

	for (; !rc; count++) {
		bool is_there = false;

		rc = mr_stmt_step(row, &is_there, &cx->err);
		if (rc || !is_there)
			break;
		rc = each(cx, table, row, arg);
		if (!rc)
			keep_keys(cx, table, row, place);
	}
	if (rc)
		return mr_err_wrap(&cx->err, "table %s after row %" PRId64, table->name,
			place->rows + (int64_t)count);
	place->has_begun = place->has_begun || count > 0;
	place->is_done = count < table->at_once;
	place->rows += (int64_t)count;
	return MR_OK;
}

static const char SQL_PUT[] = "INSERT INTO %s (";

enum mr_code mr_team_move_put(struct mr_ctx *cx, const struct mr_team_move_table *table,
	struct mr_stmt *row, void *arg)
{
	struct mr_stmt *to MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_db *db = arg;
	enum mr_code rc;

	mr_buf_init(&sql, STATEMENT_BYTES);
	mr_buf_printf(&sql, SQL_PUT, table->name);
	put_columns(&sql, table);
	mr_buf_puts(&sql, ") VALUES (");
	for (size_t i = 0; i < table->columns.len; i++)
		mr_buf_printf(&sql, "%s?%zu", i ? ", " : "", i + 1);
	mr_buf_putc(&sql, ')');
	rc = mr_buf_check(&sql, "a statement", &cx->err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&sql), &to, &cx->err);
	for (int i = 0; !rc && (size_t)i < table->columns.len; i++) {
		if (mr_stmt_is_null(row, i))
			mr_stmt_bind_null(to, i + 1);
		else if (table->columns.items[i].type == MR_DB_TEXT)
			mr_stmt_bind_text(to, i + 1, mr_stmt_peek(row, i));
		else if (table->columns.items[i].type == MR_DB_BYTES)
			mr_stmt_bind_bytes(to, i + 1, mr_stmt_bytes(row, i, cx->arena));
		else
			mr_stmt_bind_int(to, i + 1, mr_stmt_int(row, i));
	}
	return rc ? rc : mr_stmt_send(to, &cx->err);
}

/* --- what a database knows of its move --- */

static const char SQL_MARK[] =
	"SELECT move, other, ended_ts IS NOT NULL FROM database_moves WHERE role = ?1";

enum mr_code mr_team_move_mark_get(struct mr_ctx *cx, struct mr_db *db, const char *role,
	struct mr_team_move_mark *out)
{
	return mr_rows_one(cx, db, SQL_MARK, MR_BIND(role),
		MR_INTO(&out->move, &out->other, &out->has_ended), &out->exists);
}

static const char SQL_MARK_PUT[] =
	"INSERT INTO database_moves (role, move, other, began_ts) VALUES (?1, ?2, ?3, ?4)";

enum mr_code mr_team_move_mark_put(struct mr_ctx *cx, struct mr_db *db, const char *role,
	const char *move, const char *other)
{
	enum mr_code rc = mr_team_move_mark_remove(cx, db, role);

	return rc ? rc
		  : mr_rows_run(cx, db, SQL_MARK_PUT,
			    MR_BIND(role, move, other, mr_clock_wall_us(cx->clock)));
}

static const char SQL_MARK_END[] =
	"UPDATE database_moves SET ended_ts = ?3 WHERE role = ?1 AND move = ?2";
static const char SQL_PLACES_REMOVE[] = "DELETE FROM database_move_tables";

enum mr_code mr_team_move_mark_end(struct mr_ctx *cx, struct mr_db *db, const char *role,
	const char *move)
{
	enum mr_code rc =
		mr_rows_run(cx, db, SQL_MARK_END, MR_BIND(role, move, mr_clock_wall_us(cx->clock)));

	if (!rc && mr_db_changes(db) != 1)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"database %s: the move was given up meanwhile", mr_db_path(db));
	return rc ? rc : mr_rows_run(cx, db, SQL_PLACES_REMOVE, NULL);
}

static const char SQL_MARK_REMOVE[] = "DELETE FROM database_moves WHERE role = ?1";

enum mr_code mr_team_move_mark_remove(struct mr_ctx *cx, struct mr_db *db, const char *role)
{
	return mr_rows_run(cx, db, SQL_MARK_REMOVE, MR_BIND(role));
}

static const char SQL_USED[] = "SELECT 1 FROM database_moves LIMIT 1";
static const char SQL_HAS_PROJECT[] = "SELECT 1 FROM projects LIMIT 1";

enum mr_code mr_team_move_is_unused(struct mr_ctx *cx, struct mr_db *db, bool *out)
{
	bool is_marked = false, has_project = false;
	enum mr_code rc = mr_rows_exist(cx, db, SQL_USED, NULL, &is_marked);

	if (!rc)
		rc = mr_rows_exist(cx, db, SQL_HAS_PROJECT, NULL, &has_project);
	*out = !is_marked && !has_project;
	return rc;
}

static const char SQL_PLACE[] =
	"SELECT copied, key_1, key_2, is_done FROM database_move_tables WHERE name = ?1";

enum mr_code mr_team_move_place_get(struct mr_ctx *cx, struct mr_db *db, const char *table,
	struct mr_team_move_place *out)
{
	enum mr_code rc = mr_rows_one(cx, db, SQL_PLACE, MR_BIND(table),
		MR_INTO(&out->rows, &out->keys[0], &out->keys[1], &out->is_done), NULL);

	if (!rc)
		out->has_begun = out->rows > 0;
	return rc;
}

static const char SQL_PLACE_PUT[] =
	"INSERT INTO database_move_tables (name, copied, key_1, key_2, is_done)"
	" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET"
	" copied = excluded.copied, key_1 = excluded.key_1, key_2 = excluded.key_2,"
	" is_done = excluded.is_done";

enum mr_code mr_team_move_place_put(struct mr_ctx *cx, struct mr_db *db, const char *table,
	const struct mr_team_move_place *place)
{
	return mr_rows_run(cx, db, SQL_PLACE_PUT,
		MR_BIND(table, place->rows, place->keys[0], place->keys[1], place->is_done));
}
