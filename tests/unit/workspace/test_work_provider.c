/* tests/unit/workspace/test_work_provider.c - providers by domain and name, and guesses. */
#include "workspace/provider.h"

#include "base/str.h"
#include "test.h"

static const char *name_of(const char *domain)
{
	const struct mr_work_provider *provider = mr_work_provider_of(domain);

	return provider ? provider->name : "none";
}

static void a_domain_has_its_provider(void)
{
	static const struct {
		const char *domain, *name;
	} cases[] = {
		{ "gmail.com", "gmail" },
		{ "GoogleMail.com", "gmail" },
		{ "hotmail.co.uk", "outlook" },
		{ "outlook.com", "outlook" },
		{ "example.onmicrosoft.com", "none" },
		{ "me.com", "icloud" },
		{ "yahoo.de", "yahoo" },
		{ "aol.com", "aol" },
		{ "fastmail.fm", "fastmail" },
		{ "gmx.de", "gmx" },
		{ "gmx.com", "gmx.com" },
		{ "web.de", "web.de" },
		{ "mailbox.org", "mailbox.org" },
		{ "posteo.net", "posteo" },
		{ "zoho.eu", "zoho.eu" },
		{ "zohomail.com", "zoho" },
		{ "example.net", "none" },
		{ "notgmail.com", "none" },
		{ "gmail.com.example.net", "none" },
		{ "yahoo", "none" },
		{ "", "none" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(name_of(cases[i].domain), cases[i].name);
}

/* All entries can be used: hosts, ports that fit their encryption, words for a person. */
static void the_table_is_whole(void)
{
	for (const struct mr_work_provider *one = mr_work_providers; one->name; one++) {
		CHECK(mr_work_provider_named(one->name) == one);
		CHECK(*one->title && *one->domains && *one->hint && *one->imap.host &&
			*one->smtp.host);
		CHECK_INT(one->imap.port, 993);
		CHECK(one->imap.tls);
		CHECK_INT(one->smtp.port, one->smtp.tls ? 465 : 587);
	}
	CHECK(mr_work_provider_named("Gmail") == mr_work_provider_of("gmail.com"));
	CHECK(!mr_work_provider_named("none"));
}

static void other_domains_are_guessed(void)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_work_endpoint *imap = mr_work_guess_imap(arena, "example.net");
	const struct mr_work_endpoint *smtp = mr_work_guess_smtp(arena, "example.net");

	CHECK_STR(imap[0].host, "imap.example.net");
	CHECK(imap[0].port == 993 && imap[0].tls);
	CHECK_STR(imap[1].host, "mail.example.net");
	CHECK(imap[3].port == 143 && !imap[3].tls);
	CHECK_STR(smtp[0].host, "smtp.example.net");
	CHECK(smtp[0].port == 465 && smtp[0].tls);
	CHECK(smtp[2].port == 587 && !smtp[2].tls);
}

int main(void)
{
	static const struct test tests[] = {
		TEST(a_domain_has_its_provider),
		TEST(the_table_is_whole),
		TEST(other_domains_are_guessed),
	};

	return test_main(tests, MR_LEN(tests));
}
