/* tests/unit/text/test_tar.c - tar itself reads what is written in blackbox/backup_restore.py. */
#include "test.h"
#include "text/tar.h"

#include <string.h>

static struct mr_bytes written(struct mr_buf *out, const struct mr_tar_entry *entry)
{
	mr_buf_clear(out);
	mr_tar_put(out, entry);
	CHECK(!out->failed);
	CHECK_INT(out->len % MR_TAR_BLOCK, 0);
	return mr_buf_bytes(out);
}

static void round_trip(const struct mr_tar_entry *entry)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes pax = { NULL, 0 }, blocks;
	struct mr_tar_entry got = { 0 };
	enum mr_tar_next next;
	struct mr_err err;

	mr_buf_init(&out, 1 << 20);
	blocks = written(&out, entry);
	CHECK_OK(mr_tar_read(arena, blocks.data, pax, &next, &got, &err), err);
	if (next == MR_TAR_PAX) {
		pax = (struct mr_bytes){ blocks.data + MR_TAR_BLOCK, got.size };
		CHECK_OK(mr_tar_read(arena, blocks.data + blocks.len - MR_TAR_BLOCK, pax, &next,
				 &got, &err),
			err);
	}
	CHECK_INT(next, MR_TAR_ENTRY);
	CHECK_INT(got.kind, entry->kind);
	CHECK_STR(got.path, entry->path);
	CHECK_STR(got.target ? got.target : "", entry->target ? entry->target : "");
	CHECK(got.size == entry->size);
	CHECK_INT(got.mode, entry->mode);
	CHECK_INT(got.mtime_s, entry->mtime_s);
}

static const char *long_name(struct mr_arena *arena, size_t len)
{
	char *name = mr_arena_alloc(arena, len + 1);

	memset(name, 'n', len);
	return name;
}

static void what_is_written_is_read(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	round_trip(&(struct mr_tar_entry){ MR_TAR_FILE, "a/b", NULL, 7, 0640, 1700000000 });
	round_trip(&(struct mr_tar_entry){ MR_TAR_DIRECTORY, "a", NULL, 0, 0700, 1 });
	round_trip(&(struct mr_tar_entry){ MR_TAR_LINK, "a/l", "../messages/x.md", 0, 0777, 0 });
	round_trip(&(struct mr_tar_entry){ MR_TAR_FILE, "big", NULL, UINT64_C(1) << 40, 0600, 2 });
	for (size_t len = 85; len < 120; len++) {
		round_trip(&(struct mr_tar_entry){ MR_TAR_FILE, long_name(arena, len), NULL, 1,
			0600, 2 });
		round_trip(&(struct mr_tar_entry){ MR_TAR_LINK, "l", long_name(arena, len), 0, 0777,
			2 });
	}
	round_trip(&(struct mr_tar_entry){ MR_TAR_LINK, long_name(arena, 4000),
		long_name(arena, 4000), 0, 0777, 2 });
}

static void what_leads_out_is_refused(void)
{
	static const char *const paths[] = { "/etc/passwd", "../x", "a/../../x", "a//b", ".", "..",
		"a/.", "a/", "" };

	for (size_t i = 0; i < MR_LEN(paths); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
		const struct mr_tar_entry entry = { .path = paths[i], .mode = 0600 };
		struct mr_tar_entry got = { .path = "kept" };
		enum mr_tar_next next;
		struct mr_err err;

		mr_buf_init(&out, 1 << 20);
		CHECK_INT(mr_tar_read(arena, written(&out, &entry).data,
				  (struct mr_bytes){ NULL, 0 }, &next, &got, &err),
			MR_EFORMAT);
		CHECK_STR(got.path, "kept");
	}
}

static void damage_is_noticed(void)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_tar_entry entry = { .path = "a/b", .size = 7, .mode = 0600 };
	uint8_t block[MR_TAR_BLOCK];

	mr_buf_init(&out, 1 << 20);
	for (size_t i = 0; i < 257; i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_tar_entry got;
		enum mr_tar_next next;
		struct mr_err err;

		memcpy(block, written(&out, &entry).data, sizeof(block));
		block[i] ^= 1;
		if (i == 155) /* the blank that ends the sum */
			continue;
		CHECK_INT(mr_tar_read(arena, block, (struct mr_bytes){ NULL, 0 }, &next, &got,
				  &err),
			MR_EFORMAT);
		CHECK(*err.msg);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_is_written_is_read),
		TEST(what_leads_out_is_refused),
		TEST(damage_is_noticed),
	};

	return test_main(tests, MR_LEN(tests));
}
