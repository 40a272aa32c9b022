/* op/principal.h - who asks over the network, and what they may. */
#pragma once

#include "base/str.h"

#include <stdbool.h>

enum mr_role {
	MR_ROLE_READER = 1, /* what changes nothing */
	MR_ROLE_WRITER = 2, /* what changes something */
	MR_ROLE_ADMIN = 4,  /* overruling others, deleting for good, installing the guard */
};

/* A role implies the ones before it: whoever made this has set them too. */
struct mr_principal {
	const char *name; /* for logs and limits: "sub:alice", "token:1", "local", "anonymous" */
	unsigned roles;   /* enum mr_role */
	bool is_local;    /* let in because it sits on this machine, without proof */
	/* May act as any agent without the agent's own token (AGENT_AUTH): a proven administrator.
	 */
	bool acts_for_all;
	/* The agents it may act as, of a JWT's claim; everyone's when there is no such claim. */
	bool is_bound;
	struct mr_texts agents;
	/* Operations a reader may call although they change something (HTTP_RBAC_READONLY_TOOLS).
	 */
	struct mr_texts readonly_tools;
};
