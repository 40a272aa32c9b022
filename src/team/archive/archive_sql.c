/* team/archive/archive_sql.c */
#include "team/archive/archive_sql.h"

#include <string.h>

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

enum mr_code mr_team_archive_queue(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_archive_item *item)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_QUEUE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, item->project_id);
	mr_stmt_bind_text(stmt, 2, kind_names[item->kind]);
	mr_stmt_bind_int(stmt, 3, item->ref);
	mr_stmt_bind_text(stmt, 4, item->name ? item->name : "");
	mr_stmt_bind_text(stmt, 5, item->agent ? item->agent : "");
	mr_stmt_bind_text(stmt, 6, item->subject);
	mr_stmt_bind_text(stmt, 7, item->tool ? item->tool : "");
	mr_stmt_bind_text(stmt, 8, item->data ? item->data : "");
	mr_stmt_bind_int(stmt, 9, mr_clock_wall_us(cx->clock));
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_DEPTH[] = "SELECT count(*) FROM archive_queue";

enum mr_code mr_team_archive_depth(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_DEPTH, &stmt, &cx->err);
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = mr_stmt_int(stmt, 0);
	return rc;
}

static const char SQL_ROWS[] =
	"SELECT id, kind, ref, name, agent, subject, tool, data, created_ts FROM archive_queue"
	" WHERE project_id = ?1 ORDER BY id LIMIT ?2";

static enum mr_code read_row(struct mr_ctx *cx, struct mr_stmt *stmt, int64_t project_id,
	struct mr_team_archive_row *out)
{
	const char *kind = mr_stmt_text(stmt, 1, cx->arena);

	for (size_t i = 0; i < MR_LEN(kind_names); i++) {
		if (!mr_str_eq(kind_names[i], kind))
			continue;
		*out = (struct mr_team_archive_row){
			.id = mr_stmt_int(stmt, 0),
			.item = { .project_id = project_id,
				.kind = (enum mr_team_archive_kind)i,
				.ref = mr_stmt_int(stmt, 2),
				.name = mr_stmt_text(stmt, 3, cx->arena),
				.agent = mr_stmt_text(stmt, 4, cx->arena),
				.subject = mr_stmt_text(stmt, 5, cx->arena),
				.tool = mr_stmt_text(stmt, 6, cx->arena),
				.data = mr_stmt_text(stmt, 7, cx->arena),
				.queued_ts = mr_stmt_int(stmt, 8) },
		};
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_archive_rows found = {
		mr_arena_array(cx->arena, (size_t)limit, sizeof(*found.items)), 0
	};
	enum mr_code rc = mr_db_prepare(db, SQL_ROWS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, limit);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row)
			rc = read_row(cx, stmt, project_id, &found.items[found.len]);
		if (rc)
			return rc;
		if (!row)
			break;
		found.len++;
	}
	*out = found;
	return MR_OK;
}

static const char SQL_PROJECTS[] = "SELECT DISTINCT project_id FROM archive_queue ORDER BY 1";
enum { PROJECTS_MAX = 100000 };

enum mr_code mr_team_archive_projects(struct mr_ctx *cx, struct mr_db *db, int64_t **out_ids,
	size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf ids MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_PROJECTS, &stmt, &cx->err);
	bool row = true;

	mr_buf_init(&ids, PROJECTS_MAX * sizeof(int64_t));
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row) {
			int64_t id = mr_stmt_int(stmt, 0);

			mr_buf_add(&ids, &id, sizeof(id));
		}
	}
	if (!rc)
		rc = mr_buf_check(&ids, "projects to archive", &cx->err);
	if (rc)
		return rc;
	*out_len = mr_buf_bytes(&ids).len / sizeof(int64_t);
	*out_ids = mr_arena_array(cx->arena, *out_len, sizeof(int64_t));
	if (*out_len)
		memcpy(*out_ids, mr_buf_bytes(&ids).data, mr_buf_bytes(&ids).len);
	return MR_OK;
}

static const char SQL_OLDEST[] = "SELECT created_ts FROM archive_queue ORDER BY id LIMIT 1";

enum mr_code mr_team_archive_oldest(struct mr_ctx *cx, struct mr_db *db, int64_t *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_OLDEST, &stmt, &cx->err);
	bool row = false;

	if (!rc)
		rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out = row ? mr_stmt_int(stmt, 0) : 0;
	return rc;
}

static const char SQL_DONE[] = "DELETE FROM archive_queue WHERE id = ?1";

enum mr_code mr_team_archive_done(struct mr_ctx *cx, struct mr_db *db, const int64_t *ids,
	size_t count)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_DONE, &stmt, &cx->err);

	for (size_t i = 0; !rc && i < count; i++) {
		mr_stmt_bind_int(stmt, 1, ids[i]);
		rc = mr_stmt_run(stmt, &cx->err);
		mr_stmt_reset(stmt);
	}
	return rc;
}
