/* tests/unit/text/test_database_url.c */
#include "text/database_url.h"

#include "base/str.h"
#include "test.h"

static void addresses_are_shown_without_passwords(void)
{
	static const struct {
		const char *url;
		const char *shown;
	} cases[] = {
		{ "postgresql://ann:hunter2@db.example:5432/mail",
			"postgresql://ann@db.example:5432/mail" },
		{ "postgres://ann@db.example/mail", "postgres://ann@db.example/mail" },
		{ "postgresql://db.example/mail?sslmode=require",
			"postgresql://db.example/mail?sslmode=require" },
		{ "postgresql://db.example/mail?user=a&password=hunter2",
			"postgresql://db.example/mail" },
		{ "postgresql://:hunter2@/mail?host=/run", "postgresql://@/mail?host=/run" },
		{ "postgresql://a:b@c:hunter2@h/mail", "postgresql://a@h/mail" },
		{ "postgresql:///mail", "postgresql:///mail" },
		{ "postgresql://", "postgresql://" },
		{ "/var/lib/a:b@c/storage.sqlite3", "/var/lib/a:b@c/storage.sqlite3" },
		{ "", "" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(mr_database_url_shown(arena, cases[i].url), cases[i].shown);
}

static void an_address_is_no_path(void)
{
	CHECK(mr_database_url_is("postgres://h/d"));
	CHECK(mr_database_url_is("postgresql:///d"));
	CHECK(!mr_database_url_is("postgresql"));
	CHECK(!mr_database_url_is("sqlite:///d"));
	CHECK(!mr_database_url_is("/postgres://"));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(addresses_are_shown_without_passwords),
		TEST(an_address_is_no_path),
	};

	return test_main(tests, MR_LEN(tests));
}
