/* tests/unit/text/test_mail_auth.c */
#include "test.h"
#include "text/mail_auth.h"

#include <string.h>

static void reads_verdicts(void)
{
	static const struct {
		const char *fields[3];
		const char *from;
		const char *spf, *dkim, *dmarc, *policy, *domain, *from_domain, *alignment;
	} cases[] = {
		{ { NULL }, "a@Example.COM.", "missing", "missing", "missing", NULL, NULL,
			"example.com", "unknown" },
		{ { "mx.example.com; spf=pass smtp.mailfrom=help@vendor.example; dkim=fail "
		    "header.d=vendor.example; dmarc=pass (p=reject) header.from=vendor.example" },
			"help@vendor.example", "pass", "fail", "pass", "reject", "vendor.example",
			"vendor.example", "aligned" },
		/* A semicolon in a comment parts nothing; what a comment says is no result. */
		{ { "mx; spf=fail (dkim=pass; ok) smtp.mailfrom=a@x.y; dkim=pass (2048; (n)) "
		    "header.i=@Mail.Shop.example." },
			"x@news.shop.example", "fail", "pass", "missing", NULL, "mail.shop.example",
			"news.shop.example", "aligned" },
		{ { "mx; dkim=pass header.d=other.example",
			  "mx; spf=pass envelope-from=a@b.example" },
			"x@shop.example", "pass", "pass", "missing", NULL, "other.example",
			"shop.example", "mismatch" },
		/* A pass wins, otherwise the first stays. */
		{ { "mx; spf=softfail; dkim=temperror; dmarc=none",
			  "mx; spf=fail; dkim=pass header.d=a.b; dmarc=fail" },
			"x@a.b", "softfail", "pass", "none", NULL, "a.b", "a.b", "aligned" },
		{ { "mx; spf=hardfail; dkim=permerror; dmarc=bestguess" }, NULL, "fail",
			"permerror", "neutral", NULL, NULL, NULL, "unknown" },
		{ { "mx; arc=pass; iprev=pass; auth=pass; xspf=pass; spf=missing" }, "x@y",
			"neutral", "missing", "missing", NULL, NULL, NULL, "unknown" },
		{ { "mx; SPF=Pass smtp.mailfrom=localhost; dkim/1=pass header.d=x.y" }, "z@x.y",
			"pass", "pass", "missing", NULL, "x.y", "x.y", "aligned" },
		{ { "mx; dmarc=fail (p=none sp=reject dis=none) header.from=x.y" }, "z@x.y",
			"missing", "missing", "fail", "none", NULL, "x.y", "unknown" },
		{ { "mx; dkim=pass header.i=\"a;b@x.y\"" }, "z@x.y", "missing", "pass", "missing",
			NULL, "x.y", "x.y", "aligned" },
		{ { "spf=pass" }, "z@x.y", "pass", "missing", "missing", NULL, NULL, "x.y",
			"unknown" },
		{ { "((((; \"; \\", "=;==;;spf=" }, "@", "neutral", "missing", "missing", NULL,
			NULL, NULL, "unknown" },
	};
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		const char *items[3];
		struct mr_texts fields = { items, 0 };
		struct mr_mail_auth auth;

		while (cases[i].fields[fields.len]) {
			items[fields.len] = cases[i].fields[fields.len];
			fields.len++;
		}
		mr_mail_auth_read(arena, &fields, cases[i].from, &auth);
		CHECK_STR(mr_mail_verdict_text(auth.spf), cases[i].spf);
		CHECK_STR(mr_mail_verdict_text(auth.dkim), cases[i].dkim);
		CHECK_STR(mr_mail_verdict_text(auth.dmarc), cases[i].dmarc);
		CHECK_STR(auth.dmarc_policy, cases[i].policy);
		CHECK_STR(auth.authenticated_domain, cases[i].domain);
		CHECK_STR(auth.from_domain, cases[i].from_domain);
		CHECK_STR(auth.alignment, cases[i].alignment);
	}
}

static void reads_both_spellings(void)
{
	static const struct {
		const char *text;
		enum mr_mail_verdict verdict;
	} cases[] = {
		{ "soft_fail", MR_MAIL_SOFTFAIL },
		{ "temp_error", MR_MAIL_TEMPERROR },
		{ "perm_error", MR_MAIL_PERMERROR },
		{ "missing", MR_MAIL_MISSING },
		{ "PASS", MR_MAIL_PASS },
	};
	enum mr_mail_verdict verdict = MR_MAIL_NONE;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		CHECK(mr_mail_verdict_read(cases[i].text, &verdict));
		CHECK_INT(verdict, cases[i].verdict);
	}
	for (int i = MR_MAIL_MISSING; i <= MR_MAIL_PERMERROR; i++) {
		CHECK(mr_mail_verdict_read(mr_mail_verdict_text((enum mr_mail_verdict)i),
			&verdict));
		CHECK_INT(verdict, i);
	}
	CHECK(!mr_mail_verdict_read("passed", &verdict));
	CHECK(!mr_mail_verdict_read("", &verdict));
}

int main(void)
{
	static const struct test tests[] = {
		TEST(reads_verdicts),
		TEST(reads_both_spellings),
	};

	return test_main(tests, MR_LEN(tests));
}
