/*
 * surface/http/listen.c - Opens the TCP socket of the server, and tells whether other machines can
 * reach it.
 */
#include "surface/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static void describe4(struct in_addr addr, struct mr_http_address *out)
{
	inet_ntop(AF_INET, &addr, out->text, sizeof(out->text));
	out->is_loopback = ntohl(addr.s_addr) >> 24 == IN_LOOPBACKNET;
	out->is_any = addr.s_addr == INADDR_ANY;
}

void mr_http_listen_describe(const struct sockaddr *addr, struct mr_http_address *out)
{
	*out = (struct mr_http_address){ 0 };
	if (addr->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)addr;

		describe4(in->sin_addr, out);
		out->port = ntohs(in->sin_port);
	} else if (addr->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)addr;

		if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
			struct in_addr v4;

			memcpy(&v4, in6->sin6_addr.s6_addr + 12, sizeof(v4));
			describe4(v4, out);
		} else {
			inet_ntop(AF_INET6, &in6->sin6_addr, out->text, sizeof(out->text));
			out->is_loopback = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
			out->is_any = IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
		}
		out->port = ntohs(in6->sin6_port);
	} else if (addr->sa_family == AF_UNIX) {
		snprintf(out->text, sizeof(out->text), "unix");
		out->is_unix = true;
	}
}

void mr_http_listen_local(int fd, struct mr_http_address *out)
{
	struct sockaddr_storage addr = { 0 };
	socklen_t len = sizeof(addr);

	*out = (struct mr_http_address){ 0 };
	if (getsockname(fd, (struct sockaddr *)&addr, &len) == 0)
		mr_http_listen_describe((const struct sockaddr *)&addr, out);
}

static enum mr_code refuse(struct mr_err *err, int os_errno, const char *where)
{
	enum mr_code rc;

	switch (os_errno) {
	case EADDRINUSE:
		rc = mr_err_set(err, MR_EBUSY,
			"cannot listen on %s: the port is in use; stop the server that has it or "
			"choose another port",
			where);
		break;
	case EACCES:
		rc = mr_err_set(err, MR_EPERM,
			"cannot listen on %s: ports below 1024 need privileges; choose one from "
			"1024 up",
			where);
		break;
	case EADDRNOTAVAIL:
		rc = mr_err_set(err, MR_EINVAL,
			"cannot listen on %s: this machine has no such address; use 127.0.0.1, or "
			"0.0.0.0 for all of them",
			where);
		break;
	default:
		return mr_err_os(err, os_errno, "cannot listen on %s", where);
	}
	err->os_errno = os_errno;
	return rc;
}

/* Bind and listen; 0 or an errno. */
static int try_listen(const struct addrinfo *info, int *out_fd)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return errno;
	/* Or a restart would have to wait for the old connections to be forgotten. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
		bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
		int failed = errno;

		close(fd);
		return failed;
	}
	*out_fd = fd;
	return 0;
}

enum mr_code mr_http_listen_open(const char *host, int port, int *out_fd, struct mr_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	char service[16], where[320];
	int failed = EADDRNOTAVAIL;
	int rc;

	if (port < 0 || port > 65535)
		return mr_err_set(err, MR_EINVAL, "the port must be 0 to 65535, not %d", port);
	snprintf(service, sizeof(service), "%d", port);
	snprintf(where, sizeof(where), strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
	rc = getaddrinfo(host, service, &hints, &found);
	if (rc)
		return mr_err_set(err, MR_EINVAL,
			"cannot listen on %s: unknown host (%s); use 127.0.0.1 or an address of "
			"this machine",
			where, gai_strerror(rc));
	/* IPv4 first: it is what clients mean by localhost. */
	for (int pass = 0; pass < 2 && failed; pass++) {
		for (const struct addrinfo *i = found; i && failed; i = i->ai_next) {
			if ((i->ai_family == AF_INET) == (pass == 0))
				failed = try_listen(i, out_fd);
		}
		if (failed && failed != EADDRNOTAVAIL)
			break;
	}
	freeaddrinfo(found);
	return failed ? refuse(err, failed, where) : MR_OK;
}

bool mr_http_listen_is_exposed(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found = NULL;
	bool is_exposed = false;

	if (getaddrinfo(host, NULL, &hints, &found))
		return false;
	for (const struct addrinfo *i = found; i; i = i->ai_next) {
		struct mr_http_address address;

		mr_http_listen_describe(i->ai_addr, &address);
		is_exposed = is_exposed || !address.is_loopback;
	}
	freeaddrinfo(found);
	return is_exposed;
}
