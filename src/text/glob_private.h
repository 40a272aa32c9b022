/* text/glob_private.h - a compiled pattern, for glob*.c only. */
#pragma once

#include "text/glob.h"

#include <stdint.h>

struct mr_glob_range {
	uint32_t first;
	uint32_t last;
};

/*
 * A star, or one character out of a set: disjoint ranges in ascending order. '/' is in no set
 * (except with MR_GLOB_CROSS). Bytes of a path that are not UTF-8 are MR_GLOB_RAW + byte.
 */
struct mr_glob_elem {
	const struct mr_glob_range *ranges;
	size_t count; /* 0: nothing matches */
	bool star;
};

enum { MR_GLOB_RAW = 0x110000 };

/* What stands between two slashes. */
struct mr_glob_segment {
	const struct mr_glob_elem *elems;
	size_t len;
	const char *literal; /* the name, when it is the only one that matches; else NULL */
	size_t literal_len;
	bool deep;     /* "**"; nothing else is set */
	bool possible; /* some name matches */
};

enum {
	/* The pattern's own, and up to three that mean "and all below". */
	MR_GLOB_SEGMENTS_ROOM = MR_GLOB_SEGMENTS + 4,
	/* The same for the elements of a segment, when one stands for the whole path. */
	MR_GLOB_ELEMS_ROOM = MR_GLOB_PATTERN_BYTES + 8,
};

/* With MR_GLOB_CROSS there is one segment, which stands for the whole path. */
struct mr_glob_alternative {
	const struct mr_glob_segment *segments;
	size_t len;
	bool directories_only; /* asks about paths that end in '/', and no others */
};

struct mr_glob {
	const char *text;
	const char *prefix;
	const struct mr_glob_alternative *alternatives;
	size_t len;
	bool cross;
};

/* A pattern's text on its way; `from[i]` is the byte of the caller's text that byte i comes from.
 */
struct mr_glob_source {
	char *text; /* not terminated */
	uint16_t *from;
	size_t len;
};

/* glob_expand.c: normalise `text`, then write out its braces; `*out_text` is what was normalised.
 */
MR_CHECK enum mr_code mr_glob_expand(struct mr_arena *arena, const char *text,
	const struct mr_glob_options *options, const char **out_text, struct mr_glob_source **out,
	size_t *out_len, struct mr_err *err);
/* The byte of the ']' that closes the class opened at `at`, or 0 when none does. */
size_t mr_glob_class_close(const struct mr_glob_source *src, size_t at, bool escapes);

/* glob.c: bytes of the whole segments that both texts begin with. */
size_t mr_glob_common_prefix(const char *a, const char *b);
