/*
 * op/schema.c - Writes the JSON Schema of an operation's arguments and result, and checks a result
 * against it.
 */
#include "op/schema.h"

#include "op/agent_auth.h"

enum { DESCRIPTION_BYTES = 4096 };

static const char *const type_names[] = {
	[MR_TYPE_TEXT] = "string",
	[MR_TYPE_INT] = "integer",
	[MR_TYPE_BOOL] = "boolean",
	[MR_TYPE_REAL] = "number",
	[MR_TYPE_TEXTS] = "array",
	[MR_TYPE_INTS] = "array",
	[MR_TYPE_OBJECT] = "object",
	[MR_TYPE_LIST] = "array",
};

static void put_choices(struct mr_out *out, const char *const *choices)
{
	mr_out_list(out, "enum");
	for (size_t i = 0; choices[i]; i++)
		mr_out_text(out, NULL, choices[i]);
	mr_out_end(out);
}

/* A default that is no value is said in words. */
static void put_description(struct mr_out *out, const struct mr_param *param)
{
	struct mr_buf text MR_CLEANUP(mr_buf_release) = { 0 };

	mr_buf_init(&text, DESCRIPTION_BYTES);
	mr_buf_puts(&text, param->summary);
	if (param->fallback)
		mr_buf_printf(&text, " (default: %s)", param->fallback);
	mr_out_text(out, "description", mr_buf_text(&text));
}

static void put_inner(struct mr_out *out, const struct mr_param *param);

static void put_param(struct mr_out *out, const struct mr_param *param, bool brief)
{
	bool is_known = brief && param->flags & MR_KNOWN;
	struct mr_value fallback;

	mr_out_map(out, param->name);
	if (param->type == MR_TYPE_TEXT && param->flags & MR_LENIENT && !param->choices) {
		mr_out_list(out, "type");
		mr_out_text(out, NULL, "string");
		mr_out_text(out, NULL, "integer");
		mr_out_end(out);
	} else {
		mr_out_text(out, "type", type_names[param->type]);
	}
	if (param->type == MR_TYPE_TEXTS || param->type == MR_TYPE_INTS) {
		mr_out_map(out, "items");
		mr_out_text(out, "type", param->type == MR_TYPE_INTS ? "integer" : "string");
		if (param->choices)
			put_choices(out, param->choices);
		mr_out_end(out);
	} else if (param->choices) {
		put_choices(out, param->choices);
	}
	if (param->members && !brief)
		put_inner(out, param);
	if (param->type == MR_TYPE_INT && param->max > param->min && !brief) {
		mr_out_int(out, "minimum", param->min);
		mr_out_int(out, "maximum", param->max);
	}
	if (mr_param_default(param, &fallback)) {
		/* A flag is off unless it says otherwise. */
		if (!brief || fallback.kind != MR_BOOL || fallback.boolean)
			mr_out_value(out, "default", &fallback);
		if (!is_known)
			mr_out_text(out, "description", param->summary);
	} else if (!is_known) {
		brief ? mr_out_text(out, "description", param->summary)
		      : put_description(out, param);
	}
	mr_out_end(out);
}

/* Is the parameter in the schema? */
static bool is_shown(const struct mr_param *param, bool brief)
{
	return !(param->flags & MR_CLI_ONLY) && !(brief && param->flags & MR_RARE);
}

static void put_required_params(struct mr_out *out, const struct mr_param *params)
{
	mr_out_list(out, "required");
	for (size_t i = 0; i < mr_param_count(params); i++) {
		if (params[i].flags & MR_REQUIRED)
			mr_out_text(out, NULL, params[i].name);
	}
	mr_out_end(out);
}

static void put_members(struct mr_out *out, const struct mr_param *members)
{
	mr_out_map(out, "properties");
	for (size_t i = 0; i < mr_param_count(members); i++)
		put_param(out, &members[i], false);
	mr_out_end(out);
	put_required_params(out, members);
	mr_out_bool(out, "additionalProperties", false);
}

/* What an object has, or each object of a list; short lists of tools leave it out. */
static void put_inner(struct mr_out *out, const struct mr_param *param)
{
	if (param->type == MR_TYPE_LIST) {
		mr_out_map(out, "items");
		mr_out_text(out, "type", "object");
		put_members(out, param->members);
		mr_out_end(out);
	} else {
		put_members(out, param->members);
	}
}

static bool needs_any(const struct mr_param *params)
{
	for (size_t i = 0; i < mr_param_count(params); i++) {
		if (params[i].flags & MR_REQUIRED)
			return true;
	}
	return false;
}

