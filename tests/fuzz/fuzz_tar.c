/* An accepted entry is read the same again once it is written, and leads nowhere else. */
#include "text/tar.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* As a reader of a whole archive: records first, when there are any. */
static enum mr_code read_one(struct mr_arena *arena, const uint8_t *data, size_t len,
	struct mr_tar_entry *out)
{
	struct mr_bytes pax = { NULL, 0 };
	enum mr_tar_next next;
	struct mr_err err;

	if (len < MR_TAR_BLOCK || mr_tar_read(arena, data, pax, &next, out, &err))
		return MR_EFORMAT;
	if (next == MR_TAR_PAX) {
		size_t skip = MR_TAR_BLOCK + out->size + mr_tar_padding(out->size);

		if (skip + MR_TAR_BLOCK > len)
			return MR_EFORMAT;
		pax = (struct mr_bytes){ data + MR_TAR_BLOCK, out->size };
		if (mr_tar_read(arena, data + skip, pax, &next, out, &err))
			return MR_EFORMAT;
	}
	return next == MR_TAR_ENTRY ? MR_OK : MR_EFORMAT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tar_entry entry = { 0 }, again = { 0 };

	if (read_one(arena, data, len, &entry))
		return 0;
	if (*entry.path == '/' || mr_str_starts(entry.path, "../") || strstr(entry.path, "/../"))
		abort();
	if (entry.target && strlen(entry.target) >= MR_TAR_PATH_BYTES)
		return 0;
	mr_buf_init(&out, 1 << 20);
	mr_tar_put(&out, &entry);
	if (out.failed || read_one(arena, mr_buf_bytes(&out).data, out.len, &again) ||
		again.kind != entry.kind || !mr_str_eq(again.path, entry.path) ||
		!mr_str_eq(again.target, entry.target) || again.size != entry.size)
		abort();
	return 0;
}
