/* tests/fuzz/fuzz_dotenv.c - what is accepted has proper names, in order, and reads back quoted. */
#include "base/buf.h"
#include "text/dotenv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_again(struct mr_arena *arena, const struct mr_dotenv_entry *entry)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_dotenv again;
	struct mr_err err;

	if (strchr(entry->value, '\'') || strchr(entry->value, '\n') || strchr(entry->value, '\r'))
		return;
	mr_buf_init(&buf, 1 << 20);
	mr_buf_printf(&buf, "%s='%s'\n", entry->name, entry->value);
	if (mr_dotenv_parse(arena, mr_buf_bytes(&buf), &again, &err) || again.len != 1 ||
		strcmp(again.entries[0].value, entry->value) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_dotenv env;
	struct mr_err err;

	if (mr_dotenv_parse(arena, mr_bytes_of(data, len), &env, &err))
		return 0;
	for (size_t i = 0; i < env.len; i++) {
		if (!*env.entries[i].name || (i && env.entries[i].line <= env.entries[i - 1].line))
			abort();
		if (i < 20)
			check_again(arena, &env.entries[i]);
	}
	return 0;
}
