/* data/history_pack.c - writing packs and their indexes. The format is git's pack-format(5). */
#include "data/history_pack.h"

#include "base/crash.h"
#include "base/fs.h"
#include "data/history_pack_out.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
	BUFFER_BYTES = 128 << 10,
	/* Trees are mostly ids, which do not compress: more effort buys nothing. */
	COMPRESSION_LEVEL = 1,
	PACK_VERSION = 2,
	FANOUT = 256,
	NAME_BYTES = 64,
};

static const char PACK_TEMP[] = "pack.tmp";
static const char INDEX_TEMP[] = "idx.tmp";

/* A file being written, with the SHA-1 of everything and the CRC-32 of the current entry. */
struct sink {
	int fd;
	EVP_MD_CTX *sha;
	z_stream zip;
	bool has_zip;
	uint8_t *buffer;
	size_t fill;
	uint64_t offset;
	uint32_t crc;
	int os_errno; /* the first failure; sticky */
};

static void sink_close(struct sink *sink)
{
	mr_fs_closep(&sink->fd);
	EVP_MD_CTX_free(sink->sha);
	if (sink->has_zip)
		deflateEnd(&sink->zip);
	free(sink->buffer);
}

static enum mr_code sink_open(struct sink *sink, int dir, const char *name, struct mr_err *err)
{
	int fail = mr_crash_fail("history.pack.open");

	sink->buffer = malloc(BUFFER_BYTES + MR_OID_BYTES);
	sink->sha = EVP_MD_CTX_new();
	if (!sink->buffer || !sink->sha || !EVP_DigestInit_ex(sink->sha, EVP_sha1(), NULL))
		return mr_err_set(err, MR_EINTERNAL, "cannot compute SHA-1");
	if (deflateInit(&sink->zip, COMPRESSION_LEVEL) != Z_OK)
		return mr_err_set(err, MR_EINTERNAL, "cannot start compression");
	sink->has_zip = true;
	/* A dead writer's is read-only and cannot be opened again. */
	unlinkat(dir, name, 0);
	errno = fail;
	if (!fail)
		sink->fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (sink->fd < 0)
		return mr_err_os(err, errno, "cannot create %s", name);
	return MR_OK;
}

static void sink_flush(struct sink *sink)
{
	size_t done = 0;

	while (done < sink->fill && !sink->os_errno) {
		int fail = mr_crash_fail("history.pack.write");
		ssize_t n = fail ? -1 : write(sink->fd, sink->buffer + done, sink->fill - done);

		if (fail)
			errno = fail;
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			sink->os_errno = errno;
	}
	sink->fill = 0;
}

static void sink_put(struct sink *sink, const void *data, size_t len)
{
	const uint8_t *at = data;

	EVP_DigestUpdate(sink->sha, data, len);
	sink->crc = (uint32_t)crc32_z(sink->crc, data, len);
	sink->offset += len;
	while (len > 0) {
		size_t room = BUFFER_BYTES - sink->fill;
		size_t part = len < room ? len : room;

		memcpy(sink->buffer + sink->fill, at, part);
		sink->fill += part;
		at += part;
		len -= part;
		if (sink->fill == BUFFER_BYTES)
			sink_flush(sink);
	}
}

static void sink_put_u32(struct sink *sink, uint32_t number)
{
	uint8_t bytes[4] = { (uint8_t)(number >> 24), (uint8_t)(number >> 16),
		(uint8_t)(number >> 8), (uint8_t)number };

	sink_put(sink, bytes, sizeof(bytes));
}

static void sink_put_compressed(struct sink *sink, struct mr_bytes data)
{
	uint8_t out[16384];
	int state;

	deflateReset(&sink->zip);
	sink->zip.next_in = (uint8_t *)(uintptr_t)data.data;
	sink->zip.avail_in = (uInt)data.len;
	do {
		sink->zip.next_out = out;
		sink->zip.avail_out = sizeof(out);
		state = deflate(&sink->zip, Z_FINISH);
		sink_put(sink, out, sizeof(out) - sink->zip.avail_out);
	} while (state == Z_OK);
}

/* Write the SHA-1 of all before it, and everything to disk. */
static enum mr_code sink_finish(struct sink *sink, const char *what, uint8_t out_hash[MR_OID_BYTES],
	struct mr_err *err)
{
	unsigned len = MR_OID_BYTES;
	int fail = mr_crash_fail("history.pack.sync");

	EVP_DigestFinal_ex(sink->sha, out_hash, &len);
	/* There is room for it behind the buffer's end. */
	memcpy(sink->buffer + sink->fill, out_hash, MR_OID_BYTES);
	sink->fill += MR_OID_BYTES;
	sink_flush(sink);
	if (!sink->os_errno && (fail || fsync(sink->fd) != 0))
		sink->os_errno = fail ? fail : errno;
	if (sink->os_errno)
		return mr_err_os(err, sink->os_errno, "cannot write %s", what);
	return MR_OK;
}

size_t mr_pack_put_header(uint8_t out[MR_PACK_HEADER_BYTES], enum mr_pack_kind kind, size_t size)
{
	size_t len = 0;
	uint8_t byte = (uint8_t)((unsigned)kind << 4 | (size & 15));

	for (size >>= 4; size > 0; size >>= 7) {
		out[len++] = byte | 0x80;
		byte = size & 0x7f;
	}
	out[len++] = byte;
	return len;
}

size_t mr_pack_get_header(const uint8_t *data, size_t len, enum mr_pack_kind *out_kind,
	size_t *out_size)
{
	size_t at = 0, size;
	unsigned shift = 4;

	if (len == 0)
		return 0;
	size = data[0] & 15;
	while (data[at++] & 0x80) {
		if (at == len || shift > 53)
			return 0;
		size |= (size_t)(data[at] & 0x7f) << shift;
		shift += 7;
	}
	*out_kind = (enum mr_pack_kind)(data[0] >> 4 & 7);
	*out_size = size;
	return at;
}

