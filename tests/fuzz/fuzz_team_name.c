/* Names of agents and of remotes, as others write them. */
#include "base/arena.h"
#include "team/identity.h"
#include "team/limits.h"
#include "team/name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, size > 0 ? (const char *)data : "", size);
	const char *plain = mr_team_name_sanitise(arena, text);
	const char *remote = mr_team_identity_normalise(arena, text);
	size_t first = 0;

	/* Sanitised is valid, unless nothing is left or it is not for agents. */
	if (strlen(plain) > MR_TEAM_NAME_BYTES ||
		mr_team_name_is_valid(plain, true) != (*plain && !mr_team_name_is_reserved(plain)))
		abort();
	if (mr_team_name_parse(text, &first) &&
		(first >= strlen(text) || strcmp(plain, text) != 0 ||
			!mr_team_name_is_valid(text, false)))
		abort();
	/* A host and two parts at least; no user's name, no password, no port. */
	if (remote) {
		size_t host = strcspn(remote, "/");

		if (host == 0 || strcspn(remote, "@:") < host || !strchr(remote + host + 1, '/'))
			abort();
	}
	return 0;
}
