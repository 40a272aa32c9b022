/* team/inbox_wait.h - waiting for new messages in an inbox. */
#pragma once

#include "team/inbox.h"

/* An inbox, and the message up to which it has been seen. */
struct mr_team_inbox_place {
	struct mr_team_agent agent;
	int64_t after; /* the id of the last message that was returned or skipped */
};

/*
 * Where to begin: after the newest message there is, or where `since` says: a message's id, or a
 * time, of which everything later counts. Fails as mr_team_agent_resolve() does, and for a text
 * that is neither.
 */
MR_CHECK enum mr_code mr_team_inbox_place(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, const char *since,
	struct mr_team_inbox_place *out);
/*
 * Wait until mail has come to that place, at most `timeout_ms` (0: look once; below 0: without
 * end), or until cx->is_over. The oldest `limit` messages after the place are the answer, oldest
 * first, and the place moves behind them; none when the wait ended without mail.
 */
MR_CHECK enum mr_code mr_team_inbox_wait(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_inbox_place *place, bool include_bodies, int64_t limit, int64_t timeout_ms,
	struct mr_team_items *out);
