/* tests/unit/team/contact_cast.h - three agents of two projects, and how they stand to each other.
 */
#pragma once

#include "team/contact.h"
#include "world.h"

/* Two in /backend, one in /frontend; everybody is a codex and open until a test says otherwise. */
struct cast {
	struct world world;
	struct mr_team_project backend, frontend;
	struct mr_team_agent green, red, blue; /* 1 and 2 in backend (1), 3 in frontend (2) */
};

void cast_open(struct cast *cast);
/* As if nothing had happened yet. */
void cast_clear(struct cast *cast);
/* As the database has it now. */
struct mr_team_agent cast_agent(struct cast *cast, int64_t id);
struct mr_team_decision cast_decide(struct cast *cast, int64_t from, int64_t to,
	const char *thread_id, int64_t reply_to);

/* SQL for world_exec(): agents and projects by their numbers, times as SQL. */
#define NOW   "1773202500000000"
#define LATER "1773202500000001"
#define DAY   "86400000000"

#define POLICY(id, word)  "UPDATE agents SET contact_policy = '" word "' WHERE id = " #id ";"
#define PROGRAM(id, word) "UPDATE agents SET program = '" word "' WHERE id = " #id ";"
#define LINK(a_project, a, b_project, b, status, expires, unasked)                                 \
	"INSERT INTO agent_links (a_project_id, a_agent_id, b_project_id, b_agent_id, status,"     \
	" created_ts, updated_ts, expires_ts, unasked) VALUES (" #a_project ", " #a                \
	", " #b_project ", " #b ", '" status "', " NOW ", " NOW ", " expires ", " #unasked ");"
#define MAIL(id, project, sender, recipient, thread, created)                                      \
	"INSERT INTO messages (id, uid, project_id, sender_id, thread_id, thread_seq, subject,"    \
	" body_md, created_ts) VALUES (" #id ", 'u" #id "', " #project ", " #sender ", " thread    \
	", " #id ", 's', 'b', " created ");"                                                       \
	"INSERT INTO message_recipients (message_id, agent_id) VALUES (" #id ", " #recipient ");"
/* Messages to nobody. */
#define MANY(first, last, project, sender)                                                         \
	"WITH RECURSIVE n(i) AS (SELECT " #first " UNION ALL SELECT i + 1 FROM n WHERE i < " #last \
	") INSERT INTO messages (id, uid, project_id, sender_id, thread_seq, subject, body_md,"    \
	" created_ts) SELECT i, 'u' || i, " #project ", " #sender ", i, 's', 'b', " NOW " FROM n;"
#define LEASE(agent, pattern)                                                                      \
	"INSERT INTO file_reservations (project_id, agent_id, path_pattern, created_ts,"           \
	" expires_ts) VALUES (1, " #agent ", '" pattern "', " NOW ", " NOW " + " DAY ");"
