/* text/html.c - HTML to text and Markdown, by libxml2's parser, without a tree. */
#include "text/html.h"

#include "base/buf.h"
#include "base/library.h"
#include "base/utf8.h"

#include <ctype.h>
#include <libxml/HTMLparser.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

enum {
	HTML_BYTES = 4 << 20, /* what is beyond is not read */
	URL_BYTES = 4096,     /* a longer address is left out */
	TAG_BLANKS = 2000,    /* blanks in one tag: the parser compares each attribute with all */
	LEVELS = 8,           /* of lists and quotes that are shown */
};

struct level {
	bool is_ordered;
	size_t number;
};

/* --- the library --- */

/*
 * The library brings ICU along, and loading both takes longer than many commands do. So it is
 * loaded when the first HTML is read, and then stays.
 */
#define FUNCTIONS(X)                                                                               \
	X(htmlNewParserCtxt)                                                                       \
	X(htmlFreeParserCtxt)                                                                      \
	X(htmlCtxtReadMemory)                                                                      \
	X(xmlFreeDoc)                                                                              \
	X(xmlStopParser)                                                                           \
	X(xmlInitParser)

struct parser {
#define MEMBER(name) __typeof__ (&(name))(name);
	FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct mr_library_function functions[] = {
#define ENTRY(name) { #name, offsetof(struct parser, name) },
	FUNCTIONS(ENTRY)
#undef ENTRY
};

static struct parser library;
static bool is_loaded;

static void start_library(void)
{
	static const struct mr_library file = { "reading HTML", "libxml2.so.2", "libxml2",
		functions, MR_LEN(functions) };
	struct mr_err ignored = { 0 };

	is_loaded = mr_library_load(&file, &library, &ignored) == MR_OK;
	if (is_loaded)
		library.xmlInitParser();
}

static bool can_parse(void)
{
	static pthread_once_t started = PTHREAD_ONCE_INIT;

	pthread_once(&started, start_library);
	return is_loaded;
}

struct walk {
	htmlParserCtxtPtr parser;
	struct mr_buf out;
	size_t max;
	bool is_markdown;
	size_t depth;
	size_t hidden; /* open elements whose content is not shown */
	size_t pre;    /* open elements that keep their white space */
	/* What parts the next text from the last one. */
	unsigned lines;
	bool has_cell, has_space;
	const char *marker; /* of a heading or a list item, for its first text */
	char number[16];
	bool at_line_start; /* nothing but digits stands in the line */
	size_t quotes;
	struct level lists[LEVELS];
	size_t list_count; /* may be more than LEVELS */
	char link[URL_BYTES + 1];
	bool in_link, has_link_text;
	size_t link_from; /* where its text begins */
};

/* What an element is to the text. */
enum kind {
	BLOCK = 1,
	PARAGRAPH,
	CELL,
	HIDDEN,
	LINE,
	RULE,
	LINK,
	IMAGE,
	HEADING,
	ITEM,
	LIST,
	QUOTE,
	PRE
};

static const struct element {
	const char *name;
	enum kind kind;
} elements[] = {
	{ "a", LINK },
	{ "address", BLOCK },
	{ "article", BLOCK },
	{ "aside", BLOCK },
	{ "blockquote", QUOTE },
	{ "br", LINE },
	{ "caption", BLOCK },
	{ "center", BLOCK },
	{ "dd", BLOCK },
	{ "details", BLOCK },
	{ "dir", LIST },
	{ "div", BLOCK },
	{ "dl", PARAGRAPH },
	{ "dt", BLOCK },
	{ "fieldset", BLOCK },
	{ "figcaption", BLOCK },
	{ "figure", BLOCK },
	{ "footer", BLOCK },
	{ "form", BLOCK },
	{ "h1", HEADING },
	{ "h2", HEADING },
	{ "h3", HEADING },
	{ "h4", HEADING },
	{ "h5", HEADING },
	{ "h6", HEADING },
	{ "header", BLOCK },
	{ "hr", RULE },
	{ "img", IMAGE },
	{ "legend", BLOCK },
	{ "li", ITEM },
	{ "main", BLOCK },
	{ "menu", LIST },
	{ "nav", BLOCK },
	{ "ol", LIST },
	{ "option", BLOCK },
	{ "p", PARAGRAPH },
	{ "pre", PRE },
	{ "script", HIDDEN },
	{ "section", BLOCK },
	{ "style", HIDDEN },
	{ "summary", BLOCK },
	{ "table", PARAGRAPH },
	{ "tbody", BLOCK },
	{ "td", CELL },
	{ "template", HIDDEN },
	{ "tfoot", BLOCK },
	{ "th", CELL },
	{ "thead", BLOCK },
	{ "title", HIDDEN },
	{ "tr", BLOCK },
	{ "ul", LIST },
};

static enum kind kind_of(const char *name)
{
	size_t from = 0;
	size_t to = MR_LEN(elements);

