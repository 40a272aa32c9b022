/*
 * mailbox/registration_sql.c - Reads and writes the rows of mailbox_registrations in index.sqlite.
 */
#include "mailbox/registration_sql.h"

#include "data/rows.h"

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

/* Every column, in the order that read_row() and write_row() have. */
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
static enum mr_code refuse_word(struct mr_ctx *cx, struct mr_stmt *row, const char *id,
	const char *column, const char *word)
{
	return mr_err_set(&cx->err, MR_EFORMAT,
		"database %s: registration %s has the %s \"%s\", which nobody knows; run `mailroom "
		"mailbox repair`",
		mr_db_path(mr_stmt_db(row)), id, column, word ? word : "");
}

static enum mr_code read_row(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_mailbox_registration *it = to;
	const char *status_name, *kind_name;
	size_t status, kind;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->address, &it->owner, &status_name, &kind_name, &it->path,
			&it->entry_path, &it->display_name, &it->manifest_path_hint, &it->role,
			&it->created_at, &it->deactivated_at, &it->replaced_by));
	if (!name_index(status_names, MR_LEN(status_names), status_name, &status))
		return refuse_word(cx, row, it->id, "status", status_name);
	if (!name_index(kind_names, MR_LEN(kind_names), kind_name, &kind))
		return refuse_word(cx, row, it->id, "mailbox kind", kind_name);
	it->status = (enum mr_mailbox_reg_status)status;
	it->kind = (enum mr_mailbox_kind)kind;
	return MR_OK;
}

/* The first row of a query, or NULL. */
static enum mr_code find_one(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_bind *values, const struct mr_mailbox_registration **out)
{
	struct mr_mailbox_registration *row = mr_arena_alloc(cx->arena, sizeof(*row));
	bool found = false;
	enum mr_code rc = mr_rows_first(cx, db, sql, values, read_row, row, &found);

	if (!rc)
		*out = found ? row : NULL;
	return rc;
}

static const char SQL_ACTIVE[] = SELECT "WHERE address = ?1 AND status = 'active'";

enum mr_code mr_mailbox_registration_active(struct mr_ctx *cx, struct mr_db *db,
	const char *address, const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_ACTIVE, MR_BIND(address), out);
}

/* Of one second, the one that was not replaced by the other. */
static const char SQL_OCCUPYING[] =
	SELECT "WHERE mailbox_entry_path = ?1 ORDER BY created_at_utc DESC,"
	       " replaced_by_registration_id IS NOT NULL, registration_id DESC LIMIT 1";

enum mr_code mr_mailbox_registration_occupying(struct mr_ctx *cx, struct mr_db *db,
	const char *entry_path, const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_OCCUPYING, MR_BIND(entry_path), out);
}

static const char SQL_ON_PATH[] =
	SELECT "WHERE mailbox_path = ?1 AND address <> ?2 AND status = 'active' ORDER BY address "
	       "LIMIT 1";

enum mr_code mr_mailbox_registration_on_path(struct mr_ctx *cx, struct mr_db *db, const char *path,
	const char *but_address, const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_ON_PATH, MR_BIND(path, but_address), out);
}

static const char SQL_BY_ID[] = SELECT "WHERE registration_id = ?1";

enum mr_code mr_mailbox_registration_by_id(struct mr_ctx *cx, struct mr_db *db, const char *id,
	const struct mr_mailbox_registration **out)
{
	return find_one(cx, db, SQL_BY_ID, MR_BIND(id), out);
}

static const char SQL_ELSEWHERE[] =
	"SELECT mailbox_entry_path FROM mailbox_registrations "
	"WHERE substr(mailbox_entry_path, 1, length(?1)) <> ?1 ORDER BY mailbox_entry_path LIMIT 1";

enum mr_code mr_mailbox_registration_elsewhere(struct mr_ctx *cx, struct mr_db *db,
	const char *prefix, const char **out)
{
	const char *path = NULL;
	bool found = false;
	enum mr_code rc =
		mr_rows_one(cx, db, SQL_ELSEWHERE, MR_BIND(prefix), MR_INTO(&path), &found);

	if (!rc)
		*out = found ? path : NULL;
	return rc;
}

static const char SQL_LIST[] = SELECT "ORDER BY address, " NEWEST_FIRST;
static const char SQL_LIST_OF[] = SELECT "WHERE address = ?1 ORDER BY " NEWEST_FIRST;

enum mr_code mr_mailbox_registration_list(struct mr_ctx *cx, struct mr_db *db, const char *address,
	struct mr_mailbox_registrations *out)
{
	return mr_rows_list(cx, db, address ? SQL_LIST_OF : SQL_LIST,
		address ? MR_BIND(address) : NULL, read_row, MR_LIST(out));
}

static enum mr_code write_row(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_mailbox_registration *row)
{
	return mr_rows_run(cx, db, sql,
		MR_BIND(row->id, row->address, row->owner, mr_mailbox_status_name(row->status),
			mr_mailbox_kind_name(row->kind), row->path, row->entry_path,
			row->display_name, row->manifest_path_hint, row->role, row->created_at,
			row->deactivated_at, row->replaced_by));
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

static const char SQL_DROP_PROJECTIONS[] =
	"DELETE FROM mailbox_projections WHERE registration_id = ?1";
static const char SQL_DROP_STATE[] = "DELETE FROM mailbox_state WHERE registration_id = ?1";

enum mr_code mr_mailbox_registration_detach(struct mr_ctx *cx, struct mr_db *db, const char *id)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_DROP_PROJECTIONS, MR_BIND(id));

	return rc ? rc : mr_rows_run(cx, db, SQL_DROP_STATE, MR_BIND(id));
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
		rc = mr_rows_run(cx, db, SQL_UNREPLACE, MR_BIND(id));
	if (!rc)
		rc = mr_rows_run(cx, db, SQL_DELETE, MR_BIND(id));
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
	return mr_rows_run(cx, db, SQL_MOVE_PROJECTIONS, MR_BIND(id, from, to));
}
