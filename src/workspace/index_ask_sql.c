/* workspace/index_ask_sql.c - questions to the index. */
#include "data/rows.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/index_private.h"
#include "workspace/index_search.h"

#include <stdlib.h>

static const char *const columns[] = { "subject", "sender", "people", "body", "names", NULL };
static const double weights[] = { 4.0, 3.0, 2.0, 1.0, 2.0 };

const struct mr_db_search mr_work_index_search_table = { .name = "found",
	.table = "messages",
	.id = "n",
	.columns = columns,
	.weights = weights,
	.beginnings = "2 3" };

#define BRIEF                                                                                      \
	"m.id, m.rfc822, m.status, m.time IS NOT NULL, m.time, m.subject, m.sender, m.outbound, "  \
	"m.attachments"

static const char SQL_MESSAGE[] = "SELECT " BRIEF " FROM messages m WHERE m.id = ?1";
static const char SQL_HAS[] = "SELECT 1 FROM messages WHERE id = ?1";
static const char SQL_HAS_WRITTEN[] = "SELECT 1 FROM written WHERE email = ?1 LIMIT 1";
static const char SQL_BY_RFC822[] =
	"SELECT id FROM messages WHERE rfc822 = ?1 ORDER BY id" MR_ROWS_ALL;
static const char SQL_RELATED[] =
	"SELECT o.id FROM messages m JOIN refers r ON r.rfc822 = m.rfc822 JOIN messages o ON o.n = "
	"r.n "
	"WHERE m.id = ?1 AND o.id <> m.id "
	"UNION SELECT o.id FROM messages m JOIN refers r ON r.n = m.n JOIN messages o ON "
	"o.rfc822 = r.rfc822 WHERE m.id = ?1 AND o.id <> m.id ORDER BY 1" MR_ROWS_ALL;
static const char SQL_REPLIED[] =
	"SELECT DISTINCT o.id FROM messages m JOIN refers r ON r.n = m.n JOIN messages o ON "
	"o.rfc822 = r.rfc822 WHERE m.id = ?1 AND o.id <> m.id ORDER BY o.id" MR_ROWS_ALL;
static const char SQL_MEMBERS[] =
	"SELECT kind, path, uid, added FROM members WHERE id = ?1 ORDER BY path" MR_ROWS_ALL;
static const char SQL_COUNTS[] = "SELECT status, COUNT(*) FROM messages GROUP BY status";
static const char SQL_TOTALS[] =
	"SELECT (SELECT COUNT(*) FROM messages WHERE missing > 0 AND live = 0), "
	"(SELECT COALESCE(SUM(bytes), 0) FROM messages)";

/*
 * Empty conditions are true; a page goes on after ?6 in the order of the list. Lists of one status
 * have a statement of their own: a condition that may be empty finds nothing by an index.
 */
#define WANTED                                                                                     \
	"(CAST(?2 AS TEXT) IS NULL OR m.sender "                                                   \
	"ILIKE ?2 ESCAPE '\\') AND (CAST(?3 AS TEXT) IS NULL OR m.subject ILIKE ?3 ESCAPE '\\') "  \
	"AND (CAST(?4 AS BIGINT) IS NULL OR m.time >= ?4) AND (CAST(?5 AS BIGINT) IS NULL OR "     \
	"m.time < ?5)"
#define OF_STATUS "m.status = ?1 AND "
#define OF_ALL    "CAST(?1 AS BIGINT) < 0 AND "
#define BY_ID     " AND (CAST(?6 AS TEXT) IS NULL OR m.id > ?6) ORDER BY m.id LIMIT ?7"
#define BY_TIME                                                                                    \
	" AND (CAST(?6 AS TEXT) IS NULL OR COALESCE(m.time, 0) < (SELECT COALESCE(o.time, 0) "     \
	"FROM messages o WHERE o.id = ?6) OR (COALESCE(m.time, 0) = (SELECT COALESCE(o.time, 0) "  \
	"FROM messages o WHERE o.id = ?6) AND m.id > ?6)) ORDER BY COALESCE(m.time, 0) DESC, "     \
	"m.id LIMIT ?7"
