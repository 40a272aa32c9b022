/*
 * team/macro.c - Combined operations: start a session, prepare a thread, reserve and release
 * files, and contact handshake.
 */
#include "team/macro.h"

#include "team/error.h"
#include "team/session.h"

static enum mr_code read_inbox(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, const struct mr_team_agent *agent, int64_t limit,
	bool bodies, struct mr_team_items *out)
{
	return mr_team_inbox_fetch(cx, team,
		&(struct mr_team_inbox_query){
			.project_key = project->slug,
			.agent_name = agent->name,
			.limit = limit,
			.include_bodies = bodies,
		},
		out);
}

enum mr_code mr_team_macro_start(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_start *request, struct mr_team_started *out)
{
	struct mr_team_started started = { 0 };
	struct mr_team_registration who = request->who;
	enum mr_code rc;

	who.resume = true;
	rc = mr_team_agent_register(cx, team, &who, &started.project, &started.agent);

	if (!rc && request->paths.len > 0)
		rc = mr_team_reserve(cx, team,
			&(struct mr_team_reserve){
				.project_key = started.project.slug,
				.agent_name = started.agent.name,
				.paths = request->paths,
				.ttl_s = request->ttl_s,
				.exclusive = true,
				.reason = request->reason ? request->reason : "macro-session",
			},
			&started.reserved);
	if (!rc)
		rc = mr_team_session_left(cx, team, &started.agent, &started.offered);
	if (!rc)
		rc = read_inbox(cx, team, &started.project, &started.agent, request->inbox_limit,
			false, &started.inbox);
	if (!rc)
		*out = started;
	return rc;
}

/* Unlike at the start of a session, the project must exist. */
static enum mr_code find_project(struct mr_ctx *cx, struct mr_team *team, const char *key,
	struct mr_team_project *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	return rc ? rc : mr_team_project_find(cx, reader.db, key, out);
}

static enum mr_code find_agent(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_project *project, const char *name, struct mr_team_agent *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project same;
	enum mr_code rc = MR_OK;

	if (!name)
		return mr_team_refuse(cx, "agent_name",
			"without register_if_missing an agent_name is needed");
	rc = mr_team_read(cx, team, &reader);
	return rc ? rc
		  : mr_team_agent_resolve(cx, team, reader.db, project->slug, name, &same, out);
}

enum mr_code mr_team_macro_prepare(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_prepare *request, struct mr_team_prepared *out)
{
	struct mr_team_registration who = request->who;
	struct mr_team_prepared ready = { 0 };
	enum mr_code rc = find_project(cx, team, who.project_key, &ready.project);

	who.project_key = ready.project.human_key;
	if (!rc && request->register_if_missing)
		rc = mr_team_agent_register(cx, team, &who, &ready.project, &ready.agent);
	else if (!rc)
		rc = find_agent(cx, team, &ready.project, who.name, &ready.agent);
	if (!rc)
		rc = mr_team_summary_thread(cx, team, request->rights, &ready.project.id, 1,
			request->thread_id, 0, request->llm_mode, request->llm_model,
			&ready.summary);
	if (!request->include_examples)
		ready.summary.examples.len = 0;
	if (!rc)
		rc = read_inbox(cx, team, &ready.project, &ready.agent, request->inbox_limit,
			request->include_inbox_bodies, &ready.inbox);
	if (!rc)
		*out = ready;
	return rc;
}

/* Release what was granted, by its ids: older leases of the agent stay. */
static enum mr_code release_granted(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_reserve *request, struct mr_team_cycled *cycle)
{
	const struct mr_team_reservations *granted = &cycle->reserved.granted;
	int64_t *ids = mr_arena_array(cx->arena, granted->len + 1, sizeof(*ids));

	for (size_t i = 0; i < granted->len; i++)
		ids[i] = granted->items[i].id;
	cycle->was_released = true;
	return mr_team_release(cx, team,
		&(struct mr_team_lease_filter){
			.project_key = request->project_key,
			.agent_name = request->agent_name,
			.ids = ids,
			.id_count = granted->len,
			.by_id = true,
		},
		&cycle->released, &cycle->released_ts);
}

enum mr_code mr_team_macro_cycle(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_cycle *request, struct mr_team_cycled *out)
{
	struct mr_team_reserve reserve = request->reserve;
	struct mr_team_cycled cycle = { 0 };
	enum mr_code rc;

	if (!reserve.reason)
		reserve.reason = "macro-file_reservation";
	rc = mr_team_reserve(cx, team, &reserve, &cycle.reserved);
	if (!rc && request->auto_release)
		rc = release_granted(cx, team, &reserve, &cycle);
	if (!rc)
		*out = cycle;
	return rc;
}

/* Find the requester, or register it when the project does not know it and program and model are
 * given. */
