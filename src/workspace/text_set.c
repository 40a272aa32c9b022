/* workspace/text_set.c - a hash table over a growing list of texts. */
#include "workspace/text_set.h"

#include <string.h>

#define HASH_BASIS UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

enum { FIRST_CAP = 8, SLOTS_PER_TEXT = 4 };

static uint64_t hash(const char *text)
{
	uint64_t value = HASH_BASIS;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * HASH_PRIME;
	return value ^ value >> 32;
}

/* The slot that has the text, or the free one where it belongs. There is always a free one. */
static uint32_t *slot_of(const struct mr_work_text_set *set, const char *text)
{
	size_t at = hash(text) & (set->slot_count - 1);

	while (set->slots[at] && strcmp(set->texts.items[set->slots[at] - 1], text) != 0)
		at = (at + 1) & (set->slot_count - 1);
	return &set->slots[at];
}

static void grow(struct mr_arena *arena, struct mr_work_text_set *set)
{
	const char **items;

	set->cap = set->cap ? set->cap * 2 : FIRST_CAP;
	items = mr_arena_array(arena, set->cap + 1, sizeof(*items));
	if (set->texts.len)
		memcpy(items, set->texts.items, set->texts.len * sizeof(*items));
	set->texts.items = items;
	set->slot_count = set->cap * SLOTS_PER_TEXT;
	set->slots = mr_arena_array(arena, set->slot_count, sizeof(*set->slots));
	for (size_t i = 0; i < set->texts.len; i++)
		*slot_of(set, items[i]) = (uint32_t)(i + 1);
}

bool mr_work_text_set_add(struct mr_arena *arena, struct mr_work_text_set *set, const char *text)
{
	uint32_t *slot;

	if (set->texts.len == set->cap)
		grow(arena, set);
	slot = slot_of(set, text);
	if (*slot)
		return false;
	set->texts.items[set->texts.len++] = mr_arena_strdup(arena, text);
	*slot = (uint32_t)set->texts.len;
	return true;
}

size_t mr_work_text_set_find(const struct mr_work_text_set *set, const char *text)
{
	uint32_t slot = set->slot_count ? *slot_of(set, text) : 0;

	return slot ? slot - 1 : SIZE_MAX;
}

bool mr_work_text_set_has(const struct mr_work_text_set *set, const char *text)
{
	return mr_work_text_set_find(set, text) != SIZE_MAX;
}

const char *mr_work_text_set_keep(struct mr_arena *arena, struct mr_work_text_set *set,
	const char *text)
{
	(void)mr_work_text_set_add(arena, set, text);
	return set->texts.items[*slot_of(set, text) - 1];
}
