/* workspace/provider.c - the table of well-known mail providers, and guesses for other domains. */
#include "workspace/provider.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

enum { IMAPS = 993, IMAP = 143, SMTPS = 465, SUBMISSION = 587 };

#define OAUTH_HINT                                                                                 \
	"Microsoft accepts no passwords from mail programs. Name a program that prints an access " \
	"token of OAuth with --token-command; it needs the scopes IMAP.AccessAsUser.All and "      \
	"SMTP.Send."
#define ONE_DE_HINT                                                                                \
	"Switch on access by IMAP in the settings of the mailbox first (POP3 & IMAP); with "       \
	"two-factor authentication make a password for this program there, too."

const struct mr_work_provider mr_work_providers[] = {
	{ "gmail", "Gmail", "gmail.com googlemail.com", { "imap.gmail.com", IMAPS, true },
		{ "smtp.gmail.com", SMTPS, true }, MR_WORK_LOGIN_APP_PASSWORD, false, true,
		"Gmail wants an app password, not that of the account: make one at "
		"https://myaccount.google.com/apppasswords (it needs 2-step verification)." },
	{ "outlook", "Outlook.com", "outlook.* hotmail.* live.* msn.com",
		{ "outlook.office365.com", IMAPS, true },
		{ "smtp-mail.outlook.com", SUBMISSION, false }, MR_WORK_LOGIN_OAUTH, false, true,
		OAUTH_HINT },
	{ "microsoft365", "Microsoft 365", "onmicrosoft.com",
		{ "outlook.office365.com", IMAPS, true },
		{ "smtp.office365.com", SUBMISSION, false }, MR_WORK_LOGIN_OAUTH, false, true,
		OAUTH_HINT },
	{ "icloud", "iCloud", "icloud.com me.com mac.com", { "imap.mail.me.com", IMAPS, true },
		{ "smtp.mail.me.com", SUBMISSION, false }, MR_WORK_LOGIN_APP_PASSWORD, true, false,
		"iCloud wants an app-specific password, not that of the account: make one at "
		"https://account.apple.com (Sign-In and Security)." },
	{ "yahoo", "Yahoo", "yahoo.* ymail.com rocketmail.com",
		{ "imap.mail.yahoo.com", IMAPS, true }, { "smtp.mail.yahoo.com", SMTPS, true },
		MR_WORK_LOGIN_APP_PASSWORD, false, false,
		"Yahoo wants an app password, not that of the account: make one at "
		"https://login.yahoo.com/account/security." },
	{ "aol", "AOL", "aol.com aim.com", { "imap.aol.com", IMAPS, true },
		{ "smtp.aol.com", SMTPS, true }, MR_WORK_LOGIN_APP_PASSWORD, false, false,
		"AOL wants an app password, not that of the account: make one at "
		"https://login.aol.com/account/security." },
	{ "fastmail", "Fastmail", "fastmail.com fastmail.fm", { "imap.fastmail.com", IMAPS, true },
		{ "smtp.fastmail.com", SMTPS, true }, MR_WORK_LOGIN_APP_PASSWORD, false, false,
		"Fastmail wants an app password, not that of the account: make one in Settings, "
		"Privacy & Security." },
	{ "gmx", "GMX", "gmx.de gmx.net gmx.at gmx.ch", { "imap.gmx.net", IMAPS, true },
		{ "mail.gmx.net", SUBMISSION, false }, MR_WORK_LOGIN_PASSWORD, false, false,
		ONE_DE_HINT },
	{ "gmx.com", "GMX", "gmx.*", { "imap.gmx.com", IMAPS, true },
		{ "mail.gmx.com", SUBMISSION, false }, MR_WORK_LOGIN_PASSWORD, false, false,
		ONE_DE_HINT },
	{ "web.de", "WEB.DE", "web.de", { "imap.web.de", IMAPS, true },
		{ "smtp.web.de", SUBMISSION, false }, MR_WORK_LOGIN_PASSWORD, false, false,
		ONE_DE_HINT },
	{ "mailbox.org", "mailbox.org", "mailbox.org", { "imap.mailbox.org", IMAPS, true },
		{ "smtp.mailbox.org", SMTPS, true }, MR_WORK_LOGIN_PASSWORD, false, false,
		"With two-factor authentication mailbox.org wants an app password: make one in "
		"its settings." },
	{ "posteo", "Posteo", "posteo.*", { "posteo.de", IMAPS, true },
		{ "posteo.de", SMTPS, true }, MR_WORK_LOGIN_PASSWORD, false, false,
		"With additional account protection Posteo wants an app password: make one in its "
		"settings." },
	{ "zoho.eu", "Zoho", "zoho.eu zohomail.eu", { "imap.zoho.eu", IMAPS, true },
		{ "smtp.zoho.eu", SMTPS, true }, MR_WORK_LOGIN_PASSWORD, false, false,
		"Switch on access by IMAP in Zoho's settings first; with multi-factor "
		"authentication make an application-specific password there, too." },
	{ "zoho", "Zoho", "zoho.com zohomail.com", { "imap.zoho.com", IMAPS, true },
		{ "smtp.zoho.com", SMTPS, true }, MR_WORK_LOGIN_PASSWORD, false, false,
		"Switch on access by IMAP in Zoho's settings first; with multi-factor "
		"authentication make an application-specific password there, too." },
	{ 0 },
};

