/* op/team/team_summary.c - operations: what conversations came to. */
#include "op/render.h"
#include "op/team/shape_team_summary.h"
#include "op/team/team_ops.h"
#include "team/ask.h"
#include "team/limits.h"
#include "team/summary.h"

#define LLM_PARAMS                                                                                 \
	{ .name = "llm_mode",                                                                      \
		.type = MR_TYPE_BOOL,                                                              \
		.summary = "let the model of llm.endpoint word it, when one is configured",        \
		.fallback = "true" },                                                              \
	{                                                                                          \
		.name = "llm_model", .type = MR_TYPE_TEXT,                                         \
		.summary = "another model than the configured one"                                 \
	}

static const struct mr_param one_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "thread_id",
		.type = MR_TYPE_TEXT,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversation's id, or the number of the message it began with" },
	{ .name = "include_examples",
		.type = MR_TYPE_BOOL,
		.summary = "also say which its first three messages are",
		.fallback = "false" },
	LLM_PARAMS,
	{ 0 },
};

static const struct mr_field one_fields[] = {
	{ .name = "thread_id", .type = MR_TYPE_TEXT },
	{ .name = "summary", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_summary_fields },
	{ .name = "examples",
		.type = MR_TYPE_LIST,
		.summary = "empty unless include_examples",
		.fields = mr_shape_team_example_fields },
	{ 0 },
};

static enum mr_code summarise_one(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	static const struct mr_team_items none;
	bool examples = mr_args_bool(in, "include_examples", false);
	struct mr_team *team;
	struct mr_team_project project;
	struct mr_team_summary summary;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_ask_project(&call->cx, team, mr_args_text(in, "project_key"),
			&project);
	if (!rc)
		rc = mr_team_summary_thread(&call->cx, team, &call->rights, &project.id, 1,
			mr_args_text(in, "thread_id"), 0, mr_args_bool(in, "llm_mode", true),
			mr_args_text(in, "llm_model"), &summary);
	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_text(out, "thread_id", summary.thread_id);
	mr_shape_team_summary(out, "summary", &summary);
	mr_shape_team_examples(out, "examples", examples ? &summary.examples : &none);
	mr_out_end(out);
	return MR_OK;
}

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
	.run = summarise_one,
	.render = mr_render_summary,
};

static const struct mr_param many_params[] = {
	MR_TEAM_PROJECT_PARAM,
	{ .name = "thread_ids",
		.type = MR_TYPE_TEXTS,
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_LENIENT,
		.summary = "the conversations' ids, at most 100" },
	{ .name = "per_thread_limit",
		.type = MR_TYPE_INT,
		.summary = "look at so many messages of each, from its first",
		.fallback = "50" },
	LLM_PARAMS,
	{ 0 },
};

static enum mr_code summarise_many(struct mr_call *call, const struct mr_args *in,
	struct mr_out *out)
{
	struct mr_texts thread_ids = mr_args_texts(call->cx.arena, in, "thread_ids");
	struct mr_team *team;
	struct mr_team_project project;
	struct mr_team_summaries all;
	enum mr_code rc = mr_team_home_open(call, &team);

	if (!rc)
		rc = mr_team_ask_project(&call->cx, team, mr_args_text(in, "project_key"),
			&project);
	if (!rc)
		rc = mr_team_summary_threads(&call->cx, team, &call->rights, &project.id, 1,
			&thread_ids, mr_args_int(in, "per_thread_limit", 50),
			mr_args_bool(in, "llm_mode", true), mr_args_text(in, "llm_model"), &all);
	if (!rc)
		mr_shape_team_summaries(out, &all);
	return rc;
}

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
	.run = summarise_many,
	.render = mr_render_summary,
};
