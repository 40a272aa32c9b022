/* workspace/search_sql.h - the SQL of a search in the index. */
#pragma once

#include "base/buf.h"
#include "data/match.h"
#include "data/rows.h"

/* In the order of the search table's columns. */
enum mr_work_column {
	MR_WORK_COLUMN_SUBJECT = 1,
	MR_WORK_COLUMN_FROM,
	MR_WORK_COLUMN_TO,
	MR_WORK_COLUMN_BODY,
	MR_WORK_COLUMN_ATTACHMENT,
};

/* Kinds of filters. */
enum mr_work_search_filter {
	MR_WORK_FILTER_STATUS,
	MR_WORK_FILTER_SINCE,
	MR_WORK_FILTER_UNTIL,
	MR_WORK_FILTER_ATTACHMENT,
};

/* Rows of messages, best first, at most `limit`; `out` has room for them. Where the index answers,
 * `ranked` of those that match are ranked. */
MR_CHECK enum mr_code mr_work_search_find_sql(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_query *query, int64_t limit, int64_t ranked, int64_t *out, size_t *out_len);

struct mr_work_search_row {
	const char *message_id, *subject, *from;
	int64_t status;
	bool has_time;
	int64_t time_us;
	const char *body; /* its beginning, in `scratch` */
};
MR_CHECK enum mr_code mr_work_search_row_sql(struct mr_ctx *cx, struct mr_db *db, int64_t row,
	struct mr_arena *scratch, struct mr_work_search_row *out);
