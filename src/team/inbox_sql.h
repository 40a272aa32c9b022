/* team/inbox_sql.h - lists of messages, newest first, each from an index. */
#pragma once

#include "team/inbox.h"
#include "team/message_sql.h"

/* The index that answers; other conditions are checked row by row. */
enum mr_team_inbox_box {
	MR_TEAM_BOX_ALL,
	MR_TEAM_BOX_NEWER, /* what came after, oldest first */
	MR_TEAM_BOX_UNREAD,
	MR_TEAM_BOX_URGENT,
	MR_TEAM_BOX_URGENT_UNREAD,
	MR_TEAM_BOX_DUE,        /* acknowledgements */
	MR_TEAM_BOX_DUE_OLDEST, /* the other way round */
	MR_TEAM_BOX_THREAD,
	MR_TEAM_BOX_SENT,
	MR_TEAM_BOX_SENT_THREAD,
	MR_TEAM_BOX_COUNT,
};

struct mr_team_box_query {
	enum mr_team_inbox_box box;
	int64_t agent_id;
	int64_t before; /* ids below this; where the oldest come first above it. 0: any */
	const char *thread_id;
	bool urgent_only, unread_only, unacked_only; /* where the index does not imply it */
	bool with_bodies;
	int64_t since_ts;  /* strictly later; 0: any */
	int64_t before_ts; /* not later than this; 0: any */
	int64_t limit;
	struct mr_team_message_cache
		*heads; /* cache; NULL inside a write transaction, which may see uncommitted rows */
};
/* Without names of recipients. `next` is set when there is more. */
MR_CHECK enum mr_code mr_team_box_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_box_query *query, struct mr_team_items *out);
/* For tests of the query plans. */
const char *mr_team_box_sql(enum mr_team_inbox_box box);

/* One message, and what this agent (or 0) has to do with it. */
MR_CHECK enum mr_code mr_team_box_one(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t viewer_id, bool *found, struct mr_team_item *out);
/* Is a message openly addressed to somebody of this project? */
MR_CHECK enum mr_code mr_team_box_concerns(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t project_id, bool *out);

/* Inside a change: set the times that are not set yet, and return the current ones. */
MR_CHECK enum mr_code mr_team_box_mark(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	int64_t agent_id, bool acknowledge, int64_t now_us, struct mr_team_receipt *out);

/* Columns and tables of an item whose message is m; read back with mr_team_item_read(). */
#define MR_TEAM_ITEM_COLUMNS MR_TEAM_MESSAGE_COLUMNS ", s.name, sp.slug, s.is_system"
#define MR_TEAM_ITEM_SENDER                                                                        \
	" JOIN agents s ON s.id = m.sender_id JOIN projects sp ON sp.id = s.project_id"
enum { MR_TEAM_ITEM_COLUMN_COUNT = MR_TEAM_MESSAGE_COLUMN_COUNT + 3 };
/* The body, when it was asked for, is in `body_column`; -1 when not. */
void mr_team_item_read(struct mr_stmt *stmt, int body_column, struct mr_arena *arena,
	struct mr_team_item *out);
