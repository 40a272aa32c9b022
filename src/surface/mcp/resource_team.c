/* surface/mcp/resource_team.c - resources that show results of the team's operations. */
#include "op/team/view.h"
#include "surface/mcp/resources.h"

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
	const struct mr_view view = mr_mcp_resource_view(r);
	struct mr_team_project project;
	struct mr_team_agent agent;
	const struct mr_value *result;
	enum mr_code rc = mr_view_find_agent(&view, &project, &agent);

	if (!rc) {
		const char *args[] = { "project_key", project.slug, "agent_name", agent.name,
			NULL };

		rc = mr_mcp_resource_ask(r, "list_contacts", args, &result);
	}
	if (!rc)
		mr_out_value(out, NULL, result);
	return rc;
}
