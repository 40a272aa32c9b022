/* team/escalate_sql.h - acknowledgements that are due, and what was done about them. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_due {
	int64_t message_id, message_project_id;
	const char *subject;
	const char *thread_id; /* or NULL */
	const char *sender;
	int64_t created_ts;
	int64_t agent_id, agent_project_id; /* whose acknowledgement is due */
	const char *agent;
	int64_t times;          /* escalated already: 0 to 3 */
	int64_t reservation_id; /* or 0 */
};
struct mr_team_dues {
	struct mr_team_due *items;
	size_t len;
};

extern const char mr_team_escalate_question[];
/* Older than the TTL (twice, four times it when escalated once, twice), oldest first. */
MR_CHECK enum mr_code mr_team_escalate_due(struct mr_ctx *cx, struct mr_db *db, int64_t now,
	int64_t ttl_us, int64_t limit, struct mr_team_dues *out);
MR_CHECK enum mr_code mr_team_escalate_put(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_due *due, int64_t times, int64_t reservation_id);
/* Delete the record; `*out_reservation_id` is the lease that was made for it, or 0. */
MR_CHECK enum mr_code mr_team_escalate_take(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, int64_t *out_reservation_id);
