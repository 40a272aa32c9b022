/* workspace/index_sql.c - the tables of the index, and the statements that fill them. */
#include "workspace/index_private.h"

#include "data/rows.h"
#include "workspace/ids.h"
#include "workspace/index.h"
#include "workspace/index_search.h"

#include <string.h>

enum { SCHEMA_VERSION = 7 };

/* Numbers of `status` are those of enum mr_work_status, of `kind` enum mr_work_collection_kind. */
static const char SQL_TABLES[] =
	"CREATE TABLE form (version BIGINT NOT NULL);"
	"CREATE TABLE stamps (path TEXT PRIMARY KEY, stamp TEXT NOT NULL);"
	"CREATE TABLE messages (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, rfc822 TEXT, "
	"status BIGINT NOT NULL, time BIGINT, subject TEXT NOT NULL, sender TEXT NOT NULL, "
	"email TEXT NOT NULL, "
	"people TEXT NOT NULL, body TEXT NOT NULL, names TEXT NOT NULL, outbound BIGINT NOT NULL, "
	"attachments BIGINT NOT NULL, bytes BIGINT NOT NULL, live BIGINT NOT NULL, "
	"missing BIGINT NOT NULL, remote_stamp TEXT NOT NULL);"
	"CREATE INDEX messages_rfc822 ON messages (rfc822);"
	"CREATE INDEX messages_status ON messages (status, id);"
	"CREATE INDEX messages_time ON messages (time);"
	/* The order of lists, newest first: of one status, and of all. */
	"CREATE INDEX messages_newest_of ON messages (status, (COALESCE(time, 0)) DESC, id);"
	"CREATE INDEX messages_newest ON messages ((COALESCE(time, 0)) DESC, id);"
	"CREATE INDEX messages_missing ON messages (missing) WHERE missing > 0 AND live = 0;"
	"CREATE INDEX messages_email ON messages (email);"
	"CREATE INDEX messages_bytes ON messages (bytes);" /* covers their sum */
	/* Covers the question for sidecars: rows are long, and none is read for it. */
	"CREATE INDEX messages_remote ON messages (n, id, remote_stamp) WHERE remote_stamp <> '';"
	"CREATE TABLE cards (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, emails TEXT NOT NULL);"
	"CREATE TABLE behind (is_list BIGINT NOT NULL, what TEXT NOT NULL, "
	"PRIMARY KEY (is_list, what));"
	"CREATE TABLE facts (what TEXT PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE refers (n BIGINT NOT NULL, rfc822 TEXT NOT NULL);"
	"CREATE INDEX refers_n ON refers (n);"
	"CREATE INDEX refers_rfc822 ON refers (rfc822);"
	/* Of mail that went out: bare addresses in lower case. */
	"CREATE TABLE written (n BIGINT NOT NULL, email TEXT NOT NULL);"
	"CREATE INDEX written_n ON written (n);"
	"CREATE INDEX written_email ON written (email);"
	"CREATE TABLE places (n BIGINT NOT NULL, mailbox TEXT NOT NULL, validity BIGINT NOT NULL, "
	"uid BIGINT NOT NULL, missing BIGINT NOT NULL, flags TEXT NOT NULL);"
	"CREATE INDEX places_n ON places (n);"
	"CREATE INDEX places_uid ON places (mailbox, missing, validity, uid);"
	"CREATE TABLE members (path TEXT NOT NULL, kind BIGINT NOT NULL, uid TEXT NOT NULL, "
	"id TEXT NOT NULL, added TEXT NOT NULL);"
	"CREATE INDEX members_path ON members (path);"
	"CREATE INDEX members_id ON members (id);";

static const char SQL_CLEAR[] =
	"DROP TABLE IF EXISTS form; DROP TABLE IF EXISTS stamps; DROP TABLE IF EXISTS messages;"
	"DROP TABLE IF EXISTS refers; DROP TABLE IF EXISTS places; DROP TABLE IF EXISTS members;"
	"DROP TABLE IF EXISTS cards; DROP TABLE IF EXISTS behind;"
	"DROP TABLE IF EXISTS written; DROP TABLE IF EXISTS facts; DROP TABLE IF EXISTS found;";

static const char SQL_VERSION[] = "SELECT version FROM form";
static const char SQL_SET_VERSION[] = "INSERT INTO form (version) VALUES (?1)";

