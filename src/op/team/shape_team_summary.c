/* op/team/shape_team_summary.c */
#include "op/team/shape_team_summary.h"

#include "op/team/shape_team.h"

const struct mr_field mr_shape_team_mention_fields[] = {
	{ .name = "name", .type = MR_TYPE_TEXT },
	{ .name = "count", .type = MR_TYPE_INT },
	{ 0 },
};

const struct mr_field mr_shape_team_example_fields[] = {
	{ .name = "id", .type = MR_TYPE_INT },
	{ .name = "subject", .type = MR_TYPE_TEXT },
	{ .name = "from", .type = MR_TYPE_TEXT },
	{ .name = "created_ts", .type = MR_TYPE_TEXT },
	{ 0 },
};

const struct mr_field mr_shape_team_summary_fields[] = {
	{ .name = "participants", .type = MR_TYPE_TEXTS, .summary = "who wrote, sorted" },
	{ .name = "key_points", .type = MR_TYPE_TEXTS },
	{ .name = "action_items", .type = MR_TYPE_TEXTS },
	{ .name = "total_messages", .type = MR_TYPE_INT },
	{ .name = "open_actions", .type = MR_TYPE_INT, .summary = "boxes that are not checked" },
	{ .name = "done_actions", .type = MR_TYPE_INT, .summary = "boxes that are" },
	{ .name = "mentions",
		.type = MR_TYPE_LIST,
		.summary = "the most frequent first",
		.fields = mr_shape_team_mention_fields },
	{ .name = "code_references",
		.type = MR_TYPE_TEXTS,
		.flags = MR_OPTIONAL,
		.summary = "paths in back quotes" },
	{ .name = "source", .type = MR_TYPE_TEXT, .summary = "heuristic or llm" },
	{ 0 },
};

void mr_shape_team_mentions(struct mr_out *out, const char *key,
	const struct mr_team_mention *mentions, size_t count)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < count; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "name", mentions[i].name);
		mr_out_int(out, "count", mentions[i].count);
		mr_out_end(out);
	}
	mr_out_end(out);
}

void mr_shape_team_examples(struct mr_out *out, const char *key,
	const struct mr_team_items *examples)
{
	mr_out_list(out, key);
	for (size_t i = 0; i < examples->len; i++) {
		const struct mr_team_item *item = &examples->items[i];

		mr_out_map(out, NULL);
		mr_out_int(out, "id", item->message.id);
		mr_out_text(out, "subject", item->message.subject);
		mr_out_text(out, "from", item->from);
		mr_shape_team_time(out, "created_ts", item->message.created_ts);
		mr_out_end(out);
	}
	mr_out_end(out);
}

void mr_shape_team_summary(struct mr_out *out, const char *key,
	const struct mr_team_summary *summary)
{
	mr_out_map(out, key);
	mr_out_texts(out, "participants", &summary->participants);
	mr_out_texts(out, "key_points", &summary->key_points);
	mr_out_texts(out, "action_items", &summary->action_items);
	mr_out_int(out, "total_messages", summary->total_messages);
	mr_out_int(out, "open_actions", summary->open_actions);
	mr_out_int(out, "done_actions", summary->done_actions);
	mr_shape_team_mentions(out, "mentions", summary->mentions, summary->mention_count);
	if (summary->code_references.len > 0)
		mr_out_texts(out, "code_references", &summary->code_references);
	mr_out_text(out, "source", summary->source);
	mr_out_end(out);
}

const struct mr_field mr_shape_team_thread_summary_fields[] = {
	{ .name = "thread_id", .type = MR_TYPE_TEXT },
	{ .name = "summary", .type = MR_TYPE_OBJECT, .fields = mr_shape_team_summary_fields },
	{ 0 },
};

const struct mr_field mr_shape_team_aggregate_fields[] = {
	{ .name = "top_mentions", .type = MR_TYPE_LIST, .fields = mr_shape_team_mention_fields },
	{ .name = "action_items", .type = MR_TYPE_TEXTS },
	{ .name = "key_points", .type = MR_TYPE_TEXTS },
	{ .name = "source", .type = MR_TYPE_TEXT, .summary = "heuristic or llm" },
	{ 0 },
};

const struct mr_field mr_shape_team_summaries_fields[] = {
	MR_SHAPE_TEAM_SUMMARIES_FIELDS(0),
	{ 0 },
};

void mr_shape_team_summaries(struct mr_out *out, const struct mr_team_summaries *all)
{
	mr_out_map(out, NULL);
	mr_out_list(out, "threads");
	for (size_t i = 0; i < all->len; i++) {
		mr_out_map(out, NULL);
		mr_out_text(out, "thread_id", all->items[i].thread_id);
		mr_shape_team_summary(out, "summary", &all->items[i]);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_map(out, "aggregate");
	mr_shape_team_mentions(out, "top_mentions", all->mentions, all->mention_count);
	mr_out_texts(out, "action_items", &all->action_items);
	mr_out_texts(out, "key_points", &all->key_points);
	mr_out_text(out, "source", all->source);
	mr_out_end(out);
	mr_out_end(out);
}
