/* Whatever a header says, the client is its peer or an address, and a named proxy only when there
 * was nobody before it. */
#include "surface/http/forward.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "X-Forwarded-For", "Forwarded" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, len ? (const char *)data : "", len);
	struct mr_texts trusted = mr_str_split(arena, "10.0.0.0/8", ',');
	struct mr_http_nets nets;
	struct mr_err err;

	if (mr_http_nets_parse(arena, &trusted, &nets, &err))
		abort();
	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_http_header header = { names[i], text };
		struct mr_http_request req = { .client_ip = "10.0.0.1",
			.headers = &header,
			.headers_len = 1 };
		struct mr_http_origin origin = mr_http_forward_origin(arena, &nets, &req);
		unsigned char ip[16];

		if (!origin.is_forwarded ||
			inet_pton(strchr(origin.ip, ':') ? AF_INET6 : AF_INET, origin.ip, ip) != 1)
			abort();
		req.client_ip = "192.0.2.1";
		if (strcmp(mr_http_forward_origin(arena, &nets, &req).ip, "192.0.2.1") != 0)
			abort();
	}
	return 0;
}
