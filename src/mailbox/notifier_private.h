/* mailbox/notifier_private.h - what the files of the notifier share: the inbox as it is now, and
 * what the ledger says of it. */
#pragma once

#include "mailbox/ledger_sql.h"
#include "mailbox/notifier.h"
#include "mailbox/notifier_sql.h"

/* The unread messages of the inbox, without their documents. */
struct mr_notifier_inbox {
	struct mr_mail mail;
	struct mr_mail_messages unread; /* oldest first */
	const char **refs;              /* of them, sorted */
};
#define MR_NOTIFIER_INBOX_INIT ((struct mr_notifier_inbox){ .mail = { NULL } })
/* For MR_CLEANUP. */
void mr_notifier_inbox_close(struct mr_notifier_inbox *inbox);
MR_CHECK enum mr_code mr_notifier_inbox_open(struct mr_ctx *cx,
	const struct mr_notifier_target *target, struct mr_notifier_inbox *out);
bool mr_notifier_inbox_has(const struct mr_notifier_inbox *inbox, const char *ref);

/* What is to be done about it. */
struct mr_notifier_plan {
	const struct mr_mail_message **due; /* to be told, oldest first */
	size_t due_len;
	bool has_open; /* a notice waits */
	struct mr_ledger_notice open;
	int64_t *read; /* delivered notices whose messages were all read */
	size_t read_len;
	int64_t next_us; /* when the next message is due again; or 0 */
};
MR_CHECK enum mr_code mr_notifier_plan_make(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_inbox *inbox, struct mr_notifier_plan *out);
/* In a transaction: record what was read, and put what is due into the open notice, or a new one of
 * this channel; `*out_notice` is 0 when there is none. */
MR_CHECK enum mr_code mr_notifier_plan_enter(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_plan *plan, const char *channel, int64_t *out_notice);
/* In a transaction: take messages that are not unread any more out of the notice. Those that are
 * left, oldest first. */
MR_CHECK enum mr_code mr_notifier_plan_check(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const struct mr_notifier_inbox *inbox, struct mr_mail_messages *out);

/* Read the documents of the first MR_NOTIFIER_TOLD of these messages; one that cannot be read stays
 * as it is. */
void mr_notifier_load(struct mr_ctx *cx, const struct mr_notifier_inbox *inbox,
	struct mr_mail_messages *messages);
/* The prompt about `count` messages, of which these are known. */
const char *mr_notifier_prompt(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const struct mr_notifier_settings *settings, const struct mr_mail_messages *messages,
	size_t count, struct mr_notice_slots *slots);
