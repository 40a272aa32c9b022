/* team/agent_sql.c */
#include "team/agent_sql.h"

#include "team/archive/archive_queue.h"
#include "team/error.h"
#include "team/limits.h"
#include "text/digest.h"

#include <string.h>

#define COLUMNS                                                                                    \
	"id, project_id, name, program, model, task_description, inception_ts, last_active_ts, "   \
	"attachments_policy, contact_policy, is_active, deleted_ts, is_system"

static struct mr_team_agent read_row(struct mr_ctx *cx, struct mr_stmt *stmt)
{
	struct mr_team_agent row = {
		.id = mr_stmt_int(stmt, 0),
		.project_id = mr_stmt_int(stmt, 1),
		.name = mr_stmt_text(stmt, 2, cx->arena),
		.program = mr_stmt_text(stmt, 3, cx->arena),
		.model = mr_stmt_text(stmt, 4, cx->arena),
		.task_description = mr_stmt_text(stmt, 5, cx->arena),
		.inception_ts = mr_stmt_int(stmt, 6),
		.last_active_ts = mr_stmt_int(stmt, 7),
		.is_active = mr_stmt_int(stmt, 10),
		.deleted_ts = mr_stmt_int(stmt, 11),
		.is_system = mr_stmt_int(stmt, 12),
	};

	mr_team_attachments_policy_of(mr_stmt_text(stmt, 8, cx->arena), &row.attachments_policy);
	mr_team_contact_policy_of(mr_stmt_text(stmt, 9, cx->arena), &row.contact_policy);
	return row;
}

static const char SQL_SEEK[] =
	"SELECT " COLUMNS " FROM agents WHERE project_id = ?1 AND name_fold = ?2";

enum mr_code mr_team_agent_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, bool *found, struct mr_team_agent *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc;

	*found = false;
	if (strlen(name) > MR_TEAM_NAME_BYTES)
		return MR_OK;
	rc = mr_db_prepare(db, SQL_SEEK, &stmt, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_text(stmt, 2, mr_str_lower(cx->arena, name));
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (!rc && *found)
		*out = read_row(cx, stmt);
	return rc;
}

static const char SQL_GET[] = "SELECT " COLUMNS " FROM agents WHERE id = ?1";

enum mr_code mr_team_agent_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_agent *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_GET, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	if (!row)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no agent with the id %lld",
			(long long)id);
	*out = read_row(cx, stmt);
	return MR_OK;
}

static enum mr_code read_rows(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_agents *out)
{
	struct mr_team_agents rows = { NULL, 0 };
	size_t room = 0;

	for (;;) {
		bool row = false;
		enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);

		if (rc)
			return rc;
		if (!row)
			break;
		if (rows.len == room) {
			struct mr_team_agent *more;

			room = room ? 2 * room : 16;
			more = mr_arena_array(cx->arena, room, sizeof(*more));
			if (rows.len)
				memcpy(more, rows.items, rows.len * sizeof(*more));
			rows.items = more;
		}
		rows.items[rows.len++] = read_row(cx, stmt);
	}
	*out = rows;
	return MR_OK;
}

static const char SQL_ELSEWHERE[] =
	"SELECT " COLUMNS " FROM agents WHERE name_fold = ?1 AND project_id <> ?2 AND is_active = 1"
	" ORDER BY id LIMIT ?3";

enum mr_code mr_team_agent_elsewhere(struct mr_ctx *cx, struct mr_db *db, int64_t but_project_id,
	const char *name, struct mr_team_agents *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ELSEWHERE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, mr_str_lower(cx->arena, name));
	mr_stmt_bind_int(stmt, 2, but_project_id);
	mr_stmt_bind_int(stmt, 3, MR_TEAM_LIST_MAX);
	return read_rows(cx, stmt, out);
}

static const char SQL_AFTER[] = "SELECT " COLUMNS " FROM agents WHERE id > ?1 AND is_active = 1"
				" ORDER BY id LIMIT ?2";

enum mr_code mr_team_agent_after(struct mr_ctx *cx, struct mr_db *db, int64_t after, int64_t limit,
	struct mr_team_agents *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_AFTER, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, after);
	mr_stmt_bind_int(stmt, 2, limit);
	return read_rows(cx, stmt, out);
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	const char *fold = mr_str_lower(cx->arena, prefix);
	struct mr_texts names = {
		mr_arena_array(cx->arena, (size_t)limit + 1, sizeof(*names.items)), 0
	};
	enum mr_code rc = mr_db_prepare(db, project_id ? SQL_BEGIN_OF : SQL_BEGIN, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, fold);
	mr_stmt_bind_text(stmt, 2, mr_arena_printf(cx->arena, "%s\xf4\x8f\xbf\xbf", fold));
	mr_stmt_bind_int(stmt, 3, limit);
	if (project_id)
		mr_stmt_bind_int(stmt, 4, project_id);
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row || (int64_t)names.len == limit)
			break;
		names.items[names.len++] = mr_stmt_text(stmt, 0, cx->arena);
	}
	*out = names;
	return MR_OK;
}

static const char SQL_LIST[] =
	"SELECT " COLUMNS " FROM agents WHERE project_id = ?1 AND is_active >= ?2"
	" ORDER BY last_active_ts DESC, id DESC";

