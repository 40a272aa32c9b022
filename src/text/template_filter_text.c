/* text/template_filter_text.c - filters that make texts of texts. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FILTER(fn)                                                                                 \
	static enum mr_code fn(struct mr_tpl_run *run, const struct mr_tpl_value *in,              \
		const struct mr_tpl_args *args, struct mr_tpl_value *out)

static uint32_t to_upper(uint32_t scalar, bool is_first, bool begins_word)
{
	(void)is_first;
	(void)begins_word;
	return mr_utf8_upper(scalar);
}

/* Each character through `change`, which is told whether it begins a word. */
static enum mr_code map_chars(struct mr_tpl_run *run, const struct mr_tpl_value *in,
	uint32_t (*change)(uint32_t scalar, bool is_first, bool begins_word),
	struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text;
	bool begins_word = true;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);

	if (rc)
		return rc;
	mr_tpl_buf_init(run, &buf);
	for (size_t i = 0; i < text.len;) {
		uint32_t scalar = 0xfffd;
		size_t len = mr_utf8_next(text.text + i, text.len - i, &scalar);

		if (scalar == 0xdf && change == to_upper) /* one letter that becomes two */
			mr_buf_puts(&buf, "SS");
		else
			mr_buf_put_utf8(&buf, change(scalar, i == 0, begins_word));
		begins_word =
			mr_utf8_is_space(scalar) || (scalar < 0x80 && strchr("-({[<", (int)scalar));
		i += len ? len : 1;
	}
	rc = mr_tpl_buf_take(run, &buf, out);
	out->is_safe = in->is_safe;
	return rc;
}

static uint32_t to_lower(uint32_t scalar, bool is_first, bool begins_word)
{
	(void)is_first;
	(void)begins_word;
	return mr_utf8_lower(scalar);
}

static uint32_t to_title(uint32_t scalar, bool is_first, bool begins_word)
{
	(void)is_first;
	return begins_word ? mr_utf8_upper(scalar) : mr_utf8_lower(scalar);
}

static uint32_t to_capital(uint32_t scalar, bool is_first, bool begins_word)
{
	(void)begins_word;
	return is_first ? mr_utf8_upper(scalar) : mr_utf8_lower(scalar);
}

FILTER(upper)
{
	(void)args;
	return map_chars(run, in, to_upper, out);
}

FILTER(lower)
{
	(void)args;
	return map_chars(run, in, to_lower, out);
}

FILTER(title)
{
	(void)args;
	return map_chars(run, in, to_title, out);
}

FILTER(capitalize)
{
	(void)args;
	return map_chars(run, in, to_capital, out);
}

FILTER(trim)
{
	struct mr_tpl_value text, chars = { .kind = MR_TV_UNDEFINED };
	enum mr_code rc = mr_tpl_to_text(run, in, &text);
	char *copy;

	if (!rc)
		rc = mr_tpl_arg_text(run, args, 0, "chars", &chars);
	if (rc)
		return rc;
	if (chars.kind == MR_TV_TEXT) {
		while (text.len && strchr(chars.text, text.text[0]))
			text.text++, text.len--;
		while (text.len && strchr(chars.text, text.text[text.len - 1]))
			text.len--;
	} else
		mr_utf8_strip(&text.text, &text.len);
	copy = mr_tpl_copy(run, text.text, text.len);
	if (!copy)
		return run->err->code;
	*out = mr_tpl_text(copy, text.len);
	out->is_safe = in->is_safe;
	return MR_OK;
}

static enum mr_code escape_text(struct mr_tpl_run *run, const struct mr_tpl_value *in,
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

FILTER(replace)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text, from = { .kind = MR_TV_UNDEFINED }, to = from;
	bool is_safe = run->escape && in->is_safe;
	int64_t count = -1;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);
	size_t at = 0;

	if (!rc)
		rc = mr_tpl_arg_text(run, args, 0, "old", &from);
	if (!rc)
		rc = mr_tpl_arg_text(run, args, 1, "new", &to);
	if (!rc)
		rc = mr_tpl_arg_int(run, args, 2, "count", -1, INT32_MAX, &count);
	if (!rc && is_safe && to.kind == MR_TV_TEXT)
		rc = escape_text(run, &to, &to);
	if (!rc && (from.kind != MR_TV_TEXT || to.kind != MR_TV_TEXT || !from.len))
		rc = mr_tpl_fail(run, MR_EINVAL,
			"'replace' takes what to find, and what to put there");
	if (rc)
		return rc;
	mr_tpl_buf_init(run, &buf);
	while (count-- != 0) {
		const char *found = memmem(text.text + at, text.len - at, from.text, from.len);

		if (!found)
			break;
		mr_buf_add(&buf, text.text + at, (size_t)(found - text.text) - at);
		mr_buf_add(&buf, to.text, to.len);
		at = (size_t)(found - text.text) + from.len;
	}
	mr_buf_add(&buf, text.text + at, text.len - at);
	rc = mr_tpl_buf_take(run, &buf, out);
	out->is_safe = is_safe;
	return rc;
}

