/* mailbox/unregister.c - deactivates or purges a registration (spec/mailbox.md 11). */
#include "mailbox/register_private.h"

#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/locks.h"
#include "text/address.h"
#include "text/time.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 200 /* below what mr_fs_remove_all() goes down to */ };

struct search {
	struct mr_arena *arena;
	const char *base; /* absolute */
	struct mr_texts found;
	size_t cap;
	bool too_many;
};

/* Mail is links to documents; beside it there is only the database and what SQLite adds to it. */
static bool is_ours(const struct mr_fs_entry *entry)
{
	if (entry->type == DT_DIR)
		return true;
	if (entry->type == DT_LNK)
		return entry->depth > 0 && mr_str_ends(entry->name, ".md");
	return entry->depth == 0 &&
		(mr_str_eq(entry->name, MR_MAILBOX_LOCAL_FILE) ||
			mr_str_eq(entry->name, MR_MAILBOX_LOCAL_FILE "-journal"));
}

static enum mr_fs_next collect(void *arg, const struct mr_fs_entry *entry)
{
	struct search *search = arg;
	struct mr_texts *found = &search->found;

	if (is_ours(entry))
		return MR_FS_GO_ON;
	if (found->len == MR_MAILBOX_ENTRIES) {
		search->too_many = true;
		return MR_FS_STOP;
	}
	if (found->len == search->cap) {
		size_t cap = search->cap ? search->cap * 2 : 16;
		const char **items = mr_arena_array(search->arena, cap + 1, sizeof(*items));

		if (found->len > 0)
			memcpy(items, found->items, found->len * sizeof(*items));
		found->items = items;
		search->cap = cap;
	}
	found->items[found->len++] =
		mr_mailbox_layout_join(search->arena, search->base, entry->path);
	return MR_FS_GO_ON;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* `*out` is empty when the entry is no directory. */
static enum mr_code find_foreign(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *entry, mode_t kind, struct mr_texts *out)
{
	struct search search = {
		.arena = cx->arena,
		.base = mr_mailbox_layout_join(cx->arena, root->path, entry),
	};
	enum mr_code rc;

	*out = (struct mr_texts){ .items = mr_arena_array(cx->arena, 1, sizeof(char *)) };
	if (kind != S_IFDIR)
		return MR_OK;
	rc = mr_fs_walk(root->dir, entry, DEPTH, collect, &search, &cx->err);
	if (rc)
		return rc;
	if (search.too_many)
		return mr_err_set(&cx->err, MR_ELIMIT,
			"%s holds more than %d files that are not mail; look at them first",
			search.base, MR_MAILBOX_ENTRIES);
	if (search.found.len > 0) {
		qsort(search.found.items, search.found.len, sizeof(char *), compare_texts);
		*out = search.found;
	}
	return MR_OK;
}

static enum mr_code deactivate(struct mr_ctx *cx, struct mr_db *db,
	const struct mr_mailbox_registration *row)
{
	struct mr_mailbox_registration changed = *row;
	enum mr_code rc;

	changed.status = MR_MAILBOX_INACTIVE;
	if (!changed.deactivated_at)
		changed.deactivated_at =
			mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_SECONDS);
	rc = mr_mailbox_registration_update(cx, db, &changed);
	return rc ? rc : mr_db_commit(db, &cx->err);
}

static enum mr_code purge(struct mr_ctx *cx, const struct mr_mailbox_root *root, struct mr_db *db,
	const struct mr_mailbox_registration *row, struct mr_texts *out_foreign)
{
	const char *entry = mr_mailbox_layout_entry(cx->arena, row->address);
	struct mr_mailbox_swap swap = {
		.address = row->address,
		.registration_id = row->id,
		.replaces = row->id,
		.is_purge = true,
	};
	struct mr_texts foreign;
	mode_t kind = 0;
	enum mr_code rc = mr_mailbox_swap_look(cx, root->dir, entry, &kind);

	if (!rc && row->kind == MR_MAILBOX_SYMLINK && kind != 0 && kind != S_IFLNK)
		return mr_err_set(&cx->err, MR_ECONFLICT,
			"%s is not the link that %s is registered with, and is not deleted; move "
			"it away first",
			row->entry_path, row->address);
	if (!rc)
		rc = find_foreign(cx, root, entry, kind, &foreign);
	if (rc)
		return rc;
	swap.takes = kind != 0;
	rc = mr_mailbox_swap_begin(cx, root, &swap);
	if (!rc)
		rc = mr_mailbox_swap_apply(cx, root, &swap, NULL);
	if (!rc)
		rc = mr_mailbox_registration_delete(cx, db, row->id);
	if (!rc)
		rc = mr_db_commit(db, &cx->err);
	if (rc) {
		mr_db_rollback(db);
		return mr_mailbox_swap_give_up(cx, root, &swap);
	}
	mr_crash_point("unregister.committed");
	mr_mailbox_swap_finish(cx, root, &swap);
	*out_foreign = foreign;
	return MR_OK;
}

static enum mr_code remove_active(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	struct mr_db *db, enum mr_mailbox_unregister_mode mode, const char *address,
	struct mr_mailbox_unregister_result *out)
{
	const struct mr_mailbox_registration *row = NULL;
	struct mr_texts foreign = { .items = mr_arena_array(cx->arena, 1, sizeof(char *)) };
	enum mr_code rc = mr_mailbox_registration_active(cx, db, address, &row);

	if (rc)
		return rc;
	if (!row)
		return mr_err_set(&cx->err, MR_ENOTFOUND,
			"no active mailbox registration exists for %s", address);
	rc = mode == MR_MAILBOX_PURGE ? purge(cx, root, db, row, &foreign)
				      : deactivate(cx, db, row);
	if (rc)
		return rc;
	*out = (struct mr_mailbox_unregister_result){
		.mode = mode,
		.address = row->address,
		.registration_id = row->id,
		.foreign = foreign,
	};
	return MR_OK;
}

enum mr_code mr_mailbox_unregister(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	enum mr_mailbox_unregister_mode mode, const char *address,
	struct mr_mailbox_unregister_result *out)
{
	struct mr_mailbox_locks locks MR_CLEANUP(mr_mailbox_locks_release) = MR_MAILBOX_LOCKS_INIT;
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	struct mr_address parsed;
	struct mr_texts addresses;
	enum mr_code rc = mr_address_parse(cx->arena, address, &parsed, &cx->err);

	if (rc)
		return mr_err_wrap(&cx->err, "address");
	if (mr_str_eq(parsed.full, MR_MAILBOX_OPERATOR_ADDRESS))
		return mr_err_set(&cx->err, MR_EPERM,
			"%s is the operator's mailbox and cannot be deregistered", parsed.full);
	addresses = (struct mr_texts){ .items = (const char *[]){ parsed.full, NULL }, .len = 1 };
	rc = mr_mailbox_locks_take(cx, root, &addresses, &locks);
	if (!rc)
		rc = mr_mailbox_root_index(cx, root, false, &db);
	if (!rc)
		rc = mr_db_begin(db, MR_DB_IMMEDIATE, &cx->err);
	return rc ? rc : remove_active(cx, root, db, mode, parsed.full, out);
}
