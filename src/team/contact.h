/* team/contact.h - contacts: which agents may write to each other. */
#pragma once

#include "team/agent.h"
#include "team/model.h"

enum mr_team_verdict { MR_TEAM_ALLOWED, MR_TEAM_NEEDS_CONTACT, MR_TEAM_REFUSED };

struct mr_team_decision {
	enum mr_team_verdict verdict;
	const char *rule; /* which of spec 11.3 decided: not_enforced, self, system, blocked_link,
			     same_project, open, approved, solicited, block_all, contacts_only,
			     auto_program, auto_thread, auto_product, auto_reservations, auto,
			     pending */
};

struct mr_team_contact_case {
	const struct mr_team_agent *sender;
	const struct mr_team_agent *recipient;
	const char *thread_id; /* or NULL */
	int64_t reply_to;      /* or 0 */
};

/* The decision list of spec 11.3, first match wins. Inside the change that stores the message. */
MR_CHECK enum mr_code mr_team_contact_decide(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, const struct mr_team_contact_case *the_case,
	struct mr_team_decision *out);

struct mr_team_contact_request {
	const char *project_key, *from_agent;
	const char *to_project; /* or NULL: as bare names are resolved */
	const char *to_agent;
	const char *reason;
	int64_t ttl_s; /* 0: as configured */
};
/*
 * Request contact (11.5): creates or refreshes the link, and notifies the target, at most once an
 * hour. `*notified`: whether a message went out. INVALID_ARGUMENT for oneself; CONTACT_BLOCKED.
 */
MR_CHECK enum mr_code mr_team_contact_ask(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_contact_request *request, struct mr_team_link *out, bool *notified);
/*
 * The same inside a change, between two agents: what auto_contact_if_blocked does. `*notice_id` is
 * the message that went out, for mr_team_notice_index() in the change's `after`; 0 when none did.
 */
MR_CHECK enum mr_code mr_team_contact_ask_in(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, const struct mr_team_agent *from, const struct mr_team_agent *to,
	const char *reason, int64_t ttl_s, struct mr_team_link *out, int64_t *notice_id);

struct mr_team_contact_answer {
	const char *project_key, *to_agent;    /* the agent that answers */
	const char *from_project, *from_agent; /* the agent that asked; from_project may be NULL */
	int64_t link_id;                       /* in their place, or 0 */
	bool approve;
	int64_t ttl_s; /* 0: as configured */
};
/* Approve or block; an approval without a request creates the link. The agent that asked gets a
 * message. */
MR_CHECK enum mr_code mr_team_contact_respond(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_contact_answer *answer, struct mr_team_link *out, int64_t *updated);
/* Links of an agent in both directions, newest first; `status` NULL is any. */
MR_CHECK enum mr_code mr_team_contact_list(struct mr_ctx *cx, struct mr_db *db, int64_t agent_id,
	const char *status, struct mr_team_links *out);
/* Links of all agents of a project, in the same way. */
MR_CHECK enum mr_code mr_team_contact_list_project(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *status, struct mr_team_links *out);
