/* op/team/shape_team_summary.h - summaries of conversations, as the team contract has them. */
#pragma once

#include "op/op.h"
#include "team/summary.h"
#include "text/out.h"

extern const struct mr_field mr_shape_team_summary_fields[];
extern const struct mr_field mr_shape_team_mention_fields[];
extern const struct mr_field mr_shape_team_example_fields[];
extern const struct mr_field mr_shape_team_thread_summary_fields[];
extern const struct mr_field mr_shape_team_aggregate_fields[];
extern const struct mr_field mr_shape_team_summaries_fields[];
/* For tables of results that may have something else in their place. */
#define MR_SHAPE_TEAM_SUMMARIES_FIELDS(flag)                                                       \
	{ .name = "threads",                                                                       \
		.type = MR_TYPE_LIST,                                                              \
		.flags = (flag),                                                                   \
		.fields = mr_shape_team_thread_summary_fields },                                   \
	{                                                                                          \
		.name = "aggregate", .type = MR_TYPE_OBJECT, .flags = (flag),                      \
		.fields = mr_shape_team_aggregate_fields                                           \
	}

/* The summary's object under `key`; code_references only when there are some. */
void mr_shape_team_summary(struct mr_out *out, const char *key,
	const struct mr_team_summary *summary);
void mr_shape_team_mentions(struct mr_out *out, const char *key,
	const struct mr_team_mention *mentions, size_t count);
/* The first messages, without bodies. */
void mr_shape_team_examples(struct mr_out *out, const char *key,
	const struct mr_team_items *examples);
/* Those of several threads and what they have together, as the whole result. */
void mr_shape_team_summaries(struct mr_out *out, const struct mr_team_summaries *all);
