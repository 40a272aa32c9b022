/* team/archive/archive_take.h - taking over the archive (team/archive/archive_place.h). */
#pragma once

#include "team/store/root.h"

/*
 * Keep the archive here from now on, unless somebody else does and `by_force` is not set; and queue
 * what this one lacks. `*here` says whether it is kept here. Interrupted, it is to be called again.
 */
MR_CHECK enum mr_code mr_team_place_take(struct mr_ctx *cx, struct mr_team *team, bool by_force,
	bool *here);
