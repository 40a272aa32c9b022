/* tests/fuzz/fuzz_imap_response.c - any bytes of a server: measured the same in pieces, parsed or
 * refused.
 */
#include "text/imap_response.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MAX_BYTES = 1 << 16 };

static size_t walk(const struct mr_imap_node *node, const uint8_t *data, size_t len, int depth)
{
	size_t count = 1;

	if (depth > MR_IMAP_DEPTH + 1)
		abort();
	if (node->kind == MR_IMAP_STRING && node->bytes.len > len)
		abort();
	for (size_t i = 0; i < node->len; i++)
		count += walk(&node->items[i], data, len, depth + 1);
	return count;
}

static void check_response(struct mr_arena *arena, const uint8_t *data, size_t len)
{
	struct mr_imap_response r;
	struct mr_imap_set set;
	struct mr_err err;

	if (mr_imap_parse(arena, mr_bytes_of(data, len), &r, &err)) {
		if (err.code != MR_EFORMAT || !*err.msg)
			abort();
		return;
	}
	if (!r.is_continuation && !r.name)
		abort();
	if (walk(&r.data, data, len, 0) + walk(&r.code, data, len, 0) > len + 2)
		abort();
	for (size_t i = 0; i < r.data.len; i++) {
		const char *name = mr_imap_text(arena, &r.data.items[i]);

		if (name)
			mr_imap_name_decode(arena, name);
		if (r.data.items[i].kind == MR_IMAP_ATOM &&
			!mr_imap_set_parse(arena, r.data.items[i].bytes, &set, &err) && !set.len)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_imap_measure whole = { .max_bytes = MAX_BYTES };
	struct mr_imap_measure pieces = { .max_bytes = MAX_BYTES };
	size_t end = 0;
	size_t piece_end = 0;
	struct mr_err err;
	enum mr_code rc = mr_imap_measure(&whole, mr_bytes_of(data, len), &end, &err);

	if (end > len)
		abort();
	for (size_t have = 0; have <= len && !piece_end; have += 1 + have / 8) {
		if (mr_imap_measure(&pieces, mr_bytes_of(data, have), &piece_end, &err)) {
			if (!rc)
				abort();
			return 0;
		}
	}
	if (piece_end && !rc && piece_end != end)
		abort();
	if (!rc && end)
		check_response(arena, data, end);
	check_response(arena, data, len);
	return 0;
}
