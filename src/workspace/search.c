/* workspace/search.c - Searches the messages of a workspace by a query that a person typed. */
#include "workspace/search.h"

#include "text/time.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/message.h"
#include "workspace/search_sql.h"

static const char *const attachment_words[] = { "attachment", "attachments", NULL };
static const char STATUSES[] = "triage, case, archived, spam, trashed or deleted_remote";

static const struct mr_query_key keys[] = {
	{ "subject", MR_QUERY_COLUMN, MR_WORK_COLUMN_SUBJECT, NULL, NULL },
	{ "from", MR_QUERY_COLUMN, MR_WORK_COLUMN_FROM, NULL, NULL },
	{ "to", MR_QUERY_COLUMN, MR_WORK_COLUMN_TO, NULL, NULL },
	{ "body", MR_QUERY_COLUMN, MR_WORK_COLUMN_BODY, NULL, NULL },
	{ "attachment", MR_QUERY_COLUMN, MR_WORK_COLUMN_ATTACHMENT, NULL, NULL },
	{ "status", MR_QUERY_CHOICE, MR_WORK_FILTER_STATUS, mr_work_status_names, STATUSES },
	{ "since", MR_QUERY_SINCE, MR_WORK_FILTER_SINCE, NULL, NULL },
	{ "until", MR_QUERY_UNTIL, MR_WORK_FILTER_UNTIL, NULL, NULL },
	{ "has", MR_QUERY_CHOICE, MR_WORK_FILTER_ATTACHMENT, attachment_words, "attachment" },
	{ 0 },
};

static enum mr_code parse(struct mr_ctx *cx, struct mr_work *work, const char *text,
	struct mr_query *out)
{
	mr_query_parse(cx->arena, keys, work->now_us, text, out);
	if (out->bad_key)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the filter %s:%.64s makes no sense: expected %s; to look for these words, "
			"put them in quotation marks",
			out->bad_key, out->bad_value, out->bad_expected);
	if (out->term_count + out->filter_count == 0)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"there is nothing to look for: the query is empty");
	if (out->problem)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the query cannot be understood: %s; put words in quotation marks to look "
			"for them as they are",
			out->problem);
	return MR_OK;
}

static enum mr_code add_filter(struct mr_ctx *cx, struct mr_query *query,
	const struct mr_query_filter *filter)
{
	if (query->filter_count == MR_QUERY_FILTERS)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"the query has more than %d filters", MR_QUERY_FILTERS - 1);
	query->filters[query->filter_count++] = *filter;
	return MR_OK;
}

static enum mr_code add_time(struct mr_ctx *cx, struct mr_work *work, struct mr_query *query,
	enum mr_work_search_filter kind, const char *text)
{
	bool is_until = kind == MR_WORK_FILTER_UNTIL;
	struct mr_query_filter filter = { .kind = kind };

	if (!text)
		return MR_OK;
	if (!mr_query_time(text, is_until, work->now_us, &filter.time_us))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--%s %.64s makes no sense: expected a date, a time or a duration "
			"(2026-03-11, 7d)",
			is_until ? "until" : "since", text);
	return add_filter(cx, query, &filter);
}

/* Options narrow what the query finds, whatever statuses it names itself. */
static enum mr_code add_options(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_search *request, struct mr_query *query)
{
	enum mr_code rc = add_time(cx, work, query, MR_WORK_FILTER_SINCE, request->since);

	if (!rc)
		rc = add_time(cx, work, query, MR_WORK_FILTER_UNTIL, request->until);
	for (size_t i = 0; !rc && request->status && mr_work_status_names[i]; i++) {
		struct mr_query_filter other = { .kind = MR_WORK_FILTER_STATUS,
			.negated = true,
			.text = mr_work_status_names[i] };

		if (!mr_str_eq(request->status, mr_work_status_names[i]))
			rc = add_filter(cx, query, &other);
	}
	return rc;
}

static bool is_status(const char *name)
{
	for (size_t i = 0; mr_work_status_names[i]; i++)
		if (mr_str_eq(mr_work_status_names[i], name))
			return true;
	return false;
}

static enum mr_code check(struct mr_ctx *cx, const struct mr_work_search *request)
{
	if (request->limit < 0 || request->limit > MR_WORK_SEARCH_MAX)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"--limit must be between 1 and %d", MR_WORK_SEARCH_MAX);
	if (request->status && !is_status(request->status))
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST,
			"there is no status %.64s: expected %s", request->status, STATUSES);
	return MR_OK;
}

static enum mr_code read_hit(struct mr_ctx *cx, struct mr_work *work, const struct mr_query *query,
	int64_t number, struct mr_work_hit *out)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	bool inside = mr_match_mode(query) == MR_MATCH_LIKE;
	struct mr_work_search_row row = { 0 };
	enum mr_code rc = mr_work_search_row_sql(cx, work->index, number, scratch, &row);

	if (rc)
		return mr_work_store_error(cx);
	*out = (struct mr_work_hit){
		.message_id = row.message_id,
		.status = mr_work_status_names[row.status],
		.from = row.from,
		.subject = row.subject,
		.time = row.has_time ? mr_time_format(cx->arena, row.time_us, MR_TIME_SECONDS)
				     : NULL,
	};
	mr_snippet(cx->arena, row.body, query, MR_WORK_COLUMN_BODY, inside, &out->snippet);
	return mr_work_message_view(cx, work, out->message_id, &out->view_path);
}

enum mr_code mr_work_search(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_search *request, struct mr_work_hits *out)
{
	int64_t limit = request->limit ? request->limit : MR_WORK_SEARCH_DEFAULT;
	struct mr_work_hits hits = { .query = request->query };
	struct mr_query query;
	int64_t *rows;
	size_t len = 0;
	enum mr_code rc = check(cx, request);

	if (!rc)
		rc = parse(cx, work, request->query, &query);
	if (!rc)
		rc = add_options(cx, work, request, &query);
	if (!rc)
		rc = mr_work_index_open(cx, work);
	if (rc)
		return rc;
	rows = mr_arena_array(cx->arena, (size_t)limit, sizeof(*rows));
	if (mr_work_search_find_sql(cx, work->index, &query, limit,
		    limit > MR_WORK_SEARCH_RANKED ? limit : MR_WORK_SEARCH_RANKED, rows, &len))
		return mr_work_store_error(cx);
	hits.items = mr_arena_array(cx->arena, len + 1, sizeof(*hits.items));
	for (; !rc && hits.len < len; hits.len++)
		rc = read_hit(cx, work, &query, rows[hits.len], &hits.items[hits.len]);
	hits.count = (int64_t)hits.len;
	if (!rc)
		*out = hits;
	return rc;
}
