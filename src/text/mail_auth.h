/*
 * text/mail_auth.h - Authentication-Results (RFC 8601): what servers found out about a sender.
 * Pure.
 *
 * The fields are taken as they come: which of them were written by a server that can be trusted is
 * not known here.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

enum mr_mail_verdict {
	MR_MAIL_MISSING, /* nobody said anything */
	MR_MAIL_PASS,
	MR_MAIL_FAIL,
	MR_MAIL_SOFTFAIL,
	MR_MAIL_NEUTRAL,
	MR_MAIL_NONE,
	MR_MAIL_TEMPERROR,
	MR_MAIL_PERMERROR,
};

struct mr_mail_auth {
	enum mr_mail_verdict spf, dkim, dmarc;
	const char *dmarc_policy;         /* "reject", or NULL */
	const char *authenticated_domain; /* that passed: by DMARC, else DKIM, else SPF; or NULL */
	const char *from_domain;          /* of the From address, or NULL */
	const char *alignment; /* of the last two labels of both: aligned, mismatch, unknown */
};

/*
 * `fields` are the values of all Authentication-Results fields. A method's verdict is the first
 * one, or "pass" when any field says so. `from_email` may be NULL.
 */
void mr_mail_auth_read(struct mr_arena *arena, const struct mr_texts *fields,
	const char *from_email, struct mr_mail_auth *out);

/* "pass", "softfail", ... */
const char *mr_mail_verdict_text(enum mr_mail_verdict verdict);
/* The reverse; also with an underscore ("soft_fail"). Any other word is false. */
bool mr_mail_verdict_read(const char *text, enum mr_mail_verdict *out);
/* What follows the last '@', in lower case and without a dot at its end; NULL unless it has a dot.
 */
const char *mr_mail_domain(struct mr_arena *arena, const char *address);
