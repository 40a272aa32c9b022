/*
 * team/recipient.c - Resolves the addresses a sender wrote to agents, and reports unknown or
 * ambiguous ones with suggestions.
 */
#include "team/recipient.h"

#include "base/utf8.h"
#include "team/error.h"
#include "team/group.h"
#include "team/limits.h"
#include "team/name.h"

#include <string.h>

struct resolving {
	struct mr_ctx *cx;
	struct mr_team *team;
	struct mr_db *db;
	const struct mr_team_project *project;
	const struct mr_team_agent *sender;
	const char *tool;
	struct mr_team_addressees found; /* at most MR_TEAM_RECIPIENTS */
	struct mr_texts unknown;
};

struct mr_team_address mr_team_address_parse(struct mr_arena *arena, const char *written)
{
	static const char prefix[] = "project:";
	char *text = mr_str_trim(arena, written);
	struct mr_team_address address = { .name = text };
	char *mark;

	if (mr_str_starts(text, prefix) && (mark = strrchr(text, '#'))) {
		*mark = '\0';
		address.project = mr_str_trim(arena, text + sizeof(prefix) - 1);
		address.name = mr_str_trim(arena, mark + 1);
		return address;
	}
	/* People write @Name. And a name holds no '@', but a project's key may. */
	if (*text == '@')
		address.name = text = mr_str_trim(arena, text + 1);
	mark = strchr(text, '@');
	if (mark) {
		*mark = '\0';
		address.project = mr_str_trim(arena, mark + 1);
		address.name = mr_str_trim(arena, text);
	}
	return address;
}

static enum mr_code add(struct resolving *r, const struct mr_team_agent *agent,
	enum mr_team_recipient_kind kind, bool is_new)
{
	struct mr_team_project project = *r->project;
	enum mr_code rc = MR_OK;

	/* Lists are read from the strongest kind to the weakest. */
	for (size_t i = 0; i < r->found.len; i++) {
		if (r->found.items[i].agent.id == agent->id)
			return MR_OK;
	}
	if (r->found.len == MR_TEAM_RECIPIENTS)
		return mr_team_refuse(r->cx, "to",
			"more than %d recipients: a message has at most so many; write to fewer "
			"with @active, @program:codex or a group",
			MR_TEAM_RECIPIENTS);
	if (agent->project_id != project.id)
		rc = mr_team_project_get(r->cx, r->db, agent->project_id, &project);
	if (rc)
		return rc;
	r->found.items[r->found.len++] = (struct mr_team_addressee){
		.agent = *agent,
		.project_slug = project.slug,
		.project_key = project.human_key,
		.kind = kind,
		.is_new = is_new,
	};
	return MR_OK;
}

static enum mr_code refuse_ambiguous(struct resolving *r, const char *name,
	const struct mr_team_agents *agents, enum mr_team_recipient_kind kind)
{
	struct mr_arena *arena = r->cx->arena;
	struct mr_texts candidates = {
		mr_arena_array(arena, agents->len + 1, sizeof(*candidates.items)), 0
	};

	for (size_t i = 0; i < agents->len; i++) {
		struct mr_team_project project;
		enum mr_code rc =
			mr_team_project_get(r->cx, r->db, agents->items[i].project_id, &project);

		if (rc)
			return rc;
		candidates.items[candidates.len++] =
			mr_arena_printf(arena, "%s@%s", agents->items[i].name, project.slug);
	}
	mr_team_refuse(r->cx, mr_team_kind_name(kind),
		"%s is the name of agents in several projects: write one of %s", name,
		mr_str_join(arena, &candidates, ", "));
	return mr_team_fail_texts(r->cx, "candidates", &candidates);
}

static enum mr_code add_new(struct resolving *r, const char *name, enum mr_team_recipient_kind kind)
{
	struct mr_team_agent row = {
		.project_id = r->project->id,
		.name = name,
		.program = r->sender->program,
		.model = r->sender->model,
		.task_description = r->sender->task_description,
		.is_active = true,
	};
	struct mr_team_agent made;
	enum mr_code rc = mr_team_agent_insert(r->cx, r->db, &row, r->tool, &made);

	return rc ? rc : add(r, &made, kind, true);
}

static bool may_register(const struct resolving *r, const struct mr_team_address *address)
{
	const struct mr_team_config *config = mr_team_config(r->team);

	return config->auto_register && strlen(address->name) <= MR_TEAM_NAME_BYTES &&
		mr_team_name_is_valid(address->name, config->any_name) &&
		!mr_team_name_is_reserved(address->name);
}

/* The exact name, or the name without characters that names cannot have: blue-lake is BlueLake. */
static enum mr_code seek(struct resolving *r, int64_t project_id, const char *name, bool *found,
	struct mr_team_agent *out)
{
	enum mr_code rc = mr_team_agent_seek(r->cx, r->db, project_id, name, found, out);
	const char *plain = mr_team_name_sanitise(r->cx->arena, name);

