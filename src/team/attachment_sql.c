/* team/attachment_sql.c - Keeps attached files in a database that several machines use. */
#include "team/attachment_sql.h"

#include "base/fs.h"
#include "base/log.h"
#include "data/rows.h"

#include <string.h>

struct keeping {
	int64_t project_id;
	const char *path;
	struct mr_bytes data;
};

static const char SQL_KEEP[] = "INSERT INTO attachment_files (project_id, path, data)"
			       " VALUES (?1, ?2, ?3) ON CONFLICT (project_id, path) DO NOTHING";

static enum mr_code keep(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const struct keeping *it = arg;

	return mr_rows_run(cx, db, SQL_KEEP, MR_BIND(it->project_id, it->path, it->data));
}

static const char SQL_HAS[] = "SELECT 1 FROM attachment_files WHERE project_id = ?1 AND path = ?2";

enum mr_code mr_team_attachment_keep(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	const char *path, struct mr_bytes data)
{
	struct keeping keeping = { project_id, path, data };
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	bool has = false;
	enum mr_code rc;

	if (mr_team_database_is_file(team))
		return MR_OK;
	rc = mr_team_read(cx, team, &reader);
	if (!rc)
		rc = mr_rows_exist(cx, reader.db, SQL_HAS, MR_BIND(project_id, path), &has);
	mr_team_read_done(&reader);
	return rc || has ? rc : mr_team_write(cx, team, keep, NULL, &keeping);
}

static const char SQL_KEPT[] =
	"SELECT data FROM attachment_files WHERE project_id = ?1 AND path = ?2";

enum mr_code mr_team_attachment_kept(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *path, struct mr_bytes *out)
{
	bool found = false;
	enum mr_code rc =
		mr_rows_one(cx, db, SQL_KEPT, MR_BIND(project_id, path), MR_INTO(out), &found);

	if (!rc && !found)
		rc = mr_err_set(&cx->err, MR_ENOTFOUND, "%s is not in the database", path);
	return rc;
}

static enum mr_code fetch(struct mr_ctx *cx, struct mr_team *team, int64_t project_id, int dir,
	const char *path)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	const char *slash = strrchr(path, '/');
	struct mr_bytes data;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_attachment_kept(cx, reader.db, project_id, path, &data);
	if (!rc && slash)
		rc = mr_fs_make_dirs(dir, mr_arena_strndup(cx->arena, path, (size_t)(slash - path)),
			0700, &cx->err);
	return rc ? rc : mr_fs_write(dir, path, data, MR_FS_REPLACE, 0600, &cx->err);
}

void mr_team_attachment_fetch(struct mr_ctx *cx, struct mr_team *team, int64_t project_id, int dir,
	const char *path)
{
	struct mr_ctx own = *cx; /* keeps the error */

	if (mr_team_database_is_file(team) || mr_fs_exists(dir, path))
		return;
	if (fetch(&own, team, project_id, dir, path))
		mr_log(MR_LOG_DEBUG, "team.attachment.fetch", "%s", own.err.msg);
}
