/* mailbox/registration_sql.c */
#include "mailbox/registration_sql.h"

#include <string.h>

static const char *const status_names[] = {
	[MR_MAILBOX_ACTIVE] = "active",
	[MR_MAILBOX_INACTIVE] = "inactive",
	[MR_MAILBOX_STASHED] = "stashed",
};
static const char *const kind_names[] = {
	[MR_MAILBOX_IN_ROOT] = "in_root",
	[MR_MAILBOX_SYMLINK] = "symlink",
};

const char *mr_mailbox_status_name(enum mr_mailbox_reg_status status)
{
	return status_names[status];
}

const char *mr_mailbox_kind_name(enum mr_mailbox_kind kind)
{
	return kind_names[kind];
}

/* Every column, in the order that read_row() and bind_row() have. */
#define COLUMNS                                                                                    \
	"registration_id, address, owner_principal_id, status, mailbox_kind, mailbox_path, "       \
	"mailbox_entry_path, display_name, manifest_path_hint, role, created_at_utc, "             \
	"deactivated_at_utc, replaced_by_registration_id"
#define SELECT       "SELECT " COLUMNS " FROM mailbox_registrations "
#define NEWEST_FIRST "created_at_utc DESC, registration_id DESC"

static bool name_index(const char *const *names, size_t count, const char *name, size_t *out)
{
	for (size_t i = 0; i < count; i++) {
		if (!mr_str_eq(names[i], name))
			continue;
		*out = i;
		return true;
	}
	return false;
}

/* The CHECKs of our schema rule out other words; those of another program's may not. */
static enum mr_code refuse_word(struct mr_ctx *cx, struct mr_db *db, const char *id,
	const char *column, const char *word)
{
	return mr_err_set(&cx->err, MR_EFORMAT,
		"database %s: registration %s has the %s \"%s\", which nobody knows; run `mailroom "
		"mailbox repair`",
		mr_db_path(db), id, column, word ? word : "");
}

static enum mr_code read_row(struct mr_ctx *cx, struct mr_db *db, struct mr_stmt *stmt,
	struct mr_mailbox_registration *out)
{
	struct mr_arena *arena = cx->arena;
	const char *id = mr_stmt_text(stmt, 0, arena);
	const char *status_name = mr_stmt_text(stmt, 3, arena);
	const char *kind_name = mr_stmt_text(stmt, 4, arena);
	size_t status, kind;

	if (!name_index(status_names, MR_LEN(status_names), status_name, &status))
		return refuse_word(cx, db, id, "status", status_name);
	if (!name_index(kind_names, MR_LEN(kind_names), kind_name, &kind))
		return refuse_word(cx, db, id, "mailbox kind", kind_name);
	*out = (struct mr_mailbox_registration){
		.id = id,
		.address = mr_stmt_text(stmt, 1, arena),
		.owner = mr_stmt_text(stmt, 2, arena),
		.status = (enum mr_mailbox_reg_status)status,
		.kind = (enum mr_mailbox_kind)kind,
		.path = mr_stmt_text(stmt, 5, arena),
		.entry_path = mr_stmt_text(stmt, 6, arena),
		.display_name = mr_stmt_text(stmt, 7, arena),
		.manifest_path_hint = mr_stmt_text(stmt, 8, arena),
		.role = mr_stmt_text(stmt, 9, arena),
		.created_at = mr_stmt_text(stmt, 10, arena),
		.deactivated_at = mr_stmt_text(stmt, 11, arena),
		.replaced_by = mr_stmt_text(stmt, 12, arena),
	};
	return MR_OK;
}

/* The first row of a query with one or two texts, or NULL. */
static enum mr_code find_one(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const char *first, const char *second, const struct mr_mailbox_registration **out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_registration *found = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, first);
	if (second)
		mr_stmt_bind_text(stmt, 2, second);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc && row) {
		found = mr_arena_alloc(cx->arena, sizeof(*found));
		rc = read_row(cx, db, stmt, found);
	}
	if (rc)
		return rc;
	*out = found;
	return MR_OK;
}

static const char SQL_ACTIVE[] = SELECT "WHERE address = ?1 AND status = 'active'";

enum mr_code mr_mailbox_registration_active(struct mr_ctx *cx, struct mr_db *db,
	const char *address, const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_ACTIVE, address, NULL, out);
}

/* Of one second, the one that was not replaced by the other. */
static const char SQL_OCCUPYING[] =
	SELECT "WHERE mailbox_entry_path = ?1 ORDER BY created_at_utc DESC,"
	       " replaced_by_registration_id IS NOT NULL, registration_id DESC LIMIT 1";

enum mr_code mr_mailbox_registration_occupying(struct mr_ctx *cx, struct mr_db *db,
	const char *entry_path, const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_OCCUPYING, entry_path, NULL, out);
}

static const char SQL_ON_PATH[] =
	SELECT "WHERE mailbox_path = ?1 AND address <> ?2 AND status = 'active' ORDER BY address "
	       "LIMIT 1";

enum mr_code mr_mailbox_registration_on_path(struct mr_ctx *cx, struct mr_db *db, const char *path,
	const char *but_address, const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_ON_PATH, path, but_address, out);
}

static const char SQL_BY_ID[] = SELECT "WHERE registration_id = ?1";

enum mr_code mr_mailbox_registration_by_id(struct mr_ctx *cx, struct mr_db *db, const char *id,
	const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_BY_ID, id, NULL, out);
}

