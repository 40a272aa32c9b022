/* team/search_sql.c - Builds and runs the SQL of a message search. */
#include "team/search_sql.h"

#include "data/match.h"
#include "team/limits.h"
#include "team/name.h"
#include "team/store/schema.h"

#include <inttypes.h>
#include <string.h>

enum {
	WHERE_BYTES = 256 << 10, /* every project of a product, every term of a query */
	/* A pattern for each term, name and project of each filter, a project, an agent. */
	VALUES_MAX = MR_QUERY_TERMS + 2 * MR_QUERY_FILTERS + 8,
	FIRST_VALUE = 4,
};

struct builder {
	struct mr_ctx *cx;
	const struct mr_team_search *search;
	const struct mr_query *query;
	struct mr_buf *sql;
	struct mr_bind *values; /* ends with MR_BIND_END, which is 0 */
	size_t count;
};

void mr_team_where_release(struct mr_team_where *where)
{
	mr_buf_release(&where->sql);
}

/* A parameter of this value; its number. */
static int value(struct builder *b, struct mr_bind bind)
{
	b->values[b->count++] = bind;
	return (int)(b->count - 1) + FIRST_VALUE;
}

/* Is the column one of the projects? */
static void put_projects(struct builder *b, const char *column)
{
	const struct mr_team_search *search = b->search;

	if (search->project_count == 0) {
		mr_buf_puts(b->sql, "TRUE");
		return;
	}
	if (search->project_count == 1) {
		mr_buf_printf(b->sql, "%s = ?%d", column,
			value(b, mr_bind_int(*search->project_ids)));
		return;
	}
	mr_buf_printf(b->sql, "%s IN (", column);
	for (size_t i = 0; i < search->project_count; i++)
		mr_buf_printf(b->sql, "%s%" PRId64, i ? ", " : "", search->project_ids[i]);
	mr_buf_putc(b->sql, ')');
}

/* The message was written in one of the projects, or sent to an agent of one other than as a
 * blind copy. */
static void put_place(struct builder *b, bool alone)
{
	if (alone) {
		put_projects(b, "t.project_id");
		return;
	}
	mr_buf_putc(b->sql, '(');
	put_projects(b, "t.project_id");
	mr_buf_puts(b->sql,
		" OR EXISTS (SELECT 1 FROM message_recipients r JOIN agents a ON a.id = r.agent_id"
		" WHERE r.message_id = t.id AND r.kind <> 'bcc' AND ");
	put_projects(b, "a.project_id");
	mr_buf_puts(b->sql, "))");
}

enum mr_code mr_team_search_alone_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, bool *out)
{
	int64_t projects;
	enum mr_code rc = mr_rows_one(cx, db, "SELECT count(*) FROM projects", NULL,
		MR_INTO(&projects), NULL);

	if (!rc)
		*out = search->project_count == 0 || projects <= (int64_t)search->project_count;
	return rc;
}

/* The message was sent or received by an agent whose mail the caller may see. */
static void put_readers(struct builder *b)
{
	int readers = value(b, mr_bind_ids(mr_team_readers(b->search->rights)));

	mr_buf_printf(b->sql,
		" AND (t.sender_id IN ids(?%d) OR EXISTS (SELECT 1 FROM message_recipients w"
		" WHERE w.message_id = t.id AND w.agent_id IN ids(?%d)))",
		readers, readers);
}

/* "(SELECT ...)": the agents of that name. */
static void put_agents(struct builder *b, const struct mr_query_filter *filter)
{
	mr_buf_printf(b->sql, "(SELECT a.id FROM agents a");
	if (filter->place)
		mr_buf_printf(b->sql, " JOIN projects p ON p.id = a.project_id AND p.slug = ?%d",
			value(b, mr_bind_text(filter->place)));
	mr_buf_printf(b->sql, " WHERE a.name_fold = ?%d)", value(b, mr_bind_text(filter->text)));
}

/* Is there a recipient for whom this column is NULL? Blind copies count only for the agent
 * itself. */
static void put_waiting(struct builder *b, const char *column)
{
	mr_buf_printf(b->sql,
		"EXISTS (SELECT 1 FROM message_recipients r WHERE r.message_id = t.id"
		" AND r.%s IS NULL",
		column);
	if (b->search->agent_id)
		mr_buf_printf(b->sql, " AND r.agent_id = ?%d)",
			value(b, mr_bind_int(b->search->agent_id)));
	else
		mr_buf_puts(b->sql, " AND r.kind <> 'bcc')");
}

static void put_thread(struct builder *b, const struct mr_query_filter *filter)
{
	int64_t id;

	/* A thread may be named after the id of its first message. */
	if (mr_str_to_int(filter->text, &id))
		mr_buf_printf(b->sql, "(t.thread_id = ?%d OR t.id = ?%d)",
			value(b, mr_bind_text(filter->text)), value(b, mr_bind_int(id)));
	else
		mr_buf_printf(b->sql, "t.thread_id = ?%d", value(b, mr_bind_text(filter->text)));
}

