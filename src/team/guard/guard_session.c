/*
 * team/guard/guard_session.c - Notes for which agent a client's session acts, and finds the mail
 * that this agent is to be told of.
 */
#include "team/agent.h"
#include "team/guard/guard_private.h"
#include "team/repository.h"
#include "team/session.h"

#include "data/db.h"

/* Moments at which a session begins, or goes on with a new context. */
static bool is_begin(const struct mr_team_guard_event *event)
{
	return mr_str_eq(event->name, "SessionStart");
}

static bool is_end(const struct mr_team_guard_event *event)
{
	return mr_str_eq(event->name, "SessionEnd");
}

/* The agent that a call acted as; `out->id` is 0 when there is none of that name. */
static enum mr_code find_actor(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_guard_event *event, const struct mr_team_guard_actor *actor,
	struct mr_team_hook_agent *out)
{
	struct mr_team_project project;
	struct mr_team_agent agent;
	bool found = false;
	enum mr_code rc = mr_team_project_find(cx, db, actor->project_key, &project);

	*out = (struct mr_team_hook_agent){ 0 };
	if (rc)
		return rc == MR_ENOTFOUND || rc == MR_EINVAL ? MR_OK : rc;
	if (!actor->agent)
		return mr_team_hook_last(cx, db, project.id, mr_team_repository_top(cx, event->cwd),
			false, out);
	rc = mr_team_agent_seek(cx, db, project.id, actor->agent, &found, &agent);
	if (!rc && found && agent.is_active)
		*out = (struct mr_team_hook_agent){ agent.id, project.id, agent.name,
			project.human_key };
	return rc;
}

/* The agent that worked here last and is gone, whose mail waits for its successor. */
static enum mr_code find_last(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_config *config, const char *cwd, struct mr_team_hook_agent *out)
{
	struct mr_team_guard_place place;
	struct mr_team_guard_question question = { .config = config,
		.place = &place,
		.quick = true };
	struct mr_team_guard_look look = { .question = &question };
	const char *inside;
	enum mr_code rc;

	*out = (struct mr_team_hook_agent){ 0 };
	cwd = mr_team_guard_real(cx->arena, cwd);
	if (!mr_team_guard_locate(cx, mr_arena_printf(cx->arena, "%s/.", cwd), cwd, &place,
		    &inside))
		return MR_OK;
	rc = mr_team_guard_project(cx, db, &look);
	if (!rc && look.found)
		rc = mr_team_hook_last(cx, db, look.project.id, mr_team_repository_top(cx, cwd),
			true, out);
	return rc;
}

/* For whom the session acts, and whether that is to be noted. */
struct acting {
	struct mr_team_hook_agent agent; /* id 0: nobody knows */
	struct mr_team_hook_agent last;  /* at a begin, when nobody knows; or id 0 */
	bool is_noted;
};

static enum mr_code find_acting(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_config *config, const struct mr_team_guard_event *event,
	const struct mr_team_guard_actor *actor, struct acting *out)
{
	struct mr_team_hook_agents known = { 0 };
	struct mr_team_hook_agent called = { 0 };
	enum mr_code rc = mr_team_hook_agents(cx, db, 0, event->session, &known);

	*out = (struct acting){ .is_noted = true };
	if (!rc && known.len)
		out->agent = known.items[0];
	if (!rc && actor->project_key)
		rc = find_actor(cx, db, event, actor, &called);
	if (!rc && called.id && called.id != out->agent.id) {
		out->agent = called;
		out->is_noted = false;
	}
	if (!rc && !out->agent.id && is_begin(event))
		rc = find_last(cx, db, config, event->cwd, &out->last);
	return rc;
}

enum mr_code mr_team_guard_session_look(struct mr_ctx *cx, const struct mr_team_config *config,
	const struct mr_team_guard_event *event, const struct mr_team_guard_actor *actor,
	bool *is_new)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_team_hook_news news = { 0 };
	struct acting acting;
	enum mr_code rc = mr_team_guard_open(cx, config, &db);

	*is_new = false;
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	rc = find_acting(cx, db, config, event, actor, &acting);
	if (rc) {
		/* A database of an older version: it is brought up to date when it is opened. */
		*is_new = true;
		cx->err = (struct mr_err){ 0 };
		return MR_OK;
	}
	if (acting.agent.id || acting.last.id)
		rc = mr_team_hook_news(cx, db, acting.agent.id ? acting.agent.id : acting.last.id,
			&news);
	*is_new = !rc &&
		(!acting.is_noted || news.count > 0 ||
			(acting.agent.id && (is_begin(event) || is_end(event))));
	return rc;
}

struct taking {
	const struct mr_team_guard_event *event;
	struct acting acting;
	struct mr_team_hook_news mail;
};

/* What is to be told is looked for inside the change, so that of two hooks at once one tells it. */
static enum mr_code take(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct taking *t = arg;
	int64_t id = t->acting.agent.id ? t->acting.agent.id : t->acting.last.id;
	enum mr_code rc = MR_OK;

	t->mail = (struct mr_team_hook_news){ 0 };
	if (t->acting.agent.id)
		rc = mr_team_hook_note(cx, db, t->event->session, t->acting.agent.id);
	if (!rc && id)
		rc = mr_team_hook_news(cx, db, id, &t->mail);
	if (!rc && t->mail.count)
		rc = mr_team_hook_told(cx, db, id, t->mail.newest);
	return rc;
}

enum mr_code mr_team_guard_session_take(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_guard_event *event, const struct mr_team_guard_actor *actor,
	struct mr_team_guard_news *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct taking t = { .event = event };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	*out = (struct mr_team_guard_news){ 0 };
	if (!rc)
		rc = find_acting(cx, reader.db, mr_team_config(team), event, actor, &t.acting);
	mr_team_read_done(&reader);
	if (rc || (!t.acting.agent.id && !t.acting.last.id))
		return rc;
	rc = mr_team_write(cx, team, take, NULL, &t);
	if (rc)
		return rc;
	out->agent = t.acting.agent.name;
	out->project = t.acting.agent.id ? t.acting.agent.project : t.acting.last.project;
	out->last = t.acting.last.name;
	if (!actor->saw_mail)
		out->mail = t.mail;
	return MR_OK;
}

static enum mr_code end(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	const char *session = arg;

	return mr_team_hook_end(cx, db, session);
}

enum mr_code mr_team_guard_session_end(struct mr_ctx *cx, struct mr_team *team, const char *session)
{
	return mr_team_write(cx, team, end, NULL, mr_arena_strdup(cx->arena, session));
}

struct warning {
	const char *session;
	bool first;
};

static enum mr_code warn(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct warning *w = arg;

	return mr_team_hook_warn(cx, db, w->session, &w->first);
}

enum mr_code mr_team_guard_session_warn(struct mr_ctx *cx, struct mr_team *team,
	const char *session, bool *first)
{
	struct warning w = { .session = session };
	enum mr_code rc = mr_team_write(cx, team, warn, NULL, &w);

	*first = w.first;
	return rc;
}
