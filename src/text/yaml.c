/* text/yaml.c - the reader; the only file that knows libyaml. */
#include "text/yaml.h"

#include "base/utf8.h"
#include "text/yaml_scalar.h"

#include <yaml.h>

#include <stdlib.h>
#include <string.h>

/* A message is at most a few thousand nodes; the rest is room for configurations. */
const struct mr_yaml_limits mr_yaml_default_limits = {
	.max_bytes = 1024 * 1024,
	.max_depth = 32,
	.max_nodes = 100000,
};

enum { QUOTED_BYTES = 60 }; /* of a key or scalar in a message */

struct reader {
	yaml_parser_t parser;
	struct mr_arena *arena;
	struct mr_arena *scratch; /* freed when the reader is done */
	const struct mr_yaml_limits *limits;
	struct mr_bytes text;
	size_t nodes;
	struct mr_err *err;
};

/* A key with its place, to find and report one that stands twice. */
struct seen_key {
	const char *key;
	size_t order;
	yaml_mark_t at;
};

static enum mr_code read_value(struct reader *r, const yaml_event_t *event, unsigned depth,
	struct mr_value *out);

/* Put the place in front of the message just set. */
static enum mr_code at_place(struct mr_err *err, size_t line, size_t column)
{
	return mr_err_wrap(err, "not valid YAML at line %zu column %zu", line + 1, column + 1);
}

static enum mr_code refuse(struct reader *r, const yaml_event_t *event, const char *what)
{
	mr_err_set(r->err, MR_EFORMAT, "%s", what);
	return at_place(r->err, event->start_mark.line, event->start_mark.column);
}

static enum mr_code refuse_text(struct mr_err *err, yaml_mark_t at, const char *text,
	const char *what)
{
	int len = (int)mr_utf8_truncate(text, strlen(text), QUOTED_BYTES);

	mr_err_set(err, MR_EFORMAT, "\"%.*s\" %s", len, text, what);
	return at_place(err, at.line, at.column);
}

/* The place of a byte; the bytes before it are UTF-8. */
static enum mr_code refuse_byte(struct mr_err *err, struct mr_bytes text, size_t offset,
	const char *what)
{
	const char *start = (const char *)text.data;
	size_t line = 0;
	size_t line_start = 0;

	if (offset > text.len)
		offset = text.len;
	for (size_t i = 0; i < offset; i++) {
		if (start[i] == '\n') {
			line++;
			line_start = i + 1;
		}
	}
	mr_err_set(err, MR_EFORMAT, "%s", what);
	return at_place(err, line, mr_utf8_count(start + line_start, offset - line_start));
}

static enum mr_code next(struct reader *r, yaml_event_t *event)
{
	const yaml_parser_t *p = &r->parser;

	if (yaml_parser_parse(&r->parser, event))
		return MR_OK;
	if (p->error == YAML_MEMORY_ERROR)
		return mr_err_set(r->err, MR_EINTERNAL, "the YAML library is out of memory");
	if (p->error == YAML_READER_ERROR)
		return refuse_byte(r->err, r->text, p->problem_offset, p->problem);
	mr_err_set(r->err, MR_EFORMAT, "%s", p->problem);
	return at_place(r->err, p->problem_mark.line, p->problem_mark.column);
}

static enum mr_code count_node(struct reader *r, const yaml_event_t *event)
{
	if (++r->nodes <= r->limits->max_nodes)
		return MR_OK;
	mr_err_set(r->err, MR_ELIMIT, "more than %zu values and keys", r->limits->max_nodes);
	return at_place(r->err, event->start_mark.line, event->start_mark.column);
}

static enum mr_code check_depth(struct reader *r, const yaml_event_t *event, unsigned depth)
{
	if (depth < r->limits->max_depth)
		return MR_OK;
	mr_err_set(r->err, MR_ELIMIT, "nested deeper than %u", r->limits->max_depth);
	return at_place(r->err, event->start_mark.line, event->start_mark.column);
}

