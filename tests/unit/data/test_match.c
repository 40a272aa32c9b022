/* tests/unit/data/test_match.c */
#include "data/match.h"

#include "data/rows.h"
#include "query_keys.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const char *const columns[] = { "subject", "body", NULL };
static const struct mr_db_search search = {
	.name = "message_search",
	.table = "message",
	.id = "id",
	.columns = columns,
};

static struct mr_db *open_filled(void)
{
	struct mr_db_options options = { .create = true };
	struct mr_db *db = NULL;
	struct mr_err err;
	char path[128];

	snprintf(path, sizeof(path), "%s/db", test_dir());
	options.path = path;
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	CHECK_OK(mr_db_exec(db,
			 "CREATE TABLE message(id INTEGER PRIMARY KEY, subject TEXT, body TEXT);"
			 "INSERT INTO message VALUES (1, 'deploy plan', 'for users'),"
			 "(2, 'other', 'a deploy plan'), (3, 'users', '100% -> done'),"
			 "(4, '\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e', 'plan')",
			 &err),
		err);
	CHECK_OK(mr_db_search_create(db, &search, &err), err);
	CHECK_OK(mr_db_search_rebuild(db, &search, &err), err);
	return db;
}

static void ids(struct mr_stmt *stmt, char *out, size_t size)
{
	struct mr_err err;
	bool row = true;

	out[0] = '\0';
	for (;;) {
		CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
		if (!row)
			return;
		snprintf(out + strlen(out), size - strlen(out), "%lld ",
			(long long)mr_stmt_int(stmt, 0));
	}
}

static void by_index(struct mr_db *db, const struct mr_query *query, char *out, size_t size)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_db_search_query asked = { .limit = 10, .newest_first = true };
	struct mr_err err;

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	mr_match_put(db, &search, query, mr_match_mode(query), &match);
	asked.match = mr_buf_text(&match);
	CHECK_OK(mr_db_search_prepare(db, &search, &asked, &stmt, &err), err);
	ids(stmt, out, size);
}

static void by_texts(struct mr_db *db, struct mr_arena *arena, const struct mr_query *query,
	char *out, size_t size)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf sql MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bind values[MR_QUERY_TERMS + 1] = { 0 };
	struct mr_err err;

	mr_buf_init(&sql, 1 << 16);
	mr_buf_puts(&sql, "SELECT t.id FROM message t WHERE ");
	mr_match_like(arena, &search, query, 1, values, &sql);
	mr_buf_puts(&sql, " ORDER BY t.id DESC");
	CHECK_OK(mr_db_prepare(db, mr_buf_text(&sql), &stmt, &err), err);
	mr_stmt_bind(stmt, 1, values);
	ids(stmt, out, size);
}

static void finds(void)
{
	static const struct {
		const char *text;
		enum mr_match_mode mode;
		const char *want;
	} cases[] = {
		{ "plan", MR_MATCH_FTS, "4 2 1 " },
		{ "\"deploy plan\"", MR_MATCH_FTS, "2 1 " },
		{ "subject:plan", MR_MATCH_FTS, "1 " },
		{ "body:plan -deploy", MR_MATCH_FTS, "4 " },
		{ "use* OR other", MR_MATCH_FTS, "3 2 1 " },
		{ "-> plan", MR_MATCH_FTS, "4 2 1 " },
		{ "(plan deploy", MR_MATCH_QUOTED, "2 1 " },
		{ "->", MR_MATCH_LIKE, "3 " },
		{ "%", MR_MATCH_LIKE, "3 " },
		{ "-plan", MR_MATCH_LIKE, "3 " },
		{ "\xe6\x9c\xac", MR_MATCH_LIKE, "4 " },
		{ "body:\xe6\x9c\xac", MR_MATCH_LIKE, "" },
		{ "plan (\xe6\x9c\xac OR users)", MR_MATCH_LIKE, "4 1 " },
		{ "since:1d", MR_MATCH_FILTERS, "" },
	};
	struct mr_db *db = open_filled();

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		struct mr_query query;
		char found[256] = "";

		mr_query_parse(arena, query_keys, 0, cases[i].text, &query);
		CHECK_INT(mr_match_mode(&query), cases[i].mode);
		if (cases[i].mode == MR_MATCH_LIKE)
			by_texts(db, arena, &query, found, sizeof(found));
		else if (cases[i].mode != MR_MATCH_FILTERS)
			by_index(db, &query, found, sizeof(found));
		if (strcmp(found, cases[i].want) != 0)
			test_fail(__FILE__, __LINE__, "%s: %s, not %s", cases[i].text, found,
				cases[i].want);
	}
	mr_db_close(db);
}

int main(void)
{
	static const struct test tests[] = { TEST(finds) };

	return test_main(tests, MR_LEN(tests));
}
