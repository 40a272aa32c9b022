/* text/frontmatter.c - Splits a document into front matter and body, and joins them again. */
#include "text/frontmatter.h"

#include <string.h>

/* One line of a document; `len` and `end` stop before and after its newline. */
struct line {
	const char *text;
	size_t len; /* without LF or CRLF */
	size_t end; /* offset of the next line */
	bool has_newline;
	bool has_cr;
};

static struct line line_at(struct mr_bytes text, size_t start)
{
	struct line line = { .text = (const char *)text.data + start, .end = text.len };
	const char *newline = memchr(line.text, '\n', text.len - start);

	line.len = text.len - start;
	if (newline) {
		line.has_newline = true;
		line.len = (size_t)(newline - line.text);
		line.end = start + line.len + 1;
		if (line.len > 0 && newline[-1] == '\r') {
			line.has_cr = true;
			line.len--;
		}
	}
	return line;
}

static bool line_is(const struct line *line, const char *text)
{
	return line->len == strlen(text) && memcmp(line->text, text, line->len) == 0;
}

static bool is_blank(struct mr_bytes text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr(" \t\r\n", text.data[i]) || text.data[i] == '\0')
			return false;
	}
	return true;
}

/*
 * Find the closing line in `document` from `*at`, where line number `*number` begins; at the end of
 * the text, `*at` is there and the result false. `*at` and `*number` are the closing line's.
 */
static bool find_close(struct mr_bytes document, size_t max_head, size_t *at, size_t *number,
	struct line *out)
{
	size_t start = *at;

	while (*at < document.len && *at - start <= max_head) {
		*out = line_at(document, *at);
		if (line_is(out, "---"))
			return true;
		*at = out->end;
		++*number;
	}
	return false;
}

static enum mr_code read_open(struct mr_bytes document, struct line *line,
	enum mr_frontmatter_form *out, struct mr_err *err)
{
	if (document.len >= 3 && memcmp(document.data, "\xef\xbb\xbf", 3) == 0)
		return mr_err_set(err, MR_EFORMAT,
			"line 1: a byte order mark stands before \"---\"");
	if (document.len > 0)
		*line = line_at(document, 0);
	if (document.len > 0 && line_is(line, "---"))
		*out = MR_FRONTMATTER_YAML;
	else if (document.len > 0 && line_is(line, "---json"))
		*out = MR_FRONTMATTER_JSON;
	else
		return mr_err_set(err, MR_EFORMAT,
			"line 1: the document does not begin with a line \"---\"");
	if (!line->has_newline)
		return mr_err_set(err, MR_EFORMAT, "line 1: nothing follows the opening \"---\"");
	return MR_OK;
}

/* One empty line after the frame is part of it. */
static struct mr_bytes body_after(struct mr_bytes document, const struct line *close)
{
	struct mr_bytes body = { document.data + close->end, document.len - close->end };
	size_t skip = 0;

	if (body.len >= 1 && body.data[0] == '\n')
		skip = 1;
	else if (close->has_cr && body.len >= 2 && memcmp(body.data, "\r\n", 2) == 0)
		skip = 2;
	return mr_bytes_of(body.data + skip, body.len - skip);
}

enum mr_code mr_frontmatter_split(struct mr_bytes document, size_t max_head,
	struct mr_frontmatter *out, struct mr_err *err)
{
	struct mr_frontmatter parts;
	struct line line = { 0 };
	enum mr_code rc = read_open(document, &line, &parts.form, err);
	size_t start = line.end;
	size_t at = start;
	size_t number = 2;
	bool closed;

	if (rc)
		return rc;
	if (max_head == 0)
		max_head = MR_FRONTMATTER_HEAD_BYTES;
	closed = find_close(document, max_head, &at, &number, &line);
	if (at - start > max_head)
		return mr_err_set(err, MR_ELIMIT,
			"line %zu: the front matter is longer than %zu bytes", number, max_head);
	if (!closed)
		return mr_err_set(err, MR_EFORMAT,
			"line %zu: the front matter is not closed by a line \"---\"", number);
	if (!line.has_newline)
		return mr_err_set(err, MR_EFORMAT,
			"line %zu: the closing \"---\" has no newline after it", number);
	parts.head = mr_bytes_of(document.data + start, at - start);
	if (is_blank(parts.head))
		return mr_err_set(err, MR_EFORMAT, "line 2: the front matter is empty");
	parts.body = body_after(document, &line);
	*out = parts;
	return MR_OK;
}

enum mr_code mr_frontmatter_join(struct mr_buf *buf, const struct mr_frontmatter *parts,
	struct mr_err *err)
{
	struct mr_bytes head = parts->head;
	struct line line;
	size_t at = 0;
	size_t number = 2;

	if (is_blank(head))
		return mr_err_set(err, MR_EINVAL, "the front matter is empty");
	if (head.data[head.len - 1] != '\n')
		return mr_err_set(err, MR_EINVAL, "the front matter does not end in a newline");
	if (find_close(head, head.len, &at, &number, &line))
		return mr_err_set(err, MR_EINVAL,
			"line %zu of the document would be \"---\" and end the front matter early",
			number);
	mr_buf_puts(buf, parts->form == MR_FRONTMATTER_JSON ? "---json\n" : "---\n");
	mr_buf_add(buf, head.data, head.len);
	mr_buf_puts(buf, "---\n");
	if (parts->body.len > 0) {
		mr_buf_putc(buf, '\n');
		mr_buf_add(buf, parts->body.data, parts->body.len);
	}
	return mr_buf_check(buf, "the document", err);
}
