/*
 * mailbox/mail_jmap.h - the transport "stalwart": an address whose mail is on a JMAP server.
 *
 * A message is an Email (jmap_email.h), a box a mailbox of the account: those with a role by their
 * role (inbox, sent, archive, drafts), others by their name. Read and answered are the keywords
 * $seen and $answered, archived is being in `archive`. Refs are "stalwart:" and the Email's id.
 *
 * Sending is one request: the mail is made in `drafts`, submitted, and is in `sent` once the server
 * took it. What the server refuses leaves nothing. When the answer is lost, the mail is looked for
 * by its Message-ID before anything is sent again.
 *
 * What is known of the server (its session object, its boxes) is kept in a file from one request to
 * the next, so that most verbs are one exchange. It can be removed at any time.
 *
 * Errors besides those of net/jmap.h: MR_ENOTFOUND, the account or its inbox is not there. What the
 * server refuses the login has the word mr_mail_failed.
 */
#pragma once

#include "mailbox/mail.h"

struct mr_mail_jmap_account {
	const char *address, *principal_id; /* as the messages' sender */
	const char *jmap_url;
	const char *login, *password;
	const char *credential_file; /* where these came from, for messages; or NULL */
	const char *ca_file;         /* further authorities; or NULL */
	const char *known_file;      /* what is known of the server; NULL: it is asked each time */
};

/* Open the mail of an account for one request; the server is not asked yet. MR_EINVAL: not a URL
 * of http or https. */
MR_CHECK enum mr_code mr_mail_jmap_open(struct mr_ctx *cx,
	const struct mr_mail_jmap_account *account, bool read_only, struct mr_mail *out);
