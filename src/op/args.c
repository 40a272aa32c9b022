/*
 * op/args.c - Decodes the arguments that a surface received into typed values, and reports all
 * problems together.
 */
#include "op/args.h"

#include "base/str.h"
#include "text/json.h"

#include <assert.h>
#include <string.h>

/* Numbers up to here are exact in a double, so that 5.0 is 5 and nothing is lost. */
static const double exact_limit = 9007199254740992.0;

static bool int_from(const struct mr_value *sent, struct mr_value *out)
{
	out->kind = MR_INT;
	if (sent->kind == MR_INT) {
		out->integer = sent->integer;
		return true;
	}
	if (sent->kind == MR_FLOAT && sent->real >= -exact_limit && sent->real <= exact_limit &&
		(double)(int64_t)sent->real == sent->real) {
		out->integer = (int64_t)sent->real;
		return true;
	}
	return sent->kind == MR_TEXT && mr_str_to_int(sent->text, &out->integer);
}

static bool bool_from(const struct mr_value *sent, struct mr_value *out)
{
	out->kind = MR_BOOL;
	if (sent->kind == MR_BOOL) {
		out->boolean = sent->boolean;
		return true;
	}
	if (sent->kind != MR_TEXT)
		return false;
	out->boolean = mr_str_eq_nocase(sent->text, "true");
	return out->boolean || mr_str_eq_nocase(sent->text, "false");
}

static void refuse_type(const struct mr_cursor *at, const char *expected)
{
	mr_issues_add(at->issues, MR_ISSUE_TYPE, mr_cursor_path(at->issues->arena, at), expected,
		"must be %s %s, not %s", strchr("aeiou", expected[0]) ? "an" : "a", expected,
		mr_kind_name(at->value->kind));
}

static void check_choice(const struct mr_cursor *at, const struct mr_param *param, const char *text)
{
	struct mr_texts all = { (const char **)param->choices, 0 };

	while (param->choices[all.len])
		all.len++;
	if (!mr_texts_has(&all, text))
		mr_cursor_refuse(at, "must be one of: %s",
			mr_str_join(at->issues->arena, &all, ", "));
}

static void check_range(const struct mr_cursor *at, const struct mr_param *param, int64_t number)
{
	if (param->max > param->min && (number < param->min || number > param->max))
		mr_cursor_refuse(at, "must be between %lld and %lld", (long long)param->min,
			(long long)param->max);
}

static void decode_text(const struct mr_cursor *at, const struct mr_param *param,
	struct mr_value *out)
{
	bool is_lenient = param->flags & MR_LENIENT;

	if (is_lenient && at->value->kind == MR_INT) {
		out->kind = MR_TEXT;
		out->text =
			mr_arena_printf(at->issues->arena, "%lld", (long long)at->value->integer);
		return;
	}
	if (at->value->kind != MR_TEXT) {
		refuse_type(at, "string");
		return;
	}
	*out = *at->value;
	if (param->choices && !is_lenient)
		check_choice(at, param, out->text);
}

static void decode_int(const struct mr_cursor *at, const struct mr_param *param,
	struct mr_value *out)
{
	if (int_from(at->value, out))
		check_range(at, param, out->integer);
	else
		refuse_type(at, "integer");
}

/* An object may also arrive as its JSON text: a command line has no other way. */
static void decode_object(const struct mr_cursor *at, struct mr_value *out)
{
	const struct mr_value *value = at->value;
	struct mr_err err;

	if (value->kind == MR_TEXT &&
		mr_json_parse(at->issues->arena, mr_bytes_text(value->text), NULL, &value, &err)) {
		mr_cursor_refuse(at, "%s", err.msg);
		return;
	}
	if (value->kind == MR_MAP)
		*out = *value;
	else
		refuse_type(at, "object");
}

static void decode_list(const struct mr_cursor *at, const struct mr_param *param,
	struct mr_value *out)
{
	struct mr_cursor list = *at;
	struct mr_value alone;

	/* One element alone is a list of one. */
	if (at->value->kind != MR_LIST) {
		alone = (struct mr_value){ .kind = MR_LIST };
		alone.list.items = (struct mr_value *)at->value;
		alone.list.len = 1;
		list.value = &alone;
	}
	out->kind = MR_LIST;
	out->list.len = list.value->list.len;
	out->list.items =
		mr_arena_array(at->issues->arena, out->list.len, sizeof(*out->list.items));
	for (size_t i = 0; i < out->list.len; i++) {
		struct mr_cursor item = mr_cursor_item(&list, i);

		if (param->type == MR_TYPE_INTS)
			decode_int(&item, param, &out->list.items[i]);
		else
			decode_text(&item, param, &out->list.items[i]);
	}
}

/* Objects as they are: a contract that checks them does so before. */
static void decode_objects(const struct mr_cursor *at, struct mr_value *out)
{
	if (at->value->kind == MR_LIST)
		*out = *at->value;
	else
		refuse_type(at, "list");
}

