/*
 * net/imap_deflate.h - both directions of a compressed IMAP connection (RFC 4978).
 *
 * What is unpacked comes out in pieces that the caller has room for: so few bytes that stand for
 * very many cost no memory, and the limits of responses hold as they do without compression.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct mr_imap_deflate;

struct mr_imap_deflate *mr_imap_deflate_new(void);
void mr_imap_deflate_freep(struct mr_imap_deflate **deflate);
/* Append `bytes` packed, up to a point where the other side can read all of them. */
void mr_imap_deflate_pack(struct mr_imap_deflate *deflate, struct mr_bytes bytes,
	struct mr_buf *out);
/* Is there room for received bytes? Not before what was given is unpacked. */
bool mr_imap_deflate_is_hungry(const struct mr_imap_deflate *deflate);
/* Received bytes; they must stay where they are until they are unpacked. */
void mr_imap_deflate_feed(struct mr_imap_deflate *deflate, struct mr_bytes bytes);
/* Unpack into `into`; `*out_len` 0: more must be received. MR_EREMOTE when they are not packed
 * bytes, or say that they end. */
MR_CHECK enum mr_code mr_imap_deflate_unpack(struct mr_imap_deflate *deflate, void *into,
	size_t room, size_t *out_len, struct mr_err *err);
