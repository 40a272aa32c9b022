/*
 * workspace/managed_block.h - the part of a user's file that this program writes. Pure.
 *
 * The part stands between a line that begins it and a line that ends it; everything else is the
 * user's and keeps its bytes.
 */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

struct mr_work_markers {
	const char *begin, *end; /* whole lines; blanks around them do not matter */
};
extern const struct mr_work_markers mr_work_gitignore_markers;
extern const struct mr_work_markers mr_work_agents_markers;

/* The text between the two lines, or NULL when there is no block; it lives in `arena`. */
const char *mr_work_block_body(struct mr_arena *arena, const struct mr_work_markers *markers,
	struct mr_bytes file);

/*
 * What the file at `path` shall be: `fresh` when there is none (`old.data` is NULL); otherwise
 * `old` with its block replaced by that of `fresh`, or with that block added at the end after an
 * empty line. The block has the line ends of the old one, or of the file's first line.
 * managed_block_missing: `fresh` has no block; managed_block_invalid: a block begins but does not
 * end.
 */
MR_CHECK enum mr_code mr_work_block_merge(struct mr_ctx *cx, const char *path,
	const struct mr_work_markers *markers, struct mr_bytes old, struct mr_bytes fresh,
	struct mr_bytes *out);
