/* text/imap_words.c - sets of numbers, quoted words and the names of mailboxes in IMAP. */
#include "base/utf8.h"
#include "text/imap_response.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- sets --- */

static bool take_number(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
	uint64_t value = 0;
	const uint8_t *begin = *at;

	if (*at < end && **at == '*') {
		(*at)++;
		*out = UINT32_MAX;
		return true;
	}
	while (*at < end && **at >= '0' && **at <= '9' && value <= UINT32_MAX)
		value = value * 10 + (uint64_t)(*(*at)++ - '0');
	*out = (uint32_t)value;
	return *at > begin && value > 0 && value <= UINT32_MAX;
}

enum mr_code mr_imap_set_parse(struct mr_arena *arena, struct mr_bytes text,
	struct mr_imap_set *out, struct mr_err *err)
{
	const uint8_t *at = text.data;
	const uint8_t *end = text.data + text.len;
	size_t room = 1;

	for (size_t i = 0; i < text.len; i++)
		room += text.data[i] == ',';
	*out = (struct mr_imap_set){ mr_arena_array(arena, room, sizeof(*out->ranges)), 0 };
	while (at < end) {
		struct mr_imap_range range;
		bool good = take_number(&at, end, &range.first);

		range.last = range.first;
		if (good && at < end && *at == ':') {
			at++;
			good = take_number(&at, end, &range.last);
		}
		if (!good || (at < end && *at != ',') || at + 1 == end)
			break;
		if (range.first > range.last)
			range = (struct mr_imap_range){ range.last, range.first };
		out->ranges[out->len++] = range;
		at += at < end;
		if (at == end)
			return MR_OK;
	}
	return mr_err_set(err, MR_EFORMAT, "not a set of message numbers");
}

void mr_imap_put_set(struct mr_buf *out, const uint32_t *uids, size_t len, size_t *at,
	size_t max_bytes)
{
	size_t begin = out->len;

	while (*at < len) {
		size_t last = *at;
		char text[32];

		while (last + 1 < len && uids[last + 1] == uids[last] + 1)
			last++;
		if (last > *at)
			snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIu32, uids[*at], uids[last]);
		else
			snprintf(text, sizeof(text), "%" PRIu32, uids[*at]);
		if (out->len > begin && out->len - begin + strlen(text) + 1 > max_bytes)
			return;
		if (out->len > begin)
			mr_buf_putc(out, ',');
		mr_buf_puts(out, text);
		*at = last + 1;
	}
}

/* --- quotes --- */

bool mr_imap_is_quotable(const char *text)
{
	for (; *text; text++) {
		if (*text == '\r' || *text == '\n' || (unsigned char)*text >= 0x80)
			return false;
	}
	return true;
}

void mr_imap_put_quoted(struct mr_buf *out, const char *text)
{
	mr_buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			mr_buf_putc(out, '\\');
		mr_buf_putc(out, *text);
	}
	mr_buf_putc(out, '"');
}

/* --- names of mailboxes: RFC 3501, 5.1.3 --- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,";

enum { NAME_BYTES = 64 << 10 };

struct bits {
	uint32_t value;
	int count;
};

static void put_unit(struct mr_buf *out, struct bits *bits, uint32_t unit)
{
	bits->value = bits->value << 16 | unit;
	bits->count += 16;
	while (bits->count >= 6) {
		bits->count -= 6;
		mr_buf_putc(out, digits[bits->value >> bits->count & 63]);
	}
	bits->value &= (1u << bits->count) - 1;
}

static void put_shifted(struct mr_buf *out, struct bits *bits, uint32_t c)
{
	if (c < 0x10000) {
		put_unit(out, bits, c);
		return;
	}
	put_unit(out, bits, 0xd800 + ((c - 0x10000) >> 10));
	put_unit(out, bits, 0xdc00 + ((c - 0x10000) & 0x3ff));
}

static void end_shift(struct mr_buf *out, struct bits *bits)
{
	if (bits->count)
		mr_buf_putc(out, digits[bits->value << (6 - bits->count) & 63]);
	mr_buf_putc(out, '-');
	*bits = (struct bits){ 0 };
}

const char *mr_imap_name_encode(struct mr_arena *arena, const char *utf8)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };
	size_t len = strlen(utf8);
	struct bits bits = { 0 };
	bool shifted = false;

	mr_buf_init(&out, NAME_BYTES);
	for (size_t at = 0; at < len;) {
		uint32_t c;
		size_t taken = mr_utf8_next(utf8 + at, len - at, &c);

		if (!taken)
			return utf8;
		at += taken;
		if (c < ' ' || c > '~') {
			if (!shifted)
				mr_buf_putc(&out, '&');
			shifted = true;
			put_shifted(&out, &bits, c);
			continue;
		}
		if (shifted)
			end_shift(&out, &bits);
		shifted = false;
		mr_buf_putc(&out, (char)c);
		if (c == '&')
			mr_buf_putc(&out, '-');
	}
	if (shifted)
		end_shift(&out, &bits);
	return mr_arena_strdup(arena, mr_buf_text(&out));
}

static void put_scalar(struct mr_buf *out, uint32_t scalar)
{
	char text[4];

	mr_buf_add(out, text, mr_utf8_put(scalar, text));
}

/* The characters of a shifted run, up to its '-'; false when it is none. */
static bool take_shifted(struct mr_buf *out, const char **at)
{
	struct bits bits = { 0 };
	uint32_t high = 0;

	for (; **at && **at != '-'; (*at)++) {
		const char *digit = strchr(digits, **at);
		uint32_t unit;

		if (!digit)
			return false;
		bits.value = bits.value << 6 | (uint32_t)(digit - digits);
		bits.count += 6;
		if (bits.count < 16)
			continue;
		bits.count -= 16;
		unit = bits.value >> bits.count & 0xffff;
		bits.value &= (1u << bits.count) - 1;
		if (high) {
			if (unit < 0xdc00 || unit > 0xdfff)
				return false;
			put_scalar(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
			high = 0;
		} else if (unit >= 0xd800 && unit <= 0xdbff) {
			high = unit;
		} else if (unit == 0 || (unit >= 0xdc00 && unit <= 0xdfff)) {
			return false;
		} else {
			put_scalar(out, unit);
		}
	}
	if (**at != '-' || high || bits.value)
		return false;
	(*at)++;
	return true;
}

const char *mr_imap_name_decode(struct mr_arena *arena, const char *name)
{
	struct mr_buf out MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&out, NAME_BYTES);
	for (const char *at = name; *at;) {
		if (*at != '&') {
			mr_buf_putc(&out, *at++);
			continue;
		}
		at++;
		if (*at == '-') {
			mr_buf_putc(&out, '&');
			at++;
		} else if (!take_shifted(&out, &at)) {
			return name;
		}
	}
	return mr_arena_strdup(arena, mr_buf_text(&out));
}
