/*
 * text/json.h - JSON in (strict, bounded, to a value tree) and out (a streaming writer).
 *
 * The reader refuses duplicate keys, lone surrogates, \u0000, integers past 64 bits, numbers past a
 * double, and anything after the value.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "text/value.h"

struct mr_json_limits {
	size_t max_bytes;
	unsigned max_depth;
	size_t max_nodes;
};

extern const struct mr_json_limits mr_json_default_limits; /* 4 MiB, 64 deep, 200,000 nodes */

/* `limits` NULL takes the default. MR_EFORMAT says line and column, MR_ELIMIT which limit. */
MR_CHECK enum mr_code mr_json_parse(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_json_limits *limits, const struct mr_value **out, struct mr_err *err);

enum mr_json_style {
	MR_JSON_COMPACT,     /* {"a":1,"b":2} */
	MR_JSON_SPACED,      /* {"a": 1, "b": 2} */
	MR_JSON_INDENTED,    /* two spaces a level */
	MR_JSON_ASCII = 8,   /* or-ed in: everything above 0x7e escaped */
	MR_JSON_SORTED = 16, /* or-ed in: mr_json_value() sorts keys by bytes */
};

/* Twice what the reader lets in, so that a value read can stand inside a result. */
enum { MR_JSON_WRITER_DEPTH = 128 };

/* Appends to `buf`, whose maximum and sticky failure are the writer's too. */
struct mr_json_writer {
	struct mr_buf *buf;
	unsigned style;
	unsigned depth;
	bool after_key;
	struct {
		bool is_map;
		bool filled; /* does it have an element yet? */
	} levels[MR_JSON_WRITER_DEPTH + 1];
};

void mr_json_init(struct mr_json_writer *w, struct mr_buf *buf, unsigned style);
/* Misuse (a value without its key, an end without its begin, a second value at the top, too deep)
 * is a programming error: it aborts. */
void mr_json_begin_map(struct mr_json_writer *w);
void mr_json_begin_list(struct mr_json_writer *w);
/* Ends the innermost map or list. */
void mr_json_end(struct mr_json_writer *w);
void mr_json_key(struct mr_json_writer *w, const char *key);
void mr_json_null(struct mr_json_writer *w);
void mr_json_bool(struct mr_json_writer *w, bool value);
void mr_json_int(struct mr_json_writer *w, int64_t value);
/* The shortest text that reads back the same (a digit more for a few powers of two), with a point
 * or an exponent; what is not finite becomes null. */
void mr_json_real(struct mr_json_writer *w, double value);
/* NULL is null. */
void mr_json_text(struct mr_json_writer *w, const char *text);
void mr_json_bytes(struct mr_json_writer *w, struct mr_bytes text);
void mr_json_value(struct mr_json_writer *w, const struct mr_value *value);
/* A value that another writer wrote: one, and whole. */
void mr_json_raw(struct mr_json_writer *w, struct mr_bytes json);
/* Members of this map that another writer wrote in the same style: one at least. */
void mr_json_raw_members(struct mr_json_writer *w, struct mr_bytes members);
