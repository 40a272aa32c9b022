/*
 * team/archive/rebuild_carry_sql.c - The SQL of rebuild_carry.c, with the old database attached as
 * `old`.
 */
#include "team/archive/rebuild_carry_sql.h"

#include "base/log.h"
#include "data/rows.h"

/* A message is known again by its uid, an agent by its project's slug and its name. */
#define SAME_PROJECT "JOIN main.projects np ON np.slug = op.slug"
#define SAME_AGENT                                                                                 \
	"JOIN old.agents oa ON oa.id = o.agent_id JOIN old.projects op ON op.id = "                \
	"oa.project_id " SAME_PROJECT                                                              \
	" JOIN main.agents na ON na.project_id = np.id AND na.name_fold = oa.name_fold"
#define SAME_MESSAGE                                                                               \
	"JOIN old.messages om ON om.id = o.message_id JOIN main.messages nm ON nm.uid = om.uid"
/* An agent's id in the new database, as a value. */
#define NEW_AGENT(id)                                                                              \
	"(SELECT n.id FROM old.agents x JOIN old.projects xp ON xp.id = x.project_id"              \
	" JOIN main.projects np ON np.slug = xp.slug JOIN main.agents n ON n.project_id = np.id"   \
	" AND n.name_fold = x.name_fold WHERE x.id = " id ")"
#define NEW_PROJECT(id)                                                                            \
	"(SELECT np.id FROM old.projects xp JOIN main.projects np ON np.slug = xp.slug"            \
	" WHERE xp.id = " id ")"
/* An id that is taken becomes a new one. */
#define FREE_ID(table) "CASE WHEN o.id IN (SELECT id FROM main." table ") THEN NULL ELSE o.id END"
#define NEW_ROW(table) "NOT IN (SELECT id FROM temp.known_" table ")"

/* --- the old one --- */

static const char SQL_ATTACH[] = "ATTACH DATABASE ?1 AS old";
static const char SQL_DETACH[] = "DETACH DATABASE old";
/* A file that is no database, or has no tables, is found out when it is first asked. */
static const char SQL_LOOK[] = "SELECT 1 FROM old.messages WHERE 0";

enum mr_code mr_team_carry_attach(struct mr_ctx *cx, struct mr_db *db, const char *path)
{
	enum mr_code rc = mr_rows_run(cx, db, SQL_ATTACH, MR_BIND(path));

	if (rc)
		return rc;
	rc = mr_db_exec(db, SQL_LOOK, &cx->err);
	if (rc)
		mr_team_carry_detach(db);
	return rc;
}

void mr_team_carry_detach(struct mr_db *db)
{
	struct mr_err ignored;

	if (mr_db_exec(db, SQL_DETACH, &ignored))
		mr_log(MR_LOG_DEBUG, "team.rebuild.detach", "%s", ignored.msg);
}

static const char SQL_BEGIN[] =
	"CREATE TEMP TABLE purged (slug TEXT NOT NULL, name_fold TEXT NOT NULL);"
	"CREATE TEMP TABLE lost (id INTEGER PRIMARY KEY, what TEXT NOT NULL);"
	"CREATE TEMP TABLE known_messages AS SELECT id FROM main.messages;"
	"CREATE TEMP TABLE known_projects AS SELECT id FROM main.projects;"
	"CREATE TEMP TABLE known_agents AS SELECT id FROM main.agents;"
	"CREATE TEMP TABLE known_file_reservations AS SELECT id FROM main.file_reservations;"
	"CREATE TEMP TABLE known_agent_links AS SELECT id FROM main.agent_links;"
	"CREATE TEMP TABLE known_build_slots AS SELECT id FROM main.build_slots";

enum mr_code mr_team_carry_begin(struct mr_ctx *cx, struct mr_db *db)
{
	return mr_db_exec(db, SQL_BEGIN, &cx->err);
}

static const char SQL_PURGED[] = "INSERT INTO temp.purged (slug, name_fold) VALUES (?1, ?2)";

