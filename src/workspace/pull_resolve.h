/* workspace/pull_resolve.h - the mailboxes that a pull concerns, as the server names them. */
#pragma once

#include "workspace/mail_server.h"
#include "workspace/pulled.h"

struct mr_work_resolved_mailbox {
	const struct mr_work_mailbox *mailbox;
	const char *name; /* in UTF-8 */
	const char *wire; /* as the server writes it */
};
struct mr_work_resolved {
	struct mr_work_resolved_mailbox *items;
	size_t len;
	struct mr_texts missing_ids; /* that the server does not have */
};

/* Does the configuration leave a name to the server? */
bool mr_work_resolve_needs_server(const struct mr_work_targets *targets);
/*
 * `session` may be NULL when the server is not needed. imap_mailbox_unresolved when a mailbox that
 * the user named, or every one, is missing; imap_mailbox_ambiguous.
 */
MR_CHECK enum mr_code mr_work_resolve(struct mr_ctx *cx, struct mr_imap *session,
	const struct mr_work_targets *targets, bool are_named, struct mr_work_resolved *out);
