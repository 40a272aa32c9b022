/*
 * data/history_pack_merge.c - many packs become one, in time that follows their bytes.
 *
 * Objects are copied as they stand. Only large ones that begin alike (the versions of a directory,
 * of a thread's digest) are looked into: the largest, which is the newest, stays whole, and each
 * other becomes a delta against the one before it.
 */
#include "base/crash.h"
#include "base/fs.h"
#include "data/history_object.h"
#include "data/history_private.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEY = 48,
	LARGE_TREE = 1 << 10,
	LARGE_BLOB = 4 << 10,
	CHAIN = 48, /* deltas on each other; more make old versions slow to read */
};

/* An object that may become a delta. */
struct candidate {
	struct mr_pack_object *object;
	uint8_t key[KEY];
};

struct merging {
	struct mr_history *history;
	struct mr_arena *arena;
	struct mr_pack *packs;
	size_t pack_count;
	struct mr_texts names;       /* of these */
	struct mr_pack_object **all; /* pack after pack, in the order of each; each id once */
	size_t count;
	struct candidate *candidates;
	size_t candidate_count;
	struct mr_pack_object **order; /* as they will be written */
	size_t order_count;
};

static void close_packs(struct merging *merging)
{
	for (size_t i = 0; i < merging->pack_count; i++)
		mr_pack_close(&merging->packs[i]);
	merging->pack_count = 0;
}

static enum mr_code open_packs(struct merging *merging, const struct mr_texts *names,
	struct mr_err *err)
{
	struct mr_arena *arena = merging->arena;

	merging->packs = mr_arena_array(arena, names->len, sizeof(*merging->packs));
	merging->names.items = mr_arena_array(arena, names->len + 1, sizeof(char *));
	for (size_t i = 0; i < names->len; i++) {
		enum mr_code rc = mr_pack_open(merging->history->git_dir,
			mr_history_pack_path(arena, names->items[i], "pack"),
			mr_history_pack_path(arena, names->items[i], "idx"),
			&merging->packs[merging->pack_count], err);

		/* Of another making: it stays as it is. */
		if (rc == MR_EFORMAT)
			continue;
		if (rc)
			return rc;
		merging->pack_count++;
		merging->names.items[merging->names.len++] = names->items[i];
	}
	return MR_OK;
}

/* A list's place tells which of two equal objects came first. */
struct ranked {
	struct mr_pack_object *object;
	size_t rank;
};

static int rank_order(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	int order = memcmp(left->object->id.bytes, right->object->id.bytes, MR_OBJECT_ID_BYTES);

	return order ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

/* Of objects that stand in several packs the first stays; who builds on another builds on it. */
static void drop_doubles(struct merging *merging, struct mr_pack_object **list, size_t len)
{
	struct ranked *ranked = mr_arena_array(merging->arena, len, sizeof(*ranked));
	/* By rank: the one that stays in its stead, or NULL. */
	struct mr_pack_object **stead = mr_arena_array(merging->arena, len, sizeof(*stead));
	size_t first = 0;

	for (size_t i = 0; i < len; i++)
		ranked[i] = (struct ranked){ list[i], i };
	qsort(ranked, len, sizeof(*ranked), rank_order);
	for (size_t i = 1; i < len; i++) {
		if (mr_object_id_eq(&ranked[first].object->id, &ranked[i].object->id)) {
			stead[ranked[i].rank] = ranked[first].object;
			/* Found again by those that build on it. */
			ranked[i].object->base = ranked[first].object;
			ranked[i].object->size = UINT64_MAX;
		} else {
			first = i;
		}
	}
	merging->all = mr_arena_array(merging->arena, len, sizeof(*merging->all));
	for (size_t i = 0; i < len; i++) {
		struct mr_pack_object *object = list[i];

		if (stead[i])
			continue;
		if (object->type == MR_OBJECT_OFS_DELTA && object->base->size == UINT64_MAX)
			object->base = object->base->base;
		merging->all[merging->count++] = object;
	}
}

static enum mr_code gather(struct merging *merging, struct mr_err *err)
{
	struct mr_pack_object **list;
	size_t total = 0, len = 0;
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < merging->pack_count; i++)
		total += merging->packs[i].count;
	list = mr_arena_array(merging->arena, total, sizeof(*list));
	for (size_t i = 0; !rc && i < merging->pack_count; i++) {
		struct mr_pack_object *objects = NULL;

		rc = mr_pack_objects(merging->arena, &merging->packs[i], &objects, err);
		for (size_t k = 0; !rc && k < merging->packs[i].count; k++)
			list[len++] = &objects[k];
	}
	if (!rc)
		drop_doubles(merging, list, len);
	return rc;
}

static int candidate_order(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = (int)left->object->type - (int)right->object->type;

	if (!order)
		order = memcmp(left->key, right->key, KEY);
	if (!order)
		order = (left->object->size < right->object->size) -
			(left->object->size > right->object->size);
	/* Chance must not decide what a pack looks like. */
	return order ? order
		     : memcmp(left->object->id.bytes, right->object->id.bytes, MR_OBJECT_ID_BYTES);
}

