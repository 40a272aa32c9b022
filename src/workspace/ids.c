/* workspace/ids.c - checks, joins and sorts lists of message ids. */
#include "workspace/ids.h"

#include "workspace/error.h"
#include "workspace/name.h"

#include <stdlib.h>
#include <string.h>

struct mr_texts mr_work_ids_room(struct mr_arena *arena, size_t max)
{
	return (struct mr_texts){ mr_arena_array(arena, max + 1, sizeof(const char *)), 0 };
}

void mr_work_ids_put(struct mr_texts *ids, const char *id)
{
	ids->items[ids->len++] = id;
}

struct mr_texts mr_work_ids_one(struct mr_arena *arena, const char *id)
{
	struct mr_texts ids = mr_work_ids_room(arena, 1);

	mr_work_ids_put(&ids, id);
	return ids;
}

enum mr_code mr_work_ids_check(struct mr_ctx *cx, const struct mr_texts *given,
	struct mr_texts *out)
{
	struct mr_texts ids = mr_work_ids_room(cx->arena, given->len);

	if (!given->len)
		return mr_work_refuse(cx, MR_WORK_INVALID_REQUEST, "no message id was given");
	for (size_t i = 0; i < given->len; i++) {
		enum mr_code rc = mr_work_check_message_id(cx, given->items[i]);

		if (rc)
			return rc;
		if (!mr_texts_has(&ids, given->items[i]))
			mr_work_ids_put(&ids, given->items[i]);
	}
	*out = ids;
	return MR_OK;
}

static int by_bytes(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

void mr_work_ids_sort(struct mr_texts *ids)
{
	if (ids->len > 1)
		qsort(ids->items, ids->len, sizeof(*ids->items), by_bytes);
}

struct mr_texts mr_work_ids_union(struct mr_arena *arena, const struct mr_texts *a,
	const struct mr_texts *b)
{
	struct mr_texts all = mr_work_ids_room(arena, a->len + b->len);
	size_t kept = 0;

	for (size_t i = 0; i < a->len; i++)
		mr_work_ids_put(&all, a->items[i]);
	for (size_t i = 0; i < b->len; i++)
		mr_work_ids_put(&all, b->items[i]);
	mr_work_ids_sort(&all);
	for (size_t i = 0; i < all.len; i++)
		if (!kept || !mr_str_eq(all.items[kept - 1], all.items[i]))
			all.items[kept++] = all.items[i];
	all.len = kept;
	all.items[kept] = NULL;
	return all;
}

struct mr_texts mr_work_ids_without(struct mr_arena *arena, const struct mr_texts *a,
	const struct mr_texts *b)
{
	struct mr_texts rest = mr_work_ids_room(arena, a->len);

	for (size_t i = 0; i < a->len; i++)
		if (!mr_texts_has(b, a->items[i]))
			mr_work_ids_put(&rest, a->items[i]);
	return rest;
}
