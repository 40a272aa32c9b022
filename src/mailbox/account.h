/*
 * mailbox/account.h - an agent's account on a JMAP server: made over the server's management API
 * (spec/mailbox.md 22), with a password that nobody needs to know.
 *
 * Preparing an account twice changes nothing the second time. An account that is there keeps its
 * password as long as the one that is stored here fits.
 */
#pragma once

#include "mailbox/binding.h"

/* Who may manage accounts; with none of these the API is asked without a login. */
struct mr_mailbox_management {
	const char *bearer;
	const char *key, *secret; /* for Basic; in place of a token */
};

struct mr_mailbox_account_request {
	const char *session;  /* the directory of the session that gets the credential */
	const char *runtime;  /* the directory that keeps credentials */
	const char *password; /* of an account that is there: then it is not managed; or NULL */
	const char *ca_file;  /* further authorities, copied into the session; or NULL */
	bool has_login;       /* the binding's login was chosen; else it is that of the account */
	struct mr_mailbox_management management;
};

struct mr_mailbox_account_result {
	bool was_managed;      /* the management API was asked */
	bool was_created;      /* the account is new */
	bool has_new_password; /* the account's password is new */
	const char *password;  /* in memory only */
};

/*
 * See to it that the account of a binding is there and can be used, and store its credential. The
 * binding's login becomes that of the account. Errors name the server and what to do: MR_EAUTH and
 * MR_EPERM, the management refuses us, or the account its password; MR_ECONFLICT, the management
 * refuses the account; MR_ENOTFOUND, no such API, or no mail in the account; MR_EREMOTE,
 * MR_ETIMEOUT.
 */
MR_CHECK enum mr_code mr_mailbox_account_prepare(struct mr_ctx *cx,
	const struct mr_mailbox_account_request *request, struct mr_mailbox_binding *binding,
	struct mr_mailbox_account_result *out);
