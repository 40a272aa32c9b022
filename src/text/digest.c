/* text/digest.c */
#include "text/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

static const char *hex_digest(struct mr_arena *arena, struct mr_bytes bytes, const EVP_MD *method)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	char *hex;

	/* It fails only when memory does, and then nothing else works either. */
	if (!EVP_Digest(bytes.data, bytes.len, digest, &len, method, NULL))
		abort();
	hex = mr_arena_alloc(arena, 2 * (size_t)len + 1);
	for (unsigned i = 0; i < len; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[2 * (size_t)len] = '\0';
	return hex;
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
struct mr_digest *mr_digest_begin_sha1(void)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	if (!context || !EVP_DigestInit_ex(context, EVP_sha1(), NULL))
		abort();
	return (struct mr_digest *)context;
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
