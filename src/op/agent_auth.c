/*
 * op/agent_auth.c - Decides by agent token or JWT claim whether a caller may act as an agent, and
 * whose mail it may read.
 */
#include "op/agent_auth.h"

#include "app/principal.h"
#include "app/settings.h"
#include "base/buf.h"
#include "base/log.h"
#include "team/ask.h"
#include "team/error.h"
#include "team/overseer.h"
#include "text/value.h"

#include <stdlib.h>
#include <string.h>

enum { READERS_BYTES = 1 << 16 };

enum mr_agent_auth_mode mr_agent_auth_mode(const struct mr_app *app)
{
	const char *word = app->settings ? mr_settings_text(app->settings, "agent.auth") : "off";

	return mr_str_eq_nocase(word, "off")     ? MR_AGENT_AUTH_OFF
		: mr_str_eq_nocase(word, "warn") ? MR_AGENT_AUTH_WARN
						 : MR_AGENT_AUTH_REQUIRE;
}

const struct mr_param *mr_agent_auth_param(const struct mr_op *op)
{
	for (const struct mr_param *p = op->params; p && p->name; p++) {
		if (p->flags & MR_ACTOR)
			return p;
	}
	return NULL;
}

static enum mr_code deny(struct mr_call *call, const char *agent_name, const char *why)
{
	mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED, "%s %.64s", why, agent_name);
	return mr_team_fail_text(&call->cx, "agent", agent_name);
}

/*
 * Does the JWT name this agent of this project? Agent names are compared without case. A project
 * that does not exist yet has only the key in the request. A caller that joins by a path may create
 * that project: a project found by a part of the path does not count.
 */
static enum mr_code find_claim(struct mr_call *call, struct mr_team *team, const char *project_key,
	const char *agent_name, bool may_join, bool *is_named)
{
	const struct mr_principal_agents *agents = &call->principal->agents;
	struct mr_team_project project;
	bool found;
	enum mr_code rc = mr_team_ask_project(&call->cx, team, project_key, &project);

	/* A key that is no path is resolved in the same lenient way when the caller joins. */
	found = !rc &&
		(!may_join || *project_key != '/' || mr_team_project_is(&project, project_key));
	if (rc && rc != MR_ENOTFOUND && rc != MR_EINVAL)
		return rc;
	call->cx.err = (struct mr_err){ 0 };
	*is_named = false;
	for (size_t i = 0; i < agents->len && !*is_named; i++)
		*is_named = mr_str_eq_nocase(agents->items[i].name, agent_name) &&
			(found ? mr_team_project_is(&project, agents->items[i].project)
			       : mr_str_eq(project_key, agents->items[i].project));
	return MR_OK;
}

static enum mr_code check_claim(struct mr_call *call, struct mr_team *team, const char *project_key,
	const char *agent_name, bool may_join)
{
	bool is_named;
	enum mr_code rc = find_claim(call, team, project_key, agent_name, may_join, &is_named);

	if (rc)
		return rc;
	if (!is_named)
		return deny(call, agent_name,
			"your token's claim \"agents\" does not name, for this project,");
	call->is_verified = true;
	return MR_OK;
}

/* From now on the call shows only what this agent may see. */
static void read_for(struct mr_call *call, int64_t agent_id)
{
	call->rights.readers = mr_arena_printf(call->cx.arena, "[%lld]", (long long)agent_id);
}

/* Does it take the team to decide whether the caller may act as an agent that it names? A caller
 * that need not prove anything may still send a token. */
static bool is_to_be_proved(const struct mr_call *call)
{
	const struct mr_principal *p = call->principal;

	if (p && p->is_bound)
		return true;
	return ((p && !p->acts_for_all) || call->agent_token) &&
		mr_agent_auth_mode(call->app) != MR_AGENT_AUTH_OFF;
}

