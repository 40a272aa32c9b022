/* team/agent_sql.c - Reads and writes the rows of agents, and looks agents up by name or token. */
#include "team/agent_sql.h"

#include "data/rows.h"
#include "team/archive/archive_queue.h"
#include "team/error.h"
#include "team/limits.h"
#include "text/digest.h"

#include <string.h>

#define COLUMNS                                                                                    \
	"id, project_id, name, program, model, task_description, inception_ts, last_active_ts, "   \
	"attachments_policy, contact_policy, is_active, deleted_ts, is_system"

static enum mr_code read_agent(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_agent *it = to;
	const char *attachments, *contact;

	*it = (struct mr_team_agent){ 0 };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->project_id, &it->name, &it->program, &it->model,
			&it->task_description, &it->inception_ts, &it->last_active_ts, &attachments,
			&contact, &it->is_active, &it->deleted_ts, &it->is_system));
	mr_team_attachments_policy_of(attachments, &it->attachments_policy);
	mr_team_contact_policy_of(contact, &it->contact_policy);
	return MR_OK;
}

static const char SQL_SEEK[] =
	"SELECT " COLUMNS " FROM agents WHERE project_id = ?1 AND name_fold = ?2";

enum mr_code mr_team_agent_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, bool *found, struct mr_team_agent *out)
{
	*found = false;
	if (strlen(name) > MR_TEAM_NAME_BYTES)
		return MR_OK;
	return mr_rows_first(cx, db, SQL_SEEK, MR_BIND(project_id, mr_str_lower(cx->arena, name)),
		read_agent, out, found);
}

static const char SQL_GET[] = "SELECT " COLUMNS " FROM agents WHERE id = ?1";

enum mr_code mr_team_agent_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_agent *out)
{
	bool found = false;
	enum mr_code rc = mr_rows_first(cx, db, SQL_GET, MR_BIND(id), read_agent, out, &found);

	if (!rc && !found)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no agent with the id %lld",
			(long long)id);
	return rc;
}

static const char SQL_ELSEWHERE[] =
	"SELECT " COLUMNS " FROM agents WHERE name_fold = ?1 AND project_id <> ?2 AND is_active = 1"
	" ORDER BY id LIMIT ?3";

enum mr_code mr_team_agent_elsewhere(struct mr_ctx *cx, struct mr_db *db, int64_t but_project_id,
	const char *name, struct mr_team_agents *out)
{
	return mr_rows_list(cx, db, SQL_ELSEWHERE,
		MR_BIND(mr_str_lower(cx->arena, name), but_project_id, MR_TEAM_LIST_MAX),
		read_agent, MR_LIST(out));
}

static const char SQL_AFTER[] = "SELECT " COLUMNS " FROM agents WHERE id > ?1 AND is_active = 1"
				" ORDER BY id LIMIT ?2";

enum mr_code mr_team_agent_after(struct mr_ctx *cx, struct mr_db *db, int64_t after, int64_t limit,
	struct mr_team_agents *out)
{
	return mr_rows_list(cx, db, SQL_AFTER, MR_BIND(after, limit), read_agent, MR_LIST(out));
}

/* From the prefix to before the prefix with the largest character after it: an index walks that. */
static const char SQL_BEGIN[] = "SELECT min(name) FROM agents WHERE name_fold >= ?1"
				" AND name_fold < ?2 AND is_active = 1"
				" GROUP BY name_fold ORDER BY name_fold LIMIT ?3";
static const char SQL_BEGIN_OF[] =
	"SELECT name FROM agents WHERE project_id = ?4 AND name_fold >= ?1"
	" AND name_fold < ?2 AND is_active = 1 ORDER BY name_fold LIMIT ?3";

enum mr_code mr_team_agent_complete(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *prefix, int64_t limit, struct mr_texts *out)
{
	const char *from = mr_str_lower(cx->arena, prefix);
	const char *to = mr_arena_printf(cx->arena, "%s\xf4\x8f\xbf\xbf", from);

	return project_id ? mr_rows_list(cx, db, SQL_BEGIN_OF, MR_BIND(from, to, limit, project_id),
				    mr_row_text, MR_LIST(out))
			  : mr_rows_list(cx, db, SQL_BEGIN, MR_BIND(from, to, limit), mr_row_text,
				    MR_LIST(out));
}

static const char SQL_LIST[] =
	"SELECT " COLUMNS " FROM agents WHERE project_id = ?1 AND is_active >= ?2"
	" ORDER BY last_active_ts DESC, id DESC" MR_ROWS_ALL;

enum mr_code mr_team_agent_list(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	bool active_only, struct mr_team_agents *out)
{
	return mr_rows_list(cx, db, SQL_LIST, MR_BIND(project_id, active_only), read_agent,
		MR_LIST(out));
}

enum { NAMES_MAX = 10000 };
static const char SQL_NAMES[] =
	"SELECT name FROM agents WHERE project_id = ?1 AND is_active = 1 LIMIT ?2";

enum mr_code mr_team_agent_names(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_texts *out)
{
	return mr_rows_list(cx, db, SQL_NAMES, MR_BIND(project_id, NAMES_MAX), mr_row_text,
		MR_LIST(out));
}

static const char SQL_INSERT[] =
	"INSERT INTO agents (project_id, name, name_fold, program, model, task_description,"
	" inception_ts, last_active_ts, attachments_policy, contact_policy, is_active, is_system)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11)"
	" ON CONFLICT (project_id, name_fold) DO NOTHING RETURNING id";

