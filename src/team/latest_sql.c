/* team/latest_sql.c - Lists the newest messages of a project or of all, each kind from an index. */
#include "data/rows.h"
#include "team/attachment.h"
#include "team/error.h"
#include "team/inbox_sql.h"
#include "team/latest.h"
#include "team/limits.h"
#include "team/message_cache.h"
#include "team/message_sql.h"
#include "team/name.h"
#include "team/post.h"
#include "team/project_sql.h"
#include "text/markdown.h"
#include "text/snippet.h"

/*
 * ?1 the id to go on from, ?2 how many, ?3 the project (0: any) or the agent, ?4 the readers. Where
 * a list has no index of its own, the newest of each agent are found in that agent's, and of these
 * the newest: never more rows than agents times the limit.
 */
#define NEWEST " SELECT f.id FROM found f ORDER BY f.id DESC LIMIT ?2"

/* The newest that agents received. */
#define RECEIVED(agents, rows)                                                                     \
	"SELECT m.id FROM agents b CROSS JOIN messages m WHERE m.id IN (SELECT r.message_id"       \
	" FROM message_recipients r WHERE r.agent_id = b.id AND r.message_id < ?1" rows            \
	" ORDER BY r.message_id DESC LIMIT ?2) AND " agents

#define IN_PROJECT "(?3 = 0 OR b.project_id = ?3)"
#define ALONE      "b.id = ?3 AND (CAST(?4 AS TEXT) IS NULL OR b.id IN ids(?4))"
#define OPENLY     " AND r.kind <> 'bcc'"
#define OVERSEER   " AND b.is_system = 1 AND b.name_fold = 'humanoverseer'"
#define READER     " AND b.id IN ids(?4)"
#define URGENT     " AND r.urgent = 1"
#define WAITING    " AND r.ack_due = 1 AND r.ack_ts IS NULL"
#define UNREAD     " AND r.read_ts IS NULL"

#define SENT(agents, rows)                                                                           \
	"SELECT m.id FROM agents b CROSS JOIN messages m WHERE m.id IN (SELECT x.id FROM messages x" \
	" WHERE x.sender_id = b.id AND x.id < ?1" rows " ORDER BY x.id DESC LIMIT ?2) AND " agents
#define SENT_BY_READERS SENT("b.id IN ids(?4)", " AND (?3 = 0 OR x.project_id = ?3)")

/* All that have files are few: sums in place of the id leave no index but that of these. */
#define ATTACHED                                                                                   \
	"SELECT x.id FROM projects q JOIN messages x ON x.project_id = q.id"                       \
	" AND x.attachment_bytes > 0 AND x.id + 0 < ?1 WHERE (?3 = 0 OR q.id = ?3)"
#define NEWEST_ATTACHED " ORDER BY x.id + 0 DESC LIMIT ?2"

#define FOUND(select) "WITH found (id) AS (" select ")" NEWEST

static const char SQL_ALL[] = FOUND("SELECT x.id FROM messages x WHERE x.id < ?1"
				    " ORDER BY x.id DESC LIMIT ?2");

static const char *const SQL_KINDS[MR_TEAM_LATEST_KINDS] = {
	[MR_TEAM_LATEST_ALL] =
		FOUND("SELECT m.id FROM messages m WHERE m.id IN (SELECT x.id FROM messages x"
		      " WHERE x.project_id = ?3 AND x.id < ?1 ORDER BY x.id DESC LIMIT ?2)"
		      " UNION " RECEIVED(IN_PROJECT, OPENLY)),
	[MR_TEAM_LATEST_OVERSEER] = FOUND(RECEIVED(IN_PROJECT OVERSEER, "")),
	[MR_TEAM_LATEST_UNREAD] = FOUND(RECEIVED(IN_PROJECT OVERSEER, UNREAD)),
	[MR_TEAM_LATEST_URGENT] =
		FOUND("SELECT DISTINCT u.id FROM (" RECEIVED(IN_PROJECT, URGENT OPENLY) ") u"),
	[MR_TEAM_LATEST_WAITING] =
		FOUND("SELECT DISTINCT u.id FROM (" RECEIVED(IN_PROJECT, WAITING) ") u"),
	[MR_TEAM_LATEST_ATTACHED] = FOUND(ATTACHED NEWEST_ATTACHED),
};