static bool is_large(const struct mr_pack_object *object)
{
	return (object->type == MR_OBJECT_TREE && object->size >= LARGE_TREE) ||
		(object->type == MR_OBJECT_BLOB && object->size >= LARGE_BLOB);
}

static enum mr_code find_candidates(struct merging *merging, struct mr_err *err)
{
	enum mr_code rc = MR_OK;

	merging->candidates =
		mr_arena_array(merging->arena, merging->count, sizeof(*merging->candidates));
	for (size_t i = 0; !rc && i < merging->count; i++) {
		struct candidate *candidate = &merging->candidates[merging->candidate_count];

		if (!is_large(merging->all[i]))
			continue;
		candidate->object = merging->all[i];
		rc = mr_pack_peek(merging->all[i], candidate->key, KEY, err);
		merging->candidate_count++;
	}
	qsort(merging->candidates, merging->candidate_count, sizeof(*merging->candidates),
		candidate_order);
	return rc;
}

/* Stored without compression when it was new; now it stays. */
static void settle(struct merging *merging, struct mr_pack_object *object, struct mr_bytes plain)
{
	if (object->data.len < object->size)
		return;
	object->data =
		mr_bytes_of(mr_arena_memdup(merging->arena, plain.data, plain.len), plain.len);
	object->is_packed = false;
	object->is_lasting = true;
}

/* Candidates of one key, the largest first. */
static enum mr_code chain(struct merging *merging, struct candidate *group, size_t count,
	struct mr_err *err)
{
	struct mr_arena *before MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_bytes base = { 0 };
	size_t depth = 0;
	enum mr_code rc = MR_OK;

	/* Alone, and compressed already. */
	if (count == 1 && group->object->data.len < group->object->size) {
		merging->order[merging->order_count++] = group->object;
		return MR_OK;
	}
	for (size_t i = 0; !rc && i < count; i++) {
		struct mr_pack_object *object = group[i].object;
		struct mr_arena *now = mr_arena_new();
		struct mr_bytes plain = { 0 }, delta;

		rc = mr_pack_inflate(now, object, &plain, err);
		if (!rc && i > 0 && depth < CHAIN &&
			mr_object_delta(merging->arena, object->type, base, plain, &delta)) {
			object->type = MR_OBJECT_OFS_DELTA;
			object->base = group[i - 1].object;
			object->size = delta.len;
			object->data = delta;
			object->is_packed = false;
			object->is_lasting = true;
			depth++;
		} else if (!rc) {
			settle(merging, object, plain);
			depth = 0;
		}
		base = plain;
		mr_arena_free(before);
		before = now;
		merging->order[merging->order_count++] = object;
	}
	return rc;
}

static bool is_same_group(const struct candidate *a, const struct candidate *b)
{
	return a->object->type == b->object->type && memcmp(a->key, b->key, KEY) == 0;
}

/* Candidates first, so that all bases stand before what builds on them; then the rest. */
static enum mr_code arrange(struct merging *merging, struct mr_err *err)
{
	enum mr_code rc = find_candidates(merging, err);

	merging->order = mr_arena_array(merging->arena, merging->count, sizeof(*merging->order));
	/* Before a chain changes what they are. */
	for (size_t i = 0; i < merging->count; i++)
		merging->all[i] = is_large(merging->all[i]) ? NULL : merging->all[i];
	for (size_t i = 0; !rc && i < merging->candidate_count;) {
		size_t end = i + 1;

		while (end < merging->candidate_count &&
			is_same_group(&merging->candidates[i], &merging->candidates[end]))
			end++;
		rc = chain(merging, merging->candidates + i, end - i, err);
		i = end;
	}
	for (size_t i = 0; i < merging->count; i++) {
		if (merging->all[i])
			merging->order[merging->order_count++] = merging->all[i];
	}
	return rc;
}

enum mr_code mr_history_merge(struct mr_history *history,
	const struct mr_history_merge_limits *limits, bool *merged, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct merging merging MR_CLEANUP(close_packs) = { .history = history, .arena = arena };
	char name[MR_HISTORY_ID_BYTES];
	struct mr_texts names;
	enum mr_code rc = mr_history_pack_choose(arena, history, limits, &names, err);

	*merged = false;
	if (!rc && names.len >= 2)
		rc = open_packs(&merging, &names, err);
	if (rc || merging.pack_count < 2)
		return rc;
	rc = gather(&merging, err);
	if (!rc)
		rc = arrange(&merging, err);
	if (!rc)
		rc = mr_pack_write(history->own_dir, MR_HISTORY_PACK_TEMP, MR_HISTORY_INDEX_TEMP,
			merging.order, merging.order_count, name, err);
	if (!rc)
		rc = mr_history_pack_place(history, name, err);
	if (rc)
		return mr_err_wrap(err, "archive %s: cannot merge packs", history->path);
	mr_crash_point("history.merge.written");
	rc = mr_history_pack_remove(history, &merging.names,
		mr_arena_printf(arena, "pack-%s", name), err);
	/* The library keeps packs open that are no longer there. */
	mr_history_close_repository(history);
	*merged = true;
	return rc ? rc : mr_history_open_repository(history, err);
}
