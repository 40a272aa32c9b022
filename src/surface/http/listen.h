/* surface/http/listen.h - the socket a server listens on. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <sys/socket.h>

enum { MR_HTTP_ADDRESS_BYTES = 46 };

struct mr_http_address {
	char text[MR_HTTP_ADDRESS_BYTES]; /* "127.0.0.1", "::1"; an IPv4 address in IPv6 as IPv4 */
	int port;
	bool is_loopback;
	bool is_any;  /* 0.0.0.0 or :: */
	bool is_unix; /* of a Unix socket, which has no address: `text` is "unix" */
};

/*
 * Listen on `host` (an address of this machine or a name for one; "localhost" is 127.0.0.1 where
 * there is IPv4) and `port` (0 takes any that is free). The caller closes `*out_fd`. Errors name
 * host and port and say what to do: MR_EINVAL for a host that is not of this machine, MR_EPERM for
 * a privileged port, MR_EBUSY when the port is taken.
 */
MR_CHECK enum mr_code mr_http_listen_open(const char *host, int port, int *out_fd,
	struct mr_err *err);

/* Can other machines reach what listens on `host`? True when one of its addresses is not loopback;
 * false for a host that is unknown, on which nothing can listen. */
bool mr_http_listen_is_exposed(const char *host);

void mr_http_listen_describe(const struct sockaddr *addr, struct mr_http_address *out);
/* The address this socket is bound to; all zero when it has none. */
void mr_http_listen_local(int fd, struct mr_http_address *out);
