/*
 * text/glob.h - patterns for paths: does a path match, can two patterns meet. Pure: no I/O, no
 *globals.
 *
 * A path is names joined by '/'. In a pattern
 *
 *	?          one character of a name            *       any run of characters of a name
 *	[abc]      one of them, [a-z] ranges,         {a,b}   either; may nest and may hold '/';
 *	[!a] [^a]  one that is none of them                   without a comma the braces are plain
 *	**         as a whole segment: any number of segments, none too; elsewhere the same as *
 *
 * and every other character stands for itself, case included. Wildcards match names that begin with
 * a dot. A character is a Unicode code point; a byte that is not UTF-8, in a path, is one
 *character.
 * "[[]" is the character '[' itself.
 *
 * Patterns are normalised as they are read: white space around them, "./" and '/' in front, empty
 * and "." segments go; '\' is '/', for people on Windows; a '/' at the end means "/" and "**". A
 * pattern of nothing but these (".", "/") is "**", everything. ".." is refused.
 *
 * A pattern without wildcards also matches everything below it: "docs" matches "docs/x.md", because
 * nobody knows whether "docs" is a file. Each alternative counts by itself: "{docs,src/a*}" covers
 * what is below docs and not what is below src/ab. "src/a*" never goes deeper than one name.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	MR_GLOB_PATTERN_BYTES = 512, /* the longest pattern: a long path, and room for braces */
	MR_GLOB_SEGMENTS = 64,       /* per alternative */
	MR_GLOB_ALTERNATIVES = 64,   /* that braces may expand to */
	MR_GLOB_EXPANDED_BYTES =
		4096, /* all alternatives together: bounds the cost of an overlap */
};

enum mr_glob_flag {
	/* '\' takes the meaning from the next character, instead of being '/'. */
	MR_GLOB_ESCAPE = 1 << 0,
	/* "*" as the last segment means "**": what clients mean who write "src/" and "*" for all of
	   it. */
	MR_GLOB_WIDEN = 1 << 1,
	/* A class also stands for its own spelling, so that "app/[id]/page.tsx" is the file of that
	 * name too; a class that makes no sense is then only its spelling, and no error. */
	MR_GLOB_SPELLING = 1 << 2,
	/* ?, * and classes match '/' as well, and "**" is "*": as fnmatch() has it. */
	MR_GLOB_CROSS = 1 << 3,
	/*
	 * One line of a .gitignore file; the other flags are ignored. '\' escapes; braces are
	 * plain; blanks in front count; a pattern without '/', or with one at its end only, matches
	 * at any depth; '/' at the end asks for a directory; "**" at the end wants at least one
	 * segment; whatever matches covers all below it. Comments and '!' are the caller's.
	 */
	MR_GLOB_IGNORE = 1 << 4,
};

struct mr_glob_options {
	unsigned flags;   /* of enum mr_glob_flag */
	const char *root; /* absolute directory; an absolute pattern below it loses it; or NULL */
};

struct mr_glob;

/*
 * Read a pattern; `*out` lives in `arena`. `options` NULL is none. MR_EINVAL says what is wrong and
 * at which byte of `text`, MR_ELIMIT which of the limits above was passed.
 */
MR_CHECK enum mr_code mr_glob_compile(struct mr_arena *arena, const char *text,
	const struct mr_glob_options *options, struct mr_glob **out, struct mr_err *err);

/* The normalised pattern; compiles to an equal one. A line of .gitignore only loses blanks. */
const char *mr_glob_text(const struct mr_glob *glob);

/*
 * Does `path` match? "./" and '/' in front, empty and "." segments do not count. A '/' at the end
 * says that it is a directory, which matters to MR_GLOB_IGNORE only. Time is at most proportional
 * to pattern times path, whatever the pattern.
 */
bool mr_glob_matches(const struct mr_glob *glob, const char *path);

/* Places in all its alternatives: the product of two bounds the time of their overlap. */
size_t mr_glob_size(const struct mr_glob *glob);

/*
 * Is there a path that matches both? Exact, and the same both ways round. Time is at most
 * proportional to the product of the expanded patterns. Compile both with or both without
 * MR_GLOB_CROSS.
 */
bool mr_glob_overlaps(const struct mr_glob *a, const struct mr_glob *b);

/*
 * The directories (and, of a pattern without wildcards, the name) that every match begins with:
 * "src/api" for "src/api/v*.c"; "" when there is none. Lives as long as the glob.
 */
const char *mr_glob_literal_prefix(const struct mr_glob *glob);
/*
 * Is one of two literal prefixes the other, or above it? If not, their globs do not overlap: the
 * cheap question to ask of many leases first.
 */
bool mr_glob_prefixes_meet(const char *a, const char *b);
