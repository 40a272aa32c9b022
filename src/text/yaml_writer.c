/* text/yaml_writer.c - the block writer of text/yaml.h. */
#include "text/yaml.h"

#include "base/utf8.h"
#include "text/yaml_scalar.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLAIN_BYTES = 60,
	/*
	 * Readers look only 1024 characters ahead for the colon of a key, and an escape takes up to
	 * ten: a longer key is announced by "? ".
	 */
	SHORT_KEY_BYTES = 100,
};

void mr_yaml_init(struct mr_yaml_writer *w, struct mr_buf *buf)
{
	*w = (struct mr_yaml_writer){ .buf = buf };
}

/* Begin an element of the current level on its own line, unless a dash has opened one for it. */
static void open_line(struct mr_yaml_writer *w)
{
	struct mr_yaml_level *level = &w->levels[w->depth];

	if (!level->filled) {
		level->filled = true;
		if (level->after_dash)
			return;
		/* The line of the key this level belongs to is still open. */
		if (w->depth > 1)
			mr_buf_putc(w->buf, '\n');
	}
	mr_buf_pad(w->buf, ' ', level->indent);
}

/* Before any value: the dash of a list's element, the blank after a key for what stays on its line.
 */
static void open_value(struct mr_yaml_writer *w, bool on_line)
{
	if (w->depth == 0) {
		assert(!w->levels[0].filled);
		w->levels[0].filled = true;
	} else if (w->levels[w->depth].is_map) {
		assert(w->after_key);
		w->after_key = false;
		if (on_line)
			mr_buf_putc(w->buf, ' ');
	} else {
		open_line(w);
		mr_buf_puts(w->buf, "- ");
	}
}

static void begin(struct mr_yaml_writer *w, bool is_map)
{
	const struct mr_yaml_level *up = &w->levels[w->depth];
	struct mr_yaml_level level = { .is_map = is_map };

	assert(w->depth < MR_YAML_WRITER_DEPTH);
	if (w->depth > 0) {
		level.after_dash = !up->is_map;
		/* A list stands below its key, not to the right of it. */
		level.indent = up->indent + (up->is_map && !is_map ? 0 : 2);
	}
	open_value(w, false);
	w->levels[++w->depth] = level;
}

void mr_yaml_begin_map(struct mr_yaml_writer *w)
{
	begin(w, true);
}

void mr_yaml_begin_list(struct mr_yaml_writer *w)
{
	begin(w, false);
}

void mr_yaml_end(struct mr_yaml_writer *w)
{
	const struct mr_yaml_level *level = &w->levels[w->depth];

	assert(w->depth > 0 && !w->after_key);
	w->depth--;
	if (level->filled)
		return;
	if (w->depth > 0 && !level->after_dash)
		mr_buf_putc(w->buf, ' ');
	mr_buf_puts(w->buf, level->is_map ? "{}\n" : "[]\n");
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(c != '\0' && strchr("._@+/-", c));
}

static bool is_plain(const char *text)
{
	size_t len = strnlen(text, PLAIN_BYTES + 1);

	if (len == 0 || len > PLAIN_BYTES)
		return false;
	if ((text[0] | 0x20) < 'a' || (text[0] | 0x20) > 'z')
		return false;
	for (size_t i = 1; i < len; i++) {
		if (text[i] == ' ' ? !is_word_char(text[i + 1]) : !is_word_char(text[i]))
			return false;
	}
	return !mr_yaml_scalar_is_keyword(text);
}

static bool is_printable_ascii(const char *text)
{
	for (; *text; text++) {
		if (*text < 0x20 || *text > 0x7e)
			return false;
	}
	return true;
}

/* The letter of a two-character escape, or 0. */
static char escape_letter(uint32_t c)
{
	switch (c) {
	case 0x07:
		return 'a';
	case 0x08:
		return 'b';
	case 0x09:
		return 't';
	case 0x0a:
		return 'n';
	case 0x0b:
		return 'v';
	case 0x0c:
		return 'f';
	case 0x0d:
		return 'r';
	case 0x1b:
		return 'e';
	case '"':
	case '\\':
		return (char)c;
	case 0x85:
		return 'N';
	case 0xa0:
		return '_';
	case 0x2028:
		return 'L';
	case 0x2029:
		return 'P';
	default:
		return '\0';
	}
}

