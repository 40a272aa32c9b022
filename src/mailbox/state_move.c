/* mailbox/state_move.c - moves a message from one box of a mailbox to another. */
#include "base/crash.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "mailbox/index_sql.h"
#include "mailbox/inside.h"
#include "mailbox/layout.h"
#include "mailbox/limits.h"
#include "mailbox/state_private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char ARCHIVE[] = "archive";

/* A move in progress: the change of state, and the link to be made. */
struct move {
	struct mr_ctx *cx;
	struct mr_mailbox_state_change change;
	const char *box;
	int dir;            /* the mailbox, open */
	const char *name;   /* <id>.md */
	const char *target; /* of links to it: the document, absolute */
	bool linked;        /* the link is ours, and was not there before */
};

static void release(struct move *m)
{
	mr_fs_closep(&m->dir);
	mr_mailbox_state_change_release(&m->change);
}

enum mr_code mr_mailbox_state_box(struct mr_ctx *cx, const char *name, const char **out)
{
	size_t len = strlen(name);
	const char *box;

	if (!mr_utf8_is_valid(name, len, NULL))
		return mr_err_set(&cx->err, MR_EINVAL, "the name of a box must be UTF-8");
	mr_utf8_strip(&name, &len);
	box = mr_arena_strndup(cx->arena, name, len);
	if (!mr_mailbox_inside_name(box))
		return mr_err_set(&cx->err, MR_EINVAL,
			"`%.100s` cannot be the name of a box: it must not be empty, `.` or `..`, "
			"hold a slash, or be longer than %d bytes",
			box, NAME_MAX);
	*out = box;
	return MR_OK;
}

/* The folder itself must not be a link. */
static enum mr_code open_folder(struct move *m, const char *folder, int *out)
{
	*out = openat(m->dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*out < 0)
		return mr_err_os(&m->cx->err, errno, "cannot open %s/%s", m->change.row->path,
			folder);
	return MR_OK;
}

static bool is_our_link(const struct move *m, int dir, const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(dir, path, target, sizeof(target));

	return len > 0 && (size_t)len == strlen(m->target) &&
		memcmp(target, m->target, (size_t)len) == 0;
}

static enum mr_code make_link(struct move *m)
{
	int folder MR_CLEANUP(mr_fs_closep) = -1;
	struct mr_err *err = &m->cx->err;
	enum mr_code rc = mr_fs_make_dirs(m->dir, m->box, 0700, err);
	int why;

	if (rc)
		return mr_err_wrap(err, "box %s of mailbox %s", m->box, m->change.row->path);
	rc = open_folder(m, m->box, &folder);
	if (rc)
		return rc;
	why = mr_crash_fail("state.move.link");
	if (!why && symlinkat(m->target, folder, m->name) != 0)
		why = errno;
	if (why == EEXIST && !is_our_link(m, folder, m->name))
		return mr_err_set(err, MR_ECONFLICT, "projection already exists: %s/%s/%s",
			m->change.row->path, m->box, m->name);
	if (why && why != EEXIST)
		return mr_err_os(err, why, "cannot link %s/%s/%s", m->change.row->path, m->box,
			m->name);
	m->linked = why == 0;
	mr_crash_point("state.move.linked");
	return mr_fs_sync_dir(folder, ".", err);
}

/* Something other than a link to this message is not ours to remove. */
static enum mr_code remove_link(struct move *m, const char *box)
{
	int folder MR_CLEANUP(mr_fs_closep) = -1;
	enum mr_code rc;

	if (!is_our_link(m, m->dir, mr_arena_printf(m->cx->arena, "%s/%s", box, m->name)))
		return MR_OK;
	rc = open_folder(m, box, &folder);
	if (rc)
		return rc == MR_ENOTFOUND ? MR_OK : rc;
	errno = mr_crash_fail("state.move.unlink");
	if (errno || unlinkat(folder, m->name, 0) != 0)
		return mr_err_os(&m->cx->err, errno, "cannot remove %s/%s/%s", m->change.row->path,
			box, m->name);
	mr_crash_point("state.move.unlinked");
	return mr_fs_sync_dir(folder, ".", &m->cx->err);
}

