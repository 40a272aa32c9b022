/*
 * surface/http/access.c - Authenticates each HTTP request by token, JWT or local connection, and
 * enforces its roles and rate limits.
 */
#include "surface/http/access.h"

#include "base/log.h"
#include "surface/http/cookie.h"
#include "surface/http/forward.h"
#include "surface/http/media.h"
#include "surface/http/sign_in.h"
#include "text/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	NAME_BYTES = 128,
	AGENTS_MAX = 256, /* that one token may name; more are passed over */
};

struct mr_http_access {
	struct mr_arena *arena;
	struct mr_http_access_config config;
	struct mr_http_nets proxies;
	const struct mr_jwt_keys *secret; /* or NULL */
	struct mr_http_jwks *jwks;        /* or NULL */
	struct mr_http_sessions *sessions;
	struct mr_http_rate_limits *limits;
	struct mr_http_rate_limits
		*failures; /* apart, so that a flood of requests does not push them out */
};

/* ---- made and unmade ---- */

void mr_http_access_defaults(struct mr_http_access_config *out)
{
	*out = (struct mr_http_access_config){
		.allow_local = true,
		.jwt_algs = MR_JWT_HS256,
		.jwt_secret = "",
		.jwt_keys_url = "",
		.jwt_audience = "",
		.jwt_issuer = "",
		.jwt_role_claim = "role",
		.with_roles = true,
		.default_role = "reader",
		.clock = mr_clock_system(),
	};
}

static struct mr_texts copy_texts(struct mr_arena *arena, const struct mr_texts *texts)
{
	struct mr_texts copy = { mr_arena_array(arena, texts->len + 1, sizeof(char *)),
		texts->len };

	for (size_t i = 0; i < texts->len; i++)
		copy.items[i] = mr_arena_strdup(arena, texts->items[i]);
	return copy;
}

static void copy_config(struct mr_arena *arena, struct mr_http_access_config *c)
{
	struct mr_http_token *tokens = mr_arena_array(arena, c->tokens_len + 1, sizeof(*tokens));
	const char **texts[] = { &c->jwt_secret, &c->jwt_keys_url, &c->jwt_audience, &c->jwt_issuer,
		&c->jwt_role_claim, &c->default_role, &c->challenge, &c->sign_in_path };
	struct mr_texts *lists[] = { &c->trusted_proxies, &c->reader_roles, &c->writer_roles,
		&c->admin_roles, &c->readonly_tools };

	for (size_t i = 0; i < c->tokens_len; i++) {
		tokens[i] = c->tokens[i];
		tokens[i].token = mr_arena_strdup(arena, c->tokens[i].token);
	}
	c->tokens = tokens;
	for (size_t i = 0; i < MR_LEN(texts); i++)
		*texts[i] = mr_arena_strdup(arena, *texts[i]);
	for (size_t i = 0; i < MR_LEN(lists); i++)
		*lists[i] = copy_texts(arena, lists[i]);
}

static enum mr_code check_jwt(const struct mr_http_access_config *c, struct mr_err *err)
{
	unsigned hmac = MR_JWT_HS256 | MR_JWT_HS384 | MR_JWT_HS512;

	if (!c->with_jwt)
		return MR_OK;
	if (mr_str_is_empty(c->jwt_keys_url) && mr_str_is_empty(c->jwt_secret))
		return mr_err_set(err, MR_EINVAL,
			"jwt.enabled: neither jwt.secret nor jwt.jwks_url is set");
	/* Otherwise every token would be refused without an explanation. */
	if (!mr_str_is_empty(c->jwt_keys_url) && !(c->jwt_algs & ~hmac))
		return mr_err_set(err, MR_EINVAL,
			"jwt.algorithms: with jwt.jwks_url it must have one of RS256, ES256, "
			"EdDSA");
	if (mr_str_is_empty(c->jwt_keys_url) && !(c->jwt_algs & hmac))
		return mr_err_set(err, MR_EINVAL,
			"jwt.algorithms: with jwt.secret it must have one of HS256, HS384, HS512");
	return MR_OK;
}

