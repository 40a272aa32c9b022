/* team/thread_sql.c */
#include "team/inbox.h"
#include "team/inbox_sql.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/project.h"
#include "team/thread.h"

/*
 * A conversation between two projects has messages stored in both: seen from a project it is those
 * stored there, and those openly addressed to one of its agents. ?1 project, ?2 thread, ?3 the
 * message that began it when the thread is a number, ?4 the id to go on from.
 */
#define THREAD                                                                                     \
	" FROM messages m" MR_TEAM_ITEM_SENDER " WHERE m.id IN (SELECT t.id FROM messages t"       \
	"  WHERE t.project_id IN (SELECT id FROM projects) AND t.thread_id = ?2 UNION SELECT ?3)"  \
	" AND m.id > ?4"                                                                           \
	" AND (m.project_id = ?1 OR EXISTS (SELECT 1 FROM message_recipients r"                    \
	"  JOIN agents a ON a.id = r.agent_id WHERE r.message_id = m.id AND r.kind <> 'bcc'"       \
	"  AND a.project_id = ?1)) AND " MR_TEAM_SEEN_BY("m", "?6") " ORDER BY m.id LIMIT ?5"

static const char *const SQL_THREAD[2] = {
	"SELECT " MR_TEAM_ITEM_COLUMNS THREAD,
	"SELECT " MR_TEAM_ITEM_COLUMNS ", m.body_md" THREAD,
};

static int64_t number_of(const char *thread_id)
{
	int64_t number = 0;

	mr_str_to_int(thread_id, &number);
	return number;
}

static enum mr_code list_items(struct mr_ctx *cx, struct mr_stmt *stmt, bool with_bodies,
	int64_t limit, struct mr_team_items *out)
{
	struct mr_team_items found = {
		mr_arena_array(cx->arena, (size_t)limit + 1, sizeof(*found.items)), 0, 0
	};

	for (;;) {
		bool row = false;
		enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);

		if (rc)
			return rc;
		if (!row)
			break;
		if ((int64_t)found.len == limit) {
			found.next = found.items[found.len - 1].message.id;
			break;
		}
		mr_team_item_read(stmt, with_bodies ? MR_TEAM_ITEM_COLUMN_COUNT : -1, cx->arena,
			&found.items[found.len++]);
	}
	*out = found;
	return MR_OK;
}

enum mr_code mr_team_thread_get(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, const char *thread_id,
	bool include_bodies, int64_t after, int64_t limit, struct mr_team_items *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_items found;
	enum mr_code rc = mr_db_prepare(db, SQL_THREAD[include_bodies], &stmt, &cx->err);

	if (rc)
		return rc;
	limit = limit < 1 ? MR_TEAM_LIST_DEFAULT : limit;
	limit = limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX : limit;
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_text(stmt, 2, thread_id);
	mr_stmt_bind_int(stmt, 3, number_of(thread_id));
	mr_stmt_bind_int(stmt, 4, after);
	mr_stmt_bind_int(stmt, 5, limit + 1);
	mr_stmt_bind_text(stmt, 6, mr_team_readers(rights));
	rc = list_items(cx, stmt, include_bodies, limit, &found);
	for (size_t i = 0; !rc && i < found.len; i++)
		rc = mr_team_item_names(cx, db, false, &found.items[i]);
	if (!rc)
		*out = found;
	return rc;
}

/*
 * From the newest message backwards, those that are the last of their thread: as many as are
 * wanted, without looking at the rest.
 */
#define SEEN(message) MR_TEAM_SEEN_BY(message, "?4")
#define LAST                                                                                       \
	"NOT EXISTS (SELECT 1 FROM messages n WHERE n.project_id = m.project_id"                   \
	" AND n.thread_id = m.thread_id AND n.thread_seq > m.thread_seq AND " SEEN("n") ")"
#define COUNT                                                                                      \
	"(SELECT count(*) FROM messages c WHERE c.project_id = m.project_id"                       \
	" AND c.thread_id = m.thread_id AND " SEEN("c") ")"
#define FIRST                                                                                      \
	"(SELECT o.id FROM messages o WHERE o.project_id = m.project_id"                           \
	" AND o.thread_id = m.thread_id AND " SEEN("o") " ORDER BY o.thread_seq LIMIT 1)"

