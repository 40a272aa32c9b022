/*
 * workspace/provider.h - the mail servers of well-known providers, by the domain of an address, and
 * where those of any other domain usually are. Pure: nobody is asked.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct mr_work_endpoint {
	const char *host;
	int port;
	bool tls; /* from the first byte; else STARTTLS */
};

/* What a program logs in with. */
enum mr_work_login {
	MR_WORK_LOGIN_PASSWORD,     /* the account's password */
	MR_WORK_LOGIN_APP_PASSWORD, /* a password made for one program */
	MR_WORK_LOGIN_OAUTH,        /* a token; no password is accepted */
};

struct mr_work_provider {
	const char *name;    /* "gmail": what --provider takes */
	const char *title;   /* "Gmail" */
	const char *domains; /* with blanks between; "yahoo.*" is yahoo under any top level */
	struct mr_work_endpoint imap, smtp;
	enum mr_work_login login;
	bool is_imap_user_local; /* IMAP wants the part of the address before the @ */
	bool keeps_sent;         /* the SMTP server puts a copy into Sent by itself */
	const char *hint;        /* what a person has to do there first */
};
extern const struct mr_work_provider mr_work_providers[]; /* the last has no name */

/* The provider of a domain, in any case, or NULL. */
const struct mr_work_provider *mr_work_provider_of(const char *domain);
/* By its name, or NULL. */
const struct mr_work_provider *mr_work_provider_named(const char *name);

enum { MR_WORK_GUESSES = 4 };
/* Where a server of the domain would be, the likeliest first: MR_WORK_GUESSES of them. */
const struct mr_work_endpoint *mr_work_guess_imap(struct mr_arena *arena, const char *domain);
const struct mr_work_endpoint *mr_work_guess_smtp(struct mr_arena *arena, const char *domain);
