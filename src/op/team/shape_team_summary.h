/* op/team/shape_team_summary.h - summaries of conversations, as the team contract has them. */
#pragma once

#include "op/op.h"
#include "team/summary.h"

/* Of struct mr_team_summary: the summary alone, and with the id of its thread. */
extern const struct mr_field mr_shape_team_summary_fields[];
extern const struct mr_field mr_shape_team_thread_summary_fields[];
/* Of a message of its examples, struct mr_team_item. */
extern const struct mr_field mr_shape_team_example_fields[];
/* Of struct mr_team_summaries: what the threads have together, and all of it. */
extern const struct mr_field mr_shape_team_aggregate_fields[];
extern const struct mr_field mr_shape_team_summaries_fields[];
