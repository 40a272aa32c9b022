/* fuzz_team_guard_server.c - whatever the guard's server answers: leases that may be in the way,
 * or an error that says why there are none; as one answer or as a stream the same. */
#include "net/http_client.h"
#include "team/guard/guard_private.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void take(struct mr_arena *arena, const struct mr_http_client_response *response,
	struct mr_team_guard_look *look)
{
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system() };

	if (mr_team_guard_server_take(&cx, look, response)) {
		if (cx.err.code != MR_EREMOTE ||
			!mr_str_starts(cx.err.msg, "the server was asked for leases: "))
			abort();
	} else if (response->status != 200) {
		abort();
	}
	for (size_t i = 0; i < look->leases.len; i++) {
		const struct mr_team_reservation *lease = &look->leases.items[i];

		if (mr_str_is_empty(lease->agent) || mr_str_is_empty(lease->path_pattern) ||
			!lease->exclusive || lease->released_ts ||
			mr_str_eq_nocase(lease->agent, look->question->agent))
			abort();
	}
}

/* Input: a byte that says which status and type, and the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_team_guard_question question = { .agent = "BlueLake" };
	struct mr_team_guard_look plain = { .question = &question }, streamed = plain;
	struct mr_http_client_response response = {
		.status = len && data[0] & 1 ? 401 : 200,
		.content_type = len && data[0] & 2 ? "text/event-stream" : "application/json",
		.body = mr_bytes_of(data + (len > 0), len ? len - 1 : 0),
	};

	take(arena, &response, &plain);
	if (response.status == 200 && !(data && data[0] & 2) && len > 1 &&
		!memchr(response.body.data, '\n', response.body.len) &&
		!memchr(response.body.data, '\r', response.body.len)) {
		char *text = mr_arena_printf(arena, "data:%.*s\r\n\r\n", (int)response.body.len,
			(const char *)response.body.data);

		response.content_type = "text/event-stream; charset=utf-8";
		response.body = mr_bytes_text(text);
		take(arena, &response, &streamed);
		if (streamed.leases.len != plain.leases.len)
			abort();
	}
	return 0;
}
