/* data/history_pack_file.c - the pack format: writing a pack and its index, and reading packs. */
#include "base/buf.h"
#include "base/crash.h"
#include "base/deflate.h"
#include "base/fs.h"
#include "data/history_object.h"
#include "text/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	BUFFER = 256 << 10,
	/* Directories change with every message, and are merged soon: until then not worth the
	 * time. */
	STORED_TREE = 4 << 10,
	QUICK = 4, /* levels of compression */
	WELL = 6,
	HEAD = 12, /* of a pack */
	FANOUT = 256,
	INDEX_HEAD = 8 + 4 * FANOUT,
	CRC_BYTES = 4,
	OFFSET_BYTES = 4,
	DEFLATE_RATIO = 1032, /* at most so many bytes come from one */
};
#define PACK_MAX    (INT64_C(1) << 31)
#define INFLATE_MAX (INT64_C(1) << 30)

static const uint8_t INDEX_MAGIC[] = { 0xff, 't', 'O', 'c', 0, 0, 0, 2 };

static void put32(uint8_t *out, uint32_t number)
{
	for (int i = 3; i >= 0; i--) {
		out[i] = (uint8_t)number;
		number >>= 8;
	}
}

static uint32_t get32(const uint8_t *in)
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

/* --- writing --- */

struct writer {
	int fd;
	int number; /* the errno of the first write that failed */
	uint64_t written;
	uint32_t crc;
	struct mr_digest *digest;
	size_t used;
	struct mr_deflate *packers[3]; /* by level: 0, QUICK, WELL; NULL: not used yet */
	uint8_t buffer[BUFFER];
};

static void flush(struct writer *w)
{
	const uint8_t *at = w->buffer;
	size_t left = w->used;

	if (left)
		mr_digest_add(w->digest, at, left);
	while (!w->number && left > 0) {
		ssize_t n = write(w->fd, at, left);

		if (n < 0 && errno != EINTR)
			w->number = errno;
		at += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	w->used = 0;
}

static void put(struct writer *w, const void *data, size_t len)
{
	const uint8_t *at = data;

	w->crc = mr_deflate_crc32(w->crc, data, len);
	w->written += len;
	while (len > 0) {
		size_t part = len < BUFFER - w->used ? len : BUFFER - w->used;

		memcpy(w->buffer + w->used, at, part);
		w->used += part;
		at += part;
		len -= part;
		if (w->used == BUFFER)
			flush(w);
	}
}

/* Type and size, and where its base is. */
static void put_head(struct writer *w, const struct mr_pack_object *object)
{
	uint8_t bytes[32];
	uint64_t size = object->size >> 4;
	size_t len = 0, at = sizeof(bytes);

	bytes[len] = (uint8_t)((unsigned)object->type << 4 | (object->size & 15));
	for (; size; size >>= 7) {
		bytes[len++] |= 0x80;
		bytes[len] = (uint8_t)(size & 0x7f);
	}
	put(w, bytes, len + 1);
	if (object->type == MR_OBJECT_REF_DELTA)
		put(w, object->base_id, MR_OBJECT_ID_BYTES);
	if (object->type == MR_OBJECT_OFS_DELTA) {
		uint64_t back = object->offset - object->base->offset;

		bytes[--at] = (uint8_t)(back & 0x7f);
		while (back >>= 7)
			bytes[--at] = (uint8_t)(0x80 | (--back & 0x7f));
		put(w, bytes + at, sizeof(bytes) - at);
	}
}

static struct mr_deflate *packer_for(struct writer *w, const struct mr_pack_object *object)
{
	static const int levels[] = { 0, QUICK, WELL };
	size_t which = object->is_lasting                                           ? 2
		: object->type == MR_OBJECT_TREE && object->data.len >= STORED_TREE ? 0
										    : 1;

	if (!w->packers[which])
		w->packers[which] = mr_deflate_new(MR_DEFLATE_ZLIB, levels[which]);
	return w->packers[which];
}

static void put_packed(void *arg, const void *data, size_t len)
{
	put(arg, data, len);
}

static enum mr_code write_objects(struct writer *w, struct mr_pack_object *const *objects,
	size_t count, struct mr_err *err)
{
	uint8_t head[HEAD] = "PACK\0\0\0\2";

	put32(head + 8, (uint32_t)count);
	put(w, head, sizeof(head));
	for (size_t i = 0; i < count && !w->number; i++) {
		struct mr_pack_object *object = objects[i];

		if (w->written + object->data.len >= PACK_MAX)
			return mr_err_set(err, MR_ELIMIT, "a pack would have 2 GiB or more");
		object->offset = w->written;
		w->crc = 0;
		put_head(w, object);
		if (object->is_packed)
			put(w, object->data.data, object->data.len);
		else
			mr_deflate_finish(packer_for(w, object), object->data, put_packed, w);
		object->crc = w->crc;
	}
	return MR_OK;
}

static int id_order(const void *a, const void *b)
{
	const struct mr_pack_object *const *left = a, *const *right = b;

	return memcmp((*left)->id.bytes, (*right)->id.bytes, MR_OBJECT_ID_BYTES);
}

/* The whole index: fan-out, ids, checksums, offsets, and two digests. */
static struct mr_bytes make_index(struct mr_arena *arena, struct mr_pack_object *const *objects,
	size_t count, const uint8_t *pack_digest)
{
	struct mr_pack_object **sorted = mr_arena_array(arena, count, sizeof(*sorted));
	size_t len = INDEX_HEAD + count * (MR_OBJECT_ID_BYTES + CRC_BYTES + OFFSET_BYTES) +
		2 * (size_t)MR_DIGEST_SHA1_BYTES;
	uint8_t *out = mr_arena_alloc(arena, len);
	uint8_t *ids = out + INDEX_HEAD, *crcs = ids + count * MR_OBJECT_ID_BYTES;
	uint8_t *offsets = crcs + count * CRC_BYTES, *end = offsets + count * OFFSET_BYTES;
	struct mr_digest *digest = mr_digest_begin_sha1();
	size_t at = 0;

	memcpy(sorted, objects, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), id_order);
	memcpy(out, INDEX_MAGIC, sizeof(INDEX_MAGIC));
	for (size_t first = 0; first < FANOUT; first++) {
		while (at < count && sorted[at]->id.bytes[0] <= first)
			at++;
		put32(out + sizeof(INDEX_MAGIC) + 4 * first, (uint32_t)at);
	}
	for (size_t i = 0; i < count; i++) {
		memcpy(ids + i * MR_OBJECT_ID_BYTES, sorted[i]->id.bytes, MR_OBJECT_ID_BYTES);
		put32(crcs + i * CRC_BYTES, sorted[i]->crc);
		put32(offsets + i * OFFSET_BYTES, (uint32_t)sorted[i]->offset);
	}
	memcpy(end, pack_digest, MR_DIGEST_SHA1_BYTES);
	mr_digest_add(digest, out, len - MR_DIGEST_SHA1_BYTES);
	mr_digest_end(digest, end + MR_DIGEST_SHA1_BYTES);
	return mr_bytes_of(out, len);
}

