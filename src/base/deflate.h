/*
 * base/deflate.h - zlib: bytes packed and unpacked in pieces, and its checksum.
 *
 * Memory is the only thing that can be missing, and its lack ends the program. What is unpacked
 * goes where the caller has room for it, so a few bytes that stand for very many cost no memory.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum mr_deflate_form {
	MR_DEFLATE_ZLIB, /* with zlib's header and checksum */
	MR_DEFLATE_RAW,  /* without */
};
enum { MR_DEFLATE_USUAL = 6 }; /* levels: 0 stores, 9 packs best */

struct mr_deflate;

struct mr_deflate *mr_deflate_new(enum mr_deflate_form form, int level);
void mr_deflate_freep(struct mr_deflate **deflate);
/* Gets packed bytes. */
typedef void mr_deflate_sink(void *arg, const void *data, size_t len);
/* Pack `bytes`, up to a point where the other side can read all of them. */
void mr_deflate_flush(struct mr_deflate *deflate, struct mr_bytes bytes, mr_deflate_sink *sink,
	void *arg);
/* Pack `bytes` and end the stream; the next bytes begin another one. */
void mr_deflate_finish(struct mr_deflate *deflate, struct mr_bytes bytes, mr_deflate_sink *sink,
	void *arg);

struct mr_inflate;

struct mr_inflate *mr_inflate_new(enum mr_deflate_form form);
void mr_inflate_freep(struct mr_inflate **inflate);
/* Packed bytes, at most 4 GiB; they must stay where they are until they are unpacked. */
void mr_inflate_feed(struct mr_inflate *inflate, struct mr_bytes bytes);
/* Is everything that was fed unpacked? */
bool mr_inflate_is_hungry(const struct mr_inflate *inflate);
/* Unpack into `into`; `*out_len` 0: more must be fed. `*out_end`: the stream ended here. MR_EFORMAT
 * when the bytes are not packed ones. */
MR_CHECK enum mr_code mr_inflate_read(struct mr_inflate *inflate, void *into, size_t room,
	size_t *out_len, bool *out_end, struct mr_err *err);

/* CRC-32 of what `crc` stands for and these bytes; of nothing it is 0. */
uint32_t mr_deflate_crc32(uint32_t crc, const void *data, size_t len);
