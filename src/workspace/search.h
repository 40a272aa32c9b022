/*
 * workspace/search.h - full-text search in all messages of a workspace.
 *
 * The query (text/query.h) knows the columns subject:, from:, to: (and cc), body: and attachment:
 * (names of files), and the filters status:, since:, until: and has:attachment. The index answers,
 * ranked by BM25 with the subject first, then people. To rank costs time for every message that
 * matches, so of very many the MR_WORK_SEARCH_RANKED that were taken in last are ranked. What no
 * index by words can find (words of scripts without blanks, signs, only -words) is looked for in
 * the texts, the last message that was taken in first. Only filters: what passes them, in the same
 * order.
 */
#pragma once

#include "text/snippet.h"
#include "workspace/frame.h"

enum {
	MR_WORK_SEARCH_DEFAULT = 20,
	MR_WORK_SEARCH_MAX = 1000,
	MR_WORK_SEARCH_RANKED = 500, /* at least; never less than are asked for */
};

struct mr_work_search {
	const char *query;
	int64_t limit;             /* 0: MR_WORK_SEARCH_DEFAULT */
	const char *status;        /* a name of mr_work_status_names, or NULL */
	const char *since, *until; /* as in the query, or NULL */
};

struct mr_work_hit {
	const char *message_id, *status, *from, *subject;
	const char *time;      /* received, else sent; RFC 3339, or NULL */
	const char *view_path; /* of the file that shows it, or NULL */
	struct mr_snippet snippet;
};
struct mr_work_hits {
	const char *query;
	int64_t count;
	struct mr_work_hit *items; /* best first */
	size_t len;
};

/* invalid_request for an empty query, one that cannot be understood, and values that mean
 * nothing. */
MR_CHECK enum mr_code mr_work_search(struct mr_ctx *cx, struct mr_work *work,
	const struct mr_work_search *request, struct mr_work_hits *out);
