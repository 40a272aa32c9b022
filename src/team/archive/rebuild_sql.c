/*
 * team/archive/rebuild_sql.c - Inserts restored projects, agents, leases, links and slots, with
 * their former ids where these are free.
 */
#include "team/archive/rebuild_sql.h"

#include "data/rows.h"
#include "team/project_sql.h"

/* An id that is 0, or taken, becomes a new one. */
#define FREE_ID(table)                                                                             \
	"CASE WHEN ?1 > 0 AND NOT EXISTS (SELECT 1 FROM " table " WHERE id = ?1) THEN ?1 END"

static const char SQL_PROJECT[] =
	"INSERT INTO projects (id, slug, human_key, key_fold, tail, identity_mode, created_at)"
	" VALUES (" FREE_ID("projects") ", ?2, ?3, ?4, ?5, ?6, ?7) RETURNING id";

enum mr_code mr_team_restore_project(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_project *project)
{
	return mr_rows_returning(cx, db, SQL_PROJECT,
		MR_BIND(project->id, project->slug, project->human_key,
			mr_team_project_fold(cx->arena, project->human_key),
			mr_team_project_tail(cx->arena, project->human_key), project->identity_mode,
			project->created_at),
		MR_INTO(&project->id), NULL);
}

static const char SQL_AGENT[] =
	"INSERT INTO agents (id, project_id, name, name_fold, program, model, task_description,"
	" inception_ts, last_active_ts, attachments_policy, contact_policy, is_active, deleted_ts,"
	" is_system) VALUES (" FREE_ID("agents") ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
						 " ?12, ?13, ?14) RETURNING id";

enum mr_code mr_team_restore_agent(struct mr_ctx *cx, struct mr_db *db, struct mr_team_agent *agent)
{
	return mr_rows_returning(cx, db, SQL_AGENT,
		MR_BIND(agent->id, agent->project_id, agent->name,
			mr_str_lower(cx->arena, agent->name), agent->program, agent->model,
			agent->task_description, agent->inception_ts, agent->last_active_ts,
			mr_team_attachments_policy_name(agent->attachments_policy),
			mr_team_contact_policy_name(agent->contact_policy), agent->is_active,
			mr_bind_or_null(agent->deleted_ts), agent->is_system),
		MR_INTO(&agent->id), NULL);
}

static const char SQL_LEASE[] =
	"INSERT INTO file_reservations (id, project_id, agent_id, path_pattern, prefix, exclusive,"
	" reason, origin, created_ts, expires_ts, released_ts)"
	" VALUES (" FREE_ID("file_reservations") ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
						 " RETURNING id";

enum mr_code mr_team_restore_lease(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_reservation *lease, const char *prefix)
{
	return mr_rows_returning(cx, db, SQL_LEASE,
		MR_BIND(lease->id, lease->project_id, lease->agent_id, lease->path_pattern, prefix,
			lease->exclusive, lease->reason, lease->origin, lease->created_ts,
			lease->expires_ts, mr_bind_or_null(lease->released_ts)),
		MR_INTO(&lease->id), NULL);
}

static const char SQL_LINK_KNOWN[] =
	"SELECT updated_ts FROM agent_links WHERE a_agent_id = ?1 AND b_agent_id = ?2";
static const char SQL_LINK_DROP[] =
	"DELETE FROM agent_links WHERE a_agent_id = ?1 AND b_agent_id = ?2";
static const char SQL_LINK[] =
	"INSERT INTO agent_links (id, a_project_id, a_agent_id, b_project_id, b_agent_id, status,"
	" reason, created_ts, updated_ts, expires_ts, notified_ts, unasked)"
	" VALUES (" FREE_ID("agent_links") ", ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";

static enum mr_code insert_link(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_link_record *record)
{
	const struct mr_team_link *link = &record->link;

	return mr_rows_run(cx, db, SQL_LINK,
		MR_BIND(link->id, link->a_project_id, link->a_agent_id, link->b_project_id,
			link->b_agent_id, mr_team_link_status_name(link->status), link->reason,
			link->created_ts, link->updated_ts, mr_bind_or_null(link->expires_ts),
			mr_bind_or_null(record->notified_ts), record->unasked));
}

enum mr_code mr_team_restore_link(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_link_record *record, bool *added)
{
	const struct mr_team_link *link = &record->link;
	int64_t updated_ts;
	bool known = false;
	enum mr_code rc = mr_rows_one(cx, db, SQL_LINK_KNOWN,
		MR_BIND(link->a_agent_id, link->b_agent_id), MR_INTO(&updated_ts), &known);

	*added = !known;
	if (rc || (known && updated_ts >= link->updated_ts))
		return rc;
	rc = mr_rows_run(cx, db, SQL_LINK_DROP, MR_BIND(link->a_agent_id, link->b_agent_id));
	return rc ? rc : insert_link(cx, db, record);
}

static const char SQL_SLOT[] =
	"INSERT INTO build_slots (id, project_id, agent_id, slot_name, created_ts, expires_ts,"
	" released_ts) VALUES (" FREE_ID("build_slots") ", ?2, ?3, ?4, ?5, ?6, ?7)";

enum mr_code mr_team_restore_slot(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_slot_record *slot)
{
	return mr_rows_run(cx, db, SQL_SLOT,
		MR_BIND(slot->id, slot->project_id, slot->agent_id, slot->slot_name,
			slot->created_ts, slot->expires_ts, mr_bind_or_null(slot->released_ts)));
}
