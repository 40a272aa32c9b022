/* team/freeze.c - Locks all archives of a storage root and copies its database. */
#include "team/freeze.h"

#include "base/fs.h"
#include "base/lock.h"
#include "data/db.h"
#include "team/archive/archive.h"
#include "team/layout.h"
#include "team/store/use_lock.h"

#include <string.h>
#include <unistd.h>

enum { ARCHIVE_WAIT_MS = 60000, ATTEMPTS = 20 };

struct mr_team_freeze {
	const char *root, *database;
	int in_use;
	struct mr_texts slugs; /* those that are locked, in the order of `locks` */
	struct mr_lock *locks;
	size_t room;
};

/* Lock those that are not; true when there were any. */
static enum mr_code lock_more(struct mr_ctx *cx, struct mr_team_freeze *freeze, bool *out_more)
{
	struct mr_texts found = { NULL, 0 };
	enum mr_code rc = mr_team_archive_slugs(cx, freeze->root, &found);

	*out_more = false;
	if (rc == MR_ENOTFOUND)
		return MR_OK; /* nothing was archived yet */
	if (!rc && freeze->room < found.len + freeze->slugs.len) {
		size_t room = found.len + freeze->slugs.len + 16;
		struct mr_lock *locks = mr_arena_array(cx->arena, room, sizeof(*locks));
		const char **slugs = mr_arena_array(cx->arena, room, sizeof(*slugs));

		for (size_t i = 0; i < freeze->slugs.len; i++) {
			locks[i] = freeze->locks[i];
			slugs[i] = freeze->slugs.items[i];
		}
		freeze->locks = locks;
		freeze->slugs.items = slugs;
		freeze->room = room;
	}
	for (size_t i = 0; !rc && i < found.len; i++) {
		const char *lock = mr_arena_printf(cx->arena, "%s/" MR_TEAM_LOCK_FILE,
			mr_team_layout_project(cx->arena, freeze->root, found.items[i]));

		if (mr_texts_has(&freeze->slugs, found.items[i]))
			continue;
		rc = mr_lock_take(AT_FDCWD, lock, "mailroom backup", ARCHIVE_WAIT_MS, cx->clock,
			&freeze->locks[freeze->slugs.len], &cx->err);
		if (rc == MR_ENOTFOUND || (rc && !mr_fs_exists(AT_FDCWD, lock)))
			rc = MR_OK; /* purged meanwhile, or no directory */
		else if (!rc)
			freeze->slugs.items[freeze->slugs.len++] = found.items[i];
		*out_more = true;
	}
	return rc;
}

static enum mr_code copy_database(struct mr_ctx *cx, const struct mr_team_freeze *freeze,
	const char *copy)
{
	struct mr_db_options options = { .path = freeze->database,
		.read_only = true,
		.repair_hint = "run `mailroom team rebuild`" };
	struct mr_db *db MR_CLEANUP(mr_db_closep) = NULL;
	enum mr_code rc = mr_db_open(&options, &db, &cx->err);

	return rc ? rc : mr_db_copy(db, copy, &cx->err);
}

static enum mr_code take(struct mr_ctx *cx, struct mr_team_freeze *freeze, const char *copy)
{
	bool more = true;
	enum mr_code rc = mr_team_use_lock_share(cx, freeze->database, true, &freeze->in_use);

	if (!rc)
		rc = lock_more(cx, freeze, &more);
	/* A project whose archive came while the others were locked is not in the copy's queue any
	 * more: once more, with its lock. */
	more = true;
	for (int i = 0; !rc && more; i++) {
		if (i == ATTEMPTS)
			return mr_err_set(&cx->err, MR_EBUSY,
				"projects are added to %s faster than they can be locked; try again",
				freeze->root);
		if (unlink(copy) != 0 && mr_fs_exists(AT_FDCWD, copy))
			return mr_err_set(&cx->err, MR_EIO, "cannot remove %s", copy);
		rc = copy_database(cx, freeze, copy);
		if (!rc)
			rc = lock_more(cx, freeze, &more);
	}
	return rc;
}

enum mr_code mr_team_freeze_begin(struct mr_ctx *cx, const char *storage_root, const char *database,
	const char *copy, struct mr_team_freeze **out)
{
	struct mr_team_freeze *freeze MR_CLEANUP(mr_team_freeze_endp) =
		mr_arena_alloc(cx->arena, sizeof(*freeze));
	enum mr_code rc;

	freeze->root = storage_root;
	freeze->database = database;
	freeze->in_use = -1;
	if (!mr_fs_exists(AT_FDCWD, database))
		return mr_err_set(&cx->err, MR_ENOTFOUND, "there is no database %s", database);
	rc = take(cx, freeze, copy);
	if (rc)
		return rc;
	*out = freeze;
	freeze = NULL;
	return MR_OK;
}

/* storage.sqlite3, its log, its bell. */
static bool is_database(const char *path)
{
	return mr_str_starts(path, MR_TEAM_DATABASE_FILE);
}

bool mr_team_freeze_has(const struct mr_team_freeze *freeze, const char *path)
{
	static const char projects[] = MR_TEAM_PROJECTS_DIR "/";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t len;

	if (is_database(path) || mr_str_eq(name, MR_TEAM_LOCK_FILE) ||
		mr_str_eq(name, MR_TEAM_LOCK_OWNER_FILE))
		return false;
	if (!mr_str_starts(path, projects))
		return true;
	path += strlen(projects);
	len = strcspn(path, "/");
	for (size_t i = 0; i < freeze->slugs.len; i++) {
		if (strncmp(freeze->slugs.items[i], path, len) == 0 &&
			freeze->slugs.items[i][len] == '\0')
			return true;
	}
	return false;
}

void mr_team_freeze_endp(struct mr_team_freeze **freeze)
{
	if (!*freeze)
		return;
	for (size_t i = 0; i < (*freeze)->slugs.len; i++)
		mr_lock_release(&(*freeze)->locks[i]);
	mr_fs_closep(&(*freeze)->in_use);
	*freeze = NULL;
}
