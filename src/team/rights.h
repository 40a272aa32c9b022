/* team/rights.h - whose mail may be shown to whoever asks. */
#pragma once

#include <stddef.h>

/*
 * Functions that show mail of several agents take the rights of who asks: only what the readers
 * sent or got is shown, and the rest is as if it were not there. NULL, and the empty struct, are
 * the rights to everybody's mail.
 */
struct mr_team_rights {
	const char *readers; /* the ids of agents as a JSON list; NULL: everybody's */
};

static inline const char *mr_team_readers(const struct mr_team_rights *rights)
{
	return rights ? rights->readers : NULL;
}
