/*
 * text/jwt.c - Parses JSON Web Key Sets, and verifies the signature and claims of JSON Web Tokens.
 */
#include "text/jwt.h"

#include "text/digest.h"
#include "text/json.h"
#include "text/token.h"

#include <string.h>

static const struct mr_json_limits token_limits = { MR_JWT_BYTES, 16, 2000 };
static const struct mr_json_limits keys_limits = { MR_JWT_KEYS_BYTES, 16, 10000 };

static const char *const alg_names[] = { "HS256", "HS384", "HS512", "RS256", "ES256", "EdDSA" };

enum { ALG_HMAC = MR_JWT_HS256 | MR_JWT_HS384 | MR_JWT_HS512 };

struct key {
	const char *kid;                    /* or NULL */
	unsigned algs;                      /* what it may be used with */
	struct mr_bytes secret;             /* or */
	const struct mr_digest_key *public; /* this */
};

struct mr_jwt_keys {
	struct key *items;
	size_t len;
};

enum mr_jwt_alg mr_jwt_alg_of(const char *name)
{
	for (unsigned i = 0; i < MR_LEN(alg_names); i++) {
		if (strcmp(name, alg_names[i]) == 0)
			return (enum mr_jwt_alg)(1u << i);
	}
	return (enum mr_jwt_alg)0;
}

/* ---- keys ---- */

const struct mr_jwt_keys *mr_jwt_keys_secret(struct mr_arena *arena, const char *secret)
{
	struct mr_jwt_keys *keys = mr_arena_alloc(arena, sizeof(*keys));

	keys->items = mr_arena_alloc(arena, sizeof(*keys->items));
	keys->items->secret = mr_bytes_text(mr_arena_strdup(arena, secret));
	keys->items->algs = ALG_HMAC;
	keys->len = 1;
	return keys;
}

static const char *text_at(const struct mr_value *map, const char *name)
{
	const struct mr_value *value = mr_value_get(map, name);

	return value && value->kind == MR_TEXT ? value->text : NULL;
}

static bool number_at(struct mr_arena *arena, const struct mr_value *jwk, const char *name,
	struct mr_bytes *out)
{
	const char *text = text_at(jwk, name);
	struct mr_err err;

	return text && mr_token_base64url_decode(arena, text, out, &err) == MR_OK;
}

/* Is there nothing that says that signatures are not checked with it? */
static bool is_for_signatures(const struct mr_value *jwk)
{
	const struct mr_value *ops = mr_value_get(jwk, "key_ops");
	const struct mr_value *use = mr_value_get(jwk, "use");

	if (use && !(use->kind == MR_TEXT && strcmp(use->text, "sig") == 0))
		return false;
	if (!ops)
		return true;
	for (size_t i = 0; ops->kind == MR_LIST && i < ops->list.len; i++) {
		if (ops->list.items[i].kind == MR_TEXT &&
			strcmp(ops->list.items[i].text, "verify") == 0)
			return true;
	}
	return false;
}

static bool read_public(struct mr_arena *arena, const struct mr_value *jwk, struct key *out)
{
	const char *type = text_at(jwk, "kty");
	const char *curve = text_at(jwk, "crv");
	struct mr_bytes a, b;
	struct mr_err err;

	if (mr_str_eq(type, "RSA")) {
		out->algs = MR_JWT_RS256;
		return number_at(arena, jwk, "n", &a) && number_at(arena, jwk, "e", &b) &&
			mr_digest_key_rsa(arena, a, b, &out->public, &err) == MR_OK;
	}
	if (mr_str_eq(type, "EC") && mr_str_eq(curve, "P-256")) {
		out->algs = MR_JWT_ES256;
		return number_at(arena, jwk, "x", &a) && number_at(arena, jwk, "y", &b) &&
			mr_digest_key_p256(arena, a, b, &out->public, &err) == MR_OK;
	}
	if (mr_str_eq(type, "OKP") && mr_str_eq(curve, "Ed25519")) {
		out->algs = MR_JWT_EDDSA;
		return number_at(arena, jwk, "x", &a) &&
			mr_digest_key_ed25519(arena, a, &out->public, &err) == MR_OK;
	}
	return false;
}

static bool read_key(struct mr_arena *arena, const struct mr_value *jwk, struct key *out)
{
	const struct mr_value *alg = mr_value_get(jwk, "alg");
	const struct mr_value *kid = mr_value_get(jwk, "kid");
	struct key key = { .kid = text_at(jwk, "kid") };

	if (!is_for_signatures(jwk) || (kid && !key.kid) || !read_public(arena, jwk, &key))
		return false;
	if (alg && !(alg->kind == MR_TEXT && mr_jwt_alg_of(alg->text) & key.algs))
		return false;
	*out = key;
	return true;
}

