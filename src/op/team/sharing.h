/* op/team/sharing.h - sessions that the servers of a team share (team/client.h), for the surfaces.
 */
#pragma once

#include "op/call.h"
#include "team/client.h"

/* The team, when several servers may share it; else `*out` is NULL. */
MR_CHECK enum mr_code mr_sharing_open(struct mr_call *call, struct mr_team **out);
/* The functions of team/client.h. */
MR_CHECK enum mr_code mr_sharing_secret(struct mr_call *call, struct mr_team *team,
	const char **out);
MR_CHECK enum mr_code mr_sharing_put(struct mr_call *call, struct mr_team *team, const char *digest,
	const struct mr_team_client *client);
MR_CHECK enum mr_code mr_sharing_get(struct mr_call *call, struct mr_team *team, const char *digest,
	bool *found, struct mr_team_client *out);
MR_CHECK enum mr_code mr_sharing_change(struct mr_call *call, struct mr_team *team,
	const struct mr_team_client_change *change);
MR_CHECK enum mr_code mr_sharing_last(struct mr_call *call, struct mr_team *team, int64_t *out);
MR_CHECK enum mr_code mr_sharing_wait(struct mr_call *call, struct mr_team *team, const char *self,
	int64_t *after, struct mr_team_relayeds *out);
