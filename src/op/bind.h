/*
 * op/bind.h - between the tables of an operation and its structs: a request is filled from decoded
 * arguments, a result is written from its struct. Pure walkers over op/op.h's tables.
 */
#pragma once

#include "base/arena.h"
#include "op/args.h"
#include "op/call.h"
#include "op/op.h"
#include "text/out.h"

/* Types and members of structs cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
 */

/* Fill the members that the parameters of `in` are bound to; `request` is zeroed before, and its
 * lists live in `arena`. */
void mr_bind_request(struct mr_arena *arena, const struct mr_args *in, void *request);

/* The object that `fields` describe, from the struct that they are bound to, under `key` (NULL in a
 * list or at the top). */
void mr_bind_object(struct mr_out *out, const char *key, const struct mr_field *fields,
	const void *from);
/* Its members alone, into an open map. */
void mr_bind_members(struct mr_out *out, const struct mr_field *fields, const void *from);
/* A list of such objects: `len` structs of `size` bytes, the first at `items`. */
void mr_bind_list(struct mr_out *out, const char *key, const struct mr_field *fields,
	const void *items, size_t len, size_t size);

/* The request of an operation that takes no arguments. */
struct mr_nothing {
	char none;
};

/*
 * For an operation that works without its part, or opens it itself: makes a handler for mr_op.run
 * that fills the request, calls function(call, &request, &result) and writes the result.
 */
#define MR_BIND_RUN(name, function, request_type, result_type, fields)                             \
	static enum mr_code name(struct mr_call *call, const struct mr_args *in,                   \
		struct mr_out *out)                                                                \
	{                                                                                          \
		request_type *request = mr_arena_alloc(call->cx.arena, sizeof(*request));          \
		result_type *result = mr_arena_alloc(call->cx.arena, sizeof(*result));             \
		enum mr_code rc;                                                                   \
                                                                                                   \
		mr_bind_request(call->cx.arena, in, request);                                      \
		rc = function(call, request, result);                                              \
		if (!rc)                                                                           \
			mr_bind_object(out, NULL, fields, result);                                 \
		return rc;                                                                         \
	}
/* NOLINTEND(bugprone-macro-parentheses) */
