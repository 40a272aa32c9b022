/*
 * base/buf.c - A growable byte buffer with a maximum size and sticky failure; it also escapes JSON
 * strings.
 */
#include "base/buf.h"

#include "base/oom.h"
#include "base/utf8.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

void mr_buf_init(struct mr_buf *buf, size_t max)
{
	*buf = (struct mr_buf){ .max = max };
}

void mr_buf_release(struct mr_buf *buf)
{
	free(buf->data);
	mr_buf_init(buf, buf->max);
}

void mr_buf_clear(struct mr_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

static void grow(struct mr_buf *buf, size_t more)
{
	size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;

	/* Doubling past half of the address space would wrap around to 0 and never end. */
	if (more >= SIZE_MAX / 2 - buf->len)
		mr_oom(more);
	while (cap <= buf->len + more)
		cap *= 2;
	buf->data = realloc(buf->data, cap);
	if (!buf->data)
		mr_oom(cap);
	buf->cap = cap;
}

/* Make room for `more` bytes and a NUL; false past the maximum. */
static bool reserve(struct mr_buf *buf, size_t more)
{
	if (buf->failed)
		return false;
	if (more > buf->max - buf->len) {
		buf->failed = true;
		return false;
	}
	if (buf->len + more >= buf->cap)
		grow(buf, more);
	return true;
}

void mr_buf_add(struct mr_buf *buf, const void *data, size_t len)
{
	if (!reserve(buf, len))
		return;
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void mr_buf_puts(struct mr_buf *buf, const char *text)
{
	mr_buf_add(buf, text, strlen(text));
}

void mr_buf_pad(struct mr_buf *buf, char c, size_t count)
{
	if (!reserve(buf, count))
		return;
	memset(buf->data + buf->len, c, count);
	buf->len += count;
	buf->data[buf->len] = '\0';
}

void mr_buf_printf(struct mr_buf *buf, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0)
		buf->failed = true;
	if (len < 0 || !reserve(buf, (size_t)len))
		return;
	va_start(ap, fmt);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	buf->len += (size_t)len;
}

void mr_buf_put_int(struct mr_buf *buf, int64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (value < 0)
		digits[--at] = '-';
	mr_buf_add(buf, digits + at, sizeof(digits) - at);
}

void mr_buf_put_utf8(struct mr_buf *buf, uint32_t scalar)
{
	char bytes[4];

	mr_buf_add(buf, bytes, mr_utf8_put(scalar, bytes));
}

/* How a byte stands in a JSON string: '.' as itself, 'u' neither so nor with a short escape; else
 * what is here is the letter after the backslash. */
static const char json_forms[256] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu"
				    "..\"............................."
				    "............................\\..."
				    "...............................u"
				    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
				    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
				    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
				    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu";

static char json_form(char c)
{
	return json_forms[(unsigned char)c];
}

static void put_escape(struct mr_buf *buf, uint32_t scalar)
{
	char letter = scalar < 0x80 ? json_form((char)scalar) : 'u';

	if (letter != 'u') {
		mr_buf_add(buf, (const char[]){ '\\', letter }, 2);
		return;
	}
	if (scalar < 0x10000) {
		mr_buf_printf(buf, "\\u%04x", (unsigned)scalar);
		return;
	}
	scalar -= 0x10000;
	mr_buf_printf(buf, "\\u%04x\\u%04x", (unsigned)(0xd800 + (scalar >> 10)),
		(unsigned)(0xdc00 + (scalar & 0x3ff)));
}

/* Eight bytes of text, the first the lowest; zeros stand for those past the end. */
static uint64_t load(const char *text, size_t len)
{
	uint64_t word = 0;
	uint32_t low, high;

	if (len >= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		return le64toh(word);
	}
	if (len >= sizeof(low)) {
		/* They overlap, and say the same there. */
		memcpy(&low, text, sizeof(low));
		memcpy(&high, text + len - sizeof(high), sizeof(high));
		return le32toh(low) | (uint64_t)le32toh(high) << 8 * (len - sizeof(high));
	}
	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)(unsigned char)text[i] << 8 * i;
	return word;
}

static void store(char *out, uint64_t word)
{
	word = htole64(word);
	memcpy(out, &word, sizeof(word));
}

