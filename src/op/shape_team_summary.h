/* op/shape_team_summary.h - summaries of conversations, as the team contract has them. */
#pragma once

#include "op/op.h"
#include "op/out.h"
#include "team/summary.h"

extern const struct mr_field mr_shape_team_summary_fields[];
extern const struct mr_field mr_shape_team_mention_fields[];
extern const struct mr_field mr_shape_team_example_fields[];

/* The summary's object under `key`; code_references only when there are some. */
void mr_shape_team_summary(struct mr_out *out, const char *key,
	const struct mr_team_summary *summary);
void mr_shape_team_mentions(struct mr_out *out, const char *key,
	const struct mr_team_mention *mentions, size_t count);
/* The first messages, without bodies. */
void mr_shape_team_examples(struct mr_out *out, const char *key,
	const struct mr_team_items *examples);