static int create(int dir, const char *name)
{
	/* A pack is never changed: git removes the write permission too. */
	unlinkat(dir, name, 0);
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
}

static enum mr_code sync_file(int fd, const char *what, struct mr_err *err)
{
	int number = mr_crash_fail("history.sync");

	if (number || fsync(fd) != 0)
		return mr_err_os(err, number ? number : errno, "cannot put %s on disk", what);
	return MR_OK;
}

static enum mr_code write_index(int dir, const char *name, struct mr_bytes bytes,
	struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = create(dir, name);

	if (fd < 0)
		return mr_err_os(err, errno, "cannot write the index of a pack");
	while (bytes.len > 0) {
		ssize_t n = write(fd, bytes.data, bytes.len);

		if (n < 0 && errno != EINTR)
			return mr_err_os(err, errno, "cannot write the index of a pack");
		bytes.data += n > 0 ? n : 0;
		bytes.len -= n > 0 ? (size_t)n : 0;
	}
	return sync_file(fd, "the index of a pack", err);
}

static enum mr_code write_pack(struct writer *w, struct mr_pack_object *const *objects,
	size_t count, uint8_t *out_digest, struct mr_err *err)
{
	enum mr_code rc = write_objects(w, objects, count, err);

	flush(w);
	mr_digest_end(w->digest, out_digest);
	w->digest = NULL;
	if (rc)
		return rc;
	if (!w->number && write(w->fd, out_digest, MR_DIGEST_SHA1_BYTES) != MR_DIGEST_SHA1_BYTES)
		w->number = errno ? errno : EIO;
	if (w->number)
		return mr_err_os(err, w->number, "cannot write a pack");
	return MR_OK;
}

