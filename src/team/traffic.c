/* team/traffic.c - Counts who writes to whom in a project. */
#include "team/traffic.h"

#include "team/project.h"
#include "team/traffic_sql.h"

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
