/* data/history_pack.c - packs as files: named into place, counted, taken away. */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	NAMES = 100000, /* in objects/pack */
	EMPTY_INDEX = 1024,
	TIER = 32, /* packs of one tier differ in size by less than that */
	TIERS = 16,
};

static const char PACK_DIR[] = "objects/pack";

/*
 * Name the pack in .git/mailroom into place, the index first. A crash leaves at worst an index
 * without a pack, which git ignores, and which is nobody's: git itself names the pack first.
 */
enum mr_code mr_history_pack_place(struct mr_history *history, const char *name, struct mr_err *err)
{
	static const char *const suffixes[] = { "idx", "pack" };
	char from[64], to[128];
	enum mr_code code = MR_OK;

	for (size_t i = 0; !code && i < MR_LEN(suffixes); i++) {
		snprintf(from, sizeof(from), "pack-%s.%s", name, suffixes[i]);
		code = mr_history_sync(history->own_dir, from, err);
	}
	mr_crash_point("history.pack.synced");
	for (size_t i = 0; !code && i < MR_LEN(suffixes); i++) {
		int number = mr_crash_fail("history.pack.rename");

		snprintf(from, sizeof(from), "pack-%s.%s", name, suffixes[i]);
		snprintf(to, sizeof(to), "%s/%s", PACK_DIR, from);
		if (!number && renameat(history->own_dir, from, history->git_dir, to) != 0)
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

static bool has_suffix(const struct mr_texts *names, const char *stem, const char *suffix)
{
	for (size_t i = 0; i < names->len; i++) {
		if (mr_str_starts(names->items[i], stem) &&
			mr_str_eq(names->items[i] + strlen(stem), suffix))
			return true;
	}
	return false;
}

/*
 * Remove an index without a pack; else look whether the pack is just these two files, as ours are.
 * The index grows with the number of objects, so what was merged is in a higher tier than its
 * parts, however small it is.
 */
static bool is_mergeable(struct mr_history *history, const struct mr_texts *names, const char *stem,
	struct pack *out)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const char *path = mr_arena_printf(arena, "%s/%s.idx", PACK_DIR, stem);
	size_t beside = 0;
	struct stat st, index;

	if (!has_suffix(names, stem, ".pack")) {
		unlinkat(history->git_dir, path, 0);
		return false;
	}
	for (size_t i = 0; i < names->len; i++)
		beside += mr_str_starts(names->items[i], stem);
	if (beside != 2 || fstatat(history->git_dir, path, &index, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	path = mr_arena_printf(arena, "%s/%s.pack", PACK_DIR, stem);
	if (fstatat(history->git_dir, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	out->size = (uint64_t)st.st_size;
	out->tier = 0;
	for (int64_t rest = index.st_size - EMPTY_INDEX; rest >= TIER; rest /= TIER)
		out->tier++;
	return true;
}

/* The packs of the lowest tier that has `count` of them; fewer than two when there is none. */
enum mr_code mr_history_pack_choose(struct mr_arena *arena, struct mr_history *history,
	size_t count, uint64_t max_bytes, struct mr_texts *out, struct mr_err *err)
{
	uint64_t bytes[TIERS] = { 0 };
	size_t counts[TIERS] = { 0 }, len = 0;
	struct pack *packs;
	struct mr_texts names;
	unsigned tier = 0;
	enum mr_code code = mr_fs_list(arena, history->git_dir, PACK_DIR, NAMES, &names, err);

	*out = (struct mr_texts){ 0 };
	if (code || names.len < count)
		return code;
	packs = mr_arena_array(arena, names.len, sizeof(*packs));
	for (size_t i = 0; i < names.len; i++) {
		if (!mr_str_starts(names.items[i], "pack-") || !mr_str_ends(names.items[i], ".idx"))
			continue;
		packs[len].name = mr_arena_strndup(arena, names.items[i],
			strlen(names.items[i]) - strlen(".idx"));
		if (!is_mergeable(history, &names, packs[len].name, &packs[len]))
			continue;
		counts[packs[len].tier]++;
		bytes[packs[len].tier] += packs[len].size;
		len++;
	}
	while (tier < TIERS && (counts[tier] < count || bytes[tier] > max_bytes))
		tier++;
	out->items = mr_arena_array(arena, len + 1, sizeof(*out->items));
	for (size_t i = 0; i < len; i++) {
		if (packs[i].tier == tier)
			out->items[out->len++] = packs[i].name;
	}
	return MR_OK;
}

/* The other way round than they came: the pack first. */
enum mr_code mr_history_pack_remove(struct mr_history *history, const struct mr_texts *names,
	const char *but, struct mr_err *err)
{
	static const char *const suffixes[] = { "pack", "idx" };
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();

	/* Git's list of packs is a cache of theirs; it would go on to look for those we remove. */
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
