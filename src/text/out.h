/*
 * text/out.h - the writer that handlers emit their results into, whatever the surface.
 *
 * `key` names the member inside a map and is NULL inside a list and at the top. A JSON reader gets
 * a stream; people get the same values as aligned text, rendered at the end from a tree.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "text/json.h"
#include "text/value.h"

struct mr_out_class;

struct mr_out {
	const struct mr_out_class *class;
	struct mr_json_writer json;
	struct mr_out_span *span; /* or NULL */
	struct mr_out_tree *tree;
};

/* Write JSON (enum mr_json_style) into `buf`. */
void mr_out_init_json(struct mr_out *out, struct mr_buf *buf, unsigned style);
/*
 * Before anything is written as JSON: learn where the member `key` of the outermost map comes to
 * stand in the text. Without such a member it stays empty.
 */
struct mr_out_span {
	const char *key;
	size_t from, to;
};
void mr_out_find(struct mr_out *out, struct mr_out_span *span);
/* Build a tree in `arena`; mr_out_tree() returns it once the last end was called. */
void mr_out_init_tree(struct mr_out *out, struct mr_arena *arena);
const struct mr_value *mr_out_tree(const struct mr_out *out);

void mr_out_map(struct mr_out *out, const char *key);
void mr_out_list(struct mr_out *out, const char *key);
/* Ends the innermost map or list. */
void mr_out_end(struct mr_out *out);
void mr_out_null(struct mr_out *out, const char *key);
void mr_out_bool(struct mr_out *out, const char *key, bool value);
void mr_out_int(struct mr_out *out, const char *key, int64_t value);
void mr_out_real(struct mr_out *out, const char *key, double value);
/* NULL is null. */
void mr_out_text(struct mr_out *out, const char *key, const char *value);
void mr_out_texts(struct mr_out *out, const char *key, const struct mr_texts *value);
void mr_out_value(struct mr_out *out, const char *key, const struct mr_value *value);
/* Only where JSON is written: a text of so many bytes, and a value that is JSON already. */
void mr_out_bytes(struct mr_out *out, const char *key, struct mr_bytes text);
void mr_out_json(struct mr_out *out, const char *key, struct mr_bytes json);

/*
 * Members that are written again and again, and always the same, can be kept as bytes and put into
 * another map. Only where compact JSON is written: mr_out_is_compact().
 */
bool mr_out_is_compact(const struct mr_out *out);
/* Where the next member will stand, and the members since then: until the next is written. */
size_t mr_out_mark(const struct mr_out *out);
struct mr_bytes mr_out_since(const struct mr_out *out, size_t mark);
void mr_out_members(struct mr_out *out, struct mr_bytes members);
