/*
 * workspace/setup.h - connects a workspace with a mail account: finds the servers of an address,
 * logs in to both, and only then writes the configuration.
 *
 *	rc = mr_work_setup_plan(cx, work, &request, &plan);  -- nobody is asked yet
 *	if (plan.needs_password) plan.password = ...;        -- plan.question says what for
 *	rc = mr_work_setup_test(cx, &plan);                  -- without a lock on the workspace
 *	rc = mr_work_setup_store(cx, work, &plan, &result);  -- the one change
 *
 * A password is kept where the request says, in the configuration only when that is asked for. It
 * is in no message and no result.
 */
#pragma once

#include "workspace/provider.h"
#include "workspace/secret.h"

enum mr_work_security {
	MR_WORK_SECURITY_AUTO, /* by the port */
	MR_WORK_SECURITY_TLS,  /* from the first byte */
	MR_WORK_SECURITY_STARTTLS,
	MR_WORK_SECURITY_NONE, /* in the clear */
};
extern const char *const mr_work_security_names[]; /* "auto", "tls", "starttls", "none", NULL */

struct mr_work_setup {
	const char *address;
	const char *name;     /* of the person; NULL: what the identity has, or the address */
	const char *provider; /* by name; NULL: by the address */
	const char *username; /* NULL: as the provider wants it, else the address */
	struct mr_work_setup_at {
		const char *host;  /* NULL: the provider's, or guessed */
		int64_t port;      /* 0: the usual one */
		unsigned security; /* enum mr_work_security */
	} imap, smtp;
	bool no_smtp;  /* mail is read only */
	unsigned auth; /* enum mr_work_auth */
	const char *ca_file;
	/* Where the secret is, or is to be kept: at most one of these. None: a file of its own,
	 * beside the other settings of the user. */
	const char *password_env, *password_file, *password_command, *token_command, *token_file;
	bool keyring, inline_password;
	bool password_stdin;  /* for the surface: it reads `password` */
	const char *password; /* as typed, or NULL: it is in its place already */
	mr_work_environment *environment;
};

enum mr_work_setup_place {
	MR_WORK_PLACE_ENVIRONMENT,
	MR_WORK_PLACE_FILE,
	MR_WORK_PLACE_COMMAND,
	MR_WORK_PLACE_KEYRING,
	MR_WORK_PLACE_CONFIGURATION,
};
extern const char *const mr_work_setup_place_names[]; /* "environment", "file", ..., NULL */

struct mr_work_setup_plan {
	const struct mr_work_setup *request;
	const char *local, *domain;
	const struct mr_work_provider *provider; /* or NULL */
	struct mr_work_server *imap, *smtp; /* candidates; after the test, the one that works */
	size_t imap_count, smtp_count;
	enum mr_work_setup_place place;
	struct mr_work_secret secret; /* as the configuration will have it */
	bool is_token;
	bool needs_password;  /* it is in no place yet, and was not given */
	const char *question; /* then: for whoever is asked */
	const char *password; /* or the token, to log in with */
	bool is_new;          /* the password has to be put into its place */
};

/* invalid_request for what does not fit together, config_invalid for a place that cannot be used.
 * With needs_password, cx->err says what is missing, for when nobody can be asked. */
MR_CHECK enum mr_code mr_work_setup_plan(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup *request, struct mr_work_setup_plan *out);
/* The errors of mr_work_server_open() and mr_work_submission_test(), with hints about options. */
MR_CHECK enum mr_code mr_work_setup_test(struct mr_ctx *cx, struct mr_work_setup_plan *plan);

struct mr_work_setup_server {
	const char *host;
	int64_t port;
	unsigned security; /* enum mr_work_security */
	const char *username;
};
struct mr_work_setup_done {
	const char *address, *identity, *name;
	const char *provider; /* its title, or NULL */
	struct mr_work_setup_server imap, *smtp;
	unsigned password_place;    /* enum mr_work_setup_place */
	const char *password_where; /* a path, a variable, a program, an account; or NULL */
	bool keeps_sent;            /* the provider files sent mail by itself: no step does */
	const char *hint;           /* what to do now */
};
MR_CHECK enum mr_code mr_work_setup_store(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_setup_plan *plan, struct mr_work_setup_done *result);
