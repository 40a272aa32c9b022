/* team/agent.c - finds, registers and updates the agents of a project. */
#include "team/agent.h"

#include "base/oom.h"
#include "base/utf8.h"
#include "team/agent_sql.h"
#include "team/archive/archive_queue.h"
#include "team/error.h"
#include "team/limits.h"
#include "team/name.h"
#include "team/repository.h"
#include "team/session.h"
#include "team/store/root_private.h"
#include "text/token.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_BYTES = 24, SHOWN_BYTES = 60 };

static enum mr_code seek_either(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *name, bool *found, struct mr_team_agent *out)
{
	enum mr_code rc = mr_team_agent_seek(cx, db, project_id, name, found, out);
	const char *plain;

	if (rc || *found)
		return rc;
	plain = mr_team_name_sanitise(cx->arena, name);
	return *plain ? mr_team_agent_seek(cx, db, project_id, plain, found, out) : MR_OK;
}

/* Who asked for the name and was given another knows itself by it still. */
static enum mr_code fail_not_taken(struct mr_ctx *cx, const struct mr_team_project *project,
	const char *name, const struct mr_texts *given)
{
	mr_team_fail(cx, MR_TEAM_NOT_FOUND,
		"there is no agent \"%s\" in the project %s: that name was asked for and not taken. "
		"Who asked for it is called %s now; call again under that name",
		name, project->slug, mr_str_join(cx->arena, given, " or "));
	return mr_team_fail_texts(cx, "suggestions", given);
}

static enum mr_code fail_not_found(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *project, const char *name)
{
	struct mr_texts names, near;
	enum mr_code rc = mr_team_agent_asked(cx, db, project->id, name, &near);

	if (!rc && near.len)
		return fail_not_taken(cx, project, name, &near);
	if (!rc)
		rc = mr_team_agent_names(cx, db, project->id, &names);
	if (rc)
		return rc;
	near = mr_team_nearest(cx->arena, name, &names);
	mr_team_fail(cx, MR_TEAM_NOT_FOUND,
		"there is no agent \"%.*s\" in the project %s%s%s%s; resource://agents/%s and "
		"`mailroom team agents %s` list those there are",
		MR_TEAM_NAME_BYTES, name, project->slug, near.len ? " (did you mean " : "",
		near.len ? near.items[0] : "", near.len ? "?)" : "", project->slug, project->slug);
	return mr_team_fail_texts(cx, "suggestions", &near);
}

enum mr_code mr_team_agent_find(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *project, const char *name, bool active_only,
	struct mr_team_agent *out)
{
	bool found = false;
	struct mr_team_agent row;
	enum mr_code rc;

	if (mr_str_is_empty(name))
		return mr_team_refuse(cx, "agent_name", "the agent's name is empty");
	rc = seek_either(cx, db, project->id, name, &found, &row);
	if (rc)
		return rc;
	if (!found)
		return fail_not_found(cx, db, project, name);
	if (active_only && !row.is_active) {
		mr_team_fail(cx, MR_TEAM_NOT_FOUND,
			"%s is retired in the project %s; register_agent with its name brings it "
			"back",
			row.name, project->slug);
		return mr_team_fail_text(cx, "retired", row.name);
	}
	*out = row;
	return MR_OK;
}

/* Has this agent's activity not been noted lately? */
static bool is_news(struct mr_team *team, int64_t agent_id, int64_t now)
{
	struct mr_team_noted *noted = &team->noted[(uint64_t)agent_id % MR_TEAM_NOTED];
	bool news;

	pthread_mutex_lock(&team->lock);
	news = noted->agent_id != agent_id ||
		now - noted->at_us >= (int64_t)MR_TEAM_ACTIVE_S * 1000000;
	if (news)
		*noted = (struct mr_team_noted){ agent_id, now };
	pthread_mutex_unlock(&team->lock);
	return news;
}

static enum mr_code touch(struct mr_db *db, void *arg, struct mr_err *err)
{
	const struct mr_team_noted *noted = arg;

	return mr_team_agent_touch(db, noted->agent_id, noted->at_us, err);
}

static void touched(void *arg, enum mr_code rc, const struct mr_err *err)
{
	(void)rc;
	(void)err;
	free(arg);
}

/*
 * Store in the background that the agent was active now, at most once in MR_TEAM_ACTIVE_S seconds.
 * A failure is ignored.
 */
static void note_active(struct mr_ctx *cx, struct mr_team *team, int64_t agent_id)
{
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_noted *noted;
	struct mr_err ignored;

	if (!is_news(team, agent_id, now))
		return;
	noted = malloc(sizeof(*noted));
	if (!noted)
		mr_oom(sizeof(*noted));
	*noted = (struct mr_team_noted){ agent_id, now };
	if (mr_queue_submit(team->queue,
		    &(struct mr_queue_job){ .run = touch, .done = touched, .arg = noted },
		    &ignored))
		free(noted);
}

