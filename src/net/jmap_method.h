/*
 * net/jmap_method.h - what is known of JMAP methods: the capability that they belong to, and which
 * of their arguments hold objects, whose number servers limit. Pure.
 */
#pragma once

#include "base/arena.h"
#include "text/value.h"

struct mr_jmap_noun {
	const char *name;       /* "Email" */
	const char *capability; /* "mail" */
	bool is_submission;     /* of the account that sends */
};
enum { MR_JMAP_CAPABILITIES = 5 };

/* The noun of a method; NULL: it is not known. */
const struct mr_jmap_noun *mr_jmap_noun_of(const char *method);
bool mr_jmap_is_change(const char *method);
/* Of a list or a map; of everything else, and NULL, 0. */
size_t mr_jmap_len_of(const struct mr_value *value);
/* How many objects a call has that can be divided among several calls; 0: it cannot. */
size_t mr_jmap_objects_of(const char *method, const struct mr_value *args);
/* The arguments with only the `count` objects from number `from` on. */
const struct mr_value *mr_jmap_piece_of(struct mr_arena *arena, const char *method,
	const struct mr_value *args, size_t from, size_t count);