enum mr_code mr_work_index_schema(struct mr_ctx *cx, struct mr_db *db)
{
	int64_t version = 0;
	bool there = false;
	enum mr_code rc = mr_db_has_table(db, "form", &there, &cx->err);

	if (!rc && there)
		rc = mr_rows_one(cx, db, SQL_VERSION, NULL, MR_INTO(&version), NULL);
	if (rc || version == SCHEMA_VERSION)
		return rc;
	rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	if (rc)
		return rc;
	/* Another process may have been quicker. */
	rc = mr_db_has_table(db, "form", &there, &cx->err);
	if (!rc && there)
		rc = mr_rows_one(cx, db, SQL_VERSION, NULL, MR_INTO(&version), NULL);
	if (!rc && version != SCHEMA_VERSION) {
		rc = mr_db_exec(db, SQL_CLEAR, &cx->err);
		if (!rc)
			rc = mr_db_exec(db, SQL_TABLES, &cx->err);
		if (!rc)
			rc = mr_db_search_create(db, &mr_work_index_search_table, &cx->err);
		if (!rc)
			rc = mr_rows_run(cx, db, SQL_SET_VERSION, MR_BIND((int64_t)SCHEMA_VERSION));
	}
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc)
		mr_db_rollback(db);
	return rc;
}

/* --- stamps --- */

static const char SQL_STAMPS[] = "SELECT path, stamp FROM stamps ORDER BY path" MR_ROWS_ALL;
static const char SQL_SET_STAMP[] = "INSERT INTO stamps (path, stamp) VALUES (?1, ?2) "
				    "ON CONFLICT (path) DO UPDATE SET stamp = excluded.stamp";
static const char SQL_DROP_STAMP[] = "DELETE FROM stamps WHERE path = ?1";
static const char SQL_IDS[] = "SELECT id, remote_stamp FROM messages ORDER BY id" MR_ROWS_ALL;

static enum mr_code read_stamp(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_stamp *stamp = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&stamp->path, &stamp->stamp));
	return MR_OK;
}

enum mr_code mr_work_index_stamps(struct mr_ctx *cx, struct mr_db *db, struct mr_work_stamps *out)
{
	return mr_rows_list(cx, db, SQL_STAMPS, NULL, read_stamp, MR_LIST(out));
}

enum mr_code mr_work_index_set_stamp(struct mr_ctx *cx, struct mr_db *db, const char *path,
	const char *stamp)
{
	return mr_rows_run(cx, db, SQL_SET_STAMP, MR_BIND(path, stamp));
}

enum mr_code mr_work_index_drop_stamp(struct mr_ctx *cx, struct mr_db *db, const char *path)
{
	return mr_rows_run(cx, db, SQL_DROP_STAMP, MR_BIND(path));
}

enum mr_code mr_work_index_ids(struct mr_ctx *cx, struct mr_db *db, struct mr_work_stamps *out)
{
	return mr_rows_list(cx, db, SQL_IDS, NULL, read_stamp, MR_LIST(out));
}

/* --- facts --- */

static const char SQL_FACT[] = "SELECT value FROM facts WHERE what = ?1";
static const char SQL_KEEP_FACT[] = "INSERT INTO facts (what, value) VALUES (?1, ?2) "
				    "ON CONFLICT (what) DO UPDATE SET value = excluded.value";
static const char SQL_FORGET_FACTS[] = "DELETE FROM facts";

enum mr_code mr_work_index_fact(struct mr_ctx *cx, struct mr_db *db, const char *what,
	const char **out)
{
	*out = NULL;
	return mr_rows_one(cx, db, SQL_FACT, MR_BIND(what), MR_INTO(out), NULL);
}

enum mr_code mr_work_index_keep_fact(struct mr_ctx *cx, struct mr_db *db, const char *what,
	const char *value)
{
	return mr_rows_run(cx, db, SQL_KEEP_FACT, MR_BIND(what, value));
}

static enum mr_code forget_facts(struct mr_ctx *cx, struct mr_db *db)
{
	return mr_rows_run(cx, db, SQL_FORGET_FACTS, NULL);
}

/* --- messages --- */

