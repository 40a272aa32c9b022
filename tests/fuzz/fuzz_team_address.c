/* tests/fuzz/fuzz_team_address.c - an address is taken apart into trimmed parts of what was
 * written. */
#include "team/recipient.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct mr_arena *arena, const char *written, const char *part)
{
	if (!strstr(written, part) || strcmp(mr_str_trim(arena, part), part) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena = mr_arena_new();
	const char *written = size ? mr_arena_strndup(arena, (const char *)data, size) : "";
	struct mr_team_address address = mr_team_address_parse(arena, written);

	if (!address.name)
		abort();
	check(arena, written, address.name);
	if (address.project)
		check(arena, written, address.project);
	else if (*address.name == ' ' || strchr(address.name, '@'))
		abort();
	mr_arena_free(arena);
	return 0;
}
