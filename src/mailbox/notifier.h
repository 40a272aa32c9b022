/*
 * mailbox/notifier.h - telling an agent of its mail: once each message, and again only when it
 * stays unread (spec/mailbox.md 18).
 *
 * Who asks (a long poll, a hook) takes what is to be told: mr_notifier_take(). Who does not ask
 * gets a prompt by a channel, in rounds: mr_notifier_round() looks what is new, puts it into the
 * ledger, and delivers it when the agent is ready. Both look at the mailbox itself right before
 * they tell anything, so mail that was read meanwhile is not told. The mailbox is never changed.
 *
 * A message is told once. While it stays unread in the inbox it is told again after 15 minutes, and
 * then after 1, 4 and 16 hours; after these five times no more.
 */
#pragma once

#include "mailbox/channel.h"
#include "mailbox/ledger.h"
#include "mailbox/mail.h"
#include "mailbox/session.h"

enum {
	MR_NOTIFIER_TIMES = 5,  /* that a message is told at most */
	MR_NOTIFIER_TOLD = 100, /* messages that one notice names; of others it has the number */
	MR_NOTIFIER_KEPT_DAYS = 30, /* audit and settled notices */
	MR_NOTIFIER_AUDIT_ROWS = 10000,
};

/* When a message that was told so often is due again, after the last time; 0: never. */
int64_t mr_notifier_pause_us(int64_t times);

/* Whom to tell, by the manifest of the session. `base_url` and `api` as in the prompt, or NULL.
 * MR_ECONFLICT: the session has no mailbox. */
MR_CHECK enum mr_code mr_notifier_target_of(struct mr_ctx *cx,
	const struct mr_mailbox_session *manifest, const char *base_url, const char *api,
	struct mr_notifier_target *out);

struct mr_notifier_told {
	int64_t notice; /* its number in the ledger; 0: there is nothing to tell */
	size_t count;   /* messages */
	enum mr_notice_mode mode;
	struct mr_mail_messages messages; /* the oldest of them, MR_NOTIFIER_TOLD at most */
	const char *prompt;
};
/*
 * Take what is to be told now, and enter it into the ledger as delivered by `channel` ("long_poll",
 * "hook"). Two that ask at once never get the same. With nothing to tell, nothing is written.
 */
MR_CHECK enum mr_code mr_notifier_take(struct mr_ctx *cx, const struct mr_notifier_target *target,
	const char *channel, struct mr_notifier_told *out);

struct mr_notifier_round {
	bool is_enabled;
	bool was_told;
	int64_t next_us; /* when to look again although nothing changed; 0: at the interval */
	int64_t interval_seconds;
};
/*
 * One round of a notifier with prompts: look, queue, deliver. One at a time for a session: the
 * caller holds its lock. What goes wrong is in the ledger, the audit and the settings' last_error;
 * only a ledger that cannot be written is an error here.
 */
MR_CHECK enum mr_code mr_notifier_round(struct mr_ctx *cx, const struct mr_notifier_target *target,
	struct mr_notifier_round *out);

/* See which delivered notices were read meanwhile. Nothing to record: nothing is written. */
MR_CHECK enum mr_code mr_notifier_acknowledge(struct mr_ctx *cx,
	const struct mr_notifier_target *target);

/* The settings of a session; the defaults when it has none. */
MR_CHECK enum mr_code mr_notifier_get(struct mr_ctx *cx, const char *session,
	struct mr_notifier_settings *out);
/* Store them, and wake the notifier that runs. */
MR_CHECK enum mr_code mr_notifier_put(struct mr_ctx *cx, const char *session,
	const struct mr_notifier_settings *settings);

/* The newest notices of the session, at most so many; a session without a ledger has none. */
MR_CHECK enum mr_code mr_notifier_notices(struct mr_ctx *cx, const char *session, int64_t limit,
	struct mr_ledger_notices *out);
/* What waits behind a channel that failed; `*found` false: nothing. */
MR_CHECK enum mr_code mr_notifier_backlog(struct mr_ctx *cx, const char *session,
	struct mr_ledger_backlog *out, bool *found);