static void put_filter(struct builder *b, const struct mr_query_filter *filter)
{
	/* A thread is NULL of many messages, which NOT would leave unknown. */
	if (filter->negated)
		mr_buf_puts(b->sql, "coalesce(NOT ");
	switch (filter->kind) {
	case MR_TEAM_FILTER_FROM:
		mr_buf_puts(b->sql, "t.sender_id IN ");
		put_agents(b, filter);
		break;
	case MR_TEAM_FILTER_TO:
		mr_buf_puts(b->sql,
			"EXISTS (SELECT 1 FROM message_recipients r WHERE r.message_id = t.id"
			" AND r.kind <> 'bcc' AND r.agent_id IN ");
		put_agents(b, filter);
		mr_buf_putc(b->sql, ')');
		break;
	case MR_TEAM_FILTER_THREAD:
		put_thread(b, filter);
		break;
	case MR_TEAM_FILTER_IMPORTANCE:
		mr_buf_printf(b->sql, "t.importance = '%s'", filter->text);
		break;
	case MR_TEAM_FILTER_SINCE:
		mr_buf_printf(b->sql, "t.created_ts >= ?%d",
			value(b, mr_bind_int(filter->time_us)));
		break;
	case MR_TEAM_FILTER_UNTIL:
		mr_buf_printf(b->sql, "t.created_ts < ?%d", value(b, mr_bind_int(filter->time_us)));
		break;
	case MR_TEAM_FILTER_ATTACHMENT:
		mr_buf_puts(b->sql, "t.attachments <> '[]'");
		break;
	case MR_TEAM_FILTER_UNREAD:
		put_waiting(b, "read_ts");
		break;
	case MR_TEAM_FILTER_ACK:
		mr_buf_puts(b->sql, "(t.ack_required = 1 AND ");
		put_waiting(b, "ack_ts");
		mr_buf_putc(b->sql, ')');
		break;
	}
	if (filter->negated)
		mr_buf_puts(b->sql, ", TRUE)");
}

/* since: and until: must all hold, and so must negated filters; of other kinds any one is
 * enough. */
static bool is_alternative(const struct mr_query_filter *filter, int kind)
{
	return filter->kind == kind && !filter->negated && kind != MR_TEAM_FILTER_SINCE &&
		kind != MR_TEAM_FILTER_UNTIL;
}

static void put_filters(struct builder *b)
{
	const struct mr_query *query = b->query;

	for (size_t i = 0; i < query->filter_count; i++) {
		if (is_alternative(&query->filters[i], query->filters[i].kind))
			continue;
		mr_buf_puts(b->sql, " AND ");
		put_filter(b, &query->filters[i]);
	}
	for (int kind = 0; kind <= MR_TEAM_FILTER_ACK; kind++) {
		bool any = false;

		for (size_t i = 0; i < query->filter_count; i++) {
			if (!is_alternative(&query->filters[i], kind))
				continue;
			mr_buf_puts(b->sql, any ? " OR " : " AND (");
			put_filter(b, &query->filters[i]);
			any = true;
		}
		if (any)
			mr_buf_putc(b->sql, ')');
	}
}

static void put_words(struct builder *b)
{
	if (b->query->term_count == 0)
		return;
	mr_buf_puts(b->sql, " AND ");
	b->count += mr_match_like(b->cx->arena, &mr_team_search_index, b->query,
		(int)b->count + FIRST_VALUE, b->values + b->count, b->sql);
}

enum mr_code mr_team_search_where(struct mr_ctx *cx, const struct mr_team_search *search,
	const struct mr_query *query, bool alone, bool indexed, struct mr_team_where *out)
{
	struct builder b = {
		.cx = cx,
		.search = search,
		.query = query,
		.sql = &out->sql,
		.values = mr_arena_array(cx->arena, VALUES_MAX + 1, sizeof(*b.values)),
	};
	const char *readers = mr_team_readers(search->rights);

	mr_buf_init(&out->sql, WHERE_BYTES);
	if (!(alone && indexed && query->filter_count == 0) || readers)
		put_place(&b, alone);
	if (readers)
		put_readers(&b);
	put_filters(&b);
	if (!indexed)
		put_words(&b);
	out->values = b.values;
	return mr_buf_check(&out->sql, "the conditions of a search", &cx->err);
}

