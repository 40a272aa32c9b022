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

struct mr_digest {
	EVP_MD_CTX *method;
};

struct mr_digest *mr_digest_new(void)
{
	struct mr_digest *digest = malloc(sizeof(*digest));

	if (!digest)
		abort();
	digest->method = EVP_MD_CTX_new();
	if (!digest->method || !EVP_DigestInit_ex(digest->method, EVP_sha256(), NULL))
		abort();
	return digest;
}

void mr_digest_add(struct mr_digest *digest, struct mr_bytes bytes)
{
	if (!EVP_DigestUpdate(digest->method, bytes.data, bytes.len))
		abort();
}

const char *mr_digest_end(struct mr_arena *arena, struct mr_digest *digest)
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!EVP_DigestFinal_ex(digest->method, bytes, &len))
		abort();
	return hex_of(arena, bytes, len);
}

void mr_digest_freep(struct mr_digest **digest)
{
	if (!*digest)
		return;
	EVP_MD_CTX_free((*digest)->method);
	free(*digest);
	*digest = NULL;
}