/* The high bit of each of eight bytes that does not stand for itself. */
static uint64_t find_special(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
	uint64_t low = word & ~highs;
	/* No sum reaches the next byte: what is large enough, or unequal, gets its high bit. */
	uint64_t plain = (low + ones * (0x80 - 0x20)) & ((low ^ ones * '"') + ones * 0x7f) &
		((low ^ ones * '\\') + ones * 0x7f) & ((low ^ ones * 0x7f) + ones * 0x7f);

	return (word | ~plain) & highs;
}

enum { SHORT_BYTES = 64 };

/*
 * Text up to the first byte that is neither verbatim nor has a short escape; returns how much that
 * was. JSON inside JSON is full of quotes: there is room for all of it to be, and eight bytes more.
 */
static size_t put_plain(struct mr_buf *buf, const char *text, size_t len)
{
	char *out = buf->data + buf->len;

	for (size_t at = 0; at < len; at += 8) {
		size_t here = len - at < 8 ? len - at : 8, done = 0;
		uint64_t word = load(text + at, len - at);
		uint64_t special = find_special(word);

		if (here < 8)
			special &= (UINT64_C(1) << 8 * here) - 1;
		/* All eight are copied: what is too much is written over. */
		store(out, word);
		for (; special; special &= special - 1) {
			size_t next = (unsigned)__builtin_ctzll(special) / 8;
			char form = json_form((char)(word >> 8 * next));

			out += next - done;
			done = next;
			if (form == 'u') {
				buf->len = (size_t)(out - buf->data);
				return at + next;
			}
			*out++ = '\\';
			store(out, word >> 8 * next);
			*out = form;
		}
		out += here - done;
	}
	buf->len = (size_t)(out - buf->data);
	return len;
}

/* Copy text that stands for itself as a whole; false when it does not. There is room for eight
 * bytes more than it has. */
static bool put_verbatim(char *out, const char *text, size_t len)
{
	uint64_t special = 0, word;
	size_t at = 0;

	for (; len - at >= 8; at += 8) {
		word = load(text + at, 8);
		special |= find_special(word);
		store(out + at, word);
	}
	if (at < len) {
		word = load(text + at, len - at);
		special |= find_special(word) & ((UINT64_C(1) << 8 * (len - at)) - 1);
		store(out + at, word);
	}
	return !special;
}

/* One look at the room for what is short and plain: the keys and most of the values. */
static bool put_short(struct mr_buf *buf, const char *text, size_t len)
{
	char *out;

	if (len >= SHORT_BYTES || SHORT_BYTES + 8 > buf->max - buf->len ||
		!reserve(buf, SHORT_BYTES + 8))
		return false;
	out = buf->data + buf->len;
	if (!put_verbatim(out + 1, text, len))
		return false;
	out[0] = '"';
	out[len + 1] = '"';
	out[len + 2] = '\0';
	buf->len += len + 2;
	return true;
}

/* By itself, so that what is short need not keep its registers. */
__attribute__((noinline)) static void put_long(struct mr_buf *buf, const char *text, size_t len,
	bool ascii)
{
	size_t at = 0;

	mr_buf_putc(buf, '"');
	while (at < len && !buf->failed) {
		uint32_t scalar = 0xfffd;
		size_t n;

		/* Near the maximum there may be room for what it is, and not for the worst. */
		if (len - at + 4 <= (buf->max - buf->len) / 2 && reserve(buf, 2 * (len - at) + 8))
			at += put_plain(buf, text + at, len - at);
		if (at == len)
			break;
		n = mr_utf8_next(text + at, len - at, &scalar);
		if (scalar < 0x20 || scalar == '"' || scalar == '\\' || (ascii && scalar > 0x7e))
			put_escape(buf, scalar);
		else
			mr_buf_put_utf8(buf, scalar);
		at += n ? n : 1;
	}
	mr_buf_putc(buf, '"');
}

void mr_buf_put_json(struct mr_buf *buf, const char *text, size_t len, bool ascii)
{
	if (!put_short(buf, text, len))
		put_long(buf, text, len, ascii);
}

const char *mr_buf_text(const struct mr_buf *buf)
{
	return buf->data ? buf->data : "";
}

struct mr_bytes mr_buf_bytes(const struct mr_buf *buf)
{
	return mr_bytes_of(mr_buf_text(buf), buf->len);
}

enum mr_code mr_buf_check(const struct mr_buf *buf, const char *what, struct mr_err *err)
{
	if (!buf->failed)
		return MR_OK;
	return mr_err_set(err, MR_ELIMIT, "%s is longer than %zu bytes", what, buf->max);
}
