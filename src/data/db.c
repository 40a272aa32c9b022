/* data/db.c - what is the same for every engine: the statement cache, transactions, dispatch. */
#include "data/db.h"

#include "base/clock.h"
#include "data/db_driver.h"
#include "data/db_postgres.h"
#include "data/db_sqlite.h"
#include "text/database_url.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The one place that chooses an engine: what is no URL is a file, and files are SQLite's. */
static const struct mr_db_driver *driver_for(const char *path)
{
	return mr_database_url_is(path) ? &mr_db_postgres : &mr_db_sqlite;
}

/* What the driver opened gets its common part; the arena is its own from now on. */
static void begin_life(struct mr_db *db, const struct mr_db_driver *driver, struct mr_arena *arena)
{
	db->driver = driver;
	db->arena = arena;
	TAILQ_INIT(&db->idle);
}

enum mr_code mr_db_open(const struct mr_db_options *options, struct mr_db **out, struct mr_err *err)
{
	const struct mr_db_driver *driver = driver_for(options->path);
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db_options opt = *options;
	struct mr_db *db = NULL;
	enum mr_code rc;

	opt.path = mr_arena_strdup(arena, options->path);
	opt.repair_hint = mr_arena_strdup(arena,
		options->repair_hint ? options->repair_hint : "restore it from a backup");
	if (opt.busy_timeout_ms == 0)
		opt.busy_timeout_ms = MR_DB_BUSY_MS;
	if (!opt.statement_ms)
		opt.statement_ms = MR_DB_STATEMENT_MS;
	if (opt.statements == 0)
		opt.statements = MR_DB_STATEMENTS;
	rc = driver->open(arena, &opt, &db, err);
	if (rc)
		return rc;
	begin_life(db, driver, arena);
	arena = NULL;
	*out = db;
	return MR_OK;
}

void mr_db_close(struct mr_db *db)
{
	struct mr_arena *arena;
	struct mr_stmt *stmt;

	if (!db)
		return;
	assert(db->in_use == 0);
	while ((stmt = TAILQ_FIRST(&db->idle))) {
		TAILQ_REMOVE(&db->idle, stmt, link);
		db->driver->finalize(stmt);
	}
	arena = db->arena;
	if (db->options.keep_log)
		db->driver->keep_log(db);
	db->driver->close(db);
	mr_arena_free(arena);
}

void mr_db_closep(struct mr_db **db)
{
	mr_db_close(*db);
	*db = NULL;
}

enum mr_code mr_db_set_sync(struct mr_db *db, enum mr_db_sync sync, struct mr_err *err)
{
	return db->driver->set_sync(db, sync, err);
}

void mr_db_abandon(struct mr_db *db)
{
	if (db)
		db->driver->keep_log(db);
	mr_db_close(db);
}

enum mr_code mr_db_still_there(struct mr_db *db, struct mr_err *err)
{
	return db->driver->still_there(db, err);
}

enum mr_code mr_db_touch(struct mr_db *db, struct mr_err *err)
{
	return db->driver->touch(db, err);
}

void mr_db_trim_log(struct mr_db *db)
{
	db->driver->trim_log(db);
}

const char *mr_db_path(const struct mr_db *db)
{
	return db->options.path;
}

size_t mr_db_statements_in_use(const struct mr_db *db)
{
	return db->in_use;
}

