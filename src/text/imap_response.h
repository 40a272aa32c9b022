/*
 * text/imap_response.h - what an IMAP server says, taken apart, and the words of what it is asked.
 * Pure.
 *
 * A response is a line in which literals may stand: counted bytes behind a line end. Where it ends
 * is found by mr_imap_measure() as bytes arrive, once over each of them; mr_imap_parse() makes a
 * tree of it, whose strings point into the bytes.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum {
	MR_IMAP_LINE_BYTES = 1 << 20, /* of a response, without its literals */
	MR_IMAP_DEPTH = 32,           /* lists in lists: BODYSTRUCTURE has as many as the mail */
};

/* --- where a response ends --- */

struct mr_imap_measure {
	size_t max_bytes; /* of a whole response */
	/* Its own: begin with zeros. */
	size_t at, line_at, line_bytes, literal_left;
};
/*
 * Look at the bytes of a response so far; those of the last call are still there, at its beginning.
 * `*out_len` is the length of the whole response with its line end, or 0 when it goes on.
 * MR_ELIMIT when it is longer than allowed.
 */
MR_CHECK enum mr_code mr_imap_measure(struct mr_imap_measure *measure, struct mr_bytes bytes,
	size_t *out_len, struct mr_err *err);

/* --- what it says --- */

enum mr_imap_kind { MR_IMAP_NIL, MR_IMAP_ATOM, MR_IMAP_STRING, MR_IMAP_LIST };

struct mr_imap_node {
	enum mr_imap_kind kind;
	struct mr_bytes bytes; /* of an atom or string */
	const struct mr_imap_node *items;
	size_t len; /* of a list */
};

enum mr_imap_status {
	MR_IMAP_DATA, /* no status */
	MR_IMAP_OK,
	MR_IMAP_NO,
	MR_IMAP_BAD,
	MR_IMAP_BYE,
	MR_IMAP_PREAUTH,
};

struct mr_imap_response {
	bool is_continuation; /* "+ text" */
	const char *tag;      /* NULL: untagged */
	enum mr_imap_status status;
	const char *name; /* "FETCH", in capitals; of a status "OK" */
	bool has_number;  /* "* 12 FETCH" */
	uint32_t number;
	struct mr_imap_node code; /* of a status: the words in brackets; else an empty list */
	const char *text;         /* of a status or continuation: for people */
	struct mr_imap_node data; /* the rest, a list */
};

/* One whole response. MR_EFORMAT says at which byte it is none. */
MR_CHECK enum mr_code mr_imap_parse(struct mr_arena *arena, struct mr_bytes bytes,
	struct mr_imap_response *out, struct mr_err *err);

/* Is it the atom of this name, in any case? */
bool mr_imap_is(const struct mr_imap_node *node, const char *atom);
/* A number without sign; false when it is none that fits. */
bool mr_imap_number(const struct mr_imap_node *node, uint64_t *out);
/* An atom's or string's bytes as text; NULL for a list, for NIL, and when a NUL is among them. */
const char *mr_imap_text(struct mr_arena *arena, const struct mr_imap_node *node);
/* The value behind the key in a list of keys and values, or NULL. A key that ends in '[' stands for
 * all that begin so: "BODY[". */
const struct mr_imap_node *mr_imap_member(const struct mr_imap_node *list, const char *key);

/* --- sets of numbers: "1:3,7" --- */

struct mr_imap_range {
	uint32_t first, last; /* first <= last */
};
struct mr_imap_set {
	struct mr_imap_range *ranges;
	size_t len;
};
/* MR_EFORMAT; "*" is the largest number there is. */
MR_CHECK enum mr_code mr_imap_set_parse(struct mr_arena *arena, struct mr_bytes text,
	struct mr_imap_set *out, struct mr_err *err);
/* Append `uids`, which are sorted, from `*at` on, with as many ranges as fit into `max_bytes` (at
 * least one); `*at` is where to go on. */
void mr_imap_put_set(struct mr_buf *out, const uint32_t *uids, size_t len, size_t *at,
	size_t max_bytes);

/* --- words of commands --- */

/* Can it be written in quotes? Not with NUL, CR, LF or bytes that are not ASCII. */
bool mr_imap_is_quotable(const char *text);
/* Append it in quotes; it is quotable. */
void mr_imap_put_quoted(struct mr_buf *out, const char *text);
/* Names of mailboxes: IMAP's own UTF-7. What cannot be decoded stays as it is. */
const char *mr_imap_name_encode(struct mr_arena *arena, const char *utf8);
const char *mr_imap_name_decode(struct mr_arena *arena, const char *name);
