/* text/digest.c */
#include "text/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

static const char *hex_of(struct mr_arena *arena, const unsigned char *digest, unsigned len)
{
	static const char digits[] = "0123456789abcdef";
	char *hex = mr_arena_alloc(arena, 2 * (size_t)len + 1);

	for (unsigned i = 0; i < len; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	return hex;
}

/* None of these fails but when memory does, and then nothing else works either. */
static const char *hex_digest(struct mr_arena *arena, struct mr_bytes bytes, const EVP_MD *method)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!EVP_Digest(bytes.data, bytes.len, digest, &len, method, NULL))
		abort();
	return hex_of(arena, digest, len);
}

const char *mr_digest_sha1(struct mr_arena *arena, struct mr_bytes bytes)
{
	return hex_digest(arena, bytes, EVP_sha1());
}

const char *mr_digest_sha256(struct mr_arena *arena, struct mr_bytes bytes)
{
	return hex_digest(arena, bytes, EVP_sha256());
}

/* The library's own, under our name. */
static struct mr_digest *begin(const EVP_MD *method)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	if (!context || !EVP_DigestInit_ex(context, method, NULL))
		abort();
	return (struct mr_digest *)context;
}

struct mr_digest *mr_digest_begin_sha1(void)
{
	return begin(EVP_sha1());
}

struct mr_digest *mr_digest_begin_sha256(void)
{
	return begin(EVP_sha256());
}

void mr_digest_add(struct mr_digest *digest, const void *data, size_t len)
{
	if (!EVP_DigestUpdate((EVP_MD_CTX *)digest, data, len))
		abort();
}

void mr_digest_end(struct mr_digest *digest, uint8_t *out)
{
	EVP_MD_CTX *context = (EVP_MD_CTX *)digest;

	if (out && !EVP_DigestFinal_ex(context, out, NULL))
		abort();
	EVP_MD_CTX_free(context);
}

const char *mr_digest_end_hex(struct mr_arena *arena, struct mr_digest *digest)
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!EVP_DigestFinal_ex((EVP_MD_CTX *)digest, bytes, &len))
		abort();
	mr_digest_end(digest, NULL);
	return hex_of(arena, bytes, len);
}