/* FNV-1a, but eight bytes at a time: every statement of every request comes by. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u, word;
	size_t len = strlen(text);

	for (; len >= sizeof(word); len -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3u;
	}
	for (; len > 0; len--, text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

enum mr_code mr_db_prepare(struct mr_db *db, const char *sql, struct mr_stmt **out,
	struct mr_err *err)
{
	uint64_t hash = hash_text(sql);
	struct mr_stmt *stmt;
	enum mr_code rc;

	TAILQ_FOREACH(stmt, &db->idle, link)
	{
		if (stmt->hash == hash && strcmp(stmt->sql, sql) == 0)
			break;
	}
	if (stmt) {
		TAILQ_REMOVE(&db->idle, stmt, link);
		db->idle_len--;
	} else {
		rc = db->driver->prepare(db, sql, &stmt, err);
		if (rc)
			return rc;
		stmt->db = db;
		stmt->hash = hash;
	}
	db->in_use++;
	*out = stmt;
	return MR_OK;
}

void mr_stmt_done(struct mr_stmt **stmt_ptr)
{
	struct mr_stmt *stmt = *stmt_ptr;
	struct mr_db *db;

	if (!stmt)
		return;
	*stmt_ptr = NULL;
	db = stmt->db;
	db->driver->reset(stmt);
	db->in_use--;
	TAILQ_INSERT_HEAD(&db->idle, stmt, link);
	if (++db->idle_len <= db->options.statements)
		return;
	stmt = TAILQ_LAST(&db->idle, mr_stmt_list);
	TAILQ_REMOVE(&db->idle, stmt, link);
	db->idle_len--;
	db->driver->finalize(stmt);
}

struct mr_db *mr_stmt_db(const struct mr_stmt *stmt)
{
	return stmt->db;
}

void mr_stmt_reset(struct mr_stmt *stmt)
{
	stmt->db->driver->reset(stmt);
}

void mr_stmt_bind_int(struct mr_stmt *stmt, int index, int64_t value)
{
	stmt->db->driver->bind_int(stmt, index, value);
}

void mr_stmt_bind_real(struct mr_stmt *stmt, int index, double value)
{
	stmt->db->driver->bind_real(stmt, index, value);
}

void mr_stmt_bind_text(struct mr_stmt *stmt, int index, const char *text)
{
	if (text)
		stmt->db->driver->bind_text(stmt, index, text);
	else
		stmt->db->driver->bind_null(stmt, index);
}

void mr_stmt_bind_bytes(struct mr_stmt *stmt, int index, struct mr_bytes bytes)
{
	if (bytes.data)
		stmt->db->driver->bind_bytes(stmt, index, bytes);
	else
		stmt->db->driver->bind_null(stmt, index);
}

void mr_stmt_bind_null(struct mr_stmt *stmt, int index)
{
	stmt->db->driver->bind_null(stmt, index);
}

void mr_stmt_bind_ids(struct mr_stmt *stmt, int index, const char *list)
{
	if (list)
		stmt->db->driver->bind_ids(stmt, index, list);
	else
		stmt->db->driver->bind_null(stmt, index);
}

enum mr_code mr_stmt_step(struct mr_stmt *stmt, bool *row, struct mr_err *err)
{
	return stmt->db->driver->step(stmt, row, err);
}

enum mr_code mr_stmt_run(struct mr_stmt *stmt, struct mr_err *err)
{
	bool row = true;
	enum mr_code rc = MR_OK;

	while (!rc && row)
		rc = stmt->db->driver->step(stmt, &row, err);
	return rc;
}

enum mr_code mr_stmt_send(struct mr_stmt *stmt, struct mr_err *err)
{
	return stmt->db->driver->send ? stmt->db->driver->send(stmt, err) : mr_stmt_run(stmt, err);
}

enum mr_code mr_db_settle(struct mr_db *db, struct mr_err *err)
{
	return db->driver->settle ? db->driver->settle(db, err) : MR_OK;
}

bool mr_stmt_is_null(struct mr_stmt *stmt, int column)
{
	return stmt->db->driver->is_null(stmt, column);
}

int64_t mr_stmt_int(struct mr_stmt *stmt, int column)
{
	return stmt->db->driver->column_int(stmt, column);
}

double mr_stmt_real(struct mr_stmt *stmt, int column)
{
	return stmt->db->driver->column_real(stmt, column);
}

size_t mr_stmt_len(struct mr_stmt *stmt, int column)
{
	return stmt->db->driver->column_bytes(stmt, column).len;
}

const char *mr_stmt_text(struct mr_stmt *stmt, int column, struct mr_arena *arena)
{
	struct mr_bytes text = stmt->db->driver->column_text(stmt, column);

	return text.data ? mr_arena_strndup(arena, (const char *)text.data, text.len) : NULL;
}

const char *mr_stmt_peek(struct mr_stmt *stmt, int column)
{
	return (const char *)stmt->db->driver->column_text(stmt, column).data;
}

struct mr_bytes mr_stmt_bytes(struct mr_stmt *stmt, int column, struct mr_arena *arena)
{
	struct mr_bytes bytes = stmt->db->driver->column_bytes(stmt, column);

	if (!bytes.data)
		return bytes;
	return mr_bytes_of(mr_arena_memdup(arena, bytes.data, bytes.len), bytes.len);
}

enum mr_code mr_db_exec(struct mr_db *db, const char *sql, struct mr_err *err)
{
	return db->driver->exec(db, sql, err);
}

enum mr_code mr_db_run(struct mr_db *db, const char *sql, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, err);

	return rc ? rc : mr_stmt_run(stmt, err);
}

enum mr_code mr_db_has_table(struct mr_db *db, const char *name, bool *out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, db->driver->has_table_sql, &stmt, err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, name);
	return mr_stmt_step(stmt, out, err);
}

enum mr_code mr_db_is_empty(struct mr_db *db, bool *out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, db->driver->has_tables_sql, &stmt, err);
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, err);
	if (!rc)
		*out = !row;
	return rc;
}

enum { CATALOG_MAX = 4096 }; /* tables, or columns of one */

