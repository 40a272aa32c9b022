/* op/op.c - Looks up operations, parameters and defaults in the operation table. */
#include "op/op.h"

#include "base/str.h"

#include <string.h>

const char *mr_op_program(const struct mr_op_table *table)
{
	return table->program ? table->program : "mailroom";
}

const struct mr_op *mr_op_find(const struct mr_op_table *table, const char *name)
{
	for (size_t i = 0; i < table->len; i++) {
		if (strcmp(table->ops[i]->name, name) == 0)
			return table->ops[i];
	}
	return NULL;
}

size_t mr_param_count(const struct mr_param *params)
{
	size_t count = 0;

	while (params && params[count].name)
		count++;
	return count;
}

size_t mr_field_count(const struct mr_field *fields)
{
	size_t count = 0;

	while (fields && fields[count].name)
		count++;
	return count;
}

bool mr_op_is_list(const struct mr_op *op)
{
	return mr_field_count(op->result) > 0 && op->result[0].type == MR_TYPE_LIST &&
		mr_str_eq(op->result[0].name, "result");
}

static bool is_choice(const struct mr_param *param, const char *text)
{
	for (size_t i = 0; param->choices && param->choices[i]; i++) {
		if (mr_str_eq(param->choices[i], text))
			return true;
	}
	return !param->choices && !strchr(text, ' ');
}

bool mr_param_default(const struct mr_param *param, struct mr_value *out)
{
	struct mr_value value = { .kind = MR_NULL };
	bool known = false;

	if (!param->fallback)
		return false;
	if (param->type == MR_TYPE_INT) {
		value.kind = MR_INT;
		known = mr_str_to_int(param->fallback, &value.integer);
	} else if (param->type == MR_TYPE_BOOL) {
		value.kind = MR_BOOL;
		known = mr_str_to_bool(param->fallback, &value.boolean);
	} else if (param->type == MR_TYPE_TEXT) {
		value.kind = MR_TEXT;
		value.text = param->fallback;
		known = is_choice(param, param->fallback);
	}
	if (known)
		*out = value;
	return known;
}

static bool has_alias(const struct mr_param *param, const char *name)
{
	for (size_t i = 0; param->aliases && param->aliases[i]; i++) {
		if (strcmp(param->aliases[i], name) == 0)
			return true;
	}
	return false;
}

const struct mr_param *mr_param_find(const struct mr_param *params, const char *name)
{
	for (size_t i = 0; params && params[i].name; i++) {
		if (strcmp(params[i].name, name) == 0)
			return &params[i];
	}
	for (size_t i = 0; params && params[i].name; i++) {
		if (has_alias(&params[i], name))
			return &params[i];
	}
	return NULL;
}
