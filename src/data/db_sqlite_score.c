/* data/db_sqlite_score.c - the function that ranks what a full-text search finds. */
#include "data/db_sqlite_private.h"

#include <math.h>

/*
 * The score of a row: BM25 with weights for columns, as FTS5's own bm25() has it, but that walks
 * through every row that holds a term, to count them, and through every place in a row. Here both
 * are cut off: a term that stands in more rows is as common as its first thousand say, and one that
 * stands more often in a row says no more.
 */
enum { COUNTED_ROWS = 1000, COUNTED_PLACES = 100 };

struct score {
	double average;  /* words in a row */
	double rarity[]; /* of each phrase */
};

struct phrase_rows {
	int64_t count, last_id;
};

static int count_row(const Fts5ExtensionApi *api, Fts5Context *at, void *arg)
{
	struct phrase_rows *rows = arg;

	rows->last_id = api->xRowid(at);
	return ++rows->count == COUNTED_ROWS ? SQLITE_DONE : SQLITE_OK;
}

static int measure_phrase(const Fts5ExtensionApi *api, Fts5Context *at, int phrase, double rows,
	double *out)
{
	struct phrase_rows holding = { 0, 0 };
	int rc = api->xQueryPhrase(at, phrase, &holding, count_row);
	double count = (double)holding.count;

	/* Ids are given one after the other: so many of the first, so many of all. */
	if (holding.count == COUNTED_ROWS && holding.last_id > COUNTED_ROWS)
		count = fmax(count, fmin(rows, count * rows / (double)holding.last_id));
	*out = log((fmax(rows, count) + 1) / (count + 0.5));
	return rc;
}

/* Once for a query. */
static int measure_query(const Fts5ExtensionApi *api, Fts5Context *at, struct score **out)
{
	int phrases = api->xPhraseCount(at);
	sqlite3_int64 rows = 0, words = 0;
	struct score *score =
		sqlite3_malloc64(sizeof(*score) + (size_t)phrases * sizeof(score->rarity[0]));
	int rc = score ? api->xRowCount(at, &rows) : SQLITE_NOMEM;

	if (rc == SQLITE_OK)
		rc = api->xColumnTotalSize(at, -1, &words);
	if (rc == SQLITE_OK)
		score->average = rows > 0 && words > 0 ? (double)words / (double)rows : 1;
	for (int i = 0; rc == SQLITE_OK && i < phrases; i++) {
		score->rarity[i] = 1; /* one alone is as rare as itself */
		if (phrases > 1)
			rc = measure_phrase(api, at, i, (double)rows, &score->rarity[i]);
	}
	if (rc == SQLITE_OK)
		rc = api->xSetAuxdata(at, score, sqlite3_free); /* frees it when it fails */
	else
		sqlite3_free(score);
	*out = score;
	return rc;
}

/* How much the row says of a phrase: its places, by the weight of their columns. */
static double places(const Fts5ExtensionApi *api, Fts5Context *at, int phrase,
	sqlite3_value **weights, int count)
{
	Fts5PhraseIter iter;
	int column = -1, offset, seen = 0;
	double sum = 0;

	if (api->xPhraseFirst(at, phrase, &iter, &column, &offset) != SQLITE_OK)
		return 0;
	while (column >= 0 && seen++ < COUNTED_PLACES) {
		sum += column < count ? sqlite3_value_double(weights[column]) : 1;
		api->xPhraseNext(at, &iter, &column, &offset);
	}
	return sum;
}

static void put_score(const Fts5ExtensionApi *api, Fts5Context *at, sqlite3_context *result,
	int count, sqlite3_value **weights)
{
	static const double k1 = 1.2, b = 0.75; /* the usual constants */
	struct score *score = api->xGetAuxdata(at, 0);
	int words = 0, rc = SQLITE_OK;
	double sum = 0;

	if (!score)
		rc = measure_query(api, at, &score);
	if (rc == SQLITE_OK)
		rc = api->xColumnSize(at, -1, &words);
	if (rc != SQLITE_OK) {
		sqlite3_result_error_code(result, rc);
		return;
	}
	for (int i = 0; i < api->xPhraseCount(at); i++) {
		double often = places(api, at, i, weights, count);

		sum += score->rarity[i] * often * (k1 + 1) /
			(often + k1 * (1 - b + b * words / score->average));
	}
	sqlite3_result_double(result, sum);
}

enum mr_code mr_db_sqlite_add_score(struct mr_db *db, struct mr_err *err)
{
	struct mr_db_sqlite_db *self = (struct mr_db_sqlite_db *)db;
	static const char sql[] = "SELECT fts5(?1)";
	sqlite3_stmt *stmt = NULL;
	fts5_api *api = NULL;
	int rc;

	if (self->has_score)
		return MR_OK;
	rc = sqlite3_prepare_v2(self->handle, sql, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_pointer(stmt, 1, &api, "fts5_api_ptr", NULL);
	if (rc == SQLITE_OK)
		sqlite3_step(stmt);
	sqlite3_finalize(stmt);
	if (api)
		rc = api->xCreateFunction(api, MR_DB_SQLITE_SCORE, NULL, put_score, NULL);
	if (!api || rc != SQLITE_OK)
		return mr_db_sqlite_fail(&db->options, self->handle, sql, err);
	self->has_score = true;
	return MR_OK;
}
