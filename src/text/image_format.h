/* text/image_format.h - the formats behind text/image.h, one file each; for image.c alone. */
#pragma once

#include "text/image.h"

/* Each looks into the head, without a limit; MR_EFORMAT with what is wrong. */
MR_CHECK enum mr_code mr_image_png_look(struct mr_bytes bytes, struct mr_image_info *out,
	struct mr_err *err);
MR_CHECK enum mr_code mr_image_jpeg_look(struct mr_bytes bytes, struct mr_image_info *out,
	struct mr_err *err);
MR_CHECK enum mr_code mr_image_webp_look(struct mr_bytes bytes, struct mr_image_info *out,
	struct mr_err *err);

/* Each decodes into memory of mr_image_make(), which on failure the caller releases. */
MR_CHECK enum mr_code mr_image_png_decode(struct mr_bytes bytes, struct mr_image *out,
	struct mr_err *err);
MR_CHECK enum mr_code mr_image_jpeg_decode(struct mr_bytes bytes, struct mr_image *out,
	struct mr_err *err);
MR_CHECK enum mr_code mr_image_webp_decode(struct mr_bytes bytes, struct mr_image *out,
	struct mr_err *err);

/* Room for the pixels of an image of this size. */
void mr_image_make(struct mr_image *image, uint32_t width, uint32_t height, bool has_alpha);

/* How a JPEG is to be turned, as EXIF numbers it: 1 (not at all) to 8. */
unsigned mr_image_jpeg_turn(struct mr_bytes jpeg);
/* Does it make width of height? */
bool mr_image_turn_swaps(unsigned turn);
void mr_image_turn(struct mr_image *image, unsigned turn);
