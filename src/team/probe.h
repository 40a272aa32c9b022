/* team/probe.h - is a team's storage well? Asked by doing what it is for. */
#pragma once

#include "team/store/root.h"

enum mr_team_status {
	MR_TEAM_WELL,
	MR_TEAM_DEGRADED, /* mail works; the archive does not, or soon nothing will */
	MR_TEAM_DOWN,     /* mail cannot be read or kept */
};

struct mr_team_health {
	enum mr_team_status status;
	struct mr_texts problems; /* for people, the worst first */
	int64_t projects;
	int64_t archive_pending; /* changes the archive does not show yet */
};

/* Reads and commits in the database, and looks at the archive's place. What is wrong is a result,
 * not an error. */
void mr_team_probe(struct mr_ctx *cx, struct mr_team *team, struct mr_team_health *out);

/* "ok", "degraded", "error" */
const char *mr_team_status_name(enum mr_team_status status);
