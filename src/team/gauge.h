/* team/gauge.h - counts of stored and queued items, for /metrics. */
#pragma once

#include "team/store/root.h"

struct mr_team_gauges {
	int64_t reservations; /* active leases */
	int64_t archive_pending;
	uint64_t busy; /* transactions delayed by another process's lock, since the start */
};

MR_CHECK enum mr_code mr_team_gauges(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_gauges *out);

/* Messages of a project. */
struct mr_team_tally {
	const char *slug;
	int64_t messages;
};
struct mr_team_tallies {
	struct mr_team_tally *items;
	size_t len;
};

/* The messages after number `*seen` (0: all), counted for each project that has any; `*seen`
 * becomes the last one's number. */
MR_CHECK enum mr_code mr_team_tally(struct mr_ctx *cx, struct mr_team *team, int64_t *seen,
	struct mr_team_tallies *out);
