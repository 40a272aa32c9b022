/* surface/cli/serve.h - the HTTP server in the foreground, as `serve` and `demo` start it. */
#pragma once

#include "op/call.h"

struct mr_serving {
	const char *host;      /* NULL: http.host */
	int port;              /* 0 takes a free one */
	const char *workspace; /* as mr_tools_work_begin() wants it */
	/* Called once it listens, in place of the usual greeting; `call` is the server's. Or NULL.
	 */
	void (*announce)(void *arg, struct mr_call *call, const char *url);
	void *arg;
};

/* Serve until a signal ends it. */
MR_CHECK enum mr_code mr_serve(struct mr_call *call, const struct mr_serving *how);
