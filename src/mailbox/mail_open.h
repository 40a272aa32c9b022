/* mailbox/mail_open.h - opens the mail of a session's binding, whatever its transport is. */
#pragma once

#include "mailbox/binding.h"
#include "mailbox/mail.h"

/*
 * `session` is the directory of the session, for a JMAP server's credential; NULL where there is
 * none. Errors: those of mr_mail_fs_open(); of mr_mailbox_credential_find(); MR_ECONFLICT, the
 * binding is none.
 */
MR_CHECK enum mr_code mr_mail_open(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, bool read_only, struct mr_mail *out);

/* The account of a binding to a JMAP server, with its password. MR_ECONFLICT: it is to no server.
 */
struct mr_mail_jmap_account;
MR_CHECK enum mr_code mr_mail_open_account(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, struct mr_mail_jmap_account *out);
/* The certificates by which the server of a credential is known, besides those that everybody
 * trusts: a file in the session, which need not be there. */
const char *mr_mail_open_ca_file(struct mr_arena *arena, const char *session, const char *ref);
