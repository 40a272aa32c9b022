/* op/mailbox/shape_notifier.h - the notifier's settings and notices as objects (spec/mailbox.md
 * 18.1). */
#pragma once

#include "mailbox/notifier.h"
#include "op/op.h"

struct mr_shape_notifier {
	int schema_version;
	struct mr_notifier_settings settings;
	unsigned mode, policy, action, render, auth_mode, verifier; /* places among their words */
	struct mr_texts tokens;                                     /* as they may be shown */
	bool supported;
	const char *support_error; /* or NULL */
	const char *channel;
};
/* The contract's own. */
extern const struct mr_field mr_shape_notifier_fields[];
/* With the channel. */
extern const struct mr_field mr_shape_notifier_full_fields[];
/* `unbound` says why the agent cannot be told of anything; or NULL. */
struct mr_shape_notifier mr_shape_notifier(struct mr_arena *arena,
	const struct mr_notifier_settings *settings, const char *unbound);

/* A wake-up in the ledger. */
extern const struct mr_field mr_shape_ledger_notice_fields[];

/* What a long poll returns. */
struct mr_shape_notice_message {
	const char *ref, *thread_ref, *created_at, *subject, *from;
};
struct mr_shape_notice {
	int schema_version;
	bool has_notice;
	int64_t notice;
	size_t count;
	struct mr_shape_notice_message *messages;
	size_t len;
	const char *prompt; /* or NULL */
};
extern const struct mr_field mr_shape_notice_fields[];
struct mr_shape_notice mr_shape_notice(struct mr_arena *arena, const struct mr_notifier_told *told);
