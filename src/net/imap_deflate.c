/* net/imap_deflate.c - the only file that knows zlib: packs what is sent, unpacks what is received.
 */
#include "net/imap_deflate.h"

#include "base/oom.h"

#include <stdlib.h>
#include <zlib.h>

enum {
	RAW_WINDOW_BITS = -15, /* without header and checksum */
	MEMORY_LEVEL = 8,
	CHUNK = 16 << 10,
};

struct mr_imap_deflate {
	z_stream in, out;
	bool has_room_left; /* the last unpacking used up all its input */
};

void mr_imap_deflate_freep(struct mr_imap_deflate **deflate)
{
	if (!*deflate)
		return;
	inflateEnd(&(*deflate)->in);
	deflateEnd(&(*deflate)->out);
	free(*deflate);
	*deflate = NULL;
}

struct mr_imap_deflate *mr_imap_deflate_new(void)
{
	struct mr_imap_deflate *d = calloc(1, sizeof(*d));

	/* Nothing but memory can be missing. */
	if (!d || inflateInit2(&d->in, RAW_WINDOW_BITS) != Z_OK ||
		deflateInit2(&d->out, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW_WINDOW_BITS,
			MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		mr_oom(sizeof(*d));
	d->has_room_left = true;
	return d;
}

void mr_imap_deflate_pack(struct mr_imap_deflate *d, struct mr_bytes bytes, struct mr_buf *out)
{
	unsigned char chunk[CHUNK];

	while (bytes.len) {
		size_t len = bytes.len < CHUNK ? bytes.len : CHUNK;

		d->out.next_in = (unsigned char *)bytes.data;
		d->out.avail_in = (uInt)len;
		bytes.data += len;
		bytes.len -= len;
		do {
			d->out.next_out = chunk;
			d->out.avail_out = sizeof(chunk);
			deflate(&d->out, bytes.len ? Z_NO_FLUSH : Z_SYNC_FLUSH);
			mr_buf_add(out, chunk, sizeof(chunk) - d->out.avail_out);
		} while (!d->out.avail_out);
	}
}

bool mr_imap_deflate_is_hungry(const struct mr_imap_deflate *d)
{
	return d->has_room_left && !d->in.avail_in;
}

void mr_imap_deflate_feed(struct mr_imap_deflate *d, struct mr_bytes bytes)
{
	d->in.next_in = (unsigned char *)bytes.data;
	d->in.avail_in = (uInt)bytes.len;
}

enum mr_code mr_imap_deflate_unpack(struct mr_imap_deflate *d, void *into, size_t room,
	size_t *out_len, struct mr_err *err)
{
	int code;

	d->in.next_out = into;
	d->in.avail_out = (uInt)room;
	code = inflate(&d->in, Z_SYNC_FLUSH);
	*out_len = room - d->in.avail_out;
	d->has_room_left = d->in.avail_out > 0;
	if (code == Z_OK || code == Z_BUF_ERROR) /* the latter: there was nothing to do */
		return MR_OK;
	return mr_err_set(err, MR_EREMOTE,
		code == Z_STREAM_END ? "the server ended the compressed connection"
				     : "the server sends something that is not compressed");
}
