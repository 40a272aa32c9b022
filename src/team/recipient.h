/* team/recipient.h - resolves the addresses a sender wrote to agents. */
#pragma once

#include "team/agent.h"
#include "team/model.h"

struct mr_team_addressee {
	struct mr_team_agent agent;
	const char *project_slug;
	const char *project_key; /* human_key */
	enum mr_team_recipient_kind kind;
	bool is_new; /* registered by this message */
};

struct mr_team_addressees {
	struct mr_team_addressee *items;
	size_t len;
	const char *addressed; /* the groups in to and cc, as they were written: a line each; or
				  NULL */
};

struct mr_team_address_lists {
	struct mr_texts to, cc, bcc;
};

/* What was written, taken apart; `project` is NULL for a bare name. Either may be empty. Pure. */
struct mr_team_address {
	const char *name;
	const char *project;
};
struct mr_team_address mr_team_address_parse(struct mr_arena *arena, const char *written);

/*
 * Inside a change: `Name`, `Name@project`, `project:<key>#Name`, and of several agents without the
 * sender `@all`, `@active`, `@program:codex` and `@group` (team/group.h), which may say a project
 * as well: `@all@frontend`. A group nobody else is in is INVALID_ARGUMENT. A bare name is looked
 * for in the sender's project, then as the only active agent of that name anywhere else. A name in
 * several lists keeps the strongest kind. An unknown valid name is registered in `project` when
 * `auto_register` (like the sender; the kind is kept). INVALID_ARGUMENT: nobody at all; too many;
 * an ambiguous name, with data.candidates ("Name@slug"). RECIPIENT_NOT_FOUND with
 * data.unknown_recipients, data.suggested_tool_calls and data.code_alias.
 */
MR_CHECK enum mr_code mr_team_recipients_resolve(struct mr_ctx *cx, struct mr_team *team,
	struct mr_db *db, const struct mr_team_project *project, const struct mr_team_agent *sender,
	const struct mr_team_address_lists *lists, const char *tool,
	struct mr_team_addressees *out);
