/*
 * surface/cli/outcome.h - what a command says: its result, its failure, and what happens meanwhile,
 * in the words, the format and on the stream that its contract wants.
 */
#pragma once

#include "op/call.h"
#include "op/contract.h"

enum { MR_OUTCOME_BYTES = 256 << 20 };

/* Write to standard output or standard error; the exit status. */
int mr_outcome_write(int fd, const struct mr_buf *text);
/* The stream on which the command's contract tells people of failures. */
int mr_outcome_stream(const struct mr_invocation *how);
/* Run the operation of call->invocation; its result becomes `text`. On failure the reason is in
 * call->cx.err. */
MR_CHECK enum mr_code mr_outcome_run(struct mr_call *call, const struct mr_value *args,
	struct mr_buf *text);
/* Tell of the failure; the exit status. */
int mr_outcome_fail(struct mr_arena *arena, const struct mr_invocation *how,
	const struct mr_err *err);
/* A warning about the settings. */
void mr_outcome_warn(struct mr_arena *arena, const struct mr_invocation *how, const char *text);
/* Write a value as the chosen format has it, at once. */
void mr_outcome_say(const struct mr_invocation *how, const struct mr_value *value);
/* Let the contract say lines about the event, if it wants to; false: it leaves it to the terminal
 * to show people what happens. */
bool mr_outcome_event(const struct mr_invocation *how, const struct mr_event *event);
