/* team/latest.h - the newest messages of everybody: of one project, or of all. */
#pragma once

#include "team/model.h"
#include "team/rights.h"
#include "team/store/root.h"

/* Which of them. */
enum mr_team_latest_kind {
	MR_TEAM_LATEST_ALL,
	MR_TEAM_LATEST_OVERSEER, /* what came to the overseer, the person who watches */
	MR_TEAM_LATEST_UNREAD,   /* of these what the overseer has not read */
	MR_TEAM_LATEST_URGENT,   /* importance high or urgent */
	MR_TEAM_LATEST_WAITING,  /* somebody owes an acknowledgement */
	MR_TEAM_LATEST_ATTACHED, /* with files that are stored */
	MR_TEAM_LATEST_SENT,     /* of an agent: what it sent */
	MR_TEAM_LATEST_KINDS,
};

struct mr_team_latest_query {
	enum mr_team_latest_kind kind;
	int64_t agent_id;   /* what this agent received; 0: everybody */
	int64_t project_id; /* stored there, or openly sent to one of its agents; 0: any */
	int64_t before;     /* ids below this; 0: any */
	int64_t limit;      /* clamped to 1 .. MR_TEAM_LIST_MAX */
	struct mr_team_message_cache
		*heads; /* what messages said that were listed lately; or NULL */
};

struct mr_team_latest {
	struct mr_team_item item;       /* with to, cc and excerpt, without its body */
	struct mr_team_project project; /* where it is stored, with its short_name */
	struct mr_texts waiting_for;    /* who owes an acknowledgement: Name, or Name@slug */
	bool is_for_overseer;
	bool is_unread; /* by the overseer, or by the agent whose list it is */
};
struct mr_team_latests {
	struct mr_team_latest *items; /* newest first */
	size_t len;
	int64_t next; /* `before` of those that follow; 0: there are none */
};

/* As far as the caller's rights reach. Of an agent there are all, unread, urgent, waiting and sent:
 * others are INVALID_ARGUMENT. */
MR_CHECK enum mr_code mr_team_latest_list(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_latest_query *query,
	struct mr_team_latests *out);
/* For tests of the query plans: the statement that answers, NULL when there is none. */
const char *mr_team_latest_sql(const struct mr_team_latest_query *query, const char *readers);
/* How many messages the overseers have not read, counted up to `most`. */
MR_CHECK enum mr_code mr_team_latest_unread(struct mr_ctx *cx, struct mr_db *db, int64_t most,
	int64_t *out);
