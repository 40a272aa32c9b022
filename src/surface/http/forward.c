/*
 * surface/http/forward.c - Finds the client's address behind trusted proxies from X-Forwarded-For
 * and Forwarded.
 */
#include "surface/http/forward.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { ADDRESS_BYTES = 16, TEXT_BYTES = 64, V4_PREFIX = 96 };

/* IPv4 is kept as it stands in IPv6: ::ffff:a.b.c.d. */
struct mr_http_net {
	uint8_t address[ADDRESS_BYTES];
	unsigned bits;
};

static bool parse_ip(const char *text, uint8_t out[ADDRESS_BYTES])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (strchr(text, ':'))
		return inet_pton(AF_INET6, text, out) == 1;
	memcpy(out, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, out + sizeof(mapped)) == 1;
}

static bool parse_net(struct mr_arena *arena, const char *text, struct mr_http_net *out)
{
	const char *slash = strchrnul(text, '/');
	const char *ip = mr_arena_strndup(arena, text, (size_t)(slash - text));
	int64_t bits = strchr(ip, ':') ? 128 : 32;

	if (!parse_ip(ip, out->address))
		return false;
	if (*slash) {
		int64_t given;

		if (!mr_str_to_int(slash + 1, &given) || given < 0 || given > bits)
			return false;
		out->bits = (unsigned)given + (bits == 32 ? V4_PREFIX : 0);
	} else {
		out->bits = 128;
	}
	return true;
}

enum mr_code mr_http_nets_parse(struct mr_arena *arena, const struct mr_texts *texts,
	struct mr_http_nets *out, struct mr_err *err)
{
	struct mr_http_nets nets = {
		mr_arena_array(arena, texts->len + 1, sizeof(struct mr_http_net)), 0
	};

	for (; nets.len < texts->len; nets.len++) {
		if (!parse_net(arena, texts->items[nets.len], &nets.items[nets.len]))
			return mr_err_set(err, MR_EINVAL,
				"\"%s\" is no address or network such as 10.0.0.0/8",
				texts->items[nets.len]);
	}
	*out = nets;
	return MR_OK;
}

static bool has(const struct mr_http_net *net, const uint8_t ip[ADDRESS_BYTES])
{
	unsigned whole = net->bits / 8, rest = net->bits % 8;

	if (memcmp(net->address, ip, whole) != 0)
		return false;
	return rest == 0 || (net->address[whole] ^ ip[whole]) >> (8 - rest) == 0;
}

bool mr_http_nets_has(const struct mr_http_nets *nets, const char *ip)
{
	uint8_t address[ADDRESS_BYTES];

	if (!parse_ip(ip, address))
		return false;
	for (size_t i = 0; i < nets->len; i++) {
		if (has(&nets->items[i], address))
			return true;
	}
	return false;
}

/* ---- headers ---- */

static bool names_a_proxy(const char *header)
{
	static const char *const names[] = { "Forwarded", "Via", "X-Real-IP", "X-Client-IP",
		"True-Client-IP", "CF-Connecting-IP" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		if (strcasecmp(header, names[i]) == 0)
			return true;
	}
	return strncasecmp(header, "X-Forwarded-", 12) == 0;
}

/* "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", 2001:db8::1, with or without quotes; "" for
 * what is none of these. */
static const char *plain_ip(struct mr_arena *arena, const char *text, size_t len)
{
	uint8_t ignored[ADDRESS_BYTES];
	const char *ip;

	if (len >= 2 && text[0] == '"' && text[len - 1] == '"') {
		text++;
		len -= 2;
	}
	if (len > TEXT_BYTES)
		return "";
	if (len && text[0] == '[') {
		const char *end = memchr(text, ']', len);

		ip = end ? mr_arena_strndup(arena, text + 1, (size_t)(end - text - 1)) : "";
	} else {
		const char *colon = memchr(text, ':', len);
		bool has_port = colon && !memchr(colon + 1, ':', len - (size_t)(colon + 1 - text));

		ip = mr_arena_strndup(arena, text, has_port ? (size_t)(colon - text) : len);
	}
	return parse_ip(ip, ignored) ? ip : "";
}

/* The value of "for" in one element of Forwarded. */
static const char *forwarded_for(struct mr_arena *arena, const char *element)
{
	struct mr_texts pairs = mr_str_split(arena, element, ';');

	for (size_t i = 0; i < pairs.len; i++) {
		if (strncasecmp(pairs.items[i], "for=", 4) == 0)
			return plain_ip(arena, pairs.items[i] + 4, strlen(pairs.items[i] + 4));
	}
	return "";
}

/* Walk from the peer outwards to the first address that is not a trusted proxy's. An entry that
 * cannot be parsed ends the walk: nothing beyond it is believed. */
static const char *walk(struct mr_arena *arena, const struct mr_http_nets *trusted,
	const struct mr_http_request *req, const char *header, bool is_plain, const char *peer)
{
	const char *ip = peer;

	for (size_t h = req->headers_len; h-- > 0;) {
		struct mr_texts list;

		if (strcasecmp(req->headers[h].name, header) != 0)
			continue;
		list = mr_str_split(arena, req->headers[h].value, ',');
		for (size_t i = list.len; i-- > 0;) {
			const char *next = is_plain
				? plain_ip(arena, list.items[i], strlen(list.items[i]))
				: forwarded_for(arena, list.items[i]);

			if (!*next)
				return ip;
			ip = next;
			if (!mr_http_nets_has(trusted, ip))
				return ip;
		}
	}
	return ip;
}

struct mr_http_origin mr_http_forward_origin(struct mr_arena *arena,
	const struct mr_http_nets *trusted, const struct mr_http_request *req)
{
	struct mr_http_origin origin = { .ip = req->client_ip };

	for (size_t i = 0; i < req->headers_len && !origin.is_forwarded; i++)
		origin.is_forwarded = names_a_proxy(req->headers[i].name);
	if (!origin.is_forwarded || !mr_http_nets_has(trusted, req->client_ip))
		return origin;
	if (mr_http_request_header(req, "X-Forwarded-For"))
		origin.ip = walk(arena, trusted, req, "X-Forwarded-For", true, origin.ip);
	else
		origin.ip = walk(arena, trusted, req, "Forwarded", false, origin.ip);
	return origin;
}

const char *mr_http_forward_identity(struct mr_arena *arena, const char *ip)
{
	uint8_t address[ADDRESS_BYTES];
	char text[INET6_ADDRSTRLEN];

	if (!strchr(ip, ':') || !parse_ip(ip, address))
		return ip;
	memset(address + 8, 0, 8);
	if (!inet_ntop(AF_INET6, address, text, sizeof(text)))
		return ip;
	return mr_arena_printf(arena, "%s/64", text);
}
