/* team/lease/reservation_sql.h - leases in the database. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_lease_row {
	struct mr_team_reservation lease;
	const char *prefix;       /* of its pattern, see mr_glob_literal_prefix() */
	int64_t holder_active_ts; /* when its holder was last active */
};
struct mr_team_lease_rows {
	struct mr_team_lease_row *items;
	size_t len;
};

/* All queries here, NULL-terminated: a test checks that each is answered by an index. */
extern const char *const mr_team_lease_questions[];

MR_CHECK enum mr_code mr_team_lease_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_reservation *lease, const char *prefix, int64_t *out_id);
/* NULL in `*out` when there is no such lease. */
MR_CHECK enum mr_code mr_team_lease_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const struct mr_team_lease_row **out);
/* `*changed` is false when it was released already. */
MR_CHECK enum mr_code mr_team_lease_set_released(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t released_ts, bool *changed);
MR_CHECK enum mr_code mr_team_lease_set_expiry(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t expires_ts);

/* Which leases are near: active ones of a project that somebody else holds. */
struct mr_team_lease_near {
	int64_t project_id;
	int64_t but_agent_id; /* 0: of anybody */
	int64_t now;
	int64_t max; /* 0 is MR_TEAM_LEASES_NEAR */
};
/* These append until there are `max` rows in all, and go no further: those with exactly this
 * prefix, those whose prefix is below it, all of them. */
MR_CHECK enum mr_code mr_team_lease_at(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *prefix, struct mr_team_lease_rows *out);
MR_CHECK enum mr_code mr_team_lease_below(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, const char *prefix, struct mr_team_lease_rows *out);
/* Is any lease of the project open there, whoever has it, and also when it has expired? */
MR_CHECK enum mr_code mr_team_lease_any_below(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *prefix, bool *out);
MR_CHECK enum mr_code mr_team_lease_anywhere(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_lease_near *near, struct mr_team_lease_rows *out);

/* Not released, and granted after a time that is still to come: by a clock that was wrong. */
MR_CHECK enum mr_code mr_team_lease_ahead(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t created_after, int64_t limit, struct mr_team_lease_rows *out);
MR_CHECK enum mr_code mr_team_lease_set_times(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	int64_t created_ts, int64_t expires_ts);

/* What an agent has not released, newest first, at most `limit`. */
MR_CHECK enum mr_code mr_team_lease_of(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t limit, struct mr_team_lease_rows *out);
/* Not released, but over; of one project, or of all (0). */
MR_CHECK enum mr_code mr_team_lease_expired(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, int64_t limit, struct mr_team_lease_rows *out);
/* Active ones whose holders were last active before that time, the longest inactive first. */
MR_CHECK enum mr_code mr_team_lease_idle(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, int64_t active_before, int64_t limit, struct mr_team_lease_rows *out);
/* The newest of a project, oldest first. */
MR_CHECK enum mr_code mr_team_lease_list(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t now, bool active_only, int64_t before, int64_t limit,
	struct mr_team_lease_rows *out);

/* When an agent last sent, read or acknowledged something; 0 is never. */
MR_CHECK enum mr_code mr_team_lease_mail_ts(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t *out);
