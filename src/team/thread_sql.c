/* team/thread_sql.c - Lists the threads of a project, and the messages of one thread. */
#include "data/rows.h"
#include "team/inbox.h"
#include "team/inbox_sql.h"
#include "team/limits.h"
#include "team/message_sql.h"
#include "team/project_sql.h"
#include "team/thread.h"

/*
 * A conversation between two projects has messages stored in both: seen from a project it is those
 * stored there, and those openly addressed to one of its agents. ?1 project, ?2 thread, ?3 the
 * message that began it when the thread is a number, ?4 the id to go on from.
 */
#define THREAD(past)                                                                               \
	" FROM messages m" MR_TEAM_ITEM_SENDER " WHERE m.id IN (SELECT t.id FROM messages t"       \
	"  WHERE t.project_id IN (SELECT id FROM projects) AND t.thread_id = ?2 UNION SELECT ?3)"  \
	" AND m.id " past                                                                          \
	" ?4 AND (m.project_id = ?1 OR EXISTS (SELECT 1 FROM message_recipients r"                 \
	"  JOIN agents a ON a.id = r.agent_id WHERE r.message_id = m.id AND r.kind <> 'bcc'"       \
	"  AND a.project_id = ?1)) AND " MR_TEAM_SEEN_BY("m", "?6")
#define OLDEST_FIRST THREAD(">") " ORDER BY m.id LIMIT ?5"
#define NEWEST_FIRST THREAD("<") " ORDER BY m.id DESC LIMIT ?5"

static const char *const SQL_THREAD[2][2] = {
	{ "SELECT " MR_TEAM_ITEM_COLUMNS OLDEST_FIRST,
		"SELECT " MR_TEAM_ITEM_COLUMNS ", m.body_md" OLDEST_FIRST },
	{ "SELECT " MR_TEAM_ITEM_COLUMNS NEWEST_FIRST,
		"SELECT " MR_TEAM_ITEM_COLUMNS ", m.body_md" NEWEST_FIRST },
};

static int64_t number_of(const char *thread_id)
{
	int64_t number = 0;

	mr_str_to_int(thread_id, &number);
	return number;
}

static enum mr_code read_item(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_team_item_read(row, -1, cx->arena, to);
	return MR_OK;
}

static enum mr_code read_with_body(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	mr_team_item_read(row, MR_TEAM_ITEM_COLUMN_COUNT, cx->arena, to);
	return MR_OK;
}

static int64_t within(int64_t limit)
{
	limit = limit < 1 ? MR_TEAM_LIST_DEFAULT : limit;
	return limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX : limit;
}

struct page {
	const char *thread_id;
	bool newest_first, include_bodies;
	int64_t from, limit;
};

static enum mr_code get_page(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, const struct page *page,
	struct mr_team_items *out)
{
	struct mr_team_items found = { 0 };
	size_t most = (size_t)within(page->limit);
	/* One more tells whether there is more. */
	enum mr_code rc = mr_rows_list(cx, db, SQL_THREAD[page->newest_first][page->include_bodies],
		MR_BIND(project_id, page->thread_id, number_of(page->thread_id), page->from,
			most + 1, mr_bind_ids(mr_team_readers(rights))),
		page->include_bodies ? read_with_body : read_item, MR_LIST(&found));

	if (!rc && found.len > most) {
		found.len = most;
		found.next = found.items[most - 1].message.id;
	}
	for (size_t i = 0; !rc && i < found.len; i++)
		rc = mr_team_item_names(cx, db, false, &found.items[i]);
	if (!rc)
		*out = found;
	return rc;
}

enum mr_code mr_team_thread_get(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, const char *thread_id,
	bool include_bodies, int64_t after, int64_t limit, struct mr_team_items *out)
{
	const struct page page = { thread_id, false, include_bodies, after, limit };

	return get_page(cx, db, rights, project_id, &page, out);
}

