/*
 * workspace/pull_run.h - a pull, once it is known from where: mail, flags and what is gone from the
 * server, taken into the workspace.
 *
 * On the server nothing is changed: mailboxes are opened by EXAMINE, and bodies are fetched by
 * PEEK. The workspace is locked when it begins and when it ends; while the server is waited for,
 * others may write.
 */
#pragma once

#include "workspace/mail_server.h"
#include "workspace/progress.h"
#include "workspace/pulled.h"

/* How much is taken in; 0 stands for no limit. What is left is new the next time, too. */
struct mr_work_pull_limits {
	int64_t since_days; /* by the time the server received it */
	int64_t max_new_messages, max_total_bytes;
	bool dry_run; /* only look: nothing is changed here either */
};

struct mr_work_pull_run {
	const struct mr_work_account *account;
	const struct mr_work_targets *targets;
	bool are_named;     /* by the user: each must be there */
	bool first_is_last; /* so that the first mailbox is open afterwards, for IDLE */
	const struct mr_work_pull_limits *limits;
	/* The session to use, when it is not NULL, and the one that is left open. */
	struct mr_imap **session;
};

/* imap_connect_failed and its like, imap_mailbox_unresolved, imap_mailbox_ambiguous. */
MR_CHECK enum mr_code mr_work_pull_run(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull_run *run, struct mr_work_progress *progress,
	struct mr_work_pulled *result);
