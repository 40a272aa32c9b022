/*
 * surface/http/socket.h - the Unix socket, through which the user who runs the server reaches it.
 *
 * The socket has mode 0600. A kernel lock on the file PATH.lock shows that a server is alive: the
 * socket of a dead one is replaced, that of a live one is left alone. The accepting server asks the
 * kernel for the user of each connection (mr_local_socket_is_ours()).
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>

struct mr_http_socket;

/*
 * Listen on `path`. The directory is made with mode 0700 when it is missing. `is_own`: it is for
 * nothing but our sockets, so it must be this user's, and its mode becomes 0700; any other must not
 * be writable by others (MR_EPERM). MR_EBUSY: a server, or some other program, listens there.
 * MR_EINVAL: not a socket, or the path is too long.
 */
MR_CHECK enum mr_code mr_http_socket_open(const char *path, bool is_own,
	const struct mr_clock *clock, struct mr_http_socket **out, struct mr_err *err);
/*
 * One that listens already and stays its owner's: neither it nor its file is touched at the end.
 * The socket has a copy of the descriptor; `*out_path` is in the socket's memory.
 */
MR_CHECK enum mr_code mr_http_socket_use(int fd, const char **out_path, struct mr_http_socket **out,
	struct mr_err *err);
/* The descriptor to accept from, which does not block; it stays the socket's. */
int mr_http_socket_fd(const struct mr_http_socket *sock);
/* No client can connect any more, and another server may take the path. NULL or twice is fine. */
void mr_http_socket_end(struct mr_http_socket *sock);
/* Ends it, and closes the descriptor. NULL is fine. */
void mr_http_socket_free(struct mr_http_socket *sock);
