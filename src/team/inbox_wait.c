/* team/inbox_wait.c - finds the starting point of a wait in an inbox, and waits for messages
 * after it. */
#include "team/inbox_wait.h"

#include "team/agent.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/store/wait.h"

/* Page back from the newest message to the given time. */
static enum mr_code find_time(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, const char *since, int64_t *after)
{
	struct mr_team_inbox_query query = {
		.project_key = project_key,
		.agent_name = agent_name,
		.since_ts = since,
		.limit = MR_TEAM_LIST_MAX,
	};

	do {
		struct mr_team_items items;
		enum mr_code rc = mr_team_inbox_fetch(cx, team, &query, &items);

		if (rc)
			return rc;
		if (items.len)
			*after = items.items[items.len - 1].message.id - 1;
		query.cursor = items.next;
	} while (query.cursor);
	return MR_OK;
}

static enum mr_code find_newest(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, struct mr_team_inbox_place *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_agent_resolve(cx, team, reader.db, project_key, agent_name, &project,
			&out->agent);
	return rc ? rc : mr_team_message_last(cx, reader.db, &out->after);
}

enum mr_code mr_team_inbox_place(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, const char *since, struct mr_team_inbox_place *out)
{
	enum mr_code rc = find_newest(cx, team, project_key, agent_name, out);

	/* A number is a message, anything else a time. */
	if (rc || !since || mr_str_to_int(since, &out->after))
		return rc;
	return find_time(cx, team, project_key, agent_name, since, &out->after);
}

struct waiting {
	const struct mr_team_inbox_place *place;
	bool include_bodies;
	int64_t limit;
	struct mr_team_items items;
};

static enum mr_code look(struct mr_ctx *cx, struct mr_team *team, void *arg, bool *found)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct waiting *w = arg;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_inbox_after(cx, reader.db, &w->place->agent, w->place->after,
			w->include_bodies, w->limit, &w->items);
	/* The database also changes for others: only a message of this agent ends the wait. */
	*found = !rc && w->items.len;
	return rc;
}

enum mr_code mr_team_inbox_wait(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_inbox_place *place, bool include_bodies, int64_t limit, int64_t timeout_ms,
	struct mr_team_items *out)
{
	struct waiting w = { .place = place, .include_bodies = include_bodies, .limit = limit };
	struct mr_team_wait wait = {
		.look = look,
		.arg = &w,
		.timeout_ms = timeout_ms,
		.what = "waiting for mail",
	};
	bool found;
	enum mr_code rc = mr_team_wait(cx, team, &wait, &found);

	if (rc)
		return rc;
	*out = found ? w.items : (struct mr_team_items){ 0 };
	if (found)
		place->after = out->items[out->len - 1].message.id;
	return MR_OK;
}
