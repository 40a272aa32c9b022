/* op/team_ops.h - what the team's operations share: parameters that many have, and their traits. */
#pragma once

#include "op/args.h"
#include "op/call.h"
#include "op/dispatch.h"
#include "op/envelope_team.h"
#include "op/nouns.h"
#include "op/out.h"
#include "op/shape_team.h"
#include "op/team_home.h"
#include "team/error.h"

/* Aliases that clients of the peers send (spec 6.1); NULL-terminated. */
extern const char *const mr_team_alias_project[];
extern const char *const mr_team_alias_agent[];

#define MR_TEAM_PROJECT_PARAM                                                                      \
	{                                                                                          \
		.name = "project_key", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED | MR_POSITIONAL, \
		.summary = "the project: its path, its slug, or the last part of its path",        \
		.aliases = mr_team_alias_project,                                                  \
	}
#define MR_TEAM_AGENT_PARAM                                                                        \
	{                                                                                          \
		.name = "agent_name", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED | MR_POSITIONAL,  \
		.summary = "the agent's name, in any case", .aliases = mr_team_alias_agent,        \
	}