static void put_input(struct mr_out *out, const char *key, const struct mr_op *op, bool brief,
	bool with_token)
{
	static const struct mr_param token = { .name = "agent_token",
		.type = MR_TYPE_TEXT,
		.summary = "the token from register_agent" };

	mr_out_map(out, key);
	mr_out_text(out, "type", "object");
	mr_out_map(out, "properties");
	for (size_t i = 0; i < mr_param_count(op->params); i++) {
		if (is_shown(&op->params[i], brief))
			put_param(out, &op->params[i], brief);
	}
	if (with_token && mr_agent_auth_takes_token(op))
		put_param(out, &token, brief);
	mr_out_end(out);
	if (!brief || needs_any(op->params))
		put_required_params(out, op->params);
	if (!brief)
		mr_out_bool(out, "additionalProperties", false);
	mr_out_end(out);
}

void mr_schema_input(struct mr_out *out, const char *key, const struct mr_op *op)
{
	put_input(out, key, op, false, false);
}

void mr_schema_input_token(struct mr_out *out, const char *key, const struct mr_op *op)
{
	put_input(out, key, op, false, true);
}

void mr_schema_input_brief(struct mr_out *out, const char *key, const struct mr_op *op,
	bool with_token)
{
	put_input(out, key, op, true, with_token);
}

static void put_fields(struct mr_out *out, const struct mr_field *fields);

/* "type", with null where the field may be it. */
static void put_type(struct mr_out *out, const struct mr_field *field)
{
	if (!(field->flags & MR_NULLABLE)) {
		mr_out_text(out, "type", type_names[field->type]);
		return;
	}
	mr_out_list(out, "type");
	mr_out_text(out, NULL, type_names[field->type]);
	mr_out_text(out, NULL, "null");
	mr_out_end(out);
}

static void put_field_choices(struct mr_out *out, const struct mr_field *field)
{
	mr_out_list(out, "enum");
	for (size_t i = 0; field->choices[i]; i++)
		mr_out_text(out, NULL, field->choices[i]);
	if (field->flags & MR_NULLABLE)
		mr_out_null(out, NULL);
	mr_out_end(out);
}

static void put_field(struct mr_out *out, const struct mr_field *field)
{
	mr_out_map(out, field->name);
	put_type(out, field);
	if (field->type == MR_TYPE_OBJECT && field->fields)
		put_fields(out, field->fields);
	if (type_names[field->type] == type_names[MR_TYPE_LIST]) {
		mr_out_map(out, "items");
		mr_out_text(out, "type",
			field->type == MR_TYPE_TEXTS          ? "string"
				: field->type == MR_TYPE_INTS ? "integer"
							      : "object");
		if (field->fields)
			put_fields(out, field->fields);
		mr_out_end(out);
	}
	if (field->choices)
		put_field_choices(out, field);
	if (field->summary)
		mr_out_text(out, "description", field->summary);
	mr_out_end(out);
}

/* Each field, and each of the tables that are included. */
static void put_each(struct mr_out *out, const struct mr_field *fields,
	void (*put)(struct mr_out *out, const struct mr_field *field))
{
	for (size_t i = 0; i < mr_field_count(fields); i++) {
		if (fields[i].flags & MR_INCLUDED)
			put_each(out, fields[i].fields, put);
		else
			put(out, &fields[i]);
	}
}

static void put_properties(struct mr_out *out, const struct mr_field *fields)
{
	mr_out_map(out, "properties");
	put_each(out, fields, put_field);
	mr_out_end(out);
}

/* Also those of included tables, unless the whole table may be left out. */
static void put_required_names(struct mr_out *out, const struct mr_field *fields)
{
	for (size_t i = 0; i < mr_field_count(fields); i++) {
		if (fields[i].flags & MR_OPTIONAL)
			continue;
		if (fields[i].flags & MR_INCLUDED)
			put_required_names(out, fields[i].fields);
		else
			mr_out_text(out, NULL, fields[i].name);
	}
}

static void put_required(struct mr_out *out, const struct mr_field *fields)
{
	mr_out_list(out, "required");
	put_required_names(out, fields);
	mr_out_end(out);
}

static void put_fields(struct mr_out *out, const struct mr_field *fields)
{
	put_properties(out, fields);
	put_required(out, fields);
}

void mr_schema_output(struct mr_out *out, const char *key, const struct mr_op *op)
{
	mr_out_map(out, key);
	mr_out_text(out, "type", "object");
	if (op->result)
		put_fields(out, op->result);
	/* Clients of FastMCP servers know this word, and then show only the list. */
	if (mr_op_is_list(op))
		mr_out_bool(out, "x-fastmcp-wrap-result", true);
	mr_out_end(out);
}