enum mr_code mr_team_agent_resolve(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const char *project_key, const char *agent_name, struct mr_team_project *out_project,
	struct mr_team_agent *out)
{
	enum mr_code rc = mr_team_project_find(cx, db, project_key, out_project);

	if (!rc)
		rc = mr_team_agent_find(cx, db, out_project, agent_name, true, out);
	if (!rc &&
		mr_clock_wall_us(cx->clock) - out->last_active_ts >=
			(int64_t)MR_TEAM_ACTIVE_S * 1000000)
		note_active(cx, team, out->id);
	return rc;
}

static enum mr_code queue_profile(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_agent *agent, const char *tool)
{
	return mr_team_archive_queue(cx, db,
		&(struct mr_team_archive_item){
			.project_id = agent->project_id,
			.kind = MR_TEAM_ARCHIVE_PROFILE,
			.ref = agent->id,
			.agent = agent->name,
			.subject = mr_arena_printf(cx->arena, "agent: profile %s", agent->name),
			.tool = tool,
		});
}

/* `limit` bytes at most; `required`: and one at least. */
static enum mr_code check_text(struct mr_ctx *cx, const char *argument, const char *text,
	size_t limit, bool required)
{
	size_t len = text ? strlen(text) : 0;

	if (required && len == 0)
		return mr_team_refuse(cx, argument, "%s is empty", argument);
	if (len > limit)
		return mr_team_refuse(cx, argument,
			"%s is %zu bytes long; at most %zu are possible", argument, len, limit);
	return MR_OK;
}

static enum mr_code check_contact_policy(struct mr_ctx *cx, const char *word,
	enum mr_team_contact_policy *out)
{
	if (!word || mr_team_contact_policy_of(word, out))
		return MR_OK;
	return mr_team_refuse(cx, "contact_policy",
		"\"%.40s\" is no contact policy: open, auto, contacts_only or block_all", word);
}

/* A registration on its way through its change. */
struct registering {
	const struct mr_team_config *config;
	const struct mr_team_registration *request;
	const char *tool;
	const char *token; /* for an agent without one; NULL: none is given out */
	struct mr_team_session session;
	struct mr_team_project plan;
	struct mr_team_project project;
	struct mr_team_agent agent;
};

/* Merge the request over the fields of `base`. */
static enum mr_code fill(struct mr_ctx *cx, const struct mr_team_registration *request,
	struct mr_team_agent *base)
{
	base->program = request->program;
	base->model = request->model;
	if (request->task_description)
		base->task_description = request->task_description;
	if (request->attachments_policy &&
		!mr_team_attachments_policy_of(request->attachments_policy,
			&base->attachments_policy))
		base->attachments_policy = MR_TEAM_ATTACH_AUTO;
	return check_contact_policy(cx, request->contact_policy, &base->contact_policy);
}

struct asking {
	struct mr_ctx *cx;
	struct mr_db *db;
	int64_t project_id;
	enum mr_code rc;
};

static bool is_taken(void *arg, const char *name)
{
	struct asking *asking = arg;
	struct mr_team_agent row;
	bool found = false;

	/* After an error the search ends at once; the caller sees it. */
	if (!asking->rc)
		asking->rc = mr_team_agent_seek(asking->cx, asking->db, asking->project_id, name,
			&found, &row);
	return !asking->rc && found;
}

static enum mr_code give_token(struct mr_ctx *cx, struct mr_db *db, struct registering *r,
	bool was_retired)
{
	struct mr_team_proof proof;
	enum mr_code rc;

	if (!r->token)
		return MR_OK;
	rc = mr_team_agent_prove(cx, db, r->agent.id, NULL, &proof);
	if (rc || (proof.has_token && !(was_retired && r->request->renew_token)))
		return rc;
	rc = mr_team_agent_store_token(cx, db, r->agent.id, r->token);
	if (!rc)
		r->agent.token = r->token;
	return rc;
}

static enum mr_code make(struct mr_ctx *cx, struct mr_db *db, struct registering *r,
	const char *name)
{
	struct asking asking = { cx, db, r->project.id, MR_OK };
	struct mr_team_agent row = { .project_id = r->project.id, .task_description = "" };
	enum mr_code rc = fill(cx, r->request, &row);

	if (rc)
		return rc;
	row.name = name ? name : mr_team_name_generate(cx->arena, cx->rand, is_taken, &asking);
	if (asking.rc)
		return asking.rc;
	rc = mr_team_agent_insert(cx, db, &row, r->tool, &r->agent);
	return rc ? rc : give_token(cx, db, r, false);
}

