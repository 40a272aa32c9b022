/* base/deflate.c - the only file that knows zlib. */
#include "base/deflate.h"

#include "base/oom.h"

#include <stdlib.h>
#include <zlib.h>

enum {
	WINDOW_BITS = 15,
	MEMORY_LEVEL = 8,
	PACKED_CHUNK = 16 << 10,
};

struct mr_deflate {
	z_stream stream;
};
struct mr_inflate {
	z_stream stream;
	bool has_room_left; /* the last unpacking used up all its input */
};

static int window_of(enum mr_deflate_form form)
{
	return form == MR_DEFLATE_RAW ? -WINDOW_BITS : WINDOW_BITS;
}

/* --- packing --- */

struct mr_deflate *mr_deflate_new(enum mr_deflate_form form, int level)
{
	struct mr_deflate *d = calloc(1, sizeof(*d));

	if (!d ||
		deflateInit2(&d->stream, level, Z_DEFLATED, window_of(form), MEMORY_LEVEL,
			Z_DEFAULT_STRATEGY) != Z_OK)
		mr_oom(sizeof(*d));
	return d;
}

void mr_deflate_freep(struct mr_deflate **deflate)
{
	if (!*deflate)
		return;
	deflateEnd(&(*deflate)->stream);
	free(*deflate);
	*deflate = NULL;
}

static void pack(struct mr_deflate *d, struct mr_bytes bytes, int end, mr_deflate_sink *sink,
	void *arg)
{
	unsigned char chunk[PACKED_CHUNK];
	z_stream *stream = &d->stream;
	size_t left = bytes.len;

	stream->next_in = (Bytef *)(uintptr_t)bytes.data;
	stream->avail_in = 0;
	do {
		if (!stream->avail_in && left) {
			stream->avail_in = left < INT32_MAX ? (uInt)left : INT32_MAX;
			left -= stream->avail_in;
		}
		stream->next_out = chunk;
		stream->avail_out = sizeof(chunk);
		(void)deflate(stream, left ? Z_NO_FLUSH : end);
		sink(arg, chunk, sizeof(chunk) - stream->avail_out);
	} while (left || !stream->avail_out);
}

void mr_deflate_flush(struct mr_deflate *d, struct mr_bytes bytes, mr_deflate_sink *sink, void *arg)
{
	if (bytes.len)
		pack(d, bytes, Z_SYNC_FLUSH, sink, arg);
}

void mr_deflate_finish(struct mr_deflate *d, struct mr_bytes bytes, mr_deflate_sink *sink,
	void *arg)
{
	pack(d, bytes, Z_FINISH, sink, arg);
	(void)deflateReset(&d->stream);
}

/* --- unpacking --- */

struct mr_inflate *mr_inflate_new(enum mr_deflate_form form)
{
	struct mr_inflate *i = calloc(1, sizeof(*i));

	if (!i || inflateInit2(&i->stream, window_of(form)) != Z_OK)
		mr_oom(sizeof(*i));
	i->has_room_left = true;
	return i;
}

void mr_inflate_freep(struct mr_inflate **inflate)
{
	if (!*inflate)
		return;
	inflateEnd(&(*inflate)->stream);
	free(*inflate);
	*inflate = NULL;
}

void mr_inflate_feed(struct mr_inflate *i, struct mr_bytes bytes)
{
	i->stream.next_in = (Bytef *)(uintptr_t)bytes.data;
	i->stream.avail_in = (uInt)bytes.len;
}

bool mr_inflate_is_hungry(const struct mr_inflate *i)
{
	return i->has_room_left && !i->stream.avail_in;
}

enum mr_code mr_inflate_read(struct mr_inflate *i, void *into, size_t room, size_t *out_len,
	bool *out_end, struct mr_err *err)
{
	int code;

	i->stream.next_out = into;
	i->stream.avail_out = (uInt)room;
	code = inflate(&i->stream, Z_SYNC_FLUSH);
	*out_len = room - i->stream.avail_out;
	*out_end = code == Z_STREAM_END;
	i->has_room_left = i->stream.avail_out > 0;
	if (code == Z_OK || code == Z_STREAM_END ||
		code == Z_BUF_ERROR) /* the last: nothing to do */
		return MR_OK;
	return mr_err_set(err, MR_EFORMAT, "the bytes are not packed by zlib");
}

uint32_t mr_deflate_crc32(uint32_t crc, const void *data, size_t len)
{
	return (uint32_t)crc32_z(crc, data, len);
}
