/* surface/http/jwks.c - Fetches and caches the JSON Web Key Set that JWTs are verified with. */
#include "surface/http/jwks.h"

#include "base/log.h"
#include "base/oom.h"
#include "net/http_client.h"
#include "text/time.h"

#include <pthread.h>
#include <stdlib.h>

/* One fetched key set; it stays while a token is being verified with it. */
struct set {
	struct mr_arena *arena;
	const struct mr_jwt_keys *keys;
	int64_t fetched_us;
	unsigned users; /* under the cache's lock; the cache itself is one */
};

struct mr_http_jwks {
	mr_http_jwks_fetch *fetch;
	void *arg;
	const struct mr_clock *clock;
	pthread_mutex_t lock;
	pthread_cond_t fetched;
	struct set *set; /* or NULL */
	bool is_fetching;
	unsigned waiting;
	bool was_tried;
	int64_t tried_us;
};

enum reason {
	FOR_ANY, /* there are no keys */
	FOR_AGE, /* they are old, but the old ones still work */
	FOR_KEY, /* none of them has the token's key id */
};

struct mr_http_jwks *mr_http_jwks_new(mr_http_jwks_fetch *fetch, void *arg,
	const struct mr_clock *clock)
{
	struct mr_http_jwks *jwks = calloc(1, sizeof(*jwks));

	if (!jwks)
		mr_oom(sizeof(*jwks));
	jwks->fetch = fetch;
	jwks->arg = arg;
	jwks->clock = clock;
	pthread_mutex_init(&jwks->lock, NULL);
	pthread_cond_init(&jwks->fetched, NULL);
	return jwks;
}

static void free_set(struct set *set)
{
	mr_arena_free(set->arena);
	free(set);
}

void mr_http_jwks_free(struct mr_http_jwks *jwks)
{
	if (!jwks)
		return;
	if (jwks->set)
		free_set(jwks->set);
	pthread_cond_destroy(&jwks->fetched);
	pthread_mutex_destroy(&jwks->lock);
	free(jwks);
}

static struct set *borrow(struct mr_http_jwks *jwks)
{
	struct set *set;

	pthread_mutex_lock(&jwks->lock);
	set = jwks->set;
	if (set)
		set->users++;
	pthread_mutex_unlock(&jwks->lock);
	return set;
}

static void give_back(struct mr_http_jwks *jwks, struct set *set)
{
	bool is_last;

	if (!set)
		return;
	pthread_mutex_lock(&jwks->lock);
	is_last = --set->users == 0;
	pthread_mutex_unlock(&jwks->lock);
	if (is_last)
		free_set(set);
}

/* A new set, or NULL and the reason in the log. */
static struct set *fetch(struct mr_http_jwks *jwks)
{
	struct set *set = calloc(1, sizeof(*set));
	struct mr_bytes json;
	struct mr_err err;

	if (!set)
		mr_oom(sizeof(*set));
	set->arena = mr_arena_new();
	set->users = 1;
	if (jwks->fetch(jwks->arg, set->arena, &json, &err) ||
		mr_jwt_keys_parse(set->arena, json, &set->keys, &err)) {
		mr_log(MR_LOG_WARN, "jwks_failed", "%s", err.msg);
		free_set(set);
		return NULL;
	}
	set->fetched_us = mr_clock_mono_us(jwks->clock);
	return set;
}

/* Fetch the keys again if that is due; false when too many threads wait for them already. */
static bool refresh(struct mr_http_jwks *jwks, enum reason reason)
{
	int64_t now = mr_clock_mono_us(jwks->clock);
	struct set *old, *set;

	pthread_mutex_lock(&jwks->lock);
	if (jwks->is_fetching) {
		bool may_wait = reason != FOR_AGE && jwks->waiting < MR_HTTP_JWKS_WAITERS;

		if (may_wait) {
			jwks->waiting++;
			while (jwks->is_fetching)
				pthread_cond_wait(&jwks->fetched, &jwks->lock);
			jwks->waiting--;
		}
		pthread_mutex_unlock(&jwks->lock);
		return may_wait || reason == FOR_AGE;
	}
	if (jwks->was_tried && now - jwks->tried_us < MR_HTTP_JWKS_RETRY_S * MR_TIME_S) {
		pthread_mutex_unlock(&jwks->lock);
		return true;
	}
	jwks->is_fetching = jwks->was_tried = true;
	jwks->tried_us = now;
	pthread_mutex_unlock(&jwks->lock);
	set = fetch(jwks);
	pthread_mutex_lock(&jwks->lock);
	old = set ? jwks->set : NULL;
	if (set)
		jwks->set = set;
	jwks->is_fetching = false;
	pthread_cond_broadcast(&jwks->fetched);
	pthread_mutex_unlock(&jwks->lock);
	give_back(jwks, old);
	return true;
}

static enum mr_code verify(struct mr_http_jwks *jwks, struct mr_arena *arena, const char *token,
	const struct mr_jwt_rules *rules, const struct mr_value **out, struct mr_err *err)
{
	struct set *set = borrow(jwks);
	enum mr_code rc;

	if (!set)
		return mr_err_set(err, MR_EREMOTE, "the keys of the token's issuer are not there");
	rc = mr_jwt_verify(arena, token, set->keys, rules, out, err);
	give_back(jwks, set);
	return rc;
}

/* Why keys must be fetched before anything else; -1 when there are good ones. */
static int why_now(struct mr_http_jwks *jwks)
{
	int64_t now = mr_clock_mono_us(jwks->clock);
	int why = -1;

	pthread_mutex_lock(&jwks->lock);
	if (!jwks->set)
		why = FOR_ANY;
	else if (now - jwks->set->fetched_us >= MR_HTTP_JWKS_FRESH_S * MR_TIME_S)
		why = FOR_AGE;
	pthread_mutex_unlock(&jwks->lock);
	return why;
}

enum mr_code mr_http_jwks_verify(struct mr_http_jwks *jwks, struct mr_arena *arena,
	const char *token, const struct mr_jwt_rules *rules, const struct mr_value **out_claims,
	struct mr_err *err)
{
	int why = why_now(jwks);
	enum mr_code rc;

	if (why >= 0 && !refresh(jwks, (enum reason)why))
		return mr_err_set(err, MR_EBUSY,
			"the keys of the token's issuer are being fetched");
	rc = verify(jwks, arena, token, rules, out_claims, err);
	if (rc != MR_ENOTFOUND)
		return rc;
	if (!refresh(jwks, FOR_KEY))
		return mr_err_set(err, MR_EBUSY,
			"the keys of the token's issuer are being fetched");
	rc = verify(jwks, arena, token, rules, out_claims, err);
	return rc == MR_ENOTFOUND ? mr_err_set(err, MR_EAUTH, "no key has the token's key id") : rc;
}

enum mr_code mr_http_jwks_get(void *arg, struct mr_arena *arena, struct mr_bytes *out,
	struct mr_err *err)
{
	struct mr_http_client_request request = {
		.url = arg,
		.timeout_ms = MR_HTTP_JWKS_TIMEOUT_MS,
		.max_bytes = MR_JWT_KEYS_BYTES,
	};
	struct mr_http_client_response response;
	enum mr_code rc = mr_http_client_send(arena, &request, &response, err);

	if (rc)
		return rc;
	if (response.status != 200)
		return mr_err_set(err, MR_EREMOTE, "the key set's URL answered with status %d",
			response.status);
	*out = response.body;
	return MR_OK;
}