static const char SQL_THREADS[] =
	"SELECT m.thread_id, m.created_ts, s.name, " COUNT ", f.created_ts, f.subject, m.id"
	" FROM messages m CROSS JOIN agents s ON s.id = m.sender_id"
	" CROSS JOIN messages f ON f.id = " FIRST
	" WHERE m.project_id = ?1 AND m.thread_id IS NOT NULL AND m.id < ?2 AND " SEEN(
		"m") " AND " LAST " ORDER BY m.id DESC LIMIT ?3";

/* The message a thread is named after is its first, though it is in no thread itself. */
static const char SQL_ROOT[] = "SELECT m.created_ts, m.subject FROM messages m WHERE m.id = ?1"
			       " AND m.thread_id IS NULL AND " MR_TEAM_SEEN_BY("m", "?2");

static enum mr_code count_root(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, struct mr_team_thread *thread)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t id = number_of(thread->thread_id);
	enum mr_code rc = MR_OK;
	bool row = false;

	if (id)
		rc = mr_db_prepare(db, SQL_ROOT, &stmt, &cx->err);
	if (rc || !id)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	mr_stmt_bind_text(stmt, 2, mr_team_readers(rights));
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (!rc && row) {
		thread->messages++;
		thread->first_ts = mr_stmt_int(stmt, 0);
		thread->subject = mr_stmt_text(stmt, 1, cx->arena);
	}
	return rc;
}

enum mr_code mr_team_thread_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, int64_t before, int64_t limit,
	struct mr_team_threads *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_threads found = { NULL, 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_THREADS, &stmt, &cx->err);

	if (rc)
		return rc;
	limit = limit < 1 ? MR_TEAM_LIST_DEFAULT : limit;
	limit = limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX : limit;
	found.items = mr_arena_array(cx->arena, (size_t)limit, sizeof(*found.items));
	mr_stmt_bind_int(stmt, 1, project_id);
	mr_stmt_bind_int(stmt, 2, before > 0 ? before : INT64_MAX);
	mr_stmt_bind_int(stmt, 3, limit);
	mr_stmt_bind_text(stmt, 4, mr_team_readers(rights));
	for (;;) {
		struct mr_team_thread *thread = &found.items[found.len];
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (rc)
			return rc;
		if (!row)
			break;
		*thread = (struct mr_team_thread){
			.thread_id = mr_stmt_text(stmt, 0, cx->arena),
			.last_ts = mr_stmt_int(stmt, 1),
			.last_from = mr_stmt_text(stmt, 2, cx->arena),
			.messages = mr_stmt_int(stmt, 3),
			.first_ts = mr_stmt_int(stmt, 4),
			.subject = mr_stmt_text(stmt, 5, cx->arena),
			.last_id = mr_stmt_int(stmt, 6),
		};
		rc = count_root(cx, db, rights, thread);
		if (rc)
			return rc;
		found.len++;
	}
	*out = found;
	return MR_OK;
}

static const char SQL_PROJECTS[] =
	"SELECT p.id FROM projects p WHERE EXISTS (SELECT 1 FROM messages m"
	"  WHERE m.project_id = p.id AND m.thread_id = ?1)"
	" OR p.id = (SELECT n.project_id FROM messages n WHERE n.id = ?2) LIMIT 2";

enum mr_code mr_team_thread_projects(struct mr_ctx *cx, struct mr_db *db, const char *thread_id,
	struct mr_team_projects *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_projects found = { mr_arena_array(cx->arena, 2, sizeof(*found.items)), 0 };
	enum mr_code rc = mr_db_prepare(db, SQL_PROJECTS, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, thread_id);
	mr_stmt_bind_int(stmt, 2, number_of(thread_id));
	for (;;) {
		bool row = false;

		rc = mr_stmt_step(stmt, &row, &cx->err);
		if (!rc && row)
			rc = mr_team_project_get(cx, db, mr_stmt_int(stmt, 0),
				&found.items[found.len++]);
		if (rc)
			return rc;
		if (!row)
			break;
	}
	*out = found;
	return MR_OK;
}
