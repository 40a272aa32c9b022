/* tests/unit/text/test_zip.c - Python's zipfile reads what is written in blackbox/team_share.py. */
#include "text/zip.h"

#include "test.h"

#include <string.h>

static void check_bytes(const struct mr_buf *buf, const char *expected, size_t len)
{
	CHECK_INT(buf->len, len);
	CHECK(memcmp(mr_buf_bytes(buf).data, expected, len) == 0);
}
#define CHECK_BYTES(buf, text) check_bytes(buf, text, sizeof(text) - 1)

static const struct mr_zip_entry one = {
	.path = "b/\xc3\xa4",
	.crc32 = 0x04030201,
	.packed = 0x08070605,
	.size = 0x0c0b0a09,
	.at = 0x100f0e0d,
};

/* As the format's description has them, written out by hand. */
#define FACTS                                                                                      \
	"\x14\0\0\x08\x08\0\0\0\x21\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x04\0\0\0"

static void records_are_as_described(void)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&out, 1 << 20);
	CHECK_OK(mr_zip_put(&out, &one, &err), err);
	CHECK_BYTES(&out, "PK\x03\x04" FACTS "b/\xc3\xa4");
	mr_buf_clear(&out);
	CHECK_OK(mr_zip_put_listed(&out, &one, &err), err);
	CHECK_BYTES(&out,
		"PK\x01\x02\x14\x03" FACTS "\0\0\0\0\0\0\0\0\xa4\x81\x0d\x0e\x0f\x10"
		"b/\xc3\xa4");
	mr_buf_clear(&out);
	CHECK_OK(mr_zip_put_end(&out, 0x0201, 0x06050403, 0x0a090807, &err), err);
	CHECK_BYTES(&out, "PK\x05\x06\0\0\0\0\x01\x02\x01\x02\x07\x08\x09\x0a\x03\x04\x05\x06\0\0");
}

static void the_longest_that_fit(void)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_zip_entry entry = { .path = "a", .size = MR_ZIP_BYTES_MAX };
	struct mr_err err;

	mr_buf_init(&out, 1 << 20);
	entry.packed = MR_ZIP_BYTES_MAX - 31;
	CHECK_OK(mr_zip_put(&out, &entry, &err), err);
	entry.packed = 0;
	entry.at = MR_ZIP_BYTES_MAX - 31;
	CHECK_OK(mr_zip_put_listed(&out, &entry, &err), err);
	CHECK_OK(mr_zip_put_end(&out, MR_ZIP_FILES_MAX, MR_ZIP_BYTES_MAX - 46, 46, &err), err);
}

static void what_does_not_fit_is_refused(void)
{
	static const struct {
		uint64_t packed, size, at;
	} rows[] = {
		{ 0, MR_ZIP_BYTES_MAX + 1, 0 },
		{ MR_ZIP_BYTES_MAX - 30, 1, 0 },
		{ MR_ZIP_BYTES_MAX + 1, 1, 0 },
		{ UINT64_MAX, 1, 0 },
		{ 0, 0, MR_ZIP_BYTES_MAX - 30 },
		{ 0, 0, UINT64_MAX },
		{ MR_ZIP_BYTES_MAX / 2, 1, MR_ZIP_BYTES_MAX / 2 },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_zip_entry entry = { .path = "a" };
	struct mr_err err;
	char *path;

	mr_buf_init(&out, 1 << 20);
	for (size_t i = 0; i < MR_LEN(rows); i++) {
		entry.packed = rows[i].packed;
		entry.size = rows[i].size;
		entry.at = rows[i].at;
		CHECK_INT(mr_zip_put(&out, &entry, &err), MR_ELIMIT);
		CHECK_STR(err.msg, "a does not fit in a ZIP file, which has less than 4 GiB");
		CHECK_INT(mr_zip_put_listed(&out, &entry, &err), MR_ELIMIT);
	}
	path = mr_arena_array(arena, MR_ZIP_PATH_BYTES + 2, 1);
	memset(path, 'a', MR_ZIP_PATH_BYTES + 1);
	CHECK_INT(mr_zip_put(&out, &(struct mr_zip_entry){ .path = path }, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "a path in a ZIP file has at most 65535 bytes");
	CHECK_INT(mr_zip_put_end(&out, MR_ZIP_FILES_MAX + 1, 0, 0, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "a ZIP file has at most 65534 files, not 65535");
	CHECK_INT(mr_zip_put_end(&out, 1, MR_ZIP_BYTES_MAX, 1, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "a ZIP file has less than 4 GiB");
	CHECK_INT(out.len, 0);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(records_are_as_described),
		TEST(the_longest_that_fit),
		TEST(what_does_not_fit_is_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
