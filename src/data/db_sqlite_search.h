/* data/db_sqlite_search.h - the search functions of the SQLite driver, on FTS5 with external
 * content. */
#pragma once

#include "data/db.h"

enum mr_code mr_db_sqlite_search_create(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
enum mr_code mr_db_sqlite_search_add(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, const char *const *texts, struct mr_err *err);
enum mr_code mr_db_sqlite_search_remove(struct mr_db *db, const struct mr_db_search *search,
	int64_t id, struct mr_err *err);
enum mr_code mr_db_sqlite_search_rebuild(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
enum mr_code mr_db_sqlite_search_purge(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
enum mr_code mr_db_sqlite_search_check(struct mr_db *db, const struct mr_db_search *search,
	struct mr_err *err);
void mr_db_sqlite_search_quote(const struct mr_db_search *search, struct mr_buf *match,
	const char *column, const char *term, bool prefix);
enum mr_code mr_db_sqlite_search_prepare(struct mr_db *db, const struct mr_db_search *search,
	const struct mr_db_search_query *query, struct mr_stmt **out, struct mr_err *err);
