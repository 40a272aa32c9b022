/* data/history_tidy.c - what is done when there is time. */
#include "base/crash.h"
#include "data/history_private.h"

#include <string.h>

enum {
	TIDY_PACKS = 4,
	TIDY_BYTES = 1 << 30,
	/* The newest commits may be a person's own, outside our packs. */
	FOREIGN_COMMITS = 1000,
};

/* An older version of a directory becomes a delta against the newer one. */
static enum mr_code make_delta(void *arg, const char *path, const struct mr_tree_entry *before,
	const struct mr_tree_entry *after, struct mr_err *err);

struct shrink {
	struct mr_history *history;
	struct mr_pack_set *set;
};

static enum mr_code shrink_tree(struct shrink *shrink, const struct mr_oid *before,
	const struct mr_oid *after, struct mr_err *err)
{
	struct mr_pack_entry *old = mr_pack_set_find(shrink->set, before);
	struct mr_pack_entry *base = mr_pack_set_find(shrink->set, after);
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = NULL;
	struct mr_buf delta MR_CLEANUP(mr_buf_release);
	struct mr_bytes source, target;
	enum mr_code rc;

	mr_buf_init(&delta, MR_HISTORY_OBJECT_BYTES);
	if (!old || !base || !mr_pack_set_may_delta(old, base))
		return MR_OK;
	arena = mr_arena_new();
	rc = mr_history_get(arena, shrink->history, after, MR_PACK_TREE, &source, err);
	if (!rc)
		rc = mr_history_get(arena, shrink->history, before, MR_PACK_TREE, &target, err);
	if (rc || !mr_tree_delta(source, target, &delta))
		return rc;
	return mr_pack_set_delta(shrink->set, old, base, mr_buf_bytes(&delta), err);
}

static enum mr_code make_delta(void *arg, const char *path, const struct mr_tree_entry *before,
	const struct mr_tree_entry *after, struct mr_err *err)
{
	(void)path;
	if (!mr_tree_is_dir(before->mode) || !mr_tree_is_dir(after->mode))
		return MR_OK;
	return shrink_tree(arg, &before->id, &after->id, err);
}

/*
 * Walk the commits of the set, newest first, and look at those whose parent's uppermost directory
 * is whole: where it is a delta, an earlier merge has been.
 */
static enum mr_code shrink_trees(struct shrink *shrink, struct mr_err *err)
{
	size_t steps = shrink->set->len + FOREIGN_COMMITS;
	struct mr_oid at;
	bool was_inside = false;
	enum mr_code rc = mr_history_get_head(shrink->history, &at, err);

	for (; !rc && !mr_oid_is_zero(&at) && steps > 0; steps--) {
		struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
		bool is_inside = mr_pack_set_find(shrink->set, &at) != NULL;
		struct mr_history_commit commit, parent = { 0 };
		const struct mr_pack_entry *root;

		if (was_inside && !is_inside)
			break;
		was_inside = is_inside;
		rc = mr_history_get_commit(arena, shrink->history, &at, &commit, err);
		if (rc || mr_oid_is_zero(&commit.parent))
			break;
		at = commit.parent;
		if (!is_inside || !mr_pack_set_find(shrink->set, &at))
			continue;
		rc = mr_history_get_commit(arena, shrink->history, &at, &parent, err);
		if (rc)
			break;
		root = mr_pack_set_find(shrink->set, &parent.tree);
		if (!root || root->kind != MR_PACK_TREE || mr_oid_eq(&parent.tree, &commit.tree))
			continue;
		rc = shrink_tree(shrink, &parent.tree, &commit.tree, err);
		if (!rc)
			rc = mr_history_diff(shrink->history, &parent.tree, &commit.tree,
				make_delta, shrink, err);
	}
	return rc;
}

enum mr_code mr_history_merge(struct mr_history *history, size_t trigger, uint64_t max_bytes,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct shrink shrink = { .history = history };
	enum mr_code rc =
		mr_pack_set_open(arena, history->pack_dir, trigger, max_bytes, &shrink.set, err);

	if (!rc && shrink.set) {
		rc = shrink_trees(&shrink, err);
		if (!rc)
			rc = mr_pack_set_write(shrink.set, history->pack_dir, history->own_dir,
				err);
	}
	return rc ? mr_err_wrap(err, "archive %s: cannot merge packs", history->path) : MR_OK;
}

enum mr_code mr_history_tidy(struct mr_history *history, struct mr_err *err)
{
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_oid head;
	enum mr_code rc = mr_history_lock(history, history->lock_timeout_ms, &lock, err);

	if (!rc)
		rc = mr_history_merge(history, TIDY_PACKS, TIDY_BYTES, err);
	if (!rc)
		rc = mr_history_get_head(history, &head, err);
	if (!rc)
		rc = mr_history_state_advance(history, &head, true, err);
	return rc;
}

enum mr_code mr_history_restore(struct mr_history *history, size_t *out_written, struct mr_err *err)
{
	static const struct mr_oid none;
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_lock lock MR_CLEANUP(mr_lock_release) = MR_LOCK_INIT;
	struct mr_history_commit commit = { 0 };
	struct mr_oid head;
	size_t written = 0;
	enum mr_code rc = mr_history_lock(history, history->lock_timeout_ms, &lock, err);

	if (!rc)
		rc = mr_history_get_head(history, &head, err);
	if (!rc && !mr_oid_is_zero(&head))
		rc = mr_history_get_commit(arena, history, &head, &commit, err);
	if (!rc)
		rc = mr_history_work_follow(history, &none, &commit.tree, &written, err);
	if (!rc && out_written)
		*out_written = written;
	return rc;
}
