/* team/store/schema_sql.c - The tables, indexes and migrations of the team's database. */
#include "team/store/schema.h"

/*
 * Times are integers, microseconds since 1970. Names are compared folded: *_fold columns hold the
 * ASCII lower case. What is written here once is never changed: the next step mends it.
 */
static const char SQL_MAIL[] =
	"CREATE TABLE projects ("
	"  id INTEGER PRIMARY KEY,"
	"  slug TEXT NOT NULL UNIQUE,"
	"  human_key TEXT NOT NULL,"
	"  key_fold TEXT NOT NULL UNIQUE," /* lower case, no '/' at the end */
	"  tail TEXT NOT NULL,"            /* slug of the last component of human_key */
	"  identity_mode TEXT NOT NULL DEFAULT 'dir',"
	"  created_at BIGINT NOT NULL);"
	"CREATE INDEX projects_tail ON projects(tail);"
	"CREATE TABLE project_keys (" /* other paths of a repository: its clones and worktrees */
	"  key_fold TEXT PRIMARY KEY,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id)) WITHOUT ROWID;"

	"CREATE TABLE agents ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT," /* that of a purged one is not used again */
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  name TEXT NOT NULL,"
	"  name_fold TEXT NOT NULL,"
	"  program TEXT NOT NULL,"
	"  model TEXT NOT NULL,"
	"  task_description TEXT NOT NULL DEFAULT '',"
	"  inception_ts BIGINT NOT NULL,"
	"  last_active_ts BIGINT NOT NULL,"
	"  attachments_policy TEXT NOT NULL DEFAULT 'auto',"
	"  contact_policy TEXT NOT NULL DEFAULT 'open',"
	"  is_active BIGINT NOT NULL DEFAULT 1,"
	"  deleted_ts BIGINT,"
	"  is_system BIGINT NOT NULL DEFAULT 0,"
	"  UNIQUE (project_id, name_fold));"
	"CREATE INDEX agents_name ON agents(name_fold);"

	"CREATE TABLE messages ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT," /* an id is never used again */
	"  uid TEXT NOT NULL UNIQUE,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  sender_id BIGINT NOT NULL REFERENCES agents(id),"
	"  thread_id TEXT,"
	"  thread_seq BIGINT NOT NULL DEFAULT 0,"
	"  reply_to BIGINT,"
	"  subject TEXT NOT NULL,"
	"  importance TEXT NOT NULL DEFAULT 'normal',"
	"  ack_required BIGINT NOT NULL DEFAULT 0,"
	"  created_ts BIGINT NOT NULL,"
	"  verified BIGINT NOT NULL DEFAULT 0," /* the sender proved to be who it is */
	"  attachments TEXT NOT NULL DEFAULT '[]',"
	"  attachment_bytes BIGINT NOT NULL DEFAULT 0," /* stored by it: for the quota */
	"  body_md TEXT NOT NULL);" /* last: what is behind a long text is dear to read */
	"CREATE INDEX messages_project ON messages(project_id, id);"
	"CREATE UNIQUE INDEX messages_thread ON messages(project_id, thread_id, thread_seq)"
	"  WHERE thread_id IS NOT NULL;"
	"CREATE INDEX messages_sender ON messages(sender_id, id);"
	"CREATE INDEX messages_attached ON messages(project_id, attachment_bytes)"
	"  WHERE attachment_bytes > 0;"

	"CREATE TABLE message_recipients ("
	"  message_id BIGINT NOT NULL REFERENCES messages(id),"
	"  agent_id BIGINT NOT NULL REFERENCES agents(id),"
	"  kind TEXT NOT NULL DEFAULT 'to',"
	"  place BIGINT NOT NULL DEFAULT 0," /* from 0, in the order the sender named them */
	/* What the message says, here too: the newest urgent ones of many, from an index. */
	"  urgent BIGINT NOT NULL DEFAULT 0,"  /* importance high or urgent */
	"  ack_due BIGINT NOT NULL DEFAULT 0," /* ack_required, and kind is to */
	"  read_ts BIGINT,"
	"  ack_ts BIGINT,"
	"  PRIMARY KEY (message_id, agent_id)) WITHOUT ROWID;"
	"CREATE INDEX message_recipients_agent ON message_recipients(agent_id, message_id);"
	"CREATE INDEX message_recipients_unread ON message_recipients(agent_id, message_id)"
	"  WHERE read_ts IS NULL;"
	"CREATE INDEX message_recipients_urgent ON message_recipients(agent_id, message_id)"
	"  WHERE urgent = 1;"
	"CREATE INDEX message_recipients_due ON message_recipients(agent_id, message_id)"
	"  WHERE ack_due = 1 AND ack_ts IS NULL;"

	"CREATE TABLE sent_keys (" /* idempotency: what a sender sent under a key of its own */
	"  sender_id BIGINT NOT NULL REFERENCES agents(id),"
	"  key TEXT NOT NULL,"
	"  message_id BIGINT NOT NULL REFERENCES messages(id),"
	"  created_ts BIGINT NOT NULL,"
	"  notes TEXT NOT NULL DEFAULT ''," /* what the answer said besides the message */
	"  PRIMARY KEY (sender_id, key)) WITHOUT ROWID;"
	"CREATE INDEX sent_keys_created ON sent_keys(created_ts);";

