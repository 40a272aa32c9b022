/* test_image.c - the pictures of tests/support/pictures.py, and what becomes of them. */
#include "text/image.h"

#include "base/fs.h"
#include "files.h"
#include "test.h"
#include "text/image_format.h"

#include <string.h>

static const struct mr_image_limits limits = { 25 << 20, 7680, 4320, 50000000 };

static struct mr_bytes picture(struct mr_arena *arena, const char *name)
{
	struct mr_bytes bytes = { 0 };
	struct mr_err err;

	CHECK_OK(mr_fs_read(arena, AT_FDCWD, mr_arena_printf(arena, TEST_CORPUS "/image/%s", name),
			 1 << 20, &bytes, &err),
		err);
	return bytes;
}

static void good_pictures(void)
{
	static const struct {
		const char *name;
		uint32_t width, height;
		bool has_alpha;
		uint8_t first[4];
	} rows[] = {
		{ "png_rgb", 8, 8, false, { 0, 7, 14 } },
		{ "png_rgba", 8, 8, true, { 0, 7, 14, 21 } },
		{ "png_grey", 8, 8, false, { 0, 0, 0 } },
		{ "png_grey_alpha", 8, 8, true, { 0, 0, 0, 7 } },
		{ "png_palette", 8, 8, false, { 0, 1, 2 } },
		{ "png_palette_clear", 8, 8, true, { 0, 1, 2, 0 } },
		{ "png_one_bit", 9, 3, false, { 0, 0, 0 } },
		{ "png_16_bit", 8, 8, true, { 0 } },
		{ "png_interlaced", 13, 11, false, { 0, 7, 14 } },
		{ "png_texts", 8, 8, false, { 0, 7, 14 } },
		{ "png_one_pixel", 1, 1, false, { 0, 7, 14 } },
		{ "jpeg_rgb", 16, 16, false, { 0 } },
		{ "jpeg_grey", 16, 16, false, { 78, 78, 78 } },
		{ "jpeg_progressive", 16, 16, false, { 0 } },
		{ "jpeg_cmyk", 16, 16, false, { 0 } },
		{ "jpeg_ycck", 16, 16, false, { 0 } },
		{ "jpeg_exif", 16, 16, false, { 0 } },
		{ "jpeg_bad_exif", 16, 16, false, { 0 } },
		{ "jpeg_turned", 16, 24, false, { 0 } },
		{ "webp_plain", 8, 8, false, { 200, 100, 50 } },
		{ "webp_alpha", 8, 8, true, { 1, 2, 3, 128 } },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };
		struct mr_image again MR_CLEANUP(mr_image_release) = { 0 };
		struct mr_bytes webp = { 0 };
		struct mr_err err;

		CHECK_OK(mr_image_decode(picture(arena, rows[i].name), &limits, &image, &err), err);
		CHECK_INT(image.width, rows[i].width);
		CHECK_INT(image.height, rows[i].height);
		CHECK_INT(image.has_alpha, rows[i].has_alpha);
		/* The JPEGs and the 16 bits have no simple first pixel. */
		if (rows[i].first[2] &&
			memcmp(image.pixels, rows[i].first, image.has_alpha ? 4 : 3))
			test_fail(__FILE__, __LINE__, "%s: %u %u %u", rows[i].name, image.pixels[0],
				image.pixels[1], image.pixels[2]);
		CHECK_OK(mr_image_to_webp(arena, &image, 80, &webp, &err), err);
		CHECK_INT(mr_image_sniff(webp), MR_IMAGE_WEBP);
		CHECK_OK(mr_image_decode(webp, &limits, &again, &err), err);
		CHECK_INT(again.width, rows[i].width);
		CHECK_INT(again.height, rows[i].height);
	}
}