enum mr_code mr_db_tables(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	const char **names = mr_arena_array(arena, CATALOG_MAX, sizeof(*names));
	enum mr_code rc = mr_db_prepare(db, db->driver->tables_sql, &stmt, err);
	size_t len = 0;
	bool row = !rc;

	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, err);
		if (!rc && row && len == CATALOG_MAX)
			rc = mr_err_set(err, MR_ELIMIT, "database %s has more than %d tables",
				mr_db_path(db), CATALOG_MAX);
		if (!rc && row)
			names[len++] = mr_stmt_text(stmt, 0, arena);
	}
	if (!rc)
		*out = (struct mr_texts){ names, len };
	return rc;
}

enum mr_code mr_db_columns(struct mr_db *db, const char *table, struct mr_arena *arena,
	struct mr_db_columns *out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_db_column *items = mr_arena_array(arena, CATALOG_MAX, sizeof(*items));
	enum mr_code rc = mr_db_prepare(db, db->driver->columns_sql, &stmt, err);
	size_t len = 0;
	bool row = !rc;

	if (!rc)
		mr_stmt_bind_text(stmt, 1, table);
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, err);
		if (!rc && row && len == CATALOG_MAX)
			rc = mr_err_set(err, MR_ELIMIT, "table %s has more than %d columns", table,
				CATALOG_MAX);
		if (!rc && row)
			items[len++] = (struct mr_db_column){ mr_stmt_text(stmt, 0, arena),
				(enum mr_db_type)mr_stmt_int(stmt, 1), (int)mr_stmt_int(stmt, 2) };
	}
	if (!rc)
		*out = (struct mr_db_columns){ items, len };
	return rc;
}

enum mr_code mr_db_last_id(struct mr_db *db, const char *table, int64_t *out, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, db->driver->last_id_sql, &stmt, err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, table);
	rc = mr_stmt_step(stmt, &row, err);
	if (!rc)
		*out = row ? mr_stmt_int(stmt, 0) : 0;
	return rc;
}

enum mr_code mr_db_set_last_id(struct mr_db *db, const char *table, int64_t id, struct mr_err *err)
{
	const char *const *sql = db->driver->set_last_id_sql;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < MR_LEN(db->driver->set_last_id_sql) && sql[i]; i++) {
		struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;

		rc = mr_db_prepare(db, sql[i], &stmt, err);
		if (rc)
			break;
		mr_stmt_bind_text(stmt, 1, table);
		mr_stmt_bind_int(stmt, 2, id);
		rc = mr_stmt_run(stmt, err);
	}
	return rc;
}