static const char SQL_LEASES[] =
	"CREATE TABLE file_reservations ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  agent_id BIGINT NOT NULL REFERENCES agents(id),"
	"  path_pattern TEXT NOT NULL,"
	"  prefix TEXT NOT NULL DEFAULT ''," /* its literal directories: the cheap question first */
	"  exclusive BIGINT NOT NULL DEFAULT 1,"
	"  reason TEXT NOT NULL DEFAULT '',"
	"  origin TEXT NOT NULL DEFAULT 'agent',"
	"  created_ts BIGINT NOT NULL,"
	"  expires_ts BIGINT NOT NULL,"
	"  released_ts BIGINT);"
	"CREATE INDEX file_reservations_open ON file_reservations(project_id, prefix, expires_ts)"
	"  WHERE released_ts IS NULL;"
	"CREATE INDEX file_reservations_project ON file_reservations(project_id);"
	"CREATE INDEX file_reservations_agent ON file_reservations(agent_id)"
	"  WHERE released_ts IS NULL;"
	"CREATE INDEX file_reservations_pattern ON file_reservations(project_id, path_pattern);"
	"CREATE INDEX file_reservations_expiry ON file_reservations(expires_ts)"
	"  WHERE released_ts IS NULL;";

static const char SQL_AROUND[] =
	"CREATE TABLE agent_links ("
	"  id INTEGER PRIMARY KEY,"
	"  a_project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  a_agent_id BIGINT NOT NULL REFERENCES agents(id),"
	"  b_project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  b_agent_id BIGINT NOT NULL REFERENCES agents(id),"
	"  status TEXT NOT NULL,"
	"  reason TEXT NOT NULL DEFAULT '',"
	"  created_ts BIGINT NOT NULL,"
	"  updated_ts BIGINT NOT NULL,"
	"  expires_ts BIGINT,"
	"  notified_ts BIGINT,"                /* when the target was last told of the request */
	"  unasked BIGINT NOT NULL DEFAULT 0," /* b agreed before a asked: mail from a to b only */
	"  UNIQUE (a_agent_id, b_agent_id));"
	"CREATE INDEX agent_links_b ON agent_links(b_agent_id);"

	"CREATE TABLE ack_escalations (" /* what has been done about an ack that is due */
	"  message_id BIGINT NOT NULL,"
	"  agent_id BIGINT NOT NULL,"
	"  times BIGINT NOT NULL," /* 1, 2, 3: at 1, 2, 4 times the TTL */
	"  reservation_id BIGINT,"
	"  updated_ts BIGINT NOT NULL,"
	"  PRIMARY KEY (message_id, agent_id)) WITHOUT ROWID;"

	"CREATE TABLE products ("
	"  id INTEGER PRIMARY KEY,"
	"  product_uid TEXT NOT NULL UNIQUE,"
	"  name TEXT NOT NULL,"
	"  name_fold TEXT NOT NULL UNIQUE,"
	"  created_at BIGINT NOT NULL);"
	"CREATE TABLE product_project_links ("
	"  product_id BIGINT NOT NULL REFERENCES products(id),"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  role TEXT NOT NULL DEFAULT 'primary',"
	"  created_at BIGINT NOT NULL,"
	"  PRIMARY KEY (product_id, project_id)) WITHOUT ROWID;"
	"CREATE INDEX product_project_links_project ON product_project_links(project_id);"

	"CREATE TABLE build_slots ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  agent_id BIGINT NOT NULL REFERENCES agents(id),"
	"  slot_name TEXT NOT NULL,"
	"  created_ts BIGINT NOT NULL,"
	"  expires_ts BIGINT NOT NULL,"
	"  released_ts BIGINT);"
	"CREATE UNIQUE INDEX build_slots_held ON build_slots(project_id, slot_name)"
	"  WHERE released_ts IS NULL;"

	"CREATE TABLE archive_queue (" /* what the archive does not show yet; see
					  team/archive/archive.h */
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  kind TEXT NOT NULL,"
	"  ref BIGINT NOT NULL,"
	"  name TEXT NOT NULL,"
	"  agent TEXT NOT NULL,"
	"  subject TEXT NOT NULL,"
	"  tool TEXT NOT NULL,"
	"  data TEXT NOT NULL DEFAULT '',"
	"  created_ts BIGINT NOT NULL);"
	"CREATE INDEX archive_queue_project ON archive_queue(project_id, id);";

