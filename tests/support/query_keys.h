/* tests/support/query_keys.h - keys for tests of search queries: two columns, and filters of every
 * kind. */
#pragma once

#include "text/query.h"

enum { QUERY_SUBJECT = 1, QUERY_BODY };

static const char *const query_levels[] = { "low", "normal", "high", "urgent", NULL };
static const char *const query_attachments[] = { "attachment", "attachments", NULL };
static const char *const query_unread[] = { "unread", NULL };
static const char *const query_pending[] = { "pending", NULL };

static const struct mr_query_key query_keys[] = {
	{ "subject", MR_QUERY_COLUMN, QUERY_SUBJECT, NULL, NULL },
	{ "body", MR_QUERY_COLUMN, QUERY_BODY, NULL, NULL },
	{ "body_md", MR_QUERY_COLUMN, QUERY_BODY, NULL, NULL },
	{ "from", MR_QUERY_NAME, 0, NULL, NULL },
	{ "to", MR_QUERY_NAME, 1, NULL, NULL },
	{ "thread", MR_QUERY_TEXT, 2, NULL, NULL },
	{ "importance", MR_QUERY_CHOICE, 3, query_levels, "low, normal, high or urgent" },
	{ "since", MR_QUERY_SINCE, 4, NULL, NULL },
	{ "until", MR_QUERY_UNTIL, 5, NULL, NULL },
	{ "has", MR_QUERY_CHOICE, 6, query_attachments, "attachment" },
	{ "is", MR_QUERY_CHOICE, 7, query_unread, "unread" },
	{ "ack", MR_QUERY_CHOICE, 8, query_pending, "pending" },
	{ 0 },
};
