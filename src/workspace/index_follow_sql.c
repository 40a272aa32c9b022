/* workspace/index_follow_sql.c - statements about files that people edit, and about views that are
 * behind them. */
#include "data/rows.h"
#include "workspace/change_private.h"
#include "workspace/error.h"
#include "workspace/index.h"
#include "workspace/index_private.h"

/* At least as many as there are sidecars: to count them would read all of their index. */
static const char SQL_SIDECAR_COUNT[] = "SELECT COALESCE(MAX(n), 0) FROM messages";
static const char SQL_SIDECARS[] =
	"SELECT id, remote_stamp FROM messages WHERE remote_stamp <> '' AND n > ?1 AND n <= ?1 + ?2 "
	"ORDER BY n" MR_ROWS_ALL;
static const char SQL_CARDS[] = "SELECT path, stamp, emails FROM cards ORDER BY path" MR_ROWS_ALL;
static const char SQL_PUT_CARD[] =
	"INSERT INTO cards (path, stamp, emails) VALUES (?1, ?2, ?3) ON CONFLICT (path) DO UPDATE "
	"SET stamp = excluded.stamp, emails = excluded.emails";
static const char SQL_DROP_CARD[] = "DELETE FROM cards WHERE path = ?1";
static const char SQL_MARK[] = "INSERT INTO behind (is_list, what) VALUES (?1, ?2) "
			       "ON CONFLICT (is_list, what) DO NOTHING";
static const char SQL_MARK_SENDER[] =
	"INSERT INTO behind (is_list, what) SELECT 0, id FROM messages WHERE email = ?1 "
	"ON CONFLICT (is_list, what) DO NOTHING";
static const char SQL_BEHIND[] =
	"SELECT what FROM behind WHERE is_list = ?1 ORDER BY what" MR_ROWS_ALL;
static const char SQL_CAUGHT_UP[] = "DELETE FROM behind";

static enum mr_code read_stamp(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_stamp *stamp = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&stamp->path, &stamp->stamp));
	return MR_OK;
}

enum mr_code mr_work_index_sidecars(struct mr_ctx *cx, struct mr_db *db, int64_t max,
	uint64_t window, struct mr_work_stamps *out)
{
	int64_t count = 0, windows;
	enum mr_code rc = mr_rows_one(cx, db, SQL_SIDECAR_COUNT, NULL, MR_INTO(&count), NULL);

	if (rc || !count)
		return rc;
	windows = (count + max - 1) / max;
	return mr_rows_list(cx, db, SQL_SIDECARS,
		MR_BIND((int64_t)(window % (uint64_t)windows) * max, max), read_stamp,
		MR_LIST(out));
}

static enum mr_code read_card(struct mr_ctx *cx, struct mr_stmt *row, void *to)
{
	struct mr_work_seen_card *card = to;

	mr_stmt_into(row, 0, cx->arena, MR_INTO(&card->path, &card->stamp, &card->emails));
	return MR_OK;
}

enum mr_code mr_work_index_cards(struct mr_ctx *cx, struct mr_db *db,
	struct mr_work_seen_cards *out)
{
	return mr_rows_list(cx, db, SQL_CARDS, NULL, read_card, MR_LIST(out));
}

enum mr_code mr_work_index_put_card(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_work_seen_card *card)
{
	return mr_rows_run(cx, db, SQL_PUT_CARD, MR_BIND(card->path, card->stamp, card->emails));
}

enum mr_code mr_work_index_drop_card(struct mr_ctx *cx, struct mr_db *db, const char *path)
{
	return mr_rows_run(cx, db, SQL_DROP_CARD, MR_BIND(path));
}

enum mr_code mr_work_index_mark_message(struct mr_ctx *cx, struct mr_db *db, const char *id)
{
	return mr_rows_run(cx, db, SQL_MARK, MR_BIND((int64_t)0, id));
}

enum mr_code mr_work_index_mark_list(struct mr_ctx *cx, struct mr_db *db, const char *path)
{
	return mr_rows_run(cx, db, SQL_MARK, MR_BIND((int64_t)1, path));
}

enum mr_code mr_work_index_mark_sender(struct mr_ctx *cx, struct mr_db *db, const char *email)
{
	return mr_rows_run(cx, db, SQL_MARK_SENDER, MR_BIND(email));
}

static enum mr_code list_behind(struct mr_ctx *cx, struct mr_work *work, bool lists,
	struct mr_texts *out)
{
	struct {
		const char **items;
		size_t len;
	} found = { 0 };
	enum mr_code rc = mr_rows_list(cx, work->index, SQL_BEHIND, MR_BIND((int64_t)lists),
		mr_row_text, MR_LIST(&found));

	if (rc)
		return mr_work_store_error(cx);
	*out = (struct mr_texts){ found.items, found.len };
	return MR_OK;
}

enum mr_code mr_work_index_behind(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_behind *out)
{
	enum mr_code rc = list_behind(cx, work, false, &out->messages);

	return rc ? rc : list_behind(cx, work, true, &out->collections);
}

enum mr_code mr_work_index_caught_up(struct mr_ctx *cx, struct mr_work *work)
{
	return mr_db_exec(work->index, SQL_CAUGHT_UP, &cx->err) ? mr_work_store_error(cx) : MR_OK;
}
