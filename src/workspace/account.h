/*
 * workspace/account.h - the accounts on the two mail servers, with the secrets to log in.
 *
 * An account is put together when its server is about to be opened, so a secret is as old as that.
 */
#pragma once

#include "workspace/secret.h"

struct mr_work_account {
	const char *host;
	const char *username; /* NULL: no login (of SMTP only) */
	const char *password; /* or NULL */
	const char *token;    /* of OAuth, in place of a password; or NULL */
	enum mr_work_auth auth;
	int64_t port;
	bool tls;            /* from the first byte */
	bool starttls;       /* else after STARTTLS, or not at all; neither: in the clear */
	const char *ca_file; /* further authorities, or NULL */
	int timeout_ms;      /* without a byte from the server */
};

/* config_missing when the host, the user or the secret is not set, or the secret is not where the
 * configuration says; config_invalid when ca_file cannot be read. */
MR_CHECK enum mr_code mr_work_imap_account(struct mr_ctx *cx, const struct mr_work_config *config,
	mr_work_environment *environment, struct mr_work_account *out);
/* The same for SMTP, where a server may want no login: without a user or a secret there is none.
 * config_invalid also when it is to log in by SCRAM. */
MR_CHECK enum mr_code mr_work_smtp_account(struct mr_ctx *cx, const struct mr_work_config *config,
	mr_work_environment *environment, struct mr_work_account *out);
/* What the account may log in with alone, as protocols name it: "PLAIN"; NULL: whatever the server
 * offers. */
const char *mr_work_account_mechanism(const struct mr_work_account *account);
