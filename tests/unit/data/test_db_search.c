/* tests/unit/data/test_db_search.c - the search functions of data/db.h on SQLite */
#include "data/db.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const columns[] = { "subject", "body", NULL };
static const double weights[] = { 2, 1 };
static const struct mr_db_search search = {
	.name = "message_search",
	.table = "message",
	.id = "id",
	.columns = columns,
	.weights = weights,
};

static void exec(struct mr_db *db, const char *sql)
{
	struct mr_err err;

	CHECK_OK(mr_db_exec(db, sql, &err), err);
}

static void add_all(struct mr_db *db, int64_t last)
{
	struct mr_err err;

	for (int64_t id = 1; id <= last; id++)
		CHECK_OK(mr_db_search_add(db, &search, id, &err), err);
}

static struct mr_db *open_db(void)
{
	struct mr_db_options options = { .create = true };
	struct mr_db *db = NULL;
	struct mr_err err;
	char path[128];

	snprintf(path, sizeof(path), "%s/db", test_dir());
	options.path = path;
	CHECK_OK(mr_db_open(&options, &db, &err), err);
	exec(db,
		"CREATE TABLE message(id INTEGER PRIMARY KEY, project INTEGER, subject TEXT, body "
		"TEXT)");
	CHECK_OK(mr_db_search_create(db, &search, &err), err);
	return db;
}

static struct mr_db *open_filled(void)
{
	struct mr_db *db = open_db();

	exec(db,
		"INSERT INTO message VALUES"
		"(1, 1, 'deploy plan', 'the build plan for users and the full-text index'),"
		"(2, 1, 'other things', 'deploy it with care'),"
		"(3, 1, 'Caf\xc3\xa9 Z\xc3\xbcrich', 'migration of src/team/search.c, ticket "
		"BD-123'),"
		"(4, 2, 'deploy again', 'plan build'),"
		"(5, 2, NULL, 'a \"quoted\" word AND another, NOT more; user@example.org')");
	add_all(db, 5);
	return db;
}

/* The ids a query finds, in order: "1 4 2 ". */
static const char *ids_of(struct mr_db *db, const struct mr_db_search_query *query, int64_t project)
{
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	static char found[256];
	struct mr_err err;
	bool row = true;

	found[0] = '\0';
	CHECK_OK(mr_db_search_prepare(db, &search, query, &stmt, &err), err);
	if (query->where)
		mr_stmt_bind_int(stmt, 4, project);
	for (;;) {
		size_t len = strlen(found);

		CHECK_OK(mr_stmt_step(stmt, &row, &err), err);
		if (!row)
			return found;
		CHECK(query->newest_first ? mr_stmt_real(stmt, 1) == 0 : mr_stmt_real(stmt, 1) > 0);
		snprintf(found + len, sizeof(found) - len, "%d ", (int)mr_stmt_int(stmt, 0));
	}
}

static const char *find_match(struct mr_db *db, const char *match)
{
	return ids_of(db, &(struct mr_db_search_query){ .match = match, .limit = 100 }, 0);
}

/* What one quoted term finds. */
static const char *find(struct mr_db *db, const char *column, const char *term, bool prefix)
{
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_err err;

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	mr_db_search_quote(db, &search, &match, column, term, prefix);
	CHECK_OK(mr_buf_check(&match, "match", &err), err);
	return find_match(db, mr_buf_text(&match));
}

