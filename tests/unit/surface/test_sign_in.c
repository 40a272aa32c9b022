/* tests/unit/surface/test_sign_in.c */
#include "surface/http/sign_in.h"

#include "base/str.h"
#include "test.h"

#include <string.h>

#define SECOND INT64_C(1000000)

static struct mr_arena *arena;
static struct mr_clock_fixed now;
static struct mr_rand chance;
static struct mr_http_sessions *sessions;

static void begin(void)
{
	arena = mr_arena_new();
	mr_clock_fixed_init(&now, 1000 * SECOND);
	mr_rand_seeded_init(&chance, 1);
	sessions = mr_http_sessions_new(&chance, &now.clock);
}

static void end(void)
{
	mr_http_sessions_free(sessions);
	mr_arena_free(arena);
}

static const char *find(const char *name)
{
	return mr_http_sessions_find(sessions, arena, name);
}

static void names_lead_to_credentials(void)
{
	const char *a, *b;

	begin();
	a = mr_http_sessions_begin(sessions, arena, "one");
	b = mr_http_sessions_begin(sessions, arena, "two");
	CHECK(strcmp(a, b) != 0 && strlen(a) == 43);
	CHECK_STR(find(a), "one");
	CHECK_STR(find(b), "two");
	CHECK(!find("one") && !find("") && !find(NULL));
	mr_http_sessions_end(sessions, a);
	mr_http_sessions_end(sessions, a);
	CHECK(!find(a) && find(b));
	end();
}

static void they_end_by_themselves(void)
{
	const char *idle, *used;

	begin();
	idle = mr_http_sessions_begin(sessions, arena, "idle");
	used = mr_http_sessions_begin(sessions, arena, "used");
	now.now_us += MR_HTTP_SESSION_IDLE_S * SECOND;
	CHECK(find(used));
	now.now_us += SECOND;
	CHECK(find(used) && !find(idle));
	for (int64_t s = 0; s < MR_HTTP_SESSION_S; s += MR_HTTP_SESSION_IDLE_S) {
		now.now_us += MR_HTTP_SESSION_IDLE_S * SECOND;
		(void)find(used);
	}
	CHECK(!find(used));
	end();
}

static void the_one_used_longest_ago_makes_room(void)
{
	const char *names[MR_HTTP_SESSIONS_MAX];

	begin();
	for (size_t i = 0; i < MR_HTTP_SESSIONS_MAX; i++) {
		now.now_us += SECOND;
		names[i] = mr_http_sessions_begin(sessions, arena, "x");
	}
	now.now_us += SECOND;
	CHECK(find(names[0]));
	CHECK(find(mr_http_sessions_begin(sessions, arena, "y")));
	CHECK(find(names[0]) && !find(names[1]) && find(names[2]));
	end();
}

int main(void)
{
	static const struct test tests[] = {
		TEST(names_lead_to_credentials),
		TEST(they_end_by_themselves),
		TEST(the_one_used_longest_ago_makes_room),
	};

	return test_main(tests, MR_LEN(tests));
}