static enum mr_code update_known(struct mr_ctx *cx, struct mr_db *db, struct registering *r,
	const struct mr_team_agent *known)
{
	struct mr_team_agent row = *known;
	enum mr_code rc = fill(cx, r->request, &row);

	if (rc)
		return rc;
	row.last_active_ts = mr_clock_wall_us(cx->clock);
	row.is_active = true;
	row.deleted_ts = 0;
	rc = mr_team_agent_store(cx, db, &row);
	if (!rc)
		rc = queue_profile(cx, db, &row, r->tool);
	if (rc)
		return rc;
	r->agent = row;
	return give_token(cx, db, r, !known->is_active);
}

static enum mr_code refuse_name(struct mr_ctx *cx, const struct registering *r, const char *name)
{
	const char *argument = r->request->create ? "name_hint" : "name";

	if (mr_team_name_is_reserved(name))
		return mr_team_refuse(cx, argument,
			"the name %s is reserved: it speaks for people or for the system", name);
	if (strchr(name, '/'))
		return mr_team_refuse(cx, argument,
			"\"%.60s\" looks like a path; an agent's name is two words such as "
			"GreenCastle",
			name);
	return mr_team_refuse(cx, argument,
		"\"%.60s\" is no agent's name: %s; leave it out to be given one", name,
		r->config->any_name ? "letters and digits are needed"
				    : "it takes a listed adjective and noun, such as GreenCastle "
				      "(AGENT_NAME_VALIDATION=any allows others)");
}

/* The name as it would be stored, or NULL when it is not valid. */
static const char *usable(struct mr_ctx *cx, const struct registering *r, const char *name)
{
	const char *plain = r->config->any_name ? mr_team_name_sanitise(cx->arena, name) : name;

	return mr_team_name_is_valid(plain, r->config->any_name) ? plain : NULL;
}

/* Another name than the one asked for, which is remembered: `why` ends a sentence. */
static enum mr_code make_other(struct mr_ctx *cx, struct mr_db *db, struct registering *r,
	const char *why)
{
	const char *asked = r->request->name;
	size_t shown = mr_utf8_truncate(asked, strlen(asked), SHOWN_BYTES);
	enum mr_code rc = make(cx, db, r, NULL);

	if (!rc)
		rc = mr_team_agent_store_asked(cx, db, r->agent.id, asked);
	if (rc)
		return rc;
	r->agent.asked_name = mr_arena_strndup(cx->arena, asked, shown);
	r->agent.name_note = mr_arena_printf(cx->arena,
		"\"%s\" was not taken: %s. Your name is %s; use it in every call",
		r->agent.asked_name, why, r->agent.name);
	return MR_OK;
}

static const char *why_not(const struct registering *r, bool found, const char *asked)
{
	if (mr_team_name_is_reserved(asked))
		return "it is reserved for people and for the system";
	if (found)
		return "another agent has it";
	return r->config->any_name ? "a name takes letters and digits"
				   : "a name here is a listed adjective and noun, such as "
				     "GreenCastle";
}

/* Take up the agent that had the session. One with a token has to be named, and proved. */
static enum mr_code resume(struct mr_ctx *cx, struct mr_db *db, struct registering *r, bool *done)
{
	int64_t silent_since =
		mr_clock_wall_us(cx->clock) - r->config->inactivity_s * INT64_C(1000000);
	struct mr_team_proof proof;
	struct mr_team_agent known;
	const char *why;
	int64_t id = 0;
	enum mr_code rc = mr_team_session_seek(cx, db, r->project.id, &r->session,
		r->request->program, silent_since, &id, &why);

	if (!rc && id)
		rc = mr_team_agent_prove(cx, db, id, NULL, &proof);
	if (rc || !id || proof.has_token)
		return rc;
	rc = mr_team_agent_get(cx, db, id, &known);
	if (!rc)
		rc = update_known(cx, db, r, &known);
	if (rc)
		return rc;
	*done = true;
	r->agent.resumed = mr_arena_printf(cx->arena, "%s was taken up again: %s", known.name, why);
	return MR_OK;
}

static enum mr_code decide(struct mr_ctx *cx, struct mr_db *db, struct registering *r)
{
	const char *asked = r->request->name;
	bool strict = r->config->name_mode == MR_TEAM_STRICT;
	struct mr_team_agent known;
	bool found = false;
	enum mr_code rc;