static enum mr_code check(struct mr_call *call, struct mr_team *team, const char *project_key,
	const char *agent_name, bool may_join)
{
	const struct mr_principal *p = call->principal;
	enum mr_agent_auth_mode mode;
	struct mr_team_proof proof = { 0 };
	struct mr_team_agent agent;
	bool found = false;
	enum mr_code rc;

	call->is_verified = false;
	if (!is_to_be_proved(call))
		return MR_OK;
	if (p && p->is_bound)
		return check_claim(call, team, project_key, agent_name, may_join);
	mode = mr_agent_auth_mode(call->app);
	/* For an unknown agent nothing is proved: the operation reports that it does not exist. */
	rc = mr_team_ask_proof(&call->cx, team, project_key, agent_name, call->agent_token, &found,
		&agent, &proof);
	if (rc || !found)
		return rc;
	call->is_verified = proof.is_it;
	if (proof.is_it && mode == MR_AGENT_AUTH_REQUIRE && p && !p->acts_for_all)
		read_for(call, agent.id);
	if (proof.is_it || !p || p->acts_for_all || (may_join && !proof.has_token))
		return MR_OK;
	if (mode == MR_AGENT_AUTH_WARN) {
		mr_log(MR_LOG_WARN, "agent_unproven", "%s acts as %s without its token", p->name,
			agent.name);
		return MR_OK;
	}
	return deny(call, agent.name,
		proof.has_token ? "send agent_token, or the header X-Agent-Token, to act as"
				: "register first, to get the agent_token that it takes to act as");
}

/* The agent that the arguments name. */
struct named {
	bool is_asked_for; /* the operation has an acting agent */
	const char *project_key, *agent_name;
	const char *missing; /* the parameter that was not sent; or NULL */
};

static struct named find_named(const struct mr_op *op, const struct mr_args *in)
{
	const struct mr_param *actor = mr_agent_auth_param(op);
	const struct mr_param *project = mr_param_find(op->params, "project_key");
	struct named named = { .is_asked_for = actor && project };

	if (!named.is_asked_for)
		return named;
	named.project_key = mr_args_text(in, project->name);
	named.agent_name = mr_args_text(in, actor->name);
	named.missing = !named.project_key ? project->name : !named.agent_name ? actor->name : NULL;
	return named;
}

/* Without a name the operation would choose an agent: refused to callers who need a proof. */
static bool must_be_named(const struct mr_call *call, const struct mr_op *op)
{
	const struct mr_principal *p = call->principal;

	if (!p || !(op->needs & MR_NEED_WRITE))
		return false;
	return p->is_bound ||
		(!p->acts_for_all && !(op->traits & MR_JOINS) &&
			mr_agent_auth_mode(call->app) == MR_AGENT_AUTH_REQUIRE);
}

static enum mr_code refuse_unnamed(struct mr_call *call, const char *param)
{
	mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED, "say who you are: %s is missing", param);
	return mr_team_fail_text(&call->cx, "argument", param);
}

/* The person who oversees the agents acts on pages and at a shell, whatever AGENT_AUTH says. */
static bool is_person(const struct mr_call *call)
{
	return call->for_person || call->invocation;
}

static enum mr_code check_named(struct mr_call *call, struct mr_team *team, const struct mr_op *op,
	const struct mr_args *in)
{
	struct named named = find_named(op, in);

	if (!named.is_asked_for)
		return MR_OK;
	if (!named.missing && !is_person(call) && op->needs & MR_NEED_WRITE &&
		mr_team_not_reserved(&call->cx, named.agent_name))
		return MR_EPERM;
	if (!named.missing)
		return check(call, team, named.project_key, named.agent_name,
			op->traits & MR_JOINS);
	call->is_verified = false;
	return must_be_named(call, op) ? refuse_unnamed(call, named.missing) : MR_OK;
}

/* Does the caller see only the mail of some agents? */
static bool is_limited(const struct mr_call *call)
{
	const struct mr_principal *p = call->principal;

	return p &&
		(p->is_bound ||
			(!p->acts_for_all && mr_agent_auth_mode(call->app) != MR_AGENT_AUTH_OFF));
}

bool mr_agent_auth_asks(const struct mr_call *call, const struct mr_op *op,
	const struct mr_args *in)
{
	bool is_shared = op->traits & MR_SHARED_MAIL && is_limited(call);
	struct named named;

	if (!is_shared && !is_to_be_proved(call))
		return false;
	named = find_named(op, in);
	if (!named.is_asked_for)
		return is_shared;
	if (named.missing)
		return is_shared && !must_be_named(call, op);
	return true;
}

enum mr_code mr_agent_auth_check(struct mr_call *call, struct mr_team *team, const struct mr_op *op,
	const struct mr_args *in)
{
	enum mr_code rc;

	call->rights.readers = NULL;
	rc = check_named(call, team, op, in);
	/* A caller let in without a token has just registered, and has no mail yet. */
	if (!rc && op->traits & MR_SHARED_MAIL && !call->rights.readers)
		rc = mr_agent_auth_readers(call, team, op->traits & MR_JOINS);
	return rc;
}

