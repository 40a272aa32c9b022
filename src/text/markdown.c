/* text/markdown.c - the walk through a document; the only file that knows md4c. */
#include "text/markdown.h"

#include "base/utf8.h"
#include "text/markdown_sink.h"

#include <md4c.h>

#include <string.h>
#include <strings.h>

enum {
	/* md4c 0.4.8 reads a few bytes past the end of some inputs: it gets some to read. */
	PADDING = 64,
	/*
	 * What a document may cost, in steps of about a nanosecond. Parsing is linear but for the
	 * shapes weighed here, which reach a second with 40 KB.
	 */
	WEIGHT_MAX = 250 * 1000 * 1000,
	BRACKET_WEIGHT = 5,
	/* What it may make the renderer do: fixed room, and a share for every byte. */
	WORK_BASE = 1024 * 1024,
	WORK_PER_BYTE = 64,
	WORK_PER_CALL = 16,
};

struct walk {
	const struct mr_markdown_sink *sink;
	void *arg;
	struct mr_buf
		open; /* kinds of what is entered and not left, a byte each, outermost first */
	size_t work_left;
	bool costly;
	struct mr_buf first;  /* a decoded attribute */
	struct mr_buf second; /* another */
};

/* Cleaning */

static bool is_text(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n' || c == '\r';
	return c < 0x7f || c > 0x9f;
}

void mr_markdown_clean(struct mr_buf *out, struct mr_bytes md)
{
	const char *text = (const char *)md.data;
	size_t left = md.len;

	/* U+FFFD is three bytes, for one that is bad. */
	mr_buf_init(out, md.len * 3 + 1 + PADDING);
	while (left > 0) {
		size_t run = 0;
		uint32_t c;
		size_t n = 0;

		while (run < left && (text[run] >= 0x20 || text[run] == '\n') && text[run] < 0x7f)
			run++;
		mr_buf_add(out, text, run);
		text += run;
		left -= run;
		if (left == 0)
			break;
		n = mr_utf8_next(text, left, &c);
		mr_buf_put_utf8(out, n && is_text(c) ? c : 0xfffd);
		n = n ? n : 1;
		text += n;
		left -= n;
	}
	mr_buf_putc(out, '\n');
}

/* Weighing */

/* How many quotes and list items one line can open. */
static size_t prefix_depth(const char *line, size_t len)
{
	size_t depth = 0;

	for (size_t i = 0; i < len && line[i] && strchr(" \t>-+*.)0123456789", line[i]); i++) {
		bool ends_marker = line[i] == ' ' && i > 0 && !strchr(" >", line[i - 1]);

		depth += line[i] == '>' || ends_marker;
	}
	return depth;
}

static bool starts_address(const char *at, const char *end)
{
	return (*at == ':' && end - at >= 3 && at[1] == '/' && at[2] == '/') ||
		(*at == 'w' && end - at >= 4 && memcmp(at, "www.", 4) == 0);
}

/*
 * Three shapes cost more than their length, and more than their product is not possible: brackets
 * in brackets when a label could be one of them; links in a paragraph of many lines; lines below
 * many open quotes and lists. A paragraph ends at an empty line at the latest.
 */
static bool is_too_heavy(const char *text, size_t len)
{
	const char *end = text + len;
	bool has_labels = memmem(text, len, "]:", 2) != NULL;
	uint64_t weight = 0;
	uint64_t nesting = 0;
	uint64_t lines = 0;
	uint64_t links = 0;
	uint64_t deepest = 0;

	while (text < end && weight <= WEIGHT_MAX) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		const char *at = text + strspn(text, " \t\r");
		size_t depth = prefix_depth(text, (size_t)(stop - text));

		if (at >= stop) {
			weight += lines * links / 2;
			nesting = lines = links = 0;
		}
		deepest = depth > deepest ? depth : deepest;
		weight += deepest;
		lines++;
		for (; at < stop; at++) {
			nesting += *at == '[';
			nesting -= *at == ']' && nesting > 0;
			weight += has_labels ? nesting * BRACKET_WEIGHT : 0;
			links += *at == '[' || starts_address(at, stop);
		}
		text = stop + 1;
	}
	return weight + lines * links / 2 > WEIGHT_MAX;
}

/* Entities */

