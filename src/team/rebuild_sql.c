/* team/rebuild_sql.c */
#include "team/rebuild_sql.h"

#include "base/log.h"
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

/* --- from the old database --- */

static const char SQL_ATTACH[] = "ATTACH DATABASE ?1 AS old";
static const char SQL_DETACH[] = "DETACH DATABASE old";

/* A message is known again by its uid, an agent by its project's slug and its name. */
#define SAME_PROJECT "JOIN projects np ON np.slug = op.slug"
#define SAME_AGENT                                                                                 \
	"JOIN old.agents oa ON oa.id = o.agent_id JOIN old.projects op ON op.id = "                \
	"oa.project_id " SAME_PROJECT                                                              \
	" JOIN agents na ON na.project_id = np.id AND na.name_fold = oa.name_fold"
#define SAME_MESSAGE                                                                               \
	"JOIN old.messages om ON om.id = o.message_id JOIN messages nm ON nm.uid = om.uid"

static const char SQL_STATE[] =
	"UPDATE message_recipients SET read_ts = s.read_ts, ack_ts = s.ack_ts"
	" FROM (SELECT nm.id AS message_id, na.id AS agent_id, o.read_ts, o.ack_ts"
	"  FROM old.message_recipients o " SAME_MESSAGE " " SAME_AGENT
	"  WHERE o.read_ts IS NOT NULL OR o.ack_ts IS NOT NULL) s"
	" WHERE message_recipients.message_id = s.message_id"
	" AND message_recipients.agent_id = s.agent_id";

/* Each for itself: one that cannot be read does not keep the others from being. */
static const char *const sql_rest[] = {
	"UPDATE agents SET last_active_ts = s.last_active_ts FROM (SELECT na.id, oa.last_active_ts"
	" FROM old.agents oa JOIN old.projects op ON op.id = oa.project_id " SAME_PROJECT
	" JOIN agents na ON na.project_id = np.id AND na.name_fold = oa.name_fold) s"
	" WHERE agents.id = s.id AND s.last_active_ts > agents.last_active_ts",
	"INSERT OR IGNORE INTO project_keys (key_fold, project_id)"
	" SELECT o.key_fold, np.id FROM old.project_keys o JOIN old.projects op"
	" ON op.id = o.project_id " SAME_PROJECT,
	"INSERT OR IGNORE INTO products (id, product_uid, name, name_fold, created_at)"
	" SELECT id, product_uid, name, name_fold, created_at FROM old.products",
	"INSERT OR IGNORE INTO product_project_links (product_id, project_id, role, created_at)"
	" SELECT o.product_id, np.id, o.role, o.created_at FROM old.product_project_links o"
	" JOIN old.projects op ON op.id = o.project_id " SAME_PROJECT,
	"INSERT OR IGNORE INTO sent_keys (sender_id, key, message_id, created_ts, notes)"
	" SELECT na.id, o.key, nm.id, o.created_ts, o.notes FROM (SELECT sender_id AS agent_id, "
	"key,"
	"  message_id, created_ts, notes FROM old.sent_keys) o " SAME_MESSAGE " " SAME_AGENT,
	"INSERT OR IGNORE INTO ack_escalations (message_id, agent_id, times, reservation_id,"
	" updated_ts) SELECT nm.id, na.id, o.times, o.reservation_id, o.updated_ts"
	" FROM old.ack_escalations o " SAME_MESSAGE " " SAME_AGENT,
	/* Who had to prove to be itself still has to, and who did, did. */
	"UPDATE agents SET token_hash = s.token_hash FROM (SELECT na.id, oa.token_hash"
	" FROM old.agents oa JOIN old.projects op ON op.id = oa.project_id " SAME_PROJECT
	" JOIN agents na ON na.project_id = np.id AND na.name_fold = oa.name_fold"
	" WHERE oa.token_hash IS NOT NULL) s WHERE agents.id = s.id",
	"UPDATE messages SET verified = 1 WHERE uid IN"
	" (SELECT o.uid FROM old.messages o WHERE o.verified = 1)",
	/* No id is used again, of whatever is gone. */
	"UPDATE main.sqlite_sequence SET seq = max(main.sqlite_sequence.seq, o.seq)"
	" FROM old.sqlite_sequence o WHERE o.name = main.sqlite_sequence.name",
	"INSERT INTO main.sqlite_sequence (name, seq) SELECT o.name, o.seq FROM"
	" old.sqlite_sequence o WHERE o.name NOT IN (SELECT name FROM main.sqlite_sequence)",
};

enum mr_code mr_team_restore_state(struct mr_ctx *cx, struct mr_db *db, const char *old,
	int64_t *kept)
{
	struct mr_stmt *attach = NULL;
	struct mr_err ignored;
	enum mr_code rc = mr_db_prepare(db, SQL_ATTACH, &attach, &cx->err);

	*kept = 0;
	if (rc)
		return rc;
	mr_stmt_bind_text(attach, 1, old);
	rc = mr_stmt_run(attach, &cx->err);
	mr_stmt_done(&attach);
	if (rc)
		return rc;
	rc = mr_db_exec(db, SQL_STATE, &cx->err);
	if (!rc)
		*kept = mr_db_changes(db);
	for (size_t i = 0; i < MR_LEN(sql_rest); i++) {
		if (mr_db_exec(db, sql_rest[i], &ignored))
			mr_log(MR_LOG_DEBUG, "team.rebuild.state", "%s", ignored.msg);
	}
	if (mr_db_exec(db, SQL_DETACH, &ignored))
		mr_log(MR_LOG_DEBUG, "team.rebuild.detach", "%s", ignored.msg);
	return rc;
}
