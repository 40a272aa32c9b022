/* tests/fuzz/fuzz_toml.c - whatever a TOML file says: statements lie in the text, in order and
 * apart, and a document without one of its tables' last values is still a document. */
#include "text/toml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_bytes text = mr_bytes_of(size ? (const char *)data : "", size);
	struct mr_toml toml, rest;
	struct mr_err err;

	if (!mr_toml_scan(arena, text, &toml, &err)) {
		for (size_t i = 0; i < toml.len; i++) {
			const struct mr_toml_statement *s = &toml.items[i];

			if (s->start >= s->end || s->end > size || s->path.len == 0 ||
				(i > 0 && s->start < toml.items[i - 1].end))
				abort();
		}
		/* Without its last statement it has one less. */
		if (toml.len > 0) {
			size_t start = toml.items[toml.len - 1].start;
			size_t end = toml.items[toml.len - 1].end;
			char *made = mr_arena_alloc(arena, size + 1);

			memcpy(made, data, start);
			memcpy(made + start, data + end, size - end);
			if (mr_toml_scan(arena, mr_bytes_of(made, size - (end - start)), &rest,
				    &err) ||
				rest.len != toml.len - 1)
				abort();
		}
	}
	mr_arena_free(arena);
	return 0;
}
