/* op/team/team_summary.c - operations: summaries of one thread or of several. */
#include "op/render.h"
#include "op/team/shape_team_summary.h"
#include "op/team/team_ops.h"
#include "team/summary.h"

static const struct mr_param one_params[] = {
	MR_TEAM_PROJECT(struct mr_team_summarize),
	MR_PARAM(struct mr_team_summarize, thread_id, "thread_id",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversation's id, or the number of the message it began with"),
	MR_PARAM(struct mr_team_summarize, include_examples, "include_examples",
		.summary = "also say which its first three messages are", .fallback = "false"),
	MR_TEAM_LLM_PARAMS(struct mr_team_summarize),
	{ 0 },
};

static const struct mr_field one_fields[] = {
	MR_FIELD(struct mr_team_summary, thread_id, "thread_id"),
	MR_FIELD_SAME(struct mr_team_summary, mr_shape_team_summary_fields, "summary"),
	MR_FIELD_LIST(struct mr_team_summary, examples, struct mr_team_item,
		mr_shape_team_example_fields, "examples",
		.summary = "empty unless include_examples"),
	{ 0 },
};

static enum mr_code summarize(struct mr_call *call, struct mr_team *team,
	struct mr_team_summarize *request, struct mr_team_summary *out)
{
	request->rights = &call->rights;
	return mr_team_summarize(&call->cx, team, request, out);
}
MR_TEAM_BIND_CALL(summarize_one, summarize, struct mr_team_summarize, struct mr_team_summary);

const struct mr_op mr_op_team_summarize_thread = {
	.name = "summarize_thread",
	.command = "team summarize",
	.summary = "Sum up a conversation: points, actions, mentions, paths",
	.help = "Use it instead of reading a long thread. By its lines: lists, boxes, "
		"TODO, ACTION, FIXME, NEXT, BLOCKED, @names and `paths`. With "
		"llm.endpoint set, a model words points and actions; when it fails or "
		"takes longer than 20 seconds, the lines stand. source says which it was.",
	.cluster = "search",
	.params = one_params,
	.result = one_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL | MR_OPEN_WORLD | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.render = mr_render_summary,
	.bind = &summarize_one,
};

static const struct mr_param many_params[] = {
	MR_TEAM_PROJECT(struct mr_team_summarize_many),
	MR_PARAM(struct mr_team_summarize_many, thread_ids, "thread_ids",
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversations' ids, at most 100"),
	MR_PARAM(struct mr_team_summarize_many, limit, "per_thread_limit",
		.summary = "look at so many messages of each, from its first", .fallback = "50"),
	MR_TEAM_LLM_PARAMS(struct mr_team_summarize_many),
	{ 0 },
};

static enum mr_code summarize_all(struct mr_call *call, struct mr_team *team,
	struct mr_team_summarize_many *request, struct mr_team_summaries *out)
{
	request->rights = &call->rights;
	return mr_team_summarize_many(&call->cx, team, request, out);
}
MR_TEAM_BIND_CALL(summarize_many, summarize_all, struct mr_team_summarize_many,
	struct mr_team_summaries);

const struct mr_op mr_op_team_summarize_threads = {
	.name = "summarize_threads",
	.command = "team summarize-many",
	.summary = "Sum up several conversations, and what they have together",
	.help = "Each as summarize_thread does it; then the mentions, actions and points "
		"of all. Use it to catch up with several at once.",
	.cluster = "search",
	.params = many_params,
	.result = mr_shape_team_summaries_fields,
	.traits = MR_QUOTES | MR_SHARED_MAIL | MR_OPEN_WORLD | MR_WAITS,
	.surfaces = MR_ON_CLI | MR_ON_MCP,
	.contract = &mr_contract_team,
	.render = mr_render_summary,
	.bind = &summarize_many,
};
