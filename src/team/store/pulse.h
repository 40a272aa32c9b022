/* team/store/pulse.h - checks that the database accepts writes, by writing to it. */
#pragma once

#include "team/store/root.h"

/*
 * Commit a small change, and say how that went. Any number of callers share one write, and one that
 * ended less than `max_age_ms` ago is good enough: so asking often costs nothing. MR_ETIMEOUT when
 * it has not ended after `wait_ms`, and nobody else's has; other errors are those of
 * mr_team_write(), and MR_EIO on a disk that has less than a MiB left.
 */
MR_CHECK enum mr_code mr_team_pulse(struct mr_ctx *cx, struct mr_team *team, int max_age_ms,
	int wait_ms);
