/*
 * data/history_pack.h - git packs: one per batch, merged before they are many.
 *
 * A pack is alive while both its files stand in objects/pack. The index is put there first and the
 * pack second; the pack is taken away first and the index second. So a crash leaves at worst an
 * index without a pack, which is always rubbish and which mr_pack_sweep() removes; git ignores it.
 *
 * Our packs hold whole objects, and in merged packs also trees as deltas that name their base by id
 * (REF_DELTA). Entries can therefore be copied from pack to pack as they are. Packs made by git use
 * the other kind of delta, or have files beside them that we do not write: they are left alone.
 *
 * Callers hold the repository's lock.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "data/history_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As numbered in packs. */
enum mr_pack_kind {
	MR_PACK_COMMIT = 1,
	MR_PACK_TREE = 2,
	MR_PACK_BLOB = 3,
	MR_PACK_TAG = 4,
	MR_PACK_OFS_DELTA = 6,
	MR_PACK_REF_DELTA = 7,
};

struct mr_pack_object {
	struct mr_oid id;
	enum mr_pack_kind kind; /* COMMIT, TREE or BLOB */
	struct mr_bytes data;
};

/*
 * Write the objects as one durable pack into `pack_dir`; temporary names stand in `temp_dir`, on
 * the same file system. Objects given twice are written once; `objects` is sorted by id on return.
 */
MR_CHECK enum mr_code mr_pack_write(int pack_dir, int temp_dir, struct mr_pack_object *objects,
	size_t count, struct mr_err *err);

/* Remove indexes without a pack. */
MR_CHECK enum mr_code mr_pack_sweep(int pack_dir, struct mr_err *err);

/* One object of a set of packs to be merged. */
struct mr_pack_entry {
	struct mr_oid id;
	enum mr_pack_kind kind;
	const uint8_t *data; /* header and compressed bytes, as they stand in their pack */
	size_t size;
	uint32_t crc;
	struct mr_pack_entry *base; /* of a delta */
	unsigned depth;             /* deltas between this and a whole object */
	unsigned height;            /* longest chain of deltas that leads here */
	bool is_new_delta;          /* `data` is made by mr_pack_set_delta() */
};

struct mr_pack_set {
	struct mr_pack_entry *entries; /* sorted by id, each once */
	size_t len;
	struct mr_texts names; /* of the packs, without suffix */
	struct mr_arena *arena;
};

/*
 * Choose packs to merge when at least `trigger` of ours are there: the small ones, until those left
 * form a series in which each is twice as large as all before it; never more than `max_bytes`
 * together. `*out` is NULL when there is nothing to do. Everything lives in `arena`.
 */
MR_CHECK enum mr_code mr_pack_set_open(struct mr_arena *arena, int pack_dir, size_t trigger,
	uint64_t max_bytes, struct mr_pack_set **out, struct mr_err *err);
/* NULL when it is not there. */
struct mr_pack_entry *mr_pack_set_find(const struct mr_pack_set *set, const struct mr_oid *id);
/* May `old` become a delta against `base`? Not twice, not in a circle, not too deep. */
bool mr_pack_set_may_delta(const struct mr_pack_entry *old, const struct mr_pack_entry *base);
/* Let it be `delta`, when that is smaller. */
MR_CHECK enum mr_code mr_pack_set_delta(struct mr_pack_set *set, struct mr_pack_entry *old,
	struct mr_pack_entry *base, struct mr_bytes delta, struct mr_err *err);
/* Write the set as one durable pack, then remove the packs it was made of. */
MR_CHECK enum mr_code mr_pack_set_write(const struct mr_pack_set *set, int pack_dir, int temp_dir,
	struct mr_err *err);