enum mr_code mr_http_access_new(const struct mr_http_access_config *config,
	struct mr_http_access **out, struct mr_err *err)
{
	struct mr_arena *arena = mr_arena_new();
	struct mr_http_access *access = mr_arena_alloc(arena, sizeof(*access));
	struct mr_http_access_config *c = &access->config;
	enum mr_code rc = check_jwt(config, err);
	uint64_t seed;

	for (size_t i = 0; i < config->tokens_len && !rc; i++) {
		if (mr_str_is_empty(config->tokens[i].token))
			rc = mr_err_set(err, MR_EINVAL, "http.bearer_tokens: a token is empty");
	}
	access->arena = arena;
	*c = *config;
	copy_config(arena, c);
	if (!rc) {
		rc = mr_http_nets_parse(arena, &c->trusted_proxies, &access->proxies, err);
		if (rc)
			rc = mr_err_wrap(err, "http.trusted_proxies");
	}
	if (rc) {
		mr_arena_free(arena);
		return rc;
	}
	mr_rand_fill(mr_rand_system(), &seed, sizeof(seed));
	access->sessions = mr_http_sessions_new(mr_rand_system(), c->clock);
	access->limits = mr_http_rate_limits_new(MR_HTTP_BUCKETS, seed);
	access->failures = mr_http_rate_limits_new(MR_HTTP_BUCKETS, seed);
	if (c->with_jwt && !mr_str_is_empty(c->jwt_keys_url))
		access->jwks = mr_http_jwks_new(c->fetch ? c->fetch : mr_http_jwks_get,
			c->fetch ? c->fetch_arg : (void *)(uintptr_t)c->jwt_keys_url, c->clock);
	else if (c->with_jwt)
		access->secret = mr_jwt_keys_secret(arena, c->jwt_secret);
	*out = access;
	return MR_OK;
}

void mr_http_access_free(struct mr_http_access *access)
{
	if (!access)
		return;
	mr_http_jwks_free(access->jwks);
	mr_http_sessions_free(access->sessions);
	mr_http_rate_limits_free(access->limits);
	mr_http_rate_limits_free(access->failures);
	mr_arena_free(access->arena);
}

/* ---- roles ---- */

/* A role and all it implies. */
static unsigned with_lesser(unsigned roles)
{
	if (roles & MR_ROLE_ADMIN)
		roles |= MR_ROLE_WRITER;
	if (roles & MR_ROLE_WRITER)
		roles |= MR_ROLE_READER;
	return roles;
}

static bool has_word(const struct mr_texts *words, const char *word)
{
	for (size_t i = 0; i < words->len; i++) {
		if (strcasecmp(words->items[i], word) == 0)
			return true;
	}
	return false;
}

/* The contract's role names are known in any case, whatever the lists of names say. */
static unsigned role_of(const struct mr_http_access_config *c, const char *word)
{
	unsigned roles = 0;

	if (has_word(&c->admin_roles, word) || strcasecmp(word, "admin") == 0)
		roles |= MR_ROLE_ADMIN;
	if (has_word(&c->writer_roles, word) || strcasecmp(word, "writer") == 0)
		roles |= MR_ROLE_WRITER;
	if (has_word(&c->reader_roles, word) || strcasecmp(word, "reader") == 0)
		roles |= MR_ROLE_READER;
	return with_lesser(roles);
}

/* The claim of this name; a name with dots otherwise leads to a claim inside another. */
static const struct mr_value *find_claim(struct mr_arena *arena, const struct mr_value *claims,
	const char *name)
{
	const struct mr_value *value = mr_value_get(claims, name);
	const char *dot = strchr(name, '.');

	if (value || !dot)
		return value;
	value = mr_value_get(claims, mr_arena_strndup(arena, name, (size_t)(dot - name)));
	return value ? find_claim(arena, value, dot + 1) : NULL;
}

