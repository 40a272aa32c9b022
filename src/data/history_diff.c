/* data/history_diff.c - what differs between two trees, without looking at what does not. */
#include "data/history_private.h"

#include <string.h>

struct diff {
	struct mr_history *history;
	mr_history_differ *differ;
	void *arg;
};

static enum mr_code diff_trees(struct diff *diff, const char *path, const struct mr_oid *before,
	const struct mr_oid *after, unsigned depth, struct mr_err *err);

static enum mr_code get_tree(struct mr_arena *arena, struct diff *diff, const struct mr_oid *id,
	struct mr_bytes *out, struct mr_err *err)
{
	*out = mr_bytes_of("", 0);
	return mr_oid_is_zero(id)
		? MR_OK
		: mr_history_get(arena, diff->history, id, MR_PACK_TREE, out, err);
}

/* One name, with an entry on one side or both; both are of the same kind. */
static enum mr_code diff_entry(struct diff *diff, const char *dir,
	const struct mr_tree_entry *before, const struct mr_tree_entry *after, unsigned depth,
	struct mr_err *err)
{
	static const struct mr_tree_entry none;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	const struct mr_tree_entry *either = before ? before : after;
	const char *path;
	enum mr_code rc;

	if (before && after && before->mode == after->mode && mr_oid_eq(&before->id, &after->id))
		return MR_OK;
	arena = mr_arena_new();
	path = mr_arena_printf(arena, "%s%s%s", dir, *dir ? "/" : "", either->name);
	rc = diff->differ(diff->arg, path, before ? before : &none, after ? after : &none, err);
	if (rc || !mr_tree_is_dir(either->mode))
		return rc;
	return diff_trees(diff, path, before ? &before->id : &none.id,
		after ? &after->id : &none.id, depth + 1, err);
}

static enum mr_code diff_trees(struct diff *diff, const char *path, const struct mr_oid *before,
	const struct mr_oid *after, unsigned depth, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_tree_iter left = { 0 }, right = { 0 };
	struct mr_tree_entry a, b;
	bool has_a, has_b;
	enum mr_code rc;

	/* A person's own commits may be deeper than ours. */
	if (depth > 4 * MR_HISTORY_DEPTH)
		return mr_err_set(err, MR_ELIMIT, "%s is nested too deep", path);
	rc = get_tree(arena, diff, before, &left.tree, err);
	if (!rc)
		rc = get_tree(arena, diff, after, &right.tree, err);
	if (rc)
		return rc;
	has_a = mr_tree_next(&left, &a);
	has_b = mr_tree_next(&right, &b);
	while (!rc && (has_a || has_b)) {
		int order = !has_a ? 1
			: !has_b   ? -1
				   : mr_tree_compare(a.name, a.name_len, mr_tree_is_dir(a.mode),
					     b.name, b.name_len, mr_tree_is_dir(b.mode));

		rc = diff_entry(diff, path, order <= 0 ? &a : NULL, order >= 0 ? &b : NULL, depth,
			err);
		if (order <= 0)
			has_a = mr_tree_next(&left, &a);
		if (order >= 0)
			has_b = mr_tree_next(&right, &b);
	}
	if (!rc && (left.bad || right.bad))
		rc = mr_err_set(err, MR_EFORMAT, "archive %s is damaged: a directory (%s)",
			diff->history->path, *path ? path : "the uppermost");
	return rc;
}

enum mr_code mr_history_diff(struct mr_history *history, const struct mr_oid *before,
	const struct mr_oid *after, mr_history_differ *differ, void *arg, struct mr_err *err)
{
	struct diff diff = { .history = history, .differ = differ, .arg = arg };

	if (mr_oid_eq(before, after))
		return MR_OK;
	return diff_trees(&diff, "", before, after, 0, err);
}
