/* team/traffic.c - Counts who writes to whom in a project. */
#include "team/traffic.h"

#include "team/project.h"
#include "team/traffic_sql.h"
#include "text/time.h"

enum mr_code mr_team_traffic(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, int64_t limit,
	struct mr_team_traffic *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (limit < 1 || limit > MR_TEAM_TRAFFIC_MESSAGES)
		limit = MR_TEAM_TRAFFIC_MESSAGES;
	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, &project);
	return rc ? rc
		  : mr_team_traffic_rows(cx, reader.db, project.id, mr_team_readers(rights), limit,
			    out);
}

/* The first number from `from` on, below `end`, of a message that was sent at this time or later.
 * Numbers grow with time: a few looks find it among millions. */
static enum mr_code find_number(struct mr_ctx *cx, struct mr_db *db, int64_t time_us, int64_t from,
	int64_t end, int64_t *out)
{
	while (from < end) {
		int64_t middle = from + (end - from) / 2;
		int64_t id = end, created = time_us;
		enum mr_code rc = mr_team_traffic_next(cx, db, middle, &id, &created);

		if (rc)
			return rc;
		if (created >= time_us)
			end = middle;
		else
			from = id + 1;
	}
	*out = from;
	return MR_OK;
}

enum mr_code mr_team_hours(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_hour out[MR_TEAM_TRAFFIC_HOURS])
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	int64_t first = mr_clock_wall_us(cx->clock) / MR_TIME_HOUR - MR_TEAM_TRAFFIC_HOURS + 1;
	int64_t end = 0, from = 1, next = 0;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_traffic_end(cx, reader.db, &end);
	if (!rc)
		rc = find_number(cx, reader.db, first * MR_TIME_HOUR, from, end, &from);
	for (int64_t i = 0; !rc && i < MR_TEAM_TRAFFIC_HOURS; i++) {
		rc = find_number(cx, reader.db, (first + i + 1) * MR_TIME_HOUR, from, end, &next);
		out[i] = (struct mr_team_hour){ (first + i) * MR_TIME_HOUR, rc ? 0 : next - from };
		from = next;
	}
	return rc;
}