static unsigned roles_of(const struct mr_http_access_config *c, const struct mr_value *claim)
{
	unsigned roles = 0;
	bool has_any = false;

	if (claim && claim->kind == MR_TEXT && *claim->text)
		return role_of(c, claim->text);
	for (size_t i = 0; claim && claim->kind == MR_LIST && i < claim->list.len; i++) {
		const struct mr_value *item = &claim->list.items[i];

		if (item->kind == MR_TEXT && *item->text) {
			has_any = true;
			roles |= role_of(c, item->text);
		}
	}
	return has_any ? roles : role_of(c, c->default_role);
}

/* ---- principals ---- */

static struct mr_principal *new_principal(struct mr_http_access *access,
	struct mr_http_request *req, const char *name, unsigned roles)
{
	struct mr_principal *p = mr_arena_alloc(req->arena, sizeof(*p));
	const struct mr_http_access_config *c = &access->config;

	p->name = name;
	p->roles = c->with_roles ? with_lesser(roles)
				 : MR_ROLE_READER | MR_ROLE_WRITER | MR_ROLE_ADMIN;
	p->readonly_tools = c->readonly_tools;
	return p;
}

/* A claim that is a text, or a list of them; whatever else it holds is passed over. */
static struct mr_texts texts_of(struct mr_arena *arena, const struct mr_value *claim)
{
	size_t max = claim && claim->kind == MR_LIST ? claim->list.len : 1;
	struct mr_texts texts = { mr_arena_array(arena, max + 1, sizeof(char *)), 0 };

	if (claim && claim->kind == MR_TEXT && *claim->text)
		texts.items[texts.len++] = claim->text;
	for (size_t i = 0; claim && claim->kind == MR_LIST && i < max; i++) {
		const struct mr_value *item = &claim->list.items[i];

		if (item->kind == MR_TEXT && *item->text)
			texts.items[texts.len++] = item->text;
	}
	return texts;
}

static void bind_agent(struct mr_principal *p, const char *name, const char *project)
{
	if (*name && *project && p->agents.len < AGENTS_MAX)
		p->agents.items[p->agents.len++] = (struct mr_principal_agent){ name, project };
}

/* "BlueLake@project", or "BlueLake" with the projects that another claim names. */
static void bind_texts(struct mr_arena *arena, const struct mr_texts *names,
	const struct mr_texts *projects, struct mr_principal *p)
{
	for (size_t i = 0; i < names->len; i++) {
		const char *name = names->items[i];
		const char *at = strchr(name, '@');

		if (at)
			bind_agent(p, mr_arena_strndup(arena, name, (size_t)(at - name)), at + 1);
		for (size_t k = 0; !at && k < projects->len; k++)
			bind_agent(p, name, projects->items[k]);
	}
}

/*
 * {"project": ["BlueLake"]}, or texts. A claim that cannot be read, and a name without a project,
 * binds to nobody: the same name is another agent in each project.
 */
static void bind_agents(struct mr_arena *arena, const struct mr_value *claims,
	struct mr_principal *p)
{
	const struct mr_value *claim = mr_value_get(claims, "agents");
	const struct mr_value *projects = mr_value_get(claims, "projects");
	struct mr_texts names, all;

	if (!claim)
		return;
	p->is_bound = true;
	p->agents.items = mr_arena_array(arena, AGENTS_MAX, sizeof(*p->agents.items));
	for (size_t i = 0; claim->kind == MR_MAP && i < claim->map.len; i++) {
		const char *project = claim->map.pairs[i].key;

		names = texts_of(arena, &claim->map.pairs[i].value);
		for (size_t k = 0; k < names.len; k++)
			bind_agent(p, names.items[k], project);
	}
	names = texts_of(arena, claim);
	all = texts_of(arena, projects ? projects : mr_value_get(claims, "project"));
	bind_texts(arena, &names, &all, p);
}

