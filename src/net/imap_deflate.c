/* net/imap_deflate.c - packs what is sent, unpacks what is received. */
#include "net/imap_deflate.h"

#include "base/deflate.h"
#include "base/oom.h"

#include <stdlib.h>

struct mr_imap_deflate {
	struct mr_inflate *in;
	struct mr_deflate *out;
};

void mr_imap_deflate_freep(struct mr_imap_deflate **deflate)
{
	if (!*deflate)
		return;
	mr_inflate_freep(&(*deflate)->in);
	mr_deflate_freep(&(*deflate)->out);
	free(*deflate);
	*deflate = NULL;
}

struct mr_imap_deflate *mr_imap_deflate_new(void)
{
	struct mr_imap_deflate *d = calloc(1, sizeof(*d));

	if (!d)
		mr_oom(sizeof(*d));
	d->in = mr_inflate_new(MR_DEFLATE_RAW);
	d->out = mr_deflate_new(MR_DEFLATE_RAW, MR_DEFLATE_USUAL);
	return d;
}

static void put(void *arg, const void *data, size_t len)
{
	mr_buf_add(arg, data, len);
}

void mr_imap_deflate_pack(struct mr_imap_deflate *d, struct mr_bytes bytes, struct mr_buf *out)
{
	mr_deflate_flush(d->out, bytes, put, out);
}

bool mr_imap_deflate_is_hungry(const struct mr_imap_deflate *d)
{
	return mr_inflate_is_hungry(d->in);
}

void mr_imap_deflate_feed(struct mr_imap_deflate *d, struct mr_bytes bytes)
{
	mr_inflate_feed(d->in, bytes);
}

enum mr_code mr_imap_deflate_unpack(struct mr_imap_deflate *d, void *into, size_t room,
	size_t *out_len, struct mr_err *err)
{
	bool is_end = false;

	if (mr_inflate_read(d->in, into, room, out_len, &is_end, err))
		return mr_err_set(err, MR_EREMOTE,
			"the server sends something that is not compressed");
	return is_end ? mr_err_set(err, MR_EREMOTE, "the server ended the compressed connection")
		      : MR_OK;
}
