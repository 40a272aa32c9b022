/* op/team/shape_team_summary.h - summaries of conversations, as the team contract has them. */
#pragma once

#include "op/op.h"
#include "team/summary.h"
#include "text/out.h"

/* Of struct mr_team_summary: the summary alone, and with the id of its thread. */
extern const struct mr_field mr_shape_team_summary_fields[];
extern const struct mr_field mr_shape_team_thread_summary_fields[];
/* Of a message of its examples, struct mr_team_item. */
extern const struct mr_field mr_shape_team_example_fields[];
/* Of struct mr_team_summaries: what the threads have together, and all of it. */
extern const struct mr_field mr_shape_team_aggregate_fields[];
extern const struct mr_field mr_shape_team_summaries_fields[];
/* For tables of results that may have something else in their place. */
#define MR_SHAPE_TEAM_SUMMARIES_FIELDS(flag)                                                       \
	MR_FIELD_ROWS(struct mr_team_summaries, items, len, struct mr_team_summary,                \
		mr_shape_team_thread_summary_fields, "threads", .flags = (flag)),                  \
		MR_FIELD_SAME(struct mr_team_summaries, mr_shape_team_aggregate_fields,            \
			"aggregate", .flags = (flag))

/* The same written where no table is bound: the summary's object under `key`, the first messages
 * without bodies, and the whole result about several threads. */
void mr_shape_team_summary(struct mr_out *out, const char *key,
	const struct mr_team_summary *summary);
void mr_shape_team_examples(struct mr_out *out, const char *key,
	const struct mr_team_items *examples);
void mr_shape_team_summaries(struct mr_out *out, const struct mr_team_summaries *all);
