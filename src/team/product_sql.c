/*
 * team/product_sql.c - Reads and writes products and their projects, and lists the messages of all
 * projects of a product.
 */
#include "team/product_sql.h"

#include "data/rows.h"
#include "team/inbox_sql.h"
#include "team/limits.h"

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

static void read_project(struct mr_ctx *cx, struct mr_stmt *row, struct mr_team_project *it)
{
	*it = (struct mr_team_project){ 0 };
	mr_stmt_into(row, 4, cx->arena,
		MR_INTO(&it->id, &it->slug, &it->human_key, &it->identity_mode, &it->created_at));
}

/* Rows of one product stand together: each but the first only adds a project. */
static enum mr_code add_row(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_products *list = to;
	struct mr_team_projects *projects;
	int64_t id = mr_stmt_int(row, 0);

	if (list->len == 0 || list->items[list->len - 1].id != id) {
		struct mr_team_product *it;

		list->items = grown(cx->arena, list->items, list->len, sizeof(*list->items));
		it = &list->items[list->len++];
		*it = (struct mr_team_product){ 0 };
		mr_stmt_into(row, 0, cx->arena,
			MR_INTO(&it->id, &it->product_uid, &it->name, &it->created_at));
	}
	if (mr_stmt_is_null(row, 4))
		return MR_OK;
	projects = &list->items[list->len - 1].projects;
	projects->items =
		grown(cx->arena, projects->items, projects->len, sizeof(*projects->items));
	read_project(cx, row, &projects->items[projects->len++]);
	return MR_OK;
}

/* The uid wins over a product of that name. */
static const char SQL_ROW[] =
	"SELECT " PRODUCT_COLUMNS " FROM products p" PRODUCT_JOINS
	" WHERE p.id = (SELECT id FROM (SELECT id, 0 AS place FROM products WHERE product_uid = ?1"
	" UNION ALL SELECT id, 1 FROM products WHERE name_fold = ?2) AS named"
	" ORDER BY place LIMIT 1)"
	" ORDER BY j.id";

enum mr_code mr_team_product_row(struct mr_ctx *cx, struct mr_db *db, const char *uid,
	const char *name, bool *found, struct mr_team_product *out)
{
	struct mr_team_products list = { NULL, 0 };
	enum mr_code rc = mr_rows_each(cx, db, SQL_ROW,
		MR_BIND(uid, name ? mr_str_lower(cx->arena, name) : NULL), add_row, &list);

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
	struct mr_team_products list = { NULL, 0 };
	enum mr_code rc = mr_rows_each(cx, db, SQL_ROWS, MR_BIND(MR_TEAM_PRODUCTS), add_row, &list);

	if (!rc)
		*out = list;
	return rc;
}

static const char SQL_NAMES[] =
	"SELECT product_uid, name FROM products ORDER BY name_fold LIMIT ?1";

static enum mr_code add_names(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_texts *names = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&names->items[names->len], &names->items[names->len + 1]));
	names->len += 2;
	return MR_OK;
}

enum mr_code mr_team_product_names(struct mr_ctx *cx, struct mr_db *db, struct mr_texts *out)
{
	struct mr_texts names = {
		mr_arena_array(cx->arena, 2 * MR_TEAM_PRODUCTS + 1, sizeof(*names.items)), 0
	};
	enum mr_code rc =
		mr_rows_each(cx, db, SQL_NAMES, MR_BIND(MR_TEAM_PRODUCTS), add_names, &names);

	if (!rc)
		*out = names;
	return rc;
}

static const char SQL_INSERT[] = "INSERT INTO products (product_uid, name, name_fold, created_at) "
				 "VALUES (?1, ?2, ?3, ?4) RETURNING id";

enum mr_code mr_team_product_insert(struct mr_ctx *cx, struct mr_db *db, const char *uid,
	const char *name, int64_t *out_id)
{
	return mr_rows_returning(cx, db, SQL_INSERT,
		MR_BIND(uid, name, mr_str_lower(cx->arena, name), mr_clock_wall_us(cx->clock)),
		MR_INTO(out_id), NULL);
}

