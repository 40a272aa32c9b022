/* data/history_pack_out.h - between history_pack.c, which writes packs, and history_merge.c. */
#pragma once

#include "data/history_pack.h"

enum { MR_PACK_HEADER_BYTES = 10 };

/* One entry of a pack to be written. */
struct mr_pack_slot {
	struct mr_oid id;
	enum mr_pack_kind kind; /* 0: `data` is an entry as it stands in another pack */
	struct mr_bytes data;
	uint32_t offset, crc; /* set by mr_pack_emit() */
};

/* Write the slots, sorted by id and distinct, as one durable pack, named after `*out_id`. */
MR_CHECK enum mr_code mr_pack_emit(int pack_dir, int temp_dir, struct mr_pack_slot *slots,
	size_t count, struct mr_oid *out_id, struct mr_err *err);

/* Kind and size before an entry's data; returns how many bytes that takes. */
size_t mr_pack_put_header(uint8_t out[MR_PACK_HEADER_BYTES], enum mr_pack_kind kind, size_t size);
/* The same read; 0 when the bytes are no header. */
size_t mr_pack_get_header(const uint8_t *data, size_t len, enum mr_pack_kind *out_kind,
	size_t *out_size);

MR_CHECK enum mr_code mr_pack_compress(struct mr_arena *arena, struct mr_bytes data,
	struct mr_bytes *out, struct mr_err *err);
uint32_t mr_pack_crc(const uint8_t *data, size_t len);