static struct mr_principal *principal_of_claims(struct mr_http_access *access,
	struct mr_http_request *req, const struct mr_value *claims)
{
	const struct mr_http_access_config *c = &access->config;
	const struct mr_value *sub = mr_value_get(claims, "sub");
	const char *name = sub && sub->kind == MR_TEXT && *sub->text
		? mr_arena_printf(req->arena, "sub:%.*s", NAME_BYTES, sub->text)
		: "jwt";
	unsigned roles = roles_of(c, find_claim(req->arena, claims, c->jwt_role_claim));
	struct mr_principal *p = new_principal(access, req, name, roles);

	p->acts_for_all = c->with_roles && roles & MR_ROLE_ADMIN;
	bind_agents(req->arena, claims, p);
	return p;
}

/* That of the browser's session, on a page; or NULL. */
static const char *credential_of_session(struct mr_http_access *access, struct mr_http_request *req)
{
	const struct mr_http_route *route = req->match.route;
	const char *name, *credential;

	if (!route || !(route->flags & MR_ROUTE_PAGE))
		return NULL;
	name = mr_http_cookie(req, MR_HTTP_SESSION_COOKIE);
	credential = mr_http_sessions_find(access->sessions, req->arena, name);
	req->session = credential ? name : NULL;
	return credential;
}

/* "Bearer <this>", or that of the browser's session; or NULL. */
static const char *credential_of(struct mr_http_access *access, struct mr_http_request *req)
{
	static const char scheme[] = "bearer ";
	const char *text = mr_http_request_header(req, "Authorization");

	if (!text || strncasecmp(text, scheme, sizeof(scheme) - 1) != 0)
		return credential_of_session(access, req);
	text += sizeof(scheme) - 1;
	return text + strspn(text, " ");
}

/* All are compared, each in constant time. */
static const struct mr_http_token *find_token(const struct mr_http_access_config *c,
	const char *credential)
{
	const struct mr_http_token *found = NULL;

	for (size_t i = 0; credential && i < c->tokens_len; i++) {
		if (mr_str_eq_secret(c->tokens[i].token, credential))
			found = &c->tokens[i];
	}
	return found;
}

/* ---- limits ---- */

static const char *who(const struct mr_http_request *req)
{
	const struct mr_principal *p = req->principal;

	return p && mr_str_starts(p->name, "sub:")
		? p->name
		: mr_http_forward_identity(req->arena, req->client_ip);
}

static const char *number(struct mr_arena *arena, int64_t n)
{
	return mr_arena_printf(arena, "%lld", (long long)n);
}

static void show_quota(struct mr_http_response *resp, const struct mr_http_quota *quota)
{
	if (!quota->is_limited)
		return;
	mr_http_response_header(resp, "RateLimit-Limit", number(resp->arena, quota->limit));
	mr_http_response_header(resp, "RateLimit-Remaining", number(resp->arena, quota->remaining));
	mr_http_response_header(resp, "RateLimit-Reset", number(resp->arena, quota->full_in_s));
	if (quota->retry_in_s)
		mr_http_response_header(resp, "Retry-After",
			number(resp->arena, quota->retry_in_s));
}

static void refuse_rate(struct mr_http_response *resp, const struct mr_http_quota *quota)
{
	show_quota(resp, quota);
	mr_http_response_error(resp, 429, "Rate limit exceeded");
}

static bool spend(struct mr_http_access *access, const struct mr_http_request *req,
	struct mr_http_response *resp, const struct mr_http_task *tasks, size_t count)
{
	static const char *const kinds[] = { "other", "tools", "resources" };
	const struct mr_http_access_config *c = &access->config;
	struct mr_http_wish *wishes;
	struct mr_http_quota quota;
	const char *name = who(req);
	bool fits;

