/* base/shelf.c - keeps connections and the like open for the next request. */
#include "base/shelf.h"

#include "base/oom.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

static const size_t most[MR_SHELF_SIZES] = { [MR_SHELF_LARGE] = 12, [MR_SHELF_SMALL] = 512 };

struct item {
	TAILQ_ENTRY(item) link;
	void *thing;
	void (*drop)(void *thing);
	char name[];
};
TAILQ_HEAD(items, item);

struct mr_shelf {
	pthread_mutex_t lock;
	struct {
		struct items items; /* the last one put there first */
		size_t len;
	} of[MR_SHELF_SIZES];
};

static void drop_item(struct item *item)
{
	if (!item)
		return;
	item->drop(item->thing);
	free(item);
}

struct mr_shelf *mr_shelf_new(void)
{
	struct mr_shelf *shelf = calloc(1, sizeof(*shelf));

	if (!shelf)
		mr_oom(sizeof(*shelf));
	pthread_mutex_init(&shelf->lock, NULL);
	for (size_t i = 0; i < MR_SHELF_SIZES; i++)
		TAILQ_INIT(&shelf->of[i].items);
	return shelf;
}

void mr_shelf_free(struct mr_shelf *shelf)
{
	if (!shelf)
		return;
	for (size_t i = 0; i < MR_SHELF_SIZES; i++) {
		struct item *item;

		while ((item = TAILQ_FIRST(&shelf->of[i].items))) {
			TAILQ_REMOVE(&shelf->of[i].items, item, link);
			drop_item(item);
		}
	}
	pthread_mutex_destroy(&shelf->lock);
	free(shelf);
}

void mr_shelf_freep(struct mr_shelf **shelf)
{
	mr_shelf_free(*shelf);
	*shelf = NULL;
}

void *mr_shelf_take(struct mr_shelf *shelf, enum mr_shelf_size size, const char *name)
{
	void *thing = NULL;
	struct item *item;

	if (!shelf)
		return NULL;
	pthread_mutex_lock(&shelf->lock);
	TAILQ_FOREACH(item, &shelf->of[size].items, link)
	if (strcmp(item->name, name) == 0)
		break;
	if (item) {
		TAILQ_REMOVE(&shelf->of[size].items, item, link);
		shelf->of[size].len--;
		thing = item->thing;
	}
	pthread_mutex_unlock(&shelf->lock);
	free(item);
	return thing;
}

void mr_shelf_put(struct mr_shelf *shelf, enum mr_shelf_size size, const char *name, void *thing,
	void (*drop)(void *thing))
{
	size_t len = strlen(name) + 1;
	struct item *item, *last = NULL;

	if (!shelf) {
		drop(thing);
		return;
	}
	item = malloc(sizeof(*item) + len);
	if (!item)
		mr_oom(len);
	item->thing = thing;
	item->drop = drop;
	memcpy(item->name, name, len);
	pthread_mutex_lock(&shelf->lock);
	TAILQ_INSERT_HEAD(&shelf->of[size].items, item, link);
	if (++shelf->of[size].len > most[size]) {
		last = TAILQ_LAST(&shelf->of[size].items, items);
		TAILQ_REMOVE(&shelf->of[size].items, last, link);
		shelf->of[size].len--;
	}
	pthread_mutex_unlock(&shelf->lock);
	/* Not under the lock: it may have to wait for a disk. */
	drop_item(last);
}
