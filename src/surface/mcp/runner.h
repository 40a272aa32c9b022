/*
 * surface/mcp/runner.h - threads for calls that may wait for long: a bounded number, each started
 * when it is needed.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct mr_mcp_runner;

/* At most `max` at once. */
struct mr_mcp_runner *mr_mcp_runner_new(unsigned max);
/* Take one of the places. MR_ELIMIT when there is none, MR_EBUSY after stop. */
MR_CHECK enum mr_code mr_mcp_runner_enter(struct mr_mcp_runner *runner, struct mr_err *err);
/* Give it back unused. */
void mr_mcp_runner_leave(struct mr_mcp_runner *runner);
/* Run `run(arg)` on a thread of its own, in a place that was taken; it is given back afterwards, or
 * when there is no thread to be had. */
MR_CHECK enum mr_code mr_mcp_runner_start(struct mr_mcp_runner *runner, void (*run)(void *arg),
	void *arg, struct mr_err *err);
/* Start no more, and wait for those that run, however long. */
void mr_mcp_runner_stop(struct mr_mcp_runner *runner);
/* Stops first. NULL is fine. */
void mr_mcp_runner_free(struct mr_mcp_runner *runner);