enum mr_code mr_team_carry_purged(struct mr_ctx *cx, struct mr_db *db, const char *slug,
	const char *name_fold)
{
	return mr_rows_run(cx, db, SQL_PURGED, MR_BIND(slug, name_fold));
}

/* --- rows that are taken over --- */

const struct mr_team_carry_step mr_team_carry_first[] = {
	{ "its projects",
		"INSERT OR IGNORE INTO main.projects (id, slug, human_key, key_fold, tail,"
		" identity_mode, created_at) SELECT " FREE_ID(
			"projects") ", o.slug, o.human_key, o.key_fold, o.tail, o.identity_mode, "
				    "o.created_at"
				    " FROM old.projects o WHERE o.slug NOT IN (SELECT slug FROM "
				    "main.projects)" },
	/* Projects without a project.json. */
	{ "its projects",
		"UPDATE OR IGNORE main.projects"
		" SET human_key = o.human_key, key_fold = o.key_fold, tail = o.tail,"
		" identity_mode = o.identity_mode, created_at = o.created_at"
		" FROM old.projects o WHERE o.slug = projects.slug"
		" AND projects.human_key = projects.slug AND o.human_key <> o.slug" },
	{ "its agents",
		"INSERT OR IGNORE INTO main.agents (id, project_id, name, name_fold, program,"
		" model, task_description, inception_ts, last_active_ts, attachments_policy,"
		" contact_policy, is_active, deleted_ts, is_system) SELECT " FREE_ID(
			"agents") ", np.id, o.name, o.name_fold, o.program, o.model, "
				  "o.task_description,"
				  " o.inception_ts, o.last_active_ts, o.attachments_policy, "
				  "o.contact_policy,"
				  " o.is_active, o.deleted_ts, o.is_system FROM old.agents o"
				  " JOIN old.projects op ON op.id = o.project_id " SAME_PROJECT
				  " WHERE NOT EXISTS (SELECT 1 FROM main.agents na "
				  " WHERE na.project_id = np.id AND na.name_fold = o.name_fold)"
				  " AND NOT EXISTS (SELECT 1 FROM temp.purged p  WHERE p.slug = "
				  "op.slug"
				  " AND p.name_fold = o.name_fold)" },
	/* Agents without a profile. */
	{ "its agents",
		"UPDATE main.agents SET program = s.program, model = s.model, task_description"
		" = s.task_description, inception_ts = s.inception_ts, attachments_policy ="
		" s.attachments_policy, contact_policy = s.contact_policy, is_active ="
		" s.is_active, deleted_ts = s.deleted_ts, is_system = s.is_system"
		" FROM (SELECT na.id AS new_id, oa.* FROM old.agents oa"
		" JOIN old.projects op  ON op.id = oa.project_id " SAME_PROJECT
		"  JOIN main.agents na ON na.project_id = np.id"
		" AND na.name_fold = oa.name_fold) s WHERE agents.id = s.new_id"
		" AND agents.program = 'unknown' AND agents.model = 'unknown'" },
	{ 0 },
};

/* Numbers in their threads follow when all are there: until then those below 0 are free. */
#define MESSAGES_WHERE(condition)                                                                  \
	"INSERT OR IGNORE INTO main.messages (id, uid, project_id, sender_id, thread_id,"          \
	" thread_seq, reply_to, subject, importance, ack_required, created_ts, verified,"          \
	" attachments, attachment_bytes, body_md)"                                                 \
	" SELECT " FREE_ID(                                                                        \
		"messages") ", o.uid, np.id, na.id, o.thread_id,"                                  \
			    " CASE WHEN o.thread_id IS NULL THEN 0 ELSE -o.id END, o.reply_to, "   \
			    "o.subject,"                                                           \
			    " o.importance, o.ack_required, o.created_ts, o.verified, "            \
			    "o.attachments,"                                                       \
			    " o.attachment_bytes, o.body_md FROM old.messages o"                   \
			    " JOIN old.projects op ON op.id = o.project_id " SAME_PROJECT          \
			    " JOIN old.agents oa ON oa.id = o.sender_id"                           \
			    " JOIN old.projects ap ON ap.id = oa.project_id"                       \
			    " JOIN main.projects anp ON anp.slug = ap.slug"                        \
			    " JOIN main.agents na ON na.project_id = anp.id AND na.name_fold = "   \
			    "oa.name_fold"                                                         \
			    " WHERE " condition                                                    \
			    " AND NOT EXISTS (SELECT 1 FROM main.messages n WHERE n.uid = o.uid)"

