/*
 * surface/mcp/stdio.h - MCP over a pair of descriptors: one JSON-RPC message a line.
 *
 * Both generations, on the same descriptors. Requests are worked on at once by a bounded number of
 * threads, so answers come in the order they are ready; calls that wait have threads of their own
 * kind. A line that is too long is dropped and answered with an error. A client that cancels a
 * request gets no answer to it.
 */
#pragma once

#include "surface/mcp/mcp.h"

enum {
	MR_MCP_STDIO_LINE = 4 << 20, /* bytes of a message, without its newline */
	MR_MCP_STDIO_THREADS = 32,   /* requests worked on at once */
	MR_MCP_STDIO_LONG = 24,      /* of these, calls that wait */
	MR_MCP_STDIO_LISTENING = 16,
	MR_MCP_STDIO_WAITING = 256, /* then nothing more is read for a while */
};

/*
 * Serve what comes from `in` until it ends, or `stop` (or -1) can be read; then answer what has
 * arrived, waiting for nobody. MR_EIO when `in` cannot be read. SIGPIPE must be ignored.
 */
MR_CHECK enum mr_code mr_mcp_stdio_serve(struct mr_mcp *mcp, int in, int out, int stop,
	struct mr_err *err);
