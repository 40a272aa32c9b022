/* mailbox/ledger_sql.h - the ledger of wake-ups: our tables in gateway/queue.sqlite. */
#pragma once

#include "data/db.h"
#include "mailbox/ledger.h"
#include "mailbox/notifier_settings.h"

#define MR_LEDGER_TABLE "mailroom_notice"

/* How often a message was announced. */
struct mr_ledger_message {
	const char *ref;
	int64_t times;
	int64_t last_us;
	int64_t open_notice; /* its id, or 0 */
};
struct mr_ledger_messages {
	struct mr_ledger_message *items; /* sorted by ref */
	size_t len;
};

/* The time of the clock as these tables have it for people. */
const char *mr_ledger_now(struct mr_ctx *cx);

MR_CHECK enum mr_code mr_ledger_sql_schema(struct mr_ctx *cx, struct mr_db *db);
/* Fill the channel of the settings; nothing stored leaves the default. */
MR_CHECK enum mr_code mr_ledger_sql_channel(struct mr_ctx *cx, struct mr_db *db,
	struct mr_notifier_settings *settings);
MR_CHECK enum mr_code mr_ledger_sql_store_channel(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_settings *settings, const char *command_json);

/* Every message that was ever announced, or waits for it. */
MR_CHECK enum mr_code mr_ledger_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_messages *out);
/* The notice that waits for delivery, or is being delivered: at most one. `*found` false: none. */
MR_CHECK enum mr_code mr_ledger_sql_open_notice(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_notice *out, bool *found);
MR_CHECK enum mr_code mr_ledger_sql_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_ledger_notice *out, bool *found);
/* The newest first. */
MR_CHECK enum mr_code mr_ledger_sql_list(struct mr_ctx *cx, struct mr_db *db, int64_t limit,
	struct mr_ledger_notices *out);

/* A new notice; its id. */
MR_CHECK enum mr_code mr_ledger_sql_add(struct mr_ctx *cx, struct mr_db *db, const char *channel,
	const char *subject, int64_t now_us, int64_t *out_id);
/* A message becomes one of the notice's. */
MR_CHECK enum mr_code mr_ledger_sql_join(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const char *ref, int64_t now_us);
/* It is taken out again: it need not be announced. */
MR_CHECK enum mr_code mr_ledger_sql_leave(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const char *ref);
MR_CHECK enum mr_code mr_ledger_sql_refs(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	struct mr_texts *out);
/* Delivered notices that were not acknowledged, each with its messages: rows (notice, ref). */
struct mr_ledger_pair {
	int64_t notice;
	const char *ref;
};
struct mr_ledger_pairs {
	struct mr_ledger_pair *items; /* by notice */
	size_t len;
};
MR_CHECK enum mr_code mr_ledger_sql_unacknowledged(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_pairs *out);

struct mr_ledger_change {
	enum mr_ledger_state state;
	const char *channel; /* or NULL: as it is */
	const char *detail;
	int64_t now_us;
	int64_t retry_us;
	bool is_attempt;   /* counts as one */
	bool is_announced; /* its messages were told now, or perhaps were */
};
MR_CHECK enum mr_code mr_ledger_sql_change(struct mr_ctx *cx, struct mr_db *db, int64_t notice,
	const struct mr_ledger_change *change);

/* Remove settled notices from before this time. What messages are forgotten is the caller's. */
MR_CHECK enum mr_code mr_ledger_sql_prune(struct mr_ctx *cx, struct mr_db *db, int64_t before_us);
MR_CHECK enum mr_code mr_ledger_sql_forget(struct mr_ctx *cx, struct mr_db *db, const char *ref);

/* `*found` false: nothing waits behind a failure. */
MR_CHECK enum mr_code mr_ledger_sql_backlog(struct mr_ctx *cx, struct mr_db *db,
	struct mr_ledger_backlog *out, bool *found);
