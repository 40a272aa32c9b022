/* text/image_jpeg.c - JPEG, by libjpeg-turbo; baseline, progressive, grey and CMYK. */
#include "text/image_format.h"

#include "base/oom.h"

#include <stdlib.h>
#include <turbojpeg.h>

struct head {
	int width, height, colors;
};

static void destroy(tjhandle *handle)
{
	if (*handle)
		tjDestroy(*handle);
}

static enum mr_code damaged(tjhandle handle, struct mr_err *err)
{
	return mr_err_set(err, MR_EFORMAT, "the JPEG is damaged: %s", tjGetErrorStr2(handle));
}

static enum mr_code read_head(tjhandle handle, struct mr_bytes bytes, struct head *out,
	struct mr_err *err)
{
	int subsampling;

	if (!handle)
		mr_oom(0);
	if (tjDecompressHeader3(handle, bytes.data, (unsigned long)bytes.len, &out->width,
		    &out->height, &subsampling, &out->colors) != 0)
		return damaged(handle, err);
	return MR_OK;
}

enum mr_code mr_image_jpeg_look(struct mr_bytes bytes, struct mr_image_info *out,
	struct mr_err *err)
{
	tjhandle handle MR_CLEANUP(destroy) = tjInitDecompress();
	struct head head = { 0 };
	enum mr_code rc = read_head(handle, bytes, &head, err);
	bool swaps;

	if (rc)
		return rc;
	swaps = mr_image_turn_swaps(mr_image_jpeg_turn(bytes));
	out->width = (uint32_t)(swaps ? head.height : head.width);
	out->height = (uint32_t)(swaps ? head.width : head.height);
	return MR_OK;
}

/* Those who write CMYK write it upside down: 255 is no ink. In place, four bytes become three. */
static void ink_to_light(uint8_t *pixels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint8_t *ink = pixels + i * 4;
		uint8_t *light = pixels + i * 3;
		unsigned black = ink[3];

		for (int c = 0; c < 3; c++)
			light[c] = (uint8_t)(ink[c] * black / 255);
	}
}

enum mr_code mr_image_jpeg_decode(struct mr_bytes bytes, struct mr_image *out, struct mr_err *err)
{
	tjhandle handle MR_CLEANUP(destroy) = tjInitDecompress();
	struct head head = { 0 };
	enum mr_code rc = read_head(handle, bytes, &head, err);
	bool is_ink = head.colors == TJCS_CMYK || head.colors == TJCS_YCCK;

	if (rc)
		return rc;
	mr_image_make(out, (uint32_t)head.width, (uint32_t)head.height, is_ink);
	/* A few bytes can ask for scan after scan over all pixels. */
	if (tjDecompress2(handle, bytes.data, (unsigned long)bytes.len, out->pixels, head.width, 0,
		    head.height, is_ink ? TJPF_CMYK : TJPF_RGB, TJFLAG_LIMITSCANS) != 0)
		return damaged(handle, err);
	if (is_ink) {
		ink_to_light(out->pixels, (size_t)head.width * (size_t)head.height);
		out->has_alpha = false;
	}
	mr_image_turn(out, mr_image_jpeg_turn(bytes));
	return MR_OK;
}
