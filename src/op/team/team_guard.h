/* op/team/team_guard.h - the guard's agent, project, server and mode, from the settings. */
#pragma once

#include "op/args.h"
#include "op/call.h"
#include "team/guard/guard.h"

enum mr_guard_mode { MR_GUARD_BLOCK, MR_GUARD_WARN };

/* What the variables say (spec/coordination.md section 10). */
struct mr_guard_setup {
	struct mr_team_config config;
	enum mr_guard_mode mode;
	bool bypass;
	bool strict;         /* people need a name, too */
	const char *agent;   /* or NULL */
	const char *project; /* or NULL */
	const char *url, *token;
	const char *socket; /* see struct mr_team_guard_question */
	bool only_socket;
};

/* INVALID_ARGUMENT for an unknown mode. A DATABASE_URL of another program (in its .env) is
 * ignored, and storage.root is used. */
MR_CHECK enum mr_code mr_guard_setup(struct mr_call *call, struct mr_guard_setup *out);
/* For a setup whose agent is not said: the client's session, by which its hooks know the agent; or
 * NULL. From the variables that clients set for the programs that they run. */
const char *mr_guard_session(void);
/* Is the caller a coding agent, not a person: is AGENT_NAME set, or a variable that clients set for
 * the programs that they run, or does nobody read standard error on a terminal? */
bool mr_guard_is_agent(const struct mr_guard_setup *setup);
/* What they ask about the leases at `place`; which paths the caller adds. */
struct mr_team_guard_question mr_guard_question(const struct mr_guard_setup *setup,
	const struct mr_team_guard_place *place);

/* --- team_guard_check.c: for team_guard_hook.c, too --- */

MR_CHECK enum mr_code mr_guard_read_stdin(struct mr_call *call, struct mr_bytes *out);
/* Fail with the conflicts of the answer. `what` is commit, push, check or edit: mr_render_guard()
 * words it. */
enum mr_code mr_guard_refuse(struct mr_call *call, const struct mr_team_guard_answer *answer,
	const char *what);
/* For struct mr_contract: tells of such a failure. */
bool mr_guard_tell(struct mr_buf *out, const struct mr_err *err, const struct mr_render *how);
