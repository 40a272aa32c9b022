/* team/inbox.h - lists of messages an agent received or sent, and its read and acknowledge
 * marks. */
#pragma once

#include "team/model.h"
#include "team/rights.h"
#include "team/store/root.h"

struct mr_team_inbox_query {
	const char *project_key, *agent_name;
	int64_t limit;    /* clamped to 1 .. MR_TEAM_LIST_MAX; 0 is the default */
	bool urgent_only; /* high and urgent */
	bool unread_only;
	bool unacked_only; /* of those that ask for an acknowledgement */
	bool include_bodies;
	const char *since_ts;  /* strictly later; or NULL */
	const char *thread_id; /* or NULL */
	int64_t cursor;        /* from an earlier answer, or 0 */
};
/* Inboxes are the agent's, whatever project a message was sent in. Changes nothing. */
MR_CHECK enum mr_code mr_team_inbox_fetch(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, struct mr_team_items *out);
/* Messages after `after`, oldest first, at most `limit`: for clients that follow an inbox. */
MR_CHECK enum mr_code mr_team_inbox_after(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, int64_t after, bool include_bodies, int64_t limit,
	struct mr_team_items *out);
/* What the agent sent, with bcc. */
MR_CHECK enum mr_code mr_team_outbox_fetch(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, struct mr_team_items *out);
/* Acknowledgements that are due from this agent and older than `min_age_s`, oldest first. */
MR_CHECK enum mr_code mr_team_inbox_overdue(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_inbox_query *query, int64_t min_age_s, struct mr_team_items *out);
struct mr_team_counts {
	int64_t total, unread, urgent, ack_due;
};
MR_CHECK enum mr_code mr_team_inbox_counts(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	struct mr_team_counts *out);

/* How many it has not read, counted up to `most`. */
MR_CHECK enum mr_code mr_team_inbox_unread(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	int64_t most, int64_t *out);

struct mr_team_receipt {
	int64_t message_id;
	bool is_recipient;
	int64_t read_ts, ack_ts;
};
/* The first time is kept. An agent that is no recipient changes nothing, and the result says so;
 * an unknown message is NOT_FOUND. Acknowledging also marks as read, and ends an escalation. */
MR_CHECK enum mr_code mr_team_mark_read(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, int64_t message_id,
	struct mr_team_receipt *out);
MR_CHECK enum mr_code mr_team_acknowledge(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, int64_t message_id,
	struct mr_team_receipt *out);

/*
 * One message with its body and names, as `viewer` (or NULL: anybody of the project) may see it:
 * bcc only the sender's. NOT_FOUND also when it is neither of this project (NULL: any will do) nor
 * openly addressed to one of its agents, nor the viewer's, and when `rights` do not reach it.
 */
MR_CHECK enum mr_code mr_team_message_get(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_rights *rights, const struct mr_team_project *project,
	int64_t message_id, const struct mr_team_agent *viewer, struct mr_team_item *out);
/* Fill in the names of its recipients: to, cc and, for its sender, bcc. */
MR_CHECK enum mr_code mr_team_item_names(struct mr_ctx *cx, struct mr_db *db, bool with_bcc,
	struct mr_team_item *item);
