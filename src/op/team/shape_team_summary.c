/* op/team/shape_team_summary.c - summaries of conversations, as the team contract shows them. */
#include "op/team/shape_team_summary.h"

static const struct mr_field mention_fields[] = {
	MR_FIELD(struct mr_team_mention, name, "name"),
	MR_FIELD(struct mr_team_mention, count, "count"),
	{ 0 },
};

const struct mr_field mr_shape_team_example_fields[] = {
	MR_FIELD(struct mr_team_item, message.id, "id"),
	MR_FIELD(struct mr_team_item, message.subject, "subject"),
	MR_FIELD(struct mr_team_item, from, "from"),
	MR_FIELD_TIME(struct mr_team_item, message.created_ts, "created_ts"),
	{ 0 },
};

const struct mr_field mr_shape_team_summary_fields[] = {
	MR_FIELD(struct mr_team_summary, participants, "participants",
		.summary = "who wrote, sorted"),
	MR_FIELD(struct mr_team_summary, key_points, "key_points"),
	MR_FIELD(struct mr_team_summary, action_items, "action_items"),
	MR_FIELD(struct mr_team_summary, total_messages, "total_messages"),
	MR_FIELD(struct mr_team_summary, open_actions, "open_actions",
		.summary = "boxes that are not checked"),
	MR_FIELD(struct mr_team_summary, done_actions, "done_actions", .summary = "boxes that are"),
	MR_FIELD_ROWS(struct mr_team_summary, mentions, mention_count, struct mr_team_mention,
		mention_fields, "mentions", .summary = "the most frequent first"),
	MR_FIELD(struct mr_team_summary, code_references, "code_references", .flags = MR_OPTIONAL,
		.summary = "paths in back quotes"),
	MR_FIELD(struct mr_team_summary, source, "source", .summary = "heuristic or llm"),
	{ 0 },
};

const struct mr_field mr_shape_team_thread_summary_fields[] = {
	MR_FIELD(struct mr_team_summary, thread_id, "thread_id"),
	MR_FIELD_SAME(struct mr_team_summary, mr_shape_team_summary_fields, "summary"),
	{ 0 },
};

const struct mr_field mr_shape_team_aggregate_fields[] = {
	MR_FIELD_ROWS(struct mr_team_summaries, mentions, mention_count, struct mr_team_mention,
		mention_fields, "top_mentions"),
	MR_FIELD(struct mr_team_summaries, action_items, "action_items"),
	MR_FIELD(struct mr_team_summaries, key_points, "key_points"),
	MR_FIELD(struct mr_team_summaries, source, "source", .summary = "heuristic or llm"),
	{ 0 },
};

const struct mr_field mr_shape_team_summaries_fields[] = {
	MR_FIELD_ROWS(struct mr_team_summaries, items, len, struct mr_team_summary,
		mr_shape_team_thread_summary_fields, "threads"),
	MR_FIELD_SAME(struct mr_team_summaries, mr_shape_team_aggregate_fields, "aggregate"),
	{ 0 },
};
