/*
 * mailbox/credential.h - the passwords of accounts on a JMAP server (spec/mailbox.md 22).
 *
 * A binding names its credential and never holds it. The password is in a file of the runtime, and
 * a copy in the session that uses it; both are for their owner alone (mode 0600), and a file that
 * others can read is refused.
 */
#pragma once

#include "base/ctx.h"

struct mr_mailbox_credential {
	const char *login, *password;
	const char *file; /* where it was found */
};

/* Directories: of the session's own files, and of the runtime's. */
const char *mr_mailbox_credential_session(struct mr_arena *arena, const char *session);
const char *mr_mailbox_credential_runtime(struct mr_arena *arena, const char *runtime);
/* The file of a credential in one of these. */
const char *mr_mailbox_credential_file(struct mr_arena *arena, const char *directory,
	const char *ref);

/*
 * Read one of a directory. MR_ENOTFOUND: it has none. MR_EPERM: others can read the file.
 * MR_EFORMAT: the file is not whole, or holds another one. MR_EINVAL: what no credential can be
 * called.
 */
MR_CHECK enum mr_code mr_mailbox_credential_read(struct mr_ctx *cx, const char *directory,
	const char *ref, struct mr_mailbox_credential *out);
MR_CHECK enum mr_code mr_mailbox_credential_write(struct mr_ctx *cx, const char *directory,
	const char *ref, const char *login, const char *password);
/* That of a session: its own file, else the runtime's, which is then copied into the session. */
MR_CHECK enum mr_code mr_mailbox_credential_find(struct mr_ctx *cx, const char *session,
	const char *ref, struct mr_mailbox_credential *out);

/* 24 random bytes as 32 characters. */
const char *mr_mailbox_credential_make(struct mr_ctx *cx);
