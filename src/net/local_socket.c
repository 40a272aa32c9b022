/*
 * net/local_socket.c - Connects to a Unix socket and checks by SO_PEERCRED that the server runs as
 * the same user or as root.
 */
#include "net/local_socket.h"

#include "base/fs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum mr_code mr_local_socket_address(const char *path, struct sockaddr_un *out, struct mr_err *err)
{
	size_t len = strlen(path);

	*out = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (*path != '/')
		return mr_err_set(err, MR_EINVAL, "the path of a socket must begin with /");
	if (len >= sizeof(out->sun_path))
		return mr_err_set(err, MR_EINVAL,
			"the path of the socket has %zu bytes, and %zu "
			"are allowed: %s",
			len, sizeof(out->sun_path) - 1, path);
	memcpy(out->sun_path, path, len + 1);
	return MR_OK;
}

bool mr_local_socket_is_ours(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof(peer) &&
		(peer.uid == geteuid() || peer.uid == 0);
}

enum mr_code mr_local_socket_connect(const char *path, int *out_fd, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct sockaddr_un address;
	enum mr_code rc = mr_local_socket_address(path, &address, err);

	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return mr_err_os(err, errno, "cannot make a socket");
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED)
			return mr_err_set(err, MR_ENOTFOUND, "nobody listens on %s", path);
		if (errno == EAGAIN)
			return mr_err_set(err, MR_EBUSY, "%s accepts nobody just now", path);
		return mr_err_os(err, errno, "cannot connect to %s", path);
	}
	if (!mr_local_socket_is_ours(fd))
		return mr_err_set(err, MR_EPERM,
			"the server on %s belongs to another user; nothing was sent to it", path);
	*out_fd = mr_fs_take(&fd);
	return MR_OK;
}
