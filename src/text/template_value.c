/* text/template_value.c - values while rendering: what they contain, equal, and are less than. */
#include "text/template_private.h"

#include "base/utf8.h"

#include <string.h>

struct mr_tpl_value mr_tpl_of(const struct mr_value *value)
{
	struct mr_tpl_value out = { .kind = MR_TV_UNDEFINED };

	if (!value)
		return out;
	switch (value->kind) {
	case MR_NULL:
		out.kind = MR_TV_NONE;
		break;
	case MR_BOOL:
		return mr_tpl_bool(value->boolean);
	case MR_INT:
		return mr_tpl_int(value->integer);
	case MR_FLOAT:
		return mr_tpl_real(value->real);
	case MR_TEXT:
		return mr_tpl_text(value->text, strlen(value->text));
	case MR_LIST:
		out.kind = MR_TV_RAW_LIST;
		out.raw = value->list.items;
		out.len = value->list.len;
		break;
	case MR_MAP:
		out.kind = MR_TV_RAW_MAP;
		out.raw_pairs = value->map.pairs;
		out.len = value->map.len;
		break;
	}
	return out;
}

struct mr_tpl_value mr_tpl_bool(bool value)
{
	return (struct mr_tpl_value){ .kind = MR_TV_BOOL, .boolean = value };
}

struct mr_tpl_value mr_tpl_int(int64_t value)
{
	return (struct mr_tpl_value){ .kind = MR_TV_INT, .integer = value };
}

struct mr_tpl_value mr_tpl_real(double value)
{
	return (struct mr_tpl_value){ .kind = MR_TV_FLOAT, .real = value };
}

struct mr_tpl_value mr_tpl_text(const char *text, size_t len)
{
	return (struct mr_tpl_value){ .kind = MR_TV_TEXT, .text = text, .len = len };
}

struct mr_tpl_value mr_tpl_list(const struct mr_tpl_value *items, size_t len)
{
	return (struct mr_tpl_value){ .kind = MR_TV_LIST, .items = items, .len = len };
}

bool mr_tpl_is_text(const struct mr_tpl_value *value, const char *text)
{
	return value->kind == MR_TV_TEXT && value->len == strlen(text) &&
		memcmp(value->text, text, value->len) == 0;
}

bool mr_tpl_is_list(const struct mr_tpl_value *value)
{
	return value->kind == MR_TV_LIST || value->kind == MR_TV_RAW_LIST;
}

bool mr_tpl_is_map(const struct mr_tpl_value *value)
{
	return value->kind == MR_TV_MAP || value->kind == MR_TV_RAW_MAP;
}

bool mr_tpl_is_number(const struct mr_tpl_value *value)
{
	return value->kind == MR_TV_INT || value->kind == MR_TV_FLOAT;
}

const char *mr_tpl_kind_name(const struct mr_tpl_value *value)
{
	switch (value->kind) {
	case MR_TV_UNDEFINED:
		return "an undefined value";
	case MR_TV_NONE:
		return "none";
	case MR_TV_BOOL:
		return "a boolean";
	case MR_TV_INT:
	case MR_TV_FLOAT:
		return "a number";
	case MR_TV_TEXT:
		return "a text";
	case MR_TV_LIST:
	case MR_TV_RAW_LIST:
		return "a list";
	case MR_TV_MAP:
	case MR_TV_RAW_MAP:
		return "a map";
	case MR_TV_LOOP:
		return "a loop";
	case MR_TV_SCOPE:
		return "a namespace";
	default:
		return "a function";
	}
}

bool mr_tpl_is_true(const struct mr_tpl_value *value)
{
	switch (value->kind) {
	case MR_TV_UNDEFINED:
	case MR_TV_NONE:
		return false;
	case MR_TV_BOOL:
		return value->boolean;
	case MR_TV_INT:
		return value->integer != 0;
	case MR_TV_FLOAT:
		return value->real != 0;
	case MR_TV_TEXT:
	case MR_TV_LIST:
	case MR_TV_RAW_LIST:
	case MR_TV_MAP:
	case MR_TV_RAW_MAP:
		return value->len > 0;
	default:
		return true;
	}
}

enum mr_code mr_tpl_test(struct mr_tpl_run *run, const struct mr_tpl_value *value, bool *out)
{
	if (value->kind == MR_TV_UNDEFINED && run->options->strict)
		return mr_tpl_fail(run, MR_EINVAL, "an undefined value is tested");
	*out = mr_tpl_is_true(value);
	return MR_OK;
}

struct mr_tpl_value mr_tpl_item(const struct mr_tpl_value *list, size_t index)
{
	return list->kind == MR_TV_RAW_LIST ? mr_tpl_of(&list->raw[index]) : list->items[index];
}

struct mr_tpl_pair mr_tpl_pair_at(const struct mr_tpl_value *map, size_t index)
{
	struct mr_tpl_pair pair;