/* The text of a scalar event, copied. */
static enum mr_code copy_scalar(struct reader *r, const yaml_event_t *event, const char **out)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	if (event->data.scalar.anchor)
		return refuse(r, event, "anchors are not allowed");
	if (event->data.scalar.tag)
		return refuse(r, event, "tags are not allowed");
	if (memchr(text, '\0', len))
		return refuse(r, event, "NUL is not allowed in a text");
	*out = mr_arena_strndup(r->arena, text, len);
	return MR_OK;
}

static enum mr_code read_scalar(struct reader *r, const yaml_event_t *event, struct mr_value *out)
{
	const char *text = NULL;
	const char *wrong;
	enum mr_code rc = copy_scalar(r, event, &text);

	if (rc)
		return rc;
	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
		*out = (struct mr_value){ .kind = MR_TEXT, .text = text };
		return MR_OK;
	}
	wrong = mr_yaml_scalar_read(text, out);
	if (wrong)
		return refuse_text(r->err, event->start_mark, text, wrong);
	if (out->kind != MR_TEXT)
		out->plain = text;
	return MR_OK;
}

static enum mr_code read_key(struct reader *r, const yaml_event_t *event, const char **out)
{
	enum mr_code rc = count_node(r, event);

	if (rc)
		return rc;
	if (event->type == YAML_ALIAS_EVENT)
		return refuse(r, event, "aliases are not allowed");
	if (event->type != YAML_SCALAR_EVENT)
		return refuse(r, event, "a key must be a scalar");
	rc = copy_scalar(r, event, out);
	if (rc)
		return rc;
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(*out, "<<") == 0)
		return refuse(r, event, "merge keys are not allowed");
	return MR_OK;
}

/* Room for one more element in an array of `len`; the old one is left to its arena. */
static void *grow(struct mr_arena *arena, void *items, size_t len, size_t size)
{
	void *bigger;

	/* Full at 4, 8, 16, ... */
	if (len != 0 && (len < 4 || (len & (len - 1)) != 0))
		return items;
	bigger = mr_arena_array(arena, len ? len * 2 : 4, size);
	if (len)
		memcpy(bigger, items, len * size);
	return bigger;
}

static enum mr_code read_list(struct reader *r, unsigned depth, struct mr_value *out)
{
	*out = (struct mr_value){ .kind = MR_LIST };
	for (;;) {
		yaml_event_t event MR_CLEANUP(yaml_event_delete) = { 0 };
		enum mr_code rc = next(r, &event);

		if (rc)
			return rc;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			return MR_OK;
		out->list.items =
			grow(r->arena, out->list.items, out->list.len, sizeof(struct mr_value));
		rc = read_value(r, &event, depth + 1, &out->list.items[out->list.len++]);
		if (rc)
			return rc;
	}
}

