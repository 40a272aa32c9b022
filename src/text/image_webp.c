/* text/image_webp.c - WebP in and out, by libwebp. */
#include "text/image_format.h"

#include <webp/decode.h>
#include <webp/encode.h>

static enum mr_code read_head(struct mr_bytes bytes, WebPBitstreamFeatures *out, struct mr_err *err)
{
	VP8StatusCode status = WebPGetFeatures(bytes.data, bytes.len, out);

	if (status == VP8_STATUS_OK)
		return MR_OK;
	return mr_err_set(err, MR_EFORMAT, "the WebP is damaged: %s",
		status == VP8_STATUS_NOT_ENOUGH_DATA ? "it ends too early"
						     : "its head cannot be read");
}

enum mr_code mr_image_webp_look(struct mr_bytes bytes, struct mr_image_info *out,
	struct mr_err *err)
{
	WebPBitstreamFeatures head;
	enum mr_code rc = read_head(bytes, &head, err);

	if (rc)
		return rc;
	out->width = (uint32_t)head.width;
	out->height = (uint32_t)head.height;
	out->animated = head.has_animation;
	return MR_OK;
}

enum mr_code mr_image_webp_decode(struct mr_bytes bytes, struct mr_image *out, struct mr_err *err)
{
	WebPBitstreamFeatures head;
	enum mr_code rc = read_head(bytes, &head, err);
	size_t room;
	int stride;
	const uint8_t *done;

	if (rc)
		return rc;
	mr_image_make(out, (uint32_t)head.width, (uint32_t)head.height, head.has_alpha);
	stride = head.width * (head.has_alpha ? 4 : 3);
	room = (size_t)stride * (size_t)head.height;
	done = head.has_alpha ? WebPDecodeRGBAInto(bytes.data, bytes.len, out->pixels, room, stride)
			      : WebPDecodeRGBInto(bytes.data, bytes.len, out->pixels, room, stride);
	return done ? MR_OK : mr_err_set(err, MR_EFORMAT, "the WebP is damaged");
}

enum mr_code mr_image_to_webp(struct mr_arena *arena, const struct mr_image *image, int quality,
	struct mr_bytes *out, struct mr_err *err)
{
	int width = (int)image->width, height = (int)image->height;
	uint8_t *made = NULL;
	size_t len = image->has_alpha
		? WebPEncodeRGBA(image->pixels, width, height, width * 4, (float)quality, &made)
		: WebPEncodeRGB(image->pixels, width, height, width * 3, (float)quality, &made);

	if (len == 0)
		return mr_err_set(err, MR_EINTERNAL, "cannot make a WebP of %dx%d pixels", width,
			height);
	*out = mr_bytes_of(mr_arena_memdup(arena, made, len), len);
	WebPFree(made);
	return MR_OK;
}