	if (!c->with_limits)
		return true;
	wishes = mr_arena_array(req->arena, count + 1, sizeof(*wishes));
	for (size_t i = 0; i < count; i++) {
		wishes[i].limit = c->limits[tasks[i].kind];
		wishes[i].key = mr_arena_printf(req->arena, "%s:%.64s:%s", kinds[tasks[i].kind],
			tasks[i].name ? tasks[i].name : "*", name);
	}
	fits = mr_http_rate_limits_take(access->limits, mr_clock_mono_us(c->clock), wishes, count,
		&quota);
	if (fits)
		show_quota(resp, &quota);
	else
		refuse_rate(resp, &quota);
	return fits;
}

static struct mr_http_wish failure_wish(struct mr_http_access *access,
	const struct mr_http_request *req)
{
	return (struct mr_http_wish){
		mr_arena_printf(req->arena, "auth:*:%s",
			mr_http_forward_identity(req->arena, req->client_ip)),
		access->config.failures,
	};
}

/* Has this address sent too many wrong credentials? Then even a right one is refused. */
static bool is_guessing(struct mr_http_access *access, const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	struct mr_http_wish wish = failure_wish(access, req);
	struct mr_http_quota quota;

	if (mr_http_rate_limits_peek(access->failures, mr_clock_mono_us(access->config.clock),
		    &wish, &quota))
		return false;
	refuse_rate(resp, &quota);
	return true;
}

/* A path as the value in a query. */
static const char *as_value(struct mr_arena *arena, const char *path)
{
	static const char special[] = "%&#+?";
	char *out = mr_arena_alloc(arena, 3 * strlen(path) + 1);
	char *at = out;

	for (; *path; path++) {
		if (strchr(special, *path))
			at += snprintf(at, 4, "%%%02X", (unsigned)(unsigned char)*path);
		else
			*at++ = *path;
	}
	*at = '\0';
	return out;
}

/* A person who opens a page is led to the one where they sign in, and from there back. */
static bool lead_to_sign_in(const struct mr_http_access *access, const struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const struct mr_http_route *route = req->match.route;

	if (!access->config.sign_in_path || !route || !(route->flags & MR_ROUTE_PAGE) ||
		strcmp(req->method, "GET") != 0 || !mr_http_media_accepts(req, "text/html"))
		return false;
	mr_http_response_header(resp, "Location",
		mr_arena_printf(req->arena, "%s?back=%s", access->config.sign_in_path,
			as_value(req->arena, req->path)));
	mr_http_response_body(resp, 303, "text/plain; charset=utf-8",
		mr_bytes_text("Sign in first\n"));
	return true;
}

static enum mr_http_entry turn_away(struct mr_http_access *access,
	const struct mr_http_request *req, struct mr_http_response *resp, bool has_guessed)
{
	const char *challenge = access->config.challenge ? access->config.challenge : "Bearer";
	struct mr_http_quota quota;

	if (has_guessed) {
		struct mr_http_wish wish = failure_wish(access, req);

		(void)mr_http_rate_limits_take(access->failures,
			mr_clock_mono_us(access->config.clock), &wish, 1, &quota);
	}
	if (lead_to_sign_in(access, req, resp))
		return MR_HTTP_TURNED;
	mr_http_response_header(resp, "WWW-Authenticate", challenge);
	mr_http_response_error(resp, 401, "Unauthorized");
	return MR_HTTP_TURNED;
}

/* ---- the door ---- */

static enum mr_http_entry forbid(struct mr_http_response *resp)
{
	mr_http_response_error(resp, 403, "Forbidden");
	return MR_HTTP_TURNED;
}

