/* team/timers.h - periodic work of a server: releasing leases, and escalating overdue
 * acknowledgements. */
#pragma once

#include "team/store/root.h"

/* How often, in seconds; 0 is never. */
struct mr_team_timers_config {
	int64_t sweep_s;
	int64_t acks_s;
};

struct mr_team_timers;

/*
 * Start a thread that does both at once, and then at intervals. With neither there is no thread and
 * `*out` is NULL. A failure is logged, and tried again when it is due. While another server has the
 * duty (team/store/duty.h) nothing is done here. `team`, and clock and random
 * source of `cx`, must outlive it.
 */
MR_CHECK enum mr_code mr_team_timers_start(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_timers_config *config, struct mr_team_timers **out);
/* Waits for what it is doing (the first round is never left out), not for what is due. NULL is
 * fine.
 */
void mr_team_timers_stop(struct mr_team_timers *timers);
