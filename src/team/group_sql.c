/* team/group_sql.c - Reads and writes named groups of agents and their members. */
#include "team/group_sql.h"

#include "data/rows.h"
#include "team/limits.h"

static const char SQL_SEEK[] =
	"SELECT id, created_ts FROM agent_groups WHERE project_id = ?1 AND name = ?2";

enum mr_code mr_team_group_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, int64_t *out_id, int64_t *out_created_ts)
{
	return mr_rows_one(cx, db, SQL_SEEK, MR_BIND(project_id, mr_str_lower(cx->arena, name)),
		MR_INTO(out_id, out_created_ts), NULL);
}

static const char SQL_NAMES[] =
	"SELECT a.name FROM agent_group_members g JOIN agents a ON a.id = g.agent_id"
	" WHERE g.group_id = ?1 AND a.is_active = 1 ORDER BY a.name_fold LIMIT ?2";

enum mr_code mr_team_group_names(struct mr_ctx *cx, struct mr_db *db, int64_t group_id,
	struct mr_texts *out)
{
	return mr_rows_list(cx, db, SQL_NAMES, MR_BIND(group_id, MR_TEAM_RECIPIENTS), mr_row_text,
		MR_LIST(out));
}

static const char SQL_HAS[] =
	"SELECT 1 FROM agent_group_members WHERE group_id = ?1 AND agent_id = ?2";

enum mr_code mr_team_group_has(struct mr_ctx *cx, struct mr_db *db, int64_t group_id,
	int64_t agent_id, bool *out)
{
	return mr_rows_exist(cx, db, SQL_HAS, MR_BIND(group_id, agent_id), out);
}

static const char SQL_COUNT[] = "SELECT count(*) FROM agent_groups WHERE project_id = ?1";

enum mr_code mr_team_group_count(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *out)
{
	return mr_rows_one(cx, db, SQL_COUNT, MR_BIND(project_id), MR_INTO(out), NULL);
}

static const char SQL_INSERT[] =
	"INSERT INTO agent_groups (project_id, name, created_ts) VALUES (?1, ?2, ?3) RETURNING id";

enum mr_code mr_team_group_insert(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, int64_t *out_id)
{
	return mr_rows_returning(cx, db, SQL_INSERT,
		MR_BIND(project_id, name, mr_clock_wall_us(cx->clock)), MR_INTO(out_id), NULL);
}

static const char SQL_ADD[] = "INSERT INTO agent_group_members (group_id, agent_id) VALUES (?1, ?2)"
			      " ON CONFLICT (group_id, agent_id) DO NOTHING";

enum mr_code mr_team_group_add(struct mr_ctx *cx, struct mr_db *db, int64_t group_id,
	int64_t agent_id)
{
	return mr_rows_run(cx, db, SQL_ADD, MR_BIND(group_id, agent_id));
}

static const char SQL_EMPTY[] = "DELETE FROM agent_group_members WHERE group_id = ?1";

enum mr_code mr_team_group_empty(struct mr_ctx *cx, struct mr_db *db, int64_t group_id)
{
	return mr_rows_run(cx, db, SQL_EMPTY, MR_BIND(group_id));
}

static const char SQL_DELETE[] = "DELETE FROM agent_groups WHERE id = ?1";

enum mr_code mr_team_group_delete(struct mr_ctx *cx, struct mr_db *db, int64_t group_id)
{
	enum mr_code rc = mr_team_group_empty(cx, db, group_id);

	return rc ? rc : mr_rows_run(cx, db, SQL_DELETE, MR_BIND(group_id));
}

static const char SQL_ROWS[] = "SELECT id, name, created_ts FROM agent_groups WHERE project_id = ?1"
			       " ORDER BY name LIMIT ?2";

static enum mr_code read_group(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_group *it = to;

	*it = (struct mr_team_group){ 0 };
	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->id, &it->name, &it->created_ts));
	return MR_OK;
}

enum mr_code mr_team_group_rows(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_team_groups *out)
{
	return mr_rows_list(cx, db, SQL_ROWS, MR_BIND(project_id, MR_TEAM_GROUPS), read_group,
		MR_LIST(out));
}
