/*
 * base/utf8.c - Reads, writes, validates, truncates, folds and measures UTF-8 text; the only file
 * that includes utf8proc.h.
 */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

size_t mr_utf8_next(const char *text, size_t len, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *b = (const unsigned char *)text;
	uint32_t scalar;
	size_t need;

	if (b[0] < 0x80) {
		*out = b[0];
		return 1;
	}
	if (b[0] >= 0xc2 && b[0] <= 0xdf) {
		need = 2;
		scalar = b[0] & 0x1f;
	} else if ((b[0] & 0xf0) == 0xe0) {
		need = 3;
		scalar = b[0] & 0x0f;
	} else if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		need = 4;
		scalar = b[0] & 0x07;
	} else {
		return 0;
	}
	if (need > len)
		return 0;
	for (size_t i = 1; i < need; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		scalar = scalar << 6 | (b[i] & 0x3f);
	}
	if (scalar < least[need] || scalar > 0x10ffff || (scalar >= 0xd800 && scalar <= 0xdfff))
		return 0;
	*out = scalar;
	return need;
}

size_t mr_utf8_put(uint32_t scalar, char out[4])
{
	if (scalar < 0x80) {
		out[0] = (char)scalar;
		return 1;
	}
	if (scalar < 0x800) {
		out[0] = (char)(0xc0 | scalar >> 6);
		out[1] = (char)(0x80 | (scalar & 0x3f));
		return 2;
	}
	if ((scalar >= 0xd800 && scalar <= 0xdfff) || scalar > 0x10ffff)
		return 0;
	if (scalar < 0x10000) {
		out[0] = (char)(0xe0 | scalar >> 12);
		out[1] = (char)(0x80 | (scalar >> 6 & 0x3f));
		out[2] = (char)(0x80 | (scalar & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | scalar >> 18);
	out[1] = (char)(0x80 | (scalar >> 12 & 0x3f));
	out[2] = (char)(0x80 | (scalar >> 6 & 0x3f));
	out[3] = (char)(0x80 | (scalar & 0x3f));
	return 4;
}

size_t mr_utf8_ascii_run(const char *text, size_t len)
{
	size_t at = 0;

	for (uint64_t word; at + sizeof(word) <= len; at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
	while (at < len && (unsigned char)text[at] < 0x80)
		at++;
	return at;
}

bool mr_utf8_is_valid(const char *text, size_t len, size_t *bad_at)
{
	uint32_t scalar;

	for (size_t at = mr_utf8_ascii_run(text, len); at < len;
		at += mr_utf8_ascii_run(text + at, len - at)) {
		size_t n = mr_utf8_next(text + at, len - at, &scalar);

		if (n == 0) {
			if (bad_at)
				*bad_at = at;
			return false;
		}
		at += n;
	}
	return true;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t mr_utf8_truncate(const char *text, size_t len, size_t max)
{
	size_t end = len < max ? len : max;
	size_t start = end;
	uint32_t scalar;

	/* Only the last character can be cut: find where it starts, see whether it is whole. */
	while (start > 0 && end - start < 3 && is_continuation(text[start - 1]))
		start--;
	if (start > 0 && (unsigned char)text[start - 1] >= 0x80) {
		start--;
		if (mr_utf8_next(text + start, end - start, &scalar) != end - start)
			return start;
	}
	return end;
}

size_t mr_utf8_count(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += !is_continuation(text[i]);
	return count;
}

size_t mr_utf8_prefix(const char *text, size_t len, size_t count)
{
	size_t at = 0;

	while (at < len && count > 0) {
		at++;
		while (at < len && is_continuation(text[at]))
			at++;
		count--;
	}
	return at;
}

bool mr_utf8_is_space(uint32_t scalar)
{
	return (scalar >= 0x09 && scalar <= 0x0d) || (scalar >= 0x1c && scalar <= 0x20) ||
		scalar == 0x85 || scalar == 0xa0 || scalar == 0x1680 ||
		(scalar >= 0x2000 && scalar <= 0x200a) || scalar == 0x2028 || scalar == 0x2029 ||
		scalar == 0x202f || scalar == 0x205f || scalar == 0x3000;
}

void mr_utf8_strip(const char **text, size_t *len)
{
	uint32_t scalar;

	while (*len) {
		size_t n = mr_utf8_next(*text, *len, &scalar);

		if (n == 0 || !mr_utf8_is_space(scalar))
			break;
		*text += n;
		*len -= n;
	}
	while (*len) {
		size_t start = *len - 1;

		while (start > 0 && is_continuation((*text)[start]))
			start--;
		if (mr_utf8_next(*text + start, *len - start, &scalar) != *len - start ||
			!mr_utf8_is_space(scalar))
			break;
		*len = start;
	}
}

bool mr_utf8_is_word(uint32_t scalar)
{
	switch (utf8proc_category((utf8proc_int32_t)scalar)) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
	case UTF8PROC_CATEGORY_ND:
	case UTF8PROC_CATEGORY_NL:
	case UTF8PROC_CATEGORY_NO:
	case UTF8PROC_CATEGORY_CO:
		return true;
	default:
		return false;
	}
}

bool mr_utf8_is_mark(uint32_t scalar)
{
	utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)scalar);

	return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

uint32_t mr_utf8_upper(uint32_t scalar)
{
	return (uint32_t)utf8proc_toupper((utf8proc_int32_t)scalar);
}

uint32_t mr_utf8_lower(uint32_t scalar)
{
	return (uint32_t)utf8proc_tolower((utf8proc_int32_t)scalar);
}

uint32_t mr_utf8_fold(uint32_t scalar)
{
	utf8proc_int32_t parts[4];
	utf8proc_ssize_t count;

	if (scalar < 0x80)
		return scalar >= 'A' && scalar <= 'Z' ? scalar | 0x20 : scalar;
	scalar = (uint32_t)utf8proc_tolower((utf8proc_int32_t)scalar);
	count = utf8proc_decompose_char((utf8proc_int32_t)scalar, parts, 4, UTF8PROC_DECOMPOSE,
		NULL);
	/* Only a letter and its marks: a Hangul syllable is more than its first sound. */
	for (utf8proc_ssize_t i = 1; i < count && i < 4; i++) {
		if (!mr_utf8_is_mark((uint32_t)parts[i]))
			return scalar;
	}
	return count > 1 && count <= 4 ? (uint32_t)parts[0] : scalar;
}

/* Walk until the next character would pass `columns`; tell how far, and how wide that is. */
static size_t measure(const char *text, size_t len, size_t columns, size_t *out_width)
{
	size_t at = 0;

	*out_width = 0;
	while (at < len) {
		uint32_t scalar = 0xfffd;
		size_t n = mr_utf8_next(text + at, len - at, &scalar);
		int wide = utf8proc_charwidth((utf8proc_int32_t)scalar);

		if (wide > 0 && (size_t)wide > columns - *out_width)
			break;
		*out_width += wide > 0 ? (size_t)wide : 0;
		at += n ? n : 1;
	}
	return at;
}

size_t mr_utf8_width(const char *text, size_t len)
{
	size_t width;

	measure(text, len, SIZE_MAX, &width);
	return width;
}

size_t mr_utf8_fit(const char *text, size_t len, size_t columns)
{
	size_t width;

	return measure(text, len, columns, &width);
}
