/* team/move.c - Copies a team's database elsewhere, table by table, and compares the two. */
#include "team/move.h"

#include "base/buf.h"
#include "base/crash.h"
#include "base/fs.h"
#include "data/migrate.h"
#include "team/layout.h"
#include "team/move_sql.h"
#include "team/store/root_private.h"
#include "team/store/schema.h"
#include "team/store/use_lock.h"
#include "text/database_url.h"
#include "text/digest.h"
#include "text/token.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { MOVE_BYTES = 8, BUSY_MS = 30000, ROW_BYTES = MR_DB_VALUE_BYTES };

static const char FROM[] = "from", TO[] = "to";

struct move {
	struct mr_ctx *cx;
	const char *from_path, *to_path;
	const char *from_shown, *to_shown;
	int from_lock, to_lock;
	struct mr_db *from, *to;
	const char *id;
	bool is_over; /* the new database has all of it, and is in use */
	struct mr_team_move_tables tables;
};

static void release(struct move *move)
{
	mr_db_close(move->from);
	mr_db_close(move->to);
	mr_fs_closep(&move->from_lock);
	mr_fs_closep(&move->to_lock);
}

/* --- opening both --- */

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino;
}

static enum mr_code open_one(struct mr_ctx *cx, const char *path, bool create, int *lock,
	struct mr_db **out)
{
	struct mr_db_options options = { .path = path,
		.create = create,
		.busy_timeout_ms = BUSY_MS,
		.repair_hint = MR_TEAM_REBUILD_HINT };
	enum mr_code rc = mr_db_open(&options, out, &cx->err);

	return rc ? rc : mr_team_use_lock_share(cx, path, true, lock);
}

static enum mr_code open_old(struct move *move)
{
	struct mr_ctx *cx = move->cx;
	bool has_mail = false;
	enum mr_code rc = open_one(cx, move->from_path, false, &move->from_lock, &move->from);

	if (!rc)
		rc = mr_db_has_table(move->from, "messages", &has_mail, &cx->err);
	if (rc == MR_ENOTFOUND || (!rc && !has_mail))
		return mr_err_set(&cx->err, MR_ENOTFOUND, "there is no team in database %s",
			move->from_shown);
	return rc ? rc
		  : mr_migrate_up(move->from, mr_team_migrations, mr_team_migration_count,
			    cx->clock, &cx->err);
}

/* Nothing is written into a database that has something. */
static enum mr_code open_new(struct move *move)
{
	struct mr_ctx *cx = move->cx;
	bool is_ours = false, is_empty = false;
	enum mr_code rc = open_one(cx, move->to_path, true, &move->to_lock, &move->to);

	if (!rc)
		rc = mr_db_has_table(move->to, "schema_version", &is_ours, &cx->err);
	if (!rc)
		rc = mr_db_is_empty(move->to, &is_empty, &cx->err);
	if (!rc && !is_ours && !is_empty)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"database %s has tables of another program: name an empty one",
			move->to_shown);
	return rc ? rc
		  : mr_migrate_up(move->to, mr_team_migrations, mr_team_migration_count, cx->clock,
			    &cx->err);
}

/* --- marking both --- */

static enum mr_code refuse_target(struct move *move)
{
	return mr_err_set(&move->cx->err, MR_ECONFLICT,
		"database %s has another team: name an empty one, or move that one away",
		move->to_shown);
}

/* Is the new database empty, or that of this move? */
static enum mr_code look_at_new(struct move *move, const struct mr_team_move_mark *old)
{
	struct mr_team_move_mark mark = { 0 }, left = { 0 };
	bool is_unused = false;
	enum mr_code rc = mr_team_move_is_unused(move->cx, move->to, &is_unused);

	if (rc || is_unused)
		return rc;
	rc = mr_team_move_mark_get(move->cx, move->to, TO, &mark);
	if (!rc)
		rc = mr_team_move_mark_get(move->cx, move->to, FROM, &left);
	if (rc)
		return rc;
	if (left.exists || !mark.exists || !old->exists || !mr_str_eq(mark.move, old->move))
		return refuse_target(move);
	move->is_over = mark.has_ended;
	return MR_OK;
}

static enum mr_code look_at_old(struct move *move, struct mr_team_move_mark *mark)
{
	enum mr_code rc = mr_team_move_mark_get(move->cx, move->from, FROM, mark);

	if (rc || !mark->exists)
		return rc;
	if (mark->has_ended)
		return mr_err_set(&move->cx->err, MR_ECONFLICT,
			"database %s was moved to %s already: use that one (DATABASE_URL), or take "
			"the move back with `mailroom team migrate --cancel`",
			move->from_shown, mark->other);
	if (!mr_str_eq(mark->other, move->to_shown))
		return mr_err_set(&move->cx->err, MR_ECONFLICT,
			"database %s is being moved to %s: go on with that, or give it up with "
			"`mailroom team migrate --cancel`",
			move->from_shown, mark->other);
	return MR_OK;
}

