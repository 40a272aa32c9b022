/* mailbox/register_local.c - makes the boxes and the mailbox.sqlite of a mailbox directory. */
#include "mailbox/register_private.h"

#include "base/fs.h"
#include "mailbox/index_sql.h"
#include "mailbox/layout.h"
#include "mailbox/state_sql.h"
#include "text/time.h"

#include <stdlib.h>
#include <string.h>

enum { BACKUP_ATTEMPTS = 100 };

enum mr_code mr_mailbox_register_boxes(struct mr_ctx *cx, int dir, const char *path)
{
	enum mr_code rc = mr_fs_make_dirs(dir, path, 0700, &cx->err);

	for (const char *const *box = mr_mailbox_boxes; !rc && *box; box++)
		rc = mr_fs_make_dirs(dir, mr_mailbox_layout_join(cx->arena, path, *box), 0700,
			&cx->err);
	return rc;
}

static enum mr_code open_with_tables(struct mr_ctx *cx, const char *path, struct mr_db **out)
{
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	int64_t count;
	enum mr_code rc = mr_mailbox_root_local(cx, path, false, &db);

	if (!rc)
		rc = mr_mailbox_state_count(cx, db, &count);
	if (rc)
		return rc;
	*out = db;
	db = NULL;
	return MR_OK;
}

/* A database and whatever SQLite keeps beside it: an old journal would be played into a new file.
 */
static enum mr_code set_aside(struct mr_ctx *cx, const char *path)
{
	static const char *const companions[] = { "-journal", "-wal", "-shm" };
	const char *file = mr_mailbox_layout_join(cx->arena, path, MR_MAILBOX_LOCAL_FILE);
	const char *backup = mr_arena_printf(cx->arena, "%s.local-unusable-%s", file,
		mr_time_format(cx->arena, mr_clock_wall_us(cx->clock), MR_TIME_COMPACT));
	const char *to = mr_arena_printf(cx->arena, "%s.bak", backup);
	enum mr_code rc = MR_EEXISTS;

	for (int i = 1; rc == MR_EEXISTS && i <= BACKUP_ATTEMPTS; i++) {
		rc = mr_fs_rename(AT_FDCWD, file, AT_FDCWD, to, MR_FS_NEW, &cx->err);
		if (rc == MR_EEXISTS)
			to = mr_arena_printf(cx->arena, "%s-%d.bak", backup, i);
	}
	for (size_t i = 0; !rc && i < MR_LEN(companions); i++) {
		const char *from = mr_arena_printf(cx->arena, "%s%s", file, companions[i]);

		if (mr_fs_exists(AT_FDCWD, from))
			rc = mr_fs_rename(AT_FDCWD, from, AT_FDCWD,
				mr_arena_printf(cx->arena, "%s%s", to, companions[i]),
				MR_FS_REPLACE, &cx->err);
	}
	return rc;
}

enum mr_code mr_mailbox_register_open_local(struct mr_ctx *cx, const char *path, bool replace,
	struct mr_db **out)
{
	struct mr_err kept = cx->err;
	enum mr_code rc = open_with_tables(cx, path, out);

	/* An unexpected table shows as a statement that cannot be prepared. */
	if (rc != MR_EFORMAT && rc != MR_EINTERNAL)
		return rc;
	if (!replace) {
		cx->err.code = MR_ENOTCONFIRMED;
		return mr_err_wrap(&cx->err,
			"the mailbox-local state in %s cannot be read, and setting it aside needs "
			"a "
			"yes; nothing was registered",
			path);
	}
	cx->err = kept;
	rc = set_aside(cx, path);
	return rc ? rc : open_with_tables(cx, path, out);
}

static int compare_listed(const void *a, const void *b)
{
	const struct mr_mailbox_listed *x = a, *y = b;

	return strcmp(x->message.message_id, y->message.message_id);
}

/* The defaults that `count` projections of one message speak of. */
static struct mr_mailbox_state state_of(struct mr_ctx *cx, const struct mr_mailbox_listed *items,
	size_t count)
{
	const struct mr_mailbox_indexed *message = &items[0].message;
	struct mr_texts folders = {
		.items = mr_arena_array(cx->arena, count + 1, sizeof(char *)),
		.len = count,
	};

	for (size_t i = 0; i < count; i++)
		folders.items[i] = items[i].folder;
	return mr_mailbox_state_seeded(message->message_id, message->thread_id, message->created_at,
		message->subject, &folders);
}

static enum mr_code seed(struct mr_ctx *cx, struct mr_db *index, struct mr_db *local,
	const char *registration_id)
{
	struct mr_mailbox_listing listing;
	enum mr_code rc = mr_mailbox_index_list(cx, index, registration_id, 0, &listing);
	size_t count;

	if (rc || listing.len == 0)
		return rc;
	qsort(listing.items, listing.len, sizeof(*listing.items), compare_listed);
	for (size_t i = 0; !rc && i < listing.len; i += count) {
		struct mr_mailbox_state state;

		count = 1;
		while (i + count < listing.len &&
			compare_listed(&listing.items[i], &listing.items[i + count]) == 0)
			count++;
		state = state_of(cx, &listing.items[i], count);
		rc = mr_mailbox_state_add(cx, local, &state);
	}
	return rc;
}

enum mr_code mr_mailbox_register_local(struct mr_ctx *cx, struct mr_db *index,
	const struct mr_mailbox_registration *row, bool replace_unreadable)
{
	struct mr_db *local MR_CLEANUP(mr_db_closep) = NULL;
	int64_t count = 0;
	enum mr_code rc = mr_mailbox_register_open_local(cx, row->path, replace_unreadable, &local);

	if (rc)
		return rc;
	/* In a write transaction: no message may be marked between the count and the defaults. */
	rc = mr_db_begin(local, MR_DB_IMMEDIATE, &cx->err);
	if (!rc)
		rc = mr_mailbox_state_count(cx, local, &count);
	if (!rc && count == 0)
		rc = seed(cx, index, local, row->id);
	if (!rc)
		rc = mr_mailbox_state_threads(cx, local);
	return rc ? rc : mr_db_commit(local, &cx->err);
}
