/*
 * op/bind.h - between the tables of an operation and its structs: a request is filled from decoded
 * arguments, a result is written from its struct. Pure walkers over op/op.h's tables.
 */
#pragma once

#include "base/arena.h"
#include "op/args.h"
#include "op/op.h"
#include "text/out.h"

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
