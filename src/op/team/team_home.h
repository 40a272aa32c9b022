/*
 * op/team/team_home.h - the team's storage of this program: opened when first asked for, then
 * shared.
 *
 * Guards itself. A command opens it, works, and at its end archives what it has queued; a server
 * keeps it open and archives in the background.
 */
#pragma once

#include "op/call.h"
#include "team/probe.h"
#include "team/store/root.h"

struct mr_team_home;

struct mr_team_home *mr_team_home_new(void);
/* Archives what is queued, for some seconds at most, and closes. NULL is fine. */
void mr_team_home_free(struct mr_team_home *home);
/* For MR_CLEANUP. */
void mr_team_home_freep(struct mr_team_home **home);

/* The team of this call's program, open. It stays the home's. Operations get it from their
 * contract (op/team/contract_team.h). */
MR_CHECK enum mr_code mr_team_home_open(struct mr_call *call, struct mr_team **out);
/* For what asks about a team that may not open: is it healthy, and (unless NULL) which file is its
 * database? */
MR_CHECK enum mr_code mr_team_home_probe(struct mr_call *call, struct mr_team_health *out,
	const char **database);
/* The same: mr_team_pulse() of team/store/pulse.h. */
MR_CHECK enum mr_code mr_team_home_pulse(struct mr_call *call, int max_age_ms, int wait_ms);
/* How the database's server stands, where there is one and this is a server, too: costs nothing. */
bool mr_team_home_server(struct mr_call *call, struct mr_db_server *out);
/* For a server: open it now, and start the background work. It ends with the home. */
MR_CHECK enum mr_code mr_team_home_serve(struct mr_call *call);
/* The client whose session this is has gone. A failure is logged: nobody is there to be told. */
void mr_team_home_session_end(struct mr_call *call, const char *session);
/* Update the metrics about messages, leases and the archive; a value that cannot be read stays
 * as it was. */
void mr_team_home_measure(struct mr_call *call);
/* The database that a text names, as engines take it. `source` is what an error calls the text,
 * which it does not show: it may hold a password. */
MR_CHECK enum mr_code mr_team_home_database(struct mr_call *call, const char *url,
	const char *source, const char **out);
/* What the settings say about it. */
MR_CHECK enum mr_code mr_team_home_config(struct mr_call *call, struct mr_team_config *out);
