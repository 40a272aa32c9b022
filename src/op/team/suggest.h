/* op/team/suggest.h - completion of arguments: projects, agents, threads and products. */
#pragma once

#include "base/str.h"
#include "op/call.h"

struct mr_team;

enum mr_suggest_subject {
	MR_SUGGEST_NOTHING,
	MR_SUGGEST_FLAG, /* true, false */
	MR_SUGGEST_PROJECT,
	MR_SUGGEST_AGENT,
	MR_SUGGEST_THREAD,
	MR_SUGGEST_PRODUCT,
};

enum { MR_SUGGESTIONS = 1000 };

/*
 * Slugs, names and ids that begin with `begun`, in any case, at most MR_SUGGESTIONS: agents and
 * threads of the project of this key (or NULL: of all, threads of the newest few). Of threads those
 * that the caller may see (op/agent_auth.h).
 */
MR_CHECK enum mr_code mr_suggest(struct mr_call *call, struct mr_team *team,
	enum mr_suggest_subject subject, const char *begun, const char *project,
	struct mr_texts *out);
