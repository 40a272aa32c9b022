/*
 * mailbox/notifier_sql.h - the notifier's tables in a session's gateway/queue.sqlite.
 *
 * Settings, audit and requests are tables of the Houmao runtime, whose gateways read and write them
 * too (spec/mailbox.md 18.2). The ledger's are ours (mailbox/ledger_sql.h).
 */
#pragma once

#include "data/db.h"
#include "mailbox/notifier_settings.h"

/* Open the database of the session in this directory. With `create` it is made when it is missing;
 * otherwise that is MR_ENOTFOUND, and nothing can be written. */
MR_CHECK enum mr_code mr_notifier_sql_open(struct mr_ctx *cx, const char *session, bool create,
	struct mr_db **out);
/* gateway/queue.sqlite of the session; and the directory it is in. */
const char *mr_notifier_sql_path(struct mr_arena *arena, const char *session);
const char *mr_notifier_sql_dir(struct mr_arena *arena, const char *session);

/* The settings, or the defaults when none were stored. */
MR_CHECK enum mr_code mr_notifier_sql_settings(struct mr_ctx *cx, struct mr_db *db,
	struct mr_notifier_settings *out);
/* Store them, but what happened last; and wake the notifier that runs. */
MR_CHECK enum mr_code mr_notifier_sql_store(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_settings *settings);

/* What happened: NULL leaves a time as it is; an error of NULL takes the last one away. */
struct mr_notifier_news {
	const char *poll_at, *notification_at, *error;
};
MR_CHECK enum mr_code mr_notifier_sql_news(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_news *news);

/* A row of the audit; texts may be NULL where the table takes that. */
struct mr_notifier_audit {
	const char *poll_time;
	int64_t unread_count;
	const char *unread_digest, *unread_summary; /* of the eligible messages */
	const char *admission, *execution;          /* "open", "idle", "running" */
	int64_t queue_depth;
	const char *outcome; /* "empty", "busy_skip", "enqueued", "poll_error", ... */
	const char *request_id, *detail;
	const char *context_error_policy, *pre_notification_context_action;
	const char *rendered_entries; /* JSON */
};
/* Add it, unless the row before it says the same of the same messages. */
MR_CHECK enum mr_code mr_notifier_sql_audit(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_notifier_audit *row);

/* A prompt on its way to the agent, and its end: an error, or NULL. */
MR_CHECK enum mr_code mr_notifier_sql_request(struct mr_ctx *cx, struct mr_db *db, const char *id,
	const char *payload_json, const char *now);
MR_CHECK enum mr_code mr_notifier_sql_request_end(struct mr_ctx *cx, struct mr_db *db,
	const char *id, const char *now, const char *error);

/* Remove audit rows and finished requests from before this time, and audit rows past the newest
 * `most`. */
MR_CHECK enum mr_code mr_notifier_sql_prune(struct mr_ctx *cx, struct mr_db *db, const char *before,
	int64_t most);
