/* mailbox/mail_open.c - opens the mail of a binding. */
#include "mailbox/mail_open.h"

#include "base/fs.h"
#include "mailbox/credential.h"
#include "mailbox/mail_fs.h"
#include "mailbox/mail_jmap.h"

const char *mr_mail_open_ca_file(struct mr_arena *arena, const char *session, const char *ref)
{
	return mr_arena_printf(arena, "%s/%s.pem", mr_mailbox_credential_session(arena, session),
		ref);
}

enum mr_code mr_mail_open_account(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, struct mr_mail_jmap_account *out)
{
	struct mr_mailbox_credential credential;
	struct mr_mail_jmap_account account = {
		.address = binding->address,
		.principal_id = binding->principal_id,
		.jmap_url = binding->jmap_url,
	};
	const char *ca_file;
	enum mr_code rc;

	if (binding->transport != MR_MAILBOX_STALWART)
		return mr_err_set(&cx->err, MR_ECONFLICT, "the session has no mailbox on a server");
	rc = mr_mailbox_credential_find(cx, session, binding->credential_ref, &credential);
	if (rc)
		return rc;
	account.login = credential.login;
	account.password = credential.password;
	account.credential_file = credential.file;
	account.known_file = mr_arena_printf(cx->arena, "%s/%s.known",
		mr_mailbox_credential_session(cx->arena, session), binding->credential_ref);
	ca_file = mr_mail_open_ca_file(cx->arena, session, binding->credential_ref);
	if (mr_fs_exists(AT_FDCWD, ca_file))
		account.ca_file = ca_file;
	*out = account;
	return MR_OK;
}

static enum mr_code open_account(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, bool read_only, struct mr_mail *out)
{
	struct mr_mail_jmap_account account;
	enum mr_code rc = mr_mail_open_account(cx, session, binding, &account);

	return rc ? rc : mr_mail_jmap_open(cx, &account, read_only, out);
}

enum mr_code mr_mail_open(struct mr_ctx *cx, const char *session,
	const struct mr_mailbox_binding *binding, bool read_only, struct mr_mail *out)
{
	switch (binding->transport) {
	case MR_MAILBOX_FILESYSTEM:
		return mr_mail_fs_open(cx, binding->root, binding->address, read_only, out);
	case MR_MAILBOX_STALWART:
		return open_account(cx, session, binding, read_only, out);
	case MR_MAILBOX_UNBOUND:
		break;
	}
	return mr_err_set(&cx->err, MR_ECONFLICT, "the session has no mailbox");
}
