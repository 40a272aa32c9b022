/* mailbox/repair_sql.h - questions that only check and repair ask, of both kinds of database. */
#pragma once

#include "base/ctx.h"
#include "base/str.h"
#include "data/db.h"
#include "mailbox/index_sql.h"
#include "mailbox/state_sql.h"

/* Can the tables be read that the index must have? The error says which cannot. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_probe(struct mr_ctx *cx, struct mr_db *db);

/* Keep more of the file in memory than a server's connection would. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_cache(struct mr_ctx *cx, struct mr_db *db);

/* Ids of messages in their order, those after `after` ("" from the first), at most `limit`. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_ids(struct mr_ctx *cx, struct mr_db *db,
	const char *after, int64_t limit, struct mr_texts *out);
/* The place of a message in the order of arrival, or -1. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_arrival(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, int64_t *out);

struct mr_mailbox_head {
	const char *thread_id;
	const char *created_at;
	const char *subject;
};
/* *out_found says whether the message is there. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_head(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, struct mr_mailbox_head *out, bool *out_found);

/* What they are given lives during the call only. An error ends the walk and is its result. */
typedef enum mr_code mr_mailbox_on_projection(void *arg, const struct mr_mailbox_projection *row);
typedef enum mr_code mr_mailbox_on_state(void *arg, const struct mr_mailbox_state *row);

/* The projections of a registration. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_projections(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, mr_mailbox_on_projection *visit, void *arg);
/* Every row of a mailbox.sqlite. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_states(struct mr_ctx *cx, struct mr_db *db,
	mr_mailbox_on_state *visit, void *arg);
/* Correct the fields that a row repeats from its message; flags and box stay. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_put_head(struct mr_ctx *cx, struct mr_db *db,
	const char *message_id, const struct mr_mailbox_head *head);

enum mr_mailbox_threads_of {
	MR_MAILBOX_THREADS_SHARED, /* index.sqlite */
	MR_MAILBOX_THREADS_LOCAL,  /* mailbox.sqlite */
};
/* Threads that have messages, or that have a summary, after `after`, in order. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_threads(struct mr_ctx *cx, struct mr_db *db,
	enum mr_mailbox_threads_of what, bool summaries, const char *after, int64_t limit,
	struct mr_texts *out);

struct mr_mailbox_summary {
	const char *normalized_subject;
	const char *latest_id;
	const char *latest_created_at;
	int64_t unread;
};
/* Without reading a message. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_has_thread(struct mr_ctx *cx, struct mr_db *db,
	enum mr_mailbox_threads_of what, const char *thread_id, bool *out);
/* How many messages of a thread a mailbox.sqlite has. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_thread_size(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id, int64_t *out);
/* What the summary of a thread must say; *out_found is false when it has no message. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_wanted(struct mr_ctx *cx, struct mr_db *db,
	enum mr_mailbox_threads_of what, const char *thread_id, struct mr_mailbox_summary *out,
	bool *out_found);
/* What it says; *out_found is false when there is none. */
MR_CHECK enum mr_code mr_mailbox_repair_sql_summary(struct mr_ctx *cx, struct mr_db *db,
	const char *thread_id, struct mr_mailbox_summary *out, bool *out_found);
