/* app/principal.h - who asks over the network, and what they may. */
#pragma once

#include "base/str.h"

#include <stdbool.h>

enum mr_role {
	MR_ROLE_READER = 1, /* what changes nothing */
	MR_ROLE_WRITER = 2, /* what changes something */
	MR_ROLE_ADMIN = 4,  /* overruling others, deleting for good, installing the guard */
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

/* A role implies the ones before it: whoever made this has set them too. */
struct mr_principal {
	const char *name; /* for logs and limits: "sub:alice", "token:1", "local", "anonymous" */
	unsigned roles;   /* enum mr_role */
	bool is_local; /* let in without a credential: through the Unix socket, or from loopback */
	/* May act as any agent without the agent's own token (AGENT_AUTH): a proven administrator.
	 */
	bool acts_for_all;
	/* The agents it may act as, of a JWT's claim; everyone's when there is no such claim. */
	bool is_bound;
	struct mr_principal_agents agents;
	/* Operations a reader may call although they change something (HTTP_RBAC_READONLY_TOOLS).
	 */
	struct mr_texts readonly_tools;
};
