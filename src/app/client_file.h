/*
 * app/client_file.h - edits of other programs' configuration files that leave everything else
 * unchanged. Pure.
 *
 * Two kinds of files. JSON documents are read, changed and written again with two spaces; members
 * keep their order. Of any other text only a block between two marked lines is ours. A file that
 * would not change in meaning keeps its bytes. Results live in the arena.
 */
#pragma once

#include "base/err.h"
#include "text/value.h"

enum { MR_CLIENT_FILE_BYTES = 4 << 20 };

/* The document; an empty text is an empty object. MR_EFORMAT also for comments, which JSON does
 * not have. */
MR_CHECK enum mr_code mr_client_json_read(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_value **out, struct mr_err *err);
struct mr_bytes mr_client_json_write(struct mr_arena *arena, const struct mr_value *document);

/* The value at a path of keys ("mcpServers", "mailroom", NULL), or NULL. */
const struct mr_value *mr_client_json_at(const struct mr_value *document, const char *const *path);
/* The document with `value` at that path; what is on the way is made. MR_ECONFLICT when something
 * on the way is no object. */
MR_CHECK enum mr_code mr_client_json_set(struct mr_arena *arena, const struct mr_value *document,
	const char *const *path, const struct mr_value *value, const struct mr_value **out,
	struct mr_err *err);
/* The document without what is at that path, and without objects that are empty then. */
const struct mr_value *mr_client_json_remove(struct mr_arena *arena,
	const struct mr_value *document, const char *const *path);

/* Items of the list at that path for which `is_ours` says yes are replaced by those of the list
 * `items` (NULL: by nothing); without one they are appended. A list and objects that are empty then
 * go. MR_ECONFLICT when what is there is no list. */
MR_CHECK enum mr_code mr_client_json_list(struct mr_arena *arena, const struct mr_value *document,
	const char *const *path, bool (*is_ours)(const struct mr_value *item),
	const struct mr_value *items, const struct mr_value **out, struct mr_err *err);
/* The items for which `is_ours` says yes, as a list, or NULL when there are none. */
const struct mr_value *mr_client_json_ours(struct mr_arena *arena, const struct mr_value *document,
	const char *const *path, bool (*is_ours)(const struct mr_value *item));

/* The lines that begin and end our block; `begin` is the start of its line, more may follow. */
struct mr_client_marks {
	const char *begin;
	const char *end;
};
/* The block, marks included, as it stands in the text; `data` NULL when there is none. MR_EFORMAT
 * when it has no end, or there are two. */
MR_CHECK enum mr_code mr_client_block_find(struct mr_bytes text,
	const struct mr_client_marks *marks, struct mr_bytes *out, struct mr_err *err);
/* The text with `block` (whole lines, marks included) in place of ours, or at its end after a
 * blank line. NULL: without ours, and without a blank line before it. */
MR_CHECK enum mr_code mr_client_block_set(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_client_marks *marks, const char *block, struct mr_bytes *out,
	struct mr_err *err);
