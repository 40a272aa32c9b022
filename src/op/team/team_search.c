/* op/team/team_search.c - operations: messages found by what they say. */
#include "op/render.h"
#include "op/team/shape_team_search.h"
#include "op/team/team_ops.h"
#include "team/ask.h"
#include "team/limits.h"

static const char *const alias_cursor[] = { "offset", NULL };
static const char *const orders[] = { "relevance", "newest", NULL };

static const struct mr_param search_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "query",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "words, \"a phrase\", begin*, AND OR NOT -word (), subject: body:, "
			   "from: to: thread: importance: since: until: has:attachment is:unread "
			   "ack:pending" },
	{ .name = "limit",
		.type = MR_TYPE_INT,
		.summary = "how many at most, up to 500",
		.fallback = "20" },
	{ .name = "cursor",
		.type = MR_TYPE_INT,
		.summary = "go on after so many: how many were seen",
		.aliases = alias_cursor,
		.fallback = "0" },
	{ .name = "order",
		.type = MR_TYPE_TEXT,
		.summary = "what comes first",
		.choices = orders,
		.fallback = "relevance" },
	{ .name = "agent_name",
		.type = MR_TYPE_TEXT,
		.flags = MR_ACTOR,
		.summary = "whose is:unread and ack:pending are meant; left out, anybody's",
		.aliases = mr_team_alias_agent },
	{ 0 },
};

static const struct mr_field search_fields[] = {
	{ .name = "result", .type = MR_TYPE_LIST, .fields = mr_shape_team_hit_fields },
	{ .name = "mode",
		.type = MR_TYPE_TEXT,
		.summary = "how the query was read: fts as written, fts_quoted as plain words, "
			   "like in the texts themselves, filters without words" },
	{ 0 },
};

static enum mr_code find(struct mr_call *call, struct mr_team *team, const struct mr_args *in,
	struct mr_team_hits *out)
{
	return mr_team_ask_search(&call->cx, team, &call->rights, mr_args_text(in, "project_key"),
		mr_args_text(in, "agent_name"),
		&(struct mr_team_search){
			.query = mr_args_text(in, "query"),
			.limit = mr_args_int(in, "limit", MR_TEAM_LIST_DEFAULT),
			.offset = mr_args_int(in, "cursor", 0),
			.newest_first = mr_str_eq(mr_args_text(in, "order"), "newest"),
		},
		out);
}

static enum mr_code search(struct mr_call *call, const struct mr_args *in, struct mr_out *out)
{
	struct mr_team *team;
	struct mr_team_hits hits;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = find(call, team, in, &hits);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_hits(out, "result", &hits);
	mr_out_text(out, "mode", mr_team_search_mode_name(hits.mode));
	mr_out_end(out);
	return MR_OK;
}

const struct mr_op mr_op_team_search_messages = {
	.name = "search_messages",
	.command = "team search",
	.summary = "Find messages of a project by what they say",
	.help = "Use it before you ask something that may have been answered already. "
		"Best match first, the subject counting twice; of very many matches the "
		"newest hundreds are ranked. What cannot be understood is looked for as "
		"plain words; only an empty query and a filter that makes no sense are "
		"refused.",
	.cluster = "search",
	.params = search_params,
	.result = search_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.run = search,
	.render = mr_render_hits,
};