	if (!asked && r->request->resume) {
		rc = resume(cx, db, r, &found);
		if (rc || found)
			return rc;
	}
	if (!asked)
		return make(cx, db, r, NULL);
	if (r->config->name_mode == MR_TEAM_ALWAYS_AUTO)
		return make_other(cx, db, r, "names are always given out here");
	rc = seek_either(cx, db, r->project.id, asked, &found, &known);
	if (rc)
		return rc;
	if (found && !known.is_system && !r->request->create)
		return update_known(cx, db, r, &known);
	if (found && strict && !known.is_system) {
		mr_team_fail(cx, MR_TEAM_NAME_TAKEN,
			"the name %s is taken in the project %s; ask for another, or for none",
			known.name, r->project.slug);
		return mr_team_fail_text(cx, "name", known.name);
	}
	if (!found && usable(cx, r, asked))
		return make(cx, db, r, usable(cx, r, asked));
	return strict ? refuse_name(cx, r, asked) : make_other(cx, db, r, why_not(r, found, asked));
}

static enum mr_code register_change(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct registering *r = arg;
	enum mr_code rc = mr_team_project_ensure_in(cx, db, &r->plan, &r->project);

	if (!rc)
		rc = decide(cx, db, r);
	if (!rc && r->request->resume)
		rc = mr_team_session_store(cx, db, &r->agent, &r->session);
	return rc;
}

enum mr_code mr_team_agent_register(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_registration *request, struct mr_team_project *out_project,
	struct mr_team_agent *out)
{
	struct registering r = {
		.config = mr_team_config(team),
		.request = request,
		.tool = request->create ? "create_agent_identity" : "register_agent",
	};
	enum mr_code rc = check_text(cx, "program", request->program, MR_TEAM_LABEL_BYTES, true);

	/* Generated before the change, which may run more than once. */
	if (request->with_token)
		r.token = mr_arena_printf(cx->arena, "mra_%s",
			mr_token_hex(cx->arena, cx->rand, TOKEN_BYTES));
	if (!rc)
		rc = check_text(cx, "model", request->model, MR_TEAM_LABEL_BYTES, true);
	if (!rc)
		rc = check_text(cx, "task_description", request->task_description,
			MR_TEAM_TASK_BYTES, false);
	if (!rc)
		rc = mr_team_project_plan(cx, team, request->project_key, NULL, &r.plan);
	if (!rc && request->resume)
		r.session = (struct mr_team_session){ request->session_id,
			mr_team_repository_top(cx,
				r.plan.given ? r.plan.given : r.plan.human_key) };
	if (!rc)
		rc = mr_team_write(cx, team, register_change, NULL, &r);
	if (rc)
		return rc;
	*out_project = r.project;
	*out = r.agent;
	return MR_OK;
}

struct editing {
	const char *project_key, *name;
	const struct mr_team_agent_edit *edit;
	const char *tool;
	struct mr_team_agent agent;
};

static enum mr_code apply(struct mr_ctx *cx, const struct mr_team_agent_edit *edit,
	struct mr_team_agent *row)
{
	if (edit->program)
		row->program = edit->program;
	if (edit->model)
		row->model = edit->model;
	if (edit->task_description)
		row->task_description = edit->task_description;
	if (edit->attachments_policy &&
		!mr_team_attachments_policy_of(edit->attachments_policy, &row->attachments_policy))
		return mr_team_refuse(cx, "attachments_policy",
			"\"%.40s\" is no attachments policy: auto, inline, attach or deny",
			edit->attachments_policy);
	return check_contact_policy(cx, edit->contact_policy, &row->contact_policy);
}

static enum mr_code update_change(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct editing *e = arg;
	struct mr_team_project project;
	enum mr_code rc = mr_team_project_find(cx, db, e->project_key, &project);

	if (!rc)
		rc = mr_team_agent_find(cx, db, &project, e->name, true, &e->agent);
	if (!rc)
		rc = apply(cx, e->edit, &e->agent);
	if (rc)
		return rc;
	e->agent.last_active_ts = mr_clock_wall_us(cx->clock);
	rc = mr_team_agent_store(cx, db, &e->agent);
	return rc ? rc : queue_profile(cx, db, &e->agent, e->tool);
}

enum mr_code mr_team_agent_update(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	const char *name, const struct mr_team_agent_edit *edit, const char *tool,
	struct mr_team_agent *out)
{
	struct editing e = { project_key, name, edit, tool, { 0 } };
	enum mr_code rc = MR_OK;

	if (!edit->program && !edit->model && !edit->task_description &&
		!edit->attachments_policy && !edit->contact_policy)
		rc = mr_team_refuse(cx, "task_description",
			"nothing to change: give program, model, task_description or a policy");
	if (!rc && edit->program)
		rc = check_text(cx, "program", edit->program, MR_TEAM_LABEL_BYTES, true);
	if (!rc && edit->model)
		rc = check_text(cx, "model", edit->model, MR_TEAM_LABEL_BYTES, true);
	if (!rc)
		rc = check_text(cx, "task_description", edit->task_description, MR_TEAM_TASK_BYTES,
			false);
	if (!rc)
		rc = mr_team_write(cx, team, update_change, NULL, &e);
	if (!rc)
		*out = e.agent;
	return rc;
}