	if (rc || *found || !*plain || mr_str_eq(plain, name))
		return rc;
	return mr_team_agent_seek(r->cx, r->db, project_id, plain, found, out);
}

static enum mr_code look_elsewhere(struct resolving *r, const char *name,
	struct mr_team_agents *out)
{
	int64_t but = r->project->id;
	const char *plain = mr_team_name_sanitise(r->cx->arena, name);
	enum mr_code rc = mr_team_agent_elsewhere(r->cx, r->db, but, name, out);

	if (rc || out->len || !*plain || mr_str_eq(plain, name))
		return rc;
	return mr_team_agent_elsewhere(r->cx, r->db, but, plain, out);
}

/* In the project that was named, or in the message's own. */
static enum mr_code look_in(struct resolving *r, const struct mr_team_address *address, bool *found,
	bool *local, struct mr_team_agent *out)
{
	struct mr_team_project project = *r->project;
	enum mr_code rc = MR_OK;

	if (address->project) {
		rc = mr_team_project_find(r->cx, r->db, address->project, &project);
		if (rc)
			return mr_err_wrap(&r->cx->err, "recipient %s", address->name);
	}
	*local = project.id == r->project->id;
	return seek(r, project.id, address->name, found, out);
}

/* Blind copies are nobody's to see, so their groups are not kept. */
static void note_group(struct resolving *r, const char *name, const struct mr_team_project *project,
	enum mr_team_recipient_kind kind)
{
	bool here = project->id == r->project->id;

	if (kind == MR_TEAM_BCC)
		return;
	r->found.addressed = mr_arena_printf(r->cx->arena, "%s%s@%s%s%s",
		r->found.addressed ? r->found.addressed : "", r->found.addressed ? "\n" : "", name,
		here ? "" : "@", here ? "" : project->slug);
}

/* "@name" when it is a group's: all that are in it now. */
static enum mr_code resolve_group(struct resolving *r, const struct mr_team_address *address,
	enum mr_team_recipient_kind kind, bool *found)
{
	const char *name = *address->name == '@' ? address->name + 1 : address->name;
	struct mr_team_project project = *r->project;
	struct mr_team_agents agents;
	enum mr_code rc = MR_OK;

	if (!*name || strlen(name) > MR_TEAM_KEY_BYTES || strpbrk(name, "\n\r"))
		return MR_OK;
	if (address->project)
		rc = mr_team_project_find(r->cx, r->db, address->project, &project);
	if (rc)
		return mr_err_wrap(&r->cx->err, "recipient @%s", name);
	rc = mr_team_group_resolve(r->cx, r->team, r->db, &project, name, r->sender->id, found,
		&agents);
	if (rc || !*found)
		return rc;
	if (!agents.len)
		return mr_team_refuse(r->cx, mr_team_kind_name(kind),
			"nobody but the sender is in @%s of the project %s", name, project.slug);
	for (size_t i = 0; !rc && i < agents.len; i++)
		rc = add(r, &agents.items[i], kind, false);
	note_group(r, name, &project, kind);
	return rc;
}

static enum mr_code resolve_agent(struct resolving *r, const char *written,
	const struct mr_team_address *at, enum mr_team_recipient_kind kind)
{
	struct mr_team_address address = *at;
	struct mr_team_agents elsewhere = { NULL, 0 };
	struct mr_team_agent agent;
	bool found = false;
	bool local = true;
	enum mr_code rc = MR_OK;
	bool is_name = *address.name && strlen(address.name) <= MR_TEAM_KEY_BYTES;

	if (is_name)
		rc = look_in(r, &address, &found, &local, &agent);
	/* A retired agent gives way to an active one of the same name in another project. */
	if (!rc && is_name && !address.project && !(found && agent.is_active))
		rc = look_elsewhere(r, address.name, &elsewhere);
	if (rc)
		return rc;
	if (elsewhere.len == 1)
		return add(r, &elsewhere.items[0], kind, false);
	if (found)
		return add(r, &agent, kind, false);
	if (elsewhere.len > 1)
		return refuse_ambiguous(r, address.name, &elsewhere, kind);
	if (is_name && local && may_register(r, &address))
		return add_new(r, address.name, kind);
	r->unknown.items[r->unknown.len++] = mr_arena_strndup(r->cx->arena, written,
		mr_utf8_truncate(written, strlen(written), MR_TEAM_KEY_BYTES));
	return MR_OK;
}

static enum mr_code resolve_one(struct resolving *r, const char *written,
	enum mr_team_recipient_kind kind)
{
	struct mr_team_address address = mr_team_address_parse(r->cx->arena, written);
	bool is_group = false;
	enum mr_code rc = MR_OK;

	if (*mr_str_trim(r->cx->arena, written) == '@' || *address.name == '@')
		rc = resolve_group(r, &address, kind, &is_group);
	return rc || is_group ? rc : resolve_agent(r, written, &address, kind);
}

