/* text/clean.c - control characters and characters that are not seen. */
#include "text/clean.h"

#include "base/utf8.h"

#include <string.h>

static bool is_control(uint32_t scalar)
{
	return scalar < 0x20 || (scalar >= 0x7f && scalar < 0xa0);
}

char *mr_clean_body(struct mr_arena *arena, struct mr_bytes text)
{
	const char *at = text.len ? (const char *)text.data : "";
	const char *end = at + text.len;
	/* A byte that is not UTF-8 becomes three. */
	size_t bad = 0;
	char *out;
	char *to;

	for (const char *p = at; p < end;) {
		uint32_t scalar;
		size_t step = mr_utf8_ascii_run(p, (size_t)(end - p));

		p += step;
		if (p == end)
			break;
		step = mr_utf8_next(p, (size_t)(end - p), &scalar);
		bad += step == 0;
		p += step ? step : 1;
	}
	out = to = mr_arena_alloc(arena, text.len + 2 * bad + 1);
	while (at < end) {
		uint32_t scalar = 0;
		const char *run = at + mr_utf8_ascii_run(at, (size_t)(end - at));
		size_t step;

		while (at < run) {
			if (*at == '\r') {
				*to++ = '\n';
				at += at + 1 < end && at[1] == '\n';
			} else if (!is_control((unsigned char)*at) || *at == '\n' || *at == '\t') {
				*to++ = *at;
			}
			at++;
		}
		if (at == end)
			break;
		step = mr_utf8_next(at, (size_t)(end - at), &scalar);
		if (step == 0) {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
			step = 1;
		} else if (!is_control(scalar)) {
			memcpy(to, at, step);
			to += step;
		}
		at += step;
	}
	*to = '\0';
	return out;
}

static bool is_unseen(uint32_t scalar)
{
	static const uint32_t ranges[][2] = {
		{ 0x200b, 0x200f },
		{ 0x202a, 0x202e },
		{ 0x2060, 0x2064 },
		{ 0x2066, 0x2069 },
		{ 0xfeff, 0xfeff },
		{ 0xe0000, 0xe007f },
	};

	for (size_t i = 0; scalar >= ranges[0][0] && i < MR_LEN(ranges); i++) {
		if (scalar >= ranges[i][0] && scalar <= ranges[i][1])
			return true;
	}
	return false;
}

char *mr_clean_unseen(struct mr_arena *arena, const char *text, size_t *count)
{
	size_t left = strlen(text);
	char *out = mr_arena_alloc(arena, left + 1);
	char *to = out;

	*count = 0;
	while (left) {
		uint32_t scalar = 0;
		size_t step = mr_utf8_ascii_run(text, left);

		if (!step)
			step = mr_utf8_next(text, left, &scalar);
		step = step ? step : 1;
		if (is_unseen(scalar)) {
			++*count;
		} else {
			memcpy(to, text, step);
			to += step;
		}
		text += step;
		left -= step;
	}
	*to = '\0';
	return out;
}
