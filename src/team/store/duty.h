/*
 * team/store/duty.h - which of several servers does what one must do alone: archiving, and the
 * timers.
 *
 * A database in a file leaves that to its locks: there every server has the duty. Where the
 * database is on a server, one of all the servers of the team has it. When that one ends, dies,
 * stands still or loses its connection, another one has it within some seconds (data/db.h).
 */
#pragma once

#include "team/store/root.h"

/* Begin to ask for it, on a thread and a connection of its own. mr_team_close() ends it. */
MR_CHECK enum mr_code mr_team_duty_start(struct mr_ctx *cx, struct mr_team *team);
/* Let it go, so that another server need not wait. Nothing happens when it was not started. */
void mr_team_duty_stop(struct mr_team *team);
/* How the database's server stood some seconds ago, without asking it; false when that is not
 * known.
 */
bool mr_team_duty_server(struct mr_team *team, struct mr_db_server *out);
/* Has this process the duty now? One that never asked for it has. Cheap, from any thread. */
bool mr_team_duty_is_mine(struct mr_team *team);
