/* mailbox/agent_unfinished.c - marks sessions that are being made, and removes those that dead
 * processes left. */
#include "mailbox/agent_unfinished.h"

#include "base/crash.h"
#include "base/fs.h"
#include "base/lock.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK "mailroom-unfinished"
/* Such a directory is being removed: its mark may be gone already. */
#define GONE ".mailroom-removed-"

enum { DIR_MODE = 0700, SESSIONS = 100000 };

static const char *mark_of(struct mr_arena *arena, const char *session)
{
	return mr_arena_printf(arena, "%s/" MARK, session);
}

enum mr_code mr_mailbox_unfinished_begin(struct mr_ctx *cx, const char *session, const char *record,
	int *out_fd)
{
	enum mr_code rc = mr_fs_make_dirs(AT_FDCWD, session, DIR_MODE, &cx->err);

	return rc ? rc
		  : mr_fs_write_locked(AT_FDCWD, mark_of(cx->arena, session), mr_bytes_text(record),
			    MR_FS_NEW, MR_FS_SYNC_ALL, 0600, out_fd, &cx->err);
}

void mr_mailbox_unfinished_end(struct mr_ctx *cx, const char *session)
{
	unlink(mark_of(cx->arena, session));
	mr_crash_point("agent.finished");
}

static void remove_dir(const char *path)
{
	struct mr_err ignored;

	if (!mr_fs_remove_all(AT_FDCWD, path, &ignored))
		mr_crash_point("agent.swept");
}

/* Out of sight first: a death while it is removed must not leave a half without its mark. */
static void remove_session(struct mr_ctx *cx, const char *directory, const char *name)
{
	const char *path = mr_arena_printf(cx->arena, "%s/%s", directory, name);
	const char *aside = mr_arena_printf(cx->arena, "%s/" GONE "%s", directory, name);

	if (rename(path, aside) == 0)
		remove_dir(aside);
}

static void look(struct mr_ctx *cx, const char *directory, const char *name)
{
	const char *session = mr_arena_printf(cx->arena, "%s/%s", directory, name);
	const char *mark = mark_of(cx->arena, session);
	const char *record, *end;
	struct mr_bytes bytes;
	struct mr_err ignored;
	size_t swept;

	/* Nothing is in it, or a mark half written: its process died before the mark was there. */
	if (mr_fs_sweep_temporaries(AT_FDCWD, session, &swept, &ignored) || rmdir(session) == 0)
		return;
	if (!mr_fs_exists(AT_FDCWD, mark) || mr_lock_is_held(AT_FDCWD, mark) ||
		mr_fs_read(cx->arena, AT_FDCWD, mark, PATH_MAX, &bytes, &ignored))
		return;
	record = (const char *)bytes.data;
	end = strrchr(record, '/');
	if (mr_fs_exists(AT_FDCWD, record)) {
		mr_mailbox_unfinished_end(cx, session);
		return;
	}
	if (end)
		(void)rmdir(mr_arena_strndup(cx->arena, record, (size_t)(end - record)));
	remove_session(cx, directory, name);
}

void mr_mailbox_unfinished_sweep(struct mr_ctx *cx, const char *directory, const char *prefix)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_texts names = { NULL, 0 };
	struct mr_ctx one = *cx;
	struct mr_err ignored;

	one.arena = arena;
	if (mr_fs_list(arena, AT_FDCWD, directory, SESSIONS, &names, &ignored))
		return;
	for (size_t i = 0; i < names.len; i++) {
		if (mr_str_starts(names.items[i], GONE))
			remove_dir(mr_arena_printf(arena, "%s/%s", directory, names.items[i]));
		else if (mr_str_starts(names.items[i], prefix))
			look(&one, directory, names.items[i]);
	}
}