/* From here on nobody writes to the old database. */
static enum mr_code mark_old(struct move *move, struct mr_team_move_mark *mark)
{
	struct mr_ctx *cx = move->cx;
	enum mr_code rc = mr_db_begin(move->from, MR_DB_IMMEDIATE, &cx->err);

	if (!rc)
		rc = look_at_old(move, mark);
	if (!rc && !mark->exists) {
		mark->move = mr_token_hex(cx->arena, cx->rand, MOVE_BYTES);
		rc = mr_team_move_mark_put(cx, move->from, FROM, mark->move, move->to_shown);
	}
	if (!rc)
		rc = mr_db_commit(move->from, &cx->err);
	if (rc)
		mr_db_rollback(move->from);
	else
		mr_db_notify(move->from);
	return rc;
}

static enum mr_code mark_new(struct move *move)
{
	struct mr_ctx *cx = move->cx;
	struct mr_team_move_mark mark = { 0 };
	bool is_unused = false;
	enum mr_code rc = mr_db_begin(move->to, MR_DB_IMMEDIATE, &cx->err);

	if (!rc)
		rc = mr_team_move_is_unused(cx, move->to, &is_unused);
	if (!rc && is_unused)
		rc = mr_team_move_mark_put(cx, move->to, TO, move->id, move->from_shown);
	if (!rc)
		rc = mr_team_move_mark_get(cx, move->to, TO, &mark);
	if (!rc && (!mark.exists || !mr_str_eq(mark.move, move->id)))
		rc = refuse_target(move);
	if (!rc)
		rc = mr_db_commit(move->to, &cx->err);
	if (rc)
		mr_db_rollback(move->to);
	return rc;
}

/* What can be refused is refused before anything is marked. */
static enum mr_code mark_both(struct move *move, bool *was_resumed)
{
	struct mr_team_move_mark old = { 0 };
	enum mr_code rc = look_at_old(move, &old);

	if (!rc)
		rc = look_at_new(move, &old);
	if (rc)
		return rc;
	*was_resumed = old.exists;
	rc = mark_old(move, &old);
	mr_crash_point("move.old_marked");
	move->id = old.move;
	if (!rc)
		rc = mark_new(move);
	mr_crash_point("move.new_marked");
	return rc;
}

static enum mr_code check_still_marked(struct move *move)
{
	struct mr_team_move_mark mark = { 0 };
	enum mr_code rc = mr_team_move_mark_get(move->cx, move->from, FROM, &mark);

	if (rc || (mark.exists && mr_str_eq(mark.move, move->id)))
		return rc;
	return mr_err_set(&move->cx->err, MR_ECONFLICT, "the move of %s was given up meanwhile",
		move->from_shown);
}

/* --- copying --- */

static enum mr_code put_row(struct mr_ctx *cx, const struct mr_team_move_table *table,
	struct mr_stmt *row, void *arg)
{
	enum mr_code rc = mr_team_move_put(cx, table, row, arg);

	if (rc || !mr_str_eq(table->name, mr_team_search_index.table))
		return rc;
	return mr_db_search_add(arg, &mr_team_search_index, mr_stmt_int(row, (int)table->keys[0]),
		&cx->err);
}

/* Some rows, in one transaction with how far that is: another process may be at it, too. */
static enum mr_code copy_some(struct move *move, struct mr_ctx *cx,
	const struct mr_team_move_table *table, struct mr_team_move_place *place)
{
	enum mr_code rc = mr_db_begin(move->to, MR_DB_IMMEDIATE, &cx->err);

	if (!rc)
		rc = mr_team_move_place_get(cx, move->to, table->name, place);
	if (!rc && !place->is_done) {
		rc = mr_team_move_walk(cx, move->from, table, place, put_row, move->to);
		if (!rc)
			rc = mr_team_move_place_put(cx, move->to, table->name, place);
	}
	if (!rc)
		rc = mr_db_commit(move->to, &cx->err);
	if (rc)
		mr_db_rollback(move->to);
	return rc;
}

/* In an arena of its own each time, or all rows' keys would stay. */
static enum mr_code copy_chunk(struct move *move, const struct mr_team_move_table *table,
	int64_t *rows, bool *is_done)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_move_place place = { 0 };
	struct mr_ctx cx = *move->cx;
	enum mr_code rc;

	cx.arena = arena;
	rc = copy_some(move, &cx, table, &place);
	if (rc)
		move->cx->err = cx.err;
	*rows = place.rows;
	*is_done = place.is_done;
	return rc;
}

