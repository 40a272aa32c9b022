/* tests/unit/text/test_jwt.c */
#include "text/jwt.h"

#include "base/buf.h"
#include "jwt_samples.h"
#include "test.h"
#include "text/digest.h"
#include "text/token.h"

#include <string.h>

enum { NOW = 1700000000, ALL = 63 };

static struct mr_arena *arena;

/* A token signed with `secret` as `kind` says, whatever its header claims. */
static const char *sign(enum mr_digest_kind kind, const char *secret, const char *header,
	const char *claims)
{
	const char *text =
		mr_arena_printf(arena, "%s.%s", mr_token_base64url(arena, mr_bytes_text(header)),
			mr_token_base64url(arena, mr_bytes_text(claims)));
	uint8_t mac[MR_DIGEST_BYTES];
	size_t len = mr_digest_hmac(kind, mr_bytes_text(secret), mr_bytes_text(text), mac);

	return mr_arena_printf(arena, "%s.%s", text,
		mr_token_base64url(arena, mr_bytes_of(mac, len)));
}

static const char *simple(const char *claims)
{
	return sign(MR_DIGEST_SHA256, "s3cret", "{\"alg\":\"HS256\"}", claims);
}

static const struct mr_jwt_keys *set_of(const char *one, const char *two)
{
	const struct mr_jwt_keys *keys;
	struct mr_err err;
	const char *json =
		mr_arena_printf(arena, "{\"keys\":[%s%s%s]}", one, two ? "," : "", two ? two : "");

	CHECK_OK(mr_jwt_keys_parse(arena, mr_bytes_text(json), &keys, &err), err);
	return keys;
}

/* Why the token is refused; "" when it is not. */
static const char *verdict_by(const char *token, const struct mr_jwt_keys *keys,
	const struct mr_jwt_rules *rules)
{
	const struct mr_value *claims = NULL;
	struct mr_err err = { 0 };
	enum mr_code rc = mr_jwt_verify(arena, token, keys, rules, &claims, &err);

	if (rc) {
		CHECK(!claims);
		CHECK(rc == MR_EAUTH || rc == MR_ENOTFOUND);
		CHECK((rc == MR_ENOTFOUND) ==
			(strcmp(err.msg, "no key has the token's key id") == 0));
		return mr_arena_strdup(arena, err.msg);
	}
	CHECK_INT(claims->kind, MR_MAP);
	return "";
}

static const char *verdict(const char *token, const struct mr_jwt_keys *keys, int64_t now_s)
{
	struct mr_jwt_rules rules = { .algs = ALL, .now_s = now_s };

	return verdict_by(token, keys, &rules);
}

static void each_algorithm(void)
{
	const struct mr_jwt_keys *secret = mr_jwt_keys_secret(arena, "s3cret");
	struct mr_jwt_rules rules = { .algs = ALL, .now_s = NOW };
	const struct mr_value *claims;
	struct mr_err err;

	CHECK_STR(verdict(simple("{}"), secret, NOW), "");
	CHECK_STR(verdict(sign(MR_DIGEST_SHA384, "s3cret", "{\"alg\":\"HS384\"}", "{}"), secret,
			  NOW),
		"");
	CHECK_STR(verdict(sign(MR_DIGEST_SHA512, "s3cret", "{\"alg\":\"HS512\"}", "{}"), secret,
			  NOW),
		"");
	CHECK_STR(verdict(RS256_TOKEN, set_of(RSA_JWK, EC_JWK), NOW), "");
	CHECK_STR(verdict(ES256_TOKEN, set_of(RSA_JWK, EC_JWK), NOW), "");
	CHECK_STR(verdict(EDDSA_TOKEN, set_of(RSA_JWK, ED_JWK), NOW), "");
	CHECK_OK(mr_jwt_verify(arena, EDDSA_TOKEN, set_of(ED_JWK, NULL), &rules, &claims, &err),
		err);
	CHECK_STR(mr_value_get(claims, "sub")->text, "alice");
}

/* The example of RFC 7515, appendix A.1. */
static void the_standards_example(void)
{
	static const char token[] = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
				    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leG"
				    "FtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
				    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
	struct mr_bytes key;
	struct mr_err err;

	CHECK_OK(mr_token_base64url_decode(arena,
			 "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-"
			 "1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
			 &key, &err),
		err);
	/* It has no NUL inside. */
	CHECK_STR(verdict(token, mr_jwt_keys_secret(arena, (const char *)key.data), 1300819300),
		"");
}