uint32_t mr_markdown_entity_read(const char *entity, size_t len)
{
	static const struct {
		const char *name;
		uint32_t c;
	} table[] = {
		{ "amp", '&' },
		{ "lt", '<' },
		{ "gt", '>' },
		{ "quot", '"' },
		{ "apos", '\'' },
		{ "nbsp", 0xa0 },
		{ "copy", 0xa9 },
		{ "reg", 0xae },
		{ "trade", 0x2122 },
		{ "deg", 0xb0 },
		{ "plusmn", 0xb1 },
		{ "middot", 0xb7 },
		{ "laquo", 0xab },
		{ "raquo", 0xbb },
		{ "frac12", 0xbd },
		{ "times", 0xd7 },
		{ "divide", 0xf7 },
		{ "sect", 0xa7 },
		{ "para", 0xb6 },
		{ "cent", 0xa2 },
		{ "pound", 0xa3 },
		{ "yen", 0xa5 },
		{ "euro", 0x20ac },
		{ "ndash", 0x2013 },
		{ "mdash", 0x2014 },
		{ "lsquo", 0x2018 },
		{ "rsquo", 0x2019 },
		{ "ldquo", 0x201c },
		{ "rdquo", 0x201d },
		{ "bull", 0x2022 },
		{ "hellip", 0x2026 },
		{ "larr", 0x2190 },
		{ "rarr", 0x2192 },
		{ "uarr", 0x2191 },
		{ "darr", 0x2193 },
		{ "ne", 0x2260 },
		{ "le", 0x2264 },
		{ "ge", 0x2265 },
		{ "infin", 0x221e },
		{ "shy", 0xad },
		{ "colon", ':' },
		{ "sol", '/' },
		{ "num", '#' },
		{ "Tab", '\t' },
		{ "NewLine", '\n' },
		{ "lpar", '(' },
		{ "rpar", ')' },
		{ "agrave", 0xe0 },
		{ "auml", 0xe4 },
		{ "Auml", 0xc4 },
		{ "ccedil", 0xe7 },
		{ "eacute", 0xe9 },
		{ "egrave", 0xe8 },
		{ "ouml", 0xf6 },
		{ "Ouml", 0xd6 },
		{ "szlig", 0xdf },
		{ "uuml", 0xfc },
		{ "Uuml", 0xdc },
		{ "ntilde", 0xf1 },
		{ "alpha", 0x3b1 },
		{ "beta", 0x3b2 },
		{ "lambda", 0x3bb },
		{ "mu", 0x3bc },
		{ "pi", 0x3c0 },
		{ "check", 0x2713 },
	};

	for (size_t i = 0; i < MR_LEN(table); i++) {
		if (len == strlen(table[i].name) + 2 &&
			memcmp(entity + 1, table[i].name, len - 2) == 0)
			return table[i].c;
	}
	return 0;
}

