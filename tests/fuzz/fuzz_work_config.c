/* fuzz_work_config.c - a configuration that is read is written complete, and reads as the same. */
#include "text/json.h"
#include "workspace/config.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx cx = { .arena = arena, .clock = mr_clock_system() };
	struct mr_work_config *first, *second;
	const struct mr_value *document;
	struct mr_err err;

	if (mr_json_parse(arena, mr_bytes_of(data, len), NULL, &document, &err))
		return 0;
	if (mr_work_config_read(&cx, document, &first)) {
		if (!mr_str_eq(cx.err.word, "config_invalid") || !cx.err.msg[0])
			abort();
		return 0;
	}
	if (!mr_work_default_identity(first) ||
		mr_work_config_read(&cx, first->document, &second) ||
		!mr_value_equal(first->document, second->document))
		abort();
	return 0;
}
