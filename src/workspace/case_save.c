/* workspace/case_save.c - counts what is in a case, and writes it. */
#include "text/time.h"
#include "workspace/case.h"
#include "workspace/error.h"
#include "workspace/index.h"

#include <stdlib.h>
#include <string.h>

/* A message of the case; messages of one thread lead to one root. */
struct node {
	const char *id;
	struct node *up;
};

static int by_id(const void *a, const void *b)
{
	const struct node *left = a, *right = b;

	return strcmp(left->id, right->id);
}

static struct node *root_of(struct node *node)
{
	while (node->up != node) {
		node->up = node->up->up;
		node = node->up;
	}
	return node;
}

static void join(struct node *nodes, size_t len, struct node *node, const struct mr_texts *related)
{
	for (size_t i = 0; i < related->len; i++) {
		struct node wanted = { .id = related->items[i] };
		struct node *other = bsearch(&wanted, nodes, len, sizeof(wanted), by_id);

		if (other)
			root_of(other)->up = root_of(node);
	}
}

struct sums {
	int64_t attachments, last_us;
	bool has_time;
};

/* One message, with memory of its own: a case may hold very many. */
static enum mr_code look_at(struct mr_ctx *cx, struct mr_work *work, struct node *nodes, size_t len,
	struct node *node, struct sums *sums)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_ctx own = *cx;
	struct mr_work_brief brief = { 0 };
	struct mr_texts related = { 0 };
	enum mr_code rc;

	own.arena = arena;
	rc = mr_work_index_message(&own, work, node->id, &brief);
	if (rc == MR_ENOTFOUND)
		return MR_OK; /* a message that is gone: doctor tells */
	if (!rc)
		rc = mr_work_index_related(&own, work, node->id, &related);
	if (rc) {
		cx->err = own.err;
		cx->err.detail = NULL;
		return rc;
	}
	sums->attachments += brief.attachment_count;
	if (brief.has_time && (!sums->has_time || brief.time_us > sums->last_us)) {
		sums->has_time = true;
		sums->last_us = brief.time_us;
	}
	join(nodes, len, node, &related);
	return MR_OK;
}

static enum mr_code measure(struct mr_ctx *cx, struct mr_work *work,
	struct mr_work_collection *collection)
{
	size_t len = collection->len;
	struct node *nodes = mr_arena_array(cx->arena, len + 1, sizeof(*nodes));
	struct sums sums = { 0 };
	enum mr_code rc = mr_work_index_open(cx, work);

	for (size_t i = 0; i < len; i++)
		nodes[i].id = collection->items[i].message_id;
	if (len > 1)
		qsort(nodes, len, sizeof(*nodes), by_id);
	for (size_t i = 0; i < len; i++)
		nodes[i].up = &nodes[i];
	for (size_t i = 0; !rc && i < len; i++)
		rc = look_at(cx, work, nodes, len, &nodes[i], &sums);
	if (rc)
		return rc;
	collection->thread_count = 0;
	for (size_t i = 0; i < len; i++)
		collection->thread_count += nodes[i].up == &nodes[i];
	collection->attachment_count = sums.attachments;
	collection->last_message =
		sums.has_time ? mr_time_format(cx->arena, sums.last_us, MR_TIME_SECONDS) : NULL;
	return MR_OK;
}

enum mr_code mr_work_case_save(struct mr_ctx *cx, struct mr_work_change *change,
	struct mr_work_collection *collection)
{
	enum mr_code rc = measure(cx, change->work, collection);

	return rc ? rc : mr_work_collection_save(cx, change, collection);
}