static bool is_reading(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* The client is authenticated: may it use this route at all? Routes with MR_ROUTE_TASKS check
 * again when they have read the body. */
static enum mr_http_entry admit(struct mr_http_access *access, struct mr_http_request *req,
	struct mr_http_response *resp, const struct mr_principal *principal)
{
	const struct mr_http_route *route = req->match.route;
	struct mr_http_task task = { .kind = MR_HTTP_OTHER };

	bool has_tasks = route && route->flags & MR_ROUTE_TASKS;
	unsigned role = has_tasks || is_reading(req->method) ? MR_ROLE_READER : MR_ROLE_WRITER;

	req->principal = principal;
	if (route && !(principal->roles & role))
		return forbid(resp);
	if (has_tasks)
		return MR_HTTP_ENTERED;
	return spend(access, req, resp, &task, 1) ? MR_HTTP_ENTERED : MR_HTTP_TURNED;
}

static enum mr_http_entry enter(struct mr_http_access *access, struct mr_http_request *req,
	struct mr_http_response *resp, bool is_forwarded)
{
	const struct mr_http_access_config *c = &access->config;
	bool is_here = req->is_same_user || (c->allow_local && !c->with_jwt && req->is_loopback);
	bool is_local = is_here && !is_forwarded && !req->is_foreign;
	bool asks_nobody = c->allow_local && c->tokens_len == 0 && !c->with_jwt;
	const char *credential = credential_of(access, req);
	bool is_shown = credential && !req->session; /* by who asks, now */
	const struct mr_http_token *token;
	struct mr_principal *p;

	if (is_shown && !is_local && !asks_nobody && is_guessing(access, req, resp))
		return MR_HTTP_TURNED;
	token = find_token(c, credential);
	if (token) {
		p = new_principal(access, req,
			mr_arena_printf(req->arena, "token:%td", token - c->tokens + 1),
			token->role);
		p->acts_for_all = token->role & MR_ROLE_ADMIN;
		return admit(access, req, resp, p);
	}
	if (c->with_jwt && credential && mr_jwt_is_shaped(credential))
		return MR_HTTP_UNSETTLED;
	if (is_local) {
		p = new_principal(access, req, "local", MR_ROLE_ADMIN);
		p->is_local = true;
		return admit(access, req, resp, p);
	}
	/* A page of a foreign origin runs in some user's browser: it is no anonymous client. */
	if (asks_nobody && !req->is_foreign)
		return admit(access, req, resp,
			new_principal(access, req, "anonymous", role_of(c, c->default_role)));
	return turn_away(access, req, resp, is_shown);
}

enum mr_http_entry mr_http_access_enter(struct mr_http_access *access, struct mr_http_request *req,
	struct mr_http_response *resp)
{
	static const struct mr_principal everybody = {
		.name = "anonymous",
		.roles = MR_ROLE_READER | MR_ROLE_WRITER | MR_ROLE_ADMIN,
	};
	static const struct mr_principal anybody = { .name = "anonymous" };
	static const struct mr_principal neighbour = { .name = "anonymous", .is_local = true };
	const struct mr_http_route *route = req->match.route;
	struct mr_http_origin origin;

	req->access = access;
	if (!access) {
		req->principal = &everybody;
		return MR_HTTP_ENTERED;
	}
	origin = mr_http_forward_origin(req->arena, &access->proxies, req);
	req->client_ip = origin.ip;
	req->is_loopback = req->is_loopback && !origin.is_forwarded;
	if (route && route->flags & MR_ROUTE_OPEN) {
		bool is_local =
			req->is_same_user || (req->is_loopback && access->config.allow_local);

		is_local = is_local && !origin.is_forwarded && !req->is_foreign;
		req->principal = is_local ? &neighbour : &anybody;
		return MR_HTTP_ENTERED;
	}
	return enter(access, req, resp, origin.is_forwarded);
}

/* The claims of a JWT. MR_EAUTH, MR_ENOTFOUND; MR_EREMOTE, MR_EBUSY: its issuer's keys are not to
 * be had. May wait for them. */
static enum mr_code verify(struct mr_http_access *access, struct mr_arena *arena, const char *token,
	const struct mr_value **claims)
{
	const struct mr_http_access_config *c = &access->config;
	struct mr_jwt_rules rules = { c->jwt_algs, c->jwt_audience, c->jwt_issuer,
		mr_clock_wall_us(c->clock) / MR_TIME_S };
	struct mr_err err;
	enum mr_code rc = access->jwks
		? mr_http_jwks_verify(access->jwks, arena, token, &rules, claims, &err)
		: mr_jwt_verify(arena, token, access->secret, &rules, claims, &err);

	if (rc)
		mr_log(MR_LOG_DEBUG, "jwt_refused", "%s", err.msg);
	return rc;
}

static void refuse_without_keys(struct mr_http_response *resp, enum mr_code rc)
{
	mr_http_response_header(resp, "Retry-After", rc == MR_EBUSY ? "1" : "30");
	mr_http_response_error(resp, 503, "The keys to check tokens with are not there");
}

enum mr_http_entry mr_http_access_settle(struct mr_http_access *access, struct mr_http_request *req,
	struct mr_http_response *resp)
{
	const struct mr_value *claims;
	enum mr_code rc = verify(access, req->arena, credential_of(access, req), &claims);

	if (!rc)
		return admit(access, req, resp, principal_of_claims(access, req, claims));
	if (rc == MR_EREMOTE || rc == MR_EBUSY) {
		refuse_without_keys(resp, rc);
		return MR_HTTP_TURNED;
	}
	return turn_away(access, req, resp, !req->session);
}

/* ---- sessions of browsers ---- */

int mr_http_access_sign_in(struct mr_http_request *req, struct mr_http_response *resp,
	const char *credential, const char **out_name)
{
	struct mr_http_access *access = req->access;
	const struct mr_value *claims;
	enum mr_code rc = MR_EAUTH;

	if (!access || strlen(credential) > MR_HTTP_CREDENTIAL_BYTES) {
		mr_http_response_error(resp, 401, "Unauthorized");
		return 401;
	}
	if (is_guessing(access, req, resp))
		return 429;
	if (find_token(&access->config, credential))
		rc = MR_OK;
	else if (access->config.with_jwt && mr_jwt_is_shaped(credential))
		rc = verify(access, req->arena, credential, &claims);
	if (rc == MR_EREMOTE || rc == MR_EBUSY) {
		refuse_without_keys(resp, rc);
		return 503;
	}
	if (rc) {
		turn_away(access, req, resp, true);
		return 401;
	}
	*out_name = mr_http_sessions_begin(access->sessions, req->arena, credential);
	return 200;
}

void mr_http_access_sign_out(const struct mr_http_request *req)
{
	if (req->access && req->session)
		mr_http_sessions_end(req->access->sessions, req->session);
}

/* ---- for handlers ---- */

struct mr_http_task mr_http_task_of(const struct mr_op *op)
{
	return (struct mr_http_task){ MR_HTTP_TOOL, op->name, op->needs };
}

static bool may(const struct mr_principal *p, const struct mr_http_task *task)
{
	unsigned role = task->needs & MR_NEED_ADMIN ? MR_ROLE_ADMIN
		: task->needs & MR_NEED_WRITE       ? MR_ROLE_WRITER
						    : MR_ROLE_READER;

	if (task->kind == MR_HTTP_OTHER && !task->needs)
		return true;
	if (role == MR_ROLE_WRITER && task->kind == MR_HTTP_TOOL && task->name &&
		mr_texts_has(&p->readonly_tools, task->name))
		role = MR_ROLE_READER;
	return p->roles & role;
}

int mr_http_access_check(const struct mr_http_request *req, struct mr_http_response *resp,
	const struct mr_http_task *tasks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!may(req->principal, &tasks[i])) {
			forbid(resp);
			return 403;
		}
	}
	if (req->access && !spend(req->access, req, resp, tasks, count))
		return 429;
	return 200;
}

void mr_http_access_call(const struct mr_http_request *req, struct mr_call *call)
{
	const struct mr_principal *p = req->principal;

	call->request_id = req->id;
	call->traceparent = mr_http_request_header(req, "traceparent");
	call->principal = p;
	call->may_write = p->roles & MR_ROLE_WRITER;
	call->is_admin = p->roles & MR_ROLE_ADMIN;
	call->agent_token = mr_http_request_header(req, "X-Agent-Token");
	call->idempotency_key = mr_http_request_header(req, "Idempotency-Key");
}
