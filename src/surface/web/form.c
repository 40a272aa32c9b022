/* surface/web/form.c - Decodes forms, and gathers the arguments of an operation from a request. */
#include "surface/web/form.h"

#include <ctype.h>
#include <string.h>

const char *mr_web_form_encode(struct mr_arena *arena, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = mr_arena_array(arena, 3 * strlen(text) + 1, 1), *at = out;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if ((c < 0x80 && isalnum(c)) || strchr("-._~", *text)) {
			*at++ = *text;
			continue;
		}
		*at++ = '%';
		*at++ = digits[c >> 4];
		*at++ = digits[c & 15];
	}
	*at = '\0';
	return out;
}

/* One name or value; "+" is a blank, and lines, which browsers end with CR LF, end with LF. NULL
 * when it cannot be decoded. */
static const char *decode(struct mr_arena *arena, const char *text, size_t len)
{
	char *copy = mr_arena_strndup(arena, text, len), *to = copy;
	const char *decoded;

	for (size_t i = 0; i < len; i++) {
		if (copy[i] == '+')
			copy[i] = ' ';
	}
	decoded = mr_http_route_decode(arena, copy, len);
	if (!decoded)
		return NULL;
	for (const char *at = decoded; *at; at++) {
		if (at[0] != '\r' || at[1] != '\n')
			*to++ = *at;
	}
	*to = '\0';
	return copy;
}

enum mr_code mr_web_form_parse(struct mr_arena *arena, struct mr_bytes text,
	struct mr_http_param **out, size_t *len, struct mr_err *err)
{
	struct mr_http_param *fields = mr_arena_array(arena, MR_WEB_FORM_FIELDS, sizeof(*fields));
	const char *at = (const char *)text.data;
	const char *end = at + text.len;
	size_t count = 0;

	while (at < end) {
		const char *stop = memchr(at, '&', (size_t)(end - at));
		const char *equals;

		stop = stop ? stop : end;
		equals = memchr(at, '=', (size_t)(stop - at));
		equals = equals ? equals : stop;
		if (count == MR_WEB_FORM_FIELDS)
			return mr_err_set(err, MR_ELIMIT, "the form has more than %d fields",
				MR_WEB_FORM_FIELDS);
		fields[count].name = decode(arena, at, (size_t)(equals - at));
		fields[count].value = equals == stop
			? ""
			: decode(arena, equals + 1, (size_t)(stop - equals - 1));
		if (!fields[count].name || !fields[count].value)
			return mr_err_set(err, MR_EINVAL, "the form cannot be read");
		count++;
		at = stop + 1;
	}
	*out = fields;
	*len = count;
	return MR_OK;
}

const char *mr_web_form_first(const struct mr_http_param *fields, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i++) {
		if (strcmp(fields[i].name, name) == 0)
			return fields[i].value;
	}
	return NULL;
}

/* The values of a parameter in one place: a text, or a list; false when there is none. */
static bool take(struct mr_arena *arena, const struct mr_op *op, const struct mr_param *param,
	const struct mr_http_param *fields, size_t len, struct mr_value *out)
{
	bool is_list = param->type == MR_TYPE_TEXTS || param->type == MR_TYPE_INTS;
	struct mr_value *items = is_list ? mr_arena_array(arena, len + 1, sizeof(*items)) : NULL;
	size_t count = 0;

	for (size_t i = 0; i < len; i++) {
		struct mr_value text = { .kind = MR_TEXT, .text = fields[i].value };

		if (!*fields[i].value || mr_param_find(op->params, fields[i].name) != param)
			continue;
		if (!is_list) {
			*out = text;
			return true;
		}
		items[count++] = text;
	}
	*out = (struct mr_value){ .kind = MR_LIST, .list = { items, count } };
	return count > 0;
}

const struct mr_value *mr_web_form_arguments(const struct mr_web_view *view, const struct mr_op *op,
	const char *fixed)
{
	struct mr_arena *arena = view->req->arena;
	const struct mr_http_request *req = view->req;
	size_t count = mr_param_count(op->params);
	struct mr_value *map = mr_arena_alloc(arena, sizeof(*map));
	struct mr_http_param *own = NULL;
	size_t own_len = 0;
	struct mr_err err;

	/* It is ours, so it can be read. */
	if (fixed && mr_web_form_parse(arena, mr_bytes_text(fixed), &own, &own_len, &err))
		own_len = 0;
	map->kind = MR_MAP;
	map->map.pairs = mr_arena_array(arena, count + 1, sizeof(struct mr_pair));
	for (size_t i = 0; i < count; i++) {
		const struct mr_param *param = &op->params[i];
		struct mr_pair *pair = &map->map.pairs[map->map.len];

		pair->key = param->name;
		if (take(arena, op, param, own, own_len, &pair->value) ||
			take(arena, op, param, req->match.params, req->match.len, &pair->value) ||
			take(arena, op, param, view->fields, view->fields_len, &pair->value))
			map->map.len++;
	}
	return map;
}
