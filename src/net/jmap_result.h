/*
 * net/jmap_result.h - the parts that a JMAP request is sent in, and what came of them. Pure.
 */
#pragma once

#include "net/jmap.h"

/* A call, or, where it has more objects than the server takes in one, a piece of it. Pieces of a
 * call follow each other. */
struct mr_jmap_part {
	const struct mr_jmap_call *call;
	const struct mr_value *args;
	struct mr_jmap_result *results; /* there can be several: EmailSubmission/set */
	size_t len;
	bool was_referring; /* a reference of it was left to the server */
};

/* Did it fail as a whole, with this error (NULL: with any)? */
bool mr_jmap_part_is_error(const struct mr_jmap_part *part, const char *type);
/* Was every object of a /set refused, with this error (NULL: with any)? */
bool mr_jmap_part_is_refused(const struct mr_jmap_part *part, const char *type);
/* Has nothing of it been done, or can it be done again? */
bool mr_jmap_part_is_harmless(const struct mr_jmap_part *part);
/* The result of a call that was sent in `count` pieces; without a name when one was not answered.
 */
struct mr_jmap_result mr_jmap_merge(struct mr_arena *arena, const struct mr_jmap_part *parts,
	size_t count);