static void finds_terms(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	static const struct {
		const char *column;
		const char *term;
		bool prefix;
		const char *ids;
	} cases[] = {
		{ NULL, "care", false, "2 " },
		{ NULL, "build plan", false, "1 " },
		{ NULL, "BUILD", false, "4 1 " },
		{ NULL, "migrat", false, "" },
		{ NULL, "migrat", true, "3 " },
		{ NULL, "build pl", true, "1 " },
		{ "subject", "plan", false, "1 " },
		{ "body", "plan", false, "4 1 " },
		{ NULL, "cafe", false, "3 " },
		{ NULL, "ZURICH", false, "3 " },
		{ NULL, "full-text", false, "1 " },
		{ NULL, "src/team/search.c", false, "3 " },
		{ NULL, "bd-123", false, "3 " },
		{ NULL, "user@example.org", false, "5 " },
		{ NULL, "\"quoted\"", false, "5 " },
		{ NULL, "another NOT more", false, "5 " },
		{ NULL, "users OR care", false, "" },
		{ NULL, "subject:plan", false, "" },
		{ NULL, "plan*", false, "1 4 " },
		{ NULL, "'; DROP TABLE message", false, "" },
		{ NULL, "\"", false, "" },
		{ NULL, "\"\" OR \"deploy", false, "" },
		{ NULL, "*", true, "" },
		{ NULL, "^ + ( ) { } : , -", false, "" },
		{ NULL, "", false, "" },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(find(db, cases[i].column, cases[i].term, cases[i].prefix), cases[i].ids);
}

static void combines_terms(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	mr_db_search_word(db, &match, MR_DB_SEARCH_OPEN);
	mr_db_search_quote(db, &search, &match, NULL, "care", false);
	mr_db_search_word(db, &match, MR_DB_SEARCH_OR);
	mr_db_search_quote(db, &search, &match, NULL, "plan", false);
	mr_db_search_word(db, &match, MR_DB_SEARCH_CLOSE);
	mr_db_search_word(db, &match, MR_DB_SEARCH_AND);
	mr_db_search_quote(db, &search, &match, "subject", "depl", true);
	mr_db_search_word(db, &match, MR_DB_SEARCH_NOT);
	mr_db_search_quote(db, &search, &match, NULL, "users", false);
	CHECK_STR(find_match(db, mr_buf_text(&match)), "4 ");

	/* A term without a word in it matches nothing. */
	mr_buf_clear(&match);
	mr_db_search_quote(db, &search, &match, NULL, "care", false);
	mr_db_search_word(db, &match, MR_DB_SEARCH_AND);
	mr_db_search_quote(db, &search, &match, NULL, "--", false);
	CHECK_STR(find_match(db, mr_buf_text(&match)), "");
}

static void ranks_filters_and_pages(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	static const struct {
		struct mr_db_search_query query;
		int64_t project;
		const char *ids;
	} cases[] = {
		/* Hits in the subject count twice; the shorter message says it more densely. */
		{ { .match = "deploy", .limit = 10 }, 0, "4 1 2 " },
		{ { .match = "deploy", .limit = 10, .newest_first = true }, 0, "4 2 1 " },
		{ { .match = "deploy", .limit = 1 }, 0, "4 " },
		{ { .match = "deploy", .limit = 10, .offset = 1 }, 0, "1 2 " },
		{ { .match = "deploy", .limit = 10, .where = "t.project = ?4" }, 1, "1 2 " },
		{ { .match = "deploy", .limit = 10, .where = "t.project = ?4 OR t.id = 4" }, 9,
			"4 " },
		{ { .match = "deploy",
			  .limit = 1,
			  .where = "t.project = ?4",
			  .newest_first = true },
			1, "2 " },
		{ { .match = "deploy", .limit = 1, .among = 1 }, 0, "4 " },
		{ { .match = "deploy", .limit = 2, .among = 2 }, 0, "4 2 " },
		{ { .match = "deploy", .limit = 2, .among = 9 }, 0, "4 1 " },
		{ { .match = "deploy", .limit = 2, .offset = 1, .among = 3 }, 0, "1 2 " },
		{ { .match = "deploy", .limit = 2, .where = "t.project = ?4", .among = 2 }, 1,
			"1 2 " },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++)
		CHECK_STR(ids_of(db, &cases[i].query, cases[i].project), cases[i].ids);
}

/* More rows hold a word than are counted, and a row holds it more often than is counted. */
static void rare_words_count_more(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db();
	struct mr_err err;

	exec(db,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
		" INSERT INTO message SELECT i, 1, 's', CASE i WHEN 7 THEN 'common rare'"
		" WHEN 8 THEN 'common common' WHEN 9 THEN replace(hex(zeroblob(500)), '00', "
		"'common ') ELSE iif(i % 2, 'common word', 'other word') END FROM n");
	CHECK_OK(mr_db_search_rebuild(db, &search, &err), err);
	CHECK_STR(ids_of(db, &(struct mr_db_search_query){ .match = "common OR rare", .limit = 2 },
			  0),
		"7 8 ");
	/* The one that says it 500 times is not the best of all: it is long. */
	CHECK_STR(ids_of(db, &(struct mr_db_search_query){ .match = "common", .limit = 1 }, 0),
		"8 ");
	CHECK_STR(ids_of(db, &(struct mr_db_search_query){ .match = "common AND word", .limit = 1 },
			  0),
		"2999 ");
}

static void follows_changes(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	struct mr_err err;

	CHECK_OK(mr_db_search_remove(db, &search, 2, &err), err);
	exec(db, "UPDATE message SET body = 'with courage' WHERE id = 2");
	CHECK_OK(mr_db_search_add(db, &search, 2, &err), err);
	CHECK_STR(find(db, NULL, "care", false), "");
	CHECK_STR(find(db, NULL, "courage", false), "2 ");
	CHECK_OK(mr_db_search_remove(db, &search, 2, &err), err);
	exec(db, "DELETE FROM message WHERE id = 2");
	CHECK_STR(find(db, NULL, "courage", false), "");
	CHECK_OK(mr_db_search_check(db, &search, &err), err);
	CHECK_INT(mr_db_search_add(db, &search, 2, &err), MR_ENOTFOUND);
	CHECK_STR(err.msg, "search index message_search: row 2 is not in message");
}

static void follows_transactions(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db();
	struct mr_err err;

	CHECK_OK(mr_db_begin(db, MR_DB_IMMEDIATE, &err), err);
	exec(db, "INSERT INTO message VALUES(1, 1, 'first', '')");
	add_all(db, 1);
	mr_db_rollback(db);
	CHECK_STR(find(db, NULL, "first", false), "");
	exec(db, "INSERT INTO message VALUES(1, 1, 'second', '')");
	add_all(db, 1);
	CHECK_STR(find(db, NULL, "second", false), "1 ");
	CHECK_OK(mr_db_search_check(db, &search, &err), err);
}

static void is_rebuilt(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	struct mr_err err;
	char want[512];

	exec(db, "INSERT INTO message VALUES(6, 1, 'forgotten', '')");
	CHECK_INT(mr_db_search_check(db, &search, &err), MR_EFORMAT);
	snprintf(want, sizeof(want),
		"search index message_search: %s/db is not a usable database (database disk image "
		"is "
		"malformed [SQLite 267]); restore it from a backup",
		test_dir());
	CHECK_STR(err.msg, want);
	CHECK_OK(mr_db_search_create(db, &search, &err), err);
	CHECK_OK(mr_db_search_rebuild(db, &search, &err), err);
	CHECK_OK(mr_db_search_check(db, &search, &err), err);
	CHECK_STR(find(db, NULL, "forgotten", false), "6 ");
	CHECK_STR(find(db, NULL, "deploy", false), "4 1 2 ");
}

static bool file_has(const char *tail, const char *word)
{
	char path[160];
	char *data = calloc(1, 4 << 20);
	ssize_t len;
	bool has;
	int fd;

	snprintf(path, sizeof(path), "%s/db%s", test_dir(), tail);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	len = read(fd, data, 4 << 20);
	CHECK(len >= 0);
	has = memmem(data, (size_t)len, word, strlen(word)) != NULL;
	close(fd);
	free(data);
	return has;
}

static void leaves_no_word_after_redaction(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	struct mr_err err;

	exec(db, "INSERT INTO message VALUES(6, 1, '', 'hunter2secret')");
	CHECK_OK(mr_db_search_add(db, &search, 6, &err), err);
	CHECK(file_has("-wal", "unter2secret"));
	CHECK_OK(mr_db_search_remove(db, &search, 6, &err), err);
	exec(db, "DELETE FROM message WHERE id = 6");
	CHECK_OK(mr_db_search_purge(db, &search, &err), err);
	CHECK_OK(mr_db_compact(db, &err), err);
	CHECK(!file_has("", "unter2secret"));
	CHECK(!file_has("-wal", "unter2secret"));
	CHECK_STR(find(db, NULL, "deploy", false), "4 1 2 ");
}

static void refuses_bad_queries(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_filled();
	static const struct {
		const char *match;
		const char *why;
	} cases[] = {
		{ "\"open", "cannot search for that: unterminated string" },
		{ "AND", "cannot search for that: fts5: syntax error near \"AND\"" },
		{ "nobody : x", "cannot search for that: no such column: nobody" },
	};
	struct mr_db_search_query query = { .match = "x", .limit = 0 };
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_err err;
	char *longest;
	bool row;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		query = (struct mr_db_search_query){ .match = cases[i].match, .limit = 1 };
		CHECK_OK(mr_db_search_prepare(db, &search, &query, &stmt, &err), err);
		CHECK_INT(mr_stmt_step(stmt, &row, &err), MR_EINVAL);
		CHECK_STR(err.msg, cases[i].why);
		mr_stmt_done(&stmt);
	}
	query = (struct mr_db_search_query){ .match = "x" };
	CHECK_INT(mr_db_search_prepare(db, &search, &query, &stmt, &err), MR_EINVAL);
	CHECK_STR(err.msg, "search: the limit must be above 0 and the offset not below");
	query = (struct mr_db_search_query){ .match = "x", .limit = 2, .offset = 1, .among = 2 };
	CHECK_INT(mr_db_search_prepare(db, &search, &query, &stmt, &err), MR_EINVAL);
	CHECK_STR(err.msg, "search: fewer are ranked than offset and limit ask for");
	longest = calloc(1, MR_DB_MATCH_BYTES + 2);
	memset(longest, 'x', MR_DB_MATCH_BYTES + 1);
	query = (struct mr_db_search_query){ .match = longest, .limit = 1 };
	CHECK_INT(mr_db_search_prepare(db, &search, &query, &stmt, &err), MR_ELIMIT);
	CHECK_STR(err.msg, "search: more than 65536 bytes to look for");
	free(longest);
	CHECK(!stmt);
}

static void refuses_bad_names(void)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = open_db();
	static const char *const none[] = { NULL };
	static const char *const many[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", NULL };
	static const char *const odd[] = { "a; DROP", NULL };
	const struct mr_db_search cases[] = {
		{ "bad name", "message", "id", columns, NULL },
		{ "good", "Message", "id", columns, NULL },
		{ "good", "message", "1d", columns, NULL },
		{ "good", "message", "id", none, NULL },
		{ "good", "message", "id", many, NULL },
		{ "good", "message", "id", odd, NULL },
	};

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_err err;

		CHECK_INT(mr_db_search_create(db, &cases[i], &err), MR_EINTERNAL);
		CHECK(strstr(err.msg, "its names must be plain lower-case words"));
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(finds_terms),
		TEST(combines_terms),
		TEST(ranks_filters_and_pages),
		TEST(rare_words_count_more),
		TEST(follows_changes),
		TEST(follows_transactions),
		TEST(is_rebuilt),
		TEST(leaves_no_word_after_redaction),
		TEST(refuses_bad_queries),
		TEST(refuses_bad_names),
	};
	return test_main(tests, MR_LEN(tests));
}
