/* text/template_filter_text.c - filters that make texts of texts. */
#include "text/template_private.h"

#include "base/utf8.h"

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
	enum mr_code rc = map_chars(run, in, to_title, out);

	(void)args;
	out->is_safe = false; /* the letters of an entity may be changed */
	return rc;
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
		rc = mr_tpl_escape_text(run, &to, &to);
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
	{ "string", 0, string, "" },
	{ "indent", 3, indent, " width first blank " },
	{ "truncate", 4, truncate, " length killwords end leeway " },
	{ "default", 2, default_value, " default_value boolean " },
	{ "d", 2, default_value, " default_value boolean " },
	{ NULL },
};