/*
 * Dispositions first, then a category, then cases; a message that no list holds waits in triage.
 * The numbers: collections 0 active case, 1 archived case, 2 category, 3 spam, 4 trash, 5 deleted;
 * statuses 0 triage, 1 case, 2 archived, 3 spam, 4 trashed, 5 deleted.
 */
#define STATUS_OF(id)                                                                              \
	"COALESCE((SELECT MAX(CASE m.kind WHEN 0 THEN 1 WHEN 1 THEN 1 ELSE m.kind END) FROM "      \
	"members m WHERE m.id = " id "), 0)"

static const char SQL_PUT[] =
	"INSERT INTO messages (id, rfc822, status, time, subject, sender, people, body, names, "
	"outbound, attachments, bytes, live, missing, remote_stamp, email) VALUES "
	"(?1, ?2, " STATUS_OF("?1") ", ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) "
				    "RETURNING n";
static const char SQL_NUMBER[] = "SELECT n FROM messages WHERE id = ?1";
static const char SQL_DROP[] = "DELETE FROM messages WHERE n = ?1";
static const char SQL_DROP_REFERS[] = "DELETE FROM refers WHERE n = ?1";
static const char SQL_DROP_WRITTEN[] = "DELETE FROM written WHERE n = ?1";
static const char SQL_DROP_PLACES[] = "DELETE FROM places WHERE n = ?1";
static const char SQL_PLACE[] = "INSERT INTO places (n, mailbox, validity, uid, missing, flags) "
				"VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
static const char SQL_WRITTEN[] = "INSERT INTO written (n, email) VALUES (?1, ?2)";
static const char SQL_REFER[] = "INSERT INTO refers (n, rfc822) VALUES (?1, ?2)";

/* Rows whose words are not in the full-text index yet. */
struct mr_work_unsearched {
	int64_t *rows;
	size_t len, room;
};

void mr_work_index_note_row(struct mr_ctx *cx, struct mr_work *work, int64_t n)
{
	struct mr_work_unsearched *list = work->unsearched;

	if (!list)
		list = work->unsearched = mr_arena_alloc(cx->arena, sizeof(*list));
	if (list->len == list->room) {
		int64_t *rows;

		list->room = list->room ? list->room * 2 : 64;
		rows = mr_arena_array(cx->arena, list->room, sizeof(*rows));
		if (list->len)
			memcpy(rows, list->rows, list->len * sizeof(*rows));
		list->rows = rows;
	}
	list->rows[list->len++] = n;
}

enum mr_code mr_work_index_flush(struct mr_ctx *cx, struct mr_work *work)
{
	const struct mr_work_unsearched *list = work->unsearched;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; list && !rc && i < list->len; i++)
		rc = mr_db_search_add(work->index, &mr_work_index_search_table, list->rows[i],
			&cx->err);
	work->unsearched = NULL;
	return rc;
}

void mr_work_index_forget_rows(struct mr_work *work)
{
	work->unsearched = NULL;
}

enum mr_code mr_work_index_drop(struct mr_ctx *cx, struct mr_work *work, const char *id)
{
	struct mr_db *db = work->index;
	int64_t n = 0;
	bool found = false;
	enum mr_code rc = mr_rows_one(cx, db, SQL_NUMBER, MR_BIND(id), MR_INTO(&n), &found);

	if (rc || !found)
		return rc;
	rc = mr_work_index_flush(cx, work); /* it may be one of them */
	if (!rc)
		rc = forget_facts(cx, db);
	if (!rc)
		rc = mr_db_search_remove(db, &mr_work_index_search_table, n, &cx->err);
	if (!rc)
		rc = mr_rows_run(cx, db, SQL_DROP_REFERS, MR_BIND(n));
	if (!rc)
		rc = mr_rows_run(cx, db, SQL_DROP_PLACES, MR_BIND(n));
	if (!rc)
		rc = mr_rows_run(cx, db, SQL_DROP_WRITTEN, MR_BIND(n));
	if (!rc)
		rc = mr_rows_run(cx, db, SQL_DROP, MR_BIND(n));
	return rc;
}

static enum mr_code put_places(struct mr_ctx *cx, struct mr_db *db, int64_t n,
	const struct mr_work_locations *places)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < places->len; i++) {
		const struct mr_work_location *at = &places->items[i];

		if (at->has_uid)
			rc = mr_rows_run(cx, db, SQL_PLACE,
				MR_BIND(n, at->mailbox_name, at->uid_validity, at->uid,
					(int64_t)(at->missing != NULL),
					mr_str_join(cx->arena, &at->flags, " ")));
	}
	return rc;
}

