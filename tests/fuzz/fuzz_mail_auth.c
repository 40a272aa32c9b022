/* fuzz_mail_auth.c - any field gives verdicts, and domains that are domains. */
#include "text/mail_auth.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_domain(const char *domain)
{
	if (domain && (!strchr(domain, '.') || strchr(domain, '@')))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *text = mr_arena_strndup(arena, len ? (const char *)data : "", len);
	const char *items[] = { text, text, NULL };
	struct mr_texts fields = { items, 2 };
	struct mr_mail_auth auth;

	mr_mail_auth_read(arena, &fields, text, &auth);
	if (!mr_mail_verdict_text(auth.spf) || !mr_mail_verdict_text(auth.dkim) ||
		!mr_mail_verdict_text(auth.dmarc))
		abort();
	check_domain(auth.authenticated_domain);
	check_domain(auth.from_domain);
	if (!auth.authenticated_domain && strcmp(auth.alignment, "unknown") != 0)
		abort();
	return 0;
}
