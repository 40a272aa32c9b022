/*
 * team/search_query.h - what a person types into a search, taken apart.
 *
 *	plan users            both words
 *	"build plan"          the words in this order
 *	migrat*               words that begin so
 *	plan AND users, plan OR users, plan NOT users, -users, ( )
 *	subject:plan body:"build plan" subject:(plan OR users)
 *	from:Name to:Name thread:id importance:high since:2026-03-01 until:7d
 *	has:attachment is:unread ack:pending, and -from:Name
 *
 * Operators are upper case. NEAR is a word. What stands in a word besides letters and digits
 * (full-text, src/main.c, ops@example) makes it a phrase. Filters narrow the whole, wherever they
 * stand; several of one kind are alternatives, but since: and until: all hold.
 *
 * No text is an error: what cannot be understood is marked, and its words are there all the same.
 * Pure but for the present, which since:7d counts from. Of a text only the first
 * MR_TEAM_QUERY_BYTES and in them the first MR_TEAM_QUERY_TERMS words are looked at.
 */
#pragma once

#include "base/ctx.h"
#include "team/model.h"

enum {
	MR_TEAM_QUERY_BYTES = 4096,
	MR_TEAM_QUERY_TERMS = 64,
	MR_TEAM_QUERY_TERM_BYTES = 256, /* of one word or phrase; the rest of it is dropped */
	MR_TEAM_QUERY_FILTERS = 32,     /* more are dropped */
	MR_TEAM_QUERY_DEPTH = 32,       /* parentheses in parentheses */
};

enum mr_team_column { MR_TEAM_ANY_COLUMN, MR_TEAM_SUBJECT, MR_TEAM_BODY };

struct mr_team_term {
	const char *text; /* a word or a phrase, never empty */
	enum mr_team_column column;
	bool prefix;   /* its last word may go on */
	bool negated;  /* stands under a NOT */
	bool has_word; /* a letter or a digit is in it */
	bool unspaced; /* of a script without blanks between words: no index knows its words */
};

enum mr_team_node_kind { MR_TEAM_TERM, MR_TEAM_AND, MR_TEAM_OR, MR_TEAM_NOT };

struct mr_team_node {
	enum mr_team_node_kind kind;
	const struct mr_team_term *term;   /* of MR_TEAM_TERM */
	const struct mr_team_node *inside; /* the first operand of the others; NOT has one */
	const struct mr_team_node *next;   /* the operand after this one */
};

enum mr_team_filter_kind {
	MR_TEAM_FILTER_FROM,
	MR_TEAM_FILTER_TO,
	MR_TEAM_FILTER_THREAD,
	MR_TEAM_FILTER_IMPORTANCE,
	MR_TEAM_FILTER_SINCE,
	MR_TEAM_FILTER_UNTIL,
	MR_TEAM_FILTER_ATTACHMENT,
	MR_TEAM_FILTER_UNREAD,
	MR_TEAM_FILTER_ACK,
};

struct mr_team_filter {
	enum mr_team_filter_kind kind;
	bool negated;
	const char *text;    /* a name in lower case, a thread's id; else NULL */
	const char *project; /* of Name@slug; or NULL */
	int64_t time_us;     /* since: not before this; until: before this */
	enum mr_team_importance importance;
};

struct mr_team_query {
	struct mr_team_term *terms;
	size_t term_count;
	struct mr_team_filter *filters;
	size_t filter_count;
	/* Which of the terms a message must hold; NULL without terms, and when the text cannot be
	 * understood: unbalanced quotes or parentheses, an operator with nothing beside it. Then
	 * all terms are meant. */
	const struct mr_team_node *root;
};

/* INVALID_ARGUMENT (argument `query`) for nothing at all; SEARCH_SYNTAX with data.filter for a
 * filter whose value means nothing (importance:purple, since:yore). */
MR_CHECK enum mr_code mr_team_query_parse(struct mr_ctx *cx, const char *text,
	struct mr_team_query *out);