/* In every box but the new one: a move that was interrupted may have left links that the index no
 * longer has. */
static enum mr_code remove_others(struct move *m)
{
	struct mr_texts names = { NULL, 0 };
	enum mr_code rc =
		mr_fs_list(m->cx->arena, m->dir, ".", MR_MAILBOX_ENTRIES, &names, &m->cx->err);

	for (size_t i = 0; i < names.len && !rc; i++) {
		if (!mr_str_eq(names.items[i], m->box))
			rc = remove_link(m, names.items[i]);
	}
	return rc;
}

/* The index's rows, and the owner's; both transactions are open afterwards. */
static enum mr_code fill(struct move *m)
{
	struct mr_ctx *cx = m->cx;
	struct mr_mailbox_state_change *change = &m->change;
	struct mr_mailbox_projection row = {
		.registration_id = change->row->id,
		.message_id = change->message->message_id,
		.folder = m->box,
		.path = mr_mailbox_layout_join(cx->arena, change->row->path,
			mr_mailbox_layout_projection(cx->arena, m->box,
				change->message->message_id)),
	};
	enum mr_code rc = mr_db_begin(change->index.db, MR_DB_IMMEDIATE, &cx->err);

	if (!rc)
		rc = mr_mailbox_index_drop_projections(cx, change->index.db, row.registration_id,
			row.message_id);
	if (!rc)
		rc = mr_mailbox_index_add_projection(cx, change->index.db, &row);
	change->state.box = m->box;
	change->state.archived = mr_str_eq(m->box, ARCHIVE);
	change->state.read |= change->state.archived;
	return rc ? rc : mr_mailbox_state_change_write(cx, change);
}

/* Nothing was committed: remove the new link; the error stays. */
static enum mr_code undo(struct move *m)
{
	struct mr_err why = m->cx->err;
	/* A link that cannot be removed is one too many, which repair will find. */
	enum mr_code rc = m->linked ? remove_link(m, m->box) : MR_OK;

	if (rc)
		m->cx->err = why;
	return why.code;
}

/* After the box was committed. */
static enum mr_code follow(struct move *m)
{
	enum mr_code rc = mr_db_commit(m->change.index.db, &m->cx->err);

	if (!rc)
		mr_crash_point("state.move.indexed");
	if (!rc)
		rc = remove_others(m);
	if (rc)
		return mr_err_wrap(&m->cx->err,
			"message %s is moved, but the index or its old links could not be changed "
			"(run `mailroom mailbox repair`)",
			m->change.message->message_id);
	return MR_OK;
}

enum mr_code mr_mailbox_state_move(struct mr_ctx *cx, const struct mr_mailbox_root *root,
	const char *address, const char *message_id, const char *box,
	struct mr_mailbox_state_result *out)
{
	struct move m MR_CLEANUP(release) = {
		.cx = cx,
		.change = MR_MAILBOX_STATE_CHANGE_INIT,
		.dir = -1,
	};
	enum mr_code rc = mr_mailbox_state_box(cx, box, &m.box);

	if (!rc)
		rc = mr_mailbox_state_change_begin(cx, root, address, message_id, false, &m.change);
	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD, m.change.row->path, &m.dir, &cx->err);
	if (rc)
		return rc;
	m.name = mr_arena_printf(cx->arena, "%s.md", m.change.message->message_id);
	m.target = mr_mailbox_layout_join(cx->arena, root->path,
		mr_mailbox_layout_message(cx->arena, m.change.message->created_at,
			m.change.message->message_id));
	rc = fill(&m);
	if (!rc)
		rc = make_link(&m);
	if (!rc)
		rc = mr_db_commit(m.change.local.db, &cx->err);
	if (rc)
		return undo(&m);
	mr_mailbox_lent_tell(&m.change.local);
	mr_crash_point("state.move.committed");
	rc = follow(&m);
	if (!rc)
		*out = mr_mailbox_state_change_result(&m.change);
	return rc;
}
