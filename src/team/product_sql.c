/* team/product_sql.c */
#include "team/product_sql.h"

#include "team/limits.h"
#include "team/message_sql.h"
#include "team/name.h"

#include <string.h>

#define PRODUCT_COLUMNS                                                                            \
	"p.id, p.product_uid, p.name, p.created_at,"                                               \
	" j.id, j.slug, j.human_key, j.identity_mode, j.created_at"
#define PRODUCT_JOINS                                                                              \
	" LEFT JOIN product_project_links l ON l.product_id = p.id"                                \
	" LEFT JOIN projects j ON j.id = l.project_id"

static void *grown(struct mr_arena *arena, void *items, size_t len, size_t size)
{
	char *more;

	/* Full at 4, 8, 16, ... */
	if (len != 0 && (len < 4 || (len & (len - 1)) != 0))
		return items;
	more = mr_arena_array(arena, len ? len * 2 : 4, size);
	if (len)
		memcpy(more, items, len * size);
	return more;
}

/* Rows of one product stand together: each but the first only adds a project. */
static void add_row(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_products *list)
{
	struct mr_team_projects *projects;
	int64_t id = mr_stmt_int(stmt, 0);

	if (list->len == 0 || list->items[list->len - 1].id != id) {
		list->items = grown(cx->arena, list->items, list->len, sizeof(*list->items));
		list->items[list->len++] = (struct mr_team_product){
			.id = id,
			.product_uid = mr_stmt_text(stmt, 1, cx->arena),
			.name = mr_stmt_text(stmt, 2, cx->arena),
			.created_at = mr_stmt_int(stmt, 3),
		};
	}
	if (mr_stmt_is_null(stmt, 4))
		return;
	projects = &list->items[list->len - 1].projects;
	projects->items =
		grown(cx->arena, projects->items, projects->len, sizeof(*projects->items));
	projects->items[projects->len++] = (struct mr_team_project){
		.id = mr_stmt_int(stmt, 4),
		.slug = mr_stmt_text(stmt, 5, cx->arena),
		.human_key = mr_stmt_text(stmt, 6, cx->arena),
		.identity_mode = mr_stmt_text(stmt, 7, cx->arena),
		.created_at = mr_stmt_int(stmt, 8),
	};
}

static enum mr_code read_rows(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_products *out)
{
	struct mr_team_products list = { NULL, 0 };

	for (;;) {
		bool row = false;
		enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);

		if (rc)
			return rc;
		if (!row)
			break;
		add_row(cx, stmt, &list);
	}
	*out = list;
	return MR_OK;
}

/* The uid wins over a product of that name. */
static const char SQL_ROW[] =
	"SELECT " PRODUCT_COLUMNS " FROM products p" PRODUCT_JOINS
	" WHERE p.id = (SELECT id FROM (SELECT id, 0 AS place FROM products WHERE product_uid = ?1"
	" UNION ALL SELECT id, 1 FROM products WHERE name_fold = ?2) ORDER BY place LIMIT 1)"
	" ORDER BY j.id";

enum mr_code mr_team_product_row(struct mr_ctx *cx, struct mr_db *db, const char *uid,
	const char *name, bool *found, struct mr_team_product *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_products list;
	enum mr_code rc = mr_db_prepare(db, SQL_ROW, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, uid);
	mr_stmt_bind_text(stmt, 2, name ? mr_str_lower(cx->arena, name) : NULL);
	rc = read_rows(cx, stmt, &list);
	if (rc)
		return rc;
	*found = list.len > 0;
	if (*found)
		*out = list.items[0];
	return MR_OK;
}

static const char SQL_ROWS[] =
	"SELECT " PRODUCT_COLUMNS
	" FROM (SELECT * FROM products ORDER BY name_fold LIMIT ?1) p" PRODUCT_JOINS
	" ORDER BY p.name_fold, j.id";

enum mr_code mr_team_product_rows(struct mr_ctx *cx, struct mr_db *db, struct mr_team_products *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ROWS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, MR_TEAM_PRODUCTS);
	return read_rows(cx, stmt, out);
}

static const char SQL_NAMES[] =
	"SELECT product_uid, name FROM products ORDER BY name_fold LIMIT ?1";

enum mr_code mr_team_product_names(struct mr_ctx *cx, struct mr_db *db, struct mr_texts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_texts names = {
		mr_arena_array(cx->arena, 2 * MR_TEAM_PRODUCTS + 1, sizeof(*names.items)), 0
	};
	enum mr_code rc = mr_db_prepare(db, SQL_NAMES, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, MR_TEAM_PRODUCTS);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row)
			break;
		names.items[names.len++] = mr_stmt_text(stmt, 0, cx->arena);
		names.items[names.len++] = mr_stmt_text(stmt, 1, cx->arena);
	}
	*out = names;
	return MR_OK;
}

static const char SQL_INSERT[] =
	"INSERT INTO products (product_uid, name, name_fold, created_at) VALUES (?1, ?2, ?3, ?4)";

enum mr_code mr_team_product_insert(struct mr_ctx *cx, struct mr_db *db, const char *uid,
	const char *name, int64_t *out_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, uid);
	mr_stmt_bind_text(stmt, 2, name);
	mr_stmt_bind_text(stmt, 3, mr_str_lower(cx->arena, name));
	mr_stmt_bind_int(stmt, 4, mr_clock_wall_us(cx->clock));
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc)
		*out_id = mr_db_last_id(db);
	return rc;
}

