/* What two patterns both match, they overlap in; and a normal form is its own normal form. */
#include "text/glob.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Input: a byte of options (@ none, A escape, B, D, H, P), two patterns and a path on lines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_glob_options options = { .flags = len > 0 ? data[0] & 31 : 0 };
	char *line = mr_arena_strndup(arena, len > 0 ? (const char *)data + 1 : "",
		len > 0 ? len - 1 : 0);
	struct mr_glob *globs[2];
	struct mr_glob *again;
	struct mr_err err;

	for (size_t i = 0; i < 2; i++) {
		char *end = line + strcspn(line, "\n");

		if (*end)
			*end++ = '\0';
		if (mr_glob_compile(arena, line, &options, &globs[i], &err))
			return 0;
		if (mr_glob_compile(arena, mr_glob_text(globs[i]), &options, &again, &err) ||
			!mr_str_eq(mr_glob_text(globs[i]), mr_glob_text(again)) ||
			!mr_str_eq(mr_glob_literal_prefix(globs[i]), mr_glob_literal_prefix(again)))
			abort();
		line = end;
	}

	bool overlap = mr_glob_overlaps(globs[0], globs[1]);

	if (overlap != mr_glob_overlaps(globs[1], globs[0]))
		abort();
	if (!overlap && mr_glob_matches(globs[0], line) && mr_glob_matches(globs[1], line))
		abort();
	return 0;
}
