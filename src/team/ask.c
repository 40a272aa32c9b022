/* team/ask.c - the queries that operations and surfaces make, each on a borrowed connection. */
#include "team/ask.h"

#include "team/store/root_private.h"

#include "team/error.h"
#include "team/project_sql.h"

/* Begins an answer: `reader` is given back when the function returns. */
#define BORROW(cx, team)                                                                           \
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };                        \
	enum mr_code rc = mr_team_read(cx, team, &reader)

/* ---- projects and agents ---- */

enum mr_code mr_team_ask_project(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_project_find(cx, reader.db, key, out);
}

enum mr_code mr_team_ask_called(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out)
{
	struct mr_team_project project;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, key, &project);
	return rc ? rc : mr_team_project_called(cx, reader.db, project.id, out);
}

enum mr_code mr_team_ask_of(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	struct mr_team_project *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_project_called(cx, reader.db, project_id, out);
}

enum mr_code mr_team_ask_projects(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_projects *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_project_list(cx, reader.db, out);
}

enum mr_code mr_team_ask_agent(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *name, struct mr_team_project *project, struct mr_team_agent *out)
{
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, project);
	return rc ? rc : mr_team_agent_find(cx, reader.db, project, name, false, out);
}

enum mr_code mr_team_ask_agents(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	bool active_only, struct mr_team_project *project, struct mr_team_agents *out)
{
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, project);
	return rc ? rc : mr_team_agent_list(cx, reader.db, project->id, active_only, out);
}

enum mr_code mr_team_ask_unread(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_agents *agents, int64_t most, int64_t *out)
{
	BORROW(cx, team);

	for (size_t i = 0; !rc && i < agents->len; i++) {
		out[i] = 0;
		rc = mr_team_inbox_unread(cx, reader.db, agents->items[i].id, most, &out[i]);
	}
	return rc;
}

/* Each agent with its project. */
static enum mr_code join_projects(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agents *agents, struct mr_team_members *out)
{
	struct mr_team_member *items = mr_arena_array(cx->arena, agents->len, sizeof(*items));

	for (size_t i = 0; i < agents->len; i++) {
		int64_t id = agents->items[i].project_id;
		enum mr_code rc = MR_OK;

		items[i].agent = agents->items[i];
		if (i > 0 && items[i - 1].project.id == id)
			items[i].project = items[i - 1].project;
		else
			rc = mr_team_project_get(cx, db, id, &items[i].project);
		if (rc)
			return rc;
	}
	*out = (struct mr_team_members){ items, agents->len };
	return MR_OK;
}

enum mr_code mr_team_ask_named(struct mr_ctx *cx, struct mr_team *team, const char *name,
	struct mr_team_members *out)
{
	struct mr_team_agents agents;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_agent_elsewhere(cx, reader.db, 0, name, &agents);
	return rc ? rc : join_projects(cx, reader.db, &agents, out);
}

enum mr_code mr_team_ask_members(struct mr_ctx *cx, struct mr_team *team, int64_t after,
	int64_t limit, struct mr_team_members *out)
{
	struct mr_team_agents agents;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_agent_after(cx, reader.db, after, limit, &agents);
	return rc ? rc : join_projects(cx, reader.db, &agents, out);
}

enum mr_code mr_team_ask_names(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	const char *prefix, int64_t limit, struct mr_texts *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_agent_complete(cx, reader.db, project_id, prefix, limit, out);
}

/* ---- who is who ---- */

/* A missing or invalid name is no error here. */
static enum mr_code forgive(struct mr_ctx *cx, enum mr_code rc)
{
	if (rc != MR_ENOTFOUND && rc != MR_EINVAL)
		return rc;
	cx->err = (struct mr_err){ 0 };
	return MR_OK;
}

enum mr_code mr_team_ask_proof(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *name, const char *token, bool *found, struct mr_team_agent *agent,
	struct mr_team_proof *out)
{
	struct mr_team_project project;
	BORROW(cx, team);

	*found = false;
	if (rc)
		return rc;
	rc = mr_team_project_find(cx, reader.db, project_key, &project);
	if (!rc)
		rc = mr_team_agent_find(cx, reader.db, &project, name, false, agent);
	if (rc)
		return forgive(cx, rc);
	*found = true;
	return mr_team_agent_prove(cx, reader.db, agent->id, token, out);
}

enum mr_code mr_team_ask_token(struct mr_ctx *cx, struct mr_team *team, const char *token,
	int64_t *out_id)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_agent_of_token(cx, reader.db, token, out_id);
}

bool mr_team_project_is(const struct mr_team_project *project, const char *key)
{
	return mr_str_eq(project->human_key, key) || mr_str_eq(project->slug, key);
}

enum mr_code mr_team_ask_claimed(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *name, int64_t *out_id)
{
	struct mr_team_project project;
	struct mr_team_agent agent;
	bool found = false;
	BORROW(cx, team);

	*out_id = 0;
	if (rc)
		return rc;
	rc = mr_team_project_find(cx, reader.db, project_key, &project);
	if (!rc && mr_team_project_is(&project, project_key))
		rc = mr_team_agent_seek(cx, reader.db, project.id, name, &found, &agent);
	if (!rc && found)
		*out_id = agent.id;
	return forgive(cx, rc);
}

/* ---- mail ---- */

