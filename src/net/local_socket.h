/*
 * net/local_socket.h - a connection to a server of the same user, through a socket in the file
 * system.
 *
 * The kernel tells whose process listens there (SO_PEERCRED): only our own user and root are
 * accepted, so that a token is never sent to a socket that another user has put there.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* MR_EINVAL when the path is not absolute, or longer than the kernel takes (107 bytes). */
MR_CHECK enum mr_code mr_local_socket_address(const char *path, struct sockaddr_un *out,
	struct mr_err *err);
/*
 * Connect without waiting. MR_ENOTFOUND: no server listens there; MR_EPERM: we may not connect, or
 * the server belongs to another user; MR_EBUSY: it accepts no connection now. The caller closes
 * `*out_fd`, which does not block.
 */
MR_CHECK enum mr_code mr_local_socket_connect(const char *path, int *out_fd, struct mr_err *err);
/* Is the process at the other end of a connected Unix socket run by our user, or by root? */
bool mr_local_socket_is_ours(int fd);