static void only_what_is_allowed(void)
{
	const struct mr_jwt_keys *secret = mr_jwt_keys_secret(arena, "s3cret");
	struct mr_jwt_rules rules = { .algs = MR_JWT_HS256, .now_s = NOW };

	CHECK_STR(verdict_by(simple("{}"), secret, &rules), "");
	CHECK_STR(verdict_by(sign(MR_DIGEST_SHA512, "s3cret", "{\"alg\":\"HS512\"}", "{}"), secret,
			  &rules),
		"the token's algorithm is not allowed");
	CHECK_STR(verdict_by(RS256_TOKEN, set_of(RSA_JWK, NULL), &rules),
		"the token's algorithm is not allowed");
	CHECK_INT(mr_jwt_alg_of("EdDSA"), MR_JWT_EDDSA);
	CHECK_INT(mr_jwt_alg_of("none"), 0);
	CHECK_INT(mr_jwt_alg_of("hs256"), 0);
	CHECK_INT(mr_jwt_alg_of("PS256"), 0);
}

static void never_unsigned(void)
{
	static const char *const headers[] = { "{\"alg\":\"none\"}", "{\"alg\":\"None\"}",
		"{\"alg\":\"NONE\"}", "{\"alg\":\"\"}", "{\"alg\":null}", "{\"alg\":[\"HS256\"]}",
		"{}" };
	const struct mr_jwt_keys *all[] = { mr_jwt_keys_secret(arena, "s3cret"),
		set_of(RSA_JWK, NULL) };

	for (size_t i = 0; i < MR_LEN(headers); i++) {
		const char *whole = sign(MR_DIGEST_SHA256, "s3cret", headers[i], "{}");
		size_t len = (size_t)(strrchr(whole, '.') + 1 - whole);

		for (size_t k = 0; k < MR_LEN(all); k++) {
			CHECK_STR(verdict(whole, all[k], NOW),
				"the token's algorithm is not allowed");
			CHECK_STR(verdict(mr_arena_strndup(arena, whole, len), all[k], NOW),
				"the token's algorithm is not allowed");
		}
	}
}

/* A public key is known to all: it must not serve as a secret. */
static void keys_fit_their_algorithm(void)
{
	const struct mr_jwt_keys *rsa = set_of(RSA_JWK, NULL);
	const char *forged =
		sign(MR_DIGEST_SHA256, RSA_JWK, "{\"alg\":\"HS256\",\"kid\":\"r1\"}", "{}");

	CHECK_STR(verdict(forged, rsa, NOW), "the token's algorithm does not fit the key");
	CHECK_STR(verdict(simple("{}"), rsa, NOW), "the token's algorithm does not fit the key");
	CHECK_STR(verdict(RS256_TOKEN, mr_jwt_keys_secret(arena, "s3cret"), NOW),
		"the token's algorithm does not fit the key");
	/* The right name, the wrong kind. */
	CHECK_STR(verdict(ES256_TOKEN,
			  set_of("{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"e1\","
				 "\"x\":"
				 "\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
				  NULL),
			  NOW),
		"the token's algorithm does not fit the key");
}

static void keys_have_names(void)
{
	CHECK_STR(verdict(RS256_NOKID_TOKEN, set_of(RSA_JWK, NULL), NOW), "");
	CHECK_STR(verdict(RS256_NOKID_TOKEN, set_of(RSA_JWK, EC_JWK), NOW),
		"the token does not say which key it was signed with");
	CHECK_STR(verdict(RS256_TOKEN, set_of(EC_JWK, ED_JWK), NOW),
		"no key has the token's key id");
	CHECK_STR(verdict(RS256_TOKEN, set_of(EC_JWK, NULL), NOW), "no key has the token's key id");
	CHECK_STR(verdict(sign(MR_DIGEST_SHA256, "s3cret", "{\"alg\":\"HS256\",\"kid\":7}", "{}"),
			  mr_jwt_keys_secret(arena, "s3cret"), NOW),
		"the token's key id is not a text");
}

