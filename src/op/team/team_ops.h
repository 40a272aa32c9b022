/* op/team/team_ops.h - what the team's operations share: parameters that many have, and their
 * traits. */
#pragma once

#include "op/call.h"
#include "op/dispatch.h"
#include "op/nouns.h"
#include "op/team/contract_team.h"
#include "op/team/shape_team.h"
#include "op/team/team_home.h"
#include "team/error.h"
#include "team/inbox.h"
#include "team/limits.h"
#include "text/out.h"

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

/* Aliases that clients of the peers send (spec 6.1); NULL-terminated. */
extern const char *const mr_team_alias_project[];
extern const char *const mr_team_alias_agent[];

/* Bound to the members of these names of a request, or of a struct in it. */
#define MR_TEAM_PROJECT_MEMBER(request_type, member)                                               \
	MR_PARAM(request_type, member, "project_key",                                              \
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_HERE | MR_KNOWN,                         \
		.summary = "its path, its slug, or the last part of its path",                     \
		.aliases = mr_team_alias_project)
#define MR_TEAM_AGENT_MEMBER(request_type, member)                                                 \
	MR_PARAM(request_type, member, "agent_name",                                               \
		.flags = MR_REQUIRED | MR_POSITIONAL | MR_ACTOR | MR_KNOWN,                        \
		.summary = "the agent's name, in any case", .aliases = mr_team_alias_agent)
#define MR_TEAM_PROJECT(request_type) MR_TEAM_PROJECT_MEMBER(request_type, project_key)
#define MR_TEAM_AGENT(request_type)   MR_TEAM_AGENT_MEMBER(request_type, agent_name)
#define MR_TEAM_PROJECT_IN(request_type, part)                                                     \
	MR_TEAM_PROJECT_MEMBER(request_type, part.project_key)
#define MR_TEAM_AGENT_IN(request_type, part) MR_TEAM_AGENT_MEMBER(request_type, part.agent_name)

/* An operation's call of a function that takes struct mr_ctx, or struct mr_call, then the team, the
 * request and the result: see op/op.h. */
#define MR_TEAM_BIND(name, function, request_type, result_type)                                    \
	MR_BIND(name, function, struct mr_team, request_type, result_type)
#define MR_TEAM_BIND_CALL(name, function, request_type, result_type)                               \
	MR_BIND_CALL(name, function, struct mr_team, request_type, result_type)

/* Parameters of operations that sum up: bound to the members of these names. */
#define MR_TEAM_LLM_PARAMS(request_type)                                                           \
	MR_PARAM(request_type, llm_mode, "llm_mode",                                               \
		.summary = "let the model of llm.endpoint word it, when one is configured",        \
		.fallback = "true"),                                                               \
		MR_PARAM(request_type, llm_model, "llm_model",                                     \
			.summary = "another model than the configured one")

/* Where a list that stops at its limit goes on: a member of its result, which others do not have.
 */
#define MR_TEAM_NEXT(struct_type, member)                                                          \
	MR_FIELD(struct_type, member, "next_cursor", .flags = MR_OPTIONAL,                         \
		.summary = "there is more: the cursor to go on with")

/* Which part of a list was asked for, of lists that are short as a rule: all of it unless less is
 * asked for. */
struct mr_team_page {
	int64_t limit, cursor;
};
/* Bound to such a member of the request. */
#define MR_TEAM_PAGE(request_type, page)                                                           \
	MR_PARAM(request_type, page.limit, "limit", .min = 1, .max = MR_TEAM_LIST_MAX,             \
		.summary = "at most so many", .fallback = "1000"),                                 \
		MR_PARAM(request_type, page.cursor, "cursor",                                      \
			.summary = "go on after this one: the id of the last one seen")
/*
 * Cut a list down to the page that was asked for. `items` are structs of `size` bytes that begin
 * with their int64_t id, `*len` of them; those of the page are moved to the front. `*next` is the
 * cursor to go on with, 0 after the last one.
 * INVALID_ARGUMENT when the cursor is none of the ids.
 */
MR_CHECK enum mr_code mr_team_page_cut(struct mr_ctx *cx, const struct mr_team_page *page,
	void *items, size_t size, size_t *len, int64_t *next);

/* How bodies are shown. */
struct mr_team_showing {
	bool is_limited;
	int64_t max_chars;
	int fence; /* between marks nobody can guess; -1: as the call says */
};
/* Bound to such a member of the request. */
#define MR_TEAM_SHOWING(request_type, showing)                                                     \
	MR_PARAM(request_type, showing.max_chars, "max_chars", .min = 1,                           \
		.max = MR_TEAM_BODY_BYTES, .flags = MR_RARE,                                       \
		.summary = "cut each text after so many characters",                               \
		.given = MR_FLAG(request_type, showing.is_limited)),                               \
		MR_PARAM(request_type, showing.fence, "fence", .flags = MR_RARE,                   \
			.summary = "mark each text off as another's",                              \
			.fallback = "as mcp.fence says")
void mr_team_show_body(struct mr_call *call, const struct mr_team_showing *how,
	struct mr_team_item *item);
void mr_team_show_bodies(struct mr_call *call, const struct mr_team_showing *how,
	struct mr_team_items *items);
/* Let the registration give out a token as AGENT_AUTH says. */
void mr_team_ops_tokens(const struct mr_call *call, struct mr_team_registration *request);
/* NOLINTEND(bugprone-macro-parentheses) */
