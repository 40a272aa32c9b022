/*
 * base/arena.h - memory that is freed all at once.
 *
 * One arena per request. No allocation can fail: out of memory aborts, because sizes are limited
 * where bytes enter. An arena belongs to one thread at a time.
 */
#pragma once

#include "base/attr.h"

#include <stdarg.h>
#include <stddef.h>

struct mr_arena;

struct mr_arena *mr_arena_new(void);
/* Runs what mr_arena_defer() registered, newest first, then frees everything. NULL is fine. */
void mr_arena_free(struct mr_arena *arena);
/* For MR_CLEANUP. */
void mr_arena_freep(struct mr_arena **arena);

/* `size` zeroed bytes, aligned for any type. */
void *mr_arena_alloc(struct mr_arena *arena, size_t size);
/* `count` zeroed elements; a product that overflows aborts. */
void *mr_arena_array(struct mr_arena *arena, size_t count, size_t size);
void *mr_arena_memdup(struct mr_arena *arena, const void *data, size_t len);
/* NULL stays NULL. */
char *mr_arena_strdup(struct mr_arena *arena, const char *text);
/* At most `len` bytes of `text`, terminated. */
char *mr_arena_strndup(struct mr_arena *arena, const char *text, size_t len);
char *mr_arena_printf(struct mr_arena *arena, const char *fmt, ...) MR_PRINTF(2, 3);
char *mr_arena_vprintf(struct mr_arena *arena, const char *fmt, va_list ap) MR_PRINTF(2, 0);

/* Call `fn(ptr)` when the arena is freed: for foreign objects that must live as long as it does. */
void mr_arena_defer(struct mr_arena *arena, void (*fn)(void *), void *ptr);

/* Bytes taken from the system so far. */
size_t mr_arena_size(const struct mr_arena *arena);
