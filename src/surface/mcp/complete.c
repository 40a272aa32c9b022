/* surface/mcp/complete.c - completion/complete: what an argument that was begun may become. */
#include "base/attr.h"
#include "op/agent_auth.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/prompts.h"
#include "surface/mcp/resources.h"
#include "team/agent.h"
#include "team/product.h"
#include "team/thread.h"

#include <string.h>
#include <strings.h>

enum { VALUES = 100, LOOKED_AT = 1000 };

/* What an argument is about; by its name, which is the same in prompts and templates. */
enum subject { NOTHING, PROJECT, AGENT, THREAD, PRODUCT, FLAG };

static const struct {
	const char *name;
	enum subject subject;
} subjects[] = {
	{ "active_only", FLAG },
	{ "agent", AGENT },
	{ "fence", FLAG },
	{ "from", AGENT },
	{ "include_bodies", FLAG },
	{ "project", PROJECT },
	{ "project_key", PROJECT },
	{ "slug", PROJECT },
	{ "thread_id", THREAD },
	{ "to", AGENT },
	{ "uid", PRODUCT },
	{ "urgent_only", FLAG },
};

struct completing {
	struct mr_mcp_exchange *ex;
	struct mr_db *db;
	const char *begun;
	const char *project; /* that was chosen before, or NULL */
	struct mr_texts found;
};

static enum subject subject_of(const char *name)
{
	for (size_t i = 0; i < MR_LEN(subjects); i++) {
		if (mr_str_eq(subjects[i].name, name))
			return subjects[i].subject;
	}
	return NOTHING;
}

/* Begins so, in any case. */
static void offer(struct completing *c, const char *value)
{
	if (value && c->found.len < LOOKED_AT &&
		strncasecmp(value, c->begun, strlen(c->begun)) == 0)
		c->found.items[c->found.len++] = value;
}

static enum mr_code offer_projects(struct completing *c)
{
	struct mr_team_projects projects;
	enum mr_code rc = mr_team_project_list(&c->ex->call.cx, c->db, &projects);

	for (size_t i = 0; !rc && i < projects.len; i++) {
		size_t before = c->found.len;

		offer(c, projects.items[i].slug);
		/* Who begins with the path wants the path. */
		if (c->found.len == before && *c->begun == '/')
			offer(c, projects.items[i].human_key);
	}
	return rc;
}

/* 0 when none was chosen, or none that we know. */
static enum mr_code chosen_project(struct completing *c, int64_t *out)
{
	struct mr_ctx *cx = &c->ex->call.cx;
	struct mr_team_project project;
	enum mr_code rc;

	*out = 0;
	if (!c->project)
		return MR_OK;
	rc = mr_team_project_find(cx, c->db, c->project, &project);
	if (!rc)
		*out = project.id;
	return rc == MR_ENOTFOUND || rc == MR_EINVAL ? MR_OK : rc;
}

static enum mr_code offer_agents(struct completing *c)
{
	int64_t project_id;
	enum mr_code rc = chosen_project(c, &project_id);

	return rc ? rc
		  : mr_team_agent_complete(&c->ex->call.cx, c->db, project_id, c->begun, LOOKED_AT,
			    &c->found);
}

static enum mr_code offer_threads_of(struct completing *c, int64_t project_id)
{
	struct mr_team_threads threads;
	enum mr_code rc = mr_team_thread_list(&c->ex->call.cx, c->db, project_id, 0,
		MR_TEAM_LIST_MAX, &threads);

	for (size_t i = 0; !rc && i < threads.len; i++) {
		if (!mr_texts_has(&c->found, threads.items[i].thread_id))
			offer(c, threads.items[i].thread_id);
	}
	return rc;
}

/* Of the project that was chosen; when none was, of the newest few. */
static enum mr_code offer_threads(struct completing *c)
{
	enum { PROJECTS = 5 };
	struct mr_team_projects projects;
	int64_t project_id;
	enum mr_code rc = chosen_project(c, &project_id);

	if (rc || project_id)
		return rc ? rc : offer_threads_of(c, project_id);
	rc = mr_team_project_list(&c->ex->call.cx, c->db, &projects);
	for (size_t i = 0; !rc && i < projects.len && i < PROJECTS; i++)
		rc = offer_threads_of(c, projects.items[projects.len - 1 - i].id);
	return rc;
}

static enum mr_code offer_products(struct completing *c)
{
	struct mr_team_products products;
	enum mr_code rc = mr_team_product_list(&c->ex->call.cx, c->db, &products);

	for (size_t i = 0; !rc && i < products.len; i++)
		offer(c, products.items[i].product_uid);
	return rc;
}

static enum mr_code offer_all(struct completing *c, enum subject subject)
{
	switch (subject) {
	case PROJECT:
		return offer_projects(c);
	case AGENT:
		return offer_agents(c);
	case THREAD:
		return offer_threads(c);
	case PRODUCT:
		return offer_products(c);
	case FLAG:
		offer(c, "true");
		offer(c, "false");
		return MR_OK;
	case NOTHING:
		break;
	}
	return MR_OK;
}

static const char *text_in(const struct mr_value *map, const char *key)
{
	const struct mr_value *value = mr_value_get(map, key);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

/* Is there such a prompt or template? */
static bool is_known(const struct mr_mcp *mcp, const struct mr_value *ref)
{
	const struct mr_mcp_fixtures *fixtures = mr_mcp_options(mcp)->fixtures;
	const char *type = text_in(ref, "type");
	const char *name = text_in(ref, "name");
	const char *uri = text_in(ref, "uri");

	if (fixtures && name && fixtures->is_prompt(name))
		return true;
	return (mr_str_eq(type, "ref/prompt") && name && mr_mcp_prompt_find(name)) ||
		(mr_str_eq(type, "ref/resource") && uri && mr_mcp_resource_template(uri));
}

static void put_values(struct mr_out *out, const struct mr_texts *found)
{
	mr_out_map(out, "completion");
	mr_out_list(out, "values");
	for (size_t i = 0; i < found->len && i < VALUES; i++)
		mr_out_text(out, NULL, found->items[i]);
	mr_out_end(out);
	mr_out_int(out, "total", (int64_t)found->len);
	mr_out_bool(out, "hasMore", found->len > VALUES);
	mr_out_end(out);
}

enum mr_code mr_mcp_complete(struct mr_mcp_exchange *ex, struct mr_out *out)
{
	const struct mr_value *argument = mr_value_get(ex->params, "argument");
	const struct mr_value *chosen =
		mr_value_get(mr_value_get(ex->params, "context"), "arguments");
	const char *name = text_in(argument, "name");
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct completing c = { .ex = ex, .begun = text_in(argument, "value") };
	struct mr_team *team;
	enum mr_code rc;

	if (!name || !c.begun)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "argument needs a name and a value");
	if (!is_known(ex->mcp, mr_value_get(ex->params, "ref")))
		return mr_mcp_refuse(ex, MR_RPC_PARAMS,
			"ref names neither a prompt nor a template of this server");
	c.project = text_in(chosen, "project");
	if (!c.project)
		c.project = text_in(chosen, "project_key");
	c.found.items = mr_arena_array(ex->call.cx.arena, LOOKED_AT + 1, sizeof(*c.found.items));
	rc = mr_team_home_open(&ex->call, &team);
	if (!rc)
		rc = mr_agent_auth_readers(&ex->call, true);
	if (!rc)
		rc = mr_team_read(&ex->call.cx, team, &reader);
	c.db = reader.db;
	if (!rc)
		rc = offer_all(&c, subject_of(name));
	if (!rc)
		put_values(out, &c.found);
	return rc;
}
