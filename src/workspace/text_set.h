/*
 * workspace/text_set.h - a list of texts in which none stands twice, for large numbers of them.
 *
 * Texts stay in the order in which they were added first. A set that is all zero is empty.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>

struct mr_work_text_set {
	struct mr_texts texts; /* valid until the next text is added */
	size_t cap;            /* texts there is room for */
	uint32_t *slots;       /* a hash table of indexes into `texts` + 1; 0 is free */
	size_t slot_count;     /* a power of two */
};

/* Add a copy of the text; false when it is there already. */
bool mr_work_text_set_add(struct mr_arena *arena, struct mr_work_text_set *set, const char *text);
/* Add it unless it is there: the copy that is kept. */
const char *mr_work_text_set_keep(struct mr_arena *arena, struct mr_work_text_set *set,
	const char *text);
/* Which text it is, in the order of `texts`; SIZE_MAX when it is not there. */
size_t mr_work_text_set_find(const struct mr_work_text_set *set, const char *text);
bool mr_work_text_set_has(const struct mr_work_text_set *set, const char *text);