int64_t mr_db_changes(struct mr_db *db)
{
	return db->driver->changes(db);
}

int64_t mr_db_total_changes(struct mr_db *db)
{
	return db->driver->total_changes(db);
}

enum mr_code mr_db_begin(struct mr_db *db, enum mr_db_begin how, struct mr_err *err)
{
	enum mr_code rc = db->driver->begin(db, how, err);

	if (!rc)
		db->notify_at_commit = false;
	return rc;
}

static enum mr_code send_text(struct mr_db *db, const char *sql, struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, err);

	return rc ? rc : mr_stmt_send(stmt, err);
}

enum mr_code mr_db_commit(struct mr_db *db, struct mr_err *err)
{
	const char *notify = db->notify_at_commit ? db->driver->notify_sql : NULL;
	enum mr_code rc = MR_OK;

	if (notify)
		rc = send_text(db, notify, err);
	if (!rc)
		rc = mr_db_run(db, "COMMIT", err);
	if (!rc && db->notify_at_commit && !notify)
		db->driver->notify(db);
	db->notify_at_commit &= rc != MR_OK;
	return rc;
}

void mr_db_rollback(struct mr_db *db)
{
	if (mr_db_in_transaction(db))
		db->driver->rollback(db);
}

bool mr_db_schema_is_transactional(const struct mr_db *db)
{
	return db->driver->schema_is_transactional;
}

bool mr_db_in_transaction(struct mr_db *db)
{
	return db->driver->in_transaction(db);
}

void mr_db_notify(struct mr_db *db)
{
	if (mr_db_in_transaction(db))
		db->notify_at_commit = true;
	else
		db->driver->notify(db);
}

enum mr_code mr_db_listen(const char *path, struct mr_db_listener **out, struct mr_err *err)
{
	const struct mr_db_driver *driver = driver_for(path);
	struct mr_db_listener *listener = NULL;
	enum mr_code rc = driver->listen(path, &listener, err);

	if (rc)
		return rc;
	listener->driver = driver;
	*out = listener;
	return MR_OK;
}

int mr_db_listener_fd(const struct mr_db_listener *listener)
{
	return listener->driver->listener_fd(listener);
}

bool mr_db_listener_drain(struct mr_db_listener *listener)
{
	return listener->driver->listener_drain(listener);
}

void mr_db_listener_close(struct mr_db_listener **listener)
{
	if (*listener)
		(*listener)->driver->listener_close(*listener);
	*listener = NULL;
}

enum mr_code mr_db_server(struct mr_db *db, struct mr_arena *arena, struct mr_db_server *out,
	struct mr_err *err)
{
	int64_t begun_us = mr_clock_mono_us(mr_clock_system());
	struct mr_db_server server = { .engine = db->driver->name };
	enum mr_code rc = db->driver->server ? db->driver->server(db, arena, &server, err) : MR_OK;

	if (db->driver->server)
		server.round_trip_us = mr_clock_mono_us(mr_clock_system()) - begun_us;
	if (!rc)
		*out = server;
	return rc;
}

enum mr_code mr_db_duty(struct mr_db *db, bool *mine, struct mr_err *err)
{
	*mine = !db->driver->duty;
	return *mine ? MR_OK : db->driver->duty(db, mine, err);
}

bool mr_db_is_open_elsewhere(const char *path, long *pid)
{
	return driver_for(path)->is_open_elsewhere(path, pid);
}

enum mr_code mr_db_savepoint(struct mr_db *db, struct mr_err *err)
{
	return mr_db_run(db, "SAVEPOINT mr", err);
}