enum mr_code mr_team_thread_newest(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, const char *thread_id,
	bool include_bodies, int64_t before, int64_t limit, struct mr_team_items *out)
{
	const struct page page = { thread_id, true, include_bodies, before > 0 ? before : INT64_MAX,
		limit };

	return get_page(cx, db, rights, project_id, &page, out);
}

/*
 * Walk back from the newest message and keep those that are the last of their thread, as many as
 * are wanted.
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

/* A message in no thread that nobody answered is a conversation of one, named as an answer to it
 * would name it; count_root() counts it. */
#define UNANSWERED                                                                                 \
	"m.thread_id IS NULL AND NOT EXISTS (SELECT 1 FROM messages n"                             \
	" WHERE n.project_id = m.project_id AND n.thread_id = CAST(m.id AS TEXT)"                  \
	" AND " SEEN("n") ")"

static const char SQL_THREADS[] =
	"SELECT COALESCE(m.thread_id, CAST(m.id AS TEXT)), m.created_ts, s.name, " COUNT ","
	" f.created_ts, f.subject, m.id"
	" FROM messages m CROSS JOIN agents s CROSS JOIN messages f"
	" WHERE s.id = m.sender_id AND f.id = COALESCE(" FIRST ", m.id)"
	" AND m.project_id = ?1 AND m.id < ?2 AND " SEEN("m") " AND (m.thread_id IS NOT NULL"
							      " AND " LAST " OR " UNANSWERED
							      ") ORDER BY m.id DESC LIMIT ?3";

/* The message a thread is named after is its first, though it is in no thread itself. */
static const char SQL_ROOT[] = "SELECT m.created_ts, m.subject FROM messages m WHERE m.id = ?1"
			       " AND m.thread_id IS NULL AND " MR_TEAM_SEEN_BY("m", "?2");

static enum mr_code count_root(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, struct mr_team_thread *thread)
{
	int64_t id = number_of(thread->thread_id), created_ts;
	const char *subject;
	bool found = false;
	enum mr_code rc = id
		? mr_rows_one(cx, db, SQL_ROOT, MR_BIND(id, mr_bind_ids(mr_team_readers(rights))),
			  MR_INTO(&created_ts, &subject), &found)
		: MR_OK;

	if (rc || !found)
		return rc;
	thread->messages++;
	thread->first_ts = created_ts;
	thread->subject = subject;
	return MR_OK;
}

static enum mr_code read_thread(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_thread *it = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->thread_id, &it->last_ts, &it->last_from, &it->messages, &it->first_ts,
			&it->subject, &it->last_id));
	return MR_OK;
}

enum mr_code mr_team_thread_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, int64_t project_id, int64_t before, int64_t limit,
	struct mr_team_threads *out)
{
	struct mr_team_threads found = { 0 };
	enum mr_code rc = mr_rows_list(cx, db, SQL_THREADS,
		MR_BIND(project_id, before > 0 ? before : INT64_MAX, within(limit),
			mr_bind_ids(mr_team_readers(rights))),
		read_thread, MR_LIST(&found));

	for (size_t i = 0; !rc && i < found.len; i++)
		rc = count_root(cx, db, rights, &found.items[i]);
	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_PROJECTS[] = "SELECT " MR_TEAM_PROJECT_COLUMNS(
	"p") " FROM projects p WHERE EXISTS (SELECT 1 FROM messages m"
	     "  WHERE m.project_id = p.id AND m.thread_id = ?1)"
	     " OR p.id = (SELECT n.project_id FROM messages n WHERE n.id = ?2) LIMIT 2";

enum mr_code mr_team_thread_projects(struct mr_ctx *cx, struct mr_db *db, const char *thread_id,
	struct mr_team_projects *out)
{
	return mr_rows_list(cx, db, SQL_PROJECTS, MR_BIND(thread_id, number_of(thread_id)),
		mr_team_project_read, MR_LIST(out));
}
