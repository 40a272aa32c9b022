/* surface/mcp/resource_team.c - projects, their agents and their leases by their URIs. */
#include "surface/mcp/resources.h"
#include "team/agent.h"
#include "team/product.h"
#include "text/token.h"

/* The list that an operation's result is about. */
static void put_list(struct mr_out *out, const struct mr_value *result)
{
	mr_out_value(out, NULL, mr_value_get(result, "result"));
}

enum mr_code mr_mcp_read_projects(struct mr_mcp_reading *r, struct mr_out *out)
{
	const char *args[] = { NULL };
	const struct mr_value *result;
	enum mr_code rc = mr_mcp_resource_ask(r, "list_projects", args, &result);

	if (!rc)
		put_list(out, result);
	return rc;
}

static enum mr_code find_project(struct mr_mcp_reading *r, struct mr_db *db,
	struct mr_team_project *project, struct mr_team_agents *agents)
{
	struct mr_ctx *cx = &r->ex->call.cx;
	enum mr_code rc = mr_team_project_find(cx, db, r->variable, project);

	return rc ? rc : mr_team_agent_list(cx, db, project->id, true, agents);
}

enum mr_code mr_mcp_read_project(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	struct mr_team_agents agents;
	enum mr_code rc = mr_team_read(&r->ex->call.cx, r->team, &reader);

	if (!rc)
		rc = find_project(r, reader.db, &project, &agents);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_project_members(out, &project);
	mr_out_list(out, "agents");
	for (size_t i = 0; i < agents.len; i++)
		mr_shape_team_agent(out, NULL, &agents.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

enum mr_code mr_mcp_read_agents(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_ctx *cx = &r->ex->call.cx;
	struct mr_team_project project;
	struct mr_team_agents agents;
	enum mr_code rc = mr_team_read(cx, r->team, &reader);

	if (!rc)
		rc = find_project(r, reader.db, &project, &agents);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_map(out, "project");
	mr_out_text(out, "slug", project.slug);
	mr_out_text(out, "human_key", project.human_key);
	mr_out_end(out);
	mr_out_list(out, "agents");
	for (size_t i = 0; i < agents.len; i++) {
		struct mr_team_counts counts;

		rc = mr_team_inbox_counts(cx, reader.db, agents.items[i].id, &counts);
		if (rc)
			return rc;
		mr_out_map(out, NULL);
		mr_shape_team_agent_members(out, &agents.items[i]);
		mr_out_int(out, "unread_count", counts.unread);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

enum mr_code mr_mcp_read_reservations(struct mr_mcp_reading *r, struct mr_out *out)
{
	const char *args[] = { "project_key", r->variable, "active_only",
		mr_uri_flag(&r->uri, "active_only") ? "true" : "false", NULL };
	const struct mr_value *result;
	enum mr_code rc = mr_mcp_resource_ask(r, "list_file_reservations", args, &result);

	if (!rc)
		put_list(out, result);
	return rc;
}

enum mr_code mr_mcp_read_product(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_ctx *cx = &r->ex->call.cx;
	struct mr_team_product product;
	enum mr_code rc = mr_team_read(cx, r->team, &reader);

	if (!rc)
		rc = mr_team_product_find(cx, reader.db, r->variable, &product);
	if (!rc)
		mr_shape_team_product(out, NULL, &product);
	return rc;
}

enum mr_code mr_mcp_read_threads(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_arena *arena = r->ex->call.cx.arena;
	const char *args[] = { "project_key", r->variable, "limit",
		mr_arena_printf(arena, "%lld", (long long)mr_uri_int(&r->uri, "limit", 20)), NULL };
	const struct mr_value *result;
	enum mr_code rc = mr_mcp_resource_ask(r, "list_threads", args, &result);

	if (!rc)
		put_list(out, result);
	return rc;
}

enum mr_code mr_mcp_read_contacts(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_project project;
	struct mr_team_agent agent;
	const struct mr_value *result;
	enum mr_code rc = mr_mcp_resource_agent(r, r->variable, &project, &agent);

	if (!rc) {
		const char *args[] = { "project_key", project.slug, "agent_name", agent.name,
			NULL };

		rc = mr_mcp_resource_ask(r, "list_contacts", args, &result);
	}
	if (!rc)
		mr_out_value(out, NULL, result);
	return rc;
}

/* What is not known is not looked at: what lies on our disk is not for everybody who asks. */
enum mr_code mr_mcp_read_identity(struct mr_mcp_reading *r, struct mr_out *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_ctx *cx = &r->ex->call.cx;
	struct mr_team_project project;
	enum mr_code rc = mr_team_read(cx, r->team, &reader);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, r->variable, &project);
	if (rc && rc != MR_ENOTFOUND)
		return rc;
	mr_out_map(out, NULL);
	mr_out_bool(out, "exists", !rc);
	if (rc) {
		mr_out_text(out, "slug",
			mr_token_slug(cx->arena, r->variable, MR_TEAM_KEY_BYTES, "project"));
		mr_out_text(out, "human_key", r->variable);
		mr_out_text(out, "identity_mode", "dir");
	} else {
		mr_shape_team_project_members(out, &project);
	}
	mr_out_end(out);
	return MR_OK;
}
