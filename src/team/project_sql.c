/*
 * team/project_sql.c - Reads and writes the rows of projects, and the additional keys that lead to
 * them.
 */
#include "team/project_sql.h"

#include "data/rows.h"
#include "team/error.h"
#include "team/limits.h"
#include "text/token.h"

#include <string.h>

#define COLUMNS MR_TEAM_PROJECT_COLUMNS("projects")

const char *mr_team_project_fold(struct mr_arena *arena, const char *key)
{
	char *fold = mr_str_lower(arena, key);
	size_t len = 0;

	for (const char *at = fold; *at; at++) {
		if (*at != '/' || len == 0 || fold[len - 1] != '/')
			fold[len++] = *at;
	}
	if (len > 1 && fold[len - 1] == '/')
		len--;
	fold[len] = '\0';
	return fold;
}

const char *mr_team_project_tail(struct mr_arena *arena, const char *key)
{
	const char *fold = mr_team_project_fold(arena, key);
	const char *slash = strrchr(fold, '/');

	return mr_token_slug(arena, slash ? slash + 1 : fold, MR_TEAM_KEY_BYTES, "");
}

enum mr_code mr_team_project_read(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_project *it = to;

	*it = (struct mr_team_project){ 0 };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->slug, &it->human_key, &it->identity_mode, &it->created_at));
	return MR_OK;
}

/* One row, found by one text. */
static enum mr_code by_text(struct mr_ctx *cx, struct mr_db *db, const char *sql, const char *text,
	bool *found, struct mr_team_project *out)
{
	return mr_rows_first(cx, db, sql, MR_BIND(text), mr_team_project_read, out, found);
}

static const char SQL_BY_KEY[] = "SELECT " COLUMNS " FROM projects WHERE key_fold = ?1";
static const char SQL_BY_OTHER_KEY[] = "SELECT " COLUMNS " FROM projects WHERE id ="
				       " (SELECT project_id FROM project_keys WHERE key_fold = ?1)";

enum mr_code mr_team_project_by_key(struct mr_ctx *cx, struct mr_db *db, const char *key,
	bool *found, struct mr_team_project *out)
{
	const char *fold = mr_team_project_fold(cx->arena, key);
	enum mr_code rc = by_text(cx, db, SQL_BY_KEY, fold, found, out);

	if (!rc && !*found)
		rc = by_text(cx, db, SQL_BY_OTHER_KEY, fold, found, out);
	return rc;
}

static const char SQL_BY_SLUG[] = "SELECT " COLUMNS " FROM projects WHERE slug = ?1";

enum mr_code mr_team_project_by_slug(struct mr_ctx *cx, struct mr_db *db, const char *slug,
	bool *found, struct mr_team_project *out)
{
	return by_text(cx, db, SQL_BY_SLUG, slug, found, out);
}

static const char SQL_BY_TAIL[] =
	"SELECT " COLUMNS " FROM projects WHERE tail = ?1 ORDER BY id LIMIT ?2";

enum mr_code mr_team_project_by_tail(struct mr_ctx *cx, struct mr_db *db, const char *tail,
	int64_t limit, struct mr_team_projects *out)
{
	return mr_rows_list(cx, db, SQL_BY_TAIL, MR_BIND(tail, limit), mr_team_project_read,
		MR_LIST(out));
}

/* Whoever says the last part of its key finds this project, when no other has that, or is called
 * so. */
#define WITH_SHORT_NAME                                                                            \
	"SELECT " COLUMNS                                                                          \
	", tail = '' OR EXISTS (SELECT 1 FROM projects o WHERE o.id <> projects.id"                \
	" AND (o.tail = projects.tail OR o.slug = projects.tail)) FROM projects"

static const char SQL_LIST[] = WITH_SHORT_NAME " ORDER BY projects.id" MR_ROWS_ALL;

static enum mr_code read_listed(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_team_project *it = to;
	const char *slash;
	int64_t ambiguous;
	char *key;

	*it = (struct mr_team_project){ 0 };
	mr_stmt_into(row, 0, cx->arena,
		MR_INTO(&it->id, &it->slug, &it->human_key, &it->identity_mode, &it->created_at,
			&ambiguous));
	key = mr_arena_strdup(cx->arena, it->human_key);
	while (mr_str_ends(key, "/"))
		key[strlen(key) - 1] = '\0';
	slash = strrchr(key, '/');
	it->short_name = ambiguous ? it->slug : slash ? slash + 1 : key;
	return MR_OK;
}

enum mr_code mr_team_project_list(struct mr_ctx *cx, struct mr_db *db, struct mr_team_projects *out)
{
	return mr_rows_list(cx, db, SQL_LIST, NULL, read_listed, MR_LIST(out));
}

static const char SQL_CALLED[] = WITH_SHORT_NAME " WHERE projects.id = ?1";

enum mr_code mr_team_project_called(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_project *out)
{
	return mr_rows_first(cx, db, SQL_CALLED, MR_BIND(id), read_listed, out, NULL);
}

static const char SQL_GET[] = "SELECT " COLUMNS " FROM projects WHERE id = ?1";

enum mr_code mr_team_project_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_project *out)
{
	bool found = false;
	enum mr_code rc =
		mr_rows_first(cx, db, SQL_GET, MR_BIND(id), mr_team_project_read, out, &found);

	if (!rc && !found)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no project with the id %lld",
			(long long)id);
	return rc;
}

static const char SQL_INSERT[] =
	"INSERT INTO projects (slug, human_key, key_fold, tail, identity_mode, created_at)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id";

enum mr_code mr_team_project_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *row, struct mr_team_project *out)
{
	struct mr_team_project made = *row;
	enum mr_code rc = mr_rows_returning(cx, db, SQL_INSERT,
		MR_BIND(row->slug, row->human_key, mr_team_project_fold(cx->arena, row->human_key),
			mr_team_project_tail(cx->arena, row->human_key), row->identity_mode,
			row->created_at),
		MR_INTO(&made.id), NULL);

	if (!rc)
		*out = made;
	return rc;
}

static const char SQL_ADD_KEY[] = "INSERT INTO project_keys (key_fold, project_id) VALUES (?1, ?2)"
				  " ON CONFLICT (key_fold) DO NOTHING";

enum mr_code mr_team_project_add_key(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *key)
{
	return mr_rows_run(cx, db, SQL_ADD_KEY,
		MR_BIND(mr_team_project_fold(cx->arena, key), project_id));
}

enum { WORDS_MAX = 5000 };
static const char SQL_WORDS[] = "SELECT slug, tail FROM projects ORDER BY id DESC LIMIT ?1";

static enum mr_code add_words(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_texts *words = to;
	const char *slug, *tail;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&slug, &tail));
	if (*slug)
		words->items[words->len++] = slug;
	if (*tail && !mr_str_eq(tail, slug))
		words->items[words->len++] = tail;
	return MR_OK;
}

enum mr_code mr_team_project_words(struct mr_ctx *cx, struct mr_db *db, struct mr_texts *out)
{
	struct mr_texts words = {
		mr_arena_array(cx->arena, 2 * WORDS_MAX + 1, sizeof(*words.items)), 0
	};
	enum mr_code rc = mr_rows_each(cx, db, SQL_WORDS, MR_BIND(WORDS_MAX), add_words, &words);

	if (!rc)
		*out = words;
	return rc;
}
