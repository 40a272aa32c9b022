/*
 * text/query.h - what a person types into a search, taken apart.
 *
 *	plan users            both words
 *	"build plan"          the words in this order
 *	migrat*               words that begin so
 *	plan AND users, plan OR users, plan NOT users, -users, ( )
 *	subject:plan body:"build plan" subject:(plan OR users)
 *	from:Name since:2026-03-01 until:7d has:attachment, and -from:Name
 *
 * Operators are upper case. NEAR is a word. What stands in a word besides letters and digits
 * (full-text, src/main.c, ops@example) makes it a phrase. Which words before a colon mean something
 * is up to the caller's keys: a column narrows the operand behind it, a filter the whole query,
 * wherever it stands.
 *
 * No text is an error: what cannot be understood is marked, and its words are there all the same.
 * Of a text only the first MR_QUERY_BYTES and in them the first MR_QUERY_TERMS words are looked at.
 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MR_QUERY_BYTES = 4096,
	MR_QUERY_TERMS = 64,
	MR_QUERY_TERM_BYTES = 256, /* of one word or phrase; the rest of it is dropped */
	MR_QUERY_FILTERS = 32,     /* more are dropped */
	MR_QUERY_DEPTH = 32,       /* parentheses in parentheses */
};

/* The column of a term that may stand anywhere. */
enum { MR_QUERY_ANY_COLUMN = 0 };

/* What follows a key and its colon. */
enum mr_query_key_kind {
	MR_QUERY_COLUMN, /* an operand, whose terms stand in the column `number` */
	/* The others are filters of the kind `number`. */
	MR_QUERY_NAME,   /* a name, perhaps with a place: Name@place, @Name */
	MR_QUERY_TEXT,   /* anything */
	MR_QUERY_CHOICE, /* one of `words`, in any case */
	MR_QUERY_SINCE,  /* a time, or how long ago: 2026-03-11, 7d */
	MR_QUERY_UNTIL,  /* the same; a date alone includes its day */
};

struct mr_query_key {
	const char *key; /* NULL ends a table */
	enum mr_query_key_kind kind;
	int number;               /* of the caller's; columns count from 1 */
	const char *const *words; /* of MR_QUERY_CHOICE, NULL-terminated */
	const char *expected;     /* the words that a refusal names: "low or high" */
};

struct mr_query_term {
	const char *text; /* a word or a phrase, never empty */
	int column;       /* or MR_QUERY_ANY_COLUMN */
	bool prefix;      /* its last word may go on */
	bool negated;     /* stands under a NOT */
	bool has_word;    /* a letter or a digit is in it */
	bool unspaced;    /* of a script without blanks between words: no index knows its words */
};

enum mr_query_node_kind { MR_QUERY_TERM, MR_QUERY_AND, MR_QUERY_OR, MR_QUERY_NOT };

struct mr_query_node {
	enum mr_query_node_kind kind;
	const struct mr_query_term *term;   /* of MR_QUERY_TERM */
	const struct mr_query_node *inside; /* the first operand of the others; NOT has one */
	const struct mr_query_node *next;   /* the operand after this one */
};

struct mr_query_filter {
	int kind; /* the number of its key */
	bool negated;
	const char *text;  /* a name in lower case, a text, a word of the choice; else NULL */
	const char *place; /* of Name@place, in lower case; or NULL */
	int64_t time_us;   /* since: not before this; until: before this */
};

struct mr_query {
	struct mr_query_term *terms;
	size_t term_count; /* 0, without filters too, when there is nothing to look for */
	struct mr_query_filter *filters;
	size_t filter_count;
	/* Which of the terms a text must hold; NULL without terms, and when the query cannot be
	 * understood. Then all terms are meant. */
	const struct mr_query_node *root;
	/* Why it cannot be understood: unbalanced quotes or parentheses, an operator with nothing
	 * beside it; or NULL. */
	const char *problem;
	/* The first filter whose value means nothing (since:yore), and what it expects; the key is
	 * NULL when there is none. Nothing behind it has been looked at. */
	const char *bad_key, *bad_value, *bad_expected;
};

/* What since: and until: understand, for options of the same meaning: a date, a time or a duration
 * (2026-03-11, 2026-03-11T10:00:00Z, 7d). The end of a date alone is the end of its day. */
bool mr_query_time(const char *text, bool is_until, int64_t now_us, int64_t *out_us);

/* `keys` outlives `out`, which is in the arena. `now_us` is what since:7d counts from. A NULL text
 * is empty. */
void mr_query_parse(struct mr_arena *arena, const struct mr_query_key *keys, int64_t now_us,
	const char *text, struct mr_query *out);
