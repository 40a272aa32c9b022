/* op/team/team_activity.c - operation: how much goes on, and what waits. */
#include "app/pace.h"
#include "op/render.h"
#include "op/team/team_ops.h"
#include "team/archive/archive.h"
#include "team/gauge.h"
#include "team/traffic.h"

struct activity {
	struct mr_team_hour *hours;
	size_t hour_count;
	struct mr_pace_minute *minutes;
	size_t minute_count;
	struct mr_team_gauges gauges;
	int64_t busy;
	struct mr_team_archive_status archive;
	struct mr_team_locks locks;
};

static const struct mr_field hour_fields[] = {
	MR_FIELD_TIME(struct mr_team_hour, begun_us, "begun_ts"),
	MR_FIELD(struct mr_team_hour, messages, "messages"),
	{ 0 },
};
static const struct mr_field minute_fields[] = {
	MR_FIELD_TIME(struct mr_pace_minute, begun_us, "begun_ts"),
	MR_FIELD(struct mr_pace_minute, calls, "operations"),
	MR_FIELD(struct mr_pace_minute, failed, "failed"),
	MR_FIELD(struct mr_pace_minute, median_us, "median_us",
		.summary = "half of them took no longer"),
	MR_FIELD(struct mr_pace_minute, most_us, "p95_us",
		.summary = "nineteen of twenty took no longer"),
	{ 0 },
};
static const struct mr_field archive_fields[] = {
	MR_FIELD(struct mr_team_archive_status, depth, "waiting",
		.summary = "changes that the archive does not show yet"),
	MR_FIELD_TIME(struct mr_team_archive_status, oldest_ts, "oldest_ts", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_team_archive_status, running, "running",
		.summary = "this process archives in the background"),
	MR_FIELD(struct mr_team_archive_status, commits, "commits", .summary = "by this process"),
	MR_FIELD_TIME(struct mr_team_archive_status, failing_since_ts, "failing_since_ts",
		.flags = MR_NULLABLE),
	MR_FIELD(struct mr_team_archive_status, last_error, "last_error", .flags = MR_NULLABLE),
	{ 0 },
};
static const struct mr_field lock_fields[] = {
	MR_FIELD(struct mr_team_lock, project, "project"),
	MR_FIELD(struct mr_team_lock, pid, "pid"),
	MR_FIELD(struct mr_team_lock, is_alive, "is_alive",
		.summary = "false: left by a process that died, which blocks nobody"),
	MR_FIELD_TIME(struct mr_team_lock, since_us, "since_ts"),
	{ 0 },
};
static const struct mr_field fields[] = {
	MR_FIELD_ROWS(struct activity, hours, hour_count, struct mr_team_hour, hour_fields, "hours",
		.summary = "of the last day, the oldest first"),
	MR_FIELD_ROWS(struct activity, minutes, minute_count, struct mr_pace_minute, minute_fields,
		"minutes",
		.summary = "of the last hour in this process, the oldest first; what only waits is "
			   "not counted"),
	MR_FIELD(struct activity, gauges.reservations, "leases", .summary = "that hold now"),
	MR_FIELD(struct activity, busy, "delayed",
		.summary = "writes that another process's lock delayed, since the start"),
	MR_FIELD_STRUCT(struct activity, archive, struct mr_team_archive_status, archive_fields,
		"archive"),
	MR_FIELD_LIST(struct activity, locks, struct mr_team_lock, lock_fields, "locks",
		.summary = "processes that archive now"),
	{ 0 },
};

static enum mr_code look(struct mr_call *call, struct mr_team *team, const struct mr_nothing *asked,
	struct activity *out)
{
	enum mr_code rc;

	(void)asked;
	out->hour_count = MR_TEAM_TRAFFIC_HOURS;
	out->hours = mr_arena_array(call->cx.arena, out->hour_count, sizeof(*out->hours));
	out->minute_count = MR_PACE_MINUTES;
	out->minutes = mr_arena_array(call->cx.arena, out->minute_count, sizeof(*out->minutes));
	rc = mr_team_hours(&call->cx, team, out->hours);
	mr_pace_read(call->app->pace, mr_clock_wall_us(call->cx.clock), out->minutes);
	if (!rc)
		rc = mr_team_gauges(&call->cx, team, &out->gauges);
	out->busy = (int64_t)out->gauges.busy;
	if (!rc)
		rc = mr_team_archive_status(&call->cx, team, &out->archive);
	return rc ? rc : mr_team_archive_locks(&call->cx, team, &out->locks);
}
MR_TEAM_BIND_CALL(activity, look, struct mr_nothing, struct activity);

const struct mr_op mr_op_team_activity = {
	.name = "team_activity",
	.command = "team activity",
	.summary = "How much goes on: messages by the hour, operations by the minute, the "
		   "archive's queue and locks",
	.cluster = "infrastructure",
	.result = fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.bind = &activity,
	.render = mr_render_activity,
};
