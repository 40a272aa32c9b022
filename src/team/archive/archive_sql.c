/* team/archive/archive_sql.c - The archive queue: inserts, lists, counts and deletes its rows. */
#include "team/archive/archive_sql.h"

#include "data/rows.h"

static const char *const kind_names[] = {
	[MR_TEAM_ARCHIVE_PROFILE] = "profile",
	[MR_TEAM_ARCHIVE_DELETED] = "deleted",
	[MR_TEAM_ARCHIVE_MESSAGE] = "message",
	[MR_TEAM_ARCHIVE_INBOX] = "inbox",
	[MR_TEAM_ARCHIVE_RESERVATION] = "reservation",
	[MR_TEAM_ARCHIVE_SLOT] = "slot",
	[MR_TEAM_ARCHIVE_LINKS] = "links",
	[MR_TEAM_ARCHIVE_PROJECT] = "project",
	[MR_TEAM_ARCHIVE_REMOVED] = "removed",
};

static const char SQL_QUEUE[] =
	"INSERT INTO archive_queue (project_id, kind, ref, name, agent, subject, tool, data,"
	" created_ts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/* Only storage roots that may change are written down (archive_place.h). */
static const char SQL_SEVERAL[] = "SELECT 1 FROM archive_places";
/* What other archives have to remove, should one of them take this one's place. */
static const char SQL_REMOVAL[] =
	"INSERT INTO archive_removals (project_id, kind, ref, name, agent, subject, tool, data,"
	" created_ts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

static enum mr_code insert(struct mr_ctx *cx, struct mr_db *db, const char *sql,
	const struct mr_team_archive_item *item)
{
	return mr_rows_send(cx, db, sql,
		MR_BIND(item->project_id, kind_names[item->kind], item->ref,
			item->name ? item->name : "", item->agent ? item->agent : "", item->subject,
			item->tool ? item->tool : "", item->data ? item->data : "",
			mr_clock_wall_us(cx->clock)));
}

enum mr_code mr_team_archive_queue(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_archive_item *item)
{
	bool removes = item->kind == MR_TEAM_ARCHIVE_REMOVED ||
		(item->kind == MR_TEAM_ARCHIVE_DELETED && item->data);
	bool several = false;
	enum mr_code rc = insert(cx, db, SQL_QUEUE, item);

	if (!rc && removes)
		rc = mr_rows_exist(cx, db, SQL_SEVERAL, NULL, &several);
	return rc || !several ? rc : insert(cx, db, SQL_REMOVAL, item);
}

static const char SQL_DEPTH[] = "SELECT count(*) FROM archive_queue";

enum mr_code mr_team_archive_depth(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_DEPTH, NULL, MR_INTO(out), NULL);
}

static const char SQL_ROWS[] =
	"SELECT id, project_id, kind, ref, name, agent, subject, tool, data, created_ts"
	" FROM archive_queue"
	" WHERE project_id = ?1 ORDER BY id LIMIT ?2";

static enum mr_code read_row(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_archive_row *it = to;
	struct mr_team_archive_item *item = &it->item;
	const char *kind;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &item->project_id, &kind, &item->ref, &item->name, &item->agent,
			&item->subject, &item->tool, &item->data, &item->queued_ts));
	for (size_t i = 0; i < MR_LEN(kind_names); i++) {
		if (!mr_str_eq(kind_names[i], kind))
			continue;
		item->kind = (enum mr_team_archive_kind)i;
		return MR_OK;
	}
	return mr_err_set(&cx->err, MR_EFORMAT,
		"the archive's queue has a row of the kind \"%s\", "
		"which this mailroom does not know",
		kind);
}

enum mr_code mr_team_archive_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t limit, struct mr_team_archive_rows *out)
{
	return mr_rows_list(cx, db, SQL_ROWS, MR_BIND(project_id, limit), read_row, MR_LIST(out));
}

static const char SQL_PROJECTS[] =
	"SELECT DISTINCT project_id FROM archive_queue ORDER BY 1" MR_ROWS_ALL;

enum mr_code mr_team_archive_projects(struct mr_ctx *cx, struct mr_db *db, int64_t **out_ids,
	size_t *out_len)
{
	return mr_rows_list(cx, db, SQL_PROJECTS, NULL, mr_row_int, out_ids, out_len,
		sizeof(**out_ids));
}

static const char SQL_OLDEST[] = "SELECT created_ts FROM archive_queue ORDER BY id LIMIT 1";

enum mr_code mr_team_archive_oldest(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_OLDEST, NULL, MR_INTO(out), NULL);
}

static const char SQL_DONE[] = "DELETE FROM archive_queue WHERE id = ?1";

enum mr_code mr_team_archive_done(struct mr_ctx *cx, struct mr_db *db, const int64_t *ids,
	size_t count)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < count; i++)
		rc = mr_rows_send(cx, db, SQL_DONE, MR_BIND(ids[i]));
	return rc;
}