enum mr_code mr_jwt_keys_parse(struct mr_arena *arena, struct mr_bytes json,
	const struct mr_jwt_keys **out, struct mr_err *err)
{
	struct mr_jwt_keys *keys = mr_arena_alloc(arena, sizeof(*keys));
	const struct mr_value *set, *list;
	enum mr_code rc = mr_json_parse(arena, json, &keys_limits, &set, err);

	if (rc) {
		err->code = MR_EFORMAT;
		return mr_err_wrap(err, "the key set");
	}
	list = mr_value_get(set, "keys");
	if (!list || list->kind != MR_LIST)
		return mr_err_set(err, MR_EFORMAT, "the key set has no list \"keys\"");
	if (list->list.len > MR_JWT_KEYS_MAX)
		return mr_err_set(err, MR_EFORMAT, "the key set has more than %d keys",
			MR_JWT_KEYS_MAX);
	keys->items = mr_arena_array(arena, list->list.len + 1, sizeof(*keys->items));
	for (size_t i = 0; i < list->list.len; i++) {
		if (read_key(arena, &list->list.items[i], &keys->items[keys->len]))
			keys->len++;
	}
	if (keys->len == 0)
		return mr_err_set(err, MR_EFORMAT,
			"the key set has no key for RS256, ES256 or EdDSA");
	*out = keys;
	return MR_OK;
}

size_t mr_jwt_keys_count(const struct mr_jwt_keys *keys)
{
	return keys->len;
}

/* ---- tokens ---- */

struct token {
	const struct mr_value *header, *claims;
	struct mr_bytes signed_part, signature;
	enum mr_jwt_alg alg;
	const char *kid; /* or NULL */
};

static enum mr_code refuse(struct mr_err *err, const char *why)
{
	return mr_err_set(err, MR_EAUTH, "%s", why);
}

bool mr_jwt_is_shaped(const char *token)
{
	const char *dot = strchr(token, '.');
	const char *second = dot ? strchr(dot + 1, '.') : NULL;

	return second && !strchr(second + 1, '.') && dot > token && second > dot + 1;
}

static enum mr_code read_part(struct mr_arena *arena, const char *text, size_t len, bool is_object,
	struct mr_bytes *out, const struct mr_value **out_value, struct mr_err *err)
{
	const char *part = mr_arena_strndup(arena, text, len);
	struct mr_err why;

	if (mr_token_base64url_decode(arena, part, out, &why))
		return refuse(err, "a part of the token is not base64url");
	if (!is_object)
		return MR_OK;
	if (mr_json_parse(arena, *out, &token_limits, out_value, &why) ||
		(*out_value)->kind != MR_MAP)
		return refuse(err, "a part of the token is not a JSON object");
	return MR_OK;
}

static enum mr_code split(struct mr_arena *arena, const char *text, struct token *out,
	struct mr_err *err)
{
	const char *dot, *second;
	struct mr_bytes bytes;

	if (strnlen(text, MR_JWT_BYTES + 1) > MR_JWT_BYTES)
		return refuse(err, "the token is too long");
	if (!mr_jwt_is_shaped(text))
		return refuse(err, "the token does not have three parts");
	dot = strchr(text, '.');
	second = strchr(dot + 1, '.');
	out->signed_part = mr_bytes_of(text, (size_t)(second - text));
	if (read_part(arena, text, (size_t)(dot - text), true, &bytes, &out->header, err) ||
		read_part(arena, dot + 1, (size_t)(second - dot - 1), true, &bytes, &out->claims,
			err))
		return err->code;
	return read_part(arena, second + 1, strlen(second + 1), false, &out->signature, NULL, err);
}

static enum mr_code read_header(struct token *token, unsigned algs, struct mr_err *err)
{
	const char *alg = text_at(token->header, "alg");
	const struct mr_value *kid = mr_value_get(token->header, "kid");

	token->alg = alg ? mr_jwt_alg_of(alg) : (enum mr_jwt_alg)0;
	if (!token->alg || !(token->alg & algs))
		return refuse(err, "the token's algorithm is not allowed");
	/* Something we would have to understand, and do not. */
	if (mr_value_get(token->header, "crit"))
		return refuse(err, "the token has critical extensions");
	if (kid && kid->kind != MR_TEXT)
		return refuse(err, "the token's key id is not a text");
	token->kid = kid ? kid->text : NULL;
	return MR_OK;
}

