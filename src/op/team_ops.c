/* op/team_ops.c */
#include "op/team_ops.h"

const char *const mr_team_alias_project[] = { "project_slug", "project", "human_key", NULL };
const char *const mr_team_alias_agent[] = { "agent", NULL };