enum mr_code mr_pack_write(int dir, const char *pack_file, const char *index_file,
	struct mr_pack_object *const *objects, size_t count, char *out_name, struct mr_err *err)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	int fd MR_CLEANUP(mr_fs_closep) = -1;
	struct writer *w = mr_arena_alloc(arena, sizeof(*w));
	struct mr_object_id digest;
	int number = mr_crash_fail("history.pack.write");
	enum mr_code rc;

	if (number)
		return mr_err_os(err, number, "cannot write a pack");
	fd = create(dir, pack_file);
	if (fd < 0)
		return mr_err_os(err, errno, "cannot write a pack");
	w->fd = fd;
	w->digest = mr_digest_begin_sha1();
	rc = write_pack(w, objects, count, digest.bytes, err);
	for (size_t i = 0; i < MR_LEN(w->packers); i++)
		mr_deflate_freep(&w->packers[i]);
	if (!rc)
		rc = sync_file(fd, "a pack", err);
	if (!rc)
		rc = write_index(dir, index_file, make_index(arena, objects, count, digest.bytes),
			err);
	if (!rc)
		mr_object_id_hex(&digest, out_name);
	return rc;
}

/* --- reading --- */

static enum mr_code map(int dir, const char *path, struct mr_bytes *out, struct mr_err *err)
{
	int fd MR_CLEANUP(mr_fs_closep) = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st) != 0)
		return mr_err_os(err, errno, "cannot open %s", path);
	if (st.st_size < HEAD + MR_DIGEST_SHA1_BYTES || st.st_size >= PACK_MAX)
		return mr_err_set(err, MR_EFORMAT, "%s is no pack we can read", path);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return mr_err_os(err, errno, "cannot map %s", path);
	*out = mr_bytes_of(data, (size_t)st.st_size);
	return MR_OK;
}

void mr_pack_close(struct mr_pack *pack)
{
	if (pack->data.data)
		munmap((void *)(uintptr_t)pack->data.data, pack->data.len);
	if (pack->index.data)
		munmap((void *)(uintptr_t)pack->index.data, pack->index.len);
	*pack = (struct mr_pack){ 0 };
}

enum mr_code mr_pack_take(struct mr_bytes data, struct mr_bytes index, const char *name,
	struct mr_pack *out, struct mr_err *err)
{
	const size_t each = MR_OBJECT_ID_BYTES + CRC_BYTES + OFFSET_BYTES;
	size_t count;

	if (data.len < HEAD + MR_DIGEST_SHA1_BYTES ||
		index.len < INDEX_HEAD + 2 * MR_DIGEST_SHA1_BYTES ||
		memcmp(index.data, INDEX_MAGIC, sizeof(INDEX_MAGIC)) != 0 ||
		memcmp(data.data, "PACK\0\0\0\2", 8) != 0)
		return mr_err_set(err, MR_EFORMAT, "%s is no pack we can read", name);
	count = get32(index.data + INDEX_HEAD - 4);
	if (count != get32(data.data + 8) ||
		index.len != INDEX_HEAD + count * each + 2 * (size_t)MR_DIGEST_SHA1_BYTES)
		return mr_err_set(err, MR_EFORMAT, "%s does not fit its index", name);
	*out = (struct mr_pack){ .data = data, .index = index, .count = count };
	return MR_OK;
}

enum mr_code mr_pack_open(int dir, const char *pack_path, const char *index_path,
	struct mr_pack *out, struct mr_err *err)
{
	struct mr_pack pack = { 0 };
	enum mr_code rc = map(dir, pack_path, &pack.data, err);

	if (!rc)
		rc = map(dir, index_path, &pack.index, err);
	if (!rc)
		rc = mr_pack_take(pack.data, pack.index, pack_path, &pack, err);
	if (rc) {
		mr_pack_close(&pack);
		return rc;
	}
	*out = pack;
	return MR_OK;
}