	while (from < to) {
		size_t mid = (from + to) / 2;
		int order = strcasecmp(name, elements[mid].name);

		if (order == 0)
			return elements[mid].kind;
		if (order < 0)
			to = mid;
		else
			from = mid + 1;
	}
	return 0;
}

/* Writing */

static void need_lines(struct walk *w, unsigned lines)
{
	if (lines > w->lines)
		w->lines = lines;
}

/* A paragraph is set apart in Markdown only; in text each block is a line. */
static void need_block(struct walk *w, bool is_paragraph)
{
	need_lines(w, w->is_markdown && is_paragraph && w->list_count == 0 ? 2 : 1);
}

static void begin_line(struct walk *w)
{
	size_t quotes = w->quotes < LEVELS ? w->quotes : LEVELS;
	size_t levels = w->list_count < LEVELS ? w->list_count : LEVELS;

	w->at_line_start = true;
	if (!w->is_markdown)
		return;
	for (size_t i = 0; i < quotes; i++)
		mr_buf_puts(&w->out, "> ");
	levels -= levels && w->marker;
	for (size_t i = 0; i < levels; i++)
		mr_buf_pad(&w->out, ' ', w->lists[i].is_ordered ? 4 : 2);
	if (w->marker)
		mr_buf_puts(&w->out, w->marker);
	w->marker = NULL;
}

/* In front of text: what parts it from the text before. */
static void part(struct walk *w)
{
	bool is_joined = w->is_markdown && w->in_link && w->has_link_text;

	if (w->out.len == 0) {
		begin_line(w);
	} else if (w->lines && !is_joined) {
		for (unsigned i = 1; i < w->lines; i++)
			mr_buf_puts(&w->out, w->is_markdown && w->quotes ? "\n>" : "\n");
		mr_buf_putc(&w->out, '\n');
		begin_line(w);
	} else if (w->has_cell) {
		mr_buf_puts(&w->out, w->is_markdown ? " \\| " : "\t");
	} else if (w->has_space || w->lines) {
		mr_buf_putc(&w->out, ' ');
	}
	w->lines = 0;
	w->has_cell = w->has_space = false;
	if (w->in_link && !w->has_link_text) {
		if (w->is_markdown)
			mr_buf_putc(&w->out, '[');
		w->has_link_text = true;
		w->link_from = w->out.len;
	}
}

static bool needs_escape(const struct walk *w, char c, bool after_digit)
{
	if (strchr("\\`*_[]<>#|~&", c))
		return true;
	if (!w->at_line_start)
		return false;
	return after_digit ? c == '.' || c == ')' : c == '-' || c == '+' || c == '=';
}

static void put_char(struct walk *w, const char *at, size_t len)
{
	char last = w->out.len ? w->out.data[w->out.len - 1] : 0;
	bool after_digit = last >= '0' && last <= '9';

	if (w->is_markdown && len == 1 && needs_escape(w, *at, after_digit))
		mr_buf_putc(&w->out, '\\');
	if (*at < '0' || *at > '9')
		w->at_line_start = false;
	mr_buf_add(&w->out, at, len);
}

static void put_text(struct walk *w, const char *text, size_t len)
{
	for (size_t i = 0; i < len && w->out.len < w->max;) {
		uint32_t scalar = 0xfffd;
		size_t step = mr_utf8_next(text + i, len - i, &scalar);
		bool is_blank = scalar <= ' ' || scalar == 0xa0;

		if (step == 0)
			step = 1; /* the parser gives UTF-8 only */
		else if (scalar == '\n' && w->pre)
			w->lines = w->lines < 2 ? w->lines + 1 : 2;
		else if (is_blank && w->pre && w->out.len && (!w->lines || !w->is_markdown)) {
			part(w);
			mr_buf_putc(&w->out, ' ');
		} else if (is_blank)
			w->has_space = true;
		else if (scalar >= 0xa0 || scalar < 0x7f) {
			part(w);
			put_char(w, text + i, step);
		}
		i += step;
	}
	if (w->out.len >= w->max && w->parser)
		library.xmlStopParser(w->parser);
}

/* Links */

/* Copy an address that may be shown; false when it is none. */
static bool read_url(struct walk *w, const char *url)
{
	static const char *const schemes[] = { "http://", "https://", "ftp://", "mailto:", "tel:" };
	static const char hex[] = "0123456789ABCDEF";
	size_t len = 0;
	bool is_known = false;

	url += strspn(url, " \t\r\n");
	for (size_t i = 0; i < MR_LEN(schemes); i++)
		is_known |= strncasecmp(url, schemes[i], strlen(schemes[i])) == 0;
	if (!is_known)
		return false;
	for (; *url; url++) {
		unsigned char c = (unsigned char)*url;
		bool is_escaped = c == ' ' || strchr("<>\"`\\", c) ||
			(w->is_markdown && strchr("()[]|*_~", c));

		if (c < ' ' || c == 0x7f)
			continue; /* as browsers do */
		if (len + 4 > sizeof(w->link))
			return false;
		if (is_escaped) {
			w->link[len++] = '%';
			w->link[len++] = hex[c >> 4];
			w->link[len++] = hex[c & 15];
		} else {
			w->link[len++] = (char)c;
		}
	}
	w->link[len] = '\0';
	return true;
}

/* Does the text of the link say where it leads? */
static bool is_own_text(const struct walk *w)
{
	const char *text = mr_buf_text(&w->out) + w->link_from;
	size_t len = w->out.len - w->link_from;
	const char *bare = strstr(w->link, "://");

	if (len == strlen(w->link) && memcmp(text, w->link, len) == 0)
		return true;
	bare = bare ? bare + 3 : strchr(w->link, ':') + 1;
	return len == strlen(bare) && memcmp(text, bare, len) == 0;
}

static void end_link(struct walk *w)
{
	if (!w->in_link)
		return;
	if (!w->has_link_text) {
		/* A picture without a description, or nothing at all: the address remains. */
		part(w);
		if (w->is_markdown)
			mr_buf_puts(&w->out, "link");
	}
	w->in_link = w->has_link_text = false;
	w->at_line_start = false;
	if (w->is_markdown)
		mr_buf_printf(&w->out, "](%s)", w->link);
	else if (!is_own_text(w))
		mr_buf_printf(&w->out, "%s<%s>", w->out.len == w->link_from ? "" : " ", w->link);
}

static const char *attribute(const xmlChar **attributes, const char *name)
{
	for (; attributes && attributes[0]; attributes += 2) {
		if (attributes[1] && strcasecmp((const char *)attributes[0], name) == 0)
			return (const char *)attributes[1];
	}
	return NULL;
}

static void begin_link(struct walk *w, const xmlChar **attributes)
{
	const char *url = attribute(attributes, "href");

	end_link(w);
	w->in_link = url && !w->hidden && read_url(w, url);
}

/* Elements */

static void begin_item(struct walk *w)
{
	struct level *level;

	need_lines(w, 1);
	if (!w->is_markdown || w->list_count == 0)
		return;
	level = &w->lists[(w->list_count < LEVELS ? w->list_count : LEVELS) - 1];
	w->marker = "- ";
	if (level->is_ordered) {
		snprintf(w->number, sizeof(w->number), "%zu. ", ++level->number % 1000000);
		w->marker = w->number;
	}
}

static void begin_heading(struct walk *w, char level)
{
	static const char *const markers[] = { "# ", "## ", "### ", "#### ", "##### ", "###### " };

	need_block(w, true);
	if (w->is_markdown && level >= '1' && level <= '6' && w->list_count == 0)
		w->marker = markers[level - '1'];
}

static void begin_list(struct walk *w, bool is_ordered)
{
	need_block(w, true);
	if (w->list_count < LEVELS)
		w->lists[w->list_count] = (struct level){ .is_ordered = is_ordered };
	w->list_count++;
}

static void draw_rule(struct walk *w)
{
	need_block(w, true);
	if (!w->is_markdown || w->in_link)
		return;
	w->marker = NULL;
	part(w);
	mr_buf_puts(&w->out, "---");
	need_lines(w, 2);
}

static void describe_image(struct walk *w, const xmlChar **attributes)
{
	const char *text = attribute(attributes, "alt");

	if (!text || w->hidden || !text[strspn(text, " \t\r\n")])
		return;
	put_text(w, "[image: ", strlen("[image: "));
	put_text(w, text, strlen(text));
	put_text(w, "]", 1);
}

static void begin_element(struct walk *w, const char *name, const xmlChar **attributes)
{
	switch (kind_of(name)) {
	case BLOCK:
		need_lines(w, 1);
		break;
	case PARAGRAPH:
		need_block(w, true);
		break;
	case CELL:
		w->has_cell = true;
		break;
	case HIDDEN:
		w->hidden++;
		break;
	case LINE:
		w->lines = w->lines < 2 ? w->lines + 1 : 2;
		break;
	case RULE:
		draw_rule(w);
		break;
	case LINK:
		begin_link(w, attributes);
		break;
	case IMAGE:
		describe_image(w, attributes);
		break;
	case HEADING:
		begin_heading(w, name[1]);
		break;
	case ITEM:
		begin_item(w);
		break;
	case LIST:
		begin_list(w, strcasecmp(name, "ol") == 0);
		break;
	case QUOTE:
		need_block(w, true);
		w->quotes++;
		break;
	case PRE:
		need_block(w, true);
		w->pre++;
		break;
	}
}

static void end_element(struct walk *w, const char *name)
{
	switch (kind_of(name)) {
	case BLOCK:
	case ITEM:
		need_lines(w, 1);
		break;
	case PARAGRAPH:
		need_block(w, true);
		break;
	case HEADING:
		w->marker = NULL;
		need_block(w, true);
		break;
	case LINK:
		end_link(w);
		break;
	case HIDDEN:
		w->hidden -= w->hidden > 0;
		break;
	case LIST:
		w->list_count -= w->list_count > 0;
		w->marker = NULL;
		need_block(w, true);
		break;
	case QUOTE:
		w->quotes -= w->quotes > 0;
		need_block(w, true);
		break;
	case PRE:
		w->pre -= w->pre > 0;
		need_block(w, true);
		break;
	case CELL:
	case LINE:
	case RULE:
	case IMAGE:
		break;
	}
}

/* The parser's calls */

static struct walk *walk_of(void *parser)
{
	return ((htmlParserCtxtPtr)parser)->_private;
}

static void on_start(void *parser, const xmlChar *name, const xmlChar **attributes)
{
	struct walk *w = walk_of(parser);

	if (++w->depth > MR_HTML_DEPTH)
		library.xmlStopParser(w->parser);
	else
		begin_element(w, (const char *)name, attributes);
}

static void on_end(void *parser, const xmlChar *name)
{
	struct walk *w = walk_of(parser);

	w->depth -= w->depth > 0;
	end_element(w, (const char *)name);
}

static void on_text(void *parser, const xmlChar *text, int len)
{
	struct walk *w = walk_of(parser);

	if (!w->hidden && len > 0)
		put_text(w, (const char *)text, (size_t)len);
}

/*
 * Where does a tag begin that could have so many attributes that the parser, which compares each
 * with all before, takes long? The end when there is none. Blanks inside of quoted values count,
 * too, so that it does not matter whose idea of quotes is the right one.
 */
static size_t find_heavy_tag(const char *html, size_t len)
{
	const char *end = html + len;
	const char *tag = html;
	size_t blanks = 0;
	bool in_tag = false;
	char quote = 0;

	for (const char *at = html; at < end; at++) {
		if (!in_tag && *at == '<' && strncmp(at, "<!--", 4) == 0) {
			at = strstr(at, "-->");
			if (!at)
				break;
		} else if (!in_tag) {
			in_tag = *at == '<' && isalpha((unsigned char)at[1]);
			tag = at;
			blanks = 0;
			quote = 0;
		} else if (*at == '>' && !quote) {
			in_tag = false;
		} else if (strchr(" \t\n\r\"'", *at)) {
			if (*at == quote)
				quote = 0;
			else if (!quote && (*at == '"' || *at == '\'') && at[-1] == '=')
				quote = *at;
			if (++blanks > TAG_BLANKS)
				return (size_t)(tag - html);
		}
	}
	return len;
}

static void free_parser(htmlParserCtxtPtr *parser)
{
	if (*parser)
		library.htmlFreeParserCtxt(*parser);
}

static void parse(struct walk *w, const char *html, size_t len)
{
	htmlParserCtxtPtr parser MR_CLEANUP(free_parser) = NULL;
	xmlSAXHandler calls = {
		.startElement = on_start,
		.endElement = on_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
	};
	xmlDocPtr doc;

	parser = library.htmlNewParserCtxt();
	if (!parser)
		return;
	parser->_private = w;
	*parser->sax = calls;
	w->parser = parser;
	doc = library.htmlCtxtReadMemory(parser, html, (int)len, NULL, "UTF-8",
		HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
			HTML_PARSE_IGNORE_ENC);
	if (doc)
		library.xmlFreeDoc(doc);
	w->parser = NULL;
}

static char *convert(struct mr_arena *arena, const char *html, size_t max, bool is_markdown)
{
	static const char not_shown[] = "[HTML that cannot be shown]";
	size_t len = strnlen(html, HTML_BYTES);
	size_t heavy;
	struct walk *w = mr_arena_alloc(arena, sizeof(*w));
	char *text;

	w->max = max;
	w->is_markdown = is_markdown;
	/* The last link or character may pass the maximum; it is cut below. */
	mr_buf_init(&w->out, max + 4 * URL_BYTES);
	heavy = can_parse() ? find_heavy_tag(html, len) : 0;
	if (heavy)
		parse(w, html, heavy);
	end_link(w);
	if (heavy < len) {
		need_lines(w, 1);
		put_text(w, not_shown, strlen(not_shown));
	}
	len = mr_utf8_truncate(mr_buf_text(&w->out), w->out.len, max);
	text = mr_arena_strndup(arena, mr_buf_text(&w->out), len);
	mr_buf_release(&w->out);
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\n'))
		text[--len] = '\0';
	return text;
}

char *mr_html_to_text(struct mr_arena *arena, const char *html, size_t max)
{
	return convert(arena, html, max, false);
}

char *mr_html_to_markdown(struct mr_arena *arena, const char *html, size_t max)
{
	return convert(arena, html, max, true);
}
