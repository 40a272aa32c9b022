/* team/follow.h - what happens in a project, as it happens: mail, acknowledgements, leases. */
#pragma once

#include "team/inbox.h"
#include "team/lease/reservation_sql.h"
#include "team/store/changes.h"

/* What a project is like at one moment, as far as changes of it are told. */
struct mr_team_moment {
	int64_t last_message;             /* the newest message of all projects */
	struct mr_team_lease_rows leases; /* that hold, by id */
	struct mr_team_dues dues;         /* acknowledgements that are due, by message and agent */
};

/* The project and how it is now. Fails as mr_team_project_find() does. */
MR_CHECK enum mr_code mr_team_follow_begin(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, struct mr_team_project *project, struct mr_team_moment *out);
/*
 * Wait until it is not as it was, at most `timeout_ms` (below 0: without end), or until
 * cx->is_over.
 * `*found` says whether something has changed; `out` is how it is then, and `mail` the messages
 * that have come, oldest first, without their bodies.
 */
MR_CHECK enum mr_code mr_team_follow_wait(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, const struct mr_team_rights *rights,
	const struct mr_team_moment *before, int64_t timeout_ms, bool *found,
	struct mr_team_moment *out, struct mr_team_items *mail);
