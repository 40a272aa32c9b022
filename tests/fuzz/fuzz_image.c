/* fuzz_image.c - any bytes: a picture within its limits, or refused; what is made of it is a WebP.
 */
#include "text/image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct mr_image_limits limits = { 1 << 20, 256, 128, 20000 };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };
	struct mr_bytes bytes = mr_bytes_of(data, len);
	struct mr_image_info info, made;
	struct mr_bytes webp;
	struct mr_err err;

	if (mr_image_look(bytes, &limits, &info, &err))
		return 0;
	if (info.type != mr_image_sniff(bytes) || info.width == 0 || info.height == 0 ||
		(uint64_t)info.width * info.height > limits.pixels)
		abort();
	if (mr_image_decode(bytes, &limits, &image, &err))
		return image.pixels ? (abort(), 0) : 0;
	if (image.width != info.width || image.height != info.height)
		abort();
	if (mr_image_to_webp(arena, &image, 80, &webp, &err) ||
		mr_image_look(webp, &limits, &made, &err))
		abort();
	if (made.type != MR_IMAGE_WEBP || made.width != info.width || made.height != info.height)
		abort();
	return 0;
}
