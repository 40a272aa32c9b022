/* team/archive/rebuild_sql.c */
#include "team/archive/rebuild_sql.h"

#include "team/project_sql.h"

/* An id that is 0, or taken, becomes a new one. */
#define FREE_ID(table)                                                                             \
	"CASE WHEN ?1 > 0 AND NOT EXISTS (SELECT 1 FROM " table " WHERE id = ?1) THEN ?1 END"

static void bind_time(struct mr_stmt *stmt, int index, int64_t us)
{
	if (us)
		mr_stmt_bind_int(stmt, index, us);
	else
		mr_stmt_bind_null(stmt, index);
}

/* Run an insert that returns its id. */
static enum mr_code insert(struct mr_ctx *cx, struct mr_stmt *stmt, int64_t *out_id)
{
	bool row = false;
	enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);
	int64_t id;

	if (rc)
		return rc;
	id = row ? mr_stmt_int(stmt, 0) : 0;
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc)
		*out_id = id;
	return rc;
}

static const char SQL_PROJECT[] =
	"INSERT INTO projects (id, slug, human_key, key_fold, tail, identity_mode, created_at)"
	" VALUES (" FREE_ID("projects") ", ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";

enum mr_code mr_team_restore_project(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_project *project)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_PROJECT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project->id);
	mr_stmt_bind_text(stmt, 2, project->slug);
	mr_stmt_bind_text(stmt, 3, project->human_key);
	mr_stmt_bind_text(stmt, 4, mr_team_project_fold(cx->arena, project->human_key));
	mr_stmt_bind_text(stmt, 5, mr_team_project_tail(cx->arena, project->human_key));
	mr_stmt_bind_text(stmt, 6, project->identity_mode);
	mr_stmt_bind_int(stmt, 7, project->created_at);
	return insert(cx, stmt, &project->id);
}

static const char SQL_AGENT[] =
	"INSERT INTO agents (id, project_id, name, name_fold, program, model, task_description,"
	" inception_ts, last_active_ts, attachments_policy, contact_policy, is_active, deleted_ts,"
	" is_system) VALUES (" FREE_ID("agents") ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
						 " ?12, ?13, ?14) RETURNING id";

enum mr_code mr_team_restore_agent(struct mr_ctx *cx, struct mr_db *db, struct mr_team_agent *agent)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_AGENT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent->id);
	mr_stmt_bind_int(stmt, 2, agent->project_id);
	mr_stmt_bind_text(stmt, 3, agent->name);
	mr_stmt_bind_text(stmt, 4, mr_str_lower(cx->arena, agent->name));
	mr_stmt_bind_text(stmt, 5, agent->program);
	mr_stmt_bind_text(stmt, 6, agent->model);
	mr_stmt_bind_text(stmt, 7, agent->task_description);
	mr_stmt_bind_int(stmt, 8, agent->inception_ts);
	mr_stmt_bind_int(stmt, 9, agent->last_active_ts);
	mr_stmt_bind_text(stmt, 10, mr_team_attachments_policy_name(agent->attachments_policy));
	mr_stmt_bind_text(stmt, 11, mr_team_contact_policy_name(agent->contact_policy));
	mr_stmt_bind_int(stmt, 12, agent->is_active);
	bind_time(stmt, 13, agent->deleted_ts);
	mr_stmt_bind_int(stmt, 14, agent->is_system);
	return insert(cx, stmt, &agent->id);
}

static const char SQL_LEASE[] =
	"INSERT INTO file_reservations (id, project_id, agent_id, path_pattern, prefix, exclusive,"
	" reason, origin, created_ts, expires_ts, released_ts)"
	" VALUES (" FREE_ID("file_reservations") ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
						 " RETURNING id";

