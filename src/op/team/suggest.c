/* op/team/suggest.c - finds projects, agents, threads and products by the beginning of their
 * names. */
#include "op/team/suggest.h"

#include "op/agent_auth.h"
#include "team/ask.h"
#include "team/limits.h"

#include <string.h>
#include <strings.h>

enum { THREADS_OF = 5 }; /* projects whose threads are looked at, when none was chosen */

struct suggesting {
	struct mr_ctx *cx;
	struct mr_team *team;
	const struct mr_team_rights *rights;
	const char *begun;
	const char *project; /* that was chosen before, or NULL */
	struct mr_texts *found;
};

/* Suggest the value if it begins with what was typed, in any case. */
static void offer(struct suggesting *s, const char *value)
{
	if (value && s->found->len < MR_SUGGESTIONS &&
		strncasecmp(value, s->begun, strlen(s->begun)) == 0)
		s->found->items[s->found->len++] = value;
}

static enum mr_code offer_projects(struct suggesting *s)
{
	struct mr_team_projects projects;
	enum mr_code rc = mr_team_ask_projects(s->cx, s->team, &projects);

	for (size_t i = 0; !rc && i < projects.len; i++) {
		size_t before = s->found->len;

		offer(s, projects.items[i].slug);
		/* Propose the path instead of the slug when a path was begun. */
		if (s->found->len == before && *s->begun == '/')
			offer(s, projects.items[i].human_key);
	}
	return rc;
}

/* `*found` is false when none was chosen, or none that we know. */
static enum mr_code chosen_project(struct suggesting *s, bool *found, struct mr_team_project *out)
{
	enum mr_code rc;

	*found = false;
	if (!s->project)
		return MR_OK;
	rc = mr_team_ask_project(s->cx, s->team, s->project, out);
	*found = !rc;
	return rc == MR_ENOTFOUND || rc == MR_EINVAL ? MR_OK : rc;
}

static enum mr_code offer_agents(struct suggesting *s)
{
	struct mr_team_project project;
	bool found;
	enum mr_code rc = chosen_project(s, &found, &project);

	return rc ? rc
		  : mr_team_ask_names(s->cx, s->team, found ? project.id : 0, s->begun,
			    MR_SUGGESTIONS, s->found);
}

static enum mr_code offer_threads_of(struct suggesting *s, const char *project_key)
{
	struct mr_team_threads threads;
	enum mr_code rc = mr_team_ask_threads(s->cx, s->team, s->rights, project_key, 0,
		MR_TEAM_LIST_MAX, &threads);

	for (size_t i = 0; !rc && i < threads.len; i++) {
		if (!mr_texts_has(s->found, threads.items[i].thread_id))
			offer(s, threads.items[i].thread_id);
	}
	return rc;
}

/* Of the chosen project, or of the newest few projects when none was chosen. */
static enum mr_code offer_threads(struct suggesting *s)
{
	struct mr_team_projects projects;
	struct mr_team_project project;
	bool found;
	enum mr_code rc = chosen_project(s, &found, &project);

	if (rc || found)
		return rc ? rc : offer_threads_of(s, project.human_key);
	rc = mr_team_ask_projects(s->cx, s->team, &projects);
	for (size_t i = 0; !rc && i < projects.len && i < THREADS_OF; i++)
		rc = offer_threads_of(s, projects.items[projects.len - 1 - i].human_key);
	return rc;
}

static enum mr_code offer_products(struct suggesting *s)
{
	struct mr_team_products products;
	enum mr_code rc = mr_team_ask_products(s->cx, s->team, &products);

	for (size_t i = 0; !rc && i < products.len; i++)
		offer(s, products.items[i].product_uid);
	return rc;
}

static enum mr_code offer_flags(struct suggesting *s)
{
	offer(s, "true");
	offer(s, "false");
	return MR_OK;
}

enum mr_code mr_suggest(struct mr_call *call, struct mr_team *team, enum mr_suggest_subject subject,
	const char *begun, const char *project, struct mr_texts *out)
{
	static enum mr_code (*const offers[])(struct suggesting *) = {
		[MR_SUGGEST_NOTHING] = NULL,
		[MR_SUGGEST_FLAG] = offer_flags,
		[MR_SUGGEST_PROJECT] = offer_projects,
		[MR_SUGGEST_AGENT] = offer_agents,
		[MR_SUGGEST_THREAD] = offer_threads,
		[MR_SUGGEST_PRODUCT] = offer_products,
	};
	struct suggesting s = { &call->cx, team, &call->rights, begun, project, out };
	enum mr_code rc = mr_agent_auth_readers(call, team, true);

	*out = (struct mr_texts){ .items = mr_arena_array(call->cx.arena, MR_SUGGESTIONS + 1,
					  sizeof(*out->items)) };
	return rc || !offers[subject] ? rc : offers[subject](&s);
}
