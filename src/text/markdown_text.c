/* text/markdown_text.c - the plain text of text/markdown.h. */
#include "text/markdown.h"

#include "base/utf8.h"
#include "text/markdown_sink.h"

#include <stdio.h>
#include <string.h>

enum {
	PREFIXES = 16, /* quotes and items that show; deeper ones are flat */
	MARKER_BYTES = 24,
	LINKS = 4,         /* open links whose text is remembered */
	READ_PER_BYTE = 8, /* of a long document, per byte of the result */
	READ_AT_LEAST = 4096,
};

/* A quote's "> ", or an item's bullet, which becomes blanks once it is written. */
struct prefix {
	char text[MARKER_BYTES];
	bool is_item;
	bool written;
};

struct plain {
	struct mr_buf buf;
	size_t max;
	bool full;
	size_t breaks; /* newlines due before the next text */
	bool fresh;    /* nothing stands yet behind the last bullet or quote mark */
	bool first_cell;
	struct prefix prefixes[PREFIXES];
	unsigned depth;          /* open quotes and items, also those not in `prefixes` */
	unsigned next[PREFIXES]; /* number of the next item, 0 for bullets, by list */
	unsigned lists;
	size_t link_starts[LINKS];
	unsigned links;
};

static void put_raw(struct plain *p, const char *text, size_t len)
{
	size_t room = p->max - p->buf.len;

	if (len > room) {
		len = mr_utf8_truncate(text, len, room);
		p->full = true;
	}
	mr_buf_add(&p->buf, text, len);
}

static void put_prefixes(struct plain *p)
{
	for (unsigned i = 0; i < p->depth && i < PREFIXES; i++) {
		struct prefix *prefix = &p->prefixes[i];
		size_t len = strlen(prefix->text);

		if (!prefix->is_item || !prefix->written)
			put_raw(p, prefix->text, len);
		else
			put_raw(p, "                        ", len);
		prefix->written = true;
	}
}

/* Everything that shows comes through here, without newlines. */
static void put(struct plain *p, const char *text, size_t len)
{
	if (len == 0 || p->full)
		return;
	if (p->buf.len == 0 || p->breaks > 0) {
		for (; p->buf.len > 0 && p->breaks > 0 && !p->full; p->breaks--)
			put_raw(p, "\n", 1);
		p->breaks = 0;
		put_prefixes(p);
	}
	p->fresh = false;
	put_raw(p, text, len);
}

/* At least `count` newlines before the next text, unless a bullet has just begun its line. */
static void part(struct plain *p, size_t count)
{
	if (!p->fresh && p->breaks < count)
		p->breaks = count;
}

static void open_prefix(struct plain *p, bool is_item, const char *text)
{
	if (p->depth < PREFIXES) {
		struct prefix *prefix = &p->prefixes[p->depth];

		*prefix = (struct prefix){ .is_item = is_item };
		snprintf(prefix->text, sizeof(prefix->text), "%s", text);
	}
	p->depth++;
	p->fresh = true;
}

static void open_item(struct plain *p, const struct mr_markdown_node *node)
{
	static const char *const boxes[] = {
		[MR_TASK_NONE] = "",
		[MR_TASK_OPEN] = "[ ] ",
		[MR_TASK_DONE] = "[x] ",
	};
	char marker[MARKER_BYTES];
	unsigned *next = p->lists > 0 && p->lists <= PREFIXES ? &p->next[p->lists - 1] : NULL;

	part(p, 1);
	if (next && *next)
		snprintf(marker, sizeof(marker), "%u. %s", (*next)++ - 1, boxes[node->task]);
	else
		snprintf(marker, sizeof(marker), "- %s", boxes[node->task]);
	open_prefix(p, true, marker);
}

static void open_list(struct plain *p, const struct mr_markdown_node *node)
{
	part(p, p->lists ? 1 : 2);
	/* One more than the number, so that 0 can mean bullets. */
	if (p->lists < PREFIXES)
		p->next[p->lists] = node->kind == MR_MARKDOWN_NUMBERS ? node->number + 1 : 0;
	p->lists++;
}

static void open_link(struct plain *p)
{
	if (p->links < LINKS)
		p->link_starts[p->links] = p->buf.len;
	p->links++;
}

/* Does the text already say where the link leads? */
static bool is_said(const char *text, size_t len, const char *url)
{
	static const char *const unsaid[] = { "", "mailto:", "http://", "https://" };

	for (size_t i = 0; i < MR_LEN(unsaid); i++) {
		if (mr_str_starts(url, unsaid[i]) && strlen(url + strlen(unsaid[i])) == len &&
			memcmp(url + strlen(unsaid[i]), text, len) == 0)
			return true;
	}
	return false;
}

static void close_link(struct plain *p, const struct mr_markdown_node *node)
{
	const char *said = mr_buf_text(&p->buf);
	size_t len = p->buf.len;

	if (--p->links >= LINKS)
		return;
	said += p->link_starts[p->links];
	len -= p->link_starts[p->links];
	mr_utf8_strip(&said, &len);
	if (node->url[0] == '#' || !mr_markdown_url_is_allowed(node->url) ||
		is_said(said, len, node->url))
		return;
	if (len > 0)
		put(p, " (", 2);
	put(p, node->url, strlen(node->url));
	if (len > 0)
		put(p, ")", 1);
}

