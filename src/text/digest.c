/* text/digest.c - the only file that knows libcrypto. */
#include "text/digest.h"

#include "base/oom.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>

enum {
	RSA_MIN_BITS = 2048,
	RSA_MAX_BITS = 8192,
	EXPONENT_BYTES = 8,
	P256_BYTES = 32,
	P256_DER_BYTES = 72,
	ED25519_BYTES = 32,
};

struct mr_digest_key {
	EVP_PKEY *pkey;
	bool is_p256;    /* signatures are two numbers, not DER */
	bool is_ed25519; /* hashes by itself */
};

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

/* These calls fail only without memory, and then nothing else works either. */
static const char *hex_digest(struct mr_arena *arena, struct mr_bytes bytes, const EVP_MD *method)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!EVP_Digest(bytes.data, bytes.len, digest, &len, method, NULL))
		mr_oom(0);
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
		mr_oom(0);
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
		mr_oom(0);
}

void mr_digest_end(struct mr_digest *digest, uint8_t *out)
{
	EVP_MD_CTX *context = (EVP_MD_CTX *)digest;

	if (out && !EVP_DigestFinal_ex(context, out, NULL))
		mr_oom(0);
	EVP_MD_CTX_free(context);
}

const char *mr_digest_end_hex(struct mr_arena *arena, struct mr_digest *digest)
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!EVP_DigestFinal_ex((EVP_MD_CTX *)digest, bytes, &len))
		mr_oom(0);
	mr_digest_end(digest, NULL);
	return hex_of(arena, bytes, len);
}

size_t mr_digest_hmac(enum mr_digest_kind kind, struct mr_bytes secret, struct mr_bytes bytes,
	uint8_t out[MR_DIGEST_BYTES])
{
	static const char *const names[] = { "SHA256", "SHA384", "SHA512" };
	/* The library takes NULL for "no key was given". */
	const void *key = secret.len ? (const void *)secret.data : "";
	size_t len = 0;

	if (!EVP_Q_mac(NULL, "HMAC", NULL, names[kind], NULL, key, secret.len, bytes.data,
		    bytes.len, out, MR_DIGEST_BYTES, &len))
		mr_oom(0);
	return len;
}

void mr_digest_sha256_bytes(struct mr_bytes bytes, uint8_t out[32])
{
	if (!EVP_Digest(bytes.data, bytes.len, out, NULL, EVP_sha256(), NULL))
		mr_oom(0);
}

void mr_digest_pbkdf2_sha256(const char *password, struct mr_bytes salt, int iterations,
	uint8_t out[32])
{
	if (!PKCS5_PBKDF2_HMAC(password, (int)strlen(password), salt.data, (int)salt.len,
		    iterations, EVP_sha256(), 32, out))
		mr_oom(0);
}

bool mr_digest_is_equal(struct mr_bytes a, struct mr_bytes b)
{
	return a.len == b.len && CRYPTO_memcmp(a.data, b.data, a.len) == 0;
}

static void free_key(void *key)
{
	EVP_PKEY_free(((struct mr_digest_key *)key)->pkey);
}

static struct mr_digest_key *new_key(struct mr_arena *arena, EVP_PKEY *pkey)
{
	struct mr_digest_key *key = mr_arena_alloc(arena, sizeof(*key));

	key->pkey = pkey;
	mr_arena_defer(arena, free_key, key);
	return key;
}

/* Our own message tells what is wrong; the library's error queue is cleared. */
static enum mr_code refuse(struct mr_err *err, const char *what)
{
	ERR_clear_error();
	return mr_err_set(err, MR_EINVAL, "%s", what);
}

/* A public key from its parameters; NULL when they make none. */
static EVP_PKEY *make(const char *type, OSSL_PARAM *params)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *pkey = NULL;

	if (!ctx || !params)
		mr_oom(0);
	if (EVP_PKEY_fromdata_init(ctx) <= 0 ||
		EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) <= 0)
		pkey = NULL;
	EVP_PKEY_CTX_free(ctx);
	return pkey;
}

static BIGNUM *number(struct mr_bytes bytes)
{
	BIGNUM *n = BN_bin2bn(bytes.data, (int)bytes.len, NULL);

	if (!n)
		mr_oom(0);
	return n;
}

static EVP_PKEY *make_rsa(BIGNUM *n, BIGNUM *e)
{
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	OSSL_PARAM *params;
	EVP_PKEY *pkey;

	if (!build || !OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) ||
		!OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e))
		mr_oom(0);
	params = OSSL_PARAM_BLD_to_param(build);
	pkey = make("RSA", params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	return pkey;
}