static void inks_become_light(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };
	struct mr_err err;

	/* DC -400, -189, 22, 233 over 8, around 128: inks 78, 104, 131 under black 157. */
	CHECK_OK(mr_image_decode(picture(arena, "jpeg_cmyk"), &limits, &image, &err), err);
	CHECK_INT(image.pixels[0], 78 * 157 / 255);
	CHECK_INT(image.pixels[1], 104 * 157 / 255);
	CHECK_INT(image.pixels[2], 131 * 157 / 255);
}

/* Pixels of a picture of three by two, numbered; how they stand after each turn. */
static void turns(void)
{
	static const char *const rows[] = { "123456", "123456", "321654", "654321", "456123",
		"142536", "415263", "635241", "362514", "123456" };

	for (unsigned turn = 0; turn < MR_LEN(rows); turn++) {
		struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };

		mr_image_make(&image, 3, 2, false);
		for (uint8_t i = 0; i < 6; i++)
			image.pixels[i * 3] = (uint8_t)('1' + i);
		mr_image_turn(&image, turn);
		CHECK_INT(image.width, turn >= 5 && turn <= 8 ? 2 : 3);
		CHECK_INT(image.width * image.height, 6);
		for (size_t i = 0; i < 6; i++)
			CHECK_INT(image.pixels[i * 3], rows[turn][i]);
	}
}

/* Blocks of 24x16, a quarter to the right: what was below on the left is above on the left. */
static void a_camera_held_upright(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };
	struct mr_image_info info = { 0 };
	struct mr_err err;

	CHECK_OK(mr_image_look(picture(arena, "jpeg_turned"), &limits, &info, &err), err);
	CHECK_INT(info.width, 16);
	CHECK_OK(mr_image_decode(picture(arena, "jpeg_turned"), &limits, &image, &err), err);
	CHECK_INT(image.pixels[0], 114);       /* block 3: DC -109 over 8, and 128 */
	CHECK_INT(image.pixels[(15) * 3], 78); /* block 0: DC -400 */
}

static void only_pixels_are_kept(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	static const char *const names[] = { "jpeg_exif", "png_texts" };

	for (size_t i = 0; i < MR_LEN(names); i++) {
		struct mr_image image MR_CLEANUP(mr_image_release) = { 0 };
		struct mr_bytes webp = { 0 };
		struct mr_err err;

		CHECK_OK(mr_image_decode(picture(arena, names[i]), &limits, &image, &err), err);
		CHECK_OK(mr_image_to_webp(arena, &image, 80, &webp, &err), err);
		CHECK(!memmem(webp.data, webp.len, "secret", 6));
		CHECK(!memmem(webp.data, webp.len, "somebody", 8));
		CHECK(!memmem(webp.data, webp.len, "Exif", 4));
		CHECK(!memmem(webp.data, webp.len, "EXIF", 4));
	}
}

