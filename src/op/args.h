/*
 * op/args.h - from what was sent to typed arguments.
 *
 * Every surface hands over one map of values: JSON as it was sent, a command line or a query string
 * as texts. Types are taken leniently where nothing is lost ("5" for 5, "true" for true, 5.0 for 5,
 * one text for a list of one) and refused otherwise. All problems are reported together.
 */
#pragma once

#include "base/err.h"
#include "op/op.h"
#include "text/value.h"

/* Decoded arguments of one operation, living in the arena they were decoded into. */
struct mr_args {
	const struct mr_param *params;
	const struct mr_value *const *values; /* one for each parameter; NULL where left out */
};

/*
 * `sent` may be NULL (nothing was sent) or must be a map; a null value counts as left out.
 * MR_EINVAL carries the issues, with JSON paths ($.paths[1]); an unknown argument names the nearest
 * known one.
 */
MR_CHECK enum mr_code mr_args_decode(struct mr_arena *arena, const struct mr_param *params,
	const struct mr_value *sent, struct mr_args *out, struct mr_err *err);

/* What was sent under a name; asking for one that is not a parameter of the operation is a
 * programming error. NULL when left out. */
const char *mr_args_text(const struct mr_args *in, const char *name);
int64_t mr_args_int(const struct mr_args *in, const char *name, int64_t fallback);
bool mr_args_bool(const struct mr_args *in, const char *name, bool fallback);
/* Empty when left out. */
struct mr_texts mr_args_texts(struct mr_arena *arena, const struct mr_args *in, const char *name);
/* The value itself: of an object, or a list of integers. NULL when left out. */
const struct mr_value *mr_args_value(const struct mr_args *in, const char *name);
