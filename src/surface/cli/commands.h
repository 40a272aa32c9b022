/*
 * surface/cli/commands.h - commands about the command line itself. They stand in the table like any
 * other, so that help and completion know them, but write to the screen directly.
 */
#pragma once

#include "op/op.h"

/* completion.c's scripts */
extern const struct mr_op mr_op_completion;
/* manual.c's pages */
extern const struct mr_op mr_op_manual;
/* help for the words that follow */
extern const struct mr_op mr_op_help;
/* follow.c: an inbox as it fills */
extern const struct mr_op mr_op_team_watch;
/* demo.c: a server with sample mail, until a signal ends it */
extern const struct mr_op mr_op_demo;
/* gateway.c: one agent's mail over HTTP, until a signal ends it */
extern const struct mr_op mr_op_gateway;
/* mcp_stdio.c: MCP on standard input and output */
extern const struct mr_op mr_op_mcp;
/* serve.c: the HTTP server, until a signal ends it */
extern const struct mr_op mr_op_serve;