/* Is the domain this word of the list? "x.*" is x and a dot and anything. */
static bool fits(const char *domain, const char *word, size_t len)
{
	if (len > 1 && word[len - 1] == '*')
		return strncasecmp(domain, word, len - 1) == 0;
	return strlen(domain) == len && strncasecmp(domain, word, len) == 0;
}

const struct mr_work_provider *mr_work_provider_of(const char *domain)
{
	for (const struct mr_work_provider *one = mr_work_providers; one->name; one++) {
		for (const char *word = one->domains; *word;) {
			size_t len = strcspn(word, " ");

			if (fits(domain, word, len))
				return one;
			word += len + (word[len] == ' ');
		}
	}
	return NULL;
}

const struct mr_work_provider *mr_work_provider_named(const char *name)
{
	for (const struct mr_work_provider *one = mr_work_providers; one->name; one++)
		if (mr_str_eq_nocase(one->name, name))
			return one;
	return NULL;
}

/* Two usual names of hosts, with two usual ports each. */
static const struct mr_work_endpoint *guess(struct mr_arena *arena, const char *domain,
	const char *name, struct mr_work_endpoint first, struct mr_work_endpoint second)
{
	struct mr_work_endpoint *out = mr_arena_array(arena, MR_WORK_GUESSES, sizeof(*out));
	const char *usual = mr_arena_printf(arena, "%s.%s", name, domain);
	const char *other = mr_arena_printf(arena, "mail.%s", domain);

	out[0] = (struct mr_work_endpoint){ usual, first.port, first.tls };
	out[1] = (struct mr_work_endpoint){ other, first.port, first.tls };
	out[2] = (struct mr_work_endpoint){ usual, second.port, second.tls };
	out[3] = (struct mr_work_endpoint){ other, second.port, second.tls };
	return out;
}

const struct mr_work_endpoint *mr_work_guess_imap(struct mr_arena *arena, const char *domain)
{
	return guess(arena, domain, "imap", (struct mr_work_endpoint){ NULL, IMAPS, true },
		(struct mr_work_endpoint){ NULL, IMAP, false });
}

const struct mr_work_endpoint *mr_work_guess_smtp(struct mr_arena *arena, const char *domain)
{
	return guess(arena, domain, "smtp", (struct mr_work_endpoint){ NULL, SMTPS, true },
		(struct mr_work_endpoint){ NULL, SUBMISSION, false });
}
