/*
 * team/retire_sql.c - Releases the leases and slots of an agent that is retired, and deletes all
 * rows of one that is purged.
 */
#include "team/retire_sql.h"

#include "data/rows.h"
#include "team/store/schema.h"

static const char SQL_LEASES[] =
	"SELECT path_pattern FROM file_reservations"
	" WHERE agent_id = ?1 AND released_ts IS NULL ORDER BY id" MR_ROWS_ALL;
static const char SQL_RELEASE_LEASES[] = "UPDATE file_reservations SET released_ts = ?2"
					 " WHERE agent_id = ?1 AND released_ts IS NULL";

enum mr_code mr_team_retire_leases(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t now, struct mr_texts *patterns)
{
	enum mr_code rc =
		mr_rows_list(cx, db, SQL_LEASES, MR_BIND(agent_id), mr_row_text, MR_LIST(patterns));

	return rc ? rc : mr_rows_run(cx, db, SQL_RELEASE_LEASES, MR_BIND(agent_id, now));
}

static const char SQL_SLOTS[] = "SELECT id FROM build_slots WHERE agent_id = ?1"
				" AND released_ts IS NULL ORDER BY id" MR_ROWS_ALL;
static const char SQL_RELEASE_SLOTS[] = "UPDATE build_slots SET released_ts = ?2"
					" WHERE agent_id = ?1 AND released_ts IS NULL";

enum mr_code mr_team_retire_slots(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t now, int64_t **out_ids, size_t *out_len)
{
	enum mr_code rc = mr_rows_list(cx, db, SQL_SLOTS, MR_BIND(agent_id), mr_row_int, out_ids,
		out_len, sizeof(**out_ids));

	return rc ? rc : mr_rows_run(cx, db, SQL_RELEASE_SLOTS, MR_BIND(agent_id, now));
}

static const char SQL_MESSAGES[] =
	"SELECT id FROM messages WHERE sender_id = ?1 ORDER BY id" MR_ROWS_ALL;

static enum mr_code remove_words(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id)
{
	struct {
		int64_t *items;
		size_t len;
	} messages = { 0 };
	enum mr_code rc = mr_rows_list(cx, db, SQL_MESSAGES, MR_BIND(agent_id), mr_row_int,
		MR_LIST(&messages));

	for (size_t i = 0; !rc && i < messages.len; i++)
		rc = mr_db_search_remove(db, &mr_team_search_index, messages.items[i], &cx->err);
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
static const char SQL_DELETE_ADDRESSED[] = "DELETE FROM message_groups WHERE message_id IN " SENT;
static const char SQL_DELETE_MEMBER[] = "DELETE FROM agent_group_members WHERE agent_id = ?1";
static const char SQL_DELETE_SESSION[] = "DELETE FROM agent_sessions WHERE agent_id = ?1";
static const char SQL_DELETE_HOOKS[] = "DELETE FROM hook_sessions WHERE agent_id = ?1";
static const char SQL_DELETE_TOLD[] = "DELETE FROM hook_told WHERE agent_id = ?1";
static const char SQL_DELETE_MESSAGES[] = "DELETE FROM messages WHERE sender_id = ?1";
static const char SQL_DELETE_LEASES[] = "DELETE FROM file_reservations WHERE agent_id = ?1";
static const char SQL_DELETE_SLOTS[] = "DELETE FROM build_slots WHERE agent_id = ?1";
static const char SQL_DELETE_LINKS[] =
	"DELETE FROM agent_links WHERE a_agent_id = ?1 OR b_agent_id = ?1";
static const char SQL_DELETE_AGENT[] = "DELETE FROM agents WHERE id = ?1";

enum mr_code mr_team_retire_purge(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_deletion *deletion)
{
	int64_t received = 0, sent = 0, other;
	const struct {
		const char *sql;
		int64_t *changed;
	} steps[] = {
		{ SQL_DELETE_RECEIVED, &received },
		{ SQL_DELETE_RECIPIENTS, &sent },
		{ SQL_DELETE_KEYS, &other },
		{ SQL_DELETE_ESCALATIONS, &other },
		{ SQL_DELETE_ADDRESSED, &other },
		{ SQL_DELETE_MEMBER, &other },
		{ SQL_DELETE_SESSION, &other },
		{ SQL_DELETE_HOOKS, &other },
		{ SQL_DELETE_TOLD, &other },
		{ SQL_DELETE_MESSAGES, &deletion->messages_deleted },
		{ SQL_DELETE_LEASES, &deletion->file_reservations_deleted },
		{ SQL_DELETE_SLOTS, &other },
		{ SQL_DELETE_LINKS, &other },
		{ SQL_DELETE_AGENT, &other },
	};
	enum mr_code rc = remove_words(cx, db, agent_id);

	for (size_t i = 0; !rc && i < MR_LEN(steps); i++) {
		rc = mr_rows_run(cx, db, steps[i].sql, MR_BIND(agent_id));
		*steps[i].changed = mr_db_changes(db);
	}
	deletion->message_recipients_deleted = received + sent;
	return rc;
}
