/* team/search_query.c - The keys of a message search, and what is refused about a query. */
#include "team/search_query.h"

#include "team/error.h"

static const char *const importances[] = { "low", "normal", "high", "urgent", NULL };
static const char *const attachments[] = { "attachment", "attachments", NULL };
static const char *const unread[] = { "unread", NULL };
static const char *const pending[] = { "pending", NULL };

static const struct mr_query_key keys[] = {
	{ "subject", MR_QUERY_COLUMN, MR_TEAM_SUBJECT, NULL, NULL },
	{ "body", MR_QUERY_COLUMN, MR_TEAM_BODY, NULL, NULL },
	{ "body_md", MR_QUERY_COLUMN, MR_TEAM_BODY, NULL, NULL },
	{ "from", MR_QUERY_NAME, MR_TEAM_FILTER_FROM, NULL, NULL },
	{ "to", MR_QUERY_NAME, MR_TEAM_FILTER_TO, NULL, NULL },
	{ "thread", MR_QUERY_TEXT, MR_TEAM_FILTER_THREAD, NULL, NULL },
	{ "importance", MR_QUERY_CHOICE, MR_TEAM_FILTER_IMPORTANCE, importances,
		"low, normal, high or urgent" },
	{ "since", MR_QUERY_SINCE, MR_TEAM_FILTER_SINCE, NULL, NULL },
	{ "until", MR_QUERY_UNTIL, MR_TEAM_FILTER_UNTIL, NULL, NULL },
	{ "has", MR_QUERY_CHOICE, MR_TEAM_FILTER_ATTACHMENT, attachments, "attachment" },
	{ "is", MR_QUERY_CHOICE, MR_TEAM_FILTER_UNREAD, unread, "unread" },
	{ "ack", MR_QUERY_CHOICE, MR_TEAM_FILTER_ACK, pending, "pending" },
	{ 0 },
};

enum mr_code mr_team_query_parse(struct mr_ctx *cx, const char *text, struct mr_query *out)
{
	struct mr_query query;

	mr_query_parse(cx->arena, keys, mr_clock_wall_us(cx->clock), text, &query);
	if (query.bad_key) {
		mr_team_fail(cx, MR_TEAM_SEARCH_SYNTAX,
			"the filter %s:%.64s makes no sense: expected %s; to look for these words, "
			"put them in quotes",
			query.bad_key, query.bad_value, query.bad_expected);
		mr_team_fail_text(cx, "filter", query.bad_key);
		return mr_team_fail_text(cx, "value", query.bad_value);
	}
	if (query.term_count + query.filter_count == 0)
		return mr_team_refuse(cx, "query", "there is nothing to look for: query is empty");
	*out = query;
	return MR_OK;
}