static enum mr_code choose_key(const struct token *token, const struct mr_jwt_keys *keys,
	const struct key **out, struct mr_err *err)
{
	const struct key *found = NULL;

	/* A secret has no name to compare. */
	if (keys->len == 1 && (!token->kid || !keys->items[0].kid)) {
		found = &keys->items[0];
	} else if (!token->kid) {
		return refuse(err, "the token does not say which key it was signed with");
	} else {
		/* Keys of different kinds may share a name. */
		for (size_t i = 0; i < keys->len && !(found && found->algs & token->alg); i++) {
			if (mr_str_eq(keys->items[i].kid, token->kid))
				found = &keys->items[i];
		}
	}
	if (!found)
		return mr_err_set(err, MR_ENOTFOUND, "no key has the token's key id");
	if (!(found->algs & token->alg))
		return refuse(err, "the token's algorithm does not fit the key");
	*out = found;
	return MR_OK;
}

static bool is_signed(const struct token *token, const struct key *key)
{
	static const enum mr_digest_kind kinds[] = {
		[MR_JWT_HS256] = MR_DIGEST_SHA256,
		[MR_JWT_HS384] = MR_DIGEST_SHA384,
		[MR_JWT_HS512] = MR_DIGEST_SHA512,
	};
	uint8_t mac[MR_DIGEST_BYTES];
	size_t len;

	if (key->public)
		return mr_digest_verify(key->public, token->signed_part, token->signature);
	len = mr_digest_hmac(kinds[token->alg], key->secret, token->signed_part, mac);
	return mr_digest_is_equal(mr_bytes_of(mac, len), token->signature);
}

/* A time as seconds; where there is none, `*out` stays as it is. */
static enum mr_code read_time(const struct mr_value *claims, const char *name, double *out,
	struct mr_err *err)
{
	const struct mr_value *value = mr_value_get(claims, name);

	if (!value)
		return MR_OK;
	if (value->kind == MR_INT)
		*out = (double)value->integer;
	else if (value->kind == MR_FLOAT)
		*out = value->real;
	else
		return mr_err_set(err, MR_EAUTH, "the token's claim %s is not a time", name);
	return MR_OK;
}

static enum mr_code check_times(const struct mr_value *claims, int64_t now_s, struct mr_err *err)
{
	double now = (double)now_s, exp = now, nbf = now, iat = now;

	if (read_time(claims, "exp", &exp, err) || read_time(claims, "nbf", &nbf, err) ||
		read_time(claims, "iat", &iat, err))
		return err->code;
	/* Written so that not-a-number is refused. */
	if (!(exp > now - MR_JWT_LEEWAY_S))
		return refuse(err, "the token has expired");
	if (!(nbf <= now + MR_JWT_LEEWAY_S))
		return refuse(err, "the token is not valid yet");
	if (!(iat <= now + MR_JWT_LEEWAY_S))
		return refuse(err, "the token was issued in the future");
	return MR_OK;
}

static bool has_audience(const struct mr_value *aud, const char *wanted)
{
	if (!aud)
		return false;
	if (aud->kind == MR_TEXT)
		return strcmp(aud->text, wanted) == 0;
	for (size_t i = 0; aud->kind == MR_LIST && i < aud->list.len; i++) {
		if (aud->list.items[i].kind == MR_TEXT &&
			strcmp(aud->list.items[i].text, wanted) == 0)
			return true;
	}
	return false;
}

static enum mr_code check_claims(const struct mr_value *claims, const struct mr_jwt_rules *rules,
	struct mr_err *err)
{
	enum mr_code rc = check_times(claims, rules->now_s, err);

	if (rc)
		return rc;
	if (!mr_str_is_empty(rules->audience) &&
		!has_audience(mr_value_get(claims, "aud"), rules->audience))
		return refuse(err, "the token is for another audience");
	if (!mr_str_is_empty(rules->issuer) && !mr_str_eq(text_at(claims, "iss"), rules->issuer))
		return refuse(err, "the token is of another issuer");
	return MR_OK;
}

enum mr_code mr_jwt_verify(struct mr_arena *arena, const char *text, const struct mr_jwt_keys *keys,
	const struct mr_jwt_rules *rules, const struct mr_value **out_claims, struct mr_err *err)
{
	struct token token = { 0 };
	const struct key *key = NULL;
	enum mr_code rc = split(arena, text, &token, err);

	if (!rc)
		rc = read_header(&token, rules->algs, err);
	if (!rc)
		rc = choose_key(&token, keys, &key, err);
	if (!rc && !is_signed(&token, key))
		rc = refuse(err, "the token's signature is wrong");
	if (!rc)
		rc = check_claims(token.claims, rules, err);
	if (!rc)
		*out_claims = token.claims;
	return rc;
}
