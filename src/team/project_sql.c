/* team/project_sql.c */
#include "team/project_sql.h"

#include "team/error.h"
#include "team/limits.h"
#include "text/token.h"

#include <string.h>

#define COLUMNS "id, slug, human_key, identity_mode, created_at"

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

static struct mr_team_project read_row(struct mr_ctx *cx, struct mr_stmt *stmt)
{
	return (struct mr_team_project){
		.id = mr_stmt_int(stmt, 0),
		.slug = mr_stmt_text(stmt, 1, cx->arena),
		.human_key = mr_stmt_text(stmt, 2, cx->arena),
		.identity_mode = mr_stmt_text(stmt, 3, cx->arena),
		.created_at = mr_stmt_int(stmt, 4),
	};
}

/* One row, found by one text. */
static enum mr_code by_text(struct mr_ctx *cx, struct mr_db *db, const char *sql, const char *text,
	bool *found, struct mr_team_project *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, sql, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, text);
	rc = mr_stmt_step(stmt, found, &cx->err);
	if (!rc && *found)
		*out = read_row(cx, stmt);
	return rc;
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

/* Every row of a statement whose parameters are bound. */
static enum mr_code read_rows(struct mr_ctx *cx, struct mr_stmt *stmt, struct mr_team_projects *out)
{
	struct mr_team_projects rows = { NULL, 0 };
	size_t room = 0;

	for (;;) {
		bool row = false;
		enum mr_code rc = mr_stmt_step(stmt, &row, &cx->err);

		if (rc)
			return rc;
		if (!row)
			break;
		if (rows.len == room) {
			struct mr_team_project *more;

			room = room ? 2 * room : 16;
			more = mr_arena_array(cx->arena, room, sizeof(*more));
			if (rows.len)
				memcpy(more, rows.items, rows.len * sizeof(*more));
			rows.items = more;
		}
		rows.items[rows.len++] = read_row(cx, stmt);
	}
	*out = rows;
	return MR_OK;
}

static const char SQL_BY_TAIL[] =
	"SELECT " COLUMNS " FROM projects WHERE tail = ?1 ORDER BY id LIMIT ?2";

enum mr_code mr_team_project_by_tail(struct mr_ctx *cx, struct mr_db *db, const char *tail,
	int64_t limit, struct mr_team_projects *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_BY_TAIL, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, tail);
	mr_stmt_bind_int(stmt, 2, limit);
	return read_rows(cx, stmt, out);
}

static const char SQL_LIST[] = "SELECT " COLUMNS " FROM projects ORDER BY id";

enum mr_code mr_team_project_list(struct mr_ctx *cx, struct mr_db *db, struct mr_team_projects *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_LIST, &stmt, &cx->err);

	return rc ? rc : read_rows(cx, stmt, out);
}

static const char SQL_GET[] = "SELECT " COLUMNS " FROM projects WHERE id = ?1";

enum mr_code mr_team_project_get(struct mr_ctx *cx, struct mr_db *db, int64_t id,
	struct mr_team_project *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_GET, &stmt, &cx->err);
	bool row = false;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, id);
	rc = mr_stmt_step(stmt, &row, &cx->err);
	if (rc)
		return rc;
	if (!row)
		return mr_team_fail(cx, MR_TEAM_NOT_FOUND, "there is no project with the id %lld",
			(long long)id);
	*out = read_row(cx, stmt);
	return MR_OK;
}

static const char SQL_INSERT[] =
	"INSERT INTO projects (slug, human_key, key_fold, tail, identity_mode, created_at)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

enum mr_code mr_team_project_insert(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_team_project *row, struct mr_team_project *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_INSERT, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, row->slug);
	mr_stmt_bind_text(stmt, 2, row->human_key);
	mr_stmt_bind_text(stmt, 3, mr_team_project_fold(cx->arena, row->human_key));
	mr_stmt_bind_text(stmt, 4, mr_team_project_tail(cx->arena, row->human_key));
	mr_stmt_bind_text(stmt, 5, row->identity_mode);
	mr_stmt_bind_int(stmt, 6, row->created_at);
	rc = mr_stmt_run(stmt, &cx->err);
	if (rc)
		return rc;
	*out = *row;
	out->id = mr_db_last_id(db);
	return MR_OK;
}

static const char SQL_ADD_KEY[] = "INSERT INTO project_keys (key_fold, project_id) VALUES (?1, ?2)"
				  " ON CONFLICT (key_fold) DO NOTHING";

enum mr_code mr_team_project_add_key(struct mr_ctx *cx, struct mr_db *db, int64_t project_id,
	const char *key)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	enum mr_code rc = mr_db_prepare(db, SQL_ADD_KEY, &stmt, &cx->err);

	if (rc)
		return rc;
	mr_stmt_bind_text(stmt, 1, mr_team_project_fold(cx->arena, key));
	mr_stmt_bind_int(stmt, 2, project_id);
	return mr_stmt_run(stmt, &cx->err);
}

enum { WORDS_MAX = 5000 };
static const char SQL_WORDS[] = "SELECT slug, tail FROM projects ORDER BY id DESC LIMIT ?1";

enum mr_code mr_team_project_words(struct mr_ctx *cx, struct mr_db *db, struct mr_texts *out)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_texts words = {
		mr_arena_array(cx->arena, 2 * WORDS_MAX + 1, sizeof(*words.items)), 0
	};
	enum mr_code rc = mr_db_prepare(db, SQL_WORDS, &stmt, &cx->err);
	bool row = true;

	if (rc)
		return rc;
	mr_stmt_bind_int(stmt, 1, WORDS_MAX);
	while (!rc && row) {
		rc = mr_stmt_step(stmt, &row, &cx->err);
		for (int column = 0; !rc && row && column < 2; column++) {
			const char *word = mr_stmt_text(stmt, column, cx->arena);

			if (*word && (!column || !mr_str_eq(word, words.items[words.len - 1])))
				words.items[words.len++] = word;
		}
	}
	if (!rc)
		*out = words;
	return rc;
}