static enum mr_code find_asker(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_handshake *request, struct mr_team_agent *out)
{
	struct mr_team_registration who = {
		.name = request->request.from_agent,
		.program = request->program,
		.model = request->model,
	};
	struct mr_team_project project;
	bool known = true;
	enum mr_code rc = find_project(cx, team, request->request.project_key, &project);

	if (!rc && request->register_if_missing && who.program && who.model) {
		struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

		rc = mr_team_read(cx, team, &reader);
		if (!rc)
			rc = mr_team_agent_seek(cx, reader.db, project.id, who.name, &known, out);
	}
	if (rc)
		return rc;
	if (known)
		return find_agent(cx, team, &project, who.name, out);
	who.project_key = project.human_key;
	return mr_team_agent_register(cx, team, &who, &project, out);
}

/* Would a message from one to the other be let through? */
static enum mr_code may_write(struct mr_ctx *cx, struct mr_team *team, int64_t from_id,
	int64_t to_id, const char *thread_id, bool *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_decision decision;
	struct mr_team_agent from, to;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_agent_get(cx, reader.db, from_id, &from);
	if (!rc)
		rc = mr_team_agent_get(cx, reader.db, to_id, &to);
	if (!rc)
		rc = mr_team_contact_decide(cx, team, reader.db,
			&(struct mr_team_contact_case){ &from, &to, thread_id, 0 }, &decision);
	if (!rc)
		*out = decision.verdict == MR_TEAM_ALLOWED;
	return rc;
}

/*
 * Approve for the target only where its policy would do the same. A request that came from the
 * target is answered by the requester itself.
 */
static enum mr_code accept_link(struct mr_ctx *cx, struct mr_team *team, const char *thread_id,
	bool asked_back, struct mr_team_shaken *shaken)
{
	const struct mr_team_link *link = &shaken->request;
	struct mr_team_contact_answer answer = { .link_id = link->id, .approve = true };
	bool allowed = asked_back;
	int64_t updated;
	enum mr_code rc = MR_OK;

	if (link->status == MR_TEAM_APPROVED) {
		shaken->answered = true;
		shaken->response = *link;
		return MR_OK;
	}
	if (link->status == MR_TEAM_BLOCKED)
		return MR_OK;
	if (!allowed)
		rc = may_write(cx, team, link->a_agent_id, link->b_agent_id, thread_id, &allowed);
	if (rc || !allowed)
		return rc;
	shaken->answered = true;
	return mr_team_contact_respond(cx, team, &answer, &shaken->response, &updated);
}

static enum mr_code send_welcome(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_handshake *request, bool asked_back, struct mr_team_shaken *shaken)
{
	const struct mr_team_link *link = &shaken->request;
	int64_t from_id = asked_back ? link->b_agent_id : link->a_agent_id;
	int64_t to_id = asked_back ? link->a_agent_id : link->b_agent_id;
	const char *items[] = {
		mr_arena_printf(cx->arena, "%s@%s", asked_back ? link->a_agent : link->b_agent,
			asked_back ? link->a_project : link->b_project),
		NULL,
	};
	struct mr_team_draft draft = {
		.project_key = request->request.project_key,
		.sender_name = asked_back ? link->b_agent : link->a_agent,
		.lists = { .to = { items, 1 } },
		.subject = request->welcome_subject,
		.body_md = request->welcome_body,
		.convert_images = -1,
		.thread_id = request->thread_id,
		.tool = "macro_contact_handshake",
	};
	bool allowed = false;
	enum mr_code rc = may_write(cx, team, from_id, to_id, request->thread_id, &allowed);

	if (rc || !allowed)
		return rc;
	shaken->welcomed = true;
	return mr_team_send(cx, team, &draft, &shaken->welcome);
}

enum mr_code mr_team_macro_handshake(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_handshake *request, struct mr_team_shaken *out)
{
	struct mr_team_contact_request ask = request->request;
	struct mr_team_shaken shaken = { 0 };
	struct mr_team_agent asker;
	bool asked_back = false;
	enum mr_code rc = find_asker(cx, team, request, &asker);

	if (rc)
		return rc;
	ask.from_agent = asker.name;
	rc = mr_team_contact_ask(cx, team, &ask, &shaken.request, &shaken.notified);
	if (rc)
		return rc;
	/* When the target had asked first, the request is its link. */
	asked_back = shaken.request.a_agent_id != asker.id;
	if (request->auto_accept)
		rc = accept_link(cx, team, request->thread_id, asked_back, &shaken);
	if (!rc && request->welcome_subject && request->welcome_body)
		rc = send_welcome(cx, team, request, asked_back, &shaken);
	if (!rc)
		*out = shaken;
	return rc;
}