static const char SQL_MESSAGES[] = MESSAGES_WHERE("o.id BETWEEN ?1 AND ?2");
/* A range would look at the row that follows, which may be the damaged one. */
static const char SQL_MESSAGE[] = MESSAGES_WHERE("o.id = ?1");

static const char SQL_RECIPIENTS[] =
	"INSERT OR IGNORE INTO main.message_recipients (message_id, agent_id, kind, place, urgent,"
	" ack_due, read_ts, ack_ts)"
	" SELECT nm.id, na.id, o.kind, o.place, o.urgent, o.ack_due, o.read_ts, o.ack_ts"
	" FROM old.message_recipients o " SAME_MESSAGE " " SAME_AGENT
	" WHERE o.message_id BETWEEN ?1 AND ?2";

enum mr_code mr_team_carry_range(struct mr_ctx *cx, struct mr_db *db, enum mr_team_carry_range what,
	int64_t first, int64_t last, int64_t *count)
{
	enum mr_code rc = what == MR_TEAM_CARRY_RECIPIENTS
		? mr_rows_run(cx, db, SQL_RECIPIENTS, MR_BIND(first, last))
		: first == last ? mr_rows_run(cx, db, SQL_MESSAGE, MR_BIND(first))
				: mr_rows_run(cx, db, SQL_MESSAGES, MR_BIND(first, last));

	if (!rc)
		*count += mr_db_changes(db);
	return rc;
}

enum mr_code mr_team_carry_next_id(struct mr_ctx *cx, struct mr_db *db,
	enum mr_team_carry_range what, int64_t first, int64_t *out)
{
	static const char *const questions[] = {
		[MR_TEAM_CARRY_MESSAGES] =
			"SELECT COALESCE(min(id), ?2) FROM old.messages WHERE id >= ?1",
		[MR_TEAM_CARRY_RECIPIENTS] = "SELECT COALESCE(min(message_id), ?2)"
					     " FROM old.message_recipients WHERE message_id >= ?1",
	};

	return mr_rows_one(cx, db, questions[what], MR_BIND(first, INT64_MAX), MR_INTO(out), NULL);
}

/* One number; 0 when it cannot be read. */
static int64_t number(struct mr_db *db, const char *sql)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err ignored;
	bool row = false;

	if (mr_db_prepare(db, sql, &stmt, &ignored) || mr_stmt_step(stmt, &row, &ignored) || !row)
		return 0;
	return mr_stmt_int(stmt, 0);
}

int64_t mr_team_carry_version(struct mr_db *db)
{
	int64_t version = number(db, "SELECT max(version) FROM old.schema_version");

	return version ? version : INT64_MAX;
}

int64_t mr_team_carry_last_id(struct mr_db *db)
{
	static const char *const questions[] = {
		"SELECT max(id) FROM old.messages",
		"SELECT seq FROM old.sqlite_sequence WHERE name = 'messages'",
		"SELECT max(message_id) FROM old.message_recipients",
	};
	int64_t last = 0;

	for (size_t i = 0; i < MR_LEN(questions); i++) {
		int64_t found = number(db, questions[i]);

		last = found > last ? found : last;
	}
	return last;
}

