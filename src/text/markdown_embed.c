/* text/markdown_embed.c - foreign text inside of Markdown that we write. */
#include "text/markdown.h"

#include <ctype.h>
#include <string.h>

char *mr_markdown_fence_around(struct mr_arena *arena, const char *text, const char *info)
{
	size_t len = strlen(text);
	size_t longest = 2;
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };

	for (const char *at = strchr(text, '`'); at; at = strchr(at, '`')) {
		size_t run = strspn(at, "`");

		longest = run > longest ? run : longest;
		at += run;
	}
	mr_buf_init(&buf, len + 2 * longest + strlen(info) + 8);
	mr_buf_pad(&buf, '`', longest + 1);
	mr_buf_puts(&buf, info);
	mr_buf_putc(&buf, '\n');
	mr_buf_puts(&buf, text);
	if (len && text[len - 1] != '\n')
		mr_buf_putc(&buf, '\n');
	mr_buf_pad(&buf, '`', longest + 1);
	return mr_arena_strdup(arena, mr_buf_text(&buf));
}

/* Line breaks as spaces, a backslash in front of each character of `special`. */
static char *embed(struct mr_arena *arena, const char *text, const char *special)
{
	char *out = mr_arena_alloc(arena, 2 * strlen(text) + 1);
	char *to = out;

	for (; *text; text++) {
		if (strchr(special, *text))
			*to++ = '\\';
		*to++ = *text == '\r' || *text == '\n' ? ' ' : *text;
	}
	return out;
}

/* Does HTML begin there: a tag, a comment, an instruction? The address in "<ann@x>" does not. */
static bool begins_html(const char *text)
{
	size_t len = 1; /* with the tag's name */

	if (*text != '<')
		return false;
	if (strchr("!?/", text[1]))
		return text[1] != '\0';
	while (isalnum((unsigned char)text[len]) || (len > 1 && text[len] == '-'))
		len++;
	return isalpha((unsigned char)text[1]) && strchr(" \t/>", text[len]); /* or its end */
}

char *mr_markdown_inline(struct mr_arena *arena, const char *text)
{
	char *line = embed(arena, text, "");
	char *out = mr_arena_alloc(arena, 2 * strlen(line) + 1);
	char *to = out;
	bool is_escaped = false;

	for (; *line; line++) {
		if (!is_escaped && (begins_html(line) || mr_str_starts(line, "](")))
			*to++ = '\\';
		is_escaped = *line == '\\' && !is_escaped;
		*to++ = *line;
	}
	return mr_str_trim(arena, out);
}

char *mr_markdown_alt(struct mr_arena *arena, const char *text)
{
	return mr_str_trim(arena, embed(arena, text, "\\[]"));
}

char *mr_markdown_cell(struct mr_arena *arena, const char *text)
{
	return embed(arena, text, "|");
}
