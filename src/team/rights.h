/* team/rights.h - the agents whose mail a caller may see. */
#pragma once

#include <stddef.h>

/*
 * Functions that show mail of several agents take the caller's rights: only what the readers sent
 * or received is shown, and the rest is treated as missing. NULL, and the empty struct, mean
 * everybody's mail.
 */
struct mr_team_rights {
	const char *readers; /* the ids of agents as a JSON list; NULL: everybody's */
};

static inline const char *mr_team_readers(const struct mr_team_rights *rights)
{
	return rights ? rights->readers : NULL;
}