static void times_with_leeway(void)
{
	static const struct {
		const char *claims;
		const char *why;
	} table[] = {
		{ "{\"exp\":1699999941}", "" },
		{ "{\"exp\":1699999940}", "the token has expired" },
		{ "{\"exp\":1699999941.5}", "" },
		{ "{\"exp\":0}", "the token has expired" },
		{ "{\"exp\":-1e300}", "the token has expired" },
		{ "{\"exp\":\"1800000000\"}", "the token's claim exp is not a time" },
		{ "{\"exp\":null}", "the token's claim exp is not a time" },
		{ "{\"nbf\":1700000060}", "" },
		{ "{\"nbf\":1700000061}", "the token is not valid yet" },
		{ "{\"iat\":1700000060}", "" },
		{ "{\"iat\":1700000061}", "the token was issued in the future" },
		{ "{\"iat\":true}", "the token's claim iat is not a time" },
	};
	const struct mr_jwt_keys *keys = mr_jwt_keys_secret(arena, "s3cret");

	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_STR(verdict(simple(table[i].claims), keys, NOW), table[i].why);
	CHECK_STR(verdict(RS256_TOKEN, set_of(RSA_JWK, NULL), NOW + 3659), "");
	CHECK_STR(verdict(RS256_TOKEN, set_of(RSA_JWK, NULL), NOW + 3660), "the token has expired");
}

static void audience_and_issuer(void)
{
	static const struct {
		const char *claims;
		const char *why;
	} table[] = {
		{ "{\"aud\":\"mail\",\"iss\":\"us\"}", "" },
		{ "{\"aud\":[\"a\",\"mail\"],\"iss\":\"us\"}", "" },
		{ "{\"aud\":\"mailroom\",\"iss\":\"us\"}", "the token is for another audience" },
		{ "{\"aud\":[],\"iss\":\"us\"}", "the token is for another audience" },
		{ "{\"aud\":{\"mail\":1},\"iss\":\"us\"}", "the token is for another audience" },
		{ "{\"iss\":\"us\"}", "the token is for another audience" },
		{ "{\"aud\":\"mail\",\"iss\":\"them\"}", "the token is of another issuer" },
		{ "{\"aud\":\"mail\"}", "the token is of another issuer" },
		{ "{\"aud\":\"mail\",\"iss\":[\"us\"]}", "the token is of another issuer" },
	};
	struct mr_jwt_rules rules = { ALL, "mail", "us", NOW };
	const struct mr_jwt_keys *keys = mr_jwt_keys_secret(arena, "s3cret");

	for (size_t i = 0; i < MR_LEN(table); i++)
		CHECK_STR(verdict_by(simple(table[i].claims), keys, &rules), table[i].why);
	rules.audience = rules.issuer = "";
	CHECK_STR(verdict_by(simple("{\"aud\":\"other\"}"), keys, &rules), "");
}

static void damaged_tokens(void)
{
	const struct mr_jwt_keys *keys = set_of(RSA_JWK, ED_JWK);
	const struct mr_jwt_keys *secret = mr_jwt_keys_secret(arena, "s3cret");
	size_t len = strlen(EDDSA_TOKEN);
	char *long_token = mr_arena_alloc(arena, MR_JWT_BYTES + 2);
	char *changed;

	for (size_t i = 0; i < len; i++)
		CHECK(*verdict(mr_arena_strndup(arena, EDDSA_TOKEN, i), keys, NOW));
	for (size_t i = 0; i < len; i++) {
		changed = mr_arena_strdup(arena, EDDSA_TOKEN);
		changed[i] = changed[i] == 'A' ? 'B' : 'A';
		CHECK(*verdict(changed, keys, NOW));
	}
	memset(long_token, 'a', MR_JWT_BYTES + 1);
	CHECK_STR(verdict(long_token, keys, NOW), "the token is too long");
	CHECK_STR(verdict("", keys, NOW), "the token does not have three parts");
	CHECK_STR(verdict("a.b", keys, NOW), "the token does not have three parts");
	CHECK_STR(verdict("a.b.c.d", keys, NOW), "the token does not have three parts");
	CHECK_STR(verdict("e30.e30=.e30", keys, NOW), "a part of the token is not base64url");
	CHECK_STR(verdict("W10.e30.e30", keys, NOW), "a part of the token is not a JSON object");
	CHECK_STR(verdict(sign(MR_DIGEST_SHA256, "s3cret", "{\"alg\":\"none\",\"alg\":\"HS256\"}",
				  "{}"),
			  secret, NOW),
		"a part of the token is not a JSON object");
	CHECK_STR(verdict(sign(MR_DIGEST_SHA256, "other", "{\"alg\":\"HS256\"}", "{}"), secret,
			  NOW),
		"the token's signature is wrong");
	/* Half a MAC is none. */
	CHECK_STR(verdict(sign(MR_DIGEST_SHA256, "s3cret", "{\"alg\":\"HS512\"}", "{}"), secret,
			  NOW),
		"the token's signature is wrong");
	CHECK_STR(verdict(sign(MR_DIGEST_SHA256, "s3cret", "{\"alg\":\"HS256\",\"crit\":[\"b64\"]}",
				  "{}"),
			  secret, NOW),
		"the token has critical extensions");
	CHECK(mr_jwt_is_shaped("a.b.c") && mr_jwt_is_shaped("a.b.") && !mr_jwt_is_shaped("a..c") &&
		!mr_jwt_is_shaped(".b.c") && !mr_jwt_is_shaped("token"));
}

