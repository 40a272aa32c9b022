/*
 * text/json.c - Reads JSON into a value tree with jansson, within limits, and writes it with a
 * streaming writer.
 */
#include "text/json.h"

#include "base/utf8.h"

#include <assert.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct mr_json_limits mr_json_default_limits = {
	.max_bytes = 4u << 20,
	.max_depth = 64,
	.max_nodes = 200000,
};

static void decrefp(json_t **json)
{
	json_decref(*json);
}

static enum mr_code too_many(const struct mr_json_limits *limits, struct mr_err *err)
{
	return mr_err_set(err, MR_ELIMIT, "JSON has more than %zu values", limits->max_nodes);
}

/*
 * Depth and values are counted over the bytes before the library sees them: its own limit of depth
 * is a constant of its build, and it would first allocate what we then refuse, a hundred bytes for
 * each two of the text. The values are at least as many as the brackets, and one more than the
 * commas; the exact number is for convert().
 */
static enum mr_code check_shape(struct mr_bytes text, const struct mr_json_limits *limits,
	struct mr_err *err)
{
	bool in_string = false;
	unsigned depth = 0;
	size_t brackets = 0;
	size_t commas = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else
				in_string = c != '"';
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			brackets++;
			if (++depth > limits->max_depth)
				return mr_err_set(err, MR_ELIMIT,
					"JSON is nested deeper than %u at byte %zu",
					limits->max_depth, i);
		} else if ((c == ']' || c == '}') && depth) {
			depth--;
		} else if (c == ',') {
			commas++;
		}
	}
	if (brackets > limits->max_nodes || commas >= limits->max_nodes)
		return too_many(limits, err);
	return MR_OK;
}

/*
 * The library loses a NUL byte behind a number or a word, as if it were not there. Where one stands
 * the text is not JSON anyway.
 */
static enum mr_code check_nul(struct mr_bytes text, struct mr_err *err)
{
	const uint8_t *nul = text.len ? memchr(text.data, 0, text.len) : NULL;
	const uint8_t *line_start = text.data;
	unsigned line = 1;

	if (!nul)
		return MR_OK;
	for (const uint8_t *c = text.data; c < nul; c++) {
		if (*c == '\n') {
			line++;
			line_start = c + 1;
		}
	}
	return mr_err_set(err, MR_EFORMAT, "not valid JSON at line %u column %zu: a NUL byte", line,
		mr_utf8_count((const char *)line_start, (size_t)(nul - line_start)) + 1);
}

struct conversion {
	struct mr_arena *arena;
	size_t nodes_left;
};

static bool convert(struct conversion *cv, const json_t *from, struct mr_value *to);

static bool convert_list(struct conversion *cv, const json_t *from, struct mr_value *to)
{
	size_t len = json_array_size(from);

	if (len > cv->nodes_left)
		return false;
	to->list.items = mr_arena_array(cv->arena, len, sizeof(*to->list.items));
	to->list.len = len;
	for (size_t i = 0; i < len; i++) {
		if (!convert(cv, json_array_get(from, i), &to->list.items[i]))
			return false;
	}
	return true;
}

static bool convert_map(struct conversion *cv, json_t *from, struct mr_value *to)
{
	size_t len = json_object_size(from);
	struct mr_pair *pair;
	const char *key;
	json_t *value;

	if (len > cv->nodes_left)
		return false;
	pair = to->map.pairs = mr_arena_array(cv->arena, len, sizeof(*pair));
	to->map.len = len;
	json_object_foreach(from, key, value)
	{
		pair->key = mr_arena_strdup(cv->arena, key);
		if (!convert(cv, value, &pair->value))
			return false;
		pair++;
	}
	return true;
}