/* "&#106;" or "&#x6A;": at most seven digits, by the parser. What is not text is U+FFFD. */
static uint32_t read_numeric(const char *entity, size_t len)
{
	bool hex = entity[2] == 'x' || entity[2] == 'X';
	uint32_t c = 0;

	for (size_t i = hex ? 3 : 2; i < len && entity[i] != ';' && c <= 0x10ffff; i++) {
		char d = entity[i];

		c = c * (hex ? 16 : 10) + (uint32_t)(d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || !is_text(c))
		return 0xfffd;
	return c;
}

static bool is_numeric(const char *entity, size_t len)
{
	return len > 3 && entity[1] == '#';
}

/* The attribute as a browser would read it. */
static const char *decode(struct walk *walk, struct mr_buf *buf, const MD_ATTRIBUTE *attribute)
{
	mr_buf_clear(buf);
	if (!attribute->text || attribute->size == 0)
		return "";
	if (attribute->size > walk->work_left) {
		walk->costly = true;
		return "";
	}
	walk->work_left -= attribute->size;
	for (size_t i = 0; attribute->substr_offsets[i] < attribute->size; i++) {
		const char *part = attribute->text + attribute->substr_offsets[i];
		size_t len = attribute->substr_offsets[i + 1] - attribute->substr_offsets[i];
		uint32_t c = 0;

		if (attribute->substr_types[i] == MD_TEXT_ENTITY)
			c = is_numeric(part, len) ? read_numeric(part, len)
						  : mr_markdown_entity_read(part, len);
		if (c)
			mr_buf_put_utf8(buf, c);
		else
			mr_buf_add(buf, part, len);
	}
	return mr_buf_text(buf);
}

/* From md4c's words to ours */

static enum mr_markdown_kind block_kind(MD_BLOCKTYPE type)
{
	switch (type) {
	case MD_BLOCK_QUOTE:
		return MR_MARKDOWN_QUOTE;
	case MD_BLOCK_UL:
		return MR_MARKDOWN_BULLETS;
	case MD_BLOCK_OL:
		return MR_MARKDOWN_NUMBERS;
	case MD_BLOCK_LI:
		return MR_MARKDOWN_ITEM;
	case MD_BLOCK_HR:
		return MR_MARKDOWN_RULE;
	case MD_BLOCK_H:
		return MR_MARKDOWN_HEADING;
	case MD_BLOCK_CODE:
		return MR_MARKDOWN_CODE_BLOCK;
	case MD_BLOCK_P:
		return MR_MARKDOWN_PARAGRAPH;
	case MD_BLOCK_TABLE:
		return MR_MARKDOWN_TABLE;
	case MD_BLOCK_THEAD:
		return MR_MARKDOWN_TABLE_HEAD;
	case MD_BLOCK_TBODY:
		return MR_MARKDOWN_TABLE_BODY;
	case MD_BLOCK_TR:
		return MR_MARKDOWN_ROW;
	case MD_BLOCK_TH:
		return MR_MARKDOWN_HEAD_CELL;
	case MD_BLOCK_TD:
		return MR_MARKDOWN_CELL;
	case MD_BLOCK_DOC:
	case MD_BLOCK_HTML:
		break;
	}
	return MR_MARKDOWN_OTHER;
}

static enum mr_markdown_kind span_kind(MD_SPANTYPE type)
{
	switch (type) {
	case MD_SPAN_EM:
		return MR_MARKDOWN_EMPHASIS;
	case MD_SPAN_STRONG:
		return MR_MARKDOWN_STRONG;
	case MD_SPAN_DEL:
		return MR_MARKDOWN_STRIKE;
	case MD_SPAN_CODE:
		return MR_MARKDOWN_CODE;
	case MD_SPAN_A:
		return MR_MARKDOWN_LINK;
	case MD_SPAN_IMG:
		return MR_MARKDOWN_IMAGE;
	default:
		return MR_MARKDOWN_OTHER;
	}
}

static enum mr_markdown_align cell_align(MD_ALIGN align)
{
	switch (align) {
	case MD_ALIGN_LEFT:
		return MR_ALIGN_LEFT;
	case MD_ALIGN_CENTER:
		return MR_ALIGN_CENTER;
	case MD_ALIGN_RIGHT:
		return MR_ALIGN_RIGHT;
	case MD_ALIGN_DEFAULT:
		break;
	}
	return MR_ALIGN_NONE;
}

static struct mr_markdown_node block_node(struct walk *walk, MD_BLOCKTYPE type, const void *detail)
{
	struct mr_markdown_node node = { .kind = block_kind(type),
		.lang = "",
		.url = "",
		.title = "" };

	if (type == MD_BLOCK_H) {
		node.number = ((const MD_BLOCK_H_DETAIL *)detail)->level;
	} else if (type == MD_BLOCK_OL) {
		node.number = ((const MD_BLOCK_OL_DETAIL *)detail)->start;
	} else if (type == MD_BLOCK_CODE) {
		node.lang =
			decode(walk, &walk->first, &((const MD_BLOCK_CODE_DETAIL *)detail)->lang);
	} else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
		node.align = cell_align(((const MD_BLOCK_TD_DETAIL *)detail)->align);
	} else if (type == MD_BLOCK_LI) {
		const MD_BLOCK_LI_DETAIL *item = detail;

		if (item->is_task)
			node.task = item->task_mark == ' ' ? MR_TASK_OPEN : MR_TASK_DONE;
	}
	return node;
}

static struct mr_markdown_node span_node(struct walk *walk, MD_SPANTYPE type, const void *detail)
{
	struct mr_markdown_node node = { .kind = span_kind(type),
		.lang = "",
		.url = "",
		.title = "" };

	if (type == MD_SPAN_A) {
		const MD_SPAN_A_DETAIL *link = detail;

		node.url = decode(walk, &walk->first, &link->href);
		node.title = decode(walk, &walk->second, &link->title);
	} else if (type == MD_SPAN_IMG) {
		const MD_SPAN_IMG_DETAIL *image = detail;

		node.url = decode(walk, &walk->first, &image->src);
		node.title = decode(walk, &walk->second, &image->title);
	}
	return node;
}

/* Every call has its price, so that a short text cannot make a long one. Nonzero stops md4c. */
static int pay(struct walk *walk)
{
	if (walk->work_left < WORK_PER_CALL)
		walk->costly = true;
	else
		walk->work_left -= WORK_PER_CALL;
	return walk->costly;
}

static bool is_block(enum mr_markdown_kind kind)
{
	return kind < MR_MARKDOWN_EMPHASIS || kind == MR_MARKDOWN_OTHER;
}

static int enter(struct walk *walk, const struct mr_markdown_node *node)
{
	if (pay(walk))
		return 1;
	mr_buf_putc(&walk->open, (char)node->kind);
	return !walk->sink->enter(walk->arg, node);
}

