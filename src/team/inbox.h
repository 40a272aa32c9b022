/* team/inbox.h - what an agent has received, and what it did about it. */
#pragma once

#include "team/model.h"
#include "team/store/root.h"

struct mr_team_item {
	struct mr_team_message message;
	const char *from;           /* the sender's name */
	const char *sender_project; /* its project's slug */
	bool from_human;            /* the overseer */
	bool received;              /* who asked is a recipient: the next three are its own */
	enum mr_team_recipient_kind kind;
	int64_t read_ts, ack_ts;
	bool with_bcc;               /* who asked has sent it: bcc is known */
	struct mr_texts to, cc, bcc; /* names */
	bool without_data;           /* this reader takes no attachments: metadata only (13.4) */
	/* Set by who shows it: only so much of the body was wanted, and there was more. */
	bool is_limited, truncated;
	/* See heads.h. */
	struct mr_team_message_cache *heads; /* where a form of it may be left, or NULL */
	struct mr_bytes form;                /* that was left */
};

struct mr_team_items {
	struct mr_team_item *items; /* newest first */
	size_t len;
	int64_t next; /* the cursor to go on with, or 0 */
};

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
/* What came after the message `after`, oldest first, at most `limit`: for who follows an inbox. */
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

struct mr_team_receipt {
	int64_t message_id;
	bool is_recipient;
	int64_t read_ts, ack_ts;
};
/* First times are kept. Who is no recipient changes nothing and is told so; an unknown message is
 * NOT_FOUND. Acknowledging also reads, and ends an escalation. */
MR_CHECK enum mr_code mr_team_mark_read(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, int64_t message_id,
	struct mr_team_receipt *out);
MR_CHECK enum mr_code mr_team_acknowledge(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, int64_t message_id,
	struct mr_team_receipt *out);

/*
 * One message with its body and names, as `viewer` (or NULL: anybody of the project) may see it:
 * bcc only the sender's. NOT_FOUND also when it is neither of this project (NULL: any will do) nor
 * openly addressed to one of its agents, nor the viewer's.
 */
MR_CHECK enum mr_code mr_team_message_get(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *project, int64_t message_id,
	const struct mr_team_agent *viewer, struct mr_team_item *out);
/* For archive, search and pages: rows by id; NOT_FOUND. */
MR_CHECK enum mr_code mr_team_message_row(struct mr_ctx *cx, struct mr_db *db, int64_t message_id,
	struct mr_team_message *out);
MR_CHECK enum mr_code mr_team_message_recipients(struct mr_ctx *cx, struct mr_db *db,
	int64_t message_id, struct mr_team_recipients *out);