static const char SQL_NUMBER[] =
	"CREATE TEMP TABLE numbered AS SELECT id, row_number() OVER (PARTITION BY project_id,"
	" thread_id ORDER BY id) AS seq FROM main.messages WHERE (project_id, thread_id) IN"
	" (SELECT project_id, thread_id FROM main.messages WHERE thread_seq < 0);"
	"UPDATE main.messages SET thread_seq = -4611686018427387904 + id"
	" WHERE id IN (SELECT id FROM temp.numbered);"
	"UPDATE main.messages SET thread_seq = n.seq FROM temp.numbered n"
	" WHERE n.id = messages.id";

enum mr_code mr_team_carry_number(struct mr_ctx *cx, struct mr_db *db)
{
	return mr_db_exec(db, SQL_NUMBER, &cx->err);
}

static const char SQL_STATE[] =
	"UPDATE main.message_recipients SET read_ts = s.read_ts, ack_ts = s.ack_ts"
	" FROM (SELECT nm.id AS message_id, na.id AS agent_id, o.read_ts, o.ack_ts"
	"  FROM old.message_recipients o " SAME_MESSAGE " " SAME_AGENT
	"  WHERE o.read_ts IS NOT NULL OR o.ack_ts IS NOT NULL) s"
	" WHERE message_recipients.message_id = s.message_id"
	" AND message_recipients.agent_id = s.agent_id";

enum mr_code mr_team_carry_state(struct mr_ctx *cx, struct mr_db *db, int64_t *kept)
{
	enum mr_code rc = mr_db_exec(db, SQL_STATE, &cx->err);

	if (!rc)
		*kept = mr_db_changes(db);
	return rc;
}

#define SAME_LEASE                                                                                 \
	"n.project_id = np.id AND n.agent_id = na.id AND n.path_pattern = o.path_pattern"          \
	" AND n.created_ts = o.created_ts"

#define LEASE_ID FREE_ID("file_reservations")
#define LINK_ID  FREE_ID("agent_links")
#define SLOT_ID  FREE_ID("build_slots")
#define LINK_ENDS                                                                                  \
	NEW_PROJECT("o.a_project_id")                                                              \
	", " NEW_AGENT("o.a_agent_id") ", " NEW_PROJECT("o.b_project_id") ", " NEW_AGENT(          \
		"o.b_agent_id")
#define HAS_LINK_ENDS                                                                              \
	NEW_AGENT("o.a_agent_id") " IS NOT NULL AND " NEW_AGENT("o.b_agent_id") " IS NOT NULL"