void mr_schema_output_or_error(struct mr_out *out, const char *key, const struct mr_op *op)
{
	mr_out_map(out, key);
	mr_out_text(out, "type", "object");
	if (op->result) {
		put_properties(out, op->result);
		mr_out_list(out, "anyOf");
		mr_out_map(out, NULL);
		put_required(out, op->result);
		mr_out_end(out);
		mr_out_map(out, NULL);
		mr_out_list(out, "required");
		mr_out_text(out, NULL, "error");
		mr_out_end(out);
		mr_out_end(out);
		mr_out_end(out);
	}
	if (mr_op_is_list(op))
		mr_out_bool(out, "x-fastmcp-wrap-result", true);
	mr_out_end(out);
}

static void put_brief(struct mr_out *out, const struct mr_field *field)
{
	mr_out_map(out, field->name);
	put_type(out, field);
	mr_out_end(out);
}

void mr_schema_output_brief(struct mr_out *out, const char *key, const struct mr_op *op)
{
	mr_out_map(out, key);
	mr_out_text(out, "type", "object");
	mr_out_map(out, "properties");
	put_each(out, op->result, put_brief);
	mr_out_end(out);
	if (mr_op_is_list(op))
		mr_out_bool(out, "x-fastmcp-wrap-result", true);
	mr_out_end(out);
}

static void check_items(const struct mr_field *field, const struct mr_cursor *at)
{
	size_t len;

	if (!mr_cursor_list(at, &len))
		return;
	for (size_t i = 0; i < len; i++) {
		struct mr_cursor item = mr_cursor_item(at, i);
		const char *text;
		int64_t number;

		if (field->type == MR_TYPE_TEXTS)
			mr_cursor_text(&item, &text);
		else if (field->type == MR_TYPE_INTS)
			mr_cursor_int(&item, INT64_MIN, INT64_MAX, &number);
		else if (mr_cursor_map(&item) && field->fields)
			mr_schema_check(field->fields, &item);
	}
}

static bool is_choice(const struct mr_field *field, const char *text)
{
	for (size_t i = 0; field->choices[i]; i++) {
		if (mr_str_eq(field->choices[i], text))
			return true;
	}
	return false;
}

static void check_field(const struct mr_field *field, const struct mr_cursor *at)
{
	const char *text;
	int64_t number;
	bool flag;

	switch (field->type) {
	case MR_TYPE_TEXT:
		if (mr_cursor_text(at, &text) && field->choices && !is_choice(field, text))
			mr_cursor_refuse(at, "is none of the allowed values: %s", text);
		break;
	case MR_TYPE_INT:
		mr_cursor_int(at, INT64_MIN, INT64_MAX, &number);
		break;
	case MR_TYPE_BOOL:
		mr_cursor_bool(at, &flag);
		break;
	case MR_TYPE_REAL:
		if (!at->value || (at->value->kind != MR_FLOAT && at->value->kind != MR_INT))
			mr_cursor_refuse(at, "must be a number");
		break;
	case MR_TYPE_OBJECT:
		if (mr_cursor_map(at) && field->fields)
			mr_schema_check(field->fields, at);
		break;
	case MR_TYPE_TEXTS:
	case MR_TYPE_INTS:
	case MR_TYPE_LIST:
		check_items(field, at);
		break;
	}
}

static void check_fields(const struct mr_field *fields, const struct mr_cursor *at,
	const char **names, size_t *len)
{
	for (size_t i = 0; i < mr_field_count(fields); i++) {
		struct mr_cursor here = mr_cursor_key(at, fields[i].name);

		if (fields[i].flags & MR_INCLUDED) {
			check_fields(fields[i].fields, at, names, len);
			continue;
		}
		names[(*len)++] = fields[i].name;
		if (!here.value && fields[i].flags & MR_OPTIONAL)
			continue;
		if (here.value && here.value->kind == MR_NULL && fields[i].flags & MR_NULLABLE)
			continue;
		check_field(&fields[i], &here);
	}
}

/* With those of the tables that are included. */
static size_t count_fields(const struct mr_field *fields)
{
	size_t count = 0;

	for (size_t i = 0; i < mr_field_count(fields); i++)
		count += fields[i].flags & MR_INCLUDED ? count_fields(fields[i].fields) : 1;
	return count;
}

void mr_schema_check(const struct mr_field *fields, const struct mr_cursor *at)
{
	const char **names =
		mr_arena_array(at->issues->arena, count_fields(fields) + 1, sizeof(const char *));
	size_t len = 0;

	check_fields(fields, at, names, &len);
	mr_cursor_only(at, names);
}
