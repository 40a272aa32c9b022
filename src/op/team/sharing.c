/* op/team/sharing.c - sessions that the servers of a team share, for the surfaces. */
#include "op/team/sharing.h"

#include "op/team/contract_team.h"
#include "op/team/team_home.h"
#include "text/database_url.h"

enum mr_code mr_sharing_open(struct mr_call *call, struct mr_team **out)
{
	struct mr_team_config config;

	*out = NULL;
	/* Settings that are wrong are told to whoever needs the team. */
	if (mr_team_home_config(call, &config) || !config.database ||
		!mr_database_url_is(config.database))
		return MR_OK;
	return mr_contract_team_open(call, out);
}

enum mr_code mr_sharing_secret(struct mr_call *call, struct mr_team *team, const char **out)
{
	return mr_team_client_secret(&call->cx, team, out);
}

enum mr_code mr_sharing_put(struct mr_call *call, struct mr_team *team, const char *digest,
	const struct mr_team_client *client)
{
	return mr_team_client_put(&call->cx, team, digest, client);
}

enum mr_code mr_sharing_get(struct mr_call *call, struct mr_team *team, const char *digest,
	bool *found, struct mr_team_client *out)
{
	return mr_team_client_get(&call->cx, team, digest, found, out);
}

enum mr_code mr_sharing_change(struct mr_call *call, struct mr_team *team,
	const struct mr_team_client_change *change)
{
	return mr_team_client_change(&call->cx, team, change);
}

enum mr_code mr_sharing_last(struct mr_call *call, struct mr_team *team, int64_t *out)
{
	return mr_team_relayed_last(&call->cx, team, out);
}

enum mr_code mr_sharing_wait(struct mr_call *call, struct mr_team *team, const char *self,
	int64_t *after, struct mr_team_relayeds *out)
{
	return mr_team_relayed_wait(&call->cx, team, self, after, out);
}