static void bad_pictures(void)
{
	static const struct {
		const char *name;
		enum mr_code code;
		const char *text;
	} rows[] = {
		{ "png_cut", MR_EFORMAT, "the PNG is damaged: " },
		{ "png_bad_crc", MR_EFORMAT, "the PNG is damaged: " },
		{ "png_no_pixels", MR_EFORMAT, "the PNG is damaged: " },
		{ "png_zero_width", MR_EFORMAT, "the PNG is damaged: " },
		{ "png_head_only", MR_EFORMAT, "the PNG is damaged: " },
		{ "png_huge", MR_ELIMIT,
			"the picture has 100000x100000 pixels; at most 7680x4320 are taken" },
		{ "jpeg_cut", MR_EFORMAT, "the JPEG is damaged: " },
		{ "jpeg_huge", MR_ELIMIT, "the picture has 60000x60000 pixels; at most" },
		{ "webp_large", MR_ELIMIT, "the picture has 16383x16383 pixels; at most" },
		{ "webp_cut", MR_EFORMAT, "the WebP is damaged" },
		{ "webp_animated", MR_EINVAL,
			"pictures of the type animated image/webp are not decoded" },
		{ "gif", MR_EINVAL, "pictures of the type image/gif are not decoded" },
		{ "gif_cut", MR_EFORMAT, "the GIF ends inside its head" },
		{ "bmp", MR_EINVAL, "pictures of the type image/bmp are not decoded" },
		{ "not_a_picture", MR_EFORMAT, "this is no picture of a known format" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_image image = { 0 };
		struct mr_err err;
		enum mr_code rc =
			mr_image_decode(picture(arena, rows[i].name), &limits, &image, &err);

		if (rc != rows[i].code || !strstr(err.msg, rows[i].text))
			test_fail(__FILE__, __LINE__, "%s: %d, %s", rows[i].name, rc,
				rc ? err.msg : "fine");
		CHECK(!image.pixels);
	}
}

static void heads(void)
{
	static const struct {
		const char *name;
		enum mr_image_type type;
		uint32_t width, height;
		const char *media_type, *extension;
	} rows[] = {
		{ "gif", MR_IMAGE_GIF, 1, 1, "image/gif", "gif" },
		{ "bmp", MR_IMAGE_BMP, 2, 2, "image/bmp", "bmp" },
		{ "bmp_upside_down", MR_IMAGE_BMP, 3, 5, "image/bmp", "bmp" },
		{ "webp_animated", MR_IMAGE_WEBP, 8, 8, "image/webp", "webp" },
		{ "jpeg_grey", MR_IMAGE_JPEG, 16, 16, "image/jpeg", "jpg" },
		{ "png_rgb", MR_IMAGE_PNG, 8, 8, "image/png", "png" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(rows); i++) {
		struct mr_image_info info = { 0 };
		struct mr_err err;

		CHECK_OK(mr_image_look(picture(arena, rows[i].name), &limits, &info, &err), err);
		CHECK_INT(info.type, rows[i].type);
		CHECK_INT(info.width, rows[i].width);
		CHECK_INT(info.height, rows[i].height);
		CHECK_STR(mr_image_media_type(info.type), rows[i].media_type);
		CHECK_STR(mr_image_extension(info.type), rows[i].extension);
	}
	CHECK_STR(mr_image_media_type(MR_IMAGE_NONE), NULL);
	CHECK_STR(mr_image_extension(MR_IMAGE_NONE), NULL);
	CHECK_INT(mr_image_sniff(mr_bytes_text("BM, a company, wrote to us about a thing")),
		MR_IMAGE_NONE);
	CHECK_INT(mr_image_sniff(mr_bytes_of(NULL, 0)), MR_IMAGE_NONE);
}

static void limits_hold(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes wide = picture(arena, "png_interlaced"); /* 13x11 */
	struct mr_image_info info;
	struct mr_err err;

	CHECK_OK(mr_image_look(wide, &(struct mr_image_limits){ 4096, 13, 11, 143 }, &info, &err),
		err);
	CHECK_INT(mr_image_look(wide, &(struct mr_image_limits){ 4096, 12, 12, 999 }, &info, &err),
		MR_ELIMIT);
	CHECK_INT(mr_image_look(wide, &(struct mr_image_limits){ 4096, 99, 10, 999 }, &info, &err),
		MR_ELIMIT);
	CHECK_INT(mr_image_look(wide, &(struct mr_image_limits){ 4096, 99, 99, 142 }, &info, &err),
		MR_ELIMIT);
	CHECK_ERR(mr_image_look(mr_bytes_of(wide.data, 101),
			  &(struct mr_image_limits){ 100, 13, 11, 143 }, &info, &err),
		err, MR_ELIMIT, "the picture has 101 bytes; at most 100 are taken");
}

int main(void)
{
	static const struct test tests[] = {
		TEST(good_pictures),
		TEST(inks_become_light),
		TEST(turns),
		TEST(a_camera_held_upright),
		TEST(only_pixels_are_kept),
		TEST(bad_pictures),
		TEST(heads),
		TEST(limits_hold),
	};

	return test_main(tests, MR_LEN(tests));
}