static struct mr_mailbox_registration *add_row(struct mr_ctx *cx,
	struct mr_mailbox_registrations *list, size_t *cap)
{
	if (list->len == *cap) {
		size_t more = *cap ? *cap * 2 : 16;
		struct mr_mailbox_registration *items =
			mr_arena_array(cx->arena, more, sizeof(*items));

		if (list->len > 0)
			memcpy(items, list->items, list->len * sizeof(*items));
		list->items = items;
		*cap = more;
	}
	return &list->items[list->len++];
}

static const char SQL_LIST[] = SELECT "ORDER BY address, " NEWEST_FIRST;
static const char SQL_LIST_OF[] = SELECT "WHERE address = ?1 ORDER BY " NEWEST_FIRST;

enum mr_code mr_mailbox_registration_list(struct mr_ctx *cx, struct mr_db *db, const char *address,
	struct mr_mailbox_registrations *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_registrations list = { NULL, 0 };
	enum mr_code rc = mr_db_prepare(db, address ? SQL_LIST_OF : SQL_LIST, &stmt, &cx->err);
	size_t cap = 0;

	if (rc)
		return rc;
	if (address)
		mr_stmt_bind_text(stmt, 1, address);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row)
			break;
		rc = read_row(cx, db, stmt, add_row(cx, &list, &cap));
		if (rc)
			return rc;
	}
	*out = list;
	return MR_OK;
}

static void bind_row(struct mr_stmt *stmt, const struct mr_mailbox_registration *row)
{
	mr_stmt_bind_text(stmt, 1, row->id);
	mr_stmt_bind_text(stmt, 2, row->address);
	mr_stmt_bind_text(stmt, 3, row->owner);
	mr_stmt_bind_text(stmt, 4, mr_mailbox_status_name(row->status));
	mr_stmt_bind_text(stmt, 5, mr_mailbox_kind_name(row->kind));
	mr_stmt_bind_text(stmt, 6, row->path);
	mr_stmt_bind_text(stmt, 7, row->entry_path);
	mr_stmt_bind_text(stmt, 8, row->display_name);
	mr_stmt_bind_text(stmt, 9, row->manifest_path_hint);
	mr_stmt_bind_text(stmt, 10, row->role);
	mr_stmt_bind_text(stmt, 11, row->created_at);
	mr_stmt_bind_text(stmt, 12, row->deactivated_at);
	mr_stmt_bind_text(stmt, 13, row->replaced_by);
}

static enum mr_code write_row(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_mailbox_registration *row)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	bind_row(stmt, row);
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_INSERT[] =
	"INSERT INTO mailbox_registrations (" COLUMNS
	") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

enum mr_code mr_mailbox_registration_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registration *row)
{
	return write_row(cx, db, SQL_INSERT, row);
}

static const char SQL_UPDATE[] =
	"UPDATE mailbox_registrations SET address = ?2, owner_principal_id = ?3, status = ?4, "
	"mailbox_kind = ?5, mailbox_path = ?6, mailbox_entry_path = ?7, display_name = ?8, "
	"manifest_path_hint = ?9, role = ?10, created_at_utc = ?11, deactivated_at_utc = ?12, "
	"replaced_by_registration_id = ?13 WHERE registration_id = ?1";

enum mr_code mr_mailbox_registration_update(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registration *row)
{
	enum mr_code rc = write_row(cx, db, SQL_UPDATE, row);

	if (rc)
		return rc;
	if (mr_db_changes(db) == 0)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "no registration has the id %s", row->id);
	return MR_OK;
}

static enum mr_code run_on_id(struct mr_ctx *cx, struct mr_db *db, const char *sql, const char *id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, id);
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_DROP_PROJECTIONS[] =
	"DELETE FROM mailbox_projections WHERE registration_id = ?1";
static const char SQL_DROP_STATE[] = "DELETE FROM mailbox_state WHERE registration_id = ?1";

enum mr_code mr_mailbox_registration_detach(struct mr_ctx *cx, struct mr_db *db, const char *id)
{
	enum mr_code rc = run_on_id(cx, db, SQL_DROP_PROJECTIONS, id);

	return rc ? rc : run_on_id(cx, db, SQL_DROP_STATE, id);
}

static const char SQL_UNREPLACE[] =
	"UPDATE mailbox_registrations SET replaced_by_registration_id = NULL "
	"WHERE replaced_by_registration_id = ?1";
static const char SQL_DELETE[] = "DELETE FROM mailbox_registrations WHERE registration_id = ?1";

/* The foreign keys would do it too, but only where the connection has them on. */
enum mr_code mr_mailbox_registration_delete(struct mr_ctx *cx, struct mr_db *db, const char *id)
{
	enum mr_code rc = mr_mailbox_registration_detach(cx, db, id);

	if (!rc)
		rc = run_on_id(cx, db, SQL_UNREPLACE, id);
	if (!rc)
		rc = run_on_id(cx, db, SQL_DELETE, id);
	if (rc)
		return rc;
	if (mr_db_changes(db) == 0)
		return mr_err_set(&cx->err, MR_ENOTFOUND, "no registration has the id %s", id);
	return MR_OK;
}

/* length() and substr() count the same characters, whatever they are. */
static const char SQL_MOVE_PROJECTIONS[] =
	"UPDATE mailbox_projections SET projection_path = ?3 || "
	"substr(projection_path, length(?2) + 1) "
	"WHERE registration_id = ?1 AND substr(projection_path, 1, length(?2) + 1) = ?2 || '/'";

enum mr_code mr_mailbox_registration_move_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *id, const char *from, const char *to)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_MOVE_PROJECTIONS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, id);
	mr_stmt_bind_text(stmt, 2, from);
	mr_stmt_bind_text(stmt, 3, to);
	return mr_stmt_run(stmt, &cx->err);
}