static const struct mr_value *decode_one(const struct mr_cursor *at, const struct mr_param *param)
{
	struct mr_value *out = mr_arena_alloc(at->issues->arena, sizeof(*out));

	switch (param->type) {
	case MR_TYPE_TEXT:
		decode_text(at, param, out);
		break;
	case MR_TYPE_INT:
		decode_int(at, param, out);
		break;
	case MR_TYPE_BOOL:
		if (!bool_from(at->value, out))
			refuse_type(at, "boolean");
		break;
	case MR_TYPE_TEXTS:
	case MR_TYPE_INTS:
		decode_list(at, param, out);
		break;
	case MR_TYPE_OBJECT:
		decode_object(at, out);
		break;
	case MR_TYPE_LIST:
		decode_objects(at, out);
		break;
	case MR_TYPE_REAL:
		assert(!"a type of results only");
		break;
	}
	return out;
}

/* The place where a parameter was sent: under its name, or under an alias. */
static struct mr_cursor find_sent(const struct mr_cursor *root, const struct mr_param *param)
{
	struct mr_cursor at = mr_cursor_key(root, param->name);

	for (size_t i = 0; !at.value && param->aliases && param->aliases[i]; i++)
		at = mr_cursor_key(root, param->aliases[i]);
	if (!at.value)
		at.key = param->name;
	return at;
}

static void refuse_unknown(const struct mr_cursor *root, const struct mr_param *params)
{
	struct mr_arena *arena = root->issues->arena;
	size_t count = mr_param_count(params);
	const char **names = mr_arena_array(arena, count + 1, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = params[i].name;
	for (size_t i = 0; i < root->value->map.len; i++) {
		const char *key = root->value->map.pairs[i].key;
		struct mr_cursor at = mr_cursor_key(root, key);
		const char *near;

		if (mr_param_find(params, key))
			continue;
		near = mr_str_nearest(key, names, count);
		mr_issues_add(root->issues, MR_ISSUE_UNKNOWN, mr_cursor_path(arena, &at), NULL,
			near ? "is not an argument; did you mean %s?" : "is not an argument", near);
	}
}

enum mr_code mr_args_decode(struct mr_arena *arena, const struct mr_param *params,
	const struct mr_value *sent, struct mr_args *out, struct mr_err *err)
{
	static const struct mr_value nothing = { .kind = MR_MAP };
	struct mr_issues *issues = mr_arena_alloc(arena, sizeof(*issues));
	struct mr_cursor root = mr_cursor_root(sent ? sent : &nothing, issues);
	const struct mr_value **values =
		mr_arena_array(arena, mr_param_count(params) + 1, sizeof(*values));

	mr_issues_init(issues, arena);
	if (root.value->kind != MR_MAP) {
		mr_cursor_map(&root);
		return mr_err_issues(err, issues, "arguments");
	}
	for (size_t i = 0; params && params[i].name; i++) {
		struct mr_cursor at = find_sent(&root, &params[i]);

		if (mr_cursor_is_present(&at))
			values[i] = decode_one(&at, &params[i]);
		else if (params[i].flags & MR_REQUIRED)
			mr_issues_add(issues, MR_ISSUE_MISSING, mr_cursor_path(arena, &at), NULL,
				"is required");
	}
	refuse_unknown(&root, params);
	if (issues->len)
		return mr_err_issues(err, issues, "arguments");
	*out = (struct mr_args){ .params = params, .values = values };
	return MR_OK;
}

static const struct mr_value *find(const struct mr_args *in, const char *name)
{
	for (size_t i = 0; in->params && in->params[i].name; i++) {
		if (strcmp(in->params[i].name, name) == 0)
			return in->values[i];
	}
	assert(!"not a parameter of this operation");
	return NULL;
}

const char *mr_args_text(const struct mr_args *in, const char *name)
{
	const struct mr_value *value = find(in, name);

	return value ? value->text : NULL;
}

int64_t mr_args_int(const struct mr_args *in, const char *name, int64_t fallback)
{
	const struct mr_value *value = find(in, name);

	return value ? value->integer : fallback;
}

bool mr_args_bool(const struct mr_args *in, const char *name, bool fallback)
{
	const struct mr_value *value = find(in, name);

	return value ? value->boolean : fallback;
}

struct mr_texts mr_args_texts(struct mr_arena *arena, const struct mr_args *in, const char *name)
{
	const struct mr_value *value = find(in, name);
	struct mr_texts texts = { NULL, value ? value->list.len : 0 };

	texts.items = mr_arena_array(arena, texts.len + 1, sizeof(*texts.items));
	for (size_t i = 0; i < texts.len; i++)
		texts.items[i] = value->list.items[i].text;
	return texts;
}

const struct mr_value *mr_args_value(const struct mr_args *in, const char *name)
{
	return find(in, name);
}
