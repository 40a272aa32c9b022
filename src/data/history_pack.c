/* data/history_pack.c - pack files: renamed into place, chosen for merging, removed. */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	NAMES = 100000, /* in objects/pack */
	EMPTY_INDEX = 1024,
	TIER = 32, /* packs of one tier differ in size by less than that */
	TIERS = 16,
};

static const char PACK_DIR[] = "objects/pack";

const char *mr_history_pack_path(struct mr_arena *arena, const char *name, const char *suffix)
{
	return mr_arena_printf(arena, "%s/%s.%s", PACK_DIR, name, suffix);
}

/*
 * Rename the pack from .git/mailroom into place, its index first. A crash leaves at worst an index
 * without a pack, which git ignores, and which must be ours, because git places the pack first.
 */
enum mr_code mr_history_pack_place(struct mr_history *history, const char *name, struct mr_err *err)
{
	static const struct {
		const char *from, *suffix;
	} files[] = { { MR_HISTORY_INDEX_TEMP, "idx" }, { MR_HISTORY_PACK_TEMP, "pack" } };
	char to[128];
	enum mr_code code = MR_OK;

	mr_crash_point("history.pack.written");
	for (size_t i = 0; !code && i < MR_LEN(files); i++) {
		int number = mr_crash_fail("history.pack.rename");

		snprintf(to, sizeof(to), "%s/pack-%s.%s", PACK_DIR, name, files[i].suffix);
		if (!number && renameat(history->own_dir, files[i].from, history->git_dir, to) != 0)
			number = errno;
		if (number)
			code = mr_err_os(err, number, "cannot name %s", to);
		mr_crash_point("history.pack.named");
	}
	if (!code)
		code = mr_fs_sync_dir(history->git_dir, PACK_DIR, err);
	mr_crash_point("history.pack.done");
	return code;
}

/* A pack that may be merged. */
struct pack {
	const char *name; /* without suffix */
	uint64_t size;
	unsigned tier;
};

/* "pack-<digits>" of "pack-<digits>.idx"; NULL for what is no part of a pack. */
static const char *stem_of(struct mr_arena *arena, const char *name)
{
	const char *dot = strchr(name, '.');

	if (!mr_str_starts(name, "pack-") || !dot)
		return NULL;
	return mr_arena_strndup(arena, name, (size_t)(dot - name));
}

/*
 * Is it just two files, as ours are? The index grows with the number of objects, so what was merged
 * is in a higher tier than its parts, however small it is.
 */
static bool look_at(struct mr_arena *arena, struct mr_history *history, struct pack *pack)
{
	struct stat st, index;

	if (fstatat(history->git_dir, mr_history_pack_path(arena, pack->name, "idx"), &index,
		    AT_SYMLINK_NOFOLLOW) != 0 ||
		fstatat(history->git_dir, mr_history_pack_path(arena, pack->name, "pack"), &st,
			AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	pack->size = (uint64_t)st.st_size;
	pack->tier = 0;
	for (int64_t rest = index.st_size - EMPTY_INDEX; rest >= TIER; rest /= TIER)
		pack->tier++;
	return true;
}

/* The packs in the directory that are ours to merge; an index without a pack is removed. */
static enum mr_code list_packs(struct mr_arena *arena, struct mr_history *history,
	struct pack **out, size_t *out_len, struct mr_err *err)
{
	struct mr_texts names;
	enum mr_code code = mr_fs_list(arena, history->git_dir, PACK_DIR, NAMES, &names, err);
	size_t len = 0;

	if (code)
		return code;
	*out = mr_arena_array(arena, names.len + 1, sizeof(**out));
	/* Sorted, so what belongs to one pack stands together: the idx before the pack. */
	for (size_t i = 0, next; i < names.len; i = next) {
		const char *stem = stem_of(arena, names.items[i]);
		struct pack *pack = &(*out)[len];

		next = i + 1;
		while (stem && next < names.len && mr_str_starts(names.items[next], stem))
			next++;
		if (!stem)
			continue;
		pack->name = stem;
		if (next - i == 1 && mr_str_ends(names.items[i], ".idx"))
			unlinkat(history->git_dir, mr_history_pack_path(arena, stem, "idx"), 0);
		else if (next - i == 2 && mr_str_ends(names.items[i], ".idx") &&
			mr_str_ends(names.items[i + 1], ".pack") && look_at(arena, history, pack))
			len++;
	}
	*out_len = len;
	return MR_OK;
}

static int size_order(const void *a, const void *b)
{
	const struct pack *left = a, *right = b;

	return (left->size > right->size) - (left->size < right->size);
}

/* The lowest tier with enough packs; fewer than two when there is none. */
enum mr_code mr_history_pack_choose(struct mr_arena *arena, struct mr_history *history,
	const struct mr_history_merge_limits *limits, struct mr_texts *out, struct mr_err *err)
{
	struct pack *packs = NULL;
	size_t len = 0;
	enum mr_code code = list_packs(arena, history, &packs, &len, err);

	*out = (struct mr_texts){ 0 };
	if (code)
		return code;
	out->items = mr_arena_array(arena, len + 1, sizeof(*out->items));
	qsort(packs, len, sizeof(*packs), size_order);
	for (unsigned tier = 0; tier < TIERS; tier++) {
		uint64_t bytes = 0;

		out->len = 0;
		for (size_t i = 0; i < len; i++) {
			if (packs[i].tier != tier || bytes + packs[i].size > limits->max_bytes)
				continue;
			bytes += packs[i].size;
			out->items[out->len++] = packs[i].name;
		}
		if (out->len >= limits->count ||
			(out->len >= limits->some && bytes >= limits->at_bytes))
			return MR_OK;
	}
	out->len = 0;
	return MR_OK;
}

/* The other way round than they came: the pack first. */
enum mr_code mr_history_pack_remove(struct mr_history *history, const struct mr_texts *names,
	const char *but, struct mr_err *err)
{
	static const char *const suffixes[] = { "pack", "idx" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	/* Git's multi-pack-index is a cache that would still refer to the packs we remove. */
	unlinkat(history->git_dir, "objects/pack/multi-pack-index", 0);
	for (size_t i = 0; i < names->len * 2; i++) {
		const char *path = mr_arena_printf(arena, "%s/%s.%s", PACK_DIR, names->items[i / 2],
			suffixes[i % 2]);

		if (mr_str_eq(names->items[i / 2], but))
			continue;
		if (unlinkat(history->git_dir, path, 0) != 0 && errno != ENOENT)
			return mr_err_os(err, errno, "cannot remove %s/.git/%s", history->path,
				path);
		mr_crash_point("history.merge.removed");
	}
	return MR_OK;
}