static enum mr_code copy_last_id(struct move *move, const struct mr_team_move_table *table)
{
	struct mr_err *err = &move->cx->err;
	int64_t last = 0, there = 0;
	enum mr_code rc = mr_db_last_id(move->from, table->name, &last, err);

	if (!rc)
		rc = mr_team_move_highest(move->cx, move->to, table, &there);
	last = there > last ? there : last;
	return rc || last == 0 ? rc : mr_db_set_last_id(move->to, table->name, last, err);
}

static void tell(struct mr_ctx *cx, const char *what, int64_t done, int64_t total)
{
	if (cx->progress)
		cx->progress(cx->progress_arg, what, (size_t)done, (size_t)total);
}

static enum mr_code copy_table(struct move *move, const struct mr_team_move_table *table)
{
	int64_t rows = 0, total = 0;
	bool is_done = false;
	enum mr_code rc = mr_team_move_count(move->cx, move->from, table, &total);

	while (!rc && !is_done) {
		rc = check_still_marked(move);
		if (!rc)
			rc = copy_chunk(move, table, &rows, &is_done);
		mr_crash_point("move.copied");
		tell(move->cx, table->name, rows, total);
	}
	if (!rc && table->counts_ids)
		rc = copy_last_id(move, table);
	return rc;
}

/* --- comparing --- */

/* The sum of the digests of rows, as a number of 256 bits. */
struct sum {
	uint64_t words[4];
	struct mr_buf row;
};

static enum mr_code add_row(struct mr_ctx *cx, const struct mr_team_move_table *table,
	struct mr_stmt *row, void *arg)
{
	struct sum *sum = arg;
	uint8_t digest[32];
	uint64_t carry = 0;
	enum mr_code rc;

	mr_buf_clear(&sum->row);
	for (int i = 0; (size_t)i < table->columns.len; i++) {
		struct mr_bytes bytes = { 0 };

		if (mr_stmt_is_null(row, i)) {
			mr_buf_puts(&sum->row, "-");
		} else if (table->columns.items[i].type == MR_DB_NUMBER) {
			mr_buf_printf(&sum->row, "%" PRId64 ",", mr_stmt_int(row, i));
		} else {
			bytes = mr_stmt_bytes(row, i, cx->arena);
			mr_buf_printf(&sum->row, "%zu:", bytes.len);
			mr_buf_add(&sum->row, bytes.data, bytes.len);
		}
	}
	rc = mr_buf_check(&sum->row, "a row", &cx->err);
	if (rc)
		return rc;
	mr_digest_sha256_bytes(mr_bytes_of(mr_buf_text(&sum->row), sum->row.len), digest);
	for (size_t i = 0; i < MR_LEN(sum->words); i++) {
		uint64_t word, with_carry;

		memcpy(&word, digest + i * sizeof(word), sizeof(word));
		with_carry = sum->words[i] + carry;
		carry = with_carry < carry;
		sum->words[i] = with_carry + word;
		carry += sum->words[i] < word;
	}
	return MR_OK;
}

static enum mr_code sum_up(struct move *move, struct mr_db *db,
	const struct mr_team_move_table *table, int64_t total, struct mr_team_moved_table *out)
{
	struct mr_ctx *cx = move->cx;
	struct mr_arena *before = NULL; /* has the keys in `place` */
	struct mr_team_move_place place = { 0 };
	struct sum sum = { 0 };
	enum mr_code rc = MR_OK;

	mr_buf_init(&sum.row, ROW_BYTES);
	while (!rc && !place.is_done) {
		struct mr_ctx own = *cx;

		own.arena = mr_arena_new();
		rc = mr_team_move_walk(&own, db, table, &place, add_row, &sum);
		if (rc)
			cx->err = own.err;
		mr_arena_free(before);
		before = own.arena;
		tell(cx, mr_arena_printf(own.arena, "comparing %s", table->name), place.rows,
			total);
	}
	mr_arena_free(before);
	mr_buf_release(&sum.row);
	*out = (struct mr_team_moved_table){ table->name, place.rows,
		mr_arena_printf(cx->arena, "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64,
			sum.words[3], sum.words[2], sum.words[1], sum.words[0]) };
	return rc;
}

static enum mr_code compare(struct move *move, const struct mr_team_move_table *table,
	struct mr_team_moved *out)
{
	struct mr_team_moved_table old, new;
	int64_t total = 0;
	enum mr_code rc = mr_team_move_count(move->cx, move->to, table, &total);

