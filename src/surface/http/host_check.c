/*
 * surface/http/host_check.c - Checks Host, Origin and message framing headers against DNS
 * rebinding, cross-site requests and request smuggling.
 */
#include "surface/http/host_check.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum {
	HOST_BYTES = 255,
	PORT_DIGITS = 5,
	REQUEST_ID_BYTES = 64,
};

/* A host as compared: an IPv6 address in binary, anything else as text. */
struct host {
	bool is_ipv6;
	struct in6_addr ipv6;
	char name[HOST_BYTES + 1];
};

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Headers that must not be repeated: two parsers might each pick another one. */
static const struct {
	const char *name, *why;
} singles[] = {
	{ "Authorization", "more than one Authorization" },
	{ "Content-Type", "more than one Content-Type" },
	{ "Last-Event-ID", "more than one Last-Event-ID" },
	{ "MCP-Protocol-Version", "more than one MCP-Protocol-Version" },
	{ "Mcp-Method", "more than one Mcp-Method" },
	{ "Mcp-Name", "more than one Mcp-Name" },
	{ "Mcp-Session-Id", "more than one Mcp-Session-Id" },
	{ "Origin", "more than one Origin" },
};

static bool is_header_name(const char *name)
{
	for (const char *p = name; *p; p++) {
		if (!is_alnum(*p) && !strchr("!#$%&'*+-.^_`|~", *p))
			return false;
	}
	return *name;
}

void mr_http_host_check_count(struct mr_http_framing *framing, const char *name, const char *value)
{
	if (strcasecmp(name, "Content-Length") == 0) {
		framing->content_lengths++;
	} else if (strcasecmp(name, "Transfer-Encoding") == 0) {
		framing->transfer_encodings++;
		framing->transfer_encoding = value;
	} else if (strcasecmp(name, "Host") == 0) {
		framing->hosts++;
	} else if (!is_header_name(name)) {
		/* "Transfer-Encoding " with a blank is a framing header to some parsers only. */
		framing->wrong = "the name of a header is not one";
	}
	for (size_t i = 0; i < MR_LEN(singles); i++) {
		if (strcasecmp(name, singles[i].name) != 0)
			continue;
		if (framing->seen & 1u << i)
			framing->wrong = singles[i].why;
		framing->seen |= 1u << i;
	}
}

const char *mr_http_host_check_framing(const struct mr_http_framing *framing)
{
	if (framing->content_lengths && framing->transfer_encodings)
		return "Content-Length and Transfer-Encoding exclude each other";
	if (framing->content_lengths > 1)
		return "more than one Content-Length";
	if (framing->transfer_encodings > 1)
		return "more than one Transfer-Encoding";
	if (framing->transfer_encodings && framing->is_http_1_0)
		return "HTTP/1.0 has no Transfer-Encoding";
	if (framing->transfer_encoding && strcasecmp(framing->transfer_encoding, "chunked") != 0)
		return "the only Transfer-Encoding understood is chunked";
	if (framing->hosts > 1)
		return "more than one Host";
	if (framing->hosts == 0)
		return "no Host";
	return framing->wrong;
}

/* Letters, digits, "-", "_" and ".": all a name or an IPv4 address is made of. */
static bool set_name(struct host *out, const char *text, size_t len)
{
	if (len == 0 || len > HOST_BYTES)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
			return false;
	}
	memcpy(out->name, text, len);
	out->name[len] = '\0';
	out->is_ipv6 = false;
	return true;
}

static bool set_ipv6(struct host *out, const char *text, size_t len)
{
	char address[INET6_ADDRSTRLEN];

	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	out->is_ipv6 = true;
	return inet_pton(AF_INET6, address, &out->ipv6) == 1;
}

/* "name", "name:port", "[address]", "[address]:port" and nothing else. */
static bool parse_authority(const char *text, struct host *out)
{
	size_t len;

	if (text[0] == '[') {
		len = strcspn(text, "]");
		if (text[len] != ']' || !set_ipv6(out, text + 1, len - 1))
			return false;
		text += len + 1;
	} else {
		len = strcspn(text, ":");
		if (!set_name(out, text, len))
			return false;
		text += len;
	}
	if (*text == '\0')
		return true;
	len = strspn(text + 1, "0123456789");
	return *text == ':' && len >= 1 && len <= PORT_DIGITS && text[1 + len] == '\0';
}

/* Is `known` (a name or address, as a person writes it) this host? */
static bool is_host(const struct host *host, const char *known)
{
	struct host other;
	size_t len;

	if (!known)
		return false;
	len = strlen(known);
	if (known[0] == '[' && len > 2 && known[len - 1] == ']') {
		known++;
		len -= 2;
	}
	if (memchr(known, ':', len)) {
		return host->is_ipv6 && set_ipv6(&other, known, len) &&
			memcmp(&other.ipv6, &host->ipv6, sizeof(other.ipv6)) == 0;
	}
	return !host->is_ipv6 && strcasecmp(host->name, known) == 0;
}

static bool is_ours(const struct mr_http_host_check *guard, const struct host *host,
	const char *local)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1", "::1" };

	for (size_t i = 0; i < MR_LEN(loopback); i++) {
		if (is_host(host, loopback[i]))
			return true;
	}
	for (size_t i = 0; i < guard->hosts.len; i++) {
		if (is_host(host, guard->hosts.items[i]))
			return true;
	}
	return is_host(host, guard->bound) || is_host(host, local);
}

bool mr_http_host_check_host(const struct mr_http_host_check *guard, const char *host,
	const char *local)
{
	struct host parsed;

	return host && parse_authority(host, &parsed) && is_ours(guard, &parsed, local);
}

bool mr_http_host_check_origin(const struct mr_http_host_check *guard, const char *origin,
	const char *local)
{
	struct host parsed;
	const char *authority;

	if (!origin)
		return true;
	for (size_t i = 0; i < guard->origins.len; i++) {
		if (strcasecmp(origin, guard->origins.items[i]) == 0)
			return true;
	}
	if (strncasecmp(origin, "http://", 7) == 0)
		authority = origin + 7;
	else if (strncasecmp(origin, "https://", 8) == 0)
		authority = origin + 8;
	else
		return false;
	return parse_authority(authority, &parsed) && is_ours(guard, &parsed, local);
}

bool mr_http_host_check_is_request_id(const char *text)
{
	size_t len = strnlen(text, REQUEST_ID_BYTES + 1);

	if (len == 0 || len > REQUEST_ID_BYTES)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_alnum(text[i]) && !strchr("._-", text[i]))
			return false;
	}
	return true;
}
