/*
 * team/model.h - the rows of a team's database as C structs.
 *
 * Times are microseconds since 1970; 0 where a time may be absent. Texts live in the request's
 * arena.
 */
#pragma once

#include "base/str.h"
#include "text/value.h"

#include <stdbool.h>
#include <stdint.h>

struct mr_team_project {
	int64_t id;
	const char *slug;
	const char *human_key;
	const char *identity_mode; /* dir, git-remote, git-toplevel, git-common-dir */
	int64_t created_at;
	/* Of a project that was asked for by a key, else NULL: how it was chosen, a clause for
	 * people, and the path that was given where that is not its own. */
	const char *why, *given;
	const char *short_name; /* in a list of all: the last part of its key where no other project
				   has that, else its slug; or NULL */
};

struct mr_team_projects {
	struct mr_team_project *items;
	size_t len;
};

enum mr_team_contact_policy {
	MR_TEAM_OPEN,
	MR_TEAM_AUTO,
	MR_TEAM_CONTACTS_ONLY,
	MR_TEAM_BLOCK_ALL
};
enum mr_team_attachments_policy {
	MR_TEAM_ATTACH_AUTO,
	MR_TEAM_ATTACH_INLINE,
	MR_TEAM_ATTACH_FILE, /* the contract's word is "attach" */
	MR_TEAM_ATTACH_DENY,
};

struct mr_team_agent {
	int64_t id;
	int64_t project_id;
	const char *name; /* as it was first registered */
	const char *program;
	const char *model;
	const char *task_description;
	int64_t inception_ts;
	int64_t last_active_ts;
	enum mr_team_attachments_policy attachments_policy;
	enum mr_team_contact_policy contact_policy;
	bool is_active;
	int64_t deleted_ts;
	bool is_system;    /* the overseer and the escalation's holder: not bound by policies */
	const char *token; /* only from the registration that made it: shown once; or NULL */
	/* From a registration that gave another name than the one asked for, else NULL: that name,
	 * and a sentence for whoever asked. */
	const char *asked_name, *name_note;
	const char *resumed; /* from a registration that took up an agent it knew by its session: a
				clause for people; or NULL */
};

struct mr_team_agents {
	struct mr_team_agent *items;
	size_t len;
};

enum mr_team_importance { MR_TEAM_LOW, MR_TEAM_NORMAL, MR_TEAM_HIGH, MR_TEAM_URGENT };
/* In descending order of strength. */
enum mr_team_recipient_kind { MR_TEAM_TO, MR_TEAM_CC, MR_TEAM_BCC };

struct mr_team_message {
	int64_t id;
	const char *uid; /* msg_20250101_abc123 */
	int64_t project_id;
	int64_t sender_id;
	const char *thread_id; /* or NULL */
	int64_t thread_seq;    /* its place in the thread, from 1; 0 without a thread */
	int64_t reply_to;      /* a message's id, or 0 */
	const char *subject;
	const char *body_md; /* NULL where bodies were not asked for */
	enum mr_team_importance importance;
	bool ack_required;
	bool verified; /* the sender had proved its identity */
	int64_t created_ts;
	const char *attachments; /* a JSON list */
	const char *addressed; /* the groups its to and cc were written to, a line each; or NULL */
};

struct mr_team_recipient {
	int64_t message_id;
	int64_t agent_id;
	int64_t project_id;
	const char *name;
	const char *project_slug;
	enum mr_team_recipient_kind kind;
	int64_t read_ts;
	int64_t ack_ts;
};

struct mr_team_recipients {
	struct mr_team_recipient *items;
	size_t len;
};

struct mr_team_reservation {
	int64_t id;
	int64_t project_id;
	int64_t agent_id;
	const char *agent; /* its name */
	const char *path_pattern;
	bool exclusive;
	const char *reason;
	const char *origin; /* agent, admin, escalation: only the last two stop mail (9.6) */
	int64_t created_ts;
	int64_t expires_ts;
	int64_t released_ts;
};

struct mr_team_reservations {
	struct mr_team_reservation *items;
	size_t len;
};

enum mr_team_link_status { MR_TEAM_PENDING, MR_TEAM_APPROVED, MR_TEAM_BLOCKED };

struct mr_team_link {
	int64_t id;
	int64_t a_project_id, a_agent_id; /* who asked */
	int64_t b_project_id, b_agent_id; /* who was asked */
	const char *a_project, *a_agent;  /* slug and name */
	const char *b_project, *b_agent;
	enum mr_team_link_status status;
	const char *reason;
	int64_t created_ts, updated_ts, expires_ts;
};

struct mr_team_links {
	struct mr_team_link *items;
	size_t len;
};

/* The contract's words. */
const char *mr_team_importance_name(enum mr_team_importance importance);
const char *mr_team_kind_name(enum mr_team_recipient_kind kind);
const char *mr_team_contact_policy_name(enum mr_team_contact_policy policy);
const char *mr_team_attachments_policy_name(enum mr_team_attachments_policy policy);
const char *mr_team_link_status_name(enum mr_team_link_status status);

/* And back, in any case; false for other words, and then `*out` is as it was. Aliases of the peers
 * are known: file, accept, reject, ask; accepted, rejected; manual, deny. */
bool mr_team_importance_of(const char *word, enum mr_team_importance *out);
bool mr_team_kind_of(const char *word, enum mr_team_recipient_kind *out);
bool mr_team_contact_policy_of(const char *word, enum mr_team_contact_policy *out);
bool mr_team_attachments_policy_of(const char *word, enum mr_team_attachments_policy *out);
bool mr_team_link_status_of(const char *word, enum mr_team_link_status *out);

/* A message in a list, as one agent sees it. */
struct mr_team_item {
	struct mr_team_message message;
	const char *from;           /* the sender's name */
	const char *sender_project; /* its project's slug */
	bool from_human;            /* the overseer */
	bool is_near;               /* the message is of the reader's own project */
	bool received;              /* the viewer is a recipient: the next three are its own */
	enum mr_team_recipient_kind kind;
	int64_t read_ts, ack_ts;
	bool with_names;             /* to and cc are known */
	bool with_bcc;               /* the viewer is the sender: bcc is known */
	struct mr_texts to, cc, bcc; /* names */
	/* With names: those, and what they have done; blind copies only for the sender. */
	struct mr_team_recipients recipients;
	bool with_receipts; /* set when it is displayed: they are wanted */
	bool without_data;  /* this reader takes no attachments: metadata only (13.4) */
	/* Set when it is displayed: the body was limited, and was longer than that. */
	bool is_limited, truncated;
	const char *excerpt; /* how its text begins, on one line, in lists that show it; or NULL */
	/* See message_cache.h. */
	struct mr_team_message_cache *heads; /* cache to store its JSON in, or NULL */
	struct mr_bytes form;                /* its JSON from the cache */
};

struct mr_team_items {
	struct mr_team_item *items; /* newest first */
	size_t len;
	int64_t next; /* the cursor to go on with, or 0 */
};