static enum mr_code insert_row(struct mr_ctx *cx, struct mr_db *db, struct mr_team_agent *row)
{
	bool added;
	enum mr_code rc = mr_rows_returning(cx, db, SQL_INSERT,
		MR_BIND(row->project_id, row->name, mr_str_lower(cx->arena, row->name),
			row->program, row->model, row->task_description, row->inception_ts,
			row->last_active_ts,
			mr_team_attachments_policy_name(row->attachments_policy),
			mr_team_contact_policy_name(row->contact_policy), row->is_system),
		MR_INTO(&row->id), &added);

	if (!rc && !added)
		rc = mr_team_fail(cx, MR_TEAM_NAME_TAKEN, "the name %s is taken in this project",
			row->name);
	return rc;
}

enum mr_code mr_team_agent_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *row, const char *tool, struct mr_team_agent *out)
{
	struct mr_team_agent made = *row;
	int64_t now = mr_clock_wall_us(cx->clock);
	enum mr_code rc;

	made.task_description = row->task_description ? row->task_description : "";
	made.inception_ts = row->inception_ts ? row->inception_ts : now;
	made.last_active_ts = row->last_active_ts ? row->last_active_ts : now;
	made.is_active = true;
	made.deleted_ts = 0;
	rc = insert_row(cx, db, &made);
	if (rc)
		return rc;
	rc = mr_team_archive_queue(cx, db,
		&(struct mr_team_archive_item){
			.project_id = made.project_id,
			.kind = MR_TEAM_ARCHIVE_PROFILE,
			.ref = made.id,
			.agent = made.name,
			.subject = mr_arena_printf(cx->arena, "agent: profile %s", made.name),
			.tool = tool,
		});
	if (!rc)
		*out = made;
	return rc;
}

static const char SQL_TOKEN[] = "SELECT token_hash FROM agents WHERE id = ?1";

enum mr_code mr_team_agent_prove(struct mr_ctx *cx, struct mr_db *db, int64_t id, const char *token,
	struct mr_team_proof *out)
{
	const char *hash;
	enum mr_code rc = mr_rows_one(cx, db, SQL_TOKEN, MR_BIND(id), MR_INTO(&hash), NULL);

	if (rc)
		return rc;
	out->has_token = hash;
	out->is_it = hash && token &&
		mr_str_eq_secret(hash, mr_digest_sha256(cx->arena, mr_bytes_text(token)));
	return MR_OK;
}

/* Looked up by the digest in an index, so the time it takes tells nothing about the token. */
static const char SQL_OF_TOKEN[] = "SELECT id FROM agents WHERE token_hash = ?1";

enum mr_code mr_team_agent_of_token(struct mr_ctx *cx, struct mr_db *db, const char *token,
	int64_t *out_id)
{
	return mr_rows_one(cx, db, SQL_OF_TOKEN,
		MR_BIND(mr_digest_sha256(cx->arena, mr_bytes_text(token))), MR_INTO(out_id), NULL);
}

static const char SQL_STORE_TOKEN[] = "UPDATE agents SET token_hash = ?2 WHERE id = ?1";

enum mr_code mr_team_agent_store_token(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *token)
{
	/* The token is long and random, so a plain digest does not reveal it. */
	return mr_rows_run(cx, db, SQL_STORE_TOKEN,
		MR_BIND(id, mr_digest_sha256(cx->arena, mr_bytes_text(token))));
}

static const char SQL_STORE_ASKED[] = "UPDATE agents SET asked_fold = ?2 WHERE id = ?1";

enum mr_code mr_team_agent_store_asked(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *asked)
{
	/* Longer ones are no name that anybody would come back under. */
	if (strlen(asked) > MR_TEAM_NAME_BYTES)
		return MR_OK;
	return mr_rows_run(cx, db, SQL_STORE_ASKED, MR_BIND(id, mr_str_lower(cx->arena, asked)));
}

static const char SQL_ASKED[] =
	"SELECT name FROM agents WHERE project_id = ?1 AND asked_fold = ?2 AND is_active = 1"
	" ORDER BY id DESC LIMIT ?3";

enum mr_code mr_team_agent_asked(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, struct mr_texts *out)
{
	return mr_rows_list(cx, db, SQL_ASKED,
		MR_BIND(project_id, mr_str_lower(cx->arena, name), MR_TEAM_SUGGESTIONS),
		mr_row_text, MR_LIST(out));
}

static const char SQL_STORE[] =
	"UPDATE agents SET program = ?2, model = ?3, task_description = ?4, last_active_ts = ?5,"
	" attachments_policy = ?6, contact_policy = ?7, is_active = ?8, deleted_ts = ?9"
	" WHERE id = ?1";

enum mr_code mr_team_agent_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *row)
{
	return mr_rows_run(cx, db, SQL_STORE,
		MR_BIND(row->id, row->program, row->model, row->task_description,
			row->last_active_ts,
			mr_team_attachments_policy_name(row->attachments_policy),
			mr_team_contact_policy_name(row->contact_policy), row->is_active,
			mr_bind_or_null(row->deleted_ts)));
}

static const char SQL_TOUCH[] =
	"UPDATE agents SET last_active_ts = ?2 WHERE id = ?1 AND last_active_ts + ?3 <= ?2";

enum mr_code mr_team_agent_touch(struct mr_db *db, int64_t agent_id, int64_t now,
	struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_TOUCH, &stmt, err);

	if (rc)
		return rc;
	mr_stmt_bind(stmt, 1, MR_BIND(agent_id, now, (int64_t)MR_TEAM_ACTIVE_S * 1000000));
	return mr_stmt_run(stmt, err);
}
