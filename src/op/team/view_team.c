/* op/team/view_team.c - views of projects, agents and products. */
#include "op/agent_auth.h"
#include "op/team/team_ops.h"
#include "op/team/view.h"
#include "team/archive/archive.h"
#include "text/time.h"
#include "text/token.h"

/* Fail unless exactly one project fits; only the caller can tell which of several is meant. */
static enum mr_code check_one(const struct mr_view *view, size_t count, const char *what)
{
	struct mr_ctx *cx = &view->call->cx;

	if (count == 0)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no %s %.100s in any project",
			what, view->name);
	if (count > 1)
		return mr_team_refuse(cx, "project",
			"%s %.100s is known in several projects: add ?project= to the URI", what,
			view->name);
	return MR_OK;
}

enum mr_code mr_view_find_agent(const struct mr_view *view, struct mr_team_project *project,
	struct mr_team_agent *agent)
{
	struct mr_ctx *cx = &view->call->cx;
	struct mr_team_members members;
	enum mr_code rc;

	if (view->project)
		return mr_team_ask_agent(cx, view->team, view->project, view->name, project, agent);
	rc = mr_team_ask_named(cx, view->team, view->name, &members);
	if (!rc)
		rc = check_one(view, members.len, "agent");
	if (rc)
		return rc;
	*agent = members.items[0].agent;
	*project = members.items[0].project;
	return MR_OK;
}

enum mr_code mr_view_find_thread(const struct mr_view *view, struct mr_team_project *project)
{
	struct mr_ctx *cx = &view->call->cx;
	struct mr_team_projects projects;
	enum mr_code rc;

	if (view->project)
		return mr_team_ask_project(cx, view->team, view->project, project);
	rc = mr_team_ask_thread_projects(cx, view->team, view->name, &projects);
	if (!rc)
		rc = check_one(view, projects.len, "thread");
	if (!rc)
		*project = projects.items[0];
	return rc;
}

/* A subscriber to a thread must take part in it, where AGENT_AUTH has to be proved. */
static enum mr_code check_thread(const struct mr_view *view, struct mr_team_project *project)
{
	struct mr_ctx *cx = &view->call->cx;
	struct mr_team_items items = { 0 };
	enum mr_code rc = mr_agent_auth_readers(view->call, view->team, false);

	if (rc || !view->call->rights.readers)
		return rc;
	rc = mr_team_ask_thread(cx, view->team, &view->call->rights, project->human_key, view->name,
		false, 0, 1, project, &items);
	if (!rc && !items.len)
		rc = mr_team_fail(cx, MR_TEAM_NOT_FOUND,
			"your agent has no message of the thread %.100s", view->name);
	return rc;
}

static enum mr_code get_project(const struct mr_view *view, struct mr_team_project *out)
{
	return mr_team_ask_project(&view->call->cx, view->team, view->name, out);
}

enum mr_code mr_view_topic(const struct mr_view *view, enum mr_team_topic_kind kind,
	struct mr_team_topic *out)
{
	struct mr_team_project project = { 0 };
	struct mr_team_agent agent = { 0 };
	enum mr_code rc = MR_OK;

	*out = (struct mr_team_topic){ .kind = kind };
	switch (kind) {
	case MR_TEAM_TOPIC_INBOX:
		rc = mr_view_find_agent(view, &project, &agent);
		if (!rc)
			rc = mr_agent_auth_check_agent(view->call, view->team, project.slug,
				agent.name);
		out->id = agent.id;
		break;
	case MR_TEAM_TOPIC_THREAD:
		rc = mr_view_find_thread(view, &project);
		if (!rc)
			rc = check_thread(view, &project);
		out->id = project.id;
		out->thread_id = view->name;
		break;
	case MR_TEAM_TOPIC_LEASES:
		rc = get_project(view, &project);
		out->id = project.id;
		break;
	case MR_TEAM_TOPIC_MEMBERS:
	case MR_TEAM_TOPIC_NONE:
		break;
	}
	return rc;
}

enum mr_code mr_view_projects(struct mr_call *call, struct mr_team *team,
	struct mr_team_projects *out)
{
	return mr_team_ask_projects(&call->cx, team, out);
}

enum mr_code mr_view_members(struct mr_call *call, struct mr_team *team, int64_t after,
	int64_t limit, struct mr_team_members *out)
{
	return mr_team_ask_members(&call->cx, team, after, limit, out);
}

enum mr_code mr_view_seek_project(struct mr_call *call, struct mr_team *team, const char *key,
	bool *found, struct mr_team_project *out)
{
	const struct mr_view view = { .call = call, .team = team, .name = key };
	enum mr_code rc = get_project(&view, out);

	*found = !rc;
	return rc == MR_ENOTFOUND || rc == MR_EINVAL ? MR_OK : rc;
}

