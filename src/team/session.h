/*
 * team/session.h - by what an agent that comes back is known.
 *
 * Of each agent the last session is kept: what the client calls it (as a digest), where it was
 * started, and whether it has ended. Sessions are noted by macro_start_session.
 */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_session {
	const char *id;    /* the client's word for it, or NULL */
	const char *place; /* the work tree or path that it was started in, or NULL */
};

/*
 * The active agent that had this session; or the last one of this program that was started at this
 * place, when its session has ended or it has been silent since `silent_since`. `*out_id` is 0 when
 * there is none, else `*why` says by what it was known.
 */
MR_CHECK enum mr_code mr_team_session_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const struct mr_team_session *session, const char *program, int64_t silent_since,
	int64_t *out_id, const char **why);
/* Inside a change: this is the agent's session now. */
MR_CHECK enum mr_code mr_team_session_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, const struct mr_team_session *session);
/* The client has gone: its agents keep their names and leases, and may be taken up again. */
MR_CHECK enum mr_code mr_team_session_end(struct mr_ctx *cx, struct mr_team *team, const char *id);
/* Is the agent's session known to have ended? */
MR_CHECK enum mr_code mr_team_session_has_ended(struct mr_ctx *cx, struct mr_db *db,
	int64_t agent_id, bool *out);
/* Leases in force of other agents that were started at this place and whose sessions have ended,
 * oldest first. */
MR_CHECK enum mr_code mr_team_session_left(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_agent *agent, struct mr_team_reservations *out);