const struct mr_team_carry_step mr_team_carry_rest[] = {
	{ "its leases",
		"UPDATE main.file_reservations SET expires_ts = s.expires_ts,"
		" released_ts = s.released_ts FROM (SELECT n.id, o.expires_ts, "
		"o.released_ts"
		" FROM old.file_reservations o " SAME_AGENT
		" JOIN main.file_reservations n ON " SAME_LEASE ") s"
		" WHERE file_reservations.id = s.id" },
	{ "its leases",
		"INSERT INTO main.file_reservations (id, project_id, agent_id, path_pattern, "
		"prefix,"
		" exclusive, reason, origin, created_ts, expires_ts, released_ts)"
		" SELECT " LEASE_ID ", np.id, na.id, o.path_pattern, o.prefix, o.exclusive,"
		" o.reason, o.origin, o.created_ts, o.expires_ts, o.released_ts"
		" FROM old.file_reservations o " SAME_AGENT " WHERE NOT EXISTS"
		" (SELECT 1 FROM main.file_reservations n WHERE " SAME_LEASE ")" },
	{ "its contacts",
		"INSERT OR IGNORE INTO main.agent_links (id, a_project_id, a_agent_id,"
		" b_project_id, b_agent_id, status, reason, created_ts, updated_ts, expires_ts,"
		" notified_ts, unasked)"
		" SELECT " LINK_ID ", " LINK_ENDS
		", o.status, o.reason, o.created_ts, o.updated_ts,"
		" o.expires_ts, o.notified_ts, o.unasked"
		" FROM old.agent_links o WHERE " HAS_LINK_ENDS },
	{ "its build slots",
		"INSERT OR IGNORE INTO main.build_slots (id, project_id, agent_id, slot_name,"
		" created_ts, expires_ts, released_ts)"
		" SELECT " SLOT_ID ", np.id, na.id, o.slot_name, o.created_ts, o.expires_ts,"
		" o.released_ts"
		" FROM old.build_slots o " SAME_AGENT
		" WHERE NOT EXISTS (SELECT 1 FROM main.build_slots n"
		" WHERE n.project_id = np.id AND n.agent_id = na.id AND n.slot_name = o.slot_name"
		" AND n.created_ts = o.created_ts)" },
	{ "when its agents were active",
		"UPDATE main.agents SET last_active_ts = s.last_active_ts FROM (SELECT "
		"na.id,"
		" oa.last_active_ts FROM old.agents oa JOIN old.projects op"
		" ON op.id = oa.project_id " SAME_PROJECT
		" JOIN main.agents na ON na.project_id = np.id AND na.name_fold = "
		"oa.name_fold) s"
		" WHERE agents.id = s.id AND s.last_active_ts > agents.last_active_ts" },
	{ "other paths of its projects",
		"INSERT OR IGNORE INTO main.project_keys (key_fold, project_id)"
		" SELECT o.key_fold, np.id FROM old.project_keys o JOIN old.projects op"
		" ON op.id = o.project_id " SAME_PROJECT },
	{ "its products",
		"INSERT OR IGNORE INTO main.products (id, product_uid, name, name_fold, "
		"created_at)"
		" SELECT id, product_uid, name, name_fold, created_at FROM old.products" },
	{ "its products",
		"INSERT OR IGNORE INTO main.product_project_links (product_id, project_id, "
		"role,"
		" created_at) SELECT o.product_id, np.id, o.role, o.created_at"
		" FROM old.product_project_links o JOIN old.projects op"
		" ON op.id = o.project_id " SAME_PROJECT },
	{ "its groups",
		"INSERT OR IGNORE INTO main.agent_groups (id, project_id, name, created_ts)"
		" SELECT o.id, np.id, o.name, o.created_ts FROM old.agent_groups o"
		" JOIN old.projects op ON op.id = o.project_id " SAME_PROJECT,
		.since = 8 },
	{ "its groups",
		"INSERT OR IGNORE INTO main.agent_group_members (group_id, agent_id)"
		" SELECT o.group_id, na.id FROM old.agent_group_members o " SAME_AGENT,
		.since = 8 },
	{ "groups that messages were written to",
		"INSERT OR IGNORE INTO main.message_groups (message_id, names)"
		" SELECT nm.id, o.names FROM old.message_groups o " SAME_MESSAGE,
		.since = 8 },
	{ "sessions of its agents",
		"INSERT OR IGNORE INTO main.agent_sessions (agent_id, project_id, session, place,"
		" started_ts, ended_ts) SELECT na.id, np.id, o.session, o.place, o.started_ts,"
		" o.ended_ts FROM old.agent_sessions o " SAME_AGENT,
		.since = 9 },
	{ "sessions that hooks have noted",
		"INSERT OR IGNORE INTO main.hook_sessions (session, agent_id, noted_ts)"
		" SELECT o.session, na.id, o.noted_ts FROM old.hook_sessions o " SAME_AGENT,
		.since = 10 },
	{ "which mail its agents were told of",
		"INSERT OR IGNORE INTO main.hook_told (agent_id, message_id)"
		" SELECT na.id, nm.id FROM old.hook_told o " SAME_MESSAGE " " SAME_AGENT,
		.since = 10 },
	{ "keys of sent messages",
		"INSERT OR IGNORE INTO main.sent_keys (sender_id, key, message_id, "
		"created_ts,"
		" notes) SELECT na.id, o.key, nm.id, o.created_ts, o.notes"
		" FROM (SELECT sender_id AS agent_id, key, message_id, created_ts, notes"
		"  FROM old.sent_keys) o " SAME_MESSAGE " " SAME_AGENT },
	{ "what was done about acknowledgements that are due",
		"INSERT OR IGNORE INTO main.ack_escalations (message_id, agent_id, times,"
		" reservation_id, updated_ts) SELECT nm.id, na.id, o.times, "
		"o.reservation_id,"
		" o.updated_ts FROM old.ack_escalations o " SAME_MESSAGE " " SAME_AGENT },
	/* Tokens, so that agents that had to prove their identity still have to, and can. */
	{ "tokens of its agents",
		"UPDATE main.agents SET token_hash = s.token_hash FROM (SELECT na.id, "
		"oa.token_hash"
		" FROM old.agents oa JOIN old.projects op ON op.id = "
		"oa.project_id " SAME_PROJECT " JOIN main.agents na ON na.project_id = "
		"np.id AND na.name_fold = oa.name_fold"
		" WHERE oa.token_hash IS NOT NULL) s WHERE agents.id = s.id" },
	{ "names that were asked for and not taken",
		"UPDATE main.agents SET asked_fold = s.asked_fold FROM (SELECT na.id, "
		"oa.asked_fold"
		" FROM old.agents oa JOIN old.projects op ON op.id = "
		"oa.project_id " SAME_PROJECT " JOIN main.agents na ON na.project_id = "
		"np.id AND na.name_fold = oa.name_fold"
		" WHERE oa.asked_fold IS NOT NULL) s WHERE agents.id = s.id",
		.since = 7 },
	{ "which senders proved to be themselves",
		"UPDATE main.messages SET verified = 1 WHERE uid IN"
		" (SELECT o.uid FROM old.messages o WHERE o.verified = 1)" },
	/* Rows that were queued for the archive stay queued. */
	{ "what was not archived yet",
		"INSERT INTO main.archive_queue (project_id, kind, ref, name, agent, "
		"subject, tool,"
		" data, created_ts) SELECT np.id, o.kind, o.ref, o.name, o.agent, "
		"o.subject, o.tool,"
		" o.data, o.created_ts FROM old.archive_queue o"
		" JOIN old.projects op ON op.id = o.project_id " SAME_PROJECT " ORDER BY o.id" },
	/* Ids of deleted rows are not used again. */
	{ "which ids were used",
		"UPDATE main.sqlite_sequence SET seq = max(main.sqlite_sequence.seq, o.seq)"
		" FROM old.sqlite_sequence o WHERE o.name = main.sqlite_sequence.name" },
	{ "which ids were used",
		"INSERT INTO main.sqlite_sequence (name, seq) SELECT o.name, o.seq FROM"
		" old.sqlite_sequence o WHERE o.name NOT IN"
		" (SELECT name FROM main.sqlite_sequence)" },
	{ 0 },
};

