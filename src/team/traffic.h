/* team/traffic.h - who writes to whom. */
#pragma once

#include "team/rights.h"
#include "team/store/root.h"

enum {
	MR_TEAM_TRAFFIC_MESSAGES = 20000, /* that are looked at */
	MR_TEAM_TRAFFIC_PAIRS = 1000,
};

/* How often one agent wrote to another, who may be of another project. */
struct mr_team_traffic_pair {
	const char *from, *to;
	const char *from_project, *to_project; /* slugs */
	int64_t messages, last_ts;
};
struct mr_team_traffic_pairs {
	struct mr_team_traffic_pair *items;
	size_t len;
};
struct mr_team_traffic {
	int64_t messages; /* that were looked at */
	int64_t since_ts; /* of the oldest of them; 0: none */
	struct mr_team_traffic_pairs pairs;
};
enum { MR_TEAM_TRAFFIC_HOURS = 24 };
struct mr_team_hour {
	int64_t begun_us;
	int64_t messages;
};
/* How many messages were sent in all projects in each of the last hours, the oldest first; the last
 * is not over yet. It is told by their numbers, of which a purge leaves some unused. */
MR_CHECK enum mr_code mr_team_hours(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_hour out[MR_TEAM_TRAFFIC_HOURS]);

/*
 * Of the newest `limit` messages (1 .. MR_TEAM_TRAFFIC_MESSAGES) that a project's agents sent, each
 * pair of a sender and a recipient, the busiest first. Only the mail that the rights reach to
 * counts.
 */
MR_CHECK enum mr_code mr_team_traffic(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, int64_t limit,
	struct mr_team_traffic *out);