#define LIST "SELECT " BRIEF " FROM messages m WHERE "
static const char SQL_BY_ID[] = LIST OF_ALL WANTED BY_ID;
static const char SQL_BY_ID_OF[] = LIST OF_STATUS WANTED BY_ID;
static const char SQL_BY_TIME[] = LIST OF_ALL WANTED BY_TIME;
static const char SQL_BY_TIME_OF[] = LIST OF_STATUS WANTED BY_TIME;

static enum mr_code read_brief(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_brief *brief = to;
	int64_t status = 0;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&brief->message_id, &brief->rfc822, &status, &brief->has_time,
			&brief->time_us, &brief->subject, &brief->from, &brief->is_outbound,
			&brief->attachment_count));
	brief->status = (enum mr_work_status)status;
	return MR_OK;
}

static enum mr_code ready(struct mr_ctx *cx, struct mr_work *work)
{
	return mr_work_index_open(cx, work);
}

static enum mr_code told(struct mr_ctx *cx, enum mr_code rc)
{
	return rc ? mr_work_store_error(cx) : MR_OK;
}

enum mr_code mr_work_index_message(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_work_brief *out)
{
	struct mr_work_brief brief = { 0 };
	bool found = false;
	enum mr_code rc = ready(cx, work);

	if (!rc)
		rc = told(cx,
			mr_rows_first(cx, work->index, SQL_MESSAGE, MR_BIND(message_id), read_brief,
				&brief, &found));
	if (!rc && !found)
		return mr_work_refuse(cx, MR_WORK_MESSAGE_NOT_FOUND, "there is no message %s",
			message_id);
	if (!rc)
		*out = brief;
	return rc;
}

bool mr_work_index_has(struct mr_ctx *cx, struct mr_work *work, const char *message_id)
{
	bool there = false;

	return !ready(cx, work) &&
		!mr_rows_exist(cx, work->index, SQL_HAS, MR_BIND(message_id), &there) && there;
}

enum mr_code mr_work_index_has_written(struct mr_ctx *cx, struct mr_work *work, const char *email,
	bool *out)
{
	enum mr_code rc = ready(cx, work);

	*out = false;
	return rc ? rc
		  : told(cx,
			    mr_rows_exist(cx, work->index, SQL_HAS_WRITTEN,
				    MR_BIND(mr_str_lower(cx->arena, email)), out));
}

static enum mr_code ids(struct mr_ctx *cx, struct mr_work *work, const char *sql, const char *text,
	struct mr_texts *out)
{
	enum mr_code rc = ready(cx, work);

	*out = (struct mr_texts){ 0 };
	return rc ? rc
		  : told(cx,
			    mr_rows_list(cx, work->index, sql, MR_BIND(text), mr_row_text,
				    MR_LIST(out)));
}

enum mr_code mr_work_index_by_rfc822(struct mr_ctx *cx, struct mr_work *work, const char *rfc822,
	struct mr_texts *out_ids)
{
	return ids(cx, work, SQL_BY_RFC822, rfc822, out_ids);
}

enum mr_code mr_work_index_related(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_texts *out_ids)
{
	return ids(cx, work, SQL_RELATED, message_id, out_ids);
}

enum mr_code mr_work_index_replied(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_texts *out_ids)
{
	return ids(cx, work, SQL_REPLIED, message_id, out_ids);
}

static enum mr_code read_member(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_member *member = to;
	int64_t kind = 0;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&kind, &member->path, &member->uid, &member->added));
	member->kind = (enum mr_work_collection_kind)kind;
	return MR_OK;
}

enum mr_code mr_work_index_members(struct mr_ctx *cx, struct mr_work *work, const char *message_id,
	struct mr_work_members *out)
{
	enum mr_code rc = ready(cx, work);

	*out = (struct mr_work_members){ 0 };
	return rc ? rc
		  : told(cx,
			    mr_rows_list(cx, work->index, SQL_MEMBERS, MR_BIND(message_id),
				    read_member, MR_LIST(out)));
}

static int64_t status_number(const char *name)
{
	for (int64_t i = 0; name && mr_work_status_names[i]; i++)
		if (mr_str_eq(mr_work_status_names[i], name))
			return i;
	return -1;
}

/* "%part%" with what LIKE would take for a wildcard escaped. */
static const char *containing(struct mr_arena *arena, const char *part)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	if (!part)
		return NULL;
	mr_buf_init(&buf, 64 << 10);
	mr_buf_putc(&buf, '%');
	for (; *part; part++) {
		if (*part == '%' || *part == '_' || *part == '\\')
			mr_buf_putc(&buf, '\\');
		mr_buf_putc(&buf, *part);
	}
	mr_buf_putc(&buf, '%');
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