/* --- what the archive is to be told --- */

#define QUEUE                                                                                      \
	"INSERT INTO main.archive_queue (project_id, kind, ref, name, agent, subject, tool,"       \
	" created_ts) SELECT "

static const char *const sql_queue[] = {
	QUEUE "project_id, CASE WHEN is_active THEN 'profile' ELSE 'deleted' END, id, name, name,"
	      " 'agent: profile ' || name, 'rebuild', ?1 FROM main.agents"
	      " WHERE id " NEW_ROW("agents"),
	QUEUE "m.project_id, 'message', m.id, '', a.name, 'rebuild: message ' || m.id, 'rebuild',"
	      " ?1 FROM main.messages m JOIN main.agents a ON a.id = m.sender_id"
	      " WHERE m.id " NEW_ROW("messages") " ORDER BY m.id",
	QUEUE "ra.project_id, 'inbox', m.id, '', '', 'rebuild: arrived message ' || m.id,"
	      " 'rebuild', ?1 FROM main.messages m"
	      " JOIN main.message_recipients r ON r.message_id = m.id"
	      " JOIN main.agents ra ON ra.id = r.agent_id AND ra.project_id <> m.project_id"
	      " WHERE m.id " NEW_ROW("messages") " OR ra.id " NEW_ROW(
		      "agents") " GROUP BY m.id, ra.project_id ORDER BY m.id",
	QUEUE "project_id, 'reservation', 0, path_pattern, '',"
	      " 'rebuild: file_reservation ' || path_pattern, 'rebuild', ?1"
	      " FROM main.file_reservations WHERE released_ts IS NULL"
	      " AND id " NEW_ROW("file_reservations") " GROUP BY project_id, path_pattern",
	QUEUE "a.project_id, 'links', a.id, '', a.name, 'contact: ' || a.name, 'rebuild', ?1"
	      " FROM main.agents a WHERE a.id IN (SELECT a_agent_id FROM main.agent_links"
	      "  WHERE id " NEW_ROW("agent_links") " UNION SELECT b_agent_id FROM main.agent_links"
						   "  WHERE id " NEW_ROW("agent_links") ")",
	QUEUE "project_id, 'slot', id, '', '', 'rebuild: build_slot ' || slot_name, 'rebuild', ?1"
	      " FROM main.build_slots WHERE id " NEW_ROW("build_slots"),
};

