/* tests/unit/surface/test_csrf.c */
#include "surface/web/csrf.h"

#include "app/principal.h"
#include "test.h"

#include <string.h>

static const struct mr_web_csrf_key key = { "a key that a process drew" };
static const struct mr_principal alice = { .name = "sub:alice" };
static const struct mr_principal bob = { .name = "sub:bob" };

/* What somebody's browser asks, perhaps within a session. */
static struct mr_http_request asked_by(struct mr_arena *arena, const struct mr_principal *who,
	const char *session)
{
	return (struct mr_http_request){ .arena = arena, .principal = who, .session = session };
}

static void a_form_proves_whose_it_is(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_request req = asked_by(arena, &alice, "s1");
	struct mr_http_request again = asked_by(arena, &alice, "s1");
	struct mr_http_request other = asked_by(arena, &bob, "s1");
	struct mr_http_request later = asked_by(arena, &alice, "s2");
	struct mr_http_request none = asked_by(arena, &alice, NULL);
	const char *proof = mr_web_csrf(&key, &req);

	CHECK(strlen(proof) == 43);
	CHECK(mr_web_csrf_is_good(&key, &again, proof));
	CHECK(!mr_web_csrf_is_good(&key, &other, proof));
	CHECK(!mr_web_csrf_is_good(&key, &later, proof));
	CHECK(!mr_web_csrf_is_good(&key, &none, proof));
	CHECK(!mr_web_csrf_is_good(&key, &req, NULL));
	CHECK(!mr_web_csrf_is_good(&key, &req, ""));
	CHECK(!mr_web_csrf_is_good(&(struct mr_web_csrf_key){ "another" }, &req, proof));
}

static void what_another_site_sent_is_refused(void)
{
	static const struct {
		const char *site;
		bool is_good;
	} cases[] = {
		{ "same-origin", true },
		{ "none", true },
		{ "same-site", false },
		{ "cross-site", false },
		{ "", false },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_http_request req = asked_by(arena, &alice, "s1");
	const char *proof = mr_web_csrf(&key, &req);

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_http_header header = { "Sec-Fetch-Site", cases[i].site };

		req.headers = &header;
		req.headers_len = 1;
		CHECK_INT(mr_web_csrf_is_good(&key, &req, proof), cases[i].is_good);
	}
	req.headers_len = 0;
	req.is_foreign = true;
	CHECK(!mr_web_csrf_is_good(&key, &req, proof));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_form_proves_whose_it_is),
		TEST(what_another_site_sent_is_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