	if (map->kind == MR_TV_MAP)
		return map->pairs[index];
	pair.key = mr_tpl_text(map->raw_pairs[index].key, strlen(map->raw_pairs[index].key));
	pair.value = mr_tpl_of(&map->raw_pairs[index].value);
	return pair;
}

static enum mr_code loop_member(struct mr_tpl_loop *loop, const char *name,
	struct mr_tpl_value *out)
{
	int64_t index = (int64_t)loop->index, len = (int64_t)loop->len;
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = { { "index", index + 1 }, { "index0", index }, { "revindex", len - index },
		{ "revindex0", len - index - 1 }, { "length", len }, { "depth", loop->depth },
		{ "depth0", (int64_t)loop->depth - 1 } };

	for (size_t i = 0; i < MR_LEN(numbers); i++)
		if (mr_str_eq(name, numbers[i].name))
			*out = mr_tpl_int(numbers[i].value);
	if (mr_str_eq(name, "first"))
		*out = mr_tpl_bool(index == 0);
	else if (mr_str_eq(name, "last"))
		*out = mr_tpl_bool(index + 1 == len);
	else if (mr_str_eq(name, "previtem") && index > 0)
		*out = mr_tpl_item(&loop->sequence, loop->index - 1);
	else if (mr_str_eq(name, "nextitem") && index + 1 < len)
		*out = mr_tpl_item(&loop->sequence, loop->index + 1);
	else if (mr_str_eq(name, "cycle") || mr_str_eq(name, "changed")) {
		out->kind = name[1] == 'y' ? MR_TV_CYCLE : MR_TV_CHANGED;
		out->loop = loop;
	}
	return MR_OK;
}

enum mr_code mr_tpl_get(struct mr_tpl_run *run, const struct mr_tpl_value *value, const char *name,
	size_t len, struct mr_tpl_value *out)
{
	const struct mr_tpl_value *found;

	*out = (struct mr_tpl_value){ .kind = MR_TV_UNDEFINED };
	switch (value->kind) {
	case MR_TV_UNDEFINED:
		return mr_tpl_fail(run, MR_EINVAL, "'%s' of an undefined value", name);
	case MR_TV_RAW_MAP:
		for (size_t i = 0; i < value->len; i++)
			if (strcmp(value->raw_pairs[i].key, name) == 0) {
				*out = mr_tpl_of(&value->raw_pairs[i].value);
				break;
			}
		return mr_tpl_burn(run, value->len / 16);
	case MR_TV_MAP:
		for (size_t i = 0; i < value->len; i++) {
			const struct mr_tpl_pair *pair = &value->pairs[i];

			if (pair->key.kind == MR_TV_TEXT && pair->key.len == len &&
				memcmp(pair->key.text, name, len) == 0) {
				*out = pair->value;
				break;
			}
		}
		return mr_tpl_burn(run, value->len / 16);
	case MR_TV_LOOP:
		return loop_member(value->loop, name, out);
	case MR_TV_SCOPE:
		found = mr_tpl_scope_get(value->scope, name);
		if (found)
			*out = *found;
		return mr_tpl_burn(run, value->scope->len / 16);
	default:
		return MR_OK;
	}
}

static enum mr_code characters(struct mr_tpl_run *run, const struct mr_tpl_value *text,
	struct mr_tpl_value *out)
{
	size_t len = mr_utf8_count(text->text, text->len), at = 0;
	struct mr_tpl_value *items = mr_tpl_alloc(run, len, sizeof(*items));

	if (!items)
		return run->err->code;
	for (size_t i = 0; i < len; i++) {
		size_t one = mr_utf8_prefix(text->text + at, text->len - at, 1);
		char *copy = mr_tpl_copy(run, text->text + at, one);

		if (!copy)
			return run->err->code;
		items[i] = mr_tpl_text(copy, one);
		at += one;
	}
	*out = mr_tpl_list(items, len);
	return MR_OK;
}

enum mr_code mr_tpl_iterate(struct mr_tpl_run *run, const struct mr_tpl_value *value,
	struct mr_tpl_value *out)
{
	struct mr_tpl_value *keys;

	if (mr_tpl_is_list(value)) {
		*out = *value;
		return MR_OK;
	}
	if (value->kind == MR_TV_UNDEFINED) {
		if (run->options->strict)
			return mr_tpl_fail(run, MR_EINVAL, "an undefined value is iterated over");
		*out = mr_tpl_list(NULL, 0);
		return MR_OK;
	}
	if (value->kind == MR_TV_TEXT)
		return characters(run, value, out);
	if (!mr_tpl_is_map(value))
		return mr_tpl_fail(run, MR_EINVAL, "%s cannot be iterated over",
			mr_tpl_kind_name(value));
	keys = mr_tpl_alloc(run, value->len, sizeof(*keys));
	if (!keys)
		return run->err->code;
	for (size_t i = 0; i < value->len; i++)
		keys[i] = mr_tpl_pair_at(value, i).key;
	*out = mr_tpl_list(keys, value->len);
	return MR_OK;
}
