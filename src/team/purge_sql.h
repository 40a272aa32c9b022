/* team/purge_sql.h - finds all rows that mention an agent to be purged. All inside a change. */
#pragma once

#include "base/ctx.h"
#include "data/db.h"

enum mr_team_trace_kind {
	MR_TEAM_TRACE_SENT,     /* its messages: ref, text: subject, number: created_ts */
	MR_TEAM_TRACE_COPIES,   /* of those, and of what it got; name: whose inbox; else the same */
	MR_TEAM_TRACE_GOT,      /* ref: a message that somebody else sent it */
	MR_TEAM_TRACE_ABROAD,   /* the same, for each other project that has a copy of it */
	MR_TEAM_TRACE_THREADS,  /* whose digest loses messages; text: thread_id, ref: the place of
				   the first of them in it, number: the last of all */
	MR_TEAM_TRACE_CONTACTS, /* ref, name: who is linked with it */
	MR_TEAM_TRACE_SLOTS,    /* text: a build slot it has or had */
	MR_TEAM_TRACE_LEASES,   /* text: a pattern it has or had */
};

struct mr_team_trace {
	int64_t project_id; /* whose archive shows it */
	int64_t ref;
	const char *name; /* or NULL */
	const char *text; /* or NULL */
	int64_t number;
};
struct mr_team_traces {
	struct mr_team_trace *items;
	size_t len;
};

MR_CHECK enum mr_code mr_team_purge_traces(struct mr_ctx *cx, struct mr_db *db,
	enum mr_team_trace_kind kind, int64_t agent_id, struct mr_team_traces *out);

/* After messages of a thread are gone: the others are counted from 1 again, in their order. */
MR_CHECK enum mr_code mr_team_purge_renumber(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *thread_id);
/* The message at that place of a thread as the project sees it, and the project it was sent in; 0:
 * there is none. */
MR_CHECK enum mr_code mr_team_purge_message_at(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *thread_id, int64_t place, int64_t *out, int64_t *out_home);