enum mr_code mr_digest_key_rsa(struct mr_arena *arena, struct mr_bytes modulus,
	struct mr_bytes exponent, const struct mr_digest_key **out, struct mr_err *err)
{
	EVP_PKEY *pkey = NULL;
	BIGNUM *n, *e;

	if (modulus.len > RSA_MAX_BITS / 8 + 1 || exponent.len > EXPONENT_BYTES)
		return mr_err_set(err, MR_EINVAL, "an RSA key this large is not used");
	n = number(modulus);
	e = number(exponent);
	if (BN_num_bits(n) >= RSA_MIN_BITS && BN_num_bits(n) <= RSA_MAX_BITS && BN_is_odd(n) &&
		BN_is_odd(e) && !BN_is_one(e))
		pkey = make_rsa(n, e);
	BN_free(n);
	BN_free(e);
	if (!pkey)
		return refuse(err, "no RSA key of 2048 to 8192 bits");
	*out = new_key(arena, pkey);
	return MR_OK;
}

enum mr_code mr_digest_key_p256(struct mr_arena *arena, struct mr_bytes x, struct mr_bytes y,
	const struct mr_digest_key **out, struct mr_err *err)
{
	unsigned char point[1 + 2 * P256_BYTES] = { POINT_CONVERSION_UNCOMPRESSED };
	char curve[] = "P-256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, curve, 0),
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)),
		OSSL_PARAM_construct_end(),
	};
	struct mr_digest_key *key;
	EVP_PKEY *pkey;

	if (x.len != P256_BYTES || y.len != P256_BYTES)
		return mr_err_set(err, MR_EINVAL, "a P-256 key has two numbers of 32 bytes");
	memcpy(point + 1, x.data, P256_BYTES);
	memcpy(point + 1 + P256_BYTES, y.data, P256_BYTES);
	pkey = make("EC", params);
	if (!pkey)
		return refuse(err, "no point of the curve P-256");
	key = new_key(arena, pkey);
	key->is_p256 = true;
	*out = key;
	return MR_OK;
}

enum mr_code mr_digest_key_ed25519(struct mr_arena *arena, struct mr_bytes x,
	const struct mr_digest_key **out, struct mr_err *err)
{
	struct mr_digest_key *key;
	EVP_PKEY *pkey;

	if (x.len != ED25519_BYTES)
		return mr_err_set(err, MR_EINVAL, "an Ed25519 key has 32 bytes");
	pkey = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x.data, x.len);
	if (!pkey)
		return refuse(err, "no Ed25519 key");
	key = new_key(arena, pkey);
	key->is_ed25519 = true;
	*out = key;
	return MR_OK;
}

/* Two numbers as the library wants them; the length, 0 when they are none. */
static size_t p256_der(struct mr_bytes signature, unsigned char out[P256_DER_BYTES])
{
	ECDSA_SIG *sig;
	int len;

	if (signature.len != (size_t)2 * P256_BYTES)
		return 0;
	sig = ECDSA_SIG_new();
	if (!sig ||
		!ECDSA_SIG_set0(sig, number(mr_bytes_of(signature.data, P256_BYTES)),
			number(mr_bytes_of(signature.data + P256_BYTES, P256_BYTES))))
		mr_oom(0);
	len = i2d_ECDSA_SIG(sig, NULL);
	if (len > 0 && len <= P256_DER_BYTES)
		len = i2d_ECDSA_SIG(sig, &out);
	else
		len = 0;
	ECDSA_SIG_free(sig);
	return len > 0 ? (size_t)len : 0;
}

bool mr_digest_verify(const struct mr_digest_key *key, struct mr_bytes bytes,
	struct mr_bytes signature)
{
	unsigned char der[P256_DER_BYTES];
	EVP_MD_CTX *ctx;
	bool is_good;

	if (key->is_p256) {
		size_t len = p256_der(signature, der);

		if (!len)
			return false;
		signature = mr_bytes_of(der, len);
	}
	ctx = EVP_MD_CTX_new();
	if (!ctx)
		mr_oom(0);
	/* RSA keys verify with PKCS #1 v1.5 unless told otherwise. */
	is_good = EVP_DigestVerifyInit(ctx, NULL, key->is_ed25519 ? NULL : EVP_sha256(), NULL,
			  key->pkey) == 1 &&
		EVP_DigestVerify(ctx, signature.data, signature.len, bytes.data, bytes.len) == 1;
	EVP_MD_CTX_free(ctx);
	ERR_clear_error();
	return is_good;
}
