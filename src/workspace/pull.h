/*
 * workspace/pull.h - commands that take mail in from the server, and that look at the server.
 *
 * What was asked for is checked before anything is said to a server: first which mailboxes, then
 * the settings of the account.
 */
#pragma once

#include "workspace/config.h"
#include "workspace/frame.h"
#include "workspace/mail_server.h"
#include "workspace/pulled.h"

/* The mailboxes that a pull concerns: those of the ids, each once, or the default ones.
 * unknown_mailbox_id; config_invalid when there are none. */
MR_CHECK enum mr_code mr_work_pull_targets(struct mr_ctx *cx, const struct mr_work_config *config,
	const struct mr_texts *ids, struct mr_work_targets *out);

/* pull_result. The workspace is locked for writing and not recovered yet: that is part of the
 * command, so that its failure is in the progress too. */
struct mr_work_pull {
	struct mr_texts ids;
	int64_t since_days, max_new_messages, max_total_bytes; /* 0: no limit */
	bool all_history; /* said on purpose: not together with since_days */
	bool dry_run, watch;
	mr_work_environment *environment;
};
MR_CHECK enum mr_code mr_work_pull(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull *request, struct mr_work_pulled *result);

/* The same with a session that is there already, or NULL in it; it stays open for the next pull. */
MR_CHECK enum mr_code mr_work_pull_with(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_pull *request, struct mr_imap **session,
	struct mr_work_pulled *result);

/* remote_test_result and remote_mailboxes: whether the servers answer, and what the one for IMAP
 * has. That for SMTP is tried when it is configured; nothing is sent. */
struct mr_work_remote_ask {
	mr_work_environment *environment;
};
struct mr_work_remote_tested {
	bool ok;
	bool has_move; /* capabilities */
	const char *host;
	int64_t port;
	bool tls;
	struct mr_work_smtp_tested {
		bool ok;
		const char *host;
		int64_t port;
		bool tls;   /* encrypted, from the start or after STARTTLS */
		bool login; /* with a user and a secret */
	} * smtp;           /* NULL: smtp.host is not set */
};
/* The errors of mr_work_server_open(), smtp_connect_failed, smtp_send_failed. */
MR_CHECK enum mr_code mr_work_remote_test(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_remote_ask *request, struct mr_work_remote_tested *result);
struct mr_work_remote_folders {
	const struct mr_value *mailboxes, *special_use_targets;
};
MR_CHECK enum mr_code mr_work_remote_folders(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_remote_ask *request, struct mr_work_remote_folders *result);
