/* tests/unit/surface/test_rate_limit.c */
#include "surface/http/rate_limit.h"

#include "base/attr.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000)

static struct mr_http_rate_limits *limits;
static struct mr_http_quota quota;

static bool take(const char *key, int64_t per_minute, int64_t burst, int64_t now_us)
{
	struct mr_http_wish wish = { key, { per_minute, burst } };

	return mr_http_rate_limits_take(limits, now_us, &wish, 1, &quota);
}

static void a_bucket_empties_and_fills(void)
{
	limits = mr_http_rate_limits_new(10, 1);
	for (int i = 0; i < 6; i++) {
		CHECK(take("a", 6, 0, 0));
		CHECK_INT(quota.limit, 6);
		CHECK_INT(quota.remaining, 5 - i);
		CHECK_INT(quota.full_in_s, 10 * (i + 1));
		CHECK_INT(quota.retry_in_s, 0);
	}
	CHECK(!take("a", 6, 0, 0));
	CHECK_INT(quota.remaining, 0);
	CHECK_INT(quota.retry_in_s, 10);
	CHECK_INT(quota.full_in_s, 60);
	/* Nobody else's. */
	CHECK(take("b", 6, 0, 0));
	CHECK(!take("a", 6, 0, 10 * SECOND - 1));
	CHECK_INT(quota.retry_in_s, 1);
	CHECK(take("a", 6, 0, 10 * SECOND));
	CHECK(!take("a", 6, 0, 10 * SECOND));
	/* Never more than full. */
	for (int i = 0; i < 6; i++)
		CHECK(take("a", 6, 0, 3600 * SECOND));
	CHECK(!take("a", 6, 0, 3600 * SECOND));
	/* A clock that goes back takes nothing away, and gives nothing. */
	CHECK(!take("a", 6, 0, 0));
	mr_http_rate_limits_free(limits);
}

static void bursts_and_rates_differ(void)
{
	limits = mr_http_rate_limits_new(10, 1);
	CHECK(take("a", 60, 2, 0) && take("a", 60, 2, 0) && !take("a", 60, 2, 0));
	CHECK_INT(quota.limit, 2);
	CHECK_INT(quota.retry_in_s, 1);
	CHECK(take("a", 60, 2, SECOND) && !take("a", 60, 2, SECOND));
	mr_http_rate_limits_free(limits);
}

static void zero_is_no_limit(void)
{
	struct mr_http_wish free_wish = { "a", { 0, 5 } };

	limits = mr_http_rate_limits_new(10, 1);
	for (int i = 0; i < 1000; i++)
		CHECK(take("a", 0, 5, 0));
	CHECK(!quota.is_limited);
	CHECK(mr_http_rate_limits_peek(limits, 0, &free_wish, &quota) && !quota.is_limited);
	CHECK_INT(mr_http_rate_limits_count(limits), 0);
	mr_http_rate_limits_free(limits);
}

static void all_or_none(void)
{
	const struct mr_http_wish wishes[] = { { "a", { 3, 0 } }, { "free", { 0, 0 } },
		{ "b", { 1, 0 } }, { "a", { 3, 0 } } };
	const struct mr_http_wish two[] = { { "a", { 3, 0 } }, { "b", { 1, 0 } } };

	limits = mr_http_rate_limits_new(10, 1);
	CHECK(mr_http_rate_limits_take(limits, 0, wishes, 4, &quota));
	/* The one that is nearest to empty. */
	CHECK_INT(quota.limit, 1);
	CHECK_INT(quota.remaining, 0);
	CHECK(!mr_http_rate_limits_take(limits, 0, two, 2, &quota));
	CHECK_INT(quota.limit, 1);
	CHECK_INT(quota.retry_in_s, 60);
	/* What was taken for a went back. */
	CHECK(take("a", 3, 0, 0) && !take("a", 3, 0, 0));
	CHECK(mr_http_rate_limits_take(limits, 0, NULL, 0, &quota) && !quota.is_limited);
	mr_http_rate_limits_free(limits);
}

static void looking_takes_nothing(void)
{
	struct mr_http_wish wish = { "a", { 1, 0 } };

	limits = mr_http_rate_limits_new(10, 1);
	for (int i = 0; i < 5; i++) {
		CHECK(mr_http_rate_limits_peek(limits, 0, &wish, &quota));
		CHECK_INT(quota.remaining, 1);
	}
	CHECK(take("a", 1, 0, 0));
	CHECK(!mr_http_rate_limits_peek(limits, 0, &wish, &quota));
	CHECK_INT(quota.retry_in_s, 60);
	mr_http_rate_limits_free(limits);
}

static void the_longest_unused_goes(void)
{
	char key[32];

	limits = mr_http_rate_limits_new(1000, 7);
	CHECK(take("kept", 1, 0, 0) && take("lost", 1, 0, 0));
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		CHECK(take(key, 1, 0, 0));
		CHECK(!take("kept", 1, 0, 0));
	}
	CHECK_INT(mr_http_rate_limits_count(limits), 1000);
	/* It is new again. */
	CHECK(take("lost", 1, 0, 0));
	mr_http_rate_limits_free(limits);
}

static void long_keys(void)
{
	char one[1000], two[1000];

	limits = mr_http_rate_limits_new(10, 1);
	memset(one, 'x', sizeof(one) - 1);
	one[sizeof(one) - 1] = '\0';
	memcpy(two, one, sizeof(two));
	two[900] = 'y';
	CHECK(take(one, 1, 0, 0) && !take(two, 1, 0, 0));
	two[100] = 'y';
	CHECK(take(two, 1, 0, 0));
	/* A key is not its beginning. */
	CHECK(take("ab", 1, 0, 0) && take("a", 1, 0, 0) && take("abc", 1, 0, 0) &&
		take("", 1, 0, 0));
	mr_http_rate_limits_free(limits);
	mr_http_rate_limits_free(NULL);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_bucket_empties_and_fills),
		TEST(bursts_and_rates_differ),
		TEST(zero_is_no_limit),
		TEST(all_or_none),
		TEST(looking_takes_nothing),
		TEST(the_longest_unused_goes),
		TEST(long_keys),
	};

	return test_main(tests, MR_LEN(tests));
}
