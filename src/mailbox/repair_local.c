/* mailbox/repair_local.c - check and repair of mailbox.sqlite; the owner's state is kept. */
#include "base/crash.h"
#include "base/fs.h"
#include "mailbox/repair_private.h"
#include "mailbox/repair_sql.h"
#include "mailbox/state_sql.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *local_path(struct mr_mailbox_view *view)
{
	return mr_mailbox_layout_join(view->cx.arena, view->account->row.path,
		MR_MAILBOX_LOCAL_FILE);
}

static enum mr_code fail(struct mr_mailbox_view *view, enum mr_code rc)
{
	view->run->cx->err = view->cx.err;
	return rc;
}

/* Damaged, or not what it should be: another will not read it better. */
static bool is_unusable(enum mr_code rc)
{
	return rc == MR_EFORMAT || rc == MR_EINTERNAL || rc == MR_ECONFLICT;
}

/* The journal goes with it: left behind, it would be played into the new database. */
static enum mr_code set_aside(struct mr_mailbox_view *view)
{
	static const char *const sides[] = { "-journal", "-wal", "-shm", "" };
	struct mr_arena *arena = view->cx.arena;
	const char *to = mr_arena_printf(arena, MR_MAILBOX_LOCAL_FILE ".local-unusable-%s.bak",
		view->run->stamp);
	struct mr_err *err = &view->run->cx->err;
	enum mr_code rc = MR_OK;

	for (int i = 1; mr_fs_exists(view->dir, to); i++)
		to = mr_arena_printf(arena, MR_MAILBOX_LOCAL_FILE ".local-unusable-%s-%d.bak",
			view->run->stamp, i);
	for (size_t i = 0; i < MR_LEN(sides) && !rc; i++) {
		const char *from = mr_arena_printf(arena, MR_MAILBOX_LOCAL_FILE "%s", sides[i]);

		if (!mr_fs_exists(view->dir, from))
			continue;
		rc = mr_fs_rename(view->dir, from, view->dir,
			mr_arena_printf(arena, "%s%s", to, sides[i]), MR_FS_REPLACE, err);
		mr_crash_point("repair.local.set_aside");
	}
	if (rc)
		return mr_err_wrap(err, "mailbox %s", view->account->row.path);
	mr_mailbox_repair_found(view->run, "unreadable_local_database", local_path(view),
		"%s; it is now %s", view->cx.err.msg, to);
	return MR_OK;
}

static enum mr_code open_again(struct mr_mailbox_view *view)
{
	enum mr_code rc = mr_mailbox_root_local(&view->cx, view->account->row.path,
		!view->run->hands, &view->local);

	if (!rc)
		rc = mr_mailbox_repair_sql_cache(&view->cx, view->local);
	if (!rc && view->run->hands)
		rc = mr_db_begin(view->local, MR_DB_IMMEDIATE, &view->cx.err);
	return rc;
}

/* The row repeats fields of the message; where they differ, the message is right. */
static enum mr_code mend_head(struct mr_mailbox_view *view, const char *message_id)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_head head;
	struct mr_ctx cx = view->cx;
	bool found = false;
	enum mr_code rc = MR_OK;

	mr_mailbox_repair_found(view->run, "wrong_local_row", message_id,
		"%s has another thread, time or subject than the message", local_path(view));
	if (!view->run->hands)
		return MR_OK;
	cx.arena = arena;
	rc = mr_mailbox_repair_sql_head(&cx, view->run->index, message_id, &head, &found);
	if (!rc && found)
		rc = mr_mailbox_repair_sql_put_head(&cx, view->local, message_id, &head);
	if (rc)
		view->cx.err = cx.err;
	return rc;
}

static enum mr_code on_state(void *arg, const struct mr_mailbox_state *row)
{
	struct mr_mailbox_view *view = arg;
	struct mr_mailbox_place place = {
		.folder = mr_mailbox_view_folder(view, row->box),
		.what = (uint16_t)((row->read ? MR_MAILBOX_FLAG_READ : 0) |
			(row->answered ? MR_MAILBOX_FLAG_ANSWERED : 0) |
			(row->starred ? MR_MAILBOX_FLAG_STARRED : 0) |
			(row->archived ? MR_MAILBOX_FLAG_ARCHIVED : 0) |
			(row->deleted ? MR_MAILBOX_FLAG_DELETED : 0)),
	};

