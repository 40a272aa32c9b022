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

/* RFC 4231, test cases 2 and 6. */
static void macs(void)
{
	struct mr_arena *arena = mr_arena_new();
	uint8_t mac[MR_DIGEST_BYTES], key[131], other[MR_DIGEST_BYTES];
	struct mr_bytes text = mr_bytes_text("what do ya want for nothing?");
	size_t len;

	len = mr_digest_hmac(MR_DIGEST_SHA256, mr_bytes_text("Jefe"), text, mac);
	CHECK_INT(len, 32);
	CHECK(memcmp(mac, "\x5b\xdc\xc1\x46\xbf\x60\x75\x4e", 8) == 0);
	CHECK_INT(mr_digest_hmac(MR_DIGEST_SHA384, mr_bytes_text("Jefe"), text, mac), 48);
	CHECK(memcmp(mac, "\xaf\x45\xd2\xe3\x76\x48\x40\x31", 8) == 0);
	memset(key, 0xaa, sizeof(key));
	len = mr_digest_hmac(MR_DIGEST_SHA512, mr_bytes_of(key, sizeof(key)),
		mr_bytes_text("Test Using Larger Than Block-Size Key - Hash Key First"), mac);
	CHECK_INT(len, 64);
	CHECK(memcmp(mac, "\x80\xb2\x42\x63\xc7\xc1\xa3\xeb", 8) == 0);
	memcpy(other, mac, sizeof(other));
	CHECK(mr_digest_is_equal(mr_bytes_of(mac, len), mr_bytes_of(other, len)));
	other[63] ^= 1;
	CHECK(!mr_digest_is_equal(mr_bytes_of(mac, len), mr_bytes_of(other, len)));
	CHECK(!mr_digest_is_equal(mr_bytes_of(mac, len), mr_bytes_of(mac, len - 1)));
	CHECK_INT(mr_digest_hmac(MR_DIGEST_SHA256, mr_bytes_of(NULL, 0), text, mac), 32);
	mr_arena_free(arena);
}

/* RFC 8032, section 7.1, test 2; the others' signatures are test_jwt's. */
static void signatures(void)
{
	static const uint8_t public[] =
		"\x3d\x40\x17\xc3\xe8\x43\x89\x5a\x92\xb7\x0a\xa7\x4d\x1b\x7e"
		"\xbc\x9c\x98\x2c\xcf\x2e\xc4\x96\x8c\xc0\xcd\x55\xf1\x2a\xf4\x66\x0c";
	static const uint8_t signature[] =
		"\x92\xa0\x09\xa9\xf0\xd4\xca\xb8\x72\x0e\x82\x0b\x5f\x64\x25\x40"
		"\xa2\xb2\x7b\x54\x16\x50\x3f\x8f\xb3\x76\x22\x23\xeb\xdb\x69\xda"
		"\x08\x5a\xc1\xe4\x3e\x15\x99\x6e\x45\x8f\x36\x13\xd0\xf1\x1d\x8c"
		"\x38\x7b\x2e\xae\xb4\x30\x2a\xee\xb0\x0d\x29\x16\x12\xbb\x0c\x00";
	struct mr_arena *arena = mr_arena_new();
	const struct mr_digest_key *key = NULL;
	struct mr_err err;

	CHECK_INT(mr_digest_key_ed25519(arena, mr_bytes_of(public, 31), &key, &err), MR_EINVAL);
	CHECK_STR(err.msg, "an Ed25519 key has 32 bytes");
	CHECK_INT(mr_digest_key_p256(arena, mr_bytes_of(public, 32), mr_bytes_of(public, 31), &key,
			  &err),
		MR_EINVAL);
	CHECK_STR(err.msg, "a P-256 key has two numbers of 32 bytes");
	CHECK_INT(mr_digest_key_p256(arena, mr_bytes_of(public, 32), mr_bytes_of(public, 32), &key,
			  &err),
		MR_EINVAL);
	CHECK_STR(err.msg, "no point of the curve P-256");
	CHECK_INT(mr_digest_key_rsa(arena, mr_bytes_of(signature, 64), mr_bytes_text("\x03"), &key,
			  &err),
		MR_EINVAL);
	CHECK_STR(err.msg, "no RSA key of 2048 to 8192 bits");
	CHECK_INT(mr_digest_key_rsa(arena, mr_bytes_of(signature, 64), mr_bytes_text("123456789"),
			  &key, &err),
		MR_EINVAL);
	CHECK_STR(err.msg, "an RSA key this large is not used");
	CHECK(!key);
	CHECK_OK(mr_digest_key_ed25519(arena, mr_bytes_of(public, 32), &key, &err), err);
	CHECK(mr_digest_verify(key, mr_bytes_text("\x72"), mr_bytes_of(signature, 64)));
	CHECK(!mr_digest_verify(key, mr_bytes_text("\x73"), mr_bytes_of(signature, 64)));
	CHECK(!mr_digest_verify(key, mr_bytes_text("\x72"), mr_bytes_of(signature, 63)));
	CHECK(!mr_digest_verify(key, mr_bytes_text("\x72"), mr_bytes_of(NULL, 0)));
	mr_arena_free(arena);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(the_standards_examples),
		TEST(nul_counts),
		TEST(piece_by_piece),
		TEST(macs),
		TEST(signatures),
	};

	return test_main(tests, MR_LEN(tests));
}
