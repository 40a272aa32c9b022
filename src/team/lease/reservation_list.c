/* team/lease/reservation_list.c - lists leases, and releases expired and stale ones before. */
#include "team/lease/reservation_private.h"
#include "team/limits.h"
#include "text/time.h"

struct sweeping {
	int64_t project_id;
	bool any_ahead; /* some were granted by a clock that was ahead */
	struct mr_team_stale stale;
	int64_t released;
};

static enum mr_code end_expired(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct sweeping *job = arg;

	job->released = 0;
	return mr_team_lease_expire(cx, db, job->project_id, &job->released);
}

static enum mr_code set_right(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct sweeping *job = arg;

	return mr_team_lease_set_right(cx, db, job->project_id);
}

static enum mr_code end_stale(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct sweeping *job = arg;

	job->released = 0;
	return mr_team_stale_end(cx, db, &job->stale, &job->released);
}

/* Find what is to be swept by a reader: a listing that finds nothing must not wait for the
 * writer. */
static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, struct sweeping *job,
	bool *out_expired)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t now = mr_clock_wall_us(cx->clock);
	int64_t away = now - mr_team_config(team)->inactivity_s * MR_TIME_S;
	struct mr_team_lease_rows expired = { 0 };
	struct mr_team_lease_rows ahead = { 0 };
	struct mr_team_lease_rows idle = { 0 };
	const struct mr_team_lease_row **rows;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_lease_expired(cx, reader.db, job->project_id, now, 1, &expired);
	if (!rc)
		rc = mr_team_lease_ahead(cx, reader.db, job->project_id,
			now + MR_TEAM_CLOCK_AHEAD_S * MR_TIME_S, 1, &ahead);
	if (!rc)
		rc = mr_team_lease_idle(cx, reader.db, job->project_id, now, away,
			MR_TEAM_STALE_LEASES, &idle);
	if (rc)
		return rc;
	rows = mr_arena_array(cx->arena, idle.len, sizeof(*rows));
	for (size_t i = 0; i < idle.len; i++)
		rows[i] = &idle.items[i];
	*out_expired = expired.len > 0;
	job->any_ahead = ahead.len > 0;
	return mr_team_stale_find(cx, team, reader.db, rows, idle.len, &job->stale);
}

enum mr_code mr_team_reservation_sweep(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	int64_t *released)
{
	struct sweeping job = { .project_id = project_id };
	int64_t total = 0;
	bool more = false;
	enum mr_code rc = look(cx, team, &job, &more);

	if (!rc && job.any_ahead)
		rc = mr_team_write(cx, team, set_right, NULL, &job);
	while (!rc && more) {
		rc = mr_team_write(cx, team, end_expired, NULL, &job);
		total += rc ? 0 : job.released;
		more = !rc && job.released == MR_TEAM_SWEEP_BATCH;
	}
	if (!rc && job.stale.len) {
		rc = mr_team_write(cx, team, end_stale, NULL, &job);
		total += rc ? 0 : job.released;
	}
	if (!rc)
		*released = total;
	return rc;
}

static enum mr_code find_project(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_project_find(cx, reader.db, key, out);
}

static enum mr_code read_list(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, bool active_only, int64_t before, int64_t limit,
	struct mr_team_leases *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_effort effort = mr_team_effort_default();
	struct mr_team_lease_rows rows = { 0 };
	struct mr_team_leases leases = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_lease_list(cx, reader.db, project->id, mr_clock_wall_us(cx->clock),
			active_only, before, limit + 1, &rows);
	/* One more tells whether there are older ones; it is the first. */
	if (!rc && rows.len > (size_t)limit) {
		rows.items++;
		rows.len--;
		leases.next = rows.items[0].lease.id;
	}
	leases.items = mr_arena_array(cx->arena, rows.len, sizeof(*leases.items));
	for (size_t i = 0; i < rows.len && !rc; i++) {
		struct mr_team_lease *lease = &leases.items[leases.len++];

		lease->reservation = rows.items[i].lease;
		rc = mr_team_staleness(cx, team, reader.db, project, &lease->reservation, &effort,
			&lease->staleness);
	}
	if (!rc)
		*out = leases;
	return rc;
}

enum mr_code mr_team_reservation_list(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, bool active_only, int64_t before, int64_t limit,
	struct mr_team_leases *out)
{
	struct mr_team_project project;
	int64_t released;
	enum mr_code rc = find_project(cx, team, project_key, &project);

	if (limit <= 0 || limit > MR_TEAM_LIST_MAX)
		limit = MR_TEAM_LIST_MAX;
	if (!rc)
		rc = mr_team_reservation_sweep(cx, team, project.id, &released);
	return rc ? rc : read_list(cx, team, &project, active_only, before, limit, out);
}
