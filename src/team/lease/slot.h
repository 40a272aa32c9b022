/* team/lease/slot.h - build slots: a name one agent of a project holds at a time. */
#pragma once

#include "team/agent.h"

struct mr_team_slot {
	int64_t id;
	const char *agent;
	const char *slot_name;
	int64_t created_ts, expires_ts, released_ts;
};
/* Waits up to `wait_s` until it is free. Held: FILE_RESERVATION_CONFLICT with data.holder,
 * data.expires_ts. The holder itself renews it. */
MR_CHECK enum mr_code mr_team_slot_acquire(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, const char *slot_name, int64_t ttl_s,
	int64_t wait_s, struct mr_team_slot *out);
/* Only by the holder. */
MR_CHECK enum mr_code mr_team_slot_renew(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, int64_t id, int64_t ttl_s,
	struct mr_team_slot *out);
MR_CHECK enum mr_code mr_team_slot_release(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, int64_t id, struct mr_team_slot *out);
