/*
 * surface/http/handed.h - listening sockets that the program was started with, as systemd's socket
 * activation hands them over: LISTEN_PID is this process, and LISTEN_FDS are open from 3 on.
 *
 * They stay the service manager's: they are not shut down, and what a Unix socket is called on disk
 * is left alone, so that clients who come while the server restarts wait for it.
 */
#pragma once

#include "base/err.h"

struct mr_http_handed {
	int tcp, local; /* to be closed; -1: none */
};

#define MR_HTTP_HANDED_INIT ((struct mr_http_handed){ -1, -1 })

/*
 * Take them, and the variables out of the environment, so that no child mistakes them for its own.
 * Nothing handed over is success. MR_EINVAL: one that is no listening socket, or a second one of a
 * kind; all are closed then.
 */
MR_CHECK enum mr_code mr_http_handed_take(struct mr_http_handed *out, struct mr_err *err);
/* For MR_CLEANUP. */
void mr_http_handed_close(struct mr_http_handed *handed);
