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
	const char *agent;   /* or NULL */
	const char *project; /* or NULL */
	const char *url, *token;
	const char *socket; /* see struct mr_team_guard_question */
	bool only_socket;
};

/* INVALID_ARGUMENT for an unknown mode. A DATABASE_URL of another program (in its .env) is
 * ignored, and storage.root is used. */
MR_CHECK enum mr_code mr_guard_setup(struct mr_call *call, struct mr_guard_setup *out);
/* What they ask about the leases at `place`; which paths the caller adds. */
struct mr_team_guard_question mr_guard_question(const struct mr_guard_setup *setup,
	const struct mr_team_guard_place *place);