/* How many to leave so that the innermost `kind` is left too; 0 when none is open in this block. */
static size_t distance_to(struct walk *walk, enum mr_markdown_kind kind)
{
	for (size_t n = 1; n <= walk->open.len; n++) {
		enum mr_markdown_kind open =
			(enum mr_markdown_kind)walk->open.data[walk->open.len - n];

		if (open == kind)
			return n;
		if (pay(walk) || (is_block(open) && !is_block(kind)))
			break;
	}
	return 0;
}

/*
 * md4c 0.4.8 can cross spans (a link that begins in a strike and ends behind it) and leave the same
 * one twice or never. The renderers see them in order.
 */
static int leave(struct walk *walk, const struct mr_markdown_node *node)
{
	size_t distance = distance_to(walk, node->kind);

	if (pay(walk))
		return 1;
	for (; distance > 0; distance--) {
		const struct mr_markdown_node crossed = {
			.kind = (enum mr_markdown_kind)walk->open.data[--walk->open.len],
			.lang = "",
			.url = "",
			.title = "",
		};

		if (!walk->sink->leave(walk->arg, distance == 1 ? node : &crossed))
			return 1;
	}
	return 0;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
	struct mr_markdown_node node = block_node(arg, type, detail);

	return enter(arg, &node);
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
	struct mr_markdown_node node = block_node(arg, type, detail);

	return leave(arg, &node);
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
	struct mr_markdown_node node = span_node(arg, type, detail);

	return enter(arg, &node);
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
	struct mr_markdown_node node = span_node(arg, type, detail);

	return leave(arg, &node);
}

static bool put_entity(struct walk *walk, const char *text, size_t len)
{
	char utf8[4];

	if (!is_numeric(text, len))
		return walk->sink->text(walk->arg, MR_PIECE_ENTITY, text, len);
	return walk->sink->text(walk->arg, MR_PIECE_TEXT, utf8,
		mr_utf8_put(read_numeric(text, len), utf8));
}

static int put_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE len, void *arg)
{
	struct walk *walk = arg;

	if (pay(walk))
		return 1;
	switch (type) {
	case MD_TEXT_BR:
		return !walk->sink->text(walk->arg, MR_PIECE_BREAK, "\n", 1);
	case MD_TEXT_SOFTBR:
		return !walk->sink->text(walk->arg, MR_PIECE_SOFT_BREAK, "\n", 1);
	case MD_TEXT_ENTITY:
		return !put_entity(walk, text, len);
	case MD_TEXT_CODE:
		return !walk->sink->text(walk->arg, MR_PIECE_CODE, text, len);
	default:
		return !walk->sink->text(walk->arg, MR_PIECE_TEXT, text, len);
	}
}

enum mr_markdown_end mr_markdown_walk(struct mr_buf *clean, const struct mr_markdown_sink *sink,
	void *arg)
{
	static const MD_PARSER parser = {
		.flags = MD_DIALECT_GITHUB | MD_FLAG_NOHTML,
		.enter_block = enter_block,
		.leave_block = leave_block,
		.enter_span = enter_span,
		.leave_span = leave_span,
		.text = put_text,
	};
	struct walk walk = { .sink = sink, .arg = arg };
	size_t len = clean->len;
	int rc;

	if (len > MR_MARKDOWN_PARSE_BYTES || is_too_heavy(clean->data, len))
		return MR_MARKDOWN_COSTLY;
	mr_buf_pad(clean, '\0', PADDING);
	walk.work_left = WORK_BASE + len * WORK_PER_BYTE;
	/* Every entry was paid for. */
	mr_buf_init(&walk.open, walk.work_left / WORK_PER_CALL + 1);
	mr_buf_init(&walk.first, walk.work_left);
	mr_buf_init(&walk.second, walk.work_left);
	rc = md_parse(clean->data, (MD_SIZE)len, &parser, &walk);
	mr_buf_release(&walk.open);
	mr_buf_release(&walk.first);
	mr_buf_release(&walk.second);
	clean->len = len;
	/* Below zero md4c ran out of memory. */
	if (walk.costly || rc < 0)
		return MR_MARKDOWN_COSTLY;
	return rc ? MR_MARKDOWN_STOPPED : MR_MARKDOWN_DONE;
}

/* Links */

bool mr_markdown_url_is_allowed(const char *url)
{
	static const char *const starts[] = { "https://", "http://", "mailto:" };

	/* Browsers drop control characters before they look, so a scheme can hide behind one. */
	for (const char *at = url; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return false;
	}
	if (url[0] == '#')
		return true;
	if (url[0] == '/')
		return url[1] != '/' && url[1] != '\\';
	for (size_t i = 0; i < MR_LEN(starts); i++) {
		if (strncasecmp(url, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}
