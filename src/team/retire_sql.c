/* team/retire_sql.c */
#include "team/retire_sql.h"

#include "team/store/schema.h"

#include <string.h>

enum { LEFT_MAX = 1 << 24 }; /* bytes of ids or pointers: far more than an agent can hold */

/* Run a statement about (agent, now); `*changed` may be NULL. */
static enum mr_code run(struct mr_ctx *cx, struct mr_db *db, const char *sql, int64_t agent_id,
	int64_t now, int64_t *changed)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	if (now)
		mr_stmt_bind_int(stmt, 2, now);
	rc = mr_stmt_run(stmt, &cx->err);
	if (!rc && changed)
		*changed = mr_db_changes(db);
	return rc;
}

/* The integers a statement about an agent gives. */
static enum mr_code ids(struct mr_ctx *cx, struct mr_db *db, const char *sql, int64_t agent_id,
	int64_t **out, size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf found MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);
	bool row = true;

	mr_buf_init(&found, LEFT_MAX);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row) {
			int64_t id = mr_stmt_int(stmt, 0);

			mr_buf_add(&found, &id, sizeof(id));
		}
	}
	if (!rc)
		rc = mr_buf_check(&found, "what an agent leaves", &cx->err);
	if (rc)
		return rc;
	*out_len = found.len / sizeof(int64_t);
	*out = mr_arena_array(cx->arena, *out_len, sizeof(int64_t));
	if (*out_len)
		memcpy(*out, found.data, found.len);
	return MR_OK;
}

static const char SQL_LEASES[] = "SELECT path_pattern FROM file_reservations"
				 " WHERE agent_id = ?1 AND released_ts IS NULL ORDER BY id";
static const char SQL_RELEASE_LEASES[] = "UPDATE file_reservations SET released_ts = ?2"
					 " WHERE agent_id = ?1 AND released_ts IS NULL";

static enum mr_code read_patterns(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_texts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf found MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_LEASES, &stmt, &cx->err);
	bool row = true;

	mr_buf_init(&found, LEFT_MAX);
	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, agent_id);
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row) {
			const char *pattern = mr_stmt_text(stmt, 0, cx->arena);

			mr_buf_add(&found, &pattern, sizeof(pattern));
		}
	}
	if (!rc)
		rc = mr_buf_check(&found, "the leases of an agent", &cx->err);
	if (rc)
		return rc;
	out->len = found.len / sizeof(*out->items);
	out->items = mr_arena_array(cx->arena, out->len + 1, sizeof(*out->items));
	if (out->len)
		memcpy(out->items, found.data, found.len);
	return MR_OK;
}

enum mr_code mr_team_retire_leases(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t now, struct mr_texts *patterns)
{
	enum mr_code rc = read_patterns(cx, db, agent_id, patterns);

	return rc ? rc : run(cx, db, SQL_RELEASE_LEASES, agent_id, now, NULL);
}

static const char SQL_SLOTS[] = "SELECT id FROM build_slots"
				" WHERE agent_id = ?1 AND released_ts IS NULL ORDER BY id";
static const char SQL_RELEASE_SLOTS[] = "UPDATE build_slots SET released_ts = ?2"
					" WHERE agent_id = ?1 AND released_ts IS NULL";

enum mr_code mr_team_retire_slots(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t now, int64_t **out_ids, size_t *out_len)
{
	enum mr_code rc = ids(cx, db, SQL_SLOTS, agent_id, out_ids, out_len);

	return rc ? rc : run(cx, db, SQL_RELEASE_SLOTS, agent_id, now, NULL);
}

static const char SQL_MESSAGES[] = "SELECT id FROM messages WHERE sender_id = ?1 ORDER BY id";

static enum mr_code remove_words(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id)
{
	int64_t *messages = NULL;
	size_t count = 0;
	enum mr_code rc = ids(cx, db, SQL_MESSAGES, agent_id, &messages, &count);

	for (size_t i = 0; !rc && i < count; i++)
		rc = mr_db_search_remove(db, &mr_team_search_index, messages[i], &cx->err);
	return rc;
}

/* In this order nothing is left that names what is gone. */
#define SENT "(SELECT id FROM messages WHERE sender_id = ?1)"
static const char SQL_DELETE_RECEIVED[] = "DELETE FROM message_recipients WHERE agent_id = ?1";
static const char SQL_DELETE_RECIPIENTS[] =
	"DELETE FROM message_recipients WHERE message_id IN " SENT;
static const char SQL_DELETE_KEYS[] =
	"DELETE FROM sent_keys WHERE sender_id = ?1 OR message_id IN " SENT;
static const char SQL_DELETE_ESCALATIONS[] =
	"DELETE FROM ack_escalations WHERE agent_id = ?1 OR message_id IN " SENT;
static const char SQL_DELETE_MESSAGES[] = "DELETE FROM messages WHERE sender_id = ?1";
static const char SQL_DELETE_LEASES[] = "DELETE FROM file_reservations WHERE agent_id = ?1";
static const char SQL_DELETE_SLOTS[] = "DELETE FROM build_slots WHERE agent_id = ?1";
static const char SQL_DELETE_LINKS[] =
	"DELETE FROM agent_links WHERE a_agent_id = ?1 OR b_agent_id = ?1";
static const char SQL_DELETE_AGENT[] = "DELETE FROM agents WHERE id = ?1";

enum mr_code mr_team_retire_purge(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_deletion *deletion)
{
	int64_t received = 0, sent = 0;
	const struct {
		const char *sql;
		int64_t *changed;
	} steps[] = {
		{ SQL_DELETE_RECEIVED, &received },
		{ SQL_DELETE_RECIPIENTS, &sent },
		{ SQL_DELETE_KEYS, NULL },
		{ SQL_DELETE_ESCALATIONS, NULL },
		{ SQL_DELETE_MESSAGES, &deletion->messages_deleted },
		{ SQL_DELETE_LEASES, &deletion->file_reservations_deleted },
		{ SQL_DELETE_SLOTS, NULL },
		{ SQL_DELETE_LINKS, NULL },
		{ SQL_DELETE_AGENT, NULL },
	};
	enum mr_code rc = remove_words(cx, db, agent_id);

	for (size_t i = 0; !rc && i < MR_LEN(steps); i++)
		rc = run(cx, db, steps[i].sql, agent_id, 0, steps[i].changed);
	deletion->message_recipients_deleted = received + sent;
	return rc;
}