static void put_escaped(struct mr_buf *buf, uint32_t c)
{
	char letter = escape_letter(c);

	if (letter)
		mr_buf_printf(buf, "\\%c", letter);
	else if (c >= 0x20 && c <= 0x7e)
		mr_buf_putc(buf, (char)c);
	else if (c <= 0xff)
		mr_buf_printf(buf, "\\x%02" PRIX32, c);
	else if (c <= 0xffff)
		mr_buf_printf(buf, "\\u%04" PRIX32, c);
	else
		mr_buf_printf(buf, "\\U%08" PRIX32, c);
}

static void put_double(struct mr_buf *buf, const char *text)
{
	size_t len = strlen(text);

	mr_buf_putc(buf, '"');
	while (len > 0) {
		uint32_t c = 0xfffd;
		size_t n = mr_utf8_next(text, len, &c);

		put_escaped(buf, c);
		n = n ? n : 1;
		text += n;
		len -= n;
	}
	mr_buf_putc(buf, '"');
}

/* A JSON string; what YAML refuses to see raw is escaped in the way both know. */
static void put_json(struct mr_buf *buf, const char *text)
{
	size_t len = strlen(text);

	mr_buf_putc(buf, '"');
	while (len > 0) {
		uint32_t c = 0xfffd;
		size_t n = mr_utf8_next(text, len, &c);

		if (c < 0x80 && c != 0x7f && strchr("\"\\\b\t\n\f\r", (int)c))
			mr_buf_printf(buf, "\\%c", escape_letter(c));
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
			c == 0xfeff || c == 0xfffe || c == 0xffff)
			mr_buf_printf(buf, "\\u%04" PRIX32, c);
		else
			mr_buf_put_utf8(buf, c);
		n = n ? n : 1;
		text += n;
		len -= n;
	}
	mr_buf_putc(buf, '"');
}

void mr_yaml_key(struct mr_yaml_writer *w, const char *key)
{
	struct mr_yaml_level *level = &w->levels[w->depth];

	assert(w->depth > 0 && level->is_map && !w->after_key);
	open_line(w);
	w->after_key = true;
	if (is_plain(key)) {
		mr_buf_puts(w->buf, key);
	} else if (strlen(key) <= SHORT_KEY_BYTES) {
		put_double(w->buf, key);
	} else {
		mr_buf_puts(w->buf, "? ");
		put_double(w->buf, key);
		mr_buf_putc(w->buf, '\n');
		mr_buf_pad(w->buf, ' ', level->indent);
	}
	mr_buf_putc(w->buf, ':');
}

static void put_line(struct mr_yaml_writer *w, const char *text)
{
	open_value(w, true);
	mr_buf_puts(w->buf, text);
	mr_buf_putc(w->buf, '\n');
}

void mr_yaml_null(struct mr_yaml_writer *w)
{
	put_line(w, "null");
}

void mr_yaml_bool(struct mr_yaml_writer *w, bool value)
{
	put_line(w, value ? "true" : "false");
}

void mr_yaml_int(struct mr_yaml_writer *w, int64_t value)
{
	open_value(w, true);
	mr_buf_printf(w->buf, "%" PRId64 "\n", value);
}

/* Finite; a point always, for YAML 1.1, which also wants the exponent's sign. */
static void put_finite(struct mr_buf *buf, double value)
{
	char text[40];
	size_t mantissa;

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	mantissa = strcspn(text, "e");
	mr_buf_add(buf, text, mantissa);
	if (!strchr(text, '.'))
		mr_buf_puts(buf, ".0");
	mr_buf_puts(buf, text + mantissa);
}

void mr_yaml_real(struct mr_yaml_writer *w, double value)
{
	if (isnan(value)) {
		put_line(w, ".nan");
	} else if (isinf(value)) {
		put_line(w, value < 0 ? "-.inf" : ".inf");
	} else {
		open_value(w, true);
		put_finite(w->buf, value);
		mr_buf_putc(w->buf, '\n');
	}
}

