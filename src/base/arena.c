/*
 * base/arena.c - An arena allocator: zeroed memory that is taken in chunks and freed all at once.
 */
#include "base/arena.h"

#include "base/oom.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_CHUNK = 4096,
	LARGEST_CHUNK = 256 * 1024,
	ALIGNMENT = 16,
	BRIEF_BYTES = 256,
};

struct chunk {
	struct chunk *next;
	size_t size; /* of `data` */
	size_t used;
	/* The bytes follow, aligned. */
	_Alignas(ALIGNMENT) char data[];
};

struct deferred {
	struct deferred *next;
	void (*fn)(void *);
	void *ptr;
};

struct mr_arena {
	struct chunk *chunks; /* the newest first; it is the one being filled */
	struct deferred *deferred;
	size_t next_size;
	size_t total;
};

struct mr_arena *mr_arena_new(void)
{
	struct mr_arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		mr_oom(sizeof(*arena));
	arena->next_size = FIRST_CHUNK;
	arena->total = sizeof(*arena);
	return arena;
}

void mr_arena_free(struct mr_arena *arena)
{
	if (!arena)
		return;
	for (struct deferred *d = arena->deferred; d; d = d->next)
		d->fn(d->ptr);
	while (arena->chunks) {
		struct chunk *next = arena->chunks->next;

		free(arena->chunks);
		arena->chunks = next;
	}
	free(arena);
}

void mr_arena_freep(struct mr_arena **arena)
{
	mr_arena_free(*arena);
	*arena = NULL;
}

static struct chunk *new_chunk(struct mr_arena *arena, size_t size)
{
	struct chunk *chunk;

	if (size > SIZE_MAX - sizeof(*chunk))
		mr_oom(size);
	/* Zeroed here once, so that no allocation has to be. */
	chunk = calloc(1, sizeof(*chunk) + size);
	if (!chunk)
		mr_oom(size);
	chunk->size = size;
	arena->total += sizeof(*chunk) + size;
	return chunk;
}

void *mr_arena_alloc(struct mr_arena *arena, size_t size)
{
	struct chunk *top = arena->chunks;
	size_t rounded;
	void *result;

	if (size > SIZE_MAX - ALIGNMENT)
		mr_oom(size);
	rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (top && rounded <= top->size - top->used) {
		result = top->data + top->used;
		top->used += rounded;
		return result;
	}
	if (rounded > arena->next_size / 2 && top) {
		/* A large piece gets a chunk of its own, behind the one being filled. */
		struct chunk *own = new_chunk(arena, rounded);

		own->used = rounded;
		own->next = top->next;
		top->next = own;
		return own->data;
	}
	top = new_chunk(arena, rounded > arena->next_size ? rounded : arena->next_size);
	if (arena->next_size < LARGEST_CHUNK)
		arena->next_size *= 2;
	top->next = arena->chunks;
	top->used = rounded;
	arena->chunks = top;
	return top->data;
}

void *mr_arena_array(struct mr_arena *arena, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		mr_oom(SIZE_MAX);
	return mr_arena_alloc(arena, total);
}

void *mr_arena_memdup(struct mr_arena *arena, const void *data, size_t len)
{
	void *copy = mr_arena_alloc(arena, len);

	if (len)
		memcpy(copy, data, len);
	return copy;
}

char *mr_arena_strdup(struct mr_arena *arena, const char *text)
{
	return text ? mr_arena_memdup(arena, text, strlen(text) + 1) : NULL;
}

char *mr_arena_strndup(struct mr_arena *arena, const char *text, size_t len)
{
	size_t have = strnlen(text, len);
	char *copy = mr_arena_alloc(arena, have + 1);

	memcpy(copy, text, have);
	return copy;
}

char *mr_arena_vprintf(struct mr_arena *arena, const char *fmt, va_list ap)
{
	char brief[BRIEF_BYTES]; /* most texts are short: these are formatted once */
	va_list again;
	char *text;
	int len;

	va_copy(again, ap);
	len = vsnprintf(brief, sizeof(brief), fmt, again);
	va_end(again);
	if (len < 0)
		return mr_arena_strdup(arena, "");
	if ((size_t)len < sizeof(brief))
		return mr_arena_memdup(arena, brief, (size_t)len + 1);
	text = mr_arena_alloc(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, fmt, ap);
	return text;
}

char *mr_arena_printf(struct mr_arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = mr_arena_vprintf(arena, fmt, ap);
	va_end(ap);
	return text;
}

void mr_arena_defer(struct mr_arena *arena, void (*fn)(void *), void *ptr)
{
	struct deferred *d = mr_arena_alloc(arena, sizeof(*d));

	d->fn = fn;
	d->ptr = ptr;
	d->next = arena->deferred;
	arena->deferred = d;
}

size_t mr_arena_size(const struct mr_arena *arena)
{
	return arena->total;
}
