/* tests/unit/mailbox/notified.h - an agent, bob, with a session and mail, for tests of notifiers.
 */
#pragma once

#include "mailbox/notifier.h"
#include "post.h"

struct notified {
	struct post post;
	struct mr_mailbox_session session;
	struct mr_notifier_target target;
};

/* Alice has an address, bob a session whose tmux session is "pane". */
void notified_open(struct notified *notified);
void notified_close(struct notified *notified);
/* Prompts go to this program, with these seconds, every hour. */
void notified_command(struct notified *notified, const char *script, int64_t timeout_seconds);
/* Alice sends a message; its ref. */
const char *notified_send(struct notified *notified);
/* Bob reads it. */
void notified_read(struct notified *notified, const char *ref);
/* The notices of the ledger, newest first: "state channel messages detail" a line. */
const char *notified_ledger(struct notified *notified);
/* What is there to tell now? */
struct mr_notifier_told notified_take(struct notified *notified);
/* Rows of a table of the session's database. */
long long notified_count(struct notified *notified, const char *table);