static int offset_order(const void *a, const void *b)
{
	const struct mr_pack_object *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

static const struct mr_pack_object *find_base(const struct mr_pack_object *objects, size_t count,
	uint64_t offset)
{
	const struct mr_pack_object key = { .offset = offset };

	return bsearch(&key, objects, count, sizeof(*objects), offset_order);
}

static enum mr_code say_bad(struct mr_err *err, uint64_t offset)
{
	return mr_err_set(err, MR_EFORMAT, "a pack cannot be read at byte %llu",
		(unsigned long long)offset);
}

/* What stands from objects[i].offset to `end`; bases are among those before it. */
static enum mr_code read_object(struct mr_bytes data, struct mr_pack_object *objects, size_t i,
	size_t end, struct mr_err *err)
{
	struct mr_pack_object *object = &objects[i];
	size_t at = object->offset;
	uint64_t back = 0;
	unsigned shift = 4;
	uint8_t byte;

	if (at >= end || end > data.len - MR_DIGEST_SHA1_BYTES)
		return say_bad(err, object->offset);
	byte = data.data[at++];
	object->type = (enum mr_object_type)((byte >> 4) & 7);
	object->size = byte & 15;
	for (; (byte & 0x80) && at < end && shift < 57; shift += 7) {
		byte = data.data[at++];
		object->size |= (uint64_t)(byte & 0x7f) << shift;
	}
	if (object->type == MR_OBJECT_REF_DELTA) {
		object->base_id = data.data + at;
		at += MR_OBJECT_ID_BYTES;
	} else if (object->type == MR_OBJECT_OFS_DELTA) {
		byte = at < end ? data.data[at++] : 0;
		back = byte & 0x7f;
		while ((byte & 0x80) && at < end && back < (UINT64_C(1) << 40)) {
			byte = data.data[at++];
			back = ((back + 1) << 7) | (byte & 0x7f);
		}
		object->base = back <= object->offset ? find_base(objects, i, object->offset - back)
						      : NULL;
		if (!object->base)
			return say_bad(err, object->offset);
	} else if (object->type < MR_OBJECT_COMMIT || object->type > MR_OBJECT_TAG) {
		return say_bad(err, object->offset);
	}
	if (at >= end)
		return say_bad(err, object->offset);
	object->is_packed = true;
	object->data = mr_bytes_of(data.data + at, end - at);
	return MR_OK;
}

enum mr_code mr_pack_objects(struct mr_arena *arena, const struct mr_pack *pack,
	struct mr_pack_object **out, struct mr_err *err)
{
	const uint8_t *ids = pack->index.data + INDEX_HEAD;
	const uint8_t *offsets = ids + pack->count * (MR_OBJECT_ID_BYTES + CRC_BYTES);
	struct mr_pack_object *objects = mr_arena_array(arena, pack->count + 1, sizeof(*objects));
	enum mr_code rc = MR_OK;

	for (size_t i = 0; i < pack->count; i++) {
		memcpy(objects[i].id.bytes, ids + i * MR_OBJECT_ID_BYTES, MR_OBJECT_ID_BYTES);
		objects[i].offset = get32(offsets + i * OFFSET_BYTES);
	}
	qsort(objects, pack->count, sizeof(*objects), offset_order);
	for (size_t i = 0; !rc && i < pack->count; i++) {
		size_t end = i + 1 < pack->count ? objects[i + 1].offset
						 : pack->data.len - MR_DIGEST_SHA1_BYTES;

		rc = read_object(pack->data, objects, i, end, err);
	}
	if (!rc)
		*out = objects;
	return rc;
}

/* As much as there is room for. */
static enum mr_code unpack(struct mr_bytes packed, uint8_t *into, size_t room, size_t *out_len,
	bool *out_end, struct mr_err *err)
{
	struct mr_inflate *inflate MR_CLEANUP(mr_inflate_freep) = mr_inflate_new(MR_DEFLATE_ZLIB);

	mr_inflate_feed(inflate, packed);
	return mr_inflate_read(inflate, into, room, out_len, out_end, err);
}

enum mr_code mr_pack_inflate(struct mr_arena *arena, const struct mr_pack_object *object,
	struct mr_bytes *out, struct mr_err *err)
{
	struct mr_object_id id;
	struct mr_err ignored;
	uint8_t *data;
	size_t len = 0;
	bool is_end = false;

	if (!object->is_packed || object->type > MR_OBJECT_TAG || object->size > INFLATE_MAX)
		return mr_err_set(err, MR_EINTERNAL, "an object of a pack cannot be inflated");
	/* What says that it is larger than it can be gets no memory. */
	if (object->size / DEFLATE_RATIO > object->data.len)
		return say_bad(err, object->offset);
	data = mr_arena_alloc(arena, (size_t)object->size + 1);
	if (unpack(object->data, data, (size_t)object->size + 1, &len, &is_end, &ignored) ||
		!is_end || len != object->size)
		return say_bad(err, object->offset);
	/* It is about to be written again: damaged data must not get a valid checksum. */
	id = mr_object_hash(object->type, mr_bytes_of(data, (size_t)object->size));
	if (!mr_object_id_eq(&id, &object->id))
		return mr_err_set(err, MR_EFORMAT, "a pack holds a damaged object at byte %llu",
			(unsigned long long)object->offset);
	*out = mr_bytes_of(data, (size_t)object->size);
	return MR_OK;
}

enum mr_code mr_pack_peek(const struct mr_pack_object *object, uint8_t *out, size_t len,
	struct mr_err *err)
{
	struct mr_err ignored;
	size_t got = 0;
	bool is_end;

	memset(out, 0, len);
	if (unpack(object->data, out, len, &got, &is_end, &ignored))
		return say_bad(err, object->offset);
	return MR_OK;
}