void mr_yaml_text(struct mr_yaml_writer *w, const char *text)
{
	if (!text)
		mr_yaml_null(w);
	else if (is_plain(text))
		put_line(w, text);
	else
		mr_yaml_text_double(w, text);
}

void mr_yaml_text_double(struct mr_yaml_writer *w, const char *text)
{
	if (!text) {
		mr_yaml_null(w);
		return;
	}
	open_value(w, true);
	put_double(w->buf, text);
	mr_buf_putc(w->buf, '\n');
}

void mr_yaml_text_single(struct mr_yaml_writer *w, const char *text)
{
	if (!text || !is_printable_ascii(text) || strchr(text, '\'')) {
		mr_yaml_text_double(w, text);
		return;
	}
	open_value(w, true);
	mr_buf_putc(w->buf, '\'');
	mr_buf_puts(w->buf, text);
	mr_buf_puts(w->buf, "'\n");
}

static void write_value(struct mr_yaml_writer *w, const struct mr_value *value,
	void (*put_text)(struct mr_yaml_writer *w, const char *text))
{
	switch (value->kind) {
	case MR_NULL:
		mr_yaml_null(w);
		break;
	case MR_BOOL:
		mr_yaml_bool(w, value->boolean);
		break;
	case MR_INT:
		mr_yaml_int(w, value->integer);
		break;
	case MR_FLOAT:
		mr_yaml_real(w, value->real);
		break;
	case MR_TEXT:
		put_text(w, value->text);
		break;
	case MR_LIST:
		mr_yaml_begin_list(w);
		for (size_t i = 0; i < value->list.len; i++)
			write_value(w, &value->list.items[i], put_text);
		mr_yaml_end(w);
		break;
	case MR_MAP:
		mr_yaml_begin_map(w);
		for (size_t i = 0; i < value->map.len; i++) {
			mr_yaml_key(w, value->map.pairs[i].key);
			write_value(w, &value->map.pairs[i].value, put_text);
		}
		mr_yaml_end(w);
		break;
	}
}

void mr_yaml_value(struct mr_yaml_writer *w, const struct mr_value *value)
{
	write_value(w, value, mr_yaml_text);
}

void mr_yaml_value_double(struct mr_yaml_writer *w, const struct mr_value *value)
{
	write_value(w, value, mr_yaml_text_double);
}

static void put_flow(struct mr_buf *buf, const struct mr_value *value);

static void put_flow_map(struct mr_buf *buf, const struct mr_value *map)
{
	mr_buf_putc(buf, '{');
	for (size_t i = 0; i < map->map.len; i++) {
		if (i)
			mr_buf_puts(buf, ", ");
		if (strlen(map->map.pairs[i].key) > SHORT_KEY_BYTES)
			mr_buf_puts(buf, "? ");
		put_json(buf, map->map.pairs[i].key);
		mr_buf_puts(buf, ": ");
		put_flow(buf, &map->map.pairs[i].value);
	}
	mr_buf_putc(buf, '}');
}

static void put_flow(struct mr_buf *buf, const struct mr_value *value)
{
	switch (value->kind) {
	case MR_NULL:
		mr_buf_puts(buf, "null");
		break;
	case MR_BOOL:
		mr_buf_puts(buf, value->boolean ? "true" : "false");
		break;
	case MR_INT:
		mr_buf_printf(buf, "%" PRId64, value->integer);
		break;
	case MR_FLOAT:
		if (isfinite(value->real))
			put_finite(buf, value->real);
		else
			mr_buf_puts(buf, "null");
		break;
	case MR_TEXT:
		put_json(buf, value->text);
		break;
	case MR_LIST:
		mr_buf_putc(buf, '[');
		for (size_t i = 0; i < value->list.len; i++) {
			if (i)
				mr_buf_puts(buf, ", ");
			put_flow(buf, &value->list.items[i]);
		}
		mr_buf_putc(buf, ']');
		break;
	case MR_MAP:
		put_flow_map(buf, value);
		break;
	}
}

void mr_yaml_value_flow(struct mr_yaml_writer *w, const struct mr_value *value)
{
	open_value(w, true);
	put_flow(w->buf, value);
	mr_buf_putc(w->buf, '\n');
}
