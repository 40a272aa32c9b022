/*
 * op/team/view.h - views of a team's data by name: an agent's mail, a thread, a project with its
 * agents. MCP's resources are these views; their query is the request.
 *
 * What an operation shows already is no view: the surfaces run that operation.
 */
#pragma once

#include "op/call.h"
#include "team/ask.h"
#include "team/topic.h"
#include "text/out.h"

#define MR_VIEW_UNSET INT64_MIN

struct mr_view {
	struct mr_call *call;
	struct mr_team *team;
	const char *name;    /* of the agent, project, thread, product, or a message's number */
	const char *project; /* its key; NULL: the only one that has an agent or thread so named */
	int64_t limit, max_chars, ttl_seconds, ttl_minutes; /* MR_VIEW_UNSET: as usual */
	const char *since_ts;                               /* or NULL */
	bool include_bodies, urgent_only;
	bool has_fence, fence; /* without has_fence, as the call says */
};

/* Emits one value. On failure the reason is in view->call->cx.err. */
typedef enum mr_code mr_view_show(const struct mr_view *view, struct mr_out *out);

/* view_mail.c: as the caller may see it (op/agent_auth.h). */
mr_view_show mr_view_message;
mr_view_show mr_view_thread;
mr_view_show mr_view_inbox;
mr_view_show mr_view_outbox;
mr_view_show mr_view_mailbox;
mr_view_show mr_view_mailbox_with_commits;
mr_view_show mr_view_urgent_unread;
mr_view_show mr_view_ack_required;
mr_view_show mr_view_acks_stale;
mr_view_show mr_view_ack_overdue;
/* view_team.c */
mr_view_show mr_view_project;
mr_view_show mr_view_agents;
mr_view_show mr_view_product;
mr_view_show mr_view_identity;
mr_view_show mr_view_locks;

/* The agent of the view's name, and its project. */
MR_CHECK enum mr_code mr_view_find_agent(const struct mr_view *view,
	struct mr_team_project *project, struct mr_team_agent *agent);
/* The project of the thread of the view's name. */
MR_CHECK enum mr_code mr_view_find_thread(const struct mr_view *view,
	struct mr_team_project *project);
/* The topic that a view of this kind depends on. Fails as the view would. */
MR_CHECK enum mr_code mr_view_topic(const struct mr_view *view, enum mr_team_topic_kind kind,
	struct mr_team_topic *out);

/* Which projects there are, and which agents after this id: for lists of views. */
MR_CHECK enum mr_code mr_view_projects(struct mr_call *call, struct mr_team *team,
	struct mr_team_projects *out);
MR_CHECK enum mr_code mr_view_members(struct mr_call *call, struct mr_team *team, int64_t after,
	int64_t limit, struct mr_team_members *out);
/* The project of this key; `*found` is false when there is none. */
MR_CHECK enum mr_code mr_view_seek_project(struct mr_call *call, struct mr_team *team,
	const char *key, bool *found, struct mr_team_project *out);
