/* team/escalate.h - escalates acknowledgements that are overdue. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_overdue {
	int64_t message_id, project_id, agent_id;
	const char *agent;
	const char *subject;
	int64_t age_s;
	int64_t times; /* 1, 2, 3: at 1, 2, 4 times the TTL */
};
struct mr_team_overdues {
	struct mr_team_overdue *items;
	size_t len;
};
/*
 * One scan: acknowledgements that have newly become overdue (or by twice as much) are reported and,
 * as configured, answered by a lease or an overseer's message; each once, even after a crash. Due
 * only from active `to` recipients. At most MR_TEAM_OVERDUE_BATCH: then call again.
 */
MR_CHECK enum mr_code mr_team_escalate(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_overdues *out);
/* Inside the change of an acknowledgement: release the lease, and delete the record. */
MR_CHECK enum mr_code mr_team_escalate_end(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id);