/* Copy the library's tree into ours; false when it has too many nodes. */
static bool convert(struct conversion *cv, const json_t *from, struct mr_value *to)
{
	if (cv->nodes_left-- == 0)
		return false;
	switch (json_typeof(from)) {
	case JSON_NULL:
		to->kind = MR_NULL;
		return true;
	case JSON_TRUE:
	case JSON_FALSE:
		to->kind = MR_BOOL;
		to->boolean = json_is_true(from);
		return true;
	case JSON_INTEGER:
		to->kind = MR_INT;
		to->integer = json_integer_value(from);
		return true;
	case JSON_REAL:
		to->kind = MR_FLOAT;
		to->real = json_real_value(from);
		return true;
	case JSON_STRING:
		to->kind = MR_TEXT;
		to->text = mr_arena_strdup(cv->arena, json_string_value(from));
		return true;
	case JSON_ARRAY:
		to->kind = MR_LIST;
		return convert_list(cv, from, to);
	case JSON_OBJECT:
		to->kind = MR_MAP;
		return convert_map(cv, (json_t *)from, to);
	}
	return false;
}

static enum mr_code refuse(const json_error_t *why, struct mr_err *err)
{
	const char *text = why->text;

	switch (json_error_code(why)) {
	case json_error_stack_overflow:
		/* The library's own limit, for callers who allow more than it does. */
		return mr_err_set(err, MR_ELIMIT,
			"JSON is nested deeper than can be read, at byte %d", why->position);
	case json_error_null_character:
	case json_error_null_byte_in_key:
		text = "\\u0000 is not allowed";
		break;
	default:
		break;
	}
	return mr_err_set(err, MR_EFORMAT, "not valid JSON at line %d column %d: %s",
		why->line > 0 ? why->line : 1, why->column > 0 ? why->column : 1, text);
}

enum mr_code mr_json_parse(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_json_limits *limits, const struct mr_value **out, struct mr_err *err)
{
	json_t *json MR_CLEANUP(decrefp) = NULL;
	struct conversion cv = { .arena = arena };
	struct mr_value *value;
	json_error_t why;
	enum mr_code rc;

