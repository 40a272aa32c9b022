/* fuzz_team_guard.c - whatever an editor or an archive says: bounded, and every path absolute. */
#include "team/guard/guard.h"
#include "team/guard/guard_private.h"
#include "text/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_reservation lease = { 0 };
	struct mr_team_guard_edit edit = { 0 };
	struct mr_team_guard_event event = { 0 };
	const struct mr_value *value = NULL;
	struct mr_err err = { 0 };

	if (!mr_team_guard_edit_read(arena, mr_bytes_of(data, len), "/here", &edit, &err)) {
		for (size_t i = 0; i < edit.paths.len; i++) {
			if (edit.paths.items[i][0] != '/')
				abort();
		}
	}
	if (!mr_team_guard_event_read(arena, mr_bytes_of(data, len), "/here", &event, &err) &&
		(!event.name || *event.cwd != '/' || (event.session && !*event.session)))
		abort();
	if (!mr_json_parse(arena, mr_bytes_of(data, len), NULL, &value, &err) &&
		!mr_team_guard_read_lease(arena, value, &lease, &err) &&
		(!lease.agent || !lease.path_pattern))
		abort();
	return 0;
}