enum mr_code mr_team_agent_list(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	bool active_only, struct mr_team_agents *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_LIST, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, active_only);
	return read_rows(cx, stmt, out);
}

enum { NAMES_MAX = 10000 };
static const char SQL_NAMES[] =
	"SELECT name FROM agents WHERE project_id = ?1 AND is_active = 1 LIMIT ?2";

enum mr_code mr_team_agent_names(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	struct mr_texts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_texts names = { mr_arena_array(cx->arena, NAMES_MAX + 1, sizeof(*names.items)),
		0 };
	enum mr_code rc = mr_db_prepare(db, SQL_NAMES, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, NAMES_MAX);
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row)
			names.items[names.len++] = mr_stmt_text(stmt, 0, cx->arena);
	}
	if (!rc)
		*out = names;
	return rc;
}

static const char SQL_INSERT[] =
	"INSERT INTO agents (project_id, name, name_fold, program, model, task_description,"
	" inception_ts, last_active_ts, attachments_policy, contact_policy, is_active, is_system)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11)"
	" ON CONFLICT (project_id, name_fold) DO NOTHING";

static enum mr_code insert_row(struct mr_ctx *cx, struct mr_db *db, const struct mr_team_agent *row)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, row->project_id);
	mr_stmt_bind_text(stmt, 2, row->name);
	mr_stmt_bind_text(stmt, 3, mr_str_lower(cx->arena, row->name));
	mr_stmt_bind_text(stmt, 4, row->program);
	mr_stmt_bind_text(stmt, 5, row->model);
	mr_stmt_bind_text(stmt, 6, row->task_description);
	mr_stmt_bind_int(stmt, 7, row->inception_ts);
	mr_stmt_bind_int(stmt, 8, row->last_active_ts);
	mr_stmt_bind_text(stmt, 9, mr_team_attachments_policy_name(row->attachments_policy));
	mr_stmt_bind_text(stmt, 10, mr_team_contact_policy_name(row->contact_policy));
	mr_stmt_bind_int(stmt, 11, row->is_system);
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc && mr_db_changes(db) == 0)
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
	made.id = mr_db_last_id(db);
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
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_TOKEN, &stmt, &cx->err);
	const char *hash;
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	hash = row ? mr_stmt_text(stmt, 0, cx->arena) : NULL;
	out->has_token = hash;
	out->is_it = hash && token &&
		mr_str_eq_secret(hash, mr_digest_sha256(cx->arena, mr_bytes_text(token)));
	return MR_OK;
}

/* By the digest, in an index: what time that takes tells nothing about a token. */
static const char SQL_OF_TOKEN[] = "SELECT id FROM agents WHERE token_hash = ?1";

enum mr_code mr_team_agent_of_token(struct mr_ctx *cx, struct mr_db *db, const char *token,
	int64_t *out_id)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_OF_TOKEN, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, mr_digest_sha256(cx->arena, mr_bytes_text(token)));
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc)
		*out_id = row ? mr_stmt_int(stmt, 0) : 0;
	return rc;
}

static const char SQL_STORE_TOKEN[] = "UPDATE agents SET token_hash = ?2 WHERE id = ?1";

enum mr_code mr_team_agent_store_token(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *token)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_STORE_TOKEN, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	/* Long and random: a plain digest tells nobody what it was. */
	mr_stmt_bind_text(stmt, 2, mr_digest_sha256(cx->arena, mr_bytes_text(token)));
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_STORE[] =
	"UPDATE agents SET program = ?2, model = ?3, task_description = ?4, last_active_ts = ?5,"
	" attachments_policy = ?6, contact_policy = ?7, is_active = ?8, deleted_ts = ?9"
	" WHERE id = ?1";

enum mr_code mr_team_agent_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *row)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_STORE, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, row->id);
	mr_stmt_bind_text(stmt, 2, row->program);
	mr_stmt_bind_text(stmt, 3, row->model);
	mr_stmt_bind_text(stmt, 4, row->task_description);
	mr_stmt_bind_int(stmt, 5, row->last_active_ts);
	mr_stmt_bind_text(stmt, 6, mr_team_attachments_policy_name(row->attachments_policy));
	mr_stmt_bind_text(stmt, 7, mr_team_contact_policy_name(row->contact_policy));
	mr_stmt_bind_int(stmt, 8, row->is_active);
	if (row->deleted_ts)
		mr_stmt_bind_int(stmt, 9, row->deleted_ts);
	else
		mr_stmt_bind_null(stmt, 9);
	return mr_stmt_run(stmt, &cx->err);
}

static const char SQL_TOUCH[] =
	"UPDATE agents SET last_active_ts = ?2 WHERE id = ?1 AND last_active_ts <= ?2 - ?3";

enum mr_code mr_team_agent_touch(struct mr_db *db, int64_t agent_id, int64_t now,
	struct mr_err *err)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_TOUCH, &stmt, err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	mr_stmt_bind_int(stmt, 2, now);
	mr_stmt_bind_int(stmt, 3, (int64_t)MR_TEAM_ACTIVE_S * 1000000);
	return mr_stmt_run(stmt, err);
}
