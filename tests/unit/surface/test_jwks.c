/* tests/unit/surface/test_jwks.c */
#include "surface/http/jwks.h"

#include "../text/jwt_samples.h"
#include "base/log.h"
#include "test.h"

#include <pthread.h>

#define SECOND INT64_C(1000000)

/* An issuer whose answers the test decides. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *keys; /* NULL: not there */
	unsigned asked;
	bool is_held;
	unsigned at_work; /* threads that verify */
} issuer = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static struct mr_clock_fixed now;
static struct mr_http_jwks *jwks;

static enum mr_code fetch(void *arg, struct mr_arena *arena, struct mr_bytes *out,
	struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	CHECK(arg == &issuer);
	pthread_mutex_lock(&issuer.lock);
	issuer.asked++;
	pthread_cond_broadcast(&issuer.changed);
	while (issuer.is_held)
		pthread_cond_wait(&issuer.changed, &issuer.lock);
	if (issuer.keys)
		*out = mr_bytes_text(mr_arena_printf(arena, "{\"keys\":[%s]}", issuer.keys));
	else
		rc = mr_err_set(err, MR_EREMOTE, "nobody is there");
	pthread_mutex_unlock(&issuer.lock);
	return rc;
}

static enum mr_code verify(const char *token, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_jwt_rules rules = { .algs = 63, .now_s = 1700000000 };
	const struct mr_value *claims;

	return mr_http_jwks_verify(jwks, arena, token, &rules, &claims, err);
}

static void begin(const char *keys)
{
	mr_clock_fixed_init(&now, 1700000000 * SECOND);
	issuer.keys = keys;
	jwks = mr_http_jwks_new(fetch, &issuer, &now.clock);
}

static void one_fetch_serves_many(void)
{
	struct mr_err err;

	begin(RSA_JWK);
	for (int i = 0; i < 3; i++)
		CHECK_OK(verify(RS256_TOKEN, &err), err);
	now.now_us += 3599 * SECOND;
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	CHECK_INT(issuer.asked, 1);
	now.now_us += SECOND;
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	CHECK_INT(issuer.asked, 2);
	mr_http_jwks_free(jwks);
	mr_http_jwks_free(NULL);
}

static void an_unknown_key_is_asked_for(void)
{
	struct mr_err err;

	begin(RSA_JWK);
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	/* The issuer has changed its key, but we asked a moment ago. */
	issuer.keys = EC_JWK;
	CHECK_INT(verify(ES256_TOKEN, &err), MR_EAUTH);
	CHECK_STR(err.msg, "no key has the token's key id");
	CHECK_INT(issuer.asked, 1);
	now.now_us += 30 * SECOND;
	CHECK_OK(verify(ES256_TOKEN, &err), err);
	CHECK_INT(issuer.asked, 2);
	/* And the old one is good no longer. */
	CHECK_INT(verify(RS256_TOKEN, &err), MR_EAUTH);
	now.now_us += 30 * SECOND;
	for (int i = 0; i < 100; i++)
		CHECK_INT(verify(RS256_TOKEN, &err), MR_EAUTH);
	CHECK_INT(issuer.asked, 3);
	mr_http_jwks_free(jwks);
}

static void old_keys_are_better_than_none(void)
{
	struct mr_err err;

	begin(RSA_JWK);
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	issuer.keys = NULL;
	now.now_us += 7200 * SECOND;
	for (int i = 0; i < 3; i++)
		CHECK_OK(verify(RS256_TOKEN, &err), err);
	CHECK_INT(issuer.asked, 2);
	issuer.keys = "{}";
	now.now_us += 31 * SECOND;
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	CHECK_INT(issuer.asked, 3);
	mr_http_jwks_free(jwks);
}

static void without_keys_nobody_is_judged(void)
{
	struct mr_err err;

	begin(NULL);
	for (int i = 0; i < 3; i++)
		CHECK_INT(verify(RS256_TOKEN, &err), MR_EREMOTE);
	CHECK_STR(err.msg, "the keys of the token's issuer are not there");
	CHECK_INT(issuer.asked, 1);
	issuer.keys = RSA_JWK;
	now.now_us += 30 * SECOND;
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	mr_http_jwks_free(jwks);
}

static void *ask(void *arg)
{
	struct mr_err err;

	*(enum mr_code *)arg = verify(RS256_TOKEN, &err);
	pthread_mutex_lock(&issuer.lock);
	issuer.at_work++;
	pthread_cond_broadcast(&issuer.changed);
	pthread_mutex_unlock(&issuer.lock);
	return NULL;
}

/* One fetches, two wait for it, and the others do not have to. */
static void few_wait(void)
{
	enum { THREADS = 6 };
	enum mr_code codes[THREADS];
	pthread_t threads[THREADS];
	unsigned good = 0, busy = 0;

	begin(RSA_JWK);
	issuer.is_held = true;
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, ask, &codes[i]) == 0);
	pthread_mutex_lock(&issuer.lock);
	while (issuer.at_work < THREADS - 1 - MR_HTTP_JWKS_WAITERS)
		pthread_cond_wait(&issuer.changed, &issuer.lock);
	issuer.is_held = false;
	pthread_cond_broadcast(&issuer.changed);
	pthread_mutex_unlock(&issuer.lock);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		good += codes[i] == MR_OK;
		busy += codes[i] == MR_EBUSY;
	}
	CHECK_INT(good, 1 + MR_HTTP_JWKS_WAITERS);
	CHECK_INT(busy, THREADS - 1 - MR_HTTP_JWKS_WAITERS);
	CHECK_INT(issuer.asked, 1);
	mr_http_jwks_free(jwks);
}

/* While somebody fetches because they are old, the old ones serve. */
static void nobody_waits_for_newer_ones(void)
{
	enum mr_code code;
	pthread_t thread;
	struct mr_err err;

	begin(RSA_JWK);
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	now.now_us += 3600 * SECOND;
	issuer.is_held = true;
	CHECK(pthread_create(&thread, NULL, ask, &code) == 0);
	pthread_mutex_lock(&issuer.lock);
	while (issuer.asked < 2)
		pthread_cond_wait(&issuer.changed, &issuer.lock);
	pthread_mutex_unlock(&issuer.lock);
	CHECK_OK(verify(RS256_TOKEN, &err), err);
	pthread_mutex_lock(&issuer.lock);
	issuer.is_held = false;
	pthread_cond_broadcast(&issuer.changed);
	pthread_mutex_unlock(&issuer.lock);
	pthread_join(thread, NULL);
	CHECK_INT(code, MR_OK);
	mr_http_jwks_free(jwks);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(one_fetch_serves_many),
		TEST(an_unknown_key_is_asked_for),
		TEST(old_keys_are_better_than_none),
		TEST(without_keys_nobody_is_judged),
		TEST(few_wait),
		TEST(nobody_waits_for_newer_ones),
	};

	return test_main(tests, MR_LEN(tests));
}
