/* tests/unit/base/test_deflate.c */
#include "base/deflate.h"

#include "base/buf.h"
#include "test.h"

#include <string.h>

static void put(void *arg, const void *data, size_t len)
{
	mr_buf_add(arg, data, len);
}

static struct mr_buf text_of(size_t lines)
{
	struct mr_buf text;

	mr_buf_init(&text, 64 << 20);
	for (size_t i = 0; i < lines; i++)
		mr_buf_printf(&text, "line %zu of a text\n", i * 7919 % 1009);
	return text;
}

/* Unpack pieces of `piece` bytes into room for `room`. */
static void check_unpacked(enum mr_deflate_form form, struct mr_bytes packed, size_t piece,
	size_t room, struct mr_bytes want, bool ends)
{
	struct mr_inflate *inflate MR_CLEANUP(mr_inflate_freep) = mr_inflate_new(form);
	struct mr_buf got MR_CLEANUP(mr_buf_release) = { 0 };
	uint8_t into[4096];
	bool is_end = false;
	struct mr_err err;

	mr_buf_init(&got, 64 << 20);
	while (packed.len || !mr_inflate_is_hungry(inflate)) {
		size_t len = 0;

		if (mr_inflate_is_hungry(inflate)) {
			size_t part = packed.len < piece ? packed.len : piece;

			mr_inflate_feed(inflate, (struct mr_bytes){ packed.data, part });
			packed.data += part;
			packed.len -= part;
		}
		CHECK_OK(mr_inflate_read(inflate, into, room, &len, &is_end, &err), err);
		mr_buf_add(&got, into, len);
	}
	CHECK(is_end == ends);
	CHECK(got.len == want.len && memcmp(got.data, want.data, want.len) == 0);
}

static void what_is_packed_comes_back(void)
{
	static const int levels[] = { 0, 4, MR_DEFLATE_USUAL, 9 };

	for (size_t i = 0; i < MR_LEN(levels); i++) {
		struct mr_deflate *deflate MR_CLEANUP(mr_deflate_freep) =
			mr_deflate_new(MR_DEFLATE_ZLIB, levels[i]);

		/* Streams one after the other, one of them empty. */
		for (size_t lines = 0; lines <= 20000; lines = lines * 100 + 2) {
			struct mr_buf text MR_CLEANUP(mr_buf_release) = text_of(lines);
			struct mr_buf packed MR_CLEANUP(mr_buf_release) = { 0 };

			mr_buf_init(&packed, 64 << 20);
			mr_deflate_finish(deflate, mr_buf_bytes(&text), put, &packed);
			CHECK(levels[i] == 0 || lines < 100 || packed.len < text.len / 2);
			check_unpacked(MR_DEFLATE_ZLIB, mr_buf_bytes(&packed), 1000, 4096,
				mr_buf_bytes(&text), true);
			check_unpacked(MR_DEFLATE_ZLIB, mr_buf_bytes(&packed), SIZE_MAX, 17,
				mr_buf_bytes(&text), true);
		}
	}
}

static void a_flush_can_be_read_at_once(void)
{
	struct mr_deflate *deflate MR_CLEANUP(mr_deflate_freep) =
		mr_deflate_new(MR_DEFLATE_RAW, MR_DEFLATE_USUAL);
	struct mr_buf text MR_CLEANUP(mr_buf_release) = text_of(5000);
	struct mr_buf packed MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&packed, 64 << 20);
	mr_deflate_flush(deflate, (struct mr_bytes){ 0 }, put, &packed);
	CHECK(packed.len == 0);
	mr_deflate_flush(deflate, mr_buf_bytes(&text), put, &packed);
	check_unpacked(MR_DEFLATE_RAW, mr_buf_bytes(&packed), 1, 4096, mr_buf_bytes(&text), false);
}

static void other_bytes_are_refused(void)
{
	struct mr_inflate *inflate MR_CLEANUP(mr_inflate_freep) = mr_inflate_new(MR_DEFLATE_ZLIB);
	char into[16];
	size_t len = 0;
	bool is_end;
	struct mr_err err;

	mr_inflate_feed(inflate, mr_bytes_text("not packed"));
	CHECK_INT(mr_inflate_read(inflate, into, sizeof(into), &len, &is_end, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the bytes are not packed by zlib");
}

static void checksums_go_on(void)
{
	uint32_t half = mr_deflate_crc32(0, "12345", 5);

	CHECK_INT(mr_deflate_crc32(0, "", 0), 0);
	CHECK_INT(mr_deflate_crc32(half, "6789", 4), 0xcbf43926);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_is_packed_comes_back),
		TEST(a_flush_can_be_read_at_once),
		TEST(other_bytes_are_refused),
		TEST(checksums_go_on),
	};

	return test_main(tests, MR_LEN(tests));
}
