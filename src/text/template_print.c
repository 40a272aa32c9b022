/* text/template_print.c - values as text, as HTML and as JSON. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINT_DEPTH = 100, SMALL_BYTES = 40 };

void mr_tpl_escape(struct mr_buf *out, const char *text, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len; i++) {
		const char *as;

		switch (text[i]) {
		case '<':
			as = "&lt;";
			break;
		case '>':
			as = "&gt;";
			break;
		case '&':
			as = "&amp;";
			break;
		case '"':
			as = "&#34;";
			break;
		case '\'':
			as = "&#39;";
			break;
		default:
			continue;
		}
		mr_buf_add(out, text + from, i - from);
		mr_buf_puts(out, as);
		from = i + 1;
	}
	mr_buf_add(out, text + from, len - from);
}

/* The shortest digits that read back the same, never with an exponent, always with a point. */
static void print_real(struct mr_buf *out, double value)
{
	char shown[SMALL_BYTES], digits[SMALL_BYTES];
	int exponent, len = 0;

	if (isnan(value) || isinf(value)) {
		mr_buf_puts(out, isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf");
		return;
	}
	for (int precision = 14; precision <= 16; precision++) {
		snprintf(shown, sizeof(shown), "%.*e", precision, value);
		if (strtod(shown, NULL) == value)
			break;
	}
	if (shown[0] == '-')
		mr_buf_putc(out, '-');
	for (const char *c = shown; *c && *c != 'e'; c++)
		if (*c >= '0' && *c <= '9')
			digits[len++] = *c;
	exponent = (int)strtol(strchr(shown, 'e') + 1, NULL, 10);
	while (len > 1 && digits[len - 1] == '0')
		len--;
	if (exponent < 0) {
		mr_buf_puts(out, "0.");
		mr_buf_pad(out, '0', (size_t)(-exponent - 1));
		mr_buf_add(out, digits, (size_t)len);
		return;
	}
	mr_buf_add(out, digits, (size_t)(len <= exponent ? len : exponent + 1));
	if (len <= exponent + 1) {
		mr_buf_pad(out, '0', (size_t)(exponent + 1 - len));
		mr_buf_puts(out, ".0");
		return;
	}
	mr_buf_putc(out, '.');
	mr_buf_add(out, digits + exponent + 1, (size_t)(len - exponent - 1));
}

/* A text inside of a list or a map. */
static void print_quoted(struct mr_buf *out, const struct mr_tpl_value *text)
{
	mr_buf_putc(out, '"');
	for (size_t i = 0; i < text->len && !out->failed; i++) {
		char c = text->text[i];

		if (c == '"' || c == '\\')
			mr_buf_putc(out, '\\');
		if (c == '\n' || c == '\r' || c == '\t')
			mr_buf_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		else
			mr_buf_putc(out, c);
	}
	mr_buf_putc(out, '"');
}

static enum mr_code print_at(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out, unsigned depth);

static enum mr_code print_many(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out, unsigned depth)
{
	bool is_map = mr_tpl_is_map(value);
	enum mr_code rc = MR_OK;

	mr_buf_putc(out, is_map ? '{' : '[');
	for (size_t i = 0; !rc && !out->failed && i < value->len; i++) {
		struct mr_tpl_pair pair;

		if (i)
			mr_buf_puts(out, ", ");
		if (is_map) {
			pair = mr_tpl_pair_at(value, i);
			rc = print_at(run, &pair.key, out, depth + 1);
			mr_buf_puts(out, ": ");
		} else
			pair.value = mr_tpl_item(value, i);
		if (!rc)
			rc = print_at(run, &pair.value, out, depth + 1);
	}
	mr_buf_putc(out, is_map ? '}' : ']');
	return rc;
}

static enum mr_code print_at(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out, unsigned depth)
{
	enum mr_code rc = mr_tpl_burn(run, value->kind == MR_TV_TEXT ? 1 + value->len / 64 : 1);

	if (!rc && depth > PRINT_DEPTH)
		rc = mr_tpl_fail(run, MR_ELIMIT, "a value is nested more than %d deep",
			PRINT_DEPTH);
	if (rc)
		return rc;
	switch (value->kind) {
	case MR_TV_UNDEFINED:
		if (depth)
			mr_buf_puts(out, "undefined");
		break;
	case MR_TV_NONE:
		mr_buf_puts(out, "none");
		break;
	case MR_TV_BOOL:
		mr_buf_puts(out, value->boolean ? "true" : "false");
		break;
	case MR_TV_INT:
		mr_buf_put_int(out, value->integer);
		break;
	case MR_TV_FLOAT:
		print_real(out, value->real);
		break;
	case MR_TV_TEXT:
		if (depth)
			print_quoted(out, value);
		else
			mr_buf_add(out, value->text, value->len);
		break;
	case MR_TV_LIST:
	case MR_TV_RAW_LIST:
	case MR_TV_MAP:
	case MR_TV_RAW_MAP:
		return print_many(run, value, out, depth);
	default:
		mr_buf_printf(out, "<%s>", mr_tpl_kind_name(value));
	}
	return MR_OK;
}

enum mr_code mr_tpl_print(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out)
{
	return print_at(run, value, out, 0);
}

void mr_tpl_buf_init(const struct mr_tpl_run *run, struct mr_buf *buf)
{
	mr_buf_init(buf, run->memory);
}

enum mr_code mr_tpl_buf_take(struct mr_tpl_run *run, const struct mr_buf *buf,
	struct mr_tpl_value *out)
{
	char *copy;

	if (buf->failed)
		return mr_tpl_fail(run, MR_ELIMIT, "rendering takes too much memory");
	copy = mr_tpl_copy(run, mr_buf_text(buf), buf->len);
	if (!copy)
		return run->err->code;
	*out = mr_tpl_text(copy, buf->len);
	return MR_OK;
}

enum mr_code mr_tpl_to_text(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_tpl_value *out)
{
	struct mr_buf buf MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	if (value->kind == MR_TV_TEXT) {
		*out = *value;
		return MR_OK;
	}
	mr_tpl_buf_init(run, &buf);
	rc = mr_tpl_print(run, value, &buf);
	return rc ? rc : mr_tpl_buf_take(run, &buf, out);
}

static void new_line(struct mr_buf *out, unsigned indent, unsigned depth)
{
	if (indent) {
		mr_buf_putc(out, '\n');
		mr_buf_pad(out, ' ', (size_t)indent * depth);
	}
}

static enum mr_code json_at(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out, unsigned indent, unsigned depth);

static enum mr_code json_many(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out, unsigned indent, unsigned depth)
{
	bool is_map = mr_tpl_is_map(value);
	enum mr_code rc = MR_OK;

	mr_buf_putc(out, is_map ? '{' : '[');
	for (size_t i = 0; !rc && !out->failed && i < value->len; i++) {
		struct mr_tpl_pair pair;

		if (i)
			mr_buf_putc(out, ',');
		new_line(out, indent, depth + 1);
		if (is_map) {
			struct mr_tpl_value key = { 0 };

			pair = mr_tpl_pair_at(value, i);
			rc = mr_tpl_to_text(run, &pair.key, &key);
			if (rc)
				break;
			mr_buf_put_json(out, key.text, key.len, false);
			mr_buf_puts(out, indent ? ": " : ":");
		} else
			pair.value = mr_tpl_item(value, i);
		rc = json_at(run, &pair.value, out, indent, depth + 1);
	}
	if (value->len)
		new_line(out, indent, depth);
	mr_buf_putc(out, is_map ? '}' : ']');
	return rc;
}

static enum mr_code json_at(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_buf *out, unsigned indent, unsigned depth)
{
	enum mr_code rc = mr_tpl_burn(run, value->kind == MR_TV_TEXT ? 1 + value->len / 64 : 1);

	if (!rc && depth > PRINT_DEPTH)
		rc = mr_tpl_fail(run, MR_ELIMIT, "a value is nested more than %d deep",
			PRINT_DEPTH);
	if (rc)
		return rc;
	if (value->kind == MR_TV_TEXT)
		mr_buf_put_json(out, value->text, value->len, false);
	else if (mr_tpl_is_list(value) || mr_tpl_is_map(value))
		rc = json_many(run, value, out, indent, depth);
	else if (value->kind == MR_TV_BOOL || value->kind == MR_TV_INT ||
		(value->kind == MR_TV_FLOAT && isfinite(value->real)))
		rc = mr_tpl_print(run, value, out);
	else if (value->kind <= MR_TV_FLOAT)
		mr_buf_puts(out, "null");
	else
		rc = mr_tpl_fail(run, MR_EINVAL, "%s has no JSON", mr_tpl_kind_name(value));
	return rc;
}

/* Safe inside of HTML, also in a script or an attribute in single quotes. */
enum mr_code mr_tpl_json(struct mr_tpl_run *run, const struct mr_tpl_value *value, unsigned indent,
	struct mr_tpl_value *out)
{
	struct mr_buf json MR_CLEANUP(mr_buf_release) = { 0 };
	struct mr_buf safe MR_CLEANUP(mr_buf_release) = { 0 };
	enum mr_code rc;

	mr_tpl_buf_init(run, &json);
	mr_tpl_buf_init(run, &safe);
	rc = json_at(run, value, &json, indent, 0);
	if (rc)
		return rc;
	for (size_t i = 0; i < json.len; i++) {
		char c = json.data[i];

		if (c == '<' || c == '>' || c == '&' || c == '\'')
			mr_buf_printf(&safe, "\\u%04x", (unsigned)c);
		else
			mr_buf_putc(&safe, c);
	}
	safe.failed = safe.failed || json.failed;
	rc = mr_tpl_buf_take(run, &safe, out);
	if (!rc)
		out->is_safe = true;
	return rc;
}
