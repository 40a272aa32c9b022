/* team/probe.h - checks the health of a team's storage by using it. */
#pragma once

#include "data/db.h"
#include "team/store/root.h"

enum mr_team_status {
	MR_TEAM_WELL,
	MR_TEAM_DEGRADED, /* mail works; the archive does not, or the disk is nearly full */
	MR_TEAM_DOWN,     /* mail cannot be read or stored */
};

struct mr_team_health {
	enum mr_team_status status;
	struct mr_texts problems; /* for people, the worst first */
	int64_t projects;
	int64_t archive_pending;    /* changes the archive does not show yet */
	struct mr_db_server server; /* how the database's engine stands */
};

/* Reads and commits in the database, and checks the archive's directory. Problems are part of
 * the result, not errors. */
void mr_team_probe(struct mr_ctx *cx, struct mr_team *team, struct mr_team_health *out);

/* How a server stands, for people. */
const char *mr_team_server_words(struct mr_arena *arena, const struct mr_db_server *server);

/* "ok", "degraded", "error" */
const char *mr_team_status_name(enum mr_team_status status);
