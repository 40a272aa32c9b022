/* tests/fuzz/fuzz_db_search.c - whatever a user types, quoted it is a term and never a syntax
 * error. */
#include "data/db.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const columns[] = { "a", "b", NULL };
static const struct mr_db_search search = { "s", "t", "id", columns, NULL };

static struct mr_db *open_db(void)
{
	char path[] = "/tmp/mailroom-fuzz-XXXXXX";
	struct mr_db_options options = { .path = path, .journal = MR_DB_JOURNAL_DELETE };
	struct mr_db *db = NULL;
	struct mr_err err;

	close(mkstemp(path));
	if (mr_db_open(&options, &db, &err) ||
		mr_db_exec(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", &err) ||
		mr_db_search_create(db, &search, &err))
		abort();
	unlink(path);
	return db;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mr_db *db; /* kept: opening one costs more than a search */
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_stmt *stmt MR_CLEANUP(mr_stmt_done) = NULL;
	struct mr_buf match MR_CLEANUP(mr_buf_release) = { 0 };
	const char *term = size ? mr_arena_strndup(arena, (const char *)data, size) : "";
	unsigned how = size ? data[0] : 0;
	struct mr_db_search_query query = { .limit = 1 };
	struct mr_err err;
	bool row;

	db = db ? db : open_db();
	mr_buf_init(&match, MR_DB_MATCH_BYTES);
	mr_db_search_quote(db, &search, &match, how & 1 ? "a" : NULL, term, how & 2);
	mr_db_search_word(db, &match, (enum mr_db_search_word)(how % 3));
	mr_db_search_quote(db, &search, &match, NULL, term, false);
	query.match = mr_buf_text(&match);
	if (!match.failed &&
		(mr_db_search_prepare(db, &search, &query, &stmt, &err) ||
			mr_stmt_step(stmt, &row, &err)))
		abort();
	return 0;
}
