/* text/image.c - recognises pictures and checks their size; each format has its own file. */
#include "text/image.h"

#include "base/oom.h"
#include "text/image_format.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *media_type, *extension;
} types[MR_IMAGE_TYPES] = {
	[MR_IMAGE_PNG] = { "image/png", "png" },
	[MR_IMAGE_JPEG] = { "image/jpeg", "jpg" },
	[MR_IMAGE_WEBP] = { "image/webp", "webp" },
	[MR_IMAGE_GIF] = { "image/gif", "gif" },
	[MR_IMAGE_BMP] = { "image/bmp", "bmp" },
};

const char *mr_image_media_type(enum mr_image_type type)
{
	return types[type].media_type;
}

const char *mr_image_extension(enum mr_image_type type)
{
	return types[type].extension;
}

void mr_image_make(struct mr_image *image, uint32_t width, uint32_t height, bool has_alpha)
{
	*image = (struct mr_image){ width, height, has_alpha,
		calloc((size_t)width * height, has_alpha ? 4 : 3) };
	if (!image->pixels)
		mr_oom((size_t)width * height * (has_alpha ? 4 : 3));
}

void mr_image_release(struct mr_image *image)
{
	free(image->pixels);
	*image = (struct mr_image){ 0 };
}

static bool has_at(struct mr_bytes bytes, size_t at, const char *mark, size_t len)
{
	return bytes.len >= at + len && memcmp(bytes.data + at, mark, len) == 0;
}

static uint32_t little(const uint8_t *at, unsigned bytes)
{
	uint32_t number = 0;

	while (bytes-- > 0)
		number = number << 8 | at[bytes];
	return number;
}

enum { GIF_HEAD = 10, BMP_HEAD = 26 };

/* Two letters are little to go by: the size of the second header must be one that exists. */
static bool is_bmp(struct mr_bytes bytes)
{
	uint32_t header;

	if (!has_at(bytes, 0, "BM", 2) || bytes.len < BMP_HEAD)
		return false;
	header = little(bytes.data + 14, 4);
	return header == 12 || header == 16 || header == 40 || header == 52 || header == 56 ||
		header == 64 || header == 108 || header == 124;
}

enum mr_image_type mr_image_sniff(struct mr_bytes bytes)
{
	if (has_at(bytes, 0, "\x89PNG\r\n\x1a\n", 8))
		return MR_IMAGE_PNG;
	if (has_at(bytes, 0, "\xff\xd8\xff", 3))
		return MR_IMAGE_JPEG;
	if (has_at(bytes, 0, "RIFF", 4) && has_at(bytes, 8, "WEBP", 4))
		return MR_IMAGE_WEBP;
	if (has_at(bytes, 0, "GIF87a", 6) || has_at(bytes, 0, "GIF89a", 6))
		return MR_IMAGE_GIF;
	return is_bmp(bytes) ? MR_IMAGE_BMP : MR_IMAGE_NONE;
}

static enum mr_code look_gif(struct mr_bytes bytes, struct mr_image_info *out, struct mr_err *err)
{
	if (bytes.len < GIF_HEAD)
		return mr_err_set(err, MR_EFORMAT, "the GIF ends inside its head");
	out->width = little(bytes.data + 6, 2);
	out->height = little(bytes.data + 8, 2);
	return MR_OK;
}

static void look_bmp(struct mr_bytes bytes, struct mr_image_info *out)
{
	bool is_old = little(bytes.data + 14, 4) == 12; /* OS/2: sides of two bytes */

	out->width = is_old ? little(bytes.data + 18, 2) : little(bytes.data + 18, 4);
	out->height = is_old ? little(bytes.data + 20, 2) : little(bytes.data + 22, 4);
	/* Stored from the top when its height is negative. */
	if (!is_old && out->height > INT32_MAX)
		out->height = 0u - out->height;
}

static enum mr_code look(struct mr_bytes bytes, struct mr_image_info *out, struct mr_err *err)
{
	switch (out->type) {
	case MR_IMAGE_PNG:
		return mr_image_png_look(bytes, out, err);
	case MR_IMAGE_JPEG:
		return mr_image_jpeg_look(bytes, out, err);
	case MR_IMAGE_WEBP:
		return mr_image_webp_look(bytes, out, err);
	case MR_IMAGE_GIF:
		return look_gif(bytes, out, err);
	case MR_IMAGE_BMP:
		look_bmp(bytes, out);
		return MR_OK;
	default:
		return mr_err_set(err, MR_EFORMAT, "this is no picture of a known format");
	}
}

static enum mr_code judge(const struct mr_image_info *info, const struct mr_image_limits *limits,
	struct mr_err *err)
{
	uint32_t longer = info->width > info->height ? info->width : info->height;
	uint32_t shorter = info->width > info->height ? info->height : info->width;

	if (shorter == 0)
		return mr_err_set(err, MR_EFORMAT, "a picture of %ux%u pixels is none", info->width,
			info->height);
	if (longer > limits->long_side || shorter > limits->short_side ||
		(uint64_t)longer * shorter > limits->pixels)
		return mr_err_set(err, MR_ELIMIT,
			"the picture has %ux%u pixels; at most %ux%u are taken", info->width,
			info->height, limits->long_side, limits->short_side);
	return MR_OK;
}

enum mr_code mr_image_look(struct mr_bytes bytes, const struct mr_image_limits *limits,
	struct mr_image_info *out, struct mr_err *err)
{
	struct mr_image_info info = { .type = mr_image_sniff(bytes) };
	enum mr_code rc;

	if (bytes.len > limits->bytes)
		return mr_err_set(err, MR_ELIMIT,
			"the picture has %zu bytes; at most %zu are taken", bytes.len,
			limits->bytes);
	rc = look(bytes, &info, err);
	if (!rc)
		rc = judge(&info, limits, err);
	if (!rc)
		*out = info;
	return rc;
}

bool mr_image_is_decodable(const struct mr_image_info *info)
{
	return info->type == MR_IMAGE_PNG || info->type == MR_IMAGE_JPEG ||
		(info->type == MR_IMAGE_WEBP && !info->animated);
}

enum mr_code mr_image_decode(struct mr_bytes bytes, const struct mr_image_limits *limits,
	struct mr_image *out, struct mr_err *err)
{
	struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };
	struct mr_image_info info;
	enum mr_code rc = mr_image_look(bytes, limits, &info, err);

	if (rc)
		return rc;
	if (!mr_image_is_decodable(&info))
		return mr_err_set(err, MR_EINVAL, "pictures of the type %s%s are not decoded",
			info.animated ? "animated " : "", mr_image_media_type(info.type));
	if (info.type == MR_IMAGE_PNG)
		rc = mr_image_png_decode(bytes, &image, err);
	else if (info.type == MR_IMAGE_JPEG)
		rc = mr_image_jpeg_decode(bytes, &image, err);
	else
		rc = mr_image_webp_decode(bytes, &image, err);
	if (rc)
		return rc;
	*out = image;
	image = (struct mr_image){ 0 };
	return MR_OK;
}