enum mr_code mr_team_restore_lease(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_reservation *lease, const char *prefix)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_LEASE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, lease->id);
	mr_stmt_bind_int(stmt, 2, lease->project_id);
	mr_stmt_bind_int(stmt, 3, lease->agent_id);
	mr_stmt_bind_text(stmt, 4, lease->path_pattern);
	mr_stmt_bind_text(stmt, 5, prefix);
	mr_stmt_bind_int(stmt, 6, lease->exclusive);
	mr_stmt_bind_text(stmt, 7, lease->reason);
	mr_stmt_bind_text(stmt, 8, lease->origin);
	mr_stmt_bind_int(stmt, 9, lease->created_ts);
	mr_stmt_bind_int(stmt, 10, lease->expires_ts);
	bind_time(stmt, 11, lease->released_ts);
	return insert(cx, stmt, &lease->id);
}

static const char SQL_LINK_KNOWN[] =
	"SELECT updated_ts FROM agent_links WHERE a_agent_id = ?1 AND b_agent_id = ?2";
static const char SQL_LINK_DROP[] =
	"DELETE FROM agent_links WHERE a_agent_id = ?1 AND b_agent_id = ?2";
static const char SQL_LINK[] =
	"INSERT INTO agent_links (id, a_project_id, a_agent_id, b_project_id, b_agent_id, status,"
	" reason, created_ts, updated_ts, expires_ts, notified_ts, unasked)"
	" VALUES (" FREE_ID("agent_links") ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
					   " RETURNING id";

static enum mr_code insert_link(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_link_record *record)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	const struct mr_team_link *link = &record->link;
	enum mr_code rc = mr_db_prepare(db, SQL_LINK, &stmt, &cx->err);
	int64_t id;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, link->id);
	mr_stmt_bind_int(stmt, 2, link->a_project_id);
	mr_stmt_bind_int(stmt, 3, link->a_agent_id);
	mr_stmt_bind_int(stmt, 4, link->b_project_id);
	mr_stmt_bind_int(stmt, 5, link->b_agent_id);
	mr_stmt_bind_text(stmt, 6, mr_team_link_status_name(link->status));
	mr_stmt_bind_text(stmt, 7, link->reason);
	mr_stmt_bind_int(stmt, 8, link->created_ts);
	mr_stmt_bind_int(stmt, 9, link->updated_ts);
	bind_time(stmt, 10, link->expires_ts);
	bind_time(stmt, 11, record->notified_ts);
	mr_stmt_bind_int(stmt, 12, record->unasked);
	return insert(cx, stmt, &id);
}

enum mr_code mr_team_restore_link(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_link_record *record, bool *added)
{
	struct mr_stmt *known MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_stmt *drop MR_CLEANUP(mr_stmt_done) = NULL;
	const struct mr_team_link *link = &record->link;
	bool row = false;
	enum mr_code rc = mr_db_prepare(db, SQL_LINK_KNOWN, &known, &cx->err);

	if (!rc)
		rc = mr_db_prepare(db, SQL_LINK_DROP, &drop, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_int(known, 1, link->a_agent_id);
	mr_stmt_bind_int(known, 2, link->b_agent_id);
	rc = mr_stmt_step(known, &row, &cx->err);
	*added = !row;
	if (rc || (row && mr_stmt_int(known, 0) >= link->updated_ts))
		return rc;
	mr_stmt_reset(known);
	mr_stmt_bind_int(drop, 1, link->a_agent_id);
	mr_stmt_bind_int(drop, 2, link->b_agent_id);
	rc = mr_stmt_run(drop, &cx->err);
	return rc ? rc : insert_link(cx, db, record);
}

static const char SQL_SLOT[] =
	"INSERT INTO build_slots (id, project_id, agent_id, slot_name, created_ts, expires_ts,"
	" released_ts) VALUES (" FREE_ID("build_slots") ", ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";

enum mr_code mr_team_restore_slot(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot_record *slot)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_SLOT, &stmt, &cx->err);
	int64_t id;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, slot->id);
	mr_stmt_bind_int(stmt, 2, slot->project_id);
	mr_stmt_bind_int(stmt, 3, slot->agent_id);
	mr_stmt_bind_text(stmt, 4, slot->slot_name);
	mr_stmt_bind_int(stmt, 5, slot->created_ts);
	mr_stmt_bind_int(stmt, 6, slot->expires_ts);
	bind_time(stmt, 7, slot->released_ts);
	return insert(cx, stmt, &id);
}