static enum mr_code resolve_list(struct resolving *r, const struct mr_texts *list,
	enum mr_team_recipient_kind kind)
{
	enum mr_code rc = MR_OK;

	for (size_t i = 0; !rc && i < list->len; i++)
		rc = resolve_one(r, list->items[i], kind);
	return rc;
}

static bool could_register(const struct resolving *r, const char *name)
{
	return mr_team_name_is_valid(name, mr_team_config(r->team)->any_name);
}

/* Tool calls that would register the unknown names; only for valid names, since others would be
 * changed. */
static struct mr_value suggested_calls(const struct resolving *r)
{
	struct mr_value calls = mr_team_value_list(r->cx->arena, MR_TEAM_SUGGESTIONS);
	size_t count = 0;

	for (size_t i = 0; i < r->unknown.len && count < MR_TEAM_SUGGESTIONS; i++) {
		struct mr_pair arguments[] = {
			{ "project_key", mr_team_value_text(r->project->human_key) },
			{ "name", mr_team_value_text(r->unknown.items[i]) },
			{ "program", mr_team_value_text(r->sender->program) },
			{ "model", mr_team_value_text(r->sender->model) },
		};
		struct mr_pair call[] = {
			{ "tool", mr_team_value_text("register_agent") },
			{ "arguments",
				mr_team_value_map(r->cx->arena, arguments, MR_LEN(arguments)) },
		};

		if (could_register(r, r->unknown.items[i]))
			calls.list.items[count++] =
				mr_team_value_map(r->cx->arena, call, MR_LEN(call));
	}
	calls.list.len = count;
	return calls;
}

#define FORM                                                                                       \
	"; a name is two words, GreenCastle, and may say its project, GreenCastle@backend; @all, " \
	"@active, @program:codex and groups (list_groups) are several agents"

static enum mr_code refuse_unknown(struct resolving *r)
{
	struct mr_arena *arena = r->cx->arena;
	struct mr_team_agents agents;
	struct mr_texts names = { NULL, 0 };
	struct mr_texts near, given;
	struct mr_value calls = suggested_calls(r);
	enum mr_code rc = mr_team_agent_list(r->cx, r->db, r->project->id, true, &agents);

	if (!rc)
		rc = mr_team_agent_asked(r->cx, r->db, r->project->id, r->unknown.items[0], &given);
	if (rc)
		return rc;
	names.items = mr_arena_array(arena, agents.len + 1, sizeof(*names.items));
	for (size_t i = 0; i < agents.len; i++)
		names.items[names.len++] = agents.items[i].name;
	/* Whoever asked for that name and was given another is the nearest of all. */
	near = given.len ? given : mr_team_nearest(arena, r->unknown.items[0], &names);
	mr_team_fail(r->cx, MR_TEAM_RECIPIENT_NOT_FOUND,
		"nobody is called %s in project %s, and no agent elsewhere is%s%s",
		mr_str_join(arena, &r->unknown, ", "), r->project->slug,
		near.len                                         ? "; near: "
			: could_register(r, r->unknown.items[0]) ? ""
								 : FORM,
		near.len ? mr_str_join(arena, &near, ", ") : "");
	mr_team_fail_texts(r->cx, "unknown_recipients", &r->unknown);
	mr_team_fail_texts(r->cx, "suggestions", &near);
	mr_team_fail_value(r->cx, "suggested_tool_calls", &calls);
	return mr_team_fail_text(r->cx, "code_alias", "RECIPIENT_UNKNOWN");
}

enum mr_code mr_team_recipients_resolve(struct mr_ctx *cx, struct mr_team *team, struct mr_db *db,
	const struct mr_team_project *project, const struct mr_team_agent *sender,
	const struct mr_team_address_lists *lists, const char *tool, struct mr_team_addressees *out)
{
	size_t count = lists->to.len + lists->cc.len + lists->bcc.len;
	struct resolving r = {
		.cx = cx,
		.team = team,
		.db = db,
		.project = project,
		.sender = sender,
		.tool = tool,
	};
	enum mr_code rc;

	if (count == 0)
		return mr_team_refuse(cx, "to", "a message needs somebody in to, cc or bcc");
	if (count > MR_TEAM_RECIPIENTS)
		return mr_team_refuse(cx, "to", "%zu recipients: a message has at most %d", count,
			MR_TEAM_RECIPIENTS);
	r.found.items = mr_arena_array(cx->arena, MR_TEAM_RECIPIENTS, sizeof(*r.found.items));
	r.unknown.items = mr_arena_array(cx->arena, count + 1, sizeof(*r.unknown.items));
	rc = resolve_list(&r, &lists->to, MR_TEAM_TO);
	if (!rc)
		rc = resolve_list(&r, &lists->cc, MR_TEAM_CC);
	if (!rc)
		rc = resolve_list(&r, &lists->bcc, MR_TEAM_BCC);
	if (!rc && r.unknown.len)
		rc = refuse_unknown(&r);
	if (!rc)
		*out = r.found;
	return rc;
}
