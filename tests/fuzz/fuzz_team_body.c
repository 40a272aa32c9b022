/* fuzz_team_body.c - the pictures of any body: in order, within it, and clear of each other. */
#include "team/attachment_body.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_team_body_images images;
	size_t last = 0;

	mr_team_body_images(arena, mr_bytes_of(data, len), 8, &images);
	for (size_t i = 0; i < images.len; i++) {
		const struct mr_team_body_image *image = &images.items[i];

		if (image->at < last || image->end <= image->at || image->end >= len)
			abort();
		if (!image->path == !image->media_type || (image->path && !*image->path))
			abort();
		last = image->end;
	}
	if (images.len > 8 || (images.more && images.len < 8))
		abort();
	return 0;
}
