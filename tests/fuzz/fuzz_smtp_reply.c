/* tests/fuzz/fuzz_smtp_reply.c - any bytes of a server: the same reply whole and byte by byte. */
#include "text/smtp_reply.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_text(const struct mr_smtp_reply *reply)
{
	size_t len = strlen(reply->text);

	if (len > MR_SMTP_TEXT_BYTES || !mr_utf8_is_valid(reply->text, len, NULL))
		abort();
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)reply->text[i] < ' ')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	struct mr_smtp_reply whole = { 0 }, pieces = { 0 };
	size_t used = 0, at = 0;
	struct mr_err err, piece_err;
	enum mr_code rc = mr_smtp_reply_take(arena, &whole, mr_bytes_of(data, len), &used, &err);
	enum mr_code piece_rc = MR_OK;

	for (size_t have = 0; have <= len && !piece_rc && !pieces.is_whole; have++) {
		size_t more = 0;

		piece_rc = mr_smtp_reply_take(arena, &pieces, mr_bytes_of(data + at, have - at),
			&more, &piece_err);
		at += more;
	}
	if (rc != piece_rc || used != at || whole.code != pieces.code ||
		whole.lines != pieces.lines || whole.is_whole != pieces.is_whole ||
		memcmp(&whole.can, &pieces.can, sizeof(whole.can)) != 0)
		abort();
	if (rc && (rc != MR_EREMOTE || !*err.msg))
		abort();
	if (whole.lines) {
		check_text(&whole);
		if (strcmp(whole.text, pieces.text) != 0)
			abort();
	}
	return 0;
}
