/*
 * team/hook.h - what the hooks of a client's session have noted: the agents that the session acts
 * for, and the newest message that each agent was told of.
 *
 * A session is named by the client (Claude Code's session_id). Its digest is kept, not the id.
 */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

struct mr_team_hook_agent {
	int64_t id, project_id;
	const char *name;
	const char *project; /* its human_key */
};
struct mr_team_hook_agents {
	struct mr_team_hook_agent *items;
	size_t len;
};

/* The active agents that the session acts for, of one project or of all (0), the one noted last
 * first; at most MR_TEAM_HOOK_AGENTS. */
enum { MR_TEAM_HOOK_AGENTS = 16 };
MR_CHECK enum mr_code mr_team_hook_agents(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *session, struct mr_team_hook_agents *out);
/* The active agent that was the last one to start a session at this place (team/session.h); with
 * `ended_only`, of those whose sessions have ended. `out->id` is 0 when there is none. */
MR_CHECK enum mr_code mr_team_hook_last(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *place, bool ended_only, struct mr_team_hook_agent *out);

/* Inside a change: the session acts for this agent. */
MR_CHECK enum mr_code mr_team_hook_note(struct mr_ctx *cx, struct mr_db *db, const char *session,
	int64_t agent_id);
MR_CHECK enum mr_code mr_team_hook_is_warned(struct mr_ctx *cx, struct mr_db *db,
	const char *session, bool *out);
/* Inside a change: `*first` says whether this session had not been told yet that nobody knows which
 * agent it acts for. */
MR_CHECK enum mr_code mr_team_hook_warn(struct mr_ctx *cx, struct mr_db *db, const char *session,
	bool *first);
/* Inside a change: the session has ended, and so has that of each agent that no other session has
 * acted for since. */
MR_CHECK enum mr_code mr_team_hook_end(struct mr_ctx *cx, struct mr_db *db, const char *session);

/* Unread messages that the agent was not told of. */
struct mr_team_hook_news {
	int64_t count; /* at most MR_TEAM_HOOK_NEWS */
	int64_t urgent;
	int64_t newest;       /* the id of the newest; 0: there are none */
	struct mr_texts from; /* names of senders, at most MR_TEAM_HOOK_SENDERS */
};
enum { MR_TEAM_HOOK_NEWS = 1000, MR_TEAM_HOOK_SENDERS = 4 };
MR_CHECK enum mr_code mr_team_hook_news(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_hook_news *out);
/* Inside a change: the agent has been told of messages up to this one. */
MR_CHECK enum mr_code mr_team_hook_told(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t message_id);
