/*
 * surface/http/socket.h - the Unix socket, through which the user who runs the server reaches it.
 *
 * The socket has mode 0600, and each connection's user is asked of the kernel when it is accepted:
 * any other than our own and root is hung up on. A kernel lock on the file PATH.lock says that a
 * server is alive: the socket of a dead one is replaced, that of a live one is left alone.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>

struct mr_http_socket;

/* Gets each accepted connection, and closes it. Called by the socket's own thread. */
typedef void mr_http_socket_take(void *arg, int fd);

/*
 * Listen on `path` and accept connections on a thread. The directory is made with mode 0700 when it
 * is missing. `is_own`: it is for nothing but our sockets, so it must be this user's, and its mode
 * becomes 0700; any other must not be writable by others (MR_EPERM). MR_EBUSY: a server, or some
 * other program, listens there. MR_EINVAL: not a socket, or the path is too long.
 */
MR_CHECK enum mr_code mr_http_socket_start(const char *path, bool is_own,
	const struct mr_clock *clock, mr_http_socket_take *take, void *arg,
	struct mr_http_socket **out, struct mr_err *err);
/* Accept no more, and remove the socket's file. `take` is not called afterwards. NULL is fine. */
void mr_http_socket_free(struct mr_http_socket *sock);