static const char SQL_ADD[] =
	"INSERT INTO product_project_links (product_id, project_id, role, created_at)"
	" VALUES (?1, ?2, ?3, ?4)"
	" ON CONFLICT (product_id, project_id) DO UPDATE SET role = excluded.role";

enum mr_code mr_team_product_add(struct mr_ctx *cx, struct mr_db *db, int64_t product_id,
	int64_t project_id, const char *role)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ADD, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, product_id);
	mr_stmt_bind_int(stmt, 2, project_id);
	mr_stmt_bind_text(stmt, 3, role);
	mr_stmt_bind_int(stmt, 4, mr_clock_wall_us(cx->clock));
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_REMOVE[] =
	"DELETE FROM product_project_links WHERE product_id = ?1 AND project_id = ?2";

enum mr_code mr_team_product_remove(struct mr_ctx *cx, struct mr_db *db, int64_t product_id,
	int64_t project_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_REMOVE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, product_id);
	mr_stmt_bind_int(stmt, 2, project_id);
	return mr_stmt_run(stmt, &cx->err);
}

#define INBOX_ITEMS                                                                                \
	" SELECT " MR_TEAM_MESSAGE_COLUMNS ", a.name, s.slug, a.is_system,"                        \
	" iif(?4, m.body_md, NULL)"                                                                \
	" FROM found f JOIN messages m ON m.id = f.id"                                             \
	" JOIN agents a ON a.id = m.sender_id JOIN projects s ON s.id = a.project_id"              \
	" ORDER BY m.id DESC LIMIT ?2"

/*
 * The newest written in each project, the newest from elsewhere openly to each of its agents, and
 * of these the newest: never more rows than projects and agents times the limit.
 */
static const char SQL_INBOX[] =
	"WITH found (id) AS ("
	" SELECT m.id FROM product_project_links l"
	"  JOIN messages m ON m.id IN (SELECT x.id FROM messages x"
	"   WHERE x.project_id = l.project_id AND x.id < ?3 ORDER BY x.id DESC LIMIT ?2)"
	"  WHERE l.product_id = ?1"
	" UNION SELECT m.id FROM product_project_links l JOIN agents b ON b.project_id = "
	"l.project_id"
	"  JOIN messages m ON m.id IN (SELECT r.message_id FROM message_recipients r"
	"   WHERE r.agent_id = b.id AND r.message_id < ?3 AND r.kind <> 'bcc' ORDER BY "
	"r.message_id DESC LIMIT ?2)"
	"  WHERE l.product_id = ?1)" INBOX_ITEMS;

/* The same of what its readers sent and got, wherever a limit would leave out theirs. */
static const char SQL_INBOX_OF[] =
	"WITH found (id) AS ("
	" SELECT m.id FROM messages m JOIN product_project_links l ON l.product_id = ?1"
	"  AND l.project_id = m.project_id"
	"  WHERE m.sender_id IN (SELECT value FROM json_each(?5)) AND m.id < ?3"
	" UNION SELECT r.message_id FROM message_recipients r JOIN agents b ON b.id = r.agent_id"
	"  JOIN product_project_links l ON l.product_id = ?1 AND l.project_id = b.project_id"
	"  WHERE r.agent_id IN (SELECT value FROM json_each(?5)) AND r.message_id < "
	"?3)" INBOX_ITEMS;

enum mr_code mr_team_product_inbox(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_product *product, int64_t before,
	int64_t limit, bool include_bodies, struct mr_team_items *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	const char *readers = mr_team_readers(rights);
	int64_t most = limit <= 0          ? MR_TEAM_LIST_DEFAULT
		: limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX
					   : limit;
	struct mr_team_items found = { .items = mr_arena_array(cx->arena, (size_t)most,
					       sizeof(*found.items)) };
	enum mr_code rc = mr_db_prepare(db, readers ? SQL_INBOX_OF : SQL_INBOX, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, product->id);
	mr_stmt_bind_int(stmt, 2, most);
	mr_stmt_bind_int(stmt, 3, before > 0 ? before : INT64_MAX);
	mr_stmt_bind_int(stmt, 4, include_bodies);
	if (readers)
		mr_stmt_bind_text(stmt, 5, readers);
	for (;;) {
		struct mr_team_item *item = &found.items[found.len];
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row)
			break;
		mr_team_message_read(stmt, 0,
			include_bodies ? MR_TEAM_MESSAGE_COLUMN_COUNT + 3 : -1, cx->arena,
			&item->message);
		item->from = mr_stmt_text(stmt, MR_TEAM_MESSAGE_COLUMN_COUNT, cx->arena);
		item->sender_project =
			mr_stmt_text(stmt, MR_TEAM_MESSAGE_COLUMN_COUNT + 1, cx->arena);
		item->from_human = mr_str_eq(item->from, MR_TEAM_OVERSEER_NAME) &&
			mr_stmt_int(stmt, MR_TEAM_MESSAGE_COLUMN_COUNT + 2) != 0;
		found.len++;
	}
	*out = found;
	return MR_OK;
}

static const char SQL_SHARED[] =
	"SELECT 1 FROM product_project_links a JOIN product_project_links b"
	" ON b.product_id = a.product_id AND b.project_id = ?2 WHERE a.project_id = ?1 LIMIT 1";

enum mr_code mr_team_product_shared(struct mr_ctx *cx, struct mr_db *db, int64_t project_a,
	int64_t project_b, bool *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_SHARED, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_a);
	mr_stmt_bind_int(stmt, 2, project_b);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = row;
	return rc;
}
