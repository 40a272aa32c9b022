/*
 * text/yaml.h - YAML in (bounded, to a value tree) and out (a streaming block writer).
 *
 * The reader types plain scalars as YAML 1.1 has them, the way PyYAML's safe loader does, with
 * three leniencies: a date stays MR_TEXT, and so do "=" and "<<" as values. Keys are always text,
 * as they stand in the source. It refuses what a message or a configuration never needs and an
 * attacker might: aliases, anchors, tags, merge keys, keys that stand twice or are not scalars, a
 * second document, NUL, bytes that are not UTF-8, integers past 64 bits. A byte order mark at the
 * very start is skipped.
 *
 * The writer's output reads back equal in YAML 1.1 and 1.2 alike, and is ASCII.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "text/value.h"

struct mr_yaml_limits {
	size_t max_bytes;
	unsigned max_depth; /* lists and maps in each other; the root is the first */
	size_t max_nodes;   /* values and keys */
};

extern const struct mr_yaml_limits mr_yaml_default_limits; /* 1 MiB, 32 deep, 100,000 nodes */

/*
 * `limits` NULL takes the default. An empty text is null. Nodes live in `arena`. MR_EFORMAT and
 * MR_ELIMIT say line and column (in characters, from 1); only a text too long has none.
 */
MR_CHECK enum mr_code mr_yaml_parse(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_yaml_limits *limits, const struct mr_value **out, struct mr_err *err);

enum { MR_YAML_WRITER_DEPTH = 64 };

struct mr_yaml_level {
	bool is_map;
	bool filled;     /* has an element */
	bool after_dash; /* its first element goes on the line that a dash opened */
	unsigned indent; /* columns before its other elements */
};

/* Appends to `buf`, whose maximum and sticky failure are the writer's too. */
struct mr_yaml_writer {
	struct mr_buf *buf;
	unsigned depth;
	bool after_key;
	struct mr_yaml_level levels[MR_YAML_WRITER_DEPTH + 1];
};

void mr_yaml_init(struct mr_yaml_writer *w, struct mr_buf *buf);
/* Misuse (a value without its key, an end without its begin, too deep) is a programming error. */
void mr_yaml_begin_map(struct mr_yaml_writer *w);
void mr_yaml_begin_list(struct mr_yaml_writer *w);
/* Ends what began last; what stayed empty is written as {} or []. */
void mr_yaml_end(struct mr_yaml_writer *w);
/* Plain or double-quoted by the rule of mr_yaml_text(). */
void mr_yaml_key(struct mr_yaml_writer *w, const char *key);
void mr_yaml_null(struct mr_yaml_writer *w);
void mr_yaml_bool(struct mr_yaml_writer *w, bool value);
void mr_yaml_int(struct mr_yaml_writer *w, int64_t value);
/* The shortest text that reads back the same, always with a point: 1.0e+20, .inf, .nan. */
void mr_yaml_real(struct mr_yaml_writer *w, double value);
/*
 * Plain when it cannot be taken for anything else: words of [A-Za-z0-9._@+/-] parted by single
 * blanks, the first character a letter, no YAML keyword, 60 bytes at most. Otherwise double-quoted
 * on one line, everything outside printable ASCII escaped. NULL is null. Never fails to read back.
 */
void mr_yaml_text(struct mr_yaml_writer *w, const char *text);
/* Always double-quoted. */
void mr_yaml_text_double(struct mr_yaml_writer *w, const char *text);
/* Single-quoted; double-quoted when it holds a quote or anything but printable ASCII. */
void mr_yaml_text_single(struct mr_yaml_writer *w, const char *text);
void mr_yaml_value(struct mr_yaml_writer *w, const struct mr_value *value);
/* The same with every string double-quoted (keys by the rule). */
void mr_yaml_value_double(struct mr_yaml_writer *w, const struct mr_value *value);
/*
 * The whole value on one line as JSON that is also YAML: `["a", {"b": 1}]`. Strings keep their
 * characters, no surrogate pairs; a number that is not finite becomes null. (A key of more than 100
 * bytes is YAML only: no YAML reader would look that far for its colon.)
 */
void mr_yaml_value_flow(struct mr_yaml_writer *w, const struct mr_value *value);