static void key_sets(void)
{
	static const struct {
		const char *json;
		const char *why;
	} table[] = {
		{ "{\"keys\":[", "the key set: " },
		{ "[]", "the key set has no list \"keys\"" },
		{ "{\"keys\":{}}", "the key set has no list \"keys\"" },
		{ "{\"keys\":[]}", "the key set has no key for RS256, ES256 or EdDSA" },
		{ "{\"keys\":[1,null,{}]}", "the key set has no key" },
		/* A secret in public is none. */
		{ "{\"keys\":[{\"kty\":\"oct\",\"k\":\"czNjcmV0\"}]}", "the key set has no key" },
		/* For something else. */
		{ "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"use\":\"enc\","
		  "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}",
			"the key set has no key" },
		{ "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"key_ops\":[\"sign\"],"
		  "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}",
			"the key set has no key" },
		{ "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"alg\":\"RS256\","
		  "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}",
			"the key set has no key" },
		/* Too weak, off the curve, too short. */
		{ "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
			"the key set has no key" },
		{ "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
		  "\"x\":\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE\","
		  "\"y\":\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE\"}]}",
			"the key set has no key" },
		{ "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AQAB\"}]}",
			"the key set has no key" },
		{ "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"AQAB\",\"y\":\"AQAB\"}]}",
			"the key set has no key" },
	};
	struct mr_buf many MR_CLEANUP(mr_buf_release) = { 0 };
	const struct mr_jwt_keys *keys = NULL;
	struct mr_err err = { 0 };

	for (size_t i = 0; i < MR_LEN(table); i++) {
		CHECK_INT(mr_jwt_keys_parse(arena, mr_bytes_text(table[i].json), &keys, &err),
			MR_EFORMAT);
		CHECK(mr_str_starts(err.msg, table[i].why));
		CHECK(!keys);
	}
	/* What is of no use does not hide what is. */
	CHECK_INT(mr_jwt_keys_count(set_of("{\"kty\":\"oct\",\"k\":\"AAAA\"}", RSA_JWK)), 1);
	mr_buf_init(&many, 1 << 20);
	mr_buf_puts(&many, "{\"keys\":[{}");
	for (int i = 0; i < MR_JWT_KEYS_MAX; i++)
		mr_buf_puts(&many, ",{}");
	mr_buf_puts(&many, "]}");
	CHECK_INT(mr_jwt_keys_parse(arena, mr_buf_bytes(&many), &keys, &err), MR_EFORMAT);
	CHECK_STR(err.msg, "the key set has more than 64 keys");
}

#define IN_ARENA(fn)                                                                               \
	static void fn##_(void)                                                                    \
	{                                                                                          \
		arena = mr_arena_new();                                                            \
		fn();                                                                              \
		mr_arena_free(arena);                                                              \
	}
IN_ARENA(each_algorithm)
IN_ARENA(the_standards_example)
IN_ARENA(only_what_is_allowed)
IN_ARENA(never_unsigned)
IN_ARENA(keys_fit_their_algorithm)
IN_ARENA(keys_have_names)
IN_ARENA(times_with_leeway)
IN_ARENA(audience_and_issuer)
IN_ARENA(damaged_tokens)
IN_ARENA(key_sets)

int main(void)
{
	static const struct test tests[] = {
		TEST(each_algorithm_),
		TEST(the_standards_example_),
		TEST(only_what_is_allowed_),
		TEST(never_unsigned_),
		TEST(keys_fit_their_algorithm_),
		TEST(keys_have_names_),
		TEST(times_with_leeway_),
		TEST(audience_and_issuer_),
		TEST(damaged_tokens_),
		TEST(key_sets_),
	};

	return test_main(tests, MR_LEN(tests));
}
