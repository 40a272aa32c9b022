/* surface/mcp/complete.c - completion/complete: values for a prompt's or template's argument. */
#include "base/attr.h"
#include "op/team/suggest.h"
#include "surface/mcp/fixtures.h"
#include "surface/mcp/prompts.h"
#include "surface/mcp/resources.h"

enum { VALUES = 100 };

/* What an argument names; told by its own name, which is the same in prompts and templates. */
static const struct {
	const char *name;
	enum mr_suggest_subject subject;
} subjects[] = {
	{ "active_only", MR_SUGGEST_FLAG },
	{ "agent", MR_SUGGEST_AGENT },
	{ "fence", MR_SUGGEST_FLAG },
	{ "from", MR_SUGGEST_AGENT },
	{ "include_bodies", MR_SUGGEST_FLAG },
	{ "project", MR_SUGGEST_PROJECT },
	{ "project_key", MR_SUGGEST_PROJECT },
	{ "slug", MR_SUGGEST_PROJECT },
	{ "thread_id", MR_SUGGEST_THREAD },
	{ "to", MR_SUGGEST_AGENT },
	{ "uid", MR_SUGGEST_PRODUCT },
	{ "urgent_only", MR_SUGGEST_FLAG },
};

static enum mr_suggest_subject subject_of(const char *name)
{
	for (size_t i = 0; i < MR_LEN(subjects); i++) {
		if (mr_str_eq(subjects[i].name, name))
			return subjects[i].subject;
	}
	return MR_SUGGEST_NOTHING;
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
	const char *begun = text_in(argument, "value");
	const char *project = text_in(chosen, "project");
	struct mr_texts found;
	enum mr_code rc;

	if (!name || !begun)
		return mr_mcp_refuse(ex, MR_RPC_PARAMS, "argument needs a name and a value");
	if (!is_known(ex->mcp, mr_value_get(ex->params, "ref")))
		return mr_mcp_refuse(ex, MR_RPC_PARAMS,
			"ref names neither a prompt nor a template of this server");
	if (!project)
		project = text_in(chosen, "project_key");
	rc = mr_mcp_open_team(ex);
	if (!rc)
		rc = mr_suggest(&ex->call, ex->team, subject_of(name), begun, project, &found);
	if (!rc)
		put_values(out, &found);
	return rc;
}