/* The SHA-256 of the token by which an agent proves its identity (AGENT_AUTH), or NULL. */
static const char SQL_TOKENS[] = "ALTER TABLE agents ADD COLUMN token_hash TEXT;";

static const char SQL_TOKEN_OWNERS[] =
	"CREATE INDEX agents_token ON agents(token_hash) WHERE token_hash IS NOT NULL;";

/* The name an agent asked for and was not given (folded), or NULL: who comes back under it is told.
 */
static const char SQL_ASKED[] =
	"ALTER TABLE agents ADD COLUMN asked_fold TEXT;"
	"CREATE INDEX agents_asked ON agents(project_id, asked_fold) WHERE asked_fold IS NOT NULL;";

static const char SQL_GROUPS[] =
	"CREATE TABLE agent_groups ("
	"  id INTEGER PRIMARY KEY,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  name TEXT NOT NULL," /* in lower case */
	"  created_ts BIGINT NOT NULL,"
	"  UNIQUE (project_id, name));"
	"CREATE TABLE agent_group_members ("
	"  group_id BIGINT NOT NULL REFERENCES agent_groups(id),"
	"  agent_id BIGINT NOT NULL REFERENCES agents(id),"
	"  PRIMARY KEY (group_id, agent_id)) WITHOUT ROWID;"
	"CREATE INDEX agent_group_members_agent ON agent_group_members(agent_id);"
	/* Beside the messages: few were written to a group, and what is behind a long text is dear
	   to read. */
	"CREATE TABLE message_groups ("
	"  message_id BIGINT PRIMARY KEY REFERENCES messages(id),"
	"  names TEXT NOT NULL) WITHOUT ROWID;";

/* The last session of each agent that has noted one; see team/session.h. */
static const char SQL_SESSIONS[] =
	"CREATE TABLE agent_sessions ("
	"  agent_id BIGINT PRIMARY KEY REFERENCES agents(id),"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  session TEXT NOT NULL," /* the SHA-256 of its id, or empty */
	"  place TEXT NOT NULL,"
	"  started_ts BIGINT NOT NULL,"
	"  ended_ts BIGINT) WITHOUT ROWID;"
	"CREATE INDEX agent_sessions_id ON agent_sessions(session, project_id);"
	"CREATE INDEX agent_sessions_place ON agent_sessions(project_id, place);";

/* What hooks of clients have noted; see team/hook.h. */
static const char SQL_HOOKS[] = "CREATE TABLE hook_sessions ("
				"  session TEXT NOT NULL," /* the SHA-256 of its id */
				"  agent_id BIGINT NOT NULL REFERENCES agents(id),"
				"  noted_ts BIGINT NOT NULL,"
				"  PRIMARY KEY (session, agent_id)) WITHOUT ROWID;"
				"CREATE INDEX hook_sessions_agent ON hook_sessions(agent_id);"
				"CREATE INDEX hook_sessions_noted ON hook_sessions(noted_ts);"
				"CREATE TABLE hook_warnings ("
				"  session TEXT PRIMARY KEY,"
				"  warned_ts BIGINT NOT NULL) WITHOUT ROWID;"
				"CREATE INDEX hook_warnings_warned ON hook_warnings(warned_ts);"
				"CREATE TABLE hook_told ("
				"  agent_id BIGINT PRIMARY KEY REFERENCES agents(id),"
				"  message_id BIGINT NOT NULL) WITHOUT ROWID;";

/*
 * A database that is moved to another place (team/move.h): `role` is 'from' in the one that is left
 * and 'to' in the one that is filled, where the second table says how far each table is.
 */
static const char SQL_MOVES[] = "CREATE TABLE database_moves ("
				"  role TEXT PRIMARY KEY,"
				"  move TEXT NOT NULL,"  /* the same in both */
				"  other TEXT NOT NULL," /* the other one, for people */
				"  began_ts BIGINT NOT NULL,"
				"  ended_ts BIGINT) WITHOUT ROWID;"
				"CREATE TABLE database_move_tables ("
				"  name TEXT PRIMARY KEY,"
				"  copied BIGINT NOT NULL," /* rows */
				"  key_1 TEXT, key_2 TEXT," /* of the last row */
				"  is_done BIGINT NOT NULL) WITHOUT ROWID;";

