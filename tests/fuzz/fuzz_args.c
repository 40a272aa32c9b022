/* tests/fuzz/fuzz_args.c - JSON to arguments: what is accepted has the types it was asked for. */
#include "op/args.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const modes[] = { "safe", "force", NULL };
static const char *const aliases[] = { "k", NULL };
static const struct mr_param params[] = {
	{ .name = "key", .type = MR_TYPE_TEXT, .flags = MR_REQUIRED, .aliases = aliases },
	{ .name = "mode", .type = MR_TYPE_TEXT, .choices = modes },
	{ .name = "limit", .type = MR_TYPE_INT, .min = 1, .max = 100 },
	{ .name = "flag", .type = MR_TYPE_BOOL },
	{ .name = "paths", .type = MR_TYPE_TEXTS },
	{ .name = "ids", .type = MR_TYPE_INTS },
	{ .name = "payload", .type = MR_TYPE_OBJECT },
	{ 0 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_value *sent;
	struct mr_args in;
	struct mr_texts paths;
	struct mr_err err;
	int64_t limit;

	if (mr_json_parse(arena, mr_bytes_of(data, len), NULL, &sent, &err))
		return 0;
	if (mr_args_decode(arena, params, sent, &in, &err)) {
		if (!err.issues || !err.issues->len || err.issues->items[0].path[0] != '$')
			abort();
		return 0;
	}
	limit = mr_args_int(&in, "limit", 1);
	paths = mr_args_texts(arena, &in, "paths");
	for (size_t i = 0; i < paths.len; i++)
		limit += (int64_t)strlen(paths.items[i]) * 0;
	if (!mr_args_text(&in, "key") || limit < 1 || limit > 100)
		abort();
	if (mr_args_value(&in, "payload") && mr_args_value(&in, "payload")->kind != MR_MAP)
		abort();
	return 0;
}