/* The same of what the readers sent and received. */
static const char *const SQL_READERS[MR_TEAM_LATEST_KINDS] = {
	[MR_TEAM_LATEST_ALL] = FOUND(SENT_BY_READERS " UNION " RECEIVED(IN_PROJECT READER, "")),
	[MR_TEAM_LATEST_OVERSEER] = FOUND(RECEIVED(IN_PROJECT OVERSEER READER, "")),
	[MR_TEAM_LATEST_UNREAD] = FOUND(RECEIVED(IN_PROJECT OVERSEER READER, UNREAD)),
	[MR_TEAM_LATEST_URGENT] =
		FOUND("SELECT DISTINCT u.id FROM (" RECEIVED(IN_PROJECT READER, URGENT) ") u"),
	[MR_TEAM_LATEST_WAITING] =
		FOUND("SELECT DISTINCT u.id FROM (" RECEIVED(IN_PROJECT READER, WAITING) ") u"),
	[MR_TEAM_LATEST_ATTACHED] =
		FOUND(ATTACHED " AND " MR_TEAM_SEEN_BY("x", "?4") NEWEST_ATTACHED),
};

static const char *const SQL_AGENT[MR_TEAM_LATEST_KINDS] = {
	[MR_TEAM_LATEST_ALL] = FOUND(RECEIVED(ALONE, "")),
	[MR_TEAM_LATEST_UNREAD] = FOUND(RECEIVED(ALONE, UNREAD)),
	[MR_TEAM_LATEST_URGENT] = FOUND(RECEIVED(ALONE, URGENT)),
	[MR_TEAM_LATEST_WAITING] = FOUND(RECEIVED(ALONE, WAITING)),
	[MR_TEAM_LATEST_SENT] = FOUND(SENT(ALONE, "")),
};

/* More than a snippet shows, whatever the marks in it. */
enum { EXCERPT_BYTES = 360 };

static const char SQL_ITEM[] =
	"SELECT " MR_TEAM_ITEM_COLUMNS
	", substr(m.body_md, 1, 360) FROM messages m" MR_TEAM_ITEM_SENDER " WHERE m.id = ?1";

static enum mr_code read_item(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	static const struct mr_query nothing = { 0 };
	struct mr_team_item *item = to;
	struct mr_snippet snippet;
	const char *body;

	mr_team_item_read(row, -1, cx->arena, item);
	mr_stmt_into(row, MR_TEAM_ITEM_COLUMN_COUNT, cx->arena, MR_INTO(&body));
	mr_snippet(cx->arena, mr_markdown_to_text(cx->arena, mr_bytes_text(body), EXCERPT_BYTES),
		&nothing, MR_QUERY_ANY_COLUMN, false, &snippet);
	item->excerpt = snippet.text;
	return MR_OK;
}

/* A message that was found, without whom it went to. */
static enum mr_code find_item(struct mr_ctx *cx, struct mr_db *db,
	struct mr_team_message_cache *heads, int64_t message_id, struct mr_team_item *out)
{
	enum mr_code rc = MR_OK;

	if (!mr_team_message_cache_get(heads, cx->arena, message_id, out) || !out->excerpt) {
		rc = mr_rows_first(cx, db, SQL_ITEM, MR_BIND(message_id), read_item, out, NULL);
		if (!rc)
			mr_team_message_cache_put(heads, out);
	}
	/* Its JSON is that of other lists. */
	out->heads = NULL;
	out->form = (struct mr_bytes){ 0 };
	return rc;
}

/* Most are of few projects. */
static enum mr_code add_project(struct mr_ctx *cx, struct mr_db *db, struct mr_team_latests *found,
	size_t at)
{
	struct mr_team_latest *it = &found->items[at];
	int64_t id = it->item.message.project_id;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < at && !it->project.id; i++) {
		if (found->items[i].project.id == id)
			it->project = found->items[i].project;
	}
	if (!it->project.id)
		rc = mr_team_project_called(cx, db, id, &it->project);
	it->item.is_near = mr_str_eq(it->item.sender_project, it->project.slug);
	return rc;
}

/* Who got it, and what the overseer and those who are to acknowledge it have done. */
static enum mr_code add_recipients(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_latest *it)
{
	const struct mr_team_message *message = &it->item.message;
	struct mr_team_recipients rows;
	enum mr_code rc = mr_team_message_recipients(cx, db, message->id, &rows);