enum mr_code mr_pack_compress(struct mr_arena *arena, struct mr_bytes data, struct mr_bytes *out,
	struct mr_err *err)
{
	uLongf len = compressBound((uLong)data.len);
	uint8_t *bytes = mr_arena_alloc(arena, len);

	if (compress2(bytes, &len, data.data, (uLong)data.len, COMPRESSION_LEVEL) != Z_OK)
		return mr_err_set(err, MR_EINTERNAL, "compression failed");
	*out = mr_bytes_of(bytes, len);
	return MR_OK;
}

uint32_t mr_pack_crc(const uint8_t *data, size_t len)
{
	return (uint32_t)crc32_z(0, data, len);
}

/* An index, version 2: how many ids start below each byte, the ids, CRCs, offsets, the pack's hash.
 */
static enum mr_code write_index(int dir, const struct mr_pack_slot *slots, size_t count,
	const uint8_t pack_hash[MR_OID_BYTES], struct mr_err *err)
{
	struct sink sink MR_CLEANUP(sink_close) = { .fd = -1 };
	uint8_t hash[MR_OID_BYTES];
	enum mr_code rc = sink_open(&sink, dir, INDEX_TEMP, err);
	size_t at = 0;

	if (rc)
		return rc;
	sink_put(&sink, "\377tOc", 4);
	sink_put_u32(&sink, PACK_VERSION);
	for (unsigned byte = 0; byte < FANOUT; byte++) {
		while (at < count && slots[at].id.bytes[0] <= byte)
			at++;
		sink_put_u32(&sink, (uint32_t)at);
	}
	for (size_t i = 0; i < count; i++)
		sink_put(&sink, slots[i].id.bytes, MR_OID_BYTES);
	for (size_t i = 0; i < count; i++)
		sink_put_u32(&sink, slots[i].crc);
	for (size_t i = 0; i < count; i++)
		sink_put_u32(&sink, slots[i].offset);
	sink_put(&sink, pack_hash, MR_OID_BYTES);
	return sink_finish(&sink, "the index of a pack", hash, err);
}

/* Give both files their names: from the second rename on the pack is alive. */
static enum mr_code publish(int pack_dir, int temp_dir, const struct mr_oid *id, struct mr_err *err)
{
	char hex[2 * MR_OID_BYTES + 1], name[NAME_BYTES];
	int fail = mr_crash_fail("history.pack.rename");

	mr_oid_format(id, hex);
	snprintf(name, sizeof(name), "pack-%s.idx", hex);
	errno = fail;
	if (fail || renameat(temp_dir, INDEX_TEMP, pack_dir, name) != 0)
		return mr_err_os(err, errno, "cannot name %s", name);
	mr_crash_point("history.pack.index_named");
	snprintf(name, sizeof(name), "pack-%s.pack", hex);
	if (renameat(temp_dir, PACK_TEMP, pack_dir, name) != 0)
		return mr_err_os(err, errno, "cannot name %s", name);
	mr_crash_point("history.pack.named");
	return mr_fs_sync_dir(pack_dir, ".", err);
}

enum mr_code mr_pack_emit(int pack_dir, int temp_dir, struct mr_pack_slot *slots, size_t count,
	struct mr_oid *out_id, struct mr_err *err)
{
	struct sink sink MR_CLEANUP(sink_close) = { .fd = -1 };
	uint8_t header[MR_PACK_HEADER_BYTES];
	struct mr_oid hash;
	enum mr_code rc = sink_open(&sink, temp_dir, PACK_TEMP, err);

	if (rc)
		return rc;
	sink_put(&sink, "PACK", 4);
	sink_put_u32(&sink, PACK_VERSION);
	sink_put_u32(&sink, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		struct mr_pack_slot *slot = &slots[i];

		/* Larger offsets would need a table more in the index. */
		if (sink.offset > INT32_MAX)
			return mr_err_set(err, MR_ELIMIT, "a pack would pass 2 GiB");
		slot->offset = (uint32_t)sink.offset;
		sink.crc = 0;
		if (slot->kind) {
			sink_put(&sink, header,
				mr_pack_put_header(header, slot->kind, slot->data.len));
			sink_put_compressed(&sink, slot->data);
		} else {
			sink_put(&sink, slot->data.data, slot->data.len);
		}
		slot->crc = sink.crc;
	}
	rc = sink_finish(&sink, "a pack", hash.bytes, err);
	if (rc)
		return rc;
	mr_crash_point("history.pack.written");
	rc = write_index(temp_dir, slots, count, hash.bytes, err);
	if (rc)
		return rc;
	mr_crash_point("history.pack.index_written");
	rc = publish(pack_dir, temp_dir, &hash, err);
	if (!rc)
		*out_id = hash;
	return rc;
}

static int object_order(const void *a, const void *b)
{
	return mr_oid_compare(&((const struct mr_pack_object *)a)->id,
		&((const struct mr_pack_object *)b)->id);
}

enum mr_code mr_pack_write(int pack_dir, int temp_dir, struct mr_pack_object *objects, size_t count,
	struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_pack_slot *slots = mr_arena_array(arena, count, sizeof(*slots));
	struct mr_oid id;
	size_t len = 0;

	qsort(objects, count, sizeof(*objects), object_order);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && mr_oid_eq(&objects[i].id, &objects[i - 1].id))
			continue;
		slots[len++] = (struct mr_pack_slot){
			.id = objects[i].id,
			.kind = objects[i].kind,
			.data = objects[i].data,
		};
	}
	return mr_pack_emit(pack_dir, temp_dir, slots, len, &id, err);
}
