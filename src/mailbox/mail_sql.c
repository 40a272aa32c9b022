/* mailbox/mail_sql.c - selects the messages of a list from mailbox.sqlite. */
#include "mailbox/mail_sql.h"

#include <string.h>

static const char SQL_LIST[] =
	"SELECT message_id, thread_id, created_at_utc, subject, is_read, is_answered, is_starred,"
	" is_archived, is_deleted, box_name FROM message_state"
	" WHERE box_name = ?1 AND created_at_utc >= ?2 AND (?3 < 0 OR is_read = ?3)"
	" AND (?4 < 0 OR is_answered = ?4) AND (?5 < 0 OR is_archived = ?5)"
	" ORDER BY created_at_utc DESC, rowid DESC LIMIT ?6";

static struct mr_mailbox_state read_row(struct mr_stmt *stmt, struct mr_arena *arena)
{
	return (struct mr_mailbox_state){
		.message_id = mr_stmt_text(stmt, 0, arena),
		.thread_id = mr_stmt_text(stmt, 1, arena),
		.created_at = mr_stmt_text(stmt, 2, arena),
		.subject = mr_stmt_text(stmt, 3, arena),
		.read = mr_stmt_int(stmt, 4) != 0,
		.answered = mr_stmt_int(stmt, 5) != 0,
		.starred = mr_stmt_int(stmt, 6) != 0,
		.archived = mr_stmt_int(stmt, 7) != 0,
		.deleted = mr_stmt_int(stmt, 8) != 0,
		.box = mr_stmt_text(stmt, 9, arena),
	};
}

enum mr_code mr_mail_sql_list(struct mr_ctx *cx, struct mr_db *local,
	const struct mr_mail_query *query, struct mr_mailbox_states *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_mailbox_states list = { NULL, 0 };
	size_t room = 0;
	bool row = false;
	enum mr_code rc = mr_db_prepare(local, SQL_LIST, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, query->box);
	mr_stmt_bind_text(stmt, 2, query->since ? query->since : "");
	mr_stmt_bind_int(stmt, 3, query->read);
	mr_stmt_bind_int(stmt, 4, query->answered);
	mr_stmt_bind_int(stmt, 5, query->archived);
	mr_stmt_bind_int(stmt, 6, query->limit);
	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		if (list.len == room) {
			struct mr_mailbox_state *more;

			room = room ? room * 2 : 64;
			more = mr_arena_array(cx->arena, room, sizeof(*more));
			if (list.len)
				memcpy(more, list.items, list.len * sizeof(*more));
			list.items = more;
		}
		list.items[list.len++] = read_row(stmt, cx->arena);
	}
	if (!rc)
		*out = list;
	return rc;
}
