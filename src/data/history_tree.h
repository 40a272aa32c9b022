/*
 * data/history_tree.h - the bytes of a git tree object, read and edited without unpacking them.
 *
 * A directory of 20,000 files is a tree of two megabytes; it is copied in runs, not entry by entry.
 * Pure: no I/O, no git library.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MR_OID_BYTES = 20 };

/* The name of a git object: its SHA-1. */
struct mr_oid {
	uint8_t bytes[MR_OID_BYTES];
};

bool mr_oid_eq(const struct mr_oid *a, const struct mr_oid *b);
int mr_oid_compare(const struct mr_oid *a, const struct mr_oid *b);
bool mr_oid_is_zero(const struct mr_oid *oid);
void mr_oid_format(const struct mr_oid *oid, char out[2 * MR_OID_BYTES + 1]);
/* Exactly 40 hex digits at `text`, whatever follows. */
bool mr_oid_parse(const char *text, struct mr_oid *out);

enum {
	MR_TREE_MODE_DIR = 040000,
	MR_TREE_MODE_FILE = 0100644,
};

struct mr_tree_entry {
	const char *name; /* in the tree's bytes, followed by NUL */
	size_t name_len;
	unsigned mode;
	struct mr_oid id;
	size_t at;   /* where the entry starts */
	size_t size; /* its bytes in the tree */
};

bool mr_tree_is_dir(unsigned mode);
bool mr_tree_is_file(unsigned mode);

struct mr_tree_iter {
	struct mr_bytes tree;
	size_t at;
	bool bad; /* the bytes are no tree */
};

/* The next entry; false at the end, and where the bytes are bad. */
bool mr_tree_next(struct mr_tree_iter *iter, struct mr_tree_entry *out);
/* The entry of that name. */
bool mr_tree_find(struct mr_bytes tree, const char *name, size_t name_len,
	struct mr_tree_entry *out);

/* Git's order: a directory is sorted as if its name ended in '/'. */
int mr_tree_compare(const char *a, size_t a_len, bool a_is_dir, const char *b, size_t b_len,
	bool b_is_dir);

/* What becomes of one name. */
struct mr_tree_edit {
	const char *name;
	size_t name_len;
	unsigned mode; /* 0: nothing of that name stays */
	struct mr_oid id;
};

/*
 * The tree after the edits, appended to `out`. `edits` have distinct names, sorted by
 * mr_tree_compare() with each mode's kind. `replaced` are the places, ascending, of entries of
 * `tree` that the edits take away or replace.
 */
void mr_tree_rewrite(struct mr_bytes tree, const struct mr_tree_edit *edits, size_t edit_count,
	const size_t *replaced, size_t replaced_count, struct mr_buf *out);

/*
 * How to make `target` from `source`, two versions of one directory, as git's delta; linear in
 * their size. False when the bytes are no trees.
 */
bool mr_tree_delta(struct mr_bytes source, struct mr_bytes target, struct mr_buf *out);
