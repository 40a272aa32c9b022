/* text/template_filter_html.c - filters for HTML, JSON and URLs. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FILTER(fn)                                                                                 \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

enum mr_code mr_tpl_escape_text(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);

	if (rc)
		return rc;
	if (text.is_safe) {
		*out = text;
		return MR_OK;
	}
	mr_tpl_buf_init(run, &buf);
	mr_tpl_escape(&buf, text.text, text.len);
	rc = mr_tpl_buf_take(run, &buf, out);
	out->is_safe = true;
	return rc;
}

FILTER(escape)
{
	(void)args;
	return mr_tpl_escape_text(run, in, out);
}

FILTER(safe)
{
	enum mr_code rc = mr_tpl_to_text(run, in, out);

	(void)args;
	out->is_safe = true;
	return rc;
}

/* The end of what "<" begins at `rest`, or NULL when it begins nothing. */
static const char *tag_end(const char *rest)
{
	const char *close;

	if (strncmp(rest, "<!--", 4) != 0)
		return strchr(rest, '>');
	close = strstr(rest, "-->");
	return close ? close + 2 : strchr(rest, '>');
}

/* The character that an entity at `text` names; returns its length, 0 when it is none of ours. */
static size_t entity(const char *text, uint32_t *out)
{
	static const struct {
		const char *name;
		uint32_t scalar;
	} names[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' },
		{ "&apos;", '\'' }, { "&nbsp;", 0xa0 } };
	char *end;
	unsigned long number;

	for (size_t i = 0; i < MR_LEN(names); i++)
		if (mr_str_starts(text, names[i].name)) {
			*out = names[i].scalar;
			return strlen(names[i].name);
		}
	if (text[1] != '#' || !isxdigit((unsigned char)text[2 + (text[2] == 'x')]))
		return 0;
	number = strtoul(text + 2 + (text[2] == 'x'), &end, text[2] == 'x' ? 16 : 10);
	if (*end != ';' || number < ' ' || number > 0x10ffff ||
		(number >= 0xd800 && number < 0xe000))
		return 0;
	*out = (uint32_t)number;
	return (size_t)(end + 1 - text);
}

/* Without comments and tags, runs of white space as one blank, entities as their characters. */
FILTER(striptags)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);
	bool is_blank = false, has_close = true;

	(void)args;
	if (rc)
		return rc;
	mr_tpl_buf_init(run, &buf);
	for (size_t i = 0; i < text.len; i++) {
		const char *rest = text.text + i, *close = NULL;
		uint32_t scalar;
		size_t len;

		if (*rest == '<' && has_close) { /* without '>' there is none further on either */
			close = tag_end(rest);
			has_close = close;
		}
		if (close) {
			i = (size_t)(close - text.text);
			continue;
		}
		if (isspace((unsigned char)*rest)) {
			is_blank = true;
			continue;
		}
		if (is_blank && buf.len)
			mr_buf_putc(&buf, ' ');
		is_blank = false;
		len = *rest == '&' ? entity(rest, &scalar) : 0;
		if (len)
			mr_buf_put_utf8(&buf, scalar);
		else
			mr_buf_putc(&buf, *rest);
		i += len ? len - 1 : 0;
	}
	return mr_tpl_buf_take(run, &buf, out);
}

FILTER(urlencode)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);

	(void)args;
	if (rc)
		return rc;
	mr_tpl_buf_init(run, &buf);
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.text[i];

		if (isalnum(c) || (c && strchr("_.-~/", c)))
			mr_buf_putc(&buf, (char)c);
		else
			mr_buf_printf(&buf, "%%%02X", c);
	}
	return mr_tpl_buf_take(run, &buf, out);
}

FILTER(tojson)
{
	const struct mr_tpl_value *given = mr_tpl_arg(args, 0, "indent");
	int64_t indent = 0;
	enum mr_code rc = MR_OK;

	if (given && given->kind == MR_TV_BOOL)
		indent = given->boolean ? 2 : 0;
	else
		rc = mr_tpl_arg_int(run, args, 0, "indent", 0, 16, &indent);
	return rc ? rc : mr_tpl_json(run, in, (unsigned)indent, out);
}

const struct mr_tpl_filter mr_tpl_html_filters[] = {
	{ "escape", 0, escape, "" },
	{ "e", 0, escape, "" },
	{ "safe", 0, safe, "" },
	{ "striptags", 0, striptags, "" },
	{ "urlencode", 0, urlencode, "" },
	{ "tojson", 1, tojson, " indent " },
	{ NULL },
};