/* At most `limit` rows, which the statement's LIMIT sees to. */
static enum mr_code collect(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_found *out,
	size_t *out_len)
{
	size_t len = 0;
	bool row = true;
	enum mr_code rc;

	while (!(rc = mr_stmt_step(stmt, &row, &cx->err)) && row) {
		mr_stmt_into(stmt, 0, NULL, MR_INTO(&out[len].id, &out[len].score));
		len++;
	}
	if (!rc)
		*out_len = len;
	return rc;
}

enum mr_code mr_team_search_index_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, const char *match, const struct mr_team_where *where,
	struct mr_team_found *out, size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	int64_t asked = search->offset + search->limit;
	int64_t ranked = where->sql.len ? MR_TEAM_SEARCH_RANKED_ROWS : MR_TEAM_SEARCH_RANKED;
	struct mr_db_search_query query = {
		.match = match,
		/* Without conditions no row is looked at: the index alone answers. */
		.where = where->sql.len ? mr_buf_text(&where->sql) : NULL,
		.limit = search->limit,
		.offset = search->offset,
		.newest_first = search->newest_first,
		.among = asked > ranked ? asked : ranked,
	};
	enum mr_code rc = mr_db_search_prepare(db, &mr_team_search_index, &query, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind(stmt, FIRST_VALUE, where->values);
	return collect(cx, stmt, out, out_len);
}

enum mr_code mr_team_search_scan_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, int64_t floor, const struct mr_team_where *where,
	struct mr_team_found *out, size_t *out_len)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_buf_init(&sql, WHERE_BYTES + 200);
	mr_buf_printf(&sql,
		"SELECT t.id, 0.0 FROM messages t WHERE t.id >= ?1 AND %s"
		" ORDER BY t.id DESC LIMIT ?2 OFFSET ?3",
		mr_buf_text(&where->sql));
	rc = mr_buf_check(&sql, "a search", &cx->err);
	if (!rc)
		rc = mr_db_prepare(db, mr_buf_text(&sql), &stmt, &cx->err);
	if (rc)
		return rc;
	mr_stmt_bind(stmt, 1, MR_BIND(floor, search->limit, search->offset));
	mr_stmt_bind(stmt, FIRST_VALUE, where->values);
	return collect(cx, stmt, out, out_len);
}

/* The oldest of the newest MR_TEAM_SEARCH_SCANNED. */
static const char SQL_FLOOR_OF_PROJECT[] =
	"SELECT id FROM messages WHERE project_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2";
static const char SQL_FLOOR[] = "SELECT max(id) - ?1 FROM messages";

enum mr_code mr_team_search_floor_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_search *search, bool alone, int64_t *out)
{
	if (alone && search->project_count == 1)
		return mr_rows_one(cx, db, SQL_FLOOR_OF_PROJECT,
			MR_BIND(search->project_ids[0], MR_TEAM_SEARCH_SCANNED - 1), MR_INTO(out),
			NULL);
	return mr_rows_one(cx, db, SQL_FLOOR, MR_BIND(MR_TEAM_SEARCH_SCANNED - 1), MR_INTO(out),
		NULL);
}

/* The body's beginning is last: it goes elsewhere. */
enum { HIT_COLUMNS = 15 };
static const char SQL_HIT[] =
	"SELECT m.id, m.uid, m.project_id, m.sender_id, m.thread_id, m.thread_seq, m.reply_to,"
	" m.subject, m.ack_required, m.created_ts, m.verified, a.name, p.slug, s.slug,"
	" a.is_system, m.importance, substr(m.body_md, 1, ?2)"
	" FROM messages m JOIN agents a ON a.id = m.sender_id"
	" JOIN projects s ON s.id = a.project_id"
	" JOIN projects p ON p.id = m.project_id WHERE m.id = ?1";

enum mr_code mr_team_search_row_sql(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_arena *scratch, bool *found, struct mr_team_hit *out, const char **out_body)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_team_message *message = &out->message;
	enum mr_code rc = mr_db_prepare(db, SQL_HIT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind(stmt, 1, MR_BIND(id, MR_SNIPPET_BODY_BYTES));
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (rc || !*found)
		return rc;
	*message = (struct mr_team_message){ .importance = MR_TEAM_NORMAL, .attachments = "[]" };
	mr_stmt_into(stmt, 0, cx->arena,
		MR_INTO(&message->id, &message->uid, &message->project_id, &message->sender_id,
			&message->thread_id, &message->thread_seq, &message->reply_to,
			&message->subject, &message->ack_required, &message->created_ts,
			&message->verified, &out->from, &out->project_slug, &out->sender_project,
			&out->from_human));
	mr_team_importance_of(mr_stmt_peek(stmt, HIT_COLUMNS), &message->importance);
	*out_body = mr_stmt_text(stmt, HIT_COLUMNS + 1, scratch);
	out->from_human = out->from_human && mr_str_eq(out->from, MR_TEAM_OVERSEER_NAME);
	return MR_OK;
}
