/* app/principal.h - the authenticated client of a network request, and its rights. */
#pragma once

#include "base/str.h"

#include <stdbool.h>

enum mr_role {
	MR_ROLE_READER = 1, /* what changes nothing */
	MR_ROLE_WRITER = 2, /* what changes something */
	MR_ROLE_ADMIN = 4,  /* overruling other agents, deleting for good, installing the guard */
};

/* An agent of one project, which is named by its key or its slug. */
struct mr_principal_agent {
	const char *name;
	const char *project;
};
struct mr_principal_agents {
	struct mr_principal_agent *items;
	size_t len;
};

/* A role implies the ones before it; their bits are set, too. */
struct mr_principal {
	const char *name; /* for logs and limits: "sub:alice", "token:1", "local", "anonymous" */
	unsigned roles;   /* enum mr_role */
	bool is_local; /* let in without a credential: through the Unix socket, or from loopback */
	/* May act as any agent without that agent's token (AGENT_AUTH): a proven administrator. */
	bool acts_for_all;
	/* The agents that a JWT's claim allows it to act as; without such a claim, all. */
	bool is_bound;
	struct mr_principal_agents agents;
	/* Operations a reader may call although they change something (HTTP_RBAC_READONLY_TOOLS).
	 */
	struct mr_texts readonly_tools;
};
