/* team/attachment_body.c - Finds the image references in a Markdown body, in linear time. */
#include "team/attachment_body.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	ALT_BYTES = 500, /* what is longer is text that happens to begin like a picture */
	TITLE_BYTES = 500,
	PATH_BYTES = 1024,
	TICKS = 64, /* backquotes in a row that can open code */
	CODE_INDENT = 4,
	FENCE = 3,
};

struct scan {
	struct mr_arena *arena;
	const char *text;
	size_t len;
	struct mr_team_body_images *out;
	size_t max;
	/* From where to where no data: URI ends: nobody looks twice. */
	size_t open_from, open_to;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_space(char c)
{
	return is_blank(c) || c == '\n' || c == '\r';
}

static size_t skip_spaces(const struct scan *s, size_t i, size_t end)
{
	while (i < end && is_space(s->text[i]))
		i++;
	return i;
}

/* A backslash takes the meaning of what follows, when that is punctuation. */
static bool is_escape(const struct scan *s, size_t i, size_t end)
{
	return s->text[i] == '\\' && i + 1 < end && ispunct((unsigned char)s->text[i + 1]);
}

/* After the bracket that ends the alternative text, or 0. */
static size_t pass_alt(const struct scan *s, size_t i, size_t end)
{
	unsigned depth = 1;

	if (end - i > ALT_BYTES)
		end = i + ALT_BYTES;
	for (; i < end; i++) {
		if (is_escape(s, i, end))
			i++;
		else if (s->text[i] == '[')
			depth++;
		else if (s->text[i] == ']' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* After the title, if one stands there, or 0 when it does not end. */
static size_t pass_title(const struct scan *s, size_t i, size_t end)
{
	char quote = s->text[i];

	if (quote != '"' && quote != '\'' && quote != '(')
		return i;
	if (quote == '(')
		quote = ')';
	if (end - i > TITLE_BYTES)
		end = i + TITLE_BYTES;
	for (i++; i < end; i++) {
		if (is_escape(s, i, end))
			i++;
		else if (s->text[i] == quote)
			return i + 1;
	}
	return 0;
}

/* The end of a destination without brackets, or 0. Parentheses in it come in pairs. */
static size_t pass_bare(const struct scan *s, size_t i, size_t end)
{
	unsigned depth = 0;

	if (end - i > PATH_BYTES)
		end = i + PATH_BYTES;
	for (; i < end; i++) {
		char c = s->text[i];

		if (is_escape(s, i, end))
			i++;
		else if (is_space(c) || (unsigned char)c < ' ' || (c == ')' && depth == 0))
			return i;
		else if (c == '(')
			depth++;
		else if (c == ')')
			depth--;
	}
	return 0;
}

/* The end of a data: URI, which may be as long as the body, or 0. */
static size_t pass_data(struct scan *s, size_t i, size_t end)
{
	size_t from = i;

	if (i >= s->open_from && i < s->open_to)
		return 0;
	while (i < end && s->text[i] != ')' && !is_space(s->text[i]))
		i++;
	if (i < end)
		return i;
	s->open_from = from;
	s->open_to = end;
	return 0;
}

static size_t pass_bracketed(const struct scan *s, size_t i, size_t end)
{
	if (end - i > PATH_BYTES)
		end = i + PATH_BYTES;
	for (i++; i < end && s->text[i] != '\n' && s->text[i] != '<'; i++) {
		if (is_escape(s, i, end))
			i++;
		else if (s->text[i] == '>')
			return i + 1;
	}
	return 0;
}

static const char *meaning(const struct scan *s, size_t at, size_t end)
{
	char *path = mr_arena_alloc(s->arena, end - at + 1);
	size_t len = 0;

	if (s->text[at] == '<') {
		at++;
		end--;
	}
	for (size_t i = at; i < end; i++) {
		if (is_escape(s, i, end))
			i++;
		path[len++] = s->text[i];
	}
	return path;
}

/* Does it name a file? Not https:, //host, #part. */
static bool is_path(const char *path)
{
	const char *at = path;

	while (isalnum((unsigned char)*at) || (*at && strchr("+.-", *at)))
		at++;
	if (*at == ':' && at - path > 1)
		return false;
	return *path && *path != '#' && !mr_str_starts(path, "//");
}

/* "data:image/png;base64,..." is of image/png; one that does not say is what we would make. */
static const char *media_type_of(const struct scan *s, size_t at, size_t end)
{
	size_t from = at + strlen("data:"), to = from;

	while (to < end && to - from < 100 && s->text[to] != ';' && s->text[to] != ',')
		to++;
	return to > from ? mr_arena_strndup(s->arena, s->text + from, to - from) : "image/webp";
}

static void found(struct scan *s, const struct mr_team_body_image *image)
{
	if (s->out->len == s->max)
		s->out->more = true;
	else
		s->out->items[s->out->len++] = *image;
}

/* At "![": note the picture. Returns where to go on. */
static size_t try_image(struct scan *s, size_t start, size_t end)
{
	size_t i = pass_alt(s, start + 2, end), at;
	bool is_data;
	struct mr_team_body_image image;

	if (!i || i >= end || s->text[i] != '(')
		return start + 2;
	at = skip_spaces(s, i + 1, end);
	if (at >= end)
		return start + 2;
	is_data = end - at > 5 && strncasecmp(s->text + at, "data:", 5) == 0;
	if (is_data)
		i = pass_data(s, at, end);
	else if (s->text[at] == '<')
		i = pass_bracketed(s, at, end);
	else
		i = pass_bare(s, at, end);
	if (!i || i == at)
		return start + 2;
	image = (struct mr_team_body_image){ .at = at, .end = i };
	i = skip_spaces(s, i, end);
	if (i < end && i > image.end)
		i = pass_title(s, i, end);
	i = i ? skip_spaces(s, i, end) : end;
	if (i >= end || s->text[i] != ')')
		return start + 2;
	if (is_data)
		image.media_type = media_type_of(s, image.at, image.end);
	else
		image.path = meaning(s, image.at, image.end);
	if (is_data || is_path(image.path))
		found(s, &image);
	return i + 1;
}

static size_t run_of(const struct scan *s, size_t i, size_t end)
{
	size_t from = i;

	while (i < end && s->text[i] == s->text[from])
		i++;
	return i - from;
}

/* Where the last run of each length stands, so that no run is looked for in vain. */
static void find_last_runs(const struct scan *s, size_t i, size_t end, size_t last[TICKS + 1])
{
	memset(last, 0, (TICKS + 1) * sizeof(*last));
	while (i < end) {
		size_t run = s->text[i] == '`' ? run_of(s, i, end) : 1;

		if (s->text[i] == '`' && run <= TICKS)
			last[run] = i;
		i += run;
	}
}

/* At a run of backquotes: after the code it opens, or after the run itself. */
static size_t pass_code(const struct scan *s, size_t i, size_t end, const size_t last[TICKS + 1])
{
	size_t run = run_of(s, i, end), after = i + run;

	if (run > TICKS || last[run] <= i)
		return after;
	for (i = after; i < end;) {
		size_t other = s->text[i] == '`' ? run_of(s, i, end) : 0;

		if (other == run)
			return i + run;
		i += other ? other : 1;
	}
	return after;
}

static void scan_paragraph(struct scan *s, size_t i, size_t end)
{
	size_t last[TICKS + 1];
	bool looked = false;

	while (i < end) {
		char c = s->text[i];

		if (c == '`') {
			if (!looked)
				find_last_runs(s, i, end, last);
			looked = true;
			i = pass_code(s, i, end, last);
		} else if (is_escape(s, i, end)) {
			i += 2;
		} else if (c == '!' && i + 1 < end && s->text[i + 1] == '[') {
			i = try_image(s, i, end);
		} else {
			i++;
		}
	}
}

/* Blocks: only as much of them as tells code from text. */
struct blocks {
	size_t from;   /* of the paragraph being read, or where the next one may begin */
	bool open;     /* a paragraph is */
	bool in_list;  /* deep indents belong to an item */
	char fence;    /* '`' or '~' inside a fenced block, else 0 */
	size_t ticks;  /* of its opening */
	unsigned deep; /* quotes around it */
};

struct line {
	size_t at, end;  /* after quote marks and indent, without the line's end */
	unsigned quotes; /* marks in front */
	size_t indent;
};

static void indent_of(const struct scan *s, struct line *line)
{
	line->indent = 0;
	while (line->at < line->end && is_blank(s->text[line->at])) {
		line->indent +=
			s->text[line->at] == '\t' ? CODE_INDENT - line->indent % CODE_INDENT : 1;
		line->at++;
	}
}

static struct line line_at(const struct scan *s, size_t from, size_t end)
{
	struct line line = { .at = from, .end = end };

	while (line.end > from && is_space(s->text[line.end - 1]))
		line.end--;
	indent_of(s, &line);
	while (line.indent < CODE_INDENT && line.at < line.end && s->text[line.at] == '>') {
		line.at++;
		line.quotes++;
		if (line.at < line.end && s->text[line.at] == ' ')
			line.at++;
		indent_of(s, &line);
	}
	return line;
}

/* After "- ", "* ", "+ ", "1. " or "2) ", or where it was. */
static size_t pass_marker(const struct scan *s, const struct line *line)
{
	size_t i = line->at;

	if (i < line->end && strchr("-*+", s->text[i])) {
		i++;
	} else {
		while (i < line->end && isdigit((unsigned char)s->text[i]) && i - line->at < 9)
			i++;
		if (i == line->at || i >= line->end || !strchr(".)", s->text[i]))
			return line->at;
		i++;
	}
	if (i < line->end && !is_blank(s->text[i]))
		return line->at;
	while (i < line->end && is_blank(s->text[i]))
		i++;
	return i;
}

static bool opens_fence(const struct scan *s, size_t at, size_t end, struct blocks *b,
	unsigned quotes)
{
	size_t run;

	if (at >= end || (s->text[at] != '`' && s->text[at] != '~'))
		return false;
	run = run_of(s, at, end);
	if (run < FENCE || (s->text[at] == '`' && memchr(s->text + at + run, '`', end - at - run)))
		return false;
	b->fence = s->text[at];
	b->ticks = run;
	b->deep = quotes;
	return true;
}

static bool closes_fence(const struct scan *s, const struct line *line, const struct blocks *b)
{
	size_t run;

	if (line->at >= line->end || s->text[line->at] != b->fence)
		return false;
	run = run_of(s, line->at, line->end);
	return run >= b->ticks && line->at + run == line->end;
}

static void end_paragraph(struct scan *s, struct blocks *b, size_t at)
{
	if (b->open)
		scan_paragraph(s, b->from, at);
	b->open = false;
}

static void read_line(struct scan *s, struct blocks *b, size_t from, size_t end)
{
	struct line line = line_at(s, from, end);
	size_t after;

	if (b->fence && line.quotes >= b->deep) {
		if (closes_fence(s, &line, b))
			b->fence = 0;
		return;
	}
	b->fence = 0;
	if (line.at >= line.end) {
		end_paragraph(s, b, from);
		return;
	}
	if (line.indent >= CODE_INDENT && !b->open && !b->in_list)
		return;
	after = pass_marker(s, &line);
	if (after > line.at)
		b->in_list = true;
	else if (line.indent == 0 && !b->open)
		b->in_list = false;
	if ((line.indent < CODE_INDENT || b->in_list) &&
		opens_fence(s, after, line.end, b, line.quotes)) {
		end_paragraph(s, b, from);
		return;
	}
	if (after > line.at || s->text[line.at] == '#')
		end_paragraph(s, b, from);
	if (!b->open) {
		b->open = true;
		b->from = from;
	}
}

void mr_team_body_images(struct mr_arena *arena, struct mr_bytes body, size_t max,
	struct mr_team_body_images *out)
{
	struct scan s = { .arena = arena,
		.text = (const char *)body.data,
		.len = body.len,
		.out = out,
		.max = max };
	struct blocks b = { 0 };

	*out = (struct mr_team_body_images){ mr_arena_array(arena, max, sizeof(*out->items)), 0,
		false };
	for (size_t from = 0; from < s.len;) {
		const char *newline = memchr(s.text + from, '\n', s.len - from);
		size_t end = newline ? (size_t)(newline - s.text) + 1 : s.len;

		read_line(&s, &b, from, end);
		from = end;
	}
	end_paragraph(&s, &b, s.len);
}
