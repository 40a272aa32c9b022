/* tests/fuzz/fuzz_client.c - whatever a client's file says: once entered we are in it, entering us
 * again changes nothing, taken out we are gone, and what had our name before is back. */
#include "app/client.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mr_client_wish wish = { .url = "http://h:1/mcp",
		.command = "mailroom" };
	struct mr_arena *arena = mr_arena_new();

	for (const struct mr_client *c = mr_clients; c->name; c++) {
		for (size_t i = 0; i < MR_CLIENT_FILES && c->files[i].path; i++) {
			const struct mr_client_file *file = &c->files[i];
			struct mr_bytes text = mr_bytes_of(size ? (const char *)data : "", size);
			struct mr_bytes in, again, out, gone;
			struct mr_client_parts before, parts;
			struct mr_client_entry entry;
			struct mr_err err;

			if (file->edit(arena, c, &wish, NULL, text, &in, &err))
				continue;
			if (file->find(arena, c, text, &before, &err) ||
				file->find(arena, c, in, &parts, &err))
				abort();
			if (file->edit(arena, c, &wish, NULL, in, &again, &err) ||
				again.data != in.data)
				abort();
			if (file->edit(arena, c, NULL, NULL, in, &out, &err) ||
				file->edit(arena, c, NULL, NULL, out, &gone, &err) ||
				gone.data != out.data)
				abort();
			/* What had our name is there again, unless it cannot be put back alone. */
			if (!file->edit(arena, c, NULL, &before, in, &out, &err) &&
				(file->find(arena, c, out, &parts, &err) ||
					!parts.named != !before.named))
				abort();
			if (i == 0 &&
				(mr_client_look(arena, c, in, &entry, &err) || !entry.is_there))
				abort();
		}
	}
	mr_arena_free(arena);
	return 0;
}
