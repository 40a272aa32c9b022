/* tests/unit/net/test_imap_deflate.c */
#include "net/imap_deflate.h"

#include "test.h"

#include <string.h>

/* Everything that comes out of `packed`, given in pieces of `piece` bytes and taken in `room`. */
static void unpack(struct mr_imap_deflate *d, struct mr_bytes packed, size_t piece, size_t room,
	struct mr_buf *out)
{
	char chunk[4096];
	struct mr_err err;

	for (;;) {
		size_t got = 0;

		if (mr_imap_deflate_is_hungry(d)) {
			size_t len = packed.len < piece ? packed.len : piece;

			if (!len)
				return;
			mr_imap_deflate_feed(d, (struct mr_bytes){ packed.data, len });
			packed.data += len;
			packed.len -= len;
		}
		CHECK_OK(mr_imap_deflate_unpack(d, chunk, room, &got, &err), err);
		mr_buf_add(out, chunk, got);
	}
}

static void what_is_packed_comes_out_again(void)
{
	struct mr_imap_deflate *one = mr_imap_deflate_new(), *other = mr_imap_deflate_new();
	struct mr_buf plain, packed, out;

	mr_buf_init(&plain, 1 << 20);
	mr_buf_init(&packed, 1 << 20);
	mr_buf_init(&out, 1 << 20);
	for (size_t i = 1; i < 40; i++) {
		mr_buf_clear(&plain);
		mr_buf_clear(&packed);
		mr_buf_clear(&out);
		for (size_t k = 0; k < i * 37; k++)
			mr_buf_printf(&plain, "m%zu UID FETCH %zu (FLAGS)\r\n", k, k * i);
		mr_imap_deflate_pack(one, mr_buf_bytes(&plain), &packed);
		/* Each of them can be read before the next is packed. */
		unpack(other, mr_buf_bytes(&packed), i, 1 + 53 * i, &out);
		CHECK_INT(out.len, plain.len);
		CHECK(memcmp(out.data, plain.data, plain.len) == 0);
	}
	CHECK(packed.len < plain.len / 2);
	mr_buf_release(&plain);
	mr_buf_release(&packed);
	mr_buf_release(&out);
	mr_imap_deflate_freep(&one);
	mr_imap_deflate_freep(&other);
}

/* A few bytes that stand for very many cost no more than the room that they are given. */
static void a_bomb_comes_out_in_pieces(void)
{
	enum { PLAIN = 64 << 20 };
	struct mr_imap_deflate *one = mr_imap_deflate_new(), *other = mr_imap_deflate_new();
	struct mr_buf plain, packed;
	size_t total = 0, pieces = 0;
	struct mr_err err;

	mr_buf_init(&plain, PLAIN);
	mr_buf_init(&packed, 1 << 20);
	mr_buf_pad(&plain, 'a', PLAIN);
	mr_imap_deflate_pack(one, mr_buf_bytes(&plain), &packed);
	mr_buf_release(&plain);
	CHECK(packed.len < 100 << 10);
	mr_imap_deflate_feed(other, mr_buf_bytes(&packed));
	while (!mr_imap_deflate_is_hungry(other)) {
		char chunk[64 << 10];
		size_t got = 0;

		CHECK_OK(mr_imap_deflate_unpack(other, chunk, sizeof(chunk), &got, &err), err);
		CHECK(got <= sizeof(chunk));
		total += got;
		pieces++;
	}
	CHECK_INT(total, PLAIN);
	CHECK(pieces >= PLAIN / (64 << 10));
	mr_buf_release(&packed);
	mr_imap_deflate_freep(&one);
	mr_imap_deflate_freep(&other);
}

static void other_bytes_are_refused(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *why;
	} cases[] = {
		{ "\xff\xff\xff\xff", 4, "the server sends something that is not compressed" },
		{ "* OK plain\r\n", 12, "the server sends something that is not compressed" },
		{ "\x03\x00", 2, "the server ended the compressed connection" },
	};
	struct mr_err err;

	for (size_t i = 0; i < MR_LEN(cases); i++) {
		struct mr_imap_deflate *d = mr_imap_deflate_new();
		char chunk[64];
		size_t got = 0;

		mr_imap_deflate_feed(d, mr_bytes_of(cases[i].bytes, cases[i].len));
		CHECK_INT(mr_imap_deflate_unpack(d, chunk, sizeof(chunk), &got, &err), MR_EREMOTE);
		CHECK_STR(err.msg, cases[i].why);
		mr_imap_deflate_freep(&d);
	}
}

int main(void)
{
	static const struct test tests[] = {
		TEST(what_is_packed_comes_out_again),
		TEST(a_bomb_comes_out_in_pieces),
		TEST(other_bytes_are_refused),
	};

	return test_main(tests, MR_LEN(tests));
}
