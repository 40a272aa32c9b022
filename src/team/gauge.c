/* team/gauge.c - Counts messages, active leases and queued archive rows for the metrics. */
#include "team/gauge.h"

#include "team/gauge_sql.h"
#include "team/store/root_private.h"

enum mr_code mr_team_gauges(struct mr_ctx *cx, struct mr_team *team, struct mr_team_gauges *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_queue_stats stats;
	struct mr_team_gauges gauges;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_gauge_counts(cx, reader.db, &gauges);
	if (rc)
		return rc;
	mr_queue_stats(team->queue, &stats);
	gauges.busy = stats.busy;
	*out = gauges;
	return MR_OK;
}

enum mr_code mr_team_tally(struct mr_ctx *cx, struct mr_team *team, int64_t *seen,
	struct mr_team_tallies *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_gauge_tally(cx, reader.db, seen, out);
}
