/* team/lease/reservation_private.h - what the files about leases share. */
#pragma once

#include "team/archive/archive_queue.h"
#include "team/lease/reservation.h"
#include "team/lease/reservation_sql.h"

/* Inside a change: grant it. Fills in `lease->id`, queues its file. */
MR_CHECK enum mr_code mr_team_lease_grant(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_reservation *lease, const char *prefix, const char *tool);
/*
 * Inside a change: this lease is over from `when` on, and its file follows. `verb` is for the
 * commit's subject: release, expire; `actor` NULL is its holder. `*released` is counted up unless
 * it was over before.
 */
MR_CHECK enum mr_code mr_team_lease_end(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_reservation *lease, const char *verb, const char *actor,
	const char *tool, int64_t when, int64_t *released);
/* Inside a change: end what expired in a project, or in all (0); at most MR_TEAM_SWEEP_BATCH. */
MR_CHECK enum mr_code mr_team_lease_expire(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	int64_t *released);

/*
 * Inside a change: leases that were granted more than MR_TEAM_CLOCK_AHEAD_S from now, when the
 * clock was wrong, begin now, for as long as they were granted; at most MR_TEAM_SWEEP_BATCH.
 */
MR_CHECK enum mr_code mr_team_lease_set_right(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id);

/* Leases that were found stale, and when their holders had last been active. */
struct mr_team_stale {
	const struct mr_team_lease_row **items;
	size_t len;
};
/* Those of `rows` that are stale, as far as the effort goes. Not in a change. */
MR_CHECK enum mr_code mr_team_stale_find(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_lease_row *const *rows, size_t len, struct mr_team_stale *out);
/* Inside a change: end those of them whose holders have not come back meanwhile. */
MR_CHECK enum mr_code mr_team_stale_end(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_stale *stale, int64_t *released);
