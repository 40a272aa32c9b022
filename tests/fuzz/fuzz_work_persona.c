/* fuzz_work_persona.c - a persona file is read, or refused with a reason. */
#include "workspace/persona.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_work_persona persona;
	struct mr_err err = { 0 };

	if (mr_work_persona_read(arena, mr_bytes_of(data, len), &persona, &err)) {
		if (!err.msg[0])
			abort();
		return 0;
	}
	/* What is left out is NULL and never empty. */
	if (!persona.identity || (persona.name && !*persona.name) ||
		(persona.footer && !*persona.footer) || (persona.notes && !*persona.notes))
		abort();
	return 0;
}
