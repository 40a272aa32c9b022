/* text/snippet.h - the lines of a message around what was looked for, as plain text. Pure. */
#pragma once

#include "base/arena.h"
#include "text/query.h"

enum {
	MR_SNIPPET_CHARS = 160,
	MR_SNIPPET_HITS = 32,           /* marked in one snippet */
	MR_SNIPPET_BODY_BYTES = 1 << 16 /* of a body, more is not looked at */
};

struct mr_span {
	size_t start, end; /* in bytes */
};
struct mr_snippet {
	const char *text;     /* blanks run together, "..." where something is left out */
	struct mr_span *hits; /* in the text, in their order */
	size_t hit_count;
};

/*
 * Around the first hit of a term that is not negated, or from the beginning when the body has none.
 * Words are compared without case and marks, as the index does; with `inside` any place that holds
 * the term's text is a hit, ASCII case ignored, as LIKE does. Never ends inside a character. Terms
 * of columns other than `column`, which the body is, are not looked for.
 */
void mr_snippet(struct mr_arena *arena, const char *body, const struct mr_query *query, int column,
	bool inside, struct mr_snippet *out);
