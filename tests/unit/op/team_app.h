/* tests/unit/op/team_app.h - a program with a team's storage in test_dir(), and a call of it. */
#pragma once

#include "op/call.h"
#include "team/store/root.h"
#include "text/value.h"

struct team_app {
	struct mr_arena *arena;
	struct mr_app app;
	struct mr_call call;
	struct mr_team *team;
};

void team_app_open(struct team_app *t);
void team_app_close(struct team_app *t);
/* The result of an operation, which must work; `json` is what was sent. */
const struct mr_value *team_app_run(struct team_app *t, const char *op, const char *json);
/* Register an agent; its project is made when it is not there. */
void team_app_join(struct team_app *t, const char *project_key, const char *name);
