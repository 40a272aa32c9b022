/* op/op.c */
#include "op/op.h"

#include "base/str.h"

#include <string.h>

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
