/*
 * surface/cli/demo.h - what `mailroom demo` shows: a team that works, and a workspace with mail.
 *
 * All of it goes through operations, as agents and people use them.
 */
#pragma once

#include "op/call.h"
#include "op/op.h"

/*
 * Run an operation. `pairs` are names and values in turn, and NULL; of a list the values are parted
 * by line ends. `*out` (or NULL) is the result, in the arena of the call.
 */
MR_CHECK enum mr_code mr_demo_ask(struct mr_call *call, const struct mr_op *op,
	const char *const *pairs, const struct mr_value **out);
#define MR_DEMO_PAIRS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* A call with all rights, in an arena of its own: mr_arena_free(call.cx.arena). */
struct mr_call mr_demo_call(const struct mr_app *app);

/* demo_desk.c: make a workspace in the working directory, "desk", with mail that waits for a
 * decision, cases, drafts, and a queue that waits for approval. */
MR_CHECK enum mr_code mr_demo_desk(const struct mr_app *app, struct mr_err *err);

/* demo_team.c */
struct mr_demo_team;
/* Five agents who have worked for a while, and go on: one step every `pace_ms`. `app` must live
 * until it was stopped. */
MR_CHECK enum mr_code mr_demo_team_start(const struct mr_app *app, int pace_ms,
	struct mr_demo_team **out, struct mr_err *err);
/* Stop, wait for the step that is being taken, and free. NULL is fine. */
void mr_demo_team_stop(struct mr_demo_team *team);
