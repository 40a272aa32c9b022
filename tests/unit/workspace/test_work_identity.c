/* tests/unit/workspace/test_work_identity.c */
#include "workspace/identity.h"

#include "test.h"

enum { MANY = 50000 };

static struct mr_work_identity identities[] = {
	{ .identity = "me", .name = "Me", .email = "me@example.com", .is_default = true },
	{ .identity = "support", .name = "Example Support", .email = "Hello@Example.com" },
	{ .identity = "sales", .name = "Sales", .email = "hello@example.com" },
};
static const struct mr_work_config config = { .identities = identities, .identity_count = 3 };

struct expected {
	const char *identity, *email, *match;
	const char *candidates, *observed; /* joined by commas */
};

static void finds(const struct mr_work_observed *observed, size_t count,
	const struct expected *want)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_work_identity_match got;

	mr_work_identity_match(arena, &config, observed, count, &got);
	CHECK_STR(got.identity_match, want->match);
	CHECK_STR(got.identity_match, mr_work_identity_match_names[got.kind]);
	CHECK_STR(got.identity, want->identity);
	CHECK_STR(got.identity_email, want->email);
	CHECK_STR(mr_str_join(arena, &got.identity_candidates, ","), want->candidates);
	CHECK_STR(mr_str_join(arena, &got.observed_recipient_emails, ","), want->observed);
}

static void one_owner_is_found_by_address(void)
{
	static const struct expected me = { "me", "me@example.com", "email", "", "" };
	static const struct mr_work_observed plain[] = { { "other@example.com", NULL },
		{ " ME@Example.COM ", "Anything" }, { "hello@example.com", NULL } };

	finds(plain, MR_LEN(plain), &me);
}

static void a_shared_address_is_told_by_name(void)
{
	static const struct {
		const char *name;
		struct expected want;
	} cases[] = {
		{ "Example Support", { "support", "Hello@Example.com", "name", "", "" } },
		{ " \"example SUPPORT\" ", { "support", "Hello@Example.com", "name", "", "" } },
		{ "'Sales'", { "sales", "hello@example.com", "name", "", "" } },
		{ "Somebody", { NULL, "Hello@Example.com", "multiple", "support,sales", "" } },
		{ NULL, { NULL, "Hello@Example.com", "multiple", "support,sales", "" } },
		{ "Me", { NULL, "Hello@Example.com", "multiple", "support,sales", "" } },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_work_observed observed = { "HELLO@example.com", cases[i].name };

		finds(&observed, 1, &cases[i].want);
	}
}

static void any_header_may_say_the_name(void)
{
	static const struct expected sales = { "sales", "hello@example.com", "name", "", "" };
	static const struct expected both = { NULL, "Hello@Example.com", "multiple",
		"support,sales", "" };
	static const struct mr_work_observed later[] = { { "hello@example.com", NULL },
		{ "me@example.com", "Example Support" }, { "Hello@example.com", "sales" } };
	static const struct mr_work_observed two[] = { { "hello@example.com", "Sales" },
		{ "hello@example.com", "Example Support" } };

	finds(later, MR_LEN(later), &sales);
	finds(two, MR_LEN(two), &both);
}

static void nobody_is_told_with_what_was_seen(void)
{
	static const struct expected some = { NULL, NULL, "unmatched", "", "b@x.org,a@x.org" };
	static const struct expected none = { NULL, NULL, "unmatched", "", "" };
	static const struct mr_work_observed seen[] = { { "B@x.org", NULL }, { "a@x.org", "A" },
		{ "b@X.org", "B" }, { "", "undisclosed" }, { NULL, "group" } };

	finds(seen, MR_LEN(seen), &some);
	finds(seen, 0, &none);
}

static void very_many_recipients_take_no_time(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_work_observed *observed = mr_arena_array(arena, MANY, sizeof(*observed));
	struct mr_work_identity_match got;

	for (size_t i = 0; i < MANY; i++)
		observed[i].email = mr_arena_printf(arena, "u%zu@example.org", i);
	mr_work_identity_match(arena, &config, observed, MANY, &got);
	CHECK_INT(got.observed_recipient_emails.len, MANY);
	CHECK_STR(got.observed_recipient_emails.items[MANY - 1], observed[MANY - 1].email);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(one_owner_is_found_by_address),
		TEST(a_shared_address_is_told_by_name),
		TEST(any_header_may_say_the_name),
		TEST(nobody_is_told_with_what_was_seen),
		TEST(very_many_recipients_take_no_time),
	};

	return test_main(tests, MR_LEN(tests));
}
