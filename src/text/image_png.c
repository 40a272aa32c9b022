/* text/image_png.c - PNG, by libpng's simplified reader: all its forms become eight bits a sample.
 */
#include "text/image_format.h"

#include <png.h>

/* The reader passes over every chunk that has no say in the pixels, so texts and profiles cannot
 * be made to grow. */
static enum mr_code begin(png_image *png, struct mr_bytes bytes, struct mr_err *err)
{
	*png = (png_image){ .version = PNG_IMAGE_VERSION };
	if (png_image_begin_read_from_memory(png, bytes.data, bytes.len))
		return MR_OK;
	mr_err_set(err, MR_EFORMAT, "the PNG is damaged: %s", png->message);
	png_image_free(png);
	return MR_EFORMAT;
}

enum mr_code mr_image_png_look(struct mr_bytes bytes, struct mr_image_info *out, struct mr_err *err)
{
	png_image png;
	enum mr_code rc = begin(&png, bytes, err);

	if (rc)
		return rc;
	out->width = png.width;
	out->height = png.height;
	png_image_free(&png);
	return MR_OK;
}

enum mr_code mr_image_png_decode(struct mr_bytes bytes, struct mr_image *out, struct mr_err *err)
{
	png_image png;
	enum mr_code rc = begin(&png, bytes, err);
	bool has_alpha;

	if (rc)
		return rc;
	has_alpha = png.format & PNG_FORMAT_FLAG_ALPHA;
	png.format = has_alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
	mr_image_make(out, png.width, png.height, has_alpha);
	if (!png_image_finish_read(&png, NULL, out->pixels, 0, NULL))
		rc = mr_err_set(err, MR_EFORMAT, "the PNG is damaged: %s", png.message);
	png_image_free(&png);
	return rc;
}
