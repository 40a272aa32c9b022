/* op/team/shape_team_search.h - search hits as JSON objects of the team contract. */
#pragma once

#include "op/op.h"
#include "team/search.h"
#include "text/out.h"

extern const struct mr_field mr_shape_team_hit_fields[];

/* For a field that is the member `mode` of struct mr_team_hits: its name. */
void mr_shape_team_search_mode(struct mr_out *out, const char *key, const void *from);