static bool enter(void *arg, const struct mr_markdown_node *node)
{
	struct plain *p = arg;

	switch (node->kind) {
	case MR_MARKDOWN_QUOTE:
		part(p, 2);
		open_prefix(p, false, "> ");
		break;
	case MR_MARKDOWN_BULLETS:
	case MR_MARKDOWN_NUMBERS:
		open_list(p, node);
		break;
	case MR_MARKDOWN_ITEM:
		open_item(p, node);
		break;
	case MR_MARKDOWN_RULE:
		part(p, 2);
		put(p, "---", 3);
		break;
	case MR_MARKDOWN_HEADING:
	case MR_MARKDOWN_PARAGRAPH:
	case MR_MARKDOWN_CODE_BLOCK:
	case MR_MARKDOWN_TABLE:
		part(p, 2);
		break;
	case MR_MARKDOWN_ROW:
		part(p, 1);
		p->first_cell = true;
		break;
	case MR_MARKDOWN_HEAD_CELL:
	case MR_MARKDOWN_CELL:
		if (!p->first_cell)
			put(p, " | ", 3);
		p->first_cell = false;
		break;
	case MR_MARKDOWN_LINK:
	case MR_MARKDOWN_IMAGE:
		open_link(p);
		break;
	default:
		break;
	}
	return !p->full;
}

static bool leave(void *arg, const struct mr_markdown_node *node)
{
	struct plain *p = arg;

	switch (node->kind) {
	case MR_MARKDOWN_QUOTE:
		p->depth--;
		p->fresh = false;
		part(p, 2);
		break;
	case MR_MARKDOWN_ITEM:
		p->depth--;
		p->fresh = false;
		break;
	case MR_MARKDOWN_BULLETS:
	case MR_MARKDOWN_NUMBERS:
		p->lists--;
		part(p, p->lists ? 1 : 2);
		break;
	case MR_MARKDOWN_RULE:
	case MR_MARKDOWN_HEADING:
	case MR_MARKDOWN_PARAGRAPH:
	case MR_MARKDOWN_CODE_BLOCK:
	case MR_MARKDOWN_TABLE:
		part(p, 2);
		break;
	case MR_MARKDOWN_LINK:
	case MR_MARKDOWN_IMAGE:
		close_link(p, node);
		break;
	default:
		break;
	}
	return !p->full;
}

/* Code keeps its lines, empty ones too. */
static void put_lines(struct plain *p, const char *bytes, size_t len)
{
	while (len > 0 && !p->full) {
		const char *newline = memchr(bytes, '\n', len);
		size_t n = newline ? (size_t)(newline - bytes) : len;

		put(p, bytes, n);
		if (newline) {
			p->breaks++;
			n++;
		}
		bytes += n;
		len -= n;
	}
}

static bool text(void *arg, enum mr_markdown_piece piece, const char *bytes, size_t len)
{
	struct plain *p = arg;
	char utf8[4];
	uint32_t c;

	switch (piece) {
	case MR_PIECE_TEXT:
	case MR_PIECE_CODE:
		put_lines(p, bytes, len);
		break;
	case MR_PIECE_ENTITY:
		c = mr_markdown_entity_read(bytes, len);
		if (c == '\n' || c == '\t')
			c = ' ';
		if (c)
			put(p, utf8, mr_utf8_put(c, utf8));
		else
			put(p, bytes, len);
		break;
	case MR_PIECE_BREAK:
		part(p, 1);
		break;
	case MR_PIECE_SOFT_BREAK:
		put(p, " ", 1);
		break;
	}
	return !p->full;
}

/* The text as it stands, for what is not parsed. */
static void put_unparsed(struct plain *p, const struct mr_buf *clean)
{
	mr_buf_clear(&p->buf);
	p->full = false;
	put_raw(p, clean->data, clean->len);
}

static char *finish(struct mr_arena *arena, struct plain *p, bool is_cut)
{
	static const char ellipsis[] = "\u2026";
	const char *start = mr_buf_text(&p->buf);
	size_t len = p->buf.len;
	size_t room = sizeof(ellipsis) - 1;

	is_cut = is_cut || p->full;
	if (is_cut && len + room > p->max)
		len = mr_utf8_truncate(start, len, p->max > room ? p->max - room : p->max);
	mr_utf8_strip(&start, &len);
	return mr_arena_printf(arena, "%.*s%s", (int)len, start,
		is_cut && len + room <= p->max ? ellipsis : "");
}

char *mr_markdown_to_text(struct mr_arena *arena, struct mr_bytes md, size_t max)
{
	static const struct mr_markdown_sink sink = { enter, leave, text };
	struct mr_buf clean MR_CLEANUP(mr_buf_release) = { 0 };
	struct plain p = { .max = max };
	size_t read_len = md.len;
	char *out;

	if (max < MR_MARKDOWN_PARSE_BYTES / READ_PER_BYTE &&
		read_len > READ_AT_LEAST + max * READ_PER_BYTE)
		read_len = READ_AT_LEAST + max * READ_PER_BYTE;
	/* Not in the middle of a character. */
	while (read_len < md.len && read_len > 0 && (md.data[read_len] & 0xc0) == 0x80)
		read_len--;
	mr_buf_init(&p.buf, max + 1);
	mr_markdown_clean(&clean, mr_bytes_of(md.data, read_len));
	if (mr_markdown_walk(&clean, &sink, &p) == MR_MARKDOWN_COSTLY)
		put_unparsed(&p, &clean);
	out = finish(arena, &p, read_len < md.len);
	mr_buf_release(&p.buf);
	return out;
}