static const char SQL_ADD[] =
	"INSERT INTO product_project_links (product_id, project_id, role, created_at)"
	" VALUES (?1, ?2, ?3, ?4)"
	" ON CONFLICT (product_id, project_id) DO UPDATE SET role = excluded.role";

enum mr_code mr_team_product_add(struct mr_ctx *cx, struct mr_db *db, int64_t product_id,
	int64_t project_id, const char *role)
{
	return mr_rows_run(cx, db, SQL_ADD,
		MR_BIND(product_id, project_id, role, mr_clock_wall_us(cx->clock)));
}

static const char SQL_REMOVE[] =
	"DELETE FROM product_project_links WHERE product_id = ?1 AND project_id = ?2";

enum mr_code mr_team_product_remove(struct mr_ctx *cx, struct mr_db *db, int64_t product_id,
	int64_t project_id)
{
	return mr_rows_run(cx, db, SQL_REMOVE, MR_BIND(product_id, project_id));
}

#define INBOX_ITEMS                                                                                \
	" SELECT " MR_TEAM_MESSAGE_COLUMNS ", a.name, s.slug, a.is_system,"                        \
	" CASE WHEN ?4 = 1 THEN m.body_md END"                                                     \
	" FROM found f JOIN messages m ON m.id = f.id"                                             \
	" JOIN agents a ON a.id = m.sender_id JOIN projects s ON s.id = a.project_id"              \
	" ORDER BY m.id DESC LIMIT ?2"

/*
 * The newest messages of each project, the newest from other projects to each of its agents, and of
 * these the newest: never more rows than projects and agents times the limit.
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

/* The same for what its readers sent and received, which the limits above might leave out. */
static const char SQL_INBOX_OF[] =
	"WITH found (id) AS ("
	" SELECT m.id FROM messages m JOIN product_project_links l ON l.product_id = ?1"
	"  AND l.project_id = m.project_id"
	"  WHERE m.sender_id IN ids(?5) AND m.id < ?3"
	" UNION SELECT r.message_id FROM message_recipients r JOIN agents b ON b.id = r.agent_id"
	"  JOIN product_project_links l ON l.product_id = ?1 AND l.project_id = b.project_id"
	"  WHERE r.agent_id IN ids(?5) AND r.message_id < ?3)" INBOX_ITEMS;

static enum mr_code read_item(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_team_item_read(row, MR_TEAM_ITEM_COLUMN_COUNT, cx->arena, to);
	return MR_OK;
}

enum mr_code mr_team_product_inbox(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_product *product, int64_t before,
	int64_t limit, bool include_bodies, struct mr_team_items *out)
{
	int64_t most = limit <= 0          ? MR_TEAM_LIST_DEFAULT
		: limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX
					   : limit;
	/* Everybody's inbox has no ?5. */
	const char *ids = mr_team_readers(rights);
	struct mr_bind readers = ids ? mr_bind_ids(ids) : (struct mr_bind){ MR_BIND_END };
	struct mr_team_items found = { 0 };
	enum mr_code rc = mr_rows_list(cx, db, ids ? SQL_INBOX_OF : SQL_INBOX,
		MR_BIND(product->id, most, before > 0 ? before : INT64_MAX, include_bodies,
			readers),
		read_item, MR_LIST(&found));

	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_SHARED[] =
	"SELECT 1 FROM product_project_links a JOIN product_project_links b"
	" ON b.product_id = a.product_id AND b.project_id = ?2 WHERE a.project_id = ?1 LIMIT 1";

enum mr_code mr_team_product_shared(struct mr_ctx *cx, struct mr_db *db, int64_t project_a,
	int64_t project_b, bool *out)
{
	return mr_rows_exist(cx, db, SQL_SHARED, MR_BIND(project_a, project_b), out);
}
