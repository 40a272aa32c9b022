/* workspace/ids.h - lists of message ids, as commands get and build them. */
#pragma once

#include "base/ctx.h"
#include "base/str.h"

/* The given ids, each checked (invalid_request) and each once, in their order. At least one. */
MR_CHECK enum mr_code mr_work_ids_check(struct mr_ctx *cx, const struct mr_texts *given,
	struct mr_texts *out);
/* A list with room for `max` ids, to be filled with mr_work_ids_put(). */
struct mr_texts mr_work_ids_room(struct mr_arena *arena, size_t max);
void mr_work_ids_put(struct mr_texts *ids, const char *id);
/* A list of one. */
struct mr_texts mr_work_ids_one(struct mr_arena *arena, const char *id);
/* Both, sorted, each once. */
struct mr_texts mr_work_ids_union(struct mr_arena *arena, const struct mr_texts *a,
	const struct mr_texts *b);
/* Those of `a` that are not in `b`. */
struct mr_texts mr_work_ids_without(struct mr_arena *arena, const struct mr_texts *a,
	const struct mr_texts *b);
/* By bytes. */
void mr_work_ids_sort(struct mr_texts *ids);
