/*
 * surface/http/forward.h - the client's address when a proxy may have forwarded the request. Pure.
 *
 * Anybody can send the headers that proxies add, so they are believed only of the configured
 * proxies.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "surface/http/request.h"

/* Networks: "10.0.0.0/8", "192.0.2.7", "fd00::/8". */
struct mr_http_nets {
	struct mr_http_net *items;
	size_t len;
};

/* MR_EINVAL names the one that is no network. */
MR_CHECK enum mr_code mr_http_nets_parse(struct mr_arena *arena, const struct mr_texts *texts,
	struct mr_http_nets *out, struct mr_err *err);
/* Is this address in one of them? Of what is no address: no. */
bool mr_http_nets_has(const struct mr_http_nets *nets, const char *ip);

struct mr_http_origin {
	const char *ip;    /* the client's, as far as it is known */
	bool is_forwarded; /* a forwarding header is present, whether it is believed or not */
};

/*
 * With X-Forwarded-For or Forwarded from a trusted peer: the last address that is no trusted proxy
 * itself. Otherwise the peer. Texts are the request's or in `arena`.
 */
struct mr_http_origin mr_http_forward_origin(struct mr_arena *arena,
	const struct mr_http_nets *trusted, const struct mr_http_request *req);

/* The key by which clients are counted: the address, or for IPv6 its network of 64 bits. */
const char *mr_http_forward_identity(struct mr_arena *arena, const char *ip);