static int compare_keys(const void *a, const void *b)
{
	const struct seen_key *x = a;
	const struct seen_key *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Sorting keeps this from being quadratic. The first repetition in the source is reported. */
static enum mr_code check_unique(struct reader *r, struct seen_key *keys, size_t len)
{
	const struct seen_key *twice = NULL;

	if (len < 2)
		return MR_OK;
	qsort(keys, len, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < len; i++) {
		if (strcmp(keys[i - 1].key, keys[i].key) == 0 &&
			(!twice || keys[i].order < twice->order))
			twice = &keys[i];
	}
	if (!twice)
		return MR_OK;
	return refuse_text(r->err, twice->at, twice->key, "stands twice as a key");
}

static enum mr_code read_map(struct reader *r, unsigned depth, struct mr_value *out)
{
	struct seen_key *seen = NULL;

	*out = (struct mr_value){ .kind = MR_MAP };
	for (;;) {
		yaml_event_t key MR_CLEANUP(yaml_event_delete) = { 0 };
		yaml_event_t event MR_CLEANUP(yaml_event_delete) = { 0 };
		size_t len = out->map.len;
		struct mr_pair *pair;
		enum mr_code rc = next(r, &key);

		if (rc)
			return rc;
		if (key.type == YAML_MAPPING_END_EVENT)
			return check_unique(r, seen, len);
		out->map.pairs = grow(r->arena, out->map.pairs, len, sizeof(struct mr_pair));
		seen = grow(r->scratch, seen, len, sizeof(*seen));
		pair = &out->map.pairs[out->map.len++];
		rc = read_key(r, &key, &pair->key);
		if (rc)
			return rc;
		seen[len] = (struct seen_key){ pair->key, len, key.start_mark };
		rc = next(r, &event);
		if (rc)
			return rc;
		rc = read_value(r, &event, depth + 1, &pair->value);
		if (rc)
			return rc;
	}
}

static enum mr_code read_value(struct reader *r, const yaml_event_t *event, unsigned depth,
	struct mr_value *out)
{
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	enum mr_code rc = count_node(r, event);

	if (rc)
		return rc;
	if (event->type == YAML_ALIAS_EVENT)
		return refuse(r, event, "aliases are not allowed");
	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(r, event, out);
	if (is_map ? event->data.mapping_start.anchor : event->data.sequence_start.anchor)
		return refuse(r, event, "anchors are not allowed");
	if (is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag)
		return refuse(r, event, "tags are not allowed");
	rc = check_depth(r, event, depth);
	if (rc)
		return rc;
	return is_map ? read_map(r, depth, out) : read_list(r, depth, out);
}

/* Stream start, then a document or none, then nothing. */
static enum mr_code read_stream(struct reader *r, struct mr_value *out)
{
	static const yaml_event_type_t before[] = { YAML_STREAM_START_EVENT,
		YAML_DOCUMENT_START_EVENT };
	static const yaml_event_type_t after[] = { YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT };
	enum mr_code rc;

	*out = (struct mr_value){ .kind = MR_NULL };
	for (size_t i = 0; i < MR_LEN(before); i++) {
		yaml_event_t event MR_CLEANUP(yaml_event_delete) = { 0 };

		rc = next(r, &event);
		if (rc)
			return rc;
		if (event.type != before[i])
			return MR_OK;
	}
	{
		yaml_event_t event MR_CLEANUP(yaml_event_delete) = { 0 };

		rc = next(r, &event);
		if (!rc)
			rc = read_value(r, &event, 0, out);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < MR_LEN(after); i++) {
		yaml_event_t event MR_CLEANUP(yaml_event_delete) = { 0 };

		rc = next(r, &event);
		if (rc)
			return rc;
		if (event.type != after[i])
			return refuse(r, &event, "a second document is not allowed");
	}
	return MR_OK;
}

static enum mr_code check_bytes(struct mr_bytes text, const struct mr_yaml_limits *limits,
	struct mr_err *err)
{
	const char *start = (const char *)text.data;
	const uint8_t *nul;
	size_t bad_at;

	if (text.len > limits->max_bytes)
		return mr_err_set(err, MR_ELIMIT, "YAML of %zu bytes is longer than %zu", text.len,
			limits->max_bytes);
	if (text.len == 0)
		return MR_OK;
	if (!mr_utf8_is_valid(start, text.len, &bad_at))
		return refuse_byte(err, text, bad_at, "a byte that is not UTF-8");
	nul = memchr(start, '\0', text.len);
	if (nul)
		return refuse_byte(err, text, (size_t)(nul - text.data), "a NUL byte");
	return MR_OK;
}

enum mr_code mr_yaml_parse(struct mr_arena *arena, struct mr_bytes text,
	const struct mr_yaml_limits *limits, const struct mr_value **out, struct mr_err *err)
{
	struct mr_arena *scratch MR_CLEANUP(mr_arena_freep) = NULL;
	struct reader r = { .arena = arena, .err = err };
	struct mr_value *value;
	enum mr_code rc;

	r.limits = limits ? limits : &mr_yaml_default_limits;
	rc = check_bytes(text, r.limits, err);
	if (rc)
		return rc;
	if (text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
		text = mr_bytes_of(text.data + 3, text.len - 3);
	if (!yaml_parser_initialize(&r.parser))
		return mr_err_set(err, MR_EINTERNAL, "the YAML library is out of memory");
	r.text = text;
	r.scratch = scratch = mr_arena_new();
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, text.len ? text.data : (const uint8_t *)"",
		text.len);
	value = mr_arena_alloc(arena, sizeof(*value));
	rc = read_stream(&r, value);
	yaml_parser_delete(&r.parser);
	if (!rc)
		*out = value;
	return rc;
}
