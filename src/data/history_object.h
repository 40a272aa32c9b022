/*
 * data/history_object.h - git's objects as bytes: ids, trees, packs. No library, no policy.
 *
 * What is read comes from a repository that a person's git may have written to: it is checked.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	MR_OBJECT_ID_BYTES = 20,
	MR_OBJECT_TREE_MODE = 040000,
	MR_OBJECT_FILE_MODE = 0100644,
};

enum mr_object_type {
	MR_OBJECT_COMMIT = 1,
	MR_OBJECT_TREE = 2,
	MR_OBJECT_BLOB = 3,
	MR_OBJECT_TAG = 4,
	MR_OBJECT_OFS_DELTA = 6, /* its base stands before it in the same pack */
	MR_OBJECT_REF_DELTA = 7,
};

struct mr_object_id {
	uint8_t bytes[MR_OBJECT_ID_BYTES];
};
bool mr_object_id_eq(const struct mr_object_id *a, const struct mr_object_id *b);
/* 40 digits and NUL. */
void mr_object_id_hex(const struct mr_object_id *id, char *out);
bool mr_object_id_parse(const char *hex, struct mr_object_id *out);
/* What git calls these bytes. Does not look for collisions: for bytes of our own making. */
struct mr_object_id mr_object_hash(enum mr_object_type type, struct mr_bytes data);

/* --- trees --- */

/* A directory: entries in git's order (a directory's name counts as if a '/' followed). */
struct mr_tree {
	struct mr_bytes data;
	uint32_t *at; /* where each entry begins; at[count] is the end */
	size_t count;
};
struct mr_tree_entry {
	uint32_t mode;
	const char *name; /* terminated */
	struct mr_object_id id;
};
/* `data` must live as long as the tree. MR_EFORMAT: not a tree. Nothing is an empty one. */
MR_CHECK enum mr_code mr_tree_read(struct mr_arena *arena, struct mr_bytes data,
	struct mr_tree *out, struct mr_err *err);
/* The entry at an index below `count`. */
void mr_tree_at(const struct mr_tree *tree, size_t index, struct mr_tree_entry *out);
/* What stands under a name, whatever it is. */
bool mr_tree_find(const struct mr_tree *tree, const char *name, struct mr_tree_entry *out);

struct mr_tree_edit {
	const char *name;
	uint32_t mode;     /* 0: take it away; it is there */
	uint32_t old_mode; /* of what is there under the name; 0: nothing */
	struct mr_object_id id;
};
/* The tree's bytes after the edits, each of another name; `edits` are put in git's order. */
struct mr_bytes mr_tree_apply(struct mr_arena *arena, const struct mr_tree *tree,
	struct mr_tree_edit *edits, size_t count);

/* --- deltas --- */

/*
 * How to make `target` from `base`, both of which begin alike: what they have in common at both
 * ends, and for trees entry by entry. False when that is not much smaller than `target`.
 */
bool mr_object_delta(struct mr_arena *arena, enum mr_object_type type, struct mr_bytes base,
	struct mr_bytes target, struct mr_bytes *out);

/* --- packs --- */

/* One object on its way into a pack. */
struct mr_pack_object {
	struct mr_object_id id;
	enum mr_object_type type;
	uint64_t size;        /* of what `data` is when inflated */
	struct mr_bytes data; /* plain, or as it stood in another pack */
	bool is_packed;
	bool is_lasting;                   /* compress it well: it will not be written again soon */
	const struct mr_pack_object *base; /* of an OFS_DELTA: written before it */
	const uint8_t *base_id;            /* of a REF_DELTA: in the same pack */
	/* Set by writing. */
	uint64_t offset;
	uint32_t crc;
};

/*
 * Write a pack and its index, durable but not in place, as these two files in `dir`; what is there
 * is replaced. No object may stand twice. `out_name`: 40 digits. A pack of 2 GiB or more is
 * MR_ELIMIT.
 */
MR_CHECK enum mr_code mr_pack_write(int dir, const char *pack_file, const char *index_file,
	struct mr_pack_object *const *objects, size_t count, char *out_name, struct mr_err *err);

/* A pack that is read, mapped into memory. */
struct mr_pack {
	struct mr_bytes data, index; /* the two files */
	size_t count;
};
/* MR_EFORMAT: not a pack of version 2, or larger than 2 GiB. */
MR_CHECK enum mr_code mr_pack_open(int dir, const char *pack_path, const char *index_path,
	struct mr_pack *out, struct mr_err *err);
/* The same of bytes that are in memory, and stay the caller's: nothing is to be closed. */
MR_CHECK enum mr_code mr_pack_take(struct mr_bytes data, struct mr_bytes index, const char *name,
	struct mr_pack *out, struct mr_err *err);
void mr_pack_close(struct mr_pack *pack);
/* Everything in it, in the order it stands there; bases lead to others of the list. */
MR_CHECK enum mr_code mr_pack_objects(struct mr_arena *arena, const struct mr_pack *pack,
	struct mr_pack_object **out, struct mr_err *err);
/* The plain bytes of one that is whole; MR_EFORMAT also when they are not those that its id names.
 */
MR_CHECK enum mr_code mr_pack_inflate(struct mr_arena *arena, const struct mr_pack_object *object,
	struct mr_bytes *out, struct mr_err *err);
/* Its first `len` bytes; fewer are followed by zeros. */
MR_CHECK enum mr_code mr_pack_peek(const struct mr_pack_object *object, uint8_t *out, size_t len,
	struct mr_err *err);