FILTER(escape)
{
	(void)args;
	return escape_text(run, in, out);
}

FILTER(safe)
{
	enum mr_code rc = mr_tpl_to_text(run, in, out);

	(void)args;
	out->is_safe = true;
	return rc;
}

FILTER(string)
{
	(void)args;
	return mr_tpl_to_text(run, in, out);
}

FILTER(indent)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text;
	int64_t width = 4;
	bool first = mr_tpl_arg_true(args, 1, "first", false);
	bool blank = mr_tpl_arg_true(args, 2, "blank", false);
	enum mr_code rc = mr_tpl_to_text(run, in, &text);

	if (!rc)
		rc = mr_tpl_arg_int(run, args, 0, "width", 0, 1000, &width);
	if (rc)
		return rc;
	mr_tpl_buf_init(run, &buf);
	for (size_t at = 0, number = 0; at <= text.len; number++) {
		const char *end = memchr(text.text + at, '\n', text.len - at);
		size_t len = end ? (size_t)(end - text.text) - at : text.len - at;

		if (number ? len || blank : first)
			mr_buf_pad(&buf, ' ', (size_t)width);
		mr_buf_add(&buf, text.text + at, len + (end != NULL));
		at += len + 1;
	}
	rc = mr_tpl_buf_take(run, &buf, out);
	out->is_safe = in->is_safe;
	return rc;
}

FILTER(truncate)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_tpl_value text, end = mr_tpl_text("...", 3);
	bool kill_words = mr_tpl_arg_true(args, 1, "killwords", false);
	int64_t length = 255, leeway = 5, keep;
	enum mr_code rc = mr_tpl_to_text(run, in, &text);
	size_t bytes;

	if (!rc)
		rc = mr_tpl_arg_int(run, args, 0, "length", 0, INT32_MAX, &length);
	if (!rc)
		rc = mr_tpl_arg_text(run, args, 2, "end", &end);
	if (!rc)
		rc = mr_tpl_arg_int(run, args, 3, "leeway", 0, INT32_MAX, &leeway);
	if (rc)
		return rc;
	if ((int64_t)mr_utf8_count(text.text, text.len) <= length + leeway) {
		*out = text;
		return MR_OK;
	}
	keep = length - (int64_t)mr_utf8_count(end.text, end.len);
	if (keep < 0)
		return mr_tpl_fail(run, MR_EINVAL, "'truncate' leaves no room for its end");
	bytes = mr_utf8_prefix(text.text, text.len, (size_t)keep);
	if (!kill_words) {
		const char *blank = memrchr(text.text, ' ', bytes);

		bytes = blank ? (size_t)(blank - text.text) : bytes;
	}
	mr_tpl_buf_init(run, &buf);
	mr_buf_add(&buf, text.text, bytes);
	mr_buf_add(&buf, end.text, end.len);
	rc = mr_tpl_buf_take(run, &buf, out);
	out->is_safe = in->is_safe;
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

FILTER(default_value)
{
	const struct mr_tpl_value *other = mr_tpl_arg(args, 0, "default_value");
	bool also_false = mr_tpl_arg_true(args, 1, "boolean", false);

	(void)run;
	*out = *in;
	if (in->kind == MR_TV_UNDEFINED || (also_false && !mr_tpl_is_true(in)))
		*out = other ? *other : mr_tpl_text("", 0);
	return MR_OK;
}

const struct mr_tpl_filter mr_tpl_text_filters[] = {
	{ "upper", 0, upper, "" },
	{ "lower", 0, lower, "" },
	{ "title", 0, title, "" },
	{ "capitalize", 0, capitalize, "" },
	{ "trim", 1, trim, " chars " },
	{ "replace", 3, replace, " old new count " },
	{ "escape", 0, escape, "" },
	{ "e", 0, escape, "" },
	{ "safe", 0, safe, "" },
	{ "string", 0, string, "" },
	{ "indent", 3, indent, " width first blank " },
	{ "truncate", 4, truncate, " length killwords end leeway " },
	{ "striptags", 0, striptags, "" },
	{ "urlencode", 0, urlencode, "" },
	{ "tojson", 1, tojson, " indent " },
	{ "default", 2, default_value, " default_value boolean " },
	{ "d", 2, default_value, " default_value boolean " },
	{ NULL },
};
