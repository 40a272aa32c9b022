/* Host and Origin are accepted exactly when what is left of them without scheme and port is one of
 * the names that are served, by another reading than the guard's own. */
#include "surface/http/host_check.h"

#include "base/arena.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *names[] = { "mail.example.org" };
static const char *origins[] = { "https://pages.example.org:8443" };
static const struct mr_http_host_check guard = { { names, 1 }, { origins, 1 }, "192.0.2.7" };

static bool is_served(struct mr_arena *arena, const char *text)
{
	static const char *const served[] = { "localhost", "127.0.0.1", "192.0.2.7", "203.0.113.5",
		"mail.example.org" };
	char *host = mr_arena_strdup(arena, text);
	char *colon = strrchr(host, ':');
	struct in6_addr address;
	size_t len;

	/* The last colon is the port's, unless it stands in brackets. */
	if (colon && !strchr(colon, ']')) {
		len = strlen(colon + 1);
		if (len < 1 || len > 5 || strspn(colon + 1, "0123456789") != len)
			return false;
		*colon = '\0';
	}
	len = strlen(host);
	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		return inet_pton(AF_INET6, host + 1, &address) == 1 &&
			IN6_IS_ADDR_LOOPBACK(&address);
	}
	for (size_t i = 0; i < MR_LEN(served); i++) {
		if (strcasecmp(host, served[i]) == 0)
			return true;
	}
	return false;
}

static bool is_origin(struct mr_arena *arena, const char *text)
{
	if (strcasecmp(text, origins[0]) == 0)
		return true;
	if (strncasecmp(text, "http", 4) != 0)
		return false;
	text += 4;
	text += *text == 's' || *text == 'S';
	return strncmp(text, "://", 3) == 0 && is_served(arena, text + 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, len ? (const char *)data : "", len);

	if (mr_http_host_check_host(&guard, text, "203.0.113.5") != is_served(arena, text))
		abort();
	if (mr_http_host_check_origin(&guard, text, "203.0.113.5") != is_origin(arena, text))
		abort();
	return 0;
}