	if (!rc && !mr_str_eq(message->attachments, "[]"))
		rc = mr_team_attachments_bare(cx, message->attachments,
			&it->item.message.attachments);
	if (rc)
		return rc;
	it->item.with_names = true;
	it->item.to = mr_team_post_names(cx->arena, message->project_id, &rows, MR_TEAM_TO);
	it->item.cc = mr_team_post_names(cx->arena, message->project_id, &rows, MR_TEAM_CC);
	it->waiting_for.items = mr_arena_array(cx->arena, rows.len, sizeof(const char *));
	for (size_t i = 0; i < rows.len; i++) {
		const struct mr_team_recipient *one = &rows.items[i];

		if (message->ack_required && one->kind == MR_TEAM_TO && !one->ack_ts)
			it->waiting_for.items[it->waiting_for.len++] =
				mr_team_post_name(cx->arena, message->project_id, one);
		if (mr_str_eq(one->name, MR_TEAM_OVERSEER_NAME))
			it->is_for_overseer = true;
		else if (!agent_id)
			continue;
		if (!agent_id || one->agent_id == agent_id)
			it->is_unread = it->is_unread || !one->read_ts;
	}
	return MR_OK;
}

static int64_t within(int64_t limit)
{
	return limit < 1 ? 1 : limit > MR_TEAM_LIST_MAX ? MR_TEAM_LIST_MAX : limit;
}

const char *mr_team_latest_sql(const struct mr_team_latest_query *query, const char *readers)
{
	if (query->agent_id)
		return SQL_AGENT[query->kind];
	if (readers)
		return SQL_READERS[query->kind];
	return query->kind == MR_TEAM_LATEST_ALL && !query->project_id ? SQL_ALL
								       : SQL_KINDS[query->kind];
}

enum mr_code mr_team_latest_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_latest_query *query,
	struct mr_team_latests *out)
{
	const char *readers = mr_team_readers(rights);
	int64_t before = query->before > 0 ? query->before : INT64_MAX;
	size_t most = (size_t)within(query->limit);
	struct mr_team_latests found = { 0 };
	struct {
		int64_t *items;
		size_t len;
	} ids = { 0 };
	const char *sql = mr_team_latest_sql(query, readers);
	enum mr_code rc;

	if (!sql)
		return mr_team_refuse(cx, "only", "%s",
			query->agent_id ? "an agent has no list of this kind"
					: "sent is of one agent: agent_name is missing");
	/* One more tells whether there is more. */
	if (sql == SQL_ALL)
		rc = mr_rows_list(cx, db, sql, MR_BIND(before, most + 1), mr_row_int,
			MR_LIST(&ids));
	else if (readers || query->agent_id)
		rc = mr_rows_list(cx, db, sql,
			MR_BIND(before, most + 1,
				query->agent_id ? query->agent_id : query->project_id,
				mr_bind_ids(readers)),
			mr_row_int, MR_LIST(&ids));
	else
		rc = mr_rows_list(cx, db, sql, MR_BIND(before, most + 1, query->project_id),
			mr_row_int, MR_LIST(&ids));
	if (rc)
		return rc;
	found.len = ids.len > most ? most : ids.len;
	found.next = ids.len > most ? ids.items[most - 1] : 0;
	found.items = mr_arena_array(cx->arena, found.len, sizeof(*found.items));
	for (size_t i = 0; !rc && i < found.len; i++) {
		rc = find_item(cx, db, query->heads, ids.items[i], &found.items[i].item);
		if (!rc)
			rc = add_recipients(cx, db, query->agent_id, &found.items[i]);
		if (!rc)
			rc = add_project(cx, db, &found, i);
	}
	if (!rc)
		*out = found;
	return rc;
}

static const char SQL_UNREAD[] =
	"SELECT count(*) FROM (SELECT 1 FROM agents b JOIN message_recipients r"
	" ON r.agent_id = b.id AND r.read_ts IS NULL"
	" WHERE b.name_fold = 'humanoverseer' AND b.is_system = 1 LIMIT ?1) n";

enum mr_code mr_team_latest_unread(struct mr_ctx *cx, struct mr_db *db, int64_t most, int64_t *out)
{
	return mr_rows_one(cx, db, SQL_UNREAD, MR_BIND(most), MR_INTO(out), NULL);
}