enum mr_code mr_db_release(struct mr_db *db, struct mr_err *err)
{
	return mr_db_run(db, "RELEASE SAVEPOINT mr", err);
}

enum mr_code mr_db_rollback_to(struct mr_db *db, struct mr_err *err)
{
	enum mr_code rc = mr_db_run(db, "ROLLBACK TO SAVEPOINT mr", err);

	return rc ? rc : mr_db_release(db, err);
}

enum mr_code mr_db_check(struct mr_db *db, struct mr_arena *arena, struct mr_texts *out,
	struct mr_err *err)
{
	return db->driver->check(db, arena, out, err);
}

enum mr_code mr_db_compact(struct mr_db *db, struct mr_err *err)
{
	return db->driver->compact(db, err);
}

enum mr_code mr_db_copy(struct mr_db *db, const char *path, struct mr_err *err)
{
	return db->driver->copy(db, path, err);
}

enum mr_code mr_db_copy_aside(struct mr_db *db, struct mr_db **out, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db *copy = NULL;
	enum mr_code rc = db->driver->copy_aside(arena, db, &copy, err);

	if (rc)
		return rc;
	begin_life(copy, db->driver, arena);
	arena = NULL;
	*out = copy;
	return MR_OK;
}

/* Names are spliced into statements, so only harmless ones may pass. */
static bool is_name(const char *name)
{
	return name && name[0] && !strchr("0123456789", name[0]) &&
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static enum mr_code check_search(const struct mr_db_search *search, struct mr_err *err)
{
	bool good = is_name(search->name) && is_name(search->table) && is_name(search->id);
	size_t count = 0;

	while (good && search->columns[count])
		good = count < MR_DB_SEARCH_COLUMNS && is_name(search->columns[count++]);
	if (!good || count == 0)
		return mr_err_set(err, MR_EINTERNAL,
			"search index %s: its names must be plain lower-case words, and its "
			"columns 1 to %d",
			search->name ? search->name : "without a name", MR_DB_SEARCH_COLUMNS);
	return MR_OK;
}

enum mr_code mr_db_search_create(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_create(db, search, err);
}

enum mr_code mr_db_search_add(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_add(db, search, id, NULL, err);
}

enum mr_code mr_db_search_add_texts(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	const char *const *texts, struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_add(db, search, id, texts, err);
}

enum mr_code mr_db_search_remove(struct mr_db *db, const struct mr_db_search *search, int64_t id,
	struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_remove(db, search, id, err);
}

enum mr_code mr_db_search_rebuild(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_rebuild(db, search, err);
}

enum mr_code mr_db_search_purge(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_purge(db, search, err);
}

enum mr_code mr_db_search_check(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	return rc ? rc : db->driver->search_check(db, search, err);
}

void mr_db_search_quote(struct mr_db *db, const struct mr_db_search *search, struct mr_buf *match,
	const char *column, const char *term, bool prefix)
{
	assert(!column || is_name(column));
	db->driver->search_quote(search, match, column, term, prefix);
}

void mr_db_search_word(struct mr_db *db, struct mr_buf *match, enum mr_db_search_word word)
{
	mr_buf_puts(match, db->driver->search_words[word]);
}

enum mr_code mr_db_search_prepare(struct mr_db *db, const struct mr_db_search *search,
	const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err)
{
	enum mr_code rc = check_search(search, err);

	if (rc)
		return rc;
	if (query->limit <= 0 || query->offset < 0)
		return mr_err_set(err, MR_EINVAL,
			"search: the limit must be above 0 and the offset "
			"not below");
	if (query->among && query->among - query->offset < query->limit)
		return mr_err_set(err, MR_EINVAL,
			"search: fewer are ranked than offset and limit ask for");
	if (strlen(query->match) > MR_DB_MATCH_BYTES)
		return mr_err_set(err, MR_ELIMIT, "search: more than %d bytes to look for",
			MR_DB_MATCH_BYTES);
	return db->driver->search_prepare(db, search, query, out, err);
}
