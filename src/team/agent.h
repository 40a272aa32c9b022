/* team/agent.h - the members of a project. */
#pragma once

#include "team/model.h"
#include "team/project.h"
#include "team/store/root.h"

struct mr_team_registration {
	const char *project_key; /* created when it does not exist */
	const char *name;        /* or NULL: a free one is generated */
	const char *program;
	const char *model;
	/* NULL: register_agent leaves these unchanged for a known agent. */
	const char *task_description;
	const char *attachments_policy; /* unknown words are auto */
	const char *contact_policy;     /* unknown words are INVALID_ARGUMENT */
	bool create;                    /* create_agent_identity: never an agent that is there */
	/* AGENT_AUTH: an agent that has no token gets one; and so does one that was retired, when
	 * an administrator asks, because its token may be lost. */
	bool with_token;
	bool renew_token;
	/* What is known of the client, or NULL. Without a name the agent that had this session, or
	 * the last one there, is taken up again (team/session.h), unless it has a token, which
	 * nobody has shown. Its place is found from the project's key. */
	const char *session_id;
	bool resume;
};

/*
 * Register: an agent of that name (in any case) is updated and reactivated, with its id and casing;
 * a new one is made under the configured enforcement (spec 4.4), and where that gives another name
 * than was asked for the result says so (name_note). INVALID_ARGUMENT, NAME_TAKEN.
 * Queues the profile for the archive.
 */
MR_CHECK enum mr_code mr_team_agent_register(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_registration *request, struct mr_team_project *out_project,
	struct mr_team_agent *out);
/* Inside a change: a new agent of exactly this name; MR_EEXISTS when it is taken. For recipients
 * that are registered on their first message, for the overseer and the escalation's holder. */
MR_CHECK enum mr_code mr_team_agent_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *row, const char *tool, struct mr_team_agent *out);

/* By name, in any case, raw or sanitised; retired ones too unless `active_only`. NOT_FOUND with
 * data.suggestions, and the text points to `mailroom team agents`, or to the agent that had asked
 * for this name and was given another. */
MR_CHECK enum mr_code mr_team_agent_find(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *project, const char *name, bool active_only,
	struct mr_team_agent *out);
MR_CHECK enum mr_code mr_team_agent_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_agent *out);
/* The names that active agents were given who had asked for this one, the newest first, at most
 * MR_TEAM_SUGGESTIONS. */
MR_CHECK enum mr_code mr_team_agent_asked(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, struct mr_texts *out);
/* Does the project have this agent? Not an error when not: `*found`. */
MR_CHECK enum mr_code mr_team_agent_seek(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, bool *found, struct mr_team_agent *out);
/* Active agents of this name in every project but one; for bare names across projects. */
MR_CHECK enum mr_code mr_team_agent_elsewhere(struct mr_ctx *cx, struct mr_db *db,
	int64_t but_project_id, const char *name, struct mr_team_agents *out);
/* Of one project, most recently active first. */
MR_CHECK enum mr_code mr_team_agent_list(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	bool active_only, struct mr_team_agents *out);

/* The agent that has this token; 0: none has. */
MR_CHECK enum mr_code mr_team_agent_of_token(struct mr_ctx *cx, struct mr_db *db, const char *token,
	int64_t *out_id);
/* Does the agent have a token, and is this the right one? `token` NULL counts as a wrong one. */
struct mr_team_proof {
	bool has_token;
	bool is_it;
};
MR_CHECK enum mr_code mr_team_agent_prove(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	const char *token, struct mr_team_proof *out);
/* Active ones of all projects, by id, after this one. */
MR_CHECK enum mr_code mr_team_agent_after(struct mr_ctx *cx, struct mr_db *db, int64_t after,
	int64_t limit, struct mr_team_agents *out);
/* The names of active ones that begin so, in any case, of one project or of all (0); each once. */
MR_CHECK enum mr_code mr_team_agent_complete(struct mr_ctx *cx, struct mr_db *db,
	int64_t project_id, const char *prefix, int64_t limit, struct mr_texts *out);

/* Project and agent of a request, the two lookups every tool begins with. A retired agent is
 * NOT_FOUND: it has to register again before it acts. Notes that the agent was active (at most once
 * in MR_TEAM_ACTIVE_S, without making the caller wait). */
MR_CHECK enum mr_code mr_team_agent_resolve(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, const char *project_key, const char *agent_name,
	struct mr_team_project *out_project, struct mr_team_agent *out);

/* Change what is not NULL. INVALID_ARGUMENT: nothing to change, too long, an unknown policy. */
struct mr_team_agent_edit {
	const char *program, *model, *task_description;
	const char *attachments_policy, *contact_policy;
};
MR_CHECK enum mr_code mr_team_agent_update(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *name, const struct mr_team_agent_edit *edit,
	const char *tool, struct mr_team_agent *out);

struct mr_team_deletion {
	int64_t agent_id;
	const char *agent_name;
	const char *project; /* human_key */
	bool purged;
	int64_t deleted_ts;
	int64_t file_reservations_released; /* by retiring */
	int64_t message_recipients_deleted, messages_deleted, file_reservations_deleted;
};
/*
 * Retire (is_active false, open leases and slots released), or with `purge` delete its rows and the
 * messages it sent. The system's own agents stay: INVALID_ARGUMENT.
 */
MR_CHECK enum mr_code mr_team_agent_delete(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *name, bool purge, struct mr_team_deletion *out);