	if (!rc)
		rc = sum_up(move, move->from, table, total, &old);
	if (!rc)
		rc = sum_up(move, move->to, table, total, &new);
	if (rc)
		return rc;
	if (old.rows != new.rows || !mr_str_eq(old.digest, new.digest))
		return mr_err_set(&move->cx->err, MR_ECONFLICT,
			"table %s differs: %" PRId64 " rows (%.12s) in %s, %" PRId64
			" (%.12s) in %s; something has written to one of them meanwhile, perhaps a "
			"server of an older version: stop it, make the new database anew, and "
			"begin again with `mailroom team migrate --cancel`",
			table->name, old.rows, old.digest, move->from_shown, new.rows, new.digest,
			move->to_shown);
	out->tables[out->len++] = new;
	out->rows += new.rows;
	return MR_OK;
}

/* --- the whole --- */

static enum mr_code end_one(struct move *move, struct mr_db *db, const char *role)
{
	struct mr_err *err = &move->cx->err;
	enum mr_code rc = mr_db_begin(db, MR_DB_IMMEDIATE, err);

	if (!rc)
		rc = mr_team_move_mark_end(move->cx, db, role, move->id);
	if (!rc)
		rc = mr_db_commit(db, err);
	if (rc)
		mr_db_rollback(db);
	else
		mr_db_notify(db);
	return rc;
}

static enum mr_code copy_and_compare(struct move *move, struct mr_team_moved *out)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < move->tables.len; i++)
		rc = copy_table(move, &move->tables.items[i]);
	for (size_t i = 0; !rc && i < move->tables.len; i++)
		rc = compare(move, &move->tables.items[i], out);
	mr_crash_point("move.compared");
	if (!rc)
		rc = check_still_marked(move);
	/* From here on it is the team's: the old one is only told so. */
	if (!rc)
		rc = end_one(move, move->to, TO);
	mr_crash_point("move.new_ended");
	return rc;
}

static enum mr_code run(struct move *move, struct mr_team_moved *out)
{
	struct mr_ctx *cx = move->cx;
	enum mr_code rc = open_old(move);

	if (!rc)
		rc = open_new(move);
	if (!rc)
		rc = mark_both(move, &out->was_resumed);
	if (!rc)
		rc = mr_team_move_tables(cx, move->from, &move->tables);
	if (rc)
		return rc;
	out->tables = mr_arena_array(cx->arena, move->tables.len, sizeof(*out->tables));
	if (!move->is_over)
		rc = copy_and_compare(move, out);
	if (!rc)
		rc = end_one(move, move->from, FROM);
	mr_crash_point("move.old_ended");
	return rc;
}

static const char *database_of(struct mr_ctx *cx, const struct mr_team_config *config)
{
	return config->database
		? config->database
		: mr_arena_printf(cx->arena, "%s/" MR_TEAM_DATABASE_FILE, config->storage_root);
}

enum mr_code mr_team_move(struct mr_ctx *cx, const struct mr_team_config *config, const char *to,
	struct mr_team_moved *out)
{
	struct move move = { .cx = cx,
		.from_path = database_of(cx, config),
		.to_path = to,
		.from_lock = -1,
		.to_lock = -1 };
	struct mr_team_moved moved = { 0 };
	enum mr_code rc;

	move.from_shown = mr_database_url_shown(cx->arena, move.from_path);
	move.to_shown = mr_database_url_shown(cx->arena, to);
	if (mr_str_eq(move.from_path, to) || is_same_file(move.from_path, to))
		return mr_err_set(&cx->err, MR_EINVAL, "%s is the team's database already",
			move.to_shown);
	rc = run(&move, &moved);
	release(&move);
	if (rc)
		return rc;
	moved.from = move.from_shown;
	moved.to = move.to_shown;
	*out = moved;
	return MR_OK;
}

enum mr_code mr_team_move_cancel(struct mr_ctx *cx, const struct mr_team_config *config,
	struct mr_team_moved *out)
{
	struct move move = { .cx = cx,
		.from_path = database_of(cx, config),
		.from_lock = -1,
		.to_lock = -1 };
	struct mr_team_move_mark mark = { 0 };
	enum mr_code rc;

	move.from_shown = mr_database_url_shown(cx->arena, move.from_path);
	rc = open_old(&move);
	if (!rc)
		rc = mr_db_begin(move.from, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_team_move_mark_get(cx, move.from, FROM, &mark);
	if (!rc && !mark.exists)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND, "database %s is not being moved",
			move.from_shown);
	if (!rc)
		rc = mr_team_move_mark_remove(cx, move.from, FROM);
	if (!rc)
		rc = mr_db_commit(move.from, &cx->err);
	if (rc && move.from)
		mr_db_rollback(move.from);
	release(&move);
	if (rc)
		return rc;
	*out = (struct mr_team_moved){ .from = move.from_shown, .to = mark.other };
	return MR_OK;
}