enum mr_code mr_work_index_put(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_row *row, int64_t *out_n)
{
	struct mr_db *db = work->index;
	struct mr_bind time = row->has_time ? mr_bind_int(row->time_us)
					    : (struct mr_bind){ .type = MR_BIND_NULL };
	enum mr_code rc = mr_work_index_drop(cx, work, row->id);
	int64_t n = 0;

	if (!rc)
		rc = mr_rows_returning(cx, db, SQL_PUT,
			MR_BIND(row->id, row->rfc822, time, row->subject, row->from, row->people,
				row->body, row->names, (int64_t)row->is_outbound, row->attachments,
				row->bytes, row->live, row->missing, row->remote_stamp, row->email),
			MR_INTO(&n), NULL);
	for (size_t i = 0; !rc && i < row->refers.len; i++)
		rc = mr_rows_run(cx, db, SQL_REFER, MR_BIND(n, row->refers.items[i]));
	for (size_t i = 0; !rc && i < row->written_to.len; i++)
		rc = mr_rows_run(cx, db, SQL_WRITTEN, MR_BIND(n, row->written_to.items[i]));
	if (!rc)
		rc = put_places(cx, db, n, &row->places);
	if (!rc)
		rc = forget_facts(cx, db);
	if (!rc)
		*out_n = n;
	return rc;
}

/* --- lists --- */

static const char SQL_UNLIST[] = "DELETE FROM members WHERE path = ?1";
static const char SQL_LIST[] =
	"INSERT INTO members (path, kind, uid, id, added) VALUES (?1, ?2, ?3, ?4, ?5)";
static const char SQL_MEMBER_IDS[] =
	"SELECT id FROM members WHERE path = ?1 ORDER BY id" MR_ROWS_ALL;
static const char SQL_STATUS[] = "UPDATE messages SET status = " STATUS_OF("?1") " WHERE id = ?1";

static enum mr_code set_status(struct mr_ctx *cx, struct mr_db *db, const char *id)
{
	return mr_rows_run(cx, db, SQL_STATUS, MR_BIND(id));
}

enum mr_code mr_work_index_drop_collection(struct mr_ctx *cx, struct mr_db *db, const char *path,
	bool mark)
{
	struct mr_work_collection nothing = { .path = path };

	return mr_work_index_put_collection(cx, db, &nothing, mark);
}

static bool is_sorted_member(const struct mr_texts *ids, const char *id)
{
	size_t low = 0, high = ids->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(ids->items[middle], id);

		if (!order)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Statuses, and marks of the messages that are in one of the two lists only. */
static enum mr_code follow_members(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_texts *before, const struct mr_texts *after, bool mark)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < before->len; i++) {
		rc = set_status(cx, db, before->items[i]);
		if (!rc && mark && !is_sorted_member(after, before->items[i]))
			rc = mr_work_index_mark_message(cx, db, before->items[i]);
	}
	return rc;
}

enum mr_code mr_work_index_put_collection(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_work_collection *collection, bool mark)
{
	struct mr_texts after = mr_work_ids_room(cx->arena, collection->len), old;
	struct {
		const char **items;
		size_t len;
	} before = { 0 };
	enum mr_code rc = mr_rows_list(cx, db, SQL_MEMBER_IDS, MR_BIND(collection->path),
		mr_row_text, MR_LIST(&before));

	if (!rc)
		rc = mr_rows_run(cx, db, SQL_UNLIST, MR_BIND(collection->path));
	for (size_t i = 0; !rc && i < collection->len; i++) {
		mr_work_ids_put(&after, collection->items[i].message_id);
		rc = mr_rows_run(cx, db, SQL_LIST,
			MR_BIND(collection->path, (int64_t)collection->kind, collection->uid,
				collection->items[i].message_id, collection->items[i].added));
	}
	if (!rc)
		rc = forget_facts(cx, db);
	if (rc)
		return rc;
	mr_work_ids_sort(&after);
	old = (struct mr_texts){ before.items, before.len };
	rc = follow_members(cx, db, &old, &after, mark);
	return rc ? rc : follow_members(cx, db, &after, &old, mark);
}
