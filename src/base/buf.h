/*
 * base/buf.h - bytes being built, with a stated maximum.
 *
 * Failure is sticky: append freely, check once with mr_buf_check(). After the maximum is passed
 * nothing more is appended, and what is there stays as it was.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct mr_buf {
	char *data; /* always NUL-terminated once anything was appended; NULL before */
	size_t len;
	size_t cap;
	size_t max;
	bool failed;
};

/* Nothing is allocated until the first append. */
void mr_buf_init(struct mr_buf *buf, size_t max);
/* For MR_CLEANUP; the buffer can be initialised again. */
void mr_buf_release(struct mr_buf *buf);
/* Empty it, keep its memory, forget a failure. */
void mr_buf_clear(struct mr_buf *buf);

void mr_buf_add(struct mr_buf *buf, const void *data, size_t len);
void mr_buf_puts(struct mr_buf *buf, const char *text);
/* Here, because commas and quotes are most of what is appended. */
static inline void mr_buf_putc(struct mr_buf *buf, char c)
{
	if (buf->failed || buf->len == buf->max || buf->len + 1 >= buf->cap) {
		mr_buf_add(buf, &c, 1);
		return;
	}
	buf->data[buf->len++] = c;
	buf->data[buf->len] = '\0';
}
void mr_buf_pad(struct mr_buf *buf, char c, size_t count);
void mr_buf_printf(struct mr_buf *buf, const char *fmt, ...) MR_PRINTF(2, 3);
/* In decimal; what "%lld" would write, sooner. */
void mr_buf_put_int(struct mr_buf *buf, int64_t value);
/* One Unicode scalar value as UTF-8. */
void mr_buf_put_utf8(struct mr_buf *buf, uint32_t scalar);
/*
 * A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. With `ascii` everything
 * above 0x7e is written as \uXXXX, in surrogate pairs where needed.
 */
void mr_buf_put_json(struct mr_buf *buf, const char *text, size_t len, bool ascii);

/* The text so far; "" when empty. Valid until the next append. */
const char *mr_buf_text(const struct mr_buf *buf);
struct mr_bytes mr_buf_bytes(const struct mr_buf *buf);
/* MR_ELIMIT, naming `what` and the maximum, when an append did not fit. */
MR_CHECK enum mr_code mr_buf_check(const struct mr_buf *buf, const char *what, struct mr_err *err);