enum mr_code mr_agent_auth_check_agent(struct mr_call *call, struct mr_team *team,
	const char *project_key, const char *agent_name)
{
	return check(call, team, project_key, agent_name, false);
}

/* All existing agents that a JWT names. */
static enum mr_code find_bound(struct mr_call *call, struct mr_team *team,
	const struct mr_principal_agents *agents)
{
	struct mr_buf list MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc = MR_OK;

	mr_buf_init(&list, READERS_BYTES);
	for (size_t i = 0; !rc && i < agents->len; i++) {
		int64_t id;

		rc = mr_team_ask_claimed(&call->cx, team, agents->items[i].project,
			agents->items[i].name, &id);
		if (!rc && id)
			mr_buf_printf(&list, "%s%lld", list.len ? "," : "", (long long)id);
	}
	if (!rc)
		rc = mr_buf_check(&list, "the agents of a token", &call->cx.err);
	if (!rc)
		call->rights.readers =
			mr_arena_printf(call->cx.arena, "[%s]", list.len ? mr_buf_text(&list) : "");
	return rc;
}

static enum mr_code find_readers(struct mr_call *call, struct mr_team *team)
{
	const struct mr_principal *p = call->principal;
	int64_t id = 0;
	enum mr_code rc = MR_OK;

	if (p->is_bound)
		return find_bound(call, team, &p->agents);
	if (call->agent_token)
		rc = mr_team_ask_token(&call->cx, team, call->agent_token, &id);
	if (!rc && id)
		read_for(call, id);
	return rc;
}

enum mr_code mr_agent_auth_readers(struct mr_call *call, struct mr_team *team, bool or_nothing)
{
	const struct mr_principal *p = call->principal;
	enum mr_code rc;

	call->rights.readers = NULL;
	if (!is_limited(call))
		return MR_OK;
	rc = find_readers(call, team);
	if (rc)
		return rc;
	if (!p->is_bound && mr_agent_auth_mode(call->app) == MR_AGENT_AUTH_WARN) {
		if (!call->rights.readers && !or_nothing)
			mr_log(MR_LOG_WARN, "agent_unproven",
				"%s reads mail of a project without an agent's token", p->name);
		call->rights.readers = NULL;
		return MR_OK;
	}
	if (call->rights.readers)
		return MR_OK;
	if (!or_nothing)
		return mr_team_fail(&call->cx, MR_TEAM_PERMISSION_DENIED,
			"send agent_token, or the header X-Agent-Token: what your agent sent or "
			"got "
			"is yours to read");
	call->rights.readers = "[]";
	return MR_OK;
}

bool mr_agent_auth_reads_for(const struct mr_call *call, int64_t agent_id)
{
	const char *at = call->rights.readers;

	if (!at)
		return true;
	while (*at && at[1] != ']') {
		char *end;

		/* Each id follows a "[" or a ",". */
		if (strtoll(at + 1, &end, 10) == agent_id)
			return true;
		at = end;
		if (*at != ',')
			break;
	}
	return false;
}

bool mr_agent_auth_takes_token(const struct mr_op *op)
{
	return mr_agent_auth_param(op) || op->traits & MR_SHARED_MAIL;
}

const struct mr_value *mr_agent_auth_take_token(struct mr_call *call, const struct mr_op *op,
	const struct mr_value *sent)
{
	const struct mr_value *token = mr_value_get(sent, "agent_token");
	struct mr_value *rest;

	if (!token || token->kind != MR_TEXT || !mr_agent_auth_takes_token(op) ||
		mr_param_find(op->params, "agent_token"))
		return sent;
	call->agent_token = token->text;
	rest = mr_arena_memdup(call->cx.arena, sent, sizeof(*sent));
	rest->map.pairs = mr_arena_array(call->cx.arena, sent->map.len, sizeof(*rest->map.pairs));
	rest->map.len = 0;
	for (size_t i = 0; i < sent->map.len; i++) {
		if (strcmp(sent->map.pairs[i].key, "agent_token") != 0)
			rest->map.pairs[rest->map.len++] = sent->map.pairs[i];
	}
	return rest;
}
