/* mailbox/lend.c - a root's databases, lent for one step after another without being closed
 * between. */
#include "base/shelf.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/root_private.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const names[] = {
	[MR_MAILBOX_LEND_READ] = "read",
	[MR_MAILBOX_LEND_LOOK] = "look",
	[MR_MAILBOX_LEND_WRITE] = "write",
};

static const char *name_of(struct mr_arena *arena, const char *path, enum mr_mailbox_lend how)
{
	return mr_arena_printf(arena, "%s %s", names[how], path);
}

static void drop(void *db)
{
	mr_db_close(db);
}

/* A process that lives long commits again and again. One that ends leaves no journal. */
static enum mr_db_journal journal_of(const struct mr_ctx *cx)
{
	return cx->keepers ? MR_DB_JOURNAL_PERSIST : MR_DB_JOURNAL_DELETE;
}

static struct mr_db *take(struct mr_ctx *cx, const char *path, enum mr_mailbox_lend how)
{
	const char *name = name_of(cx->arena, path, how);
	struct mr_err ignored;
	struct mr_db *db;

	/* What is no longer in its place was replaced by repair, or removed. */
	while ((db = mr_shelf_take(cx->shelf, MR_SHELF_LARGE, name))) {
		if (!mr_db_still_there(db, &ignored))
			return db;
		mr_db_close(db);
	}
	return NULL;
}

/* One that may do more serves as well. */
static bool find(struct mr_ctx *cx, const char *path, enum mr_mailbox_lend how,
	struct mr_mailbox_lent *out)
{
	int able = MR_MAILBOX_LEND_WRITE;

	*out = (struct mr_mailbox_lent){
		.shelf = cx->shelf,
		.how = how,
		.journal_stays = journal_of(cx) == MR_DB_JOURNAL_PERSIST,
	};
	if (!cx->shelf)
		return false;
	for (; able >= (int)how && !out->db; able--) {
		out->db = take(cx, path, (enum mr_mailbox_lend)able);
		if (out->db)
			out->how = (enum mr_mailbox_lend)able;
	}
	return out->db != NULL;
}

enum mr_code mr_mailbox_lend_index(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_lend how, struct mr_mailbox_lent *out)
{
	struct mr_mailbox_lent lent MR_CLEANUP(mr_mailbox_lent_return) = MR_MAILBOX_LENT_INIT;
	const char *path = mr_mailbox_layout_join(cx->arena, root->path, MR_MAILBOX_INDEX_FILE);
	enum mr_code rc = MR_OK;

	if (!find(cx, path, how, &lent) && how == MR_MAILBOX_LEND_WRITE &&
		find(cx, path, MR_MAILBOX_LEND_LOOK, &lent)) {
		rc = mr_mailbox_index_schema(cx, lent.db);
		lent.how = rc ? lent.how : MR_MAILBOX_LEND_WRITE;
	} else if (!lent.db) {
		lent.how = how;
		rc = mr_mailbox_root_look(cx, root, how, journal_of(cx), &lent.db);
		if (!rc && how == MR_MAILBOX_LEND_WRITE)
			rc = mr_mailbox_index_schema(cx, lent.db);
	}
	if (rc)
		return rc;
	*out = lent;
	lent.db = NULL;
	return MR_OK;
}

enum mr_code mr_mailbox_lend_local(struct mr_ctx *cx, const char *path, enum mr_mailbox_lend how,
	struct mr_mailbox_lent *out)
{
	const char *file = mr_mailbox_layout_join(cx->arena, path, MR_MAILBOX_LOCAL_FILE);

	if (how == MR_MAILBOX_LEND_LOOK)
		how = MR_MAILBOX_LEND_WRITE;
	if (find(cx, file, how, out))
		return MR_OK;
	return mr_mailbox_root_local_in(cx, path, how == MR_MAILBOX_LEND_READ, journal_of(cx),
		&out->db);
}

void mr_mailbox_lent_tell(const struct mr_mailbox_lent *lent)
{
	if (lent->journal_stays)
		(void)utimensat(AT_FDCWD, mr_db_path(lent->db), NULL, 0);
}

void mr_mailbox_lent_return(struct mr_mailbox_lent *lent)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_db *db = lent->db;
	struct mr_err ignored;

	lent->db = NULL;
	if (!db)
		return;
	if (mr_db_in_transaction(db))
		mr_db_rollback(db);
	/* Whoever takes it next expects a commit to be durable. */
	if (!lent->shelf || mr_db_set_sync(db, MR_DB_SYNC_FULL, &ignored))
		mr_db_close(db);
	else
		mr_shelf_put(lent->shelf, MR_SHELF_LARGE, name_of(arena, mr_db_path(db), lent->how),
			db, drop);
}
