/* fuzz_history_object.c - two directories from anywhere: a delta between them makes the second. */
#include "data/history_object.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t number(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = *(*at)++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static void must_make(struct mr_bytes base, struct mr_bytes delta, struct mr_bytes target)
{
	const uint8_t *at = delta.data, *end = delta.data + delta.len;
	size_t len = 0;

	if (number(&at) != base.len || number(&at) != target.len)
		abort();
	while (at < end) {
		uint8_t code = *at++;
		size_t from = 0, size = code & 0x80 ? 0 : code;

		for (unsigned i = 0; code & 0x80 && i < 7; i++) {
			size_t byte = code & (1u << i) ? *at++ : 0;

			*(i < 4 ? &from : &size) |= byte << (8 * (i % 4));
		}
		if (size == 0 || len + size > target.len ||
			(code & 0x80 && from + size > base.len) ||
			memcmp(target.data + len, code & 0x80 ? base.data + from : at, size) != 0)
			abort();
		at += code & 0x80 ? 0 : size;
		len += size;
	}
	if (len != target.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	size_t half = len ? data[0] * (len - 1) / 255 : 0;
	struct mr_bytes base = mr_bytes_of(data + (len > 0), half);
	struct mr_bytes target = mr_bytes_of(data + (len > 0) + half, len ? len - 1 - half : 0);
	struct mr_bytes delta;
	struct mr_tree tree;
	struct mr_tree_entry entry;
	struct mr_err err;

	if (mr_object_delta(arena, MR_OBJECT_TREE, base, target, &delta))
		must_make(base, delta, target);
	if (mr_object_delta(arena, MR_OBJECT_BLOB, base, target, &delta))
		must_make(base, delta, target);
	if (mr_tree_read(arena, base, &tree, &err) == MR_OK && mr_tree_find(&tree, "a", &entry) &&
		!mr_str_eq(entry.name, "a"))
		abort();
	return 0;
}
