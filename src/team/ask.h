/*
 * team/ask.h - the queries that operations and surfaces make to a team.
 *
 * No code above the team holds a connection: each of these borrows one, answers in cx->arena, and
 * gives it back. They fail as the functions do that they are made of, which say more: a project or
 * agent that is not there is NOT_FOUND with suggestions.
 */
#pragma once

#include "team/agent.h"
#include "team/contact.h"
#include "team/latest.h"
#include "team/product.h"
#include "team/search.h"
#include "team/thread.h"

/* ---- projects and agents ---- */

MR_CHECK enum mr_code mr_team_ask_project(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out);
/* The same with its short_name. */
MR_CHECK enum mr_code mr_team_ask_called(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out);
/* By its id, with its short_name. */
MR_CHECK enum mr_code mr_team_ask_of(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	struct mr_team_project *out);
/* All, oldest first. */
MR_CHECK enum mr_code mr_team_ask_projects(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_projects *out);
/* An agent of a project, retired or not. */
MR_CHECK enum mr_code mr_team_ask_agent(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *name, struct mr_team_project *project,
	struct mr_team_agent *out);
/* A project and its agents, most recently active first. */
MR_CHECK enum mr_code mr_team_ask_agents(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, bool active_only, struct mr_team_project *project,
	struct mr_team_agents *out);
/* How many messages each of these agents has not read, counted up to `most`: `out` has room for as
 * many. */
MR_CHECK enum mr_code mr_team_ask_unread(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_agents *agents, int64_t most, int64_t *out);

struct mr_team_member {
	struct mr_team_agent agent;
	struct mr_team_project project;
};
struct mr_team_members {
	struct mr_team_member *items;
	size_t len;
};
/* Active agents of this name in all projects. */
MR_CHECK enum mr_code mr_team_ask_named(struct mr_ctx *cx, struct mr_team *team, const char *name,
	struct mr_team_members *out);
/* Active agents of all projects by id, after this one, at most `limit`. */
MR_CHECK enum mr_code mr_team_ask_members(struct mr_ctx *cx, struct mr_team *team, int64_t after,
	int64_t limit, struct mr_team_members *out);
/* Names of active agents that begin so, in any case, of one project or of all (0); each once. */
MR_CHECK enum mr_code mr_team_ask_names(struct mr_ctx *cx, struct mr_team *team, int64_t project_id,
	const char *prefix, int64_t limit, struct mr_texts *out);

/* ---- who is who ---- */

/* The agent, and whether this token (or NULL) is its own. `*found` is false when there is no such
 * project or agent, which is no error here. */
MR_CHECK enum mr_code mr_team_ask_proof(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *name, const char *token, bool *found,
	struct mr_team_agent *agent, struct mr_team_proof *out);
/* The agent that has this token; 0: none has. */
MR_CHECK enum mr_code mr_team_ask_token(struct mr_ctx *cx, struct mr_team *team, const char *token,
	int64_t *out_id);
/* The agent of this name in the project whose key or slug is exactly this; 0: there is none. */
MR_CHECK enum mr_code mr_team_ask_claimed(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *name, int64_t *out_id);
/* Is this exactly the project's key or slug? */
bool mr_team_project_is(const struct mr_team_project *project, const char *key);

/* ---- mail, as far as the rights of who asks reach (team/rights.h) ---- */

/* One message: of a project, or of any (`project_key` NULL), as one of its agents sees it, or as
 * every agent of the project does (`viewer` NULL). */
MR_CHECK enum mr_code mr_team_ask_message(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, int64_t message_id,
	const char *viewer, struct mr_team_item *out);
/* A thread as mr_team_thread_get() gives it, and its project. */
MR_CHECK enum mr_code mr_team_ask_thread(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *thread_id,
	bool include_bodies, int64_t after, int64_t limit, struct mr_team_project *project,
	struct mr_team_items *out);
/* The same as mr_team_thread_newest() gives it. */
MR_CHECK enum mr_code mr_team_ask_thread_newest(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *thread_id,
	bool include_bodies, int64_t before, int64_t limit, struct mr_team_project *project,
	struct mr_team_items *out);
/* Threads as mr_team_thread_list() gives them. */
MR_CHECK enum mr_code mr_team_ask_threads(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, int64_t before, int64_t limit,
	struct mr_team_threads *out);
/* The newest messages of everybody in a project, or in all (`project_key` NULL); the query's
 * project does not count. */
MR_CHECK enum mr_code mr_team_ask_latest(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *agent_name,
	const struct mr_team_latest_query *query, struct mr_team_latests *out);
/* The projects that know a thread: at most two. */
MR_CHECK enum mr_code mr_team_ask_thread_projects(struct mr_ctx *cx, struct mr_team *team,
	const char *thread_id, struct mr_team_projects *out);
/* Messages of a project, or without it and an agent of all; `agent_name` (or NULL) becomes the
 * search's agent_id. The rest of `search` counts, but not its projects and rights. */
MR_CHECK enum mr_code mr_team_ask_search(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *project_key, const char *agent_name,
	const struct mr_team_search *search, struct mr_team_hits *out);
/* The contacts of an agent in both directions, and its requests. `status` NULL is any. */
MR_CHECK enum mr_code mr_team_ask_contacts(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *agent_name, const char *status,
	struct mr_team_agent *agent, struct mr_team_links *out);
/* The contacts of all agents of a project, and their requests. `status` NULL is any. */
MR_CHECK enum mr_code mr_team_ask_project_contacts(struct mr_ctx *cx, struct mr_team *team,
	const char *project_key, const char *status, struct mr_team_project *project,
	struct mr_team_links *out);

/* ---- products ---- */

MR_CHECK enum mr_code mr_team_ask_product(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_product *out);
MR_CHECK enum mr_code mr_team_ask_products(struct mr_ctx *cx, struct mr_team *team,
	struct mr_team_products *out);
/* Its newest messages, as mr_team_product_inbox() gives them. */
MR_CHECK enum mr_code mr_team_ask_product_inbox(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *key, int64_t before, int64_t limit,
	bool include_bodies, struct mr_team_items *out);
/* The ids of its projects. */
void mr_team_product_ids(struct mr_arena *arena, const struct mr_team_product *product,
	const int64_t **out, size_t *len);
/* Messages of all its projects. */
MR_CHECK enum mr_code mr_team_ask_product_search(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_rights *rights, const char *key, const struct mr_team_search *search,
	struct mr_team_hits *out);