enum mr_code mr_work_index_list(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_filter *filter, struct mr_work_briefs *out)
{
	const char *from = containing(cx->arena, filter->from);
	const char *subject = containing(cx->arena, filter->subject);
	int64_t limit = filter->limit > 0 ? filter->limit : INT64_MAX;
	int64_t status = status_number(filter->status);
	const char *of_all = filter->newest_first ? SQL_BY_TIME : SQL_BY_ID;
	const char *of_one = filter->newest_first ? SQL_BY_TIME_OF : SQL_BY_ID_OF;
	enum mr_code rc = ready(cx, work);

	*out = (struct mr_work_briefs){ 0 };
	if (rc)
		return rc;
	return told(cx,
		mr_rows_list(cx, work->index, status < 0 ? of_all : of_one,
			MR_BIND(status, from, subject, mr_bind_or_null(filter->since_us),
				mr_bind_or_null(filter->until_us), filter->after_id, limit),
			read_brief, MR_LIST(out)));
}

static enum mr_code add_count(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_counts *counts = to;
	int64_t status = 0, count = 0;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&status, &count));
	if (status >= 0 && status < MR_WORK_STATUS_COUNT)
		counts->by_status[status] = count;
	counts->messages += count;
	return MR_OK;
}

/* Counting looks at every message, so what was counted is kept until something changes. */
struct counting {
	const char *what;
	enum mr_code (*count)(struct mr_ctx *cx, struct mr_work *work, const struct counting *c,
		int64_t *numbers);
	size_t len;
	const char *mailbox_name; /* of places */
	int64_t uid_validity;
};

static bool read_numbers(const char *text, int64_t *numbers, size_t len)
{
	char *end = NULL;

	for (size_t i = 0; text && i < len; i++) {
		numbers[i] = strtoll(text, &end, 10);
		if (end == text)
			return false;
		text = end;
	}
	return text;
}

static enum mr_code count_and_keep(struct mr_ctx *cx, struct mr_work *work,
	const struct counting *c, int64_t *numbers)
{
	const char *text = "";
	enum mr_code rc = c->count(cx, work, c, numbers);

	for (size_t i = 0; i < c->len; i++)
		text = mr_arena_printf(cx->arena, "%s%lld ", text, (long long)numbers[i]);
	return rc ? rc : mr_work_index_keep_fact(cx, work->index, c->what, text);
}

static enum mr_code find_numbers(struct mr_ctx *cx, struct mr_work *work, const struct counting *c,
	int64_t *numbers)
{
	struct mr_err kept = cx->err;
	const char *text = NULL;
	enum mr_code rc = ready(cx, work);

	if (!rc && !mr_work_index_fact(cx, work->index, c->what, &text) &&
		read_numbers(text, numbers, c->len))
		return MR_OK;
	if (rc || mr_db_in_transaction(work->index) ||
		mr_db_begin(work->index, MR_DB_IMMEDIATE, &cx->err)) {
		cx->err = rc ? cx->err : kept;
		return rc ? rc : told(cx, c->count(cx, work, c, numbers));
	}
	rc = count_and_keep(cx, work, c, numbers);
	if (!rc && !mr_db_commit(work->index, &cx->err))
		return MR_OK;
	mr_db_rollback(work->index); /* who cannot write can count */
	cx->err = kept;
	return told(cx, c->count(cx, work, c, numbers));
}

static enum mr_code count_statuses(struct mr_ctx *cx, struct mr_work *work,
	const struct counting *c, int64_t *numbers)
{
	struct mr_work_counts counts = { 0 };
	enum mr_code rc = mr_rows_each(cx, work->index, SQL_COUNTS, NULL, add_count, &counts);
	(void)c;

	for (int i = 0; i < MR_WORK_STATUS_COUNT; i++)
		numbers[i] = counts.by_status[i];
	numbers[MR_WORK_STATUS_COUNT] = counts.messages;
	return rc;
}

enum mr_code mr_work_index_statuses(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_counts *out)
{
	int64_t numbers[MR_WORK_STATUS_COUNT + 1] = { 0 };
	const struct counting counting = { .what = "statuses",
		.count = count_statuses,
		.len = MR_LEN(numbers) };
	enum mr_code rc = find_numbers(cx, work, &counting, numbers);