	if (!limits)
		limits = &mr_json_default_limits;
	if (text.len > limits->max_bytes)
		return mr_err_set(err, MR_ELIMIT, "JSON of %zu bytes is longer than %zu", text.len,
			limits->max_bytes);
	rc = check_nul(text, err);
	if (rc)
		return rc;
	rc = check_shape(text, limits, err);
	if (rc)
		return rc;
	json = json_loadb(text.len ? (const char *)text.data : "", text.len,
		JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
	if (!json)
		return refuse(&why, err);
	cv.nodes_left = limits->max_nodes;
	value = mr_arena_alloc(arena, sizeof(*value));
	if (!convert(&cv, json, value))
		return too_many(limits, err);
	*out = value;
	return MR_OK;
}

void mr_json_init(struct mr_json_writer *w, struct mr_buf *buf, unsigned style)
{
	*w = (struct mr_json_writer){ .buf = buf, .style = style };
}

static unsigned layout_of(const struct mr_json_writer *w)
{
	return w->style & 3u;
}

static void new_line(struct mr_json_writer *w)
{
	mr_buf_putc(w->buf, '\n');
	mr_buf_pad(w->buf, ' ', (size_t)w->depth * 2);
}

/* What stands between this element and the one before. */
static void separate(struct mr_json_writer *w)
{
	if (w->levels[w->depth].filled) {
		mr_buf_putc(w->buf, ',');
		if (layout_of(w) == MR_JSON_SPACED)
			mr_buf_putc(w->buf, ' ');
	}
	w->levels[w->depth].filled = true;
	if (w->depth && layout_of(w) == MR_JSON_INDENTED)
		new_line(w);
}

/* Every value starts here. */
static void begin_value(struct mr_json_writer *w)
{
	assert(w->after_key == w->levels[w->depth].is_map);
	assert(w->depth || !w->levels[0].filled);
	if (w->after_key)
		w->after_key = false;
	else
		separate(w);
}

static void begin(struct mr_json_writer *w, bool is_map)
{
	begin_value(w);
	assert(w->depth < MR_JSON_WRITER_DEPTH);
	mr_buf_putc(w->buf, is_map ? '{' : '[');
	w->depth++;
	w->levels[w->depth].is_map = is_map;
	w->levels[w->depth].filled = false;
}

void mr_json_begin_map(struct mr_json_writer *w)
{
	begin(w, true);
}

void mr_json_begin_list(struct mr_json_writer *w)
{
	begin(w, false);
}

void mr_json_end(struct mr_json_writer *w)
{
	assert(w->depth > 0 && !w->after_key);
	bool is_map = w->levels[w->depth].is_map;
	bool filled = w->levels[w->depth].filled;

	w->depth--;
	if (filled && layout_of(w) == MR_JSON_INDENTED)
		new_line(w);
	mr_buf_putc(w->buf, is_map ? '}' : ']');
}

void mr_json_key(struct mr_json_writer *w, const char *key)
{
	assert(w->levels[w->depth].is_map && !w->after_key);
	separate(w);
	mr_buf_put_json(w->buf, key, strlen(key), w->style & MR_JSON_ASCII);
	mr_buf_putc(w->buf, ':');
	if (layout_of(w) != MR_JSON_COMPACT)
		mr_buf_putc(w->buf, ' ');
	w->after_key = true;
}

void mr_json_null(struct mr_json_writer *w)
{
	begin_value(w);
	mr_buf_puts(w->buf, "null");
}

void mr_json_bool(struct mr_json_writer *w, bool value)
{
	begin_value(w);
	mr_buf_puts(w->buf, value ? "true" : "false");
}

void mr_json_int(struct mr_json_writer *w, int64_t value)
{
	begin_value(w);
	mr_buf_put_int(w->buf, value);
}

void mr_json_real(struct mr_json_writer *w, double value)
{
	char text[40];

	if (!isfinite(value)) {
		mr_json_null(w);
		return;
	}
	begin_value(w);
	/* Any 15 digits survive in a double, but the smallest ones have room for fewer. */
	for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	mr_buf_puts(w->buf, text);
	/* A float stays a float when it is read back. */
	if (!strpbrk(text, ".e"))
		mr_buf_puts(w->buf, ".0");
}

void mr_json_bytes(struct mr_json_writer *w, struct mr_bytes text)
{
	begin_value(w);
	mr_buf_put_json(w->buf, (const char *)text.data, text.len, w->style & MR_JSON_ASCII);
}

void mr_json_text(struct mr_json_writer *w, const char *text)
{
	if (text)
		mr_json_bytes(w, mr_bytes_text(text));
	else
		mr_json_null(w);
}

void mr_json_raw(struct mr_json_writer *w, struct mr_bytes json)
{
	begin_value(w);
	mr_buf_add(w->buf, json.data, json.len);
}

void mr_json_raw_members(struct mr_json_writer *w, struct mr_bytes members)
{
	assert(w->levels[w->depth].is_map && !w->after_key);
	separate(w);
	mr_buf_add(w->buf, members.data, members.len);
}

static void write_pair(struct mr_json_writer *w, const struct mr_pair *pair)
{
	mr_json_key(w, pair->key);
	mr_json_value(w, &pair->value);
}

static void write_sorted(struct mr_json_writer *w, const struct mr_value *map)
{
	struct mr_arena *arena MR_CLEANUP(mr_arena_freep) = mr_arena_new();
	const struct mr_pair *pairs = mr_pairs_sorted(arena, map->map.pairs, map->map.len);

	for (size_t i = 0; i < map->map.len; i++)
		write_pair(w, &pairs[i]);
}

static void write_map(struct mr_json_writer *w, const struct mr_value *map)
{
	mr_json_begin_map(w);
	if (w->style & MR_JSON_SORTED) {
		write_sorted(w, map);
	} else {
		for (size_t i = 0; i < map->map.len; i++)
			write_pair(w, &map->map.pairs[i]);
	}
	mr_json_end(w);
}

void mr_json_value(struct mr_json_writer *w, const struct mr_value *value)
{
	switch (value->kind) {
	case MR_NULL:
		mr_json_null(w);
		break;
	case MR_BOOL:
		mr_json_bool(w, value->boolean);
		break;
	case MR_INT:
		mr_json_int(w, value->integer);
		break;
	case MR_FLOAT:
		mr_json_real(w, value->real);
		break;
	case MR_TEXT:
		mr_json_text(w, value->text);
		break;
	case MR_LIST:
		mr_json_begin_list(w);
		for (size_t i = 0; i < value->list.len; i++)
			mr_json_value(w, &value->list.items[i]);
		mr_json_end(w);
		break;
	case MR_MAP:
		write_map(w, value);
		break;
	}
}
