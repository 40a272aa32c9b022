/* team/find_sql.c - Finds projects and agents by a part of what they are called. */
#include "team/find.h"

#include "data/rows.h"

#include <string.h>

/* So many are looked through: more projects or agents than anybody looks for by hand. */
enum { LOOKED_THROUGH = 10000 };

static const char SQL_PROJECTS[] = "SELECT p.slug, p.human_key, NULL, NULL FROM projects p"
				   " ORDER BY coalesce((SELECT max(a.last_active_ts) FROM agents a"
				   "  WHERE a.project_id = p.id), 0) DESC, p.id DESC LIMIT ?1";

static const char SQL_AGENTS[] = "SELECT p.slug, p.human_key, a.name, a.task_description"
				 " FROM agents a JOIN projects p ON p.id = a.project_id"
				 " WHERE a.is_active = 1 AND a.is_system = 0"
				 " ORDER BY a.last_active_ts DESC, a.id DESC LIMIT ?1";

struct search {
	const char *text; /* folded */
	size_t left;      /* how many more are wanted */
	struct mr_team_founds *out;
};

static bool holds(struct mr_ctx *cx, const char *name, const char *text)
{
	return name && strstr(mr_str_lower(cx->arena, name), text);
}

static enum mr_code look_at(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct search *search = to;
	struct mr_team_found it;

	if (!search->left)
		return MR_OK;
	mr_stmt_into(row, 0, cx->arena, MR_INTO(&it.project, &it.project_key, &it.agent, &it.task));
	if (it.agent ? !holds(cx, it.agent, search->text) && !holds(cx, it.task, search->text)
		     : !holds(cx, it.project, search->text) &&
				!holds(cx, it.project_key, search->text))
		return MR_OK;
	search->left--;
	search->out->items[search->out->len++] = it;
	return MR_OK;
}

enum mr_code mr_team_find(struct mr_ctx *cx, struct mr_team *team, const char *text, int64_t limit,
	struct mr_team_founds *out)
{
	struct mr_team_reader reader MR_CLEANUP(mr_team_read_done) = { 0 };
	struct mr_team_founds found = {
		mr_arena_array(cx->arena, 2 * (size_t)limit, sizeof(*found.items)), 0
	};
	struct search search = { mr_str_lower(cx->arena, text), (size_t)limit, &found };
	enum mr_code rc = mr_team_read(cx, team, &reader);

	if (!rc)
		rc = mr_rows_each(cx, reader.db, SQL_PROJECTS, MR_BIND(LOOKED_THROUGH), look_at,
			&search);
	search.left = (size_t)limit;
	if (!rc)
		rc = mr_rows_each(cx, reader.db, SQL_AGENTS, MR_BIND(LOOKED_THROUGH), look_at,
			&search);
	if (!rc)
		*out = found;
	return rc;
}
