/*
 * workspace/pull_run.h - a pull, once it is known from where: mail, flags and what is gone from the
 * server, taken into the workspace.
 *
 * On the server nothing is changed: mailboxes are opened by EXAMINE, and bodies are fetched by
 * PEEK.
 */
#pragma once

#include "workspace/mail_server.h"
#include "workspace/progress.h"
#include "workspace/pulled.h"

/* imap_connect_failed and its like, imap_mailbox_unresolved, imap_mailbox_ambiguous. */
MR_CHECK enum mr_code mr_work_pull_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_account *account, const struct mr_work_targets *targets,
	bool are_named, struct mr_work_progress *progress, struct mr_work_pulled *result);
