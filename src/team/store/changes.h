/* team/store/changes.h - changes since a cursor, for long polls and subscriptions; costs only
 * what is new. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_reached {
	int64_t agent_id, project_id;
	bool is_blind; /* bcc: only the agent itself may know */
};
struct mr_team_new {
	int64_t id, project_id;
	const char *thread_id; /* or NULL */
	struct mr_team_reached *reached;
	size_t reached_count;
};
struct mr_team_changes {
	struct mr_team_new *items; /* oldest first */
	size_t len;
};

/* Messages after the one of this id, at most `limit`, with whom they reached. */
MR_CHECK enum mr_code mr_team_changes_after(struct mr_ctx *cx, struct mr_db *db, int64_t after,
	int64_t limit, struct mr_team_changes *out);

/* An acknowledgement that an agent owes. */
struct mr_team_due {
	int64_t message_id;
	const char *agent, *subject;
};
struct mr_team_dues {
	struct mr_team_due *items;
	size_t len;
};
/* Those of a project's agents, by message and agent: of the newest messages, at most `limit`. */
MR_CHECK enum mr_code mr_team_changes_dues(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t limit, struct mr_team_dues *out);

/* A number that changes when a project or an agent is added, and when an agent is retired. */
MR_CHECK enum mr_code mr_team_changes_members(struct mr_ctx *cx, struct mr_db *db, int64_t *out);
/* A number that changes when a lease of the project is taken, renewed or released. */
MR_CHECK enum mr_code mr_team_changes_leases(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, int64_t *out);
