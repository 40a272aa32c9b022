/* What was read, written and read again is the same time. */
#include "text/time.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(struct mr_arena *arena, const char *text, enum mr_time_form form,
	enum mr_time_style style)
{
	int64_t us;
	int64_t again;
	struct mr_err err;

	if (mr_time_parse(text, form, &us, &err))
		return;
	if (mr_time_parse(mr_time_format(arena, us, style), form, &again, &err) || again != us)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, len > 0 ? (const char *)data : "", len);
	int64_t us;
	struct mr_err err;

	check(arena, text, MR_TIME_STRICT, MR_TIME_SECONDS);
	check(arena, text, MR_TIME_LENIENT, MR_TIME_MICROS);
	check(arena, text, MR_TIME_LENIENT, MR_TIME_MICROS_OFFSET);
	if (!mr_time_parse_duration(text, &us, &err) && us < 0)
		abort();
	return 0;
}
