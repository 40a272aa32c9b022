/* fuzz_team_manifest.c - whatever a shared copy says of itself: the files it lists are inside it,
 * each once, and can be compared. */
#include "team/share/share_private.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_share_listing listing = { 0 };
	struct mr_err err;

	if (mr_team_share_manifest_read(arena, mr_bytes_of(data, len), &listing, &err)) {
		if (err.code == MR_OK || !err.msg[0])
			abort();
		return 0;
	}
	if (listing.len == 0)
		abort();
	for (size_t i = 0; i < listing.len; i++) {
		const struct mr_team_share_file *file = &listing.items[i];
		const char *around = mr_arena_printf(arena, "/%s/", file->path);

		if (strstr(around, "//") || strstr(around, "/./") || strstr(around, "/../") ||
			file->bytes < 0 || strlen(file->sha256) != 64 ||
			(i && strcmp(file[-1].path, file->path) >= 0))
			abort();
	}
	return 0;
}