	*out = (struct mr_work_counts){ 0 };
	if (rc)
		return rc;
	for (int i = 0; i < MR_WORK_STATUS_COUNT; i++)
		out->by_status[i] = numbers[i];
	out->messages = numbers[MR_WORK_STATUS_COUNT];
	return MR_OK;
}

enum mr_code mr_work_index_counts(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_counts *out)
{
	struct mr_work_counts counts = { 0 };
	enum mr_code rc = mr_work_index_statuses(cx, work, &counts);

	if (!rc)
		rc = told(cx,
			mr_rows_one(cx, work->index, SQL_TOTALS, NULL,
				MR_INTO(&counts.remote_missing, &counts.bytes), NULL));
	if (!rc)
		*out = counts;
	return rc;
}

/* --- places on the server --- */

/* Both values of `missing` are named, so that the index of the table serves the question. */
static const char SQL_PLACES[] =
	"SELECT m.id, p.validity, p.uid, p.flags, p.missing FROM places p JOIN messages m ON "
	"m.n = p.n WHERE p.mailbox = ?1 AND p.missing IN (0, 1) ORDER BY p.validity, p.uid, "
	"m.id" MR_ROWS_ALL;
static const char SQL_PLACES_OF_UID[] =
	"SELECT m.id, p.validity, p.uid, p.flags, p.missing FROM places p JOIN messages m ON "
	"m.n = p.n WHERE p.mailbox = ?1 AND p.missing IN (0, 1) AND p.validity = ?2 AND p.uid = ?3 "
	"ORDER BY m.id" MR_ROWS_ALL;
static const char SQL_PLACE_COUNTS[] =
	"SELECT (SELECT COUNT(*) FROM places WHERE mailbox = ?1 AND missing = 0 AND validity = "
	"?2), (SELECT COUNT(*) FROM places WHERE mailbox = ?1 AND missing = 0)";

static enum mr_code read_place(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_place_row *place = to;

	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&place->message_id, &place->uid_validity, &place->uid, &place->flags,
			&place->is_missing));
	return MR_OK;
}

enum mr_code mr_work_index_places(struct mr_ctx *cx, struct mr_work *work, const char *mailbox_name,
	struct mr_work_place_rows *out)
{
	enum mr_code rc = ready(cx, work);

	*out = (struct mr_work_place_rows){ 0 };
	return rc ? rc
		  : told(cx,
			    mr_rows_list(cx, work->index, SQL_PLACES, MR_BIND(mailbox_name),
				    read_place, MR_LIST(out)));
}

enum mr_code mr_work_index_places_at(struct mr_ctx *cx, struct mr_work *work,
	const char *mailbox_name, int64_t uid_validity, int64_t uid, struct mr_work_place_rows *out)
{
	enum mr_code rc = ready(cx, work);

	*out = (struct mr_work_place_rows){ 0 };
	return rc ? rc
		  : told(cx,
			    mr_rows_list(cx, work->index, SQL_PLACES_OF_UID,
				    MR_BIND(mailbox_name, uid_validity, uid), read_place,
				    MR_LIST(out)));
}

static enum mr_code count_places(struct mr_ctx *cx, struct mr_work *work, const struct counting *c,
	int64_t *numbers)
{
	return mr_rows_one(cx, work->index, SQL_PLACE_COUNTS,
		MR_BIND(c->mailbox_name, c->uid_validity), MR_INTO(&numbers[0], &numbers[1]), NULL);
}

enum mr_code mr_work_index_place_counts(struct mr_ctx *cx, struct mr_work *work,
	const char *mailbox_name, int64_t uid_validity, int64_t *out_here, int64_t *out_other)
{
	int64_t numbers[2] = { 0 };
	const struct counting counting = { .what = mr_arena_printf(cx->arena, "places %lld %s",
						   (long long)uid_validity, mailbox_name),
		.count = count_places,
		.len = MR_LEN(numbers),
		.mailbox_name = mailbox_name,
		.uid_validity = uid_validity };
	enum mr_code rc = find_numbers(cx, work, &counting, numbers);

	*out_here = numbers[0];
	*out_other = numbers[1] - numbers[0];
	return rc;
}