enum mr_code mr_team_ask_message(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, int64_t message_id,
	const char *viewer, struct mr_team_item *out)
{
	struct mr_team_project project;
	struct mr_team_agent agent;
	BORROW(cx, team);

	if (!rc && project_key)
		rc = mr_team_project_find(cx, reader.db, project_key, &project);
	if (!rc && project_key && viewer)
		rc = mr_team_agent_find(cx, reader.db, &project, viewer, false, &agent);
	return rc ? rc
		  : mr_team_message_get(cx, reader.db, rights, project_key ? &project : NULL,
			    message_id, project_key && viewer ? &agent : NULL, out);
}

enum mr_code mr_team_ask_thread(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *thread_id,
	bool include_bodies, int64_t after, int64_t limit, struct mr_team_project *project,
	struct mr_team_items *out)
{
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, project);
	return rc ? rc
		  : mr_team_thread_get(cx, reader.db, rights, project->id, thread_id,
			    include_bodies, after, limit, out);
}

enum mr_code mr_team_ask_thread_newest(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *thread_id,
	bool include_bodies, int64_t before, int64_t limit, struct mr_team_project *project,
	struct mr_team_items *out)
{
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, project);
	return rc ? rc
		  : mr_team_thread_newest(cx, reader.db, rights, project->id, thread_id,
			    include_bodies, before, limit, out);
}

enum mr_code mr_team_ask_threads(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, int64_t before, int64_t limit,
	struct mr_team_threads *out)
{
	struct mr_team_project project;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, &project);
	return rc ? rc : mr_team_thread_list(cx, reader.db, rights, project.id, before, limit, out);
}

enum mr_code mr_team_ask_latest(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *agent_name,
	const struct mr_team_latest_query *query, struct mr_team_latests *out)
{
	struct mr_team_latest_query asked = *query;
	struct mr_team_project project = { 0 };
	struct mr_team_agent agent = { 0 };
	BORROW(cx, team);

	if (!project_key && agent_name)
		return mr_team_refuse(cx, "project_key",
			"project_key is missing: agents are of one project");
	if (!rc && project_key)
		rc = mr_team_project_find(cx, reader.db, project_key, &project);
	if (!rc && agent_name)
		rc = mr_team_agent_find(cx, reader.db, &project, agent_name, false, &agent);
	asked.project_id = project.id;
	asked.agent_id = agent.id;
	asked.heads = team->hooks.heads;
	return rc ? rc : mr_team_latest_list(cx, reader.db, rights, &asked, out);
}

enum mr_code mr_team_ask_thread_projects(struct mr_ctx *cx, struct mr_team *team,
	const char *thread_id, struct mr_team_projects *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_thread_projects(cx, reader.db, thread_id, out);
}

enum mr_code mr_team_ask_search(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *agent_name,
	const struct mr_team_search *search, struct mr_team_hits *out)
{
	struct mr_team_search asked = *search;
	struct mr_team_agent agent = { 0 };
	struct mr_team_project project = { 0 };
	BORROW(cx, team);

	if (!rc && project_key)
		rc = mr_team_project_find(cx, reader.db, project_key, &project);
	if (!rc && agent_name)
		rc = mr_team_agent_find(cx, reader.db, &project, agent_name, false, &agent);
	if (rc)
		return rc;
	asked.project_ids = &project.id;
	asked.project_count = project_key ? 1 : 0;
	asked.agent_id = agent.id;
	asked.rights = rights;
	return mr_team_search(cx, reader.db, &asked, out);
}

enum mr_code mr_team_ask_contacts(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *agent_name, const char *status, struct mr_team_agent *agent,
	struct mr_team_links *out)
{
	struct mr_team_project project;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_agent_resolve(cx, team, reader.db, project_key, agent_name, &project,
			agent);
	return rc ? rc : mr_team_contact_list(cx, reader.db, agent->id, status, out);
}

enum mr_code mr_team_ask_project_contacts(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *status, struct mr_team_project *project,
	struct mr_team_links *out)
{
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, project);
	return rc ? rc : mr_team_contact_list_project(cx, reader.db, project->id, status, out);
}

/* ---- products ---- */

enum mr_code mr_team_ask_product(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_product *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_product_find(cx, reader.db, key, out);
}

enum mr_code mr_team_ask_products(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_products *out)
{
	BORROW(cx, team);

	return rc ? rc : mr_team_product_list(cx, reader.db, out);
}

enum mr_code mr_team_ask_product_inbox(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *key, int64_t before, int64_t limit,
	bool include_bodies, struct mr_team_items *out)
{
	struct mr_team_product product;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_product_find(cx, reader.db, key, &product);
	return rc ? rc
		  : mr_team_product_inbox(cx, reader.db, rights, &product, before, limit,
			    include_bodies, out);
}

void mr_team_product_ids(struct mr_arena *arena, const struct mr_team_product *product,
	const int64_t **out, size_t *len)
{
	int64_t *ids = mr_arena_array(arena, product->projects.len + 1, sizeof(*ids));

	for (size_t i = 0; i < product->projects.len; i++)
		ids[i] = product->projects.items[i].id;
	*out = ids;
	*len = product->projects.len;
}

enum mr_code mr_team_ask_product_search(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *key, const struct mr_team_search *search,
	struct mr_team_hits *out)
{
	struct mr_team_search asked = *search;
	struct mr_team_product product;
	BORROW(cx, team);

	if (!rc)
		rc = mr_team_product_find(cx, reader.db, key, &product);
	if (rc)
		return rc;
	mr_team_product_ids(cx->arena, &product, &asked.project_ids, &asked.project_count);
	asked.rights = rights;
	return mr_team_search(cx, reader.db, &asked, out);
}