enum mr_code mr_team_carry_queue(struct mr_ctx *cx, struct mr_db *db)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < MR_LEN(sql_queue); i++)
		rc = mr_rows_run(cx, db, sql_queue[i], MR_BIND(mr_clock_wall_us(cx->clock)));
	return rc;
}

static const char SQL_COUNTS[] = "SELECT (SELECT count(*) FROM main.projects WHERE id " NEW_ROW(
	"projects") "),"
		    " (SELECT count(*) FROM main.agents WHERE id " NEW_ROW(
			    "agents") "),"
				      " (SELECT count(*) FROM main.file_reservations WHERE "
				      "id " NEW_ROW("file_reservations") "),"
									 " (SELECT count(*) FROM "
									 "main.agent_links WHERE "
									 "id " NEW_ROW(
										 "agent_links") ")";

enum mr_code mr_team_carry_counts(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_carry_counts *out)
{
	*out = (struct mr_team_carry_counts){ 0 };
	return mr_rows_one(cx, db, SQL_COUNTS, NULL,
		MR_INTO(&out->projects, &out->agents, &out->reservations, &out->links), NULL);
}

/* --- comparing --- */

/* The index of uids first: it tells even of messages whose own page is damaged. */
static const struct {
	const char *lost, *count;
} comparisons[] = {
	{ "INSERT OR IGNORE INTO temp.lost (id, what) SELECT o.id, o.uid"
	  " FROM old.messages o INDEXED BY sqlite_autoindex_messages_1"
	  " WHERE NOT EXISTS (SELECT 1 FROM main.messages n WHERE n.uid = o.uid)",
		"SELECT count(uid) FROM old.messages INDEXED BY sqlite_autoindex_messages_1" },
	{ "INSERT OR IGNORE INTO temp.lost (id, what) SELECT o.id, '' FROM old.messages o"
	  " INDEXED BY messages_project WHERE o.project_id > 0"
	  " AND NOT EXISTS (SELECT 1 FROM main.messages n WHERE n.id = o.id)",
		"SELECT count(id) FROM old.messages INDEXED BY messages_project"
		" WHERE project_id > 0" },
};

enum mr_code mr_team_carry_compare(struct mr_ctx *cx, struct mr_db *db, int64_t *count)
{
	enum mr_code rc = MR_EFORMAT;

	for (size_t i = 0; rc && i < MR_LEN(comparisons); i++) {
		rc = mr_db_exec(db, comparisons[i].lost, &cx->err);
		if (!rc)
			*count = number(db, comparisons[i].count);
	}
	return rc;
}

/* Messages whose file name has no id count one by one. */
static const char SQL_UNREAD[] =
	"INSERT OR IGNORE INTO temp.lost (id, what) SELECT CASE WHEN ?1 > 0 THEN ?1"
	" ELSE (SELECT min(COALESCE(min(id), 0), 0) - 1 FROM temp.lost) END, ?2"
	" WHERE ?1 <= 0 OR NOT EXISTS (SELECT 1 FROM main.messages WHERE id = ?1)";

