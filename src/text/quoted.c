/* text/quoted.c - quoted history at the end of a mail. */
#include "text/quoted.h"

#include "base/str.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The line at `line` without blanks around it. */
static const char *trim_line(const char *line, size_t *len)
{
	*len = strcspn(line, "\n");
	while (*len && is_blank(*line)) {
		line++;
		--*len;
	}
	while (*len && is_blank(line[*len - 1]))
		--*len;
	return line;
}

static const char *trimmed(struct mr_arena *arena, const char *text, size_t len)
{
	return mr_str_trim(arena, mr_arena_strndup(arena, text, len));
}

/* "On <when>, <who> wrote:" */
static bool read_attribution(struct mr_arena *arena, const char *line, struct mr_quoted *out)
{
	static const char before[] = "On ";
	static const char after[] = " wrote:";
	size_t len;
	const char *comma;

	line = trim_line(line, &len);
	if (len < strlen(before) + strlen(after) - 1 || memcmp(line, before, strlen(before)) != 0 ||
		memcmp(line + len - strlen(after), after, strlen(after)) != 0)
		return false;
	line += strlen(before);
	len = len > strlen(before) + strlen(after) ? len - strlen(before) - strlen(after) : 0;
	comma = memrchr(line, ',', len);
	out->at = trimmed(arena, line, comma ? (size_t)(comma - line) : len);
	out->from = comma ? trimmed(arena, comma + 1, len - (size_t)(comma + 1 - line)) : "";
	return true;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* Where the lines begin that are quoted, all to the end; NULL when the last one is not. */
static const char *find_tail(const char *text)
{
	const char *tail = NULL;

	for (const char *line = text; *line; line = next_line(line)) {
		size_t len;
		const char *start = trim_line(line, &len);

		if (len && *start != '>')
			tail = NULL;
		else if (len && !tail)
			tail = line;
	}
	return tail;
}

void mr_quoted_split(struct mr_arena *arena, const char *text, struct mr_quoted *out)
{
	const char *cut = NULL;
	size_t len;

	*out = (struct mr_quoted){ .at = "", .from = "" };
	for (const char *line = text; *line && !cut; line = next_line(line)) {
		if (read_attribution(arena, line, out))
			cut = line;
	}
	if (!cut)
		cut = find_tail(text);
	out->has_quoted = cut != NULL;
	len = cut ? (size_t)(cut - text) : strlen(text);
	while (len && strchr(" \t\n\r", text[len - 1]))
		len--;
	out->visible = mr_arena_strndup(arena, text, len);
}
