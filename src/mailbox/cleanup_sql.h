/* mailbox/cleanup_sql.h - which messages and attachments a clear takes from index.sqlite. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

#include <stdbool.h>

struct mr_mailbox_clear_message {
	const char *message_id;
	const char *canonical_path; /* absolute */
	bool stays;                 /* another registration has it */
};
struct mr_mailbox_clear_messages {
	struct mr_mailbox_clear_message *items;
	size_t len;
};
/* Those projected to a registration, or all (NULL); by id. */
MR_CHECK enum mr_code mr_mailbox_cleanup_sql_messages(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, struct mr_mailbox_clear_messages *out);

struct mr_mailbox_clear_attachment {
	const char *attachment_id;
	const char *kind;
	const char *locator;
	bool stays; /* a message that stays refers to it, or to the same file */
};
struct mr_mailbox_clear_attachments {
	struct mr_mailbox_clear_attachment *items;
	size_t len;
};
/* Those of the messages that go; all when `registration_id` is NULL. By id. */
MR_CHECK enum mr_code mr_mailbox_cleanup_sql_attachments(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id, struct mr_mailbox_clear_attachments *out);

/*
 * One transaction: the registration's projections, the messages only it has, and the attachments
 * only these have; or all of them. Threads follow. Not inside another transaction.
 */
MR_CHECK enum mr_code mr_mailbox_cleanup_sql_clear(struct mr_ctx *cx, struct mr_db *db,
	const char *registration_id);