enum mr_code mr_team_carry_unread(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *where)
{
	return mr_rows_run(cx, db, SQL_UNREAD, MR_BIND(id, where));
}

static const char SQL_LOST_COUNT[] = "SELECT count(*) FROM temp.lost";
static const char SQL_LOST[] = "SELECT id, what FROM temp.lost ORDER BY id LIMIT ?1";
static const char SQL_LOST_TEXT[] =
	"SELECT o.subject, p.slug FROM old.messages o JOIN old.projects p ON p.id = o.project_id"
	" WHERE o.id = ?1";

/* "17 \"subject\" in backend", or as much as is known. */
static const char *describe(struct mr_ctx *cx, struct mr_db *db, bool is_attached, int64_t id,
	const char *what)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err ignored;
	bool row = false;

	if (id <= 0)
		return what;
	if (is_attached && mr_db_prepare(db, SQL_LOST_TEXT, &stmt, &ignored) == MR_OK) {
		mr_stmt_bind_int(stmt, 1, id);
		if (mr_stmt_step(stmt, &row, &ignored) == MR_OK && row)
			return mr_arena_printf(cx->arena, "%lld \"%.40s\" in %s", (long long)id,
				mr_stmt_text(stmt, 0, cx->arena), mr_stmt_text(stmt, 1, cx->arena));
	}
	return mr_arena_printf(cx->arena, "%lld%s%s%s", (long long)id, *what ? " (" : "", what,
		*what ? ")" : "");
}

struct lost {
	int64_t id;
	const char *what;
};

static enum mr_code read_lost(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct lost *it = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it->id, &it->what));
	return MR_OK;
}

enum mr_code mr_team_carry_lost(struct mr_ctx *cx, struct mr_db *db, bool is_attached, size_t max,
	int64_t *count, struct mr_texts *out)
{
	struct {
		struct lost *items;
		size_t len;
	} lost = { NULL, 0 };
	struct mr_texts found = { mr_arena_array(cx->arena, max + 1, sizeof(*found.items)), 0 };
	enum mr_code rc = mr_rows_list(cx, db, SQL_LOST, MR_BIND(max), read_lost, MR_LIST(&lost));

	if (rc)
		return rc;
	for (; found.len < lost.len; found.len++)
		found.items[found.len] = describe(cx, db, is_attached, lost.items[found.len].id,
			lost.items[found.len].what);
	*count = number(db, SQL_LOST_COUNT);
	*out = found;
	return MR_OK;
}

static const struct {
	const char *name, *sql;
} tables[] = {
	{ "projects",
		"SELECT count(*) FROM old.projects o WHERE o.slug NOT IN"
		" (SELECT slug FROM main.projects)" },
	{ "agents",
		"SELECT count(*) FROM old.agents o JOIN old.projects op ON op.id = o.project_id"
		" LEFT JOIN main.projects np ON np.slug = op.slug LEFT JOIN main.agents na"
		" ON na.project_id = np.id AND na.name_fold = o.name_fold WHERE na.id IS NULL"
		" AND NOT EXISTS (SELECT 1 FROM temp.purged p WHERE p.slug = op.slug"
		"  AND p.name_fold = o.name_fold)" },
	{ "recipients",
		"SELECT (SELECT count(*) FROM old.message_recipients)"
		" - (SELECT count(*) FROM main.message_recipients)" },
	{ "leases",
		"SELECT (SELECT count(*) FROM old.file_reservations)"
		" - (SELECT count(*) FROM main.file_reservations)" },
};

size_t mr_team_carry_tables(void)
{
	return MR_LEN(tables);
}

enum mr_code mr_team_carry_missing(struct mr_ctx *cx, struct mr_db *db, size_t table,
	const char **name, int64_t *missing)
{
	*name = tables[table].name;
	return mr_rows_one(cx, db, tables[table].sql, NULL, MR_INTO(missing), NULL);
}