static enum mr_code get_agents(const struct mr_view *view, struct mr_team_project *project,
	struct mr_team_agents *agents, int64_t **unread)
{
	struct mr_ctx *cx = &view->call->cx;
	enum mr_code rc = mr_team_ask_agents(cx, view->team, view->name, true, project, agents);

	if (rc || !unread)
		return rc;
	*unread = mr_arena_array(cx->arena, agents->len, sizeof(**unread));
	return mr_team_ask_unread(cx, view->team, agents, INT64_MAX, *unread);
}

enum mr_code mr_view_project(const struct mr_view *view, struct mr_out *out)
{
	struct mr_team_project project;
	struct mr_team_agents agents;
	enum mr_code rc = get_agents(view, &project, &agents, NULL);

	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_shape_team_project_members(out, &project);
	mr_out_list(out, "agents");
	for (size_t i = 0; i < agents.len; i++)
		mr_shape_team_agent(out, NULL, &agents.items[i]);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

enum mr_code mr_view_agents(const struct mr_view *view, struct mr_out *out)
{
	struct mr_team_project project;
	struct mr_team_agents agents;
	int64_t *unread;
	enum mr_code rc = get_agents(view, &project, &agents, &unread);

	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_map(out, "project");
	mr_out_text(out, "slug", project.slug);
	mr_out_text(out, "human_key", project.human_key);
	mr_out_end(out);
	mr_out_list(out, "agents");
	for (size_t i = 0; i < agents.len; i++) {
		mr_out_map(out, NULL);
		mr_shape_team_agent_members(out, &agents.items[i]);
		mr_out_int(out, "unread_count", unread[i]);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}

enum mr_code mr_view_product(const struct mr_view *view, struct mr_out *out)
{
	struct mr_team_product product;
	enum mr_code rc = mr_team_ask_product(&view->call->cx, view->team, view->name, &product);

	if (!rc)
		mr_shape_team_product(out, NULL, &product);
	return rc;
}

/* A path that is no known project is not examined: a caller must not learn what is on our disk. */
enum mr_code mr_view_identity(const struct mr_view *view, struct mr_out *out)
{
	struct mr_team_project project;
	enum mr_code rc = get_project(view, &project);

	if (rc && rc != MR_ENOTFOUND)
		return rc;
	mr_out_map(out, NULL);
	mr_out_bool(out, "exists", !rc);
	if (rc) {
		mr_out_text(out, "slug",
			mr_token_slug(view->call->cx.arena, view->name, MR_TEAM_KEY_BYTES,
				"project"));
		mr_out_text(out, "human_key", view->name);
		mr_out_text(out, "identity_mode", "dir");
	} else {
		mr_shape_team_project_members(out, &project);
	}
	mr_out_end(out);
	return MR_OK;
}

enum { STALE_S = 180 };

enum mr_code mr_view_locks(const struct mr_view *view, struct mr_out *out)
{
	struct mr_ctx *cx = &view->call->cx;
	int64_t now = mr_clock_wall_us(cx->clock);
	struct mr_team_locks locks;
	size_t stale = 0;
	enum mr_code rc = mr_team_archive_locks(cx, view->team, &locks);

	if (rc)
		return rc;
	mr_out_map(out, NULL);
	mr_out_list(out, "locks");
	for (size_t i = 0; i < locks.len; i++) {
		const struct mr_team_lock *lock = &locks.items[i];

		stale += !lock->is_alive;
		mr_out_map(out, NULL);
		mr_out_text(out, "project", lock->project);
		mr_out_text(out, "path", lock->path);
		mr_out_text(out, "metadata_path", lock->owner_path);
		mr_out_text(out, "status", lock->is_alive ? "held" : "left");
		mr_out_bool(out, "metadata_present", true);
		mr_out_text(out, "category", "archive");
		mr_out_int(out, "owner_pid", lock->pid);
		mr_out_bool(out, "owner_alive", lock->is_alive);
		mr_shape_team_time(out, "created_ts", lock->since_us);
		mr_out_int(out, "age_seconds", (now - lock->since_us) / MR_TIME_S);
		mr_out_int(out, "stale_timeout_seconds", STALE_S);
		/* The kernel released a dead owner's lock: only the note is left. */
		mr_out_bool(out, "stale_suspected", !lock->is_alive);
		mr_out_end(out);
	}
	mr_out_end(out);
	mr_out_map(out, "summary");
	mr_out_int(out, "total", (int64_t)locks.len);
	mr_out_int(out, "active", (int64_t)(locks.len - stale));
	mr_out_int(out, "stale", (int64_t)stale);
	mr_out_int(out, "metadata_missing", 0);
	mr_out_end(out);
	mr_out_end(out);
	return MR_OK;
}