	view->run->restored_state_count++;
	if (!mr_mailbox_known_find(&view->run->known, row->message_id, &place.message)) {
		/* Should the document come back, its flags are still here. */
		mr_mailbox_repair_found(view->run, "state_without_message", row->message_id,
			"%s has a row for a message that is not there; left alone",
			local_path(view));
		return MR_OK;
	}
	mr_buf_add(&view->states, &place, sizeof(place));
	if (mr_mailbox_known_says(&view->run->known, place.message, row->thread_id, row->created_at,
		    row->subject))
		return MR_OK;
	return mend_head(view, row->message_id);
}

static enum mr_code put_row(struct mr_mailbox_view *view, uint32_t message, const char *box,
	unsigned flags)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_mailbox_head head;
	struct mr_ctx cx = view->cx;
	const char *id = mr_mailbox_known_id(&view->run->known, arena, message);
	bool found = false;
	enum mr_code rc;

	cx.arena = arena;
	rc = mr_mailbox_repair_sql_head(&cx, view->run->index, id, &head, &found);
	if (!rc && found) {
		struct mr_mailbox_state row = {
			.message_id = id,
			.thread_id = head.thread_id,
			.created_at = head.created_at,
			.subject = head.subject,
			.read = flags & MR_MAILBOX_FLAG_READ,
			.answered = flags & MR_MAILBOX_FLAG_ANSWERED,
			.starred = flags & MR_MAILBOX_FLAG_STARRED,
			.archived = flags & MR_MAILBOX_FLAG_ARCHIVED,
			.deleted = flags & MR_MAILBOX_FLAG_DELETED,
			.box = box,
		};

		rc = mr_mailbox_state_add(&cx, view->local, &row);
	}
	if (rc)
		view->run->cx->err = cx.err;
	return rc;
}

enum mr_code mr_mailbox_view_add_state(struct mr_mailbox_view *view, uint32_t message,
	const char *box, bool read, bool archived)
{
	return put_row(view, message, box,
		(read ? MR_MAILBOX_FLAG_READ : 0) | (archived ? MR_MAILBOX_FLAG_ARCHIVED : 0));
}

/* Also check what reading rows does not touch: a damaged index would give wrong answers later. */
static enum mr_code check_whole(struct mr_mailbox_view *view)
{
	struct mr_texts wrong = { NULL, 0 };
	enum mr_code rc = mr_db_check(view->local, view->cx.arena, &wrong, &view->cx.err);

	if (!rc && wrong.len > 0)
		rc = mr_err_set(&view->cx.err, MR_EFORMAT, "it is damaged: %s", wrong.items[0]);
	return rc;
}

/* A new database in the place of a damaged one, with the rows that could be read. */
static enum mr_code replace(struct mr_mailbox_view *view)
{
	const struct mr_mailbox_place *rows;
	enum mr_code rc;

	mr_db_closep(&view->local);
	rc = set_aside(view);
	if (rc)
		return rc;
	rc = open_again(view);
	if (rc)
		return fail(view, rc);
	view->fresh = true;
	rows = (const void *)view->states.data;
	for (size_t i = 0; i < view->states.len / sizeof(*rows) && !rc; i++) {
		if (rows[i].folder != MR_MAILBOX_NO_FOLDER)
			rc = put_row(view, rows[i].message, view->folders[rows[i].folder],
				rows[i].what);
	}
	return rc;
}

enum mr_code mr_mailbox_view_read_states(struct mr_mailbox_view *view)
{
	struct mr_mailbox_repair_run *run = view->run;
	bool there = mr_fs_exists(view->dir, MR_MAILBOX_LOCAL_FILE);
	enum mr_code rc;

	if (!there) {
		mr_mailbox_repair_found(run, "missing_local_database", local_path(view),
			run->hands ? "made from the messages" : "every mailbox has one");
		view->fresh = true;
		if (!run->hands)
			return MR_OK;
	}
	rc = open_again(view);
	if (!rc)
		rc = mr_mailbox_repair_sql_states(&view->cx, view->local, on_state, view);
	if (!rc && there)
		rc = check_whole(view);
	if (!rc)
		return mr_buf_check(&view->states, "states", &run->cx->err);
	if (is_unusable(rc) && run->hands)
		return replace(view);
	if (is_unusable(rc) || rc == MR_EPERM) {
		mr_mailbox_repair_found(run, "unreadable_local_database", local_path(view), "%s",
			view->cx.err.msg);
		mr_db_closep(&view->local);
		return MR_OK;
	}
	return fail(view, rc);
}