/* For servers on several machines, of which each has a storage root. */
static const char SQL_SEVERAL[] =
	"CREATE TABLE archive_places (" /* see team/archive/archive_place.h */
	"  place TEXT PRIMARY KEY,"
	"  name TEXT NOT NULL,"
	"  is_kept BIGINT NOT NULL,"
	"  is_whole BIGINT NOT NULL,"
	"  through BIGINT NOT NULL,"
	"  since_ts BIGINT NOT NULL) WITHOUT ROWID;"
	/* Rows of archive_queue that removed something, for archives that did not see them. */
	"CREATE TABLE archive_removals ("
	"  id INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  kind TEXT NOT NULL,"
	"  ref BIGINT NOT NULL,"
	"  name TEXT NOT NULL,"
	"  agent TEXT NOT NULL,"
	"  subject TEXT NOT NULL,"
	"  tool TEXT NOT NULL,"
	"  data TEXT NOT NULL,"
	"  created_ts BIGINT NOT NULL);"
	"CREATE TABLE attachment_files (" /* see team/attachment_sql.h */
	"  project_id BIGINT NOT NULL REFERENCES projects(id),"
	"  path TEXT NOT NULL,"
	"  data BLOB NOT NULL,"
	"  PRIMARY KEY (project_id, path)) WITHOUT ROWID;";

/* Sessions of clients of several servers; see team/client.h. */
static const char SQL_CLIENTS[] = "CREATE TABLE client_sessions ("
				  "  session TEXT PRIMARY KEY," /* the SHA-256 of its id */
				  "  owner TEXT,"
				  "  hello TEXT NOT NULL,"
				  "  level BIGINT NOT NULL,"
				  "  used_ts BIGINT NOT NULL) WITHOUT ROWID;"
				  "CREATE INDEX client_sessions_used ON client_sessions(used_ts);"
				  "CREATE TABLE client_subscriptions ("
				  "  session TEXT NOT NULL,"
				  "  uri TEXT NOT NULL,"
				  "  kind BIGINT NOT NULL,"
				  "  id BIGINT NOT NULL,"
				  "  thread_id TEXT,"
				  "  PRIMARY KEY (session, uri)) WITHOUT ROWID;"
				  "CREATE TABLE relayed ("
				  "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
				  "  session TEXT NOT NULL,"
				  "  sender TEXT NOT NULL,"
				  "  kind TEXT NOT NULL,"
				  "  body TEXT NOT NULL,"
				  "  created_ts BIGINT NOT NULL);"
				  "CREATE INDEX relayed_created ON relayed(created_ts);"
				  "CREATE TABLE shared_secrets ("
				  "  name TEXT PRIMARY KEY,"
				  "  secret TEXT NOT NULL) WITHOUT ROWID;";

static enum mr_code make_search(struct mr_db *db, struct mr_err *err)
{
	return mr_db_search_create(db, &mr_team_search_index, err);
}

static const char SQL_DROP_SEARCH[] = "DROP TABLE fts_messages";

/* An index made before 6 knows beginnings of two and three letters only. */
static enum mr_code remake_search(struct mr_db *db, struct mr_err *err)
{
	enum mr_code rc = mr_db_exec(db, SQL_DROP_SEARCH, err);

	if (!rc)
		rc = mr_db_search_create(db, &mr_team_search_index, err);
	return rc ? rc : mr_db_search_rebuild(db, &mr_team_search_index, err);
}

const struct mr_migration mr_team_migrations[] = {
	{ .version = 1, .name = "projects, agents, mail", .sql = SQL_MAIL, .run = make_search },
	{ .version = 2, .name = "leases", .sql = SQL_LEASES },
	{ .version = 3, .name = "contacts, products, slots, archive", .sql = SQL_AROUND },
	{ .version = 4, .name = "agents' tokens", .sql = SQL_TOKENS },
	{ .version = 5, .name = "whose token it is", .sql = SQL_TOKEN_OWNERS },
	{ .version = 6, .name = "beginnings of words", .sql = "", .run = remake_search },
	{ .version = 7, .name = "names that were not taken", .sql = SQL_ASKED },
	{ .version = 8, .name = "groups", .sql = SQL_GROUPS },
	{ .version = 9, .name = "sessions", .sql = SQL_SESSIONS },
	{ .version = 10, .name = "hooks", .sql = SQL_HOOKS },
	{ .version = 11, .name = "moves", .sql = SQL_MOVES },
	{ .version = 12, .name = "several servers", .sql = SQL_SEVERAL },
	{ .version = 13, .name = "sessions of clients", .sql = SQL_CLIENTS },
};
const size_t mr_team_migration_count = MR_LEN(mr_team_migrations);

static const char *const search_columns[] = { "subject", "body_md", NULL };
static const double search_weights[] = { 2, 1 };

const struct mr_db_search mr_team_search_index = {
	.name = "fts_messages",
	.table = "messages",
	.id = "id",
	.columns = search_columns,
	.weights = search_weights,
};
