/*
 * base/shelf.h - connections and the like stay open for the next request.
 *
 * A thing lies on the shelf under a name, and belongs to nobody meanwhile; who takes it off has it
 * alone, sees whether it is still right, and puts it back. Of several with one name the last one
 * put there is taken. When there are too many, those that lay there longest are dropped.
 */
#pragma once

#include <stddef.h>

struct mr_shelf;

enum mr_shelf_size {
	MR_SHELF_LARGE, /* connections: at most 12 */
	MR_SHELF_SMALL, /* at most 512 */
	MR_SHELF_SIZES,
};

struct mr_shelf *mr_shelf_new(void);
/* Drops all things. NULL is fine. */
void mr_shelf_free(struct mr_shelf *shelf);
/* For MR_CLEANUP. */
void mr_shelf_freep(struct mr_shelf **shelf);

/* NULL when there is none, or no shelf. */
void *mr_shelf_take(struct mr_shelf *shelf, enum mr_shelf_size size, const char *name);
/* `drop` frees it; at once when there is no shelf. */
void mr_shelf_put(struct mr_shelf *shelf, enum mr_shelf_size size, const char *name, void *thing,
	void (*drop)(void *thing));
