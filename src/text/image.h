/*
 * text/image.h - pictures: what they are, how large, their pixels, and WebP made from them.
 *
 * The bytes are untrusted. A picture's size is read and judged before a pixel is decoded, so that
 * what a small file can cost is known from its limits. Only pixels are kept, the right way up: what
 * else a file says (who took it, where) is gone.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum mr_image_type {
	MR_IMAGE_NONE, /* no picture we know */
	MR_IMAGE_PNG,
	MR_IMAGE_JPEG,
	MR_IMAGE_WEBP,
	MR_IMAGE_GIF, /* known by its head, not decoded; so is BMP */
	MR_IMAGE_BMP,
	MR_IMAGE_TYPES,
};

struct mr_image_info {
	enum mr_image_type type;
	uint32_t width, height;
	bool animated; /* a WebP of several pictures: not decoded */
};

struct mr_image_limits {
	size_t bytes;
	uint32_t long_side, short_side; /* however it is turned */
	uint64_t pixels;
};

/* Rows of three bytes a pixel (red, green, blue), or four (and alpha), without gaps. */
struct mr_image {
	uint32_t width, height;
	bool has_alpha;
	uint8_t *pixels; /* the image's own */
};

/* For MR_CLEANUP on an image that starts as { 0 }. */
void mr_image_release(struct mr_image *image);

/* By the first bytes alone. */
enum mr_image_type mr_image_sniff(struct mr_bytes bytes);
/* "image/png"; NULL for MR_IMAGE_NONE. */
const char *mr_image_media_type(enum mr_image_type type);
/* "png"; NULL for MR_IMAGE_NONE. */
const char *mr_image_extension(enum mr_image_type type);

/* What the head says. MR_EFORMAT: no picture, or a damaged head. MR_ELIMIT: too many bytes, or
 * larger than the limits allow. */
MR_CHECK enum mr_code mr_image_look(struct mr_bytes bytes, const struct mr_image_limits *limits,
	struct mr_image_info *out, struct mr_err *err);
/* Can mr_image_decode() make pixels of it? */
bool mr_image_is_decodable(const struct mr_image_info *info);
/*
 * Pixels, after mr_image_look(). A file that ends too early or is damaged is MR_EFORMAT: half a
 * picture is none. MR_EINVAL: not decodable. `out` is to be released.
 */
MR_CHECK enum mr_code mr_image_decode(struct mr_bytes bytes, const struct mr_image_limits *limits,
	struct mr_image *out, struct mr_err *err);
/* Lossy WebP of `quality` 0 to 100, in `arena`. */
MR_CHECK enum mr_code mr_image_to_webp(struct mr_arena *arena, const struct mr_image *image,
	int quality, struct mr_bytes *out, struct mr_err *err);
