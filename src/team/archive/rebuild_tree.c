/* team/archive/rebuild_tree.c - rewrites files of a work tree as the newest commit has them. */
#include "base/fs.h"
#include "data/history.h"
#include "team/archive/archive.h"
#include "team/archive/rebuild_private.h"
#include "team/layout.h"

#include <string.h>

struct tree {
	struct mr_ctx *cx;
	struct mr_history *history;
	int dir;
};

static enum mr_code put_file(struct mr_ctx *cx, struct tree *tree, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct mr_bytes bytes;
	enum mr_code rc = mr_history_read(cx->arena, tree->history, NULL, path, MR_TEAM_FILE_BYTES,
		&bytes, &cx->err);

	if (!rc && slash)
		rc = mr_fs_make_dirs(tree->dir,
			mr_arena_strndup(cx->arena, path, (size_t)(slash - path)), 0700, &cx->err);
	return rc ? rc : mr_fs_write(tree->dir, path, bytes, MR_FS_REPLACE, 0600, &cx->err);
}

static enum mr_code mend_file(void *arg, const char *path, const struct mr_history_id *id,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct tree *tree = arg;
	struct mr_ctx cx = *tree->cx;
	struct mr_bytes bytes;
	enum mr_code rc;

	cx.arena = arena;
	rc = mr_team_archive_file(arena, tree->dir, path, &bytes, &cx.err);
	if (!rc && mr_str_eq(mr_history_blob_id(bytes).hex, id->hex))
		return MR_OK;
	rc = put_file(&cx, tree, path);
	if (rc)
		*err = cx.err;
	return rc;
}

enum mr_code mr_team_rebuild_tree(struct mr_ctx *cx, struct mr_team *team, const char *slug)
{
	struct mr_history *history MR_CLEANUP(mr_history_closep) = NULL;
	int dir MR_CLEANUP(mr_fs_closep) = -1;
	struct tree tree = { .cx = cx };
	enum mr_code rc = mr_team_archive_open(cx, team, slug, &history);

	if (!rc)
		rc = mr_fs_open_dir(AT_FDCWD,
			mr_team_layout_project(cx->arena, mr_team_storage_root(team), slug), &dir,
			&cx->err);
	tree.history = history;
	tree.dir = dir;
	return rc ? rc : mr_history_files(history, mend_file, &tree, &cx->err);
}
