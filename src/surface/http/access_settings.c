/* surface/http/access_settings.c - reads the settings of authentication, roles, limits and CORS. */
#include "app/locations.h"
#include "surface/http/access.h"
#include "surface/http/discovery.h"

#include <string.h>

static bool parse_role(const char *word, enum mr_role *out)
{
	if (mr_str_eq_nocase(word, "reader"))
		*out = MR_ROLE_READER;
	else if (mr_str_eq_nocase(word, "writer"))
		*out = MR_ROLE_WRITER;
	else if (mr_str_eq_nocase(word, "admin"))
		*out = MR_ROLE_ADMIN;
	else
		return false;
	return true;
}

/* The one token with its role, and those of "token:role". Errors count them: the token is secret.
 */
static enum mr_code read_tokens(struct mr_arena *arena, const struct mr_settings *s,
	struct mr_http_access_config *out, struct mr_err *err)
{
	const struct mr_texts *more = mr_settings_texts(s, "http.bearer_tokens");
	const char *one = mr_settings_text(s, "http.bearer_token");
	enum mr_role role = MR_ROLE_WRITER;

	parse_role(mr_settings_text(s, "http.bearer_role"), &role);
	out->tokens = mr_arena_array(arena, more->len + 1, sizeof(*out->tokens));
	if (*one)
		out->tokens[out->tokens_len++] = (struct mr_http_token){ one, role };
	for (size_t i = 0; i < more->len; i++) {
		const char *text = more->items[i];
		const char *colon = strrchr(text, ':');

		if (!colon || colon == text || !parse_role(colon + 1, &role))
			return mr_err_set(err, MR_EINVAL,
				"%s: http.bearer_tokens: number %zu is not token:role with the "
				"role reader, writer or admin",
				mr_settings_source(s, "http.bearer_tokens"), i + 1);
		out->tokens[out->tokens_len++] = (struct mr_http_token){
			mr_arena_strndup(arena, text, (size_t)(colon - text)), role
		};
	}
	return MR_OK;
}

static enum mr_code read_jwt(const struct mr_settings *s, struct mr_http_access_config *out,
	struct mr_err *err)
{
	const struct mr_texts *algs = mr_settings_texts(s, "jwt.algorithms");

	out->with_jwt = mr_settings_bool(s, "jwt.enabled");
	out->jwt_secret = mr_settings_text(s, "jwt.secret");
	out->jwt_keys_url = mr_settings_text(s, "jwt.jwks_url");
	out->jwt_audience = mr_settings_text(s, "jwt.audience");
	out->jwt_issuer = mr_settings_text(s, "jwt.issuer");
	out->jwt_role_claim = mr_settings_text(s, "jwt.role_claim");
	out->jwt_algs = 0;
	for (size_t i = 0; i < algs->len; i++) {
		enum mr_jwt_alg alg = mr_jwt_alg_of(algs->items[i]);

		if (!alg)
			return mr_err_set(err, MR_EINVAL,
				"%s: jwt.algorithms: \"%s\" is not one of HS256, HS384, HS512, "
				"RS256, ES256, EdDSA",
				mr_settings_source(s, "jwt.algorithms"), algs->items[i]);
		out->jwt_algs |= alg;
	}
	return MR_OK;
}

static struct mr_http_rate_limit limit(const struct mr_settings *s, const char *rate,
	const char *burst)
{
	return (struct mr_http_rate_limit){ mr_settings_int(s, rate),
		burst ? mr_settings_int(s, burst) : 0 };
}

enum mr_code mr_http_access_read(struct mr_arena *arena, const struct mr_settings *s, bool is_root,
	struct mr_http_access_config *out, struct mr_err *err)
{
	enum mr_code rc;

	mr_http_access_defaults(out);
	out->allow_local = mr_locations_trust(s, is_root) != MR_LOCATIONS_TRUSTS_NOBODY;
	out->trusted_proxies = *mr_settings_texts(s, "http.trusted_proxies");
	out->with_roles = mr_settings_bool(s, "rbac.enabled");
	out->reader_roles = *mr_settings_texts(s, "rbac.reader_roles");
	out->writer_roles = *mr_settings_texts(s, "rbac.writer_roles");
	out->admin_roles = *mr_settings_texts(s, "rbac.admin_roles");
	out->default_role = mr_settings_text(s, "rbac.default_role");
	out->readonly_tools = *mr_settings_texts(s, "rbac.readonly_tools");
	out->with_limits = mr_settings_bool(s, "rate_limit.enabled");
	out->limits[MR_HTTP_OTHER] = limit(s, "rate_limit.per_minute", NULL);
	out->limits[MR_HTTP_TOOL] =
		limit(s, "rate_limit.tools_per_minute", "rate_limit.tools_burst");
	out->limits[MR_HTTP_RESOURCE] =
		limit(s, "rate_limit.resources_per_minute", "rate_limit.resources_burst");
	out->failures = limit(s, "rate_limit.failures_per_minute", NULL);
	out->sign_in_path = "/mail/sign-in";
	out->challenge = mr_discovery_challenge(arena, s);
	rc = read_tokens(arena, s, out, err);
	return rc ? rc : read_jwt(s, out, err);
}

void mr_http_cors_read(const struct mr_settings *s, struct mr_http_cors *out)
{
	*out = (struct mr_http_cors){
		.is_enabled = mr_settings_bool(s, "cors.enabled"),
		.with_credentials = mr_settings_bool(s, "cors.allow_credentials"),
		.origins = *mr_settings_texts(s, "cors.origins"),
		.methods = *mr_settings_texts(s, "cors.allow_methods"),
		.headers = *mr_settings_texts(s, "cors.allow_headers"),
	};
}
