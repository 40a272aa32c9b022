/* op/self/operations.c - operations: the operation table itself, and the schemas of its entries. */
#include "op/call.h"
#include "op/contract.h"
#include "op/nouns.h"
#include "op/schema.h"
#include "text/out.h"

#include "base/str.h"

static const struct mr_field operation_fields[] = {
	MR_FIELD(struct mr_op, name, "name"),
	MR_FIELD(struct mr_op, command, "command", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_op, route, "route", .flags = MR_NULLABLE),
	MR_FIELD(struct mr_op, summary, "summary"),
	{ 0 },
};

struct listed {
	struct mr_op *items;
	size_t len;
};

static const struct mr_field list_fields[] = {
	MR_FIELD_ROWS(struct listed, items, len, struct mr_op, operation_fields, "operations"),
	{ 0 },
};

static enum mr_code list_all(struct mr_call *call, const struct mr_nothing *request,
	struct listed *out)
{
	const struct mr_op_table *table = call->app->table;

	(void)request;
	out->items = mr_arena_array(call->cx.arena, table->len, sizeof(*out->items));
	for (size_t i = 0; i < table->len; i++)
		if (!(table->ops[i]->traits & MR_HIDDEN))
			out->items[out->len++] = *table->ops[i];
	return MR_OK;
}
MR_BIND_ALONE(list, list_all, struct mr_nothing, struct listed);

const struct mr_op mr_op_operations = {
	.name = "operations",
	.command = "operations",
	.summary = "List everything Mailroom can be asked",
	.result = list_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &list,
	.render = mr_render_operations,
};

struct schema_request {
	const char *operation;
};

static const struct mr_param schema_params[] = {
	MR_PARAM(struct schema_request, operation, "operation",
		.flags = MR_REQUIRED | MR_POSITIONAL,
		.summary = "its name, from mailroom operations"),
	{ 0 },
};

static void put_input(struct mr_out *out, const char *key, const void *from)
{
	mr_schema_input(out, key, from);
}

static void put_output(struct mr_out *out, const char *key, const void *from)
{
	mr_schema_output(out, key, from);
}

static const struct mr_field schema_fields[] = {
	MR_FIELD(struct mr_op, name, "name"),
	MR_FIELD(struct mr_op, summary, "description"),
	{ .name = "inputSchema",
		.type = MR_TYPE_OBJECT,
		.from = MR_FROM_SAME(struct mr_op),
		.emit = put_input },
	{ .name = "outputSchema",
		.type = MR_TYPE_OBJECT,
		.from = MR_FROM_SAME(struct mr_op),
		.emit = put_output },
	{ 0 },
};

static enum mr_code refuse_name(struct mr_call *call, const char *name)
{
	const struct mr_op_table *table = call->app->table;
	const char **names = mr_arena_array(call->cx.arena, table->len, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < table->len; i++)
		names[i] = table->ops[i]->name;
	near = mr_str_nearest(name, names, table->len);
	return mr_err_set(&call->cx.err, MR_ENOTFOUND, "there is no operation %s%s%s%s", name,
		near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum mr_code find_operation(struct mr_call *call, const struct schema_request *asked,
	struct mr_op *out)
{
	const struct mr_op *op = mr_op_find(call->app->table, asked->operation);

	if (!op)
		return refuse_name(call, asked->operation);
	*out = *op;
	return MR_OK;
}
MR_BIND_ALONE(schema, find_operation, struct schema_request, struct mr_op);

const struct mr_op mr_op_schema = {
	.name = "schema",
	.command = "schema",
	.summary = "Show the JSON Schema of an operation's arguments and result",
	.params = schema_params,
	.result = schema_fields,
	.surfaces = MR_ON_CLI,
	.contract = &mr_contract_plain,
	.bind = &schema,
};
