/*
 * team/group.c - Resolves @all, @active, @program:NAME and named groups to agents, and sets and
 * lists the named ones.
 */
#include "team/group.h"

#include "team/agent.h"
#include "team/error.h"
#include "team/group_sql.h"
#include "team/limits.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define PROGRAM "program:"

/* What an agent must be to be meant. */
struct meaning {
	int64_t but_id;
	int64_t active_since; /* 0: at any time */
	const char *program;  /* or NULL */
	int64_t group_id;     /* or 0 */
};

static enum mr_code is_meant(struct mr_ctx *cx, struct mr_db *db, const struct meaning *meaning,
	const struct mr_team_agent *agent, bool *out)
{
	*out = !agent->is_system && agent->id != meaning->but_id &&
		agent->last_active_ts >= meaning->active_since &&
		(!meaning->program || strcasecmp(agent->program, meaning->program) == 0);
	if (*out && meaning->group_id)
		return mr_team_group_has(cx, db, meaning->group_id, agent->id, out);
	return MR_OK;
}

enum mr_code mr_team_group_resolve(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_project *project, const char *name, int64_t but_id, bool *found,
	struct mr_team_agents *out)
{
	struct meaning meaning = { .but_id = but_id };
	struct mr_team_agents all;
	int64_t made;
	enum mr_code rc = MR_OK;

	if (strcasecmp(name, "active") == 0)
		meaning.active_since = mr_clock_wall_us(cx->clock) -
			mr_team_config(team)->inactivity_s * INT64_C(1000000);
	else if (strncasecmp(name, PROGRAM, strlen(PROGRAM)) == 0)
		meaning.program = name + strlen(PROGRAM);
	else if (strcasecmp(name, "all") != 0)
		rc = mr_team_group_seek(cx, db, project->id, name, &meaning.group_id, &made);
	*found = !rc &&
		(meaning.active_since || meaning.program || meaning.group_id ||
			strcasecmp(name, "all") == 0);
	if (rc || !*found)
		return rc;
	rc = mr_team_agent_list(cx, db, project->id, true, &all);
	if (rc)
		return rc;
	*out = (struct mr_team_agents){ all.items, 0 };
	for (size_t i = 0; !rc && i < all.len; i++) {
		bool meant = false;

		rc = is_meant(cx, db, &meaning, &all.items[i], &meant);
		if (!rc && meant)
			out->items[out->len++] = all.items[i];
	}
	return rc;
}

struct setting {
	const struct mr_team_group_edit *edit;
	struct mr_team_project project;
	struct mr_team_group group;
};

/* A word in lower case that is no other address. */
static enum mr_code check_name(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *project, const char *name)
{
	struct mr_team_agent agent;
	bool found = false;
	enum mr_code rc;

	if (!*name || strlen(name) > MR_TEAM_NAME_BYTES || mr_str_eq(name, "all") ||
		mr_str_eq(name, "active"))
		return mr_team_refuse(cx, "name",
			"\"%.60s\" cannot be a group's name: it takes 1 to %d letters, digits, - "
			"and _, and not all or active",
			name, MR_TEAM_NAME_BYTES);
	for (const char *at = name; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '-' && *at != '_')
			return mr_team_refuse(cx, "name",
				"\"%.60s\" cannot be a group's name: it takes letters, digits, - "
				"and _",
				name);
	}
	rc = mr_team_agent_seek(cx, db, project->id, name, &found, &agent);
	if (!rc && found)
		rc = mr_team_refuse(cx, "name", "%s is an agent of the project %s", agent.name,
			project->slug);
	return rc;
}

static enum mr_code make(struct mr_ctx *cx, struct mr_db *db, const struct mr_team_project *project,
	const char *name, int64_t *out_id)
{
	int64_t count = 0;
	enum mr_code rc = mr_team_group_count(cx, db, project->id, &count);

	if (!rc && count >= MR_TEAM_GROUPS)
		rc = mr_team_refuse(cx, "name", "the project %s has %lld groups: at most %d",
			project->slug, (long long)count, MR_TEAM_GROUPS);
	return rc ? rc : mr_team_group_insert(cx, db, project->id, name, out_id);
}

static enum mr_code add_members(struct mr_ctx *cx, struct mr_db *db, struct setting *s)
{
	const struct mr_texts *members = &s->edit->members;
	enum mr_code rc = mr_team_group_empty(cx, db, s->group.id);

	for (size_t i = 0; !rc && i < members->len; i++) {
		const char *name = mr_str_trim(cx->arena, members->items[i]);
		struct mr_team_agent agent;

		rc = mr_team_agent_find(cx, db, &s->project, *name == '@' ? name + 1 : name, true,
			&agent);
		if (!rc)
			rc = mr_team_group_add(cx, db, s->group.id, agent.id);
	}
	return rc ? rc : mr_team_group_names(cx, db, s->group.id, &s->group.members);
}

static enum mr_code run_set(struct mr_ctx *cx, struct mr_db *db, void *arg)
{
	struct setting *s = arg;
	enum mr_code rc = check_name(cx, db, &s->project, s->group.name);

	if (!rc)
		rc = mr_team_group_seek(cx, db, s->project.id, s->group.name, &s->group.id,
			&s->group.created_ts);
	if (rc)
		return rc;
	if (!s->edit->members.len)
		return s->group.id ? mr_team_group_delete(cx, db, s->group.id) : MR_OK;
	if (!s->group.id) {
		s->group.created_ts = mr_clock_wall_us(cx->clock);
		rc = make(cx, db, &s->project, s->group.name, &s->group.id);
	}
	return rc ? rc : add_members(cx, db, s);
}

enum mr_code mr_team_group_set(struct mr_ctx *cx, struct mr_team *team,
	const struct mr_team_group_edit *edit, struct mr_team_group *out)
{
	struct setting s = { .edit = edit };
	struct mr_team_agent agent;
	const char *name = mr_str_trim(cx->arena, edit->name);
	enum mr_code rc = MR_OK;

	s.group.name = mr_str_lower(cx->arena, *name == '@' ? name + 1 : name);
	if (edit->members.len > MR_TEAM_RECIPIENTS)
		rc = mr_team_refuse(cx, "members", "%zu members: a group has at most %d",
			edit->members.len, MR_TEAM_RECIPIENTS);
	if (!rc) {
		struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };

		rc = mr_team_read(cx, team, &reader);
		if (!rc)
			rc = mr_team_agent_resolve(cx, team, reader.db, edit->project_key,
				edit->agent_name, &s.project, &agent);
	}
	if (!rc)
		rc = mr_team_write(cx, team, run_set, NULL, &s);
	if (!rc)
		*out = s.group;
	return rc;
}

enum mr_code mr_team_group_list(struct mr_ctx *cx, struct mr_team *team, const char *project_key,
	struct mr_team_groups *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_project project;
	struct mr_team_groups groups;
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_team_project_find(cx, reader.db, project_key, &project);
	if (!rc)
		rc = mr_team_group_rows(cx, reader.db, project.id, &groups);
	for (size_t i = 0; !rc && i < groups.len; i++)
		rc = mr_team_group_names(cx, reader.db, groups.items[i].id,
			&groups.items[i].members);
	if (!rc)
		*out = groups;
	return rc;
}
