/* op/team/team_search.c - operation: full-text search in the messages of a project. */
#include "op/render.h"
#include "op/team/shape_team_search.h"
#include "op/team/team_ops.h"
#include "team/ask.h"

static const char *const alias_cursor[] = { "offset", NULL };
static const char *const orders[] = { "relevance", "newest", NULL };

struct search_request {
	const char *project_key, *query, *order, *agent_name;
	int64_t limit, offset;
};

#define QUERY_PARAMS                                                                               \
	MR_PARAM(struct search_request, query, "query", .flags = MR_REQUIRED | MR_POSITIONAL,      \
		.summary = "words, \"a phrase\", begin*, AND OR NOT -word (), subject: body:, "    \
			   "from: to: thread: importance: since: until: has:attachment is:unread " \
			   "ack:pending"),                                                         \
		MR_PARAM(struct search_request, limit, "limit", .flags = MR_KNOWN,                 \
			.summary = "how many at most, up to 500", .fallback = "20"),               \
		MR_PARAM(struct search_request, offset, "cursor", .flags = MR_RARE,                \
			.summary = "go on after so many: how many were seen",                      \
			.aliases = alias_cursor, .fallback = "0"),                                 \
		MR_PARAM(struct search_request, order, "order", .flags = MR_RARE,                  \
			.summary = "what comes first", .choices = orders, .fallback = "relevance")

static const struct mr_param search_params[] = {
	MR_TEAM_PROJECT(struct search_request),
	QUERY_PARAMS,
	MR_PARAM(struct search_request, agent_name, "agent_name", .flags = MR_ACTOR | MR_RARE,
		.summary = "whose is:unread and ack:pending are meant; left out, anybody's",
		.aliases = mr_team_alias_agent),
	{ 0 },
};

static const struct mr_field search_fields[] = {
	MR_FIELD_ROWS(struct mr_team_hits, items, len, struct mr_team_hit, mr_shape_team_hit_fields,
		"result"),
	MR_FIELD(struct mr_team_hits, mode, "mode", .emit = mr_shape_team_search_mode,
		.summary = "how the query was read: fts as written, fts_quoted as plain words, "
			   "like in the texts themselves, filters without words"),
	MR_TEAM_NEXT(struct mr_team_hits, next),
	{ 0 },
};

static enum mr_code find(struct mr_call *call, struct mr_team *team,
	const struct search_request *asked, struct mr_team_hits *out)
{
	return mr_team_ask_search(&call->cx, team, &call->rights, asked->project_key,
		asked->agent_name,
		&(struct mr_team_search){
			.query = asked->query,
			.limit = asked->limit,
			.offset = asked->offset,
			.newest_first = mr_str_eq(asked->order, "newest"),
		},
		out);
}
MR_TEAM_BIND_CALL(search, find, struct search_request, struct mr_team_hits);

const struct mr_op mr_op_team_search_messages = {
	.name = "search_messages",
	.command = "team search",
	.summary = "Find messages of a project by what they say",
	.help = "Look before you ask what may have been answered already. Best match first.",
	.cluster = "search",
	.params = search_params,
	.result = search_fields,
	.traits = MR_TOLD | MR_STANDARD | MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.render = mr_render_hits,
	.bind = &search,
};

static const struct mr_param search_all_params[] = {
	QUERY_PARAMS,
	MR_PARAM(struct search_request, project_key, "project_key",
		.summary = "only in this project", .aliases = mr_team_alias_project),
	{ 0 },
};

const struct mr_op mr_op_team_search_all = {
	.name = "search_all",
	.command = "team search-all",
	.summary = "Find messages of all projects by what they say",
	.help = "For the person who watches; agents search their project.",
	.params = search_all_params,
	.result = search_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_team,
	.render = mr_render_hits,
	.bind = &search,
};
