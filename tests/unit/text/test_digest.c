/* tests/unit/text/test_digest.c */
#include "text/digest.h"

#include "test.h"

#include <string.h>

static void the_standards_examples(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK_STR(mr_digest_sha1(arena, mr_bytes_text("abc")),
		"a9993e364706816aba3e25717850c26c9cd0d89d");
	CHECK_STR(mr_digest_sha1(arena, mr_bytes_text("")),
		"da39a3ee5e6b4b0d3255bfef95601890afd80709");
	CHECK_STR(mr_digest_sha256(arena, mr_bytes_text("abc")),
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK_STR(mr_digest_sha256(arena, mr_bytes_of(NULL, 0)),
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	mr_arena_free(arena);
}

static void nul_counts(void)
{
	struct mr_arena *arena = mr_arena_new();

	CHECK(strcmp(mr_digest_sha256(arena, mr_bytes_of("a\0b", 3)),
		      mr_digest_sha256(arena, mr_bytes_of("a", 1))) != 0);
	mr_arena_free(arena);
}

static void piece_by_piece(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_digest *digest = mr_digest_begin_sha256();
	struct mr_digest *sha1 = mr_digest_begin_sha1();

	mr_digest_add(digest, "a", 1);
	mr_digest_add(digest, NULL, 0);
	mr_digest_add(digest, "bc", 2);
	CHECK_STR(mr_digest_end_hex(arena, digest), mr_digest_sha256(arena, mr_bytes_text("abc")));
	mr_digest_add(sha1, "abc", 3);
	CHECK_STR(mr_digest_end_hex(arena, sha1), mr_digest_sha1(arena, mr_bytes_text("abc")));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_standards_examples),
		TEST(nul_counts),
		TEST(piece_by_piece),
	};

	return test_main(tests, MR_LEN(tests));
}
