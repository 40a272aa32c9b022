/*
 * team/open.h - opening and closing a team's storage.
 *
 * The storage (team/store) knows neither archive nor caches: here is what it calls when something
 * was written, or when another database took the place of the one it had open.
 */
#pragma once

#include "team/store/root.h"

/*
 * Open, and make what is missing: directories (0700), database, tables. MR_EFORMAT names a damaged
 * database and `mailroom team rebuild`; so it does when the database is missing or empty while
 * archives with commits are there, since an empty one beside them would hide the loss. MR_EBUSY
 * names one that is still being rebuilt after a while. `clock` must outlive the handle.
 */
MR_CHECK enum mr_code mr_team_open(struct mr_ctx *cx, const struct mr_team_config *config,
	struct mr_team **out);
/* Finishes the waiting changes, then archives what is queued, for at most `drain_ms`. NULL is
 * fine. */
void mr_team_close(struct mr_team *team, int drain_ms);
/* For MR_CLEANUP: closes without archiving; the queue keeps. */
void mr_team_closep(struct mr_team **team);
