/* data/history_list.c - lists what is in a directory of a commit. */
#include "base/fs.h"
#include "data/history_private.h"

#include <string.h>

/* Go down by one name. */
static enum mr_code enter(struct mr_arena *arena, struct mr_history *history, const char *path,
	size_t len, struct mr_tree *tree, struct mr_err *err)
{
	size_t from = len;
	struct mr_tree_entry entry;
	struct mr_bytes data;
	enum mr_code rc;

	while (from && path[from - 1] != '/')
		from--;
	if (!mr_tree_find(tree, mr_arena_strndup(arena, path + from, len - from), &entry))
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no %.*s in this commit",
			history->path, (int)len, path);
	if (entry.mode != MR_OBJECT_TREE_MODE)
		return mr_err_set(err, MR_EINVAL, "%.*s in archive %s is a file", (int)len, path,
			history->path);
	rc = mr_history_load_tree(history, arena, &entry.id, &data, err);
	return rc ? rc : mr_tree_read(arena, data, tree, err);
}

static enum mr_code find_tree(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_id *commit, const char *path, struct mr_tree *out,
	struct mr_err *err)
{
	struct mr_object_id root;
	struct mr_bytes data;
	enum mr_code rc = mr_history_load_root(history, commit, &root, err);

	if (!rc)
		rc = mr_history_load_tree(history, arena, &root, &data, err);
	if (!rc)
		rc = mr_tree_read(arena, data, out, err);
	for (size_t len = strcspn(path, "/"); !rc && *path; len += strcspn(path + len, "/")) {
		rc = enter(arena, history, path, len, out, err);
		if (path[len] == '\0')
			break;
		len++;
	}
	return rc;
}

enum mr_code mr_history_list(struct mr_arena *arena, struct mr_history *history, const char *commit,
	const char *path, struct mr_history_items *out, struct mr_err *err)
{
	struct mr_history_query query = { .start = commit, .limit = 1 };
	struct mr_history_items items = { 0 };
	struct mr_history_log log = { 0 };
	struct mr_tree tree;
	enum mr_code rc = *path ? mr_history_check_path(path, err) : MR_OK;

	/* It also finds what "HEAD" and a few digits stand for. */
	if (!rc)
		rc = mr_history_log(arena, history, &query, &log, err);
	if (!rc && !log.len)
		return mr_err_set(err, MR_ENOTFOUND, "archive %s has no commits yet",
			history->path);
	if (!rc)
		rc = find_tree(arena, history, &log.items[0].id, path, &tree, err);
	if (rc)
		return rc;
	items.items = mr_arena_array(arena, tree.count, sizeof(*items.items));
	for (size_t i = 0; i < tree.count; i++) {
		struct mr_history_item *item = &items.items[items.len];
		struct mr_tree_entry entry;

		mr_tree_at(&tree, i, &entry);
		if (entry.mode != MR_OBJECT_TREE_MODE && (entry.mode & 0170000) != 0100000)
			continue;
		item->name = mr_history_clean(arena, entry.name);
		item->is_dir = entry.mode == MR_OBJECT_TREE_MODE;
		mr_object_id_hex(&entry.id, item->id.hex);
		items.len++;
	}
	*out = items;
	return MR_OK;
}
