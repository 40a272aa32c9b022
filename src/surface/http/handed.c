/* surface/http/handed.c - Takes over the listening sockets that a service manager opened. */
#include "surface/http/handed.h"

#include "base/fs.h"
#include "base/str.h"
#include "surface/http/listen.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST = 3, MOST = 64 };

void mr_http_handed_close(struct mr_http_handed *handed)
{
	mr_fs_closep(&handed->tcp);
	mr_fs_closep(&handed->local);
}

static enum mr_code take_one(int fd, struct mr_http_handed *out, struct mr_err *err)
{
	struct mr_http_address address;
	int is_listening = 0;
	socklen_t len = sizeof(is_listening);
	int *place;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len) != 0 || !is_listening)
		return mr_err_set(err, MR_EINVAL,
			"descriptor %d, which LISTEN_FDS hands over, is no listening socket", fd);
	mr_http_listen_local(fd, &address);
	place = address.is_unix ? &out->local : &out->tcp;
	if ((!address.is_unix && !address.port) || *place >= 0)
		return mr_err_set(err, MR_EINVAL,
			"descriptor %d, which LISTEN_FDS hands over, is a second %s: one TCP port "
			"and one Unix socket can be served",
			fd, address.is_unix ? "Unix socket" : "TCP socket");
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	*place = fd;
	return MR_OK;
}

enum mr_code mr_http_handed_take(struct mr_http_handed *out, struct mr_err *err)
{
	struct mr_http_handed handed = MR_HTTP_HANDED_INIT;
	const char *for_pid = getenv("LISTEN_PID"), *many = getenv("LISTEN_FDS");
	int64_t pid = 0, count = 0;
	enum mr_code rc = MR_OK;

	*out = handed;
	if (!for_pid || !many || !mr_str_to_int(for_pid, &pid) || pid != getpid() ||
		!mr_str_to_int(many, &count) || count < 0 || count > MOST)
		count = 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (int fd = FIRST; !rc && fd < FIRST + count; fd++)
		rc = take_one(fd, &handed, err);
	if (!rc) {
		*out = handed;
		return MR_OK;
	}
	for (int fd = FIRST; fd < FIRST + count; fd++)
		close(fd);
	return rc;
}
