/* text/markdown_fence.c - fenced blocks, by lines, without a Markdown parser. */
#include "text/markdown.h"

#include "base/utf8.h"

#include <string.h>

#define FENCE "```"

struct lines {
	const char *at;
	const char *end;
	size_t number; /* of the line last taken, from 1 */
};

/* Length of the line break at `at`: LF, CR, CRLF, VT, FF, FS, GS, RS, NEL, LS, PS; 0 for none. */
static size_t break_len(const char *at, const char *end)
{
	static const char *const breaks[] = { "\r\n", "\r", "\n", "\v", "\f", "\x1c", "\x1d",
		"\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };
	const unsigned char c = (unsigned char)*at;

	if (c > 0x1e && c != 0xc2 && c != 0xe2)
		return 0;
	for (size_t i = 0; i < MR_LEN(breaks); i++) {
		size_t len = strlen(breaks[i]);

		if ((size_t)(end - at) >= len && memcmp(at, breaks[i], len) == 0)
			return len;
	}
	return 0;
}

static bool next_line(struct lines *lines, struct mr_bytes *out)
{
	const char *start = lines->at;
	size_t skip = 0;

	if (lines->at == lines->end)
		return false;
	while (lines->at < lines->end) {
		skip = break_len(lines->at, lines->end);
		if (skip)
			break;
		lines->at++;
	}
	*out = mr_bytes_of(start, (size_t)(lines->at - start));
	lines->at += skip;
	lines->number++;
	return true;
}

/* What follows ``` in its first column, stripped; false when the line has none. */
static bool read_fence(struct mr_bytes line, const char **info, size_t *len)
{
	size_t fence = strlen(FENCE);

	if (line.len < fence || memcmp(line.data, FENCE, fence) != 0)
		return false;
	*info = (const char *)line.data + fence;
	*len = line.len - fence;
	mr_utf8_strip(info, len);
	return true;
}

static bool is_closing(struct mr_bytes line)
{
	const char *info;
	size_t len;

	return read_fence(line, &info, &len) && len == 0;
}

static bool is_opening(struct mr_bytes line, const char *wanted)
{
	const char *info;
	size_t len;

	return read_fence(line, &info, &len) && len == strlen(wanted) &&
		memcmp(info, wanted, len) == 0;
}

static struct lines lines_of(struct mr_bytes md)
{
	const char *start = md.len ? (const char *)md.data : "";

	return (struct lines){ start, start + md.len, 0 };
}

/* From the line after the opening one to the closing one. */
static void read_block(struct mr_arena *arena, struct lines *lines, struct mr_markdown_fence *out)
{
	struct mr_buf content MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_bytes line;

	/* Joining with LF can only shorten. */
	mr_buf_init(&content, (size_t)(lines->end - lines->at) + 1);
	while (next_line(lines, &line)) {
		if (is_closing(line)) {
			const char *text = mr_buf_text(&content);
			size_t len = content.len;

			mr_utf8_strip(&text, &len);
			out->closed = true;
			out->close_line = lines->number;
			out->text = mr_arena_strndup(arena, text, len);
			return;
		}
		mr_buf_add(&content, line.data, line.len);
		mr_buf_putc(&content, '\n');
	}
}

void mr_markdown_fence_find(struct mr_arena *arena, struct mr_bytes md, const char *info,
	struct mr_markdown_fence *out)
{
	struct lines lines = lines_of(md);
	struct mr_bytes line;

	*out = (struct mr_markdown_fence){ 0 };
	while (next_line(&lines, &line)) {
		if (!is_opening(line, info))
			continue;
		out->found = true;
		out->open_line = lines.number;
		read_block(arena, &lines, out);
		return;
	}
}

bool mr_markdown_fence_is_closed_by(struct mr_bytes md)
{
	struct lines lines = lines_of(md);
	struct mr_bytes line;

	while (next_line(&lines, &line)) {
		if (is_closing(line))
			return true;
	}
	return false;
}
