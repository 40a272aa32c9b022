/* text/image_turn.c - applies the orientation that a camera noted in a JPEG to the pixels,
 * because the note is not kept. */
#include "text/image_format.h"

#include <stdlib.h>
#include <string.h>

enum { MARK_SOS = 0xda, MARK_APP1 = 0xe1, TAG_ORIENTATION = 0x0112, TAGS_MAX = 512, EXIF_HEAD = 6 };

static uint32_t number(const uint8_t *at, unsigned bytes, bool is_little)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[is_little ? bytes - 1 - i : i];
	return value;
}

/* In a TIFF directory: 1 to 8, or 1 when it does not say. */
static unsigned read_tags(struct mr_bytes tiff)
{
	bool is_little;
	uint32_t at, count;

	if (tiff.len < 8 || (memcmp(tiff.data, "II", 2) != 0 && memcmp(tiff.data, "MM", 2) != 0))
		return 1;
	is_little = tiff.data[0] == 'I';
	at = number(tiff.data + 4, 4, is_little);
	if (at > tiff.len - 2)
		return 1;
	count = number(tiff.data + at, 2, is_little);
	at += 2;
	for (uint32_t i = 0; i < count && i < TAGS_MAX && tiff.len - at >= 12; i++, at += 12) {
		uint32_t value = number(tiff.data + at + 8, 2, is_little);

		if (number(tiff.data + at, 2, is_little) == TAG_ORIENTATION)
			return value >= 1 && value <= 8 ? value : 1;
	}
	return 1;
}

unsigned mr_image_jpeg_turn(struct mr_bytes jpeg)
{
	size_t at = 2;

	/* Segments, each with its length, until the picture itself. */
	while (jpeg.len >= 4 && at <= jpeg.len - 4 && jpeg.data[at] == 0xff &&
		jpeg.data[at + 1] != MARK_SOS) {
		size_t len = number(jpeg.data + at + 2, 2, false);

		if (len < 2 || len > jpeg.len - at - 2)
			break;
		if (jpeg.data[at + 1] == MARK_APP1 && len >= 2 + EXIF_HEAD &&
			memcmp(jpeg.data + at + 4, "Exif\0\0", EXIF_HEAD) == 0)
			return read_tags(
				mr_bytes_of(jpeg.data + at + 4 + EXIF_HEAD, len - 2 - EXIF_HEAD));
		at += 2 + len;
	}
	return 1;
}

bool mr_image_turn_swaps(unsigned turn)
{
	return turn >= 5;
}

void mr_image_turn(struct mr_image *image, unsigned turn)
{
	/* For a pixel of the result, whether its source is counted from the right, and from
	 * below. */
	bool from_right = turn == 2 || turn == 3 || turn == 7 || turn == 8;
	bool from_below = turn == 3 || turn == 4 || turn == 6 || turn == 7;
	bool swaps = mr_image_turn_swaps(turn);
	size_t width = image->width, height = image->height, size = image->has_alpha ? 4 : 3;
	struct mr_image turned;

	if (turn <= 1 || turn > 8)
		return;
	mr_image_make(&turned, swaps ? image->height : image->width,
		swaps ? image->width : image->height, image->has_alpha);
	for (size_t y = 0; y < turned.height; y++) {
		for (size_t x = 0; x < turned.width; x++) {
			size_t from_x = swaps ? y : x, from_y = swaps ? x : y;

			if (from_right)
				from_x = width - 1 - from_x;
			if (from_below)
				from_y = height - 1 - from_y;
			memcpy(turned.pixels + (y * turned.width + x) * size,
				image->pixels + (from_y * width + from_x) * size, size);
		}
	}
	mr_image_release(image);
	*image = turned;
}
